/** Which parts of a probe are whole. */
import type {SectionReport} from '../snapshot.ts';
import type {FdScan} from './holdings.ts';
import {bodyOf, linesOf, type Section} from './sections.ts';

const PARTS: readonly string[] = ['host', 'maps', 'matches', 'zombies', 'own', 'threads', 'gpus', 'charges', 'minors'];
const FACTS: readonly string[] = ['stat', 'status', 'links', 'executable', 'users', 'words'];
/** grep: 1 = nothing found, 2 = a file vanished or was refused; find is judged by its complaints. */
const WHOLE_UP_TO = 2;

/** One report a part, `fds` and `facts` each as one, whatever number of sections carried them. */
export function reportSections(
  sections: readonly Section[],
  scans: {readonly fds: FdScan; readonly threads: FdScan},
): SectionReport[] {
  return [
    ...PARTS.map((name) => (name === 'threads' ? withScan(name, sections, scans.threads, 0) : plain(name, sections))),
    // Two finds, one for even and one for odd PIDs.
    withScan('fds', sections, scans.fds, 2),
    facts(sections),
  ];
}

function plain(name: string, sections: readonly Section[]): SectionReport {
  const named = sections.filter((section) => section.name === name);
  const codes = named.map((section) => section.exitCode);
  const worst = codes.includes(null) || codes.length === 0 ? null : Math.max(...codes.map((code) => code ?? 0));
  const limit = name === 'gpus' || name === 'charges' ? 123 : WHOLE_UP_TO;
  const complete = worst !== null && worst <= limit;
  return {name, exitCode: worst, complete, note: complete ? '' : noteFor(worst)};
}

function withScan(name: string, sections: readonly Section[], scan: FdScan, findsDue: number): SectionReport {
  const report = plain(name, sections);
  const whole = scan.finds.length >= findsDue && scan.finds.every((code) => code <= 1) && scan.troubles.length === 0;
  if (whole || !report.complete) return report;
  return {...report, complete: false, note: scan.troubles.join('; ').slice(0, 500) || 'cut'};
}

/** The facts of a process may be spread over all of these; the words may come one by one. */
function facts(sections: readonly Section[]): SectionReport {
  const parts = FACTS.map((name) => plain(`facts.${name}`, sections));
  const leftOut = linesOf(sections, 'limits').find((line) => /^left_out [1-9]/.test(line));
  const missing = parts.filter((part) => !part.complete).map((part) => `${part.name} ${part.note}`);
  // A command line that hangs costs its own process its words, not everybody their facts.
  const needed = missing.filter((note) => !/^facts\.(words|users|executable) /.test(note));
  const notes = [...missing, ...(leftOut === undefined ? [] : [leftOut])];
  const codes = parts.map((part) => part.exitCode);
  return {
    name: 'facts',
    exitCode: codes.includes(null) ? null : Math.max(...codes.map((code) => code ?? 0)),
    complete: needed.length === 0 && leftOut === undefined && bodyOf(sections, 'facts.stat').includes('/stat:'),
    note: notes.join('; '),
  };
}

function noteFor(exitCode: number | null): string {
  if (exitCode === null) return 'no end';
  if (exitCode === 124) return 'timed out';
  return exitCode === 75 ? 'too long' : `exit ${exitCode}`;
}
