/** A host that tells a look and what is set on its GPUs, as texts; nothing can be signalled there. */
import {ok} from '../../src/domain/failure.ts';
import type {HostName} from '../../src/domain/host.ts';
import type {RemoteHost, RemoteHosts} from '../../src/engine/remote-ports.ts';
import {unreachable} from './look-only.ts';

const NONCE = '0123456789abcdef0123456789abcdef';
const FIELDS =
  'index,uuid,clocks.applications.graphics,clocks.applications.memory,clocks.default_applications.graphics,clocks.default_applications.memory,power.limit,power.default_limit,enforced.power.limit,persistence_mode,compute_mode,mig.mode.current,ecc.mode.current,ecc.errors.uncorrected.volatile.total,ecc.errors.uncorrected.aggregate.total';

/** What is said next; null: not reachable. `looks` counts the probes. */
export interface Said {
  probe: string | null;
  powerW: number;
  looks: number;
  /** What a sample says; null: it is not reachable. Left out: 0 % and 4 MiB, nobody billed. */
  sample?: {readonly usedMiB: number; readonly utilization?: string; readonly pids?: readonly number[]} | null;
  /** How many were asked for. */
  samples?: number;
  /** Folders that were to be looked into for report files. */
  folders: readonly string[];
}

export function measuredHosts(said: Said): RemoteHosts {
  const host = (name: HostName): RemoteHost => {
    const transcript = (text: string) =>
      ok({
        host: name,
        hostKey: 'SHA256:k',
        nonce: NONCE,
        stdout: new TextEncoder().encode(text),
        stderr: '',
        exitCode: 0,
        tookMs: 9,
      });
    const known: {-readonly [Verb in keyof RemoteHost]?: RemoteHost[Verb]} = {
      probe: async () => {
        said.looks += 1;
        return said.probe === null ? unreachable(name) : transcript(said.probe);
      },
      deep: async () => unreachable(name),
      writes: async () => unreachable(name),
      owners: async () => unreachable(name),
      owned: async () => unreachable(name),
      settings: async (folders) => {
        said.folders = folders;
        return said.probe === null ? unreachable(name) : transcript(settingsText(said.probe, said.powerW));
      },
    };
    known.sample = async () => {
      said.samples = (said.samples ?? 0) + 1;
      const {sample = {usedMiB: 4}} = said;
      return sample === null || said.probe === null ? unreachable(name) : transcript(sampleText(said.probe, sample));
    };
    return new Proxy(known as RemoteHost, {
      get: (target, asked: keyof RemoteHost) => {
        if (asked in target) return target[asked];
        throw new Error(`Internal error: a campaign asked a host for ${asked}`);
      },
    });
  };
  return {host, close: async () => undefined};
}

/** Of the same boot, and of the first GPU in that look. */
function settingsText(probe: string, powerW: number): string {
  const line = (start: string) => probe.split('\n').find((one) => one.startsWith(start)) ?? '';
  const [uuid = ''] = /GPU-[0-9a-f-]{36}/.exec(probe) ?? [];
  const spaces = probe.split('\n').filter((one) => /^(pid|mnt):\[\d+\]$/.test(one));
  const host = ['boot_id', 'uptime', 'clock_ticks', 'euid', 'kernel'].map((key) => line(`${key} `));
  const row = `0, ${uuid}, 1980, 3201, 1980, 3201, ${powerW}.00, 700.00, 700.00, Enabled, Default, Disabled, Enabled, 0, 0`;
  return [
    `@@${NONCE} BEGIN settings 1`,
    `@@${NONCE} begin host`,
    ...host,
    ...spaces,
    `@@${NONCE} end host 0`,
    `@@${NONCE} begin settings`,
    `@fields ${FIELDS}`,
    row,
    '@rc 0',
    `@@${NONCE} end settings 0`,
    `@@${NONCE} END 0`,
    '',
  ]
    .map((one) => (one.startsWith('@@') ? `\n${one}` : one))
    .join('\n');
}

/** Of the same boot, and of the first GPU in that look. */
function sampleText(probe: string, {usedMiB, utilization = '0', pids = []}: NonNullable<Said['sample']>): string {
  const [uuid = ''] = /GPU-[0-9a-f-]{36}/.exec(probe) ?? [];
  const boot = probe.split('\n').find((one) => one.startsWith('boot_id ')) ?? '';
  return [
    `@@${NONCE} BEGIN sample 1`,
    `@@${NONCE} begin usage`,
    '@fields uuid,memory.used,utilization.gpu,index',
    `${uuid}, ${usedMiB}, ${utilization}, 0`,
    '@rc 0',
    `@@${NONCE} end usage 0`,
    `@@${NONCE} begin bills`,
    '@fields gpu_uuid,pid,process_name,used_gpu_memory',
    ...pids.map((pid) => `${uuid}, ${pid}, python3, 512`),
    '@rc 0',
    `@@${NONCE} end bills 0`,
    `@@${NONCE} begin sample`,
    boot,
    'took 100.00 100.03',
    `@@${NONCE} end sample 0`,
    `@@${NONCE} END 0`,
    '',
  ]
    .map((one) => (one.startsWith('@@') ? `\n${one}` : one))
    .join('\n');
}
