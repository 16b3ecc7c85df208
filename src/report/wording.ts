/** The one table of words for findings, states, outcomes and reasons. */
import type {Belonging, GpuReason, GpuState} from '../domain/diagnosis.ts';
import type {FindingKind} from '../domain/finding.ts';
import type {Observation, OrderResult} from '../domain/order.ts';
import type {OutcomeWord, Survivor} from '../domain/outcome.ts';
import type {Kept} from '../domain/plan.ts';
import type {Drift, RunPhase} from '../domain/run.ts';
import {clockTime} from './amounts.ts';
import {safeLine} from './safe-text.ts';

export const FINDING_WORD: Readonly<Record<FindingKind, string>> = {
  workload: 'workload',
  renamed: 'renamed',
  deaf: 'ignores SIGTERM',
  stopped: 'stopped',
  inheritor: 'ghost: child of a dead process',
  'zombie-leader': 'zombie leader, threads alive',
  'mapping-only': 'mapping only',
  importer: "holds another's memory",
  'in-flight': 'device files wait in its socket',
  stuck: 'stuck in the kernel',
  writing: 'writing a file',
  impostor: 'only called like a daemon',
  unreaped: 'unreaped zombie',
  contained: 'contained',
  protected: 'protected',
  bystander: 'in use',
  monitor: 'monitor',
  server: 'server, holds no GPU',
  'name-only': 'name matches, holds no GPU',
};

/** What each finding means, for the person who reads it at 2 a.m. */
export const FINDING_MEANING: Readonly<Record<FindingKind, string>> = {
  workload: 'Holds the GPU and its name matches.',
  renamed: 'Holds the GPU under another name than the one searched for; found by what it holds, not by name.',
  deaf: 'Ignores or blocks SIGTERM; only kill -9 ends it, so nobody waits for it.',
  stopped:
    'Stopped (Ctrl-Z or SIGSTOP): a SIGTERM would wait for ever; kill -9 ends it. Its user may want to resume it.',
  inheritor:
    'Its parent is dead, but it was forked with the device files open: the driver still bills the dead PID, and the memory ends only with this one.',
  'zombie-leader':
    'Its main thread is gone and shows as a zombie, yet other threads hold the GPU; fuser and lsof do not see it.',
  'mapping-only': 'Closed every device file and kept a mapping: only /proc/PID/maps shows it.',
  importer:
    "Holds memory that another process made (CUDA IPC or exported memory): the bill was the other one's and may move here. It may be healthy and shared.",
  'in-flight':
    'Files were sent to its socket and never received, or stay registered with its io_uring: no scan of open files shows them. If they are device files, the memory ends only with it.',
  stuck:
    'Has its kill -9 and cannot take it: a thread sits in the kernel. Another signal changes nothing; drain the host and reboot it.',
  writing: 'Writes a trace, a checkpoint or a model right now: ended now, that file would be cut.',
  impostor: 'Is called like a daemon that hosts need, but its program file is another one: not protected.',
  unreaped: 'Dead already and holds nothing; its parent has to reap it. No signal helps.',
  contained: 'Runs in a container, unit or job that may start it again; stop it there.',
  protected: 'A daemon that the host needs. Never signalled.',
  bystander: "Somebody's live work. Kept unless it is chosen by hand.",
  monitor: 'Only reads the GPUs, and ends by itself.',
  server: 'Holds no GPU itself, and would start its workers again.',
  'name-only': 'Only its name matches. Never signalled for that.',
};

export const STATE_WORD: Readonly<Record<GpuState, string>> = {
  clean: 'clean',
  occupied: 'occupied',
  dirty: 'dirty',
  unknown: 'unknown',
};

export const OUTCOME_WORD: Readonly<Record<OutcomeWord, string>> = {
  reclaimed: 'reclaimed',
  partly: 'partly reclaimed',
  'nothing-freed': 'nothing freed',
  'nothing-to-do': 'nothing to do',
  'stood-down': 'stood down, nothing sent',
  'dry-run': 'dry run, nothing was changed',
  denied: 'denied, nothing sent',
  expired: 'expired, nothing sent',
  cancelled: 'cancelled',
  interrupted: 'interrupted',
  failed: 'failed',
  unknown: 'unknown, not everything could be read',
};

export const OUTCOME_SIGN: Readonly<Record<OutcomeWord, string>> = {
  reclaimed: '✅',
  partly: '🟡',
  'nothing-freed': '🔴',
  'nothing-to-do': '⚪',
  'stood-down': '⚪',
  'dry-run': '⚪',
  denied: '⚪',
  expired: '⚪',
  cancelled: '🟡',
  interrupted: '🟡',
  failed: '🔴',
  unknown: '❓',
};

export const KEPT_WORD: Readonly<Record<Kept['why'], string>> = {
  protected: 'protected',
  monitor: 'monitor',
  'in-use': 'in use, kept',
  'outside-gpus': 'also uses other GPUs, kept',
  contained: 'contained, kept',
  'no-identity': 'cannot be identified, locked',
  'name-only': 'only its name matches',
  unreaped: 'unreaped zombie, holds nothing',
  unticked: 'left by choice, kept',
  'no-holder': 'holds no GPU, never signalled',
  'own-session': 'our own session',
  detached: 'detached (parent is PID 1), kept',
  'possible-keeper': 'may keep it, not proven; kept',
  importer: 'has memory of a dead one; kept',
  'gpu-fault': 'its GPU reports a fault, kept',
  stuck: 'stuck in the kernel, has its kill -9',
};

export const GPU_REASON: Readonly<Record<GpuReason, string>> = {
  fault: 'the GPU reports a fault, so its figures are not to be trusted',
  'smi-failed': 'nvidia-smi failed',
  'smi-missing': 'nvidia-smi was not found; set extraPath for this host if it lives elsewhere',
  'smi-timed-out': 'nvidia-smi does not answer',
  'figure-missing': 'nvidia-smi gives no memory figure for it',
  'not-all-readable': "other users' processes could not be read; sudo for the look account would show them",
  'foreign-pid-namespace': 'we look from inside another PID namespace, where the driver names strangers',
  hidepid: "/proc hides other users' processes (hidepid)",
  'scan-incomplete': 'a part of the scan did not finish',
  'dead-charge-without-holder':
    'a dead PID is billed and nobody was found to keep its files: device files in flight in a socket, or a holder that could not be seen',
  'no-holder-anywhere': 'no holder was found for a part of it',
  'possible-keeper': 'no holder is proven for a part of it; who may keep it is named below',
  'instance-unplaced': 'bills of MIG instances could not be placed on one GPU',
  xid: "the kernel's log names it (Xid)",
  'kernel-module': 'a kernel module that keeps GPU memory without a process is in use',
};

export const SURVIVOR_WHY: Readonly<Record<Survivor['why'], string>> = {
  'not-signalled': 'was not signalled',
  'not-permitted': 'the act account may not signal it; it needs sudo on that host',
  'denied-by-host': '/etc/gpu-reclaim/deny on the host forbids it',
  late: 'the host answered too late, so nothing was sent; ask again',
  'stuck-in-kernel': 'does not end although kill -9 was sent: stuck in the kernel; drain the host, a reboot frees it',
  'outlived-kill': 'is still there after its kill -9; what keeps it was not seen, and another changes nothing',
  'run-stopped': 'the run was stopped before kill -9 was due; ask again',
  'ignored-sigterm': 'did not end by SIGTERM, and kill -9 was not part of this go',
  unreaped: 'dead, waits for its parent',
  'no-answer': 'the host did not answer the closing look',
  'cannot-see': 'could not be read, so it was not signalled; the act account needs sudo',
};

export const RESULT_WORD: Readonly<Record<OrderResult, string>> = {
  sent: 'sent',
  gone: 'gone already',
  replaced: 'another process has this PID now, nothing sent',
  'not-holding': 'holds no GPU any more, nothing sent',
  unreadable: 'could not be read, nothing sent',
  'other-machine': 'another boot or namespace, nothing sent',
  late: 'too late, nothing sent',
  'denied-by-host': 'forbidden by /etc/gpu-reclaim/deny, nothing sent',
  'not-permitted': 'not permitted',
  failed: 'refused by the kernel',
};

export const SEEN_WORD: Readonly<Record<Observation, string>> = {
  alive: 'alive',
  zombie: 'dead, unreaped',
  stuck: 'still ending',
  gone: 'gone',
  replaced: 'gone, PID reused',
};

export const DRIFT_WORD: Readonly<Record<Drift['what'], string>> = {
  gone: 'ended by itself',
  replaced: 'is another process now',
  'not-holding': 'holds no GPU any more',
  'new-holder': 'is new on these GPUs',
  'memory-grew': 'grew',
  'memory-fell': 'shrank',
  'now-protected': 'is protected now',
  'machine-changed': 'the machine is another',
  unreadable: 'cannot be read any more',
};

/** Why a target belongs to what was asked for. */
export function belongingWords(belonging: Belonging): string {
  switch (belonging.by) {
    case 'named':
      return `matches "${safeLine(belonging.literal, 30)}"`;
    case 'pid':
      return 'named by PID';
    case 'user':
      return 'named by user';
    case 'gpus':
      return 'named with include-others';
    case 'ghost':
      if (belonging.deadPids.length === 0) return 'worker without its server';
      return belonging.deadPids.length > 2
        ? `billed to ${belonging.deadPids.length} dead PIDs`
        : `billed to dead PID ${belonging.deadPids.join(', ')}`;
    case 'parents':
      return `family of PID ${belonging.ancestorPid} ${safeLine(belonging.ancestorName, 20)}`;
    case 'session':
      return `shares session ${belonging.id} with PID ${belonging.sharedWithPid}`;
    case 'process-group':
      return `shares process group ${belonging.id} with PID ${belonging.sharedWithPid}`;
    case 'cgroup':
      return `shares a unit with PID ${belonging.sharedWithPid}`;
    case 'earlier-look':
      return `seen at ${clockTime(belonging.seenAtMs).slice(0, 5)} UTC below PID ${belonging.ancestorPid} ${safeLine(belonging.ancestorName, 20)}`;
  }
}

/** Of a run that has no outcome yet. */
export const OPEN_WORD: Readonly<Record<RunPhase, string>> = {
  looking: 'looking',
  'awaiting-go': 'waits for a go',
  executing: 'at work',
  closed: 'over',
};
