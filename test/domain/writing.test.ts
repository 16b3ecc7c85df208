/** Which open files count, which of them grow, and what a plan makes of it. */
import {describe, expect, it} from 'vitest';
import {
  type FileState,
  growing,
  nothingRead,
  type OpenFile,
  type WritesLook,
  type Writing,
  workKindOf,
} from '../../src/domain/writing.ts';
import {mayWritePids, writingFact} from '../../src/domain/writing-targets.ts';
import {graceWords, stillWritingLines, unreadWords} from '../../src/report/writing-words.ts';
import {aProcess, aProgram, aSnapshot, billed, DEAF, keptOf, planFor, targetOf} from '../doubles/build.ts';

const MIB = 2 ** 20;
const state = (sizeBytes: number | null, position: number | null = null): FileState => ({sizeBytes, position});

function aFile(change: Partial<OpenFile> = {}): OpenFile {
  return {
    pid: 500,
    asked: 500,
    path: '/data/rank0.json.gz',
    mode: 'write',
    first: state(MIB),
    second: state(20 * MIB),
    ...change,
  };
}

function aLook(files: readonly OpenFile[], change: Partial<WritesLook> = {}): WritesLook {
  return {overMs: 500, files, unread: [], ...change};
}

describe('a name', () => {
  it.each([
    ['/t/trace.json', 'trace'],
    ['/t/host_12.1700.pt.trace.json.gz', 'trace'],
    ['/t/trace.json.tmp', 'trace'],
    ['/t/TRACE.JSON.GZ', 'trace'],
    ['/t/report1.nsys-rep', 'trace'],
    ['/tmp/nvidia/nsight_systems/streams/quadd.qdstrm', 'trace'],
    ['/t/report1.sqlite', 'trace'],
    ['/t/k.ncu-rep', 'trace'],
    ['/c/global_step9/mp_rank_00_model_states.pt', 'checkpoint'],
    ['/c/epoch=3.ckpt', 'checkpoint'],
    ['/c/__0_0.distcp', 'checkpoint'],
    ['/c/x.pth.part3', 'checkpoint'],
    ['/c/x.pt.tmp.12345', 'checkpoint'],
    ['/c/best_new.pt', 'checkpoint'],
    ['/c/7.orbax-checkpoint-tmp-170/d/0a1b2c', 'checkpoint'],
    ['/c/arrays.npz', 'checkpoint'],
    ['/m/model-00001-of-00030.safetensors', 'model'],
    ['/m/blobs/abc.safetensors.incomplete', 'model'],
    ['/m/pytorch_model.bin', 'model'],
    ['/m/q4.gguf', 'model'],
    ['/m/net.onnx', 'model'],
    ['/l/server.log', null],
    ['/l/server.log.gz', null],
    ['/l/out.txt', null],
    ['/l/requests.jsonl', null],
    ['/l/events.out.tfevents.17', null],
    ['/l/run.wandb', null],
    ['/l/nohup.out', null],
    ['/l/json', null],
    ['/json/core', null],
    ['/t/trace.json (deleted)', null],
    ['/c/7.orbax-checkpoint-tmp-170/d/0a (deleted)', null],
    ['/dev/shm/nccl-abc', null],
    ['', null],
  ])('%s is %s', (path, kind) => {
    expect(workKindOf(path)).toBe(kind);
  });
});

describe('a file', () => {
  it.each<[string, Partial<OpenFile>, number | 'grows' | 'still' | 'unread']>([
    ['that got larger grows', {}, 38],
    ['whose size stands still does not', {second: state(MIB)}, 'still'],
    ['that was cut back does not', {second: state(0)}, 'still'],
    ['of a size set beforehand grows by its writer', {first: state(MIB, 0), second: state(MIB, MIB)}, 2],
    [
      'that is read as well does not grow by that',
      {mode: 'read-write', first: state(9, 0), second: state(9, MIB)},
      'still',
    ],
    ['that is read as well grows by size', {mode: 'read-write'}, 38],
    ['of unknown size grows by its writer', {first: state(null, 0), second: state(null, MIB)}, 2],
    ['of unknown size that nobody moved in is not known', {first: state(null, 7), second: state(null, 7)}, 'unread'],
    ['of which nothing is known is not known', {first: state(null), second: state(null)}, 'unread'],
    ['known at one look only is not known', {first: state(null), second: state(MIB)}, 'unread'],
    ['that was opened in between grows', {first: null}, 'grows'],
    ['that was opened and is empty does not', {first: null, second: state(0, 0)}, 'still'],
    ['that nobody waits for does not count', {path: '/l/server.log'}, 'still'],
    [
      'that nobody waits for is not missed either',
      {path: '/l/a.log', first: state(null), second: state(null)},
      'still',
    ],
  ])('%s', (_, change, verdict) => {
    const file = aFile(change);
    const {files, unread} = growing(aLook([file]));
    const {path} = file;
    const found = {pid: 500, writerPid: 500, path, what: workKindOf(path)};
    const rate = typeof verdict === 'number' ? verdict : null;
    expect(files).toEqual(typeof verdict === 'number' || verdict === 'grows' ? [{...found, MiBPerSecond: rate}] : []);
    expect(unread).toEqual(verdict === 'unread' ? [{pid: 500, path, why: 'no-answer'}] : []);
  });

  it('that paused during one look grows by what it was at an earlier one', () => {
    const paused = aLook([aFile({first: state(9 * MIB), second: state(9 * MIB)})]);
    const earlier = aLook([aFile({second: state(8 * MIB)})]);
    expect(growing(paused).files).toEqual([]);
    expect(growing(paused, earlier).files).toMatchObject([{pid: 500, MiBPerSecond: null}]);
    expect(growing(paused, paused).files).toEqual([]);
    expect(growing(aLook([aFile({pid: 501, first: state(9), second: state(9)})]), earlier).files).toEqual([]);
  });

  it('that several below one process have open counts once, for that one, at its best rate', () => {
    const still = {first: state(20 * MIB), second: state(20 * MIB)};
    const inherited = [aFile({pid: 510, ...still}), aFile({pid: 511}), aFile(still)];
    expect(growing(aLook(inherited)).files).toEqual([
      {pid: 500, writerPid: 511, path: '/data/rank0.json.gz', what: 'trace', MiBPerSecond: 38},
    ]);
    const blind = aFile({pid: 512, first: state(null), second: state(null)});
    expect(growing(aLook([...inherited, blind])).unread).toEqual([]);
  });

  it.each([
    [38.2, '/d/x.json.gz', 'writing x.json.gz, +38 MiB/s'],
    [2.04, 'x.pt', 'writing x.pt, +2.0 MiB/s'],
    [0.001, '/x.pt', 'writing x.pt, under 0.1 MiB/s'],
    [null, '/d/x.pt', 'writing x.pt'],
    [1, `/d/${'n'.repeat(90)}.pt`, `writing ${'n'.repeat(18)}…${'n'.repeat(18)}.pt, +1.0 MiB/s`],
  ])('at %s MiB/s is told in few words', (MiBPerSecond, path, words) => {
    expect(writingFact({pid: 500, writerPid: 500, path, what: 'trace', MiBPerSecond})).toBe(words);
  });
});

describe('a plan', () => {
  const WORDS = ['python3', '-m', 'vllm.entrypoints.openai.api_server'];
  const served = aSnapshot([billed(aProcess({pid: 500, words: WORDS}), {0: 10})], {used: [20]});
  const writing: Writing = {
    files: [{pid: 500, writerPid: 512, path: '/d/x.json.gz', what: 'trace', MiBPerSecond: 38}],
    unread: [],
  };

  it('with a target that writes says so, and gives it the longer grace', () => {
    const plan = planFor(served, {match: 'vllm'}, {writing});
    expect(targetOf(plan, 500).findings).toEqual(['writing', 'workload']);
    expect(targetOf(plan, 500).evidence.slice(-2)).toEqual([
      {source: 'writes', fact: 'writing x.json.gz, +38 MiB/s'},
      {source: 'writes', fact: 'a trace in /d, by PID 512 below it'},
    ]);
    expect(plan).toMatchObject({writing, graceMs: 300_000, longestGraceMs: 600_000});
    expect(graceWords(plan)).toBe('5 m, up to 10 m while a file grows');
    expect(unreadWords(plan)).toBeNull();
  });

  it('says it of somebody who stays, too: a kill by hand would cut that file', () => {
    const shared = aSnapshot(
      [billed(aProcess({pid: 500, words: WORDS}), {0: 10}), billed(aProcess({pid: 503, uid: 1001}), {0: 10})],
      {used: [50]},
    );
    const files = writing.files.map((file) => ({...file, pid: 503}));
    const plan = planFor(shared, {match: 'vllm'}, {writing: {files, unread: []}});
    expect(keptOf(plan, 503).findings).toEqual(['writing', 'bystander']);
    expect(keptOf(plan, 503).evidence.map((one) => one.fact)).toContain('writing x.json.gz, +38 MiB/s');
    expect(plan.graceMs).toBe(30_000);
  });

  it('keeps the grace that somebody typed', () => {
    const plan = planFor(served, {match: 'vllm', graceMs: 1_000}, {writing});
    expect(plan).toMatchObject({graceMs: 1_000, longestGraceMs: 1_000});
    expect(graceWords(plan)).toBe('1.0 s');
  });

  it('without one has the plain grace, which may still run on for what SIGTERM makes them write', () => {
    const others = {...writing, files: writing.files.map((file) => ({...file, pid: 999}))};
    const plan = planFor(served, {match: 'vllm'}, {writing: others});
    expect(targetOf(plan, 500).findings).toEqual(['workload']);
    expect(plan).toMatchObject({graceMs: 30_000, longestGraceMs: 600_000});
    expect(graceWords(plan)).toBe('30 s');
  });

  it.each([['nsys'], ['ncu'], ['nsys-launcher'], ['dcgmproftester1'], ['nv-nsight-cu-cli']])(
    'under %s takes the report for a file being written',
    (comm) => {
      const tree = [
        aProgram('/opt/x/profiler', {pid: 300, comm}),
        billed(aProcess({pid: 500, ppid: 300, words: WORDS}), {0: 10}),
      ];
      const plan = planFor(aSnapshot(tree, {used: [20]}), {match: 'vllm'});
      expect(targetOf(plan, 500).findings).toEqual(['writing', 'workload']);
      expect(targetOf(plan, 500).evidence.at(-1)?.fact).toBe(`under the profiler ${comm}, PID 300`);
      expect(plan.graceMs).toBe(300_000);
    },
  );

  it('says what nobody could read, and takes it for nothing', () => {
    const plan = planFor(served, {match: 'vllm'}, {writing: nothingRead([500])});
    expect(targetOf(plan, 500).findings).toEqual(['workload']);
    expect(targetOf(plan, 500).evidence.at(-1)?.fact).toBe('what it writes could not be read: no answer');
    expect(plan.graceMs).toBe(30_000);
    expect(unreadWords(plan)).toBe('Not seen whether PID 500 writes a file');
  });

  it('asks about all that may be signalled and can run, and about nobody where nobody is', () => {
    const zoo = aSnapshot(
      [
        billed(aProcess({pid: 500, words: WORDS}), {0: 10}),
        billed(aProcess({pid: 501, words: WORDS, state: 'T'}), {0: 10}),
        billed(aProcess({pid: 502, words: WORDS, ...DEAF}), {0: 10}),
        billed(aProcess({pid: 503, uid: 1001}), {0: 10}),
      ],
      {used: [50]},
    );
    expect(mayWritePids(planFor(zoo, {match: 'vllm'}))).toEqual([500, 502, 503]);
    expect(mayWritePids(planFor(zoo, {match: 'nothing'}))).toEqual([]);
  });
});

it('a kill that waits is told with the file, its rate and its end; a blind one with what was not seen', () => {
  const files = [{pid: 12, writerPid: 12, path: '/d/x\u001b[31m.pt', what: 'checkpoint', MiBPerSecond: 38}] as const;
  const unread = [
    {pid: 13, path: null, why: 'refused'},
    {pid: 14, path: '/d/y.pt', why: 'no-answer'},
  ] as const;
  expect(stillWritingLines({kind: 'still-writing', atMs: 0, files, unread, untilMs: 600_000})).toEqual([
    'kill -9 waits: PID 12 writing x [31m.pt, +38 MiB/s; until 1970-01-01 00:10:00 UTC at most',
    'What PID 13 writes could not be read, so kill -9 does not wait for it',
    'Whether PID 14 still writes /d/y.pt could not be read, so kill -9 does not wait for it',
  ]);
});
