/** What is set on the stand-in's GPUs: changed as on a real host, and read back by the script that the bot sends. */
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import {parseSettings} from '../../src/domain/parse/settings.ts';
import type {HostSettings} from '../../src/domain/settings.ts';
import {figure} from '../../src/domain/snapshot.ts';
import {type Lab, startLab} from '../../src/playground/lab/lab.ts';
import {connectToLab, type LabConnection} from '../../src/playground/lab/run-in-lab.ts';
import {workload} from '../../src/playground/lab/species.ts';
import {settingsScript} from '../../src/ssh/settings-script.ts';

const NONCE = 'feedbeeffeedbeeffeedbeeffeedbeef';
let lab: Lab;
let ssh: LabConnection;

beforeAll(async () => {
  lab = await startLab({name: 'lab-settings', gpus: 2});
  ssh = await connectToLab(lab);
}, 30_000);

afterAll(async () => {
  ssh.close();
  await lab.stop();
});

const smi = (words: string) => ssh.run(`${lab.hostsEntry().extraPath[0]}/nvidia-smi ${words}`);

async function settings(shell = 'sh', folders: readonly string[] = []): Promise<HostSettings> {
  const path = `PATH=${lab.hostsEntry().extraPath[0]}:$PATH`;
  const ran = await ssh.run(`env ${path} ${shell} -s`, settingsScript(NONCE, folders));
  expect(ran.stderr).toBe('');
  const stdout = new TextEncoder().encode(ran.stdout);
  const from = {host: hostName('lab'), hostKey: 'k', nonce: NONCE, stderr: '', exitCode: ran.code, tookMs: 1};
  const read = parseSettings({...from, stdout}, 7);
  if (!read.ok) throw new Error(JSON.stringify(read.failure));
  return read.value;
}

describe('settings of a lab host', () => {
  it('are as an H200 comes', async () => {
    const read = await settings();
    expect(read.smi.state).toBe('answered');
    expect(read.gpus.map(({uuid}) => uuid)).toEqual(lab.gpus.map(({uuid}) => uuid));
    for (const gpu of read.gpus)
      expect(gpu).toMatchObject({
        graphicsMHz: figure(1980),
        memoryMHz: figure(3201),
        powerLimitW: figure(700),
        persistenceMode: 'Enabled',
        computeMode: 'Default',
      });
  });

  it.each([
    ['-pl 300', {powerLimitW: figure(300), enforcedPowerLimitW: figure(300), defaultPowerLimitW: figure(700)}],
    ['-ac 3201,1200', {graphicsMHz: figure(1200), defaultGraphicsMHz: figure(1980)}],
    ['-rac', {graphicsMHz: figure(1980), memoryMHz: figure(3201)}],
    ['-pm 0', {persistenceMode: 'Disabled'}],
    ['-pm 1', {persistenceMode: 'Enabled'}],
    ['-c EXCLUSIVE_PROCESS', {computeMode: 'Exclusive_Process'}],
    ['-c DEFAULT', {computeMode: 'Default'}],
    // Taken, and told by no field: as it is on a real GPU.
    ['-lgc 900,900', {graphicsMHz: figure(1980)}],
    ['-rgc', {graphicsMHz: figure(1980)}],
  ])('change by %s on the GPU that is named, and on no other', async (change, changed) => {
    const before = await settings();
    const done = await smi(`-i ${lab.gpus[1]?.uuid} ${change}`);
    expect(done).toMatchObject({code: 0});
    expect(done.stdout).toContain('lab stand-in');
    const after = await settings();
    expect(after.gpus[0]).toEqual(before.gpus[0]);
    expect(after.gpus[1]).toMatchObject(changed);
  });

  it('stay as they are by a command that does not read', async () => {
    const before = await settings();
    for (const wrong of ['-pl 30000', '-ac fast', '-c SOMETIMES']) expect((await smi(wrong)).code).toBe(2);
    expect((await smi('-i GPU-none -pl 300')).code).toBe(6);
    expect((await settings()).gpus).toEqual(before.gpus);
  });

  it('are unknown while nvidia-smi fails', async () => {
    lab.setFault({kind: 'failed'});
    expect(await settings()).toMatchObject({smi: {state: 'failed', exitCode: 18}, gpus: []});
    lab.setFault({kind: 'none'});
  });

  it.each(['dash', 'bash', 'busybox sh', 'mksh'])(
    'are read under %s, with profilers and their reports',
    async (shell) => {
      const [program = ''] = shell.split(' ');
      if ((await ssh.run(`command -v ${program}`)).code !== 0) return;
      const folder = `${lab.folder}/run/out of ${program}`;
      await ssh.run(
        `mkdir -p '${folder}/deep' '${folder}/dir.nsys-rep'; head -c 1048576 /dev/zero >'${folder}/deep/a b.nsys-rep'; cd '${folder}'; echo 1 >'trace
1.json'; echo 1 >notes.json`,
      );
      const profiler = await lab.spawn(
        workload([{gpu: 0, MiB: 100}], {
          argv: ['nsys', 'profile', 'python3', 'bench.py'],
          comm: 'nsys',
          label: 'profiler',
        }),
      );
      const read = await settings(shell, [folder, '/nowhere at all']);
      expect(read.gpus).toHaveLength(2);
      expect(read.profilers).toMatchObject([{pid: profiler.pid, name: 'nsys'}]);
      expect(read.profilers[0]?.folder).toBe('/');
      const found = read.files.filter(({path}) => path.startsWith(folder));
      expect(found.toSorted((a, b) => b.MiB - a.MiB)).toMatchObject([
        {path: `${folder}/deep/a b.nsys-rep`, MiB: 1},
        {path: `${folder}/trace?1.json`},
      ]);
      expect(read.sought).toContainEqual({folder, whole: true});
      expect(read.sought).toContainEqual({folder: '/nowhere at all', whole: false});
      await lab.endOfItself(profiler.pid);
      expect((await settings(shell)).profilers).toEqual([]);
    },
  );

  it('come with reports where a profiler has files open, whatever these places are called', async () => {
    const base = `${lab.folder}/run/open files`;
    const named = [`${base}/a b`, `${base}/x\n@rc 0`, `${base}/$(id) ' "q`];
    const quoted = named.map((one) => `'${one.replaceAll("'", String.raw`'\''`)}'`);
    const opens = quoted.map((one, at) => `${at + 4}>${one}/data.tmp`).join(' ');
    // Its own short name, as a program's is: what its reports are written with.
    const started = await ssh.run(
      `mkdir -p ${quoted.join(' ')}; for one in ${quoted.join(' ')}; do echo 1 >"$one/r.ncu-rep"; done
      cp "$(command -v sleep)" '${base}/ncu'; cd /; setsid '${base}/ncu' 600 ${opens} </dev/null >/dev/null 2>&1 & echo $!`,
    );
    const pid = Number(started.stdout.trim());
    try {
      // All of it has two seconds: a machine that was too busy says so, and is asked again.
      let read = await settings();
      for (let tries = 5; tries > 0 && !read.sought.some(({whole}) => whole); tries -= 1) read = await settings();
      expect(read.profilers).toMatchObject([{name: 'ncu', folder: '/'}]);
      const paths = read.files.map(({path}) => path);
      expect(paths).toContain(`${named[0]}/r.ncu-rep`);
      expect(paths).toContain(`${named[2]}/r.ncu-rep`);
      expect(read.sought).toContainEqual({folder: named[0], whole: true});
      // It is told that there it could not be sought, and no line of its name counts as one of ours.
      expect(read.sought).toContainEqual({folder: `${base}/x?@rc 0`, whole: false});
    } finally {
      await ssh.run(`kill -9 ${pid}`);
    }
  });

  it('are asked for with folders of one line only', () => {
    for (const folder of ['relative', '/two\nlines', ''])
      expect(() => settingsScript(NONCE, [folder])).toThrow('folder');
  });
});
