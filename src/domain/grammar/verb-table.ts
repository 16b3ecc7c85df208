/**
 * Every verb once: what may stand behind it, who may run it where, and what it means. The readers, both helps, the
 * manifest's hint and the README's table are made of this.
 */
import {
  CONFIRM,
  DRY_RUN,
  FROM_FILE,
  GPUS,
  GRACE,
  INCLUDE_OTHERS,
  JSON_OUT,
  LABEL,
  LGC,
  LMC,
  LOUD,
  MATCH,
  OUT,
  OUT_FILE,
  OVERRIDE,
  PID,
  QUIET,
  REASON,
  SAMPLE,
  TERMINATE_ONLY,
  TO,
  UNTIL,
  USER,
  ZONE,
} from './options.ts';
import {type Form, type Place, VERBS, type Verb, type VerbRule} from './rules.ts';

const HOST: Place = {kind: 'host', shown: 'HOST', meaning: 'one name from the hosts file', usual: null};
const HOSTS: Place = {
  kind: 'hosts',
  shown: 'HOST…',
  meaning: 'names, groups, or patterns such as gpu-0* or gpu-[1-4]',
  usual: null,
};
const ANY_HOSTS: Place = {...HOSTS, shown: '[HOST…|GROUP]', usual: 'every host'};
const WHEN: Place = {
  kind: 'when',
  shown: '[WHEN]',
  meaning:
    'now, in 2h, tomorrow 07:30, every weekday 18:00, every 4h, cron "0 18 * * 1-5", when PID 12345 exits, when idle 20m',
  usual: 'now',
};
const KEPT_PID = {...PID, meaning: 'these processes only: 4711 or 4711,4712', usual: {say: 'the whole GPUs'}};
const RUN: Place = {
  kind: 'run',
  shown: 'RUN',
  meaning: 'the id of a run, or as much of its start as is unique',
  usual: null,
};
const HOLD: Place = {kind: 'hold', shown: 'ID|HOST', meaning: 'the campaign, or a host of it', usual: null};

function form(meaning: string, examples: readonly string[], more: Partial<Form> = {}): Form {
  return {sub: null, places: [], options: [], who: 'anyone', meaning, examples, ...more};
}

function rule(verb: Verb, forms: VerbRule['forms'], more: Partial<VerbRule> = {}): VerbRule {
  return {
    verb,
    forms,
    door: 'both',
    ends: 'look',
    synonyms: [],
    meantBy: [],
    instead: null,
    ...more,
  };
}

const TABLE: Readonly<Record<Verb, VerbRule>> = {
  help: rule(
    'help',
    [
      form('what you may run here; the policy', ['help reclaim'], {
        places: [
          {kind: 'verb', shown: '[VERB]', meaning: 'one verb with all its arguments', usual: 'all of them, briefly'},
        ],
      }),
    ],
    {synonyms: ['?', '-h', 'h', 'usage', 'man', 'commands']},
  ),
  status: rule(
    'status',
    [
      form('per GPU: MiB, state, who holds it', ['status HOST', 'status GROUP'], {
        places: [ANY_HOSTS],
      }),
    ],
    {synonyms: ['stat', 'state', 'ps', 'top', 'smi', 'nvidia-smi', 'gpus']},
  ),
  diagnose: rule(
    'diagnose',
    [
      form('every holder, what it is, and why', ['diagnose HOST'], {
        places: [HOST],
        options: [FROM_FILE],
      }),
    ],
    {synonyms: ['diagnosis', 'diag', 'who', 'why', 'inspect', 'explain']},
  ),
  reclaim: rule(
    'reclaim',
    [
      form('a plan that asks for a go', ['reclaim HOST match=vllm', 'reclaim HOST gpus=0-3 dry-run'], {
        places: [HOST],
        options: [GPUS, MATCH, USER, PID, INCLUDE_OTHERS, GRACE, DRY_RUN, REASON, OVERRIDE, CONFIRM, TERMINATE_ONLY],
      }),
    ],
    {
      ends: 'plan',
      meantBy: [
        'kill',
        'free',
        'clear',
        'clean',
        'cleanup',
        'release',
        'terminate',
        'pkill',
        'killall',
        'reset',
        'evict',
      ],
    },
  ),
  report: rule(
    'report',
    [
      form(
        'one table, the worst host first; with a time the bot tells it by itself',
        ['report GROUP every weekday 18:00', 'report HOST when idle 20m'],
        {places: [{...ANY_HOSTS, shown: '[HOST…]'}, WHEN], options: [TO, ZONE, QUIET, LOUD]},
      ),
    ],
    {meantBy: ['schedule', 'remind', 'watch', 'monitor']},
  ),
  schedules: rule(
    'schedules',
    [
      form('the reports that are to come', ['schedules', 'schedules HOST'], {
        places: [{...ANY_HOSTS, shown: '[HOST…]', usual: 'all of them'}],
      }),
      form('ends one', ['schedules remove ID'], {
        sub: 'remove',
        places: [{kind: 'schedule', shown: 'ID', meaning: 'the schedule, as the list names it', usual: null}],
      }),
    ],
    {meantBy: ['schedule', 'cron', 'reports']},
  ),
  profile: rule(
    'profile',
    [
      form('who holds what', ['profile list'], {sub: 'list'}),
      form('holds GPUs for a campaign', ['profile start HOST "nsys sweep" gpus=0-3 until=18:00'], {
        sub: 'start',
        places: [HOSTS, {kind: 'text', shown: '[LABEL]', meaning: 'what it is, in your words', usual: 'none'}],
        options: [GPUS, OUT, SAMPLE, LGC, LMC, UNTIL, ZONE, LABEL],
      }),
      form('ends it: what is left, what differs', ['profile stop HOST'], {
        sub: 'stop',
        places: [HOLD],
        who: 'holder-or-approver',
      }),
      form('looks again at an ended one', ['profile report ID'], {sub: 'report', places: [HOLD]}),
    ],
    {ends: 'keep', meantBy: ['campaign', 'prof', 'profiling']},
  ),
  keep: rule(
    'keep',
    [
      form('the same hold without the looks', ['keep HOST until=18:00 "debugging with carla"'], {
        places: [
          HOSTS,
          {kind: 'text', shown: '"why"', meaning: 'why, in a few words; everybody reads it', usual: null},
        ],
        options: [{...UNTIL, need: 'required'}, GPUS, KEPT_PID, ZONE, LABEL],
      }),
    ],
    {ends: 'keep', meantBy: ['hold', 'reserve', 'lock', 'book', 'claim']},
  ),
  runs: rule('runs', [form('what was done', ['runs'])], {synonyms: ['history']}),
  show: rule('show', [form('one run, step by step', ['show RUN'], {places: [RUN]})], {meantBy: ['run', 'view']}),
  cancel: rule(
    'cancel',
    [
      form('stops it before its next signal', ['cancel RUN'], {
        places: [RUN, {kind: 'text', shown: '[WHY]', meaning: 'why, for its thread', usual: 'none'}],
        options: [REASON],
      }),
    ],
    {ends: 'stop', meantBy: ['stop', 'abort', 'halt', 'undo']},
  ),
  pause: rule('pause', [form('stops every signal on every host', ['pause'])], {
    ends: 'stop',
    meantBy: ['stop', 'freeze', 'halt'],
  }),
  resume: rule('resume', [form('lets signals go on after a pause', ['resume'], {who: 'approver'})], {
    ends: 'stop',
    meantBy: ['unpause', 'continue', 'unfreeze'],
  }),
  hosts: rule('hosts', [form('the names you may use', ['hosts'])], {synonyms: ['host', 'ls', 'nodes', 'machines']}),
  probe: rule(
    'probe',
    [
      form('saves what the host says, secrets removed', ['probe HOST --out host.json'], {
        places: [HOST],
        options: [OUT_FILE],
      }),
    ],
    {door: 'terminal', instead: 'Here, diagnose says what it means.'},
  ),
  start: rule('start', [form('the Slack bot, until it is stopped', ['start'])], {
    door: 'terminal',
    ends: 'keep',
    instead: 'Here it runs already.',
  }),
};

export const VERB_RULES: readonly VerbRule[] = VERBS.map((verb) => TABLE[verb]);

/** Taken by every verb of the terminal. */
export const EVERYWHERE = [JSON_OUT] as const;

export function ruleOf(verb: Verb): VerbRule {
  return TABLE[verb];
}

export function isAt(one: {readonly door: 'both' | 'terminal'}, door: 'slack' | 'terminal'): boolean {
  return one.door === 'both' || door === 'terminal';
}

/** The form of a verb that this second word names; null: it names none. */
export function formOf({forms}: VerbRule, word: string | undefined): Form | null {
  const lower = word?.toLowerCase();
  return forms.find(({sub}) => sub !== null && sub === lower) ?? null;
}
