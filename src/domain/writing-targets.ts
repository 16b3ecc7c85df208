/** Which targets write work right now, by what was read of their files, or because a profiler is at work above them. */
import type {Diagnosis} from './diagnosis.ts';
import {type Evidence, FINDING_ORDER, type FindingKind} from './finding.ts';
import {ancestors, processTable} from './lineage.ts';
import type {Kept, Plan, Target} from './plan.ts';
import type {Policy} from './policy.ts';
import type {ReclaimRequest} from './request.ts';
import type {ProcessFacts} from './snapshot.ts';
import type {GrowingFile, Writing} from './writing.ts';

/** Starts of the names of programs that write their report only when what they watch, or they themselves, end. */
const PROFILERS = /^((nsys|ncu)(-|$)|(nv-)?nsight|dcgmproftester)/;

/** One look asks about no more processes. Targets come first. */
const MOST_ASKED = 64;
/** Characters of a file's name on a card. */
const LONGEST_NAME = 40;

/** The targets, those that write with the finding and what proves it. */
export function withWriting(targets: readonly Target[], writing: Writing, diagnosis: Diagnosis): readonly Target[] {
  const table = processTable(diagnosis.snapshot);
  return targets.map((target) => {
    const {pid} = target.identity;
    const own = table.get(pid);
    const profiler = [...(own === undefined ? [] : [own]), ...ancestors(pid, table)].find(isProfiler);
    const report = profiler === undefined ? [] : [underProfiler(profiler, pid)];
    const blind = writing.unread.filter((one) => one.pid === pid && target.takesTerm).map(unreadEvidence);
    return noted(target, [...filesOf(pid, writing), ...report], blind);
  });
}

/** The same for those who stay: whoever ticks one by hand should know what a kill would cut. */
export function withWritingKept(kept: readonly Kept[], writing: Writing): readonly Kept[] {
  return kept.map((one) => noted(one, filesOf(one.pid, writing), []));
}

function noted<T extends Pick<Target, 'findings' | 'evidence'>>(
  one: T,
  proof: readonly Evidence[],
  blind: readonly Evidence[],
): T {
  if (proof.length + blind.length === 0) return one;
  const findings = proof.length === 0 ? one.findings : withFinding(one.findings);
  return {...one, findings, evidence: [...one.evidence, ...proof, ...blind]};
}

function filesOf(pid: number, writing: Writing): readonly Evidence[] {
  return writing.files.filter((file) => file.pid === pid).flatMap(evidenceOf);
}

/** From SIGTERM to kill -9, and to what it may run on while a file still grows, ms. A typed grace is a typed grace. */
export function gracesFor(
  targets: readonly Target[],
  request: ReclaimRequest,
  policy: Policy,
): {readonly graceMs: number; readonly longestGraceMs: number} {
  if (request.graceMs !== null) return {graceMs: request.graceMs, longestGraceMs: request.graceMs};
  const writes = targets.some((target) => target.findings.includes('writing'));
  const graceMs = writes ? policy.profilerGraceMs : policy.graceMs;
  return {graceMs, longestGraceMs: Math.max(graceMs, policy.writingGraceMs)};
}

function isProfiler(process: ProcessFacts): boolean {
  return PROFILERS.test(process.comm);
}

/** Strongest first, but for a server, which is led by what makes it a target. */
function withFinding(findings: readonly FindingKind[]): readonly FindingKind[] {
  const all = new Set<FindingKind>([...findings, 'writing']);
  const sorted = FINDING_ORDER.filter((kind) => all.has(kind));
  return findings[0] === 'server' ? ['server', ...sorted.filter((kind) => kind !== 'server')] : sorted;
}

/** "writing x.json.gz, +38 MiB/s": short enough for a card, so without the folder. Host text in it. */
export function writingFact({path, MiBPerSecond}: GrowingFile): string {
  const name = [...path.slice(path.lastIndexOf('/') + 1)];
  const short =
    name.length <= LONGEST_NAME ? name.join('') : `${name.slice(0, 18).join('')}…${name.slice(-21).join('')}`;
  return `writing ${short}${MiBPerSecond === null ? '' : `, ${rounded(MiBPerSecond)} MiB/s`}`;
}

function evidenceOf(file: GrowingFile): readonly Evidence[] {
  const {path, what, pid, writerPid} = file;
  const by = writerPid === pid ? '' : `, by PID ${writerPid} below it`;
  const folder = path.slice(0, Math.max(1, path.lastIndexOf('/')));
  return [
    {source: 'writes', fact: writingFact(file)},
    {source: 'writes', fact: `a ${what} in ${folder}${by}`},
  ];
}

function underProfiler(profiler: ProcessFacts, pid: number): Evidence {
  const fact =
    profiler.pid === pid
      ? `is the profiler ${profiler.comm}`
      : `under the profiler ${profiler.comm}, PID ${profiler.pid}`;
  return {source: 'parents', fact};
}

function unreadEvidence({path, why}: Writing['unread'][number]): Evidence {
  const how = why === 'refused' ? 'not ours to read' : 'no answer';
  const fact = path === null ? `what it writes could not be read: ${how}` : `whether ${path} grows could not be read`;
  return {source: 'writes', fact};
}

function rounded(MiB: number): string {
  if (MiB < 0.05) return 'under 0.1';
  return `+${MiB < 10 ? MiB.toFixed(1) : Math.round(MiB)}`;
}

/** Whose open files are worth a look before a go: all that may be signalled, but for those that cannot run. */
export function mayWritePids(plan: Plan): readonly number[] {
  if (plan.targets.length === 0) return [];
  const choosable = plan.kept.filter((kept) => kept.choosable);
  return [...plan.targets.map((target) => ({...target, pid: target.identity.pid})), ...choosable]
    .filter(({findings}) => !findings.includes('stopped') && !findings.includes('unreaped'))
    .map(({pid}) => pid)
    .slice(0, MOST_ASKED);
}
