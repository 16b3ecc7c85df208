/** Schedules and reports from their JSON, by their outer shape; null for what is none: a damaged one is told, never guessed. */
import {z} from 'zod';
import type {HostReport} from '../domain/host-report.ts';
import type {RollingMessage, Schedule, Watch, When, Why} from '../domain/schedule.ts';

const WHEN = z.looseObject({
  kind: z.enum(['now', 'after', 'at', 'weekly', 'interval', 'cron', 'exit', 'idle'] satisfies When['kind'][]),
});

const SCHEDULE = z.looseObject({
  id: z.string(),
  when: WHEN,
  zone: z.string(),
  hosts: z.array(z.looseObject({kind: z.enum(['all', 'host', 'group', 'glob'])})),
  channel: z.string().nullable(),
  quiet: z.boolean(),
  by: z.string(),
  createdAtMs: z.number(),
});

const PINNED = z.looseObject({host: z.string(), bootId: z.string(), pid: z.number(), startTicks: z.string()});

const WATCH = z.discriminatedUnion('kind', [
  z.looseObject({kind: z.literal('exit'), pinned: PINNED}),
  z.looseObject({kind: z.literal('idle'), sinceMs: z.number().nullable(), lastLookMs: z.number().nullable()}),
]);

const WHY = z.discriminatedUnion('kind', [
  z.looseObject({kind: z.literal('time')}),
  z.looseObject({kind: z.literal('exited'), pinned: PINNED, how: z.string()}),
  z.looseObject({kind: z.literal('idle'), sinceMs: z.number()}),
]);

const HOSTS = z.array(
  z.discriminatedUnion('state', [
    z.looseObject({
      state: z.literal('seen'),
      host: z.string(),
      takenAtMs: z.number(),
      bootId: z.string(),
      gpus: z.array(z.looseObject({uuid: z.string(), state: z.string()})),
      holders: z.array(z.looseObject({pid: z.number(), startTicks: z.string()})),
    }),
    z.looseObject({state: z.literal('failed'), host: z.string(), failure: z.looseObject({reason: z.string()})}),
    z.looseObject({state: z.literal('gone'), host: z.string()}),
    z.looseObject({state: z.literal('busy'), host: z.string(), runId: z.string()}),
  ]),
);

const MESSAGE = z.looseObject({channel: z.string(), ts: z.string(), day: z.string()});

export function decodeSchedule(text: string): Schedule | null {
  return read<Schedule>(SCHEDULE, text);
}

export function decodeWatch(text: string): Watch | null {
  return read<Watch>(WATCH, text);
}

export function decodeWhy(text: string): Why | null {
  return read<Why>(WHY, text);
}

export function decodeHosts(text: string): readonly HostReport[] | null {
  return read<readonly HostReport[]>(HOSTS, text);
}

export function decodeMessage(text: string): RollingMessage | null {
  return read<RollingMessage>(MESSAGE, text);
}

function read<T>(shape: z.ZodType, text: string): T | null {
  try {
    const found = shape.safeParse(JSON.parse(text));
    return found.success ? (found.data as T) : null;
  } catch {
    return null;
  }
}
