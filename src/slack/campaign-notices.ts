/** Tells what people are owed of a campaign: on its card, and in the card's thread. */
import type {CampaignId, KeptCampaign} from '../domain/campaign.ts';
import type {IdleTimes} from '../domain/campaign-notices.ts';
import type {SamePerson} from '../domain/person.ts';
import type {CampaignTeller, CampaignTelling, EndedCampaign, OwedNotice} from '../engine/campaign-ports.ts';
import type {Clock, Log} from '../engine/ports.ts';
import {troubleOf} from './api-errors.ts';
import {campaignReplies, holdCard} from './blocks/campaign-message.ts';
import {idleQuestion, noticeReply} from './blocks/campaign-notices.ts';
import type {Message} from './blocks/message.ts';
import type {Poster} from './poster.ts';

export interface CampaignTellerDeps {
  readonly poster: Poster;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly command: string;
  /** Where a hold is told that was made at a terminal, or whose channel is gone. */
  readonly channel: string;
  /** Empty before Slack has said who we are: then nothing is told yet. */
  readonly team: () => string;
  readonly times: IdleTimes;
  readonly samePerson: SamePerson;
  /** Looks again at an ended campaign's hosts; null: it cannot be had now. */
  readonly reportOf: (id: CampaignId) => Promise<EndedCampaign | null>;
}

type Place = {readonly channel: string; readonly ts: string};

export function makeCampaignTeller(deps: CampaignTellerDeps): CampaignTeller {
  const {poster, clock, log, command} = deps;

  /** Its card as it stands now: edited, or posted anew where it is gone. A text: no channel takes it. */
  const showCard = async (kept: KeptCampaign): Promise<Place | string> => {
    const card = holdCard(kept, clock.now(), command);
    if (kept.card !== null) {
      try {
        await poster.edit({team: deps.team(), ...kept.card}, card);
        return kept.card;
      } catch (error) {
        const {kind} = troubleOf(error);
        if (kind === 'not-taken') return kept.card;
        if (kind !== 'no-message' && kind !== 'no-channel') throw error;
      }
    }
    let why = 'no channel';
    for (const channel of new Set([kept.card?.channel ?? kept.campaign.channel ?? deps.channel, deps.channel])) {
      try {
        return {channel, ts: await poster.post(channel, card)};
      } catch (error) {
        const trouble = troubleOf(error);
        if (trouble.kind !== 'no-channel') throw error;
        why = trouble.error;
        log.warn({campaign: kept.campaign.id, channel, error: why}, 'a channel does not take the card of a hold');
      }
    }
    return why;
  };

  const replyTo = (notice: OwedNotice): Message | null => {
    const holder = readerOf(notice.kept.campaign.by, deps.samePerson);
    return notice.kind === 'idle'
      ? idleQuestion(notice, clock.now(), deps.times, holder)
      : noticeReply(notice, command, holder);
  };

  /** Whoever ended it in Slack was to have its report there, and Slack did not take it, or the bot died over it. */
  const reportReplies = async ({kind, kept}: OwedNotice): Promise<readonly Message[]> => {
    const isOwed = kind === 'ended' && kept.campaign.kind === 'profile' && kept.ended?.by.startsWith('slack:') === true;
    const done = isOwed ? await deps.reportOf(kept.campaign.id) : null;
    return done === null ? [] : campaignReplies(done, command);
  };

  const tell = async (notice: OwedNotice): Promise<CampaignTelling> => {
    const place = await showCard(notice.kept);
    if (typeof place === 'string') return {kind: 'nowhere', why: place};
    const reply = replyTo(notice);
    if (reply === null) return {kind: 'told', card: place};
    try {
      for (const one of [reply, ...(await reportReplies(notice))])
        await poster.reply({team: deps.team(), ...place}, one, false);
    } catch (error) {
      const trouble = troubleOf(error);
      // The card says it, and was taken.
      if (trouble.kind !== 'not-taken' && trouble.kind !== 'no-message' && trouble.kind !== 'no-channel') throw error;
      log.error({campaign: notice.kept.campaign.id, trouble}, 'a notice of a campaign was left out of its thread');
    }
    return {kind: 'told', card: place};
  };

  return {
    tell: async (notice) => {
      if (deps.team() === '') return {kind: 'later'};
      try {
        return await tell(notice);
      } catch (error) {
        log.warn(
          {campaign: notice.kept.campaign.id, what: notice.what, trouble: troubleOf(error)},
          'a notice of a campaign could not be told; it stays owed',
        );
        return {kind: 'later'};
      }
    },
  };
}

/** Who holds it from a terminal is reached in Slack by their other id, where the policy names it. */
function readerOf(by: string, same: SamePerson): string {
  if (by.startsWith('slack:')) return by;
  const ids = same.find((one) => one.includes(by)) ?? [];
  return ids.find((id) => id.startsWith('slack:')) ?? by;
}
