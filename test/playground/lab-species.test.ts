import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {type Lab, startLab} from '../../src/playground/lab/lab.ts';
import {connectToLab, type LabConnection} from '../../src/playground/lab/run-in-lab.ts';
import * as species from '../../src/playground/lab/species.ts';
import type {LabKind} from '../../src/playground/lab/start.ts';

const ORDINARY = {uid: 65_534, gid: 65_534};

/** As root the lesser kinds are run by an ordinary user, as they would be in life. */
async function labOrReason(kind: LabKind): Promise<Lab | string> {
  const runAs = process.getuid?.() === 0 && kind !== 'root' ? {runAs: ORDINARY} : {};
  return startLab({name: `species-${kind}`, gpus: 8, kind, ...runAs}).catch((error: Error) => error.message);
}

let ssh: LabConnection;

interface Look {
  readonly fds: number;
  readonly taskFds: number;
  readonly maps: number;
  readonly state: string;
}

async function look(lab: Lab, pid: number): Promise<Look> {
  const dev = lab.hostsEntry().deviceFolder ?? '/dev';
  const script = `p=/proc/${pid}
    echo "$(ls -l $p/fd 2>/dev/null | grep -c '${dev}/nvidia') $(ls -l $p/task/*/fd 2>/dev/null | grep -c '${dev}/nvidia')" \
         "$(grep -c '${dev}/nvidia' $p/maps) $(sed 's/.*) //; s/ .*//' $p/stat)"`;
  const [fds, taskFds, maps, state] = (await ssh.run(script)).stdout.trim().split(' ');
  return {fds: Number(fds), taskFds: Number(taskFds), maps: Number(maps), state: state ?? ''};
}

async function standIn(lab: Lab, query: string): Promise<string[]> {
  const command = `${lab.hostsEntry().extraPath[0]}/nvidia-smi --query-${query} --format=csv,noheader,nounits`;
  return (await ssh.run(command)).stdout.split('\n').filter((line) => line !== '');
}

/** Rows of compute-apps on one GPU: `pid, name, MiB`. */
async function rows(lab: Lab, gpu: number): Promise<string[]> {
  const all = await standIn(lab, 'compute-apps=gpu_uuid,pid,process_name,used_memory');
  const start = `${lab.gpus[gpu]?.uuid}, `;
  return all.filter((row) => row.startsWith(start)).map((row) => row.slice(start.length));
}

for (const kind of ['root', 'user', 'flat'] as const) {
  const made = await labOrReason(kind);
  if (typeof made === 'string') {
    describe.skip(`a ${kind} lab, which this machine refuses: ${made}`, () => {
      test('is skipped', () => {});
    });
    continue;
  }
  const lab = made;

  describe(`in a ${kind} lab`, () => {
    beforeAll(async () => {
      ssh = await connectToLab(lab);
    });
    afterAll(async () => {
      ssh.close();
      await lab.stop();
    });

    test.each([
      ['a workload', species.workload, {fds: 3, taskFds: 3, maps: 3}, 'python3'],
      ['a renamed holder', species.renamed, {fds: 3, taskFds: 3, maps: 3}, 'python3'],
      ['a deaf holder', species.deaf, {fds: 3, taskFds: 3, maps: 3}, 'python3'],
      ['a stopped holder', species.stopped, {fds: 3, taskFds: 3, maps: 3, state: 'T'}, 'python3'],
      ['a zombie leader', species.zombieLeader, {fds: 0, taskFds: 3, maps: 0, state: 'Z'}, '[No data]'],
      ['a mapping without files', species.mappingOnly, {fds: 0, taskFds: 0, maps: 3}, null],
      ['a detached trainer', species.detachedTrainer, {fds: 3, taskFds: 3, maps: 3}, 'python3'],
      ['a bystander', species.bystander, {fds: 3, taskFds: 3, maps: 3}, 'python3'],
    ] as const)('%s shows in /proc and in the stand-in as a real one does', async (_, make, expected, name) => {
      const before = await lab.ledger();
      const holder = await lab.spawn(make([{gpu: 7, MiB: 4614}]));
      await expect.poll(() => look(lab, holder.pid)).toEqual({state: expect.stringMatching(/[SR]/), ...expected});
      expect(await rows(lab, 7)).toEqual(name === null ? [] : [`${holder.pid}, ${name}, 4614`]);
      expect((await lab.ledger()).map((MiB, gpu) => MiB - (before[gpu] ?? 0))).toEqual([0, 0, 0, 0, 0, 0, 0, 4614]);
      await ssh.run(`kill -KILL ${holder.pid}`);
      await expect.poll(() => lab.ledger()).toEqual(before);
      expect(await rows(lab, 7)).toEqual([]);
    });

    test('an inheritor is the holder of what its dead parents are billed for', async () => {
      const ghost = await lab.spawn(
        species.inheritor([[{gpu: 0, MiB: 96_844}], [{gpu: 1, MiB: 96_844}], [{gpu: 2, MiB: 5}]]),
      );
      expect(ghost.billed).toHaveLength(3);
      expect(await look(lab, ghost.pid)).toMatchObject({fds: 62, maps: 4, state: 'S'});
      expect(await rows(lab, 1)).toEqual([`${ghost.billed[1]}, [Not Found], 96844`]);
      expect((await lab.ledger()).slice(0, 3)).toEqual([96_844, 96_844, 5]);
      await ssh.run(`kill -KILL ${ghost.pid}`);
      await expect.poll(async () => (await lab.ledger()).slice(0, 3)).toEqual([0, 0, 0]);
    });

    test('parents that live are billed by name until they are gone', async () => {
      const spec = species.inheritor([[{gpu: 3, MiB: 70}]], {parentsLive: true});
      const ghost = await lab.spawn(spec);
      expect(await rows(lab, 3)).toEqual([`${ghost.billed[0]}, VLLM::Worker_TP0, 70`]);
      await lab.orphan(ghost);
      expect(await rows(lab, 3)).toEqual([`${ghost.billed[0]}, [Not Found], 70`]);
      await lab.endOfItself(ghost.pid);
      expect((await lab.ledger())[3]).toBe(0);
    });

    test('an unreaped process is a plain zombie that holds nothing', async () => {
      const parent = await lab.spawn(species.unreaped({holds: [{gpu: 4, MiB: 10}]}));
      const zombie = parent.zombie ?? 0;
      expect(await look(lab, zombie)).toEqual({fds: 0, taskFds: 0, maps: 0, state: 'Z'});
      expect([await lab.alive(zombie), await lab.alive(parent.pid)]).toEqual([false, true]);
      expect((await lab.ledger())[4]).toBe(0);
      await lab.endOfItself(parent.pid);
    });

    test('a server holds no GPU and its workers live in its session', async () => {
      const server = await lab.spawn(
        species.server([species.worker(0, [{gpu: 5, MiB: 11}]), species.worker(1, [{gpu: 6, MiB: 12}])]),
      );
      expect(await look(lab, server.pid)).toMatchObject({fds: 0, maps: 0});
      const [first, second] = server.workers;
      expect(await rows(lab, 5)).toEqual([`${first?.pid}, VLLM::Worker_TP0, 11`]);
      const facts = await ssh.run(`cat /proc/${second?.pid}/comm; sed 's/.*) . //' /proc/${second?.pid}/stat`);
      expect(facts.stdout).toMatch(new RegExp(`^VLLM::Worker_TP\n${server.pid} ${server.pid} ${server.pid} `));
      for (const one of [server, ...server.workers]) await lab.endOfItself(one.pid);
    });

    test('the stand-in and the ledger agree on every GPU, and the stand-in says what it is', async () => {
      const taken = await lab.spawn(species.workload([0, 3, 6].map((gpu) => ({gpu, MiB: 1000 + gpu}))));
      await lab.take(taken.pid, [{gpu: 6, MiB: 24}]);
      await expect.poll(async () => (await lab.ledger())[6]).toBe(1030);
      const figures = (await standIn(lab, 'gpu=index,memory.used')).map((row) => Number(row.split(', ')[1]));
      expect(figures).toEqual(await lab.ledger());
      const words = await standIn(
        lab,
        'gpu=uuid,pci.bus_id,name,memory.total,memory.reserved,memory.free,driver_version',
      );
      expect(words[0]).toBe(
        `${lab.gpus[0]?.uuid}, 00000000:09:00.0, Lab stand-in GPU, 97871, 616, 96255, lab-stand-in`,
      );
      await lab.endOfItself(taken.pid);
    });

    test.skipIf(!lab.features.has('daemons'))(
      'the persistence daemon runs from its own binary, owned by root',
      async () => {
        const daemon = await lab.spawn(species.persistenceDaemon(8));
        const facts = await ssh.run(`readlink /proc/${daemon.pid}/exe; stat -L -c '%u %a' /proc/${daemon.pid}/exe`);
        expect(facts.stdout).toBe('/usr/bin/nvidia-persistenced\n0 755\n');
        expect(await look(lab, daemon.pid)).toMatchObject({fds: 9, maps: 0});
        expect(await lab.ledger()).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
        await lab.endOfItself(daemon.pid);
      },
    );

    test.skipIf(!lab.features.has('uids'))('a bystander of a lab with several uids is another user', async () => {
      const other = await lab.spawn(species.bystander([{gpu: 6, MiB: 3}]));
      expect((await ssh.run(`stat -c %u /proc/${other.pid}`)).stdout).toBe('1500\n');
      await lab.endOfItself(other.pid);
    });

    test.skipIf(!lab.features.has('containers'))(
      'a contained holder sits in a container-like control group',
      async () => {
        const holder = await lab.spawn(species.contained([{gpu: 2, MiB: 9}], 'c0ffee'.padEnd(64, '0')));
        const groups = await ssh.run(`cat /proc/${holder.pid}/cgroup`);
        expect(groups.stdout).toContain(`/docker-${'c0ffee'.padEnd(64, '0')}.scope\n`);
        await lab.endOfItself(holder.pid);
      },
    );
  });
}
