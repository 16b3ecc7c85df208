/** One YAML file to plain values, or to the mistakes that its reading met. */
import {readFileSync, statSync} from 'node:fs';
import {isMap, isScalar, LineCounter, parseDocument, visit, type YAMLError} from 'yaml';
import type {Mistake, Read} from './mistake.ts';

const MOST_BYTES = 4 * 1024 * 1024;
const ABSENT = {absent: true} as const;

/** `absent`: no such file. `written` is undefined where the file could not be read as YAML, null where it says nothing. */
export type YamlFile = typeof ABSENT | ({readonly absent: false} & Read<unknown>);

export function readYamlFile(path: string): YamlFile {
  let text: string;
  try {
    const stats = statSync(path);
    const {mode, size} = stats;
    if (!stats.isFile()) return failed(path, 'is no regular file', 'name a file');
    if (size > MOST_BYTES) return failed(path, `has ${size} bytes; the most is ${MOST_BYTES}`, 'name the right file');
    if ((mode & 0o002) !== 0) {
      return failed(path, 'can be written by everybody, and it decides where signals go', `chmod o-w ${path}`);
    }
    text = new TextDecoder('utf-8', {fatal: true}).decode(readFileSync(path));
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return ABSENT;
    if (codeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      return failed(path, 'is not UTF-8 text', 'save it as UTF-8');
    return failed(path, `cannot be read: ${codeOf(error)}`, 'check the path and its rights (ls -l)');
  }
  return {absent: false, ...parseYaml(path, text)};
}

function parseYaml(file: string, text: string): Read<unknown> {
  const lines = new LineCounter();
  const document = parseDocument(text, {lineCounter: lines, prettyErrors: false, customTags: []});
  const mistakes = syntaxMistakes(file, [...document.errors, ...document.warnings], lines);
  visit(document, {
    Pair(_, pair) {
      // It would vanish between YAML and the schema, and with it a host's rules.
      if (isScalar(pair.key) && pair.key.value === '__proto__') {
        mistakes.push({file, at: [], problem: 'has a key __proto__', wayOut: 'remove it'});
      }
    },
  });
  if (mistakes.length > 0) return {value: undefined, mistakes};
  if (document.contents !== null && !isMap(document.contents)) {
    return failed(file, 'does not begin with a key', 'start from the example file');
  }
  try {
    return {value: document.toJS({maxAliasCount: 100}), mistakes: []};
  } catch (error) {
    return failed(file, `cannot be read: ${error instanceof Error ? error.message : error}`, 'write aliases out');
  }
}

/** One a line: a bracket left open is told again by each that surrounds it. */
function syntaxMistakes(file: string, errors: readonly YAMLError[], lines: LineCounter): Mistake[] {
  const byLine = new Map<number, Mistake>();
  for (const error of errors) {
    const {line, col} = lines.linePos(error.pos[0]);
    const problem = `is no right YAML at line ${line}, column ${col}: ${error.message.split('\n')[0]}`;
    const wayOut = `look at line ${line} and the one before it: indentation, quotes, colons`;
    if (!byLine.has(line)) byLine.set(line, {file, at: [], problem, wayOut});
  }
  return [...byLine.values()];
}

function failed(file: string, problem: string, wayOut: string) {
  return {absent: false, value: undefined, mistakes: [{file, at: [], problem, wayOut}]} as const;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
