/** The policy file as written: every key has a default, so an empty file, or none, is a right one. */
import {z} from 'zod';
import type {Approver} from '../domain/policy.ts';
import {isRepeating} from '../domain/schedule.ts';
import {readWhen} from '../domain/schedule-words.ts';
import {readZone} from '../domain/zone.ts';
import {duration, flag, matching, shortName, strict, whole, word} from './words.ts';

const approver = word<Approver>((value) => (typeof value === 'string' ? approverOf(value) : null), {
  expected: 'os:LOGIN, slack:USER-ID or slack-group:GROUP-ID; Slack ids, since names can be taken by others',
  example: 'slack:U024BE7LH',
});

function approverOf(text: string): Approver | null {
  const [, kind, id = ''] = /^(os|slack|slack-group):(.*)$/s.exec(text) ?? [];
  if (kind === 'os' && /^[A-Za-z_][A-Za-z0-9_.@-]{0,63}$/.test(id)) return {kind: 'os-user', name: id};
  if (kind === 'slack' && /^[UW][A-Z0-9]{4,20}$/.test(id)) return {kind: 'slack-user', id};
  if (kind === 'slack-group' && /^S[A-Z0-9]{4,20}$/.test(id)) return {kind: 'slack-group', id};
  return null;
}

const personWord = matching(/^(os:[A-Za-z_][A-Za-z0-9_.@-]{0,63}|slack:[UW][A-Z0-9]{4,20})$/, {
  expected: 'os:LOGIN or slack:USER-ID',
  example: 'slack:U024BE7LH',
});

const literal = matching(/^[\x21-\x7e](?:[\x20-\x7e]{1,62})[\x21-\x7e]$/, {
  expected: 'a literal of 3 to 64 plain characters, found as it stands (no pattern)',
  example: 'vllm.entrypoints',
});

const executable = matching(/^(?!.*\/\.{1,2}(\/|$))(?:\/[A-Za-z0-9_.+@-]*\*?)*\/[A-Za-z0-9_.+@-]+\*?$/, {
  expected: 'the absolute path of an executable; * only at the end of a part, for the rest of that part',
  example: '/opt/monitor/*/agent',
});

const unit = matching(/^[A-Za-z0-9_][A-Za-z0-9:_.@\\-]{2,254}\*?$/, {
  expected: 'a unit or container name as it stands in /proc/PID/cgroup; * only at its end',
  example: 'site-monitor.service',
});

const named = matching(/^[A-Za-z0-9][A-Za-z0-9 _.@+-]{0,63}$/, {expected: 'a short name', example: 'site monitor'});

const protectedEntry = strict({
  name: named,
  executables: z.array(executable).optional(),
  uids: z
    .array(whole(0, 4_294_967_294, 0))
    .min(1, 'names no uid: nothing could match it')
    .optional(),
  units: z.array(unit).optional(),
});

const repeating = word(
  (value) => {
    const read = typeof value === 'string' ? readWhen(wordsOf(value)) : null;
    // Once is over after the first time, and would come again with each new file: that is for the command.
    return read?.ok === true && read.value.zone === null && isRepeating(read.value.when) ? read.value.when : null;
  },
  {
    expected: 'a time that comes again, without its zone: every weekday 18:00, every 4h, cron "0 18 * * 1-5"',
    example: 'every weekday 18:00',
  },
);

/** A cron pattern may stand in quotes or not. */
function wordsOf(text: string): readonly string[] {
  return text.replaceAll(/["']/g, ' ').trim().split(/\s+/);
}

const zone = word((value) => (typeof value === 'string' ? readZone(value) : null), {
  expected: 'a time zone by its IANA name, since a time without one is nobody’s',
  example: 'Europe/Berlin',
});

const channel = matching(/^[CG][A-Z0-9]{2,20}$/, {expected: 'a Slack channel id', example: 'C0123456789'});

const hostWord = matching(/^[A-Za-z0-9*][A-Za-z0-9.*-]{0,62}$/, {
  expected: 'a host, a group, a pattern such as gpu-1*, or all',
  example: 'gpu-07',
});

const schedule = strict({
  hosts: z.array(hostWord).min(1, 'names no host'),
  when: repeating,
  zone,
  channel: channel.optional(),
  quiet: flag.optional(),
});

export const policyFileSchema = strict({
  approvers: z.array(approver).optional(),
  samePerson: z.array(z.array(personWord).min(2, 'names fewer than two ids of one person')).optional(),
  selfGo: flag.optional(),
  breakGlass: flag.optional(),
  tellRequester: flag.optional(),
  pictures: flag.optional(),
  grace: duration('1s', '1h', '30s').optional(),
  profilerGrace: duration('1s', '6h', '3m').optional(),
  writingGrace: duration('1s', '6h', '10m').optional(),
  memberDelay: duration('0s', '10m', '5s').optional(),
  approval: duration('30s', '24h', '15m').optional(),
  verify: duration('1s', '10m', '120s').optional(),
  stalled: duration('500ms', '5m', '10s').optional(),
  lookAgain: z
    .array(duration('1s', '24h', '1m'))
    .max(10, 'is too long: at most 10 looks')
    .optional(),
  watchEvery: duration('1s', '1h', '60s').optional(),
  campaignIdle: duration('1m', '24h', '45m').optional(),
  campaignKeep: duration('1m', '24h', '2h').optional(),
  lateAfter: duration('1s', '2m', '10s').optional(),
  stopOwner: strict({
    unit: flag.optional(),
    docker: flag.optional(),
    podman: flag.optional(),
    slurm: flag.optional(),
  }).optional(),
  baselineMiB: whole(0, 65_536, 300).optional(),
  toleranceMiB: whole(0, 65_536, 64).optional(),
  limits: strict({
    openRuns: whole(1, 1000, 4).optional(),
    targets: whole(1, 10_000, 64).optional(),
    runsPerPerson: whole(1, 1000, 3).optional(),
    runsPerPersonWithin: duration('1s', '24h', '10m').optional(),
  }).optional(),
  workloads: z.record(named, z.array(literal)).optional(),
  protected: z.array(protectedEntry).optional(),
  schedules: z.record(shortName, schedule).optional(),
});

export type WrittenPolicy = z.infer<typeof policyFileSchema>;
