/** `profile start HOST… [label] [gpus=…] [out=DIR] [sample=60s] [lgc=LOW,HIGH] [lmc=LOW,HIGH] [until=…]` and `keep HOST [gpus=…] [pid=…] until=… "why"`, as people type them. */
import type {Campaign} from './campaign.ts';
import {fail, ok, type Result} from './failure.ts';
import {namesHosts, readHosts, unknownHost} from './grammar/host-words.ts';
import type {OptionName} from './grammar/rules.ts';
import {settle} from './grammar/settle.ts';
import {readDuration, readGpus, readPids} from './grammar/values.ts';
import {formOf, ruleOf} from './grammar/verb-table.ts';
import type {Host, HostName} from './host.ts';
import {type ClockRange, readClockRange} from './locked-clocks.ts';
import {nearest} from './nearest.ts';
import type {When} from './schedule.ts';
import {readUntil} from './until-words.ts';
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
const FORMS = {profile: formOf(ruleOf('profile'), 'start'), keep: ruleOf('keep').forms[0]};

/** Words behind `profile start` or `keep`. Bare words are hosts and groups; the first that is none begins the label. */
export function readHold(kind: Campaign['kind'], words: readonly string[], known: readonly Host[]): Result<ReadHold> {
  const verb = kind === 'profile' ? 'profile start' : 'keep';
  const settled = settle(words, {options: FORMS[kind]?.options ?? [], known, bare: 'text'});
  if (!settled.ok) return settled;
  const {values: options, bare} = settled.value;
  const read = hostsOf(bare, known, verb);
  if (!read.ok) return read;
  const bad = (argument: OptionName, expected: string) =>
    fail({reason: 'argument-bad', argument, value: options.get(argument) ?? '', expected});
  const label = labelOf(options.get('label') ?? read.value.rest.join(' '));
  if (kind === 'keep' && label === null) return bad('label', 'why, in a few words, such as "debugging with carla"');
  const gpusText = options.get('gpus');
  const gpus = gpusText === undefined ? 'all' : readGpus(gpusText);
  if (gpus === null) return bad('gpus', 'indexes and ranges such as 0-3 or 0,2,5, or all');
  const out = options.get('out') ?? null;
  if (out !== null && !/^\/[^\p{C}]{0,500}$/u.test(out)) return bad('out', 'an absolute path such as /data/profiles');
  const sampleText = options.get('sample');
  const sampleMs = sampleText === undefined ? null : readDuration(sampleText);
  if (sampleText !== undefined && (sampleMs === null || sampleMs < SAMPLE_MS.least || sampleMs > SAMPLE_MS.most))
    return bad('sample', 'how often to look, from 10s to 1h, such as sample=60s');
  const pidText = options.get('pid');
  const pids = pidText === undefined ? [] : readPids(pidText);
  if (pids === null || pids.length > MOST_PIDS) return bad('pid', 'process ids such as pid=4711 or pid=4711,4712');
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
    gpus: gpus === 'all' ? null : gpus,
    label,
    out,
    sampleMs,
    locked,
    pids,
    until: until?.value.when ?? null,
  };
  return ok({asked, zone});
}

const MOST_PIDS = 64;

function rangeOf(text: string | undefined): ClockRange | null {
  return text === undefined ? null : readClockRange(text);
}

function hostsOf(
  bare: readonly string[],
  known: readonly Host[],
  verb: string,
): Result<{readonly hosts: readonly HostName[]; readonly rest: readonly string[]}> {
  const at = bare.findIndex((word) => !namesHosts(word, known));
  const named = at === -1 ? bare : bare.slice(0, at);
  const next = at === -1 ? undefined : bare[at];
  const names = known.map(({name}) => name);
  if (named.length === 0)
    return next === undefined ? fail({reason: 'host-missing', verb, known: names}) : unknownHost(next, known);
  // Most likely one more host, misspelt, and no label.
  if (next !== undefined && nearest(next, names).length > 0) return unknownHost(next, known);
  const hosts = readHosts(named, known, verb);
  return hosts.ok ? ok({hosts: hosts.value.map(({name}) => name), rest: at === -1 ? [] : bare.slice(at)}) : hosts;
}

function labelOf(text: string): string | null {
  const label = [...text.trim()].slice(0, LABEL_MAX).join('');
  return label === '' ? null : label;
}
