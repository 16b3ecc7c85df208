/** Private answers about runs: `runs` and `show`. */
import {personId} from '../../domain/person.ts';
import type {Run} from '../../domain/run.ts';
import {outcomeOf, planOf, requestOf} from '../../domain/run-state.ts';
import {dateTime, plural} from '../../report/amounts.ts';
import {beforeAfter, narrowBeforeAfter, outcomeLines} from '../../report/before-after.ts';
import {nextStep} from '../../report/next-step.ts';
import {stateLine} from '../../report/run-state-line.ts';
import {shortPlanLines} from '../../report/short-plan.ts';
import {timeline} from '../../report/timeline.ts';
import {OPEN_WORD, OUTCOME_SIGN, OUTCOME_WORD} from '../../report/wording.ts';
import {mrkdwn} from '../escape.ts';
import {decisionLines} from './decision-line.ts';
import {codeSections, context, type KnownBlock, type Message, messageOf, section} from './message.ts';
import {dated, mention, shortId, timed, withMentions, withTimes} from './people.ts';
import {slackWords} from './slack-words.ts';
import {tableBlocks} from './table.ts';

const RUNS = 20;
const TIMELINE_LINES = 60;
const FACTS = 30;

/** Newest first, one line each. */
export function runsMessage(runs: readonly Run[]): Message {
  if (runs.length === 0) return messageOf([section('No run yet.')]);
  const shown = runs.slice(0, RUNS);
  const more = runs.length - shown.length;
  const lines = [...shown.map(runLine), ...(more > 0 ? [`… ${more} older runs`] : [])];
  return messageOf([
    section(`*${plural(runs.length, 'run', 'runs')}*, newest first`),
    section(lines.slice(0, 10).join('\n')),
    ...(lines.length > 10 ? [section(lines.slice(10).join('\n'))] : []),
    context('`/gpu show RUN` tells one whole; the first digits are enough.'),
  ]);
}

/** One run whole: where it stands, what was done when, and what came of it. */
export function runMessage(run: Run): Message {
  const outcome = outcomeOf(run);
  const plan = planOf(run)?.plan ?? null;
  const next = outcome === null ? null : nextStep(run, outcome);
  return messageOf([
    section(
      [
        `*${mrkdwn(stateLine(run), 200)}*`,
        `Asked by ${mention(requestOf(run).requester)}, ${dated(run.createdAtMs)}`,
        ...decisionLines(run),
      ].join('\n'),
    ),
    ...(outcome === null && plan !== null ? codeSections(shortPlanLines(plan, 40)) : []),
    ...(outcome === null ? [] : outcomeBlocks(run, outcome)),
    ...(next === null ? [] : [section(mrkdwn(slackWords(next)))]),
    ...timelineBlocks(run),
    context(`Run ${shortId(run.id)} · by hand: \`gpu-reclaim show ${shortId(run.id)}\``),
  ]);
}

function outcomeBlocks(run: Run, outcome: NonNullable<ReturnType<typeof outcomeOf>>): readonly KnownBlock[] {
  const facts = outcomeLines(run, outcome);
  const more = facts.length - FACTS;
  const lines = facts.slice(0, FACTS).map((line) => mrkdwn(slackWords(line), 90));
  return [
    ...(outcome.gpus.length === 0 ? [] : tableBlocks(beforeAfter(outcome), narrowBeforeAfter(outcome))),
    ...(lines.length === 0 ? [] : [section([...lines, ...(more > 0 ? [`… ${more} more lines`] : [])].join('\n'))]),
  ];
}

/** The newest lines; how many older ones there are is said. */
function timelineBlocks(run: Run): readonly KnownBlock[] {
  const lines = timeline(run, dateTime);
  const older = lines.length - TIMELINE_LINES;
  const people = peopleOf(run);
  const shown = lines.slice(-TIMELINE_LINES).map((line) => withTimes(withMentions(mrkdwn(line, 150), people), timed));
  const all = [...(older > 0 ? [`… ${older} earlier lines`] : []), ...shown];
  const blocks: KnownBlock[] = [];
  for (let at = 0; at < all.length; at += 15) blocks.push(section(all.slice(at, at + 15).join('\n')));
  return blocks;
}

/** Whoever did something in this run. */
function peopleOf(run: Run): readonly string[] {
  return run.events.flatMap((event) => {
    if (event.kind === 'requested') return [personId(event.request.requester)];
    if (event.kind === 'approved' || event.kind === 'denied') return [personId(event.by)];
    if (event.kind === 'noted' && event.note.what === 'stopped') return [event.note.by].filter(isSlackId);
    return event.kind === 'cancelled' ? [event.by] : [];
  });
}

function isSlackId(id: string): boolean {
  return id.startsWith('slack:');
}

function runLine(run: Run): string {
  const outcome = outcomeOf(run);
  const how =
    outcome === null ? `⏳ ${OPEN_WORD[run.phase]}` : `${OUTCOME_SIGN[outcome.word]} ${OUTCOME_WORD[outcome.word]}`;
  return `\`${shortId(run.id)}\` ${dated(run.createdAtMs)} · ${mrkdwn(run.host, 60)} · ${how} · ${mention(requestOf(run).requester)}`;
}
