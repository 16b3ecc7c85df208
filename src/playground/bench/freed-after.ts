/**
 * From the last signal to "verified free", and whose time that is: the kernel's ledger says when the memory was gone, the
 * run's own events say when we knew.
 */
import {readFileSync} from 'node:fs';
import type {Lab} from '../lab/lab.ts';
import {deaf} from '../lab/species.ts';
import {type Bot, LAB_POLICY} from '../story/bot.ts';
import {lastRun} from '../story/play.ts';
import {median} from './rounds.ts';

export interface FreedAfter {
  readonly runs: number;
  /** Medians, ms. The signal's and our stamps are the host's /proc/uptime: 10 ms steps. */
  readonly totalMs: number;
  readonly kernelMs: number;
  readonly oursMs: number;
}

/** Each run: one process that takes 1,000 MiB on each of `gpus` and blocks SIGTERM, so that one kill -9 frees it all. */
export async function measureFreedAfter(
  lab: Lab,
  bot: Bot,
  gpus: readonly number[],
  runs: number,
): Promise<FreedAfter> {
  bot.setPolicy({...LAB_POLICY, limits: {runsPerPerson: 100}});
  const uptimeMs = uptimeClock();
  const total: number[] = [];
  const kernel: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const holder = await lab.spawn(
      deaf(
        gpus.map((gpu) => ({gpu, MiB: 1_000})),
        {argv: ['python3', '-m', 'bench.holder']},
      ),
    );
    const plan = await bot.json('reclaim', lab.name, `pid=${holder.pid}`, 'reason=bench');
    const going = bot.start('reclaim', lab.name, '--confirm', String(plan['confirm']), '--json');
    const freedAtMs = await whenFreed(lab, holder.pid, uptimeMs, going.done);
    await going.done;
    const {signalledAtMs, settledAtMs} = await stampsOf(bot);
    total.push(settledAtMs - signalledAtMs);
    kernel.push(Math.max(0, freedAtMs - signalledAtMs));
  }
  const totalMs = median(total);
  const kernelMs = median(kernel);
  return {runs, totalMs, kernelMs, oursMs: totalMs - kernelMs};
}

/** Polls the kernel's lock list from outside the lab; throws if the program ends and the memory is still taken. */
async function whenFreed(
  lab: Lab,
  pid: number,
  uptimeMs: () => number,
  done: Promise<{readonly code: number | null; readonly out: string; readonly err: string}>,
): Promise<number> {
  let ended: string | null = null;
  void done.then(({code, out, err}) => {
    ended = `exit ${code}\n${err}${out}`;
  });
  for (;;) {
    const over: string | null = ended;
    if (!(await lab.ledgerEntries()).some((entry) => entry.pid === pid)) return uptimeMs();
    if (over !== null) throw new Error(`PID ${pid} still holds memory after ${over}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function stampsOf(bot: Bot): Promise<{readonly signalledAtMs: number; readonly settledAtMs: number}> {
  const run = await lastRun(bot);
  if (run.outcome?.word !== 'reclaimed') throw new Error(`a bench run ended as ${run.outcome?.word ?? run.phase}`);
  const events = run.events as readonly {readonly kind: string; readonly uptimeMs?: number; readonly result?: string}[];
  const signalledAtMs = events.findLast((one) => one.kind === 'signal-result' && one.result === 'sent')?.uptimeMs;
  const settledAtMs = events.findLast((one) => one.kind === 'settled')?.uptimeMs;
  if (signalledAtMs === undefined || settledAtMs === undefined) throw new Error('a bench run has no stamps');
  return {signalledAtMs, settledAtMs};
}

/** /proc/uptime without its 10 ms steps: the monotonic clock, set to the moment when the last step began. */
function uptimeClock(): () => number {
  const read = (): number => Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000;
  const before = read();
  let now = read();
  while (now === before) now = read();
  const offsetMs = now - performance.now();
  return () => performance.now() + offsetMs;
}
