/** What a verb of the command table is made of. The table itself is `verb-table.ts`. */

/** In the order in which help lists them. */
export const VERBS = [
  'help',
  'status',
  'diagnose',
  'reclaim',
  'report',
  'schedules',
  'profile',
  'keep',
  'runs',
  'show',
  'cancel',
  'pause',
  'resume',
  'hosts',
  'probe',
  'start',
] as const;
export type Verb = (typeof VERBS)[number];

/** Where something is typed. */
export type Door = 'slack' | 'terminal';

export type OptionName =
  | 'gpus'
  | 'match'
  | 'user'
  | 'pid'
  | 'include-others'
  | 'grace'
  | 'dry-run'
  | 'reason'
  | 'override'
  | 'to'
  | 'zone'
  | 'quiet'
  | 'loud'
  | 'until'
  | 'out'
  | 'label'
  | 'sample'
  | 'lgc'
  | 'lmc'
  | 'json'
  | 'confirm'
  | 'terminate-only'
  | 'from';

/** How a value is written, and so how far it reaches over the words behind its key. */
export type OptionKind =
  | 'gpus'
  | 'literal'
  | 'user'
  | 'pids'
  | 'duration'
  | 'sentence'
  | 'time'
  | 'zone'
  | 'channel'
  | 'clocks'
  | 'folder'
  | 'file'
  | 'confirmation'
  | 'flag';

/** What holds where an argument is left out: words, or a number of the policy in force. */
export type Usual = {readonly say: string} | {readonly policy: 'grace'};

export interface OptionRule {
  readonly name: OptionName;
  readonly kind: OptionKind;
  /** A value as it is typed; empty for a flag. */
  readonly example: string;
  readonly meaning: string;
  readonly usual: Usual;
  /** Other spellings that are read as this one. */
  readonly also: readonly string[];
  readonly need: 'optional' | 'required';
  /** `terminal`: only there, and only with two dashes in front. */
  readonly door: 'both' | 'terminal';
}

export type PlaceKind = 'host' | 'hosts' | 'run' | 'schedule' | 'hold' | 'when' | 'text' | 'verb';

/** A word, or words, without a key. */
export interface Place {
  readonly kind: PlaceKind;
  /** As usage lines show it, such as `HOST…`. */
  readonly shown: string;
  readonly meaning: string;
  readonly usual: string | null;
}

/** Who may run it where it may be typed at all. The engine asks again; this is for telling people beforehand. */
export type Who = 'anyone' | 'approver' | 'holder-or-approver';

/** One way to say a verb: `profile start HOST…` and `profile list` are two. */
export interface Form {
  /** The second word, in lower case; null: none. */
  readonly sub: string | null;
  readonly places: readonly Place[];
  readonly options: readonly OptionRule[];
  readonly meaning: string;
  readonly who: Who;
  /** Without the program's name; HOST and GROUP stand for what this site has. */
  readonly examples: readonly string[];
}

/** What becomes of it. `plan`: it may lead to signals, so that it wants a host in act mode and an approver to be. */
export type Ends = 'look' | 'plan' | 'stop' | 'keep';

export interface VerbRule {
  readonly verb: Verb;
  readonly door: 'both' | 'terminal';
  readonly ends: Ends;
  /** Read as this verb without a word: only where nothing is signalled, stopped or held by it. */
  readonly synonyms: readonly string[];
  /** Asked back as "did you mean", and never done. */
  readonly meantBy: readonly string[];
  readonly forms: readonly [Form, ...Form[]];
  /** For Slack, where it is for the terminal only: what to do there instead. */
  readonly instead: string | null;
}
