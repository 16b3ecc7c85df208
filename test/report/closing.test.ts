/** What the closing report says: whether a start is possible, and why memory is still held. */
import {describe, expect, it} from 'vitest';
import type {DeepLook} from '../../src/domain/deep.ts';
import type {GpuChange, Outcome} from '../../src/domain/outcome.ts';
import type {Readiness} from '../../src/domain/readiness.ts';
import type {Snapshot} from '../../src/domain/snapshot.ts';
import {nextStep} from '../../src/report/next-step.ts';
import {freeNow, readinessLines} from '../../src/report/readiness-lines.ts';
import {movedLines, survivorLines, unexplainedLines} from '../../src/report/still-held.ts';
import {causesOf} from '../../src/report/unexplained.ts';
import {aHolding, aProcess, aRun, aSnapshot, HOST, MACHINE, uuidOf} from '../doubles/build.ts';

function gpu(index: number, own: Partial<GpuChange> = {}): GpuChange {
  return {
    gpuUuid: uuidOf(index),
    index,
    beforeMiB: 4_623,
    afterMiB: 4,
    expectedMiB: 300,
    requested: true,
    heldBy: [],
    unexplainedMiB: 0,
    ...own,
  };
}

const eight = Array.from({length: 8}, (_, index) => gpu(index));
const quiet: Readiness = {
  asked: eight,
  all: eight,
  blockers: [],
  recovery: [],
  newXids: null,
  leftovers: null,
  ports: [],
};
const busy = gpu(6, {afterMiB: 21_630});
const bo = {person: 'bo', uid: 1001, by: 'uid'} as const;
const blocker = {pid: 250_331, name: 'train.py', ownership: bo, gpus: [busy], chargedMiB: 21_630};
const withBo = eight.map((one, at) => (at === 6 ? busy : one));

describe('the count', () => {
  it.each<[string, Partial<Readiness>, string]>([
    ['says that all are free', {}, 'GPUs free now: 8 of 8'],
    [
      'says which GPU forbids the start, and whose it is',
      {asked: withBo, all: withBo, blockers: [blocker]},
      'GPUs free now: 7 of 8; 8-GPU start not possible: GPU 6 (bo)',
    ],
    [
      'sets what was asked for beside the host',
      {asked: withBo.slice(0, 4), all: withBo, blockers: [blocker]},
      'GPUs free now: 4 of 4 asked for, 7 of 8 on the host',
    ],
    [
      'does not blame somebody on another GPU',
      {asked: [gpu(0, {afterMiB: 900})], all: withBo, blockers: [blocker]},
      'GPUs free now: 0 of 1 asked for, 7 of 8 on the host; 1-GPU start not possible: GPU 0',
    ],
  ])('%s', (_what, own, line) => {
    expect(freeNow({...quiet, ...own})).toBe(line);
  });
});

describe('what stands against a start', () => {
  const shm = (name: string, kind: 'file' | 'segment' = 'file') => ({kind, name, MiB: 4_096, uid: 0, ageMs: 1});

  it.each<[string, Partial<Readiness>, boolean, string]>([
    ['somebody', {blockers: [blocker]}, true, 'Blocks a start: PID 250331 train.py (bo) on GPU 6, 21,630 MiB'],
    [
      'a recovery',
      {recovery: [{index: 3, action: 'Drain and Reset'}]},
      true,
      'GPU 3 is not to be used before a recovery: nvidia-smi asks for "Drain and Reset"',
    ],
    [
      'a new Xid',
      {newXids: [{index: 3, busId: 'x', code: 94, count: 2}]},
      true,
      'New Xid in the kernel log since the go: 94 on GPU 3 (2×)',
    ],
    ['no new Xid', {newXids: []}, false, 'No new Xid in the kernel log since the go'],
    [
      'what was left behind',
      {leftovers: [shm('nccl-AbC'), shm('psm_1'), shm('7', 'segment'), shm('old')]},
      false,
      'Shared memory that no process has open: 4, 16,384 MiB, newest /dev/shm/nccl-AbC, /dev/shm/psm_1, segment 7 (ipcs -m); left as it is',
    ],
    [
      'a port in use',
      {ports: [{port: 8_000, busy: true}]},
      true,
      'Port 8000 of what was ended: somebody still listens on it',
    ],
    ['a free port', {ports: [{port: 8_000, busy: false}]}, false, 'Port 8000 of what was ended: free'],
  ])('%s is told', (_what, own, against, text) => {
    expect(readinessLines({...quiet, ...own})).toEqual([{against, text}]);
  });

  it('is silent on what was not read', () => {
    expect(readinessLines({...quiet, ports: [{port: 8_000, busy: null}]})).toEqual([]);
  });

  it('counts what is too much to name', () => {
    const many = Array.from({length: 20}, (_, at) => ({...blocker, pid: at + 2}));
    const lines = readinessLines({...quiet, blockers: many});
    expect(lines).toHaveLength(9);
    expect(lines.at(-1)?.text).toBe('… and 12 processes more');
  });
});

function outcome(own: Partial<Outcome>): Outcome {
  return {word: 'partly', gpus: [], survivors: [], because: null, freedAfterMs: null, ...own};
}

describe('why memory is still held', () => {
  it('names the process that has the bill now, once for all GPUs', () => {
    const movedTo = [{pid: 123, name: 'shared server', MiB: 4_096, fromPids: [12, 13], how: 'billed'}] as const;
    expect(movedLines(outcome({gpus: [gpu(0, {movedTo}), gpu(1, {movedTo})]}))).toEqual([
      'Not freed: the bill for 8,192 MiB of PID 12-13 on GPU 0-1 moved to PID 123 shared server, which shares that memory and was no target: ask its owner to restart it',
    ]);
  });

  it('names the one that keeps the files of the dead', () => {
    const movedTo = [{pid: 5, name: 'python3', MiB: 100, fromPids: [12], how: 'kept'}] as const;
    expect(movedLines(outcome({gpus: [gpu(0, {movedTo})]}))[0]).toMatch(
      /still billed to the dead, and PID 5 python3 keeps/,
    );
  });

  it('gives the proof under a survivor', () => {
    const survivors = [
      {
        pid: 9,
        name: 'python3',
        observation: 'stuck',
        findings: [],
        why: 'stuck-in-kernel',
        evidence: [{source: 'kernel', fact: 'thread 9 in state D, stands in nvidia_close of the GPU driver'}],
      },
    ] as const;
    expect(survivorLines(outcome({survivors})).slice(1)).toEqual([
      expect.stringMatching(/^ {2}PID 9 python3: .*stuck in the kernel/),
      '  · thread 9 in state D, stands in nvidia_close of the GPU driver [kernel]',
    ]);
    expect(survivorLines(outcome({}))).toEqual(['Surviving targets: none']);
  });

  it.each<[string, Partial<Outcome>, RegExp]>([
    [
      'the owner of what has the bill now',
      {gpus: [gpu(0, {movedTo: [{pid: 123, name: 'srv', MiB: 1, fromPids: [1], how: 'billed'}]})]},
      /ask the owner of PID 123 srv to restart it/,
    ],
    [
      'a look, where a kill -9 was outlived',
      {survivors: [{pid: 9, name: 'x', observation: 'alive', findings: [], why: 'outlived-kill'}]},
      /look again in a minute/,
    ],
    [
      'the reboot, where it is stuck',
      {survivors: [{pid: 9, name: 'x', observation: 'stuck', findings: [], why: 'stuck-in-kernel'}]},
      /drain gpu-07 and reboot it/,
    ],
  ])('has as its next step %s', (_what, own, step) => {
    expect(nextStep(aRun(), outcome(own))).toMatch(step);
  });

  const left = outcome({gpus: [gpu(3, {afterMiB: 5_000, unexplainedMiB: 5_000})]});
  const closedWith = (snapshot: Snapshot | null) => aRun({kind: 'looked-again', atMs: 1, snapshot, failure: null});

  it('lists the causes that are left where nobody explains it', () => {
    const lines = unexplainedLines(closedWith(aSnapshot([])), left);
    expect(lines[0]).toBe('GPU 3: 5,000 MiB that no process explains');
    expect(lines.slice(1).every((line) => /^ {2}(seen|possible|ruled out): /.test(line))).toBe(true);
    expect(unexplainedLines(closedWith(null), left)[1]).toContain('"gpu-reclaim diagnose gpu-07"');
    expect(unexplainedLines(closedWith(aSnapshot([])), outcome({gpus: eight}))).toEqual([]);
  });
});

const SECTIONS = ['numbers', 'network', 'mapped', 'queue', 'modules'];

function deep(own: Partial<DeepLook> = {}, unread: readonly string[] = []): DeepLook {
  return {
    host: HOST,
    machine: MACHINE,
    takenAtMs: 2,
    uptimeMs: 600_000,
    majors: {},
    numbered: [],
    queued: [],
    rings: [],
    kernel: [],
    xids: [],
    mps: null,
    leftovers: [],
    listening: [],
    modules: {nvidia: 12},
    processes: [],
    sections: SECTIONS.map((name) => ({name, exitCode: 0, complete: !unread.includes(name), note: ''})),
    ...own,
  };
}

describe('a cause', () => {
  const look = (own: Partial<Snapshot>) => causesOf(aSnapshot([aProcess({pid: 12, comm: 'python3'})], own));
  const blind = {full: false, euid: 1000, hidepid: '2', unreadableFdFolders: 3, foreignPidNamespace: true, stuckAt: []};

  it.each<[string, Partial<Snapshot>, string, RegExp]>([
    ['without a deeper look', {}, 'possible', /only a deeper look shows/],
    ['by number, whole', {deep: deep()}, 'ruled-out', /another name or in another mount namespace: nobody/],
    ['by number, in part', {deep: deep({}, ['mapped'])}, 'possible', /device numbers were not read whole/],
    [
      'in a socket',
      {deep: deep({queued: [{pid: 12, fd: 4, count: 3}]})},
      'seen',
      /PID 12 python3; which files cannot be seen/,
    ],
    ['in a ring', {deep: deep({rings: [{pid: 12, fd: 4, files: 3, devices: null}]})}, 'seen', /io_uring of PID 12/],
    ['in no socket', {deep: deep()}, 'ruled-out', /none wait anywhere/],
    ['in no socket that an old kernel would show', {deep: deep(), kernel: '5.4.0-150'}, 'possible', /needs Linux 5.12/],
    ['in sockets not read', {deep: deep({}, ['queue'])}, 'possible', /fdinfo was not read whole/],
    ['in a module', {deep: deep({modules: {nvidia_peermem: 2}})}, 'seen', /nvidia_peermem is used 2×/],
    ['in no module', {deep: deep()}, 'ruled-out', /no such module is in use/],
    ['out of sight', {sight: blind}, 'possible', /another PID namespace; 3 processes could not be read; .*hidepid/],
    ['not out of sight', {}, 'ruled-out', /every process was read/],
    [
      'exported',
      {holdings: [aHolding(12, [], {opens: [{path: '/dev/nvidiactl', count: 1}], mappings: []})]},
      'seen',
      /exported to PID 12 python3, which has only nvidiactl open/,
    ],
    ['of the driver, when all else is told', {}, 'possible', /a leak in the driver/],
  ])('%s is told as it is', (_what, own, state, text) => {
    expect(look(own).filter((cause) => text.test(cause.text))).toMatchObject([{state}]);
  });

  it('that was seen comes first, one that is ruled out last', () => {
    const states = look({deep: deep({queued: [{pid: 12, fd: 4, count: 3}]})}).map((cause) => cause.state);
    expect(states).toEqual(states.toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)));
  });
});

const ORDER = ['seen', 'possible', 'ruled-out'];
