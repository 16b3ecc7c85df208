import {execFileSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest';
import type {RemoteHosts} from '../../src/engine/remote-ports.ts';
import {accessTo, BATCH, GPU_07, hostRunning, NOTHING_ASKED, textOf, untilOk, valueFrom} from './hosts.ts';
import {HAS_SSHD, KILL_OWN_SSHD, programExists, SAY_OWN_SSHD, type Sshd, startSshd} from './sshd.ts';

const AS_ROOT_WITH_SUDO = process.getuid?.() === 0 && programExists('sudo');

describe.skipIf(!HAS_SSHD)('a probe of a remote host (needs sshd: apt-get install openssh-server)', () => {
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

  it('hands back the framed answer with the fingerprint of the host key', async () => {
    const answer = await running(accessTo(server), 'echo seen; echo oops >&2').probe(NOTHING_ASKED);
    const transcript = valueFrom(answer);
    expect(textOf(transcript)).toMatch(/\n@@([0-9a-f]{32}) BEGIN probe 1\nseen\n\n@@\1 END 0\n$/);
    expect(transcript.hostKey).toBe(keygenFingerprint(join(server.folder, 'host.pub')));
    expect(transcript).toMatchObject({host: GPU_07, exitCode: 0, stderr: 'oops\n'});
  });

  it('keeps the marker nonce out of every command line on the host', async () => {
    const look = `for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$f; echo; done 2>/dev/null`;
    const transcript = valueFrom(await running(accessTo(server), look).probe(NOTHING_ASKED));
    const lines = textOf(transcript).split('\n');
    expect(lines.some((line) => line.includes('timeout -k 2 20 env -i'))).toBe(true);
    expect(lines.filter((line) => line.includes(transcript.nonce) && !line.startsWith('@@'))).toEqual([]);
  });

  it('runs with a clean environment, the extra folders first', async () => {
    server.login('export EVIL=1 LD_PRELOAD_X=1; ps() { echo fake; }; export PATH=/evil:$PATH');
    const access = accessTo(server, {extraPath: ['/opt/nvidia/bin'], libraryPath: ['/opt/nvidia/lib']});
    const text = textOf(valueFrom(await running(access, 'env').probe(NOTHING_ASKED)));
    expect(text).toContain('PATH=/opt/nvidia/bin:/usr/sbin:/usr/bin:/sbin:/bin\n');
    expect(text).toContain('LD_LIBRARY_PATH=/opt/nvidia/lib\n');
    expect(text).toContain('LC_ALL=C\n');
    expect(text).not.toContain('EVIL');
  });

  it.each(
    ['sh', 'bash', 'dash', 'mksh', 'rbash', 'zsh', 'fish', 'tcsh', 'busybox sh'].filter((shell) =>
      programExists(shell.split(' ')[0] ?? ''),
    ),
  )('works where %s is the login shell, for looking and for signalling', async (shell) => {
    server.login('', shell);
    const host = running(accessTo(server), 'echo "it' + "'" + 's $((6 * 7)) \\\\ ok"');
    expect(textOf(valueFrom(await host.probe(NOTHING_ASKED)))).toContain("it's 42 \\ ok");
    expect(textOf(valueFrom(await host.signal(BATCH, () => {})))).toContain("it's 42 \\ ok");
  });

  it('ignores what a login shell prints before and after', async () => {
    server.login("printf 'Welcome to gpu-07'; trap 'echo bye' EXIT");
    const transcript = valueFrom(await running(accessTo(server), 'echo seen').probe(NOTHING_ASKED));
    expect(textOf(transcript)).toMatch(/^Welcome to gpu-07\n@@/);
    expect(transcript.exitCode).toBe(0);
  });

  it('survives a login shell that eats the first line of stdin', async () => {
    server.login('read -r line');
    expect((await running(accessTo(server), 'echo seen').probe(NOTHING_ASKED)).ok).toBe(true);
  });

  it.each([
    ['eats all of stdin', 'cat >/dev/null', {reason: 'shell-interfered', exitCode: 0, said: ''}],
    ['exits at once with 0', 'exit 0', {reason: 'shell-interfered', exitCode: 0, said: ''}],
    [
      'starts something else',
      'echo "open terminal failed: not a terminal" >&2; exit 1',
      {reason: 'shell-interfered', exitCode: 1, said: 'open terminal failed: not a terminal'},
    ],
    [
      'is nologin',
      'echo "This account is currently not available."; exit 1',
      {reason: 'no-shell', said: 'This account is currently not available.'},
    ],
    [
      'forges markers without the nonce',
      'printf "\\n@@0 BEGIN probe 1\\n\\n@@0 END 0\\n"; exit 0',
      {reason: 'shell-interfered', exitCode: 0},
    ],
  ])('names a login shell that %s', async (_, before, failure) => {
    server.login(before);
    expect(await running(accessTo(server), 'echo seen').probe(NOTHING_ASKED)).toMatchObject({ok: false, failure});
  });

  it.each([
    ['sudo: a password is required'],
    ['sudo: sorry, you must have a tty to run sudo'],
    ['bot is not in the sudoers file.'],
  ])('names a refusal of sudo: %s', async (said) => {
    server.login(`echo '${said}' >&2; exit 1`);
    const answer = await running(accessTo(server, {sudo: true}), '').probe(NOTHING_ASKED);
    expect(answer).toEqual({ok: false, failure: {reason: 'sudo-refused', host: GPU_07, user: server.user, said}});
  });

  it.skipIf(!AS_ROOT_WITH_SUDO)(
    'goes through sudo with its folders set anew (needs root and apt-get install sudo)',
    async () => {
      const access = accessTo(server, {sudo: true, extraPath: ['/opt/bin'], libraryPath: ['/opt/lib']});
      const host = running(access, 'env; id -u');
      for (const answer of [await host.probe(NOTHING_ASKED), await host.signal(BATCH, () => {})]) {
        const text = textOf(valueFrom(answer));
        expect(text).toContain('SUDO_USER=');
        expect(text).toContain('\nPATH=/opt/bin:/usr/sbin:/usr/bin:/sbin:/bin\n');
        expect(text).toContain('\nLD_LIBRARY_PATH=/opt/lib\n');
      }
    },
  );

  it('hands on an answer that began and broke off, for the parser to mark incomplete', async () => {
    const transcript = valueFrom(await running(accessTo(server), 'echo half; exit 3').probe(NOTHING_ASKED));
    expect(transcript.exitCode).toBe(3);
    expect(textOf(transcript)).not.toContain(' END ');
  });

  it('gives up on a login shell that sleeps, at its own deadline, and logs in anew for the next look', async () => {
    server.login('sleep 30');
    const host = running(accessTo(server), 'echo $PPID', {probeTimeoutMs: 300, ownGraceMs: 300});
    expect(await host.probe(NOTHING_ASKED)).toMatchObject({
      ok: false,
      failure: {reason: 'command-timed-out', mayHaveActed: false},
    });
    server.login('');
    expect((await host.probe(NOTHING_ASKED)).ok).toBe(true);
  });

  it('is ended on the host by its own limit', async () => {
    const host = running(accessTo(server), `echo $$ >${server.folder}/pid; sleep 30`, {probeTimeoutMs: 1000});
    expect(await host.probe(NOTHING_ASKED)).toMatchObject({ok: false, failure: {reason: 'command-timed-out'}});
    expect(existsSync(`/proc/${readFileSync(join(server.folder, 'pid'), 'utf8').trim()}`)).toBe(false);
  });

  it('does not wait for a background child that holds stdout', async () => {
    const host = running(accessTo(server), 'sleep 20 & echo seen');
    const transcript = valueFrom(await host.probe(NOTHING_ASKED));
    expect(transcript.tookMs).toBeLessThan(5_000);
    expect(transcript.exitCode).toBe(0);
  });

  it('keeps at most the allowed output and cancels the rest', async () => {
    const host = running(accessTo(server), 'echo flood; yes', {probeMaxBytes: 100_000});
    const transcript = valueFrom(await host.probe(NOTHING_ASKED));
    expect(transcript.stdout.byteLength).toBe(100_000);
    expect(transcript.exitCode).toBeNull();
    expect((await host.probe(NOTHING_ASKED)).ok).toBe(true);
  });

  it('drains standard error past its cap', async () => {
    const flood = 'head -c 6000000 /dev/zero | tr "\\0" x >&2; echo after';
    const transcript = valueFrom(await running(accessTo(server), flood).probe(NOTHING_ASKED));
    expect(transcript.stderr).toHaveLength(64 * 1024);
    expect(textOf(transcript)).toContain('after\n');
  });

  it('keeps characters whole that are split between packets', async () => {
    const split = "printf '\\303'; sleep 0.1; printf '\\244\\n'";
    expect(textOf(valueFrom(await running(accessTo(server), split).probe(NOTHING_ASKED)))).toContain('\nä\n');
  });

  it('holds through many new key exchanges, each of which checks the host key again', async () => {
    const rekeying = await startSshd(['RekeyLimit 64K']);
    try {
      const host = running(accessTo(rekeying), 'head -c 900000 /dev/zero | tr "\\0" x');
      expect(valueFrom(await host.probe(NOTHING_ASKED)).stdout.byteLength).toBeGreaterThan(900_000);
    } finally {
      await rekeying.stop();
    }
  });

  it('says that the link was lost when the session dies under it', async () => {
    const host = running(accessTo(server), KILL_OWN_SSHD, {probeTimeoutMs: 10_000});
    expect(await host.probe(NOTHING_ASKED)).toEqual({
      ok: false,
      failure: {reason: 'link-lost', host: GPU_07, mayHaveActed: false},
    });
  });

  it('reuses one connection, keeps a place on it free for a signal, and opens another after it ended', async () => {
    const body = `echo "\${SSH_CONNECTION:-none}"; : >${server.folder}/now.$$; ls ${server.folder}/now.* | wc -l; sleep 0.3; rm ${server.folder}/now.$$; ${SAY_OWN_SSHD}`;
    const host = running(accessTo(server), body);
    const together = await Promise.all(Array.from({length: 8}, () => host.probe(NOTHING_ASKED)));
    const texts = together.map((answer) => textOf(valueFrom(answer)));
    const sessions = new Set(texts.map((text) => /session=(\d+)/.exec(text)?.[1]));
    expect(sessions.size).toBe(1);
    const most = Math.max(...texts.map((text) => Number(/^(\d+)$/m.exec(text)?.[1])));
    expect(most).toBeLessThanOrEqual(3);
    process.kill(Number([...sessions][0]), 'SIGKILL');
    const again = textOf(valueFrom(await untilOk(() => host.probe(NOTHING_ASKED))));
    expect(sessions.has(/session=(\d+)/.exec(again)?.[1])).toBe(false);
  });
});

function keygenFingerprint(path: string): string {
  return execFileSync('ssh-keygen', ['-lf', path], {encoding: 'utf8'}).split(' ')[1] ?? '';
}
