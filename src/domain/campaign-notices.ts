/**
 * What people are owed of a campaign or hold without asking: its card, its end by its time, an end that was made elsewhere,
 * and the question whether it is over where its GPUs stand idle. Each comes once: a note in the store says that it was told.
 */
import {type CampaignNote, campaignState, type KeptCampaign} from './campaign.ts';
import {LOOKS_APART_MS} from './samples.ts';

export type NoticeKind = 'card' | 'over' | 'idle' | 'ended';

export interface Notice {
  readonly kind: NoticeKind;
  /** The name of its note: once this is kept, it is owed no more. */
  readonly what: string;
  /** Epoch ms from which it was owed. */
  readonly dueAtMs: number;
  /** Only of `idle`: since when every sample was quiet, and how its answer is named. */
  readonly question: {readonly sinceMs: number; readonly id: string} | null;
}

export interface IdleTimes {
  /** Quiet for so long, ms, and the question is asked. */
  readonly askMs: number;
  /** "Keep" puts it off for so long, ms. */
  readonly keepMs: number;
}

export type IdleAnswer = 'end' | 'keep';

export interface Answered {
  readonly answer: IdleAnswer;
  /** `personId`. */
  readonly by: string;
  readonly atMs: number;
}

/** A card of our own making is on its way for so long after the start, and the report after the end. */
const ON_ITS_WAY_MS = 60_000;
/** Its end was made up for: nobody is at it who would tell. */
export const FINISHED = 'finished';
/** An answer that ends a campaign, and did not: its program died meanwhile. */
const UNFINISHED_MS = 60_000;

/** Those that are due by `nowMs`; none before there is a card to tell them under, save the card itself. */
export function owedNotices(kept: KeptCampaign, nowMs: number, times: IdleTimes): readonly Notice[] {
  const {campaign, ended, card} = kept;
  if (card === null) {
    const fromMs = campaign.startedAtMs + (campaign.channel === null ? 0 : ON_ITS_WAY_MS);
    return ended === null && fromMs <= nowMs && !isNoted(kept, 'card') ? [plain('card', fromMs)] : [];
  }
  if (ended !== null) {
    const isTold = ended.by.startsWith('slack:') && !isNoted(kept, FINISHED);
    const fromMs = ended.atMs + (isTold ? ON_ITS_WAY_MS : 0);
    return fromMs <= nowMs && !isNoted(kept, 'ended') ? [plain('ended', fromMs)] : [];
  }
  if (campaignState(kept, nowMs) === 'over')
    return isNoted(kept, 'over') ? [] : [plain('over', campaign.untilMs ?? nowMs)];
  const question = idleQuestion(kept, nowMs, times);
  return question === null || question.dueAtMs > nowMs || isNoted(kept, question.what) ? [] : [question];
}

/** When the next one may be due by its time alone; null: none. */
export function nextNoticeMs({campaign, ended}: KeptCampaign, nowMs: number): number | null {
  return ended === null && campaign.untilMs !== null && campaign.untilMs > nowMs ? campaign.untilMs : null;
}

/** How this question was answered; null: not yet. */
export function answeredAs({notes}: KeptCampaign, questionId: string): Answered | null {
  const note = notes.find(({what}) => what === answerNote(questionId));
  return note === undefined ? null : readAnswer(note);
}

export function answerNote(questionId: string): string {
  return `answer:${questionId}`;
}

/** The words of its note. */
export function answerWords(answer: IdleAnswer, by: string): string {
  return `${answer} ${by}`;
}

/** Somebody has said "end it", and it is not ended: who; null: nobody, or their own program may still be at it. */
export function unfinishedEnd(kept: KeptCampaign, nowMs: number): string | null {
  if (kept.ended !== null) return null;
  const end = answers(kept).find(({answer, atMs}) => answer === 'end' && nowMs - atMs >= UNFINISHED_MS);
  return end?.by ?? null;
}

/** The answer puts the question off; the row of quiet samples goes on meanwhile, and is asked about once more after it. */
function idleQuestion(kept: KeptCampaign, nowMs: number, {askMs, keepMs}: IdleTimes): Notice | null {
  const sinceMs = quietSinceMs(kept, nowMs);
  if (sinceMs === null || answers(kept).some(({answer}) => answer === 'end')) return null;
  const keptAtMs = Math.max(0, ...answers(kept).map(({atMs}) => atMs));
  const id = keptAtMs > sinceMs ? `${sinceMs}-${keptAtMs}` : `${sinceMs}`;
  const dueAtMs = Math.max(sinceMs + askMs, keptAtMs === 0 ? 0 : keptAtMs + keepMs);
  return {kind: 'idle', what: `idle:${id}`, dueAtMs, question: {sinceMs, id}};
}

/** Since when every sample, or person's look, of every host of it was quiet; null: not, or that cannot be told. */
function quietSinceMs({campaign, samples}: KeptCampaign, nowMs: number): number | null {
  const {kind, hosts, sampleMs} = campaign;
  if (kind !== 'profile') return null;
  const freshMs = sampleMs === null ? LOOKS_APART_MS : 2 * sampleMs + ON_ITS_WAY_MS;
  let latest: number | null = null;
  for (const host of hosts) {
    const found = samples.find((one) => one.samples.host === host)?.samples;
    const since = found?.quietSinceMs ?? null;
    // What nobody looked at for a while is not known to be quiet now.
    const isFresh = (found?.lastAtMs ?? 0) >= nowMs - freshMs;
    if (since === null || !isFresh) return null;
    latest = Math.max(latest ?? since, since);
  }
  return latest;
}

function answers({notes}: KeptCampaign): readonly Answered[] {
  return notes.flatMap((note) => (note.what.startsWith('answer:') ? (readAnswer(note) ?? []) : []));
}

function readAnswer({by, atMs}: CampaignNote): Answered | null {
  const [, answer, who] = /^(end|keep) (.+)$/s.exec(by) ?? [];
  return answer === undefined || who === undefined ? null : {answer: answer as IdleAnswer, by: who, atMs};
}

function plain(kind: Exclude<NoticeKind, 'idle'>, dueAtMs: number): Notice {
  return {kind, what: kind, dueAtMs, question: null};
}

function isNoted({notes}: KeptCampaign, what: string): boolean {
  return notes.some((note) => note.what === what);
}
