/** The form behind "Choose…": what is ticked, what is locked, and what comes back. */
import {describe, expect, it} from 'vitest';
import type {Plan} from '../../src/domain/plan.ts';
import {chooseModal, readChoice, readTicks, type ViewState} from '../../src/slack/blocks/choose-modal.ts';
import {breakGlassModal, leaveModal, loadingModal, readReason} from '../../src/slack/blocks/small-modals.ts';
import {checkView} from '../../src/slack/check-blocks.ts';
import {aTarget} from '../doubles/build.ts';
import {stringsIn} from './blocks-hostile-text.ts';
import {aKept, ghostPlan, planned, requested, runOf, surveyed} from './blocks-runs.ts';

function formFor(plan: Plan) {
  return chooseModal(runOf('awaiting-go', requested, surveyed, planned(plan)), 'meta');
}

/** The checkbox groups of a form. */
function groupsOf(plan: Plan) {
  return formFor(plan).blocks.flatMap((block) =>
    block.type === 'input' && 'element' in block && block.element.type === 'checkboxes'
      ? [{id: block.block_id ?? '', ...block.element}]
      : [],
  );
}

/** What Slack would send if this form were submitted untouched. */
function untouched(plan: Plan): ViewState {
  return {
    values: Object.fromEntries(
      groupsOf(plan).map((group) => [
        group.id,
        {[group.action_id ?? '']: {selected_options: group.initial_options ?? []}},
      ]),
    ),
  };
}

const crowd: Plan = {
  ...ghostPlan(),
  targets: Array.from({length: 12}, (_, at) => aTarget({pid: 100 + at, name: `VLLM::Worker_TP${at}`})),
  kept: Array.from({length: 12}, (_, at) => aKept({pid: 200 + at})),
};

describe('the form', () => {
  it('ticks the targets, leaves the others, and locks the protected with their reason', () => {
    const [group] = groupsOf(ghostPlan());
    expect(group?.options.map((option) => option.text.text)).toEqual([
      'PID 244199 python3 · ghost: child of a dead process, ignores SIGTERM',
      'PID 250331 train.py · in use, kept',
    ]);
    expect(group?.initial_options?.map((option) => option.value)).toEqual(['244199:2441990:1000:2049:19:v1']);
    const shown = stringsIn(formFor(ghostPlan()).blocks).join('\n');
    expect(shown).toContain('billed to dead PID 244180 on GPU 0-3');
    expect(shown).toMatch(/🔒 PID 1200 nvidia-persistenced\n {2}protected/);
  });

  it('has groups of ten, each with its own id in this version of the plan', () => {
    expect(checkView(formFor(crowd))).toEqual([]);
    expect(
      groupsOf(crowd).map((group) => [group.id, group.options.length, group.initial_options?.length ?? 0]),
    ).toEqual([
      ['ticks_1_0', 10, 10],
      ['ticks_1_1', 10, 2],
      ['ticks_1_2', 4, 0],
    ]);
  });

  it('names the workloads of each group, each whole before the next', () => {
    const targets = crowd.targets.map((target, at) => ({
      ...target,
      family: {framework: at % 2 === 0 ? 'vLLM' : 'SGLang', rootPid: at % 2},
    }));
    const labels = formFor({...crowd, targets, kept: []}).blocks.flatMap((block) =>
      block.type === 'input' && 'label' in block ? [block.label.text] : [],
    );
    expect(labels).toEqual([
      'Processes 1 to 10: vLLM, 6 workers; SGLang, 6 workers',
      'Processes 11 to 12: SGLang, 6 workers',
    ]);
  });

  it('comes back untouched as the targets of the plan', () => {
    expect(readChoice(untouched(crowd))).toEqual(crowd.targets.map((target) => target.identity.pid));
  });

  it('carries the whole identity and the version with each tick', () => {
    const [tick] = readTicks(untouched({...ghostPlan(), version: 3}));
    expect(tick).toEqual({...ghostPlan().targets[0]?.identity, planVersion: 3});
  });

  it('carries its metadata, and is submitted with a verb', () => {
    const form = formFor(ghostPlan());
    expect(form.private_metadata).toBe('meta');
    expect(form.submit?.text).toBe('Make this the plan');
  });

  it('has nothing to submit when all are locked: an empty option list would hang the client', () => {
    const locked = formFor({...ghostPlan(), targets: [], kept: [aKept({pid: 1, choosable: false, why: 'protected'})]});
    expect(checkView(locked)).toEqual([]);
    expect(locked.submit).toBeUndefined();
    expect(stringsIn(locked.blocks).join()).toContain('Nobody can be chosen here.');
  });

  it('offers nobody without an identity', () => {
    const plan = {...ghostPlan(), kept: [aKept({pid: 77, identity: null, choosable: true})]};
    expect(
      groupsOf(plan)
        .flatMap((group) => group.options.map((option) => option.value ?? ''))
        .join(),
    ).not.toContain('77:');
  });
});

describe('what comes back', () => {
  it.each([
    ['nothing', {values: {}}, []],
    ['an emptied form', {values: {ticks_1_0: {ticks: {selected_options: []}}}}, []],
    [
      'no such option of ours',
      {values: {ticks_1_0: {ticks: {selected_options: [{value: '1:2'}, {value: 'x'}, {}]}}}},
      [],
    ],
    ['another input', {values: {reason: {reason: {selected_options: [{value: '7:70:0:1:2:v1'}]}}}}, []],
    ['one tick', {values: {ticks_1_0: {ticks: {selected_options: [{value: '7:70:0:1:2:v1'}]}}}}, [7]],
  ])('%s is read as it is', (_what, state, pids) => {
    expect(readChoice(state)).toEqual(pids);
  });
});

describe('small forms', () => {
  it.each([
    ['break-glass', breakGlassModal('gpu-07', 'm')],
    ['leave', leaveModal('gpu-07', 'm')],
    ['loading', loadingModal('m')],
    ['leave, on a host with a long name', leaveModal('h'.repeat(3_000), 'm')],
  ])('%s is taken by Slack', (_what, view) => {
    expect(checkView(view)).toEqual([]);
  });

  it.each([
    ['a typed reason', {values: {reason: {reason: {value: '  prod is down '}}}}, 'prod is down'],
    ['blanks', {values: {reason: {reason: {value: '   '}}}}, null],
    ['nothing', {values: {reason: {reason: {value: null}}}}, null],
    ['no such input', {values: {}}, null],
  ])('read %s', (_what, state, reason) => {
    expect(readReason(state)).toBe(reason);
  });
});
