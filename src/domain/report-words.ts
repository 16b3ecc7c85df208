/** `report HOST… [WHEN] [to=#channel] [zone=…] [quiet|loud]`: which hosts, when, and where it is told. */
import {type Failure, fail, ok, type Result} from './failure.ts';
import {fitsPattern, isPattern} from './grammar/glob.ts';
import {readHost, splitList, unknownHost} from './grammar/host-words.ts';
import {settle} from './grammar/settle.ts';
import {ruleOf} from './grammar/verb-table.ts';
import type {Host, HostName} from './host.ts';
import {nearest} from './nearest.ts';
import {fleetOf} from './practice.ts';
import type {HostChoice, Schedule, When} from './schedule.ts';
import {isRepeating} from './schedule.ts';
import {BEGINNINGS, beginsWhen, readWhen} from './schedule-words.ts';
import {nearestZones, readZone} from './zone.ts';

export interface AskedReport {
  readonly hosts: readonly HostChoice[];
  /** null: no time was named, which means at once. */
  readonly when: When | null;
  /** null: the caller's own. */
  readonly zone: string | null;
  /** null: where it is asked. */
  readonly channel: string | null;
  readonly quiet: boolean;
}

const OPTIONS = ruleOf('report').forms[0].options;

/** No host named: all of them. Whoever only looks may look at everything. */
export function readReport(words: readonly string[], known: readonly Host[]): Result<AskedReport> {
  // `when PID=12345 exits` is a time; a cron pattern's stars and slashes are no options.
  const settled = settle(words, {options: OPTIONS, known, bare: 'text', keeps: (word) => /^pid=/i.test(word)});
  if (!settled.ok) return settled;
  const {values: options} = settled.value;
  const bare = withChannelsOut(settled.value.bare);
  const isName = (word: string): boolean => {
    const lower = word.toLowerCase();
    return known.some(({name, groups}) => name.toLowerCase() === lower || groups.includes(lower));
  };
  const at = bare.words.findIndex((word) => beginsWhen(word) && !isName(word));
  const hosts = readChoices(at === -1 ? bare.words : bare.words.slice(0, at), known);
  if (!hosts.ok) return maybeTime(hosts.failure);
  const time = at === -1 ? null : readWhen(bare.words.slice(at));
  if (time !== null && !time.ok) return time;
  const zone = zoneIn(options.get('zone'), time?.value.zone ?? null);
  if (!zone.ok) return zone;
  const to = options.get('to') ?? bare.channel;
  const channel = to === null ? null : channelIn(to);
  if (to !== null && channel === null)
    return fail({
      reason: 'argument-bad',
      argument: 'to',
      value: to,
      expected: 'a channel, such as to=#gpu-reports or to=C0123456789',
    });
  for (const flag of ['quiet', 'loud'] as const)
    if ((options.get(flag) ?? '') !== '')
      return fail({
        reason: 'argument-bad',
        argument: flag,
        value: options.get(flag) ?? '',
        expected: 'it without a value',
      });
  const when = time?.value.when ?? null;
  const quiet = options.has('quiet') || (!options.has('loud') && when !== null && isRepeating(when));
  const waits = when?.kind === 'exit' ? oneHost(hosts.value) : null;
  if (waits !== null) return waits;
  return ok({hosts: hosts.value, when, zone: zone.value, channel, quiet});
}

/** What is no host may be a time, misspelt. */
function maybeTime(failure: Failure): Result<never> {
  if (failure.reason !== 'host-unknown' || failure.nearest.length > 0) return fail(failure);
  return fail({...failure, nearest: nearest(failure.host, [...BEGINNINGS])});
}

/** Names, groups, and globs such as `gpu-1*`; each must fit something that is there now. */
export function readChoices(words: readonly string[], known: readonly Host[]): Result<readonly HostChoice[]> {
  const names = known.map((host) => host.name);
  if (words.length === 0)
    return names.length === 0 ? fail({reason: 'host-missing', verb: 'report', known: names}) : ok([{kind: 'all'}]);
  const choices: HostChoice[] = [];
  for (const word of words.flatMap(splitList)) {
    const lower = word.toLowerCase();
    if (lower === 'all' || lower === '*') choices.push({kind: 'all'});
    else if (known.some((host) => host.groups.includes(lower))) choices.push({kind: 'group', name: lower});
    else if (isPattern(word)) {
      const choice: HostChoice = {kind: 'glob', pattern: lower};
      if (chosenHosts([choice], known).length === 0) return fail({reason: 'host-unknown', host: word, nearest: []});
      choices.push(choice);
    } else {
      const host = readHost(word, names);
      if (!host.ok) return unknownHost(word, known);
      choices.push({kind: 'host', name: host.value});
    }
  }
  return ok(choices);
}

/** Each host once, in the order of the hosts file; `gone` for what was chosen by name and is no longer there. */
export function chosenHosts(
  choices: readonly HostChoice[],
  known: readonly Host[],
): readonly {readonly name: HostName; readonly gone: boolean}[] {
  const fleet = new Set(fleetOf(known));
  const fits = (host: Host): boolean =>
    choices.some((choice) => (choice.kind === 'all' ? fleet.has(host) : isChosen(choice, host)));
  const here = known.filter(fits).map(({name}) => ({name, gone: false}));
  const gone = choices.flatMap((choice) =>
    choice.kind === 'host' && !known.some((host) => host.name === choice.name) ? [{name: choice.name, gone: true}] : [],
  );
  return [...here, ...gone];
}

/** Whether any of these hosts would be in it; null: whatever it is about. */
export function isAbout(
  choices: readonly HostChoice[],
  wanted: ReadonlySet<HostName> | null,
  known: readonly Host[],
): boolean {
  return wanted === null || chosenHosts(choices, known).some(({name}) => wanted.has(name));
}

function isChosen(choice: Exclude<HostChoice, {kind: 'all'}>, host: Host): boolean {
  switch (choice.kind) {
    case 'host':
      return host.name === choice.name;
    case 'group':
      return host.groups.includes(choice.name);
    case 'glob':
      return fitsPattern(choice.pattern, host.name);
  }
}

/** As they would be typed again. */
export function choiceWords(choices: Schedule['hosts']): string {
  return choices
    .map((choice) => {
      switch (choice.kind) {
        case 'all':
          return 'all';
        case 'glob':
          return choice.pattern;
        default:
          return choice.name;
      }
    })
    .join(' ');
}

function zoneIn(option: string | undefined, named: string | null): Result<string | null> {
  if (option === undefined) return ok(named);
  const zone = readZone(option);
  if (zone !== null && (named === null || named === zone)) return ok(zone);
  const near = nearestZones(option);
  const expected =
    zone !== null ? 'one zone only' : near.length === 0 ? 'a zone such as Europe/Berlin or UTC' : near.join(' or ');
  return fail({reason: 'argument-bad', argument: 'zone', value: option, expected});
}

/** A channel needs no key: nothing else looks like one. */
function withChannelsOut(bare: readonly string[]): {
  readonly words: readonly string[];
  readonly channel: string | null;
} {
  const isChannel = (word: string): boolean => /^<#[A-Z0-9]+/.test(word);
  return {words: bare.filter((word) => !isChannel(word)), channel: bare.find(isChannel) ?? null};
}

/** `<#C012|name>` as Slack escapes it, or the id itself; a bare name can't be told from another channel's. */
function channelIn(text: string): string | null {
  const [, id] = /^(?:<#)?([CG][A-Z0-9]{2,20})(?:\|[^>]*)?>?$/.exec(text) ?? [];
  return id ?? null;
}

/** A PID means something on one host only. */
function oneHost(hosts: readonly HostChoice[]) {
  const [first, ...more] = hosts;
  if (first?.kind === 'host' && more.length === 0) return null;
  return fail({
    reason: 'schedule-unreadable',
    phrase: `when PID exits, for ${choiceWords(hosts)}`,
    problem: 'a PID means something on one host only',
    wayOut: 'name that one host before it',
  });
}
