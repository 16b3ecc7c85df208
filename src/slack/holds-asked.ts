/** `/gpu profile …` and `/gpu keep …`: holds, told in the channel, with the report in the thread of the start card. */
import {readHold} from '../domain/campaign-words.ts';
import {ok, type Result} from '../domain/failure.ts';
import type {EndedCampaign} from '../engine/campaign-ports.ts';
import {troubleOf} from './api-errors.ts';
import {sentence} from './blocks/answers.ts';
import {campaignReplies, holdCard, holdsMessage} from './blocks/campaign-message.ts';
import type {Message} from './blocks/message.ts';
import type {Asker, Desk} from './desk.ts';
import type {Identified} from './people.ts';

export async function profileAsked(
  desk: Desk,
  asker: Asker,
  who: Identified,
  sub: string | null,
  words: readonly string[],
): Promise<Result<Message>> {
  const [given = ''] = words;
  switch (sub) {
    case 'start':
      return start(desk, asker, who, 'profile', words);
    case 'stop': {
      const stopped = await desk.engine.stopHold(given, who.person);
      return stopped.ok ? tellEnded(desk, asker, stopped.value) : stopped;
    }
    case 'report': {
      const looked = await desk.engine.campaignReport(given);
      return looked.ok ? tellEnded(desk, asker, looked.value) : looked;
    }
    default: {
      const all = await desk.engine.holds();
      return all.ok ? ok(holdsMessage(all.value, desk.clock.now(), desk.command)) : all;
    }
  }
}

export function keepAsked(
  desk: Desk,
  asker: Asker,
  who: Identified,
  words: readonly string[],
): Promise<Result<Message>> {
  return start(desk, asker, who, 'keep', words);
}

async function start(
  desk: Desk,
  asker: Asker,
  who: Identified,
  kind: 'profile' | 'keep',
  words: readonly string[],
): Promise<Result<Message>> {
  const read = readHold(kind, words, [...desk.hosts.values()]);
  if (!read.ok) return read;
  const zone = read.value.zone ?? (await desk.zones.of(asker.user)) ?? 'UTC';
  const started = await desk.engine.startHold({...read.value.asked, zone, person: who.person, channel: asker.channel});
  if (!started.ok) return started;
  const {campaign} = started.value;
  const where = await postCard(desk, asker.channel, holdCard(started.value, desk.clock.now(), desk.command));
  if (typeof where === 'string')
    return ok(
      sentence(
        `${campaign.id} holds, but its card could not be posted here (${where}); "${desk.command} profile stop ${campaign.id}" ends it, with its report where you say that.`,
      ),
    );
  const kept = await desk.engine.keepHoldCard(campaign.id, {channel: asker.channel, ts: where.ts});
  return kept.ok ? ok(sentence(`${campaign.id} holds from now on; its card is in the channel.`)) : kept;
}

/** In the thread of its start card; of a new card here, where there is none. */
export async function tellEnded(desk: Desk, asker: Asker, done: EndedCampaign): Promise<Result<Message>> {
  const {kept} = done;
  const {id} = kept.campaign;
  const card = holdCard(kept, desk.clock.now(), desk.command);
  const {poster} = desk;
  try {
    let at = kept.card;
    if (at === null) {
      at = {channel: asker.channel, ts: await poster.post(asker.channel, card)};
      await desk.engine.keepHoldCard(id, at);
    } else {
      await poster.edit({team: desk.team(), ...at}, card);
    }
    for (const reply of campaignReplies(done, desk.command))
      await poster.reply({team: desk.team(), ...at}, reply, false);
    await desk.engine.noteHold(id, 'ended');
    return ok(
      sentence(`${id} is ended${done.report.hosts.length === 0 ? '.' : '; its report is in the thread of its card.'}`),
    );
  } catch (error) {
    desk.log.error({campaign: id, trouble: troubleOf(error)}, 'the report of a campaign could not be told');
    return ok(
      sentence(
        `${id} is ended, but Slack did not take its report: ${kept.card === null ? 'there is no card to tell it under' : 'it comes as soon as Slack takes it'}. "${desk.command} profile report ${id}" makes it again.`,
      ),
    );
  }
}

/** Where it stands, or why it does not. */
async function postCard(desk: Desk, channel: string, card: Message): Promise<{readonly ts: string} | string> {
  try {
    return {ts: await desk.poster.post(channel, card)};
  } catch (error) {
    const trouble = troubleOf(error);
    desk.log.error({channel, trouble}, 'the card of a hold could not be posted');
    return trouble.kind;
  }
}
