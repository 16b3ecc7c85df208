import {readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {hostName} from '../../../src/domain/host.ts';
import {parseSettings} from '../../../src/domain/parse/settings.ts';
import {figure} from '../../../src/domain/snapshot.ts';

const NONCE = 'feedbeeffeedbeeffeedbeeffeedbeef';
const UUID = 'GPU-cd38ecc2-1a91-8854-c5aa-85d561b21326';
const FIELDS =
  'index,uuid,clocks.applications.graphics,clocks.applications.memory,clocks.default_applications.graphics,clocks.default_applications.memory,power.limit,power.default_limit,enforced.power.limit,persistence_mode,compute_mode,mig.mode.current,ecc.mode.current,ecc.errors.uncorrected.volatile.total,ecc.errors.uncorrected.aggregate.total';
/** As an H200 answered, driver 580.159.04. */
const H200 = `0, ${UUID}, 1980, 3201, 1980, 3201, 700.00, 700.00, 700.00, Enabled, Default, Disabled, Enabled, 0, 0`;
const HOST = [
  'boot_id 11111111-2222-3333-4444-555555555555',
  'uptime 100.00',
  'clock_ticks 100',
  'euid 0',
  'kernel 6.18',
  'pid:[4026531836]',
  'mnt:[4026531841]',
].join('\n');

function read(section: string, kind = 'settings') {
  const body = `@fields ${FIELDS}\n@pid 7 6\n${section}\n@rc 0\n`;
  return parsed(body, kind);
}

function parsed(body: string, kind = 'settings', more = '') {
  const text = `banner\n\n@@${NONCE} BEGIN ${kind} 1\n\n@@${NONCE} begin host\n${HOST}\n\n@@${NONCE} end host 0\n\n@@${NONCE} begin settings\n${body}\n\n@@${NONCE} end settings 0\n${more}\n@@${NONCE} END 0\n`;
  const transcript = {
    host: hostName('gpu-07'),
    hostKey: 'k',
    nonce: NONCE,
    stdout: new TextEncoder().encode(text),
    stderr: '',
    exitCode: 0,
    tookMs: 1,
  };
  return parseSettings(transcript, 7);
}

function first(section: string) {
  const answer = read(section);
  if (!answer.ok) throw new Error(JSON.stringify(answer.failure));
  const [gpu] = answer.value.gpus;
  if (gpu === undefined) throw new Error('no GPU was read');
  return gpu;
}

describe('what is set on a GPU', () => {
  it('is read as an H200 tells it', () => {
    expect(first(H200)).toEqual({
      uuid: UUID,
      index: 0,
      graphicsMHz: figure(1980),
      memoryMHz: figure(3201),
      defaultGraphicsMHz: figure(1980),
      defaultMemoryMHz: figure(3201),
      powerLimitW: figure(700),
      defaultPowerLimitW: figure(700),
      enforcedPowerLimitW: figure(700),
      persistenceMode: 'Enabled',
      computeMode: 'Default',
      migMode: 'Disabled',
      eccMode: 'Enabled',
      eccVolatile: figure(0),
      eccAggregate: figure(0),
    });
  });

  it.each([
    ['[N/A]', 'not-supported'],
    ['[Not Supported]', 'not-supported'],
    ['[Insufficient Permissions]', 'no-permission'],
    ['[Unknown Error]', 'fault'],
    ['[Requested functionality has been deprecated]', 'unreadable'],
  ] as const)('says what stood in place of a figure: %s', (token, why) => {
    const gpu = first(H200.replace('1980', token).replace('700.00', token));
    expect(gpu.graphicsMHz).toEqual({known: false, why, token});
    expect(gpu.powerLimitW).toEqual({known: false, why, token});
    expect(gpu.defaultGraphicsMHz).toEqual(figure(1980));
  });

  it('passes over units', () => {
    expect(first(H200.replace('1980', '1980 MHz').replace('700.00', '700.00 W'))).toMatchObject({
      graphicsMHz: figure(1980),
      powerLimitW: figure(700),
    });
  });

  it('is unknown where the driver does not know the field, by the shorter list', () => {
    const old =
      '@fields index,uuid,power.limit,power.default_limit,enforced.power.limit,persistence_mode,compute_mode,ecc.mode.current,ecc.errors.uncorrected.volatile.total,ecc.errors.uncorrected.aggregate.total';
    const answer = parsed(
      `@fields ${FIELDS}\nField "clocks.applications.graphics" is not a valid field to query.\n@rc 2\n${old}\n0, ${UUID}, 250.00, 700.00, 250.00, Enabled, Default, Enabled, 0, 0\n@rc 0\n`,
    );
    expect(answer).toMatchObject({ok: true, value: {smi: {state: 'answered'}}});
    expect(answer.ok && answer.value.gpus[0]).toMatchObject({
      powerLimitW: figure(250),
      graphicsMHz: {known: false, why: 'not-supported'},
      migMode: '[N/A]',
    });
  });

  it('keeps the good rows beside a broken one, and one row a GPU', () => {
    const answer = read(`Unable to determine the device handle for GPU0000:02:00.0: Unknown Error\n${H200}\n${H200}`);
    expect(answer.ok && answer.value.gpus.map(({uuid}) => uuid)).toEqual([UUID]);
  });

  it.each([
    ['@missing\n@rc 127', 'missing'],
    ['@stuck 4711\n@rc 75', 'still-stuck'],
    [`@fields ${FIELDS}\n@pid 7 6`, 'timed-out'],
    [`@fields ${FIELDS}\nNo devices were found\n@rc 6`, 'failed'],
  ])('is no empty host where nvidia-smi did not answer: %s', (body, state) => {
    expect(parsed(body)).toMatchObject({ok: true, value: {smi: {state}, gpus: []}});
  });

  it('is not read from the answer to another question', () => {
    expect(read(H200, 'probe')).toMatchObject({ok: false, failure: {reason: 'probe-unreadable', section: 'BEGIN'}});
  });

  it('names the profilers that live, where they work, and their reports there', () => {
    const stat = (pid: number, comm: string, state: string) =>
      `stat ${pid} (${comm}) ${state} 1 ${pid} ${pid} 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 3 0 ${pid}00 1 1`;
    const section = (name: string, body: string) => `\n@@${NONCE} begin ${name}\n${body}\n\n@@${NONCE} end ${name} 0\n`;
    const answer = parsed(
      `@fields ${FIELDS}\n${H200}\n@rc 0`,
      'settings',
      section(
        'profilers',
        [
          stat(7, 'nsys', 'S'),
          'cwd /home/anna/run 1',
          stat(8, 'ncu', 'Z'),
          'cwd ',
          stat(9, 'nsys) R', 'S'),
          'cwd ',
        ].join('\n'),
      ) +
        section(
          'files',
          '@in /data/\n1796130000.5 2097152 a/b?c.nsys-rep\n@rc 0\n\n@in @7\n1796130001 1048576 x.ncu-rep\n@rc 137\n\n@in @9\n\n@in /gone\n@rc 1\n',
        ),
    );
    expect(answer).toMatchObject({
      ok: true,
      value: {
        profilers: [
          {pid: 7, startTicks: '700', name: 'nsys', folder: '/home/anna/run 1'},
          {pid: 9, startTicks: '900', name: 'nsys) R', folder: null},
        ],
        files: [
          {path: '/data/a/b?c.nsys-rep', MiB: 2, changedAtMs: 1_796_130_000_000},
          {path: '/home/anna/run 1/x.ncu-rep', MiB: 1, changedAtMs: 1_796_130_001_000},
        ],
        sought: [
          {folder: '/data', whole: true},
          {folder: '/home/anna/run 1', whole: false},
          {folder: '/proc/9/cwd', whole: false},
          {folder: '/gone', whole: false},
        ],
      },
    });
  });

  it('is read whole from what a real H200 said, a profiler and two report files beside it', () => {
    const stdout = readFileSync(new URL('../../fixtures/probes/h200-settings.txt', import.meta.url));
    const transcript = {
      host: hostName('gpu-07'),
      hostKey: 'k',
      nonce: NONCE,
      stdout,
      stderr: '',
      exitCode: 0,
      tookMs: 64,
    };
    expect(parseSettings(transcript, 7)).toMatchObject({
      ok: true,
      value: {
        smi: {state: 'answered', exitCode: 0},
        gpus: [{index: 0, graphicsMHz: figure(1980), powerLimitW: figure(700), persistenceMode: 'Enabled'}],
        profilers: [{pid: 441, startTicks: '2655', name: 'nsys', folder: '/tmp/w'}],
        files: [{path: '/tmp/out/a.nsys-rep'}, {path: '/tmp/w/b.ncu-rep'}],
        sought: [
          {folder: '/tmp/out', whole: true},
          {folder: '/nowhere', whole: false},
          {folder: '/tmp/w', whole: true},
        ],
      },
    });
  });
});
