/** What the engine needs of a host, in its own words; part of `ports.ts` by room. */
import type {DeepRequest} from '../domain/deep.ts';
import type {Result} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import type {SignalBatch, SignalEvent} from '../domain/order.ts';
import type {OwnerName} from '../domain/owner.ts';
import type {StoppableOwner} from '../domain/stop-owner.ts';
import type {Transcript} from '../domain/transcript.ts';

/** What a probe should look for beyond the device holders. */
export interface ProbeRequest {
  /** Literals to find in command lines and comms: the policy's workloads and the request's match. */
  readonly literals: readonly string[];
  /** PIDs whose facts are wanted even if they hold nothing (earlier targets, typed pids). */
  readonly pids: readonly number[];
}

export interface RemoteHost {
  /** One read-only exec with the look credential. */
  probe(request: ProbeRequest): Promise<Result<Transcript>>;
  /** One read-only exec with the look credential that reads far more: for what `probe` left unexplained. */
  deep(request: DeepRequest): Promise<Result<Transcript>>;
  /** One read-only exec with the look credential: what these processes, and those below them, have open for writing. */
  writes(pids: readonly number[]): Promise<Result<Transcript>>;
  /** One read-only exec with the look credential: what the tools of these owners know, each within a second. */
  owners(names: readonly OwnerName[]): Promise<Result<Transcript>>;
  /** One read-only exec with the look credential: which processes would end with these owners, and what their tools say. */
  owned(owners: readonly StoppableOwner[]): Promise<Result<Transcript>>;
  /**
   * One read-only exec with the look credential: clocks, power limits and modes that somebody may have set on the GPUs;
   * profilers, and their reports in these folders (absolute paths of one line) and where they work.
   */
  settings(folders: readonly string[]): Promise<Result<Transcript>>;
  /** One read-only exec with the look credential, as light as can be: memory and load of each GPU, and who is billed. */
  sample(): Promise<Result<Transcript>>;
  /**
   * One signalling exec with the act credential. `onEvent` hears each event as its line arrives. An `ok` answer carries
   * the whole transcript; a failure says in `mayHaveActed` whether a signal may have been sent.
   */
  signal(batch: SignalBatch, onEvent: (event: SignalEvent) => void): Promise<Result<Transcript>>;
}

export interface RemoteHosts {
  host(name: HostName): RemoteHost;
  /** Ends every open connection. */
  close(): Promise<void>;
}
