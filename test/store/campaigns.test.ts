/** Holds are kept once, beside nobody in the way; ended once; and come back as they went. */
import {describe, expect, it} from 'vitest';
import {type Campaign, campaignId, holdsGpus} from '../../src/domain/campaign.ts';
import {noSamples} from '../../src/domain/samples.ts';
import {load} from '../../src/store/sqlite-library.ts';
import {HOST} from '../doubles/build.ts';
import {aCampaign, aHolder, someFacts} from '../doubles/campaign.ts';
import {opened, storePath} from './fresh-store.ts';

const never = () => false;
const named = (id: string, change: Partial<Campaign> = {}) => aCampaign({id: campaignId(id), ...change});

describe('a hold', () => {
  it('comes back as it was kept, through another opening of the store', async () => {
    const path = storePath();
    const campaign = aCampaign({
      label: 'a "b"',
      gpus: [0, 1],
      out: '/x',
      untilMs: 9,
      channel: 'C1',
      before: [someFacts({see: {holders: [aHolder(7)]}})],
    });
    expect(await (await opened(path)).campaigns.add(campaign, never)).toBe(true);
    const other = await opened(path);
    expect(await other.campaigns.all(5)).toEqual([{campaign, ended: null, card: null, samples: [], notes: []}]);
    await other.campaigns.keepCard(campaign.id, {channel: 'C1', ts: '1.2'});
    const after = [someFacts({uptimeMs: 3})];
    expect(await other.campaigns.end(campaign.id, {by: 'os:bo', atMs: 6, after})).toBe(true);
    expect(await other.campaigns.all(7)).toEqual([
      {campaign, ended: {by: 'os:bo', atMs: 6, after}, card: {channel: 'C1', ts: '1.2'}, samples: [], notes: []},
    ]);
  });

  it('is taken by one of many that ask at once', async () => {
    const path = storePath();
    const [one, other] = [await opened(path), await opened(path)];
    const taken: Parameters<typeof one.campaigns.add>[1] = (all) =>
      all.some(({campaign}) => holdsGpus(campaign, HOST, null));
    const kept = await Promise.all(['c1', 'c2', 'c3'].map((id) => one.campaigns.add(named(id), taken)));
    expect(kept.filter(Boolean)).toHaveLength(1);
    expect(await other.campaigns.add(named('c4'), taken)).toBe(false);
    expect(await other.campaigns.all(5)).toHaveLength(1);
  });

  it('is looked through as long as somebody is owed something of it', async () => {
    const {campaigns} = await opened(storePath());
    for (const id of ['c1', 'c2', 'c3', 'c4']) await campaigns.add(named(id), never);
    for (const id of ['c2', 'c3']) await campaigns.keepCard(campaignId(id), {channel: 'C1', ts: id});
    // Ended before it had a card: there is nowhere to tell of it, and nobody is owed anything.
    for (const id of ['c2', 'c3', 'c4']) await campaigns.end(campaignId(id), {by: 'a', atMs: 5, after: []});
    expect(await campaigns.note(campaignId('c3'), {what: 'ended', atMs: 6, by: ''})).toBe(true);
    expect(await campaigns.note(campaignId('c3'), {what: 'ended', atMs: 7, by: 'x'})).toBe(false);
    await campaigns.note(campaignId('c2'), {what: 'over', atMs: 6, by: ''});
    expect((await campaigns.live()).map(({campaign}) => campaign.id)).toEqual(['c1', 'c2']);
    expect((await campaigns.all(9)).map(({campaign, notes}) => [campaign.id, notes.length])).toEqual([
      ['c1', 0],
      ['c2', 1],
      ['c3', 1],
      ['c4', 0],
    ]);
    // Over, and nobody ends it: it may stand for ever, and is not read each time.
    for (const id of ['c5', 'c6']) await campaigns.add(named(id, {untilMs: 6}), never);
    for (const id of ['c5', 'c6']) await campaigns.note(campaignId(id), {what: 'over', atMs: 7, by: ''});
    await campaigns.note(campaignId('c6'), {what: 'answer:1', atMs: 5, by: 'end os:a'});
    expect((await campaigns.live()).map(({campaign}) => campaign.id)).toEqual(['c1', 'c2', 'c6']);
    await campaigns.note(campaignId('c6'), {what: 'ended', atMs: 8, by: ''});
    await campaigns.end(campaignId('c6'), {by: 'os:a', atMs: 8, after: []});
    // Its card was on its way.
    await campaigns.keepCard(campaignId('c4'), {channel: 'C1', ts: '4'});
    expect((await campaigns.live()).map(({campaign}) => campaign.id)).toEqual(['c1', 'c2', 'c4']);
  });

  it('keeps samples once each, by what they were, and none once it is ended', async () => {
    const path = storePath();
    const {campaigns} = await opened(path);
    const id = campaignId('c1');
    await campaigns.add(named('c1'), never);
    const samples = {...noSamples(HOST), count: 1};
    const first = await Promise.all([1, 2].map(() => campaigns.keepSamples(id, {fromMs: null, nextMs: 9, samples})));
    expect(first.filter(Boolean)).toHaveLength(1);
    expect(await campaigns.keepSamples(id, {fromMs: 8, nextMs: 10, samples})).toBe(false);
    expect(await campaigns.keepSamples(id, {fromMs: 9, nextMs: 10, samples: {...samples, count: 2}})).toBe(true);
    expect(await (await opened(path)).campaigns.live()).toMatchObject([{samples: [{nextMs: 10, samples: {count: 2}}]}]);
    await campaigns.end(id, {by: 'a', atMs: 5, after: []});
    expect(await campaigns.keepSamples(id, {fromMs: 10, nextMs: 11, samples})).toBe(false);
    expect(await campaigns.keepSamples(campaignId('c9'), {fromMs: null, nextMs: 11, samples})).toBe(false);
  });

  it('is ended once', async () => {
    const {campaigns} = await opened(storePath());
    await campaigns.add(named('c1'), never);
    const ends = await Promise.all(
      ['a', 'b', 'c'].map((by) => campaigns.end(campaignId('c1'), {by, atMs: 5, after: []})),
    );
    expect(ends.filter(Boolean)).toHaveLength(1);
    expect(await campaigns.end(campaignId('c9'), {by: 'a', atMs: 5, after: []})).toBe(false);
  });

  it('is listed for 30 days after its end, and for ever before', async () => {
    const {campaigns} = await opened(storePath());
    await campaigns.add(named('c1'), never);
    await campaigns.add(named('c2'), never);
    await campaigns.end(campaignId('c1'), {by: 'a', atMs: 1_000, after: []});
    const days = (count: number) => count * 86_400_000;
    const ids = async (nowMs: number) => (await campaigns.all(nowMs)).map(({campaign}) => campaign.id);
    expect(await ids(days(30))).toEqual(['c1', 'c2']);
    expect(await ids(days(30) + 1_000)).toEqual(['c2']);
  });

  it.each(['{', '{"id":"c1"}', 'null'])('that is damaged is told, never guessed: %s', async (body) => {
    const path = storePath();
    const {campaigns} = await opened(path);
    await campaigns.add(named('c1'), never);
    const {DatabaseSync} = await load();
    const database = new DatabaseSync(path);
    database.prepare('update campaigns set body = ?').run(body);
    database.close();
    await expect(campaigns.all(5)).rejects.toMatchObject({failure: {reason: 'store-unreadable'}});
  });
});
