/** The Share button: posts the kept answer where it was asked for, once, and puts a word in place of the private one. */
import {troubleOf} from './api-errors.ts';
import {sentence} from './blocks/answers.ts';
import {type Asker, answer, type Desk} from './desk.ts';

export async function shareAnswer(desk: Desk, asker: Asker, id: string | null): Promise<void> {
  const kept = id === null ? 'unknown' : desk.shared.take(id, asker.user);
  if (id === null || kept === 'unknown')
    return answer(desk, asker, sentence('That answer is kept no more; ask again, and share the fresh one.'));
  if (kept === 'shared') return answer(desk, asker, sentence('That answer is shared already.'));
  const {channel, threadTs, message} = kept;
  try {
    if (threadTs === null) await desk.poster.post(channel, message);
    else await desk.poster.reply({team: desk.team(), channel, ts: threadTs}, message, false);
  } catch (error) {
    const trouble = troubleOf(error);
    desk.shared.giveBack(id);
    desk.log.warn({channel, trouble}, 'an answer could not be shared');
    const said =
      trouble.kind === 'no-channel'
        ? `It could not be posted here (${trouble.error}). Invite the bot to this channel with /invite, then press Share again.`
        : 'Slack did not take it just now. Press Share again in a moment.';
    return answer(desk, asker, sentence(said));
  }
  await replaced(asker);
}

/** The private answer would stand there twice. Slack lets go of it after a while: then it just stays. */
async function replaced(asker: Asker): Promise<void> {
  const {text, blocks} = sentence('Shared: the answer stands where all can read it.');
  await asker
    .respond?.({response_type: 'ephemeral', replace_original: true, text, blocks: [...blocks]})
    .catch(() => undefined);
}
