/** What the thread of a run says: one message for each new fact, none for events that are no news. */
import {isNews} from '../../domain/later-look.ts';
import type {Run, RunEvent} from '../../domain/run.ts';
import {approvalOf, hasTried, outcomeOf, planOf, requestOf} from '../../domain/run-state.ts';
import {plural, span} from '../../report/amounts.ts';
import {beforeAfter, narrowBeforeAfter, outcomeLines, outcomeTitle} from '../../report/before-after.ts';
import {vanishedLine} from '../../report/drift-since.ts';
import {nextStep} from '../../report/next-step.ts';
import {stopResultLine} from '../../report/owner-stop-words.ts';
import {planEvidence, planGpuLines} from '../../report/plan-evidence.ts';
import {noteLines} from '../../report/return-lines.ts';
import {CHOICE_WORD} from '../../report/run-state-line.ts';
import {rungLines} from '../../report/rung-lines.ts';
import {safeLine} from '../../report/safe-text.ts';
import {driftWords, sentLines} from '../../report/sent-lines.ts';
import {shortened} from '../../report/wrapped.ts';
import {stillWritingLines} from '../../report/writing-words.ts';
import {mrkdwn} from '../escape.ts';
import {LIMITS, lengthOf} from '../limits.ts';
import {failureText} from './failure-text.ts';
import {codeSections, type Message, messageOf, section} from './message.ts';
import {mention, mentionOfId, mentions, shortId, timed, withTimes} from './people.ts';
import {slackWords} from './slack-words.ts';
import {tableBlocks} from './table.ts';

export interface ThreadContext {
  /** Mention-ready; named once, under the first plan that waits. */
  readonly approvers: readonly string[];
}

/** Lines of evidence in one message. */
const EVIDENCE_LINES = 150;
/** Lines of text (drift, signals, survivors) in one message. */
const TEXT_LINES = 40;
/** People called by one message. */
const OWNERS = 12;
/** A run that took longer is told to the channel as well. */
const LONG_MS = 5 * 60_000;

/** `event` is one of the run's; the run may be further on already. */
export function threadReplies(run: Run, event: RunEvent, thread: ThreadContext = {approvers: []}): readonly Message[] {
  switch (event.kind) {
    case 'planned':
      return event.plan.version === 1 ? [found(run, event, thread)] : [chosen(run, event)];
    case 'approved':
      return [went(run, event)];
    case 'denied':
      return [
        say(
          `Left as it is by ${mention(event.by)} at ${timed(event.atMs)}${reasonOf(event.reason)}. Nothing was sent.`,
        ),
      ];
    case 'expired':
      return [
        say(
          `Nobody gave the go before ${timed(event.atMs)}, so nothing was sent. ${mention(requestOf(run).requester)} may ask again: that makes a fresh look.`,
        ),
      ];
    case 'cancelled':
      return [say(`Stopped by ${mentionOfId(event.by)} at ${timed(event.atMs)}${reasonOf(event.reason)}`)];
    case 'rechecked':
      return event.drift.length === 0 ? [] : [drifted(event)];
    case 'signal-result': {
      const lines = rungLines(run, event);
      return lines.length === 0 ? [] : [lined(`Step ${event.rung}`, lines)];
    }
    case 'stop-result':
      return [lined(`Step ${event.rung}`, [stopResultLine(event)])];
    case 'still-writing':
      return [lined('kill -9 is due', stillWritingLines(event))];
    case 'link-lost':
      return [say(failureText(event.failure, 600))];
    case 'closed':
      return report(run, event);
    case 'noted':
      return isNews(event.note) ? [cameBack(run, event)] : [];
    // The card shows these, or another reply tells of them.
    case 'requested':
    case 'surveyed':
    case 'signal-intended':
    case 'stop-intended':
    case 'seen':
    case 'memory':
    case 'settled':
    case 'looked-again':
    case 'failed':
      return [];
  }
}

/**
 * Whether this reply also goes to the channel: a final outcome that failed, is partial, or took long; what came back
 * later; and a go without a second approver, which everybody must hear of.
 */
export function broadcasts(run: Run, event: RunEvent): boolean {
  if (event.kind === 'approved') return event.breakGlass;
  if (event.kind === 'noted') return isNews(event.note);
  if (event.kind !== 'closed') return false;
  switch (event.outcome.word) {
    case 'partly':
    case 'nothing-freed':
    case 'failed':
    case 'interrupted':
    case 'unknown':
      return approvalOf(run) !== null;
    case 'reclaimed':
      return event.atMs - (approvalOf(run)?.atMs ?? event.atMs) > LONG_MS;
    case 'nothing-to-do':
    case 'stood-down':
    case 'dry-run':
    case 'denied':
    case 'expired':
    case 'cancelled':
      return false;
  }
}

/** The one kind of later look that calls people: all others stand on the card only. */
function cameBack(run: Run, event: EventOf<'noted'>): Message {
  const lines = noteLines(run, event).map((line) => mrkdwn(line, 400));
  return say(
    [
      `↩️ *Came back on ${mrkdwn(run.host, 100)}*, ${timed(event.atMs)}. Nothing was signalled. ${mention(requestOf(run).requester)} asked for it.`,
      ...lines,
    ].join('\n'),
  );
}

/** A go without a second approver calls whoever owns what it ends. */
function went(run: Run, event: EventOf<'approved'>): Message {
  const go = `by ${mention(event.by)} at ${timed(event.atMs)}: ${CHOICE_WORD[event.choice]}${reasonOf(event.reason)}`;
  if (!event.breakGlass) return say(`Go ${go}`);
  return say(`🚨 Break-glass: go without a second approver ${go}\nIt ends what belongs to ${ownersOf(run)}.`);
}

/** Owners of the targets, as mentions where the hosts file gives Slack ids; each once. */
function ownersOf(run: Run): string {
  const targets = planOf(run)?.plan.targets ?? [];
  const people = [...new Set(targets.flatMap(({ownership}) => ownership.person ?? []))].toSorted();
  const unknown = targets.filter(({ownership}) => ownership.person === null).length;
  const shown = people
    .slice(0, OWNERS)
    .map((person) => (/^[UW][A-Z0-9]{4,30}$/.test(person) ? mentionOfId(`slack:${person}`) : mrkdwn(person, 40)));
  const more = people.length - shown.length;
  return [
    ...shown,
    ...(more > 0 ? [`${more} more people`] : []),
    ...(unknown === 0 ? [] : [`${plural(unknown, 'process', 'processes')} of nobody in the hosts file`]),
  ].join(', ');
}

function found(run: Run, {plan}: EventOf<'planned'>, thread: ThreadContext): Message {
  const asks = run.phase !== 'closed' || outcomeOf(run)?.word === 'expired';
  return messageOf([
    section(`*What was found on ${mrkdwn(plan.host, 100)}*, ${timed(plan.madeAtMs)}`),
    ...codeSections(planGpuLines(plan)),
    ...codeSections(shortened(planEvidence(plan), EVIDENCE_LINES)),
    ...(asks && thread.approvers.length > 0 ? [section(`A go is needed: ${mentions(thread.approvers)}`)] : []),
  ]);
}

function chosen(run: Run, event: EventOf<'planned'>): Message {
  const {plan, digest, by} = event;
  const before = run.events.slice(0, run.events.indexOf(event)).findLast((one) => one.kind === 'planned');
  const vanished = before?.kind === 'planned' ? vanishedLine(before.plan, plan) : null;
  const names = plan.targets.map((target) => ({
    lines: () => [`☑ ${target.identity.pid} ${safeLine(target.name, 28)}`],
    MiB: target.chargedMiB,
  }));
  return messageOf([
    section(
      `*Chosen by hand*${by === undefined ? '' : ` by ${mention(by)}`}: version ${plan.version} of the plan, ${digest.slice(0, 8)}, waits for a go. Earlier cards are outdated.${vanished === null ? '' : `\n${mrkdwn(vanished, 400)}`}`,
    ),
    ...codeSections(shortened(names, TEXT_LINES)),
  ]);
}

function drifted({drift}: EventOf<'rechecked'>): Message {
  return lined('Changed since the plan; what changed is not signalled', driftWords(drift));
}

function report(run: Run, {outcome, atMs}: EventOf<'closed'>): readonly Message[] {
  const told = outcome.word === 'dry-run' || outcome.word === 'nothing-to-do';
  const measured = outcome.gpus.length > 0 && !told;
  const signalled = hasTried(run);
  // Left, expired, cancelled before a signal, a dry run: another reply has said all of it.
  if (!measured && !signalled && outcome.because === null) return [];
  const all = measured ? outcomeLines(run, outcome) : sentLines(run);
  // The sentence about the failure leads those lines; here it stands with its mentions.
  const facts = all.slice(measured && outcome.because !== null ? 1 : 0);
  const next = nextStep(run, outcome);
  return [
    messageOf([
      section(`*${mrkdwn(outcomeTitle(run, outcome), 200)}*`),
      ...(measured ? tableBlocks(beforeAfter(outcome), narrowBeforeAfter(outcome)) : []),
      ...(outcome.because === null ? [] : [section(failureText(outcome.because, 600))]),
      ...(facts.length === 0 ? [] : [section(listed(facts.map((line) => slackWords(line))))]),
      ...(next === null ? [] : [section(mrkdwn(slackWords(next)))]),
      section(
        `Run ${shortId(run.id)}, ${span(Math.max(0, atMs - run.createdAtMs))} in all · by hand: \`gpu-reclaim show ${shortId(run.id)}\``,
      ),
    ]),
  ];
}

function lined(title: string, lines: readonly string[]): Message {
  return messageOf([section(`*${title}*\n${listed(lines)}`)]);
}

/** Raw lines as mrkdwn, as many as one section holds; the last line, which counts, is never among those left out. */
function listed(lines: readonly string[]): string {
  const all = lines.map((line) => `${bulletFor(line)}${withTimes(mrkdwn(line.replace(/^ +· /, ''), 200))}`);
  const last = all.slice(-1);
  const rest = all.slice(0, -1);
  let room = LIMITS.section.text - 200 - lengthOf(last.join(''));
  const fits = rest.findIndex((line, at) => {
    room -= lengthOf(line) + 1;
    return room < 0 || at >= TEXT_LINES;
  });
  const shown = fits < 0 ? rest : rest.slice(0, fits);
  const more = rest.length - shown.length;
  return [...shown, ...(more > 0 ? [`… ${more} more lines`] : []), ...last].join('\n');
}

/** A detail of a detail has its own sign already in the terminal's words. */
function bulletFor(line: string): string {
  if (/^ +· /.test(line)) return '◦ ';
  return line.startsWith('  ') ? '• ' : '';
}

function say(text: string): Message {
  return messageOf([section(text)]);
}

function reasonOf(reason: string | null): string {
  return reason === null ? '' : `: ${mrkdwn(reason, 300)}`;
}

type EventOf<K extends RunEvent['kind']> = Extract<RunEvent, {kind: K}>;
