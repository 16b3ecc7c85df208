/** A schedule's time as it would be typed: what `readWhen` reads back as the same. */
import type {Day, WallTime, When} from './schedule.ts';

const DAY_NAMES = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

export function whenPhrase(when: When): string {
  switch (when.kind) {
    case 'now':
      return 'now';
    case 'after':
      return `in ${lengthOf(when.ms)}`;
    case 'at':
      return `${dayPhrase(when.day)} ${timeOf(when.time)}`;
    case 'weekly':
      return `every ${daysPhrase(when.days)} ${timeOf(when.time)}`;
    case 'interval':
      return `every ${lengthOf(when.ms)}`;
    case 'cron':
      return `cron "${when.pattern}"`;
    case 'exit':
      return `when PID ${when.pid} exits`;
    case 'idle':
      return `when idle ${lengthOf(when.forMs)}`;
  }
}

function dayPhrase(day: Day): string {
  switch (day.by) {
    case 'next':
      return 'at';
    case 'days-on':
      return day.days === 0 ? 'today' : 'tomorrow';
    case 'weekday':
      return `on ${DAY_NAMES[day.weekday]}`;
    case 'date':
      return `on ${String(day.year).padStart(4, '0')}-${two(day.month)}-${two(day.day)}`;
  }
}

function daysPhrase(days: readonly number[]): string {
  const sorted = days.toSorted((a, b) => a - b).join('');
  if (sorted === '0123456') return 'day';
  if (sorted === '12345') return 'weekday';
  if (sorted === '06') return 'weekend';
  return days.length === 1 ? (DAY_NAMES[days[0] ?? 0] ?? '') : days.map((day) => DAY_NAMES[day]?.slice(0, 3)).join(',');
}

/** `1d2h`, `90m`, `45s`. */
function lengthOf(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor((seconds % 86_400) / 3_600), 'h'],
    [Math.floor((seconds % 3_600) / 60), 'm'],
    [seconds % 60, 's'],
  ] as const;
  return parts.map(([count, unit]) => (count === 0 ? '' : `${count}${unit}`)).join('');
}

function timeOf({hour, minute}: WallTime): string {
  return `${two(hour)}:${two(minute)}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
