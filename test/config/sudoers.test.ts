import {execFileSync, spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import type {HostAccess} from '../../src/ssh/access.ts';
import {probeCommand, signalCommand} from '../../src/ssh/commands.ts';

const FILE = 'manifests/sudoers.gpu-reclaim';
const hasVisudo = spawnSync('visudo', ['-V']).status === 0;

const access: HostAccess = {
  name: hostName('gpu-07'),
  address: '10.0.0.7',
  port: 22,
  look: {user: 'gpu-look', key: {kind: 'agent', socket: '/run/agent', fingerprint: null}},
  act: null,
  hostKeys: {kind: 'known-hosts', path: '/known_hosts'},
  sudo: true,
  extraPath: [],
  libraryPath: [],
  deviceFolder: '/dev',
};

describe('the sudoers manifest', () => {
  test.skipIf(!hasVisudo)('is right for visudo (needs visudo: apt-get install sudo)', () => {
    expect(execFileSync('visudo', ['-cf', FILE], {encoding: 'utf8'})).toContain('parsed OK');
  });

  test('allows the commands that the ssh room really sends, to the account that sends them', () => {
    const text = readFileSync(FILE, 'utf8');
    const afterSudo = (command: string) => command.slice(command.indexOf('sudo -n ') + 'sudo -n '.length);
    expect(afterSudo(probeCommand(access, 1000))).toBe('sh -s');
    expect(text).toMatch(/^Cmnd_Alias GPU_RECLAIM_LOOK = \/usr\/bin\/sh -s, \/bin\/sh -s$/m);
    expect(afterSudo(signalCommand(access, 1000, 'a'.repeat(32)))).toMatch(/^sh -c '[^']*'$/);
    expect(text).toMatch(/^Cmnd_Alias GPU_RECLAIM_ACT = \/usr\/bin\/sh -c \*, \/bin\/sh -c \*$/m);
    expect(text).toMatch(/^gpu-look +ALL=\(root\) NOPASSWD: GPU_RECLAIM_LOOK$/m);
    expect(text).toMatch(/^gpu-act +ALL=\(root\) NOPASSWD: GPU_RECLAIM_ACT$/m);
  });
});
