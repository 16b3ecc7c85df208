/**
 * One probe's transcript -> one snapshot. What can't be read of the host itself is a failure; what can't be read of a part is said
 * in `sections` and `sight`. Nothing is ever filled in: a section without its end is incomplete, never empty.
 */
import {fail, ok, type Result} from '../failure.ts';
import type {ProcessFacts, SectionReport, Snapshot} from '../snapshot.ts';
import type {Transcript} from '../transcript.ts';
import {parseFacts} from './facts.ts';
import {countUnreadable, joinHoldings, parseFdScan, parseMaps, parseStuck, parseZombies} from './holdings.ts';
import {parseHost, parseOwn} from './host-section.ts';
import {parseMatches} from './matches.ts';
import {parseCharges, parseGpus, parseInstances, parseMinors, placeInstances} from './nvidia-smi.ts';
import {reportSections} from './section-report.ts';
import {bodyOf, type Framed, linesOf, splitSections} from './sections.ts';
import {parseSmiAnswer, smiState} from './smi-answer.ts';

/** `takenAtMs`: the bot's clock when the probe came back. Also reads the closing probe of a signalling command. */
export function parseProbe(transcript: Transcript, takenAtMs: number): Result<Snapshot> {
  const framed = splitSections(transcript.stdout, transcript.nonce);
  const unreadable = (section: string, detail: string) =>
    fail({reason: 'probe-unreadable', host: transcript.host, section, detail} as const);
  const problem = problemOf(framed);
  if (problem !== null) return unreadable(problem.section, problem.detail);
  const {sections} = framed;
  const host = parseHost(linesOf(sections, 'host'), transcript.hostKey);
  if (typeof host === 'string') return unreadable('host', host);

  const facts = parseFacts(sections);
  const fds = parseFdScan(linesOf(sections, 'fds'));
  const threads = parseFdScan(linesOf(sections, 'threads'));
  const zombies = parseZombies(linesOf(sections, 'zombies'));
  const gpuAnswer = parseSmiAnswer(bodyOf(sections, 'gpus'));
  const chargeAnswer = parseSmiAnswer(bodyOf(sections, 'charges'));
  const gpus = parseGpus(gpuAnswer.fields, gpuAnswer.lines, parseMinors(linesOf(sections, 'minors')));
  const charges = parseCharges(chargeAnswer.lines);
  const reports = reportSections(sections, {fds, threads});
  const complete = (name: string): boolean => reports.some((report) => report.name === name && report.complete);

  const own = ownPids(parseOwn(linesOf(sections, 'own')), [...gpuAnswer.pids, ...chargeAnswer.pids], facts.processes);
  const known = new Set(facts.processes.map((process) => process.pid));
  // Seen by a scan and gone before its facts were read: it holds nothing any more. Unknown while the facts are not whole.
  const counts = (pid: number): boolean => !own.has(pid) && (known.has(pid) || !complete('facts'));
  const stuckAt = [
    ...new Set(['maps', 'matches', 'facts.words'].flatMap((name) => parseStuck(bodyOf(sections, name)))),
  ];
  const unreadableFdFolders = countUnreadable(fds, threads, zombies);
  return ok({
    host: transcript.host,
    machine: host.machine,
    takenAtMs,
    uptimeMs: host.uptimeMs,
    clockTicksPerSecond: host.clockTicksPerSecond,
    kernel: host.kernel,
    mountNamespace: host.mountNamespace,
    sight: {
      full:
        ['fds', 'maps', 'zombies', 'threads'].every(complete) &&
        unreadableFdFolders === 0 &&
        stuckAt.length === 0 &&
        (host.euid === 0 || host.hidepid === '0'),
      euid: host.euid,
      hidepid: host.hidepid,
      unreadableFdFolders,
      foreignPidNamespace: host.foreignPidNamespace,
      stuckAt,
    },
    smi: smiState(gpuAnswer, gpus.gpus.length, chargeAnswer, charges.charges.length),
    gpus: gpus.gpus,
    gpuFaults: faultsAmong(gpuAnswer.state === 'answered' ? [...gpus.faults, ...charges.others] : []),
    // `nvidia-smi -L`, where a probe has it.
    charges: placeInstances(charges.charges, gpus.gpus, parseInstances(linesOf(sections, 'instances'))),
    holdings: joinHoldings(fds.opens, parseMaps(linesOf(sections, 'maps')), threads.opens).filter(({pid}) =>
      counts(pid),
    ),
    processes: facts.processes,
    matches: parseMatches(bodyOf(sections, 'matches'), facts.rawText, new Set(threads.opens.keys())).filter(({pid}) =>
      counts(pid),
    ),
    ownPids: [...own].sort((a, b) => a - b),
    sections: reports satisfies readonly SectionReport[],
    deep: null,
  });
}

function problemOf(framed: Framed): {section: string; detail: string} | null {
  if (framed.kind === null) return {section: 'BEGIN', detail: framed.preamble.trim().slice(0, 500)};
  if (framed.version !== 1 || (framed.kind !== 'probe' && framed.kind !== 'signal')) {
    return {section: 'BEGIN', detail: `version ${framed.kind} ${framed.version ?? '?'}`};
  }
  if (framed.endCode === null) return {section: 'END', detail: framed.sections.at(-1)?.name ?? ''};
  if (!framed.sections.some((section) => section.name === 'host' && section.exitCode !== null)) {
    return {section: 'host', detail: 'incomplete'};
  }
  return null;
}

/** Our shell and its ancestors, our nvidia-smi calls, and all that descends from our shell. */
function ownPids(
  shellAndAncestors: readonly number[],
  smiPids: readonly number[],
  processes: readonly ProcessFacts[],
): Set<number> {
  const own = new Set([...shellAndAncestors, ...smiPids]);
  const shell = shellAndAncestors[0];
  const down = new Set(shell === undefined ? smiPids : [shell, ...smiPids]);
  for (let grown = -1; grown !== down.size; ) {
    grown = down.size;
    for (const process of processes) if (down.has(process.ppid)) down.add(process.pid);
  }
  for (const pid of down) own.add(pid);
  return own;
}

/** Sentences about a broken GPU; "nothing runs" and its like are none. */
function faultsAmong(lines: readonly string[]): string[] {
  return [...new Set(lines.filter((line) => /error|lost|reset|unable|fail|err!|infoROM|permission/i.test(line)))];
}
