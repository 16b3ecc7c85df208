import type {HostName} from './host.ts';

/** The raw answer to one exec, framed but not parsed. */
export interface Transcript {
  readonly host: HostName;
  /** SHA256:… of the host key. */
  readonly hostKey: string;
  /** The marker nonce of this exec, needed to parse `stdout`. */
  readonly nonce: string;
  readonly stdout: Uint8Array;
  /** At most 64 KiB; shown, never parsed. */
  readonly stderr: string;
  readonly exitCode: number | null;
  /** Wall time of the exec, ms. */
  readonly tookMs: number;
}
