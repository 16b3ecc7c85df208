/** What people are owed of campaigns, told once; and the answers to the one question that is asked. */
import {mayEndHold} from '../domain/authority.ts';
import {asHold, BY_ITSELF, type CampaignId, campaignState, type KeptCampaign} from '../domain/campaign.ts';
import {
  answeredAs,
  answerNote,
  answerWords,
  FINISHED,
  type IdleAnswer,
  nextNoticeMs,
  owedNotices,
  unfinishedEnd,
} from '../domain/campaign-notices.ts';
import {fail, ok, type Result} from '../domain/failure.ts';
import {type Person, personId} from '../domain/person.ts';
import type {AnsweredIdle, CampaignTelling, OwedNotice, OwedNotices} from './campaign-ports.ts';
import {endHold} from './campaigns.ts';
import type {EngineDeps} from './deps.ts';
import {LATE_MS} from './due-reports.ts';
import {isWatched} from './held-processes.ts';

export async function noticesOwed(deps: EngineDeps, startedAtMs: number): Promise<Result<OwedNotices>> {
  const nowMs = deps.clock.now();
  const {campaignIdleMs: askMs, campaignKeepMs: keepMs} = deps.policy;
  const all = await deps.store.campaigns.live();
  const notices = all.flatMap((kept) =>
    owedNotices(kept, nowMs, {askMs, keepMs}).map((notice): OwedNotice => {
      const late = notice.dueAtMs < startedAtMs || nowMs - notice.dueAtMs > LATE_MS;
      return {...notice, kept, late};
    }),
  );
  const coming = all.flatMap((kept) => nextNoticeMs(kept, nowMs) ?? []);
  return ok({
    notices,
    unfinished: all.filter((kept) => unfinishedEnd(kept, nowMs) !== null).map(({campaign}) => campaign.id),
    watched: all.filter((kept) => isWatched(kept, nowMs)).map(({campaign}) => campaign.id),
    nextMs: coming.length === 0 ? null : Math.min(...coming),
  });
}

/** It stays owed where it could not be told; a place that takes nothing is written down, and not tried again. */
export async function noticeTold(
  deps: EngineDeps,
  {kept, what}: OwedNotice,
  telling: CampaignTelling,
): Promise<Result<null>> {
  const {id} = kept.campaign;
  if (telling.kind === 'later') return ok(null);
  if (telling.kind === 'told') {
    const {card} = telling;
    if (card.ts !== kept.card?.ts || card.channel !== kept.card.channel) await deps.store.campaigns.keepCard(id, card);
  }
  const atMs = deps.clock.now();
  const by = telling.kind === 'nowhere' ? `nowhere: ${telling.why}` : '';
  // There is no report to be made of it: that was its end, and it is history. Before it counts as told: what dies between
  // these writes is owed still, and ended then.
  if (what === 'over' && kept.campaign.kind === 'keep') {
    await deps.store.campaigns.note(id, {what: 'ended', atMs, by: ''});
    await deps.store.campaigns.end(id, {by: BY_ITSELF, atMs: kept.campaign.untilMs ?? atMs, after: []});
  }
  await deps.store.campaigns.note(id, {what, atMs, by});
  return ok(null);
}

/** The first answer wins, whoever asks. Ending it is then the caller's; should they die before that, `finishEnd` is. */
export async function answerIdle(
  deps: EngineDeps,
  asked: {readonly id: CampaignId; readonly question: string; readonly answer: IdleAnswer},
  person: Person,
): Promise<Result<AnsweredIdle>> {
  const {id, question, answer} = asked;
  const kept = await load(deps, id);
  if (kept === null) return fail({reason: 'campaign-unknown', given: id, nearest: []});
  const {campaign, ended} = kept;
  const hold = asHold(campaign);
  if (ended !== null) return fail({reason: 'campaign-ended', hold, by: ended.by, atMs: ended.atMs});
  if (!mayEndHold(person, campaign, deps.policy)) return fail({reason: 'not-the-holder', hold});
  const before = answeredAs(kept, question);
  if (before !== null) return fail({reason: 'idle-answered', hold, ...before});
  const atMs = deps.clock.now();
  const by = personId(person);
  // Its time has passed meanwhile: there is nothing left to keep.
  if (answer === 'keep' && campaignState(kept, atMs) === 'over') return fail({reason: 'hold-over', hold});
  if (!(await deps.store.campaigns.note(id, {what: answerNote(question), atMs, by: answerWords(answer, by)})))
    return answerIdle(deps, asked, person);
  deps.log.info({campaign: id, by, answer}, 'the question whether an idle campaign is over was answered');
  return ok({answer, kept, atMs, untilMs: answer === 'keep' ? atMs + deps.policy.campaignKeepMs : null});
}

/** Somebody said "end it" and the program died before it did: it is ended now, as they said. */
export async function finishEnd(deps: EngineDeps, id: CampaignId): Promise<Result<null>> {
  const kept = await load(deps, id);
  const by = kept === null ? null : unfinishedEnd(kept, deps.clock.now());
  if (kept === null || by === null) return ok(null);
  await deps.store.campaigns.note(id, {what: FINISHED, atMs: deps.clock.now(), by});
  const done = await endHold(deps, kept, by);
  return done.ok || done.failure.reason === 'campaign-ended' ? ok(null) : done;
}

async function load(deps: EngineDeps, id: CampaignId): Promise<KeptCampaign | null> {
  const all = await deps.store.campaigns.all(deps.clock.now());
  return all.find(({campaign}) => campaign.id === id) ?? null;
}
