/** What can be set on a GPU and outlives whoever set it, as read at one instant. */
import type {HostName} from './host.ts';
import type {Figure, SmiState} from './snapshot.ts';

/** One GPU's row. Modes as nvidia-smi prints them, e.g. `Enabled`, `Exclusive_Process`, `[N/A]`. */
export interface GpuSettings {
  readonly uuid: string;
  readonly index: number | null;
  /** MHz that applications run at (`-ac`), and what the GPU comes with. Not read: clocks that are locked (`-lgc`, `-lmc`). */
  readonly graphicsMHz: Figure;
  readonly memoryMHz: Figure;
  readonly defaultGraphicsMHz: Figure;
  readonly defaultMemoryMHz: Figure;
  /** Watts: as set (`-pl`), as the GPU comes with, and as held to right now, which other limits may make lower. */
  readonly powerLimitW: Figure;
  readonly defaultPowerLimitW: Figure;
  readonly enforcedPowerLimitW: Figure;
  readonly persistenceMode: string;
  readonly computeMode: string;
  readonly migMode: string;
  readonly eccMode: string;
  /** Uncorrected ECC errors since the driver was loaded, and since the GPU was made. */
  readonly eccVolatile: Figure;
  readonly eccAggregate: Figure;
}

export interface HostSettings {
  readonly host: HostName;
  readonly bootId: string;
  /** Epoch ms, the bot's clock. */
  readonly takenAtMs: number;
  readonly smi: SmiState;
  readonly gpus: readonly GpuSettings[];
  /** Processes that are called like a profiler, holding a GPU or not. */
  readonly profilers: readonly Profiler[];
  readonly files: readonly ReportFile[];
  /** Where report files were sought; `whole` is false where that folder is not there, or was not read to its end. */
  readonly sought: readonly {readonly folder: string; readonly whole: boolean}[];
}

export interface Profiler {
  readonly pid: number;
  readonly startTicks: string;
  /** Its short name. Hostile text, as is the folder. */
  readonly name: string;
  /** Its working directory; null if unreadable. */
  readonly folder: string | null;
}

/** A report of a profiler, by its name. */
export interface ReportFile {
  /** Hostile text; a newline in it reads `?`. */
  readonly path: string;
  readonly MiB: number;
  /** Epoch ms, the host's clock. */
  readonly changedAtMs: number;
}
