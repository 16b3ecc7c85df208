/** The real script of a deeper look under each shell, on real processes in a namespace of their own. */
import {spawnSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import type {DeepLook, DeepRequest} from '../../src/domain/deep.ts';
import {lookDeep} from './deep-look.ts';
import {CAN_MAKE_CELLS, type Cell, type Keeper, makeCell} from './keepers.ts';
import {has} from './signal-rig.ts';

const SHELLS = [['dash'], ['bash'], ['busybox', 'sh'], ['mksh']].filter(([program]) => has(program ?? ''));
const READY = CAN_MAKE_CELLS && has('python3') && has('nsenter');

describe.skipIf(!READY)('a deeper look (needs root, unshare, nsenter: apt-get install util-linux python3)', () => {
  let cell: Cell;
  const keepers = new Map<string, Keeper>();
  const pid = (name: string): number => keepers.get(name)?.pid ?? 0;
  let odd = '';
  let ports: readonly number[] = [];
  let ring = '';
  let segment = '';

  async function keep(name: string, args: readonly string[], ...orders: readonly string[]): Promise<readonly string[]> {
    const keeper = await cell.keeper(...args);
    keepers.set(name, keeper);
    const said: string[] = [];
    for (const order of orders) said.push(await keeper.tell(order));
    return said;
  }

  const look = (shell: readonly string[], request?: DeepRequest, change?: (script: string) => string): DeepLook =>
    lookDeep(cell.enter, cell.devices, {shell, request, change});
  const section = (seen: DeepLook, name: string) => seen.sections.find((each) => each.name === name);
  const devices = (seen: DeepLook, name: string) => seen.numbered.find((each) => each.pid === pid(name))?.devices;

  beforeAll(async () => {
    cell = await makeCell();
    // Under another name, with a line in it that would be one of ours.
    odd = join(cell.folder, 'odd\n 9 7 /proc/1/fd c3:0');
    mkdirSync(dirname(odd), {recursive: true});
    const bind = spawnSync('sh', ['-c', `: >"$1" && ${cell.enter.join(' ')} mount --bind /dev/full "$1"`, 'sh', odd]);
    expect(bind.stderr.toString()).toBe('');
    spawnSync('sh', ['-c', `ln -s "$1" '${cell.folder}/link'`, 'sh', odd]);
    const [full, zero, nvidia] = [`${cell.folder}/link`, '/dev/zero', join(cell.devices, 'nvidia0')];
    writeFileSync(join(cell.folder, 'plain'), '');

    await keep('numbered', [], `keep_open ${full}`, `map_private ${zero}`, 'name');
    spawnSync('mknod', [join(cell.folder, 'block'), 'b', '7', '0']);
    await keep('block', [], `keep_open ${cell.folder}/block`);
    await keep('leader', ['leader'], `keep_open ${full}`, `queue ${nvidia} 2`);
    await keep('receiver', [], `queue ${nvidia} 3`);
    ring = (await keep('ring', [], `ring ${nvidia} ${cell.folder}/plain`))[0] ?? '';
    ports = (await keep('server', [], 'listen 4', 'listen 6')).map(Number);
    segment = (await keep('nobody', [], 'segment'))[0] ?? '';
    await keep('shared', [], 'keep_open /dev/shm/kept', 'keep_open /dev/shm/mapped');
    await keep('mapper', [], 'map_private /dev/shm/mapped');
    await keepers.get('shared')?.tell('close');
    await keep('opener', [], 'keep_open /dev/shm/kept');
    const left = `printf '%65536s' x >'/dev/shm/nccl-a b'; : >"/dev/shm/x
1:1 9 0 1 forged"; touch -d '1 hour ago' '/dev/shm/nccl-a b'`;
    const [program = '', ...words] = [...cell.enter, 'sh', '-c', left];
    expect(spawnSync(program, words).stderr.toString()).toBe('');
  });
  afterAll(() => cell.end());

  describe.each(SHELLS.map((shell) => ({name: shell.join(' '), shell})))('under $name', ({shell}) => {
    it('finds devices by their number, under any name, and the threads of a zombie leader', () => {
      const seen = look(shell);
      expect(seen.majors).toEqual({'nvidia-uvm': 1, 'nvidia-caps': 7});
      const open = {driver: 'nvidia-uvm', major: 1, minor: 7, how: 'open', path: odd, count: 1};
      expect(devices(seen, 'numbered')).toEqual([open]);
      expect(devices(seen, 'leader')).toEqual([open]);
      expect(devices(seen, 'receiver')).toBeUndefined();
      expect(seen.processes.find((process) => process.pid === pid('numbered'))).toMatchObject({comm: ') Z 1 1\n(@ x'});
      expect(seen.processes.find((process) => process.pid === pid('leader'))).toMatchObject({state: 'Z'});
      const broken = seen.sections.filter((each) => !each.complete && !/^(modules|xids)$/.test(each.name));
      expect(broken).toEqual([]);
      // Not PID 1, as the file's name says, and none of our own shells, which have /dev/null open.
      expect(seen.numbered.map((each) => each.pid)).toEqual([pid('numbered'), pid('leader')].toSorted((a, b) => a - b));
    });

    it('finds mapped devices through map_files', () => {
      // No device here can be mapped shared, as NVIDIA's are; everything behind that sieve is the same.
      const seen = look(shell, undefined, (script) =>
        script.replace("p_shared='^[0-9a-f-]* ...s", "p_shared='^[0-9a-f-]* ...p"),
      );
      expect(devices(seen, 'numbered')).toContainEqual(
        expect.objectContaining({how: 'mapped', major: 1, minor: 5, path: '/dev/zero', count: 1}),
      );
      expect(section(seen, 'mapped')).toMatchObject({complete: true});
    });

    it('finds descriptors that nobody has received, and files of a ring', () => {
      const seen = look(shell);
      const counts = seen.queued.map((each) => [each.pid, each.count]);
      expect(counts).toContainEqual([pid('receiver'), 3]);
      expect(counts).toContainEqual([pid('leader'), 2]);
      expect(counts).toHaveLength(2);
      if (ring === 'refused') return;
      const device = join(cell.devices, 'nvidia0');
      expect(seen.rings).toEqual([{pid: pid('ring'), fd: Number(ring), files: 3, devices: [device]}]);
    });

    it('names shared memory that nobody keeps, and who listens', () => {
      const seen = look(shell);
      const files = seen.leftovers
        .filter((each) => each.kind === 'file')
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
      expect(files).toEqual([
        {kind: 'file', name: 'nccl-a b', MiB: 0.0625, uid: 0, ageMs: expect.any(Number)},
        {kind: 'file', name: 'x?1:1 9 0 1 forged', MiB: 0, uid: 0, ageMs: expect.any(Number)},
      ]);
      expect(Math.round((files[0]?.ageMs ?? 0) / 60_000)).toBe(60);
      const segments = seen.leftovers.filter((each) => each.kind === 'segment');
      expect(segments).toEqual([{kind: 'segment', name: segment, MiB: 0, uid: 0, ageMs: expect.any(Number)}]);
      expect(seen.listening).toEqual(ports.toSorted((a, b) => a - b));
    });

    it('reads where the threads of a process stand, and whose facts were asked for', async () => {
      const seen = look(shell, {pids: [pid('server'), 4194300], sinceUptimeMs: 0});
      expect(seen.kernel).toEqual([
        {
          pid: pid('server'),
          tid: pid('server'),
          state: 'S',
          killPending: false,
          wchan: expect.stringMatching(/read|wait/),
          stack: expect.arrayContaining([expect.stringMatching(/read/)]),
        },
      ]);
      expect(seen.processes.map((process) => process.pid)).toContain(pid('server'));
    });
  });
});
