/** Real processes that hold things as they are told to, in a mount and PID namespace of their own (as root). */
import {type ChildProcess, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';

/** Says one line for each line that it is told: the answer, or why not. Ends at the end of its input. */
const KEEPER = `
import ctypes, os, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
kept = {}
def keep_open(path):
    kept[path] = os.open(path, os.O_RDWR | os.O_CREAT)
def close():
    for fd in kept.values(): os.close(fd)
    kept.clear()
def map_private(path):
    fd = os.open(path, os.O_RDWR)
    assert libc.mmap(None, ctypes.c_size_t(4096), 3, 2, fd, ctypes.c_long(0)) != 2**64 - 1
    os.close(fd)
def map_shared(path):
    fd = os.open(path, os.O_RDWR)
    assert libc.mmap(None, ctypes.c_size_t(4096), 3, 1, fd, ctypes.c_long(0)) != 2**64 - 1
    os.close(fd)
def queue(path, count):
    # The sender dies with the descriptors under way.
    sender, receiver = socket.socketpair()
    child = os.fork()
    if child == 0:
        fd = os.open(path, os.O_RDWR)
        socket.send_fds(sender, [b"x"], [fd] * int(count))
        os._exit(0)
    os.waitpid(child, 0)
    sender.close()
    kept["queue"] = receiver.detach()
def receive():
    receiver = socket.socket(fileno=kept.pop("queue"))
    for fd in socket.recv_fds(receiver, 1, 100)[1]: os.close(fd)
    receiver.close()
def ring(*paths):
    ring = libc.syscall(425, 8, ctypes.create_string_buffer(120))
    if ring < 0: return "refused"
    fds = [os.open(path, os.O_RDWR) for path in paths]
    # An empty place between them.
    if libc.syscall(427, ring, 2, (ctypes.c_int * (len(fds) + 1))(fds[0], -1, *fds[1:]), len(fds) + 1) < 0: return "refused"
    for fd in fds: os.close(fd)
    kept["ring"] = ring
    return str(ring)
def listen(family):
    server = socket.socket(socket.AF_INET6 if family == "6" else socket.AF_INET)
    server.bind(("::1" if family == "6" else "127.0.0.1", 0))
    server.listen()
    kept["listen" + family] = server.detach()
    return str(socket.socket(fileno=os.dup(kept["listen" + family])).getsockname()[1])
def segment():
    return str(libc.shmget(0, ctypes.c_size_t(8 << 20), 0o1600))
def dead_mount(path):
    # A FUSE mount whose server never answers: each stat of it waits until it is killed.
    fuse = os.open("/dev/fuse", os.O_RDWR)
    options = ("fd=%d,rootmode=40000,user_id=0,group_id=0" % fuse).encode()
    if libc.mount(b"dead", path.encode(), b"fuse", 0, options) < 0: return "refused"
    kept["fuse"] = fuse
    kept["below"] = os.open(path, os.O_PATH)
def name(): libc.prctl(15, b") Z 1 1\\n(@ x", 0, 0, 0)
def serve():
    print("ready", os.getpid(), flush=True)
    for line in sys.stdin:
        word, *words = line.split()
        print(globals()[word](*words) or "did", flush=True)
    os._exit(0)
if sys.argv[1:] == ["leader"]:
    threading.Thread(target=serve).start()
    libc.pthread_exit(None)
serve()
`;

export interface Keeper {
  /** In its own namespace. */
  readonly pid: number;
  readonly child: ChildProcess;
  tell(words: string): Promise<string>;
}

/** A small host of its own: its own processes, /dev/shm, IPC and network, and a /proc/devices that calls major 1 `nvidia`. */
export interface Cell {
  readonly folder: string;
  readonly devices: string;
  /** In front of a command that is to run in it. */
  readonly enter: readonly string[];
  keeper(...args: readonly string[]): Promise<Keeper>;
  end(): Promise<void>;
}

export const CAN_MAKE_CELLS =
  process.getuid?.() === 0 && spawnSync('unshare', ['-mpinf', '--mount-proc', 'true']).status === 0;

export async function makeCell(): Promise<Cell> {
  const folder = mkdtempSync(join(tmpdir(), 'reclaim-cell-'));
  const devices = join(folder, 'dev');
  mkdirSync(devices);
  writeFileSync(join(devices, 'nvidia0'), Buffer.alloc(4096));
  // As it is, with the memory devices (1) under a driver's name, and 7, which loop has among block devices.
  const numbers = readFileSync('/proc/devices', 'latin1')
    .replace(/^ *1 mem$/m, '  1 nvidia-uvm')
    .replace('\n\nBlock', '\n  7 nvidia-caps\n\nBlock');
  writeFileSync(join(folder, 'numbers'), numbers);
  const script = [
    'set -e',
    `mount --bind '${folder}/numbers' /proc/devices`,
    'mount -t tmpfs shm /dev/shm',
    'ip link set lo up 2>/dev/null || :',
    'echo ready',
    'exec cat',
  ].join('\n');
  const first = spawn('unshare', ['-mpinf', '--mount-proc', '--kill-child', 'sh', '-c', script], {
    stdio: 'pipe',
  });
  const ended = once(first, 'close');
  await once(first.stdout, 'data');
  const pid = readFileSync(`/proc/${first.pid}/task/${first.pid}/children`, 'latin1').trim();
  const enter = ['nsenter', '-t', pid, '-m', '-p', '-i', '-n', '--'];
  const keepers: ChildProcess[] = [];
  return {
    folder,
    devices,
    enter,
    async keeper(...args) {
      const [program = 'nsenter', ...words] = enter;
      const child = spawn(program, [...words, 'python3', '-ISc', KEEPER, ...args], {stdio: 'pipe'});
      keepers.push(child);
      child.stdin.on('error', () => {});
      const waiting: ((line: string) => void)[] = [];
      createInterface({input: child.stdout}).on('line', (line) => waiting.shift()?.(line));
      const answer = (): Promise<string> =>
        new Promise((resolve, reject) => {
          waiting.push(resolve);
          child.once('close', () => reject(new Error(`a keeper ended: ${child.stderr.read() ?? ''}`)));
        });
      const ready = await answer();
      return {
        pid: Number(ready.slice('ready '.length)),
        child,
        tell(words) {
          const said = answer();
          child.stdin.write(`${words}\n`);
          return said;
        },
      };
    },
    async end() {
      for (const keeper of keepers) keeper.stdin?.end();
      // The first process of the namespace ends with its input, and all others with it.
      first.stdin.end();
      await ended;
      rmSync(folder, {recursive: true, force: true, maxRetries: 5});
    },
  };
}
