/** What the engine needs of the world, in its own words. Edges implement these; nothing here knows how. */

import type {Diagnosis} from '../domain/diagnosis.ts';
import type {Result} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import type {SignalEvent} from '../domain/order.ts';
import type {Person} from '../domain/person.ts';
import type {Plan} from '../domain/plan.ts';
import type {ProcessIdentity} from '../domain/process.ts';
import type {ReclaimRequest} from '../domain/request.ts';
import type {GoChoice, LeaseOwner, Run, RunEvent, RunId, RunPhase} from '../domain/run.ts';
import type {Snapshot} from '../domain/snapshot.ts';
import type {Transcript} from '../domain/transcript.ts';
import type {CampaignStore, CampaignVerbs} from './campaign-ports.ts';
import type {KeptOffer, OfferStore} from './offer-ports.ts';
import type {ReportVerbs, ScheduleStore} from './report-ports.ts';

/** A message owed to people, written in the transaction that makes it true and posted afterwards. */
export interface OutboxRow {
  /** `<run>:<version>:<what>`; a second row with the same key is ignored. */
  readonly key: string;
  readonly runId: RunId;
  readonly kind: string;
  readonly body: unknown;
}

export interface Append {
  readonly runId: RunId;
  /** The version the caller has read; another value in the store means somebody else was first. */
  readonly expectedVersion: number;
  readonly phase: RunPhase;
  readonly events: readonly RunEvent[];
  readonly outbox: readonly OutboxRow[];
  /** Pending approval to open with this commit. */
  readonly openApproval?: {readonly digest: string; readonly expiresAtMs: number};
  /** Set once the survey knows the machine: the second open-run index. */
  readonly machine?: {readonly bootId: string; readonly pidNamespace: string};
  /** The commit is refused as `lease-lost` unless the run's lease is still this owner's: a worker taken for dead can't act. */
  readonly owner?: LeaseOwner;
  /** Lets go of the lease in the same commit. */
  readonly releaseLease?: boolean;
  /** Epoch ms of the next look that the closed run is owed; null: none any more. Left out: as it was. */
  readonly nextLookAtMs?: number | null;
}

export type AppendResult =
  | {readonly ok: true; readonly run: Run}
  | {readonly ok: false; readonly conflict: 'version' | 'machine-busy' | 'lease-lost'; readonly other: Run | null};

/** How one decision on a pending approval ended. The first wins; all others are told who. */
export type DecideResult =
  | {readonly won: true; readonly run: Run}
  | {
      readonly won: false;
      readonly why: 'already-decided';
      readonly by: string;
      readonly decision: string;
      readonly atMs: number;
    }
  | {readonly won: false; readonly why: 'outdated'; readonly currentDigest: string}
  | {readonly won: false; readonly why: 'expired'; readonly atMs: number}
  | {readonly won: false; readonly why: 'none'};

/** A message in Slack: channel id and the timestamp that names it there. */
export interface Card {
  readonly team: string;
  readonly channel: string;
  readonly ts: string;
}

/** A command or a click that was taken and not answered: whoever took it is at work, or died. */
export interface OpenClaim {
  readonly key: string;
  /** Epoch ms. */
  readonly atMs: number;
  readonly body: unknown;
}

/** A look at a closed run's host that is still owed. */
export interface DueLook {
  readonly runId: RunId;
  readonly host: HostName;
  /** Epoch ms. */
  readonly dueAtMs: number;
}

/** Names one stored look. */
export interface KeptLook {
  readonly host: HostName;
  readonly bootId: string;
  /** Epoch ms. */
  readonly takenAtMs: number;
}

export interface RunStore {
  /** Opens a run; refused while another run on that host is open. Takes the lease for `owner`. */
  open(run: {
    readonly id: RunId;
    readonly host: HostName;
    readonly atMs: number;
    readonly requester: string;
    readonly event: RunEvent;
    readonly owner: LeaseOwner;
  }): Promise<{readonly ok: true; readonly run: Run} | {readonly ok: false; readonly busy: Run}>;
  append(append: Append): Promise<AppendResult>;
  load(id: RunId): Promise<Run | null>;
  /** Runs whose id starts with `prefix`. */
  find(prefix: string): Promise<readonly Run[]>;
  openRuns(): Promise<readonly Run[]>;
  /** Newest first, without their snapshots' weight being anybody's concern. */
  recent(limit: number): Promise<readonly Run[]>;
  openRunOn(host: HostName): Promise<Run | null>;
  /** The next look of each closed run that is owed one, soonest first. */
  laterLooks(limit: number): Promise<readonly DueLook[]>;
  /** How many runs of this person since `sinceMs` are open or had a go, and when the oldest of them was asked for. */
  countBy(requester: string, sinceMs: number): Promise<{readonly count: number; readonly oldestAtMs: number | null}>;

  /** One conditional UPDATE on (run, digest, pending) that also appends `event`, sets `phase`, and, if given, takes the lease. */
  decide(decision: {
    readonly runId: RunId;
    readonly digest: string | null;
    readonly nowMs: number;
    readonly decision: 'approved' | 'denied' | 'expired' | 'cancelled';
    readonly by: string;
    readonly events: readonly RunEvent[];
    readonly phase: RunPhase;
    readonly outbox: readonly OutboxRow[];
    readonly owner: LeaseOwner | null;
  }): Promise<DecideResult>;

  leaseOf(runId: RunId): Promise<LeaseOwner | null>;
  /** Takes the lease if it is free or its owner is `deadOwner`; one conditional UPDATE. */
  takeLease(runId: RunId, owner: LeaseOwner, deadOwner: LeaseOwner | null): Promise<boolean>;
  releaseLease(runId: RunId, owner: LeaseOwner): Promise<void>;

  paused(): Promise<{readonly by: string; readonly atMs: number} | null>;
  setPaused(by: string | null, atMs: number): Promise<void>;
  /** Asks the worker of a run to stop before its next signal. */
  askToStop(runId: RunId, by: string, atMs: number): Promise<void>;
  stopAsked(runId: RunId): Promise<{readonly by: string; readonly atMs: number} | null>;

  /** Keeps what a look saw for 7 days, so that a dead parent is still known by name. */
  keepLook(snapshot: Snapshot): Promise<void>;
  looksAt(host: HostName, bootId: string, sinceMs: number): Promise<readonly Snapshot[]>;
  /** The newest look of each host that has one. */
  lastLooks(): Promise<readonly KeptLook[]>;
  /** Lowest used MiB ever seen on this GPU with full sight and no holder. */
  baselines(gpuUuids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  noteBaseline(gpuUuid: string, usedMiB: number, atMs: number): Promise<void>;

  /**
   * True once per key, whoever asks and after any restart: the first to claim a command or a click does its work. With a
   * `body` (who is to be answered, in the door's own words) it is found by `unsettled` until it is settled.
   */
  claim(key: string, atMs: number, body?: unknown): Promise<boolean>;
  /** Its work is done and answered. The key stays taken. */
  settle(key: string, atMs: number): Promise<void>;
  /** What was claimed with a body and never settled, oldest first. */
  unsettled(limit: number): Promise<readonly OpenClaim[]>;
  /** Gives a claim back after its work failed, so that a redelivery may try again. */
  unclaim(key: string): Promise<void>;
  /** The channel that a run was asked for in, known from before its card stands there; the first one kept counts. */
  keepPlace(runId: RunId, channel: string): Promise<void>;
  placeOf(runId: RunId): Promise<string | null>;
  /** Where a run's root card stands in Slack; null before it is posted. */
  cardOf(runId: RunId): Promise<Card | null>;
  /** The first card kept for a run stays its card. */
  keepCard(runId: RunId, card: Card): Promise<Card>;
  /** Replaces a card that is gone, if `from` still is the run's card; the card that counts comes back. */
  moveCard(runId: RunId, from: Card, to: Card): Promise<Card>;
  /** How many of the run's events its thread has told; 0 before there is a card. */
  toldOf(runId: RunId): Promise<number>;
  /** Only ever grows. */
  keepTold(runId: RunId, count: number): Promise<void>;
  /** The run whose root card this message is. */
  runOfCard(channel: string, ts: string): Promise<Run | null>;

  readonly schedules: ScheduleStore;
  readonly campaigns: CampaignStore;
  readonly offers: OfferStore;

  /** Runs that owe a message, the longest owed first. */
  owedRuns(limit: number): Promise<readonly RunId[]>;
  /** Of all runs, or of one. */
  pendingOutbox(limit: number, of?: RunId): Promise<readonly OutboxRow[]>;
  markPosted(key: string, atMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface Clock {
  /** Epoch ms. */
  now(): number;
  /** Monotonic ms, for spans. */
  ticks(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Log {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** Tells people what happened, as it happens. Must not throw; must not slow the run. */
export interface Announcer {
  announce(run: Run, events: readonly RunEvent[]): void;
  progress(run: Run, event: SignalEvent): void;
}

/** Is that lease's owner still running on this machine? */
export type IsAlive = (owner: LeaseOwner) => boolean;

export type NewRunId = () => RunId;
/** Lower-case hex SHA-256 of UTF-8 text. */
export type Digest = (text: string) => string;

/** One look at a host, with what it means. */
export interface Look {
  readonly snapshot: Snapshot;
  readonly diagnosis: Diagnosis;
}

export interface Proposal {
  readonly run: Run;
  readonly plan: Plan;
  readonly digest: string;
  readonly diagnosis: Diagnosis;
}

export interface GoRequest {
  readonly run: Run;
  /** The digest that the person saw: not necessarily the one that waits. */
  readonly digest: string;
  readonly person: Person;
  readonly choice: GoChoice;
  readonly reason: string | null;
  readonly atTerminal: boolean;
}

export interface ChooseRequest {
  readonly run: Run;
  readonly digest: string;
  readonly person: Person;
  /** Who is ticked, each with the whole identity that was shown. */
  readonly ticked: readonly ProcessIdentity[];
  /** What the form showed, by the id of its offer; null: the waiting plan as it is stored. */
  readonly offer: string | null;
}

/** A run whose worker had died: closed with what was found; `proposal` is the plan that now waits, if targets are left. */
export interface Recovered {
  readonly run: Run;
  readonly proposal: Proposal | null;
}

/** The verbs that the doors (terminal, Slack, schedule) may use. A broken store comes back as a failure, never as a throw. */
export interface Engine extends ReportVerbs, CampaignVerbs {
  probe(host: HostName): Promise<Result<Transcript>>;
  /** `unasked`: nobody named this host, so that no look is made while a campaign measures there. */
  look(host: HostName, how?: {readonly unasked: boolean}): Promise<Result<Look>>;
  /** A look beside the earlier ones of this boot: which bills have moved since, from whom to whom. Reads more of the store. */
  diagnose(host: HostName): Promise<Result<Look>>;
  propose(request: ReclaimRequest): Promise<Result<Proposal>>;
  /**
   * Looks at the host again for somebody who is about to choose, and keeps what is then offered. A look that fails, or
   * sees less than the one behind the plan, is no failure here: the offer says so and is of the stored plan. Fails where
   * the plan does not wait any more, before or after the look.
   */
  offer(run: Run): Promise<Result<KeptOffer>>;
  /** An offer by its id; null: it is not kept any more. */
  offerOf(id: string): Promise<Result<KeptOffer | null>>;
  /**
   * Replaces a waiting plan by one with exactly these targets ticked, as its next version with a new digest. `digest` is
   * the plan that the person chose from: another one waiting by now is `plan-outdated`. The new one is of the look that
   * the form showed, which then stands in the run before it. Choosing nobody, or somebody who
   * is locked, is refused and leaves the plan as it was.
   */
  choose(choice: ChooseRequest): Promise<Result<Proposal>>;
  /** Takes the go; the run then must be executed by the caller. */
  approve(go: GoRequest): Promise<Result<Run>>;
  execute(run: Run): Promise<Result<Run>>;
  deny(run: Run, person: Person, reason: string | null): Promise<Result<Run>>;
  cancel(run: Run, person: Person, reason: string | null): Promise<Result<Run>>;
  expire(run: Run): Promise<Result<Run>>;
  pause(person: Person): Promise<Result<null>>;
  resume(person: Person): Promise<Result<null>>;
  paused(): Promise<Result<{readonly by: string; readonly atMs: number} | null>>;
  recover(): Promise<Result<readonly Recovered[]>>;
  /** Which looks closed runs are owed and when, soonest first: by whichever program they were closed. */
  laterLooks(): Promise<Result<readonly DueLook[]>>;
  /**
   * Makes the look of a closed run that is due by now, once for all that were missed, and adds to the run what it found.
   * `late`: it came due while nobody was there. Once `over` is aborted a look that fails is not noted: it stays owed.
   */
  lookLater(id: RunId, how: {readonly late: boolean; readonly over?: AbortSignal}): Promise<Result<Run>>;
  /** No later look at this run any more. Anybody may. */
  stopLooking(run: Run, person: Person): Promise<Result<Run>>;
  recent(limit: number): Promise<Result<readonly Run[]>>;
  /** The one run whose id starts with `prefix`; `run-unknown` if none or several do. */
  find(prefix: string): Promise<Result<Run>>;
  openRunOn(host: HostName): Promise<Result<Run | null>>;
  openRuns(): Promise<Result<readonly Run[]>>;
}
