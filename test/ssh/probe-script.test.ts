import {execFileSync, spawnSync} from 'node:child_process';
import {readdirSync} from 'node:fs';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {probeScript, probeWords} from '../../src/ssh/probe-script.ts';
import {quote} from '../../src/ssh/quote.ts';

const NONCE = '0123456789abcdef0123456789abcdef';
const FOLDER = new URL('../../src/ssh/scripts/', import.meta.url).pathname;
const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

describe('quote', () => {
  it('gives the shell back any word as it was', () => {
    const word = fc
      .oneof(fc.string({unit: 'grapheme'}), fc.string({unit: 'binary-ascii'}))
      .map((text) => text.replaceAll('\0', ''));
    fc.assert(
      fc.property(fc.array(word, {minLength: 1, maxLength: 30}), (words) => {
        // A sentinel at the end keeps final newlines.
        const said = execFileSync('sh', ['-c', `printf '%s\\0' ${words.map(quote).join(' ')}`]).toString();
        expect(said).toBe(`${words.join('\0')}\0`);
      }),
      {numRuns: 20},
    );
  });

  it('leaves a plain word plain and refuses a NUL', () => {
    expect(quote('/dev/nvidia0')).toBe('/dev/nvidia0');
    expect(quote('')).toBe("''");
    expect(quote("it's; $(id) `id`")).toBe("'it'\\''s; $(id) `id`'");
    expect(() => quote('a\0b')).toThrow('Internal error');
  });
});

describe('the text of a probe', () => {
  const script = probeScript(
    NONCE,
    {literals: ["a'b; touch x", 'vllm serve', 'a.b*'], pids: [7, -1, 1.5]},
    {deviceFolder: '/dev'},
  );

  it('begins with a line that may be lost, and calls on its last line only', () => {
    const lines = script.trimEnd().split('\n');
    expect(lines[0]).toBe(':');
    expect(lines.at(-1)).toBe(
      `NONCE=${NONCE}; probe_main /dev 3 'a'\\''b;.touch.x' vllm.serve 'a\\.b\\*' 7 </dev/null; exit $?`,
    );
    expect(lines.filter((line) => line.startsWith('probe_main'))).toEqual(['probe_main() {']);
  });

  it('runs nothing when it was cut anywhere', () => {
    const lines = script.trimEnd().split('\n');
    for (const kept of [1, 20, Math.floor(lines.length / 2), lines.length - 1]) {
      expect(spawnSync('sh', ['-s'], {input: `${lines.slice(0, kept).join('\n')}\n`}).stdout.toString()).toBe('');
    }
  });

  it('refuses a device folder that could be anything but a path', () => {
    for (const deviceFolder of ['dev', '/dev; id', '/dev*', '/dev/', '/d v', '']) {
      expect(() => probeWords({literals: [], pids: []}, {deviceFolder})).toThrow('Internal error');
    }
  });
});

describe.skipIf(!has('shellcheck'))('shellcheck (needs shellcheck: apt-get install shellcheck)', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.sh'));
  it('has nothing to say about the scripts', () => {
    expect(files.length).toBeGreaterThan(5);
    const checked = spawnSync('shellcheck', files, {cwd: FOLDER});
    expect(checked.stdout.toString()).toBe('');
  });
});
