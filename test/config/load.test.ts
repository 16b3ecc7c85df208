import {spawnSync} from 'node:child_process';
import {inspect} from 'node:util';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import type {Config} from '../../src/config/config.ts';
import {loadConfig} from '../../src/config/load.ts';
import {hostName} from '../../src/domain/host.ts';
import {type Folder, makeFolder, realKey} from './folder.ts';

const hasKeygen = spawnSync('ssh-keygen', ['-?']).error === undefined;

let folder: Folder;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => folder.remove());

describe('where things are', () => {
  test('the folders of XDG are used if they are absolute, the ones below HOME else', () => {
    folder.write('c/gpu-reclaim/hosts.yaml', 'hosts: {a: {look: {user: bot, keyFile: ~/.ssh/gpu-look}}}');
    const config = loaded({XDG_CONFIG_HOME: folder.path('c'), XDG_STATE_HOME: 'state'});
    expect(config.hostsPath).toBe(folder.path('c/gpu-reclaim/hosts.yaml'));
    expect(config.policyPath).toBe(folder.path('c/gpu-reclaim/policy.yaml'));
    expect(config.databasePath).toBe(folder.path('.local/state/gpu-reclaim/runs.db'));
  });

  test('paths of the environment begin at the working folder, paths of a file at its own', () => {
    folder.write('site/keys/look', '-----BEGIN OPENSSH PRIVATE KEY-----\n');
    folder.write('site/h.yaml', 'hosts: {a: {look: {user: bot, keyFile: keys/look}, knownHosts: ../.ssh/known_hosts}}');
    folder.write('site/p.yaml', 'grace: 7s');
    const paths = {GPU_RECLAIM_HOSTS: 'site/h.yaml', GPU_RECLAIM_POLICY: '~/site/p.yaml', GPU_RECLAIM_DB: 'x.db'};
    const config = loaded(paths);
    const access = config.hosts.get(hostName('a'))?.access;
    expect(access?.look.key).toEqual({kind: 'file', path: folder.path('site/keys/look'), passphrase: null});
    expect(access?.hostKeys).toEqual({kind: 'known-hosts', path: folder.path('.ssh/known_hosts')});
    expect(config.policy.graceMs).toBe(7000);
    expect(config.databasePath).toBe(folder.path('x.db'));
  });

  test('a variable that is set to nothing counts as not set', () => {
    folder.write('.config/gpu-reclaim/hosts.yaml', 'hosts: {a: {look: {user: bot, keyFile: ~/.ssh/gpu-look}}}');
    expect(loaded({GPU_RECLAIM_HOSTS: '', GPU_RECLAIM_LOG_LEVEL: ''}).logLevel).toBe('warn');
  });
});

test('a host has what it says, else what the defaults say, else what the program says', () => {
  folder.write(
    '.config/gpu-reclaim/hosts.yaml',
    `defaults:
  user: bot
  look: {keyFile: ~/.ssh/gpu-look}
  act: {user: killer, keyFile: ~/.ssh/gpu-look}
  groups: [lab]
  labels: {site: a, rack: r1}
  people: {1001: anna, 1002: bo}
hosts:
  plain: {}
  own:
    user: carla
    mode: act
    sudo: true
    port: 2222
    look: {agent: {}}
    groups: [h200]
    labels: {rack: r2}
    people: {1002: U024BE7LH}`,
  );
  const {hosts} = loaded({SSH_AUTH_SOCK: '/run/agent'});
  const [plain, own] = [hosts.get(hostName('plain')), hosts.get(hostName('own'))];
  expect(plain?.access).toMatchObject({address: 'plain', port: 22, sudo: false, look: {user: 'bot'}, extraPath: []});
  expect(plain?.host).toMatchObject({mode: 'observe', groups: ['lab'], labels: {site: 'a', rack: 'r1'}});
  expect(own?.access.port).toBe(2222);
  expect(own?.access.look).toEqual({user: 'carla', key: {kind: 'agent', socket: '/run/agent', fingerprint: null}});
  // Said for acting, so a plain user of the host does not change it.
  expect(own?.access.act?.user).toBe('killer');
  expect(own?.host).toMatchObject({mode: 'act', groups: ['h200'], labels: {site: 'a', rack: 'r2'}});
  expect(own?.host.people).toEqual(
    new Map([
      [1001, 'anna'],
      [1002, 'U024BE7LH'],
    ]),
  );
});

test('a passphrase that is set is not an unknown variable, even while there is no hosts file to name it', () => {
  const config = loadConfig({HOME: folder.home, GPU_RECLAIM_ACT_PASSPHRASE: 'hunter2'}, folder.home);
  const paths = !config.ok && config.failure.reason === 'config-bad' && config.failure.mistakes.map(({path}) => path);
  expect(paths).toEqual(['']);
});

test('a passphrase is in no printed form of the config', () => {
  folder.write(
    '.config/gpu-reclaim/hosts.yaml',
    'hosts: {a: {look: {user: bot, keyFile: ~/.ssh/gpu-act, passphraseEnv: PASS}}}',
  );
  const config = loaded({PASS: 'hunter2'});
  const printed = inspect(config, {depth: 20}) + JSON.stringify([...config.hosts.values()]);
  expect(printed).toContain('[redacted]');
  expect(printed).not.toContain('hunter2');
});

describe.skipIf(!hasKeygen)('keys made by ssh-keygen (needs it: apt-get install openssh-client)', () => {
  test.each([
    ['without a passphrase', '', '', true],
    ['with a passphrase that is not told', 'sesame', '', false],
    ['with a passphrase in a variable', 'sesame', ', passphraseEnv: PASS', true],
  ])('a key %s', (_, phrase, more, isRight) => {
    const path = realKey(folder.path('key'), phrase);
    folder.write(
      '.config/gpu-reclaim/hosts.yaml',
      `hosts: {a: {look: {user: bot, keyFile: "${path}"${more}}, hostKeys: ["${folder.read('key.pub').trim()}"]}}`,
    );
    expect(loadConfig({HOME: folder.home, PASS: 'x'}, folder.home).ok).toBe(isRight);
  });
});

function loaded(env: Readonly<Record<string, string>>): Config {
  const config = loadConfig({HOME: folder.home, ...env}, folder.home);
  if (!config.ok) throw new Error(JSON.stringify(config.failure, null, 1));
  return config.value;
}
