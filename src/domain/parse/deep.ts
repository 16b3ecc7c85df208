/**
 * One deep look's transcript -> `DeepLook`. As for a probe: what can't be read of the host itself is a failure, what can't
 * be read of a part is said in `sections`, and nothing is ever filled in.
 */
import type {DeepLook} from '../deep.ts';
import {fail, ok, type Result} from '../failure.ts';
import type {ProcessFacts} from '../snapshot.ts';
import type {Transcript} from '../transcript.ts';
import {joinNumbered, parseMajors, parseNumbers, parseQueued, parseRings} from './deep-holders.ts';
import {parseKernel, parseMps, parseXids} from './deep-kernel.ts';
import {parseListening, parseModules, parseSegments, parseSharedFiles} from './deep-leftovers.ts';
import {reportDeep} from './deep-sections.ts';
import {parseFacts} from './facts.ts';
import {parseZombies} from './holdings.ts';
import {parseHost, parseOwn} from './host-section.ts';
import {bodyOf, type Framed, linesOf, splitSections} from './sections.ts';

/** `takenAtMs`: the bot's clock when the answer came back. */
export function parseDeep(transcript: Transcript, takenAtMs: number): Result<DeepLook> {
  const framed = splitSections(transcript.stdout, transcript.nonce);
  const unreadable = (section: string, detail: string) =>
    fail({reason: 'probe-unreadable', host: transcript.host, section, detail} as const);
  const problem = problemOf(framed);
  if (problem !== null) return unreadable(problem.section, problem.detail);
  const {sections} = framed;
  const host = parseHost(linesOf(sections, 'host'), transcript.hostKey);
  if (typeof host === 'string') return unreadable('host', host);

  const lines = (name: string): string[] => linesOf(sections, name);
  const {processes} = parseFacts(sections);
  const majors = parseMajors(lines('majors'));
  const numbers = parseNumbers(lines('numbers'));
  const network = parseNumbers(lines('network'));
  const mapped = parseNumbers(lines('mapped'));
  const xids = parseXids(bodyOf(sections, 'xids'));
  const reports = reportDeep(sections, {
    host,
    zombies: parseZombies(lines('zombies')),
    numbers,
    network,
    mapped,
    xids,
  });
  const complete = (name: string): boolean => reports.some((report) => report.name === name && report.complete);

  const own = withDescendants(parseOwn(lines('own')), processes);
  const known = new Set(processes.map((process) => process.pid));
  // Gone before its facts were read: it holds nothing any more. Unknown while the facts are not whole.
  const counts = ({pid}: {readonly pid: number}): boolean => !own.has(pid) && (known.has(pid) || !complete('facts'));
  const nowSeconds = Number(/^@now (\d{1,12})$/m.exec(bodyOf(sections, 'segments'))?.[1] ?? Number.NaN) || null;
  const entries = [...numbers.entries, ...network.entries, ...mapped.entries];
  return ok({
    host: transcript.host,
    machine: host.machine,
    takenAtMs,
    uptimeMs: host.uptimeMs,
    majors,
    numbered: joinNumbered(entries, bodyOf(sections, 'links'), majors).filter(counts),
    queued: parseQueued(lines('queue')).filter(counts),
    rings: parseRings(lines('queue'), lines('names')).filter(counts),
    kernel: parseKernel(lines('kernel'), lines('wchan'), lines('stack')),
    xids: xids.lines,
    mps: parseMps(lines('mps'), complete('mps')),
    leftovers: [
      ...(complete('shm') ? parseSharedFiles(lines('shm'), numbers.openShared, lines('shm.mapped'), nowSeconds) : []),
      ...parseSegments(lines('segments'), nowSeconds),
    ],
    listening: parseListening(lines('listening')),
    modules: parseModules(lines('modules')),
    processes: processes.filter(({pid}) => !own.has(pid)),
    sections: reports,
  });
}

function problemOf(framed: Framed): {section: string; detail: string} | null {
  if (framed.kind === null) return {section: 'BEGIN', detail: framed.preamble.trim().slice(0, 500)};
  if (framed.kind !== 'deep' || framed.version !== 1) {
    return {section: 'BEGIN', detail: `version ${framed.kind} ${framed.version ?? '?'}`};
  }
  if (framed.endCode === null) return {section: 'END', detail: framed.sections.at(-1)?.name ?? ''};
  if (!framed.sections.some((section) => section.name === 'host' && section.exitCode !== null)) {
    return {section: 'host', detail: 'incomplete'};
  }
  return null;
}

/** Our shell and its ancestors, and all that descends from our shell. */
function withDescendants(shellAndAncestors: readonly number[], processes: readonly ProcessFacts[]): Set<number> {
  const own = new Set(shellAndAncestors);
  const down = new Set(shellAndAncestors.slice(0, 1));
  for (let grown = -1; grown !== down.size; ) {
    grown = down.size;
    for (const process of processes) if (down.has(process.ppid)) down.add(process.pid);
  }
  for (const pid of down) own.add(pid);
  return own;
}
