/** A reclaim as people type it, read: the same words in the terminal and in Slack. */
import {fail, ok, type Result} from './failure.ts';
import {namesHosts, readOneHost, unknownHost} from './grammar/host-words.ts';
import {nearestOptions} from './grammar/option-words.ts';
import type {OptionName} from './grammar/rules.ts';
import {settle} from './grammar/settle.ts';
import {readDuration, readGpus, readPids} from './grammar/values.ts';
import {isAt, ruleOf} from './grammar/verb-table.ts';
import type {Host} from './host.ts';
import {nearest} from './nearest.ts';
import type {Person} from './person.ts';
import type {ReclaimRequest} from './request.ts';

/** The shortest literal that may name processes: shorter ones name everybody. */
export const MATCH_MIN = 3;
const MATCH_MAX = 200;

export const RECLAIM_OPTIONS = ruleOf('reclaim').forms[0].options.filter((one) => isAt(one, 'slack'));

/** `HOST [gpus=0-3] [match=vllm] [user=…] [pid=1,2] [include-others] [grace=30s] [dry-run] [reason=…]`, in any order. */
export function readReclaim(
  words: readonly string[],
  known: readonly Host[],
  requester: Person,
): Result<ReclaimRequest> {
  const settled = settle(words, {options: RECLAIM_OPTIONS, known, bare: 'hosts'});
  if (!settled.ok) return settled;
  const {bare, values} = settled.value;
  const stray = strayWord(bare, known);
  if (stray !== null) return stray;
  const name = readOneHost(bare, known, 'reclaim');
  if (!name.ok) return name;
  const host = known.find((one) => one.name === name.value);
  return host === undefined ? unknownHost(name.value, known) : readValues(host, values, requester);
}

/** Beside a host, a word that is no host is most likely a value without its key. */
function strayWord(bare: readonly string[], known: readonly Host[]): Result<never> | null {
  const isHost = (word: string): boolean => namesHosts(word, known);
  const stray = bare.find((word) => !isHost(word));
  if (stray === undefined || !bare.some(isHost)) return null;
  const hosts = readOneHost(bare.filter(isHost), known, 'reclaim');
  if (!hosts.ok) return hosts;
  const unknown = unknownHost(stray, known);
  if (
    !unknown.ok &&
    (unknown.failure.reason === 'host-is-address' ||
      nearest(
        stray,
        known.map(({name}) => name),
      ).length > 0)
  )
    return unknown;
  return fail({
    reason: 'argument-unknown',
    argument: stray,
    nearest: meantAs(stray),
    hint: 'a value has its key in front, and quotes around several words, such as match="vllm serve"',
  });
}

function meantAs(word: string): readonly string[] {
  const near = nearestOptions(word, RECLAIM_OPTIONS);
  if (near.length > 0) return near;
  if (/^\d{1,2}([-,.]+\d{1,2})*$/.test(word) && readGpus(word) !== null) return [`gpus=${word}`];
  if (readPids(word) !== null) return [`pid=${word}`];
  return readDuration(word) === null ? [] : [`grace=${word}`];
}

function readValues(host: Host, values: ReadonlyMap<OptionName, string>, requester: Person): Result<ReclaimRequest> {
  const bad = (argument: OptionName, expected: string) =>
    fail({reason: 'argument-bad', argument, value: values.get(argument) ?? '', expected});
  const text = (key: OptionName): string | null => values.get(key) ?? null;

  const gpusText = text('gpus');
  const gpus = gpusText === null ? 'all' : readGpus(gpusText);
  if (gpus === null) return bad('gpus', 'indexes and ranges such as 0-3 or 0,2,5, or all');
  const match = text('match');
  if (match !== null && !isLiteral(match.trim()))
    return bad('match', `a text of ${MATCH_MIN} to ${MATCH_MAX} printable characters, such as match=vllm`);
  const user = userOf(text('user'), host);
  if (!user.ok) return user;
  const pidText = text('pid');
  const pids = pidText === null ? [] : readPids(pidText);
  if (pids === null) return bad('pid', 'process ids such as pid=4711 or pid=4711,4712');
  const graceText = text('grace');
  const graceMs = graceText === null ? null : readDuration(graceText);
  if (graceText !== null && (graceMs === null || graceMs > 3_600_000))
    return bad('grace', 'a duration of at most 1h, such as 30s, 5m or 1m30s');
  for (const flag of ['include-others', 'dry-run'] as const)
    if ((values.get(flag) ?? '') !== '') return bad(flag, 'it without a value');
  const [reason, override] = [sentenceOf(text('reason')), sentenceOf(text('override'))];
  if (override === null && values.has('override')) return bad('override', 'why, in a few words');
  return ok({
    host: host.name,
    gpus: gpus === 'all' ? null : gpus,
    match: match === null ? null : match.trim(),
    user: user.value,
    pids,
    includeOthers: values.has('include-others'),
    graceMs,
    dryRun: values.has('dry-run'),
    reason,
    ...(override === null ? {} : {override: {why: override, holds: []}}),
    requester,
  });
}

/** A name or uid of that host; a mention (`<@U012|bo>`) through `people` of the hosts file, which is by uid. */
function userOf(text: string | null, {people}: Host): Result<string | null> {
  if (text === null) return ok(null);
  const bad = (expected: string) => fail({reason: 'argument-bad', argument: 'user', value: text, expected});
  const [, id] = /^<@([UW][A-Z0-9]{1,30})(?:\|[^>]*)?>$/.exec(text) ?? [];
  if (id !== undefined) {
    const uids = [...people].flatMap(([uid, person]) => (person === id ? [uid] : []));
    const [only, ...more] = uids;
    if (only === undefined)
      return bad('a user name or uid of that host, since the hosts file has no uid for this person there');
    return more.length === 0
      ? ok(String(only))
      : bad(`one of this person's uids there: user=${uids.slice(0, 8).join(' or user=')}`);
  }
  const name = text.replace(/^@(?=.)/, '');
  return /^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}$/.test(name)
    ? ok(name)
    : bad('a user name or uid of that host, such as user=bo');
}

function sentenceOf(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : [...text.trim()].slice(0, 300).join('');
}

/** A control character would end the pattern early, and what is left of it could name everybody. */
function isLiteral(text: string): boolean {
  const length = [...text].length;
  return length >= MATCH_MIN && length <= MATCH_MAX && !/\p{C}/u.test(text);
}
