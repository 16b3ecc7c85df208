/** The one root message of a run, through its whole life: where it stands now, and nothing of how it got there. */
import {owedLooks} from '../../domain/later-look.ts';
import type {Outcome} from '../../domain/outcome.ts';
import type {Plan} from '../../domain/plan.ts';
import {readinessOf} from '../../domain/readiness.ts';
import type {Run} from '../../domain/run.ts';
import {hasTried, outcomeOf, planOf, requestOf} from '../../domain/run-state.ts';
import {plural, span} from '../../report/amounts.ts';
import {overrideLine} from '../../report/hold-sentence.ts';
import {nextStep} from '../../report/next-step.ts';
import {isDrill} from '../../report/practice.ts';
import {freeNow, readinessLines} from '../../report/readiness-lines.ts';
import {noteLines} from '../../report/return-lines.ts';
import {runFacts} from '../../report/run-facts.ts';
import {stateLine, workLines} from '../../report/run-state-line.ts';
import {driftLines, sentLines} from '../../report/sent-lines.ts';
import {shortPlanLines} from '../../report/short-plan.ts';
import {code, mrkdwn} from '../escape.ts';
import {closedButtons, goButtons, stopButton} from './buttons.ts';
import {decisionLines} from './decision-line.ts';
import {failureText} from './failure-text.ts';
import {codeSections, context, fields, type KnownBlock, type Message, messageOf, section} from './message.ts';
import {dated, mention, mentions, shortId, timed, withMentions, withTimes} from './people.ts';
import {slackWords} from './slack-words.ts';

export interface CardContext {
  readonly nowMs: number;
  /** The command as it was typed: slash commands are invisible to others. */
  readonly command: string;
  /** Ready to stand in a message: `<@U1>`, `<!subteam^S1>`. */
  readonly approvers: readonly string[];
  /** What is being done now, and when the next edit comes at the latest. */
  readonly progress: {readonly line: string; readonly nextUpdateByMs: number} | null;
}

/** Lines of a plan on the card; the thread has room for more. */
const PLAN_LINES = 60;
const WORK_LINES = 12;
const AGAINST_LINES = 4;
const LATER_LINES = 6;
const DONE_LINES = 5;
/** A card that moves is edited at least this often, if its writer names no time of its own. */
const NEXT_UPDATE_MS = 60_000;

/** The card of a run as it stands; buttons only while they would do something. */
export function rootCard(run: Run, card: CardContext): Message {
  return messageOf([section(firstLines(run)), facts(run), ...middle(run, card), foot(run, card)]);
}

/** Sign, state, verb, target and requester: all that a push shows. */
function firstLines(run: Run): string {
  const {requester, override} = requestOf(run);
  // In the first post of the card, so that Slack tells who is overridden.
  const over =
    override === undefined
      ? ''
      : `\n⚠ ${withTimes(
          withMentions(
            mrkdwn(overrideLine(override), 600),
            override.holds.map(({by}) => by),
          ),
        )}`;
  return `*${mrkdwn(stateLine(run), 200)}* · asked by ${mention(requester)}${over}`;
}

/** The same places in every state, so that no edit makes them jump. */
function facts(run: Run): KnownBlock {
  const {reason} = requestOf(run);
  return fields([
    ...runFacts(run).map(({label, text}) => `*${label}* ${mrkdwn(text, 200)}`),
    `*Since* ${dated(run.createdAtMs)}`,
    `*Why* ${reason === null ? 'not said' : mrkdwn(reason, 200)}`,
  ]);
}

function middle(run: Run, card: CardContext): readonly KnownBlock[] {
  const outcome = outcomeOf(run);
  if (outcome !== null) return closed(run, outcome, card);
  switch (run.phase) {
    case 'looking':
      return [section(dueLine(card))];
    case 'awaiting-go':
      return waiting(run, card);
    case 'executing':
    case 'closed':
      return working(run, card);
  }
}

function waiting(run: Run, card: CardContext): readonly KnownBlock[] {
  const shown = planOf(run);
  if (shown === null) return [];
  const {plan, expiresAtMs} = shown;
  const over = card.nowMs >= expiresAtMs;
  const alone = plan.targets.every((target) => target.selfGo);
  const rule = `${mentions(card.approvers)}${alone ? '; the requester too, if among them' : '; not the requester alone'}`;
  const who = isDrill(run)
    ? `Practice: press it yourself, all of it is a stand-in. Elsewhere: go by ${rule}`
    : `Go by: ${rule}`;
  const until = over
    ? `Expired ${dated(expiresAtMs)}; nothing was sent. Ask again for a fresh look.`
    : `Until ${dated(expiresAtMs)} · looked ${timed(plan.madeAtMs)}`;
  return [
    ...planBlocks(run, plan),
    section([who, until, 'Nothing has been signalled.'].join('\n')),
    ...(over ? [] : goButtons(run)),
  ];
}

function planBlocks(run: Run, plan: Plan): readonly KnownBlock[] {
  const {match} = requestOf(run);
  const named = plan.targets.filter((target) => target.belonging.by !== 'ghost').length;
  const notes: string[] = [];
  if (match !== null && named === 0)
    notes.push(
      `Nothing matches "${mrkdwn(match, 60)}"; ${plan.targets.length === 0 ? 'no ghost found either' : `${plural(plan.targets.length, 'ghost', 'ghosts')} found`}.`,
    );
  if (plan.version > 1) notes.push(`Chosen by hand, version ${plan.version} of this plan.`);
  return [
    ...(notes.length === 0 ? [] : [section(notes.join('\n'))]),
    ...codeSections(shortPlanLines(plan, PLAN_LINES)),
  ];
}

function working(run: Run, card: CardContext): readonly KnownBlock[] {
  const lines = [
    ...decisionLines(run),
    ...newest(workLines(run)),
    ...(card.progress === null ? [] : [mrkdwn(card.progress.line, 200)]),
    dueLine(card),
  ];
  const stopping = run.events.some((event) => event.kind === 'cancelled');
  return [section(lines.join('\n')), ...(stopping ? [] : stopButton(run))];
}

/** The last lines hold the newest figures; how many stand before them is said. */
function newest(lines: readonly string[]): readonly string[] {
  const before = lines.length - WORK_LINES;
  const shown = lines.slice(-WORK_LINES).map((line) => mrkdwn(line, 200));
  return before > 0 ? [`… ${before} more lines in the thread`, ...shown] : shown;
}

/** A dead bot shows by this: its card says when it should have moved. */
function dueLine({nowMs, progress}: CardContext): string {
  return `If there is no update by ${timed(progress?.nextUpdateByMs ?? nowMs + NEXT_UPDATE_MS)}, the bot is down.`;
}

/** Final: later looks only add their lines. */
function closed(run: Run, outcome: Outcome, card: CardContext): readonly KnownBlock[] {
  const plan = planOf(run)?.plan ?? null;
  const next = nextStep(run, outcome);
  const lines = [
    ...(outcome.because === null ? [] : [failureText(outcome.because, 600)]),
    ...decisionLines(run),
    ...doneLines(run, outcome),
    ...(hasTried(run) && outcome.gpus.length > 0 ? survivorLines(outcome) : []),
    ...startLines(run, outcome),
    ...laterLines(run),
    ...(card.progress === null ? [] : [mrkdwn(card.progress.line, 200)]),
    ...(next === null ? [] : [mrkdwn(slackWords(next))]),
  ];
  const showsPlan = plan !== null && (outcome.word === 'dry-run' || outcome.word === 'nothing-to-do');
  return [
    ...(showsPlan ? planBlocks(run, plan) : []),
    ...(lines.length === 0 ? [] : [section(lines.join('\n'))]),
    ...closedButtons(run),
  ];
}

/** What changed since the plan where that ended it, and what was sent by then: the thread has the rest. */
function doneLines(run: Run, outcome: Outcome): readonly string[] {
  switch (outcome.word) {
    case 'stood-down':
      return few(hasTried(run) ? sentLines(run) : driftLines(run));
    case 'cancelled':
    case 'interrupted':
    case 'failed':
    case 'unknown':
      return hasTried(run)
        ? few(sentLines(run))
        : outcome.word === 'failed' || outcome.word === 'unknown'
          ? ['Nothing was sent.']
          : [];
    default:
      return [];
  }
}

function few(lines: readonly string[]): readonly string[] {
  const more = lines.length - DONE_LINES;
  return [
    ...lines.slice(0, DONE_LINES).map((line) => mrkdwn(line, 200)),
    ...(more > 0 ? [`… ${more} more in the thread`] : []),
  ];
}

/** What later looks added, and when the next ones come. */
function laterLines(run: Run): readonly string[] {
  const said = run.events.flatMap((event) => {
    if (event.kind !== 'noted') return [];
    const people = event.note.what === 'stopped' ? [event.note.by].filter((by) => by.startsWith('slack:')) : [];
    return noteLines(run, event).map(
      (line) => `Later, ${timed(event.atMs)}: ${withMentions(mrkdwn(slackWords(line), 300), people)}`,
    );
  });
  const owed = owedLooks(run).map((look) => timed(look.dueAtMs));
  return [...said.slice(-LATER_LINES), ...(owed.length === 0 ? [] : [`Looks again ${owed.join(', ')}`])];
}

/** Whether a start is possible, and what stands against it; the thread tells the rest. */
function startLines(run: Run, outcome: Outcome): readonly string[] {
  const readiness = readinessOf(run, outcome);
  if (readiness === null) return [];
  const against = readinessLines(readiness).filter((line) => line.against);
  const more = against.length - AGAINST_LINES;
  return [
    ...against.slice(0, AGAINST_LINES).map((line) => mrkdwn(line.text, 200)),
    ...(more > 0 ? [`… ${more} more in the thread`] : []),
    mrkdwn(freeNow(readiness), 200),
  ];
}

function survivorLines(outcome: Outcome): readonly string[] {
  const count = outcome.survivors.length;
  const freed = outcome.freedAfterMs === null ? '' : ` · settled ${span(outcome.freedAfterMs)} after the last signal`;
  return [`Surviving targets: ${count === 0 ? 'none' : `${count}, each with its reason in the thread`}${freed}`];
}

/** What was typed, the names of run and plan, and the way that needs no Slack. */
function foot(run: Run, card: CardContext): KnownBlock {
  const id = shortId(run.id);
  const digest = planOf(run)?.digest;
  const stop = run.phase === 'closed' ? '' : `, \`gpu-reclaim cancel ${id}\``;
  return context(
    `\`${code(card.command, 200) || ' '}\``,
    `Run ${id}${digest === undefined ? '' : ` · plan ${digest.slice(0, 8)}`} · without Slack: \`gpu-reclaim show ${id}\`${stop}`,
  );
}
