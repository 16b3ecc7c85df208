import {afterAll, afterEach, describe, expect, test} from 'vitest';
import {startLab} from '../../src/playground/lab/lab.ts';
import {connectToLab, runInLab} from '../../src/playground/lab/run-in-lab.ts';
import * as species from '../../src/playground/lab/species.ts';
import {receivedSignals} from '../../src/playground/lab/witness.ts';

const lab = await startLab({name: 'faults', gpus: 2});
const ssh = await connectToLab(lab);
const has = (feature: string): boolean => lab.features.has(feature);
const smi = `${lab.hostsEntry().extraPath[0]}/nvidia-smi`;
const query = `${smi} --query-gpu=index,memory.used,gpu_recovery_action --format=csv,noheader,nounits`;

describe(`a ${lab.kind} lab on demand`, () => {
  afterEach(() => lab.setFault({kind: 'none'}));
  afterAll(async () => {
    ssh.close();
    await lab.stop();
  });

  test.each([
    [{kind: 'none'}, 0, '0, 0, None\n1, 0, None\n'],
    [{kind: 'missing'}, 127, ''],
    [{kind: 'no-devices'}, 6, 'No devices were found\n'],
    [{kind: 'failed'}, 18, expect.stringContaining('Failed to initialize NVML')],
    [{kind: 'garbage'}, 0, expect.stringContaining('not, a, row')],
    [{kind: 'gpu-fault', index: 1, text: '[Unknown Error]'}, 0, '0, 0, None\n1, [Unknown Error], [Unknown Error]\n'],
  ] as const)('nvidia-smi with the fault %o', async (fault, code, stdout) => {
    lab.setFault(fault);
    expect(await ssh.run(query)).toMatchObject({code, stdout});
  });

  test('a hung nvidia-smi hears no TERM and comes back when the fault goes', async () => {
    lab.setFault({kind: 'hung'});
    const state = await ssh.run(`${query} >/dev/null 2>&1 & p=$!
      until grep -q 'SigIgn:.*[4-7c-f]...$' /proc/$p/status; do :; done
      kill -TERM $p; kill -0 $p && echo lives $p`);
    expect(state.stdout).toMatch(/^lives \d+\n$/);
    const pid = Number(state.stdout.split(' ')[1]);
    lab.setFault({kind: 'none'});
    await expect.poll(async () => (await lab.pids()).includes(pid)).toBe(false);
  });

  test('a field that the tool does not know is refused as it refuses it', async () => {
    const answer = await ssh.run(`${smi} --query-gpu=index,nope --format=csv`);
    expect(answer).toMatchObject({code: 2, stdout: 'Field "nope" is not a valid field to query.\n\n'});
  });

  test.skipIf(!has('pid-reuse'))('a PID comes back as another process, and no signal was involved', async () => {
    const old = await lab.spawn(species.workload([{gpu: 0, MiB: 5}]));
    const ticks = `sed 's/.*) //' /proc/${old.pid}/stat | cut -d' ' -f20`;
    const before = (await ssh.run(ticks)).stdout;
    const young = await lab.reusePid(old.pid, species.bystander([{gpu: 1, MiB: 7}], {label: 'newcomer'}));
    expect(young.pid).toBe(old.pid);
    expect((await ssh.run(ticks)).stdout).not.toBe(before);
    expect(await lab.ledger()).toEqual([0, 7]);
    await ssh.run(`kill -KILL ${young.pid}`);
    await expect
      .poll(async () => receivedSignals(await lab.witness()).filter((one) => one.pid === old.pid))
      .toMatchObject([{label: 'newcomer', signal: 'KILL'}]);
  });

  test('an exec in place keeps PID, start time and memory, and changes the program', async () => {
    const holder = await lab.spawn(species.workload([{gpu: 0, MiB: 9}]));
    const facts = `sed 's/.*) //' /proc/${holder.pid}/stat | cut -d' ' -f20; stat -L -c %d:%i /proc/${holder.pid}/exe`;
    const [ticks, program] = (await ssh.run(facts)).stdout.split('\n');
    await lab.execInPlace(holder.pid);
    const after = (await ssh.run(facts)).stdout.split('\n');
    expect(after[0]).toBe(ticks);
    expect(after[1]).not.toBe(program);
    expect(await lab.ledger()).toEqual([9, 0]);
    await ssh.run(`kill -TERM ${holder.pid}`);
    await expect.poll(() => lab.ledger()).toEqual([0, 0]);
    expect(receivedSignals(await lab.witness()).filter((one) => one.pid === holder.pid)).toHaveLength(1);
  });

  test('a dropped link ends the connection and leaves the remote command running', async () => {
    const link = await connectToLab(lab);
    const command = link.run('exec sleep 987');
    const sleeper = async (): Promise<string> => (await ssh.run("grep -al '^sleep.987' /proc/[0-9]*/cmdline")).stdout;
    await expect.poll(sleeper).toMatch(/\d/);
    const other = await connectToLab(lab);
    expect(await lab.dropConnections()).toBeGreaterThanOrEqual(2);
    expect((await command).code).toBeNull();
    other.close();
    const left = (await runInLab(lab, "grep -al '^sleep.987' /proc/[0-9]*/cmdline")).stdout;
    const pid = Number(/\/proc\/(\d+)\//.exec(left)?.[1]);
    expect(await lab.alive(pid)).toBe(true);
    await runInLab(lab, `kill ${pid}`);
  });

  test.skipIf(!has('boot-id'))('another boot id is another machine to whoever looks', async () => {
    const read = async (): Promise<string> => (await runInLab(lab, 'cat /proc/sys/kernel/random/boot_id')).stdout;
    const before = await read();
    lab.changeBootId();
    expect(await read()).toMatch(/^[0-9a-f-]{36}\n$/);
    expect(await read()).not.toBe(before);
  });

  test.skipIf(!has('etc'))('the deny file comes and goes inside only', async () => {
    await lab.setDeny(true);
    expect((await runInLab(lab, 'test -e /etc/gpu-reclaim/deny')).code).toBe(0);
    await lab.setDeny(false);
    expect((await runInLab(lab, 'test -e /etc/gpu-reclaim/deny')).code).toBe(1);
  });

  test.each([
    ['prints', {code: 0, stdout: 'Welcome to the lab\nran x\n'}],
    ['eats-stdin', {code: 0, stdout: 'ran \n'}],
    ['sleeps', {code: 0, stdout: 'ran x\n'}],
    ['ends', {code: 0, stdout: ''}],
    ['nologin', {code: 1, stdout: expect.stringContaining('not available')}],
    ['normal', {code: 0, stdout: 'ran x\n'}],
  ] as const)('a login shell that is or does: %s', async (shell, expected) => {
    await lab.setLoginShell(shell, 0.01);
    expect(await runInLab(lab, 'read -r line; echo "ran $line"', 'x\n')).toMatchObject(expected);
  });

  test.skipIf(!has('sshd') || !has('etc'))(
    'what is logged inside can be read outside, and bo can log in as bo',
    async () => {
      const answer = await runInLab(lab, 'id -u; logger -t gpu-reclaim "run r1 pid 7"', '', 'bo');
      expect(answer.stdout).toBe('1500\n');
      await expect.poll(() => lab.journal().join('\n')).toContain('gpu-reclaim: run r1 pid 7');
    },
  );
});
