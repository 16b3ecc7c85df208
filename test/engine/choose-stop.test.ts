/** Choosing under a plan that stops an owner: an untick takes the stop away, ticking all gives it back, no host is asked. */
import {describe, expect, it} from 'vitest';
import type {OwnedLook} from '../../src/domain/owned.ts';
import type {OwnerFacts} from '../../src/domain/owner.ts';
import type {Plan} from '../../src/domain/plan.ts';
import {withOwnerFacts} from '../../src/domain/plan-owners.ts';
import type {Run} from '../../src/domain/run.ts';
import {withStops} from '../../src/domain/stop-plan.ts';
import type {EngineDeps} from '../../src/engine/deps.ts';
import {makeEngine} from '../../src/engine/engine.ts';
import {makeTurns} from '../../src/engine/turns.ts';
import {
  ANNA,
  aContext,
  aDiagnosis,
  aHost,
  aPolicy,
  aProcess,
  aRequest,
  aSnapshot,
  billed,
  HOST,
  planFor,
  targetPids,
} from '../doubles/build.ts';
import {opened, storePath} from '../store/fresh-store.ts';
import {OWNER, openRun} from '../store/sample.ts';

const UNIT = 'vllm.service';
const FOLDER = `/system.slice/${UNIT}`;
const policy = aPolicy({stopOwner: {unit: true, docker: false, podman: false, slurm: false}});
const never = (): never => {
  throw new Error('Internal error: no host is asked');
};
const member = (pid: number, ppid: number) => aProcess({pid, ppid, cgroups: [FOLDER], words: ['serve']});
const MEMBERS = [member(400, 1), member(500, 400), member(501, 400), member(510, 500)];
const [main, first, second] = MEMBERS;
if (main === undefined || first === undefined || second === undefined) throw new Error('no members');
const look = aSnapshot([main, billed(first, {0: 700}), billed(second, {1: 700})], {used: [709, 709]});
const facts: OwnerFacts = {
  ...{kind: 'unit', id: UNIT, title: null, state: 'active', restarts: 'yes', setting: null},
  ...{run: 'f0', restartCount: 0},
};
const owned: OwnedLook = {
  owners: [{kind: 'unit', id: UNIT, run: 'f0', against: null, endsInKill: true, pids: MEMBERS.map((one) => one.pid)}],
  processes: MEMBERS,
  ownPids: [],
};

async function waiting() {
  const store = await opened(storePath());
  const clock = {now: () => 1_000, ticks: () => 1_000, wait: async () => undefined};
  const quiet = {info: () => undefined, warn: () => undefined, error: () => undefined};
  const deps: EngineDeps = {
    hosts: new Map([[HOST, aHost()]]),
    remote: {host: never, close: async () => undefined},
    ...{store, policy, clock, log: quiet},
    announcer: {announce: () => undefined, progress: () => undefined},
    ...{newRunId: never, nextTimes: never, digest: (text: string) => text, isAlive: () => true},
    turns: makeTurns(clock),
    owner: OWNER,
  };
  const context = aContext({policy});
  const made = withStops(withOwnerFacts(planFor(look, {pids: [500, 501]}, context), [facts]), owned, {
    ...{diagnosis: aDiagnosis(look, context), request: aRequest(), context, earlier: [], nowMs: 1},
    unticked: new Set(),
  });
  const run = await openRun(store);
  const asked = await store.append({
    ...{runId: run.id, expectedVersion: run.version, phase: 'awaiting-go', outbox: [], releaseLease: true},
    events: [
      {kind: 'surveyed', atMs: 1, snapshot: look},
      {kind: 'planned', atMs: 1, plan: made, digest: 'd1', expiresAtMs: 9_000},
    ],
    openApproval: {digest: 'd1', expiresAtMs: 9_000},
  });
  if (!asked.ok) throw new Error(asked.conflict);
  const engine = makeEngine(deps);
  const identityOf = (pid: number) => {
    const {identity} =
      [...at.plan.targets, ...at.plan.kept].find((one) => ('role' in one ? one.identity.pid : one.pid) === pid) ?? {};
    if (!identity) throw new Error(`${pid} is not offered`);
    return identity;
  };
  let at: {readonly run: Run; readonly digest: string; readonly plan: Plan} = {
    run: asked.run,
    digest: 'd1',
    plan: made,
  };
  return {
    plan: made,
    async choose(...pids: readonly number[]): Promise<Plan> {
      const chosen = await engine.choose({
        run: at.run,
        digest: at.digest,
        person: ANNA,
        offer: null,
        ticked: pids.map(identityOf),
      });
      if (!chosen.ok) throw new Error(JSON.stringify(chosen.failure));
      at = chosen.value;
      return at.plan;
    },
  };
}

describe('a choice', () => {
  it('of all that a stop would end leaves the stop', async () => {
    const on = await waiting();
    expect(targetPids(on.plan)).toEqual([400, 500, 501, 510]);
    const plan = await on.choose(400, 500, 501, 510);
    expect([targetPids(plan), plan.stops.length]).toEqual([[400, 500, 501, 510], 1]);
  });

  it('without a process that has no GPU takes the stop away, and says why; ticking it again gives it back', async () => {
    const on = await waiting();
    const without = await on.choose(400, 500, 501);
    expect([targetPids(without), without.stops]).toEqual([[500, 501], []]);
    expect(without.noStops).toMatchObject([{why: 'unticked', pid: 510}]);
    const again = await on.choose(500, 501, 510);
    expect([targetPids(again), again.stops.length]).toEqual([[400, 500, 501, 510], 1]);
  });

  it('without one of the holders leaves neither the stop nor who was a target for it alone', async () => {
    const on = await waiting();
    const plan = await on.choose(400, 500, 510);
    expect([targetPids(plan), plan.stops]).toEqual([[500], []]);
    expect(plan.noStops).toMatchObject([{why: 'kept', pid: 501}]);
  });

  it('without two of them does not get one back with the other', async () => {
    const on = await waiting();
    await on.choose(500, 501);
    const plan = await on.choose(400, 500, 501);
    expect([targetPids(plan), plan.stops]).toEqual([[500, 501], []]);
    expect(plan.noStops).toMatchObject([{why: 'unticked', pid: 510}]);
  });
});
