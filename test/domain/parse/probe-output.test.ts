import {readFileSync} from 'node:fs';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {hostName} from '../../../src/domain/host.ts';
import {parseProbe} from '../../../src/domain/parse/probe-output.ts';
import {bodyOf, splitSections} from '../../../src/domain/parse/sections.ts';
import type {Snapshot} from '../../../src/domain/snapshot.ts';
import type {Transcript} from '../../../src/domain/transcript.ts';

const NONCE = '0123456789abcdef0123456789abcdef';
/** A real H200: a vLLM-like server, an inheritor whose parent was killed, a process that keeps its mapping only. */
const H200 = readFileSync(new URL('../../fixtures/probes/h200.txt', import.meta.url), 'utf8');

function transcript(stdout: string | Uint8Array): Transcript {
  const bytes = typeof stdout === 'string' ? new TextEncoder().encode(stdout) : stdout;
  return {
    host: hostName('gpu-07'),
    hostKey: 'SHA256:k',
    nonce: NONCE,
    stdout: bytes,
    stderr: '',
    exitCode: 0,
    tookMs: 9,
  };
}

function snapshot(stdout: string): Snapshot {
  const parsed = parseProbe(transcript(stdout), 5000);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.failure));
  return parsed.value;
}

const failure = (stdout: string) => {
  const parsed = parseProbe(transcript(stdout), 5000);
  return parsed.ok ? null : parsed.failure;
};

/** The text without the section's end marker, or without the section. */
const withoutEnd = (name: string): string => H200.replace(new RegExp(`@@${NONCE} end ${name} \\d+\n`), '');
const named = (facts: Snapshot, script: string) =>
  facts.processes.filter((process) => process.words.includes('server.py') && process.words.includes(script))[0];

describe('the probe of a real H200', () => {
  const seen = snapshot(H200);

  it('bills the dead parent and finds the child that keeps its files', () => {
    const child = named(seen, 'fork');
    const dead = seen.charges.find((charge) => charge.name === '[Not Found]');
    expect(dead?.usedMiB).toEqual({known: true, value: 1542});
    expect(child).toMatchObject({ppid: 1, state: 'S', uid: 0, userName: 'root'});
    expect(child?.processGroup).toBe(dead?.pid);
    expect(seen.processes.some((process) => process.pid === dead?.pid)).toBe(false);
    expect(seen.holdings.find((holding) => holding.pid === child?.pid)?.opens).toContainEqual({
      path: '/dev/nvidia0',
      count: 20,
    });
  });

  it('finds the process that has closed its files and kept the mapping, which the driver bills to nobody', () => {
    const holder = named(seen, 'unfd');
    expect(seen.holdings.find((holding) => holding.pid === holder?.pid)).toMatchObject({
      opens: [],
      mappings: ['/dev/nvidia-uvm', '/dev/nvidia0', '/dev/nvidiactl'],
    });
    expect(seen.charges.map((charge) => charge.pid)).not.toContain(holder?.pid);
  });

  it('says whose literal was found, hides the key on the command line, and reads the executable', () => {
    const server = named(seen, 'plain');
    expect(seen.matches).toEqual([{pid: server?.pid, literal: 'vllm.entrypoints'}]);
    expect(server?.words.slice(-2)).toEqual(['--api-key', '[redacted]']);
    expect(server?.executable).toMatchObject({path: '/usr/bin/python3.12', deleted: false, ownerUid: 0, mode: 0o755});
  });

  it('reads GPU, machine and sight', () => {
    expect(seen.gpus).toHaveLength(1);
    expect(seen.gpus[0]).toMatchObject({
      minor: 0,
      usedMiB: {value: 5153},
      busId: '00000000:00:06.0',
      recoveryAction: 'None',
    });
    expect(seen.smi).toEqual({state: 'answered', exitCode: 0, note: ''});
    expect(seen.machine.pidNamespace).toBe('4026531836');
    expect(seen.sight).toEqual({
      full: false,
      euid: 0,
      hidepid: '0',
      unreadableFdFolders: 1,
      foreignPidNamespace: false,
      stuckAt: [],
    });
    expect(seen.sections.every((section) => section.complete)).toBe(true);
  });
});

describe('what is missing is said, never filled in', () => {
  it('reads a transcript without BEGIN, END or a whole host section as no snapshot', () => {
    expect(failure('This account is currently not available.\n')).toMatchObject({section: 'BEGIN'});
    expect(failure(H200.replace('BEGIN probe 1', 'BEGIN probe 2'))).toMatchObject({section: 'BEGIN'});
    expect(failure(H200.slice(0, H200.lastIndexOf('@@')))).toMatchObject({section: 'END'});
    expect(failure(withoutEnd('host'))).toMatchObject({section: 'host', detail: 'incomplete'});
    expect(failure(H200.replace(/boot_id .*/, 'boot_id '))).toMatchObject({section: 'host', detail: 'no boot id'});
    expect(failure(H200.replace(/pid:\[\d+\]/, ''))).toMatchObject({section: 'host', detail: 'no PID namespace'});
  });

  it.each(['maps', 'zombies', 'threads', 'fds', 'facts.stat'])(
    'takes a section without its end for incomplete: %s',
    (name) => {
      const seen = snapshot(withoutEnd(name));
      const report = seen.sections.find((section) => section.name === name.split('.')[0]);
      expect(report).toMatchObject({complete: false, exitCode: null});
      if (name !== 'facts.stat') expect(seen.sight.full).toBe(false);
    },
  );

  const clean = H200.replace(/ +1 find: .*\n/, '');
  it('has full sight only when nothing was refused, stuck, cut or hidden', () => {
    expect(snapshot(clean).sight.full).toBe(true);
    expect(snapshot(clean.replace('begin maps\n', 'begin maps\n@stuck 77\n')).sight).toMatchObject({
      full: false,
      stuckAt: [77],
    });
    expect(snapshot(clean.replace(/ +1 @find \d\n/, '')).sight.full).toBe(false);
    expect(snapshot(clean.replace('1 @find 0', '1 sh: find: Argument list too long')).sight.full).toBe(false);
    const hidden = clean.replace('euid 0', 'euid 1000').replace('rw,relatime', 'rw,hidepid=2');
    expect(snapshot(hidden).sight).toMatchObject({full: false, hidepid: '2'});
    expect(snapshot(clean.replace('euid 0', 'euid 1000')).sight.full).toBe(true);
  });

  it('counts refused folders, but none of zombies', () => {
    const refused = clean.replace('begin fds\n', "begin fds\n      1 find: '/proc/80\n      1 find: '/proc/81\n");
    expect(snapshot(refused).sight.unreadableFdFolders).toBe(2);
    const zombie = refused.replace('begin zombies\n', 'begin zombies\n/proc/80/status:State:\tZ (zombie)\n');
    expect(snapshot(zombie).sight.unreadableFdFolders).toBe(1);
  });

  it('drops a holder that was gone when its facts were read, and keeps it while the facts are not whole', () => {
    const vanished = H200.replace('begin fds\n', 'begin fds\n      1 /proc/99999/fd /dev/nvidia0\n');
    expect(snapshot(vanished).holdings.map(({pid}) => pid)).not.toContain(99999);
    const cut = vanished.replace(new RegExp(`@@${NONCE} end facts.stat \\d+\n`), '');
    expect(snapshot(cut).holdings.map(({pid}) => pid)).toContain(99999);
  });

  it('leaves out our own shell, its ancestors, its descendants and the nvidia-smi that it started', () => {
    const seen = snapshot(H200);
    const child = Number(/@fields gpu_uuid.*\n@pid (\d+)/.exec(H200)?.[1]);
    expect(seen.ownPids).toContain(child);
    const busy = H200.replace('begin fds\n', `begin fds\n      1 /proc/${child}/fd /dev/nvidia0\n`);
    expect(snapshot(busy).holdings).toEqual(seen.holdings);
  });
});

describe('any bytes', () => {
  const bytes = new TextEncoder().encode(H200);
  const end = new TextEncoder().encode(H200.slice(0, H200.lastIndexOf('\n@@'))).length;

  it('never throw, whatever was changed', () => {
    const change = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.integer({min: 0, max: 255})), {maxLength: 60});
    fc.assert(
      fc.property(change, fc.nat(bytes.length), (changes, cut) => {
        const garbled = bytes.slice(0, cut % 3 === 0 ? bytes.length : cut);
        for (const [at, value] of changes) if (at < garbled.length) garbled[at] = value;
        parseProbe(transcript(garbled), 1);
      }),
      {numRuns: 150},
    );
    fc.assert(fc.property(fc.uint8Array({maxLength: 500}), (garbage) => !parseProbe(transcript(garbage), 1).ok));
  });

  it('never make a snapshot when they stop before END', () => {
    fc.assert(
      fc.property(fc.nat(end), (cut) => !parseProbe(transcript(bytes.slice(0, cut)), 1).ok),
      {numRuns: 150},
    );
  });

  it('inside a section can not close it without the nonce', () => {
    fc.assert(
      fc.property(fc.string({unit: 'binary', maxLength: 200}), fc.stringMatching(/^[0-9a-f]{32}$/), (text, guess) => {
        fc.pre(guess !== NONCE);
        const forged = `${text}\n@@${guess} end a 0\n@@${guess} END 0\n`;
        const whole = `\n@@${NONCE} BEGIN probe 1\n\n@@${NONCE} begin a\n${forged}\n@@${NONCE} end a 3\n\n@@${NONCE} END 0\n`;
        const framed = splitSections(new TextEncoder().encode(whole), NONCE);
        return (
          framed.sections.length === 1 &&
          framed.sections[0]?.exitCode === 3 &&
          bodyOf(framed.sections, 'a').includes(guess)
        );
      }),
    );
  });
});
