/** What one more look means for a schedule that waits: has its process ended, have its hosts been idle for long enough? */
import type {PinnedProcess, Watch, Why} from './schedule.ts';
import type {Snapshot} from './snapshot.ts';

/**
 * How the pinned process ended by this look; null: it is there. Another boot is an end, since no process survives one; the
 * same PID with other start ticks is another process.
 */
export function howEnded(pinned: PinnedProcess, look: Snapshot): Extract<Why, {kind: 'exited'}>['how'] | null {
  if (look.machine.bootId !== pinned.bootId) return 'reboot';
  const found = look.processes.find((process) => process.pid === pinned.pid);
  // A zombie is dead: only its parent has not asked yet. One whose other threads live is not.
  if (found === undefined || (found.state === 'Z' && found.threads <= 1) || found.state === 'X') return 'gone';
  return found.startTicks === pinned.startTicks ? null : 'replaced';
}

/** The same process as a look shows it now; null if it is not there. */
export function pin(
  look: Snapshot,
  pid: number,
  titleOf: (process: Snapshot['processes'][number]) => string,
): PinnedProcess | null {
  const found = look.processes.find((process) => process.pid === pid);
  if (found === undefined || (found.state === 'Z' && found.threads <= 1)) return null;
  const {startTicks} = found;
  return {host: look.host, bootId: look.machine.bootId, pid, startTicks, title: titleOf(found)};
}

type IdleWatch = Extract<Watch, {kind: 'idle'}>;

/**
 * The watch after looks at all its hosts at `nowMs`; a look that failed is null. Idle: every GPU shows 0 % and the bills
 * are those of the look before. A failed look, a missing figure, or a gap of more than `gapMs` between looks (the bot was
 * down) is no idle GPU: the row begins anew.
 */
export function watchIdle(
  watch: IdleWatch,
  looks: readonly (Snapshot | null)[],
  nowMs: number,
  gapMs: number,
): IdleWatch {
  const seen = looks.map((look) => (look === null ? 'unseen' : billsOf(look))).join('\n');
  const idle = looks.length > 0 && looks.every((look) => look !== null && isQuiet(look));
  if (!idle) return {kind: 'idle', sinceMs: null, lastLookMs: nowMs, seen};
  const unbroken =
    watch.sinceMs !== null && watch.lastLookMs !== null && nowMs - watch.lastLookMs <= gapMs && watch.seen === seen;
  return {kind: 'idle', sinceMs: unbroken ? watch.sinceMs : nowMs, lastLookMs: nowMs, seen};
}

function isQuiet(look: Snapshot): boolean {
  return (
    look.smi.state === 'answered' &&
    look.gpus.length > 0 &&
    look.gpus.every(
      ({utilizationPercent, fault}) => utilizationPercent.known && utilizationPercent.value === 0 && fault === null,
    )
  );
}

/** Memory of a loaded model stands still; a step that allocates does not. */
function billsOf(look: Snapshot): string {
  const bills = look.charges.map(
    ({gpuUuid, pid, usedMiB}) => `${gpuUuid} ${pid} ${usedMiB.known ? usedMiB.value : '?'}`,
  );
  return [look.host, look.machine.bootId, ...bills.toSorted()].join(' · ');
}
