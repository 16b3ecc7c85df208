/** What is really running on the lab hosts, asked only while somebody looks, sent only when it has changed. */

export interface HostState {
  readonly name: string;
  readonly gpus: readonly {readonly index: number; readonly usedMiB: number; readonly totalMiB: number}[];
  readonly processes: readonly {
    readonly pid: number;
    readonly name: string;
    readonly user: string;
    readonly alive: boolean;
    /** In a word: running, sleeping, stopped, stuck, zombie; absent where the lab does not tell. */
    readonly state?: string;
    /** What it is for in the story. */
    readonly what?: string;
    readonly gpus: readonly number[];
  }[];
}

export interface HostWatch {
  latest(): readonly HostState[] | null;
  look(): void;
  lookAway(): void;
  close(): void;
}

const EVERY_MS = 500;

export function watchHosts(
  ask: () => Promise<HostState | readonly HostState[]>,
  tell: (state: readonly HostState[]) => void,
): HostWatch {
  let latest: readonly HostState[] | null = null;
  let told = '';
  let timer: NodeJS.Timeout | null = null;
  let looking = false;
  const round = async (): Promise<void> => {
    try {
      const state = await ask();
      latest = isMany(state) ? state : [state];
    } catch {
      // A host that is going away: what was last seen stays on the page.
    }
    const text = JSON.stringify(latest);
    if (latest !== null && text !== told) {
      told = text;
      tell(latest);
    }
    if (looking) timer = setTimeout(() => void round(), EVERY_MS);
  };
  return {
    latest: () => latest,
    look: () => {
      if (looking) return;
      looking = true;
      void round();
    },
    lookAway: () => {
      looking = false;
      if (timer !== null) clearTimeout(timer);
    },
    close: () => {
      looking = false;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

function isMany(state: HostState | readonly HostState[]): state is readonly HostState[] {
  return Array.isArray(state);
}
