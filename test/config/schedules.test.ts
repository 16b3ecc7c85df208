/** The policy file's schedules: what they become, and every mistake with its way out. */
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {loadConfig} from '../../src/config/load.ts';
import {type Folder, makeFolder} from './folder.ts';

let folder: Folder;
beforeEach(() => {
  folder = makeFolder();
  const look = 'look: {user: bot, keyFile: ~/.ssh/gpu-look}';
  folder.write(
    '.config/gpu-reclaim/hosts.yaml',
    `hosts: {gpu-01: {${look}, groups: [h200]}, gpu-02: {${look}, address: x}, lab: {${look}, address: y}}`,
  );
});
afterEach(() => folder.remove());

function load(schedules: string) {
  folder.write('.config/gpu-reclaim/policy.yaml', `schedules: ${schedules}`);
  const config = loadConfig({HOME: folder.home}, folder.home);
  if (config.ok) return {schedules: config.value.schedules, mistakes: []};
  if (config.failure.reason !== 'config-bad') throw new Error(config.failure.reason);
  const mistakes = config.failure.mistakes.map(({path, problem, wayOut}) => `${path}| ${problem} > ${wayOut}`);
  return {schedules: new Map(), mistakes};
}

test('are read with hosts, groups and patterns looked up, and quiet unless told otherwise', () => {
  const {schedules, mistakes} = load(`
  night: {hosts: [h200, gpu-*, lab], when: every weekday 18:00, zone: europe/berlin}
  often: {hosts: [all], when: 'cron "0 */4 * * *"', zone: UTC, channel: C0123456789, quiet: false}`);
  expect(mistakes.filter((line) => line.startsWith('schedules'))).toEqual([]);
  expect([...schedules]).toEqual([
    [
      'night',
      {
        hosts: [
          {kind: 'group', name: 'h200'},
          {kind: 'glob', pattern: 'gpu-*'},
          {kind: 'host', name: 'lab'},
        ],
        when: {kind: 'weekly', days: [1, 2, 3, 4, 5], time: {hour: 18, minute: 0}},
        zone: 'Europe/Berlin',
        channel: null,
        quiet: true,
        by: 'file',
      },
    ],
    [
      'often',
      {
        hosts: [{kind: 'all'}],
        when: {kind: 'cron', pattern: '0 */4 * * *'},
        zone: 'UTC',
        channel: 'C0123456789',
        quiet: false,
        by: 'file',
      },
    ],
  ]);
});

describe('a wrong one', () => {
  test.each([
    ['{hosts: [gpu-99], when: every 4h, zone: UTC}', 'schedules.x.hosts| names "gpu-99", which is no host'],
    ['{hosts: [h20*], when: every 4h, zone: UTC}', 'schedules.x.hosts| names "h20*", which is no host'],
    ['{hosts: [], when: every 4h, zone: UTC}', 'schedules.x.hosts| names no host'],
    [
      '{hosts: [all], when: tomorrow 18:00, zone: UTC}',
      'schedules.x.when| is "tomorrow 18:00"; expected a time that comes again',
    ],
    ['{hosts: [all], when: every fortnight, zone: UTC}', 'schedules.x.when| is "every fortnight"; expected'],
    ['{hosts: [all], when: every day 18:00 UTC, zone: UTC}', 'without its zone'],
    ['{hosts: [all], when: every 4h}', 'schedules.x.zone| is empty; expected a time zone by its IANA name'],
    ['{hosts: [all], when: every 4h, zone: CET}', 'schedules.x.zone| is "CET"; expected a time zone'],
    [
      '{hosts: [all], when: every 4h, zone: UTC, channel: "#gpu"}',
      'schedules.x.channel| is "#gpu"; expected a Slack channel id',
    ],
    ['{hosts: [all], when: every 4h, zone: UTC, loud: true}', 'schedules.x.loud| this key is not known'],
  ])('%s is told: %s', (written, expected) => {
    expect(load(`{x: ${written}}`).mistakes.join('\n')).toContain(expected);
  });
});
