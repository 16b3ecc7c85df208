/** Domain values as the plain JSON of --json: stable names, MiB and ms in the keys. */
import type {Diagnosis} from '../domain/diagnosis.ts';
import {owedLooks} from '../domain/later-look.ts';
import type {Outcome} from '../domain/outcome.ts';
import type {Plan} from '../domain/plan.ts';
import {redactWords} from '../domain/redact.ts';
import {titleOf} from '../domain/roles.ts';
import type {Run} from '../domain/run.ts';
import {timeToFree} from '../domain/time-to-free.ts';
import type {Recovered} from '../engine/ports.ts';
import {confirmText} from './confirm.ts';

export function diagnosisJson(diagnosis: Diagnosis): Readonly<Record<string, unknown>> {
  const {snapshot} = diagnosis;
  return {
    host: snapshot.host,
    ok: isKnown(diagnosis),
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
      heldBy: holder.heldBy,
      mayKeepGpus: holder.mayKeep,
      container: holder.container,
      owners: holder.owners,
      ownership: holder.ownership,
    })),
    sections: snapshot.sections,
  };
}

/** Every GPU was seen, and whole. What cannot be told is never success. */
export function isKnown(diagnosis: Diagnosis): boolean {
  return diagnosis.gpus.length > 0 && diagnosis.gpus.every((gpu) => gpu.state !== 'unknown');
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
    timeToFree: timeToFree(run),
    looksAgainAtMs: owedLooks(run).map((look) => look.dueAtMs),
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

export function recoveredJson({run, proposal}: Recovered): Readonly<Record<string, unknown>> {
  return {
    run: runJson(run),
    outcome: outcomeOf(run),
    confirm: proposal === null ? null : confirmText(proposal.plan, proposal.digest),
  };
}

/** JSON text that a terminal shows as it is: C1 controls, and marks that turn the reading direction, escaped as C0 are. */
export function visibleMarks(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function outcomeOf(run: Run): Outcome | null {
  const closed = run.events.findLast((event) => event.kind === 'closed');
  return closed?.kind === 'closed' ? closed.outcome : null;
}
