import {describe, expect, it} from 'vitest';
import {readProbeAnswer, readSignalAnswer} from '../../src/ssh/answers.ts';
import {probeCommand, probePrelude, signalCommand} from '../../src/ssh/commands.ts';
import type {ExecAnswer} from '../../src/ssh/exec.ts';
import {watchFrames} from '../../src/ssh/frames.ts';
import {accessTo, GPU_07} from './hosts.ts';

const ACCESS = accessTo({port: 22, user: 'bot', clientKey: '/key', hostKey: ''});
const SUDO = {...ACCESS, sudo: true};
const NONCE = '0123456789abcdef0123456789abcdef';

const WHOLE: ExecAnswer = {
  end: 'exited',
  refusal: null,
  scriptSent: true,
  stdout: Buffer.from(''),
  stderr: '',
  exitCode: 0,
  exitSignal: null,
  began: true,
  ended: true,
  tookMs: 12.4,
};
const MUTE = {...WHOLE, began: false, ended: false};

describe('what one exec said', () => {
  it.each<[string, Partial<ExecAnswer>, string, string]>([
    ['is whole', {}, 'ok', 'ok'],
    ['is whole with a failing exit code', {exitCode: 1}, 'ok', 'ok'],
    ['is whole, then the link went', {end: 'lost', exitCode: null}, 'link-lost', 'ok'],
    ['began and broke off', {ended: false, exitCode: 2}, 'ok', 'link-lost acted'],
    ['began, then the link went', {end: 'lost', ended: false, exitCode: null}, 'link-lost', 'link-lost acted'],
    ['began and flooded us', {end: 'flooded', ended: false, exitCode: null}, 'ok', 'link-lost acted'],
    [
      'began and met the limit of the host',
      {ended: false, exitCode: 124},
      'command-timed-out',
      'command-timed-out acted',
    ],
    [
      'began and was killed by the host',
      {ended: false, exitCode: null, exitSignal: 'SIGKILL'},
      'command-timed-out',
      'command-timed-out acted',
    ],
    ['met our own deadline', {end: 'timed-out', ended: false}, 'command-timed-out', 'command-timed-out acted'],
    [
      'met our own deadline before the script left',
      {...MUTE, end: 'timed-out', scriptSent: false},
      'command-timed-out',
      'command-timed-out',
    ],
    ['was lost before the script left', {...MUTE, end: 'lost', scriptSent: false}, 'link-lost', 'link-lost'],
    [
      'got no channel',
      {...MUTE, end: 'refused', scriptSent: false, refusal: {message: 'open failed', reason: 2}},
      'too-many-sessions',
      'too-many-sessions',
    ],
    [
      'got no command',
      {...MUTE, end: 'refused', scriptSent: false, refusal: {message: 'Unable to exec', reason: null}},
      'shell-interfered',
      'shell-interfered',
    ],
    ['is silence with exit 0', MUTE, 'shell-interfered', 'shell-interfered acted'],
    [
      'refuses a cut script',
      {...MUTE, exitCode: 97, stdout: Buffer.from('hi\nREFUSED\n')},
      'shell-interfered',
      'script-refused',
    ],
    ['ends with 97 without the word', {...MUTE, exitCode: 97}, 'shell-interfered', 'shell-interfered acted'],
    [
      'is nologin',
      {...MUTE, exitCode: 1, stdout: Buffer.from('This account is currently not available.\n')},
      'no-shell',
      'no-shell',
    ],
  ])('%s: a probe is %s…', (_, change, probe, signal) => {
    const context = {access: ACCESS, user: 'bot', hostKey: 'SHA256:x', nonce: NONCE};
    const name = (answer: ReturnType<typeof readProbeAnswer>): string => {
      if (answer.ok) return 'ok';
      const acted = 'mayHaveActed' in answer.failure && answer.failure.mayHaveActed === true;
      return `${answer.failure.reason}${acted ? ' acted' : ''}`;
    };
    expect(name(readProbeAnswer(context, {...WHOLE, ...change}))).toBe(probe);
    expect(name(readSignalAnswer(context, {...WHOLE, ...change}))).toBe(signal);
  });

  it('blames sudo only on a host that uses it', () => {
    const answer = {...MUTE, exitCode: 1, stderr: 'sudo: a password is required\n'};
    const context = {access: SUDO, user: 'bot', hostKey: 'SHA256:x', nonce: NONCE};
    expect(readSignalAnswer(context, answer)).toMatchObject({
      failure: {reason: 'sudo-refused', user: 'bot', host: GPU_07},
    });
    expect(readProbeAnswer({...context, access: ACCESS}, answer)).toMatchObject({
      failure: {reason: 'shell-interfered'},
    });
  });
});

describe('the command for the login shell', () => {
  it('is one of constant plain words', () => {
    expect(probeCommand(ACCESS, 20_000)).toBe(
      'timeout -k 2 20 env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C sh -s',
    );
    expect(signalCommand(ACCESS, 12_001, NONCE)).toBe(
      `timeout -k 2 13 env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C sh -c 's=$(cat); case $s in "#${NONCE}"*"#${NONCE}") eval "$s";; *) echo REFUSED; exit 97;; esac'`,
    );
  });

  it('has sudo inside of timeout, and sets again inside what sudo drops', () => {
    const access = {...SUDO, extraPath: ['/opt/bin'], libraryPath: ['/opt/lib']};
    const set =
      'PATH=/opt/bin:/usr/sbin:/usr/bin:/sbin:/bin; LC_ALL=C; LD_LIBRARY_PATH=/opt/lib; export PATH LC_ALL LD_LIBRARY_PATH';
    expect(probeCommand(access, 20_000)).toBe(
      'timeout -k 2 20 env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C sudo -n sh -s',
    );
    expect(probePrelude(access)).toBe(`:\n${set}\n`);
    expect(signalCommand(access, 20_000, NONCE)).toContain(`LC_ALL=C sudo -n sh -c '${set}; s=$(cat);`);
  });

  it.each(['$(id)', '/a b', "/a'b", '/a;b', 'relative', '/a:b'])('never holds the folder %s', (folder) => {
    expect(() => probeCommand({...ACCESS, extraPath: [folder]}, 1)).toThrow('Internal error');
    expect(() => signalCommand({...SUDO, libraryPath: [folder]}, 1, NONCE)).toThrow('Internal error');
  });

  it.each(['', "'; reboot; '", 'ABCDEF0123456789', '0123'])('never holds the nonce %j', (nonce) => {
    expect(() => signalCommand(ACCESS, 1, nonce)).toThrow('Internal error');
  });
});

describe('the watch on markers', () => {
  const heard = (chunks: readonly string[]) => {
    const lines: string[] = [];
    const watch = watchFrames(NONCE, (line) => lines.push(line));
    for (const chunk of chunks) watch.feed(Buffer.from(chunk));
    return {lines, began: watch.began(), ended: watch.ended()};
  };
  const ANSWER = `junk\n@@${NONCE} BEGIN signal 1\n\n@@${NONCE} e one\n\n@@${NONCE} END 0\nbye\n`;

  it('sees the same wherever the packets are cut', () => {
    const whole = heard([ANSWER]);
    expect(whole).toEqual({lines: ['', `@@${NONCE} e one`, '', 'bye'], began: true, ended: true});
    for (let at = 1; at < ANSWER.length; at += 1) {
      expect(heard([ANSWER.slice(0, at), ANSWER.slice(at)])).toEqual(whole);
    }
    expect(heard([...ANSWER])).toEqual(whole);
  });

  it.each([
    ['another nonce', ANSWER.replaceAll(NONCE, 'f'.repeat(32))],
    ['a marker in the middle of a line', `echo @@${NONCE} BEGIN signal 1\n`],
    ['an END before any BEGIN', `@@${NONCE} END 0\n`],
    ['a marker whose line is not complete', `@@${NONCE} BEGIN signal 1`],
  ])('takes %s for nothing', (_, text) => {
    expect(heard([text])).toEqual({lines: [], began: false, ended: false});
  });

  it('drops a line that never ends, and goes on after it', () => {
    const begin = `@@${NONCE} BEGIN probe 1\n`;
    const {lines, ended} = heard([begin, 'x'.repeat(200_000), 'x'.repeat(200_000), `\n@@${NONCE} END 0\n`]);
    expect(lines).toEqual([]);
    expect(ended).toBe(true);
  });
});
