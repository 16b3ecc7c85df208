/** The pictures of a run in its thread: after the words, at most once, and never at the cost of a word. */
import {randomBytes} from 'node:crypto';
import {describe, expect, it} from 'vitest';
import {personId} from '../../src/domain/person.ts';
import {type Run, type RunEvent, runId} from '../../src/domain/run.ts';
import {makeDraw} from '../../src/picture/draw.ts';
import type {Fault} from '../../src/playground/slack/faults.ts';
import type {SlackMessage} from '../../src/playground/slack/news.ts';
import {makePace} from '../../src/slack/pace.ts';
import {makePictures} from '../../src/slack/pictures.ts';
import {makeWork} from '../../src/slack/work.ts';
import {systemClock} from '../../src/system-clock.ts';
import {uuidOf} from '../doubles/build.ts';
import {readPng} from '../picture/png.ts';
import {opened, storePath} from '../store/fresh-store.ts';
import {
  approved,
  closedAs,
  ghostPlan,
  gpuChanges,
  killed,
  planned,
  reclaimedRun,
  requested,
  surveyed,
} from './blocks-runs.ts';
import {HOST, type Rig, startRig} from './rig.ts';

const used = (MiB: number) => Object.fromEntries([0, 1, 2, 3].map((gpu) => [uuidOf(gpu), MiB]));
const MEMORY: readonly RunEvent[] = [
  {kind: 'memory', atMs: 0, uptimeMs: 571_900, usedMiB: used(96_844)},
  {kind: 'memory', atMs: 0, uptimeMs: 572_150, usedMiB: used(4)},
  {kind: 'settled', atMs: 0, how: 'expected', uptimeMs: 572_412},
];

/** A run that the terminal made while no bot was looking, over by now. */
async function closedRun(rig: Rig, events: readonly RunEvent[] = [approved, ...killed(), ...MEMORY]): Promise<Run> {
  const now = Date.now();
  const id = runId(randomBytes(6).toString('hex'));
  const fresh = (event: RunEvent): RunEvent => ({...event, atMs: now});
  const owner = {kind: 'terminal', pid: 1, startTicks: '1', bootId: 'none', by: 'anna'} as const;
  const {requester} = requested.request;
  const begun = await rig.store.open({
    id,
    host: HOST,
    atMs: now,
    requester: personId(requester),
    event: fresh(requested),
    owner,
  });
  if (!begun.ok) throw new Error('the host is busy');
  const end = closedAs('reclaimed', {gpus: gpuChanges([4, 4, 4, 4, 4, 4, 21_630, 4]), freedAfterMs: 412});
  const appended = await rig.store.append({
    runId: id,
    expectedVersion: begun.run.version,
    phase: 'closed',
    events: [surveyed, planned(ghostPlan()), ...events, end].map(fresh),
    outbox: [{key: `${id}:end`, runId: id, kind: 'closed', body: null}],
    releaseLease: true,
  });
  if (!appended.ok) throw new Error('not appended');
  return appended.run;
}

/** Slack takes a message a second. */
const SOON = {timeout: 8_000} as const;

const draw = async (svg: string): Promise<Uint8Array> => Buffer.from(`a PNG of ${svg.length}`);

async function thread(rig: Rig): Promise<readonly SlackMessage[]> {
  const [root] = await rig.slack.messages();
  return rig.slack.thread(root?.ts ?? '');
}

const withFiles = (messages: readonly SlackMessage[]) => messages.filter((one) => (one.files ?? []).length > 0);
const left = (rig: Rig) => rig.log.filter((line) => line.startsWith('the pictures of a run were left out'));

describe('pictures', () => {
  it('are claimed for a card: told once more they do not come again, under a new card they do', async () => {
    const store = await opened(storePath());
    const uploads: string[] = [];
    const client = {
      files: {uploadV2: async ({thread_ts}: {readonly thread_ts: string}) => void uploads.push(thread_ts)},
    };
    const clock = systemClock();
    const log = {info: () => undefined, warn: () => undefined, error: () => undefined};
    const work = makeWork({clock, log, onBug: (error) => uploads.push(`bug: ${error}`)});
    const pace = makePace(clock);
    const pictures = makePictures({client: client as never, draw, store, pace, work, clock, log});
    for (const ts of ['1.1', '1.1', '2.2']) pictures.show(reclaimedRun(), {team: 'T', channel: 'C', ts});
    expect(await work.drained(8_000)).toBe(true);
    expect(uploads.toSorted()).toEqual(['1.1', '2.2']);
  });

  it('stand in the thread after the words, both in one message, with the same facts in words', async () => {
    const rig = await startRig({draw: makeDraw()});
    await closedRun(rig);
    const shown = await rig.slack.nextReply((one) => (one.files ?? []).length > 0);
    const all = await thread(rig);
    expect(all.at(-1)?.ts).toBe(shown.ts);
    expect(all.at(-2)?.text).toContain('reclaimed');
    expect(shown.files).toMatchObject([
      {title: 'gpu-07: memory before and after', filetype: 'png'},
      {title: 'gpu-07: time to free', filetype: 'png'},
    ]);
    const asked = rig.slack.calls.filter((call) => call.method === 'files.getUploadURLExternal');
    expect(asked.map(({args}) => String(args['alt_text']).slice(0, 60))).toEqual([
      'gpu-07: memory before and after. MiB in use of 143,771 each;',
      'gpu-07: time to free. GiB per GPU, from kill -9 on. GPU 0-3:',
    ]);
    const [file] = shown.files ?? [];
    const answer = await fetch(String(file?.['url_private']).replace(/^http:\/\/[^/]+\//, rig.slack.url));
    expect(readPng(new Uint8Array(await answer.arrayBuffer())).width).toBe(880);
  });

  it('come once, also after a restart', async () => {
    const rig = await startRig({draw});
    await closedRun(rig);
    await rig.slack.nextReply((one) => (one.files ?? []).length > 0);
    await rig.restart();
    const second = await closedRun(rig);
    const shown = await rig.slack.nextReply((one) => (one.files ?? []).length > 0);
    expect(shown.thread_ts).toBe((await rig.store.cardOf(second.id))?.ts);
    expect(withFiles(await thread(rig)).length + withFiles(await rig.slack.thread(shown.thread_ts ?? '')).length).toBe(
      2,
    );
  });

  it.each<readonly [string, Fault, number]>([
    ['Slack is asked too often', {kind: 'rate-limit', method: 'files.getUploadURLExternal', retryAfterS: 30}, 0],
    ['Slack has trouble', {kind: 'http-error', method: 'files.getUploadURLExternal', status: 503}, 0],
    [
      'the channel takes no files',
      {kind: 'refuse', method: 'files.completeUploadExternal', error: 'not_in_channel'},
      0,
    ],
    ['the answer is lost after it was shared', {kind: 'drop-answer', method: 'files.completeUploadExternal'}, 1],
  ])('are left out with one line, and no word with them, where %s', async (_where, fault, shown) => {
    const rig = await startRig({draw});
    rig.slack.setFault(fault);
    await closedRun(rig);
    await expect.poll(() => left(rig), SOON).toHaveLength(1);
    const all = await thread(rig);
    expect(all.some(({text}) => text.includes('GPU'))).toBe(true);
    expect(all.slice(1).filter(({text}) => text.includes('gpu-reclaim show'))).toHaveLength(1);
    expect(withFiles(all)).toHaveLength(shown);
    expect(rig.fatal).toEqual([]);
  });

  it('are left out where the app was installed without their scope, and the bot works on', async () => {
    const rig = await startRig({draw, scopes: ['commands', 'chat:write', 'users:read', 'usergroups:read']});
    await closedRun(rig);
    await expect.poll(() => left(rig), SOON).toHaveLength(1);
    expect(left(rig)[0]).toContain('missing_scope');
    expect((await thread(rig)).at(-1)?.text).toContain('reclaimed');
    expect(rig.fatal).toEqual([]);
  });

  it('are left out where they cannot be drawn, and nothing waits for one that takes long', async () => {
    let fail: (error: Error) => void = () => undefined;
    const stuck = new Promise<Uint8Array>((_resolve, reject) => {
      fail = reject;
    });
    const rig = await startRig({draw: () => stuck});
    await closedRun(rig);
    await rig.slack.nextReply(({text}) => text.includes('gpu-reclaim show'));
    await expect.poll(() => rig.store.pendingOutbox(10), SOON).toEqual([]);
    expect(left(rig)).toEqual([]);
    fail(new Error('no picture: exit 1 Error: Cannot find module'));
    await expect.poll(() => left(rig), SOON).toHaveLength(1);
    expect(rig.fatal).toEqual([]);
  });

  it('are none where nothing was signalled, or where none are wanted', async () => {
    const rig = await startRig({draw});
    await closedRun(rig, []);
    const signalled = await closedRun(rig);
    const shown = await rig.slack.nextReply((one) => (one.files ?? []).length > 0);
    expect(shown.thread_ts).toBe((await rig.store.cardOf(signalled.id))?.ts);
    const quiet = await startRig();
    await closedRun(quiet);
    await quiet.slack.nextReply(({text}) => text.includes('gpu-reclaim show'));
    await quiet.stopBot(1_000);
    expect(quiet.slack.calls.filter(({method}) => method.startsWith('files.'))).toEqual([]);
  });
});
