/**
 * Every card of a run with its thread: word for word in `cards/*.txt`, and what must be true of all of them. The twin is
 * held against the blocks by a reading of them that is not the product's.
 */
import {describe, expect, it} from 'vitest';
import type {RunEvent} from '../../src/domain/run.ts';
import type {KnownBlock, Message} from '../../src/slack/blocks/message.ts';
import {rootCard} from '../../src/slack/blocks/root-card.ts';
import {runMessage} from '../../src/slack/blocks/run-answers.ts';
import {checkBlocks} from '../../src/slack/check-blocks.ts';
import {aPlan, aSnapshot, aTarget, uuidOf} from '../doubles/build.ts';
import {expectSafe, expectTwin} from './blocks-hostile-text.ts';
import {AT, aKept, approved, CARD, closedAs, killed, planned, requested, runOf, surveyed} from './blocks-runs.ts';
import {CARDS, cardOf, type NamedCard, threadOf} from './cards.ts';

const NAMED = CARDS.map((one) => [one.name, one] as const);
const MOVING = CARDS.filter(({run}) => run.phase === 'looking' || run.phase === 'executing');
const DIVIDER = '\n\n----\n';

function buttonsOf(message: Message) {
  return message.blocks.flatMap((block: KnownBlock) =>
    block.type === 'actions' ? block.elements.flatMap((element) => (element.type === 'button' ? [element] : [])) : [],
  );
}

/** Card, its buttons with all that they ask, and the thread, as somebody reads them who has text alone. */
function golden(one: NamedCard): string {
  const card = cardOf(one);
  // What was found reads the same in every thread; the waiting cards show it.
  const told = threadOf(one).slice(one.run.phase === 'awaiting-go' ? 0 : 1);
  const buttons = buttonsOf(card).map(({text, style, accessibility_label, confirm}) =>
    [
      `[${text.text}] ${style ?? 'plain'}: ${accessibility_label}`,
      ...(confirm === undefined ? [] : [`    ${confirm.title?.text} ${confirm.text.text} [${confirm.confirm?.text}]`]),
    ].join('\n'),
  );
  return `${[card.text, ...(buttons.length === 0 ? [] : [buttons.join('\n')]), ...told.map(({text}) => text)].join(DIVIDER)}\n`;
}

describe('the card', () => {
  it.each(NAMED)('%s reads as it was reviewed, and so does its thread', async (name, one) => {
    for (const message of [cardOf(one), ...threadOf(one)]) expectSafe(message);
    await expect(golden(one)).toMatchFileSnapshot(`cards/${name}.txt`);
  });

  it.each(NAMED)('%s has every fact of its blocks in its text, and so has each reply', (_name, one) => {
    for (const message of [cardOf(one), ...threadOf(one)]) expectTwin(message);
  });

  it.each(NAMED)('%s begins with sign, state, host and requester', (_name, one) => {
    const [first] = cardOf(one).blocks;
    const text = first?.type === 'section' ? (first.text?.text ?? '') : '';
    expect(text.split('\n')[0]).toMatch(/^\*\p{Extended_Pictographic}\uFE0F? .*gpu-07.*\* · asked by <@U0ANNA>$/u);
  });

  it.each(NAMED)('%s has the same facts in the same places', (_name, one) => {
    const [, second] = cardOf(one).blocks;
    const labels = second?.type === 'section' ? (second.fields ?? []).map(({text}) => text.split('*')[1]) : [];
    expect(labels).toEqual(['Host', 'GPUs', 'Plan', 'Targets', 'Since', 'Why']);
  });

  it.each(NAMED)('%s names its command, its run, and a way without Slack', (_name, one) => {
    const {text} = cardOf(one);
    expect(text).toContain('`/gpu reclaim gpu-07 match=vllm`');
    expect(text).toContain('`gpu-reclaim show 7f3a00`');
    expect(text.includes('`gpu-reclaim cancel 7f3a00`')).toBe(one.run.phase !== 'closed');
  });

  it.each(NAMED)('%s has buttons that say what they do: to how many, where, and once more', (_name, one) => {
    const buttons = buttonsOf(cardOf(one));
    expect(buttons.filter(({style}) => style === 'primary')).toHaveLength(0);
    expect(buttons.filter(({style}) => style === 'danger').length).toBeLessThanOrEqual(1);
    for (const {text, style, accessibility_label, confirm, action_id} of buttons) {
      expect([...text.text].length).toBeLessThanOrEqual(30);
      expect(accessibility_label).toContain('gpu-07');
      const signals = String(action_id).startsWith('go_');
      expect(signals).toBe(confirm !== undefined);
      if (style === 'danger' || signals) expect(text.text).toMatch(/\d/);
      if (confirm !== undefined) expect(confirm.title?.text).toMatch(/ \d+ process(es)? on gpu-07\?$/);
    }
  });

  it('says when it moves next, as long as it moves', () => {
    expect(MOVING.length).toBeGreaterThan(8);
    for (const one of MOVING)
      expect(cardOf(one).text).toContain(`If there is no update by <!date^${(AT + 120_000) / 1000}^`);
  });

  it('says until when it waits, and keeps its buttons no longer', () => {
    for (const one of CARDS.filter(({run}) => run.phase === 'awaiting-go'))
      expect(cardOf(one).text).toMatch(/^(Until|Expired) <!date\^1700000900\^/m);
  });
});

describe('a thread', () => {
  it('has no buttons: those are on the card', () => {
    for (const one of CARDS) for (const reply of threadOf(one)) expect(buttonsOf(reply)).toEqual([]);
  });

  it('has one table for each end that was measured, numbers to the right, and a sum that is the headline', () => {
    const ends = CARDS.flatMap(threadOf).filter(({blocks}) => blocks.some(({type}) => type === 'table'));
    expect(ends.length).toBeGreaterThan(4);
    for (const {blocks, text} of ends) {
      const [table, ...more] = blocks.filter((block) => block.type === 'table');
      expect(more).toEqual([]);
      expect(table?.column_settings?.map(({align}) => align)).toEqual(['left', 'right', 'right', 'right', 'left']);
      const change = table?.rows.at(-1)?.[3];
      const sum = change !== undefined && 'text' in change ? change.text : '';
      const told = /\(([\d,]+) MiB\)/.exec(text.split('\n')[0] ?? '')?.[1];
      if (told !== undefined) expect(sum).toBe(`-${told}`);
      expect(checkBlocks({text, blocks})).toEqual([]);
    }
  });
});

describe('the worst case', () => {
  const long = 'python3 '.repeat(1_250);
  const pids = Array.from({length: 500}, (_, at) => 1_000 + at * 3);
  const targets = pids.map((pid, at) =>
    aTarget({
      pid,
      name: `${long}${at}`,
      gpuUuids: [uuidOf(at % 64)],
      chargedMiB: 2_000,
      family: {framework: null, rootPid: pid},
    }),
  );
  const plan = aPlan({
    targets,
    kept: pids.map((pid) => aKept({pid: pid + 1, name: long})),
    gpus: Array.from({length: 64}, (_, index) => ({
      ...{gpuUuid: uuidOf(index), index, requested: true, totalMiB: 143_771},
      ...{beforeMiB: 96_844, likelyAfterMiB: 4, afterAtMostMiB: 300},
    })),
  });
  const survivors = pids.map(
    (pid) => ({pid, name: long, observation: 'alive', findings: [], why: 'ignored-sigterm'}) as const,
  );
  const gpus = plan.gpus.map(({gpuUuid, index}, at) => ({
    ...{gpuUuid, index, beforeMiB: 96_844, afterMiB: at % 5 === 0 ? null : 80_000, expectedMiB: 300, requested: true},
    ...{heldBy: [{pid: 1, name: long, chargedMiB: 8}], unexplainedMiB: 9_000},
  }));
  const drift = pids.map((pid) => ({pid, what: 'gone', detail: long}) as const);
  const waits = runOf('awaiting-go', requested, surveyed, planned(plan));
  const over = runOf(
    'closed',
    ...waits.events,
    approved,
    {kind: 'rechecked', atMs: AT, snapshot: aSnapshot([]), drift},
    ...killed().slice(1),
    closedAs('partly', {gpus, survivors}),
  );

  it('of 64 GPUs, 500 targets and 10,000-character names fits, and what is left out is counted and summed', () => {
    const thread = threadOf({run: over, card: CARD});
    for (const message of [rootCard(waits, CARD), rootCard(over, CARD), runMessage(over), ...thread]) {
      expectSafe(message);
      expectTwin(message);
      expect(JSON.stringify(message.blocks)).not.toContain('(truncated');
    }
    expect(rootCard(waits, CARD).text).toMatch(/☑ … 492 more, 984,000 MiB\n(.*\n)+☐ … 495 more, 10,706,850 MiB/);
    const [changed, report] = [thread.find(({text}) => text.startsWith('*Changed')), thread.at(-1)];
    expect(changed?.text).toMatch(/500 processes, each ended by itself: PID 1000, .* and 488 more$/);
    expect(report?.text).toMatch(/^sum +4,939,044 +4,080,000 +-859,044, without/m);
    expect(report?.text).toContain('(859,044 MiB), 0 of 64 free, 13 unknown');
    expect(report?.text).toMatch(/… and 495 more, PID 1015, .* and 483 more: did not end by SIGTERM/);
    expect(report?.text).toContain('GPU 0-63: 9,000 MiB each that no process explains');
    expect(report?.text).toMatch(/^Kept alive: 1001 .* and 494 more$/m);
  });

  it('of refusals that all read alike is one line, and of many that differ keeps the last line, which counts', () => {
    const refusals = (detail: (at: number) => string): RunEvent[] =>
      pids.map((pid, at) => ({
        ...{kind: 'signal-result', atMs: AT, rung: 1, pid, signal: 'SIGKILL', result: 'failed'},
        ...{detail: detail(at), uptimeMs: 1},
      }));
    const ended = (events: readonly RunEvent[]) =>
      threadOf({run: runOf('closed', ...waits.events, approved, ...events, closedAs('partly', {gpus})), card: CARD}).at(
        -1,
      );
    expect(ended(refusals(() => 'EPERM'))?.text).toContain(
      'Not sent: kill -9 to 500 processes, PID 1000, 1003, 1006, 1009, 1012, 1015, 1018, 1021, 1024, 1027, 1030, 1033 and 488 more: refused by the kernel (EPERM)',
    );
    const all = ended(refusals((at) => `${at} ${long}`));
    expect(all?.text).toMatch(/… \d+ more lines\nGPUs free now: 0 of 64/);
    expect(JSON.stringify(all?.blocks)).toMatch(/more lines\\nGPUs free now: 0 of 64/);
    expect(JSON.stringify(all?.blocks)).not.toContain('(truncated');
  });
});
