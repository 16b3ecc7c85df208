import {spawnSync} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';
import {signalScript} from '../../src/ssh/signal-script.ts';
import {batch, FRAME, has, NONCE, order, SHELLS} from './signal-rig.ts';

const FILES = ['identity.sh', 'send.sh', 'watch.sh', 'memory.sh', 'signal.sh'];
const path = (name: string) => fileURLToPath(new URL(`../../src/ssh/scripts/${name}`, import.meta.url));
const host = {deviceFolder: '/dev'};
const identity = {pid: 4711, startTicks: '123456', uid: 1000, executable: '65024:260180'};

describe.skipIf(!has('shellcheck'))('shellcheck (needs it: apt-get install shellcheck)', () => {
  it('has nothing to say of the signalling files', () => {
    expect(spawnSync('shellcheck', ['-s', 'sh', ...FILES.map(path)]).stdout.toString()).toBe('');
  });
});

describe('the senders', () => {
  it.skipIf(!has('perl'))('are valid perl', () => {
    expect(spawnSync('perl', ['-wc', path('pidfd.pl')]).status).toBe(0);
  });
  it.skipIf(!has('python3'))('are valid Python', () => {
    const compile = 'import sys; compile(open(sys.argv[1]).read(), "pidfd.py", "exec")';
    expect(spawnSync('python3', ['-c', compile, path('pidfd.py')]).status).toBe(0);
  });
});

describe('the text of a signalling command', () => {
  const asked = batch([order(identity, 'SIGKILL')]);
  const script = signalScript(NONCE, FRAME, asked, host);

  it('begins and ends with its frame, so that a part of it is refused', () => {
    const lines = script.split('\n');
    expect([lines[0], lines.at(-1)]).toEqual([`#${FRAME}`, `#${FRAME}`]);
    expect(lines.filter((line) => line.includes(FRAME))).toHaveLength(2);
  });

  it('differs between two batches in its data lines only', () => {
    const other = signalScript('c3'.repeat(16), FRAME, {...asked, requester: 'bo', orders: [], watchMs: 10}, host);
    const data = /^(NONCE|RUN_ID|REQUESTER|APPROVER|LIMIT_\w+|WATCH_CENTI|ORDERS|FINAL|EXPECTED)=/;
    const constant = (text: string) => text.split('\n').filter((line) => !data.test(line));
    expect(constant(other)).toEqual(constant(script));
  });

  it.each(SHELLS.filter(has))('is good syntax for %s', (shell) => {
    const words = shell === 'busybox' ? ['sh', '-n'] : ['-n'];
    expect(spawnSync(shell, words, {input: script}).stderr.toString()).toBe('');
  });

  it.each([
    ['requester', {...asked, requester: '$(reboot)'}],
    ['approver', {...asked, approver: "a' b"}],
    ['start ticks', batch([order({...identity, startTicks: '1 2'})])],
    ['pid', batch([order({...identity, pid: -1})])],
    ['GPU', {...asked, expected: [{gpuUuid: 'GPU-1 GPU-2:9', atMostMiB: 1}]}],
  ])('is never made of a %s that is no plain word', (_, bad) => {
    expect(() => signalScript(NONCE, FRAME, bad, host)).toThrow(/^Internal error: /);
  });
});
