/** A campaign's start card, the report in its thread, and the list of holds. Pure. */
import {BY_ITSELF, type CampaignState, campaignState, type KeptCampaign} from '../../domain/campaign.ts';
import type {SeenCampaignHost} from '../../domain/campaign-report.ts';
import type {EndedCampaign} from '../../engine/campaign-ports.ts';
import {
  campaignHostLines,
  campaignHostTitle,
  campaignLine,
  heldWords,
  leftoverWords,
  measuredWords,
} from '../../report/campaign-lines.ts';
import {wrapped} from '../../report/wrapped.ts';
import {code, mrkdwn} from '../escape.ts';
import {ACTION, proposeValue} from '../ids.ts';
import {button, label} from './buttons.ts';
import {failureText} from './failure-text.ts';
import {codeSections, context, type KnownBlock, type Message, messageOf, section} from './message.ts';
import {dated, mentionOfId, withMentions} from './people.ts';

/** Leftovers with a button of their own; `diagnose` names the rest. */
const MOST_BUTTONS = 12;
const LIST_LENGTH = 25;
/** Lines of one host's report, before it is cut and the terminal named. */
const REPORT_LINES = 160;

/** Posted when it starts, and edited when it ends. */
export function holdCard(kept: KeptCampaign, nowMs: number, command: string): Message {
  const {campaign, ended} = kept;
  const stop = `\`${code(command, 30)} profile stop ${campaign.id}\``;
  const measured = campaign.kind === 'profile';
  const state = campaignState(kept, nowMs);
  const words: Readonly<Record<CampaignState, readonly string[]>> = {
    holding: [
      heldWords(campaign, '`override="why"`'),
      ...(measured ? [measuredWords(campaign.sampleMs)] : []),
      `${stop} ends it${measured ? ' and makes the report here' : ''}.`,
    ],
    over: ['Its time has passed: it holds nothing any more.', ...(measured ? [`${stop} makes the report here.`] : [])],
    ended: [`Ended ${dated(ended?.atMs ?? nowMs)} ${endedBy(kept)}${measured ? reportWords(kept, command) : ''}.`],
  };
  return messageOf([
    section(`*${state === 'holding' ? '⏱' : '🏁'} ${holdLine(kept, nowMs)}*`),
    section(words[state].join('\n')),
    foot(measured),
  ]);
}

function endedBy({ended}: KeptCampaign): string {
  return ended === null || ended.by === BY_ITSELF ? 'by itself' : `by ${mentionOfId(ended.by)}`;
}

/** Who ended it elsewhere had the report there. */
function reportWords({campaign, ended}: KeptCampaign, command: string): string {
  return ended?.by.startsWith('slack:') === true
    ? '; the report is in the thread'
    : `; \`${code(command, 30)} profile report ${campaign.id}\` makes the report here`;
}

function foot(measured: boolean): KnownBlock {
  return context(
    measured ? 'The host was looked at for the start. A hold signals nothing.' : 'A hold signals nothing.',
  );
}

/** One message a host, each leftover with a way to get it back that only opens a card. */
export function campaignReplies({kept, report}: EndedCampaign, command: string): readonly Message[] {
  return report.hosts.map((host) => {
    if (host.state === 'unseen')
      return messageOf([section(`*${mrkdwn(campaignHostTitle(host), 200)}*`), section(failureText(host.failure, 400))]);
    const [title = '', ...lines] = campaignHostLines(host, command);
    // Commands stay whole, since they are to be copied; and so do the rows of the table.
    const narrow = lines.flatMap((line) =>
      /^\s*nvidia-smi /.test(line) ? [line.trim()] : /\S {2,}\S/.test(line) ? [line] : wrapped(line),
    );
    const shown = narrow.slice(0, REPORT_LINES);
    const more = narrow.length - shown.length;
    return messageOf([
      section(`*${mrkdwn(title, 300)}*`),
      ...codeSections(shown),
      ...(more > 0 ? [section(`… ${more} more lines: \`gpu-reclaim profile report ${kept.campaign.id}\``)] : []),
      ...leftoverBlocks(host),
      context(
        `Nothing was signalled and nothing was set back. \`${code(command, 30)} profile report ${kept.campaign.id}\` looks again.`,
      ),
    ]);
  });
}

function leftoverBlocks({host, leftovers}: SeenCampaignHost): readonly KnownBlock[] {
  return leftovers.slice(0, MOST_BUTTONS).flatMap((one): readonly KnownBlock[] => {
    const {pid} = one.holder;
    return [
      section(mrkdwn(leftoverWords(one), 300)),
      {
        type: 'actions',
        elements: [
          {
            ...button(ACTION.propose, 'Propose reclaim', proposeValue(host, pid)),
            accessibility_label: label(`Propose a reclaim of PID ${pid} on ${host}: opens a card, signals nothing`),
          },
        ],
      },
    ];
  });
}

export function holdsMessage(all: readonly KeptCampaign[], nowMs: number, command: string): Message {
  if (all.length === 0)
    return messageOf([
      section(`No GPU is held for anybody. \`${code(command, 30)} profile start HOST\` begins a campaign.`),
    ]);
  const shown = all.slice(-LIST_LENGTH);
  return messageOf([
    ...shown.map((one) => section(`• ${holdLine(one, nowMs)}`)),
    ...(all.length > shown.length
      ? [section(`… ${all.length - shown.length} earlier ones; the terminal lists all`)]
      : []),
  ]);
}

/** Times as Slack shows them, and whose it is as a mention: put in after the rest is made safe. */
export function holdLine(kept: KeptCampaign, nowMs: number): string {
  const times: string[] = [];
  const line = campaignLine(kept, nowMs, (atMs) => `@time${times.push(dated(atMs)) - 1}@`);
  const people = [kept.campaign.by, ...(kept.ended === null ? [] : [kept.ended.by])];
  return withMentions(mrkdwn(line, 400), people).replaceAll(/@time(\d)@/g, (mark, at) => times[Number(at)] ?? mark);
}
