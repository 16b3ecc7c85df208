/** A stop of an owner: the real script, real control groups, and stand-ins of the tools that really end what is in them. */
import {spawn} from 'node:child_process';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import type {SignalBatch, StopOrder} from '../../src/domain/order.ts';
import {signalScript} from '../../src/ssh/signal-script.ts';
import {type ControlGroup, controlGroup, groupRoot} from './control-group.ts';
import {
  type Answer,
  batch,
  FRAME,
  has,
  lives,
  makeRig,
  NONCE,
  order,
  type Rig,
  run,
  SHELLS,
  start,
  type Target,
  uptimeMs,
} from './signal-rig.ts';

const ID = 'c0ffee'.padEnd(64, '0');
const RUN = '0123456789abcdef0123456789abcdef';
const root = groupRoot();

let rig: Rig;
let group: ControlGroup;
let target: Target;
let other: Target;

const log = (): string =>
  existsSync(join(rig.folder, 'called')) ? readFileSync(join(rig.folder, 'called'), 'utf8') : '';
const say = (name: string, text: string): void => writeFileSync(join(rig.folder, name), text);

/** What the stand-ins answer with, and what a stop of them does. */
function standIns(stop = endsAll()): void {
  say('unit', unitSays());
  say('container', `Id ${ID}\nStartedAt 2026-12-01 11:00:00.5 +0000 UTC\nPid ${target.identity.pid}\n`);
  say('job', jobSays());
  const body = (shows: string, answer: string) =>
    `case "$*" in *${shows}*) cat '${rig.folder}/${answer}' ;; *) echo "$0 $*" | sed 's,.*/,,' >>'${rig.folder}/called'\n${stop}\n;; esac`;
  rig.fake('systemctl', body('show', 'unit'));
  rig.fake('docker', body('inspect', 'container'));
  rig.fake('podman', body('inspect', 'container'));
  rig.fake('scontrol', `cat '${rig.folder}/job'`);
  rig.fake('scancel', `echo "scancel $*" >>'${rig.folder}/called'\n${stop}`);
}
const endsAll = (): string => `kill -KILL $(cat '${group.path}/cgroup.procs')`;
const unitSays = (change: Readonly<Record<string, string>> = {}): string =>
  Object.entries({
    InvocationID: RUN,
    ControlGroup: group.folder,
    RefuseManualStop: 'no',
    RequiredBy: '',
    ConsistsOf: '',
    ...change,
  })
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
const jobSays = (change = 'NumNodes=1'): string =>
  `JobId=7 JobName=x NumNodes=1 StartTime=no\n   JobState=RUNNING Reason=None\n   StartTime=2026-12-01T10:00:00 EndTime=Unknown\n   ${change} NumCPUs=8\n   Comment=NumNodes=1\n`;

function stopOf(change: Partial<StopOrder> = {}): StopOrder {
  return {
    kind: 'unit',
    id: 'vllm@2.service',
    run: RUN,
    folder: group.folder,
    timeoutMs: 5_000,
    graceMs: 1_500,
    members: [target, other].map(({identity}) => ({identity, mustHold: 'paths'})),
    ...change,
  };
}
function asked(stop: Partial<StopOrder> = {}, change: Partial<SignalBatch> = {}): SignalBatch {
  return batch([], {
    stop: stopOf(stop),
    watch: [target, other].map(({identity}) => identity),
    watchMs: 5_000,
    ...change,
  });
}
const OWNERS: Readonly<Record<StopOrder['kind'], Partial<StopOrder>>> = {
  unit: {},
  docker: {kind: 'docker', id: ID, run: '2026-12-01 11:00:00.5 +0000 UTC'},
  podman: {kind: 'podman', id: ID, run: '2026-12-01 11:00:00.5 +0000 UTC'},
  'slurm-job': {kind: 'slurm-job', id: '7', run: '2026-12-01T10:00:00'},
};
const stops = (answer: Answer): readonly string[] =>
  answer.events.flatMap((event) => (event.kind === 'stop' ? [`${event.result} ${event.detail}`.trim()] : []));
const bothLive = (): readonly boolean[] =>
  [target, other].map(({identity}) => lives(identity.pid, identity.startTicks));

describe.skipIf(root === null || !has('perl'))('a stop (needs a writable cgroup hierarchy)', () => {
  beforeEach(async () => {
    rig = makeRig();
    group = controlGroup(root ?? '', 'vllm@2.service');
    [target, other] = await Promise.all([rig.target('honours'), rig.target('deaf')]);
    for (const {identity} of [target, other]) group.add(identity.pid);
    standIns();
  });
  afterEach(async () => {
    await rig.end();
    await group.remove();
  });

  it.each(Object.entries(OWNERS))(
    'of a %s calls its own tool once, and ends when its processes have',
    async (kind, owner) => {
      const answer = await run(rig, asked(owner));
      expect(answer.stderr).toBe('');
      expect(stops(answer)).toEqual(['stopped']);
      expect(log().trim()).toBe(
        {
          unit: 'systemctl --no-ask-password stop --no-block -- vllm@2.service',
          docker: `docker stop -t 2 -- ${ID}`,
          podman: `podman stop -t 2 -- ${ID}`,
          'slurm-job': 'scancel 7',
        }[kind],
      );
      expect(bothLive()).toEqual([false, false]);
      // Proven at once, as after a signal.
      expect(answer.events.filter((event) => event.kind === 'settled')).toMatchObject([{how: 'expected'}]);
      expect(rig.journal()).toMatch(/^-t gpu-reclaim -- run=0123456789ab stop=\S+ requester=anna approver=U042$/m);
    },
  );

  it.each(SHELLS.filter(has))('goes the same way under %s', async (shell) => {
    const answer = await run(rig, asked(), {shell});
    expect([answer.stderr, stops(answer)]).toEqual(['', ['stopped']]);
  });

  it('is not waited for, where a member goes on: the time is over, nothing was killed', async () => {
    rig.fake('systemctl', `case "$*" in *show*) cat '${rig.folder}/unit' ;; esac`);
    const answer = await run(rig, asked({timeoutMs: 600}));
    expect(stops(answer)).toEqual(['timed-out']);
    expect(bothLive()).toEqual([true, true]);
  });

  it('by a daemon that hangs costs its time, and its tool is ended', async () => {
    standIns(`echo $$ >'${rig.folder}/hangs'; while :; do sleep 1000; done`);
    const answer = await run(rig, asked({...OWNERS.docker, timeoutMs: 800}));
    expect(stops(answer)).toEqual(['timed-out']);
    expect(answer.tookMs).toBeLessThan(8_000);
    const pid = Number(readFileSync(join(rig.folder, 'hangs'), 'utf8'));
    // By our own hand: left alone, its own limit would end it only after 5 s.
    await expect.poll(() => existsSync(`/proc/${pid}`), {timeout: 2_500}).toBe(false);
  });

  it.each([
    ['says that it may not', 'echo "Interactive authentication required." >&2; exit 4', 'not-permitted'],
    ['says no', 'echo "Job for it failed" >&2; exit 1', 'refused-by-owner'],
    ['cannot be run', 'exit 127', 'failed'],
  ])('whose tool %s is told so', async (_, stop, result) => {
    standIns(stop);
    expect(stops(await run(rig, asked()))).toEqual([result]);
    expect(bothLive()).toEqual([true, true]);
  });

  describe('is refused, and nothing is called,', () => {
    async function refused(why: string, batchAsked = asked(), options = {}): Promise<void> {
      const answer = await run(rig, batchAsked, options);
      expect(stops(answer)).toEqual([why]);
      expect(log()).toBe('');
      expect(bothLive()).toEqual([true, true]);
    }

    it('where another process stands in the group', async () => {
      const newcomer = await rig.target('honours');
      group.add(newcomer.identity.pid);
      await refused(`changed newcomer-${newcomer.identity.pid}`);
    });

    it('where another process joins while the tool is asked about the run', async () => {
      const newcomer = await rig.target('honours');
      rig.fake('systemctl', `echo ${newcomer.identity.pid} >'${group.path}/cgroup.procs'; cat '${rig.folder}/unit'`);
      await refused(`changed newcomer-${newcomer.identity.pid}`);
    });

    it('where another process stands below the group', async () => {
      const inner = controlGroup(join(root ?? '', group.folder), 'inner');
      const newcomer = await rig.target('honours');
      inner.add(newcomer.identity.pid);
      await refused(`changed newcomer-${newcomer.identity.pid}`);
      newcomer.tell('exec').catch(() => {});
      process.kill(newcomer.identity.pid, 'SIGKILL');
      await newcomer.ended;
      await inner.remove();
    });

    it.each([
      ['start ticks', {startTicks: '1'}, 'replaced'],
      ['uid', {uid: 4_000_000_000}, 'replaced'],
      ['program', {executable: '1:1'}, 'replaced'],
    ])('where a PID has other %s', async (_, change, why) => {
      const members = [target, other].map(({identity}, at) => ({
        identity: at === 0 ? identity : {...identity, ...change},
        mustHold: 'paths' as const,
      }));
      await refused(`changed ${why}-${other.identity.pid}`, asked({members}));
    });

    it('where a member holds no device any more', async () => {
      await target.tell('close');
      await refused(`changed not-holding-${target.identity.pid}`);
    });

    it('where our own shell stands in it', async () => {
      const script = signalScript(NONCE, FRAME, asked(), {deviceFolder: rig.devices});
      const child = spawn(
        'sh',
        ['-c', `echo $$ >'${group.path}/cgroup.procs'; exec env -i PATH='${rig.path('perl', 'dash')}' sh`],
        {
          stdio: ['pipe', 'pipe', 'inherit'],
        },
      );
      child.stdin.end(script);
      let said = '';
      for await (const chunk of child.stdout) said += String(chunk);
      expect(said).toMatch(/ e stop changed \d+ newcomer-\d+$/m);
      expect(log()).toBe('');
    });

    it.each([
      ['was started anew', {InvocationID: 'f'.repeat(32)}, 'run'],
      ['has another folder', {ControlGroup: '/system.slice/other.service'}, 'folder'],
      ['takes others along', {ConsistsOf: 'db.service'}, 'dependents'],
      ['may not be stopped by hand', {RefuseManualStop: 'yes'}, 'refuses'],
    ])('where the unit %s', async (_, change, why) => {
      say('unit', unitSays(change));
      await refused(`changed ${why}`);
    });

    it.each([
      ['was started anew', {run: '2026-12-01 11:00:00.6 +0000 UTC'}, 'run'],
      ['is another', {id: 'd'.repeat(64)}, 'run'],
    ])('where the container %s', async (_, change, why) => {
      await refused(`changed ${why}`, asked({...OWNERS.docker, ...change}));
    });

    it('where the main process of the container is not in the folder', async () => {
      say('container', `Id ${ID}\nStartedAt 2026-12-01 11:00:00.5 +0000 UTC\nPid 1\n`);
      await refused('changed main-process', asked(OWNERS.docker));
    });

    it.each([
      ['runs on a second node', jobSays('NumNodes=2'), 'NumNodes'],
      ['was started anew', jobSays().replace('T10:', 'T11:'), 'StartTime'],
      ['is none', 'slurm_load_jobs error: Invalid job id specified\n', 'JobId'],
    ])('where the job %s', async (_, text, why) => {
      say('job', text);
      await refused(`changed ${why}`, asked(OWNERS['slurm-job']));
    });

    it('where its tool does not answer', async () => {
      rig.fake('systemctl', 'while :; do sleep 1000; done');
      await refused('changed run');
    });

    it('where there is no such folder', async () => {
      await refused('changed unreadable', asked({folder: '/reclaim-none.slice/vllm@2.service'}));
    });

    it('on another boot', async () => {
      await refused('other-machine boot', asked({}, {machine: {...batch([]).machine, bootId: 'b'}}));
    });

    it('once the time is over, whatever a login shell did with it', async () => {
      await refused('late', asked({}, {notAfterUptimeMs: uptimeMs() + 300}), {before: 'sleep 0.5'});
    });

    it('once the time is over while the folder is read for the last time', async () => {
      const calls = join(rig.folder, 'reads');
      const isSecond = `case "$*" in *cgroup.procs*) echo x >>'${calls}'; [ $(wc -l <'${calls}') -lt 2 ] || sleep 2.6 ;; esac`;
      rig.fake('find', `${isSecond}\nexec /usr/bin/find "$@"`);
      await refused('late', asked({}, {notAfterUptimeMs: uptimeMs() + 2_500}));
      expect(readFileSync(calls, 'utf8')).toBe('x\nx\n');
    });

    it('once the time is over while the tool was asked about the run', async () => {
      rig.fake('systemctl', `sleep 0.6; cat '${rig.folder}/unit'`);
      await refused('late', asked({}, {notAfterUptimeMs: uptimeMs() + 500}));
    });
  });

  it('is never in a command that was not approved for one', () => {
    const text = signalScript(NONCE, FRAME, batch([order(target.identity)]), {deviceFolder: rig.devices});
    expect(text).toContain("\nSTOP_KIND=''\n");
    expect(text).not.toMatch(/systemctl|scancel|docker|podman/);
  });

  it.each([
    ['unit', {id: 'a b.service'}],
    ['unit', {id: '$(reboot).service'}],
    ['unit', {id: 'session-1.scope'}],
    ['folder', {folder: '/system.slice/../x.service'}],
    ['folder', {folder: "/x'; reboot; '"}],
    ['run', {run: "a'b"}],
    ['run', {run: '-x'}],
    ['container', {kind: 'docker' as const, id: 'abc'}],
    ['job', {kind: 'slurm-job' as const, id: '7_1'}],
  ])('is never made of a %s that has another shape', (_, change) => {
    expect(() => signalScript(NONCE, FRAME, asked(change), {deviceFolder: '/dev'})).toThrow(/^Internal error: /);
  });

  it('leaves nothing behind when the link is lost while it waits', async () => {
    standIns(`echo $$ >'${rig.folder}/hangs'; exec sleep 1000`);
    const running = start(rig, asked({...OWNERS.docker, timeoutMs: 20_000}));
    await expect.poll(() => existsSync(join(rig.folder, 'hangs')), {timeout: 10_000}).toBe(true);
    const pid = Number(readFileSync(join(rig.folder, 'hangs'), 'utf8'));
    running.child.stdout?.destroy();
    await expect.poll(() => existsSync(`/proc/${pid}`), {timeout: 10_000}).toBe(false);
  });
});
