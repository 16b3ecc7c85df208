/** `profile start|stop|report|list` and `keep`: GPUs that somebody measures on, or keeps. Nothing here signals. */
import {campaignState, type KeptCampaign} from '../domain/campaign.ts';
import {hasDifference, isAsBefore} from '../domain/campaign-report.ts';
import {readHold} from '../domain/campaign-words.ts';
import type {EndedCampaign} from '../engine/campaign-ports.ts';
import {dateTime, plural} from '../report/amounts.ts';
import {campaignLine, heldWords, measuredWords, reportLines} from '../report/campaign-lines.ts';
import {failureSentence} from '../report/failure-sentence.ts';
import {type CliContext, printJson, refuse} from './context.ts';
import {EXIT, type ExitCode} from './exit-code.ts';
import {takeUp} from './recovered.ts';
import {ownZone} from './report.ts';

export async function profile(asked: CliContext, sub: string | null, words: readonly string[]): Promise<ExitCode> {
  const taken = await takeUp(asked);
  if (!taken.ok) return refuse(asked, taken.failure);
  const context = taken.value;
  switch (sub) {
    case 'start':
      return start(context, 'profile', words);
    case 'stop':
      return ended(context, () => context.engine.stopHold(words[0] ?? '', context.person));
    case 'report':
      return ended(context, () => context.engine.campaignReport(words[0] ?? ''));
    default:
      return list(context);
  }
}

export async function keep(context: CliContext, words: readonly string[]): Promise<ExitCode> {
  return start(context, 'keep', words);
}

async function start(context: CliContext, kind: 'profile' | 'keep', words: readonly string[]): Promise<ExitCode> {
  const read = readHold(kind, words, [...context.hosts.values()]);
  if (!read.ok) return refuse(context, read.failure);
  const {asked, zone} = read.value;
  if (kind === 'profile' && !context.json)
    context.terminal.progress(
      `looking at ${plural(asked.hosts.length, 'host', 'hosts')} once, for the start; nothing is signalled`,
    );
  const started = await context.engine.startHold({
    ...asked,
    zone: zone ?? ownZone(),
    person: context.person,
    channel: null,
  });
  if (!started.ok) return refuse(context, started.failure);
  const kept = started.value;
  if (context.json) printJson(context, {ok: true, campaign: holdJson(kept, context.clock.now())});
  else
    context.terminal.print(
      campaignLine(kept, context.clock.now(), dateTime),
      `${heldWords(kept.campaign, 'override="why"')} A hold signals nothing.`,
      ...(kind === 'profile'
        ? [
            measuredWords(kept.campaign.sampleMs),
            `To end it, with the report: gpu-reclaim profile stop ${kept.campaign.id}`,
          ]
        : [`To end it: gpu-reclaim profile stop ${kept.campaign.id}`]),
    );
  return EXIT.done;
}

async function ended(context: CliContext, act: () => ReturnType<CliContext['engine']['stopHold']>): Promise<ExitCode> {
  if (!context.json) context.terminal.progress('looking; nothing is signalled, and nothing is set back');
  const done = await act();
  if (!done.ok) return refuse(context, done.failure);
  const {kept, report} = done.value;
  const seen = report.hosts.every((host) => host.state === 'seen');
  if (context.json) printJson(context, {ok: seen, ...reportJson(done.value, context.clock.now())});
  else context.terminal.print(campaignLine(kept, context.clock.now(), dateTime), '', ...reportWords(done.value));
  return seen ? EXIT.done : EXIT.unknown;
}

function reportWords({kept, report}: EndedCampaign): readonly string[] {
  if (kept.campaign.kind === 'keep') return ['It was a hold without looks, so there is nothing to compare.'];
  return [
    ...reportLines(report, 'gpu-reclaim'),
    '',
    `Nothing was signalled and nothing was set back. To look again: gpu-reclaim profile report ${kept.campaign.id}`,
  ];
}

async function list(context: CliContext): Promise<ExitCode> {
  const all = await context.engine.holds();
  if (!all.ok) return refuse(context, all.failure);
  const nowMs = context.clock.now();
  if (context.json) printJson(context, {ok: true, campaigns: all.value.map((one) => holdJson(one, nowMs))});
  else if (all.value.length === 0)
    context.terminal.print('No GPU is held for anybody. To begin a campaign: gpu-reclaim profile start HOST');
  else context.terminal.print(...all.value.map((one) => campaignLine(one, nowMs, dateTime)));
  return EXIT.done;
}

/** Without the weight of its looks. */
function holdJson(kept: KeptCampaign, nowMs: number): Readonly<Record<string, unknown>> {
  const {before: _, ...campaign} = kept.campaign;
  const {ended: end} = kept;
  return {
    ...campaign,
    state: campaignState(kept, nowMs),
    ended: end === null ? null : {by: end.by, atMs: end.atMs},
    samples: kept.samples.map(({samples: {host, count, missed}}) => ({host, count, missed})),
  };
}

function reportJson({kept, report}: EndedCampaign, nowMs: number): Readonly<Record<string, unknown>> {
  return {
    campaign: holdJson(kept, nowMs),
    hosts: report.hosts.map((host) =>
      host.state === 'seen'
        ? {...host, asBefore: isAsBefore(host), differs: hasDifference(host)}
        : {...host, sentence: failureSentence(host.failure)},
    ),
  };
}
