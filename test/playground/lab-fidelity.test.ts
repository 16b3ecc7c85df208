/** The stand-in and the lab's holders against what an H200 was recorded to show, species by species. */
import {readFileSync} from 'node:fs';
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest';
import {type Lab, startLab} from '../../src/playground/lab/lab.ts';
import type {LabProcess} from '../../src/playground/lab/process-tree.ts';
import * as species from '../../src/playground/lab/species.ts';
import {type LabEyes, openEyes, type ProcessLook} from './lab-look.ts';

interface RecordedLook {
  readonly species: string;
  readonly after?: {readonly signal: string; readonly to: Role};
  readonly usedMiB: number;
  readonly rows: readonly {readonly of: Role; readonly name: string; readonly MiB: number}[];
  readonly sees: Readonly<Partial<Record<Role, Partial<ProcessLook> & {readonly mapped: readonly string[]}>>>;
  readonly endedBy?: {readonly signal: string; readonly to: Role};
}

/** `holder`: what keeps the memory at the end. `maker`: who allocated it, where that is another one. */
type Role = 'holder' | 'maker';
type Pids = Readonly<Record<Role, number>>;

const RECORD = JSON.parse(readFileSync(new URL('../fixtures/h200-species.json', import.meta.url), 'utf8')) as {
  readonly looks: readonly RecordedLook[];
};

const CONTEXT_MIB = species.CONTEXT_MIB;
const ALLOCATED_MIB = 4_096;
/** memory.used stood at most this far above the rows: the driver's own share, which the lab has not. */
const DRIVER_SHARE_MIB = 15;

const whole = [{gpu: 0, MiB: CONTEXT_MIB + ALLOCATED_MIB}];
const memory = [{gpu: 0, MiB: ALLOCATED_MIB}];
const lives = {parentsLive: true};

const lab: Lab = await startLab({name: 'fidelity', gpus: 1});
let eyes: LabEyes;
/** Whoever a look started: ended after it, also where it failed. */
let started: number[] = [];

async function spawn(spec: species.LabSpec): Promise<LabProcess> {
  const made = await lab.spawn(spec);
  started.push(made.pid, ...made.billed, ...made.workers.flatMap((worker) => [worker.pid, ...worker.billed]));
  return made;
}

async function one(spec: species.LabSpec): Promise<Pids> {
  const {pid} = await spawn(spec);
  return {holder: pid, maker: pid};
}

async function forked(change: Partial<species.LabSpec>): Promise<Pids> {
  const child = await spawn(species.inheritor([whole], change));
  return {holder: child.pid, maker: child.billed[0] ?? 0};
}

async function pair(specs: readonly species.LabSpec[]): Promise<Pids> {
  const parent: LabProcess = await spawn(species.server(specs));
  const taker = parent.workers[1];
  return {holder: taker?.pid ?? 0, maker: taker?.billed[0] ?? 0};
}

const MAKE: Readonly<Record<string, () => Promise<Pids>>> = {
  plain: () => one(species.workload(whole)),
  renamed: () => one(species.renamed(whole)),
  deaf: () => one(species.deaf(whole, {deaf: 'ignores'})),
  'forked child, parent alive': () => forked(lives),
  'forked child, parent dead': () => forked({}),
  'zombie leader': () => one(species.zombieLeader(whole)),
  'mapping only': () => one(species.mappingOnly(whole)),
  'killed, not reaped': async () => {
    const parent = await spawn(species.unreaped({holds: whole}));
    return {holder: parent.zombie ?? 0, maker: parent.pid};
  },
  'imported, maker alive': () => pair(species.imported(memory, lives)),
  'imported, maker dead': () => pair(species.imported(memory)),
  'exported, maker alive': () => pair(species.exported(memory, lives)),
  'exported, maker dead': () => pair(species.exported(memory)),
  'in flight, maker alive': () => pair(species.inFlight(whole, lives)),
  'in flight, maker dead': () => pair(species.inFlight(whole)),
  "another user's": () => one(species.bystander(whole)),
};

/** Counts differ, since a lab's process opens each device once or twice: none or some is what can be held. */
function shape(look: ProcessLook, recorded: Partial<ProcessLook>): Partial<Record<keyof ProcessLook, unknown>> {
  const some = (count: number): string => (count > 0 ? 'some' : 'none');
  const {state, mapped} = look;
  return {
    ...{state, mapped},
    ...{gpu: some(look.gpu), control: some(look.control), uvm: some(look.uvm), threads: some(look.threads)},
    ...(recorded.comm === undefined ? {} : {comm: look.comm}),
    // Whoever adopts orphans in a flat lab is the lab's first process, not the machine's.
    ...(recorded.parent === undefined || lab.kind === 'flat' ? {} : {parent: look.parent}),
  };
}

async function clear(): Promise<void> {
  await eyes.read(`for pid in ${started.join(' ')}; do kill -KILL $pid; done 2>/dev/null`);
  started = [];
  await expect.poll(() => lab.ledger()).toEqual([0]);
}

describe(`a ${lab.kind} lab beside an H200`, () => {
  beforeAll(async () => {
    eyes = await openEyes(lab);
  });
  afterEach(clear);
  afterAll(async () => {
    eyes.ssh.close();
    await lab.stop();
  });

  test('each recorded species is made, and each made one was recorded', () => {
    expect(Object.keys(MAKE).toSorted()).toEqual(RECORD.looks.map((look) => look.species).toSorted());
  });

  test.each(RECORD.looks)('$species', async (recorded) => {
    const pids = await (MAKE[recorded.species] ?? (() => Promise.reject(new Error('nobody makes it'))))();
    const name = (pid: number): Promise<string> => eyes.read(`tr '\\0' '\\n' </proc/${pid}/cmdline | head -n 1`);
    if (recorded.after !== undefined) await eyes.read(`kill -${recorded.after.signal} ${pids[recorded.after.to]}`);

    for (const [role, seen] of Object.entries(recorded.sees)) {
      const pid = pids[role as Role];
      const wanted = shape({...(await eyes.process(pid)), ...seen} as ProcessLook, seen);
      await expect.poll(async () => shape(await eyes.process(pid), seen)).toEqual(wanted);
    }
    const rows = await eyes.apps();
    const wanted = await Promise.all(
      recorded.rows.map(async ({of, name: token, MiB}) => ({
        gpu: 0,
        pid: pids[of],
        name: token === 'program' ? (await name(pids[of])).trim() : token,
        MiB,
      })),
    );
    expect(rows.toSorted((a, b) => a.pid - b.pid)).toEqual(wanted.toSorted((a, b) => a.pid - b.pid));
    const used = await eyes.usedMiB(0);
    expect(used).toBeLessThanOrEqual(recorded.usedMiB);
    expect(used).toBeGreaterThanOrEqual(Math.max(0, recorded.usedMiB - DRIVER_SHARE_MIB));

    // Looks with the maker alive, and at what holds nothing, were only looked at.
    if (recorded.endedBy === undefined) return;
    await eyes.read(`kill -${recorded.endedBy.signal} ${pids[recorded.endedBy.to]}`);
    await expect.poll(() => eyes.usedMiB(0)).toBe(0);
    expect(await eyes.apps()).toEqual([]);
  });
});
