/** argv -> verb, words and the terminal's own options. Options may stand anywhere; `--x` and `x` mean the same for the verb's own words. */
import {fail, ok, type Result} from '../domain/failure.ts';
import {nearest} from '../domain/nearest.ts';
import {readVerb, type Verb} from '../domain/words.ts';

export interface CommandLine {
  readonly verb: Verb;
  readonly words: readonly string[];
  readonly json: boolean;
  /** `COUNT:HOST:DIGEST` of the plan that is confirmed without a terminal. */
  readonly confirm: string | null;
  readonly from: string | null;
  readonly out: string | null;
  readonly terminateOnly: boolean;
}

const WITH_VALUE = ['--confirm', '--from', '--out'] as const;
const FLAGS = ['--json', '--terminate-only'] as const;

/**
 * How many bare words each verb takes; one too many is refused, since whoever types `pause gpu-07` believes that one host
 * is meant. `reclaim` reads its words itself; the words after a run to cancel are the reason.
 */
const WORDS: Readonly<Record<Verb, number>> = {
  help: Number.POSITIVE_INFINITY,
  status: Number.POSITIVE_INFINITY,
  diagnose: Number.POSITIVE_INFINITY,
  reclaim: Number.POSITIVE_INFINITY,
  runs: 0,
  show: 1,
  cancel: Number.POSITIVE_INFINITY,
  pause: 0,
  resume: 0,
  hosts: 0,
  probe: Number.POSITIVE_INFINITY,
  report: Number.POSITIVE_INFINITY,
  schedules: 2,
  profile: Number.POSITIVE_INFINITY,
  keep: Number.POSITIVE_INFINITY,
};

export function readCommandLine(argv: readonly string[]): Result<CommandLine> {
  const words: string[] = [];
  const values = new Map<string, string>();
  const flags = new Set<string>();
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    const [key = '', inline] = splitOnce(word);
    if (FLAGS.some((flag) => flag === word)) flags.add(word);
    else if (WITH_VALUE.some((option) => option === key)) {
      if (inline === undefined) at += 1;
      // A forgotten value must not swallow the next option; one that really begins so can be written --out=--name.
      const next = argv[at]?.startsWith('--') === true ? undefined : argv[at];
      const value = inline ?? next;
      if (value === undefined || value === '')
        return fail({reason: 'argument-bad', argument: key, value: '', expected: 'a value after it'});
      values.set(key, value);
    } else if (word === '--help' || word === '-h') words.unshift('help');
    else if (word.startsWith('--')) {
      const bare = word.slice(2);
      if (
        !/^(dry-run|include-others|quiet|loud|(gpus|match|user|pid|grace|reason|override|to|zone|until|out|label)=.*)$/s.test(
          bare,
        )
      ) {
        return fail({
          reason: 'argument-unknown',
          argument: word,
          nearest: nearest(key, [...FLAGS, ...WITH_VALUE, '--dry-run', '--include-others']),
        });
      }
      words.push(bare);
    } else words.push(word);
  }
  const [first = 'help', ...rest] = words;
  const verb = readVerb(first);
  if (!verb.ok) return verb;
  const line: CommandLine = {
    verb: verb.value,
    words: rest,
    json: flags.has('--json'),
    confirm: values.get('--confirm') ?? null,
    from: values.get('--from') ?? null,
    out: values.get('--out') ?? null,
    terminateOnly: flags.has('--terminate-only'),
  };
  const stray = strayWord(line);
  return stray === null ? ok(line) : fail({reason: 'argument-unknown', argument: stray, nearest: []});
}

function splitOnce(word: string): readonly [string, string?] {
  const at = word.indexOf('=');
  return at === -1 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

/** The first word or option that this verb would pass over; null if it takes them all. */
function strayWord(line: CommandLine): string | null {
  const {verb, words} = line;
  const looks = verb === 'status' || verb === 'diagnose' || verb === 'probe';
  return (
    words.slice(line.from === null ? WORDS[verb] : 0)[0] ??
    (looks ? words.find((word) => word.includes('=')) : undefined) ??
    (line.confirm !== null && verb !== 'reclaim' ? '--confirm' : undefined) ??
    (line.terminateOnly && verb !== 'reclaim' ? '--terminate-only' : undefined) ??
    (line.from !== null && verb !== 'diagnose' ? '--from' : undefined) ??
    (line.out !== null && verb !== 'probe' ? '--out' : undefined) ??
    null
  );
}
