/** A real engine over a real store, on a clock that stands until it is moved; only the hosts are scripted. */
import {readFileSync} from 'node:fs';
import {readHold} from '../../src/domain/campaign-words.ts';
import {type HostName, hostName} from '../../src/domain/host.ts';
import type {Person} from '../../src/domain/person.ts';
import type {Policy} from '../../src/domain/policy.ts';
import {runId} from '../../src/domain/run.ts';
import {makeEngine} from '../../src/engine/engine.ts';
import {nextTimes} from '../../src/schedule/next-times.ts';
import {opened, storePath} from '../store/fresh-store.ts';
import {OWNER} from '../store/sample.ts';
import {ANNA, aHost, aPolicy, HOST} from './build.ts';
import {measuredHosts, type Said} from './measured-host.ts';

export const H200 = readFileSync(new URL('../fixtures/probes/h200.txt', import.meta.url), 'utf8');
export const OTHER = hostName('gpu-08');

export async function bench(change: Partial<Policy> = {}) {
  const said: Said = {probe: H200, powerW: 700, looks: 0, folders: []};
  const clock = {
    at: Date.parse('2027-03-01T10:00:00Z'),
    now: () => clock.at,
    ticks: () => clock.at,
    wait: async () => undefined,
  };
  const known = new Map([HOST, OTHER].map((name) => [name, aHost({name})]));
  const quiet = {info: () => undefined, warn: () => undefined, error: () => undefined};
  let count = 0;
  const store = await opened(storePath());
  /** Another program on the same store; `hosts`: those of its hosts file. */
  const restarted = ({hosts = [HOST, OTHER]}: {readonly hosts?: readonly HostName[]} = {}) =>
    makeEngine({
      hosts: new Map([...known].filter(([name]) => hosts.includes(name))),
      remote: measuredHosts(said),
      store,
      policy: aPolicy({
        approvers: [
          {kind: 'os-user', name: 'carla'},
          {kind: 'os-user', name: 'bo'},
        ],
        ...change,
      }),
      clock,
      log: quiet,
      announcer: {announce: () => undefined, progress: () => undefined},
      newRunId: () => {
        count += 1;
        return runId(`${String(count).padStart(5, '0')}0000000`);
      },
      digest: () => 'd',
      nextTimes,
      isAlive: () => true,
      owner: OWNER,
    });
  const engine = restarted();
  const start = async (kind: 'profile' | 'keep', text: string, person: Person = ANNA) => {
    const read = readHold(kind, text.split(' '), [...known.values()]);
    if (!read.ok) throw new Error(JSON.stringify(read.failure));
    return engine.startHold({...read.value.asked, zone: 'UTC', person, channel: null});
  };
  return {said, clock, store, engine, restarted, start};
}
