/** Owners that a plan stops first: for the card, and what became of each for thread and terminal. */
import type {StopResult} from '../domain/order.ts';
import type {Plan} from '../domain/plan.ts';
import type {Run, RunEvent} from '../domain/run.ts';
import {stopsOf} from '../domain/run-state.ts';
import type {NoStop, NoStopWhy, StopKind} from '../domain/stop-owner.ts';
import {plural} from './amounts.ts';
import {safeLine} from './safe-text.ts';

const KIND_WORD: Readonly<Record<StopKind, string>> = {
  unit: 'unit',
  docker: 'Docker container',
  podman: 'Podman container',
  'slurm-job': 'Slurm job',
};

export const STOP_RESULT_WORD: Readonly<Record<StopResult, string>> = {
  stopped: 'stopped',
  changed: 'not stopped, changed since the plan',
  'other-machine': 'not stopped, another boot or namespace',
  late: 'not stopped, too late',
  'denied-by-host': 'not stopped, forbidden by /etc/gpu-reclaim/deny',
  'refused-by-owner': 'refused to stop',
  'not-permitted': 'not stopped, not permitted',
  failed: 'the stop failed',
  'timed-out': 'not stopped in time',
};

const WHY: Readonly<Record<NoStopWhy, string>> = {
  'protected-owner': 'it is protected',
  unproven: 'nothing proves that its name is its own',
  unread: 'what it owns could not be read',
  changed: 'it changed between two looks',
  dependents: 'other units would stop with it',
  refuses: 'it may not be stopped by hand',
  'many-nodes': 'it runs on other nodes too',
  'own-session': 'our own session stands in it',
  'too-many': 'it owns more processes than one run may end',
  protected: 'is protected',
  monitor: 'only reads the GPUs',
  'no-identity': 'could not be identified',
  kept: 'stays',
  unticked: 'is unticked',
};

type Owner = {readonly kind: StopKind; readonly name: string};

/** "unit vllm@2.service" */
export function ownerWord({kind, name}: Owner): string {
  return `${KIND_WORD[kind]} ${safeLine(name, 60)}`;
}

/** For a card: "stop unit vllm@2.service first (9 processes), then SIGTERM, kill -9". Empty where the policy stops nobody. */
export function stopPlanLines(plan: Plan): readonly string[] {
  return [
    ...plan.stops.flatMap((stop) => [
      `stop ${ownerWord(stop)} first (${plural(stop.pids.length, 'process', 'processes')}), then SIGTERM, kill -9`,
      ...(stop.endsInKill ? ['· it may kill -9 by itself: no part of a go that ends at SIGTERM'] : []),
      '· who joins it in the last moment ends too',
    ]),
    ...plan.noStops.map((one) => `${ownerWord(one)} is not stopped first: ${whyWords(one)}`),
  ];
}

function whyWords({why, pid}: NoStop): string {
  return pid === null ? WHY[why] : `PID ${pid} ${WHY[why]}`;
}

/** "unit vllm@2.service: stopped"; what else is tried comes in lines of its own. */
export function stopResultLine(event: Extract<RunEvent, {kind: 'stop-result'}>): string {
  const detail = event.detail === '' ? '' : ` (${safeLine(event.detail, 60)})`;
  return `${ownerWord(event.owner)}: ${STOP_RESULT_WORD[event.result]}${detail}`;
}

/** Each stop of a run with its result; a stop without an answer may have been carried out. */
export function stopLines(run: Run): readonly string[] {
  return stopsOf(run).map(({owner, result, detail}) =>
    result === null
      ? `May have been stopped: ${ownerWord(owner)}; no answer came back`
      : `Owner: ${ownerWord(owner)} ${STOP_RESULT_WORD[result]}${detail === '' ? '' : ` (${safeLine(detail, 60)})`}`,
  );
}
