/** A campaign in words: what holds, and at its end what is left behind, what is set differently, and what sets it back. */
import {type Campaign, type CampaignState, campaignState, type KeptCampaign} from '../domain/campaign.ts';
import type {CampaignHost, CampaignReport, Leftover, SeenCampaignHost} from '../domain/campaign-report.ts';
import {isAsBefore} from '../domain/campaign-report.ts';
import type {SharedLeftover} from '../domain/deep.ts';
import type {HolderReport} from '../domain/host-report.ts';
import type {Setting, SettingChange} from '../domain/settings-diff.ts';
import {plural, ranges, roughMemory, span, thousands} from './amounts.ts';
import {failureSentence} from './failure-sentence.ts';
import {column, safeLine} from './safe-text.ts';
import {FINDING_WORD, STATE_WORD} from './wording.ts';

const MOST = 40;

/** "profile c1a2b3 "h200 sweep" on gpu-07, GPU 0-3, by os:anna" */
export function campaignTitle({id, kind, label, hosts, gpus, by}: Campaign): string {
  const what = kind === 'profile' ? 'profile' : 'keep';
  const called = label === null ? '' : ` "${safeLine(label, 60)}"`;
  return `${what} ${id}${called} on ${hosts.map((host) => safeLine(host, 60)).join(', ')}${gpuWords(gpus)}, by ${safeLine(by, 60)}`;
}

/** One line a campaign. `time` writes an instant. */
export function campaignLine(kept: KeptCampaign, nowMs: number, time: (atMs: number) => string): string {
  const {campaign, ended} = kept;
  const {untilMs, startedAtMs} = campaign;
  const state: Readonly<Record<CampaignState, string>> = {
    holding: untilMs === null ? 'holds until it is ended' : `holds until ${time(untilMs)}`,
    over: `its time was over at ${untilMs === null ? '?' : time(untilMs)}; it holds nothing`,
    ended: `ended ${ended === null ? '?' : `${time(ended.atMs)} by ${safeLine(ended.by, 60)}`}`,
  };
  return `${campaignTitle(campaign)}: since ${time(startedAtMs)}, ${state[campaignState(kept, nowMs)]}`;
}

/** The whole report, host by host. `command` is what people type before a verb: `gpu-reclaim` or `/gpu`. */
export function reportLines(report: CampaignReport, command: string): readonly string[] {
  return report.hosts.flatMap((host, at) => [...(at === 0 ? [] : ['']), ...campaignHostLines(host, command)]);
}

/** "gpu-07: left behind: 2 processes, 1 profiler; 3 settings differ" */
export function campaignHostTitle(host: CampaignHost): string {
  if (host.state === 'unseen') return `${host.host}: unknown, it could not be looked at`;
  const processes = host.leftovers.length + host.profilers.length;
  const settings = host.settings?.changes.length ?? 0;
  const faults = (host.xids?.length ?? 0) + host.ecc.length;
  const parts = [
    ...(processes === 0 ? [] : [`left behind: ${plural(processes, 'process', 'processes')}`]),
    ...(settings === 0 ? [] : [`${plural(settings, 'setting differs', 'settings differ')}`]),
    ...((host.shared?.length ?? 0) === 0 ? [] : ['shared memory left behind']),
    ...(faults === 0 ? [] : ['faults since the start']),
    ...(host.mps === 'started' || host.mps === 'stopped' ? [`MPS was ${host.mps}`] : []),
    ...(host.gpus.some(({state}) => state === 'dirty') ? ['unexplained memory'] : []),
  ];
  if (parts.length > 0) return `${host.host}: ${parts.join('; ')}`;
  return isAsBefore(host)
    ? `${host.host}: as at the start, nothing differs`
    : `${host.host}: nothing seen that differs, but not everything could be read`;
}

export function campaignHostLines(host: CampaignHost, command: string): readonly string[] {
  if (host.state === 'unseen') return [campaignHostTitle(host), `  ${failureSentence(host.failure)}`];
  return [
    campaignHostTitle(host),
    ...(host.rebooted ? ['  It was rebooted since the start: nothing of before can still run.'] : []),
    ...memoryTable(host),
    '  peak: not sampled; nobody looked between start and stop, so that no look is in the measurement',
    ...leftoverLines(host, command),
    ...settingLines(host),
    ...sharedLines(host.shared),
    ...fileLines(host),
    ...faultLines(host),
    ...mpsLines(host),
    ...(host.fullSight
      ? []
      : ['  Not everything on this host could be read: what is not named here may still be there.']),
  ];
}

/** At most 42 columns: a phone shows no more. */
function memoryTable({gpus}: SeenCampaignHost): readonly string[] {
  const row = (index: string, cells: readonly string[], note: string): string =>
    `  ${column(index, 3)}${cells.map((cell) => column(cell, 9, 'right')).join('')}  ${note}`.trimEnd();
  return [
    row('GPU', ['before', 'after', 'now'], 'MiB'),
    ...gpus.map(({index, beforeMiB, afterMiB, nowMiB, state}) =>
      row(` ${index ?? '?'}`, [figure(beforeMiB), figure(afterMiB), figure(nowMiB)], STATE_WORD[state]),
    ),
    ...gpus
      .filter(({state, unexplainedMiB}) => state === 'dirty' && (unexplainedMiB ?? 0) > 0)
      .map(({index, unexplainedMiB}) => `  GPU ${index ?? '?'}: ${thousands(unexplainedMiB ?? 0)} MiB unexplained`),
  ];
}

/** `reclaim` only opens a plan that asks for a go. */
function leftoverLines(
  {host, leftovers, wereThere, profilers, fullSight}: SeenCampaignHost,
  command: string,
): readonly string[] {
  const lines = leftovers
    .slice(0, MOST)
    .flatMap((one) => [
      `  left behind: ${leftoverWords(one)}`,
      `    to get it back: ${proposeCommand(host, one.holder.pid, command)}`,
    ]);
  const more = leftovers.length - MOST;
  return [
    ...lines,
    ...(more > 0 ? [`  … ${more} more left behind`] : []),
    ...profilers.map(
      ({pid, name, folder}) =>
        `  left behind: PID ${pid} ${safeLine(name, 40)} · profiler, holds no GPU${folder === null ? '' : `, works in ${safeLine(folder, 60)}`}`,
    ),
    ...(leftovers.length + profilers.length === 0 && fullSight ? ['  No process is left behind.'] : []),
    ...(wereThere.length === 0
      ? []
      : [
          `  there at the start as well: ${wereThere.slice(0, 8).map(holderWords).join(', ')}${wereThere.length > 8 ? ` +${wereThere.length - 8}` : ''}`,
        ]),
  ];
}

export function proposeCommand(host: string, pid: number, command: string): string {
  return `${command} reclaim ${host} pid=${pid}`;
}

/** "PID 4711 bench.py · profiler, renamed · GPU 0-1, 40,960 MiB" */
export function leftoverWords({holder, findings, profiler}: Leftover): string {
  const words = [...(profiler ? ['profiler'] : []), ...findings.map((kind) => FINDING_WORD[kind])];
  return `${holderWords(holder)} · ${words.join(', ')}${useWords(holder)}`;
}

function holderWords({pid, title}: HolderReport): string {
  return `PID ${pid} ${safeLine(title, 40)}`;
}

function useWords({gpus, chargedMiB}: HolderReport): string {
  const indexes = gpus.flatMap((index) => (index === null ? [] : [index]));
  const where = indexes.length === 0 ? '' : ` · GPU ${ranges(indexes)}`;
  return `${where}${chargedMiB === null ? '' : `${where === '' ? ' ·' : ','} ${thousands(chargedMiB)} MiB`}`;
}

const SETTING_WORD: Readonly<Record<Setting, string>> = {
  persistence: 'persistence mode',
  'power-limit': 'power limit',
  'application-clocks': 'application clocks',
  'compute-mode': 'compute mode',
  mig: 'MIG mode',
  ecc: 'ECC mode',
};

/** Each command on a line of its own, to be copied. */
function settingLines({host, settings, unlock}: SeenCampaignHost): readonly string[] {
  if (settings === null)
    return ['  What is set on the GPUs could not be compared: one of the two looks at it is missing.'];
  const {changes, unread, missing} = settings;
  return [
    ...(changes.length === 0
      ? ['  Power limits, application clocks and modes are as at the start.']
      : [`  Set differently than at the start; to set it back, as root on ${host}:`]),
    ...changes.flatMap((change) => [`    ${changeWords(change)}`, `      ${change.command}`]),
    ...unread.map(
      ({what, indexes, token}) =>
        `  Not to be compared on GPU ${indexWords(indexes)}: ${SETTING_WORD[what]}, for which nvidia-smi says ${safeLine(token, 60)}`,
    ),
    ...(missing.length === 0 ? [] : [`  Only one of the two looks shows GPU ${indexWords(missing)}.`]),
    ...(unlock.length === 0
      ? []
      : [
          '  Locked clocks cannot be read back. If anybody locked them (-lgc, -lmc), this unlocks them:',
          ...unlock.map((one) => `      ${one}`),
        ]),
  ];
}

function changeWords({index, what, from, to, needsReset}: SettingChange): string {
  return `GPU ${index ?? '?'} ${SETTING_WORD[what]}: was ${safeLine(from, 40)}, is ${safeLine(to, 40)}${needsReset ? ' (takes a reset of the GPU)' : ''}`;
}

function sharedLines(shared: readonly SharedLeftover[] | null): readonly string[] {
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

function fileLines({files, sought}: SeenCampaignHost): readonly string[] {
  if (sought.length === 0) return ['  Report files were not looked for: no out= was given, and no profiler runs.'];
  const folders = sought.map(({folder, whole}) => `${safeLine(folder, 60)}${whole ? '' : ' (not to its end)'}`);
  return [
    `  Report files since the start, sought in ${folders.join(', ')}: ${files.length === 0 ? 'none' : plural(files.length, 'file', 'files')}`,
    ...files.slice(0, MOST).map(({path, MiB}) => `    ${safeLine(path, 120)}, ${roughMemory(MiB)}`),
    ...(files.length > MOST ? [`    … ${files.length - MOST} more`] : []),
  ];
}

function faultLines({xids, ecc}: SeenCampaignHost): readonly string[] {
  const none = (xids?.length ?? 0) + ecc.length === 0;
  return [
    ...(xids ?? [])
      .slice(0, MOST)
      .map(({index, line}) =>
        `  fault since the start: GPU ${index ?? safeLine(line.busId, 20)} Xid ${line.code} ${safeLine(line.text, 80)}`.trimEnd(),
      ),
    ...ecc.map(
      ({index, more}) =>
        `  fault since the start: GPU ${index ?? '?'}, ${plural(more, 'uncorrected ECC error', 'uncorrected ECC errors')}`,
    ),
    ...(xids === null
      ? ['  Faults: the kernel log could not be read.']
      : none
        ? ['  Faults since the start: none.']
        : []),
  ];
}

function mpsLines({mps}: SeenCampaignHost): readonly string[] {
  switch (mps) {
    case 'started':
      return ['  MPS did not run at the start and runs now; to stop it: echo quit | nvidia-cuda-mps-control'];
    case 'stopped':
      return ['  MPS ran at the start and does not now; to start it: nvidia-cuda-mps-control -d'];
    case 'unknown':
      return ['  Whether MPS runs as at the start could not be told.'];
    case 'same':
      return [];
  }
}

function gpuWords(gpus: readonly number[] | null): string {
  return gpus === null ? '' : `, GPU ${ranges(gpus)}`;
}

function indexWords(indexes: readonly (number | null)[]): string {
  const known = indexes.flatMap((index) => (index === null ? [] : [index]));
  return known.length === indexes.length ? ranges(known) : [ranges(known), '?'].filter(Boolean).join(', ');
}

function figure(value: number | null): string {
  return value === null ? '?' : thousands(value);
}
