/** One due report: its looks, kept before anybody is told; what changed since the one before; and its end. */
import type {Diagnosis} from '../domain/diagnosis.ts';
import {ok, type Result} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import type {HostReport} from '../domain/host-report.ts';
import {changesBetween} from '../domain/report-changes.ts';
import type {Report} from '../domain/schedule.ts';
import type {EngineDeps} from './deps.ts';
import {LATE_MS} from './due-reports.ts';
import {lookAtHosts} from './look-at-hosts.ts';
import type {FinishedReport, FleetLook, Telling} from './report-ports.ts';
import {diagnoseWithMemory} from './survey.ts';

export async function makeReport(
  deps: EngineDeps,
  owed: Report,
  over?: AbortSignal,
): Promise<Result<FinishedReport | null>> {
  const {schedules} = deps.store;
  const kept = await schedules.load(owed.scheduleId);
  if (kept === null) {
    await schedules.end(owed, 'undeliverable', null, deps.clock.now());
    return ok(null);
  }
  const {schedule} = kept;
  // The list that it was on may be older than its end.
  const {report: stored} = await schedules.around(owed);
  if (stored === null || (stored.phase !== 'begun' && stored.phase !== 'looked')) return ok(null);
  // One that died with its bot is looked at now, whenever it was begun.
  const late = stored.late || (stored.seen === null && deps.clock.now() - stored.dueAtMs > LATE_MS);
  const report = {...stored, late};
  let look: FleetLook;
  if (report.seen === null) {
    look = await lookAtHosts(deps, schedule.hosts);
    const failed = look.hosts.find((host) => host.state === 'failed');
    // Our own end cuts connections: that says nothing of the hosts.
    if (over?.aborted === true && failed?.state === 'failed') return {ok: false, failure: failed.failure};
    await schedules.keepSeen(report, look.hosts);
  } else {
    look = {hosts: report.seen, diagnoses: await lookedBefore(deps, report.seen)};
  }
  const {before, skippedMs} = await schedules.around(report);
  const now = await schedules.load(schedule.id);
  return ok({
    schedule,
    report: {...report, phase: 'looked', seen: look.hosts},
    diagnoses: look.diagnoses,
    beforeMs: before?.dueAtMs ?? null,
    changes: changesBetween(before?.seen ?? null, look.hosts, deps.policy.toleranceMiB),
    skippedMs,
    nextMs: now?.nextMs ?? null,
    message: now?.message ?? kept.message,
  });
}

export async function endReport(deps: EngineDeps, report: Report, telling: Telling): Promise<Result<null>> {
  const atMs = deps.clock.now();
  if (telling.kind === 'told') await deps.store.schedules.end(report, 'told', telling.message, atMs);
  if (telling.kind === 'nowhere') await deps.store.schedules.end(report, 'undeliverable', null, atMs);
  return ok(null);
}

/** The looks of a report that another program made, from the store: they were taken then and are not made again. */
async function lookedBefore(deps: EngineDeps, seen: readonly HostReport[]): Promise<ReadonlyMap<HostName, Diagnosis>> {
  const diagnoses = new Map<HostName, Diagnosis>();
  for (const host of seen) {
    if (host.state !== 'seen' || !deps.hosts.has(host.host)) continue;
    const looks = await deps.store.looksAt(host.host, host.bootId, host.takenAtMs).catch(() => []);
    const snapshot = looks.find((look) => look.takenAtMs === host.takenAtMs);
    if (snapshot !== undefined) diagnoses.set(host.host, await diagnoseWithMemory(deps, snapshot));
  }
  return diagnoses;
}
