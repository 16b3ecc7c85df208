import {spawnSync} from 'node:child_process';
import {describe, expect, it} from 'vitest';
import {parseDeep} from '../../src/domain/parse/deep.ts';
import {deepScript, deepWords} from '../../src/ssh/deep-script.ts';
import {probeScript} from '../../src/ssh/probe-script.ts';
import {makeRemoteHosts} from '../../src/ssh/remote-host.ts';
import {accessTo, CLOCK, GPU_07, valueFrom} from './hosts.ts';
import {HAS_SSHD, startSshd} from './sshd.ts';

const NONCE = '0123456789abcdef0123456789abcdef';

describe('the text of a deeper look', () => {
  const script = deepScript(NONCE, {pids: [7, -1, 1.5, 900], sinceUptimeMs: 12_345.6}, {deviceFolder: '/dev'});

  it('begins with a line that may be lost, and calls on its last line only', () => {
    const lines = script.trimEnd().split('\n');
    expect(lines[0]).toBe(':');
    expect(lines.at(-1)).toBe(`NONCE=${NONCE}; deep_main /dev 12345 7 900 </dev/null; exit $?`);
    expect(lines.filter((line) => line.startsWith('deep_main'))).toEqual(['deep_main() {']);
    expect(deepWords({pids: [], sinceUptimeMs: null}, {deviceFolder: '/dev'})).toBe('/dev -');
  });

  it('runs nothing when it was cut anywhere', () => {
    const lines = script.trimEnd().split('\n');
    for (const kept of [1, 20, Math.floor(lines.length / 2), lines.length - 1]) {
      expect(spawnSync('sh', ['-s'], {input: `${lines.slice(0, kept).join('\n')}\n`}).stdout.toString()).toBe('');
    }
  });

  it('asks for the kernel side of no more processes than one run may signal', () => {
    const pids = Array.from({length: 100}, (_, at) => at + 2);
    expect(deepWords({pids, sinceUptimeMs: null}, {deviceFolder: '/dev'}).split(' ')).toHaveLength(2 + 64);
  });

  it('refuses a device folder that could be anything but a path', () => {
    for (const deviceFolder of ['dev', '/dev; id', '/dev*', '/dev/', '/d v', '']) {
      expect(() => deepWords({pids: [], sinceUptimeMs: null}, {deviceFolder})).toThrow('Internal error');
    }
  });
});

describe.skipIf(!HAS_SSHD)('over a real sshd (needs openssh-server)', () => {
  it('is one exec with the look credential, and its answer can be read', async () => {
    const sshd = await startSshd();
    const never = (): never => {
      throw new Error('only the deeper look is asked for');
    };
    const hosts = makeRemoteHosts({
      // A host that may not be acted upon: looking needs no other credential.
      access: new Map([[GPU_07, accessTo(sshd, {act: null})]]),
      scripts: {
        probe: probeScript,
        deep: deepScript,
        writes: never,
        owners: never,
        owned: never,
        settings: never,
        sample: never,
        signal: never,
      },
      parseSignalLine: () => null,
      newNonce: () => NONCE,
      clock: CLOCK,
    });
    try {
      const transcript = valueFrom(await hosts.host(GPU_07).deep({pids: [process.pid], sinceUptimeMs: 0}));
      const parsed = parseDeep(transcript, 9);
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.failure));
      expect(parsed.value.kernel.map((each) => each.pid)).toContain(process.pid);
      expect(parsed.value.listening).toContain(sshd.port);
      expect(parsed.value.machine.hostKey).toMatch(/^SHA256:/);
      expect(transcript.stderr).toBe('');
    } finally {
      await hosts.close();
      await sshd.stop();
    }
  });
});
