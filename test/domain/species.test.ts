/** What a holder is found to be, and what may be done with it: one process at a time. */
import {describe, expect, it} from 'vitest';
import {maskHas} from '../../src/domain/signal.ts';
import {
  aCharge,
  aDiagnosis,
  aHolding,
  allOpen,
  anExecutable,
  aProcess,
  aProgram,
  aSnapshot,
  BLOCKS_TERM,
  BO_UID,
  billed,
  DEAF,
  holderOf,
  holds,
  keptOf,
  monitorFiles,
  PLAIN_ZOMBIE,
  planFor,
  targetOf,
  targetPids,
  uuidOf,
  ZOMBIE_LEADER,
} from '../doubles/build.ts';

const VLLM = ['python3', '-m', 'vllm.entrypoints.openai.api_server'];
const used = {used: [4_623, 4]};

describe('findings', () => {
  it('workload: billed, holds, and its command line names it', () => {
    const look = aSnapshot([billed(aProcess({pid: 500, words: VLLM}), {0: 4_614})], used);
    expect(holderOf(aDiagnosis(look), 500)).toMatchObject({
      findings: ['workload'],
      matched: ['vllm'],
      chargedMiB: 4_614,
    });
    expect(targetOf(planFor(look, {match: 'vllm'}), 500)).toMatchObject({takesTerm: true, role: 'leader'});
  });

  it('renamed: a worker title without any pattern, its name cut to 15 bytes', () => {
    const look = aSnapshot(
      [
        aProcess({pid: 400}),
        billed(aProcess({pid: 500, ppid: 400, comm: 'ATOM::EngineCor', words: ['ATOM::EngineCore']}), {0: 4_614}),
      ],
      used,
    );
    const unmatched = {...look, matches: []};
    expect(holderOf(aDiagnosis(unmatched), 500).findings).toEqual(['renamed']);
    expect(targetPids(planFor(unmatched, {match: 'vllm'}))).toEqual([]);
  });

  it('renamed: a child of the workload under any name, once it belongs', () => {
    const server = aProcess({pid: 400, words: VLLM});
    const child = aProcess({pid: 500, ppid: 400, comm: 'ghostd', words: ['run.py']});
    const look = aSnapshot([server, billed(child, {0: 4_614})], used);
    expect(targetOf(planFor(look, {match: 'vllm'}), 500).findings).toEqual(['renamed']);
    expect(keptOf(planFor(look), 500).findings).toEqual(['bystander']);
  });

  it.each([
    ['ignores', DEAF],
    ['blocks', BLOCKS_TERM],
  ])('deaf: %s SIGTERM, so it gets none', (_, masks) => {
    const look = aSnapshot([billed(aProcess({pid: 500, words: VLLM, ...masks}), {0: 4_614})], used);
    expect(holderOf(aDiagnosis(look), 500).findings).toEqual(['deaf', 'workload']);
    expect(targetOf(planFor(look, {match: 'vllm'}), 500).takesTerm).toBe(false);
  });

  it('deaf is no word for one that catches SIGTERM, nor for one whose masks could not be read', () => {
    const look = aSnapshot([
      billed(aProcess({pid: 500, words: VLLM, signalCaught: '0000000000004002'}), {0: 4_614}),
      billed(aProcess({pid: 501, words: VLLM, signalIgnored: '', signalBlocked: ''}), {0: 4_614}),
    ]);
    expect(aDiagnosis(look).holders.map((one) => one.findings)).toEqual([['workload'], ['workload']]);
    expect([maskHas('4000', 'SIGTERM'), maskHas('100', 'SIGKILL'), maskHas('100', 'SIGTERM')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it.each(['T', 't'])('stopped (%s): SIGTERM would stay pending, so the grace is not spent on it', (state) => {
    const look = aSnapshot([billed(aProcess({pid: 500, words: VLLM, state}), {0: 4_614})], used);
    expect(holderOf(aDiagnosis(look), 500).findings).toEqual(['stopped', 'workload']);
    expect(targetOf(planFor(look, {match: 'vllm'}), 500).takesTerm).toBe(false);
  });

  it('stopped by its user (Ctrl-Z) and not asked for: kept, and still in use', () => {
    const look = aSnapshot([billed(aProcess({pid: 500, uid: BO_UID, state: 'T'}), {0: 4_614})], used);
    expect(keptOf(planFor(look), 500)).toMatchObject({findings: ['stopped', 'bystander'], choosable: true});
  });

  it('zombie leader: only its threads show the device; the state says Z and it is a holder all the same', () => {
    const holding = aHolding(500, [], {opens: [], mappings: [], threadOpens: aHolding(500, [0]).opens});
    const look = aSnapshot(
      [
        {
          process: aProcess({pid: 500, ppid: 1, ...ZOMBIE_LEADER}),
          holding,
          charges: [aCharge(500, 0, 4_614, '[No data]')],
        },
      ],
      used,
    );
    const holder = holderOf(aDiagnosis(look), 500);
    expect(holder.findings).toEqual(['zombie-leader', 'bystander']);
    expect(holder.findings).not.toContain('unreaped');
    expect(targetOf(planFor(look, {pids: [500]}), 500)).toMatchObject({heldBy: 'paths', takesTerm: true});
    expect(aDiagnosis(look).gpus[0]?.state).toBe('occupied');
  });

  it('mapping only: no file open, no bill, and what is left over is put down to it', () => {
    const look = aSnapshot([holds(aProcess({pid: 500, words: VLLM}), [0], {opens: []})], used);
    const plan = planFor(look, {match: 'vllm'});
    expect(holderOf(aDiagnosis(look), 500)).toMatchObject({findings: ['mapping-only', 'workload'], chargedMiB: null});
    expect(targetPids(plan)).toEqual([500]);
    expect(plan.gpus[0]?.afterAtMostMiB).toBe(300);
    expect(aDiagnosis(look).gpus[0]?.reasons).not.toContain('no-holder-anywhere');
  });

  it('unreaped: a plain zombie holds nothing, is told and never signalled, whatever was typed', () => {
    const look = aSnapshot([aProcess({pid: 500, ppid: 400, comm: 'vllm', ...PLAIN_ZOMBIE})], {used: [4]});
    expect(holderOf(aDiagnosis(look), 500).findings).toEqual(['unreaped']);
    for (const request of [{match: 'vllm'}, {pids: [500]}, {includeOthers: true}]) {
      expect(targetPids(planFor(look, request))).toEqual([]);
      expect(keptOf(planFor(look, request), 500)).toMatchObject({why: 'unreaped', choosable: false});
    }
    expect(aDiagnosis(look).gpus[0]?.state).toBe('clean');
  });

  it.each([
    ['docker', `/system.slice/docker-${'a'.repeat(64)}.scope`, `docker stop ${'a'.repeat(12)}`],
    ['unit', '/system.slice/ollama.service', 'systemctl stop ollama.service'],
    ['slurm', '/slurm/uid_1000/job_77/step_0/task_1', 'scancel 77'],
  ])(
    'contained: %s names the command of its owner and is not ticked, since it would be back',
    (kind, path, stopCommand) => {
      const look = aSnapshot([billed(aProcess({pid: 500, words: VLLM, cgroups: [path]}), {0: 4_614})], used);
      const kept = keptOf(planFor(look, {match: 'vllm'}), 500);
      expect(kept).toMatchObject({why: 'contained', choosable: true, container: {kind, stopCommand}});
      expect(kept.findings).toContain('contained');
      expect(targetPids(planFor(look, {pids: [500]}))).toEqual([500]);
    },
  );

  it.each([
    ['/usr/bin/nvidia-persistenced', 0],
    ['/usr/bin/nv-hostengine', 0],
    ['/usr/lib/xorg/Xorg', BO_UID],
    ['/usr/bin/nvidia-cuda-mps-server', BO_UID],
  ])('protected: %s is locked, whatever was typed', (path, uid) => {
    const daemon = aProgram(path, {pid: 500, ppid: 1, uid});
    const look = aSnapshot([billed(daemon, {0: 30_000})], {used: [30_009], literals: ['nvidia', 'Xorg']});
    for (const request of [{pids: [500]}, {match: 'nvidia'}, {match: 'Xorg'}, {includeOthers: true}, {user: 'bo'}]) {
      expect(targetPids(planFor(look, request))).toEqual([]);
      expect(keptOf(planFor(look, request), 500)).toMatchObject({why: 'protected', choosable: false});
    }
  });

  it('protected is nobody by the name it gives itself', () => {
    const liar = aProcess({pid: 500, comm: 'nvidia-persiste', words: ['/usr/bin/nvidia-persistenced']});
    const copied = aProcess({pid: 501, executable: anExecutable('/home/bo/nvidia-persistenced', BO_UID)});
    const look = aSnapshot([billed(liar, {0: 9_000}), billed(copied, {0: 9_000})], {used: [18_009]});
    expect(targetPids(planFor(look, {pids: [500, 501]}))).toEqual([500, 501]);
  });

  it('our own session is locked: its shell, whatever holds the GPU there', () => {
    const look = aSnapshot([billed(aProcess({pid: 500, words: VLLM}), {0: 4_614})], {...used, ownPids: [500]});
    expect(aDiagnosis(look).holders).toEqual([]);
    expect(targetPids(planFor(look, {pids: [500], match: 'vllm'}))).toEqual([]);
  });

  it('monitor: reads only, locked; but a trainer under such a file name is billed and is none', () => {
    const look = aSnapshot(
      [
        {process: aProgram('/usr/bin/nvtop', {pid: 500}), holding: monitorFiles(500, [0, 1])},
        billed(aProgram('/home/bo/nvtop', {pid: 501, uid: BO_UID}), {0: 4_614}),
      ],
      used,
    );
    expect(aDiagnosis(look).holders.map((one) => one.findings)).toEqual([['monitor'], ['bystander']]);
    expect(keptOf(planFor(look, {pids: [500]}), 500)).toMatchObject({why: 'monitor', choosable: false});
    expect(targetPids(planFor(look, {pids: [501]}))).toEqual([501]);
  });

  it('bystander: live work is kept, shown by whom, and only an act of its own ticks it', () => {
    const look = aSnapshot([billed(aProcess({pid: 500, uid: BO_UID}), {0: 21_630})], {used: [21_640]});
    expect(keptOf(planFor(look), 500)).toMatchObject({
      why: 'in-use',
      choosable: true,
      findings: ['bystander'],
      ownership: {person: 'bo', by: 'uid'},
    });
    expect(targetOf(planFor(look, {includeOthers: true}), 500)).toMatchObject({
      belonging: {by: 'gpus'},
      findings: ['bystander'],
      selfGo: false,
    });
  });

  it('name-only: a log reader is shown and never a target, by match, by PID or by tick', () => {
    const tail = aProgram('/usr/bin/tail', {pid: 500, words: ['tail', '-f', 'vllm.log']});
    const look = aSnapshot([tail], {used: [4]});
    for (const request of [{match: 'vllm'}, {pids: [500]}, {match: 'vllm', includeOthers: true}])
      expect(targetPids(planFor(look, request))).toEqual([]);
    expect(keptOf(planFor(look, {match: 'vllm'}), 500)).toMatchObject({why: 'name-only', choosable: false});
  });

  it('one that cannot be identified is locked: what cannot be compared later is never signalled', () => {
    const look = aSnapshot([billed(aProcess({pid: 500, executable: null, words: VLLM}), {0: 4_614})], used);
    expect(keptOf(planFor(look, {match: 'vllm', pids: [500]}), 500)).toMatchObject({
      why: 'no-identity',
      choosable: false,
    });
  });
});

describe('which GPU a process uses', () => {
  it('is what it is billed on and what it has mapped; an open node alone says nothing', () => {
    const look = aSnapshot(
      [{process: aProcess({pid: 500}), holding: allOpen(500, 4, [0, 1]), charges: [aCharge(500, 0, 4_614)]}],
      {
        used: [4_623, 600, 4, 4],
      },
    );
    expect(holderOf(aDiagnosis(look), 500).gpus).toEqual([
      {gpuUuid: uuidOf(0), how: 'charged', chargedMiB: 4_614},
      {gpuUuid: uuidOf(1), how: 'mapped', chargedMiB: null},
      {gpuUuid: uuidOf(2), how: 'opened', chargedMiB: null},
      {gpuUuid: uuidOf(3), how: 'opened', chargedMiB: null},
    ]);
    expect(aDiagnosis(look).gpus.map((gpu) => gpu.state)).toEqual(['occupied', 'dirty', 'clean', 'clean']);
  });

  it('is known without UVM too: a fork does not inherit that mapping, and a desktop has none', () => {
    const look = aSnapshot(
      [{process: aProcess({pid: 500}), holding: {...monitorFiles(500, [0]), mappings: ['/dev/nvidia0']}}],
      used,
    );
    expect(holderOf(aDiagnosis(look), 500).gpus).toEqual([{gpuUuid: uuidOf(0), how: 'mapped', chargedMiB: null}]);
  });

  it('is found through the table of minors, not by the index, and also for a node that was deleted', () => {
    const swapped = aSnapshot([holds(aProcess({pid: 500}), [], {mappings: ['/dev/nvidia0 (deleted)']})], used);
    const gpus = swapped.gpus.map((gpu, at) => ({...gpu, minor: 1 - at}));
    expect(holderOf(aDiagnosis({...swapped, gpus}), 500).gpus).toEqual([
      {gpuUuid: uuidOf(1), how: 'mapped', chargedMiB: null},
    ]);
  });

  it('a bill without a figure is no bill of 0', () => {
    const look = aSnapshot(
      [{process: aProcess({pid: 500}), holding: aHolding(500, [0]), charges: [aCharge(500, 0, null)]}],
      used,
    );
    expect(holderOf(aDiagnosis(look), 500)).toMatchObject({
      chargedMiB: null,
      gpus: [{how: 'charged', chargedMiB: null}],
    });
  });
});
