/** Memory that nobody explains: which causes are left, which are ruled out and by what, and what would tell the rest apart. */
import type {DeepLook} from '../domain/deep.ts';
import {isWhole} from '../domain/readiness.ts';
import type {Snapshot} from '../domain/snapshot.ts';
import {plural} from './amounts.ts';
import {safeLine} from './safe-text.ts';

/** `seen`: a trace of it was found · `possible`: nothing speaks against it · `ruled-out`: it was looked for, whole, and is not there. */
export interface Cause {
  readonly state: 'seen' | 'possible' | 'ruled-out';
  /** What it is, and what told or would tell. Host text in it is made safe. */
  readonly text: string;
}

const MOST_PIDS = 5;

/** Every cause that is known of, in the order in which it is worth to look; for one look at a host, deeper or not. */
export function causesOf(snapshot: Snapshot): readonly Cause[] {
  const {deep} = snapshot;
  const causes = [
    ...(deep === null
      ? [
          possible(
            'a holder that only a deeper look shows (device numbers, sockets, io_uring): none was taken or came back',
          ),
        ]
      : [byNumber(deep), inQueues(snapshot, deep), inModules(deep)]),
    exported(snapshot),
    outOfSight(snapshot),
    possible('a virtual machine or vGPU that was given the GPU: "nvidia-smi vgpu" on the host of the machines tells'),
  ];
  const open = causes.filter((cause) => cause.state !== 'ruled-out').length;
  return [
    ...causes.filter((cause) => cause.state === 'seen'),
    ...causes.filter((cause) => cause.state === 'possible'),
    possible(
      `a leak in the driver: what is left when ${open === 0 ? 'all else is' : 'the others are'} ruled out; a Xid or a recovery action of nvidia-smi speaks for it, and a reset of the drained GPU or a reboot ends it`,
    ),
    ...causes.filter((cause) => cause.state === 'ruled-out'),
  ];
}

/** "possible: …" and so on, one line each. */
export function causeLines(snapshot: Snapshot): readonly string[] {
  return causesOf(snapshot).map(({state, text}) => `${STATE_WORD[state]}: ${text}`);
}

const STATE_WORD: Readonly<Record<Cause['state'], string>> = {
  seen: 'seen',
  possible: 'possible',
  'ruled-out': 'ruled out',
};

function byNumber(deep: DeepLook): Cause {
  const sections = ['numbers', 'network', 'mapped'];
  const known = new Set(deep.numbered.map((one) => one.pid));
  if (known.size > 0 && isWhole(deep, ...sections))
    return ruledOut('a device under another name: every holder by device number is listed');
  return isWhole(deep, ...sections)
    ? ruledOut('a device under another name or in another mount namespace: nobody holds one, by device number')
    : possible('a device under another name or in another mount namespace: device numbers were not read whole');
}

/** What waits in a socket does not say what it is: it may be these files, or any others. */
function inQueues(snapshot: Snapshot, deep: DeepLook): Cause {
  const waiting = [...deep.queued.filter((one) => one.count > 0), ...deep.rings.filter((one) => one.files > 0)];
  const pids = [...new Set(waiting.map((one) => one.pid))];
  if (pids.length > 0) {
    const names = pids.slice(0, MOST_PIDS).map((pid) => `PID ${pid} ${nameOf(pid, snapshot)}`.trimEnd());
    const more = pids.length - names.length;
    return {
      state: 'seen',
      text: `files that wait in a socket or an io_uring of ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}; which files cannot be seen, the end of that process would tell`,
    };
  }
  return isWhole(deep, 'queue') && countsQueued(snapshot.kernel)
    ? ruledOut('files that wait in a socket or an io_uring: none wait anywhere (scm_fds, UserFiles of fdinfo)')
    : possible('files that wait in a socket or an io_uring: fdinfo was not read whole (scm_fds needs Linux 5.12)');
}

/** `scm_fds` is in fdinfo since Linux 5.12: before that, none is what any host says. */
function countsQueued(kernel: string): boolean {
  const [, major = '', minor = ''] = /^(\d+)\.(\d+)/.exec(kernel) ?? [];
  return Number(major) > 5 || (Number(major) === 5 && Number(minor) >= 12);
}

function inModules(deep: DeepLook): Cause {
  const used = Object.entries(deep.modules).filter(([name, uses]) => uses > 0 && PINS.test(name));
  if (used.length > 0)
    return {
      state: 'seen',
      text: `memory pinned for another driver: ${used.map(([name, uses]) => `${safeLine(name, 30)} is used ${uses}×`).join(', ')}; ending what uses it (RDMA, GPUDirect) would tell`,
    };
  return isWhole(deep, 'modules')
    ? ruledOut('memory pinned for another driver: no such module is in use (/proc/modules)')
    : possible('memory pinned for another driver (RDMA, GPUDirect): /proc/modules was not read');
}

/** Modules that keep GPU memory for other drivers, by their names in /proc/modules. */
const PINS = /^(gdrdrv|nvidia_fs|nvidia_p2p_dma_buf|.*peer_?mem)$/;

/** Exported memory needs no more than an open nvidiactl, which every CUDA program has as well. */
function exported(snapshot: Snapshot): Cause {
  const pids = snapshot.holdings
    .filter(({opens, mappings, threadOpens}) => {
      const paths = [...opens, ...threadOpens].map((open) => open.path).concat(mappings);
      return paths.length > 0 && paths.every((path) => /\/nvidiactl( \(deleted\))?$/.test(path));
    })
    .map((holding) => holding.pid);
  if (pids.length === 0)
    return possible(
      "memory that was exported to a process which stays, here (CUDA IPC) or on another node (NVLink fabric): the end of the importer's work would tell",
    );
  const names = pids.slice(0, MOST_PIDS).map((pid) => `PID ${pid} ${nameOf(pid, snapshot)}`.trimEnd());
  return {
    state: 'seen',
    text: `memory that was exported to ${names.join(', ')}, which ${pids.length === 1 ? 'has' : 'have'} only nvidiactl open; a restart by the owner would tell`,
  };
}

function outOfSight({sight}: Snapshot): Cause {
  const blind: string[] = [];
  if (sight.foreignPidNamespace) blind.push('we look from inside another PID namespace');
  if (sight.unreadableFdFolders > 0)
    blind.push(`${plural(sight.unreadableFdFolders, 'process', 'processes')} could not be read`);
  if (sight.euid !== 0 && sight.hidepid !== '0') blind.push('/proc hides processes (hidepid)');
  if (sight.stuckAt.length > 0)
    blind.push(`reading stood still at PID ${sight.stuckAt.slice(0, MOST_PIDS).join(', ')}`);
  if (blind.length > 0)
    return possible(`a process that we may not see: ${blind.join('; ')}; a look as root on the host itself would tell`);
  return sight.full
    ? ruledOut('a process that we may not see: every process was read')
    : possible('a process that we may not see: the look was not whole; a look as root would tell');
}

function nameOf(pid: number, snapshot: Snapshot): string {
  const process = snapshot.processes.find((one) => one.pid === pid);
  return process === undefined ? '' : safeLine(process.comm, 20);
}

function possible(text: string): Cause {
  return {state: 'possible', text};
}

function ruledOut(text: string): Cause {
  return {state: 'ruled-out', text};
}
