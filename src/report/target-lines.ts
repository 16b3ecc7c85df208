/** A workload of a plan on the card: one head with counts and sums, then only what differs. At most 42 columns. */
import {FINDING_ORDER, type FindingKind} from '../domain/finding.ts';
import type {Plan, Target} from '../domain/plan.ts';
import {ranges, span, thousands} from './amounts.ts';
import {column, safeLine} from './safe-text.ts';
import {stopLine} from './stop-words.ts';
import {belongingWords, FINDING_WORD} from './wording.ts';
import {gpuWords, type Workload, whose, workloadMemory, workloadName} from './workload-words.ts';
import {PHONE_COLUMNS, wrapped} from './wrapped.ts';

export interface Line {
  /** `head` of an entry, `detail` under it, or plain `text`. */
  readonly as: 'head' | 'detail' | 'text';
  readonly text: string;
}

/** `each`: every member has a line of its own, for the one who types the go · `ranges`: PIDs as ranges, for a card. */
export type Members = 'each' | 'ranges';

/** Lines that one list of PIDs, or of reasons, may take on a card. */
const MOST_LINES = 3;
const TERMINAL_COLUMNS = 100;

export function workloadLines(workload: Workload, plan: Plan, members: Members): readonly Line[] {
  return workload.as === 'family' ? familyLines(workload, plan, members) : processLines(workload, plan);
}

function familyLines(workload: Workload, plan: Plan, members: Members): readonly Line[] {
  const {targets} = workload;
  return [
    head(`☑ ${workloadName(workload)}`),
    ...detail(`${workloadMemory(targets, plan)}${soleWords(targets, plan)}`),
    ...(members === 'each' ? [] : first(detail(`PID ${pidsOf(targets)}`))),
    ...detail(ownerWords(targets)),
    ...first(reasonsOf(targets).flatMap((reason) => detail(`· ${reason}`))),
    ...pastLines(targets),
    ...differences(targets).flatMap((difference) => detail(`· ${difference}`)),
    ...first(stopWords(targets)),
    ...(members === 'each' ? targets.map((target) => memberLine(target, plan)) : []),
  ];
}

/** "☑ PID 244199 python3 · ghost", then what it holds, whose it is and why it is ticked. */
function processLines(workload: Workload, plan: Plan): readonly Line[] {
  const {targets} = workload;
  const [one] = targets;
  const [lead, ...more] = one.findings;
  const others = more.filter((kind) => kind !== 'deaf' && kind !== 'stopped' && !IS_SAID.has(kind));
  return [
    headed(`☑ PID ${workloadName(workload)}`, lead === undefined ? '' : headWord(lead)),
    ...detail(
      one.heldBy === 'nothing' ? 'holds no GPU' : `${workloadMemory(targets, plan)}${soleWords(targets, plan)}`,
    ),
    ...(targets.length > 1 ? first(detail(`PID ${pidsOf(targets)}`)) : []),
    ...detail(ownerWords(targets)),
    ...first(reasonsOf(targets).flatMap((reason) => detail(`· ${reason}`))),
    ...pastLines(targets),
    ...(lead === 'writing' ? detail(`· ${noteOf(lead, one)}`) : []),
    ...others.flatMap((kind) => detail(`· ${noteOf(kind, one)}`)),
    ...(one.takesTerm ? [] : detail(`· ${whyNoTerm(one)}: no ${span(plan.graceMs)} wait`)),
    ...first(stopWords(targets)),
  ];
}

/** One member, for the terminal, which has no thread below: nobody is signalled there without a line of their own. */
function memberLine(target: Target, plan: Plan): Line {
  const gpus = gpuWords(target.gpuUuids, plan);
  const memory = target.chargedMiB === null ? '' : `${gpus === '' ? '' : ', '}${thousands(target.chargedMiB)} MiB`;
  const words = target.findings
    .filter((kind) => kind === 'server' || !IS_SAID.has(kind))
    .map((kind) => FINDING_WORD[kind]);
  const facts = [`${gpus}${memory}`, ...words].filter((part) => part !== '');
  return {
    as: 'detail',
    text: cut([`☑ PID ${target.identity.pid} ${safeLine(target.name, 40)}`, ...facts].join(' · '), TERMINAL_COLUMNS),
  };
}

/** Findings that say nothing which head, sums and reasons have not said. */
const IS_SAID: ReadonlySet<FindingKind> = new Set<FindingKind>([
  'workload',
  'renamed',
  'server',
  'bystander',
  'name-only',
]);

/** What only some of them are, strongest first: "ignores SIGTERM: PID 4012, 4015"; without PIDs where it is all. */
function differences(targets: readonly Target[]): readonly string[] {
  const holders = targets.filter((target) => target.role !== 'server');
  return FINDING_ORDER.filter((kind) => !IS_SAID.has(kind)).flatMap((kind) => {
    const members = targets.filter((target) => target.findings.includes(kind));
    const notes = new Map<string, Target[]>();
    for (const member of members) {
      const note = noteOf(kind, member);
      notes.set(note, [...(notes.get(note) ?? []), member]);
    }
    return [...notes].map(([note, same]) =>
      same.length >= holders.length && holders.every((one) => same.includes(one))
        ? `${note}: all`
        : `${note}: PID ${pidsOf(same)}`,
    );
  });
}

/** What is written and how fast stands in the evidence; everything else is one of our own words. */
function noteOf(kind: FindingKind, target: Target): string {
  const writes = kind === 'writing' ? target.evidence.find((one) => one.source === 'writes') : undefined;
  return writes === undefined ? FINDING_WORD[kind] : safeLine(writes.fact, 80);
}

/** In a word, where the whole one is too long for a head; the rest follows below it. */
const HEAD_WORD: Partial<Record<FindingKind, string>> = {
  inheritor: 'ghost',
  'zombie-leader': 'zombie leader',
  'in-flight': 'files in its socket',
  server: 'server',
  workload: '',
  bystander: '',
  'name-only': '',
};

function headWord(kind: FindingKind): string {
  return HEAD_WORD[kind] ?? FINDING_WORD[kind];
}

function whyNoTerm({findings}: Target): string {
  return findings.includes('deaf')
    ? FINDING_WORD.deaf
    : findings.includes('stopped')
      ? FINDING_WORD.stopped
      : 'takes no SIGTERM';
}

/** ", sole holder" if nobody else, staying or ending, was seen to use these GPUs; daemons and monitors aside. */
function soleWords(targets: readonly Target[], plan: Plan): string {
  const uuids = new Set(targets.flatMap((target) => target.gpuUuids));
  const shares = (one: {readonly gpuUuids: readonly string[]}) => one.gpuUuids.some((uuid) => uuids.has(uuid));
  const others =
    plan.targets.some((target) => !targets.includes(target) && shares(target)) ||
    plan.kept.some((kept) => kept.why !== 'protected' && kept.why !== 'monitor' && shares(kept));
  const holders = targets.filter((target) => target.role !== 'server').length;
  return uuids.size === 0 || others ? '' : `, sole ${holders === 1 ? 'holder' : 'holders'}`;
}

/** "anna, bo · up 3 h 12 m", the longest of them. */
function ownerWords(targets: readonly Target[]): string {
  const owners = [...new Set(targets.map((target) => whose(target.ownership)))];
  const shown = owners.length > 3 ? [...owners.slice(0, 2), `${owners.length - 2} more`] : owners;
  return `${shown.join(', ')} · up ${span(Math.max(...targets.map((target) => target.ageMs)))}`;
}

/** Each reason once; that a member belongs to another one of the same family goes without saying. */
function reasonsOf(targets: readonly Target[]): readonly string[] {
  const pids = new Set(targets.map((target) => target.identity.pid));
  const own = targets.filter(({belonging}) => {
    if (belonging.by === 'parents') return !pids.has(belonging.ancestorPid);
    return !('sharedWithPid' in belonging) || !pids.has(belonging.sharedWithPid);
  });
  return [...new Set((own.length === 0 ? targets.slice(0, 1) : own).map((target) => belongingWords(target.belonging)))];
}

/** What the dead were called whose memory is kept: the name under which a person knows a ghost. */
function pastLines(targets: readonly Target[]): readonly Line[] {
  const facts = targets.flatMap((target) => target.evidence.filter((one) => one.source === 'earlier-look'));
  const [one, ...more] = new Set(facts.map((fact) => fact.fact));
  if (one === undefined) return [];
  return detail(`· ${safeLine(one, 80)}${more.length === 0 ? '' : `, ${more.length} more alike`}`);
}

function stopWords(targets: readonly Target[]): readonly Line[] {
  const hints = new Set(targets.flatMap((target) => stopLine(target) ?? []));
  return [...hints].flatMap((hint) => detail(`· ${hint}`));
}

function pidsOf(targets: readonly Target[]): string {
  return ranges(targets.map((target) => target.identity.pid));
}

/** A list that is too long for a card ends in the open; the thread has all of it. */
function first(lines: readonly Line[]): readonly Line[] {
  return lines.length <= MOST_LINES
    ? lines
    : [...lines.slice(0, MOST_LINES - 1), {as: 'detail', text: '  … all in the evidence'}];
}

export function head(text: string): Line {
  return {as: 'head', text: cut(text, PHONE_COLUMNS)};
}

/** The name gives way to the word behind it. */
function headed(text: string, word: string): Line {
  return head(word === '' ? text : `${cut(text, Math.max(24, PHONE_COLUMNS - 3 - [...word].length))} · ${word}`);
}

/** As many lines as it needs, within the columns that are left beside the indent. */
export function detail(text: string): readonly Line[] {
  return wrapped(text, PHONE_COLUMNS - 2).map((line) => ({as: 'detail', text: line}));
}

export function cut(text: string, width: number): string {
  return [...text].length <= width ? text : column(text, width).trimEnd();
}
