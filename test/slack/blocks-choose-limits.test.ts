/** The form behind "Choose…" from hostile text and from more of everything than fits: each page of it is taken by Slack. */
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import type {Offer} from '../../src/domain/offer.ts';
import type {Plan} from '../../src/domain/plan.ts';
import {checkView as checkAsSlack} from '../../src/playground/slack/check-blocks.ts';
import {type ChooseForm, chooseModal} from '../../src/slack/blocks/choose-modal.ts';
import {choicePage} from '../../src/slack/blocks/choose-page.ts';
import {checkView} from '../../src/slack/check-blocks.ts';
import {readChoice, readFind, SHOWN, writeChoice} from '../../src/slack/choice-state.ts';
import {aTarget} from '../doubles/build.ts';
import {hostile, INVISIBLE, stringsIn} from './blocks-hostile-text.ts';
import {aKept, ghostPlan} from './blocks-runs.ts';
import {aForm, type Given, pidsByPage} from './choose-forms.ts';

/** Slack refuses a view above 250 kB. */
const MOST_BYTES = 250_000;

function everyPage(form: ChooseForm): readonly ReturnType<typeof chooseModal>[] {
  const {pages} = choicePage(form.offer, form.was, form.state);
  return Array.from({length: pages}, (_, page) => chooseModal({...form, state: {...form.state, page}}));
}

function expectTaken(form: ChooseForm): void {
  for (const view of everyPage(form)) {
    expect(checkView(view)).toEqual([]);
    expect(checkAsSlack(view, 'modal')).toEqual([]);
    expect(Buffer.byteLength(JSON.stringify(view))).toBeLessThan(MOST_BYTES);
    expect(view.submit).toBeDefined();
    // What somebody typed is given back to their own field as it is.
    for (const text of stringsIn(view.blocks).filter((one) => one !== form.state.text)) {
      expect(text.replaceAll(/<!date\^\d+\^\{time_secs\}\|[\d: -]+UTC>/g, '')).not.toMatch(/[<>]/);
      expect(text).not.toMatch(INVISIBLE);
      expect(text).not.toMatch(/\p{Surrogate}/u);
    }
    expect(readChoice(view.private_metadata ?? '')).not.toBeNull();
  }
}

describe('a form from hostile text', () => {
  it('is taken by Slack and holds no markup but ours', () => {
    fc.assert(
      fc.property(hostile, fc.constantFrom(...SHOWN), (text, show) => {
        const plan: Plan = {
          ...ghostPlan(),
          host: hostName(text),
          targets: [7, 8, 9, 10, 11].map((pid) =>
            aTarget({
              pid,
              name: text,
              evidence: [{source: 'process', fact: text}],
              ownership: {person: text, uid: pid, by: 'uid'},
              family: {framework: text, rootPid: 7},
            }),
          ),
          kept: Array.from({length: 12}, (_, at) =>
            aKept({
              pid: 100 + at,
              name: text,
              ownership: {person: `${text}${at}`, uid: 3, by: 'uid'},
              choosable: at % 3 > 0,
            }),
          ),
        };
        const families = Object.fromEntries(plan.targets.map(({identity, family}) => [identity.pid, family]));
        const drift = [{pid: 7, what: 'replaced', detail: text}] as const;
        const given: Given = {
          was: {...plan, kept: []},
          offer: {families, drift},
          state: {
            show,
            text: readFind({values: {find_1: {choose_find: {value: text}}}}) ?? '',
            owner: text.slice(0, 20),
          },
        };
        expectTaken(aForm(plan, {...given, state: {show}}));
        expectTaken(aForm(plan, given));
        const failure = {reason: 'host-unreachable', host: plan.host, address: text, detail: text} as const;
        expectTaken(aForm(plan, {offer: {families, stale: {why: 'no-look', failure}}}));
      }),
      {numRuns: 25},
    );
  });
});

describe('64 GPUs, 500 holders and command lines of 10,000 characters', () => {
  const gpu = (index: number) => `GPU-${String(index).padStart(8, '0')}`;
  const longName = (index: number) => `${'<&`'.repeat(3_333)}${index}`;

  /** `alone`: nobody belongs to anybody, each with an owner of their own: as many groups as there are processes. */
  function crowded(alone: boolean): {readonly plan: Plan; readonly families: Offer['families']} {
    const whose = (at: number) => ({person: alone ? `p${at}` : `p${at % 7}`, uid: at, by: 'uid' as const});
    const targets = Array.from({length: 250}, (_, at) =>
      aTarget({
        pid: 1_000 + at,
        name: longName(at),
        family: {framework: longName(1), rootPid: alone ? 1_000 + at : 1_000 + Math.floor(at / 33) * 33},
        ownership: whose(at),
        gpuUuids: [gpu(at % 64)],
        evidence: [{source: 'process', fact: longName(at)}],
      }),
    );
    const kept = Array.from({length: 250}, (_, at) =>
      aKept({
        pid: 5_000 + at,
        name: longName(at),
        gpuUuids: [gpu(at % 64)],
        ownership: whose(300 + at),
        choosable: at % 2 === 0,
      }),
    );
    const gpus = Array.from({length: 64}, (_, index) => ({
      ...{gpuUuid: gpu(index), index, requested: true, beforeMiB: 400, totalMiB: 143_771},
      ...{likelyAfterMiB: 40, afterAtMostMiB: 300},
    }));
    const families = Object.fromEntries(targets.map(({identity, family}) => [identity.pid, family]));
    return {plan: {...ghostPlan(), targets, kept, gpus}, families};
  }

  it.each([
    ['workloads', false],
    ['processes of nobody else', true],
  ])('of %s make pages that Slack takes, with everybody once', (_what, alone) => {
    const {plan, families} = crowded(alone);
    const form = aForm(plan, {offer: {families}, was: {...plan, targets: [], kept: []}});
    expectTaken(form);
    expect(new Set(pidsByPage(form).flat()).size).toBe(375);
    const last = everyPage(form).at(-1);
    expect(stringsIn(last?.blocks).join('\n')).toMatch(/\*Locked\*: 125 processes, never signalled/);
    if (!alone)
      for (const show of ['unticked', 'locked'] as const) expectTaken({...form, state: {...form.state, show}});
  });

  it('fit into what a view carries, ticks of all pages and a text to narrow by included', () => {
    const {plan, families} = crowded(false);
    const listed = new Set(Array.from({length: 375}, (_, at) => at));
    const {state} = aForm(plan, {
      offer: {families},
      state: {ticks: listed, listed, text: '"'.repeat(60), owner: 'x'.repeat(20)},
    });
    const carried = writeChoice({...state, offer: 'f'.repeat(24)});
    expect(carried.length).toBeLessThan(700);
    expect(readChoice(carried)?.ticks).toEqual(listed);
  });
});
