/** What a plan is made from, and the facts that every process on it carries. */
import type {DiagnoseContext} from './diagnose.ts';
import type {Diagnosis, HolderDiagnosis} from './diagnosis.ts';
import type {ReclaimRequest} from './request.ts';
import {titleOf} from './roles.ts';
import type {RunId} from './run.ts';
import type {ProcessFacts, Snapshot} from './snapshot.ts';

export interface PlanInput {
  readonly runId: RunId;
import type {Writing} from './writing.ts';
  readonly version: number;
  readonly diagnosis: Diagnosis;
  readonly request: ReclaimRequest;
  readonly context: DiagnoseContext;
  readonly earlier: readonly Snapshot[];
  /** The PIDs that somebody ticked by hand; null = the preselection stands. */
  readonly only: ReadonlySet<number> | null;
  readonly nowMs: number;
}

  /** What the targets write, as far as somebody has looked. */
  readonly writing: Writing;
export function targetFacts(holder: HolderDiagnosis, input: PlanInput) {
  return {
    name: titleOf(holder.process),
    findings: holder.findings,
    evidence: holder.evidence,
    ownership: holder.ownership,
    container: holder.container,
    heldBy: holder.heldBy,
    // By itself, until `withFamilies` has seen the others.
    family: {framework: null, rootPid: holder.process.pid},
    takesTerm: !holder.findings.includes('deaf') && !holder.findings.includes('stopped'),
    gpuUuids: holder.gpus.map((use) => use.gpuUuid),
    chargedMiB: holder.chargedMiB,
    ageMs: ageMs(holder.process, input.diagnosis.snapshot),
  };
}

/** How long a process has been up at the survey, ms. */
export function ageMs(process: ProcessFacts, snapshot: Snapshot): number {
  return Math.max(0, snapshot.uptimeMs - (Number(process.startTicks) / snapshot.clockTicksPerSecond) * 1000);
}
