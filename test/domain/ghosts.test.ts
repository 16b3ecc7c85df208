/** Who keeps a dead process's memory, and who only looks as if: real situations from issue trackers, in small. */
import {describe, expect, it} from 'vitest';
import type {ProcessFacts} from '../../src/domain/snapshot.ts';
import {
  aCharge,
  aDeadCharge,
  aDiagnosis,
  aHolding,
  aHost,
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
  targetOf,
  targetPids,
  ZOMBIE_LEADER,
} from '../doubles/build.ts';

/** The files of a process that has so many descriptors of GPU 0, and everything mapped. */
const openedTimes = (pid: number, count: number) => {
  const holding = aHolding(pid, [0]);
  return {...holding, opens: holding.opens.map((one) => (one.path === '/dev/nvidia0' ? {...one, count} : one))};
};

const orphanedLoader = (change: Partial<ProcessFacts> = {}) =>
  aProcess({pid: 769, ppid: 1, processGroup: 768, session: 768, comm: 'pt_data_worker', ...change});

describe('a child that keeps the device files of a dead parent', () => {
  const look = aSnapshot([holds(orphanedLoader(), [0])], {used: [4_623], charges: [aDeadCharge(768, 0, 4_614)]});

  it('is an inheritor, and its end is what frees the memory', () => {
    const holder = holderOf(aDiagnosis(look), 769);
    expect(holder.findings).toEqual(['inheritor']);
    expect(holder).toMatchObject({deadCharged: [768], chargedMiB: 4_614});
    expect(aDiagnosis(look).gpus[0]).toMatchObject({state: 'dirty', unexplainedMiB: 9, reasons: []});
  });

  it('is ticked though nothing was named, and the dead PID never is', () => {
    const plan = planFor(look);
    expect(targetPids(plan)).toEqual([769]);
    expect(targetOf(plan, 769)).toMatchObject({belonging: {by: 'ghost', deadPids: [768]}, selfGo: true});
    expect(plan.gpus[0]?.afterAtMostMiB).toBe(300);
  });

  it('cannot be had by typing the dead PID: there is nobody to signal', () => {
    const plan = planFor(look, {pids: [768]});
    expect(targetPids(plan)).not.toContain(768);
    expect(plan.kept.map((one) => one.pid)).not.toContain(768);
  });

  it('is found behind 8 dead ranks with a hundred loaders, whose memory counts once and which make one workload', () => {
    const loaders = Array.from({length: 100}, (_, at) =>
      holds(orphanedLoader({pid: 1_000 + at, processGroup: 900, session: 900}), [0, 1, 2, 3, 4, 5, 6, 7]),
    );
    const ranks = Array.from({length: 7}, (_, gpu) => aDeadCharge(900 + gpu, gpu, 39_000));
    const plan = planFor(
      aSnapshot(loaders, {used: [39_009, 39_009, 39_009, 39_009, 39_009, 39_009, 39_009, 4], charges: ranks}),
    );
    expect(plan.targets).toHaveLength(100);
    expect(plan.gpus.map((gpu) => gpu.afterAtMostMiB)).toEqual([300, 300, 300, 300, 300, 300, 300, 4]);
  });

  it("takes its own child with it: a ghost's child keeps the same memory", () => {
    const child = orphanedLoader({pid: 770, ppid: 769});
    const plan = planFor(
      aSnapshot([holds(orphanedLoader(), [0]), holds(child, [0])], {
        used: [4_623],
        charges: [aDeadCharge(768, 0, 4_614)],
      }),
    );
    expect(targetPids(plan)).toEqual([769, 770]);
    expect(plan.targets.map((target) => target.role)).toEqual(['leader', 'member']);
  });

  it('is found below a dead parent that nobody reaped: the zombie is shown, the child is the holder', () => {
    const zombie = aProcess({pid: 768, ppid: 50, ...PLAIN_ZOMBIE});
    const plan = planFor(
      aSnapshot([zombie, holds(orphanedLoader(), [0])], {
        used: [5_380],
        charges: [aCharge(768, 0, 5_371, 'Unknown Error')],
      }),
    );
    expect(targetPids(plan)).toEqual([769]);
    expect(keptOf(plan, 768)).toMatchObject({why: 'unreaped', choosable: false});
    expect(plan.gpus[0]?.afterAtMostMiB).toBe(300);
  });

  it('that keeps memory on two GPUs is not ticked for one of them', () => {
    const twoGpus = aSnapshot([holds(orphanedLoader(), [0, 1])], {
      used: [4_623, 4_623],
      charges: [aDeadCharge(768, 0, 4_614), aDeadCharge(768, 1, 4_614)],
    });
    expect(targetPids(planFor(twoGpus))).toEqual([769]);
    expect(holderOf(aDiagnosis(twoGpus), 769)).toMatchObject({chargedMiB: 9_228, deadCharged: [768]});
    expect(keptOf(planFor(twoGpus, {gpus: [0]}), 769)).toMatchObject({why: 'outside-gpus', choosable: true});
  });

  it('on another GPU than the dead charge is none', () => {
    const elsewhere = aSnapshot([holds(orphanedLoader(), [1])], {
      used: [4_623, 4],
      charges: [aDeadCharge(768, 0, 4_614)],
    });
    expect(holderOf(aDiagnosis(elsewhere), 769).findings).toEqual(['bystander']);
    expect(aDiagnosis(elsewhere).gpus[0]).toMatchObject({state: 'dirty', reasons: ['dead-charge-without-holder']});
    expect(targetPids(planFor(elsewhere))).toEqual([]);
  });
});

describe('what looks like an inheritor and is none', () => {
  const dead = {used: [9_300], charges: [aDeadCharge(768, 0, 4_614)]};

  it("bo's loader child under bo's live trainer is part of live work", () => {
    const trainer = aProcess({pid: 800, uid: BO_UID});
    const loader = aProcess({
      pid: 801,
      ppid: 800,
      processGroup: 800,
      session: 800,
      uid: BO_UID,
      comm: 'pt_data_worker',
    });
    const look = aSnapshot([billed(trainer, {0: 4_614}), holds(loader, [0])], dead);
    expect(holderOf(aDiagnosis(look), 801).findings).toEqual(['bystander']);
    expect(targetPids(planFor(look))).toEqual([]);
  });

  it('a monitor keeps GPU nodes without UVM', () => {
    const nvitop = aProcess({pid: 810, words: ['python3', '/usr/bin/nvitop'], comm: 'nvitop'});
    const look = aSnapshot([{process: nvitop, holding: monitorFiles(810, [0])}], dead);
    expect(holderOf(aDiagnosis(look), 810).findings).not.toContain('inheritor');
    expect(targetPids(planFor(look))).toEqual([]);
  });

  it('NVML in somebody’s script has the node and UVM open as well, and maps nothing', () => {
    // As read on an H200: nvidia0 three times, nvidiactl, nvidia-uvm twice, two of nvidia-caps.
    const poller = aProcess({pid: 813, ppid: 1, words: ['python3', 'poll.py']});
    const holding = aHolding(813, [0], {
      opens: [
        {path: '/dev/nvidia0', count: 3},
        {path: '/dev/nvidiactl', count: 1},
        {path: '/dev/nvidia-uvm', count: 2},
        {path: '/dev/nvidia-caps/nvidia-cap1', count: 1},
      ],
      mappings: [],
    });
    const look = aSnapshot([{process: poller, holding}], dead);
    expect(holderOf(aDiagnosis(look), 813).findings).toEqual(['bystander']);
    expect(targetPids(planFor(look))).toEqual([]);
    expect(aDiagnosis(look).gpus[0]?.reasons).toContain('dead-charge-without-holder');
  });

  it('a notebook that asked whether there is CUDA has the node open and mapped, and no context', () => {
    // As read on an H200: the same after cuInit alone and after the last context was released; 7 with NVML beside it.
    for (const opens of [4, 7]) {
      const notebook = aProcess({pid: 815, ppid: 1, words: ['python3', 'explore.py']});
      const look = aSnapshot([{process: notebook, holding: openedTimes(815, opens)}], dead);
      expect(holderOf(aDiagnosis(look), 815).findings).toEqual(['bystander']);
      expect(targetPids(planFor(look))).toEqual([]);
      expect(aDiagnosis(look).gpus[0]?.reasons).toContain('dead-charge-without-holder');
    }
  });

  it('a child of a context on one GPU keeps nothing of another that its parent had only open', () => {
    const holding = aHolding(769, [0, 1]);
    const opens = holding.opens.map((one) => (one.path === '/dev/nvidia0' ? {...one, count: 4} : one));
    const look = aSnapshot([{process: orphanedLoader(), holding: {...holding, opens}}], {
      used: [4_623, 4_623],
      charges: [aDeadCharge(700, 0, 4_614), aDeadCharge(768, 1, 4_614)],
    });
    expect(holderOf(aDiagnosis(look), 769).deadCharged).toEqual([768]);
  });

  it('a child forked twice by a living job of its session may be that one’s, whatever else died on the GPU', () => {
    const job = aProcess({pid: 740, uid: BO_UID, session: 740, processGroup: 740});
    const look = (change: Partial<ProcessFacts>) =>
      aSnapshot([billed(job, {0: 9_000}), holds(orphanedLoader(change), [0])], {
        used: [13_623],
        charges: [aDeadCharge(768, 0, 4_614)],
      });
    expect(targetPids(planFor(look({session: 740})))).toEqual([]);
    // Of another session, or older than the job that was started again: it can only be the dead one's.
    expect(targetPids(planFor(look({})))).toEqual([769]);
    expect(targetPids(planFor(look({session: 740, startTicks: '7000'})))).toEqual([769]);
  });

  it('a process older than the dead one is no child of it', () => {
    const zombie = aProcess({pid: 768, ppid: 50, ...PLAIN_ZOMBIE});
    const look = (startTicks: string) =>
      aSnapshot([zombie, holds(orphanedLoader({startTicks}), [0])], {used: [4_623], charges: [aCharge(768, 0, 4_614)]});
    expect(holderOf(aDiagnosis(look('7679')), 769).findings).not.toContain('inheritor');
    expect(holderOf(aDiagnosis(look('7680')), 769).findings).toContain('inheritor');
  });

  it('the threads of a zombie leader show one table of files, which counts once', () => {
    const leaderWith = (count: number) => {
      const threadOpens = aHolding(816, [0]).opens.map((one) => ({...one, count: count * 3}));
      const process = aProcess({pid: 816, ppid: 1, ...ZOMBIE_LEADER});
      return aSnapshot([{process, holding: aHolding(816, [0], {opens: [], mappings: [], threadOpens})}], dead);
    };
    expect(holderOf(aDiagnosis(leaderWith(20)), 816).findings).toContain('inheritor');
    expect(holderOf(aDiagnosis(leaderWith(4)), 816).findings).not.toContain('inheritor');
  });

  it('graphics is in no list of compute processes: nvidia-modeset tells it', () => {
    const viewer = aProcess({pid: 814, ppid: 1, words: ['blender']});
    const holding = aHolding(814, [0]);
    const opens = [...holding.opens, {path: '/dev/nvidia-modeset', count: 1}];
    const look = aSnapshot([{process: viewer, holding: {...holding, opens}}], dead);
    expect(holderOf(aDiagnosis(look), 814).findings).toEqual(['bystander']);
    expect(targetPids(planFor(look))).toEqual([]);
  });

  it('a protected daemon keeps every device open by trade', () => {
    const hostengine = aProgram('/usr/bin/nv-hostengine', {pid: 811, ppid: 1, uid: 0});
    const look = aSnapshot([holds(hostengine, [0])], dead);
    expect(holderOf(aDiagnosis(look), 811).findings).toEqual(['protected']);
    expect(targetPids(planFor(look))).toEqual([]);
  });

  it('a process that is billed for itself elsewhere has every node open and keeps nothing of the dead', () => {
    const look = aSnapshot(
      [{process: aProcess({pid: 812, uid: BO_UID}), holding: allOpen(812, 2, [1]), charges: [aCharge(812, 1, 4_614)]}],
      {used: [4_623, 4_623], charges: [aDeadCharge(768, 0, 4_614)]},
    );
    expect(holderOf(aDiagnosis(look), 812).findings).toEqual(['bystander']);
  });

  it('one that is billed by name and gone a moment later ended while we looked: no proof', () => {
    const look = aSnapshot([holds(orphanedLoader(), [0])], {
      used: [4_623],
      charges: [aCharge(768, 0, 4_614, '/usr/bin/python3')],
    });
    expect(holderOf(aDiagnosis(look), 769).findings).toEqual(['bystander']);
    expect(targetPids(planFor(look))).toEqual([]);
  });

  it.each([
    ['the facts are not whole', {sections: [{name: 'facts', exitCode: null, complete: false, note: 'no end'}]}],
    ['no facts came at all', {sections: []}],
    ['/proc hides other people from us', {sight: sightOf({full: false, euid: 1000, hidepid: '2'})}],
    ['we look from another PID namespace', {sight: sightOf({foreignPidNamespace: true})}],
  ])('nobody is a ghost when %s: not seen is not dead', (_, change) => {
    const look = aSnapshot([holds(orphanedLoader(), [0])], {
      used: [4_623],
      charges: [aDeadCharge(768, 0, 4_614)],
      ...change,
    });
    expect(aDiagnosis(look).holders.flatMap((one) => one.findings)).not.toContain('inheritor');
    expect(aDiagnosis(look).gpus[0]?.state).toBe('unknown');
    expect(targetPids(planFor(look))).toEqual([]);
  });

  it('in a lab the driver does bill PIDs of our namespace, although it is not the first one', () => {
    const look = aSnapshot([holds(orphanedLoader(), [0])], {
      used: [4_623],
      charges: [aDeadCharge(768, 0, 4_614)],
      sight: sightOf({foreignPidNamespace: true}),
    });
    expect(targetPids(planFor(look, {}, {host: aHost({labPidNamespace: true})}))).toEqual([769]);
  });

  it('a stranger who got the PID of the billed process, and holds nothing, is never ticked', () => {
    const stranger = aProcess({pid: 768, words: ['python3', 'vllm_notes.py']});
    const look = aSnapshot([{process: stranger, charges: [aCharge(768, 0, 4_614)]}], {used: [4_623]});
    for (const request of [{match: 'vllm'}, {pids: [768]}, {includeOthers: true}])
      expect(targetPids(planFor(look, request))).toEqual([]);
  });
});

describe('a worker that lost its server', () => {
  const engine = (change: Partial<ProcessFacts> = {}) =>
    aProcess({
      pid: 500,
      comm: 'VLLM::EngineCor',
      words: ['VLLM::EngineCore'],
      session: 400,
      processGroup: 400,
      ...change,
    });
  const ticked = (...above: readonly ProcessFacts[]) =>
    targetPids(
      planFor(aSnapshot([...above, billed(engine({ppid: above.at(-1)?.pid ?? 1}), {0: 104_277})], {used: [104_300]})),
    );

  it('is a ghost under PID 1, under a shell, and under the shell that adopts orphans', () => {
    expect(ticked()).toEqual([500]);
    expect(ticked(aProgram('/usr/bin/bash', {pid: 400}))).toEqual([500]);
    expect(
      ticked(aProgram('/usr/bin/tmux', {pid: 399, ppid: 1}), aProgram('/usr/bin/zsh', {pid: 400, ppid: 399})),
    ).toEqual([500]);
    expect(ticked(aProgram('/usr/lib/systemd/systemd', {pid: 400, ppid: 1}))).toEqual([500]);
  });

  it('is found through other workers above it, as the workers of an engine are', () => {
    const above = engine({pid: 450, ppid: 1, words: ['VLLM::EngineCore_DP0']});
    expect(ticked(above)).toEqual([500]);
  });

  it('is no ghost under a live program, which may be any script: nothing of it is ticked by itself', () => {
    expect(ticked(aProcess({pid: 400, words: ['python', 'bench.py']}))).toEqual([]);
  });

  it('is no ghost under a server that titles itself like its workers', () => {
    expect(ticked(aProcess({pid: 400, comm: 'VLLM::APIServer', words: ['VLLM::APIServer']}))).toEqual([]);
  });

  it('is no ghost when its parent could not be read: that is no proof that there is none', () => {
    const look = aSnapshot([billed(engine({ppid: 4_444}), {0: 104_277})], {used: [104_300]});
    expect(targetPids(planFor(look))).toEqual([]);
  });

  it('needs no figure of the GPU itself to be told (GB10 prints [N/A])', () => {
    const look = aSnapshot([billed(engine({ppid: 1}), {0: 104_277})], {used: [104_300]});
    const blind = {...look, gpus: look.gpus.map((gpu) => ({...gpu, usedMiB: aCharge(1, 0, null).usedMiB}))};
    expect(targetOf(planFor(blind), 500)).toMatchObject({chargedMiB: 104_277, belonging: {by: 'ghost', deadPids: []}});
    expect(aDiagnosis(blind).gpus[0]).toMatchObject({state: 'dirty', usedMiB: 104_277, usedFrom: 'processes'});
  });

  it.each([
    ['sgl_diffusion::scheduler_U0', 'sgl_diffusion::'],
    ['sglang::scheduler_DP0_TP3_EP3', 'sglang::schedul'],
    ['ATOM::EngineCore', 'ATOM::EngineCor'],
  ])('is known as %s, idle as it may be', (title, comm) => {
    const look = aSnapshot([billed(engine({ppid: 1, words: [title], comm}), {0: 9_600})], {used: [9_604]});
    expect(targetPids(planFor(look))).toEqual([500]);
    expect(planFor(look).gpus[0]?.afterAtMostMiB).toBe(300);
  });

  it('that is protected, or holds nothing, is none', () => {
    const look = aSnapshot([engine({ppid: 1})], {used: [4]});
    expect(targetPids(planFor(look))).toEqual([]);
    expect(aDiagnosis(look).holders).toEqual([]);
  });

  it('PPID 1 alone is nothing: every nohup job has it', () => {
    const nohup = aProcess({pid: 600, ppid: 1, words: ['python3', 'train.py']});
    const look = aSnapshot([{process: nohup, holding: aHolding(600, [0]), charges: [aCharge(600, 0, 4_614)]}], {
      used: [4_623],
    });
    expect(targetPids(planFor(look))).toEqual([]);
    expect(keptOf(planFor(look), 600)).toMatchObject({why: 'detached', choosable: true});
  });
});

function sightOf(change: Record<string, unknown>) {
  return {...aSnapshot([]).sight, ...change};
}
