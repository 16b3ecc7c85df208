/** What was kept by an earlier version of this program, with the fields that came later; the same format, for nothing is misread. */
import type {Plan, Target} from '../domain/plan.ts';
import type {RunEvent} from '../domain/run.ts';
import type {Snapshot} from '../domain/snapshot.ts';
import {NOTHING_WRITTEN} from '../domain/writing.ts';

export function completeEvent(event: RunEvent): RunEvent {
  if (event.kind === 'planned') return {...event, plan: completePlan(event.plan)};
  return 'snapshot' in event && event.snapshot !== null ? withSnapshot(event) : event;
}

/** Looks that were kept before there were deeper ones lack what only those fill in. */
export function completeSnapshot(kept: Snapshot): Snapshot {
  const holdings = kept.holdings.map((holding) => ({
    ...holding,
    numbered: holding.numbered ?? [],
    queued: holding.queued ?? 0,
  }));
  return {...kept, holdings, deep: kept.deep ?? null};
}

/** Plans from before targets had families, those who stay their evidence, all of them owners, files a look, and owners a stop. */
export function completePlan(kept: Plan): Plan {
  return {
    ...kept,
    targets: kept.targets.map((target) => ({
      ...target,
      heldBy: target.heldBy ?? heldBefore(target),
      family: target.family ?? {framework: null, rootPid: target.identity.pid},
      owners: target.owners ?? [],
    })),
    stops: kept.stops ?? [],
    noStops: kept.noStops ?? [],
    owned: kept.owned ?? null,
    writing: kept.writing ?? NOTHING_WRITTEN,
    longestGraceMs: kept.longestGraceMs ?? kept.graceMs,
    kept: kept.kept.map((one) => ({...one, evidence: one.evidence ?? [], owners: one.owners ?? []})),
  };
}

/** Whether a device must be held was a yes or no, and by path was the only proof. In doubt it must be. */
function heldBefore(target: Target): Target['heldBy'] {
  return 'holdsDevice' in target && target.holdsDevice === false ? 'nothing' : 'paths';
}

function withSnapshot<E extends RunEvent & {readonly snapshot: Snapshot | null}>(event: E): E {
  return event.snapshot === null ? event : {...event, snapshot: completeSnapshot(event.snapshot)};
}
