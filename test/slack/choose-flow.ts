/** Hands on the form behind "Choose…" in the local Slack: opened from a card, read, turned, submitted. */
import type {SlackPerson} from '../../src/playground/slack/cast.ts';
import type {SlackMessage} from '../../src/playground/slack/news.ts';
import {ACTION} from '../../src/slack/ids.ts';
import {HOST, type Rig} from './rig.ts';

/** Somebody asks, and the card waits for a go. */
export async function askedForPlan(rig: Rig, text = `/gpu reclaim ${HOST} match=vllm`): Promise<SlackMessage> {
  const {slack} = rig;
  await slack.type(slack.users.requester, text);
  const {message} = await slack.news.next(
    ['post', 'update'],
    (one) => one.message.thread_ts === undefined && JSON.stringify(one.message.blocks ?? []).includes(ACTION.choose),
    'card with buttons',
  );
  return message;
}

type View = NonNullable<Awaited<ReturnType<Rig['slack']['nextView']>>['view']>;

/** The next thing that stands in the form, once it says what is wanted. */
export async function formSaying(rig: Rig, person: SlackPerson, what: RegExp): Promise<View> {
  const {view} = await rig.slack.news.next(
    ['view'],
    (one) => one.user === person.id && one.view !== null && what.test(textIn(one.view)),
    `a form that says ${what}`,
    60_000,
  );
  if (view === null) throw new Error('no form');
  return view;
}

export function textIn(view: {readonly blocks: readonly unknown[]}): string {
  return JSON.stringify(view.blocks);
}

/** Ticks as they stand in the form, by block; `change` sets those of the PIDs named. */
export function ticksIn(view: View, change: Readonly<Record<number, boolean>> = {}): Record<string, readonly string[]> {
  const answers: Record<string, readonly string[]> = {};
  for (const block of view.blocks) {
    if (block.type !== 'input' || !('element' in block) || block.element.type !== 'checkboxes') continue;
    const initial = new Set((block.element.initial_options ?? []).map((option) => option.value));
    answers[block.block_id ?? ''] = block.element.options
      .filter(({value = ''}) => change[Number(value.split(':')[0])] ?? initial.has(value))
      .map(({value}) => value ?? '');
  }
  return answers;
}

/** PIDs that can be ticked on this page. */
export function offeredIn(view: View): readonly number[] {
  return [...textIn(view).matchAll(/"value":"(\d+):\d+:\d+:[\d:]+:v\d+"/g)]
    .map((hit) => Number(hit[1]))
    .filter((pid, at, all) => all.indexOf(pid) === at);
}
