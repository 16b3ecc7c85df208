/** A real second program on a store, started by the tests: `worker.ts MODE PATH NAME`. Says one JSON line a step. */
import {setImmediate} from 'node:timers/promises';
import {runId} from '../../src/domain/run.ts';
import type {RunStore} from '../../src/engine/ports.ts';
import {ownLeaseOwner} from '../../src/store/lease-owner.ts';
import {openStore} from '../../src/store/open-store.ts';
import {StoreError} from '../../src/store/store-error.ts';
import {ANNA, HOST, noted, openRun, RUN, requested} from './sample.ts';

const [mode = '', path = '', name = 'nobody'] = process.argv.slice(2);
const MODES: Readonly<Record<string, () => Promise<void>>> = {look, claim, decide, hold, write, crowd, fill};
await MODES[mode]?.();

/** Only opens. */
async function look(): Promise<void> {
  const store = await openStore(path);
  say(store.ok ? 'opened' : store.failure);
  if (store.ok) await store.value.close();
}

/** Opens the store, which may not be there yet, and a run on the host that all want. */
async function claim(): Promise<void> {
  await told();
  const store = await opened();
  const owner = ownLeaseOwner('terminal', name);
  const id = runId(name);
  say(await store.open({id, host: HOST, atMs: 1, requester: name, event: requested(), owner}));
  await store.close();
}

async function decide(): Promise<void> {
  const store = await opened();
  await told();
  say(
    await store.decide({
      runId: RUN,
      digest: 'd1',
      nowMs: 500,
      decision: 'approved',
      by: name,
      events: [
        {
          kind: 'approved',
          atMs: 500,
          by: ANNA,
          digest: 'd1',
          choice: 'terminate-only',
          breakGlass: false,
          reason: null,
        },
      ],
      phase: 'executing',
      outbox: [],
      owner: ownLeaseOwner('terminal', name),
    }),
  );
  await store.close();
}

/** Takes the lease and keeps it until it is killed. */
async function hold(): Promise<void> {
  const store = await opened();
  say(await store.takeLease(RUN, ownLeaseOwner('terminal', name), null));
  setInterval(() => {}, 1_000);
}

/** Three events and one message a commit; each version is said only once it was acknowledged. */
async function write(): Promise<void> {
  const store = await opened();
  await openRun(store);
  for (let version = 1; ; ) {
    version = await threeEvents(store, version, 10);
    say(version);
    await setImmediate();
  }
}

/** 80 commits of its own beside those of others. */
async function crowd(): Promise<void> {
  const store = await opened();
  const id = runId(name);
  const {version} = await openRun(store, id, name);
  await told();
  for (let step = version; step <= 80; step += 1) {
    const events = [noted(`${step}`)];
    const appended = await store.append({runId: id, expectedVersion: step, phase: 'executing', events, outbox: []});
    if (!appended.ok) throw new Error(appended.conflict);
    await setImmediate();
  }
  say('done');
  await store.close();
}

/** Writes until the disk is full, then says what it was told and what is there. */
async function fill(): Promise<void> {
  const store = await opened();
  await openRun(store);
  let acknowledged = 1;
  try {
    for (;;) acknowledged = await threeEvents(store, acknowledged, 5_000);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const run = await store.load(RUN);
    const events = run?.events.length;
    const owed = (await store.pendingOutbox(1_000)).length;
    say({failure: error.failure, acknowledged, version: run?.version, events, owed});
  }
}

async function threeEvents(store: RunStore, version: number, size: number): Promise<number> {
  const appended = await store.append({
    runId: RUN,
    expectedVersion: version,
    phase: 'executing',
    events: [1, 2, 3].map((place) => noted(`${version}.${place} ${'x'.repeat(size)}`)),
    outbox: [{key: `${version}`, runId: RUN, kind: 'card', body: version}],
  });
  if (!appended.ok) throw new Error(appended.conflict);
  return appended.run.version;
}

async function opened(): Promise<RunStore> {
  const store = await openStore(path);
  if (store.ok) return store.value;
  throw new Error(JSON.stringify(store.failure));
}

/** Says that it is ready, and waits for the word, so that several start at once. */
async function told(): Promise<void> {
  say('ready');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdin.destroy();
}

function say(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
