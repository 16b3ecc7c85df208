/**
 * Reads the five fields of crontab(5), so that a wrong one is named before it is kept: minute, hour, day of month, month,
 * weekday; `*`, lists, ranges, steps, English month and day names, and `L` for the last day of a month. Where both day
 * fields are set, either of them is enough, as crontab(5) has it.
 */

/** `pattern`: the fields as croner takes them, blanks made single. */
export type ReadCron = {readonly ok: true; readonly pattern: string} | {readonly ok: false; readonly problem: string};

interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly names: readonly string[];
  /** Number of the first name. */
  readonly first: number;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] as const;
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

const FIELDS: readonly Field[] = [
  {name: 'minute', least: 0, most: 59, names: [], first: 0},
  {name: 'hour', least: 0, most: 23, names: [], first: 0},
  {name: 'day of month', least: 1, most: 31, names: [], first: 0},
  {name: 'month', least: 1, most: 12, names: MONTHS, first: 1},
  // 7 is Sunday as well.
  {name: 'weekday', least: 0, most: 7, names: DAYS, first: 0},
];

/** Short names of crontab(5); `@reboot` means nothing here. */
const ALIASES: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
};

export function readCron(text: string): ReadCron {
  const given = text.trim().replaceAll(/\s+/g, ' ');
  const pattern = ALIASES[given.toLowerCase()] ?? given;
  const parts = pattern.split(' ');
  if (parts.length !== FIELDS.length)
    return {ok: false, problem: `it has ${parts.length} ${parts.length === 1 ? 'field' : 'fields'} instead of 5`};
  for (const [at, field] of FIELDS.entries()) {
    const part = parts[at] ?? '';
    if (!isField(part, field)) return {ok: false, problem: `its ${field.name} "${part}" does not read`};
  }
  if (neverComes(parts)) return {ok: false, problem: 'no such day ever comes'};
  return {ok: true, pattern};
}

function isField(text: string, field: Field): boolean {
  if (field.name === 'day of month' && text.toUpperCase() === 'L') return true;
  return text.split(',').every((item) => {
    const [range = '', step, ...more] = item.split('/');
    if (more.length > 0 || (step !== undefined && !isStep(step, field))) return false;
    if (range === '*') return true;
    const [from = '', to, ...rest] = range.split('-');
    const [low, high] = [numberOf(from, field), to === undefined ? null : numberOf(to, field)];
    // A step needs a range to step through.
    if (rest.length > 0 || low === null || (to === undefined && step !== undefined)) return false;
    return to === undefined || (high !== null && low <= high);
  });
}

function isStep(text: string, field: Field): boolean {
  return /^[1-9]\d?$/.test(text) && Number(text) <= field.most;
}

function numberOf(text: string, field: Field): number | null {
  const named = field.names.indexOf(text.toLowerCase());
  if (named >= 0) return named + field.first;
  if (!/^\d{1,2}$/.test(text)) return null;
  const value = Number(text);
  return value >= field.least && value <= field.most ? value : null;
}

/** February 30 and the like: by days alone, in months that are all too short. */
function neverComes(parts: readonly string[]): boolean {
  const [, , days = '', months = '', weekdays = ''] = parts;
  if (weekdays !== '*' || !/^\d+$/.test(days) || !/^[A-Za-z0-9,]+$/.test(months)) return false;
  const longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  const month = FIELDS[3];
  return (
    month !== undefined &&
    months.split(',').every((one) => Number(days) > (longest[(numberOf(one, month) ?? 1) - 1] ?? 31))
  );
}
