/** One reclaim of a zoo through the product: look, plan, go; and what it said of it, as the table needs it. */

import type {Outcome} from '../../domain/outcome.ts';
import type {Plan} from '../../domain/plan.ts';
import type {RunEvent} from '../../domain/run.ts';
import {backAfterMs, startPoller} from './poller.ts';
import type {Json, Product} from './product.ts';
import type {ProductPart, SentSignal} from './results.ts';
import type {Site} from './site.ts';
import type {Zoo} from './zoo.ts';

interface Told {
  readonly plan: Plan | null;
  readonly outcome: Outcome | null;
  readonly events: readonly RunEvent[];
}

export interface ReclaimAsked {
  readonly site: Site;
  readonly product: Product;
  readonly zoo: Zoo;
  readonly gpus: readonly number[];
  /** GPU range of the request; null for all. */
  readonly range: string | null;
  /** Sum over `gpus` at which the species' memory is back. */
  readonly atMostMiB: number;
}

/** Asks for what belongs to the server by name; if that leaves the holder alone, asks once more for it by PID. */
export async function reclaim(asked: ReclaimAsked): Promise<ProductPart> {
  const {zoo, site, product} = asked;
  const words = asked.range === null ? [] : [`gpus=${asked.range}`];
  const poller = await startPoller(site, asked.gpus);
  try {
    const told = [await once(product, site, ['match=vllm', ...words])];
    if ((await zoo.state())['holder']?.alive === true) {
      const pid = zoo.pids.get('holder');
      if (pid !== undefined) told.push(await once(product, site, [`pid=${pid}`, ...words]));
    }
    await untilBack(asked, poller.samples);
    return part(asked, told, poller.samples);
  } finally {
    await poller.stop();
  }
}

async function once(product: Product, site: Site, words: readonly string[]): Promise<Told> {
  const shown = await product.ask('reclaim', site.name, ...words);
  if (typeof shown['confirm'] !== 'string') return tell(shown, null);
  const done = await product.ask('reclaim', site.name, '--confirm', shown['confirm']);
  return tell(shown, done);
}

function tell(shown: Json, done: Json | null): Told {
  const last = done ?? shown;
  const run = (last['run'] ?? shown['run']) as {readonly events: readonly RunEvent[]} | undefined;
  const events = run?.events ?? [];
  const planned = events.findLast((event) => event.kind === 'planned');
  const outcome = (last['outcome'] ?? null) as Outcome | null;
  if (outcome === null && last['failure'] !== undefined)
    throw new Error(`the product refused: ${JSON.stringify(last['failure'])}`);
  return {plan: planned?.kind === 'planned' ? planned.plan : null, outcome, events};
}

/** The driver may still tear down when the product has ended without success: the poll goes on for 2 s at most. */
async function untilBack(asked: ReclaimAsked, samples: ProductPart['polled']): Promise<void> {
  const end = performance.now() + 2000;
  const isBack = (): boolean => (samples.at(-1)?.[1].reduce((total, one) => total + one, 0) ?? 0) <= asked.atMostMiB;
  while (!isBack() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
}

function part(asked: ReclaimAsked, told: readonly Told[], samples: ProductPart['polled']): ProductPart {
  const {zoo} = asked;
  const pid = zoo.pids.get('holder');
  const plans = told.flatMap(({plan}) => (plan === null ? [] : [plan]));
  const target = plans.flatMap((plan) => plan.targets).find((one) => one.identity.pid === pid);
  const kept = plans.flatMap((plan) => plan.kept).find((one) => one.pid === pid);
  const signals = told.flatMap(({events}) => events).flatMap((event) => signalOf(event, zoo));
  const lastSignalUptimeMs = signals.filter((one) => one.result === 'sent').at(-1)?.uptimeMs ?? null;
  const outcome = told.at(-1)?.outcome ?? null;
  return {
    findings: target?.findings ?? kept?.findings ?? [],
    belonging: target?.belonging.by ?? null,
    plan: plans.flatMap((plan) => [
      ...plan.targets.map((one) => `${zoo.nameOf(one.identity.pid)}: ${one.role}, ${one.findings.join(' ')}`),
      ...plan.kept.map((one) => `${zoo.nameOf(one.pid)}: kept, ${one.why}`),
    ]),
    outcome: outcome?.word ?? 'none',
    requests: told.length,
    signals,
    freedAfterMs: outcome?.freedAfterMs ?? null,
    lastSignalUptimeMs,
    teardownMs: lastSignalUptimeMs === null ? null : backAfterMs(samples, lastSignalUptimeMs, asked.atMostMiB),
    polled: [...samples],
  };
}

function signalOf(event: RunEvent, zoo: Zoo): readonly SentSignal[] {
  if (event.kind !== 'signal-result') return [];
  const {signal, result, uptimeMs} = event;
  return [{name: zoo.nameOf(event.pid), signal, result, uptimeMs}];
}
