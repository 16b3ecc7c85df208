/** App Home: what one person wants to know of the fleet, the runs and the schedules at a glance, and buttons to begin. Pure. */
import type {types} from '@slack/bolt';
import type {KeptCampaign} from '../../domain/campaign.ts';
import type {Run} from '../../domain/run.ts';
import {planOf, requestOf} from '../../domain/run-state.ts';
import type {ShownSchedule} from '../../engine/report-ports.ts';
import {plural} from '../../report/amounts.ts';
import {stateLine} from '../../report/run-state-line.ts';
import {code, mrkdwn, plain} from '../escape.ts';
import {ACTION, type ActionId, scheduleValue} from '../ids.ts';
import {button, label} from './buttons.ts';
import {holdLine} from './campaign-message.ts';
import {cutBlock} from './fit.ts';
import {type FleetHost, fleetBlocks} from './home-fleet.ts';
import {context, type KnownBlock, section} from './message.ts';
import {mention, mentionOfId, shortId, timed} from './people.ts';
import {scheduleLines} from './report-message.ts';

/** A run with the way to its card; null: it has none yet, or Slack did not say. */
export interface LinkedRun {
  readonly run: Run;
  /** mrkdwn. */
  readonly link: string | null;
}

export interface HomeModel {
  readonly nowMs: number;
  /** The slash command, e.g. `/gpu`. */
  readonly command: string;
  /** `personId` of who looks. */
  readonly me: string;
  readonly paused: {readonly by: string; readonly atMs: number} | null;
  /** Plans that this person may give the go for, without breaking the glass. */
  readonly waiting: readonly LinkedRun[];
  /** Open, and asked for by this person. */
  readonly mine: readonly LinkedRun[];
  /** What others have open beside them. */
  readonly othersOpen: number;
  readonly fleet: readonly FleetHost[];
  /** Somebody pressed Look now, and it goes on. */
  readonly looking: boolean;
  readonly holds: readonly {readonly kept: KeptCampaign; readonly link: string | null}[];
  readonly schedules: readonly ShownSchedule[];
  /** The channel in which cards are opened from here. */
  readonly channel: string;
  /** Parts that could not be read just now, each a sentence: never shown as empty. */
  readonly unread: readonly string[];
}

const RUNS = 8;
const HOLDS = 8;
const SCHEDULES = 12;

export function homeView(model: HomeModel): types.HomeView {
  return {
    type: 'home',
    blocks: blocksOf(model).map(cutBlock),
  };
}

function blocksOf(model: HomeModel): readonly KnownBlock[] {
  return [
    ...pauseBlocks(model),
    ...model.unread.map((sentence) => section(`⚠ ${mrkdwn(sentence, 400)}`)),
    startButtons(),
    ...runBlocks('Waiting for your go', model.waiting, model.nowMs),
    ...runBlocks('Your open runs', model.mine, model.nowMs),
    ...(model.mine.length + model.waiting.length > 0 ? [] : [section('*Runs*\nNothing waits for you.')]),
    ...(model.othersOpen === 0
      ? []
      : [context(`${plural(model.othersOpen, 'run of others is', 'runs of others are')} open as well.`)]),
    {type: 'divider'},
    ...fleetBlocks(model.fleet, model.nowMs, model.looking),
    {type: 'divider'},
    ...holdBlocks(model),
    ...scheduleBlocks(model),
    context(
      `Cards from here are opened in <#${model.channel}>; the go itself stays on the card. \`${code(model.command, 30)} help\` says all that can be typed.`,
    ),
  ];
}

/** For people of another workspace: nothing of ours is shown to them. */
export function homeForOthers(): types.HomeView {
  return {
    type: 'home',
    blocks: [section('This bot answers people of its own workspace only. Ask somebody there.')],
  };
}

function pauseBlocks({paused, command}: HomeModel): readonly KnownBlock[] {
  if (paused === null) return [];
  return [
    section(
      `⏸ *Paused* by ${mentionOfId(paused.by)} at ${timed(paused.atMs)}: nothing is signalled anywhere until an approver says \`${code(command, 30)} resume\`.`,
    ),
    {type: 'divider'},
  ];
}

function startButtons(): types.ActionsBlock {
  const start = (id: ActionId, text: string, says: string): types.Button => ({
    ...button(id, text, id),
    accessibility_label: label(says),
  });
  return {
    type: 'actions',
    elements: [
      start(ACTION.homeDiagnose, 'Diagnose a host…', 'Choose a host to look at; signals nothing'),
      start(ACTION.homePropose, 'Propose a reclaim…', 'Fill in what to reclaim; opens a card, signals nothing'),
      start(ACTION.homeReport, 'Add a report…', 'Schedule a report; it looks and never signals'),
      start(ACTION.homeHelp, 'Help', 'What you may run, and the policy in force'),
    ],
  };
}

function runBlocks(title: string, runs: readonly LinkedRun[], nowMs: number): readonly KnownBlock[] {
  if (runs.length === 0) return [];
  const more = runs.length - RUNS;
  return [
    section(`*${title}* (${runs.length})`),
    ...runs.slice(0, RUNS).map((one) => section(runLine(one, nowMs))),
    ...(more > 0 ? [context(`… ${more} more`)] : []),
  ];
}

function runLine({run, link}: LinkedRun, nowMs: number): string {
  const until = run.phase === 'awaiting-go' ? (planOf(run)?.expiresAtMs ?? null) : null;
  return [
    mrkdwn(stateLine(run), 200),
    [
      `asked by ${mention(requestOf(run).requester)}`,
      ...(until === null ? [] : [until > nowMs ? `until ${timed(until)}` : 'its time is over']),
      `run ${shortId(run.id)}`,
      link ?? 'no card yet',
    ].join(' · '),
  ].join('\n');
}

function holdBlocks({holds, nowMs}: HomeModel): readonly KnownBlock[] {
  if (holds.length === 0) return [];
  const more = holds.length - HOLDS;
  return [
    section(`*Held GPUs* (${holds.length})`),
    ...holds
      .slice(0, HOLDS)
      .map(({kept, link}) => section(`${holdLine(kept, nowMs)}${link === null ? '' : ` · ${link}`}`)),
    ...(more > 0 ? [context(`… ${more} more`)] : []),
    {type: 'divider'},
  ];
}

/** One's own first. */
function scheduleBlocks({schedules, me, command}: HomeModel): readonly KnownBlock[] {
  if (schedules.length === 0) return [section('*Scheduled reports*\nNone yet: *Add a report…* makes one.')];
  const sorted = schedules.toSorted((a, b) => Number(b.schedule.by === me) - Number(a.schedule.by === me));
  const more = sorted.length - SCHEDULES;
  return [
    section(`*Scheduled reports* (${schedules.length})`),
    ...sorted.slice(0, SCHEDULES).map((one) => scheduleBlock(one)),
    ...(more > 0 ? [context(`… ${more} more: \`${code(command, 30)} schedules\` lists them`)] : []),
  ];
}

/** Without a button for those of the policy file: they would be back at the next start. */
function scheduleBlock(one: ShownSchedule): types.SectionBlock {
  const {schedule} = one;
  const text = section(scheduleLines(one));
  if (schedule.by === 'file') return text;
  return {
    ...text,
    accessory: {
      ...button(ACTION.removeSchedule, 'Remove', scheduleValue(schedule.id)),
      accessibility_label: label(`Remove the schedule ${schedule.id}; reports already told stay`),
      confirm: {
        title: {type: 'plain_text', text: 'Remove this schedule?'},
        text: {
          type: 'plain_text',
          text: plain(`${schedule.id}: no report comes of it any more. What was told stays.`, 300),
        },
        confirm: {type: 'plain_text', text: 'Remove'},
        deny: {type: 'plain_text', text: 'Keep it'},
      },
    },
  };
}
