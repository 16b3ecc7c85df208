/** What people type, read: the same words in the terminal and in Slack. */
import {parseDuration} from './duration.ts';
import {fail, ok, type Result} from './failure.ts';
import type {HostName} from './host.ts';
import {nearest} from './nearest.ts';
import type {Person} from './person.ts';
import type {ReclaimRequest} from './request.ts';

export const VERBS = [
  'help',
  'status',
  'diagnose',
  'reclaim',
  'runs',
  'show',
  'cancel',
  'pause',
  'resume',
  'hosts',
  'probe',
  'report',
  'schedules',
  'profile',
  'keep',
] as const;
export type Verb = (typeof VERBS)[number];

const ARGUMENTS = ['gpus', 'match', 'user', 'pid', 'include-others', 'grace', 'dry-run', 'reason', 'override'] as const;

/** The shortest literal that may name processes: shorter ones name everybody. */
export const MATCH_MIN = 3;
const MATCH_MAX = 200;

export function readVerb(word: string): Result<Verb> {
  const verb = VERBS.find((one) => one === word.toLowerCase());
  return verb === undefined ? fail({reason: 'verb-unknown', verb: word, nearest: nearest(word, VERBS)}) : ok(verb);
}

/** A name from the hosts file; an address is refused as such, whether or not a host has it. */
export function readHost(word: string, known: readonly HostName[]): Result<HostName> {
  if (
    /^(\[[0-9a-f:.]+\](:\d+)?|[0-9a-f:]*:[0-9a-f:.]+)$/i.test(word) ||
    /^\d{1,3}(\.\d{1,3}){3}(:\d+)?$/.test(word) ||
    word.includes('@')
  ) {
    return fail({reason: 'host-is-address', host: word, known});
  }
  const host = known.find((name) => name.toLowerCase() === word.toLowerCase());
  if (host !== undefined) return ok(host);
  return fail({reason: 'host-unknown', host: word, nearest: nearest(word, known)});
}

/** `HOST [gpus=0-3] [match=vllm] [user=…] [pid=1,2] [include-others] [grace=30s] [dry-run] [reason=…]`, in any order. */
export function readReclaim(
  words: readonly string[],
  known: readonly HostName[],
  requester: Person,
): Result<ReclaimRequest> {
  const bare: string[] = [];
  const values = new Map<string, string>();
  for (const word of words) {
    const at = word.indexOf('=');
    const key = (at === -1 ? word : word.slice(0, at)).toLowerCase();
    if (at === -1 && key !== 'include-others' && key !== 'dry-run') {
      bare.push(word);
      continue;
    }
    if (!ARGUMENTS.some((one) => one === key))
      return fail({
        reason: 'argument-unknown',
        argument: at < 1 ? word : word.slice(0, at),
        nearest: nearest(key, ARGUMENTS),
      });
    if (values.has(key))
      return fail({
        reason: 'argument-bad',
        argument: key,
        value: at === -1 ? '' : word.slice(at + 1),
        expected: 'it once only',
      });
    values.set(key, at === -1 ? '' : word.slice(at + 1));
  }
  const [first, ...more] = bare;
  if (first === undefined) return fail({reason: 'host-missing', verb: 'reclaim', known});
  if (more.length > 0) return fail({reason: 'one-host-only', hosts: bare});
  const host = readHost(first, known);
  if (!host.ok) return host;
  return readValues(host.value, values, requester);
}

/** "0-3,6" -> [0,1,2,3,6]; null if it does not read. At most 64 GPUs, each end at most 255. */
export function readGpus(text: string): readonly number[] | null {
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const range = /^(\d{1,3})(?:-(\d{1,3}))?$/.exec(part);
    if (range === null) return null;
    const from = Number(range[1]);
    const to = Number(range[2] ?? range[1]);
    if (to < from || to > 255 || to - from >= 64) return null;
    for (let at = from; at <= to; at += 1) found.add(at);
  }
  if (found.size > 64) return null;
  return [...found].toSorted((a, b) => a - b);
}

function readValues(host: HostName, values: ReadonlyMap<string, string>, requester: Person): Result<ReclaimRequest> {
  const bad = (argument: string, expected: string) =>
    fail({reason: 'argument-bad', argument, value: values.get(argument) ?? '', expected});
  const text = (key: string): string | null => values.get(key) ?? null;

  const gpusText = text('gpus');
  const gpus = gpusText === null ? null : readGpus(gpusText);
  if (gpusText !== null && gpus === null) return bad('gpus', 'indexes and ranges such as 0-3 or 0,2,5');
  const match = text('match');
  if (match !== null && !isLiteral(match.trim()))
    return bad('match', `a text of ${MATCH_MIN} to ${MATCH_MAX} printable characters, such as match=vllm`);
  const user = text('user');
  if (user !== null && !/^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}$/.test(user))
    return bad('user', 'a user name or uid of that host, such as user=bo');
  const pidText = text('pid');
  const pids =
    pidText === null ? [] : pidText.split(',').map((one) => (/^[1-9]\d{0,6}$/.test(one) ? Number(one) : null));
  if (pids.includes(null)) return bad('pid', 'process ids such as pid=4711 or pid=4711,4712');
  const graceText = text('grace');
  const graceMs = graceText === null ? null : parseDuration(graceText);
  if (graceText !== null && (graceMs === null || graceMs > 3_600_000))
    return bad('grace', 'a duration of at most 1h, such as 30s, 5m or 500ms');
  for (const flag of ['include-others', 'dry-run'])
    if ((values.get(flag) ?? '') !== '') return bad(flag, 'it without a value');
  const [reason, override] = [sentenceOf(text('reason')), sentenceOf(text('override'))];
  if (override === null && values.has('override')) return bad('override', 'why, in a few words');
  return ok({
    host,
    gpus,
    match: match === null ? null : match.trim(),
    user,
    pids: [...new Set(pids.filter((pid) => pid !== null))],
    includeOthers: values.has('include-others'),
    graceMs,
    dryRun: values.has('dry-run'),
    reason,
    ...(override === null ? {} : {override: {why: override, holds: []}}),
    requester,
  });
}

function sentenceOf(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : [...text.trim()].slice(0, 300).join('');
}

/** A control character would end the pattern early, and what is left of it could name everybody. */
function isLiteral(text: string): boolean {
  const length = [...text].length;
  return length >= MATCH_MIN && length <= MATCH_MAX && !/\p{C}/u.test(text);
}
