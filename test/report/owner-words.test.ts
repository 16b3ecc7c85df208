/** What people read of owners: the command that stops them, and whether they start it again. */
import {describe, expect, it} from 'vitest';
import type {Owner} from '../../src/domain/owner.ts';
import {ownerEvidence, ownerName, stopHint} from '../../src/report/owner-words.ts';

const owner = (change: Partial<Owner>): Owner => ({
  kind: 'unit',
  name: 'ollama.service',
  id: 'ollama.service',
  pid: null,
  uid: null,
  stopCommand: 'systemctl stop ollama.service',
  restarts: 'unknown',
  by: 'cgroup',
  facts: null,
  ...change,
});
const facts = {
  kind: 'unit',
  id: 'ollama.service',
  title: null,
  state: 'active',
  restarts: 'yes',
  setting: 'Restart=always',
  run: 'abc',
  restartCount: 35,
} as const;
const tmux = owner({kind: 'tmux', name: '300', stopCommand: null, restarts: 'no'});
const torchrun = owner({kind: 'torchrun', name: '400', stopCommand: null, restarts: 'no'});
const kernel = owner({kind: 'jupyter', name: 'ab-12', stopCommand: null, restarts: 'yes'});
const pod = owner({kind: 'kubernetes-pod', name: '0f2c', stopCommand: null});

describe('on a card', () => {
  it.each<[string, readonly Owner[], string | null]>([
    ['nobody', [], null],
    ['a terminal', [tmux], null],
    ['an agent that starts nothing again', [torchrun, tmux], null],
    ['a unit', [owner({})], 'stop: systemctl stop ollama.service · may start it again'],
    [
      'a unit behind an agent',
      [torchrun, owner({restarts: 'yes'})],
      'stop: systemctl stop ollama.service · starts it again',
    ],
    ['a scope', [owner({restarts: 'no'})], 'stop: systemctl stop ollama.service · does not start it again'],
    [
      'a kernel',
      [kernel],
      'Jupyter kernel ab-12 starts it again; shut it down in Jupyter: its variables are lost with it',
    ],
    ['a pod', [pod], 'pod 0f2c may start it again; delete the pod where it was made (kubectl)'],
  ])('%s', (_, owners, said) => {
    expect(stopHint(owners)).toBe(said);
  });

  it('text of a host stays one line and cannot hide', () => {
    expect(stopHint([owner({stopCommand: 'systemctl stop a\n\u202eb'})])).toBe(
      'stop: systemctl stop a b · may start it again',
    );
    expect(ownerName(owner({name: 'x\u001b[31m', facts: {...facts, title: 'y\nz'}}))).toBe('unit x [31m, y z');
  });
});

describe('in the evidence', () => {
  it('every owner has its line, nearest first, with what its tool said', () => {
    expect(ownerEvidence([torchrun, owner({restarts: 'yes', facts}), tmux])).toEqual([
      'torchrun, PID 400, does not start it again · ends with its agent',
      'unit ollama.service starts it again (Restart=always) · active · started again 35 times so far · stop it with: systemctl stop ollama.service',
      'tmux, PID 300, does not start it again',
    ]);
  });

  it('each kind has a name of its own', () => {
    const kinds = [
      ...([
        'unit',
        'user-unit',
        'docker',
        'containerd',
        'podman',
        'kubernetes',
        'kubernetes-pod',
        'slurm-step',
      ] as const),
      ...(['slurm-job', 'ray', 'jupyter', 'torchrun', 'supervisord', 'tmux', 'screen', 'mps'] as const),
    ];
    expect(new Set(kinds.map((kind) => ownerName(owner({kind, name: 'x'})))).size).toBe(kinds.length);
  });
});
