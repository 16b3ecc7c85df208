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
      const value = inline ?? argv[at];
      if (value === undefined || value === '')
        return fail({reason: 'argument-bad', argument: key, value: '', expected: 'a value after it'});
      values.set(key, value);
    } else if (word === '--help' || word === '-h') words.unshift('help');
    else if (word.startsWith('--')) {
      const bare = word.slice(2);
      if (!/^(dry-run|include-others|(gpus|match|user|pid|grace|reason)=.*)$/s.test(bare)) {
        return fail({
          reason: 'argument-unknown',
          argument: word,
          nearest: nearest(word, [...FLAGS, ...WITH_VALUE, '--dry-run', '--include-others']),
        });
      }
      words.push(bare);
    } else words.push(word);
  }
  const [first = 'help', ...rest] = words;
  const verb = readVerb(first);
  if (!verb.ok) return verb;
  return ok({
    verb: verb.value,
    words: rest,
    json: flags.has('--json'),
    confirm: values.get('--confirm') ?? null,
    from: values.get('--from') ?? null,
    out: values.get('--out') ?? null,
    terminateOnly: flags.has('--terminate-only'),
  });
}

function splitOnce(word: string): readonly [string, string?] {
  const at = word.indexOf('=');
  return at === -1 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}
