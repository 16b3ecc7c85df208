/** One species of the zoo: made beside three innocents, reclaimed by the production program, judged by the kernel and the witness. */
import {randomUUID} from 'node:crypto';
import {userInfo} from 'node:os';
import type {Lab} from './lab/lab.ts';
import type {LabProcess} from './lab/process-tree.ts';
import {runInLab} from './lab/run-in-lab.ts';
import {bystander, detachedTrainer, type LabSpec, persistenceDaemon, server} from './lab/species.ts';
import {receivedSignals} from './lab/witness.ts';
import {startLocalSlack} from './slack/local-slack.ts';
import {type Bot, LAB_POLICY, makeBot} from './story/bot.ts';
import {lastRun} from './story/play.ts';
import {makeSlackBot, slackEnv} from './story/slack-bot.ts';
import {differences, recorded} from './story/verdict.ts';
import {type Judged, judge, pidOf, type Told, whyNot} from './zoo-judge.ts';
import type {ZooRow} from './zoo-table.ts';

/** The bot asks its store every few seconds for what other programs closed. */
const NOTED_WITHIN_MS = 30_000;

export interface Innocent {
  readonly who: string;
  readonly process: LabProcess;
}

/** Another user's work, a detached trainer of the same user, and the persistence daemon, all on the same GPU. */
export async function spawnInnocents(lab: Lab): Promise<readonly Innocent[]> {
  return [
    {who: 'another user', process: await lab.spawn(bystander([{gpu: 0, MiB: 2_048}]))},
    {who: 'detached trainer', process: await lab.spawn(detachedTrainer([{gpu: 0, MiB: 1_024}]))},
    {who: 'persistence daemon', process: await lab.spawn(persistenceDaemon(lab.gpus.length))},
  ];
}

export async function playRound(lab: Lab, host: string, row: ZooRow, innocents: readonly Innocent[]): Promise<Judged> {
  const before = await lab.ledger();
  const seen = (await lab.witness()).length;
  const beside = row.beside ?? [];
  const share = randomUUID();
  const own = (spec: LabSpec): LabSpec => ({
    ...spec,
    ...(spec.share === undefined ? {} : {share}),
    ...(row.seenBefore === true ? {parentsLive: true} : {}),
  });
  const starting = [
    lab.spawn((row.parent ?? ((workers) => server(workers)))(row.workers.map(own))),
    ...beside.map((spec) => lab.spawn(own(spec))),
  ];
  const [parent, ...others] = await Promise.all(starting);
  if (parent === undefined) throw new Error('Internal error: nothing was started');
  const family = [parent, ...others].flatMap(everyone);
  const holder = family.find((one) => one.label === row.holder);
  if (holder === undefined) throw new Error(`Internal error: ${row.species} has no ${row.holder}`);
  const pid = holder.zombie ?? holder.pid;

  const program = row.looksAgain === true ? await startWatching(lab, host) : {bot: makeBot({[host]: lab}), stop: null};
  const {bot} = program;
  try {
    if (row.seenBefore === true) {
      await bot.run('status', host);
      await lab.orphan(holder);
    }
    const told = await reclaim(bot, host, row.looksAgain === true);
    const signals = receivedSignals((await lab.witness()).slice(seen));
    const sent = signals.map((one) => ({pid: one.pid, signal: one.signal}));
    const shown = [...(told.plan?.targets ?? []), ...(told.plan?.kept ?? [])].find((one) => pidOf(one) === pid);
    const harmed: string[] = [];
    for (const {who, process} of innocents) {
      const got = signals.filter((one) => one.pid === process.pid).map((one) => one.signal);
      if (got.length > 0) harmed.push(`${who} got ${got.join(', ')}`);
      if (!(await lab.alive(process.pid))) harmed.push(`${who} is dead`);
    }
    const left = await lab.ledger();
    const freed = left.every((MiB, gpu) => MiB <= (before[gpu] ?? 0));
    const survivor = told.outcome?.survivors.find((one) => one.pid === pid);
    const facts = {
      species: row.species,
      findings: shown?.findings ?? [],
      freed,
      refused: whyNot(shown, survivor, row.must, told.report),
      serverGone: !(await lab.alive(parent.pid)),
      harmed,
      freedAfterMs: told.outcome?.freedAfterMs ?? null,
      report: told.report,
    };
    const touched = signals.some((one) => one.pid === pid);
    const unrecorded = differences(sent, await recorded(bot));
    return {...facts, broken: [...judge(row, facts, told, touched), ...unrecorded]};
  } finally {
    await program.stop?.();
    bot.remove();
    await clear(lab, family, innocents, before);
  }
}

/** As a person would at a terminal: the plan, its go, and the run as it is shown afterwards. */
async function reclaim(bot: Bot, host: string, untilNoted: boolean): Promise<Told> {
  const planned = await bot.json('reclaim', host, 'match=vllm');
  const confirm = planned['confirm'];
  if (typeof confirm === 'string') await bot.run('reclaim', host, '--confirm', confirm);
  const deadline = Date.now() + NOTED_WITHIN_MS;
  let run = await lastRun(bot);
  while (untilNoted && !run.events.some((event) => event.kind === 'noted') && Date.now() < deadline)
    run = await lastRun(bot);
  const events = run.events as readonly {readonly kind: string; readonly plan?: Told['plan']}[];
  const plan = events.findLast((event) => event.kind === 'planned')?.plan ?? null;
  return {plan, outcome: run.outcome as Told['outcome'], report: (await bot.run('show', run.id)).out};
}

/** The bot beside the terminal, on the same store: it is the one that looks again. */
async function startWatching(lab: Lab, host: string): Promise<{readonly bot: Bot; readonly stop: () => Promise<void>}> {
  const slack = await startLocalSlack({port: 0});
  const env = slackEnv(slack);
  const bot = makeBot({[host]: lab}, {...LAB_POLICY, lookAgain: ['1s', '3s']}, {env, owner: userInfo().username});
  const running = makeSlackBot(bot, slack);
  await running.start();
  return {
    bot,
    stop: async () => {
      await running.stop();
      await slack.close();
    },
  };
}

function everyone(process: LabProcess): readonly LabProcess[] {
  return [process, ...process.workers.flatMap(everyone)];
}

/** Whatever the product left is ended here, parents first, so that the next species starts on a clean GPU. */
async function clear(
  lab: Lab,
  family: readonly LabProcess[],
  innocents: readonly Innocent[],
  before: readonly number[],
): Promise<void> {
  const kept = new Set(innocents.map((one) => one.process.pid));
  const deadline = Date.now() + 5_000;
  for (const {pid} of family) await runInLab(lab, `kill -KILL ${pid}`);
  if (lab.features.has('shm')) await runInLab(lab, 'rm -f /dev/shm/nccl-lab*');
  while ((await lab.ledger()).some((MiB, gpu) => MiB > (before[gpu] ?? 0)) && Date.now() < deadline) {
    const holders = (await lab.ledgerEntries()).map((one) => one.pid).filter((pid) => !kept.has(pid));
    await runInLab(lab, `kill -KILL ${holders.join(' ')}`);
  }
}
