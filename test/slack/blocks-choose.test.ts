/** The form behind "Choose…": what is ticked, what is locked, how it is turned and narrowed, and what stands in it. */
import {describe, expect, it} from 'vitest';
import {choosableIn} from '../../src/domain/offer.ts';
import type {Plan} from '../../src/domain/plan.ts';
import {blockOf, chooseEnd, chooseModal, lookingModal} from '../../src/slack/blocks/choose-modal.ts';
import {choicePage} from '../../src/slack/blocks/choose-page.ts';
import {breakGlassModal, leaveModal, readReason} from '../../src/slack/blocks/small-modals.ts';
import {checkView} from '../../src/slack/check-blocks.ts';
import {readTicks, withPage} from '../../src/slack/choice-state.ts';
import {aTarget, uuidOf} from '../doubles/build.ts';
import {stringsIn} from './blocks-hostile-text.ts';
import {aKept, ghostPlan} from './blocks-runs.ts';
import {aForm, boxesIn, crowd, type Given, pidsByPage, untouched} from './choose-forms.ts';

const textOf = (plan: Plan, given: Given = {}) => stringsIn(chooseModal(aForm(plan, given)).blocks).join('\n');

describe('the form', () => {
  it('ticks the targets, leaves the others, and locks the protected with their reason', () => {
    const [first, second] = boxesIn(aForm(ghostPlan()));
    expect([...(first?.options ?? []), ...(second?.options ?? [])].map((option) => option.text.text)).toEqual([
      'PID 244199 python3 · ghost: child of a dead process, ignores SIGTERM',
      'PID 250331 train.py · in use, kept',
    ]);
    expect(first?.initial_options?.map((option) => option.value)).toEqual(['244199:2441990:1000:2049:19:v1']);
    expect(second?.initial_options).toBeUndefined();
    const shown = textOf(ghostPlan());
    expect(shown).toContain('billed to dead PID 244180 on GPU 0-3');
    expect(shown).toContain('*Locked*: 1 process, never signalled');
    expect(shown).toMatch(/🔒 PID 1200 nvidia-persistenced\n {2}protected/);
  });

  it('groups by workload with who, how much and where, then by owner; targets first', () => {
    const of = (framework: string, rootPid: number) => ({family: {framework, rootPid}});
    const targets = [
      aTarget({pid: 10, name: 'vllm serve', role: 'server', chargedMiB: null, gpuUuids: [], ...of('vLLM', 10)}),
      aTarget({pid: 11, chargedMiB: 100, gpuUuids: [uuidOf(0)], ...of('vLLM', 10)}),
      aTarget({pid: 20, chargedMiB: 7, gpuUuids: [uuidOf(3)]}),
    ];
    const kept = [
      aKept({pid: 30, chargedMiB: 1_000, gpuUuids: [uuidOf(4)]}),
      aKept({pid: 12, ownership: {person: 'anna', uid: 1000, by: 'uid'}, chargedMiB: 100, gpuUuids: [uuidOf(1)]}),
      aKept({pid: 31, chargedMiB: 500, gpuUuids: [uuidOf(5)]}),
    ];
    const families = Object.fromEntries([10, 11, 12].map((pid) => [String(pid), {framework: 'vLLM', rootPid: 10}]));
    const form = aForm({...ghostPlan(), targets, kept}, {offer: {families}});
    expect(boxesIn(form).map(({label, options}) => [label, options.length])).toEqual([
      ['vLLM, 1 server + 2 workers, anna, 200 MiB on GPU 0-1', 3],
      ['anna: 1 process, 7 MiB on GPU 3', 1],
      ['bo: 2 processes, 1,500 MiB on GPU 4-5', 2],
    ]);
    // Who stays and is of the same workload stands with it, and is not ticked.
    expect(boxesIn(form)[0]?.initial_options).toHaveLength(2);
  });

  it('carries the whole identity and the version with each tick', () => {
    const plan = {...ghostPlan(), version: 3};
    expect(readTicks(untouched(aForm(plan)))).toEqual([{...plan.targets[0]?.identity, planVersion: 3}]);
  });

  it('says who is new since the card, and does not call them left by choice', () => {
    const plan = {...ghostPlan(), kept: [aKept({pid: 77, why: 'unticked'})]};
    expect(boxesIn(aForm(plan, {was: ghostPlan()}))[1]?.options[0]?.text.text).toBe(
      'PID 77 train.py · new since the card',
    );
  });

  it('has nothing to submit when all are locked: an empty option list would hang the client', () => {
    const locked = aForm({...ghostPlan(), targets: [], kept: [aKept({pid: 1, choosable: false, why: 'protected'})]});
    expect(checkView(chooseModal(locked))).toEqual([]);
    expect(chooseModal(locked).submit).toBeUndefined();
    expect(stringsIn(chooseModal(locked).blocks).join()).toContain('Nobody can be chosen here.');
  });

  it('offers nobody without an identity', () => {
    const plan = {...ghostPlan(), kept: [aKept({pid: 77, identity: null, choosable: true})]};
    expect(boxesIn(aForm(plan)).flatMap((group) => group.options.map((option) => option.value ?? ''))).toHaveLength(1);
  });

  it('puts why something was refused first, and names the block of the process in the way', () => {
    const form = aForm(crowd(40).plan, {problem: 'No.'});
    expect(textOf(crowd(40).plan, {problem: 'No.'})).toMatch(/^section\nmrkdwn\n⚠ No\./);
    expect(blockOf(form, 1_012)).toBe('ticks_1_1');
    expect(blockOf(form, 4)).toBe('ticks_1_0');
  });

  it.each([
    ['looking', lookingModal('gpu-07', 'm')],
    ['the end', chooseEnd('It was decided.', 'm')],
    ['break-glass', breakGlassModal('gpu-07', 'm')],
    ['leave', leaveModal('gpu-07', 'm')],
    ['leave, on a host with a long name', leaveModal('h'.repeat(3_000), 'm')],
    ['looking, at a host with a long name', lookingModal('h'.repeat(3_000), 'm')],
  ])('%s is taken by Slack', (_what, view) => {
    expect(checkView(view)).toEqual([]);
  });
});

describe('what has changed since the card', () => {
  const was: Plan = {
    ...ghostPlan(),
    targets: [500, 501, 502].map((pid) => aTarget({pid, name: `w${pid}`})),
    kept: [],
  };
  const now: Plan = {...was, targets: was.targets.slice(1), kept: [aKept({pid: 600})]};
  const grown = (MiB: number) =>
    was.gpus.map((gpu) => ({...gpu, beforeMiB: (gpu.beforeMiB ?? 0) + (gpu.index === 0 ? MiB : 0)}));
  const less = (MiB: number) =>
    was.gpus.map((gpu) => ({...gpu, beforeMiB: (gpu.index ?? 9) < 4 ? MiB : gpu.beforeMiB}));

  it('is one line: targets gone, new holders, memory', () => {
    const gone = [
      {pid: 500, what: 'gone', detail: 'ended since the plan'},
      {pid: 600, what: 'new-holder', detail: 'train.py'},
    ] as const;
    const shown = textOf({...now, gpus: less(11_264)}, {was, offer: {drift: gone}});
    expect(shown).toContain(
      'Since the card: *1 of 3 targets gone, 1 new holder, 378 → 44 GiB on GPU 0-3*.\n• PID 500 w500 ended by itself\n',
    );
  });

  it.each([
    [
      'a PID that was taken over',
      [{pid: 500, what: 'replaced', detail: 'x'}],
      was.gpus,
      '1 of 3 targets replaced by another process, 1 new holder',
    ],
    [
      'a target without a GPU',
      [{pid: 501, what: 'not-holding', detail: 'x'}],
      was.gpus,
      '1 of 3 targets without a GPU now, 1 new holder',
    ],
    ['little memory', [], less(96_900), '1 new holder'],
    ['memory that rounding hides', [], grown(300), '1 new holder, 96,844 → 97,144 MiB on GPU 0'],
  ] as const)('%s is said as it is', (_what, drift, gpus, words) => {
    const offer = {drift};
    expect(textOf({...now, gpus: [...gpus]}, {was, offer})).toMatch(
      new RegExp(`Since the card: \\*${words.replace('→', '.')}\\*`),
    );
  });

  it('is said too when there is nothing', () => {
    expect(textOf(was)).toContain('Since the card: *nothing has changed*.');
  });

  it('is not to be had without a look: then the plan of the card stands there, with its time', () => {
    const failure = {reason: 'host-unreachable', host: was.host, address: 'gpu-07', detail: 'no route'} as const;
    const shown = textOf(was, {offer: {stale: {why: 'no-look', failure}}});
    expect(shown).toContain('no route');
    expect(shown).toMatch(/This is the plan of \*gpu-07\* as it was <!date/);
    expect(chooseModal(aForm(was, {offer: {stale: {why: 'no-look', failure}}})).submit).toBeDefined();
    expect(textOf(was, {offer: {stale: {why: 'saw-less', missing: 'nvidia-smi'}}})).toContain(
      'nvidia-smi did not answer',
    );
  });

  it('leaves nothing to choose on a host that was started anew', () => {
    const view = chooseModal(aForm(was, {offer: {stale: {why: 'machine-changed'}}}));
    expect(view.submit).toBeUndefined();
    expect(checkView(view)).toEqual([]);
    expect(stringsIn(view.blocks).join()).not.toContain('ticks_');
  });
});

describe('pages', () => {
  it.each([
    [40, 1],
    [150, 4],
    [500, 12],
  ])('of %i holders hold each of them once', (holders, pages) => {
    const {plan, families} = crowd(holders);
    const all = pidsByPage(aForm(plan, {offer: {families}}));
    expect(all).toHaveLength(pages);
    expect(all.every((page) => page.length <= 50)).toBe(true);
    const pids = all.flat();
    expect(pids).toHaveLength(holders);
    expect(new Set(pids)).toEqual(new Set(choosableIn(plan).map((one) => one.identity.pid)));
  });

  it('say where one is, and what is ticked elsewhere', () => {
    const {plan, families} = crowd(150);
    const shown = textOf(plan, {offer: {families}, state: {page: 1}});
    expect(shown).toContain('150 processes can be chosen. Page 2 of 4: 46 to 89.');
    expect(shown).toContain('Ticked on other pages: 45, 4,000 MiB. They stay ticked.');
    expect(shown).toContain('Back to page 1');
    expect(shown).toContain('Next: page 3');
  });

  it('past the last are the last', () => {
    const {plan, families} = crowd(150);
    expect(choicePage(aForm(plan, {offer: {families}}).offer, plan, aForm(plan, {state: {page: 99}}).state).page).toBe(
      3,
    );
  });

  it('come back with the ticks of the others', () => {
    const {plan, families} = crowd(150);
    const form = aForm(plan, {offer: {families}, state: {page: 3}});
    const {shown} = choicePage(form.offer, plan, form.state);
    const [box] = boxesIn(form);
    const first = readTicks({values: {[box?.id ?? '']: {ticks: {selected_options: box?.options.slice(0, 1) ?? []}}}});
    const {ticks, strays} = withPage(form.state, plan, shown, first);
    expect(strays).toEqual([]);
    expect(ticks.size).toBe(76);
    expect(ticks.has(shown[0] ?? -1)).toBe(true);
  });

  it.each([
    ['another start', {startTicks: '1'}],
    ['another owner', {uid: 5}],
    ['another program', {executable: '1:1'}],
    ['another version', {planVersion: 2}],
    ['somebody of another page', {pid: 5_070, startTicks: '50700', uid: 1001, executable: '2049:20'}],
  ])('take no tick of %s', (_what, change) => {
    const {plan, families} = crowd(150);
    const form = aForm(plan, {offer: {families}});
    const {shown} = choicePage(form.offer, plan, form.state);
    const [tick] = readTicks(untouched(form));
    if (tick === undefined) throw new Error('no tick');
    expect(withPage(form.state, plan, shown, [{...tick, ...change}]).strays).toHaveLength(1);
  });
});

describe('narrowing', () => {
  const {plan, families} = crowd(150);
  const listed = (state: NonNullable<Given['state']>) => pidsByPage(aForm(plan, {offer: {families}, state})).flat();

  it('is offered for a list that is longer than one set of checkboxes', () => {
    expect(textOf(ghostPlan())).not.toContain('Narrow by GPU');
    expect(textOf(plan)).toContain('Narrow by GPU');
  });

  it.each([
    ['a GPU', {gpu: 3}, 17],
    ['an owner', {owner: 'user3'}, 6],
    ['what is ticked', {show: 'ticked'}, 75],
    ['what is not', {show: 'unticked'}, 75],
    ['a text', {text: 'WORKER_TP7'}, 8],
    ['a PID', {text: '5012'}, 1],
    ['two things', {owner: 'user3', gpu: 3}, 3],
    ['nothing there is', {text: 'no such'}, 0],
    ['the locked', {show: 'locked'}, 0],
  ] as const)('to %s lists only that', (_what, state, count) => {
    expect(listed(state)).toHaveLength(count);
  });

  it('never changes a tick, and says what it hides', () => {
    const shown = textOf(plan, {offer: {families}, state: {owner: 'user3'}});
    expect(shown).toContain('150 processes can be chosen, 6 listed.');
    expect(shown).toContain('Ticked and not listed now: 75, 6,600 MiB. Narrowing hides them; they stay ticked.');
    const form = aForm(plan, {offer: {families}, state: {owner: 'user3'}});
    const {ticks} = withPage(form.state, plan, choicePage(form.offer, plan, form.state).shown, []);
    expect(ticks.size).toBe(75);
  });

  it('keeps who stands on which page while ticks change', () => {
    const listed = new Set(plan.targets.map((_, at) => at));
    const some = new Set([...listed, 75, 76, 77]);
    expect(pidsByPage(aForm(plan, {offer: {families}, state: {show: 'unticked', ticks: some, listed}}))).toEqual(
      pidsByPage(aForm(plan, {offer: {families}, state: {show: 'unticked'}})),
    );
  });

  it('to nobody says so, and can be undone', () => {
    const shown = textOf(plan, {state: {text: 'no such'}});
    expect(shown).toContain('Nobody is listed');
    expect(shown).toContain('Show everybody');
    expect(checkView(chooseModal(aForm(plan, {state: {text: 'no such'}})))).toEqual([]);
  });
});

describe('a whole workload', () => {
  it('has a button that says how many of what, and only where there are many', () => {
    const {plan, families} = crowd(40);
    const buttons = chooseModal(aForm(plan, {offer: {families}})).blocks.flatMap((block) =>
      block.type === 'section' && 'accessory' in block && block.accessory?.type === 'button' ? [block.accessory] : [],
    );
    expect(buttons.map((button) => [button.text.text, button.value, button.accessibility_label])).toEqual([
      ['Untick all 9', 'untick:0', 'Untick all 9 of vLLM of anna'],
      ['Untick all 9', 'untick:9', 'Untick all 9 of vLLM of anna'],
    ]);
  });
});

describe('small forms', () => {
  it.each([
    ['a typed reason', {values: {reason: {reason: {value: '  prod is down '}}}}, 'prod is down'],
    ['blanks', {values: {reason: {reason: {value: '   '}}}}, null],
    ['nothing', {values: {reason: {reason: {value: null}}}}, null],
    ['no such input', {values: {}}, null],
  ])('read %s', (_what, state, reason) => {
    expect(readReason(state)).toBe(reason);
  });

  it.each([
    ['nothing', {values: {}}],
    ['an emptied form', {values: {ticks_1_0: {ticks: {selected_options: []}}}}],
    ['no such option of ours', {values: {ticks_1_0: {ticks: {selected_options: [{value: '1:2'}, {value: 'x'}, {}]}}}}],
    ['another input', {values: {reason: {reason: {selected_options: [{value: '7:70:0:1:2:v1'}]}}}}],
  ])('read no tick in %s', (_what, state) => {
    expect(readTicks(state)).toEqual([]);
  });
});
