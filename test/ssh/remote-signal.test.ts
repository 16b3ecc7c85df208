import {execFileSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest';
import type {SignalEvent} from '../../src/domain/order.ts';
import type {RemoteHosts} from '../../src/engine/remote-ports.ts';
import {accessTo, BATCH, GPU_07, hostRunning, textOf, untilOk, valueFrom} from './hosts.ts';
import {HAS_SSHD, KILL_OWN_SSHD, type Sshd, startSshd} from './sshd.ts';

describe.skipIf(!HAS_SSHD)('a signalling command on a remote host (needs sshd: apt-get install openssh-server)', () => {
  let server: Sshd;
  let opened: RemoteHosts[] = [];

  beforeAll(async () => {
    server = await startSshd();
  });
  afterAll(() => server?.stop());
  beforeEach(() => server.login(''));
  afterEach(async () => {
    await Promise.all(opened.map((hosts) => hosts.close()));
    opened = [];
  });

  const running = (...args: Parameters<typeof hostRunning>) => {
    const made = hostRunning(...args);
    opened.push(made.hosts);
    return made.host;
  };

  it('hands on each event as its line arrives, before the command has ended', async () => {
    const go = join(server.folder, 'go');
    const body = `printf '\\n@@NONCE beat 10\\n'; while [ ! -e ${go} ]; do sleep 0.05; done; printf '\\n@@NONCE beat 20\\n'`;
    const events: SignalEvent[] = [];
    // The script goes on only once its first event was heard here: heard late, this would run out of time.
    const answer = await running(accessTo(server), body).signal(BATCH, (event) => {
      events.push(event);
      if (events.length === 1) execFileSync('touch', [go]);
    });
    expect(answer.ok).toBe(true);
    expect(events).toEqual([
      {kind: 'heartbeat', uptimeMs: 10},
      {kind: 'heartbeat', uptimeMs: 20},
    ]);
  });

  it('uses one nonce in the command line and another one in the answer', async () => {
    const answer = await running(
      accessTo(server),
      "tr '\\0' ' ' </proc/$PPID/cmdline; tr '\\0' ' ' </proc/$$/cmdline",
    ).signal(BATCH, () => {});
    const transcript = valueFrom(answer);
    const body = textOf(transcript);
    expect(body).toMatch(/case \$s in "#[0-9a-f]{32}"/);
    expect(body).not.toContain(`#${transcript.nonce}`);
  });

  it.each([
    ['the first line was eaten', 'read -r line'],
    ['the end was cut off', `head -c 120 >${'$'}D/cut; exec sh -c "$SSH_ORIGINAL_COMMAND" <${'$'}D/cut`],
    ['nothing arrived', 'cat >/dev/null'],
  ])('runs nothing when %s', async (_, before) => {
    const touched = join(server.folder, 'touched');
    server.login(before.replaceAll('$D', server.folder));
    const answer = await running(accessTo(server), `touch ${touched}`).signal(BATCH, () => {});
    expect(answer).toEqual({ok: false, failure: {reason: 'script-refused', host: GPU_07}});
    expect(existsSync(touched)).toBe(false);
  });

  it('says that it may have acted when the link is lost, and keeps the events that came', async () => {
    const heard = join(server.folder, 'heard');
    const wait = `while [ ! -e ${heard} ]; do sleep 0.05; done`;
    const events: SignalEvent[] = [];
    const host = running(accessTo(server), `printf '\\n@@NONCE beat 10\\n'; ${wait}; ${KILL_OWN_SSHD}`);
    const answer = await host.signal(BATCH, (event) => {
      events.push(event);
      execFileSync('touch', [heard]);
    });
    expect(answer).toEqual({ok: false, failure: {reason: 'link-lost', host: GPU_07, mayHaveActed: true}});
    expect(events).toHaveLength(1);
  });

  it('says that it may have acted when an ended script left no word', async () => {
    server.login('exec >/dev/null');
    const touched = join(server.folder, 'unseen');
    const answer = await running(accessTo(server), `touch ${touched}`).signal(BATCH, () => {});
    expect(existsSync(touched)).toBe(true);
    expect(answer).toMatchObject({ok: false, failure: {reason: 'shell-interfered', mayHaveActed: true}});
  });

  it('delivers no signal from a login shell that wakes up after the deadline, thanks to the limit in the script', async () => {
    // The login shell waits until the test has been told that the time is over, then goes on.
    const go = join(server.folder, 'late');
    const done = join(server.folder, 'late-done');
    // SIGPIPE ignored, else the script would already end at its first word to a closed link.
    server.login(`trap '' PIPE; while [ ! -e ${go} ]; do sleep 0.05; done`);
    const uptime = Number(readFileSync('/proc/uptime', 'utf8').split('.')[0]);
    const body = `read -r up rest </proc/uptime; if [ "\${up%.*}" -gt ${uptime + 1} ]; then echo LATE >${done}; else echo SENT >${done}; fi`;
    const host = running(accessTo(server), body, {signalGraceMs: 1_000, ownGraceMs: 1_500});
    expect(await host.signal(BATCH, () => {})).toMatchObject({
      ok: false,
      failure: {reason: 'command-timed-out', mayHaveActed: true},
    });
    execFileSync('touch', [go]);
    await untilOk(async () => ({ok: existsSync(done) && readFileSync(done, 'utf8') !== ''}));
    expect(readFileSync(done, 'utf8')).toBe('LATE\n');
  });

  it('is refused on a host that has no credential for acting', async () => {
    const answer = await running(accessTo(server, {act: null}), '').signal(BATCH, () => {});
    expect(answer).toEqual({ok: false, failure: {reason: 'host-observe-only', host: GPU_07}});
  });

  it('sees the command to its end before it reports a bug in its listener', async () => {
    const host = running(accessTo(server), `printf '\\n@@NONCE beat 10\\n'; touch ${server.folder}/whole`);
    await expect(
      host.signal(BATCH, () => {
        throw new Error('Internal error: test');
      }),
    ).rejects.toThrow('Internal error: test');
    expect(existsSync(join(server.folder, 'whole'))).toBe(true);
  });
});
