/** A submission that Slack waits for: its answer in the ack, or, where it takes longer, in the form afterwards. */
import {describe, expect, it} from 'vitest';
import type {FormAnswer, OpenView} from '../../src/slack/choosing.ts';
import type {Desk} from '../../src/slack/desk.ts';
import {makeFormAnswers} from '../../src/slack/form-answers.ts';
import {makeWork} from '../../src/slack/work.ts';

const view: OpenView = {id: 'V1', hash: 'h', metadata: 'm', state: {values: {}}};

function aDesk() {
  const shown: string[] = [];
  const log: string[] = [];
  const acks: unknown[] = [];
  let late = (): void => undefined;
  const quiet = (_fields: unknown, message: string): void => void log.push(message);
  const clock = {
    now: () => 0,
    ticks: () => 0,
    wait: (_ms: number, over?: AbortSignal) =>
      new Promise<void>((resolve) => {
        late = resolve;
        over?.addEventListener('abort', () => resolve());
      }),
  };
  const logger = {info: quiet, warn: quiet, error: quiet};
  const bugs: unknown[] = [];
  const work = makeWork({clock, log: logger, onBug: (error) => void bugs.push(error)});
  const client = {
    views: {
      update: async ({view: next}: {readonly view: {readonly blocks: unknown}}) =>
        void shown.push(JSON.stringify(next.blocks)),
    },
  };
  const desk = {clock, log: logger, work, client} as unknown as Desk;
  const ack = async (response?: unknown): Promise<void> => void acks.push(response);
  return {...{shown, log, acks, ack, bugs, work}, give: makeFormAnswers(desk).give, isLate: () => late()};
}

/** Work that ends when it is told to. */
function held(answer: FormAnswer): {
  readonly act: () => Promise<FormAnswer>;
  end(): void;
  readonly times: () => number;
} {
  let times = 0;
  let end = (): void => undefined;
  const done = new Promise<FormAnswer>((resolve) => {
    end = () => resolve(answer);
  });
  return {
    act: () => {
      times += 1;
      return done;
    },
    end: () => end(),
    times: () => times,
  };
}

describe('a submission', () => {
  it.each([
    [{as: 'close'}, undefined],
    [
      {as: 'errors', errors: {ticks_1_0: 'No.'}},
      {response_action: 'errors', errors: {ticks_1_0: 'No.'}},
    ],
  ] as const)('that is done in time is acked with its answer', async (answer, response) => {
    const on = aDesk();
    await on.give('k', on.ack, view, async () => answer);
    expect([on.acks, on.shown]).toEqual([[response], []]);
  });

  it('that takes longer is acked all the same, and its end is shown in the form', async () => {
    const on = aDesk();
    const work = held({as: 'close'});
    const given = on.give('k', on.ack, view, work.act);
    on.isLate();
    await given;
    expect(JSON.stringify(on.acks)).toContain('Making this the plan');
    expect(on.work.count).toBeGreaterThan(0);
    work.end();
    await expect.poll(() => on.shown.join()).toContain('This is the plan now');
    await expect.poll(() => on.work.count).toBe(0);
  });

  it('that is delivered twice is carried out once, and both are answered', async () => {
    const on = aDesk();
    const work = held({as: 'close'});
    const both = [on.give('k', on.ack, view, work.act), on.give('k', on.ack, view, work.act)];
    work.end();
    await Promise.all(both);
    expect([work.times(), on.acks]).toEqual([1, [undefined, undefined]]);
  });

  it('that fails by a fault of ours says so in the form, and may be tried again', async () => {
    const on = aDesk();
    await on.give('k', on.ack, view, async () => {
      throw new Error('Internal error: broken');
    });
    expect(JSON.stringify(on.acks)).toContain('Nothing was changed');
    await on.give('k', on.ack, view, async () => ({as: 'close'}));
    expect(on.acks.at(-1)).toBeUndefined();
    expect(on.bugs).toEqual([]);
  });

  it('whose ack does not reach Slack is done all the same', async () => {
    const on = aDesk();
    const lost = async (): Promise<void> => {
      throw new Error('no socket');
    };
    await on.give('k', lost, view, async () => ({as: 'close'}));
    expect(on.log).toEqual(['an ack did not reach Slack']);
  });
});
