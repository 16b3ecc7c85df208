/**
 * Conversations with faults, dealt from a seed, against the production program in a local Slack with real lab hosts:
 *   npm run chaos:slack -- --seed 7 --conversations 200
 * Everything is counted by what the front and the labs saw. Exits 1 if a promise was broken. CHAOS_BREAK=outbox and
 * CHAOS_BREAK=dedupe take one out of the program first: then it must fail.
 */
import {writeFileSync} from 'node:fs';
import {setPriority} from 'node:os';
import {parseArgs} from 'node:util';
import {say} from '../stage.ts';
import {BREAKS, brokenProgram} from './broken-program.ts';
import {converse} from './conversation.ts';
import {type Conversation, dealConversations} from './deck.ts';
import {type Broken, type Evidence, judge, lost, runsOf} from './judge.ts';
import {newest} from './record.ts';
import {summary} from './summary.ts';
import {startWorld, type World} from './world.ts';

const ACK_P99_MS = 100;
/** Of fewer, the 99th percentile is the slowest or next to it: shown, and not judged. */
const LEAST_ACKS = 200;
/** With --each a conversation that takes longer says where it stands. */
const SLOW_MS = 20_000;
const HOSTS_A_WORLD = 3;
const MOST_WORLDS = 4;
/** After the last conversation: what is still owed has come by then. */
const SETTLE_MS = 45_000;
/** nice(1): the lowest, and the highest. */
const LAST = 19;
const FIRST = -20;

async function main(): Promise<number> {
  const {values} = parseArgs({
    options: {
      seed: {type: 'string', default: '1'},
      conversations: {type: 'string', default: '200'},
      only: {type: 'string'},
      each: {type: 'boolean'},
    },
    allowPositionals: false,
  });
  const seed = Number(values.seed);
  const count = Number(values.conversations);
  const what = BREAKS.find((one) => one === process.env['CHAOS_BREAK']);
  const dealt = dealConversations(seed, count).filter(
    ({nth}) => values.only === undefined || nth === Number(values.only),
  );
  const broken = what === undefined ? null : await brokenProgram(what);
  if (what !== undefined) say(`The program plays without its promise of ${what}: this run must fail.`);
  const beganMs = Date.now();
  const root = process.getuid?.() === 0;
  if (root) setPriority(LAST);
  const worldCount = Math.max(1, Math.min(MOST_WORLDS, Math.ceil(dealt.length / 8)));
  const worlds: World[] = [];
  const stop = async (): Promise<void> => {
    for (const world of worlds.splice(0)) await world.close();
    broken?.remove();
    if (root) niceOfSession(0);
  };
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    process.once(signal, () => void stop().then(() => process.exit(code)));
  try {
    // Lab hosts are other machines: here they share our processors, so they get what bot and front leave.
    for (let nth = 1; nth <= worldCount; nth += 1)
      worlds.push(await startWorld(`lab-${nth}`, Math.min(HOSTS_A_WORLD, dealt.length), broken?.file));
    if (root) setPriority(0);
    if (root) niceOfSession(FIRST);
    say(
      `${dealt.length} conversations, seed ${seed}: ${worlds.length} workspaces with ${worlds.reduce((sum, {slots}) => sum + slots.length, 0)} lab hosts.`,
    );
    const evidence = await Promise.all(
      worlds.map((world, nth) =>
        play(
          world,
          values.each === true ? say : () => undefined,
          dealt.filter((one) => one.nth % worldCount === nth),
        ),
      ),
    );
    const verdicts = evidence.map(judge);
    const harmed = (await Promise.all(worlds.map((world) => world.harmed()))).flat();
    return tell({seed, count, worlds, evidence, verdicts, harmed, tookMs: Date.now() - beganMs});
  } finally {
    await stop();
  }
}

/** The conversations of one workspace, as many at a time as it has hosts. */
async function play(
  world: World,
  note: (line: string) => void,
  conversations: readonly Conversation[],
): Promise<Evidence> {
  const left = [...conversations];
  await Promise.all(
    world.slots.map(async (slot) => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const beganMs = Date.now();
        const {tag} = next;
        const slow = setInterval(() => note(standOf(world, tag, beganMs)), SLOW_MS);
        await converse(world, slot, next).finally(() => clearInterval(slow));
        note(
          `${next.tag} ${next.ending} ${next.manner} [${next.troubles.map(({kind, at, dose}) => `${kind} ${at} ${dose}`).join(', ')}] ${((Date.now() - beganMs) / 1_000).toFixed(1)} s`,
        );
      }
    }),
  );
  world.slack.clearFaults();
  const {record, slack} = world;
  const isWhole = (): boolean =>
    conversations.every(({tag}) => runsOf(tag, record.seen).every((run) => lost(run, record).length === 0));
  await record.until(isWhole, SETTLE_MS);
  return {
    conversations,
    seen: record.seen,
    told: record.told,
    acts: record.acts,
    late: record.late,
    starts: record.starts,
    calls: slack.calls,
    envelopes: slack.envelopes,
    signals: await world.signals(),
  };
}

/** Where a conversation stands that takes long. */
function standOf({record}: World, tag: string, sinceMs: number): string {
  const act = record.acts.findLast((one) => one.tag === tag);
  const ends = runsOf(tag, record.seen).map(
    ({id, cards}) =>
      `${id}: ${cards.map((card) => `${card.deleted ? 'deleted ' : ''}${newest(card).text.split('\n')[0]} [${newest(card).buttons.join(' ')}]`).join(' / ')}`,
  );
  return `  … ${tag} for ${Math.round((Date.now() - sinceMs) / 1_000)} s: ${act?.what ?? 'nothing'} (${act?.done?.outcome ?? 'under way'}, ${act === undefined ? '' : Math.round((Date.now() - act.atMs) / 1_000)} s ago); ${ends.join('; ')}`;
}

function tell(result: {
  readonly seed: number;
  readonly count: number;
  readonly worlds: readonly World[];
  readonly evidence: readonly Evidence[];
  readonly verdicts: readonly Broken[];
  readonly harmed: readonly string[];
  readonly tookMs: number;
}): number {
  const {verdicts, harmed} = result;
  const all = (of: keyof Broken): readonly string[] => verdicts.flatMap((one) => one[of]);
  const acks = result.evidence
    .flatMap(({envelopes}) => envelopes.flatMap(({ackMs}) => (ackMs === null ? [] : [ackMs])))
    .toSorted((one, other) => one - other);
  const p99 = acks[Math.ceil(acks.length * 0.99) - 1] ?? Number.POSITIVE_INFINITY;
  const isJudged = acks.length >= LEAST_ACKS;
  const signals = [...all('badSignals'), ...harmed];
  say(
    '',
    `Final reports lost ${all('lostReports').length} · duplicate runs ${all('duplicateRuns').length} · clicks without an answer ${all('unanswered').length} · limit violations ${all('overLimits').length}`,
    `Signals that nobody approved ${signals.length}`,
    `Ack of ${acks.length} envelopes: p50 ${(acks[Math.ceil(acks.length / 2) - 1] ?? 0).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (aim: under ${ACK_P99_MS}${isJudged ? '' : `, judged from ${LEAST_ACKS} on`})`,
    ...summary(result.evidence, result.worlds),
    `${Math.round(result.tookMs / 1_000)} s. Again: npm run chaos:slack -- --seed ${result.seed} --conversations ${result.count}`,
  );
  const broken = [
    ...all('lostReports'),
    ...all('duplicateRuns'),
    ...all('unanswered'),
    ...all('overLimits'),
    ...signals,
    ...(!isJudged || p99 < ACK_P99_MS ? [] : [`the ack took ${p99.toFixed(1)} ms at the 99th percentile`]),
  ];
  if (broken.length === 0) return 0;
  say('', 'BROKEN:', ...broken.map((line) => `  ${line}`));
  return 1;
}

/** Nice values count only within a session where the kernel groups tasks by session (sched(7), autogroup); labs have their own. */
function niceOfSession(nice: number): void {
  try {
    writeFileSync('/proc/self/autogroup', String(nice));
  } catch {
    say('This kernel has no autogroups: the lab hosts are held back by nice alone.');
  }
}

process.exitCode = await main();
