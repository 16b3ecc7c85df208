/** A deeper look where things are dead, stuck, silent or not to be read. */
import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {lookDeep} from './deep-look.ts';
import {CAN_MAKE_CELLS, type Cell, makeCell} from './keepers.ts';
import {has, until} from './signal-rig.ts';

const READY = CAN_MAKE_CELLS && has('python3') && has('nsenter');
const FREEZER = '/sys/fs/cgroup/freezer';

describe.skipIf(!READY)('a deeper look (needs root, unshare, nsenter: apt-get install util-linux python3)', () => {
  let cell: Cell;
  beforeEach(async () => {
    cell = await makeCell();
  });
  afterEach(() => cell.end());

  /** A program found before the real one; answers the folder to put in front of PATH. */
  function fake(name: string, text: string): string {
    const folder = join(cell.folder, 'fakes');
    mkdirSync(folder, {recursive: true});
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
    return folder;
  }
  /** A daemon in the cell: a copied binary, as the real one is one. */
  async function daemon(
    name: string,
    env: Readonly<Record<string, string>>,
    as: readonly string[] = [],
  ): Promise<void> {
    const path = join(cell.folder, name);
    copyFileSync('/usr/bin/tail', path);
    chmodSync(path, 0o755);
    const [program = '', ...words] = [...cell.enter, ...as, path, '-f', '-'];
    spawn(program, words, {env: {...process.env, ...env}, stdio: 'pipe'});
    await until(() => named(name.slice(0, 15)));
  }
  const named = (comm: string): boolean =>
    spawnSync(cell.enter[0] ?? '', [...cell.enter.slice(1), 'sh', '-c', `grep -qsx ${comm} /proc/[0-9]*/comm`])
      .status === 0;

  it('waits for no dead network mount, and says what it did not see', async () => {
    const mount = join(cell.folder, 'dead[a]?');
    mkdirSync(mount);
    const keeper = await cell.keeper();
    if ((await keeper.tell(`dead_mount ${mount}`)) === 'refused') return;
    await keeper.tell('keep_open /dev/full');
    const started = performance.now();
    const seen = lookDeep(cell.enter, cell.devices);
    expect(performance.now() - started).toBeLessThan(3500);
    expect(seen.numbered.map((each) => each.pid)).toEqual([keeper.pid]);
    expect(
      seen.sections.filter((each) => /^(numbers|network|mapped|queue|facts)$/.test(each.name) && !each.complete),
    ).toEqual([]);

    // Only files below a mount are asked for, alone; here the mount itself, which its process has open.
    const asked = lookDeep(cell.enter, cell.devices, {
      change: (script) =>
        script
          .replace('-o -lname "$p_line/*"', '-o -lname "$p_line"')
          .replace('timeout 4 find $p_where', 'timeout 1 find $p_where'),
    });
    expect(asked.sections.find((each) => each.name === 'network')).toMatchObject({complete: false, note: 'timed out'});
    expect(asked.numbered.map((each) => each.pid)).toEqual([keeper.pid]);
  });

  it('asks MPS for its clients, over the pipe that its control was given', async () => {
    await daemon('nvidia-cuda-mps-control', {CUDA_MPS_PIPE_DIRECTORY: '/run/mps'});
    const before = [
      fake(
        'nvidia-cuda-mps-control',
        `read -r word pid\n[ "$CUDA_MPS_PIPE_DIRECTORY" = /run/mps ] || exit 1\ncase $word in get_server_list) echo 41; echo 42 ;; get_client_list) [ "$pid" = 42 ] && echo 1 || : ;; esac`,
      ),
    ];
    const seen = lookDeep(cell.enter, cell.devices, {before});
    expect(seen.mps).toEqual({
      controlPid: expect.any(Number),
      servers: [
        {pid: 41, clients: []},
        {pid: 42, clients: [1]},
      ],
    });
    expect(seen.processes.map((process) => process.pid)).toContain(seen.mps?.controlPid);

    fake('nvidia-cuda-mps-control', 'exec sleep 100');
    const silent = lookDeep(cell.enter, cell.devices, {before});
    expect(silent.mps).toBeNull();
    expect(silent.sections.find((each) => each.name === 'mps')).toMatchObject({complete: false, note: 'timed out'});
  });

  it('says nothing into the pipe of another user’s MPS: its folder is that user’s to fill', async () => {
    chmodSync(cell.folder, 0o755);
    const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
    await daemon('nvidia-cuda-mps-control', {CUDA_MPS_PIPE_DIRECTORY: '/tmp/theirs'}, nobody);
    const before = [fake('nvidia-cuda-mps-control', `touch '${cell.folder}/asked'`)];
    const seen = lookDeep(cell.enter, cell.devices, {before});
    expect(existsSync(join(cell.folder, 'asked'))).toBe(false);
    expect(seen.mps).toBeNull();
    expect(seen.sections.find((each) => each.name === 'mps')).toMatchObject({complete: false});
  });

  it('says null of MPS where none runs, and asks nobody', () => {
    const before = [fake('nvidia-cuda-mps-control', `touch '${cell.folder}/asked'`)];
    const seen = lookDeep(cell.enter, cell.devices, {before});
    expect(seen.mps).toBeNull();
    expect(seen.sections.find((each) => each.name === 'mps')).toMatchObject({complete: true});
    expect(existsSync(join(cell.folder, 'asked'))).toBe(false);
  });

  it('reads Xids from the first log that it may read, and names the others', () => {
    const xid = 'NVRM: Xid (PCI:0000:3B:00): 31, pid=77, name=python3, Ch 00000010';
    const before = [
      fake('dmesg', `echo '[    1.000000] Linux'; echo '[   50.5] ${xid}'; echo '[   60.250000] ${xid}'`),
    ];
    const request = {pids: [], sinceUptimeMs: 55_000};
    const seen = lookDeep(cell.enter, cell.devices, {before, request});
    expect(seen.xids).toEqual([
      {uptimeMs: 60_250, busId: '00000000:3b:00.0', code: 31, pid: 77, text: 'pid=77, name=python3, Ch 00000010'},
    ]);
    expect(seen.sections.find((each) => each.name === 'xids')).toMatchObject({complete: true, note: ''});

    fake('dmesg', 'echo "dmesg: read kernel buffer failed" >&2; exit 1');
    fake('dd', 'exec sleep 100');
    fake('journalctl', `echo '[   58.000000] gpu-07 kernel: ${xid}'`);
    const journal = lookDeep(cell.enter, cell.devices, {before, request});
    expect(journal.xids.map((each) => each.uptimeMs)).toEqual([58_000]);
    expect(journal.sections.find((each) => each.name === 'xids')).toMatchObject({
      complete: false,
      note: 'dmesg unreadable; kmsg unreadable; journal does not reach back so far',
    });

    fake('journalctl', 'exit 1');
    const none = lookDeep(cell.enter, cell.devices, {before, request});
    expect(none.xids).toEqual([]);
    expect(none.sections.find((each) => each.name === 'xids')).toMatchObject({complete: false});
  });

  it('calls nothing ownerless where a process could not be looked at', () => {
    const left = (seen: ReturnType<typeof lookDeep>) => seen.leftovers.map((each) => each.name);
    spawnSync(cell.enter[0] ?? '', [...cell.enter.slice(1), 'sh', '-c', 'echo x >/dev/shm/left']);
    expect(left(lookDeep(cell.enter, cell.devices))).toEqual(['left']);
    // As find complains of a process that it may not look at.
    const real = spawnSync('sh', ['-c', 'command -v find']).stdout.toString().trim();
    const before = [
      fake(
        'find',
        `case "$*" in *'-exec stat'*) echo "find: '/proc/1/fd': Permission denied" >&2 ;; esac\nexec ${real} "$@"`,
      ),
    ];
    const blind = lookDeep(cell.enter, cell.devices, {before});
    expect(left(blind)).toEqual([]);
    expect(
      blind.sections.filter((each) => /^(numbers|queue|shm)$/.test(each.name)).map((each) => each.complete),
    ).toEqual([false, false, false]);
  });
});

describe('a process that SIGKILL can not end yet', () => {
  it.skipIf(process.getuid?.() !== 0 || !existsSync(join(FREEZER, 'cgroup.procs')))(
    'shows state D, the signal pending and where it stands (needs root and a v1 freezer)',
    async () => {
      const group = join(FREEZER, `reclaim-${process.pid}`);
      mkdirSync(group);
      const child = spawn('sleep', ['1000']);
      const ended = once(child, 'exit');
      try {
        writeFileSync(join(group, 'cgroup.procs'), String(child.pid));
        writeFileSync(join(group, 'freezer.state'), 'FROZEN');
        await until(() => readFileSync(join(group, 'freezer.state'), 'latin1') === 'FROZEN\n');
        child.kill('SIGKILL');
        const seen = lookDeep([], '/dev', {request: {pids: [child.pid ?? 0], sinceUptimeMs: null}});
        expect(seen.kernel).toEqual([
          {
            pid: child.pid,
            tid: child.pid,
            state: 'D',
            killPending: true,
            wchan: expect.stringMatching(/refrigerator|freez|nanosleep/),
            stack: expect.arrayContaining([expect.stringMatching(/refrigerator|freez|nanosleep/)]),
          },
        ]);
      } finally {
        writeFileSync(join(group, 'freezer.state'), 'THAWED');
        child.kill('SIGKILL');
        await ended;
        await until(() => readFileSync(join(group, 'cgroup.procs'), 'latin1') === '');
        rmdirSync(group);
      }
    },
  );
});
