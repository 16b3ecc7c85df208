/** What a plan is made from, and the facts that every process on it carries. */
import {touchedGpus} from './devices.ts';
import type {DiagnoseContext} from './diagnose.ts';
import type {Diagnosis, HolderDiagnosis} from './diagnosis.ts';
import type {Evidence} from './finding.ts';
import {knownAs} from './kinship.ts';
import type {ReclaimRequest} from './request.ts';
import {titleOf} from './roles.ts';
import type {RunId} from './run.ts';
import type {ProcessFacts, Snapshot} from './snapshot.ts';
import type {Writing} from './writing.ts';

export interface PlanInput {
  readonly runId: RunId;
  readonly version: number;
  readonly diagnosis: Diagnosis;
  readonly request: ReclaimRequest;
  readonly context: DiagnoseContext;
  readonly earlier: readonly Snapshot[];
  /** The PIDs that somebody ticked by hand; null = the preselection stands. */
  readonly only: ReadonlySet<number> | null;
  /** What the targets write, as far as somebody has looked. */
  readonly writing: Writing;
  readonly nowMs: number;
}

export function targetFacts(holder: HolderDiagnosis, input: PlanInput) {
  return {
    name: titleOf(holder.process),
    findings: holder.findings,
    evidence: [...holder.evidence, ...knownDead(holder, input)],
    ownership: holder.ownership,
    container: holder.container,
    owners: holder.owners,
    heldBy: holder.heldBy,
    // By itself, until `withFamilies` has seen the others.
    family: {framework: null, rootPid: holder.process.pid},
    takesTerm: !holder.findings.includes('deaf') && !holder.findings.includes('stopped'),
    gpuUuids: touchedGpus(holder),
    chargedMiB: holder.chargedMiB,
    ageMs: ageMs(holder.process, input.diagnosis.snapshot),
  };
}

/** The dead whose memory it keeps, by the names that an earlier look has for them: "seen 22:40 UTC as VLLM::Worker_TP0". */
function knownDead(holder: HolderDiagnosis, {diagnosis, earlier}: PlanInput): readonly Evidence[] {
  return knownAs(holder.deadCharged, diagnosis.snapshot, earlier).map(({pid, title, seenAtMs}) => ({
    source: 'earlier-look',
    fact: `dead PID ${pid} was seen ${new Date(seenAtMs).toISOString().slice(11, 16)} UTC as ${title}`,
  }));
}

/** How long a process has been up at the survey, ms. */
export function ageMs(process: ProcessFacts, snapshot: Snapshot): number {
  return Math.max(0, snapshot.uptimeMs - (Number(process.startTicks) / snapshot.clockTicksPerSecond) * 1000);
}
