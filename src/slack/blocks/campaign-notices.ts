/** What is told of a campaign without asking: its end by its time, an end from elsewhere, and the question at idle GPUs. Pure. */
import {BY_ITSELF, type KeptCampaign, RELEASED} from '../../domain/campaign.ts';
import type {IdleAnswer, IdleTimes} from '../../domain/campaign-notices.ts';
import type {OwedNotice} from '../../engine/campaign-ports.ts';
import {ranges, span} from '../../report/amounts.ts';
import {code} from '../escape.ts';
import {ACTION, idleValue} from '../ids.ts';
import {button, label} from './buttons.ts';
import {context, type Message, messageOf, section} from './message.ts';
import {dated, mentionOfId} from './people.ts';

const LATE = 'Told late: no bot was there at the time.';

/** In the thread, for `over` and `ended`; null where the card itself says it all. `holder`: who is to read it. */
export function noticeReply(notice: OwedNotice, command: string, holder: string): Message | null {
  const {kind, kept, late} = notice;
  const {campaign, ended} = kept;
  const report = `\`${code(command, 30)} profile ${ended === null ? 'stop' : 'report'} ${campaign.id}\``;
  const measured = campaign.kind === 'profile';
  const lines =
    kind === 'over'
      ? [
          `${mentionOfId(holder)} Its time, ${dated(campaign.untilMs ?? notice.dueAtMs)}, has passed: it holds nothing any more, and others may have these GPUs back.`,
          ...(measured ? [`${report} makes the report.`] : []),
        ]
      : kind === 'ended' && ended !== null
        ? [
            `${endWords(kept)} ${dated(ended.atMs)}: it holds nothing any more.`,
            ...(measured ? [`${report} looks again and makes the report here.`] : []),
          ]
        : [];
  if (lines.length === 0) return null;
  return messageOf([section(lines.join('\n')), ...(late && kind === 'over' ? [context(LATE)] : [])]);
}

function endWords({campaign, ended, notes}: KeptCampaign): string {
  if (ended !== null && ended.by !== BY_ITSELF) return `Ended by ${mentionOfId(ended.by)}`;
  const how = notes.find(({what}) => what === RELEASED)?.by;
  if (how === undefined) return 'Ended by itself';
  const what = campaign.processes.map(({pid}) => `PID ${pid}`).join(', ');
  return how === 'reboot' ? `The host was rebooted, so ${what} cannot run any more. Over` : `${what} has ended. Over`;
}

/** "idle 45 min: end it, or keep 2 h?" */
export function idleQuestion(notice: OwedNotice, nowMs: number, times: IdleTimes, holder: string): Message {
  const {kept, question, late} = notice;
  const {campaign} = kept;
  if (question === null) throw new Error('Internal error: a notice that asks nothing was to be asked');
  const value = idleValue(campaign.id, question.id);
  const what = campaign.gpus === null ? 'all GPUs' : `GPU ${ranges(campaign.gpus)}`;
  return messageOf([
    section(
      `${mentionOfId(holder)} *Idle ${span(nowMs - question.sinceMs)}: end it, or keep ${span(times.keepMs)}?*\nEvery ${campaign.sampleMs === null ? 'look' : 'sample'} since ${dated(question.sinceMs)} showed 0 % on ${what} of this campaign, and nobody new on them. Nothing ends by itself.`,
    ),
    {
      type: 'actions',
      elements: [
        {
          ...button(ACTION.idleEnd, 'End it', value),
          style: 'primary',
          accessibility_label: label(`End campaign ${campaign.id}, with its report; signals nothing`),
        },
        {
          ...button(ACTION.idleKeep, `Keep ${span(times.keepMs)}`, value),
          accessibility_label: label(`Keep campaign ${campaign.id}, and ask again after ${span(times.keepMs)}`),
        },
      ],
    },
    context(`By who holds it, or an approver; the first answer counts.${late ? ` ${LATE}` : ''}`),
  ]);
}

/** In place of the question. `untilMs`: when it is asked again, should they still be idle. */
export function idleAnswered(answer: IdleAnswer, by: string, atMs: number, untilMs: number | null): Message {
  const what =
    answer === 'end'
      ? 'ends it; the report comes in this thread'
      : `keeps it${untilMs === null ? '' : `; asked again after ${dated(untilMs)}, should it still be idle`}`;
  return messageOf([section(`${mentionOfId(by)} ${what}. ${dated(atMs)}`)]);
}
