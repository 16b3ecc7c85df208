/** `profile start HOST… [label] [gpus=…] [out=DIR] [sample=60s] [lgc=LOW,HIGH] [lmc=LOW,HIGH] [until=…]` and `keep HOST [gpus=…] [pid=…] until=… "why"`, as people type them. */
import type {Campaign} from './campaign.ts';
import {parseDuration} from './duration.ts';
import {fail, ok, type Result} from './failure.ts';
import type {Host, HostName} from './host.ts';
import {type ClockRange, readClockRange} from './locked-clocks.ts';
import {nearest} from './nearest.ts';
import type {When} from './schedule.ts';
import {readWhen} from './schedule-words.ts';
import {readGpus, readHost} from './words.ts';
import {readZone} from './zone.ts';

export interface AskedHold extends Pick<Campaign, 'kind' | 'hosts' | 'gpus' | 'label' | 'out' | 'sampleMs' | 'locked'> {
  /** Processes to be held by themselves, on the one host. */
  readonly pids: readonly number[];
  /** A single time; null: until it is ended. */
  readonly until: When | null;
}

export interface ReadHold {
  readonly asked: AskedHold;
  /** null: the caller's own. */
  readonly zone: string | null;
}

const LABEL_MAX = 120;
/** More often, and the looks would be what is measured; less often, and no peak is met. */
const SAMPLE_MS = {least: 10_000, most: 3_600_000};
/** What only a campaign has. */
const OF_CAMPAIGNS: readonly Option[] = ['out', 'sample', 'lgc', 'lmc'];
const OPTIONS = ['gpus', 'until', 'zone', 'label', 'out', 'sample', 'lgc', 'lmc', 'pid'] as const;
type Option = (typeof OPTIONS)[number];

/** Words behind `profile start` or `keep`. Bare words are hosts and groups; the first that is none begins the label. */
export function readHold(kind: Campaign['kind'], words: readonly string[], known: readonly Host[]): Result<ReadHold> {
  const verb = kind === 'profile' ? 'profile start' : 'keep';
  const split = splitOptions(words, kind);
  if (!split.ok) return split;
  const {options, bare} = split.value;
  const read = hostsOf(bare, known, verb);
  if (!read.ok) return read;
  const bad = (argument: Option, expected: string) =>
    fail({reason: 'argument-bad', argument, value: options.get(argument) ?? '', expected});
  const label = labelOf(options.get('label') ?? read.value.rest.join(' '));
  if (kind === 'keep' && label === null) return bad('label', 'why, in a few words, such as "debugging with carla"');
  const gpusText = options.get('gpus');
  const gpus = gpusText === undefined ? null : readGpus(gpusText);
  if (gpusText !== undefined && gpus === null) return bad('gpus', 'indexes and ranges such as 0-3 or 0,2,5');
  const out = options.get('out') ?? null;
  if (out !== null && !/^\/[^\p{C}]{0,500}$/u.test(out)) return bad('out', 'an absolute path such as /data/profiles');
  const sampleText = options.get('sample');
  const sampleMs = sampleText === undefined ? null : parseDuration(sampleText.toLowerCase());
  if (sampleText !== undefined && (sampleMs === null || sampleMs < SAMPLE_MS.least || sampleMs > SAMPLE_MS.most))
    return bad('sample', 'how often to look, from 10s to 1h, such as sample=60s');
  const pids = readPids(options.get('pid'));
  if (pids === null) return bad('pid', 'process ids such as pid=4711 or pid=4711,4712');
  if (pids.length > 0 && read.value.hosts.length > 1) return fail({reason: 'one-host-only', hosts: read.value.hosts});
  const locked = {graphics: rangeOf(options.get('lgc')), memory: rangeOf(options.get('lmc'))};
  for (const option of ['lgc', 'lmc'] as const)
    if (options.has(option) && rangeOf(options.get(option)) === null)
      return bad(option, 'the clocks in MHz that its GPUs are locked to, lowest and highest, such as 1410,1410');
  const untilText = options.get('until');
  if (kind === 'keep' && untilText === undefined)
    return bad('until', 'a time or a length, such as until=18:00 or until=2h');
  const until = untilText === undefined ? null : readUntil(untilText);
  if (until !== null && !until.ok) return until;
  const zoneText = options.get('zone');
  const zone = zoneText === undefined ? (until?.value.zone ?? null) : readZone(zoneText);
  if (zoneText !== undefined && zone === null) return bad('zone', 'a zone such as Europe/Berlin or UTC');
  const asked = {
    kind,
    hosts: read.value.hosts,
    gpus,
    label,
    out,
    sampleMs,
    locked,
    pids,
    until: until?.value.when ?? null,
  };
  return ok({asked, zone});
}

/** `18:00`, `2h`, `in 2h`, `tomorrow 07:30`, `18:00 Europe/Berlin`: one time, and no repeating one. */
function readUntil(text: string): ReturnType<typeof readWhen> {
  const words = text.trim().split(/\s+/);
  const read = readWhen(/^(\d+[a-z]+)+$/i.test(words.join('')) && !/[ap]m$/i.test(text) ? ['in', ...words] : words);
  if (!read.ok || read.value.when.kind === 'at' || read.value.when.kind === 'after') return read;
  return fail({
    reason: 'schedule-unreadable',
    phrase: text,
    problem: 'it is not one time',
    wayOut: 'say for example until=18:00, until=2h or until="tomorrow 07:30"',
  });
}

const MOST_PIDS = 64;

function readPids(text: string | undefined): readonly number[] | null {
  if (text === undefined) return [];
  const words = text.split(',');
  if (words.length > MOST_PIDS || !words.every((word) => /^[1-9]\d{0,6}$/.test(word))) return null;
  return [...new Set(words.map(Number))];
}

function rangeOf(text: string | undefined): ClockRange | null {
  return text === undefined ? null : readClockRange(text);
}

function splitOptions(
  words: readonly string[],
  kind: Campaign['kind'],
): Result<{readonly options: ReadonlyMap<Option, string>; readonly bare: readonly string[]}> {
  const mine = OPTIONS.filter((one) => (kind === 'profile' ? one !== 'pid' : !OF_CAMPAIGNS.includes(one)));
  const options = new Map<Option, string>();
  const bare: string[] = [];
  for (const word of words) {
    const at = word.indexOf('=');
    const key = word.slice(0, Math.max(0, at)).toLowerCase();
    // A label may hold a sign of equality, but not begin with a word in front of one.
    if (!/^[a-z-]+$/.test(key)) {
      bare.push(word);
      continue;
    }
    const option = mine.find((one) => one === key);
    if (option === undefined) return fail({reason: 'argument-unknown', argument: key, nearest: nearest(key, mine)});
    if (options.has(option))
      return fail({reason: 'argument-bad', argument: key, value: word.slice(at + 1), expected: 'it once only'});
    options.set(option, word.slice(at + 1));
  }
  return ok({options, bare});
}

function hostsOf(
  bare: readonly string[],
  known: readonly Host[],
  verb: string,
): Result<{readonly hosts: readonly HostName[]; readonly rest: readonly string[]}> {
  const names = known.map(({name}) => name);
  const hosts = new Set<HostName>();
  let at = 0;
  for (; at < bare.length; at += 1) {
    const word = bare[at] ?? '';
    const lower = word.toLowerCase();
    const group = known.filter(({groups}) => groups.includes(lower));
    const host = known.find(({name}) => name.toLowerCase() === lower);
    if (host === undefined && group.length === 0) break;
    for (const one of host === undefined ? group : [host]) hosts.add(one.name);
  }
  const next = bare[at];
  if (hosts.size === 0)
    return next === undefined ? fail({reason: 'host-missing', verb, known: names}) : notAHost(next, names);
  // Most likely one more host, misspelt, and no label.
  if (next !== undefined && nearest(next, names).length > 0) return notAHost(next, names);
  return ok({hosts: [...hosts], rest: bare.slice(at)});
}

function notAHost(word: string, names: readonly HostName[]): Result<never> {
  const read = readHost(word, names);
  return read.ok ? fail({reason: 'host-unknown', host: word, nearest: []}) : read;
}

function labelOf(text: string): string | null {
  const label = [...text.trim()].slice(0, LABEL_MAX).join('');
  return label === '' ? null : label;
}
