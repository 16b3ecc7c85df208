/** App Home and its forms as pure views: worst cases fit, hostile text stays text, and an old look is no knowledge. */
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {type Host, hostName} from '../../src/domain/host.ts';
import type {SeenHost} from '../../src/domain/host-report.ts';
import {scheduleId} from '../../src/domain/schedule.ts';
import {type HomeModel, homeView} from '../../src/slack/blocks/home.ts';
import {fleetBlocks} from '../../src/slack/blocks/home-fleet.ts';
import {
  answerModal,
  diagnoseModal,
  proposeModal,
  reportModal,
  reportSureModal,
} from '../../src/slack/blocks/home-modals.ts';
import {twinOf} from '../../src/slack/blocks/message.ts';
import {checkView} from '../../src/slack/check-blocks.ts';
import {readDraft, writeDraft} from '../../src/slack/report-draft.ts';
import {aHost} from '../doubles/build.ts';
import {kept} from '../doubles/campaign.ts';
import {BROADCAST, hostile, INVISIBLE, mrkdwnIn, stringsIn} from './blocks-hostile-text.ts';
import {reclaimedRun} from './blocks-runs.ts';

const AT = 1_700_000_000_000;
const HOUR = 3_600_000;

function seen(name: string, state: 'clean' | 'dirty' | 'occupied' | 'unknown', atMs = AT): SeenHost {
  return {
    state: 'seen',
    host: hostName(name),
    takenAtMs: atMs,
    bootId: 'b',
    gpus: [{uuid: 'u', index: 0, state, usedMiB: 2_048, unexplainedMiB: 0}],
    holders: [],
  };
}

/** Everything as long and as many as it may come, with this text wherever somebody else wrote. */
function worst(text: string, count: number): HomeModel {
  const run = reclaimedRun();
  const linked = {run: {...run, host: hostName(text)}, link: '<https://local/archives/C1/p1|the card>'};
  const hold = kept({hosts: [hostName(text)], by: 'slack:U0ANNA', label: text, out: text});
  const schedule = {
    id: scheduleId('s00000'),
    when: {kind: 'cron', pattern: text},
    zone: text,
    hosts: Array.from({length: 50}, () => ({kind: 'glob', pattern: text}) as const),
    channel: 'C1',
    quiet: true,
    by: `os:${text}`,
    createdAtMs: AT,
  } as const;
  const times = (n: number): readonly number[] => Array.from({length: n}, (_, nth) => nth);
  return {
    nowMs: AT,
    command: '/gpu',
    me: 'slack:U0ANNA',
    paused: {by: `os:${text}`, atMs: AT},
    waiting: times(count).map(() => linked),
    mine: times(count).map(() => linked),
    othersOpen: count,
    fleet: times(count * 10).map((nth) => ({
      name: hostName(`${text}${nth}`),
      seen: nth % 3 === 0 ? null : seen(text, 'dirty'),
      failed:
        nth % 2 === 0
          ? null
          : {
              failure: {reason: 'host-unreachable', host: hostName(text), address: text, detail: text},
              atMs: AT + 1,
            },
    })),
    looking: false,
    holds: times(count).map(() => ({kept: hold, link: linked.link})),
    schedules: times(count).map(() => ({
      schedule,
      nextMs: AT,
      watch: null,
      message: null,
      nextTimes: [AT, AT, AT],
      last: null,
    })),
    channel: 'C1',
    unread: [text],
  };
}

/** What our own code writes in angle brackets. */
const OURS =
  /<!date\^\d+\^(\{date_short\} )?\{time_secs\}\|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC>|<@U0(ANNA|BOB)>|<#C1>|<https:\/\/local\/archives\/C1\/p1\|the card>/g;

function expectSafeView(view: {readonly blocks: readonly unknown[]}): void {
  expect(checkView(view)).toEqual([]);
  for (const text of stringsIn(view.blocks)) {
    const rest = text.replaceAll(OURS, '');
    expect(rest).not.toMatch(/[<>]/);
    expect(rest).not.toMatch(INVISIBLE);
  }
  for (const text of mrkdwnIn(view.blocks)) {
    expect(text).not.toMatch(/&(?!amp;|lt;|gt;)/);
    expect(text.replaceAll(/`[^`]*`/g, '')).not.toMatch(BROADCAST);
  }
}

describe('App Home', () => {
  it('fits with everything in plenty, and stays text whatever hosts and people write', () => {
    fc.assert(
      fc.property(hostile, fc.constantFrom(1, 30), (text, count) => expectSafeView(homeView(worst(text, count)))),
      {numRuns: 40},
    );
  });

  it('counts what it leaves out', () => {
    const text = twinOf(homeView(worst('gpu', 30)).blocks as Parameters<typeof twinOf>[0]);
    expect(text.match(/… 22 more/g)).toHaveLength(3);
    expect(text).toContain('… 18 more: `/gpu schedules` lists them');
    expect(text).toMatch(/… 270 more hosts: \d+ dirty, \d+ not seen|… 270 more hosts: \d+ not seen/);
    expect(text).toContain('30 runs of others are open');
  });

  it('puts the worst first, and takes a look of yesterday or a later try that failed for no knowledge', () => {
    const failed = {
      failure: {reason: 'host-unreachable', host: hostName('e'), address: 'x', detail: 'x'},
      atMs: AT - HOUR,
    } as const;
    const text = twinOf(
      fleetBlocks(
        [
          {name: hostName('a'), seen: seen('a', 'clean'), failed: null},
          {name: hostName('b'), seen: seen('b', 'clean', AT - 25 * HOUR), failed: null},
          {name: hostName('c'), seen: seen('c', 'dirty'), failed: null},
          {name: hostName('d'), seen: null, failed: null},
          {name: hostName('e'), seen: seen('e', 'clean', AT - 2 * HOUR), failed},
          {name: hostName('f'), seen: seen('f', 'clean', AT), failed},
          {name: hostName('g'), seen: seen('g', 'unknown'), failed: null},
        ],
        AT,
        false,
      ),
    );
    expect(text).toContain('*Fleet*: 7 hosts: 1 dirty, 3 not seen, 1 unknown, 2 clean');
    expect([...text.matchAll(/\*([a-g])\*/g)].map((hit) => hit[1])).toEqual(['c', 'b', 'd', 'e', 'g', 'a', 'f']);
    expect(text).toMatch(/❔ \*b\* not seen for a day · before: clean 1 GPU, looked/);
    expect(text).toMatch(/❔ \*d\* never looked at/);
    expect(text).toMatch(/❔ \*e\* not seen: host unreachable, tried .* · before: clean 1 GPU/);
    expect(text).toMatch(/✅ \*f\* clean 1 GPU · looked/);
  });

  it('has one’s own schedules first, and no Remove on those of the policy file', () => {
    const model = worst('gpu', 2);
    const [one, two] = model.schedules;
    if (one === undefined || two === undefined) throw new Error('two were asked for');
    const blocks = JSON.stringify(
      homeView({
        ...model,
        schedules: [
          {...one, schedule: {...one.schedule, id: scheduleId('file:nightly'), by: 'file'}},
          {...two, schedule: {...two.schedule, id: scheduleId('s11111'), by: model.me}},
        ],
      }).blocks,
    );
    expect(blocks.indexOf('s11111')).toBeLessThan(blocks.indexOf('file:nightly'));
    expect([...blocks.matchAll(/"value":"(schedule:[^"]+)"/g)].map((hit) => hit[1])).toEqual(['schedule:s11111']);
  });
});

describe('its forms', () => {
  const hosts = (count: number, text = 'gpu'): readonly Host[] =>
    Array.from({length: count}, (_, nth) =>
      aHost({name: hostName(`${text}-${nth}`), groups: nth % 2 === 0 ? ['h200'] : [`${text}-0`]}),
    );

  it.each([0, 1, 60, 100, 101, 500])('fit with %i hosts', (count) => {
    for (const view of [
      diagnoseModal(hosts(count)),
      proposeModal(hosts(count), 'C1'),
      reportModal(hosts(count), 'Europe/Berlin', 'C1', ''),
    ])
      expect(checkView(view)).toEqual([]);
  });

  it('show what was typed as text', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const asked = {
          hosts: [{kind: 'glob', pattern: text}],
          when: {kind: 'cron', pattern: text},
          zone: text,
          channel: 'C1',
          quiet: true,
          by: 'slack:U0ANNA',
        } as const;
        expectSafeView(reportSureModal(asked, [AT, AT, AT], ''));
        expectSafeView(answerModal('Help', {text, blocks: []}));
      }),
      {numRuns: 25},
    );
  });

  it('carry what belongs to a report, and nothing that no form of ours carried', () => {
    const draft = {hosts: ['all'], when: 'every 4h', zone: 'UTC', channel: 'C1', quiet: false};
    expect(readDraft(writeDraft(draft) ?? '')).toEqual(draft);
    expect(writeDraft({...draft, hosts: Array.from({length: 200}, () => 'x'.repeat(60))})).toBeNull();
    for (const text of ['', '{}', '[]', 'null', '{"hosts":[]}', JSON.stringify({...draft, by: 'slack:U0EVIL'})])
      expect(readDraft(text)).toBeNull();
  });
});
