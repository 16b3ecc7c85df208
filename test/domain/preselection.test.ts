/** What is ticked on the card, and what is not (one workload called vllm, and everything around it that is none). */
import {describe, expect, it} from 'vitest';
import type {ProcessFacts} from '../../src/domain/snapshot.ts';
import {
  aCharge,
  aHolding,
  allOpen,
  aProcess,
  aProgram,
  aSnapshot,
  BO,
  BO_UID,
  billed,
  holds,
  keptOf,
  planFor,
  type Seen,
  SHELL,
  targetOf,
  targetPids,
} from '../doubles/build.ts';

const SERVER = ['python3', '-m', 'vllm.entrypoints.openai.api_server'];
const TAIL = ['tail', '-f', 'vllm.log'];
const server = (change: Partial<ProcessFacts> = {}) => aProcess({pid: 400, words: SERVER, ...change});
const worker = (change: Partial<ProcessFacts> = {}) =>
  billed(
    aProcess({pid: 500, ppid: 400, comm: 'ghostd', words: ['run.py'], session: 400, processGroup: 400, ...change}),
    {0: 4_614},
  );
const trainer = (change: Partial<ProcessFacts> = {}) =>
  billed(aProcess({pid: 600, uid: BO_UID, ...change}), {0: 4_614});

function ticked(...seen: readonly (Seen | ProcessFacts)[]): readonly number[] {
  return targetPids(planFor(aSnapshot(seen, {used: [9_300, 4]}), {match: 'vllm'}));
}

describe('belonging to a named process', () => {
  it('by the recorded chain of parents, however many there are between', () => {
    const between = aProcess({pid: 450, ppid: 400, words: ['python3', 'launch.py']});
    const plan = planFor(aSnapshot([server(), between, worker({ppid: 450, session: 9, processGroup: 9})]), {
      match: 'vllm',
    });
    expect(targetPids(plan)).toEqual([400, 450, 500]);
    expect(targetOf(plan, 500).belonging).toEqual({
      by: 'parents',
      ancestorPid: 400,
      ancestorName: 'vllm.entrypoints.openai.api_server',
    });
    expect(targetOf(plan, 450).belonging).toEqual({
      by: 'parents',
      ancestorPid: 400,
      ancestorName: 'vllm.entrypoints.openai.api_server',
    });
    expect(targetOf(plan, 400).belonging).toEqual({by: 'named', literal: 'vllm'});
  });

  it('by a session that it shares with the server that leads it', () => {
    const plan = planFor(aSnapshot([server(), worker({ppid: 1, processGroup: 500})]), {match: 'vllm'});
    expect(targetOf(plan, 500).belonging).toEqual({by: 'session', id: 400, sharedWithPid: 400});
  });

  it('by a process group, in a session of its own', () => {
    const plan = planFor(aSnapshot([server(), worker({ppid: 1, session: 77})]), {match: 'vllm'});
    expect(targetOf(plan, 500).belonging).toEqual({by: 'process-group', id: 400, sharedWithPid: 400});
  });

  it('by an earlier look of the same boot, for the very same process', () => {
    const then = aSnapshot([server(), worker()], {takenAtMs: 5});
    const now = (change: Partial<ProcessFacts> = {}) =>
      aSnapshot([worker({ppid: 1, session: 500, processGroup: 500, ...change})], {used: [4_623]});
    const plan = planFor(now(), {match: 'vllm'}, {earlier: [then]});
    expect(targetOf(plan, 500)).toMatchObject({
      belonging: {by: 'earlier-look', ancestorPid: 400, seenAtMs: 5},
      selfGo: true,
    });
    // Known to be another person's: not for the requester alone.
    const bos = planFor(now({uid: BO_UID}), {match: 'vllm'}, {earlier: [then]});
    expect(targetOf(bos, 500).selfGo).toBe(false);
    expect(targetPids(planFor(now(), {match: 'vllm'}))).toEqual([]);
    expect(targetPids(planFor(now(), {match: 'sglang'}, {earlier: [then]}))).toEqual([]);
    expect(targetPids(planFor(now({startTicks: '1'}), {match: 'vllm'}, {earlier: [then]}))).toEqual([]);
    const rebooted = {...then, machine: {...then.machine, bootId: 'boot-0'}};
    expect(targetPids(planFor(now(), {match: 'vllm'}, {earlier: [rebooted]}))).toEqual([]);
  });
});

describe('no belonging', () => {
  it('to a shell, a multiplexer or a supervisor whose words hold the text: all kinds of work run below it', () => {
    const below = trainer({ppid: 300, session: 300});
    for (const path of [
      '/usr/bin/tmux',
      '/usr/bin/bash',
      '/usr/bin/screen',
      '/usr/bin/sudo',
      '/usr/bin/containerd-shim-runc-v2',
    ])
      expect(ticked(aProgram(path, {pid: 300, words: ['x', 'new', '-s', 'vllm']}), below)).toEqual([]);
    const supervisord = aProcess({pid: 300, comm: 'supervisord', words: ['python3', 'supervisord', '-c', 'vllm.conf']});
    expect(ticked(supervisord, below)).toEqual([]);
  });

  it('to such a one in an earlier look either', () => {
    const tmux = aProgram('/usr/bin/tmux', {pid: 300, words: ['tmux', 'new', '-s', 'vllm']});
    const look = aSnapshot([tmux, trainer({ppid: 300})], {used: [4_623]});
    expect(targetPids(planFor(look, {match: 'vllm'}, {earlier: [look]}))).toEqual([]);
  });

  it.each<[string, readonly ProcessFacts[], Partial<ProcessFacts>]>([
    ['a login shell', [SHELL], {session: 100}],
    ['a multiplexer', [aProgram('/usr/bin/tmux', {pid: 300})], {session: 300}],
    ['PID 1', [], {session: 1}],
    ['a process that is no more', [], {session: 300}],
    ['a zombie', [aProcess({pid: 300, state: 'Z', threads: 1, executable: null})], {session: 300}],
    ['nobody: session 0', [], {session: 0, processGroup: 0}],
  ])('by a session that is led by %s', (_, leaders, shared) => {
    const session = shared.session ?? 0;
    const named = billed(server({session, processGroup: session}), {0: 4_614});
    expect(ticked(...leaders, named, trainer({session, processGroup: session}))).toEqual([400]);
  });

  it.each([
    '/',
    '/user.slice/user-1000.slice/session-3.scope',
    '/user.slice/user-1000.slice/user@1000.service/app.slice',
    '/user.slice/user-1000.slice/user@1000.service/tmux-spawn-11d8.scope',
    '/system.slice/ssh.service',
    '/system.slice/sshd@7-10.0.0.1:22-10.0.0.2:5000.service',
    '/system.slice/slurmd.service',
    '/system.slice/docker.service',
    '/init.scope',
  ])('by the cgroup %s, which all kinds of work share', (path) => {
    expect(ticked(billed(server({cgroups: [path]}), {0: 4_614}), trainer({cgroups: [path]}))).toEqual([400]);
  });

  it('by a shared container it is kin, and contained: shown with the way to stop it, not ticked', () => {
    const path = `/system.slice/docker-${'b'.repeat(64)}.scope`;
    const plan = planFor(
      aSnapshot([billed(server({cgroups: [path]}), {0: 4_614}), trainer({cgroups: [`${path}/init`]})]),
      {match: 'vllm'},
    );
    expect(targetPids(plan)).toEqual([]);
    expect([keptOf(plan, 400).why, keptOf(plan, 600).why]).toEqual(['contained', 'contained']);
  });

  it('to an editor or agent that has the word in its own command line, through a terminal opened in it', () => {
    const editor = aProcess({pid: 300, words: ['node', 'code-server', '/home/bo/vllm']});
    const terminal = aProgram('/usr/bin/bash', {pid: 310, ppid: 300, words: ['/bin/bash', '--init-file', '/srv/i.sh']});
    expect(ticked(editor, terminal, trainer({ppid: 310}))).toEqual([]);
    // Nor is the editor the server of what was typed there.
    expect(ticked(editor, terminal, billed(server({ppid: 310}), {0: 4_614}))).toEqual([400]);
    const then = aSnapshot([editor, terminal, trainer({ppid: 310})], {used: [4_623]});
    const look = aSnapshot([trainer({ppid: 1})], {used: [4_623]});
    expect(targetPids(planFor(look, {match: 'vllm'}, {earlier: [then]}))).toEqual([]);
    // A script is no terminal.
    const script = aProgram('/usr/bin/bash', {pid: 310, ppid: 300, words: ['bash', '-e', 'run.sh']});
    expect(
      ticked(aProcess({pid: 300, words: SERVER}), script, worker({ppid: 310, session: 9, processGroup: 9})),
    ).toEqual([300, 500]);
  });

  it('to a log reader: neither by its group nor by its session is the trainer kin to `tee vllm.log`', () => {
    const tee = aProgram('/usr/bin/tee', {pid: 601, session: 100, processGroup: 600, words: ['tee', 'vllm.log']});
    expect(ticked(tee, trainer({session: 100, processGroup: 600}))).toEqual([]);
  });

  it('by PPID 1 alone', () => {
    const plan = planFor(aSnapshot([billed(server({ppid: 1}), {0: 4_614}), trainer({ppid: 1})]), {match: 'vllm'});
    expect(targetPids(plan)).toEqual([400]);
  });
});

describe('what the request names', () => {
  it('by match and user together is what both name', () => {
    const look = aSnapshot([billed(server(), {0: 4_614}), trainer({words: SERVER}), trainer({pid: 601})], {
      used: [13_900],
    });
    expect(targetPids(planFor(look, {match: 'vllm'}))).toEqual([400, 600]);
    expect(targetPids(planFor(look, {user: 'bo'}))).toEqual([600, 601]);
    expect(targetPids(planFor(look, {user: '1001'}))).toEqual([600, 601]);
    expect(targetPids(planFor(look, {match: 'vllm', user: 'bo'}))).toEqual([600]);
    expect(targetOf(planFor(look, {user: 'bo'}), 600)).toMatchObject({belonging: {by: 'user'}, selfGo: false});
    expect(targetOf(planFor(look, {user: 'bo', requester: BO}), 601)).toMatchObject({
      findings: ['workload'],
      selfGo: true,
    });
  });

  it('by PID is that holder alone; by the PID of a server without GPU, what stands below it', () => {
    const two = aSnapshot([server({words: ['python3', 'serve.py']}), worker(), worker({pid: 501})], {used: [9_300]});
    expect(targetPids(planFor(two, {pids: [500]}))).toEqual([500]);
    expect(targetPids(planFor(two, {pids: [400]}))).toEqual([400, 500, 501]);
    expect(targetOf(planFor(two, {pids: [400]}), 400)).toMatchObject({belonging: {by: 'pid'}, role: 'server'});
  });

  it('by the PID of a shell is nothing: what was started there is no workload of the shell', () => {
    expect(targetPids(planFor(aSnapshot([trainer({session: 100})]), {pids: [100]}))).toEqual([]);
  });

  it('by PID overrides what is kept by default, on other GPUs too', () => {
    const look = aSnapshot([trainer()], {used: [4_623, 4]});
    expect(targetOf(planFor(look, {pids: [600], gpus: [1]}), 600)).toMatchObject({
      belonging: {by: 'pid'},
      selfGo: false,
    });
  });

  it('that matches nobody ticks the ghosts it found instead', () => {
    const ghost = aProcess({pid: 769, ppid: 1, session: 768, processGroup: 768});
    const look = aSnapshot([holds(ghost, [0]), trainer()], {
      used: [9_300],
      charges: [aCharge(768, 0, 4_614, '[Not Found]')],
    });
    expect(targetPids(planFor(look, {match: 'sglang'}))).toEqual([769]);
  });
});

describe('gpus=', () => {
  it('resolves indexes at the look, and refuses one that is not there', () => {
    expect(() => planFor(aSnapshot([], {used: [4, 4]}), {gpus: [0, 5]})).toThrow('gpu-absent');
    expect(planFor(aSnapshot([], {used: [4, 4]}), {gpus: [1]}).gpus.map((gpu) => gpu.requested)).toEqual([false, true]);
  });

  it('leaves a holder unticked that is billed outside the range: "also GPU 1"', () => {
    const both = billed(server(), {0: 4_614, 1: 4_614});
    const plan = planFor(aSnapshot([both], {used: [4_623, 4_623]}), {match: 'vllm', gpus: [0]});
    expect(targetPids(plan)).toEqual([]);
    expect(keptOf(plan, 400)).toMatchObject({why: 'outside-gpus', choosable: true});
    expect(targetPids(planFor(aSnapshot([both], {used: [4_623, 4_623]}), {match: 'vllm', gpus: [0, 1]}))).toEqual([
      400,
    ]);
  });

  it('is not stretched by a node that is merely open', () => {
    const look = aSnapshot([{process: server(), holding: allOpen(400, 2, [0]), charges: [aCharge(400, 0, 4_614)]}], {
      used: [4_623, 4],
    });
    expect(targetPids(planFor(look, {match: 'vllm', gpus: [0]}))).toEqual([400]);
    expect(keptOf(planFor(look, {match: 'vllm', gpus: [1]}), 400).why).toBe('outside-gpus');
  });

  it('leaves out whoever does not touch the range at all, and lets nobody choose them there', () => {
    const plan = planFor(aSnapshot([worker()], {used: [4_623, 4]}), {match: 'vllm', gpus: [1], includeOthers: true});
    expect(keptOf(plan, 500)).toMatchObject({why: 'outside-gpus', choosable: false});
  });
});

describe('servers that hold no GPU', () => {
  it('are signalled before what they started, and only up to the topmost that is named', () => {
    const launcher = aProcess({pid: 300, words: ['python3', 'sweep.py']});
    const plan = planFor(aSnapshot([launcher, server({ppid: 300}), worker()]), {match: 'vllm'});
    expect(plan.targets.map((target) => [target.identity.pid, target.role, target.heldBy])).toEqual([
      [400, 'server', 'nothing'],
      [500, 'member', 'paths'],
    ]);
    expect(targetOf(plan, 400).findings).toEqual(['server']);
  });

  it('are never a shell, a shim or a supervisor between', () => {
    const script = aProgram('/usr/bin/bash', {pid: 450, ppid: 400, words: ['bash', 'run.sh']});
    expect(ticked(server(), script, worker({ppid: 450}))).toEqual([400, 500]);
  });

  describe('that lost the line to a child of their dead worker', () => {
    const orphan = (change: Partial<ProcessFacts> = {}) => worker({ppid: 1, ...change});
    const apart = {session: 500, processGroup: 500};

    it('are found as the named leader of its session', () => {
      expect(ticked(server({session: 400}), orphan())).toEqual([400, 500]);
      // It shares the session, leads nothing, and is no more than a name.
      expect(ticked(server({session: 400}), aProcess({pid: 410, words: TAIL, session: 400}), orphan())).toEqual([
        400, 500,
      ]);
    });

    it('are found as its recorded ancestor, if an earlier look saw the line and they live on as the same process', () => {
      const then = aSnapshot([server(), aProcess({pid: 450, ppid: 400}), worker({ppid: 450, ...apart})], {
        takenAtMs: 5,
      });
      const plan = (one: ProcessFacts) =>
        targetPids(planFor(aSnapshot([one, orphan(apart)], {used: [9_300, 4]}), {match: 'vllm'}, {earlier: [then]}));
      expect(plan(server())).toEqual([400, 500]);
      expect(plan(server({startTicks: '7'}))).toEqual([500]);
    });
  });

  it('are left alone while something below them stays: their end would be its end', () => {
    const seen = [
      server(),
      worker(),
      {
        process: aProcess({pid: 501, ppid: 400, words: ['run.py']}),
        holding: aHolding(501, [1]),
        charges: [aCharge(501, 1, 4_614)],
      },
    ];
    const look = aSnapshot(seen, {used: [4_623, 4_623]});
    expect(targetPids(planFor(look, {match: 'vllm', gpus: [0]}))).toEqual([500]);
    expect(targetPids(planFor(look, {match: 'vllm'}))).toEqual([400, 500, 501]);
  });

  it('are left alone while one stays that hangs on them by its session alone, as the target does', () => {
    const orphan = worker({ppid: 1});
    const other = {
      process: aProcess({pid: 501, ppid: 1, words: ['run.py'], session: 400, processGroup: 501}),
      holding: aHolding(501, [1]),
      charges: [aCharge(501, 1, 4_614)],
    };
    const look = aSnapshot([server({session: 400}), orphan, other], {used: [4_623, 4_623]});
    expect(targetPids(planFor(look, {match: 'vllm', gpus: [0]}))).toEqual([500]);
  });

  it('are no notebook kernel: with it goes all that somebody has in memory', () => {
    const kernel = aProcess({
      pid: 400,
      words: ['python3', '-m', 'ipykernel_launcher', '-f', '/srv/vllm/kernel-1.json'],
    });
    const plan = planFor(aSnapshot([kernel, worker()], {used: [4_623]}), {match: 'vllm', pids: [500]});
    expect(targetPids(plan)).toEqual([500]);
  });

  it('are none above a ghost that nobody named', () => {
    const ray = aProcess({pid: 400, words: ['raylet']});
    const ghost = aProcess({pid: 769, ppid: 400, session: 768, processGroup: 768});
    const look = aSnapshot([ray, holds(ghost, [0])], {used: [4_623], charges: [aCharge(768, 0, 4_614, '[Not Found]')]});
    expect(targetPids(planFor(look))).toEqual([769]);
  });
});
