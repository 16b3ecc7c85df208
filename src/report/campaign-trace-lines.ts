/** What a campaign left on a host beside processes: settings with what sets them back, shared memory, report files. */
import type {SeenCampaignHost} from '../domain/campaign-report.ts';
import type {SharedLeftover} from '../domain/deep.ts';
import type {Setting, SettingChange} from '../domain/settings-diff.ts';
import {plural, ranges, roughMemory, span} from './amounts.ts';
import {safeLine} from './safe-text.ts';

const MOST = 40;

const SETTING_WORD: Readonly<Record<Setting, string>> = {
  persistence: 'persistence mode',
  'power-limit': 'power limit',
  'application-clocks': 'application clocks',
  'compute-mode': 'compute mode',
  mig: 'MIG mode',
  ecc: 'ECC mode',
};

/** Each command on a line of its own, to be copied. */
export function settingLines({host, settings, clocks}: SeenCampaignHost): readonly string[] {
  if (settings === null)
    return ['  What is set on the GPUs could not be compared: one of the two looks at it is missing.'];
  const {changes, unread, missing} = settings;
  return [
    ...(changes.length === 0
      ? [
          unread.every(({absent}) => absent) && missing.length === 0
            ? '  Power limits, application clocks and modes are as at the start.'
            : '  Of power limits, application clocks and modes, what can be compared is as at the start.',
        ]
      : [`  Set differently than at the start; to set it back, as root on ${host}:`]),
    ...changes.flatMap((change) => [`    ${changeWords(change)}`, `      ${change.command}`]),
    ...unread.map(
      ({what, indexes, token}) =>
        `  Not to be compared on GPU ${indexWords(indexes)}: ${SETTING_WORD[what]}, for which nvidia-smi says ${safeLine(token, 60)}`,
    ),
    ...(missing.length === 0 ? [] : [`  Only one of the two looks shows GPU ${indexWords(missing)}.`]),
    ...clockLines(clocks, host),
  ];
}

/** What cannot be read is never called changed: each is offered, and why. */
function clockLines(clocks: SeenCampaignHost['clocks'], host: string): readonly string[] {
  const of = (kind: 'lock' | 'unlock'): readonly string[] =>
    clocks.filter((one) => one.kind === kind).map(({command}) => `      ${command}`);
  const [lock, unlock] = [of('lock'), of('unlock')];
  return [
    ...(lock.length === 0
      ? []
      : [
          `  Locked clocks cannot be read back. To lock them to what was declared for ${host}, should anybody have changed them:`,
          ...lock,
        ]),
    ...(unlock.length === 0
      ? []
      : ['  Locked clocks cannot be read back. If anybody locked them (-lgc, -lmc), this unlocks them:', ...unlock]),
  ];
}

function changeWords({index, what, from, to, needsReset}: SettingChange): string {
  return `GPU ${index ?? '?'} ${SETTING_WORD[what]}: was ${safeLine(from, 40)}, is ${safeLine(to, 40)}${needsReset ? ' (takes a reset of the GPU)' : ''}`;
}

export function sharedLines(shared: readonly SharedLeftover[] | null): readonly string[] {
  if (shared === null) return ['  Shared memory was not compared: not every process was in sight.'];
  return shared.slice(0, MOST).flatMap(({kind, name, MiB, ageMs}) => {
    const what = kind === 'file' ? `/dev/shm/${safeLine(name, 60)}` : `segment ${safeLine(name, 20)}`;
    const command = removal(kind, name);
    return [
      `  shared memory that nobody has open: ${what}, ${roughMemory(MiB)}${ageMs === null ? '' : `, ${span(ageMs)} old`}; once nobody needs it:`,
      ...(command === null ? ['    (a name that no command is made of)'] : [`      ${command}`]),
    ];
  });
}

/** Only of a name that means nothing to a shell. */
function removal(kind: SharedLeftover['kind'], name: string): string | null {
  if (kind === 'segment') return /^\d+$/.test(name) ? `ipcrm -m ${name}` : null;
  const plain = /^[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)*$/.test(name) && !/(^|\/)\.\.(\/|$)/.test(name);
  return plain ? `rm -- /dev/shm/${name}` : null;
}

export function fileLines({files, sought}: SeenCampaignHost): readonly string[] {
  if (sought.length === 0) return ['  Report files were not looked for: no out= was given, and no profiler runs.'];
  const folders = sought.map(({folder, whole}) => `${safeLine(folder, 60)}${whole ? '' : ' (not to its end)'}`);
  return [
    `  Report files since the start, sought in ${folders.join(', ')}: ${files.length === 0 ? 'none' : plural(files.length, 'file', 'files')}`,
    ...files.slice(0, MOST).map(({path, MiB}) => `    ${safeLine(path, 120)}, ${roughMemory(MiB)}`),
    ...(files.length > MOST ? [`    … ${files.length - MOST} more`] : []),
  ];
}

function indexWords(indexes: readonly (number | null)[]): string {
  const known = indexes.flatMap((index) => (index === null ? [] : [index]));
  return known.length === indexes.length ? ranges(known) : [ranges(known), '?'].filter(Boolean).join(', ');
}
