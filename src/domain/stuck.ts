/** Whether a process is stuck in the kernel: from the state of its threads, and from the stacks that a deeper look read. */
import type {KernelState} from './deep.ts';
import type {Evidence} from './finding.ts';
import {maskHas} from './signal.ts';
import type {ProcessFacts, Snapshot} from './snapshot.ts';

/** Names of NVIDIA's kernel modules in a stack (kallsyms); `nvme_…` is another company's disk. */
const DRIVER = /nvidia|^_?nv_|^_nv\d|^nvkms|^nvUvm|^uvm_|^rm_|^os_/;
/** On its way out already: the signal is taken and so no longer pending (kernel/exit.c). */
const EXITING = /^(do_exit|do_group_exit|make_task_dead)\b/;

/** What holds a thread in the kernel. `D`: uninterruptible sleep · `R-in-driver`: runs, and stands in NVIDIA's driver. */
export type StuckBy = 'D' | 'R-in-driver';

/**
 * The threads of `pid` that stand in the kernel, as a deeper look saw them, each with its evidence. One look can't tell
 * whether they will move on: it proves something only of a process that got its kill -9.
 */
export function threadsInKernel(
  pid: number,
  snapshot: Snapshot,
): readonly {readonly by: StuckBy; readonly dying: boolean; readonly evidence: Evidence}[] {
  return (snapshot.deep?.kernel ?? []).flatMap((thread) => {
    if (thread.pid !== pid) return [];
    const by = stuckBy(thread);
    if (by === null) return [];
    const exiting = thread.stack?.some((name) => EXITING.test(name)) ?? false;
    return [{by, dying: thread.killPending || exiting, evidence: evidenceOf(thread, exiting)}];
  });
}

/** Evidence that it has a kill -9 which it cannot take; empty if that is not so, or cannot be seen. */
export function stuckEvidence(process: ProcessFacts, snapshot: Snapshot): readonly Evidence[] {
  const dying = threadsInKernel(process.pid, snapshot).filter((thread) => thread.dying);
  if (dying.length > 0) return dying.map((thread) => thread.evidence);
  // Without stacks: state D alone may be any read of a disk, but a pending SIGKILL is taken before anything else.
  if (process.state !== 'D' || !maskHas(process.signalPending, 'SIGKILL')) return [];
  return [{source: 'process', fact: 'state D, kill -9 pending; where it stands was not read'}];
}

function stuckBy(thread: KernelState): StuckBy | null {
  if (thread.state === 'D') return 'D';
  return thread.state === 'R' && driverFunction(thread) !== null ? 'R-in-driver' : null;
}

/** The driver's function that it stands in: the innermost one. */
function driverFunction(thread: KernelState): string | null {
  return thread.stack?.find((name) => DRIVER.test(name)) ?? null;
}

function evidenceOf(thread: KernelState, exiting: boolean): Evidence {
  const driver = driverFunction(thread);
  const at = driver ?? thread.stack?.[0];
  const parts = [
    `thread ${thread.tid} in state ${thread.state}`,
    ...(thread.killPending ? ['kill -9 pending'] : exiting ? ['dying already'] : []),
    ...(at === undefined
      ? []
      : [`stands in ${at}${driver === null ? ', not in the GPU driver' : ' of the GPU driver'}`]),
    ...(thread.wchan === null || thread.wchan === at ? [] : [`waits in ${thread.wchan}`]),
    ...(thread.stack === null ? ['its kernel stack could not be read'] : []),
  ];
  return {source: 'kernel', fact: parts.join(', ')};
}
