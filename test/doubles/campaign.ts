/** Builders for campaigns: one host with two GPUs as they come, looked at twice. */
import {type Campaign, campaignId, type KeptCampaign} from '../../src/domain/campaign.ts';
import type {HostFacts} from '../../src/domain/host-facts.ts';
import type {HolderReport, SeenHost} from '../../src/domain/host-report.ts';
import type {GpuSettings, HostSettings} from '../../src/domain/settings.ts';
import {figure} from '../../src/domain/snapshot.ts';
import {HOST, uuidOf} from './build.ts';

export function settingsOf(index: number, change: Partial<GpuSettings> = {}): GpuSettings {
  return {
    uuid: uuidOf(index),
    index,
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
    ...change,
  };
}

export function hostSettings(gpus: readonly GpuSettings[], change: Partial<HostSettings> = {}): HostSettings {
  return {
    host: HOST,
    bootId: 'boot-1',
    takenAtMs: 1_000,
    smi: {state: 'answered', exitCode: 0, note: ''},
    gpus,
    profilers: [],
    files: [],
    sought: [],
    ...change,
  };
}

export function someFacts(change: Partial<HostFacts> & {readonly see?: Partial<SeenHost>} = {}): HostFacts {
  const {see, ...rest} = change;
  const gpu = (index: number) => ({uuid: uuidOf(index), index, state: 'clean', usedMiB: 4, unexplainedMiB: 0}) as const;
  return {
    seen: {state: 'seen', host: HOST, takenAtMs: 1_000, bootId: 'boot-1', gpus: [gpu(0), gpu(1)], holders: [], ...see},
    uptimeMs: 100_000,
    fullSight: true,
    findings: {},
    busIds: {[uuidOf(0)]: '00000000:00:00.0', [uuidOf(1)]: '00000000:01:00.0'},
    settings: hostSettings([settingsOf(0), settingsOf(1)]),
    deep: {leftovers: [], xids: [], mpsControl: null, mpsSeen: true},
    ...rest,
  };
}

export function aHolder(pid: number, change: Partial<HolderReport> = {}): HolderReport {
  return {pid, startTicks: `${pid}0`, title: 'bench.py', finding: 'renamed', chargedMiB: 4_096, gpus: [0], ...change};
}

export function aCampaign(change: Partial<Campaign> = {}): Campaign {
  return {
    id: campaignId('c0a1b2'),
    kind: 'profile',
    hosts: [HOST],
    gpus: null,
    processes: [],
    by: 'os:anna',
    label: null,
    out: null,
    sampleMs: null,
    locked: {graphics: null, memory: null},
    startedAtMs: 1_000,
    untilMs: null,
    channel: null,
    before: [someFacts()],
    ...change,
  };
}

export function kept(change: Partial<Campaign> = {}, more: Partial<KeptCampaign> = {}): KeptCampaign {
  return {campaign: aCampaign(change), ended: null, card: null, samples: [], notes: [], ...more};
}
