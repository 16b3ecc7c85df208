/** A whole command: which verb and form are meant, and what stands behind them. Hosts are looked up by the readers. */
import {fail, ok, type Result} from '../failure.ts';
import {nearest} from '../nearest.ts';
import type {Door, Form, Verb, VerbRule} from './rules.ts';
import {formOf, isAt, VERB_RULES} from './verb-table.ts';

export type Command =
  /** `about`: one verb only; null: all of them. */
  | {readonly kind: 'help'; readonly about: Verb | null}
  | {readonly kind: 'do'; readonly verb: Verb; readonly form: Form; readonly words: readonly string[]};

/** What people copy along with a command. */
const PROGRAM = /^(\/gpu|gpu|gpu-reclaim|\/gpu-reclaim|\$)$/i;

export function readVerb(word: string, door: Door = 'terminal'): Result<Verb> {
  const verb = verbIn(word);
  if (verb !== undefined) return ok(verb);
  const lower = plainWord(word);
  const here = VERB_RULES.filter((rule) => isAt(rule, door));
  const meant = here.filter(({meantBy}) => meantBy.includes(lower)).map((rule) => rule.verb);
  const near = nearest(
    lower,
    here.map((rule) => rule.verb),
  );
  const all = [...new Set([...meant, ...near])].slice(0, 2);
  // Most likely a host without its verb.
  const asHost = /^(?=.*\d)[a-z0-9][a-z0-9.-]{1,62}$/.test(lower) ? [`status ${lower}`, `diagnose ${lower}`] : [];
  return fail({reason: 'verb-unknown', verb: word, nearest: all.length > 0 ? all : asHost});
}

/** No word at all is help. A verb may stand behind its host (`gpu-07 status`), and help before or behind its verb. */
export function readCommand(typed: readonly string[], door: Door): Result<Command> {
  const words = inOrder(PROGRAM.test(typed[0] ?? '') && !isVerb(typed[0]) ? typed.slice(1) : typed);
  const [first = 'help', ...rest] = words;
  const asksHelp = words.some((word) => /^(--help|-h)$/i.test(word));
  const verb = readVerb(first.replace(/^--?(?=\p{L})/u, ''), door);
  if (!verb.ok) return asksHelp ? ok({kind: 'help', about: null}) : verb;
  if (verb.value === 'help') return helpAbout(rest, door);
  const rule = VERB_RULES.find((one) => one.verb === verb.value);
  if (rule === undefined) throw new Error(`Internal error: no rule for ${verb.value}`);
  const isBareHelp = rest.length === 1 && /^(help|\?)$/i.test(rest[0] ?? '');
  if (asksHelp || isBareHelp) return ok({kind: 'help', about: rule.verb});
  if (!isAt(rule, door)) return fail({reason: 'verb-elsewhere', verb: rule.verb, instead: rule.instead ?? ''});
  return formIn(rule, rest);
}

/** The first word that is one too many for this form; null: it takes them all. */
export function strayWord(form: Form, words: readonly string[]): string | null {
  const most = form.places.some(({kind}) => kind !== 'verb' && kind !== 'run' && kind !== 'schedule' && kind !== 'hold')
    ? Number.POSITIVE_INFINITY
    : form.places.length;
  return words[most] ?? null;
}

function formIn(rule: VerbRule, rest: readonly string[]): Result<Command> {
  const named = formOf(rule, rest[0]);
  const form = named ?? rule.forms[0];
  const behind = named === null ? rest : rest.slice(1);
  // `show run 7f3a`.
  const words =
    form.places[0]?.kind === 'run' && /^run$/i.test(behind[0] ?? '') && behind.length > 1 ? behind.slice(1) : behind;
  const subs = rule.forms.flatMap(({sub}) => sub ?? []);
  // `schedules rmove`: no host is called nearly as a form of the verb.
  const misspelt = named === null && rest[0] !== undefined ? nearest(rest[0], subs) : [];
  if (misspelt.length > 0 && form.sub === null)
    return fail({reason: 'argument-unknown', argument: rest[0] ?? '', nearest: misspelt});
  const stray = strayWord(form, words);
  if (stray === null) return ok({kind: 'do', verb: rule.verb, form, words});
  const isSub = named === null && subs.length > 0;
  return fail({
    reason: 'argument-unknown',
    argument: stray,
    nearest: isSub ? nearest(stray, subs) : [],
    hint: isSub
      ? `there are ${subs.join(', ')}`
      : `"${[rule.verb, ...(named?.sub ? [named.sub] : [])].join(' ')}" takes ${form.places.length === 0 ? 'nothing behind it' : 'one word'}`,
  });
}

function helpAbout(rest: readonly string[], door: Door): Result<Command> {
  const named = rest.filter((one) => !/^(--help|-h|\?|help)$/i.test(one)).map((one) => one.replace(/\?+$/, ''));
  const word = named.find((one) => verbIn(one) !== undefined) ?? named[0];
  if (word === undefined) return ok({kind: 'help', about: null});
  const verb = readVerb(word, door);
  return verb.ok ? ok({kind: 'help', about: verb.value}) : verb;
}

/** `gpu-07 status` is `status gpu-07`, where the first word is no verb and near none. */
function inOrder(words: readonly string[]): readonly string[] {
  const [first = '', second = '', ...rest] = words;
  const isBackwards =
    !isVerb(first) && !first.startsWith('-') && VERB_RULES.some(({verb}) => verb === second.toLowerCase());
  return isBackwards && second.toLowerCase() !== 'help' && !readsAsVerb(first) ? [second, first, ...rest] : words;
}

function readsAsVerb(word: string): boolean {
  const read = readVerb(word);
  return read.ok || (read.failure.reason === 'verb-unknown' && read.failure.nearest.some((one) => !one.includes(' ')));
}

function isVerb(word: string | undefined): boolean {
  return word !== undefined && verbIn(word) !== undefined;
}

function verbIn(word: string): Verb | undefined {
  const lower = plainWord(word);
  const rule = VERB_RULES.find(
    ({verb, synonyms}) => verb === lower || synonyms.includes(lower) || synonyms.includes(word),
  );
  // "resume?" asks whether to, and is asked back; "status?" asks for it.
  return rule?.ends === 'look' || !/\?[.,:;!?]*$/.test(word) ? rule?.verb : undefined;
}

/** As a sentence ends: `Status?`, `help!`. */
function plainWord(word: string): string {
  return word.toLowerCase().replace(/[.,:;!?]+$/, '');
}
