/** Who calls itself like a daemon that hosts need: not protected for that, and told apart from the real one elsewhere. */
import {describe, expect, it} from 'vitest';
import type {ProcessFacts} from '../../src/domain/snapshot.ts';
import {
  aDiagnosis,
  anExecutable,
  aPolicy,
  aProcess,
  aProgram,
  aSnapshot,
  BO_UID,
  billed,
  holderOf,
  planFor,
  targetPids,
} from '../doubles/build.ts';

const found = (change: Partial<ProcessFacts>, policy = aPolicy()) =>
  holderOf(
    aDiagnosis(aSnapshot([billed(aProcess({pid: 500, uid: BO_UID, ...change}), {0: 9_000})], {used: [9_009]}), {
      policy,
    }),
    500,
  );

describe('an impostor', () => {
  it.each<[string, Partial<ProcessFacts>, string]>([
    ['by comm, cut to 15 bytes', {comm: 'nvidia-persiste'}, 'nvidia-persiste'],
    ['by its command line', {words: ['/usr/bin/nvidia-persistenced', '--user', 'x']}, 'nvidia-persistenced'],
    ['by a title that holds all of it', {words: ['nv-hostengine --no-daemon']}, 'nv-hostengine'],
    ['by the script that it runs', {words: ['python3', '/home/bo/nv-fabricmanager']}, 'nv-fabricmanager'],
    [
      'by a copy of its own',
      {executable: anExecutable('/home/bo/Xorg', BO_UID), comm: 'Xorg', words: ['Xorg']},
      'Xorg',
    ],
    [
      'by a file of its own at the very path, which root does not own',
      {executable: anExecutable('/usr/bin/nv-hostengine', BO_UID), words: ['nv-hostengine']},
      'nv-hostengine',
    ],
    ['whose program could not be read', {executable: null, comm: 'sshd'}, 'sshd'],
  ])('%s', (_, change, name) => {
    const holder = found(change);
    expect(holder.findings.at(-2)).toBe('impostor');
    expect(holder.findings).not.toContain('protected');
    const lie = holder.evidence.find((one) => one.fact.startsWith('calls itself'));
    expect(lie).toMatchObject({source: 'executable', fact: expect.stringContaining(`calls itself ${name}, as `)});
  });

  it('says which program it is', () => {
    expect(found({comm: 'nvidia-persiste'}).evidence[0]?.fact).toBe(
      'calls itself nvidia-persiste, as NVIDIA persistence daemon does; its program is /usr/bin/python3.12, of uid 0',
    );
  });

  it('is signalled like anybody, and by its name no more than others', () => {
    const look = aSnapshot([billed(aProcess({pid: 500, uid: BO_UID, comm: 'nvidia-persiste'}), {0: 9_000})], {
      used: [9_009],
    });
    expect(targetPids(planFor(look))).toEqual([]);
    expect(targetPids(planFor(look, {pids: [500]}))).toEqual([500]);
  });

  it('of a daemon that the policy adds', () => {
    const entry = {name: 'site monitor', executables: ['/opt/monitor/*/gpuwatch'], uids: [0], units: []};
    expect(found({comm: 'gpuwatch'}, aPolicy({protectedList: [entry]})).findings).toContain('impostor');
    expect(found({comm: 'gpuwatch'}).findings).not.toContain('impostor');
  });
});

describe('no impostor is', () => {
  it.each<[string, ProcessFacts]>([
    ['the real daemon', aProgram('/usr/bin/nvidia-persistenced', {pid: 500, uid: 0})],
    [
      'the real exporter in its container, where its file is the container’s',
      aProgram('/usr/bin/dcgm-exporter', {pid: 500, uid: 0, mountNamespace: '4026532801'}),
    ],
    ['a service manager of a login', aProgram('/usr/lib/systemd/systemd', {pid: 500, uid: BO_UID})],
    ['one whose name only begins like it', aProcess({pid: 500, comm: 'nvidia-pers', words: ['Xorg-runner']})],
    ['one whose argument is called so', aProcess({pid: 500, words: ['python3', 'watch.py', 'nv-hostengine']})],
    ['anybody', aProcess({pid: 500})],
  ])('%s', (_, process) => {
    const look = aSnapshot([billed(process, {0: 9_000})], {used: [9_009]});
    expect(holderOf(aDiagnosis(look), 500).findings).not.toContain('impostor');
  });

  it('one that holds no GPU: this is about GPUs', () => {
    const look = aSnapshot([aProcess({pid: 500, comm: 'sshd', words: ['sshd: vllm']})], {used: [4]});
    expect(holderOf(aDiagnosis(look), 500).findings).toEqual(['name-only']);
  });
});
