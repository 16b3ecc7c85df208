/** `report`: hosts as one table, the worst first; with a time behind them it is kept for the Slack bot to make and tell. */
import {hostState, worstFirst} from '../domain/host-report.ts';
import {personId} from '../domain/person.ts';
import {type AskedReport, readReport} from '../domain/report-words.ts';
import type {When} from '../domain/schedule.ts';
import {readZone} from '../domain/zone.ts';
import type {FleetLook} from '../engine/report-ports.ts';
import {failureSentence} from '../report/failure-sentence.ts';
import {countsLine, fleetTable, seenCount} from '../report/fleet-report.ts';
import {gpuTable, hostTitle} from '../report/host-state.ts';
import {type CliContext, printJson, refuse} from './context.ts';
import {EXIT, type ExitCode} from './exit-code.ts';
import {diagnosisJson} from './json.ts';
import {takeUp} from './recovered.ts';
import {scheduleJson, scheduleLines} from './schedules.ts';

/** Dirty hosts that are shown with their GPUs. */
const DETAILS = 5;
const TABLE_LINES = 500;

export async function report(context: CliContext, words: readonly string[]): Promise<ExitCode> {
  const asked = readReport(words, [...context.hosts.values()]);
  if (!asked.ok) return refuse(context, asked.failure);
  const {when} = asked.value;
  return when === null || when.kind === 'now' ? now(context, asked.value) : later(context, asked.value, when);
}

async function now(asked: CliContext, {hosts}: AskedReport): Promise<ExitCode> {
  const taken = await takeUp(asked);
  if (!taken.ok) return refuse(asked, taken.failure);
  const context = taken.value;
  if (!context.json) context.terminal.progress('looking; nothing is signalled');
  const look = await context.engine.report(hosts);
  if (!look.ok) return refuse(context, look.failure);
  const known = look.value.hosts.every((host) => ['dirty', 'occupied', 'clean'].includes(hostState(host)));
  if (context.json) printJson(context, fleetJson(look.value, known));
  else printFleet(context, look.value);
  return known ? EXIT.done : EXIT.unknown;
}

async function later(context: CliContext, {hosts, zone, channel, quiet}: AskedReport, when: When): Promise<ExitCode> {
  const wanted = {hosts, when, zone: zone ?? ownZone(), channel, quiet, by: personId(context.person)};
  const added = await context.engine.addSchedule(wanted);
  if (!added.ok) return refuse(context, added.failure);
  if (context.json) printJson(context, {ok: true, schedule: scheduleJson(added.value)});
  else
    context.terminal.print(
      ...scheduleLines(added.value),
      `The Slack bot of this store makes it and tells it ${channel === null ? 'in its first channel' : `in ${channel}`}; without one, nobody does.`,
    );
  return EXIT.done;
}

function printFleet(context: CliContext, {hosts, diagnoses}: FleetLook): void {
  const sorted = worstFirst(hosts);
  const dirty = sorted.filter((host) => hostState(host) === 'dirty').flatMap(({host}) => diagnoses.get(host) ?? []);
  const more = dirty.length - DETAILS;
  context.terminal.print(
    countsLine(hosts),
    ...fleetTable(hosts, TABLE_LINES),
    ...sorted.flatMap((host) => (host.state === 'failed' ? ['', failureSentence(host.failure)] : [])),
    ...dirty.slice(0, DETAILS).flatMap((diagnosis) => ['', hostTitle(diagnosis), ...gpuTable(diagnosis)]),
    ...(more > 0 ? ['', `${more} more dirty; gpu-reclaim diagnose HOST shows each`] : []),
    '',
    `Looked at ${seenCount(hosts)}; nothing was signalled.`,
    ...(dirty.length > 0 ? ['To get it back: gpu-reclaim reclaim HOST (shows a plan first)'] : []),
  );
}

function fleetJson({hosts, diagnoses}: FleetLook, known: boolean): Readonly<Record<string, unknown>> {
  return {
    ok: known,
    hosts: worstFirst(hosts).map((host) => {
      const diagnosis = diagnoses.get(host.host);
      return {
        host: host.host,
        state: hostState(host),
        ...(host.state === 'failed' ? {failure: host.failure, sentence: failureSentence(host.failure)} : {}),
        ...(host.state === 'busy' ? {run: host.runId} : {}),
        diagnosis: diagnosis === undefined ? null : diagnosisJson(diagnosis),
      };
    }),
  };
}

/** The zone that this terminal's clock shows. */
export function ownZone(): string {
  return readZone(new Intl.DateTimeFormat().resolvedOptions().timeZone) ?? 'UTC';
}
