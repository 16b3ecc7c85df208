/** A report in words: many hosts as one table with the worst first, what changed, and why it was made. */
import {
  type GpuReport,
  HOST_ORDER,
  type HostReport,
  type HostState,
  hostState,
  type SeenHost,
  worstFirst,
} from '../domain/host-report.ts';
import type {Change} from '../domain/report-changes.ts';
import type {Report} from '../domain/schedule.ts';
import {plural, ranges, roughMemory, span, thousands} from './amounts.ts';
import {column, safeLine} from './safe-text.ts';
import {type Cell, sumOrUnknown, type Table} from './table.ts';
import {FINDING_WORD, STATE_WORD} from './wording.ts';

const HOST_WORD: Readonly<Record<HostState, string>> = {
  dirty: 'dirty',
  unseen: 'not seen',
  unknown: 'unknown',
  busy: 'has run',
  occupied: 'occupied',
  clean: 'clean',
};

/** "40 hosts: 3 dirty, 1 not seen, 36 clean" */
export function countsLine(hosts: readonly HostReport[]): string {
  return `${plural(hosts.length, 'host', 'hosts')}: ${counts(hosts)}`;
}

function counts(hosts: readonly HostReport[]): string {
  const parts = HOST_ORDER.map((state) => ({state, count: hosts.filter((host) => hostState(host) === state).length}));
  return parts
    .filter(({count}) => count > 0)
    .map(({state, count}) => `${count} ${HOST_WORD[state]}`)
    .join(', ');
}

/** "39 of 40": how many answered the look. */
export function seenCount(hosts: readonly HostReport[]): string {
  return `${hosts.filter(({state}) => state === 'seen').length} of ${hosts.length}`;
}

/** One line a host, the worst first, `room` of them at most; the rest as counts. Monospace, 42 columns. */
export function fleetTable(hosts: readonly HostReport[], room: number): readonly string[] {
  const sorted = worstFirst(hosts);
  const shown = sorted.slice(0, sorted.length > room ? Math.max(1, room - 1) : room);
  const rest = sorted.slice(shown.length);
  const width = Math.min(14, Math.max(6, ...shown.map(({host}) => [...host].length)));
  const rowOf = (host: HostReport): string =>
    `${column(safeLine(host.host, 60), width)} ${column(HOST_WORD[hostState(host)], 8)} ${safeLine(hostFacts(host), 32 - width)}`.trimEnd();
  return [
    ...shown.map(rowOf),
    ...(rest.length === 0 ? [] : [`… ${plural(rest.length, 'more', 'more')}: ${counts(rest)}`]),
  ];
}

/** "dirty GPU 0-3 · 378 GiB": the same of one host alone. */
export function hostWords(host: HostReport): string {
  return `${HOST_WORD[hostState(host)]} ${hostFacts(host)}`.trimEnd();
}

/** The same as data, with what is in use; the last row counts and sums what is left out. */
export function fleetRows(hosts: readonly HostReport[], room: number): Table {
  const sorted = worstFirst(hosts);
  const shown = sorted.slice(0, sorted.length > room ? Math.max(1, room - 1) : room);
  const rest = sorted.slice(shown.length);
  return {
    columns: [
      {head: 'Host', side: 'left'},
      {head: 'State', side: 'left'},
      {head: 'Used, MiB', side: 'right'},
      {head: 'What', side: 'left'},
    ],
    rows: [
      ...shown.map((host) => [
        safeLine(host.host, 60),
        HOST_WORD[hostState(host)],
        usedCell([host]),
        safeLine(hostFacts(host), 60),
      ]),
      ...(rest.length === 0 ? [] : [[`… ${plural(rest.length, 'more', 'more')}`, counts(rest), usedCell(rest), '']]),
    ],
  };
}

/** What nobody saw adds nothing, and alone is said to be unknown. */
function usedCell(hosts: readonly HostReport[]): Cell {
  return sumOrUnknown(hosts.flatMap((host) => (host.state === 'seen' ? host.gpus.map(({usedMiB}) => usedMiB) : [])));
}

/** What is worth saying of one host in half a line. */
function hostFacts(host: HostReport): string {
  switch (host.state) {
    case 'gone':
      return 'not in the file';
    case 'failed':
      // Nothing is wrong with it: nobody looked, so that no look is in the measurement.
      return host.failure.reason === 'host-measured' ? 'a campaign measures' : host.failure.reason.replaceAll('-', ' ');
    case 'busy':
      return `run ${host.runId.slice(0, 6)}`;
    case 'seen':
      return seenFacts(host);
  }
}

function seenFacts(host: SeenHost): string {
  const state = hostState(host);
  const those = host.gpus.filter((gpu) => gpu.state === state);
  if (host.gpus.length === 0) return 'no GPU seen';
  if (state === 'clean') return plural(host.gpus.length, 'GPU', 'GPUs');
  const used = those.reduce((sum, gpu) => sum + (gpu.usedMiB ?? 0), 0);
  return `${indexes(those)}${state === 'unknown' ? '' : ` · ${roughMemory(used)}`}`;
}

/** "GPU 0-3" */
function indexes(gpus: readonly Pick<GpuReport, 'index'>[]): string {
  const known = gpus.flatMap(({index}) => (index === null ? [] : [index]));
  return known.length === 0 ? plural(gpus.length, 'GPU', 'GPUs') : `GPU ${ranges(known)}`;
}

/** One change as one line, its host in front. */
export function changeLine(change: Change): string {
  const host = safeLine(change.host, 60);
  const gpu = 'index' in change ? `GPU ${change.index ?? '?'}` : '';
  switch (change.what) {
    case 'state':
      return `${host} ${gpu}: ${STATE_WORD[change.from]} → ${STATE_WORD[change.to]}`;
    case 'unexplained':
      return `${host} ${gpu}: unexplained ${thousands(change.fromMiB)} → ${thousands(change.toMiB)} MiB`;
    case 'came':
    case 'went': {
      const {pid, title, finding, chargedMiB, gpus} = change.holder;
      const memory = chargedMiB === null ? '' : `, ${thousands(chargedMiB)} MiB`;
      const where = gpus.length === 0 ? '' : ` on ${indexes(gpus.map((index) => ({index})))}`;
      const what = change.what === 'came' ? `new: PID ${pid}` : `gone: PID ${pid}`;
      return `${host}: ${what} ${safeLine(title, 40)} (${FINDING_WORD[finding]}${memory}${where})`;
    }
    case 'gpu-came':
      return `${host} ${gpu}: there is a GPU that was not seen before`;
    case 'gpu-went':
      return `${host} ${gpu}: is not seen any more`;
    case 'rebooted':
      return `${host}: was rebooted; processes of the boot before are gone`;
    case 'sight':
      return `${host}: ${SIGHT[change.from]} → ${SIGHT[change.to]}${change.from === 'failed' && change.to === 'failed' ? ', for another reason' : ''}`;
    case 'joined':
      return `${host}: is among the hosts now`;
    case 'left':
      return `${host}: is no longer among the hosts`;
  }
}

const SIGHT: Readonly<Record<HostReport['state'], string>> = {
  seen: 'answers',
  failed: 'could not be looked at',
  gone: 'out of the hosts file',
  busy: 'a run is at work there',
};

/** As many as `room`, and what is left out, counted. */
export function changeLines(changes: readonly Change[], room: number): readonly string[] {
  const shown = changes.slice(0, changes.length > room ? room - 1 : room).map(changeLine);
  const more = changes.length - shown.length;
  return more === 0 ? shown : [...shown, `… ${plural(more, 'more change', 'more changes')}`];
}

/** Why it was made, where no time was the reason; null for a time. */
export function whyLine(report: Report): string | null {
  const {why} = report;
  switch (why.kind) {
    case 'time':
      return null;
    case 'idle':
      return `Every GPU was idle for ${span(report.dueAtMs - why.sinceMs)} by unbroken looks.`;
    case 'exited': {
      const {pid, host, title} = why.pinned;
      const who = `PID ${pid} ${safeLine(title, 40)} on ${safeLine(host, 60)}`;
      return `${who} ${EXIT_WORDS[why.how]}.`;
    }
  }
}

const EXIT_WORDS = {
  gone: 'has ended',
  replaced: 'has ended; its number is another process by now',
  reboot: 'has ended: the host was rebooted, and no process outlives that',
  'host-gone': 'cannot be looked at any more: its host is out of the hosts file',
} as const;

/** What its time was like: late, with others missed or skipped. `time` writes an instant. */
export function lateLines(
  report: Report,
  skippedMs: readonly number[],
  time: (atMs: number) => string,
): readonly string[] {
  const missed =
    report.missed === 0 ? '' : ` It stands for ${plural(report.missed, 'earlier one', 'earlier ones')} missed as well.`;
  return [
    ...(report.late ? [`Late: due ${time(report.dueAtMs)}, and nobody was there to make it.${missed}`] : []),
    ...(!report.late && report.missed > 0 ? [missed.trim()] : []),
    ...(skippedMs.length === 0
      ? []
      : [
          `Skipped: ${skippedMs.slice(0, 5).map(time).join(', ')}${skippedMs.length > 5 ? ` and ${skippedMs.length - 5} more` : ''}, since this one was still looking.`,
        ]),
  ];
}
