import {spawn} from 'node:child_process';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {createInterface} from 'node:readline';
import {expect, test} from 'vitest';
import {startLab} from '../../src/playground/lab/lab.ts';
import * as species from '../../src/playground/lab/species.ts';
import type {LabKind} from '../../src/playground/lab/start.ts';

const KINDS: readonly LabKind[] = ['root', 'user', 'flat'];
const runAs = process.getuid?.() === 0 ? {uid: 65_534, gid: 65_534} : null;

async function canHave(kind: LabKind): Promise<boolean> {
  const lab = await startLab({name: 'end', gpus: 1, kind, ...(runAs && kind !== 'root' ? {runAs} : {})}).catch(
    () => null,
  );
  await lab?.stop();
  return lab !== null;
}

const possible: LabKind[] = [];
for (const kind of KINDS) if (await canHave(kind)) possible.push(kind);

/** Every process whose command line or environment names the lab's folder: holders and keepers carry it in one of them. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
    return ['cmdline', 'environ'].some((file) => {
      try {
        return readFileSync(`/proc/${name}/${file}`, 'latin1').includes(folder);
      } catch {
        return false;
      }
    });
  });
}

const CAST = [
  species.inheritor([[{gpu: 0, MiB: 5}], [{gpu: 0, MiB: 5}]]),
  species.deaf([{gpu: 0, MiB: 1}]),
  species.stopped([{gpu: 0, MiB: 1}]),
  species.detachedTrainer([{gpu: 0, MiB: 1}]),
  species.zombieLeader([{gpu: 0, MiB: 1}]),
  species.unreaped(),
  species.server([species.worker(0, [{gpu: 0, MiB: 1}])]),
];

/** No signal ends it before it is thawed. */
const STUCK = species.stuck([{gpu: 0, MiB: 1}]);

test.each(possible)('stop leaves no process and no folder of a %s lab', async (kind) => {
  const lab = await startLab({name: 'end', gpus: 1, kind, ...(runAs && kind !== 'root' ? {runAs} : {})});
  for (const spec of [...CAST, ...(lab.features.has('freezer') ? [STUCK] : [])]) await lab.spawn(spec);
  expect(processesOf(lab.folder).length).toBeGreaterThanOrEqual(8);
  await lab.stop();
  expect(processesOf(lab.folder)).toEqual([]);
  expect(existsSync(lab.folder)).toBe(false);
});

test.each(possible)('kill -9 of the program leaves no process and no folder of its %s lab', async (kind) => {
  const program = `
    import {startLab} from ${JSON.stringify(new URL('../../src/playground/lab/lab.ts', import.meta.url).pathname)};
    const lab = await startLab({name: 'end', gpus: 1, kind: '${kind}'});
    for (const spec of ${JSON.stringify(CAST)}) await lab.spawn(spec);
    if (lab.features.has('freezer')) await lab.spawn(${JSON.stringify(STUCK)});
    console.log(lab.folder);
    await new Promise(() => setInterval(() => {}, 1000));`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    ...(runAs && kind === 'user' ? {...runAs, env: {PATH: '/usr/bin:/bin', HOME: '/nonexistent'}} : {}),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const folder = await new Promise<string>((resolve, reject) => {
    createInterface({input: child.stdout}).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`the program ended with code ${code}`)));
  });
  expect(processesOf(folder).length).toBeGreaterThanOrEqual(8);
  child.kill('SIGKILL');
  await expect.poll(() => existsSync(folder), {timeout: 10_000}).toBe(false);
  expect(processesOf(folder)).toEqual([]);
});

test('a flat lab whose first process is killed leaves no holder either', async () => {
  const lab = await startLab({name: 'end', gpus: 1, kind: 'flat'});
  for (const spec of CAST) await lab.spawn(spec);
  const first = processesOf(lab.folder).find((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'python3\n');
  process.kill(Number(first), 'SIGKILL');
  await expect.poll(() => existsSync(lab.folder), {timeout: 10_000}).toBe(false);
  expect(processesOf(lab.folder)).toEqual([]);
  await lab.stop();
});

test('an asked kind that cannot be had is refused with the machine’s reason', async () => {
  const asked = startLab({name: 'end', gpus: 1, kind: 'root', runAs: {uid: 65_534, gid: 65_534}});
  if (runAs) await expect(asked).rejects.toThrow(/^no lab can be had on this machine \(root: unshare: .*not permitted/);
  else await asked.then((lab) => lab.stop()).catch(() => {});
});
