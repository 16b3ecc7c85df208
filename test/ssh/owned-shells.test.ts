/** What owners own: the real script under each shell, real control groups, stand-ins of the tools, and its reader. */
import {spawnSync} from 'node:child_process';
import {chmodSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import type {OwnedBy, OwnedLook} from '../../src/domain/owned.ts';
import {parseOwned} from '../../src/domain/parse/owned.ts';
import type {StopKind, StoppableOwner} from '../../src/domain/stop-owner.ts';
import {ownedScript} from '../../src/ssh/owned-script.ts';
import {type ControlGroup, controlGroup, groupRoot} from './control-group.ts';
import {has, makeRig, NONCE, type Rig, type Target} from './signal-rig.ts';

const UNIT = 'vllm@2.service';
const ID = 'c0ffee'.padEnd(64, '0');
const RUN = '0123456789abcdef0123456789abcdef';
const STANDARD = '/usr/sbin:/usr/bin:/sbin:/bin';
const SHELLS = [['dash'], ['bash'], ['busybox', 'sh'], ['mksh']].filter(([program]) => has(program ?? ''));
const root = groupRoot();

let rig: Rig;
let group: ControlGroup;
let target: Target;
let bin: string;

function standIn(name: string, body: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(bin, name), 0o755);
}
const printing = (lines: readonly string[]): string => `cat <<'END'\n${lines.join('\n')}\nEND`;
const unit = (change: Readonly<Record<string, string>> = {}): string =>
  printing(
    Object.entries({
      Id: UNIT,
      InvocationID: RUN,
      ControlGroup: group.folder,
      SendSIGKILL: 'yes',
      RefuseManualStop: 'no',
      RequiredBy: '',
      ConsistsOf: '',
      ...change,
    }).map(([key, value]) => `${key}=${value}`),
  );
const container = (pid = target.identity.pid, id = ID): string =>
  printing([`Id ${id}`, 'StartedAt 2026-12-01T11:00:00.5Z', `Pid ${pid}`]);
const slurm = (nodes: string, first = 'JobId=7 JobName=a b JobState=FAILED'): string =>
  printing([
    first,
    '   JobState=RUNNING Reason=None',
    `   ${nodes} NumCPUs=8`,
    '   StartTime=2026-12-01T10:00:00 EndTime=x',
  ]);

function owner(kind: StopKind, id: string): StoppableOwner {
  return {kind, id, name: id, run: RUN, folder: group.folder};
}
function read(asked: readonly StoppableOwner[], shell: readonly string[] = ['sh']): OwnedLook {
  const [program = 'sh', ...args] = shell;
  const ran = spawnSync(program, [...args, '-s'], {
    input: ownedScript(NONCE, asked),
    env: {PATH: `${bin}:${STANDARD}`},
    timeout: 30_000,
    killSignal: 'SIGKILL',
  });
  expect(ran.stderr.toString()).toBe('');
  const about = {host: hostName('here'), hostKey: 'k', nonce: NONCE, exitCode: ran.status, tookMs: 1};
  const parsed = parseOwned({...about, stdout: ran.stdout, stderr: ''}, asked);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.failure));
  return parsed.value;
}
function first(look: OwnedLook): OwnedBy {
  const [one] = look.owners;
  if (one === undefined) throw new Error('no owner');
  return one;
}

describe.skipIf(root === null)('what owners own (needs a writable cgroup hierarchy)', () => {
  beforeEach(async () => {
    rig = makeRig();
    bin = join(mkdtempSync(join(tmpdir(), 'owned-')), 'bin');
    mkdirSync(bin);
    group = controlGroup(root ?? '', UNIT);
    target = await rig.target('honours');
    group.add(target.identity.pid);
    standIn('systemctl', unit());
    standIn('docker', container());
    standIn('scontrol', slurm('NumNodes=1'));
  });
  afterEach(async () => {
    await rig.end();
    await group.remove();
    rmSync(join(bin, '..'), {recursive: true, force: true});
  });

  it.each(SHELLS)('is read whole under %s', (...shell) => {
    const asked = [owner('unit', UNIT), owner('docker', ID), owner('slurm-job', '7')];
    const look = read(asked, shell);
    const {pid, uid, startTicks, executable} = target.identity;
    expect(look.owners).toEqual([
      {kind: 'unit', id: UNIT, run: RUN, against: null, endsInKill: true, pids: [pid]},
      {kind: 'docker', id: ID, run: '2026-12-01T11:00:00.5Z', against: null, endsInKill: true, pids: [pid]},
      {kind: 'slurm-job', id: '7', run: '2026-12-01T10:00:00', against: null, endsInKill: true, pids: [pid]},
    ]);
    const facts = look.processes.find((one) => one.pid === pid);
    expect(facts).toMatchObject({startTicks, uid, cgroups: expect.arrayContaining([group.folder])});
    expect(facts?.executable?.id).toBe(executable);
    expect(look.processes.map((one) => one.pid)).toContain(process.pid);
    expect(look.ownPids).toContain(process.pid);
  });

  it('counts those below its folder, too', async () => {
    const inner = controlGroup(join(root ?? '', group.folder), 'inner');
    inner.add(target.identity.pid);
    expect(first(read([owner('unit', UNIT)])).pids).toEqual([target.identity.pid]);
    group.add(target.identity.pid);
    await inner.remove();
  });

  it("leaves out a Slurm step's own daemon, and nobody else", async () => {
    const job = controlGroup(root ?? '', 'job_7');
    const steps = ['step_0', 'step_0/slurm', 'step_0/user', 'step_0/user/task_0'].map((name) => join(job.path, name));
    for (const path of steps) mkdirSync(path);
    const daemon = await rig.target('honours');
    writeFileSync(join(job.path, 'step_0/slurm/cgroup.procs'), String(daemon.identity.pid));
    writeFileSync(join(job.path, 'step_0/user/task_0/cgroup.procs'), String(target.identity.pid));
    expect(first(read([{...owner('slurm-job', '7'), folder: job.folder}])).pids).toEqual([target.identity.pid]);
    for (const {identity} of [daemon, target]) group.add(identity.pid);
    for (const path of steps.toReversed()) rmdirSync(path);
    await job.remove();
  });

  it('is not known where there is no such folder', () => {
    expect(first(read([{...owner('unit', UNIT), folder: '/reclaim-none.slice/x.service'}])).pids).toBeNull();
  });

  it.each<[string, () => string, Partial<OwnedBy>]>([
    ['another unit answers', () => unit({Id: 'other.service'}), {run: null}],
    ['the unit has no run', () => unit({InvocationID: ''}), {run: null}],
    ['the tool fails', () => `${unit()}\nexit 1`, {run: null}],
    ['the tool hangs', () => 'while :; do sleep 1000; done', {run: null}],
    ['it is not killed in the end', () => unit({SendSIGKILL: 'no'}), {endsInKill: false}],
    ['it stands elsewhere', () => unit({ControlGroup: '/system.slice/x.service'}), {against: 'unproven'}],
    ['it has no folder', () => unit({ControlGroup: ''}), {against: 'unproven'}],
    ['it may not be stopped by hand', () => unit({RefuseManualStop: 'yes'}), {against: 'refuses'}],
    ...['RequiredBy', 'RequisiteOf', 'BoundBy', 'ConsistsOf', 'PropagatesStopTo'].map(
      (key): [string, () => string, Partial<OwnedBy>] => [
        `another unit is ${key}`,
        () => unit({[key]: 'x.service'}),
        {against: 'dependents'},
      ],
    ),
  ])('of a unit where %s', (_, body, found) => {
    standIn('systemctl', body());
    expect(first(read([owner('unit', UNIT)]))).toMatchObject(found);
  });

  it.each<[string, () => string, Partial<OwnedBy>]>([
    ['another container answers', () => container(undefined, 'd'.repeat(64)), {run: null}],
    ['its main process is elsewhere', () => container(1), {against: 'unproven'}],
  ])('of a container where %s', (_, body, found) => {
    standIn('docker', body());
    expect(first(read([owner('docker', ID)]))).toMatchObject(found);
  });

  it.each<[string, () => string, Partial<OwnedBy>]>([
    ['it runs on more nodes', () => slurm('NumNodes=2'), {against: 'many-nodes'}],
    ['a text of its user says otherwise', () => slurm('WCKey=x NumNodes=1 NumNodes=2'), {against: 'many-nodes'}],
    ['its name says so', () => slurm('NumNodes=2', 'JobId=7 JobName=NumNodes=1'), {against: 'many-nodes'}],
    ['it is another', () => slurm('NumNodes=1', 'JobId=8 JobName=x'), {run: null}],
  ])('of a job where %s', (_, body, found) => {
    standIn('scontrol', body());
    expect(first(read([owner('slurm-job', '7')]))).toMatchObject(found);
  });

  it('that was cut is no answer at all', () => {
    const asked = [owner('unit', UNIT)];
    const whole = spawnSync('sh', ['-s'], {input: ownedScript(NONCE, asked), env: {PATH: `${bin}:${STANDARD}`}}).stdout;
    const about = {host: hostName('here'), hostKey: 'k', nonce: NONCE, exitCode: 0, tookMs: 1, stderr: ''};
    expect(parseOwned({...about, stdout: whole}, asked).ok).toBe(true);
    for (let at = 0; at < whole.length - 1; at += 97)
      expect(parseOwned({...about, stdout: whole.subarray(0, at)}, asked).ok).toBe(false);
  });
});
