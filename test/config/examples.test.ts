import {readFileSync} from 'node:fs';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {hostsFileSchema} from '../../src/config/hosts-schema.ts';
import {loadConfig} from '../../src/config/load.ts';
import {policyOf} from '../../src/config/policy-file.ts';
import {policyFileSchema} from '../../src/config/policy-schema.ts';
import {hostName} from '../../src/domain/host.ts';
import {NOT_DECLARED} from '../../src/domain/locked-clocks.ts';
import {type Folder, makeFolder} from './folder.ts';

const HOSTS = readFileSync('hosts.example.yaml', 'utf8');
const POLICY = readFileSync('policy.example.yaml', 'utf8');
const ENV = readFileSync('.env.example', 'utf8');

let folder: Folder;
beforeAll(() => {
  folder = makeFolder();
  folder.write('.config/gpu-reclaim/hosts.yaml', HOSTS);
  folder.write('.config/gpu-reclaim/policy.yaml', POLICY);
});
afterAll(() => folder.remove());

function loadExamples(seen: Set<string> = new Set()) {
  const values: Record<string, string> = {
    HOME: folder.home,
    GPU_RECLAIM_ACT_PASSPHRASE: 'open sesame',
    SLACK_BOT_TOKEN: 'xoxb-1',
    SLACK_APP_TOKEN: 'xapp-1',
    SLACK_CHANNEL: 'C0123456789',
  };
  const env = new Proxy(values, {
    get(target, name) {
      seen.add(String(name));
      return Reflect.get(target, name);
    },
  });
  const config = loadConfig(env, folder.home, 'bot');
  if (!config.ok) throw new Error(JSON.stringify(config.failure, null, 1));
  return config.value;
}

describe('the example files', () => {
  test('load together without a mistake', () => {
    const config = loadExamples();
    expect([...config.hosts.keys()]).toEqual(['gpu-07', 'gpu-08.lab.example']);
    expect(config.hostsPath).toBe(folder.path('.config/gpu-reclaim/hosts.yaml'));
    expect(config.databasePath).toBe(folder.path('.local/state/gpu-reclaim/runs.db'));
  });

  test('give each host what the comments promise', () => {
    const {hosts} = loadExamples();
    const [first, second] = [hosts.get(hostName('gpu-07')), hosts.get(hostName('gpu-08.lab.example'))];
    expect(first?.host.mode).toBe('act');
    expect(first?.host.people).toEqual(
      new Map([
        [1001, 'anna'],
        [1002, 'U024BE7LH'],
      ]),
    );
    const at = (low: number, high: number) => ({low, high});
    expect(first?.host.clocks).toEqual({
      graphics: at(1410, 1410),
      memory: at(2619, 2619),
      byGpu: new Map([[3, {graphics: at(1200, 1980), memory: at(2619, 2619)}]]),
    });
    expect(second?.host.clocks).toEqual(NOT_DECLARED);
    expect(first?.access.address).toBe('10.0.0.7');
    expect(first?.access.look).toEqual({
      user: 'gpu-look',
      key: {kind: 'file', path: folder.path('.ssh/gpu-look'), passphrase: null},
    });
    expect(first?.access.act?.user).toBe('gpu-act');
    const actKey = first?.access.act?.key;
    expect(actKey?.kind === 'file' && actKey.passphrase?.reveal()).toBe('open sesame');
    expect(first?.access.hostKeys).toEqual({kind: 'known-hosts', path: folder.path('.ssh/known_hosts')});
    expect(second?.access.address).toBe('gpu-08.lab.example');
    expect(second?.access.look.user).toBe('anna');
    expect(second?.access.look.key).toMatchObject({kind: 'agent', socket: folder.path('.ssh/agent.sock')});
    expect(second?.access.hostKeys.kind).toBe('pinned');
    expect(second?.access.extraPath).toEqual(['/usr/local/nvidia/bin']);
    expect(second?.access.deviceFolder).toBe('/dev');
  });

  test('show the defaults of the policy', () => {
    const {approvers, samePerson, workloads, protectedList, ...shown} = loadExamples().policy;
    const {
      approvers: _,
      samePerson: nobody,
      workloads: builtInWorkloads,
      protectedList: builtIn,
      ...defaults
    } = policyOf({});
    expect(nobody).toEqual([]);
    expect(samePerson).toEqual([['os:anna', 'slack:U024BE7LH']]);
    expect(shown).toEqual(defaults);
    expect(approvers).toEqual([
      {kind: 'os-user', name: 'anna'},
      {kind: 'slack-user', id: 'U024BE7LH'},
      {kind: 'slack-group', id: 'S0604QSJC'},
    ]);
    expect(protectedList).toHaveLength(builtIn.length + 1);
    expect(workloads.map((workload) => workload.name)).toContain('our-trainer');
    expect(workloads.map((workload) => workload.name)).not.toContain('comfyui');
    expect(builtInWorkloads.map((workload) => workload.name)).toContain('comfyui');
  });

  test.each([
    ['hosts.example.yaml', hostsFileSchema, HOSTS],
    ['policy.example.yaml', policyFileSchema, POLICY],
  ] as const)('%s shows every key of its schema, at least as a comment', (_, schema, text) => {
    const live = new Set(writtenPaths(parse(text)));
    const commented = new Set([...text.matchAll(/^\s*# ([A-Za-z]+): \S+$/gm)].map((line) => line[1] ?? ''));
    const missing = schemaPaths(schema).filter(
      (path) => !live.has(path) && !commented.has(path.split('.').at(-1) ?? ''),
    );
    expect(missing).toEqual([]);
  });

  test('.env.example names every variable that is read, and no other', () => {
    const seen = new Set<string>();
    loadExamples(seen);
    const named = [...ENV.matchAll(/^#?([A-Z_]+)=/gm)].map((line) => line[1]);
    expect(new Set(named)).toEqual(seen);
  });
});

/** Host and defaults take the same words, and so do look and act: each word has to be shown at one of them. */
function onePlace(path: string): string {
  return path.replace(/^(defaults|hosts\.\*)\./, 'host.').replace(/^host\.(look|act)\./, 'host.credential.');
}

function writtenPaths(value: unknown, at = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => writtenPaths(item, at));
  if (typeof value !== 'object' || value === null) return [];
  const isMap = MAPS.includes(at);
  return Object.entries(value).flatMap(([key, item]) => {
    const path = at === '' ? key : `${at}.${isMap ? '*' : key}`;
    return [onePlace(path), ...writtenPaths(item, path)];
  });
}

const MAPS = [
  'hosts',
  'schedules',
  'workloads',
  'defaults.people',
  'hosts.*.people',
  'hosts.*.labels',
  'hosts.*.links',
  'hosts.*.clocks.gpus',
];

interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, {readonly def: Definition}>>;
  readonly innerType?: {readonly def: Definition};
  readonly element?: {readonly def: Definition};
  readonly valueType?: {readonly def: Definition};
}

function schemaPaths(schema: {readonly def: unknown}, at = ''): readonly string[] {
  const {shape, innerType, element, valueType} = schema.def as Definition;
  const inner = innerType ?? element;
  if (inner !== undefined) return schemaPaths(inner, at);
  if (valueType !== undefined) return schemaPaths(valueType, `${at}.*`);
  return Object.entries(shape ?? {}).flatMap(([key, value]) => {
    const path = at === '' ? key : `${at}.${key}`;
    return [onePlace(path), ...schemaPaths(value, path)];
  });
}
