/** Run events to JSON and back. What can't be read is never dropped: half a run would be a lie about what was signalled. */
import {z} from 'zod';
import type {Failure} from '../domain/failure.ts';
import type {Note} from '../domain/later-look.ts';
import type {Observation, OrderResult, StopResult} from '../domain/order.ts';
import type {Outcome, OutcomeWord} from '../domain/outcome.ts';
import type {Person} from '../domain/person.ts';
import type {Plan} from '../domain/plan.ts';
import type {MachineIdentity, ProcessIdentity} from '../domain/process.ts';
import type {ReclaimRequest} from '../domain/request.ts';
import type {Drift, RunEvent, RunPhase, StoppedOwner} from '../domain/run.ts';
import type {Snapshot} from '../domain/snapshot.ts';
import type {GrowingFile, Unread} from '../domain/writing.ts';
import {completeEvent, completeSnapshot} from './older-events.ts';

/** Version of the JSON below; it grows when a reader of the old one would misread the new one. */
export const EVENT_FORMAT = 1;

/** JSON text of `event`. Throws "Internal error" for one that could not be read back: found before it is written. */
export function encodeEvent(event: RunEvent): string {
  const problem = problemOf(event);
  if (problem !== null) throw new Error(`Internal error: event ${event.kind} does not fit its own format: ${problem}`);
  return JSON.stringify(event);
}

/** The event, or in one line why it can't be read: a later format, an unknown kind, damaged JSON, a missing field. */
export function decodeEvent(
  format: number,
  body: string,
): {readonly ok: true; readonly event: RunEvent} | {readonly ok: false; readonly problem: string} {
  if (format !== EVENT_FORMAT) return {ok: false, problem: `event format ${format}, known is ${EVENT_FORMAT}`};
  const value = parseJson(body);
  const problem = problemOf(value);
  if (problem !== null) return {ok: false, problem};
  return {ok: true, event: completeEvent(value as RunEvent)};
}

/** A kept snapshot, by its outer shape; null if it is none. */
export function decodeSnapshot(body: string): Snapshot | null {
  const found = snapshot.safeParse(parseJson(body));
  return found.success ? completeSnapshot(found.data) : null;
}

/** The phase, or null for a word that this program doesn't know. */
export function decodePhase(text: string): RunPhase | null {
  const found = PHASE.safeParse(text);
  return found.success ? found.data : null;
}

const PHASE = z.enum(['looking', 'awaiting-go', 'executing', 'closed']) satisfies z.ZodType<RunPhase>;
const atMs = z.number();
const reason = z.string().nullable();
const uptimeMs = z.number();
const signal = z.enum(['SIGTERM', 'SIGKILL']);

const person = z.discriminatedUnion('kind', [
  z.looseObject({kind: z.literal('os-user'), name: z.string(), uid: z.number()}),
  z.looseObject({kind: z.literal('slack-user'), id: z.string(), team: z.string(), groups: z.array(z.string())}),
]) satisfies z.ZodType<Person>;

const machine = z.looseObject({
  hostKey: z.string(),
  bootId: z.string(),
  pidNamespace: z.string(),
}) satisfies z.ZodType<MachineIdentity>;

const identity = z.looseObject({
  pid: z.number(),
  startTicks: z.string(),
  uid: z.number(),
  executable: z.string(),
}) satisfies z.ZodType<ProcessIdentity>;

const observation = z.enum(['alive', 'zombie', 'stuck', 'gone', 'replaced']) satisfies z.ZodType<Observation>;

const orderResult = z.enum([
  'sent',
  'gone',
  'replaced',
  'not-holding',
  'unreadable',
  'other-machine',
  'late',
  'denied-by-host',
  'not-permitted',
  'failed',
]) satisfies z.ZodType<OrderResult>;

const stopResult = z.enum([
  'stopped',
  'changed',
  'other-machine',
  'late',
  'denied-by-host',
  'refused-by-owner',
  'not-permitted',
  'failed',
  'timed-out',
]) satisfies z.ZodType<StopResult>;

const stoppedOwner = z.looseObject({
  kind: z.enum(['unit', 'docker', 'podman', 'slurm-job']),
  id: z.string(),
  name: z.string(),
  run: z.string(),
}) satisfies z.ZodType<StoppedOwner>;

const outcomeWord = z.enum([
  'reclaimed',
  'partly',
  'nothing-freed',
  'nothing-to-do',
  'stood-down',
  'dry-run',
  'denied',
  'expired',
  'cancelled',
  'interrupted',
  'failed',
  'unknown',
]) satisfies z.ZodType<OutcomeWord>;

const drift = z.looseObject({
  pid: z.number(),
  what: z.enum([
    'gone',
    'replaced',
    'not-holding',
    'new-holder',
    'memory-grew',
    'memory-fell',
    'now-protected',
    'machine-changed',
    'unreadable',
  ]),
  detail: z.string(),
}) satisfies z.ZodType<Drift>;

// The large values are checked at their outer shape only. They were typed when they were made, EVENT_FORMAT guards
// their meaning, and a second description of every field here would go stale with each new finding.
const request = outer<ReclaimRequest>({
  host: z.string(),
  pids: z.array(z.number()),
  dryRun: z.boolean(),
  requester: person,
});
const plan = outer<Plan>({
  runId: z.string(),
  version: z.number(),
  host: z.string(),
  machine,
  targets: z.array(z.looseObject({identity})),
  kept: z.array(z.unknown()),
  gpus: z.array(z.looseObject({gpuUuid: z.string()})),
});
const snapshot = outer<Snapshot>({
  host: z.string(),
  machine,
  takenAtMs: z.number(),
  uptimeMs: z.number(),
  gpus: z.array(z.looseObject({uuid: z.string()})),
  charges: z.array(z.unknown()),
  holdings: z.array(z.unknown()),
  processes: z.array(z.looseObject({pid: z.number()})),
});
const failure = outer<Failure>({reason: z.string()});
const looked = {afterMs: z.number(), last: z.boolean(), late: z.boolean()};
const note = z.union([
  outer<Extract<Note, {what: 'compared'}>>({
    what: z.literal('compared'),
    ...looked,
    returns: z.array(z.unknown()),
    starts: z.array(z.unknown()),
    unseenGpus: z.array(z.number().nullable()),
    fullSight: z.boolean(),
  }),
  outer<Extract<Note, {what: 'other-machine'}>>({what: z.literal('other-machine'), ...looked}),
  outer<Extract<Note, {what: 'no-look'}>>({what: z.literal('no-look'), ...looked, failure}),
  outer<Extract<Note, {what: 'stopped'}>>({what: z.literal('stopped'), by: z.string()}),
]);
const outcome = outer<Outcome>({word: outcomeWord, gpus: z.array(z.unknown()), survivors: z.array(z.unknown())});

/** One schema a kind: a new member of RunEvent fails to compile until it can be read. */
const EVENTS: {readonly [K in RunEvent['kind']]: z.ZodType<Omit<Extract<RunEvent, {kind: K}>, 'kind'>>} = {
  requested: z.looseObject({atMs, request}),
  surveyed: z.looseObject({atMs, snapshot}),
  planned: z.looseObject({
    atMs,
    plan,
    digest: z.string(),
    expiresAtMs: z.number(),
    by: person.optional(),
  }) as z.ZodType<Omit<Extract<RunEvent, {kind: 'planned'}>, 'kind'>>,
  approved: z.looseObject({
    atMs,
    by: person,
    digest: z.string(),
    choice: z.enum(['terminate-then-kill', 'terminate-only']),
    breakGlass: z.boolean(),
    reason,
  }),
  denied: z.looseObject({atMs, by: person, reason}),
  expired: z.looseObject({atMs}),
  cancelled: z.looseObject({atMs, by: z.string(), reason}),
  rechecked: z.looseObject({atMs, snapshot, drift: z.array(drift)}),
  'signal-intended': z.looseObject({
    atMs,
    rung: z.number(),
    identities: z.array(identity),
    signal,
    machine,
    notAfterUptimeMs: z.number(),
  }),
  'signal-result': z.looseObject({
    atMs,
    rung: z.number(),
    pid: z.number(),
    signal,
    result: orderResult,
    detail: z.string(),
    uptimeMs,
  }),
  'stop-intended': z.looseObject({
    atMs,
    rung: z.number(),
    owner: stoppedOwner,
    identities: z.array(identity),
    machine,
    notAfterUptimeMs: z.number(),
    timeoutMs: z.number(),
  }),
  'stop-result': z.looseObject({
    atMs,
    rung: z.number(),
    owner: stoppedOwner,
    result: stopResult,
    detail: z.string(),
    uptimeMs,
  }),
  seen: z.looseObject({atMs, pid: z.number(), observation, uptimeMs}),
  memory: z.looseObject({atMs, uptimeMs, usedMiB: z.record(z.string(), z.number())}),
  settled: z.looseObject({atMs, how: z.enum(['expected', 'stalled', 'timed-out', 'unreadable']), uptimeMs}),
  'still-writing': z.looseObject({
    atMs,
    files: z.array(z.looseObject({pid: z.number(), path: z.string()})) as unknown as z.ZodType<readonly GrowingFile[]>,
    unread: z.array(z.looseObject({pid: z.number()})) as unknown as z.ZodType<readonly Unread[]>,
    untilMs: z.number(),
  }),
  'link-lost': z.looseObject({atMs, failure}),
  'looked-again': z.looseObject({atMs, snapshot: snapshot.nullable(), failure: failure.nullable()}),
  failed: z.looseObject({atMs, failure}),
  closed: z.looseObject({atMs, outcome, lookAgainMs: z.array(z.number()).optional()}) as z.ZodType<
    Omit<Extract<RunEvent, {kind: 'closed'}>, 'kind'>
  >,
  noted: z.looseObject({atMs, note}),
};

/** Objects with at least these fields; everything else in them is kept as it is. */
function outer<T>(fields: z.ZodRawShape): z.ZodType<T> {
  const shape = z.looseObject(fields);
  return z.custom<T>((value) => shape.safeParse(value).success);
}

function problemOf(value: unknown): string | null {
  const kind = value !== null && typeof value === 'object' && 'kind' in value ? String(value.kind) : null;
  if (kind === null) return 'no event';
  if (!Object.hasOwn(EVENTS, kind)) return `unknown event kind ${JSON.stringify(kind)}`;
  const found = EVENTS[kind as RunEvent['kind']].safeParse(value);
  if (found.success) return null;
  return `${kind}: ${found.error.issues.map((issue) => issue.path.join('.') || issue.message).join(', ')}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
