/** What counts as come back, what as a person's new start, and what cannot be told. */
import {describe, expect, it} from 'vitest';
import {compareLater, type Return, type ReturnInput} from '../../src/domain/return.ts';
import type {ProcessFacts, Snapshot} from '../../src/domain/snapshot.ts';
import {
  aDeadCharge,
  aDiagnosis,
  aGpu,
  aProcess,
  aProgram,
  aSnapshot,
  BO_UID,
  billed,
  holds,
  idle,
  MACHINE,
  planFor,
  type Seen,
} from '../doubles/build.ts';

const SERVE = ['python3', '-m', 'vllm.entrypoints.openai.api_server', '--port', '8000'];
const UNIT = ['/system.slice/vllm@2.service'];
const DOCKER = [`/system.slice/docker-${'ab'.repeat(32)}.scope`];
const pod = (container: string): readonly string[] => [
  `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0f2cb1a0_1111_2222_3333_444455556666.slice/cri-containerd-${container.repeat(64)}.scope`,
];
const SUPERVISORD = aProgram('/usr/bin/supervisord', {pid: 300, ppid: 1});
const NO_MORE: Pick<ReturnInput, 'noted' | 'toleranceMiB'> = {noted: {returns: [], starts: []}, toleranceMiB: 64};

/** The target of every case here. Its start, 50 s of uptime, is before the look at 500 s. */
function server(change: Partial<ProcessFacts> = {}): ProcessFacts {
  return aProcess({pid: 500, words: SERVE, ...change});
}

/** The same command again: a PID of 8000 or more was started after that look. */
function again(change: Partial<ProcessFacts> = {}): ProcessFacts {
  return aProcess({pid: 8_000, words: SERVE, ...change});
}

interface Case {
  readonly target?: ProcessFacts;
  readonly others?: readonly (Seen | ProcessFacts)[];
  readonly closing?: Snapshot | null;
  readonly noted?: ReturnInput['noted'];
}

/** One GPU of 80,000 MiB: reclaimed, and 4 MiB in use at the close. */
function compared(later: Snapshot, {target = server(), others = [], closing, noted}: Case = {}) {
  const before = aSnapshot([billed(target, {0: 80_000}), ...others], {used: [80_009, 4]});
  const closed = closing === undefined ? aSnapshot(others, {used: [4, 4], uptimeMs: 600_000}) : closing;
  return compareLater({
    ...NO_MORE,
    ...(noted === undefined ? {} : {noted}),
    plan: planFor(before, {pids: [target.pid], gpus: [0]}),
    before,
    closing: closed === null ? null : aDiagnosis(closed),
    later: aDiagnosis(later),
  });
}

function now(seen: readonly (Seen | ProcessFacts)[], change: Parameters<typeof aSnapshot>[1] = {}): Snapshot {
  return aSnapshot(seen, {used: [4, 4], uptimeMs: 900_000, ...change});
}

const HELD = {used: [70_009, 4]};

describe('a restart by the same supervisor', () => {
  it.each<readonly [string, Partial<ProcessFacts>, Partial<ProcessFacts>, readonly ProcessFacts[], object]>([
    ['systemd unit', {cgroups: UNIT}, {cgroups: UNIT}, [], {kind: 'unit', name: 'vllm@2.service', pid: null}],
    [
      'user unit',
      {cgroups: ['/user.slice/user-1000.slice/user@1000.service/app.slice/vllm.service']},
      {cgroups: ['/user.slice/user-1000.slice/user@1000.service/app.slice/vllm.service']},
      [],
      {kind: 'user-unit', name: 'vllm.service'},
    ],
    ['container', {cgroups: DOCKER}, {cgroups: DOCKER}, [], {kind: 'docker', name: 'abababababab'}],
    [
      'pod, in a container of its own',
      {cgroups: pod('a')},
      {cgroups: pod('b')},
      [],
      {kind: 'kubernetes-pod', name: '0f2cb1a0-1111-2222-3333-444455556666'},
    ],
    [
      'Slurm step of a job that was requeued',
      {cgroups: ['/slurm/uid_1000/job_7/step_batch']},
      {cgroups: ['/slurm/uid_1000/job_7/step_batch']},
      [],
      {kind: 'slurm-job', name: '7'},
    ],
    ['supervisord', {ppid: 300}, {ppid: 300}, [SUPERVISORD], {kind: 'process', name: 'supervisord', pid: 300}],
    [
      'server that lives and makes itself a new worker',
      {ppid: 310},
      {ppid: 310},
      [aProcess({pid: 310, words: ['python3', 'launch.py']})],
      {kind: 'process', name: 'launch.py', pid: 310},
    ],
    [
      'loop in a shell script',
      {ppid: 320},
      {ppid: 320},
      [aProgram('/usr/bin/bash', {pid: 320, words: ['bash', '/opt/keep-up.sh']})],
      {kind: 'process', name: 'bash', pid: 320},
    ],
    [
      'grandparent, through a wrapper that is new each time',
      {ppid: 330},
      {ppid: 8_330},
      [
        SUPERVISORD,
        aProgram('/usr/bin/timeout', {pid: 330, ppid: 300}),
        aProgram('/usr/bin/timeout', {pid: 8_330, ppid: 300}),
      ],
      {kind: 'process', name: 'supervisord', pid: 300},
    ],
  ])('is a return: %s', (_what, then, since, others, supervisor) => {
    const later = now([billed(again(since), {0: 70_000}), ...others], HELD);
    const found = compared(later, {target: server(then), others: others.filter((one) => one.pid < 8_000)});
    expect(found?.returns).toMatchObject([
      {by: 'restart', supervisor, pids: [8_000], gpus: [0], MiB: 70_000, known: false},
    ]);
    expect(found?.starts).toEqual([]);
  });

  it('is one even where it came before the closing look', () => {
    const back = billed(again({cgroups: UNIT}), {0: 70_000});
    const closing = aSnapshot([back], {used: [70_009, 4], uptimeMs: 600_000});
    expect(compared(now([back], HELD), {target: server({cgroups: UNIT}), closing})?.returns).toMatchObject([
      {by: 'restart'},
    ]);
  });

  it('is one while it loads and holds no GPU yet', () => {
    const found = compared(now([idle(again({cgroups: UNIT}))]), {target: server({cgroups: UNIT})});
    expect(found?.returns).toMatchObject([{by: 'restart', pids: [8_000], gpus: [], MiB: null}]);
  });

  it('is one with what it started since, whatever that is called', () => {
    const workers = [8_001, 8_002].map((pid, gpu) =>
      billed(aProcess({pid, ppid: 8_000, words: [`VLLM::Worker_TP${gpu}`], cgroups: UNIT}), {[gpu]: 30_000}),
    );
    const later = now([idle(again({cgroups: UNIT})), ...workers], {used: [30_009, 30_009]});
    const found = compared(later, {target: server({cgroups: UNIT})});
    expect(found?.returns).toMatchObject([{by: 'restart', pids: [8_000, 8_001, 8_002], gpus: [0, 1], MiB: 60_000}]);
    expect(found?.starts).toEqual([]);
  });

  it('is one with other arguments of the same module', () => {
    const later = now([billed(again({cgroups: UNIT, words: [...SERVE.slice(0, 4), '9000']}), {0: 70_000})], HELD);
    expect(compared(later, {target: server({cgroups: UNIT})})?.returns).toMatchObject([{by: 'restart'}]);
  });

  it('is none of another program in the same unit, nor of a bare interpreter', () => {
    const shell = now([billed(again({cgroups: UNIT, words: ['python3', '-c', 'import torch']}), {0: 70_000})], HELD);
    const target = server({cgroups: UNIT, words: ['python3', '-c', 'serve()']});
    expect(compared(shell, {target})?.returns).toEqual([]);
    expect(compared(shell, {target: server({cgroups: UNIT})})?.returns).toEqual([]);
  });

  it('is none where only the number of its supervisor is the same', () => {
    const other = {...SUPERVISORD, startTicks: '70000'};
    const later = now([billed(again({ppid: 300}), {0: 70_000}), other], HELD);
    const found = compared(later, {target: server({ppid: 300}), others: [SUPERVISORD]});
    expect(found).toMatchObject({returns: [], starts: [{pid: 8_000}]});
  });

  it('is none of a process that is older than the look before the signal, though that look passed it over', () => {
    const idleBefore = aProcess({pid: 700, words: SERVE, cgroups: UNIT});
    expect(compared(now([idle(idleBefore)]), {target: server({cgroups: UNIT})})?.returns).toEqual([]);
  });

  it('is none of a process that was there before anything was signalled', () => {
    const twin = billed(aProcess({pid: 700, words: SERVE, cgroups: UNIT}), {1: 9_000});
    const found = compared(now([twin], {used: [4, 9_009]}), {target: server({cgroups: UNIT}), others: [twin]});
    expect(found).toMatchObject({returns: [], starts: []});
  });
});

describe('a person who starts it again', () => {
  const TMUX = aProgram('/usr/bin/tmux', {pid: 340, ppid: 1, words: ['tmux', 'new', '-s', 'x']});
  it.each<readonly [string, Partial<ProcessFacts>, Partial<ProcessFacts>, readonly ProcessFacts[]]>([
    ['from the same login shell', {ppid: 100}, {ppid: 100}, []],
    [
      'from another login, behind the one sshd of all',
      {ppid: 100},
      {ppid: 8_100},
      [aProgram('/usr/bin/bash', {pid: 8_100, ppid: 90, words: ['-bash']})],
    ],
    [
      'in a pane of the same tmux',
      {ppid: 350},
      {ppid: 350},
      [TMUX, aProgram('/usr/bin/bash', {pid: 350, ppid: 340, words: ['bash']})],
    ],
    ['with nohup: its parent is PID 1', {ppid: 1}, {ppid: 1}, []],
    [
      'below an init of any name',
      {ppid: 1},
      {ppid: 1},
      [aProcess({pid: 1, ppid: 0, startTicks: '0', words: ['python3', 'init.py']})],
    ],
    ['below systemd --user', {ppid: 360}, {ppid: 360}, [aProgram('/usr/lib/systemd/systemd', {pid: 360, ppid: 1})]],
    [
      'in a terminal that the supervisor opened',
      {ppid: 300},
      {ppid: 8_370},
      [SUPERVISORD, aProgram('/usr/bin/bash', {pid: 8_370, ppid: 300, words: ['bash', '-l']})],
    ],
    [
      'in the same terminal of an editor, which gives its shells a file to begin with',
      {ppid: 370},
      {ppid: 370},
      [
        aProcess({pid: 365, ppid: 1, words: ['node', 'pty-host.js']}),
        aProgram('/usr/bin/bash', {pid: 370, ppid: 365, words: ['/bin/bash', '--init-file', '/srv/integration.sh']}),
      ],
    ],
    [
      'as the next step of the same Slurm job',
      {cgroups: ['/slurm/uid_1000/job_7/step_0'], ppid: 1},
      {cgroups: ['/slurm/uid_1000/job_7/step_1'], ppid: 1},
      [],
    ],
    ['in another unit', {cgroups: UNIT}, {cgroups: ['/system.slice/vllm@3.service'], ppid: 1}, []],
  ])('%s is noted, and is no return', (_what, then, since, others) => {
    const later = now([billed(again(since), {0: 70_000}), ...others], HELD);
    const found = compared(later, {target: server(then), others: others.filter((one) => one.pid < 8_000)});
    expect(found?.returns).toEqual([]);
    expect(found?.starts).toMatchObject([{pid: 8_000, gpus: [0], MiB: 70_000, ownership: {uid: 1_000}}]);
  });

  it('is noted once, and not on GPUs that nobody asked for', () => {
    const seen = billed(again({uid: BO_UID}), {0: 70_000});
    const first = compared(now([seen], HELD));
    expect(first?.starts).toHaveLength(1);
    const noted = {returns: [], starts: first?.starts ?? []};
    expect(compared(now([seen], HELD), {noted})?.starts).toEqual([]);
    expect(compared(now([billed(again(), {1: 500})], {used: [4, 509]}))?.starts).toEqual([]);
  });

  it('is not said of daemons, monitors, or who was there at the close', () => {
    const daemon = holds(aProgram('/usr/bin/nvidia-persistenced', {pid: 8_400, uid: 0, ppid: 1}), [0]);
    const monitor = holds(aProgram('/usr/bin/nvtop', {pid: 8_500}), [0]);
    const bo = billed(aProcess({pid: 600, uid: BO_UID}), {0: 900});
    const found = compared(now([daemon, monitor, bo], {used: [909, 4]}), {others: [bo]});
    expect(found).toMatchObject({returns: [], starts: []});
  });
});

describe('a ghost', () => {
  const ghost = holds(aProcess({pid: 8_000, ppid: 1, words: ['python3', 'tracker.py']}), [0]);
  const haunted = {used: [50_009, 4], charges: [aDeadCharge(7_999, 0, 50_000)]};

  it('is a return, with what the dead PID is billed for', () => {
    expect(compared(now([ghost], haunted))).toMatchObject({
      returns: [{by: 'ghost', pid: 8_000, gpus: [0], MiB: 50_000, known: false}],
      starts: [],
    });
  });

  it('that was there at the close already is none', () => {
    const closing = aSnapshot([ghost], {...haunted, uptimeMs: 600_000});
    expect(compared(now([ghost], haunted), {closing})?.returns).toEqual([]);
  });

  it('is one where what it holds was somebody’s live work at the close', () => {
    const child = holds(aProcess({pid: 8_000, ppid: 7_999, words: ['python3', 'tracker.py']}), [0]);
    const parent = billed(aProcess({pid: 7_999}), {0: 50_000});
    const closing = aSnapshot([parent, child], {used: [50_009, 4], uptimeMs: 600_000});
    expect(compared(now([ghost], haunted), {closing})?.returns).toMatchObject([{by: 'ghost'}]);
  });

  it('on a GPU that nobody asked for is none', () => {
    const elsewhere = holds(aProcess({pid: 8_000, ppid: 1}), [1]);
    const used = {used: [4, 50_009], charges: [aDeadCharge(7_999, 1, 50_000)]};
    expect(compared(now([elsewhere], used))?.returns).toEqual([]);
  });
});

describe('unexplained memory', () => {
  it('is a return', () => {
    expect(compared(now([], {used: [9_000, 4]}))?.returns).toMatchObject([
      {by: 'unexplained', gpus: [0], MiB: 9_000, known: false},
    ]);
  });

  it('that stood there at the close is none, and is one again when it grew', () => {
    const closing = aSnapshot([], {used: [9_000, 4], uptimeMs: 600_000});
    expect(compared(now([], {used: [9_050, 4]}), {closing})?.returns).toEqual([]);
    expect(compared(now([], {used: [9_065, 4]}), {closing})?.returns).toMatchObject([{by: 'unexplained'}]);
  });

  it('is one where no closing look came back', () => {
    expect(compared(now([], {used: [9_000, 4]}), {closing: null})?.returns).toMatchObject([{by: 'unexplained'}]);
  });
});

describe('what cannot be told', () => {
  it('is a GPU without a figure, and one that is gone: never called clean', () => {
    const failing = now([], {gpus: [aGpu(0, 4, {fault: '[Unknown Error]'}), aGpu(1)]});
    expect(compared(failing)).toMatchObject({returns: [], unseenGpus: [0]});
    expect(compared(now([], {gpus: [aGpu(1)]}))).toMatchObject({returns: [], unseenGpus: [0]});
  });

  it('is what was hidden from the look', () => {
    expect(compared(now([]))?.fullSight).toBe(true);
    const sight = {...now([]).sight, full: false, unreadableFdFolders: 3};
    expect(compared(now([], {sight}))?.fullSight).toBe(false);
  });

  it('is everything on another machine, or after a reboot', () => {
    const back = billed(again({cgroups: UNIT}), {0: 70_000});
    expect(compared(now([back], {...HELD, machine: {...MACHINE, bootId: 'boot-2'}}))).toBeNull();
    expect(compared(now([back], {...HELD, machine: {...MACHINE, hostKey: 'SHA256:other'}}))).toBeNull();
  });
});

describe('a return that was noted before', () => {
  it.each<readonly [string, Snapshot, Snapshot]>([
    [
      'restart, even with another PID: a crash loop',
      now([billed(again({cgroups: UNIT}), {0: 70_000})], HELD),
      now([billed(again({pid: 8_900, cgroups: UNIT}), {0: 60_000})], {used: [60_009, 4]}),
    ],
    ['unexplained memory', now([], {used: [9_000, 4]}), now([], {used: [9_500, 4]})],
  ])('is said as known: %s', (_what, first, second) => {
    const target = server({cgroups: UNIT});
    const returns: readonly Return[] = compared(first, {target})?.returns ?? [];
    expect(returns).toMatchObject([{known: false}]);
    expect(compared(second, {target, noted: {returns, starts: []}})?.returns).toMatchObject([{known: true}]);
  });
});
