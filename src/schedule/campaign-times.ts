/**
 * When campaigns are sampled. The store says what is due, so that a restart goes on where it was, and what came due
 * meanwhile is a gap that the next sample tells.
 */
import type {CampaignVerbs, DueSample} from '../engine/campaign-ports.ts';
import type {Clock, Log} from '../engine/ports.ts';

export interface CampaignTimesDeps {
  readonly engine: Pick<CampaignVerbs, 'comingSamples' | 'takeSample'>;
  readonly clock: Clock;
  readonly log: Log;
  /** How often the store is asked for what others began, ms. */
  readonly everyMs: number;
  /** Ends it: nothing is begun any more. */
  readonly over: AbortSignal;
}

/** Resolves once it is over and nothing is under way. A failing store is waited out. */
export async function keepCampaigns({engine, clock, log, everyMs, over}: CampaignTimesDeps): Promise<void> {
  /** One look at a time on one host: a slow one is a gap, never two at once. */
  const working = new Map<string, Promise<void>>();
  const begin = (key: string, act: () => Promise<void>): void => {
    if (working.has(key)) return;
    working.set(
      key,
      act().finally(() => working.delete(key)),
    );
  };
  const sample = async ({id, host}: DueSample): Promise<void> => {
    const taken = await engine.takeSample(id, host);
    if (!taken.ok && !over.aborted) log.error({campaign: id, host, failure: taken.failure}, 'a sample was not kept');
  };
  while (!over.aborted) {
    const coming = await engine.comingSamples();
    if (!coming.ok) log.error({failure: coming.failure}, 'due samples could not be read');
    const samples = coming.ok ? coming.value : [];
    const due = samples.filter(({dueAtMs}) => dueAtMs <= clock.now());
    for (const one of due) begin(`sample ${one.id} ${one.host}`, () => sample(one));
    const nextMs = Math.min(...samples.filter((one) => !due.includes(one)).map(({dueAtMs}) => dueAtMs));
    await clock.wait(Math.max(0, Math.min(everyMs, nextMs - clock.now())), over);
  }
  await Promise.all(working.values());
}
