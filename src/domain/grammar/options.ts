/** The arguments that verbs share, each told once. */
import type {OptionKind, OptionName, OptionRule, Usual} from './rules.ts';

const NONE: Usual = {say: 'not set'};

function option(
  name: OptionName,
  kind: OptionKind,
  example: string,
  meaning: string,
  more: Partial<OptionRule> = {},
): OptionRule {
  return {name, kind, example, meaning, usual: NONE, also: [], need: 'optional', door: 'both', ...more};
}

export const GPUS = option('gpus', 'gpus', '0-3', 'these GPUs only: 0-3, 0,2,5 or all', {
  usual: {say: 'all'},
  also: ['gpu'],
});

export const MATCH = option(
  'match',
  'literal',
  'vllm',
  'processes whose command line holds this text, 3 characters or more',
  {
    usual: {say: 'whatever holds a GPU'},
    also: ['matching', 'matches'],
  },
);

export const USER = option('user', 'user', 'bo', 'processes of this user: a name or uid of the host, or a mention', {
  usual: {say: 'anybody’s'},
  also: ['users'],
});

export const PID = option('pid', 'pids', '4711', 'these processes: 4711 or 4711,4712', {
  usual: {say: 'not by number'},
  also: ['pids'],
});

export const INCLUDE_OTHERS = option(
  'include-others',
  'flag',
  '',
  'ticks what is in use as well; another approver says go',
  {
    usual: {say: 'other people’s live work is kept'},
    also: ['includeothers', 'include-other'],
  },
);

export const GRACE = option('grace', 'duration', '30s', 'from SIGTERM to kill -9, at most 1h', {
  usual: {policy: 'grace'},
});

export const DRY_RUN = option('dry-run', 'flag', '', 'ends with the plan; nothing can be signalled', {
  usual: {say: 'the plan waits for a go'},
  also: ['dryrun', 'dry'],
});

export const REASON = option('reason', 'sentence', '"…"', 'why; everybody reads it', {
  usual: {say: 'none'},
  also: ['because'],
});

export const OVERRIDE = option(
  'override',
  'sentence',
  '"…"',
  'goes on although somebody holds these GPUs; they read why',
  {
    usual: {say: 'held GPUs are refused'},
    also: ['overriding'],
  },
);

export const TO = option('to', 'channel', '#channel', 'where it is told', {usual: {say: 'where it is asked'}});

export const ZONE = option('zone', 'zone', 'Europe/Berlin', 'the time zone of its times', {
  usual: {say: 'your own'},
  also: ['tz', 'timezone'],
});

export const QUIET = option('quiet', 'flag', '', 'where nothing changed, only the last message is edited', {
  usual: {say: 'quiet if it repeats'},
});

export const LOUD = option('loud', 'flag', '', 'says each one', {usual: {say: 'loud if it comes once'}});

export const UNTIL = option('until', 'time', '18:00', 'its end: 18:00, 2h or "tomorrow 07:30"', {
  usual: {say: 'until it is stopped'},
  also: ['till', 'for'],
});

export const OUT = option('out', 'folder', '/data/run', 'where reports are written on the host', {
  usual: {say: 'where profilers work'},
});

export const LABEL = option('label', 'sentence', '"…"', 'what it is, in your words', {
  usual: {say: 'the words behind the hosts'},
});

export const SAMPLE = option('sample', 'duration', '60s', 'looks so often while it runs, from 10s to 1h', {
  usual: {say: 'nobody looks'},
});

export const LGC = option('lgc', 'clocks', '1410,1410', 'the MHz that its GPUs are locked to, as -lgc has them', {
  usual: {say: 'the hosts file’s'},
});

export const LMC = option('lmc', 'clocks', '2619,2619', 'the same of their memory, as -lmc has them', {
  usual: {say: 'the hosts file’s'},
});

const terminal = {door: 'terminal'} as const;

export const JSON_OUT = option('json', 'flag', '', 'one JSON object instead of text', {
  ...terminal,
  usual: {say: 'text'},
});

export const CONFIRM = option(
  'confirm',
  'confirmation',
  'COUNT:HOST:DIGEST',
  'the go for exactly the plan that printed this',
  {
    ...terminal,
    usual: {say: 'typed at the terminal'},
  },
);

export const TERMINATE_ONLY = option('terminate-only', 'flag', '', 'SIGTERM, and never kill -9', {
  ...terminal,
  usual: {say: 'SIGTERM, then kill -9'},
});

export const FROM_FILE = option('from', 'file', 'FILE', 'reads what probe saved; no host is asked', {
  ...terminal,
  usual: {say: 'asks the host'},
});

export const OUT_FILE = option('out', 'file', 'FILE', 'saves it there', {...terminal, usual: {say: 'prints it'}});
