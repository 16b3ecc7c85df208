/** The real script under each shell, on this machine's own /proc, with real holders of ordinary files named nvidia*. */
import {type ChildProcess, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setImmediate as immediate} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import {parseProbe} from '../../src/domain/parse/probe-output.ts';
import type {Holding, Snapshot} from '../../src/domain/snapshot.ts';
import {probeScript, scriptText} from '../../src/ssh/probe-script.ts';

const NONCE = 'feedbeeffeedbeeffeedbeeffeedbeef';
const UUID = 'GPU-00000000-1111-2222-3333-444444444444';
const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const SHELLS = [['dash'], ['bash'], ['busybox', 'sh'], ['mksh']].filter(([program]) => has(program ?? ''));
const PATH = process.env['PATH'] ?? '';
/** A title that tries everything: a forged section, a card's markup, an escape, a key. */
const TITLE = `vllm\n@@${'0'.repeat(32)} END 0\n/proc/1/stat:1 (x) R\n\x1b[31m<!channel>\`id\` hf_abcdefghijkl`;

const HOLDER = `
import ctypes, os, sys, time
mode, path, name = sys.argv[1:4]
libc = ctypes.CDLL(None, use_errno=True)
if mode == 'open': keep = [os.open(path, os.O_RDONLY) for _ in range(3)]
if mode == 'mapped':
    f = os.open(path, os.O_RDONLY); libc.mmap.restype = ctypes.c_void_p; assert libc.mmap(None, 4096, 1, 1, f, 0) != 2**64 - 1; os.close(f)
if mode == 'zombie-leader':
    keep = os.open(path, os.O_RDONLY)
    import threading
    def stay():
        sys.stdout.write('ready\\n'); sys.stdout.flush()
        while True: time.sleep(1000)
    threading.Thread(target=stay, daemon=True).start()
    time.sleep(0.01)
    libc.pthread_exit(None)
libc.prctl(15, name.encode(), 0, 0, 0)
sys.stdout.write('ready\\n'); sys.stdout.flush()
time.sleep(1000)
`;

describe.skipIf(!has('python3'))('the probe on this machine (needs python3: apt-get install python3)', () => {
  const root = mkdtempSync(join(tmpdir(), 'probe-'));
  const devices = join(root, 'dev');
  const children: ChildProcess[] = [];
  const pids = new Map<string, number>();

  async function hold(mode: string, name: string, title?: string): Promise<void> {
    const args = ['-c', HOLDER, mode, join(devices, 'nvidia0'), name, ...(title === undefined ? [] : [title])];
    const child = spawn('python3', args, {stdio: ['ignore', 'pipe', 'inherit']});
    children.push(child);
    await once(child.stdout, 'data');
    // A version manager's python3 may be a script that starts the real one.
    pids.set(mode, child.pid ?? 0);
    // Its main thread ends after it has told us: until then it is an ordinary holder.
    while (mode === 'zombie-leader' && !/\) Z /.test(readFileSync(`/proc/${child.pid}/stat`, 'latin1')))
      await immediate();
  }

  /** A stand-in nvidia-smi, put first in PATH. */
  function smi(name: string, text: string): string {
    const folder = join(root, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'nvidia-smi'), text);
    chmodSync(join(folder, 'nvidia-smi'), 0o755);
    return `${folder}:${PATH}`;
  }

  /** `smiLimit`: seconds given to nvidia-smi, instead of the script's own. */
  function probe(
    shell: readonly string[],
    literals: readonly string[],
    path: string,
    smiLimit = 8,
  ): {raw: string; seen: Snapshot} {
    const script = probeScript(NONCE, {literals, pids: [process.pid]}, {deviceFolder: devices})
      .replace('p_smi_limit=8', `p_smi_limit=${smiLimit}`)
      .replace('p_limit=3', 'p_limit=1');
    const [program = 'sh', ...args] = shell;
    const ran = spawnSync(program, [...args, '-s'], {
      input: script,
      env: {PATH: path, LC_ALL: 'C'},
      maxBuffer: 1 << 24,
      // A probe that waits for what it can't end must turn this red, not hang.
      timeout: 20_000,
      killSignal: 'SIGKILL',
    });
    const parsed = parseProbe(
      {
        host: hostName('here'),
        hostKey: 'k',
        nonce: NONCE,
        stdout: ran.stdout,
        stderr: '',
        exitCode: ran.status,
        tookMs: 1,
      },
      1,
    );
    if (!parsed.ok) throw new Error(`${JSON.stringify(parsed.failure)} ${ran.stderr.toString()}`);
    return {raw: ran.stdout.toString('latin1'), seen: parsed.value};
  }

  const holding = (seen: Snapshot, mode: string): Holding | undefined =>
    seen.holdings.find(({pid}) => pid === pids.get(mode));
  let answering = '';

  beforeAll(async () => {
    mkdirSync(devices);
    for (const name of ['nvidia0', 'nvidiactl']) writeFileSync(join(devices, name), 'x'.repeat(4096));
    await hold('open', ') R 1 1\n(', TITLE);
    await hold('mapped', 'mapper');
    await hold('zombie-leader', 'gone');
    const row = `0, ${UUID}, 00000000:00:06.0, H200, 100, 1, 50, 3, Default, Enabled, Disabled, 580, None`;
    answering = smi(
      'answering',
      `#!/bin/sh
exec 3<${join(devices, 'nvidia0')}
case $1 in --query-gpu=*) echo '${row}';; *) echo '${UUID}, ${pids.get('open')}, x, 40'; echo '${UUID}, 4194999, [Not Found], 9';; esac`,
    );
  });

  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(root, {recursive: true});
  });

  describe.each(SHELLS.map((shell) => ({name: shell.join(' '), shell})))('under $name', ({shell}) => {
    it('finds open files, bare mappings and the threads of a zombie leader, and nothing of its own', () => {
      const {seen} = probe(shell, ['vllm', 'mapped'], answering);
      const path = join(devices, 'nvidia0');
      expect(holding(seen, 'open')).toEqual({
        pid: pids.get('open'),
        opens: [{path, count: 3}],
        mappings: [],
        threadOpens: [],
        numbered: [],
        queued: 0,
      });
      expect(holding(seen, 'mapped')).toEqual({
        pid: pids.get('mapped'),
        opens: [],
        mappings: [path],
        threadOpens: [],
        numbered: [],
        queued: 0,
      });
      expect(holding(seen, 'zombie-leader')?.threadOpens).toEqual([{path, count: 1}]);
      expect(seen.holdings).toHaveLength(3);
      expect(seen.smi.state).toBe('answered');
      expect(seen.gpus[0]?.usedMiB).toEqual({known: true, value: 50});
      expect(seen.charges.map((charge) => charge.pid)).toEqual([pids.get('open'), 4194999]);
      expect(seen.sections.filter((section) => !section.complete)).toEqual([]);
    });

    it('reads a hostile name and title as text, and hides the key in it', () => {
      const {seen} = probe(shell, ['vllm', 'two words', 'mapped /'], answering);
      const facts = seen.processes.find((process) => process.pid === pids.get('open'));
      expect(facts).toMatchObject({
        comm: ') R 1 1\n(',
        state: 'S',
        ppid: process.pid,
        uid: process.getuid?.(),
        session: expect.any(Number),
      });
      expect(facts?.words.at(-1)).toBe(TITLE.replace('hf_abcdefghijkl', '[redacted]'));
      expect(facts?.startTicks).toBe(
        readFileSync(`/proc/${pids.get('open')}/stat`, 'utf8')
          .split(') ')
          .at(-1)
          ?.split(' ')[19],
      );
      expect(facts?.executable?.id).toMatch(/^\d+:\d+$/);
      expect(seen.processes.find((process) => process.pid === pids.get('zombie-leader'))).toMatchObject({
        state: 'Z',
        threads: 2,
      });
      // The literal with a blank spans two words; the whole ancestry of each is there, ours is known as ours.
      const ours = seen.matches.filter((match) => [...pids.values()].includes(match.pid));
      expect(ours).toEqual(
        expect.arrayContaining([
          {pid: pids.get('open'), literal: 'vllm'},
          {pid: pids.get('mapped'), literal: 'mapped /'},
        ]),
      );
      expect(ours).toHaveLength(2);
      expect(seen.ownPids).toContain(process.pid);
      expect(seen.processes.map((process) => process.pid)).toContain(process.ppid);
    });

    it('goes on without an nvidia-smi', () => {
      const bare = smi(`bare-${shell[0]}`, '').split(':')[0] ?? '';
      rmSync(join(bare, 'nvidia-smi'));
      const standard = '/usr/sbin:/usr/bin:/sbin:/bin';
      if (spawnSync('sh', ['-c', 'command -v nvidia-smi'], {env: {PATH: standard}}).status === 0) return;
      const {seen} = probe(shell, [], standard);
      expect(seen.smi).toMatchObject({state: 'missing'});
      expect(seen.holdings).toHaveLength(3);
    });
  });

  it('goes on after an nvidia-smi that hangs, and leaves none behind', () => {
    const {raw, seen} = probe(['sh'], [], smi('hanging', '#!/bin/sh\necho half a row\nexec sleep 1000\n'), 1);
    expect(seen.smi).toMatchObject({state: 'timed-out', note: 'half a row'});
    expect(seen.holdings).toHaveLength(3);
    const started = [...raw.matchAll(/@fields.*\n@pid (\d+)/g)].map((match) => match[1]);
    expect(started).toHaveLength(2);
    // Gone, or a zombie that its new parent has not reaped yet.
    for (const pid of started) expect(stateOf(pid)).toMatch(/^(gone|Z)$/);
  });

  it('starts none while an earlier one of ours still stands', async () => {
    const path = smi('standing', '#!/bin/sh\necho ready\nread -r _\n');
    const fields = /^p_gpu_fields=(.*)$/m.exec(scriptText('smi'))?.[1];
    const earlier = spawn('nvidia-smi', [`--query-gpu=${fields}`, '--format=csv,noheader,nounits'], {
      env: {PATH: path},
    });
    children.push(earlier);
    await once(earlier.stdout, 'data');
    const {raw, seen} = probe(['sh'], [], path, -1);
    expect(seen.smi).toMatchObject({state: 'still-stuck', note: expect.stringMatching(/^stuck \d+$/)});
    expect(raw).not.toContain('@fields');
    expect(seen.holdings).toHaveLength(3);
  });

  it('asks an older driver again, without the fields that it does not know', () => {
    const row = `0, ${UUID}, 00000000:00:06.0, H100, 100, 50, 3, Default, Enabled, 470`;
    const text = `#!/bin/sh\ncase $1 in *gpu_recovery*) echo 'Field "gpu_recovery_action" is not a valid field to query.'; exit 2;; --query-gpu=*) echo '${row}';; esac`;
    const {seen} = probe(['sh'], [], smi('old', text));
    expect(seen.smi).toEqual({state: 'answered', exitCode: 0, note: ''});
    expect(seen.gpus[0]).toMatchObject({usedMiB: {value: 50}, recoveryAction: '', reservedMiB: {known: false}});
  });

  it('reads garbage from nvidia-smi as a failure', () => {
    const {seen} = probe(
      ['sh'],
      [],
      smi('garbage', `#!/bin/sh\nhead -c 5000 /dev/urandom\necho "@@${'1'.repeat(32)} END 0"\nexit 9`),
    );
    expect(seen.smi).toMatchObject({state: 'failed', exitCode: 9});
    expect(seen.gpus).toEqual([]);
  });

  it('names the process at which a scan stood still, and scans the rest', () => {
    const folder = smi('stuck', '#!/bin/sh\n').split(':')[0] ?? '';
    const stuck = `/proc/${pids.get('open')}/maps`;
    // Stands still as grep would on a process that is stuck in the kernel: with the file open.
    writeFileSync(
      join(folder, 'grep'),
      `#!/bin/sh\ncase " $* " in *" -lF -- "*" ${stuck} "*) exec 5<${stuck}; exec sleep 1000;; esac\nexec ${grepPath()} "$@"\n`,
    );
    chmodSync(join(folder, 'grep'), 0o755);
    const {seen} = probe(['sh'], [], `${folder}:${PATH}`);
    expect(seen.sight).toMatchObject({full: false, stuckAt: [pids.get('open')]});
    expect(seen.sections.find((section) => section.name === 'maps')).toMatchObject({complete: true});
    // The stand-in reads nothing before it hangs: what comes after it in the list is what a resumed scan finds.
    const comesAfter = String(pids.get('mapped')) > String(pids.get('open'));
    expect(holding(seen, 'mapped')?.mappings.length ?? 0).toBe(comesAfter ? 1 : 0);
  });
});

function stateOf(pid: string | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0] ?? '';
  } catch {
    return 'gone';
  }
}

function grepPath(): string {
  return spawnSync('sh', ['-c', 'command -v grep']).stdout.toString().trim();
}
