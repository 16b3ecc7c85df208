/** Which parts of a deep look are whole. What is not whole says nothing about "nobody". */
import type {SectionReport} from '../snapshot.ts';
import type {NumberScan} from './deep-holders.ts';
import type {XidLog} from './deep-kernel.ts';
import {parseStuck} from './holdings.ts';
import type {HostSection} from './host-section.ts';
import {reportSections} from './section-report.ts';
import {bodyOf, linesOf, type Section} from './sections.ts';

/** The highest exit code that still means a whole section: grep says 1 for nothing found, 2 for a file that vanished. */
const WHOLE_UP_TO: Readonly<Record<string, number>> = {
  majors: 1,
  zombies: 2,
  numbers: 0,
  network: 0,
  mapped: 2,
  'shm.mapped': 2,
  queue: 0,
  names: 0,
  kernel: 0,
  wchan: 0,
  stack: 0,
  xids: 0,
  mps: 0,
  shm: 0,
  segments: 0,
  listening: 0,
  modules: 1,
};
const NO_SCAN = {
  opens: new Map(),
  refused: new Set<number>(),
  refusedThreads: new Set<string>(),
  finds: [],
  troubles: [],
};

export interface DeepScans {
  readonly host: HostSection;
  readonly zombies: ReadonlySet<number>;
  readonly numbers: NumberScan;
  readonly network: NumberScan;
  readonly mapped: NumberScan;
  readonly xids: XidLog;
}

export function reportDeep(sections: readonly Section[], scans: DeepScans): SectionReport[] {
  const blind = scans.host.euid !== 0 && scans.host.hidepid !== '0' ? `hidepid=${scans.host.hidepid}` : '';
  const refusedBy = (scan: NumberScan): string => {
    const count = [...scan.refused].filter((pid) => !scans.zombies.has(pid)).length;
    return count === 0 ? '' : `${count} ${count === 1 ? 'process' : 'processes'} refused`;
  };
  const scan = (read: NumberScan, findsDue: number): readonly string[] => [
    blind,
    refusedBy(read),
    ...read.troubles,
    read.finds.length < findsDue ? 'cut' : '',
    read.finds.some((code) => code > 1) ? 'timed out' : '',
  ];
  const stuck = (name: string): string => {
    const pids = parseStuck(bodyOf(sections, name));
    return pids.length === 0 ? '' : `stood still at ${pids.join(', ')}`;
  };
  const queueEnds = [...bodyOf(sections, 'queue').matchAll(/^@(find|grep) (\d+)$/gm)].map(
    (end) => `${end[1]} ${end[2]}`,
  );
  const queueWhole = queueEnds.length === 2 && queueEnds.every((end) => /^(?:find [01]|grep (?:0|123))$/.test(end));
  const extra: Readonly<Record<string, readonly string[]>> = {
    // Two finds, one for even and one for odd PIDs.
    numbers: scan(scans.numbers, 2),
    network: scan(scans.network, 1),
    mapped: [...scan(scans.mapped, 1), stuck('mapped'), ...badCodes(bodyOf(sections, 'mapped'))],
    'shm.mapped': [blind, stuck('shm.mapped')],
    // The same folders as for numbers, so the same that refuse.
    queue: [blind, refusedBy(scans.numbers), queueWhole ? '' : queueEnds.join(', ') || 'cut'],
    xids: [
      ...scans.xids.unread.map((log) => `${log} unreadable`),
      scans.xids.source !== null && !scans.xids.whole ? `${scans.xids.source} does not reach back so far` : '',
    ],
  };
  const plain = Object.keys(WHOLE_UP_TO).map((name) => {
    const notes = (extra[name] ?? []).filter((note) => note !== '');
    const whole = name === 'xids' ? scans.xids.whole : notes.length === 0;
    return report(name, sections, notes, whole);
  });
  // The exact words of an ownerless file need every process to have been seen.
  const sight = ['numbers', 'shm.mapped'].filter((name) => !plain.some((part) => part.name === name && part.complete));
  const facts = reportSections(sections, {fds: NO_SCAN, threads: NO_SCAN}).filter((part) => part.name === 'facts');
  return [
    ...plain.map((part) =>
      part.name === 'shm' && sight.length > 0 && linesOf(sections, 'shm').length > 0
        ? {
            ...part,
            complete: false,
            note: [part.note, `owners not all in sight: ${sight.join(', ')}`].filter(Boolean).join('; '),
          }
        : part,
    ),
    ...facts,
  ];
}

function report(name: string, sections: readonly Section[], notes: readonly string[], whole: boolean): SectionReport {
  const codes = sections.filter((section) => section.name === name).map((section) => section.exitCode);
  const exitCode = codes.length === 0 || codes.includes(null) ? null : Math.max(...codes.map((code) => code ?? 0));
  const ended = exitCode !== null && exitCode <= (WHOLE_UP_TO[name] ?? 0);
  const end = ended ? '' : exitCode === null ? 'no end' : exitCode === 124 ? 'timed out' : `exit ${exitCode}`;
  return {name, exitCode, complete: ended && whole, note: [end, ...notes].filter(Boolean).join('; ').slice(0, 500)};
}

/** A section may hold the exit codes of several scans; its own is the last. */
function badCodes(body: string): readonly string[] {
  const codes = [...body.matchAll(/^@rc (\d{1,3})$/gm)].map((match) => Number(match[1]));
  return codes.some((code) => code > 2) ? [`scan ended with ${codes.join(', ')}`] : [];
}
