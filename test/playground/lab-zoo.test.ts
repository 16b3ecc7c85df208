/** Each species of the zoo becomes what it claims, by the kernel's own words, and is gone when it should be. */
import {existsSync, readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {startLab} from '../../src/playground/lab/lab.ts';
import type {LabProcess} from '../../src/playground/lab/process-tree.ts';
import * as species from '../../src/playground/lab/species.ts';
import type {LabKind} from '../../src/playground/lab/start.ts';
import {receivedSignals} from '../../src/playground/lab/witness.ts';
import {type LabEyes, openEyes} from './lab-look.ts';

const runAs = process.getuid?.() === 0 ? {uid: 65_534, gid: 65_534} : null;
const NOTHING = {gpu: 0, control: 0, uvm: 0, threads: 0, mapped: []};

for (const kind of ['root', 'user', 'flat'] as const satisfies readonly LabKind[]) {
  const made = await startLab({name: `zoo-${kind}`, gpus: 2, kind, ...(runAs && kind !== 'root' ? {runAs} : {})}).catch(
    (error: Error) => error.message,
  );
  if (typeof made === 'string') {
    describe.skip(`a ${kind} lab, which this machine refuses: ${made}`, () => {
      test('is skipped', () => {});
    });
    continue;
  }
  const lab = made;
  const without = (feature: string): boolean => !lab.features.has(feature);

  describe(`in a ${kind} lab`, () => {
    let eyes: LabEyes;
    beforeAll(async () => {
      eyes = await openEyes(lab);
    });
    afterAll(async () => {
      eyes.ssh.close();
      await lab.stop();
    });

    const end = async (...processes: readonly LabProcess[]): Promise<void> => {
      for (const {pid} of processes) await eyes.read(`kill -KILL ${pid}`);
      await expect.poll(() => lab.ledger()).toEqual([0, 0]);
    };
    const signalsOf = async (pid: number): Promise<string[]> =>
      receivedSignals(await lab.witness())
        .filter((one) => one.pid === pid)
        .map((one) => one.signal);

    test('an importer is billed for the memory of its dead maker, and another process of that GPU is not', async () => {
      const beside = await lab.spawn(species.workload([{gpu: 0, MiB: 7}]));
      const parent = await lab.spawn(species.server(species.imported([{gpu: 0, MiB: 4_096}])));
      const [maker, importer] = parent.workers;
      expect(importer?.billed).toEqual([maker?.pid]);
      expect(await lab.alive(maker?.pid ?? 0)).toBe(false);
      expect(await eyes.process(importer?.pid ?? 0)).toMatchObject({gpu: 2, control: 1, uvm: 1, parent: parent.pid});
      expect((await eyes.apps()).map(({pid, MiB}) => [pid, MiB])).toEqual([
        [beside.pid, 7],
        [importer?.pid, 4_614],
      ]);
      expect((await lab.ledgerEntries()).map(({pid, MiB}) => [pid, MiB]).toSorted()).toEqual(
        [
          [beside.pid, 7],
          [importer?.pid, 518],
          [maker?.pid, 4_096],
        ].toSorted(),
      );
      await end(parent, ...parent.workers, beside);
    });

    test('a maker that is asked to live ends by itself, without a signal', async () => {
      const parent = await lab.spawn(species.server(species.imported([{gpu: 0, MiB: 100}], {parentsLive: true})));
      const [maker, importer] = parent.workers;
      if (maker === undefined || importer === undefined) throw new Error('no pair');
      expect(await lab.ledger()).toEqual([518 + 518 + 100, 0]);
      await lab.orphan(importer);
      expect(await lab.ledger()).toEqual([518 + 100, 0]);
      expect(await signalsOf(maker.pid)).toEqual([]);
      await end(parent, importer);
    });

    test('exported memory hangs on one file of nvidiactl and is in no row', async () => {
      const parent = await lab.spawn(species.server(species.exported([{gpu: 1, MiB: 4_096}])));
      const receiver = parent.workers[1];
      expect(await eyes.process(receiver?.pid ?? 0)).toMatchObject({...NOTHING, control: 1, threads: 1});
      expect([await lab.ledger(), await eyes.usedMiB(1), await eyes.apps()]).toEqual([[0, 4_096], 4_096, []]);
      await end(parent, ...parent.workers);
    });

    test('descriptors in flight: only the queue of the socket tells', async () => {
      const parent = await lab.spawn(species.server(species.inFlight([{gpu: 1, MiB: 50}])));
      const [sender, receiver] = parent.workers;
      expect(await eyes.process(receiver?.pid ?? 0)).toMatchObject(NOTHING);
      expect(
        await eyes.read(`grep -h scm_fds /proc/${receiver?.pid}/fdinfo/* | grep -v ' *0$' | tr -s '\\t ' ' '`),
      ).toBe('scm_fds: 3\n');
      expect(await eyes.apps()).toEqual([{gpu: 1, pid: sender?.pid, name: '[Not Found]', MiB: 50}]);
      await end(parent, ...parent.workers);
    });

    test.skipIf(without('rings'))('registered with an io_uring: no file, no mapping, memory held', async () => {
      const holder = await lab.spawn(species.ringHolder([{gpu: 0, MiB: 60}]));
      expect(await eyes.process(holder.pid)).toMatchObject(NOTHING);
      expect(await eyes.read(`grep -h UserFiles /proc/${holder.pid}/fdinfo/*`)).toMatch(/^UserFiles:\s+3\n$/);
      expect(await lab.ledger()).toEqual([60, 0]);
      await end(holder);
    });

    test.skipIf(without('device-numbers'))('a node of another name: a character device, minor N', async () => {
      const holder = await lab.spawn(species.otherName([{gpu: 1, MiB: 70}]));
      expect(await eyes.process(holder.pid)).toMatchObject(NOTHING);
      const links = await eyes.read(`cd /proc/${holder.pid}/fd
        for fd in *; do stat -L -c '%t:%T' $fd; done | grep '^88:'; find . -lname '/dev/gpu/*' -printf '%l\\n'
        grep 136 /proc/devices`);
      expect(links).toBe('88:1\n/dev/gpu/1\n136 nvidia\n');
      expect(await eyes.apps()).toEqual([{gpu: 1, pid: holder.pid, name: 'python3', MiB: 70}]);
      await end(holder);
    });

    test.skipIf(without('freezer'))('stuck: state D, SIGKILL stays pending, the memory stays', async () => {
      const parent = await lab.spawn(species.server([species.stuck([{gpu: 0, MiB: 80}])]));
      const pid = parent.workers[0]?.pid ?? 0;
      await eyes.read(`kill -KILL ${pid}`);
      const pending = await eyes.read(`grep -e State -e ShdPnd /proc/${pid}/status`);
      expect(pending).toBe('State:\tD (disk sleep)\nShdPnd:\t0000000000000100\n');
      await expect.poll(() => signalsOf(pid)).toEqual(['KILL']);
      expect([await lab.alive(pid), await lab.ledger()]).toEqual([true, [80, 0]]);
    });

    test('a supervisor starts its worker again, under a new PID and in the same session', async () => {
      const parent = await lab.spawn(species.supervisor([species.workload([{gpu: 1, MiB: 90}])]));
      const first = parent.workers[0]?.pid ?? 0;
      const held = async (): Promise<number | undefined> =>
        (await lab.ledgerEntries()).find((one) => one.gpu === 1)?.pid;
      expect(await held()).toBe(first);
      expect((await eyes.process(parent.pid)).comm).toBe('supervisord');
      await eyes.read(`kill -KILL ${first}`);
      await expect.poll(async () => ![first, undefined].includes(await held())).toBe(true);
      const second = (await held()) ?? 0;
      expect(await eyes.read(`sed 's/.*) . //' /proc/${second}/stat | cut -d' ' -f1,3`)).toBe(
        `${parent.pid} ${parent.pid}\n`,
      );
      expect(await eyes.read(`tr '\\0' ' ' </proc/${second}/cmdline`)).toContain('vllm.entrypoints');
      await eyes.read(`kill -KILL ${parent.pid}; kill -KILL ${second}`);
      await expect.poll(async () => (await lab.ledger())[1]).toBe(0);
    });

    test('an impostor has the daemon’s name and an interpreter’s program', async () => {
      const holder = await lab.spawn(species.impostor([{gpu: 1, MiB: 11}], {uid: 1500}));
      const facts = await eyes.read(
        `cat /proc/${holder.pid}/comm; readlink /proc/${holder.pid}/exe; stat -c %u /proc/${holder.pid}`,
      );
      const uid = lab.features.has('uids') ? 1500 : kind === 'user' || runAs === null ? 0 : runAs.uid;
      expect(facts).toMatch(new RegExp(`^nvidia-persiste\n.*python3[.0-9]*\n${uid}\n$`));
      await eyes.read(`kill -KILL ${holder.pid}`);
    });

    test('a writer’s file grows while it lives, and is closed properly on SIGTERM only if it does so', async () => {
      const file = (name: string): string => join(lab.folder, 'run', 'traces', name);
      for (const closes of [true, false]) {
        const name = `trace-${closes}.json.gz`;
        const holder = await lab.spawn(
          species.writer([{gpu: 1, MiB: 12}], {writes: {file: name, KiBPerS: 512, closes}}),
        );
        await expect.poll(() => existsSync(file(name)) && statSync(file(name)).size).toBeGreaterThan(0);
        const before = statSync(file(name)).size;
        await expect.poll(() => statSync(file(name)).size).toBeGreaterThan(before);
        expect(await eyes.read(`find /proc/${holder.pid}/fd -lname '*/${name}' | wc -l`)).toBe('1\n');
        await eyes.read(`kill -TERM ${holder.pid}`);
        await expect.poll(() => lab.alive(holder.pid)).toBe(false);
        expect(await eyes.read(`tail -n 1 ${file(name)} | grep -c '^\\]}$'`)).toBe(closes ? '1\n' : '0\n');
        expect(await signalsOf(holder.pid)).toEqual(['TERM']);
      }
    });

    test.skipIf(without('shm'))('a file in shared memory stays when its maker is gone', async () => {
      const holder = await lab.spawn(species.leftover([{gpu: 1, MiB: 13}]));
      await eyes.read(`kill -KILL ${holder.pid}`);
      await expect.poll(() => lab.alive(holder.pid)).toBe(false);
      expect(await eyes.read('stat -c "%s %b" /dev/shm/nccl-lab001; fuser /dev/shm/nccl-lab001 2>/dev/null')).toBe(
        `${9 << 20} ${(9 << 20) / 512}\n`,
      );
      expect(readdirSync('/dev/shm')).not.toContain('nccl-lab001');
    });

    test.skipIf(without('daemons'))(
      'MPS: control daemon and server are programs of their own, and the client has a bill of its own',
      async () => {
        const [control, client] = species.mps([{gpu: 1, MiB: 14}], [species.workload([{gpu: 1, MiB: 3}])]);
        const daemon = await lab.spawn(control);
        const user = await lab.spawn(client ?? control);
        const serving = daemon.workers[0]?.pid ?? 0;
        expect(await eyes.read(`readlink /proc/${daemon.pid}/exe /proc/${serving}/exe`)).toBe(
          '/usr/bin/nvidia-cuda-mps-control\n/usr/bin/nvidia-cuda-mps-server\n',
        );
        expect((await eyes.apps()).filter((row) => row.gpu === 1)).toEqual([
          {gpu: 1, pid: serving, name: '/usr/bin/nvidia-cuda-mps-server', MiB: 14},
          {gpu: 1, pid: user.pid, name: 'python3', MiB: 3},
        ]);
        expect(await eyes.process(user.pid)).toMatchObject({gpu: 1, control: 1, uvm: 1});
        for (const one of [daemon, user, {pid: serving}]) await eyes.read(`kill -KILL ${one.pid}`);
      },
    );

    test.skipIf(without('uids'))('a server’s workers may be another user, in another control group', async () => {
      const parent = await lab.spawn(species.server([species.workload([{gpu: 1, MiB: 15}], {uid: 1501})]));
      const pid = parent.workers[0]?.pid ?? 0;
      expect(await eyes.read(`stat -c %u /proc/${pid}; sed 's/.*) . //; s/ .*//' /proc/${pid}/stat`)).toBe(
        `1501\n${parent.pid}\n`,
      );
      for (const one of [parent, ...parent.workers]) await eyes.read(`kill -KILL ${one.pid}`);
    });
  });
}

test('a lab with a stuck holder that has its kill -9 stops, and leaves nothing', async () => {
  const lab = await startLab({name: 'zoo-stuck', gpus: 1});
  if (!lab.features.has('freezer')) return lab.stop();
  const holder = await lab.spawn(species.stuck([{gpu: 0, MiB: 1}]));
  const eyes = await openEyes(lab);
  await eyes.read(`kill -KILL ${holder.pid}`);
  eyes.ssh.close();
  await lab.stop();
  expect(existsSync(lab.folder)).toBe(false);
  const groups = readdirSync('/sys/fs/cgroup/freezer').filter((name) =>
    name.includes(lab.folder.split('/').at(-1) ?? ''),
  );
  expect(groups).toEqual([]);
});
