/** The real script under each shell, with real processes that write real files on this machine. */
import {type ChildProcess, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import {parseWrites} from '../../src/domain/parse/writes.ts';
import {growing, type WritesLook} from '../../src/domain/writing.ts';
import {writesScript} from '../../src/ssh/writes-script.ts';

const NONCE = 'feedbeeffeedbeeffeedbeeffeedbeef';
const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const SHELLS = [['dash'], ['bash'], ['busybox', 'sh'], ['mksh']].filter(([program]) => has(program ?? ''));
const PATH = process.env['PATH'] ?? '';
const AS_ROOT = process.getuid?.() === 0;

/** Names that try everything, none of which may become a line or a word of ours. */
const HOSTILE = `a b\n@rc 0\n@@${NONCE} end open.2 0\n$(id) 'q" \x1b[31m<!channel>.json.gz`;

/** Writes as fast as a little sleep lets it; its child writes too. All other files stand still. */
const WRITER = `
import os, sys, threading, time
folder, hostile = sys.argv[1:3]
def opened(name, flags=os.O_WRONLY): return os.open(os.path.join(folder, name), flags | os.O_CREAT, 0o644)
trace, log, still = opened(hostile), opened('server.log'), opened('still.pt')
both, read = opened('both.npz', os.O_RDWR), opened('still.pt', os.O_RDONLY)
preset = opened('preset.ckpt'); os.truncate(preset, 1 << 30)
# Moves where it reads, which is no writing.
os.write(both, b'x' * (1 << 22)); os.lseek(both, 0, 0)
gone = opened('gone.pt'); os.unlink(os.path.join(folder, 'gone.pt'))
child = os.fork()
if child == 0:
    for fd in (trace, log, still, both, read, preset, gone): os.close(fd)
    report = opened('report.nsys-rep')
    while True: os.write(report, b'x' * 4096); time.sleep(0.005)
sys.stdout.write('%d\\n' % child); sys.stdout.flush()
while True:
    for fd in (trace, log, preset, gone): os.write(fd, b"x" * 4096)
    os.read(both, 1024)
    time.sleep(0.005)
`;

describe.skipIf(!has('python3'))('what processes write (needs python3: apt-get install python3)', () => {
  const root = mkdtempSync(join(tmpdir(), 'writes-'));
  const files = join(root, 'files');
  const children: ChildProcess[] = [];
  let writer = 0;
  let child = 0;

  function look(shell: readonly string[], pids: readonly number[], path = PATH, uid?: number): WritesLook {
    const [program = 'sh', ...args] = shell;
    const ran = spawnSync(program, [...args, '-s'], {
      input: writesScript(NONCE, pids),
      env: {PATH: path},
      // A look that waits for what it can't end must turn this red, not hang.
      timeout: 30_000,
      killSignal: 'SIGKILL',
      ...(uid === undefined ? {} : {uid}),
    });
    const about = {host: hostName('here'), hostKey: 'k', nonce: NONCE, exitCode: ran.status, tookMs: 1};
    const parsed = parseWrites({...about, stdout: ran.stdout, stderr: ''}, pids);
    if (!parsed.ok) throw new Error(`${JSON.stringify(parsed.failure)} ${ran.stderr.toString()}`);
    return parsed.value;
  }

  beforeAll(async () => {
    mkdirSync(files);
    const started = spawn('python3', ['-c', WRITER, files, HOSTILE], {stdio: ['ignore', 'pipe', 'inherit']});
    children.push(started);
    writer = started.pid ?? 0;
    const [said] = (await once(started.stdout, 'data')) as [Buffer];
    child = Number(said.toString());
  });

  afterAll(() => {
    for (const one of children) one.kill('SIGKILL');
    if (child > 0) process.kill(child, 'SIGKILL');
    rmSync(root, {recursive: true});
  });

  describe.each(SHELLS.map((shell) => ({name: shell.join(' '), shell})))('under $name', ({shell}) => {
    it('are the files that grow, by whom, and how fast; whatever they are called', () => {
      const seen = look(shell, [writer, 4_194_999]);
      const {files: grown, unread} = growing(seen);
      const found = Object.fromEntries(grown.map((one) => [one.path.slice(files.length + 1), one]));
      expect(Object.keys(found).toSorted()).toEqual([HOSTILE.replaceAll('\n', '?'), 'preset.ckpt', 'report.nsys-rep']);
      expect(found['report.nsys-rep']).toMatchObject({pid: writer, writerPid: child, what: 'trace'});
      expect(found['preset.ckpt']).toMatchObject({pid: writer, writerPid: writer, what: 'checkpoint'});
      for (const one of grown) expect(one.MiBPerSecond).toBeGreaterThan(0);
      expect(unread).toEqual([]);
      expect(seen.overMs).toBeGreaterThanOrEqual(400);
      const names = seen.files.map(({path}) => path.split('/').at(-1));
      expect(names).toEqual(expect.arrayContaining(['server.log', 'still.pt', 'both.npz', 'gone.pt (deleted)']));
    });
  });

  it('goes on without the size where a mount does not answer, and leaves the look its other half', () => {
    const folder = join(root, 'slow');
    mkdirSync(folder);
    const real = spawnSync('sh', ['-c', 'command -v stat']).stdout.toString().trim();
    // Stands still as stat does on a dead network share, for the one file that lies on it.
    const pidFile = join(root, 'hung');
    writeFileSync(
      join(folder, 'stat'),
      `#!/bin/sh\ncase " $* " in *" -L "*) echo $$ >>${pidFile}; exec sleep 1000;; esac\nexec ${real} "$@"\n`,
    );
    chmodSync(join(folder, 'stat'), 0o755);
    let seen: WritesLook;
    try {
      seen = look(['sh'], [writer], `${folder}:${PATH}`);
    } finally {
      for (const pid of readFileSync(pidFile, 'utf8').trim().split('\n')) process.kill(Number(pid), 'SIGKILL');
    }
    const {files: grown, unread} = growing(seen);
    // Positions tell of those that only write.
    expect(grown.map(({path}) => path.split('/').at(-1))).toEqual(
      expect.arrayContaining(['preset.ckpt', 'report.nsys-rep']),
    );
    expect(unread.map(({path}) => path?.split('/').at(-1)).toSorted()).toEqual(['both.npz', 'still.pt']);
  });

  it.skipIf(!AS_ROOT)('says whose open files are not for us to read (needs root, to be somebody else)', () => {
    const {unread, files: seen} = look(['sh'], [writer], PATH, 65_534);
    expect(unread).toEqual([{pid: writer, path: null, why: 'refused'}]);
    expect(seen).toEqual([]);
  });
});

it('the text of a look runs nothing when it was cut anywhere, and takes nothing but PIDs', () => {
  const lines = writesScript(NONCE, [7, 12]).trimEnd().split('\n');
  expect(lines[0]).toBe(':');
  expect(lines.at(-1)).toBe(`NONCE=${NONCE}; writes_main 7 12 </dev/null; exit $?`);
  for (const kept of [1, 30, Math.floor(lines.length / 2), lines.length - 1]) {
    expect(spawnSync('sh', ['-s'], {input: `${lines.slice(0, kept).join('\n')}\n`}).stdout.toString()).toBe('');
  }
  for (const stray of [0, -1, 1.5, Number.NaN]) expect(() => writesScript(NONCE, [stray])).toThrow(/^Internal error/);
});
