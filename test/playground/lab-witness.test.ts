import {afterAll, describe, expect, test} from 'vitest';
import {startLab} from '../../src/playground/lab/lab.ts';
import {connectToLab} from '../../src/playground/lab/run-in-lab.ts';
import * as species from '../../src/playground/lab/species.ts';
import {receivedSignals} from '../../src/playground/lab/witness.ts';

const lab = await startLab({name: 'witness', gpus: 2});
const ssh = await connectToLab(lab);

async function signalsOf(pid: number): Promise<string[]> {
  return receivedSignals(await lab.witness())
    .filter((one) => one.pid === pid)
    .map((one) => one.signal);
}

describe(`the witness of a ${lab.kind} lab`, () => {
  afterAll(async () => {
    ssh.close();
    await lab.stop();
  });

  test.each([
    ['a workload that dies of TERM', species.workload, ['TERM'], ['TERM']],
    ['a mapping without files', species.mappingOnly, ['TERM'], ['TERM']],
    ['a zombie leader, which has no trap', species.zombieLeader, ['TERM'], ['TERM']],
    ['a workload that is killed', species.workload, ['KILL'], ['KILL']],
    ['a deaf one', species.deaf, ['TERM', 'KILL'], ['TERM', 'KILL']],
    ['a stopped one, with TERM pending', species.stopped, ['TERM', 'KILL'], ['TERM', 'KILL']],
    ['a detached trainer hung up on', species.detachedTrainer, ['KILL'], ['KILL']],
    [
      'one that cleans up slowly',
      (h: species.Allocation[]) => species.workload(h, {termDelayMs: 50}),
      ['TERM'],
      ['TERM'],
    ],
  ] as const)('records exactly what reached %s, and the memory is free', async (_, make, sent, seen) => {
    const holder = await lab.spawn(make([{gpu: 1, MiB: 777}]));
    for (const [index, signal] of sent.entries()) {
      await ssh.run(`kill -${signal} ${holder.pid}`);
      await expect.poll(() => signalsOf(holder.pid)).toEqual(seen.slice(0, index + 1));
    }
    await expect.poll(() => lab.ledger()).toEqual([0, 0]);
    await expect.poll(() => lab.alive(holder.pid)).toBe(false);
    expect(await signalsOf(holder.pid)).toEqual(seen);
  });

  test('sees through a child that outlived its parents', async () => {
    const ghost = await lab.spawn(species.inheritor([[{gpu: 0, MiB: 5}], [{gpu: 1, MiB: 6}]], {deaf: 'blocks'}));
    await ssh.run(`kill -TERM ${ghost.pid}`);
    await expect.poll(() => signalsOf(ghost.pid)).toEqual(['TERM']);
    expect(await lab.ledger()).toEqual([5, 6]);
    await ssh.run(`kill -KILL ${ghost.pid}`);
    await expect.poll(() => signalsOf(ghost.pid)).toEqual(['TERM', 'KILL']);
    expect(await lab.ledger()).toEqual([0, 0]);
  });

  test('learns from a server how its worker ended, and a closing server signals nobody', async () => {
    const workers = [species.worker(0, [{gpu: 0, MiB: 1}]), species.worker(1, [{gpu: 1, MiB: 1}])];
    const server = await lab.spawn(species.server(workers, {onTerm: 'close-workers'}));
    const [killed, closed] = server.workers.map((one) => one.pid);
    await ssh.run(`kill -KILL ${killed}`);
    await expect.poll(() => signalsOf(killed ?? 0)).toEqual(['KILL']);
    await ssh.run(`kill -TERM ${server.pid}`);
    await expect.poll(() => lab.ledger()).toEqual([0, 0]);
    await expect.poll(() => lab.alive(closed ?? 0)).toBe(false);
    expect([await signalsOf(server.pid), await signalsOf(closed ?? 0)]).toEqual([['TERM'], []]);
  });

  test('counts no signal when a holder ends by itself', async () => {
    const holder = await lab.spawn(species.workload([{gpu: 0, MiB: 1}]));
    await lab.endOfItself(holder.pid);
    expect(await signalsOf(holder.pid)).toEqual([]);
    expect((await lab.witness()).filter((one) => one.pid === holder.pid)).toMatchObject([{seen: 'exit', exitCode: 0}]);
  });
});

describe('received signals', () => {
  const base = {pid: 7, label: 'a', exitCode: null, atMs: 1};

  test('a trapped TERM and the death by it are one; two TERMs are two; KILL stands alone', () => {
    const records = [
      {...base, signal: 'TERM', seen: 'trap'},
      {...base, signal: 'TERM', seen: 'trap'},
      {...base, signal: 'TERM', seen: 'exit'},
      {...base, pid: 8, signal: 'KILL', seen: 'exit'},
      {...base, pid: 9, signal: null, seen: 'exit', exitCode: 0},
    ] as const;
    expect(receivedSignals(records).map((one) => `${one.pid} ${one.signal}`)).toEqual(['7 TERM', '7 TERM', '8 KILL']);
  });

  test('the same PID under another label is another process', () => {
    const records = [
      {...base, signal: 'TERM', seen: 'exit'},
      {...base, label: 'b', signal: 'TERM', seen: 'exit'},
    ] as const;
    expect(receivedSignals(records)).toHaveLength(2);
  });
});
