/** Who may keep memory that nobody in sight explains: files that wait in sockets, and exported memory. Never a proof. */
import {describe, expect, it} from 'vitest';
import type {DeepLook} from '../../src/domain/deep.ts';
import {needsDeeper} from '../../src/domain/deepen.ts';
import type {ProcessFacts, Snapshot} from '../../src/domain/snapshot.ts';
import {
  ANNA_UID,
  aCharge,
  aDeadCharge,
  aDiagnosis,
  aHolding,
  allOpen,
  aProcess,
  aProgram,
  aSnapshot,
  BO_UID,
  billed,
  holderOf,
  holds,
  keptOf,
  monitorFiles,
  PLAIN_ZOMBIE,
  planFor,
  type Seen,
  SHELL,
  SYSTEMD,
  targetOf,
  targetPids,
  uuidOf,
} from '../doubles/build.ts';
import {controlOnly, cutAt, deeper, waitingIn} from '../doubles/deep.ts';

const SERVER = aProcess({pid: 400, words: ['python3', '-m', 'vllm.entrypoints.openai.api_server']});
const receiver = (change: Partial<ProcessFacts> = {}) =>
  aProcess({pid: 1_404, ppid: 400, session: 400, processGroup: 400, words: ['python3', 'run.py'], ...change});
const stranger = (change: Partial<ProcessFacts> = {}) =>
  aProcess({pid: 900, ppid: 1, uid: BO_UID, comm: 'firefox', words: ['firefox'], ...change});
const BUS = aProgram('/usr/bin/dbus-daemon', {pid: 30, ppid: 1, uid: 0});

/** A dead PID is billed, and no scan by path shows anybody who keeps its files. */
const deadBill = {used: [4_623], charges: [aDeadCharge(1_403, 0, 4_614)]};

function inFlight(
  waiting: readonly ProcessFacts[],
  seen: readonly (Seen | ProcessFacts)[] = [],
  change = {},
): Snapshot {
  return deeper(aSnapshot([SERVER, ...seen], {...deadBill, ...change}), waitingIn(waiting));
}

function facts(look: Snapshot, pid: number): readonly string[] {
  return holderOf(aDiagnosis(look), pid).evidence.map((one) => `${one.source}: ${one.fact}`);
}

describe('in flight', () => {
  it('is named where a dead PID is billed and nobody keeps its files, with what was read and what was not', () => {
    const look = inFlight([receiver()]);
    expect(holderOf(aDiagnosis(look), 1_404)).toMatchObject({
      findings: ['in-flight', 'bystander'],
      heldBy: 'queue',
      gpus: [],
      mayKeep: [uuidOf(0)],
      chargedMiB: null,
      deadCharged: [],
      orphaned: false,
    });
    expect(facts(look, 1_404)).toEqual([
      'socket-queues: 23 files wait in its sockets (scm_fds of fd 5); which files cannot be seen',
      'gpu-totals: may keep 4623 MiB that nobody was seen to keep, on GPU 0, billed to dead PID 1403',
      'process: matches no workload pattern',
      'socket-queues: no other process in sight may keep it',
    ]);
    expect(aDiagnosis(look).gpus[0]).toMatchObject({
      state: 'dirty',
      holderPids: [],
      mayKeepPids: [1_404],
      reasons: ['dead-charge-without-holder', 'possible-keeper'],
      deadCharged: [{pid: 1_403, kept: false}],
    });
  });

  it('is named for memory that is billed to nobody as well', () => {
    const look = inFlight([receiver()], [], {used: [46_111], charges: []});
    expect(holderOf(aDiagnosis(look), 1_404).findings).toEqual(['in-flight', 'bystander']);
    expect(aDiagnosis(look).gpus[0]?.reasons).toEqual(['possible-keeper']);
  });

  it('is a choice of the request: by its parents, its name or its PID, and the memory then is expected back', () => {
    for (const request of [{match: 'vllm'}, {pids: [1_404]}]) {
      const plan = planFor(inFlight([receiver()]), request);
      expect(targetOf(plan, 1_404)).toMatchObject({heldBy: 'queue', gpuUuids: [uuidOf(0)], chargedMiB: null});
      expect(plan.gpus[0]).toMatchObject({beforeMiB: 4_623, likelyAfterMiB: 0, afterAtMostMiB: 300});
    }
    const own = receiver({ppid: 1, session: 1_404, processGroup: 1_404, words: ['vllm-sidecar']});
    const named = planFor(inFlight([], [own], {}), {match: 'vllm'});
    expect(targetPids(named)).not.toContain(1_404);
    const waiting = planFor(inFlight([own], [own]), {match: 'vllm'});
    expect(targetOf(waiting, 1_404).belonging).toEqual({by: 'named', literal: 'vllm'});
  });

  it('is ticked by an earlier look too, when its server is gone', () => {
    const then = aSnapshot([SERVER, billed(receiver({pid: 1_403}), {0: 4_614}), receiver()], {
      used: [4_623],
      takenAtMs: 5,
    });
    const now = deeper(aSnapshot([], deadBill), waitingIn([receiver({ppid: 1})]));
    expect(targetOf(planFor(now, {match: 'vllm'}, {earlier: [then]}), 1_404).belonging.by).toBe('earlier-look');
  });

  it.each<[string, ProcessFacts, object]>([
    ['as a ghost: it is no proof that it keeps anything', stranger(), {}],
    [
      'even if it calls itself a worker and has lost its server',
      stranger({comm: 'VLLM::EngineCor', words: ['VLLM::EngineCore']}),
      {},
    ],
    ['by include-others, which means work on these GPUs', stranger(), {includeOthers: true}],
    ['by its user alone: all that is theirs has sockets', stranger(), {user: 'bo'}],
    ['by another workload', stranger(), {match: 'vllm'}],
    ['as a multiplexer in the same session', aProgram('/usr/bin/tmux', {pid: 900, session: 400}), {match: 'vllm'}],
  ])('is not ticked %s', (_, process, request) => {
    const plan = planFor(inFlight([process]), request);
    expect(targetPids(plan)).not.toContain(900);
    expect(keptOf(plan, 900)).toMatchObject({why: 'possible-keeper', choosable: true, gpuUuids: [uuidOf(0)]});
  });

  it('is no ghost under a worker’s title: nobody may go for it alone, though somebody may name it', () => {
    const worker = stranger({comm: 'VLLM::EngineCor', words: ['VLLM::EngineCore']});
    const look = inFlight([worker]);
    expect(holderOf(aDiagnosis(look), 900).orphaned).toBe(false);
    expect(targetOf(planFor(look, {pids: [900]}), 900).selfGo).toBe(false);
  });

  it('leaves protected daemons locked, and still says that one other alone may be the keeper', () => {
    const look = inFlight([BUS, receiver()]);
    expect(keptOf(planFor(look, {pids: [30]}), 30)).toMatchObject({why: 'protected', choosable: false});
    expect(facts(look, 1_404)).toContain('socket-queues: no other process in sight may keep it, 1 protected aside');
    expect(planFor(look, {match: 'vllm'}).gpus[0]?.likelyAfterMiB).toBe(0);
  });

  it('promises nothing while another who stays may be the keeper, and says of neither that it is the only one', () => {
    const look = inFlight([stranger(), receiver()]);
    const plan = planFor(look, {match: 'vllm'});
    expect(targetPids(plan)).toEqual([400, 1_404]);
    expect(plan.gpus[0]).toMatchObject({likelyAfterMiB: null, afterAtMostMiB: null});
    expect(facts(look, 1_404).join()).not.toContain('no other');
    expect(planFor(look, {pids: [1_404, 900]}).gpus[0]?.likelyAfterMiB).toBe(0);
  });

  it('says what of the sockets could not be read, and then claims no "only"', () => {
    const look = deeper(aSnapshot([SERVER], deadBill), {
      ...waitingIn([receiver()]),
      sections: cutAt('queue', '3 processes refused'),
    });
    expect(facts(look, 1_404)).toContain('socket-queues: not all sockets could be read: 3 processes refused');
    expect(facts(look, 1_404).join()).not.toContain('no other');
  });

  it('is only for the GPUs with such memory', () => {
    const look = inFlight([receiver()], [], {used: [4_623, 4]});
    expect(holderOf(aDiagnosis(look), 1_404).mayKeep).toEqual([uuidOf(0)]);
    expect(targetPids(planFor(look, {match: 'vllm', gpus: [1]}))).toEqual([]);
    expect(keptOf(planFor(look, {match: 'vllm', gpus: [1]}), 1_404)).toMatchObject({
      why: 'outside-gpus',
      choosable: false,
    });
  });

  it('leads beside what else a holder is: a trainer of its own on another GPU stays what it is', () => {
    const trainer = aProcess({pid: 600, uid: BO_UID});
    const look = inFlight([trainer], [billed(trainer, {1: 9_000})], {used: [4_623, 9_009]});
    expect(holderOf(aDiagnosis(look), 600)).toMatchObject({
      findings: ['in-flight', 'bystander'],
      heldBy: 'paths',
      chargedMiB: 9_000,
      mayKeep: [uuidOf(0)],
    });
    expect(keptOf(planFor(look), 600)).toMatchObject({why: 'in-use', choosable: true});
    expect(keptOf(planFor(look, {gpus: [0], includeOthers: true}), 600).why).toBe('outside-gpus');
  });
});

describe('files in an io_uring', () => {
  const ring = (devices: DeepLook['rings'][number]['devices']) =>
    deeper(
      aSnapshot([SERVER], {
        used: [4_623, 4_623],
        charges: [aDeadCharge(1_403, 0, 4_614), aDeadCharge(1_403, 1, 4_614)],
      }),
      {
        processes: [receiver()],
        rings: [{pid: 1_404, fd: 9, files: 24, devices}],
      },
    );

  it('count as files in a socket where the kernel prints no names', () => {
    expect(holderOf(aDiagnosis(ring(null)), 1_404).mayKeep).toEqual([uuidOf(0), uuidOf(1)]);
    expect(facts(ring(null), 1_404)[0]).toBe(
      'socket-queues: its io_uring (fd 9) keeps 24 files open; which files cannot be seen',
    );
  });

  it('name the GPU where it does', () => {
    expect(holderOf(aDiagnosis(ring(['nvidia1'])), 1_404).mayKeep).toEqual([uuidOf(1)]);
    expect(facts(ring(['/dev/nvidia1']), 1_404)[0]).toBe('socket-queues: its io_uring keeps /dev/nvidia1 open');
  });

  it('make a holder of one that is billed itself and keeps its files nowhere else, whatever else is explained', () => {
    const look = aSnapshot([{process: receiver(), charges: [aCharge(1_404, 0, 4_614)]}], {used: [4_623]});
    expect(needsDeeper(aDiagnosis(look))).toBe(true);
    expect(keptOf(planFor(look, {pids: [1_404]}), 1_404)).toMatchObject({why: 'no-holder', choosable: false});
    for (const devices of [null, ['/dev/nvidia0', '/dev/nvidiactl']]) {
      const deep = deeper(look, {rings: [{pid: 1_404, fd: 9, files: 24, devices}]});
      expect(holderOf(aDiagnosis(deep), 1_404)).toMatchObject({
        findings: ['in-flight', 'bystander'],
        heldBy: 'queue',
        gpus: [{gpuUuid: uuidOf(0), how: 'charged'}],
        mayKeep: [],
      });
      expect(targetPids(planFor(deep, {pids: [1_404]}))).toEqual([1_404]);
      expect(keptOf(planFor(deep), 1_404).why).toBe('in-use');
    }
    // Another may have got the number of the one that is billed; that files wait in its sockets proves nothing.
    for (const change of [waitingIn([receiver()]), {rings: [{pid: 1_404, fd: 9, files: 24, devices: []}]}])
      expect(holderOf(aDiagnosis(deeper(look, change)), 1_404).heldBy).toBe('nothing');
  });

  it('say nothing where none of them is a device', () => {
    expect(aDiagnosis(ring([])).holders).toEqual([]);
  });
});

describe('files that wait in sockets make nobody a holder', () => {
  const gnome = aProgram('/usr/bin/gnome-shell', {pid: 41, ppid: 1, uid: ANNA_UID});
  const busOfUser = aProgram('/usr/bin/dbus-daemon', {pid: 42, ppid: 1});
  const desktop = [SYSTEMD, BUS, gnome, busOfUser, stranger(), aProgram('/usr/bin/tmux', {pid: 43, ppid: 1})];

  it.each<[string, Snapshot]>([
    ['on an idle desktop', aSnapshot([], {used: [364]})],
    ['beside work that is explained', aSnapshot([billed(aProcess({pid: 500}), {0: 4_614})], {used: [4_623]})],
    ['beside a ghost that is found', aSnapshot([holds(aProcess({pid: 501}), [0])], deadBill)],
    [
      'beside a desktop server that has the GPU mapped',
      aSnapshot([holds(aProgram('/usr/lib/xorg/Xorg', {pid: 9, uid: 0}), [0])], {used: [2_044]}),
    ],
    ['while nvidia-smi does not answer', aSnapshot([], {smi: {state: 'timed-out', exitCode: null, note: ''}})],
    ['on a GPU that is broken', aSnapshot([], {used: [46_111], gpus: []})],
  ])('%s', (_, look) => {
    const plain = aDiagnosis(look).holders.map((one) => one.process.pid);
    const deep = deeper(look, waitingIn(desktop));
    expect(aDiagnosis(deep).holders.map((one) => one.process.pid)).toEqual(plain);
    expect(aDiagnosis(deep).gpus.flatMap((gpu) => gpu.mayKeepPids)).toEqual([]);
    for (const request of [{includeOthers: true}, {user: 'anna'}, {pids: [42, 900]}])
      expect(targetPids(planFor(deep, request)).filter((pid) => [1, 30, 41, 42, 43, 900].includes(pid))).toEqual([]);
  });

  it('nor does a parent with such a socket take a ghost for its own living work', () => {
    const parent = stranger({pid: 700});
    const ghost = aProcess({pid: 769, ppid: 700, session: 768});
    const look = deeper(
      aSnapshot([holds(ghost, [0])], {used: [4_623], charges: [aDeadCharge(768, 0, 4_614)]}),
      waitingIn([parent]),
    );
    expect(holderOf(aDiagnosis(look), 769).findings).toContain('inheritor');
  });

  it('and with unexplained memory a desktop is named, and not one of it is ticked', () => {
    const look = inFlight(desktop);
    const plan = planFor(look, {match: 'vllm', includeOthers: true, user: null});
    expect(targetPids(plan)).toEqual([]);
    expect(plan.kept.filter((one) => one.choosable).map((one) => one.pid)).toEqual([42, 43, 900]);
    expect(plan.kept.filter((one) => one.why === 'protected').map((one) => one.pid)).toEqual([1, 30, 41]);
  });
});

describe('exported memory', () => {
  const left = {used: [4_096]};
  const importer = (change: Partial<ProcessFacts> = {}): Seen => ({
    process: receiver(change),
    holding: controlOnly(1_404),
  });

  it('is put down to one that has nvidiactl open and nothing else, where nobody explains what is in use', () => {
    const look = aSnapshot([SERVER, importer()], left);
    expect(holderOf(aDiagnosis(look), 1_404)).toMatchObject({
      findings: ['importer', 'bystander'],
      heldBy: 'paths',
      mayKeep: [uuidOf(0)],
    });
    expect(facts(look, 1_404).slice(0, 2)).toEqual([
      'open-files: has only nvidiactl open, no GPU, no nvidia-uvm: as after an import of exported memory',
      'gpu-totals: may keep 4096 MiB that nobody was seen to keep, on GPU 0, billed to nobody',
    ]);
    expect(aDiagnosis(look).gpus[0]).toMatchObject({state: 'dirty', reasons: ['possible-keeper']});
    expect(needsDeeper(aDiagnosis(look))).toBe(true);
  });

  it('is put down to it as well where some process refused us its files: the GPU stays unknown', () => {
    const sight = {...aSnapshot([]).sight, full: false, unreadableFdFolders: 1};
    const look = aSnapshot([SERVER, importer()], {...left, sight});
    expect(holderOf(aDiagnosis(look), 1_404).mayKeep).toEqual([uuidOf(0)]);
    expect(aDiagnosis(look).gpus[0]).toMatchObject({
      state: 'unknown',
      reasons: ['not-all-readable', 'possible-keeper'],
    });
    expect(needsDeeper(aDiagnosis(look))).toBe(true);
  });

  it('is ticked by belonging only', () => {
    const look = aSnapshot([SERVER, importer()], left);
    expect(targetOf(planFor(look, {match: 'vllm'}), 1_404).heldBy).toBe('paths');
    expect(planFor(look, {match: 'vllm'}).gpus[0]).toMatchObject({likelyAfterMiB: 0, afterAtMostMiB: 300});
    for (const request of [{}, {includeOthers: true}]) {
      const alone = planFor(aSnapshot([importer({ppid: 1, session: 1_404, processGroup: 1_404})], left), request);
      expect(targetPids(alone)).toEqual([]);
      expect(keptOf(alone, 1_404)).toMatchObject({why: 'possible-keeper', choosable: true});
    }
  });

  it.each<[string, Seen, object]>([
    ['an importer that keeps nothing now: all is explained', importer(), {used: [4]}],
    ['one beside a dead PID’s bill: that is no exported memory', importer(), {...deadBill}],
    [
      'a trainer that is just starting has nvidia-uvm as well',
      {process: receiver(), holding: aHolding(1_404, [], {mappings: []})},
      left,
    ],
    ['a monitor has the GPUs open', {process: receiver(), holding: monitorFiles(1_404, [0])}, left],
    [
      'nvidia-smi opens nvidiactl first',
      {process: aProgram('/usr/bin/nvidia-smi', {pid: 1_404}), holding: controlOnly(1_404)},
      left,
    ],
    [
      'one that has mapped it owns it in its own right',
      {process: receiver(), holding: {...controlOnly(1_404), mappings: ['/dev/nvidia0']}},
      left,
    ],
    [
      'one that is billed has a context',
      {...billed(receiver(), {1: 20}), holding: controlOnly(1_404)},
      {used: [4_096, 29]},
    ],
    ['a plain zombie holds nothing', {process: receiver(PLAIN_ZOMBIE), holding: allOpen(1_404, 0, [])}, left],
  ])('is not the word for %s', (_, seen, change) => {
    const look = aSnapshot([SERVER, seen], change);
    expect(aDiagnosis(look).holders.flatMap((one) => one.findings)).not.toContain('importer');
  });

  it('a shell that was handed it is named, and its pane is nobody’s target', () => {
    const shell = {...SHELL, pid: 1_404, session: 400};
    const look = aSnapshot([SERVER, {process: shell, holding: controlOnly(1_404)}], left);
    expect(keptOf(planFor(look, {match: 'vllm'}), 1_404).why).toBe('possible-keeper');
  });
});

describe('a deeper look is due', () => {
  it.each<[boolean, string, Snapshot]>([
    [true, 'for memory that nobody explains', aSnapshot([], {used: [46_111]})],
    [true, 'for a dead PID’s bill', aSnapshot([], deadBill)],
    [
      true,
      'for one that is billed and holds nothing by any path',
      aSnapshot(
        [{...billed(aProcess({pid: 500}), {0: 4_614}), holding: aHolding(500, [], {opens: [], mappings: []})}],
        {used: [4_623]},
      ),
    ],
    [
      false,
      'for one whose files we may not read',
      aSnapshot(
        [{...billed(aProcess({pid: 500}), {0: 4_614}), holding: aHolding(500, [], {opens: [], mappings: []})}],
        {used: [4_623], sight: {...aSnapshot([]).sight, full: false, euid: 1000, unreadableFdFolders: 9}},
      ),
    ],
    [false, 'where all is explained', aSnapshot([billed(aProcess({pid: 500}), {0: 4_614})], {used: [4_623]})],
    [false, 'once it was taken', deeper(aSnapshot([], {used: [46_111]}))],
  ])('(%s) %s', (due, _, look) => {
    expect(needsDeeper(aDiagnosis(look))).toBe(due);
  });
});
