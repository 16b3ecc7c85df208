/**
 * Every message and view that the bot can make, from the worst host there is, held against Slack's limits by two checks that
 * know nothing of each other: the bot's own, and the local Slack's. A builder that is not in the list fails it.
 */
import {readdirSync, readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {compareHost} from '../../src/domain/campaign-report.ts';
import type {Failure} from '../../src/domain/failure.ts';
import {VERBS} from '../../src/domain/grammar/rules.ts';
import {hostName} from '../../src/domain/host.ts';
import type {HostReport} from '../../src/domain/host-report.ts';
import type {OutcomeWord} from '../../src/domain/outcome.ts';
import {changesBetween} from '../../src/domain/report-changes.ts';
import {type Schedule, scheduleId} from '../../src/domain/schedule.ts';
import type {OwedNotice} from '../../src/engine/campaign-ports.ts';
import type {FinishedReport, ShownSchedule} from '../../src/engine/report-ports.ts';
import {
  charactersOf,
  checkBlocks as checkAsSlack,
  checkView as checkViewAsSlack,
  MESSAGE_CHARACTERS,
} from '../../src/playground/slack/check-blocks.ts';
import {barsPicture} from '../../src/report/picture-bars.ts';
import {curvePicture} from '../../src/report/picture-curve.ts';
import * as aboutRun from '../../src/slack/blocks/about-run.ts';
import * as answers from '../../src/slack/blocks/answers.ts';
import * as away from '../../src/slack/blocks/away-message.ts';
import * as campaigns from '../../src/slack/blocks/campaign-message.ts';
import * as notices from '../../src/slack/blocks/campaign-notices.ts';
import * as choose from '../../src/slack/blocks/choose-modal.ts';
import {choicePage} from '../../src/slack/blocks/choose-page.ts';
import * as commandAnswers from '../../src/slack/blocks/command-answers.ts';
import {noted} from '../../src/slack/blocks/delivery-notes.ts';
import * as ended from '../../src/slack/blocks/ended-message.ts';
import {fitted} from '../../src/slack/blocks/fit.ts';
import {helpMessage} from '../../src/slack/blocks/help.ts';
import * as home from '../../src/slack/blocks/home.ts';
import * as homeModals from '../../src/slack/blocks/home-modals.ts';
import * as hosts from '../../src/slack/blocks/host-answers.ts';
import {type Message, messageOf, section} from '../../src/slack/blocks/message.ts';
import * as refusals from '../../src/slack/blocks/refusals.ts';
import * as reports from '../../src/slack/blocks/report-message.ts';
import {rootCard} from '../../src/slack/blocks/root-card.ts';
import * as runs from '../../src/slack/blocks/run-answers.ts';
import {sharedMessage} from '../../src/slack/blocks/share.ts';
import * as small from '../../src/slack/blocks/small-modals.ts';
import {withoutTable} from '../../src/slack/blocks/table.ts';
import {threadReplies} from '../../src/slack/blocks/thread.ts';
import {checkBlocks, checkView} from '../../src/slack/check-blocks.ts';
import {aHost, aPolicy} from '../doubles/build.ts';
import {aCampaign, aHolder, kept, someFacts} from '../doubles/campaign.ts';
import {AT, CARD} from './blocks-runs.ts';
import {aForm} from './choose-forms.ts';
import {
  CHOSEN,
  closed,
  DIAGNOSIS,
  EVERY_RUN,
  EXECUTING,
  GPUS,
  HOLDERS,
  HOSTS,
  LONG,
  NAME,
  named,
  OUTCOMES,
  PLAN,
  WAITING,
} from './worst.ts';

type Made = Message | {readonly type: 'modal' | 'home'};

const HOST = PLAN.host;
const FAILURE: Failure = {reason: 'host-unreachable', host: HOST, address: LONG, detail: LONG};
/** For what takes mrkdwn that is safe already. */
const SAFE = 'x &amp; y '.repeat(1_100);
const LINK = `<https://local.slack.com/archives/C1/p1?x=${'y'.repeat(200)}|card>`;
const CHANNELS = Array.from({length: 60}, (_, at) => `C0${'0'.repeat(8)}${at}`);
const APPROVERS = Array.from({length: 60}, (_, at) => `<@U0${'A'.repeat(8)}${at}>`);

const seen = (host: string, pid: number): HostReport => ({
  state: 'seen',
  host: hostName(host),
  takenAtMs: AT,
  bootId: 'b',
  gpus: Array.from({length: GPUS}, (_, index) => ({
    uuid: `${index}`,
    index,
    state: 'dirty',
    usedMiB: 99_999,
    unexplainedMiB: 99_999,
  })),
  holders: Array.from({length: HOLDERS}, (_, at) =>
    aHolder(pid + at, {title: named(at), finding: 'inheritor', gpus: [at % GPUS]}),
  ),
});
const FLEET = [
  ...Array.from({length: 20}, (_, at) => seen(`gpu-${at}`, 1)),
  ...Array.from(
    {length: 200},
    (_, at): HostReport => ({state: 'failed', host: hostName(`bad-${at}`), failure: FAILURE}),
  ),
];
const SCHEDULE: Schedule = {
  id: scheduleId('s00000'),
  when: {kind: 'cron', pattern: LONG},
  zone: 'America/Argentina/ComodRivadavia',
  hosts: Array.from({length: 300}, () => ({kind: 'group', name: NAME}) as const),
  channel: 'C0123456789',
  quiet: true,
  by: 'slack:U0ANNA',
  createdAtMs: AT,
};
const REPORT = {
  scheduleId: SCHEDULE.id,
  dueAtMs: AT,
  phase: 'looked',
  begunAtMs: AT,
  late: true,
  missed: 9_999,
  why: {kind: 'exited', pinned: {host: HOST, bootId: 'b', pid: 7, startTicks: '1', title: LONG}, how: 'replaced'},
  seen: FLEET,
} as const;
const FINISHED: FinishedReport = {
  schedule: SCHEDULE,
  report: REPORT,
  diagnoses: new Map(FLEET.slice(0, 11).map(({host}) => [host, DIAGNOSIS])),
  beforeMs: AT,
  changes: changesBetween(
    FLEET.map((one) => (one.state === 'seen' ? seen(one.host, 9_000) : one)),
    FLEET,
    0,
  ),
  skippedMs: Array.from({length: 12}, (_, at) => AT + at),
  nextMs: AT,
  message: null,
};
const SHOWN: ShownSchedule = {
  schedule: SCHEDULE,
  nextMs: AT,
  watch: null,
  message: null,
  nextTimes: [AT, AT, AT],
  last: REPORT,
};

const CAMPAIGN = {
  by: 'slack:U0ANNA',
  label: LONG,
  out: `/${LONG}`,
  untilMs: AT,
  gpus: Array.from({length: GPUS}, (_, at) => at),
};
const HELD = kept(CAMPAIGN);
const OVER = kept(CAMPAIGN, {ended: {by: 'slack:U0BOB', atMs: AT, after: []}});
const WHOLE_FLEET = compareHost(
  aCampaign(CAMPAIGN),
  someFacts(),
  someFacts({see: {holders: Array.from({length: HOLDERS}, (_, at) => aHolder(at + 10, {title: named(at)}))}}),
);
const notice = (kind: OwedNotice['kind'], of = HELD): OwedNotice => ({
  kind,
  what: 'x',
  dueAtMs: AT,
  question: {sinceMs: AT, id: '1'},
  kept: of,
  late: true,
});
const HELP = {command: '/gpu', hosts: HOSTS, policy: aPolicy(), approvers: APPROVERS, channels: CHANNELS} as const;
const BIGGEST = hosts.diagnosisMessage(DIAGNOSIS);

/** File and function -> all that it can make. */
const EVERY: Readonly<Record<string, () => readonly (Made | null)[]>> = {
  'about-run aboutRun': () => [aboutRun.aboutRun(FAILURE, LINK)],
  'about-run busyMessage': () => [true, false].map((mine) => aboutRun.busyMessage(EXECUTING, HOST, mine, LINK)),
  'about-run unknownRun': () => [aboutRun.unknownRun(LONG)],
  'about-run cardComes': () => [aboutRun.cardComes(WAITING)],
  'about-run cardOpened': () => [aboutRun.cardOpened(WAITING, 'C1', LINK)],
  'about-run cardImpossible': () => [aboutRun.cardImpossible(WAITING, LONG)],
  'about-run stopsSoon': () => [aboutRun.stopsSoon(EXECUTING, LINK)],
  'about-run looksNoMore': () => [aboutRun.looksNoMore(closed('partly'), LINK)],
  'answers sentence': () => [answers.sentence(LONG)],
  'answers failureMessage': () => [answers.failureMessage(FAILURE)],
  'away-message awayMessage': () => EVERY_RUN.map((run) => away.awayMessage(run, 'C1', LONG)),
  'away-message endedAwayMessages': () => ENDED.flatMap((run) => away.endedAwayMessages(run, 'C1', LONG)),
  'campaign-message holdCard': () => [HELD, OVER].map((one) => campaigns.holdCard(one, AT, '/gpu')),
  'campaign-message campaignReplies': () =>
    campaigns.campaignReplies(
      {
        kept: OVER,
        report: {campaign: OVER.campaign, hosts: [WHOLE_FLEET, {state: 'unseen', host: HOST, failure: FAILURE}]},
      },
      '/gpu',
    ),
  'campaign-message holdsMessage': () => [
    campaigns.holdsMessage([], AT, '/gpu'),
    campaigns.holdsMessage(Array(200).fill(HELD), AT, '/gpu'),
  ],
  'campaign-notices noticeReply': () => [
    notices.noticeReply(notice('over'), '/gpu', 'slack:U0ANNA'),
    notices.noticeReply(notice('ended', OVER), '/gpu', 'slack:U0ANNA'),
  ],
  'campaign-notices idleQuestion': () => [
    notices.idleQuestion(notice('idle'), AT + 1, {askMs: 1, keepMs: 1}, 'slack:U0ANNA'),
  ],
  'campaign-notices idleAnswered': () =>
    (['end', 'keep'] as const).map((how) => notices.idleAnswered(how, 'slack:U0ANNA', AT, AT)),
  'choose-modal chooseModal': () => {
    const form = aForm(PLAN, {was: {...PLAN, targets: []}, problem: LONG});
    const {pages} = choicePage(form.offer, form.was, form.state);
    return Array.from({length: pages}, (_, page) => choose.chooseModal({...form, state: {...form.state, page}}));
  },
  'choose-modal chooseEnd': () => [choose.chooseEnd(LONG, 'x')],
  'choose-modal lookingModal': () => [choose.lookingModal(NAME, 'x', 'Still looking.')],
  'command-answers stillLooking': () => [commandAnswers.stillLooking()],
  'command-answers cancelledAnswer': () =>
    [EXECUTING, closed('cancelled')].map((run) => commandAnswers.cancelledAnswer(run, LINK)),
  'command-answers pausedAnswer': () => [commandAnswers.pausedAnswer('/gpu')],
  'command-answers resumedAnswer': () => [
    commandAnswers.resumedAnswer(null),
    commandAnswers.resumedAnswer({by: 'os:anna', atMs: AT}),
  ],
  'delivery-notes noted': () => [noted(BIGGEST, [SAFE.slice(0, 200), SAFE.slice(0, 200)])],
  'ended-message endedMessage': () => ENDED.map((run) => ended.endedMessage(run, LINK)),
  'ended-message reminderMessage': () => [ended.reminderMessage(APPROVERS, AT)],
  'fit fitted': () => [fitted({text: SAFE.repeat(5), blocks: Array(90).fill(section(SAFE))})],
  'help helpMessage': () =>
    [null, ...VERBS].flatMap((about) =>
      [true, false].map((isApprover) =>
        helpMessage({...HELP, isApprover, place: isApprover ? 'here' : 'elsewhere'}, about),
      ),
    ),
  'home-modals diagnoseModal': () => [homeModals.diagnoseModal(HOSTS), homeModals.diagnoseModal([])],
  'home-modals proposeModal': () => [homeModals.proposeModal(HOSTS, 'C1'), homeModals.proposeModal([aHost()], 'C1')],
  'home-modals reportModal': () => [homeModals.reportModal(HOSTS, SCHEDULE.zone, 'C1', 'x')],
  'home-modals reportSureModal': () => [homeModals.reportSureModal(SCHEDULE, [AT, AT, AT], 'x')],
  'home-modals lookingModal': () => [homeModals.lookingModal(NAME)],
  'home-modals planningModal': () => [homeModals.planningModal(NAME)],
  'home-modals answerModal': () =>
    [BIGGEST, ...EVERY_RUN.map(runs.runMessage)].map((one) => homeModals.answerModal('Diagnosis', one)),
  'home homeView': () => [
    home.homeView({
      nowMs: AT,
      command: '/gpu',
      me: 'slack:U0ANNA',
      paused: {by: 'slack:U0BOB', atMs: AT},
      waiting: Array(40).fill({run: WAITING, link: LINK}),
      mine: Array(40).fill({run: EXECUTING, link: LINK}),
      othersOpen: 99,
      fleet: FLEET.map((one) => ({
        name: one.host,
        seen: one.state === 'seen' ? one : null,
        failed: {failure: FAILURE, atMs: AT},
      })),
      looking: true,
      holds: Array(40).fill({kept: HELD, link: LINK}),
      schedules: Array(40).fill(SHOWN),
      channel: 'C1',
      unread: Array(5).fill(LONG),
    }),
  ],
  'home homeForOthers': () => [home.homeForOthers()],
  'host-answers statusMessage': () => [
    hosts.statusMessage([]),
    hosts.statusMessage([{name: HOST, look: {ok: true, value: {snapshot: DIAGNOSIS.snapshot, diagnosis: DIAGNOSIS}}}]),
    hosts.statusMessage([{name: HOST, look: {ok: false, failure: FAILURE}}]),
    hosts.statusMessage(
      Array.from({length: 80}, (_, at) => ({
        name: hostName(`gpu-${at}`),
        look:
          at % 2 === 0
            ? {ok: false, failure: FAILURE}
            : {ok: true, value: {snapshot: DIAGNOSIS.snapshot, diagnosis: DIAGNOSIS}},
      })),
    ),
  ],
  'host-answers diagnosisMessage': () => [BIGGEST],
  'host-answers hostsMessage': () => [hosts.hostsMessage(HOSTS), hosts.hostsMessage([])],
  'message messageOf': () => [messageOf(Array(90).fill(section(SAFE)))],
  'refusals otherWorkspace': () => [refusals.otherWorkspace()],
  'refusals notHere': () => [true, false].map((alone) => refusals.notHere(alone, CHANNELS, '/gpu')),
  'refusals groupMembers': () => [
    refusals.groupMembers(Array.from({length: 30}, () => ({group: 'S0ONCALL', users: Array(500).fill('U0123456789')}))),
  ],
  'refusals groupsUnread': () => [refusals.groupsUnread(Array(30).fill({group: 'S0ONCALL', error: LONG}))],
  'refusals wentWrong': () => [refusals.wentWrong()],
  'refusals formTooLate': () => [refusals.formTooLate()],
  'refusals unknownForm': () => [refusals.unknownForm()],
  'refusals unknownButton': () => [refusals.unknownButton()],
  'report-message reportMessage': () => [reports.reportMessage(FINISHED, '/gpu', LINK)],
  'report-message reportReplies': () =>
    [true, false].flatMap((whole) => reports.reportReplies(FINISHED, '/gpu', whole)),
  'report-message addedMessage': () => [reports.addedMessage(SHOWN, '/gpu', 'here', 'UTC is taken')],
  'report-message schedulesMessage': () => [
    reports.schedulesMessage([], '/gpu'),
    reports.schedulesMessage(Array(200).fill(SHOWN), '/gpu'),
  ],
  'root-card rootCard': () =>
    EVERY_RUN.map((run) =>
      rootCard(run, {
        ...CARD,
        command: LONG,
        approvers: APPROVERS,
        progress: {line: LONG, nextUpdateByMs: AT + 45_000},
      }),
    ),
  'run-answers runsMessage': () => [
    runs.runsMessage([]),
    runs.runsMessage([...EVERY_RUN, ...Array(200).fill(WAITING)]),
  ],
  'run-answers runMessage': () => EVERY_RUN.map(runs.runMessage),
  'share sharedMessage': () => (['looked', 'read'] as const).map((how) => sharedMessage(BIGGEST, 'U0ANNA', how, AT)),
  'small-modals breakGlassModal': () => [small.breakGlassModal(NAME, 'x')],
  'small-modals leaveModal': () => [small.leaveModal(NAME, 'x')],
  'table withoutTable': () => [reports.reportMessage(FINISHED, '/gpu', null), BIGGEST].map(withoutTable),
  'thread threadReplies': () =>
    [...EVERY_RUN, CHOSEN].flatMap((run) =>
      eventsOf(run).flatMap((event) => threadReplies(run, event, {approvers: APPROVERS})),
    ),
};

const ENDED = (Object.keys(OUTCOMES) as OutcomeWord[]).map(closed);

/** Each kind of event once or twice: 500 results of one signal are told in the same words. */
function eventsOf(run: (typeof EVERY_RUN)[number]) {
  return run.events.filter((event, at) => run.events.findIndex(({kind}) => kind === event.kind) >= at - 1);
}

describe('every builder of messages and views', () => {
  it('is in this list', () => {
    const built = readdirSync('src/slack/blocks').flatMap((file) => {
      const source = readFileSync(`src/slack/blocks/${file}`, 'utf8');
      const made = [...source.matchAll(/^export function (\w+)([\s\S]*?) \{$/gm)];
      return made.flatMap(([, name, rest = '']) =>
        /\): (readonly )?(Message|types\.(Modal|Home)View)\b[^()]*$/.test(rest)
          ? [`${file.replace('.ts', '')} ${name}`]
          : [],
      );
    });
    expect(Object.keys(EVERY).toSorted()).toEqual(built.toSorted());
    expect(built.length).toBeGreaterThan(55);
  });

  it.each(Object.entries(EVERY))('%s stays within every limit of Slack', (_name, make) => {
    for (const one of make()) {
      if (one === null) continue;
      if ('text' in one) {
        expect(checkBlocks(one)).toEqual([]);
        expect(checkAsSlack(one.blocks, 'message')).toEqual([]);
        expect(charactersOf(one.blocks)).toBeLessThanOrEqual(MESSAGE_CHARACTERS);
        expect([...one.text].length).toBeLessThanOrEqual(40_000);
        expect(JSON.stringify(one.blocks)).not.toMatch(/<!(channel|here|everyone)|<@U0EVIL>|\\u202e|\\u001b/);
      } else {
        expect(checkView(one)).toEqual([]);
        expect(checkViewAsSlack(one, one.type)).toEqual([]);
        expect(Buffer.byteLength(JSON.stringify(one))).toBeLessThan(250_000);
      }
    }
  });

  it('and the pictures beside them: their words are short enough, and nothing escapes from them', () => {
    for (const run of ENDED) {
      for (const picture of [barsPicture(run, closedOf(run)), curvePicture(run)]) {
        expect([...(picture?.altText ?? '')].length).toBeLessThanOrEqual(1_000);
        expect(picture?.svg ?? '').not.toMatch(/<\/x>|<!channel|[\u001b\u202e]/);
      }
    }
  });
});

function closedOf(run: (typeof EVERY_RUN)[number]) {
  const end = run.events.find((event) => event.kind === 'closed');
  if (end?.kind !== 'closed') throw new Error('the run is open');
  return end.outcome;
}
