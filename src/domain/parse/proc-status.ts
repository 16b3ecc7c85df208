/** The lines of /proc/PID/status that matter here, as proc_pid_status(5) has them. */
export interface ProcStatus {
  /** Effective uid, second column of `Uid:`. */
  readonly uid: number | null;
  /** Hexadecimal masks; empty if the line was not there. */
  readonly blocked: string;
  readonly ignored: string;
  readonly caught: string;
  /** SigPnd and ShdPnd together: pending for the thread, and for the whole process. */
  readonly pending: string;
}

export function parseStatus(lines: readonly string[]): ProcStatus {
  const values = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon > 0) values.set(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const mask = (key: string): string => {
    const value = values.get(key) ?? '';
    return /^[0-9a-f]{1,32}$/i.test(value) ? value.toLowerCase() : '';
  };
  const effective = values.get('Uid')?.split(/\s+/)[1] ?? '';
  return {
    uid: /^\d{1,10}$/.test(effective) ? Number(effective) : null,
    blocked: mask('SigBlk'),
    ignored: mask('SigIgn'),
    caught: mask('SigCgt'),
    pending: either(mask('SigPnd'), mask('ShdPnd')),
  };
}

function either(a: string, b: string): string {
  if (a === '' || b === '') return a || b;
  return (BigInt(`0x${a}`) | BigInt(`0x${b}`)).toString(16).padStart(a.length, '0');
}
