/** One /proc/PID/stat, as proc_pid_stat(5) has it. */
export interface ProcStat {
  readonly pid: number;
  readonly comm: string;
  readonly state: string;
  readonly ppid: number;
  readonly processGroup: number;
  readonly session: number;
  readonly kernelThread: boolean;
  /** utime + stime, ticks. */
  readonly cpuTicks: string;
  readonly threads: number;
  readonly startTicks: string;
}

/** PF_KTHREAD of include/linux/sched.h, in field 9. */
const KERNEL_THREAD = 0x00200000n;

/**
 * null if the text is not a whole stat line. The name may hold blanks, `)` and newlines, as its owner likes: it ends at
 * the last `)`, and all that follows comes from the kernel.
 */
export function parseStat(text: string): ProcStat | null {
  const close = text.lastIndexOf(') ');
  const open = text.indexOf(' (');
  if (open === -1 || close < open) return null;
  const pid = text.slice(0, open);
  const fields = text
    .slice(close + 2)
    .trimEnd()
    .split(' ');
  const numbers = fields.slice(1, 20);
  const state = fields[0] ?? '';
  if (!/^\d+$/.test(pid) || !/^[A-Za-z]$/.test(state)) return null;
  if (numbers.length < 19 || !numbers.every((field) => /^-?\d+$/.test(field))) return null;
  // Field N of the manual page is numbers[N - 4]: pid, comm and state come before.
  const at = (field: number): string => numbers[field - 4] ?? '0';
  return {
    pid: Number(pid),
    comm: text.slice(open + 2, close),
    state,
    ppid: Number(at(4)),
    processGroup: Number(at(5)),
    session: Number(at(6)),
    kernelThread: (BigInt(at(9)) & KERNEL_THREAD) !== 0n,
    cpuTicks: String(BigInt(at(14)) + BigInt(at(15))),
    threads: Number(at(20)),
    startTicks: at(22),
  };
}
