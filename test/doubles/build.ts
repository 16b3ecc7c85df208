/** Builders: a test says only what matters to it. Every default is one healthy host with one login shell. */
import {type DiagnoseContext, diagnose} from '../../src/domain/diagnose.ts';
import type {Diagnosis, HolderDiagnosis} from '../../src/domain/diagnosis.ts';
import {type Host, hostName} from '../../src/domain/host.ts';
import {NOT_DECLARED} from '../../src/domain/locked-clocks.ts';
import {makePlan} from '../../src/domain/make-plan.ts';
import type {Kept, Plan, Target} from '../../src/domain/plan.ts';
import type {Policy} from '../../src/domain/policy.ts';
import type {MachineIdentity} from '../../src/domain/process.ts';
import {BUILT_IN_PROTECTED} from '../../src/domain/protected.ts';
import type {ReclaimRequest} from '../../src/domain/request.ts';
import {type Run, type RunEvent, runId} from '../../src/domain/run.ts';
import {
  type Charge,
  figure,
  type Gpu,
  type Holding,
  type Match,
  type ProcessFacts,
  type Snapshot,
} from '../../src/domain/snapshot.ts';
import {NOTHING_WRITTEN, type Writing} from '../../src/domain/writing.ts';

export const HOST = hostName('gpu-07');
export const RUN = runId('7f3a00112233');
export const ANNA = {kind: 'os-user', name: 'anna', uid: 1000} as const;
export const BO = {kind: 'os-user', name: 'bo', uid: 1001} as const;
export const ANNA_UID = 1000;
export const BO_UID = 1001;
export const MACHINE: MachineIdentity = {hostKey: 'SHA256:abc', bootId: 'boot-1', pidNamespace: '4026531836'};
export const NO_FIGURE = {known: false, why: 'not-supported', token: '[N/A]'} as const;
const TICKS_PER_SECOND = 100;
const MOUNTS = '4026531841';
const SIGTERM_BIT = '0000000000004000';

export function uuidOf(index: number): string {
  return `GPU-0000000${index}-aaaa-bbbb-cccc-000000000000`;
}

export function aGpu(index: number, usedMiB = 4, change: Partial<Gpu> = {}): Gpu {
  return {
    uuid: uuidOf(index),
    index,
    busId: `00000000:0${index}:00.0`,
    minor: index,
    name: 'NVIDIA H200',
    totalMiB: figure(143_771),
    reservedMiB: figure(616),
    usedMiB: figure(usedMiB),
    utilizationPercent: figure(0),
    computeMode: 'Default',
    persistenceMode: 'Enabled',
    migMode: 'Disabled',
    driverVersion: '580.159.04',
    recoveryAction: 'None',
    fault: null,
    ...change,
  };
}

export function aProcess(change: Partial<ProcessFacts> & {readonly pid: number}): ProcessFacts {
  return {
    ppid: 100,
    processGroup: change.pid,
    session: change.pid,
    state: 'S',
    startTicks: String(change.pid * 10),
    kernelThread: false,
    comm: 'python3',
    threads: 4,
    cpuTicks: '5',
    uid: ANNA_UID,
    userName: change.uid === BO_UID ? 'bo' : change.uid === 0 ? 'root' : 'anna',
    loginUid: null,
    executable: anExecutable('/usr/bin/python3.12'),
    words: ['python3', 'train.py'],
    wordsCut: false,
    cgroups: ['/user.slice/user-1000.slice/session-3.scope'],
    pidNamespace: MACHINE.pidNamespace,
    mountNamespace: MOUNTS,
    signalBlocked: '0000000000000000',
    signalIgnored: '0000000000000000',
    signalCaught: '0000000000000000',
    signalPending: '0000000000000000',
    unreadable: [],
    ...change,
  };
}

export function anExecutable(path: string, ownerUid = 0): NonNullable<ProcessFacts['executable']> {
  return {path, deleted: false, id: `2049:${path.length}`, ownerUid, mode: 0o755};
}

/** A program that is known by its file: a shell, a multiplexer, a daemon. */
export function aProgram(path: string, change: Partial<ProcessFacts> & {readonly pid: number}): ProcessFacts {
  const name = path.split('/').at(-1) ?? '';
  return aProcess({comm: name.slice(0, 15), words: [name], executable: anExecutable(path), ...change});
}

/** PID 1, and the login shell with PID 100 below its sshd: what everything starts from unless a test says else. */
export const SYSTEMD = aProgram('/usr/lib/systemd/systemd', {pid: 1, ppid: 0, uid: 0, cgroups: ['/init.scope']});
export const SSHD = aProgram('/usr/sbin/sshd', {pid: 90, ppid: 1, uid: 0, cgroups: ['/system.slice/ssh.service']});
export const SHELL = aProgram('/usr/bin/bash', {pid: 100, ppid: 90, words: ['-bash']});

export const DEAF = {signalIgnored: SIGTERM_BIT};
export const BLOCKS_TERM = {signalBlocked: SIGTERM_BIT};
/** Main thread gone, others live: the kernel shows no command line. */
export const ZOMBIE_LEADER = {state: 'Z', threads: 4, words: []};
export const PLAIN_ZOMBIE = {state: 'Z', threads: 1, words: [], executable: null, unreadable: []};

export function aCharge(pid: number, gpu: number, usedMiB: number | null, name = 'python3'): Charge {
  return {gpuUuid: uuidOf(gpu), pid, name, usedMiB: usedMiB === null ? NO_FIGURE : figure(usedMiB)};
}

/** As the driver bills a PID that is not in /proc any more. */
export function aDeadCharge(pid: number, gpu: number, usedMiB: number): Charge {
  return aCharge(pid, gpu, usedMiB, '[Not Found]');
}

/** The files of a CUDA context on these GPUs: node, control and UVM open, node and control mapped. */
export function aHolding(pid: number, gpus: readonly number[], change: Partial<Holding> = {}): Holding {
  return {
    pid,
    opens: [
      ...gpus.map((gpu) => ({path: `/dev/nvidia${gpu}`, count: 20})),
      {path: '/dev/nvidiactl', count: 1},
      {path: '/dev/nvidia-uvm', count: 2},
    ],
    mappings: [...gpus.map((gpu) => `/dev/nvidia${gpu}`), '/dev/nvidiactl'],
    threadOpens: [],
    numbered: [],
    queued: 0,
    ...change,
  };
}

/** Every node open, as many programs keep them; only these mapped. */
export function allOpen(pid: number, count: number, mapped: readonly number[]): Holding {
  const every = Array.from({length: count}, (_, gpu) => gpu);
  return {...aHolding(pid, every), mappings: [...mapped.map((gpu) => `/dev/nvidia${gpu}`), '/dev/nvidiactl']};
}

/** What cuInit alone leaves: every node open a few times and mapped, as read on an H200 with driver 580. */
export function initFiles(pid: number, gpus: readonly number[]): Holding {
  const whole = aHolding(pid, gpus);
  return {...whole, opens: whole.opens.map((one) => ({...one, count: Math.min(one.count, 4)}))};
}

export function monitorFiles(pid: number, gpus: readonly number[]): Holding {
  return aHolding(pid, gpus, {
    opens: [...gpus.map((gpu) => ({path: `/dev/nvidia${gpu}`, count: 2})), {path: '/dev/nvidiactl', count: 1}],
    mappings: [],
  });
}

/** A process with what it holds and what it is billed. */
export interface Seen {
  readonly process: ProcessFacts;
  readonly holding?: Holding;
  readonly charges?: readonly Charge[];
}

/** Holds and is billed `MiB` per GPU index, as a healthy CUDA process is. */
export function billed(process: ProcessFacts, MiB: Readonly<Record<number, number>>): Seen {
  const gpus = Object.keys(MiB).map(Number);
  return {
    process,
    holding: aHolding(process.pid, gpus),
    charges: gpus.map((gpu) => aCharge(process.pid, gpu, MiB[gpu] ?? 0, process.comm)),
  };
}

/** Holds without being billed. */
export function holds(process: ProcessFacts, gpus: readonly number[], change: Partial<Holding> = {}): Seen {
  return {process, holding: aHolding(process.pid, gpus, change)};
}

export function idle(process: ProcessFacts): Seen {
  return {process};
}

const LITERALS = ['vllm', 'sglang', 'sgl_diffusion', 'atom::'];

/**
 * What one look saw. GPUs: used MiB by index, unless given whole. Matches are found as the probe finds them, in comm and
 * command line, whatever the case.
 */
export function aSnapshot(
  seen: readonly (Seen | ProcessFacts)[],
  change: Partial<Snapshot> & {readonly used?: readonly number[]; readonly literals?: readonly string[]} = {},
): Snapshot {
  const {used = [], literals = [], ...rest} = change;
  const parts = seen.map((one): Seen => ('process' in one ? one : {process: one}));
  const processes = rest.processes ?? [SYSTEMD, SSHD, SHELL, ...parts.map((one) => one.process)];
  return {
    host: HOST,
    machine: MACHINE,
    takenAtMs: 1_700_000_000_000,
    uptimeMs: 500_000,
    clockTicksPerSecond: TICKS_PER_SECOND,
    kernel: '6.18.0',
    mountNamespace: MOUNTS,
    sight: {full: true, euid: 0, hidepid: '0', unreadableFdFolders: 0, foreignPidNamespace: false, stuckAt: []},
    smi: {state: 'answered', exitCode: 0, note: ''},
    gpus: used.map((MiB, index) => aGpu(index, MiB)),
    gpuFaults: [],
    deep: null,
    holdings: parts.flatMap((one) => one.holding ?? []),
    matches: matchesOf(processes, [...LITERALS, ...literals]),
    ownPids: [],
    sections: [{name: 'facts', exitCode: 0, complete: true, note: ''}],
    ...rest,
    charges: [...parts.flatMap((one) => one.charges ?? []), ...(rest.charges ?? [])],
    processes,
  };
}

function matchesOf(processes: readonly ProcessFacts[], literals: readonly string[]): readonly Match[] {
  return processes.flatMap((process) => {
    const text = [process.comm, ...process.words].join(' ').toLowerCase();
    return literals
      .filter((literal) => text.includes(literal.toLowerCase()))
      .map((literal) => ({pid: process.pid, literal}));
  });
}

export function aHost(change: Partial<Host> = {}): Host {
  return {
    name: HOST,
    mode: 'act',
    groups: [],
    labels: {},
    people: new Map([
      [ANNA_UID, 'anna'],
      [BO_UID, 'bo'],
    ]),
    links: {},
    clocks: NOT_DECLARED,
    labPidNamespace: false,
    practice: false,
    ...change,
  };
}

export function aPolicy(change: Partial<Policy> = {}): Policy {
  return {
    approvers: [{kind: 'os-user', name: 'anna'}],
    samePerson: [],
    selfGo: true,
    breakGlass: true,
    tellRequester: true,
    pictures: true,
    graceMs: 30_000,
    profilerGraceMs: 300_000,
    writingGraceMs: 600_000,
    memberDelayMs: 5_000,
    approvalMs: 900_000,
    verifyMs: 120_000,
    stalledMs: 10_000,
    lookAgainMs: [60_000, 600_000],
    watchEveryMs: 60_000,
    campaignIdleMs: 45 * 60_000,
    campaignKeepMs: 120 * 60_000,
    lateAfterMs: 10_000,
    baselineMiB: 300,
    toleranceMiB: 64,
    limits: {openRuns: 4, targets: 64, runsPerPerson: 3, runsPerPersonMs: 600_000},
    stopOwner: {unit: false, docker: false, podman: false, slurm: false},
    workloads: [{name: 'vllm', literals: ['vllm']}],
    protectedList: BUILT_IN_PROTECTED,
    ...change,
  };
}

export function aRequest(change: Partial<ReclaimRequest> = {}): ReclaimRequest {
  return {
    host: HOST,
    gpus: null,
    match: null,
    user: null,
    pids: [],
    includeOthers: false,
    graceMs: null,
    dryRun: false,
    reason: null,
    requester: ANNA,
    ...change,
  };
}

export function aContext(change: Partial<DiagnoseContext> = {}): DiagnoseContext {
  return {host: aHost(), policy: aPolicy(), baselines: new Map(), ...change};
}

export function aDiagnosis(snapshot: Snapshot, change: Partial<DiagnoseContext> = {}): Diagnosis {
  return diagnose(snapshot, aContext(change));
}

/** The diagnosis of one process; a test that asks for one that is not there fails here. */
export function holderOf(diagnosis: Diagnosis, pid: number): HolderDiagnosis {
  const found = [...diagnosis.holders, ...diagnosis.others].find((one) => one.process.pid === pid);
  if (found === undefined) throw new Error(`PID ${pid} is neither holder nor other`);
  return found;
}

/** The plan that a request makes of a look. */
export function planFor(
  snapshot: Snapshot,
  request: Partial<ReclaimRequest> = {},
  change: Partial<DiagnoseContext> & {
    readonly earlier?: readonly Snapshot[];
    readonly only?: ReadonlySet<number> | null;
    readonly writing?: Writing;
  } = {},
): Plan {
  const {earlier = [], only = null, writing = NOTHING_WRITTEN, ...context} = change;
  const whole = aContext(context);
  const made = makePlan({
    runId: RUN,
    version: 1,
    diagnosis: diagnose(snapshot, whole),
    request: aRequest(request),
    context: whole,
    earlier,
    only,
    writing,
    nowMs: snapshot.takenAtMs,
  });
  if (!made.ok) throw new Error(`no plan: ${made.failure.reason}`);
  return made.value;
}

export function targetPids(plan: Plan): readonly number[] {
  return plan.targets.map((target) => target.identity.pid);
}

export function targetOf(plan: Plan, pid: number): Target {
  const found = plan.targets.find((target) => target.identity.pid === pid);
  if (found === undefined) throw new Error(`PID ${pid} is no target`);
  return found;
}

export function keptOf(plan: Plan, pid: number): Kept {
  const found = plan.kept.find((one) => one.pid === pid);
  if (found === undefined) throw new Error(`PID ${pid} is not among the kept`);
  return found;
}

export function aTarget(change: Partial<Target> & {readonly pid: number}): Target {
  const {pid, ...rest} = change;
  return {
    identity: {pid, startTicks: String(pid * 10), uid: ANNA_UID, executable: anExecutable('/usr/bin/python3.12').id},
    role: 'leader',
    name: 'train.py',
    findings: ['workload'],
    evidence: [],
    belonging: {by: 'named', literal: 'vllm'},
    ownership: {person: 'anna', uid: ANNA_UID, by: 'uid'},
    container: null,
    owners: [],
    heldBy: 'paths',
    family: {framework: null, rootPid: pid},
    takesTerm: true,
    gpuUuids: [uuidOf(0)],
    chargedMiB: 4_614,
    ageMs: 60_000,
    selfGo: false,
    ...rest,
  };
}

export function aPlan(change: Partial<Plan> = {}): Plan {
  return {
    runId: RUN,
    version: 1,
    host: HOST,
    machine: MACHINE,
    madeAtMs: 1_700_000_000_000,
    targets: [aTarget({pid: 500})],
    kept: [],
    gpus: [
      {
        gpuUuid: uuidOf(0),
        index: 0,
        requested: true,
        beforeMiB: 4_623,
        totalMiB: 143_771,
        likelyAfterMiB: 300,
        afterAtMostMiB: 300,
      },
    ],
    stops: [],
    noStops: [],
    owned: null,
    writing: NOTHING_WRITTEN,
    graceMs: 30_000,
    longestGraceMs: 600_000,
    memberDelayMs: 5_000,
    verifyMs: 120_000,
    stalledMs: 10_000,
    ...change,
  };
}

export function aRun(...events: readonly RunEvent[]): Run {
  return {id: RUN, host: HOST, phase: 'executing', version: events.length, createdAtMs: 1, events};
}
