/** Whether every promise was kept, by what the front and the labs' witnesses saw. Pure; the bot's own word counts for nothing. */
import {EDITS_A_MINUTE, POST_BURST} from '../../slack/pace.ts';
import type {ApiCall} from '../slack/local-slack.ts';
import type {EnvelopeRecord} from '../slack/sockets.ts';
import type {Conversation} from './deck.ts';
import {type Act, newest, type Seen, type Told} from './record.ts';

export interface Evidence {
  readonly conversations: readonly Conversation[];
  readonly seen: readonly Seen[];
  readonly told: readonly Told[];
  readonly acts: readonly Act[];
  /** Conversations whose end people gave up waiting for, each as a sentence: what comes later, by chance, is lost all the same. */
  readonly late: readonly string[];
  /** When each life of the bot began, epoch ms. */
  readonly starts: readonly number[];
  readonly calls: readonly Pick<ApiCall, 'method' | 'args' | 'atMs' | 'error'>[];
  readonly envelopes: readonly Pick<EnvelopeRecord, 'ackMs'>[];
  readonly signals: readonly LabSignal[];
}

/** A signal that a process of a lab received. `tag`: whose conversation it was made for; null: nobody's. */
export interface LabSignal {
  readonly tag: string | null;
  readonly name: string;
  readonly signal: string;
  readonly atMs: number;
}

/** Each a sentence. */
export interface Broken {
  readonly lostReports: readonly string[];
  readonly duplicateRuns: readonly string[];
  readonly unanswered: readonly string[];
  readonly overLimits: readonly string[];
  readonly badSignals: readonly string[];
}

export function judge(evidence: Evidence): Broken {
  const runs = evidence.conversations.flatMap(({tag}) => runsOf(tag, evidence.seen));
  return {
    lostReports: [...evidence.late, ...runs.flatMap((run) => lost(run, evidence))],
    duplicateRuns: evidence.conversations.flatMap(({tag}) => twice(tag, evidence)),
    unanswered: unanswered(evidence),
    overLimits: overLimits(evidence),
    badSignals: badSignals(evidence),
  };
}

/** One run, by the cards that stood for it: a deleted one and its successor are the same run. */
export interface SeenRun {
  readonly id: string;
  readonly tag: string;
  readonly cards: readonly Seen[];
}

export function runsOf(tag: string, seen: readonly Seen[]): readonly SeenRun[] {
  const byId = new Map<string, Seen[]>();
  for (const one of seen) {
    if (one.threadTs !== null || one.direct !== null) continue;
    const {text} = newest(one);
    const [, id] = /Run ([0-9a-f]{6})\b/.exec(text) ?? [];
    if (id === undefined || !new RegExp(`${tag}(?!\\d)`).test(text)) continue;
    byId.set(id, [...(byId.get(id) ?? []), one]);
  }
  return [...byId].map(([id, cards]) => ({id, tag, cards}));
}

/** Each of them decides or stops something: they are for a run that is open. */
const LIVE_BUTTONS = ['go_terminate_then_kill', 'go_terminate_only', 'choose', 'leave', 'stop'];

/** No button left that would do something to the run, and a word that is no longer under way. */
export function isFinal(one: Seen): boolean {
  const {text, buttons} = newest(one);
  return !buttons.some((button) => LIVE_BUTTONS.includes(button)) && !/^\*?(🔎|⏳|🔄|🔌)/u.test(text);
}

/** How it ended, in the first words of its last card. */
export function endOf(run: SeenRun): string {
  const last = run.cards.findLast(isFinal);
  return last === undefined ? 'no end' : (newest(last).text.split('\n')[0] ?? '').replaceAll('*', '');
}

/** Its channel took nothing, and whoever asked was told in private. */
export function isToldAlone(run: SeenRun, told: readonly Told[]): boolean {
  return told.some(({how, text}) => how === 'direct' && text.includes(run.id) && text.includes('Told here because'));
}

/** What is missing of the end of this run. A card that a double stands beside counts as told once one of them is final. */
export function lost(run: SeenRun, {seen, told}: Pick<Evidence, 'seen' | 'told'>): readonly string[] {
  const standing = run.cards.filter((card) => !card.deleted);
  const byTs = new Set(run.cards.map((card) => `${card.channel} ${card.ts}`));
  const replies = seen.filter(({channel, threadTs}) => threadTs !== null && byTs.has(`${channel} ${threadTs}`));
  const direct = told.filter(({how, text}) => how === 'direct' && text.includes(run.id)).map(({text}) => text);
  const texts = [...replies.map((reply) => newest(reply).text), ...direct];
  const wasGo = [...texts, ...run.cards.flatMap(({versions}) => versions.map(({text}) => text))].some((text) =>
    /\b(Go|Break-glass go|second approver) by </.test(text),
  );
  const closing = wasGo ? /in all|Stopped by/ : /in all|Left as it is by|Nobody gave the go|Stopped by|What was found/;
  return [
    ...(standing.some(isFinal) || isToldAlone(run, told)
      ? []
      : [`run ${run.id} (${run.tag}): no card says its end; the last was ${lastWords(run)}`]),
    ...(texts.some((text) => closing.test(text)) ||
    /nothing to do|failed|dry run|interrupted, nothing sent/i.test(endOf(run))
      ? []
      : [`run ${run.id} (${run.tag}): its end stands in no thread (${endOf(run)})`]),
    ...(wasGo && /Break-glass/.test(texts.join('\n')) && !texts.some((text) => /🚨 Break-glass/u.test(text))
      ? [`run ${run.id} (${run.tag}): its break-glass go was not announced`]
      : []),
  ];
}

/** The newest versions of its cards, each with when it came. */
function lastWords({cards}: SeenRun): string {
  return cards
    .flatMap(({versions}) => versions.slice(-3))
    .map(({atMs, text}) => `${new Date(atMs).toISOString().slice(11, 23)} ${(text.split('\n')[0] ?? '').slice(0, 40)}`)
    .join(', ');
}

/** A fresh plan after an interrupted run is the bot's own; any other second run of one command is one too many. */
function twice(tag: string, {seen, acts}: Evidence): readonly string[] {
  const runs = runsOf(tag, seen);
  const asked = acts.filter((act) => act.tag === tag && act.kind === 'ask').length;
  const followed = runs.filter((run) => /interrupted/i.test(endOf(run))).length;
  const surplus = runs.length - followed - asked;
  return surplus <= 0 ? [] : [`${tag}: ${runs.length} runs for ${asked} commands (${runs.map(endOf).join('; ')})`];
}

/** Each act takes one answer of its own; two words of one decision are one answer. */
function unanswered(evidence: Evidence): readonly string[] {
  const answers = answersOf(evidence);
  const used = new Set<string>();
  return [...evidence.acts]
    .toSorted((one, other) => one.atMs - other.atMs)
    .flatMap((act) => {
      const found = answers.find((answer) => fits(answer, act) && !used.has(answer.key));
      if (found === undefined) return [`${act.tag}: ${act.what} by ${act.user} was never answered`];
      used.add(found.key);
      return [];
    });
}

export interface Answer {
  readonly key: string;
  /** null: whoever asked for `tag`. */
  readonly user: string | null;
  readonly tag: string | null;
  readonly atMs: number;
}

export function answersOf({seen, told}: Pick<Evidence, 'seen' | 'told'>): readonly Answer[] {
  const cards = seen.flatMap((one): Answer[] => {
    const [first] = one.versions;
    const [tag] = /talk-\d+-\d+/.exec(first?.text ?? '') ?? [];
    if (one.threadTs !== null || tag === undefined || first === undefined) return [];
    return [{key: `card ${one.channel} ${one.ts}`, user: null, tag, atMs: first.atMs}];
  });
  const decided = seen.flatMap((one) =>
    one.versions.flatMap(({text, atMs}) =>
      [...text.matchAll(/(?<!Asked )\b[Bb]y <@(U[A-Z0-9]+)> at <!date\^(\d+)/g)].map(
        ([, user, when]): Answer => ({key: `by ${user} ${when} ${one.channel}`, user: user ?? '', tag: null, atMs}),
      ),
    ),
  );
  const alone = told.map(({user, atMs}, nth): Answer => ({key: `told ${nth}`, user, tag: null, atMs}));
  return [...cards, ...decided, ...alone].toSorted((one, other) => one.atMs - other.atMs);
}

function fits(answer: Answer, act: Act): boolean {
  if (answer.atMs < act.atMs) return false;
  return answer.user === null ? act.kind === 'ask' && answer.tag === act.tag : answer.user === act.user;
}

/** Errors that say that a message was made wrong. */
const MADE_WRONG = /^(invalid_|msg_|no_text|only_one_table|view_too_large|used_url|too_many)/;

function overLimits({calls, starts}: Evidence): readonly string[] {
  const wrong = calls
    .filter(({error}) => error !== null && MADE_WRONG.test(error))
    .map(({method, error}) => `${method} was answered ${error}`);
  const lives = starts.map((from, nth) => ({from, to: starts[nth + 1] ?? Number.POSITIVE_INFINITY}));
  const within = (method: string, life: {readonly from: number; readonly to: number}) =>
    calls.filter((call) => call.method === method && call.atMs >= life.from && call.atMs < life.to);
  const edits = lives.flatMap((life) => {
    const most = mostWithin(
      within('chat.update', life).map(({atMs}) => atMs),
      60_000,
    );
    return most > EDITS_A_MINUTE ? [`${most} edits within a minute`] : [];
  });
  const posts = lives.flatMap((life) => {
    const made = within('chat.postMessage', life).map(({args, atMs}) => ({channel: String(args['channel']), atMs}));
    return [...new Set(made.map(({channel}) => channel))].flatMap((channel) =>
      isOverBurst(made.filter((one) => one.channel === channel).map(({atMs}) => atMs))
        ? [`more than a message a second in ${channel}`]
        : [],
    );
  });
  return [...wrong, ...edits, ...posts];
}

function mostWithin(times: readonly number[], ms: number): number {
  let first = 0;
  return times.reduce((most, time, last) => {
    while (time - (times[first] ?? time) >= ms) first += 1;
    return Math.max(most, last - first + 1);
  }, 0);
}

/** A bucket that takes a short burst and one a second; on its way a message may gain a little on the one before. */
function isOverBurst(times: readonly number[]): boolean {
  const SLACK = 0.5;
  let level = 0;
  let before = times[0] ?? 0;
  return times.some((time) => {
    level = Math.max(0, level - (time - before) / 1_000) + 1;
    before = time;
    return level > POST_BURST + SLACK;
  });
}

function badSignals({signals, acts}: Evidence): readonly string[] {
  const sent = new Map<string, number>();
  return signals.flatMap(({tag, name, signal, atMs}) => {
    if (tag === null) return [`${signal} reached ${name}, whom nobody asked for`];
    const go = acts.find((act) => act.tag === tag && /^(go|break-glass)/.test(act.what));
    const key = `${tag} ${name} ${signal}`;
    sent.set(key, (sent.get(key) ?? 0) + 1);
    if (go === undefined || atMs < go.atMs) return [`${signal} reached ${name} of ${tag} without a go`];
    return (sent.get(key) ?? 0) > 1 ? [`${signal} reached ${name} of ${tag} twice`] : [];
  });
}
