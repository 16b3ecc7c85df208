/** What a run of the zoo leaves behind: measured rows as plain JSON. `results-page.ts` makes the page from them. */

/** Host uptime in ms (CLOCK_BOOTTIME) and used MiB of the watched GPUs: one sample for each change that was polled. */
export type Sample = readonly [number, readonly number[]];

export interface Machine {
  /** Day of the run, by that machine's clock. */
  readonly date: string;
  readonly gpu: string;
  readonly gpus: number;
  readonly driver: string;
  /** Version and minor only. */
  readonly kernel: string;
  /** True for a lab host: then nothing here says anything about a driver. */
  readonly standIn: boolean;
  /** Used MiB per GPU with nobody there. */
  readonly idleMiB: readonly number[];
  /** Median of one `nvidia-smi --query-gpu=memory.used`, ms. */
  readonly smiMs: number;
}

export type Innocent = 'another user' | 'detached trainer' | 'persistence daemon';

export interface SentSignal {
  readonly name: string;
  readonly signal: string;
  readonly result: string;
  readonly uptimeMs: number;
}

/** The end of one process as its pidfd told it, whoever ended it. */
export interface Death {
  readonly name: string;
  readonly uptimeMs: number;
  /** Number of the signal that ended it; null where the kernel did not tell. */
  readonly signal: number | null;
}

export interface ProductPart {
  /** Of the process that keeps the memory: the strongest first. */
  readonly findings: readonly string[];
  /** How the plan says that it belongs to the request: `parents`, `session`, `earlier-look`, …; null if not in the plan. */
  readonly belonging: string | null;
  readonly plan: readonly string[];
  readonly outcome: string;
  /** How many requests it took; 2 = `match=` left it alone, and a second request named it by PID. */
  readonly requests: number;
  readonly signals: readonly SentSignal[];
  /** From the last signal to verified free as the product has it, by the host's clock. */
  readonly freedAfterMs: number | null;
  readonly lastSignalUptimeMs: number | null;
  /** From that signal to memory back, by the zoo's own poll every 20 ms in the same run; null if it never came back. */
  readonly teardownMs: number | null;
  readonly polled: readonly Sample[];
}

/** Who got a signal and is not of this zoo: the monitor that polls the driver beside it, above all. */
export function strangersSignalled(row: Row): readonly SentSignal[] {
  return (row.product?.signals ?? []).filter((one) => one.name.startsWith('stranger') && one.result === 'sent');
}

export interface Row {
  readonly cleaner: string;
  readonly species: string;
  /** Whether the server of the species lived when the cleaner came. */
  readonly server: 'alive' | 'dead';
  readonly nth: number;
  readonly gpus: readonly number[];
  /** Sum over the watched GPUs: with innocents only, with the species, after the cleaner. */
  readonly innocentMiB: number;
  readonly heldMiB: number;
  readonly afterMiB: number;
  readonly freed: boolean;
  readonly innocents: Readonly<Record<Innocent, boolean>>;
  /** Whether each worker on a GPU outside the request's range still lives. */
  readonly spared: Readonly<Record<string, boolean>>;
  readonly serverGone: boolean;
  readonly holderGone: boolean;
  readonly deaths: readonly Death[];
  readonly seconds: number;
  /** Exit status of the cleaner's command; a signal's name if one ended it. */
  readonly end: string;
  readonly product: ProductPart | null;
  /** What nvidia-smi billed and what `fuser` listed just before the cleaner, by name of the zoo. */
  readonly seen: {readonly apps: readonly string[]; readonly fuser: readonly string[]};
  /** The same moment as the tools print it: command, then its output. Only beside the product. */
  readonly raw: Readonly<Record<string, string>>;
}

export interface Results {
  readonly machine: Machine;
  readonly rows: readonly Row[];
  /** What was not run, or failed, and why. */
  readonly missing: readonly string[];
}
