import {spawnSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import type {ProcessIdentity} from '../../src/domain/process.ts';
import {
  batch,
  canUnshareMounts,
  FRAME,
  handles,
  has,
  makeRig,
  observations,
  order,
  type Rig,
  results,
  run,
  SENDERS,
  SHELLS,
  start,
  type Target,
  uptimeMs,
} from './signal-rig.ts';

let rig: Rig;
beforeEach(() => {
  rig = makeRig();
});
afterEach(() => rig.end());

const needs = has('python3') ? '' : ' (needs python3: apt-get install python3)';

for (const shell of SHELLS) {
  describe.skipIf(needs !== '' || !has(shell))(`under ${shell} (needs it: apt-get install ${shell})`, () => {
    // The senders are the same under every shell; the comparison they call is not.
    for (const sender of SENDERS.filter((each) => shell === 'dash' || each !== 'python3')) {
      it.skipIf(sender !== 'neither' && !has(sender))(
        `with ${sender} of perl and python3, exactly the approved processes are signalled and every other is named`,
        async () => {
          const started = Array.from({length: 10}, (_, at) => rig.target(at === 1 ? 'deaf' : 'honours'));
          const [honours, deaf, reused, execed, otherUid, closed, mapped, server, named, bystander] =
            (await Promise.all(started)) as [
              Target,
              Target,
              Target,
              Target,
              Target,
              Target,
              Target,
              Target,
              Target,
              Target,
            ];
          const leader = await rig.target('zombie-leader');
          await Promise.all([
            execed.tell('exec'),
            closed.tell('close'),
            mapped.tell('map'),
            server.tell('close'),
            named.tell('name'),
          ]);
          const changed = (identity: ProcessIdentity, change: Partial<ProcessIdentity>) => ({...identity, ...change});
          const answer = await run(
            rig,
            batch([
              order(honours.identity),
              order(deaf.identity),
              order(changed(reused.identity, {startTicks: `${Number(reused.identity.startTicks) - 1}`})),
              order(execed.identity),
              order(changed(otherUid.identity, {uid: otherUid.identity.uid + 1})),
              order(closed.identity),
              order(mapped.identity),
              order(server.identity, 'SIGTERM', 'nothing'),
              order(leader.identity),
              order(named.identity),
              order(changed(honours.identity, {pid: process.pid})),
              order(changed(honours.identity, {pid: 1})),
              order(changed(honours.identity, {pid: 4194303})),
            ]),
            {shell, sender},
          );
          expect(results(answer)).toEqual([
            'sent',
            'sent',
            'replaced start-ticks',
            'replaced executable',
            'replaced uid',
            'not-holding',
            'sent',
            'sent',
            'sent',
            'sent',
            'failed own-process',
            'failed system-pid',
            'gone',
          ]);
          expect(handles(answer)).toEqual(new Set([sender === 'neither' ? 'pid' : 'pidfd']));
          expect(answer.code).toBe(0);
          expect(answer.stderr).toBe('');

          for (const target of [honours, mapped, server, named]) expect(await target.received()).toEqual(['SIGTERM']);
          expect(await leader.received()).toEqual(['SIGTERM']);
          expect(await deaf.received()).toEqual(['SIGTERM']);
          for (const target of [reused, execed, otherUid, closed, bystander])
            expect(await target.received()).toEqual([]);
          expect(observations(answer, honours.identity.pid).at(-1)).toMatch(/^(gone|zombie)$/);
          expect(observations(answer, reused.identity.pid)).toEqual(['replaced']);
          expect(observations(answer, deaf.identity.pid)).toEqual(['alive']);

          const second = await run(rig, batch([order(deaf.identity, 'SIGKILL')]), {shell, sender});
          expect(results(second)).toEqual(['sent']);
          expect(await deaf.received()).toEqual(['SIGTERM', 'SIGKILL']);
          expect(observations(second, deaf.identity.pid).at(-1)).toMatch(/^(gone|zombie)$/);
        },
      );
    }
  });
}

describe.skipIf(needs !== '')(`nothing is sent${needs}`, () => {
  for (const sender of SENDERS) {
    it(`after the host's uptime has passed the limit (${sender})`, async () => {
      const target = await rig.target('honours');
      const answer = await run(rig, batch([order(target.identity)], {notAfterUptimeMs: uptimeMs() - 10}), {sender});
      expect(results(answer)).toEqual(['late']);
      expect(await target.received()).toEqual([]);
      expect(rig.journal()).toBe('');
    });

    it(`by a login shell that slept past the limit (${sender})`, async () => {
      const target = await rig.target('honours');
      const answer = await run(rig, batch([order(target.identity)], {notAfterUptimeMs: uptimeMs() + 200}), {
        sender,
        before: 'sleep 0.4',
      });
      expect(results(answer)).toEqual(['late']);
      expect(await target.received()).toEqual([]);
    });

    it(`once the limit passes between two orders (${sender})`, async () => {
      const [first, second] = [await rig.target('honours'), await rig.target('honours')];
      // The second comparison of executables takes longer than the limit allows.
      rig.fake('stat', `[ "$4" != /proc/${second.identity.pid}/exe ] || sleep 1.2; exec /usr/bin/stat "$@"`);
      const answer = await run(
        rig,
        batch([order(first.identity), order(second.identity)], {notAfterUptimeMs: uptimeMs() + 1000}),
        {sender},
      );
      expect(results(answer)).toEqual(['sent', 'late']);
      expect(await first.received()).toEqual(['SIGTERM']);
      expect(await second.received()).toEqual([]);
    });

    it(`once the connection is lost (${sender})`, async () => {
      const first = await rig.target('honours');
      const second = await rig.target('honours');
      const third = await rig.target('honours');
      rig.fake('stat', `[ "$4" != /proc/${second.identity.pid}/exe ] || sleep 0.5; exec /usr/bin/stat "$@"`);
      const running = start(rig, batch([first, second, third].map(({identity}) => order(identity))), {sender});
      await running.saw((event) => event.kind === 'order');
      running.child.stdout?.destroy();
      await new Promise((resolve) => running.child.once('exit', resolve));
      expect(await first.received()).toEqual(['SIGTERM']);
      expect(await second.received()).toEqual([]);
      expect(await third.received()).toEqual([]);
    });

    it.skipIf(!canUnshareMounts())(`where /etc/gpu-reclaim/deny exists (${sender}; needs root)`, async () => {
      const target = await rig.target('honours');
      const etc = join(rig.folder, 'etc');
      mkdirSync(join(etc, 'gpu-reclaim'), {recursive: true});
      writeFileSync(join(etc, 'gpu-reclaim/deny'), '');
      const wrap = ['unshare', '-m', 'sh', '-c', `mount --bind '${etc}' /etc && exec "$@"`, 'sh'];
      const answer = await run(rig, batch([order(target.identity)]), {sender, wrap});
      expect(results(answer)).toEqual(['denied-by-host']);
      expect(await target.received()).toEqual([]);
      expect(rig.journal()).toBe('');
    });
  }

  it('on another boot', async () => {
    const target = await rig.target('honours');
    const asked = batch([order(target.identity)]);
    const answer = await run(rig, {...asked, machine: {...asked.machine, bootId: 'f'.repeat(36)}});
    expect(results(answer)).toEqual(['other-machine boot']);
    expect(await target.received()).toEqual([]);
  });

  it('in another PID namespace', async () => {
    const target = await rig.target('honours');
    const asked = batch([order(target.identity)]);
    const answer = await run(rig, {...asked, machine: {...asked.machine, pidNamespace: '4026539999'}});
    expect(results(answer)).toEqual(['other-machine pid-namespace']);
    expect(await target.received()).toEqual([]);
  });

  it.each([
    ['first line', (script: string) => script.slice(script.indexOf('\n') + 1)],
    ['last line', (script: string) => script.slice(0, script.lastIndexOf('\n'))],
    ['second half', (script: string) => script.slice(0, script.length / 2)],
    ['last two characters', (script: string) => script.slice(0, -2)],
    ['whole text', () => ''],
  ])('by a script that lost its %s', async (_, cut) => {
    const target = await rig.target('honours');
    const answer = await run(rig, batch([order(target.identity)]), {cut});
    expect(answer.stdout.toString()).toBe('REFUSED\n');
    expect(answer.code).toBe(97);
    expect(await target.received()).toEqual([]);
  });

  it('to a process that is already a plain zombie', async () => {
    const target = await rig.target('unreaped');
    process.kill(target.identity.pid, 'SIGKILL');
    const answer = await run(rig, batch([order(target.identity)]));
    expect(results(answer)).toEqual(['gone zombie']);
    expect(observations(answer, target.identity.pid)).toEqual(['zombie']);
  });

  it.skipIf(process.getuid?.() !== 0 || !has('setpriv'))(
    'to a process whose executable our account may not read (needs root and setpriv)',
    async () => {
      const target = await rig.target('honours');
      spawnSync('chmod', ['-R', 'a+rX', rig.folder]);
      const wrap = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
      const answer = await run(rig, batch([order(target.identity)]), {wrap});
      expect(results(answer)).toEqual(['unreadable executable']);
      expect(await target.received()).toEqual([]);
    },
  );
});

describe.skipIf(needs !== '')(`around a signal${needs}`, () => {
  it('one line goes to the journal for each signal, and none for a refused order', async () => {
    const [sent, refused] = [await rig.target('honours'), await rig.target('honours')];
    await refused.tell('close');
    await run(rig, batch([order(sent.identity), order(refused.identity)]));
    expect(rig.journal()).toBe(
      `-t gpu-reclaim -- run=0123456789ab pid=${sent.identity.pid} signal=SIGTERM requester=anna approver=U042\n`,
    );
  });

  it('a journal that hangs holds up nothing', async () => {
    rig.fake('logger', 'exec sleep 20');
    const target = await rig.target('honours');
    const answer = await run(rig, batch([order(target.identity)]));
    expect(results(answer)).toEqual(['sent']);
    expect(answer.tookMs).toBeLessThan(3000);
  });

  it('a stopped process keeps its SIGTERM pending and ends at SIGKILL', async () => {
    const target = await rig.target('honours');
    process.kill(target.identity.pid, 'SIGSTOP');
    const first = await run(rig, batch([order(target.identity)]));
    expect(results(first)).toEqual(['sent']);
    expect(observations(first, target.identity.pid)).toEqual(['alive']);
    const second = await run(rig, batch([order(target.identity, 'SIGKILL')]));
    expect(observations(second, target.identity.pid).at(-1)).toMatch(/^(gone|zombie)$/);
    expect(await target.received()).toEqual(['SIGKILL']);
  });

  it('the marker nonce of the answer is never in any command line', async () => {
    const target = await rig.target('honours');
    rig.fake('stat', `cat /proc/[0-9]*/cmdline >>'${rig.folder}/seen' 2>/dev/null; exec /usr/bin/stat "$@"`);
    const answer = await run(rig, batch([order(target.identity)]));
    expect(results(answer)).toEqual(['sent']);
    const seen = spawnSync('cat', [join(rig.folder, 'seen')]).stdout.toString();
    expect(seen).toContain(FRAME);
    expect(seen).not.toContain('a1'.repeat(16));
  });
});
