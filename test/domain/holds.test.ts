/** Held GPUs at the request and at the go. */
import {describe, expect, it} from 'vitest';
import {mayEndHold, overriding, refuseHeld, refuseHeldGo} from '../../src/domain/authority.ts';
import {asHold, campaignId} from '../../src/domain/campaign.ts';
import type {Target} from '../../src/domain/plan.ts';
import {readReclaim} from '../../src/domain/words.ts';
import {failureSentence} from '../../src/report/failure-sentence.ts';
import {ANNA, aHost, aPlan, aPolicy, aRequest, aTarget, BO, HOST, uuidOf} from '../doubles/build.ts';
import {aCampaign} from '../doubles/campaign.ts';

const HOLD = aCampaign({by: 'os:anna', gpus: [0, 1], label: 'sweep'});
const WHY = {why: 'prod is down', holds: []};

describe('a reclaim of held GPUs', () => {
  it('is refused, with who holds them, unless it says why', () => {
    const request = aRequest({requester: BO});
    const refused = refuseHeld(request, [HOLD]);
    expect(refused).toMatchObject({reason: 'gpus-held', holds: [{by: 'os:anna', gpus: [0, 1]}]});
    expect(refused === null ? '' : failureSentence(refused)).toBe(
      `${HOST}: GPU 0-1 are held by os:anna (profile c0a1b2 "sweep"). Ask them, leave those out, or say override="why", which they and everybody will read.`,
    );
    expect(refuseHeld(request, [])).toBeNull();
    expect(refuseHeld({...request, dryRun: true}, [HOLD])).toBeNull();
    expect(refuseHeld({...request, override: WHY}, [HOLD])).toBeNull();
    // A reason for the reclaim is none for taking it from somebody.
    expect(refuseHeld({...request, reason: 'prod is down'}, [HOLD])).not.toBeNull();
  });

  it('records whom it overrides, and no override where nobody is in the way', () => {
    const request = aRequest({override: WHY});
    expect(overriding(request, [HOLD]).override).toEqual({why: 'prod is down', holds: [asHold(HOLD)]});
    expect('override' in overriding(request, [])).toBe(false);
    expect('override' in overriding(aRequest(), [HOLD])).toBe(false);
  });

  it('reads its override as words', () => {
    const read = (...words: string[]) => readReclaim(['gpu-07', ...words], [aHost()], BO);
    expect(read('override= prod is down ')).toMatchObject({value: {override: WHY}});
    expect(read('override= ')).toMatchObject({failure: {reason: 'argument-bad', argument: 'override'}});
    expect(read()).toMatchObject({ok: true});
    expect(read().ok && 'override' in read()).toBe(false);
  });
});

describe('the go for held GPUs', () => {
  const plan = (...gpus: number[]) =>
    aPlan({
      targets: [aTarget({pid: 7, gpuUuids: gpus.map(uuidOf)})],
      gpus: [0, 1, 2].map((index) => ({gpuUuid: uuidOf(index), index, requested: true})) as never,
    });
  const beside = (change: Partial<Target>) => {
    const made = plan(2);
    return {...made, targets: [...made.targets, aTarget({pid: 8, gpuUuids: [], ...change})]};
  };
  const withBlind = beside({});
  const withServer = beside({heldBy: 'nothing'});
  const request = aRequest({requester: BO});
  const over = {...request, override: {why: 'x', holds: [asHold(HOLD)]}};
  const later = {...HOLD, id: campaignId('c99999')};

  it.each([
    ['a hold of a target’s GPU', plan(1), request, BO, [HOLD], false],
    ['a hold of other GPUs', plan(2), request, BO, [HOLD], true],
    ['no hold', plan(1), request, BO, [], true],
    ['one that was overridden', plan(1), over, BO, [HOLD], true],
    ['one that came after the request', plan(1), over, BO, [HOLD, later], false],
    ['its holder’s own go', plan(1), request, ANNA, [HOLD], true],
    ['targets whose GPU is not known', plan(), request, BO, [HOLD], false],
    ['one target of other GPUs, and one whose GPU is not known', withBlind, request, BO, [HOLD], false],
    ['one target of other GPUs, and its server that holds none', withServer, request, BO, [HOLD], true],
    ['a GPU that the look has no line of', plan(2, 5), request, BO, [HOLD], false],
  ])('%s', (_, made, asked, person, holds, may) => {
    expect(refuseHeldGo(made, asked, person, holds, []) === null).toBe(may);
  });
});

describe('the end of a hold', () => {
  it('is its holder’s, and an approver’s', () => {
    const policy = aPolicy({approvers: [{kind: 'os-user', name: 'carla'}]});
    expect(mayEndHold(ANNA, HOLD, policy)).toBe(true);
    expect(mayEndHold({kind: 'os-user', name: 'carla', uid: 5}, HOLD, policy)).toBe(true);
    expect(mayEndHold(BO, HOLD, policy)).toBe(false);
    expect(mayEndHold(BO, HOLD, aPolicy({approvers: [], samePerson: [['os:bo', 'os:anna']]}))).toBe(true);
    expect(
      refuseHeldGo(aPlan({targets: []}), aRequest({requester: BO}), BO, [HOLD], [['os:bo', 'os:anna']]),
    ).toBeNull();
  });
});
