/** Who may ask, go and resume: the whole table. */
import {describe, expect, it} from 'vitest';
import {approverName, isApprover, mayGo, mayResume, refusePlan, refuseRequest} from '../../src/domain/authority.ts';
import type {Belonging} from '../../src/domain/diagnosis.ts';
import type {Person} from '../../src/domain/person.ts';
import type {Policy} from '../../src/domain/policy.ts';
import {ANNA, aHost, aPlan, aPolicy, aTarget, BO} from '../doubles/build.ts';

const slackAnna: Person = {kind: 'slack-user', id: 'U1', team: 'T1', groups: []};
const slackOncall: Person = {kind: 'slack-user', id: 'U2', team: 'T1', groups: ['S9']};
const slackBo: Person = {kind: 'slack-user', id: 'U3', team: 'T1', groups: []};
const APPROVERS: Policy['approvers'] = [
  {kind: 'os-user', name: 'anna'},
  {kind: 'slack-user', id: 'U1'},
  {kind: 'slack-group', id: 'S9'},
];
const PAUSED = {by: 'os:bo', atMs: 5};
const ghosts = aPlan({targets: [aTarget({pid: 500, selfGo: true})]});
const mixed = aPlan({targets: [aTarget({pid: 500, selfGo: true}), aTarget({pid: 501, selfGo: false})]});

interface Ask {
  readonly person: Person;
  readonly requester?: Person;
  readonly plan?: typeof mixed;
  readonly reason?: string | null;
  readonly atTerminal?: boolean;
  readonly policy?: Partial<Policy>;
  readonly mode?: 'act' | 'observe';
  /** The host is marked as practice now. */
  readonly marked?: boolean;
  /** The plan was made as a drill. */
  readonly drill?: boolean;
  readonly paused?: typeof PAUSED | null;
}

function answer(ask: Ask): string {
  const go = mayGo({
    person: ask.person,
    requester: ask.requester ?? ask.person,
    plan: ask.plan ?? mixed,
    host: aHost({mode: ask.mode ?? 'act', practice: ask.marked ?? false}),
    practice: ask.drill ?? false,
    policy: aPolicy({approvers: APPROVERS, ...ask.policy}),
    paused: ask.paused ?? null,
    reason: ask.reason ?? null,
    atTerminal: ask.atTerminal ?? ask.person.kind === 'os-user',
  });
  return go.may ? (go.breakGlass ? 'break-glass' : 'go') : go.failure.reason;
}

describe('the go', () => {
  it.each<[string, Ask, string]>([
    ['another approver, for anything', {person: ANNA, requester: BO}, 'go'],
    ['another approver in Slack', {person: slackAnna, requester: slackBo}, 'go'],
    ['another approver by user group', {person: slackOncall, requester: slackBo}, 'go'],
    ['an approver in Slack for a request from the terminal', {person: slackAnna, requester: ANNA}, 'go'],
    [
      'the requester by another id: no second person',
      {person: slackAnna, requester: ANNA, policy: {samePerson: [['os:anna', `slack:${slackAnna.id}`]]}},
      'needs-another-approver',
    ],
    ['the requester, for ghosts and their own', {person: ANNA, plan: ghosts}, 'go'],
    [
      'the requester, for ghosts, where the policy forbids it',
      {person: ANNA, plan: ghosts, policy: {selfGo: false}},
      'needs-another-approver',
    ],
    ['the requester, for anything else', {person: ANNA}, 'needs-another-approver'],
    ['the requester, with a reason: break-glass', {person: ANNA, reason: 'nobody awake'}, 'break-glass'],
    ['the requester, with an empty reason', {person: ANNA, reason: '  '}, 'needs-another-approver'],
    [
      'the requester, with a reason, where break-glass is off',
      {person: ANNA, reason: 'x', policy: {breakGlass: false}},
      'needs-another-approver',
    ],
    ['anybody, in a drill on a host for drills', {person: slackBo, marked: true, drill: true}, 'go'],
    [
      'nobody the more, on a host that was marked after the plan was made',
      {person: slackBo, marked: true},
      'not-an-approver',
    ],
    ['nobody the more, where the mark was taken away since', {person: slackBo, drill: true}, 'not-an-approver'],
    ['nobody, in a drill that is paused', {person: slackBo, marked: true, drill: true, paused: PAUSED}, 'paused'],
    [
      'nobody, in a drill on a host that may only be looked at',
      {person: slackBo, marked: true, drill: true, mode: 'observe'},
      'host-observe-only',
    ],
    ['an approver alone in Slack, with a reason', {person: slackAnna, reason: 'nobody awake'}, 'break-glass'],
    ['somebody else at the terminal, without a reason', {person: BO}, 'break-glass-needs-reason'],
    ['somebody else at the terminal, with one', {person: BO, reason: 'x'}, 'break-glass'],
    ['somebody else at the terminal, even for ghosts', {person: BO, plan: ghosts}, 'break-glass-needs-reason'],
    ['somebody else at the terminal for another’s request', {person: BO, requester: ANNA, reason: 'x'}, 'break-glass'],
    ['somebody else without a terminal to type in', {person: BO, reason: 'x', atTerminal: false}, 'not-an-approver'],
    [
      'somebody else where break-glass is off',
      {person: BO, reason: 'x', policy: {breakGlass: false}},
      'not-an-approver',
    ],
    ['somebody else in Slack, whatever the reason', {person: slackBo, reason: 'x'}, 'not-an-approver'],
    ['somebody else in Slack, for ghosts', {person: slackBo, plan: ghosts}, 'not-an-approver'],
    [
      'a Slack user who is called like an approver of this system',
      {person: {...slackBo, id: 'anna'}},
      'not-an-approver',
    ],
    [
      'an OS user who is called like an approving Slack user',
      {person: {...BO, name: 'U1'}},
      'break-glass-needs-reason',
    ],
    ['anybody on a host in observe mode', {person: ANNA, requester: BO, mode: 'observe'}, 'host-observe-only'],
    ['anybody during a pause', {person: ANNA, requester: BO, paused: PAUSED}, 'paused'],
    ['a break-glass during a pause', {person: BO, reason: 'x', paused: PAUSED}, 'paused'],
    ['no approvers: Slack', {person: slackAnna, reason: 'x', policy: {approvers: []}}, 'no-approvers'],
    [
      'no approvers: the terminal, as break-glass',
      {person: ANNA, reason: 'x', policy: {approvers: []}},
      'no-approvers',
    ],
  ])('%s', (_, ask, expected) => {
    expect(answer(ask)).toBe(expected);
  });

  it('names those who could give it, and whether break-glass is open', () => {
    const ask = (policy: Partial<Policy>) =>
      mayGo({
        person: ANNA,
        requester: ANNA,
        plan: mixed,
        host: aHost(),
        practice: false,
        policy: aPolicy({approvers: APPROVERS, ...policy}),
        paused: null,
        reason: null,
        atTerminal: true,
      });
    expect(ask({})).toMatchObject({failure: {approvers: ['anna', '@U1', '@S9'], breakGlass: true}});
    expect(ask({breakGlass: false})).toMatchObject({failure: {breakGlass: false}});
    expect(APPROVERS.map(approverName)).toEqual(['anna', '@U1', '@S9']);
  });
});

describe('the request', () => {
  const load = {openRuns: 0, byPerson: 0, oldestByPersonAtMs: null, paused: null};
  const refused = (change: Partial<Parameters<typeof refuseRequest>[0]> = {}) =>
    refuseRequest({
      person: ANNA,
      host: aHost(),
      policy: aPolicy({approvers: APPROVERS}),
      load,
      dryRun: false,
      nowMs: 1_000,
      ...change,
    });

  it.each([
    ['is free', {}, null],
    ['needs act mode', {host: aHost({mode: 'observe'})}, 'host-observe-only'],
    ['needs approvers in Slack', {person: slackAnna, policy: aPolicy({approvers: []})}, 'no-approvers'],
    [
      'needs approvers or break-glass in the terminal',
      {policy: aPolicy({approvers: [], breakGlass: false})},
      'no-approvers',
    ],
    ['needs approvers also where the glass may be broken', {policy: aPolicy({approvers: []})}, 'no-approvers'],
    [
      'needs no approvers on a host for drills',
      {host: aHost({practice: true}), policy: aPolicy({approvers: []})},
      null,
    ],
    ['is refused in a pause', {load: {...load, paused: PAUSED}}, 'paused'],
    ['is one of few', {load: {...load, openRuns: 4}}, 'too-many-open-runs'],
    ['may be the last of those', {load: {...load, openRuns: 3}}, null],
    [
      'is one of a few by one person',
      {load: {...load, byPerson: 3, oldestByPersonAtMs: 400}},
      'too-many-runs-by-person',
    ],
  ] as const)('%s', (_, change, reason) => {
    expect(refused(change)?.reason ?? null).toBe(reason);
  });

  it('is a look only when dry: no act mode, no approver, no pause stands against it; the limits do', () => {
    const dry = {
      dryRun: true,
      host: aHost({mode: 'observe' as const}),
      policy: aPolicy({approvers: []}),
      load: {...load, paused: PAUSED},
    };
    expect(refused(dry)).toBeNull();
    expect(refused({...dry, load: {...load, openRuns: 4}})).toMatchObject({reason: 'too-many-open-runs', limit: 4});
  });

  it('tells when one may ask again', () => {
    expect(refused({load: {...load, byPerson: 3, oldestByPersonAtMs: 400}})).toMatchObject({
      person: 'os:anna',
      againAtMs: 600_400,
    });
  });
});

describe('the size of a plan', () => {
  const planOf = (count: number, belonging: (at: number) => Belonging) =>
    aPlan({targets: Array.from({length: count}, (_, at) => aTarget({pid: 500 + at, belonging: belonging(at)}))});

  it.each<[string, (at: number) => Belonging, number | null]>([
    ['named ones count', () => ({by: 'named', literal: 'python'}), 65],
    ['include-others counts', () => ({by: 'gpus'}), 65],
    ['kin of a named one do not', () => ({by: 'parents', ancestorPid: 400, ancestorName: 'x'}), null],
    ['loader children of one dead rank are one', () => ({by: 'ghost', deadPids: [900, 901]}), null],
    ['ghosts of as many dead count each', (at) => ({by: 'ghost', deadPids: [at]}), 65],
    ['workers without a server count each', () => ({by: 'ghost', deadPids: []}), 65],
  ])('%s', (_, belonging, count) => {
    expect(refusePlan(planOf(65, belonging), aPolicy())).toEqual(
      count === null ? null : {reason: 'too-many-targets', count, limit: 64},
    );
    expect(refusePlan(planOf(64, belonging), aPolicy())).toBeNull();
  });
});

describe('resuming', () => {
  it.each<[string, Person, boolean, boolean]>([
    ['an approver', ANNA, false, true],
    ['an approver by group', slackOncall, false, true],
    ['somebody at the terminal where break-glass is open', BO, true, true],
    ['somebody at the terminal where it is not', BO, false, false],
    ['somebody in Slack', slackBo, true, false],
  ])('%s', (_, person, breakGlass, may) => {
    expect(mayResume(person, aPolicy({approvers: APPROVERS, breakGlass}))).toBe(may);
  });

  it('an approver is told by id and kind, never by a name of the other kind', () => {
    const policy = aPolicy({approvers: APPROVERS});
    expect([ANNA, BO, slackAnna, slackOncall, slackBo].map((one) => isApprover(one, policy))).toEqual([
      true,
      false,
      true,
      true,
      false,
    ]);
  });
});
