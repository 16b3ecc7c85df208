/** People in one conversation, as people are: they wait for an answer, try again when told to, and go on as was dealt. */
import {setTimeout as wait} from 'node:timers/promises';
import type {LabProcess} from '../lab/process-tree.ts';
import type {SlackPerson} from '../slack/cast.ts';
import type {SlackMessage} from '../slack/news.ts';
import type {Done} from '../slack/people.ts';
import {GO} from '../story/door.ts';
import type {Conversation, Stage} from './deck.ts';
import {answersOf, endOf, isFinal, isToldAlone, runsOf, type SeenRun} from './judge.ts';
import {type Act, newest, type Seen} from './record.ts';
import {strike} from './trouble.ts';
import type {Slot, World} from './world.ts';

/** What is not answered by then never is: Slack's troubles here are over long before. */
const ANSWER_MS = 100_000;
const CARD_MS = 45_000;
const PRIVATE_MS = 3_000;
const END_MS = 75_000;
const TRIES = 5;
const CANCELS = 3;
const BUSY_MS = 8_000;
/** From the last process' end until the run has verified it and closed. */
const CLOSES_MS = 6_000;

export async function converse(world: World, slot: Slot, conversation: Conversation): Promise<void> {
  const stocked = conversation.ending === 'nothing' ? [] : await world.stock(slot, conversation);
  try {
    await new Talk(world, slot, conversation, stocked).play();
  } finally {
    for (const {pid} of stocked) if (await slot.lab.alive(pid)) await slot.lab.endOfItself(pid);
  }
}

class Talk {
  readonly #world: World;
  readonly #slot: Slot;
  readonly #talk: Conversation;
  readonly #stocked: readonly LabProcess[];

  constructor(world: World, slot: Slot, conversation: Conversation, stocked: readonly LabProcess[]) {
    this.#world = world;
    this.#slot = slot;
    this.#talk = conversation;
    this.#stocked = stocked;
  }

  async play(): Promise<void> {
    const {ending, manner} = this.#talk;
    await this.#strike('asking');
    const waiting = await this.#ask();
    if (waiting !== null) {
      await this.#strike('waiting');
      if (manner === 'stranger-first') await this.#press(this.#slot.stranger, GO, 'stranger');
      if (manner === 'dialog-denied') await this.#pressOnly(this.#slot.approver, GO, 'deny');
      await this.#strike('deciding');
      await this.#decide();
    }
    await this.#end();
    if (manner === 'late-click' && waiting !== null && ending !== 'expire')
      await this.#act('click', this.#slot.approver, 'late click', () =>
        this.#click(this.#slot.approver, waiting, GO, {}),
      );
  }

  /** The card that waits for a go; null if it ended without one. */
  async #ask(): Promise<SlackMessage | null> {
    const {ending, tag} = this.#talk;
    const match = ending === 'nothing' ? 'no-such-name' : 'vllm';
    const command = `/gpu reclaim ${this.#slot.host} match=${match}${ending === 'dry-run' ? ' dry-run' : ''} reason="${tag}"`;
    for (let tries = 0; tries < TRIES; tries += 1) {
      // A plan that was made anew after the bot's death may have the host until it expires.
      if (tries > 0) await wait(BUSY_MS);
      await this.#act('ask', this.#slot.requester, command, () =>
        this.#world.slack.type(this.#slot.requester, command, {channel: this.#slot.channel}),
      );
      const answered = (): boolean => this.#waiting() !== null || this.#runs().some(({cards}) => cards.some(isFinal));
      // Without any card by now it was answered in private: somebody asks again.
      if (this.#runs().length === 0) await this.#until(answered, PRIVATE_MS);
      if (this.#runs().length > 0) await this.#until(answered, CARD_MS);
      const waiting = this.#waiting();
      if (waiting !== null) return newest(waiting).message;
      if (this.#runs().some((run) => !/interrupted|no end/.test(endOf(run)))) return null;
    }
    return null;
  }

  async #decide(): Promise<void> {
    const {ending, manner} = this.#talk;
    const {requester, approver, second, stranger} = this.#slot;
    switch (ending) {
      case 'expire':
        return;
      case 'deny':
        return this.#byForm(approver, 'leave', 'leave', {reason: 'still needed'});
      case 'break-glass':
        await this.#byForm(requester, GO, 'break-glass', {reason: 'nobody else is awake'});
        return this.#strike('working');
      case 'cancel':
        return this.#cancel();
      case 'drift':
        for (const {pid} of this.#stocked) await this.#slot.lab.endOfItself(pid);
        break;
    }
    const button = ending === 'terminate-only' ? 'go_terminate_only' : GO;
    const twice = manner === 'two-at-once';
    for (let tries = 0; tries < TRIES && this.#waiting() !== null; tries += 1) {
      if (tries > 0) await wait(1_000);
      const people = twice && tries === 0 ? [approver, second] : [approver];
      await Promise.all(people.map((person) => this.#press(person, button, 'go')));
      await this.#until(() => this.#waiting() === null, 8_000);
    }
    const striking = this.#strike('working');
    if (ending === 'stop') {
      await this.#until(() => this.#with('stop') !== null || this.#isOver(), 20_000);
      await this.#press(stranger, 'stop', 'stop');
    }
    await striking;
  }

  /** A button that opens a form, and the form; a form that did not open is asked for again. */
  async #byForm(person: SlackPerson, button: string, what: string, answers: Record<string, string>): Promise<void> {
    const {slack} = this.#world;
    for (let tries = 0; tries < TRIES && this.#waiting() !== null; tries += 1) {
      if (tries > 0) await wait(1_000);
      await this.#press(person, button, `button of ${what}`);
      await this.#until(() => slack.viewOf(person) !== null, 2_000);
      const view = slack.viewOf(person);
      if (view === null) continue;
      await this.#act('form', person, `${what} form`, () => slack.submitView(person, answers, {view}));
      if (slack.viewOf(person) !== null) await slack.closeView(person);
      await this.#until(() => this.#waiting() === null, 8_000);
    }
  }

  /** Until every run of it has ended; a plan that the bot made anew after its death is left. */
  async #end(): Promise<void> {
    if (this.#runs().length === 0) return;
    for (let tries = 0; tries < 2; tries += 1) {
      const ended = await this.#until(
        () => this.#isOver() || (this.#waiting() !== null && this.#talk.ending !== 'expire'),
        END_MS,
      );
      if (!ended) {
        this.#world.record.late.push(`${this.#talk.tag}: no card said its end within ${END_MS / 1_000} s`);
        return;
      }
      // It may have been told in private only, or the next plan is just being made.
      await this.#until(() => this.#waiting() !== null, 1_500);
      if (this.#waiting() === null) return;
      if (this.#talk.ending !== 'expire') await this.#cancel();
    }
  }

  async #cancel(): Promise<void> {
    const {slack} = this.#world;
    const {requester, channel} = this.#slot;
    for (let tries = 0; tries < CANCELS && this.#waiting() !== null; tries += 1) {
      if (tries > 0) await wait(1_000);
      const [, id] = /Run ([0-9a-f]{6})/.exec(this.#textOfWaiting()) ?? [];
      const command = `/gpu cancel ${id ?? ''}`;
      await this.#act('command', requester, command, () => slack.type(requester, command, {channel}));
      await this.#until(() => this.#waiting() === null, 8_000);
    }
  }

  async #press(person: SlackPerson, button: string, what: string): Promise<void> {
    const card = this.#with(button);
    if (card === null) return;
    const {message} = newest(card);
    await this.#act('click', person, what, () => this.#click(person, message, button, {}));
  }

  /** Slack's own client keeps a dialog that is denied: nobody is asked. */
  async #pressOnly(person: SlackPerson, button: string, dialog: 'deny'): Promise<void> {
    const card = this.#with(button);
    if (card !== null) await this.#click(person, newest(card).message, button, {dialog});
  }

  #click(person: SlackPerson, card: SlackMessage, button: string, how: {readonly dialog?: 'deny'}): Promise<Done> {
    return this.#world.slack.click(person, card.ts, button, {channel: this.#slot.channel, card, ...how});
  }

  /** Does it, and waits for the answer as a person does. */
  async #act(kind: Act['kind'], person: SlackPerson, what: string, doIt: () => Promise<Done>): Promise<void> {
    const {record} = this.#world;
    await this.#bot();
    const act: Act = {tag: this.#talk.tag, user: person.id, kind, what, atMs: Date.now(), done: null};
    record.acts.push(act);
    act.done = await doIt();
    await this.#until(() => this.#isAnswered(act), ANSWER_MS);
  }

  #isAnswered(act: Act): boolean {
    const {record} = this.#world;
    const seen = record.seen.filter((one) => one.channel === this.#slot.channel.id && newest(one).atMs >= act.atMs);
    const told = record.told.filter((one) => one.user === act.user && one.atMs >= act.atMs);
    return answersOf({seen, told}).some(
      ({user, tag, atMs}) =>
        atMs >= act.atMs && (user === null ? tag === act.tag && act.kind === 'ask' : user === act.user),
    );
  }

  /** People who see a bot that is down wait for it. */
  async #bot(): Promise<void> {
    const {slack} = this.#world;
    const over = new AbortController();
    await Promise.race([slack.whenConnected(), wait(60_000, undefined, {signal: over.signal}).catch(() => undefined)]);
    over.abort();
  }

  #strike(stage: Stage): Promise<void> {
    return strike(this.#talk, stage, {
      world: this.#world,
      slot: this.#slot,
      card: () => this.#standing().at(-1) ?? null,
      worked: async () => {
        for (let passed = 0; passed < 30_000; passed += 250) {
          const alive = await Promise.all(this.#stocked.map(({pid}) => this.#slot.lab.alive(pid)));
          if (!alive.includes(true)) break;
          await wait(250);
        }
        await wait(CLOSES_MS);
      },
    });
  }

  #until(holds: () => boolean, ms: number): Promise<boolean> {
    return this.#world.record.until(holds, ms);
  }

  #runs(): readonly SeenRun[] {
    return runsOf(
      this.#talk.tag,
      this.#world.record.seen.filter(({channel}) => channel === this.#slot.channel.id),
    );
  }

  #standing(): readonly Seen[] {
    return this.#runs().flatMap(({cards}) => cards.filter(({deleted}) => !deleted));
  }

  /** A run's newest card with that button; a double of a card that has moved on does not count. */
  #with(button: string): Seen | null {
    const open = this.#runs().filter(({cards}) => !cards.some(isFinal));
    const cards = open.flatMap((run) => run.cards.filter(({deleted}) => !deleted).slice(-1));
    return cards.findLast((card) => newest(card).buttons.includes(button)) ?? null;
  }

  #waiting(): Seen | null {
    return this.#with(GO);
  }

  #textOfWaiting(): string {
    const card = this.#waiting();
    return card === null ? '' : newest(card).text;
  }

  /** Every run of it has a card that says its end, or its end was told in private. */
  #isOver(): boolean {
    const runs = this.#runs();
    const {told} = this.#world.record;
    return runs.length > 0 && runs.every((run) => run.cards.some(isFinal) || isToldAlone(run, told));
  }
}
