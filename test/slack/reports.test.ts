/** Scheduled reports through a real Bolt over the local Slack: asked, listed, removed, told, kept quiet, told elsewhere. */
import {readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {ok} from '../../src/domain/failure.ts';
import type {RemoteHosts} from '../../src/engine/remote-ports.ts';
import type {SlackMessage} from '../../src/playground/slack/news.ts';
import {ACTION} from '../../src/slack/ids.ts';
import {lookOnly, unreachable} from '../doubles/look-only.ts';
import {HOST, type Rig, type RigOptions, startRig} from './rig.ts';

const NONCE = '0123456789abcdef0123456789abcdef';
/** A real H200 with an inheritor on it: dirty. */
const H200 = readFileSync(new URL('../fixtures/probes/h200.txt', import.meta.url), 'utf8');
/** The same host after a reboot. */
const REBOOTED = H200.replace(/boot_id \S+/, 'boot_id 00000000-0000-0000-0000-000000000001');
const HOUR = 3_600_000;

/** Hosts that answer with what is said for them; null: not reachable. */
function hostsThat(say: (name: string) => string | null): RemoteHosts {
  return {
    host: (name) =>
      lookOnly(name, async () => {
        const said = say(name);
        if (said === null) return unreachable(name);
        const stdout = new TextEncoder().encode(said);
        return ok({host: name, hostKey: 'SHA256:k', nonce: NONCE, stdout, stderr: '', exitCode: 0, tookMs: 9});
      }),
    close: async () => undefined,
  };
}

async function reporting(options: RigOptions = {}) {
  const host = {says: H200 as string | null};
  const rig = await startRig({remote: hostsThat(() => host.says), ...options});
  return {rig, host};
}

function buttonsOf(message: {readonly blocks?: readonly unknown[]} | undefined): readonly string[] {
  return [...JSON.stringify(message?.blocks ?? []).matchAll(/"action_id":"([a-z_]+)"/g)].map((hit) => hit[1] ?? '');
}

const isReport = (message: SlackMessage): boolean => message.text.includes('GPU report on');

/** Asks, and gives the private answer. */
async function ask({slack}: Rig, text: string) {
  await slack.type(slack.users.requester, text);
  return slack.nextEphemeral((one) => one.to === slack.users.requester.id);
}

describe('/gpu report', () => {
  it('without a time looks now: one table, and each dirty host in the thread with a button that only opens a card', async () => {
    const {rig} = await reporting();
    const {slack} = rig;
    expect((await ask(rig, `/gpu report ${HOST}`)).text).toContain('Looking now');
    const root = await slack.nextPost(isReport);
    expect(root.text).toMatch(/^\*1 host: 1 dirty\* · GPU report on gpu-07\n/);
    expect(root.text).toMatch(/^gpu-07 · dirty · [\d,]+ · GPU 0 /m);
    expect(root.text).toMatch(/Last looked .*, 1 of 1 · no more comes · nothing was signalled/);
    const detail = await slack.nextReply((message) => buttonsOf(message).includes(ACTION.propose));
    expect(detail.thread_ts).toBe(root.ts);
    expect(detail.text).toContain('ghost');
    await slack.click(slack.users.approver, detail.ts, ACTION.propose, {card: detail});
    const card = await slack.nextPost((message) => !isReport(message));
    expect(card.text).toContain(HOST);
    expect(rig.executed).toEqual([]);
    expect(rig.fatal).toEqual([]);
  });

  it('with a time says the next three in the zone of who asks, or in the one that is named', async () => {
    const {rig} = await reporting();
    const own = await ask(rig, `/gpu report ${HOST} every weekday 18:00`);
    expect(own.text).toMatch(
      /Schedule `s[0-9a-f]{5}`: gpu-07 every weekday 18:00 \(Europe\/Berlin, quiet\), told in <#C0GPUOPS>/,
    );
    expect(own.text.match(/Next: (.*)/)?.[1]?.match(/<!date\^\d+\^/g)).toHaveLength(3);
    const named = await ask(rig, `/gpu report all tomorrow 07:30 Asia/Tokyo to=<#C0RANDOM|random>`);
    expect(named.text).toMatch(/all tomorrow 07:30 \(Asia\/Tokyo\), told in <#C0RANDOM>/);
    expect((await ask(rig, `/gpu report ${HOST} every fortnight 18:00`)).text).toContain('"fortnight" is no day');
    expect((await ask(rig, '/gpu report gpu-99 now')).text).toContain('"gpu-99" is not in the hosts file');
  });

  it('takes UTC, and says so, where Slack does not tell the zone', async () => {
    const {rig} = await reporting();
    rig.slack.setFault({
      kind: 'refuse',
      method: 'users.info',
      error: 'user_not_found',
      times: Number.POSITIVE_INFINITY,
    });
    expect((await ask(rig, `/gpu report ${HOST} every day 18:00`)).text).toMatch(
      /\(UTC, quiet\)[\s\S]*so UTC is meant/,
    );
  });

  it('on 40 hosts is one table, the worst first', async () => {
    const hosts = Array.from({length: 40}, (_, at) => `gpu-${String(at).padStart(2, '0')}`);
    const {rig} = await reporting({
      hosts,
      remote: hostsThat((name) => (name === 'gpu-31' ? null : name === 'gpu-07' ? H200 : '')),
    });
    await ask(rig, '/gpu report gpu-*');
    const root = await rig.slack.nextPost(isReport);
    expect(root.text).toContain('*40 hosts: 1 dirty, 39 not seen*');
    const rows = root.text.split('\n').filter((line) => /^gpu-\d\d · (dirty|not seen) · /.test(line));
    expect(rows).toHaveLength(40);
    expect(rows[0]).toMatch(/^gpu-07 · dirty · /);
    expect(root.text).toContain('1 of 40: what was not seen is unknown, not clean');
    expect((await rig.slack.nextReply((message) => message.text.includes('Not seen:'))).text).toContain(
      '• gpu-00: the look',
    );
  });
});

describe('/gpu schedules', () => {
  it('lists what is to come, and removes by button and by id', async () => {
    const {rig} = await reporting();
    const {slack} = rig;
    expect((await ask(rig, '/gpu schedules')).text).toContain('No schedule yet');
    const added = await ask(rig, `/gpu report ${HOST} every 4h`);
    const id = /s[0-9a-f]{5}/.exec(added.text)?.[0] ?? '';
    await ask(rig, `/gpu report ${HOST} when idle 20m`);
    const list = await ask(rig, '/gpu schedules');
    expect(list.text).toMatch(
      /\*2 schedules\*[\s\S]*gpu-07 every 4h \(Europe\/Berlin, quiet\)[\s\S]*none made yet · by <@U0REQUESTER>/,
    );
    expect(list.text).toMatch(/gpu-07 when idle 20m .*\n.*waiting, looks again/);
    expect(buttonsOf(list)).toEqual([ACTION.removeSchedule, ACTION.removeSchedule, ACTION.share]);
    await slack.click(slack.users.requester, added.ts, ACTION.removeSchedule);
    expect((await slack.nextEphemeral((one) => one.text.includes('is removed'))).text).toContain(id);
    const left = await ask(rig, '/gpu schedules');
    expect(left.text).not.toContain(id);
    const other = /s[0-9a-f]{5}/.exec(left.text)?.[0] ?? '';
    expect((await ask(rig, `/gpu schedules remove ${other}`)).text).toContain(`Schedule ${other} is removed`);
    expect((await ask(rig, `/gpu schedules remove ${other}`)).text).toContain('No schedule is called');
  });
});

/** A repeating schedule whose first report is told. */
async function repeating(phrase: string, options: RigOptions = {}) {
  const made = await reporting(options);
  const {rig} = made;
  await ask(rig, `/gpu report ${HOST} ${phrase}`);
  rig.skip(4 * HOUR);
  const root = await rig.slack.nextPost(isReport);
  await rig.slack.nextReply((message) => buttonsOf(message).includes(ACTION.propose));
  await told(rig, 1);
  return {...made, root};
}

/** So many reports are told, and none is under way. */
async function told(rig: Rig, count: number): Promise<void> {
  await expect
    .poll(async () => {
      const [one] = await rig.store.schedules.all(0);
      const all = one === undefined ? [] : await rig.store.schedules.reportsOf(one.schedule.id, 20);
      return all.filter(({phase}) => phase === 'told').length === count && all.every(({phase}) => phase === 'told');
    })
    .toBe(true);
}

describe('a repeating report', () => {
  it('where nothing changed only moves "last looked" in the message of the last news, over days', async () => {
    const {rig, root} = await repeating('every 4h');
    const {slack} = rig;
    const before = (await slack.thread(root.ts)).length;
    let seen = root.text;
    for (let nth = 2; nth <= 8; nth += 1) {
      rig.skip(4 * HOUR);
      const edited = await slack.nextUpdate((message) => message.ts === root.ts);
      expect(edited.text).toMatch(/Nothing changed since <!date[\s\S]*Last looked .*, 1 of 1 · next /);
      expect(edited.text).not.toBe(seen);
      seen = edited.text;
      await told(rig, nth);
    }
    expect((await slack.messages()).filter(isReport)).toHaveLength(1);
    expect(await slack.thread(root.ts)).toHaveLength(before);
  });

  it('with news edits the message of its day and tells it in the thread; on another day it begins a new one', async () => {
    const {rig, host, root} = await repeating('every 4h');
    const {slack} = rig;
    host.says = null;
    rig.skip(4 * HOUR);
    const {message: first} = await slack.news.next(['post', 'update'], ({message}) => isReport(message), 'news');
    expect(first.text).toContain('gpu-07: answers → could not be looked at');
    await told(rig, 2);
    host.says = REBOOTED;
    rig.skip(24 * HOUR);
    const next = await slack.nextPost(
      (message) => isReport(message) && message.ts !== root.ts && message.ts !== first.ts,
    );
    expect(next.text).toContain('gpu-07: could not be looked at → answers');
    expect(next.text).toMatch(/It stands for 5 earlier ones missed as well/);
    const reply = await slack.nextReply((message) => message.thread_ts === next.ts);
    expect(reply.text).toContain('changed:');
  });

  it('that is removed says so in the thread of its last message', async () => {
    const {rig, root} = await repeating('every 4h');
    const [kept] = await rig.store.schedules.all(0);
    await ask(rig, `/gpu schedules remove ${kept?.schedule.id}`);
    const end = await rig.slack.nextReply((message) => message.text.includes('was removed by'));
    expect(end).toMatchObject({thread_ts: root.ts, text: expect.stringContaining('<@U0REQUESTER>')});
    expect((await ask(rig, '/gpu schedules')).text).toContain('No schedule yet');
  });

  it('that is loud tells each one in the thread', async () => {
    const {rig} = await repeating('every 4h loud');
    rig.skip(4 * HOUR);
    expect((await rig.slack.nextReply((message) => message.text.startsWith('Due '))).text).toContain('1 host: 1 dirty');
  });

  it('whose message was deleted posts a new one', async () => {
    const {rig, root} = await repeating('every 4h');
    rig.slack.setFault({kind: 'refuse', method: 'chat.update', error: 'message_not_found'});
    rig.skip(4 * HOUR);
    expect((await rig.slack.nextPost(isReport)).ts).not.toBe(root.ts);
  });

  it('whose channel is gone is told in the first one, with that said; and counted as undeliverable without any', async () => {
    const {rig} = await reporting();
    const {slack} = rig;
    await ask(rig, `/gpu report ${HOST} every 4h to=<#C0GONE12|gone>`);
    rig.skip(4 * HOUR);
    const root = await slack.nextPost(isReport);
    expect(root.text).toContain('⚠ <#C0GONE12> does not take it (channel_not_found), so it is told here.');
    await told(rig, 1);
    for (const method of ['chat.update', 'chat.postMessage'])
      slack.setFault({kind: 'refuse', method, error: 'is_archived', times: Number.POSITIVE_INFINITY});
    rig.skip(4 * HOUR);
    await expect.poll(async () => (await ask(rig, '/gpu schedules')).text).toContain('no channel takes it');
    expect(rig.fatal).toEqual([]);
  });

  it('that Slack was down for is told when it is back, once', async () => {
    const {rig, root} = await repeating('every 4h');
    const clear = rig.slack.setFault({
      kind: 'http-error',
      method: 'chat.update',
      status: 503,
      times: Number.POSITIVE_INFINITY,
    });
    rig.skip(4 * HOUR);
    await expect
      .poll(() => rig.log.some((line) => line.startsWith('a report could not be told')), {timeout: 20_000})
      .toBe(true);
    clear();
    await rig.slack.nextUpdate((message) => message.ts === root.ts);
    await told(rig, 2);
  });
});
