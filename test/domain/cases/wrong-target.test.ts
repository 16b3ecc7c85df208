/** Cases: a selection by tree, by text, by list or by number that would have hit somebody else. */
import {describe, expect, it} from 'vitest';
import {toPattern} from '../../../src/domain/parse/matches.ts';
import {parseCharges} from '../../../src/domain/parse/nvidia-smi.ts';
import {parseStat} from '../../../src/domain/parse/proc-stat.ts';
import {recheck} from '../../../src/domain/recheck.ts';
import {
  aDiagnosis,
  aProcess,
  aProgram,
  aSnapshot,
  BO_UID,
  billed,
  holds,
  keptOf,
  monitorFiles,
  planFor,
  targetPids,
  uuidOf,
} from '../../doubles/build.ts';
import {deeper} from '../../doubles/deep.ts';
import {biggest, called, isAlive, listedBySmi, openers, treeBelow} from './naive.ts';

describe('selected by', () => {
  it('C29: the process tree, the launcher of all ranks would be hit; only what holds a GPU and its named server is', () => {
    const look = aSnapshot(
      [
        aProcess({pid: 300, words: ['python3', '/opt/bin/trtllm-serve', 'a/model']}),
        aProgram('/usr/bin/orted', {pid: 310, ppid: 300}),
        aProcess({pid: 320, ppid: 300, words: ['python3', 'frontend.py']}),
        billed(aProcess({pid: 330, ppid: 300, words: ['python3', '-m', 'mpi4py.futures.server']}), {0: 60_000}),
        billed(aProcess({pid: 331, ppid: 300, words: ['python3', '-m', 'mpi4py.futures.server']}), {1: 60_000}),
      ],
      {used: [60_009, 60_009], literals: ['trtllm', 'mpi4py']},
    );
    expect(treeBelow(look, 300)).toEqual(expect.arrayContaining([310, 320]));

    expect(targetPids(planFor(look, {match: 'trtllm'}))).toEqual([300, 330, 331]);
    expect(targetPids(planFor(look, {match: 'mpi4py'}))).toEqual([330, 331]);
    expect(planFor(look, {match: 'trtllm'}).targets[0]).toMatchObject({
      role: 'server',
      family: {framework: 'TensorRT-LLM'},
    });
  });

  it('C31: a missing match, two healthy neighbours would be ownerless; here nothing follows from one', () => {
    const container = (digits: string) => [`/docker/${digits.repeat(32)}`];
    const neighbours = [
      billed(aProcess({pid: 500, uid: 0, ppid: 41, cgroups: container('aa')}), {0: 80_000}),
      billed(aProcess({pid: 600, uid: 0, ppid: 42, cgroups: container('bb')}), {1: 80_000}),
    ];
    // Its client is alive; the id stands behind the cut, and the pattern is an expression.
    const client = aProgram('/usr/bin/docker', {
      pid: 700,
      words: ['docker', 'run', '-e', 'x'.repeat(4_000)],
      wordsCut: true,
    });
    const look = aSnapshot([client, ...neighbours], {used: [80_009, 80_009]});
    expect(called(look, 'SESSION_ID=ab')).toEqual([]);

    const plan = planFor(look);
    expect(targetPids(plan)).toEqual([]);
    expect(plan.kept.filter((kept) => kept.pid < 700).map((kept) => [kept.why, kept.ownership.person])).toEqual([
      ['in-use', null],
      ['in-use', null],
    ]);
    expect(targetPids(planFor(look, {gpus: [0, 1], includeOthers: true}))).toEqual([]);
    expect(toPattern('SESSION_ID=a.b[0]*')).toBe('SESSION_ID=a\\.b\\[0\\]\\*');
  });

  it('C32: text of command lines, the search finds its own shell; what a process calls itself is looked at too', () => {
    const mine = aProgram('/usr/bin/bash', {
      pid: 4_000,
      ppid: 3_990,
      words: ['bash', '-c', 'pkill -9 -f vllm; rm -f vllm.lock'],
    });
    const session = aProgram('/usr/sbin/sshd', {pid: 3_990, ppid: 90, uid: 0});
    const child = aProgram('/usr/bin/grep', {pid: 4_001, ppid: 4_000, words: ['grep', 'vllm']});
    const renamed = billed(
      aProcess({pid: 500, comm: 'VLLM::EngineCor', words: ['python3', '-c', 'from multiprocessing']}),
      {0: 9_000},
    );
    const look = aSnapshot([session, mine, child, renamed], {used: [9_009], ownPids: [3_990, 4_000, 4_001]});
    expect(called(look, 'vllm')).toEqual([4_000, 4_001]);

    expect(targetPids(planFor(look, {match: 'vllm'}))).toEqual([500]);
    expect(targetPids(planFor(look, {match: 'vllm', pids: [4_000, 4_001]}))).toEqual([500]);
  });

  it('C34: the printed table and the open files, a display and another tenant are on the list', () => {
    const table = [
      '|    0   N/A  N/A            4242      C   python3                       9000MiB |',
      '|  No running processes found                                               |',
    ];
    expect(table.map((line) => line.trim().split(/\s+/)[4])).toEqual(['4242', 'found']);
    expect(parseCharges(table)).toEqual({charges: [], others: table.map((line) => line.trim())});

    const display = aProgram('/usr/lib/xorg/Xorg', {pid: 50, ppid: 1, uid: 0});
    const tenant = billed(aProcess({pid: 600, uid: 4_242, userName: null}), {0: 9_000});
    const mine = billed(aProcess({pid: 500, words: ['sglang::scheduler'], ppid: 1}), {1: 9_000});
    const look = aSnapshot([holds(display, [0]), tenant, mine], {used: [9_109, 9_009]});
    expect(new Set([...listedBySmi(look), ...openers(look)])).toEqual(new Set([50, 500, 600]));

    const plan = planFor(look, {match: 'sglang'});
    expect(targetPids(plan)).toEqual([500]);
    expect([keptOf(plan, 50).why, keptOf(plan, 600).why]).toEqual(['protected', 'in-use']);
  });

  it('C35: a bare number, whoever got that number meanwhile would be hit', () => {
    const was = aProcess({pid: 500, words: ['python3', '-m', 'vllm.entrypoints']});
    const plan = planFor(aSnapshot([billed(was, {0: 9_000})], {used: [9_009]}), {match: 'vllm'});
    const now = aSnapshot([billed(aProcess({pid: 500, startTicks: '49999', words: was.words}), {0: 9_000})], {
      used: [9_009],
    });
    expect(isAlive(now, 500)).toBe(true);

    const again = recheck(plan, aDiagnosis(now));
    expect(again).toMatchObject({go: false, because: 'no-target-left'});
    expect(again.drift).toMatchObject([{pid: 500, what: 'replaced'}]);
    // A second is a hundred ticks, and the name may hold what it likes.
    const stat = '500 (a) S 1 (b) c) S 100 500 500 0 -1 4194304 0 0 0 0 1 2 0 0 20 0 4 0 5000 0 0';
    expect(parseStat(stat)).toMatchObject({comm: 'a) S 1 (b) c', ppid: 100, startTicks: '5000'});
  });
});

describe('daemons that hold devices and no memory', () => {
  const engine = aProgram('/usr/bin/nv-hostengine', {
    pid: 60,
    ppid: 1,
    uid: 0,
    cgroups: ['/system.slice/nvidia-dcgm.service'],
  });
  const exporter = aProgram('/usr/bin/dcgm-exporter', {pid: 61, ppid: 1, uid: 0});

  it('C50: ending a monitor can break the GPU, so none is ever a target; a PID in an Xid line only called', () => {
    const look = deeper(
      aSnapshot(
        [
          {process: engine, holding: monitorFiles(60, [0])},
          {process: exporter, holding: monitorFiles(61, [0])},
        ],
        {
          used: [4],
        },
      ),
      {
        xids: [
          {
            uptimeMs: 400_000,
            busId: '00000000:00:00.0',
            code: 119,
            pid: 60,
            text: 'Timeout after 6s of waiting for RPC',
          },
        ],
      },
    );
    expect(openers(look)).toEqual([60, 61]);

    const plan = planFor(look, {pids: [60, 61], includeOthers: true});
    expect(targetPids(plan)).toEqual([]);
    expect(plan.kept.map((kept) => [kept.pid, kept.why, kept.choosable])).toEqual([
      [60, 'protected', false],
      [61, 'protected', false],
    ]);
    const [gpu] = aDiagnosis(look).gpus;
    expect(gpu?.reasons).toEqual(['xid']);
    expect(gpu?.evidence[0]?.fact).toContain('called by PID 60');
  });

  it('C70: they stand in the way of a reset, not of a start: the GPU is clean, and their end would free nothing', () => {
    const plugin = aProgram('/usr/bin/nvidia-device-plugin', {pid: 62, ppid: 1, uid: 0});
    const geopm = aProgram('/usr/sbin/geopmd', {pid: 63, ppid: 1, uid: 0});
    const daemons = [engine, exporter, plugin, geopm].map((process) => ({
      process,
      holding: monitorFiles(process.pid, [0]),
    }));
    const look = aSnapshot(daemons, {used: [4]});
    expect(openers(look)).toEqual([60, 61, 62, 63]);

    const diagnosis = aDiagnosis(look);
    expect(diagnosis.gpus[0]).toMatchObject({state: 'clean', holderPids: []});
    expect(diagnosis.holders.map((holder) => holder.chargedMiB)).toEqual([null, null, null, null]);
    const plan = planFor(look);
    expect(targetPids(plan)).toEqual([]);
    expect(plan.gpus[0]).toMatchObject({beforeMiB: 4, likelyAfterMiB: 0});
  });

  it('C73: on a card with a desktop only the ghost goes; 544 MiB of windows stay and are expected to', () => {
    const home = {uid: BO_UID, cgroups: ['/user.slice/user-1001.slice/user@1001.service/session.slice']};
    const look = aSnapshot(
      [
        billed(aProcess({pid: 500, ppid: 1, words: ['sglang::scheduler_TP0']}), {0: 20_000}),
        holds(aProgram('/usr/lib/xorg/Xorg', {pid: 50, ppid: 1, uid: 0}), [0]),
        holds(aProgram('/usr/bin/gnome-shell', {pid: 51, ppid: 1, ...home}), [0]),
        holds(aProgram('/usr/lib/firefox/firefox', {pid: 52, ppid: 51, ...home}), [0]),
      ],
      {used: [20_553]},
    );
    expect(openers(look)).toEqual(expect.arrayContaining([50, 51, 52]));
    expect(biggest(look)).toBe(500);

    const plan = planFor(look, {match: 'sglang'});
    expect(targetPids(plan)).toEqual([500]);
    expect([50, 51, 52].map((pid) => keptOf(plan, pid).why)).toEqual(['protected', 'protected', 'in-use']);
    expect(plan.gpus[0]?.afterAtMostMiB).toBe(553);
    expect(aDiagnosis(look).gpus.map((gpu) => gpu.gpuUuid)).toEqual([uuidOf(0)]);
  });
});
