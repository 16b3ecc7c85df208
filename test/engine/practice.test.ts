/** A mark at the wrong host: real GPUs are looked at, and nothing else comes of it. */
import {readFileSync} from 'node:fs';
import {expect, it} from 'vitest';
import type {Host} from '../../src/domain/host.ts';
import {runId} from '../../src/domain/run.ts';
import {requestOf} from '../../src/domain/run-state.ts';
import {makeEngine} from '../../src/engine/engine.ts';
import {isDrill} from '../../src/report/practice.ts';
import {ANNA, aHost, aPolicy, aRequest, HOST} from '../doubles/build.ts';
import {measuredHosts} from '../doubles/measured-host.ts';
import {opened, storePath} from '../store/fresh-store.ts';
import {OWNER} from '../store/sample.ts';

const H200 = readFileSync(new URL('../fixtures/probes/h200.txt', import.meta.url), 'utf8');

async function engineOf(host: Host) {
  const store = await opened(storePath());
  const engine = makeEngine({
    hosts: new Map([[HOST, host]]),
    remote: measuredHosts({probe: H200, powerW: 700, looks: 0, folders: []}),
    store,
    policy: aPolicy(),
    clock: {now: () => 1_000, ticks: () => 1_000, wait: async () => undefined},
    log: {info: () => undefined, warn: () => undefined, error: () => undefined},
    announcer: {announce: () => undefined, progress: () => undefined},
    newRunId: () => runId('000010000000'),
    digest: () => 'd',
    nextTimes: () => [],
    isAlive: () => true,
    owner: OWNER,
  });
  return {store, engine};
}

it('a real host that is marked as practice gets no plan, and its run says why', async () => {
  const {store, engine} = await engineOf(aHost({practice: true}));
  const failure = {reason: 'not-a-practice-host', host: HOST, gpu: 'NVIDIA H200'};
  expect(await engine.propose(aRequest({requester: ANNA}))).toEqual({ok: false, failure});
  const [run] = await store.recent(1);
  expect(run).toMatchObject({phase: 'closed'});
  expect(run?.events.at(-1)).toMatchObject({kind: 'closed', outcome: {word: 'failed', because: failure}});
});

it('the request of a drill, asked again once its host is no drill any more, makes none', async () => {
  const {store, engine} = await engineOf(aHost());
  await engine.propose(aRequest({requester: ANNA, practice: true}));
  const [run] = await store.recent(1);
  if (run === undefined) throw new Error('no run');
  expect(requestOf(run).practice).toBeUndefined();
  expect(isDrill(run)).toBe(false);
});
