import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import type {DeepLook} from '../../../src/domain/deep.ts';
import {hostName} from '../../../src/domain/host.ts';
import {parseDeep} from '../../../src/domain/parse/deep.ts';
import type {Transcript} from '../../../src/domain/transcript.ts';

const NONCE = '0123456789abcdef0123456789abcdef';

const stat = (pid: number, ppid: number, comm = 'python3'): string =>
  `/proc/${pid}/stat:${pid} (${comm}) S ${ppid} ${pid} ${pid} 0 -1 4194560 0 0 0 0 5 31 0 0 20 0 1 0 2472 1 1 1`;

/** A whole answer, as of a host where 900 holds by number, 901 is asked for and 50 is our own shell. */
const WHOLE: Readonly<Record<string, string>> = {
  host: [
    'boot_id 61a17629-5e69-4f25-b114-186d421d1575',
    'uptime 1000.50',
    'clock_ticks 100',
    'euid 0',
    'kernel 6.18.0',
    'pid:[4026531836]',
    'mnt:[4026531832]',
    'proc /proc proc rw 0 0',
  ].join('\n'),
  own: 'self 50\nancestor 40',
  majors: '195 nvidia\n195 nvidiactl\n238 nvidia-uvm\n@rc 0',
  zombies: '\n@rc 1',
  shm: '26:5 2048 1000 1000000000.5 nccl-x\n26:6 4 1000 1000003600.5 psm_used\n26:7 4 0 1000003600.5 mapped @rc 9\n@rc 0',
  segments: `key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap
         0          3  1600 8388608 7 0 0 1000 0 0 0 0 0 1000003000 4194304 0
         0          4  1600 8388608 7 0 1 1000 0 0 0 0 0 1000003000 4194304 0
@now 1000003600
@rc 0`,
  listening: '1F40\n0016\n1F40\n@rc 0',
  modules: 'nvidia_uvm 1540096 4 - Live 0x0\nnvidia 60000000 99 nvidia_uvm, Live 0x0\n@rc 0',
  numbers: '  3 7 /proc/900/fd c3:ff\n  2 0 /proc/50/fd c3:0\n  1 0 dev-shm 26:6\n  1 @ ~find 1\n@rc 0',
  'numbers#2': '  1 9 /proc/901/fd ee:0\n  1 4 /proc/777/fd ee:0\n  1 @ ~find 0\n@rc 0',
  mapped: '@rc 0\n  1 7f0-7f1 /proc/900/map_files c3:0\n  1 8f0-8f1 /proc/900/map_files c3:0\n  1 @ ~find 0\n@rc 0',
  'shm.mapped': ' 00:1a 7\n@end 0\n@pid 5 4\n@rc 0',
  queue: [
    '@find 0',
    '/proc/901/fdinfo/8:scm_fds: 2',
    '/proc/901/fdinfo/9:UserFiles:\t3',
    '/proc/901/fdinfo/9:    0: /dev/nvidia0',
    '/proc/901/fdinfo/9:    2: /dev/nvidia-caps/nvidia-cap1',
    '/proc/900/fdinfo/3:UserFiles:\t4',
    '@grep 123',
    '@rc 0',
  ].join('\n'),
  names: '/proc/901/fdinfo/9:    0: /\n@rc 0',
  xids: '@since -\n@read dmesg 0\n@from [    0.000000] Linux\n[  900.250000] NVRM: Xid (PCI:0000:09:00): 79, pid=901, GPU has fallen off the bus.\n@rc 0',
  mps: 'control 60\nserver 61\nclient 61 901\nserver 61',
  kernel: [
    '/proc/901/task/901/status:State:\tD (disk sleep)',
    '/proc/901/task/901/status:SigPnd:\t0000000000000000',
    '/proc/901/task/901/status:ShdPnd:\t0000000000000100',
    '/proc/901/task/902/status:State:\tS (sleeping)',
    '/proc/901/task/902/status:SigPnd:\t0000000000000200',
    '/proc/901/task/902/status:ShdPnd:\t0000000000000000',
    '@rc 0',
  ].join('\n'),
  wchan: '/proc/901/task/901/wchan:os_acquire_mutex\n/proc/901/task/902/wchan:0',
  stack:
    '/proc/901/task/901/stack:[<0>] os_acquire_mutex+0x1/0x2 [nvidia]\n/proc/901/task/901/stack:[<0>] _nv000+0x1/0x2 [nvidia]',
  network: '  1 @ ~find 0\n@rc 0',
  links:
    '/proc/900/fd/7 /dev/odd\nname (deleted)\0/proc/900/map_files/7f0-7f1 /dev/nvidia0\0/proc/901/fd/9 /dev/nvidia-uvm\0',
  'facts.stat': [stat(900, 1), stat(901, 1), stat(61, 60), stat(60, 1), stat(50, 40), stat(51, 50)].join('\n'),
  'facts.status': '/proc/900/status:Uid:\t1000\t1000\t1000\t1000',
  'facts.links': '',
  'facts.executable': '',
  'facts.users': '',
  'facts.words': '@rc 0',
  limits: 'left_out 0',
};
/** Exit codes that are not 0 in a whole answer. */
const CODES: Readonly<Record<string, number>> = {zombies: 1};

type Changes = Readonly<Record<string, string | null>>;

/** `null`: the section has no end. */
function answer(changes: Changes = {}, codes: Readonly<Record<string, number>> = {}, kind = 'deep 1'): string {
  const body = Object.entries({...WHOLE, ...changes}).map(([key, text]) => {
    const [name = ''] = key.split('#');
    const end = text === null ? '' : `\n@@${NONCE} end ${name} ${codes[name] ?? CODES[name] ?? 0}\n`;
    return `\n@@${NONCE} begin ${name}\n${text ?? WHOLE[key]}${end}`;
  });
  return `\n@@${NONCE} BEGIN ${kind}\n${body.join('')}\n@@${NONCE} END 0\n`;
}

function transcript(stdout: string | Uint8Array): Transcript {
  const bytes = typeof stdout === 'string' ? new TextEncoder().encode(stdout) : stdout;
  return {host: hostName('gpu-07'), hostKey: 'k', nonce: NONCE, stdout: bytes, stderr: '', exitCode: 0, tookMs: 9};
}

function look(changes: Changes = {}, codes: Readonly<Record<string, number>> = {}): DeepLook {
  const parsed = parseDeep(transcript(answer(changes, codes)), 5000);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.failure));
  return parsed.value;
}
const section = (seen: DeepLook, name: string) => seen.sections.find((each) => each.name === name);

describe('a whole deeper look', () => {
  const seen = look();

  it('is whole, and says whose it is and when', () => {
    expect(seen.sections.filter((each) => !each.complete || each.note !== '')).toEqual([]);
    expect(seen).toMatchObject({
      host: 'gpu-07',
      machine: {hostKey: 'k', bootId: '61a17629-5e69-4f25-b114-186d421d1575', pidNamespace: '4026531836'},
      takenAtMs: 5000,
      uptimeMs: 1_000_500,
      majors: {nvidia: 195, nvidiactl: 195, 'nvidia-uvm': 238},
      listening: [22, 8000],
      modules: {nvidia: 99, nvidia_uvm: 4},
    });
  });

  it('joins numbers, mappings and links, and leaves out our own and who is gone', () => {
    expect(seen.numbered).toEqual([
      {
        pid: 900,
        devices: [
          {path: '/dev/odd\nname (deleted)', driver: 'nvidia', major: 195, minor: 255, how: 'open', count: 3},
          {path: '/dev/nvidia0', driver: 'nvidia', major: 195, minor: 0, how: 'mapped', count: 2},
        ],
      },
      {
        pid: 901,
        devices: [{path: '/dev/nvidia-uvm', driver: 'nvidia-uvm', major: 238, minor: 0, how: 'open', count: 1}],
      },
    ]);
    expect(seen.processes.map((process) => process.pid)).toEqual([900, 901, 61, 60]);
  });

  it('reads queues and rings, with and without names', () => {
    expect(seen.queued).toEqual([{pid: 901, fd: 8, count: 2}]);
    expect(seen.rings).toEqual([
      {pid: 901, fd: 9, files: 3, devices: ['/dev/nvidia0', '/dev/nvidia-caps/nvidia-cap1']},
      {pid: 900, fd: 3, files: 4, devices: null},
    ]);
  });

  it('reads the kernel side: SIGKILL is bit 9, counted from 1', () => {
    expect(seen.kernel).toEqual([
      {
        pid: 901,
        tid: 901,
        state: 'D',
        killPending: true,
        wchan: 'os_acquire_mutex',
        stack: ['os_acquire_mutex', '_nv000'],
      },
      {pid: 901, tid: 902, state: 'S', killPending: false, wchan: null, stack: null},
    ]);
  });

  it('names what nobody maps, has open or is attached to', () => {
    expect(seen.leftovers).toEqual([
      {kind: 'file', name: 'nccl-x', MiB: 2, uid: 1000, ageMs: 3_600_000},
      {kind: 'segment', name: '3', MiB: 4, uid: 1000, ageMs: 600_000},
    ]);
  });

  it('reads MPS and Xids', () => {
    expect(seen.mps).toEqual({controlPid: 60, servers: [{pid: 61, clients: [901]}]});
    expect(seen.xids).toEqual([
      {uptimeMs: 900_250, busId: '00000000:09:00.0', code: 79, pid: 901, text: 'pid=901, GPU has fallen off the bus.'},
    ]);
  });
});

describe('what is not whole says nothing about nobody', () => {
  it.each<[string, Changes, string]>([
    ['numbers', {'numbers#2': null}, 'no end'],
    ['numbers', {'numbers#2': '  1 @ ~find 124\n@rc 0'}, 'timed out'],
    ['numbers', {'numbers#2': '@rc 0'}, 'cut'],
    ['numbers', {'numbers#2': '  1 @ refused 7\n  1 @ ~find 1\n@rc 0'}, '1 process refused'],
    ['numbers', {'numbers#2': '  1 @ trouble find:_no_memory\n  1 @ ~find 1\n@rc 0'}, 'find:_no_memory'],
    ['network', {network: null}, 'no end'],
    ['network', {network: '  1 @ ~find 124\n@rc 0'}, 'timed out'],
    ['mapped', {mapped: '@stuck 77\n@rc 2\n  1 @ ~find 0\n@rc 0'}, 'stood still at 77'],
    ['mapped', {mapped: '@rc 124\n  1 @ ~find 0\n@rc 0'}, 'scan ended with 124, 0'],
    ['mapped', {mapped: '@rc 0\n  1 @ refused 900\n  1 @ ~find 1\n@rc 0'}, '1 process refused'],
    ['queue', {queue: '@find 124\n@grep 0\n@rc 0'}, 'find 124, grep 0'],
    ['queue', {queue: '@find 0\n@rc 0'}, 'find 0'],
    ['queue', {'numbers#2': '  1 @ refused 7\n  1 @ ~find 1\n@rc 0'}, '1 process refused'],
    ['kernel', {kernel: null}, 'no end'],
    [
      'xids',
      {xids: '@since -\n@unread dmesg 1\n@unread kmsg 0\n@unread journal 1'},
      'dmesg unreadable; kmsg unreadable; journal unreadable',
    ],
    ['xids', {xids: '@since 5000\n@read kmsg 0\n@from 6,1,9000000,-;x\n@rc 0'}, 'kmsg does not reach back so far'],
    ['shm', {'shm.mapped': null}, 'owners not all in sight: shm.mapped'],
  ])('%s: %j', (name, changes, note) => {
    expect(section(look(changes), name)).toMatchObject({complete: false, note});
  });

  it("does not count zombies that refuse: their folder is root's and empty", () => {
    const refused = '  1 @ refused 7\n  1 @ ~find 1\n@rc 0';
    const zombies = '/proc/7/status:State:\tZ (zombie)\n@rc 0';
    expect(section(look({'numbers#2': refused, zombies}), 'numbers')).toMatchObject({complete: true});
  });

  it('calls no file ownerless unless every process was seen, and no segment attached that is not', () => {
    const kinds = (changes: Changes) => look(changes).leftovers.map((each) => each.kind);
    expect(kinds({'numbers#2': '  1 @ refused 7\n  1 @ ~find 1\n@rc 0'})).toEqual(['segment']);
    expect(kinds({'shm.mapped': '@stuck 7\n@rc 0'})).toEqual(['segment']);
    expect(kinds({shm: null})).toEqual(['segment']);
    const hidden = {host: `${WHOLE['host']}`.replace('euid 0', 'euid 1000').replace('proc rw', 'proc rw,hidepid=2')};
    expect(kinds(hidden)).toEqual(['segment']);
    expect(section(look(hidden), 'numbers')).toMatchObject({complete: false, note: 'hidepid=2'});
  });

  it('knows no clients where MPS did not answer, and keeps a PID whose facts were cut', () => {
    expect(look({}, {mps: 124}).mps).toBeNull();
    expect(look({mps: ''}).mps).toBeNull();
    expect(look({'facts.stat': null}).numbered.map((each) => each.pid)).toEqual([777, 900, 901]);
  });

  it.each([
    ['no BEGIN', 'This account is currently not available.\n', 'BEGIN'],
    ['a probe', answer({}, {}, 'probe 1'), 'BEGIN'],
    ['another version', answer({}, {}, 'deep 2'), 'BEGIN'],
    ['no END', answer().slice(0, answer().lastIndexOf('@@')), 'END'],
    ['half a host', answer({host: null}), 'host'],
    ['no boot id', answer({host: 'uptime 1.0'}), 'host'],
  ])('is no look: %s', (_, stdout, where) => {
    const parsed = parseDeep(transcript(stdout), 1);
    expect(parsed.ok ? null : parsed.failure).toMatchObject({reason: 'probe-unreadable', section: where});
  });
});

describe('lines of a log', () => {
  it.each([
    [
      '[   12.5] NVRM: Xid (PCI:0000:3B:00): 31, pid=7, name=x',
      {busId: '00000000:3b:00.0', code: 31, pid: 7, uptimeMs: 12_500},
    ],
    [
      '[   12.5][   T69] NVRM: Xid (PCI:0000:3b:00.0): 154, GPU recovery action changed',
      {busId: '00000000:3b:00.0', code: 154, pid: null},
    ],
    [
      "[   12.5] NVRM: Xid (0000:03:00): 8, pid='<unknown>', Channel 00000001",
      {busId: '00000000:03:00.0', code: 8, pid: null},
    ],
    ['[   12.500000] gpu-07 kernel: NVRM: Xid (PCI:0000:03:00): 8, x', {code: 8}],
    ['4,12,12500000,-;NVRM: Xid (PCI:0000:03:00): 8, x', {code: 8, uptimeMs: 12_500}],
  ])('%s', (line, xid) => {
    expect(look({xids: `@since 0\n@read dmesg 0\n@from x\n${line}\n@rc 0`}).xids).toEqual([
      expect.objectContaining(xid),
    ]);
  });

  it.each([
    '[   12.5] python3: NVRM: Xid (PCI:0000:03:00): 8, x',
    '[   12.5] NVRM: Xid (PCI:0000:03:00): eight',
    'NVRM: Xid (PCI:0000:03:00): 8, x',
    '[   12.5] NVRM: loading',
  ])('no Xid: %s', (line) => expect(look({xids: `@since 0\n@read dmesg 0\n${line}\n@rc 0`}).xids).toEqual([]));

  it('says only what came since', () => {
    const lines = ['[   12.5] NVRM: Xid (PCI:0000:03:00): 8, x', '[   13.0] NVRM: Xid (PCI:0000:03:00): 9, x'];
    expect(look({xids: `@since 13000\n@read dmesg 0\n@from [ 0.0] x\n${lines.join('\n')}\n@rc 0`}).xids).toMatchObject([
      {code: 9},
    ]);
  });
});

describe('text of a host', () => {
  it.each([
    [
      'a ring file',
      {
        queue:
          '@find 0\n/proc/901/fdinfo/9:    0: /dev/nvidia0\n/proc/901/fdinfo/9:x /proc/900/fdinfo/1:scm_fds: 7\n@grep 0\n@rc 0',
      },
    ],
    ['a line that begins with a blank', {queue: '@find 0\n /proc/901/fdinfo/8:scm_fds: 2\n@grep 0\n@rc 0'}],
  ])('is no line of ours: %s', (_, changes) => {
    expect(look(changes)).toMatchObject({queued: [], rings: []});
  });

  it('never throws, whatever was changed', () => {
    const bytes = new TextEncoder().encode(answer());
    const change = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.integer({min: 0, max: 255})), {maxLength: 60});
    fc.assert(
      fc.property(change, fc.nat(bytes.length), (changes, cut) => {
        const garbled = bytes.slice(0, cut % 3 === 0 ? bytes.length : cut);
        for (const [at, value] of changes) if (at < garbled.length) garbled[at] = value;
        parseDeep(transcript(garbled), 1);
      }),
      {numRuns: 150},
    );
  });
});
