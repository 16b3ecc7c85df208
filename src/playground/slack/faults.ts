/** What can go wrong between a bot and Slack, on demand. */

export type Fault =
  /** Answer 429 with Retry-After. `method` '*' means any. */
  | {readonly kind: 'rate-limit'; readonly method: string; readonly retryAfterS: number; readonly times?: number}
  | {readonly kind: 'slow'; readonly method: string; readonly delayMs: number; readonly times?: number}
  | {readonly kind: 'http-error'; readonly method: string; readonly status: number; readonly times?: number}
  /** The call is refused with this error, and nothing is stored. With a channel only what is meant for that one. */
  | {
      readonly kind: 'refuse';
      readonly method: string;
      readonly error: string;
      readonly channel?: string;
      readonly times?: number;
    }
  /** The call is carried out, then the connection is cut instead of answering. */
  | {readonly kind: 'drop-answer'; readonly method: string; readonly times?: number}
  /** The WebSocket upgrade is answered 408. */
  | {readonly kind: 'refuse-upgrade'; readonly times?: number}
  /** The ack of an envelope is lost on its way: the app has it, Slack does not know. */
  | {readonly kind: 'lose-ack'; readonly times?: number}
  /** Each envelope is sent twice, under the same id. */
  | {readonly kind: 'duplicate-envelope'; readonly times?: number}
  /** An envelope without an ack is sent once more, under a new id. */
  | {readonly kind: 'redeliver-unacked'; readonly times?: number};

export interface Faults {
  /** `times` defaults to 1; Infinity until cleared. Returns what clears it. */
  set(fault: Fault): () => void;
  /** Takes one use of the first fault of this kind that concerns `method` and `channel`; null if there is none. */
  take<K extends Fault['kind']>(kind: K, method?: string, channel?: string): Extract<Fault, {readonly kind: K}> | null;
  clear(): void;
  /** How often a fault of each kind really struck. */
  readonly struck: Readonly<Partial<Record<Fault['kind'], number>>>;
  /** What still waits for its moment. */
  open(): readonly {readonly fault: Fault; readonly left: number}[];
  /** Called after each change of `open`. */
  listen(listener: () => void): () => void;
}

export function openFaults(): Faults {
  const open: {readonly fault: Fault; left: number}[] = [];
  const struck: Partial<Record<Fault['kind'], number>> = {};
  const remove = (entry: {readonly fault: Fault; left: number}): void => {
    const index = open.indexOf(entry);
    if (index >= 0) open.splice(index, 1);
    changed();
  };
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    set: (fault) => {
      const entry = {fault, left: fault.times ?? 1};
      open.push(entry);
      changed();
      return () => remove(entry);
    },
    take: (kind, method, channel) => {
      for (const entry of open) {
        const {fault} = entry;
        if (!isOf(fault, kind) || !concerns(fault, method, channel)) continue;
        entry.left -= 1;
        struck[kind] = (struck[kind] ?? 0) + 1;
        if (entry.left <= 0) remove(entry);
        else changed();
        return fault;
      }
      return null;
    },
    clear: () => {
      open.splice(0);
      changed();
    },
    struck,
    open: () => open.map(({fault, left}) => ({fault, left})),
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function isOf<K extends Fault['kind']>(fault: Fault, kind: K): fault is Extract<Fault, {readonly kind: K}> {
  return fault.kind === kind;
}

function concerns(fault: Fault, method: string | undefined, channel: string | undefined): boolean {
  if (fault.kind === 'refuse' && fault.channel !== undefined && fault.channel !== channel) return false;
  return !('method' in fault) || fault.method === '*' || fault.method === method;
}
