/** argv -> verb, words and the terminal's own options. These may stand anywhere, with two dashes; the verb's own are read with its words. */
import {fail, ok, type Result} from '../domain/failure.ts';
import {readCommand} from '../domain/grammar/command.ts';
import type {OptionName, OptionRule, Verb} from '../domain/grammar/rules.ts';
import {LONGEST, wordsOfArguments} from '../domain/grammar/typed-text.ts';
import {EVERYWHERE, VERB_RULES} from '../domain/grammar/verb-table.ts';
import {nearest} from '../domain/nearest.ts';

export interface CommandLine {
  readonly verb: Verb;
  /** `start` of `profile start`; null: none. */
  readonly sub: string | null;
  readonly words: readonly string[];
  /** Only for help: the one verb that is asked about. */
  readonly about: Verb | null;
  readonly json: boolean;
  /** `COUNT:HOST:DIGEST` of the plan that is confirmed without a terminal. */
  readonly confirm: string | null;
  readonly from: string | null;
  readonly out: string | null;
  readonly terminateOnly: boolean;
}

const ALL = VERB_RULES.flatMap(({forms}) => forms.flatMap(({options}) => options));
/** What only the terminal has: taken out before the verb is known. */
const OWN: readonly OptionRule[] = [...EVERYWHERE, ...ALL.filter(({door}) => door === 'terminal')];

type Given = ReadonlyMap<OptionName, string>;

export function readCommandLine(argv: readonly string[]): Result<CommandLine> {
  const characters = argv.reduce((sum, word) => sum + word.length + 1, 0);
  if (characters > LONGEST) return fail({reason: 'command-too-long', characters, limit: LONGEST});
  const taken = takeOwn(wordsOfArguments(argv));
  if (!taken.ok) return taken;
  const {words, given} = taken.value;
  const command = readCommand(words, 'terminal');
  if (!command.ok) return command;
  if (command.value.kind === 'help') return ok(lineOf('help', null, [], given, command.value.about));
  const {verb, form} = command.value;
  const has = (name: OptionName): boolean => form.options.some((one) => one.name === name && one.door === 'terminal');
  // `--out` is a file of ours for one verb and a folder of the host for another, which reads it with its words.
  const shared = [...given].filter(([name]) => !has(name) && form.options.some((one) => one.name === name));
  const stray = [...given.keys()].find(
    (name) => !has(name) && !EVERYWHERE.some((one) => one.name === name) && !shared.some(([one]) => one === name),
  );
  if (stray !== undefined)
    return fail({
      reason: 'argument-unknown',
      argument: `--${stray}`,
      nearest: [],
      hint: `"gpu-reclaim help ${verb}" shows what it takes`,
    });
  const own = new Map([...given].filter(([name]) => !shared.some(([one]) => one === name)));
  const all = [...command.value.words, ...shared.map(([name, value]) => `${name}=${value}`)];
  const late = lateWord(own, all);
  if (late !== null) return fail({reason: 'argument-unknown', argument: late, nearest: []});
  return ok(lineOf(verb, form.sub, all, own, null));
}

/** A saved transcript names its own host. */
function lateWord(own: Given, words: readonly string[]): string | null {
  return own.has('from') ? (words[0] ?? null) : null;
}

function lineOf(
  verb: Verb,
  sub: string | null,
  words: readonly string[],
  given: Given,
  about: Verb | null,
): CommandLine {
  return {
    verb,
    sub,
    words,
    about,
    json: given.has('json'),
    confirm: given.get('confirm') ?? null,
    from: given.get('from') ?? null,
    out: given.get('out') ?? null,
    terminateOnly: given.has('terminate-only'),
  };
}

function takeOwn(argv: readonly string[]): Result<{readonly words: readonly string[]; readonly given: Given}> {
  const words: string[] = [];
  const given = new Map<OptionName, string>();
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    const [, key, value] = /^--([\p{L}_-]+)(?:=(.*))?$/su.exec(word) ?? [];
    const name = key?.toLowerCase().replaceAll('_', '-');
    const rule = OWN.find((one) => one.name === name);
    if (rule === undefined) {
      const known =
        name === undefined || name === 'help' || ALL.some((one) => one.name === name || one.also.includes(name));
      // The option may be the verb's own misspelt, or one of ours: the nearest of both.
      if (!known)
        return fail({
          reason: 'argument-unknown',
          argument: word.split('=')[0] ?? word,
          nearest: nearOptions(name),
          hint: '"gpu-reclaim help VERB" shows what a verb takes',
        });
      words.push(word);
      continue;
    }
    if (rule.kind === 'flag') {
      if (value !== undefined)
        return fail({reason: 'argument-bad', argument: `--${rule.name}`, value, expected: 'it without a value'});
      given.set(rule.name, '');
      continue;
    }
    // A forgotten value must not swallow the next option; one that really begins so can be written --out=--name.
    const next = value ?? (argv[at + 1]?.startsWith('--') === true ? undefined : argv[at + 1]);
    if (next === undefined || next === '')
      return fail({reason: 'argument-bad', argument: `--${rule.name}`, value: '', expected: 'a value after it'});
    if (value === undefined) at += 1;
    given.set(rule.name, next);
  }
  return ok({words, given});
}

function nearOptions(name: string): readonly string[] {
  const names = [...new Set([...OWN, ...ALL].map((one) => `--${one.name}`))];
  return nearest(`--${name}`, [...names, '--help']);
}
