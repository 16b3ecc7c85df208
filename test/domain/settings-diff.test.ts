import {describe, expect, it} from 'vitest';
import type {GpuSettings} from '../../src/domain/settings.ts';
import {settingsDiff} from '../../src/domain/settings-diff.ts';
import {figure} from '../../src/domain/snapshot.ts';
import {uuidOf} from '../doubles/build.ts';
import {hostSettings, settingsOf} from '../doubles/campaign.ts';

const ON = `nvidia-smi -i ${uuidOf(0)}`;
const DEPRECATED = {known: false, why: 'unreadable', token: '[Requested functionality has been deprecated]'} as const;
const all = () => true;

function diff(was: Partial<GpuSettings>, is: Partial<GpuSettings>) {
  return settingsDiff(hostSettings([settingsOf(0, was)]), hostSettings([settingsOf(0, is)]), all);
}

describe('what is set differently', () => {
  it.each<[string, Partial<GpuSettings>, Partial<GpuSettings>, string]>([
    ['power limit', {}, {powerLimitW: figure(300)}, '-pl 700'],
    ['power limit that was not as new', {powerLimitW: figure(450.5)}, {powerLimitW: figure(700)}, '-pl 450.5'],
    ['graphics clock', {}, {graphicsMHz: figure(1200)}, '-rac'],
    ['memory clock', {}, {memoryMHz: figure(1593)}, '-rac'],
    ['clocks that were not as new', {graphicsMHz: figure(1500)}, {graphicsMHz: figure(1980)}, '-ac 3201,1500'],
    [
      'clocks of a GPU that does not tell its own',
      {defaultGraphicsMHz: DEPRECATED},
      {defaultGraphicsMHz: DEPRECATED, graphicsMHz: figure(1200)},
      '-ac 3201,1980',
    ],
    ['persistence on', {}, {persistenceMode: 'Disabled'}, '-pm 1'],
    ['persistence off', {persistenceMode: 'Disabled'}, {}, '-pm 0'],
    ['compute mode', {}, {computeMode: 'Exclusive_Process'}, '-c DEFAULT'],
    ['compute mode that was not as new', {computeMode: 'Exclusive_Process'}, {}, '-c EXCLUSIVE_PROCESS'],
    ['MIG', {}, {migMode: 'Enabled'}, '-mig 0'],
    ['ECC', {}, {eccMode: 'Disabled'}, '-e 1'],
  ])('%s has its command', (_, was, is, change) => {
    const {changes, unread} = diff(was, is);
    expect(changes.map(({command}) => command)).toEqual([`${ON} ${change}`]);
    expect(unread).toEqual([]);
  });

  it('is nothing where only what the GPU is held to differs, which heat alone may lower', () => {
    expect(diff({}, {enforcedPowerLimitW: figure(500)})).toEqual({changes: [], unread: [], missing: []});
  });

  it('puts persistence back before what is lost without it', () => {
    const {changes} = diff({}, {powerLimitW: figure(300), persistenceMode: 'Disabled', graphicsMHz: figure(900)});
    expect(changes.map(({what}) => what)).toEqual(['persistence', 'power-limit', 'application-clocks']);
  });

  it('says which change waits for a reset of the GPU', () => {
    const {changes} = diff({}, {migMode: 'Enabled', eccMode: 'Disabled', persistenceMode: 'Disabled'});
    expect(changes.map(({what, needsReset}) => [what, needsReset])).toEqual([
      ['persistence', false],
      ['mig', true],
      ['ecc', true],
    ]);
  });

  it.each<[string, Partial<GpuSettings>, Partial<GpuSettings>, string]>([
    ['then', {graphicsMHz: DEPRECATED}, {}, 'application-clocks'],
    ['now', {}, {powerLimitW: DEPRECATED}, 'power-limit'],
    ['ever', {graphicsMHz: DEPRECATED}, {graphicsMHz: DEPRECATED}, 'application-clocks'],
  ])('is never called the same where it could not be read %s', (_, was, is, what) => {
    expect(diff(was, is)).toMatchObject({changes: [], unread: [{what, indexes: [0], token: DEPRECATED.token}]});
  });

  it('makes no command of a mode that is none', () => {
    const {changes, unread} = diff({persistenceMode: '1; reboot', computeMode: 'x y'}, {});
    expect(changes).toEqual([]);
    expect(unread.map(({what, token}) => [what, token])).toEqual([
      ['persistence', '1; reboot'],
      ['compute-mode', 'x y'],
    ]);
  });

  it('names one reason once, with its GPUs', () => {
    const both = hostSettings([settingsOf(0, {migMode: '[N/A]'}), settingsOf(1, {migMode: '[N/A]'})]);
    expect(settingsDiff(both, both, all).unread).toEqual([
      {what: 'mig', indexes: [0, 1], token: '[N/A]', absent: true},
    ]);
  });

  it('goes by the GPU, not by its number', () => {
    const was = hostSettings([settingsOf(0, {powerLimitW: figure(500)}), settingsOf(1)]);
    const is = hostSettings([settingsOf(1, {index: 0}), settingsOf(0, {index: 1, powerLimitW: figure(500)})]);
    expect(settingsDiff(was, is, all)).toEqual({changes: [], unread: [], missing: []});
  });

  it('names GPUs that only one look shows, and leaves out those that are not meant', () => {
    const was = hostSettings([settingsOf(0), settingsOf(1)]);
    expect(settingsDiff(was, hostSettings([settingsOf(1), settingsOf(2)]), all).missing).toEqual([0, 2]);
    const changed = hostSettings([settingsOf(0, {powerLimitW: figure(300)}), settingsOf(1)]);
    expect(settingsDiff(was, changed, ({index}) => index === 1)).toEqual({changes: [], unread: [], missing: []});
  });
});
