/** Domain values as the plain JSON of --json: stable names, MiB and ms in the keys. */
import type {Diagnosis} from '../domain/diagnosis.ts';
import type {Outcome} from '../domain/outcome.ts';
import type {Plan} from '../domain/plan.ts';
import {redactWords} from '../domain/redact.ts';
import {titleOf} from '../domain/roles.ts';
import type {Run} from '../domain/run.ts';

export function diagnosisJson(diagnosis: Diagnosis): Readonly<Record<string, unknown>> {
  const {snapshot} = diagnosis;
  return {
    host: snapshot.host,
    ok: true,
    takenAtMs: snapshot.takenAtMs,
    bootId: snapshot.machine.bootId,
    uptimeMs: snapshot.uptimeMs,
    sight: snapshot.sight,
    nvidiaSmi: snapshot.smi,
    gpus: diagnosis.gpus,
    holders: [...diagnosis.holders, ...diagnosis.others].map((holder) => ({
      pid: holder.process.pid,
      ppid: holder.process.ppid,
      name: titleOf(holder.process),
      command: redactWords(holder.process.words),
      identity: holder.identity,
      findings: holder.findings,
      evidence: holder.evidence,
      gpus: holder.gpus,
      chargedMiB: holder.chargedMiB,
      deadChargedPids: holder.deadCharged,
      container: holder.container,
      ownership: holder.ownership,
    })),
    sections: snapshot.sections,
  };
}

export function planJson(plan: Plan, digest: string, confirm: string): Readonly<Record<string, unknown>> {
  return {...plan, digest, confirm};
}

/** The run without the weight of its snapshots. */
export function runJson(run: Run): Readonly<Record<string, unknown>> {
  return {
    id: run.id,
    host: run.host,
    phase: run.phase,
    createdAtMs: run.createdAtMs,
    outcome: outcomeOf(run),
    events: run.events.map((event) =>
      'snapshot' in event
        ? {
            ...event,
            snapshot:
              event.snapshot === null ? null : {takenAtMs: event.snapshot.takenAtMs, uptimeMs: event.snapshot.uptimeMs},
          }
        : event,
    ),
  };
}

export function outcomeOf(run: Run): Outcome | null {
  const closed = run.events.findLast((event) => event.kind === 'closed');
  return closed?.kind === 'closed' ? closed.outcome : null;
}
