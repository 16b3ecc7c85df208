/** The round of samples and notices: one thing at a time, told again only if it was not told, and over when it is over. */
import {describe, expect, it} from 'vitest';
import {campaignId} from '../../src/domain/campaign.ts';
import {fail, ok} from '../../src/domain/failure.ts';
import type {CampaignTelling, OwedNotice} from '../../src/engine/campaign-ports.ts';
import {keepCampaigns} from '../../src/schedule/campaign-times.ts';
import {HOST} from '../doubles/build.ts';
import {kept} from '../doubles/campaign.ts';

const NOTICE: OwedNotice = {kind: 'over', what: 'over', dueAtMs: 5, question: null, late: false, kept: kept()};
const FULL = fail({reason: 'store-unwritable', path: 'x', detail: 'full'});

/** So many rounds, each as soon as the one before has done all that it began. */
async function rounds(
  count: number,
  change: Partial<Parameters<typeof keepCampaigns>[0]['engine']>,
  telling: CampaignTelling,
) {
  const over = new AbortController();
  const seen = {told: 0, waits: [] as number[], errors: [] as string[]};
  let left = count;
  await keepCampaigns({
    engine: {
      comingSamples: async () => ok([]),
      takeSample: async () => ok(null),
      noticesOwed: async () => ok({notices: [NOTICE], unfinished: [], watched: [], nextMs: null}),
      noticeTold: async () => ok(null),
      finishEnd: async () => ok(null),
      checkHeld: async () => ok(null),
      ...change,
    },
    teller: {
      tell: async () => {
        seen.told += 1;
        return telling;
      },
    },
    clock: {
      now: () => 1_000,
      ticks: () => 0,
      wait: async (ms) => {
        seen.waits.push(ms);
        left -= 1;
        await new Promise((resolve) => setImmediate(resolve));
        if (left === 0) over.abort();
      },
    },
    log: {info: () => undefined, warn: () => undefined, error: (_, message) => void seen.errors.push(message)},
    everyMs: 5_000,
    watchEveryMs: 60_000,
    over: over.signal,
  });
  return seen;
}

const CARD = {kind: 'told', card: {channel: 'C1', ts: '1'}} as const;

describe('the round of campaigns', () => {
  it('tells again what stayed owed', async () => {
    expect((await rounds(3, {}, {kind: 'later'})).told).toBe(3);
  });

  it('does not tell twice what a full store could not write down, and writes it once it can', async () => {
    let tries = 0;
    const noticeTold = async () => {
      tries += 1;
      return tries < 3 ? FULL : ok(null);
    };
    const noticesOwed = async () => ok({notices: tries < 3 ? [NOTICE] : [], unfinished: [], watched: [], nextMs: null});
    const seen = await rounds(6, {noticeTold, noticesOwed}, CARD);
    expect([seen.told, tries, seen.errors.length]).toEqual([1, 3, 2]);
  });

  it('wakes for the next sample and the next end, and no later than its interval', async () => {
    const one = {id: campaignId('c1'), host: HOST, dueAtMs: 3_000, everyMs: 10_000};
    expect((await rounds(1, {comingSamples: async () => ok([one])}, CARD)).waits).toEqual([2_000]);
    const nextMs = async () => ok({notices: [], unfinished: [], watched: [], nextMs: 1_500});
    expect((await rounds(1, {noticesOwed: nextMs}, CARD)).waits).toEqual([500]);
    expect((await rounds(1, {noticesOwed: async () => FULL, comingSamples: async () => FULL}, CARD)).waits).toEqual([
      5_000,
    ]);
  });

  it('does not look more often than was asked for where a full store keeps no sample', async () => {
    const one = {id: campaignId('c1'), host: HOST, dueAtMs: 3, everyMs: 10_000};
    let looks = 0;
    const takeSample = async () => {
      looks += 1;
      return FULL;
    };
    const seen = await rounds(5, {comingSamples: async () => ok([one]), takeSample}, CARD);
    expect([looks, seen.errors.length]).toEqual([1, 1]);
  });

  it('makes one sample of a host at a time, and finishes what somebody has ended', async () => {
    const one = {id: campaignId('c1'), host: HOST, dueAtMs: 3, everyMs: 0};
    let [under, most, made] = [0, 0, 0];
    const finished: string[] = [];
    await rounds(
      5,
      {
        comingSamples: async () => ok([one]),
        takeSample: async () => {
          under += 1;
          made += 1;
          most = Math.max(most, under);
          await new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));
          under -= 1;
          return ok(null);
        },
        noticesOwed: async () => ok({notices: [], unfinished: [campaignId('c1')], watched: [], nextMs: null}),
        finishEnd: async (id) => {
          finished.push(id);
          return ok(null);
        },
      },
      CARD,
    );
    expect(most).toBe(1);
    expect(made).toBeGreaterThan(1);
    expect(finished).toContain('c1');
  });
});
