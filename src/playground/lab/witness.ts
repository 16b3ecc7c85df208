/** The witness: what really reached the lab's processes, written by the processes and their parents, never by the bot. */

export interface WitnessRecord {
  /** As numbered inside the lab. */
  readonly pid: number;
  readonly label: string;
  /** `TERM`, `KILL`, …; null for an exit of its own will. */
  readonly signal: string | null;
  /**
   * `trap`: the process itself, before it acted. `pending`: waits for a stopped process (polled every 5 ms, so one that
   * is followed by KILL within that time can be missed). `stop` and `exit`: wait status, from its parent.
   */
  readonly seen: 'trap' | 'pending' | 'stop' | 'exit';
  readonly exitCode: number | null;
  readonly atMs: number;
}

export interface ReceivedSignal {
  readonly pid: number;
  readonly label: string;
  readonly signal: string;
  readonly atMs: number;
}

/** Parses the witness file. `labels` maps a process's token to its label. */
export function parseWitness(text: string, labels: ReadonlyMap<string, string>): WitnessRecord[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const {token, ...record} = JSON.parse(line) as Omit<WitnessRecord, 'label'> & {token: string};
      return {...record, label: labels.get(token) ?? 'unknown'};
    });
}

/** Each signal once: a trapped TERM and the death by TERM that follows it are one signal. */
export function receivedSignals(records: readonly WitnessRecord[]): ReceivedSignal[] {
  const received: ReceivedSignal[] = [];
  for (const record of records) {
    const {pid, label, signal, atMs} = record;
    if (signal === null) continue;
    const told = received.some((one) => one.pid === pid && one.label === label && one.signal === signal);
    if (record.seen === 'exit' && told) continue;
    received.push({pid, label, signal, atMs});
  }
  return received;
}
