/** The fleet on App Home: each host as it was last seen, and how long ago that was. An old look is no knowledge. */
import type {types} from '@slack/bolt';
import type {Failure} from '../../domain/failure.ts';
import type {HostName} from '../../domain/host.ts';
import {HOST_ORDER, type HostReport, type HostState, hostState, type SeenHost} from '../../domain/host-report.ts';
import {plural} from '../../report/amounts.ts';
import {hostWords} from '../../report/fleet-report.ts';
import {mrkdwn} from '../escape.ts';
import {ACTION} from '../ids.ts';
import {button, label} from './buttons.ts';
import {context, type KnownBlock, section} from './message.ts';
import {dated, timed} from './people.ts';

/** `seen`: the newest look that is kept; null: none. `failed`: a later try that came to nothing. */
export interface FleetHost {
  readonly name: HostName;
  readonly seen: SeenHost | null;
  readonly failed: {readonly failure: Failure; readonly atMs: number} | null;
}

const HOSTS = 30;
const LINES_IN_ONE = 6;
/** What was seen earlier says nothing of now. */
const STALE_MS = 24 * 3_600_000;
const TODAY_MS = 12 * 3_600_000;

const SIGN: Readonly<Record<HostState, string>> = {
  dirty: '⚠',
  unseen: '❔',
  unknown: '❔',
  busy: '⏳',
  occupied: '●',
  clean: '✅',
};

export function fleetBlocks(fleet: readonly FleetHost[], nowMs: number, looking: boolean): readonly KnownBlock[] {
  const hosts = fleet
    .map((host) => ({host, state: stateNow(host, nowMs)}))
    .toSorted(
      (a, b) => HOST_ORDER.indexOf(a.state) - HOST_ORDER.indexOf(b.state) || (a.host.name < b.host.name ? -1 : 1),
    );
  const shown = hosts.slice(0, HOSTS);
  const rest = hosts.slice(HOSTS);
  const lines = shown.map(({host, state}) => hostLine(host, state, nowMs));
  return [
    section(
      `*Fleet*: ${fleet.length === 0 ? 'no host is in the hosts file; an admin must add one.' : countWords(hosts)}`,
    ),
    ...chunks(lines, LINES_IN_ONE).map((some) => section(some.join('\n'))),
    ...(rest.length === 0 ? [] : [context(`… ${plural(rest.length, 'more host', 'more hosts')}: ${words(rest)}`)]),
    ...(fleet.length === 0 ? [] : [lookButton(looking)]),
    context('As the last looks saw it; opening this tab looks at nothing. Nothing is signalled by a look.'),
  ];
}

function stateNow({seen, failed}: FleetHost, nowMs: number): HostState {
  if (seen === null || nowMs - seen.takenAtMs > STALE_MS) return 'unseen';
  return failed !== null && failed.atMs > seen.takenAtMs ? 'unseen' : hostState(seen);
}

function hostLine({name, seen, failed}: FleetHost, state: HostState, nowMs: number): string {
  const host = `${SIGN[state]} *${mrkdwn(name, 60)}*`;
  const last = seen === null ? 'never looked at' : `looked ${ago(seen.takenAtMs, nowMs)}`;
  const saw = seen === null ? null : mrkdwn(hostWords(seen), 80);
  if (failed !== null && failed.atMs > (seen?.takenAtMs ?? 0))
    return `${host} not seen: ${mrkdwn(hostWords(asReport(name, failed.failure)).replace(/^not seen /, ''), 80)}, tried ${ago(failed.atMs, nowMs)}${saw === null ? '' : ` · before: ${saw}, ${last}`}`;
  if (saw === null) return `${host} ${last}`;
  return state === 'unseen' ? `${host} not seen for a day · before: ${saw}, ${last}` : `${host} ${saw} · ${last}`;
}

function asReport(host: HostName, failure: Failure): HostReport {
  return {state: 'failed', host, failure};
}

function ago(atMs: number, nowMs: number): string {
  return nowMs - atMs > TODAY_MS ? dated(atMs) : timed(atMs);
}

function countWords(hosts: readonly {readonly state: HostState}[]): string {
  return `${plural(hosts.length, 'host', 'hosts')}: ${words(hosts)}`;
}

const WORD: Readonly<Record<HostState, string>> = {
  dirty: 'dirty',
  unseen: 'not seen',
  unknown: 'unknown',
  busy: 'with a run',
  occupied: 'occupied',
  clean: 'clean',
};

function words(hosts: readonly {readonly state: HostState}[]): string {
  return HOST_ORDER.map((state) => ({state, count: hosts.filter((one) => one.state === state).length}))
    .filter(({count}) => count > 0)
    .map(({state, count}) => `${count} ${WORD[state]}`)
    .join(', ');
}

function lookButton(looking: boolean): KnownBlock {
  if (looking) return section('⏳ Looking at every host; what answers is shown here.');
  const look: types.Button = {
    ...button(ACTION.homeLook, 'Look now', ACTION.homeLook),
    accessibility_label: label('Look at every host now, save those with a campaign; signals nothing'),
  };
  return {type: 'actions', elements: [look]};
}

function chunks(lines: readonly string[], size: number): readonly (readonly string[])[] {
  return Array.from({length: Math.ceil(lines.length / size)}, (_, at) => lines.slice(at * size, (at + 1) * size));
}
