/** Who may import whom. The table is the house of the design; a forbidden import is named with its file. */
import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join, relative, resolve} from 'node:path';
import {describe, expect, it} from 'vitest';

const SRC = resolve(import.meta.dirname, '../src');

interface Rule {
  /** Rooms or files below src that may be imported, besides the room itself. */
  readonly rooms: readonly string[];
  /** Packages and node modules; `node:*` = all of Node's. */
  readonly outside: readonly string[];
}

/** What the engine needs of the world, and the verbs that it gives to the doors. */
const PORTS = [
  'engine/ports.ts',
  'engine/remote-ports.ts',
  'engine/report-ports.ts',
  'engine/campaign-ports.ts',
  'engine/offer-ports.ts',
];

const RULES: Readonly<Record<string, Rule>> = {
  domain: {rooms: [], outside: []},
  'secret.ts': {rooms: [], outside: ['node:util']},
  'log.ts': {rooms: ['secret.ts'], outside: ['pino']},
  report: {rooms: ['domain'], outside: []},
  engine: {rooms: ['domain'], outside: []},
  config: {rooms: ['domain', 'secret.ts'], outside: ['zod', 'yaml', 'node:*']},
  ssh: {rooms: ['domain', 'engine/ports.ts', 'engine/remote-ports.ts', 'secret.ts'], outside: ['ssh2', 'node:*']},
  store: {rooms: ['domain', ...PORTS], outside: ['kysely', '@photostructure/sqlite', 'zod', 'node:*']},
  schedule: {rooms: ['domain', ...PORTS], outside: ['croner']},
  picture: {rooms: [], outside: ['@resvg/resvg-js', 'node:*']},
  slack: {rooms: ['domain', ...PORTS, 'report', 'secret.ts'], outside: ['@slack/bolt', 'zod', 'node:*']},
  cli: {rooms: ['domain', ...PORTS, 'report'], outside: ['node:*']},
  'system-clock.ts': {rooms: ['engine/ports.ts'], outside: ['node:timers/promises']},
};
/** The composition roots (the terminal's and the bot's) and the playground may import everything; no room imports them. */
const FREE = new Set(['main.ts', 'bot.ts', 'playground']);

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, {recursive: true, encoding: 'utf8'})
    .filter((path) => /\.(ts|mjs)$/.test(path))
    .map((path) => join(folder, path));
}

function importsOf(source: string): readonly string[] {
  const static_ = source.matchAll(/^\s*(?:import|export)\s[^'"]*?from\s+['"]([^'"]+)['"]/gm);
  const bare = source.matchAll(/^\s*import\s+['"]([^'"]+)['"]/gm);
  const dynamic = source.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g);
  const required = source.matchAll(/\b(?:require|createRequire\([^)]*\))\(\s*['"]([^'"]+)['"]\s*\)/g);
  return [...static_, ...bare, ...dynamic, ...required].map((match) => match[1] ?? '');
}

function roomOf(path: string): string {
  return relative(SRC, path).split('/')[0] ?? '';
}

/** Each forbidden import of one file, as "file imports x". */
function trespasses(path: string, source: string): readonly string[] {
  const room = roomOf(path);
  if (FREE.has(room)) return [];
  const rule = RULES[room];
  const name = relative(SRC, path);
  if (rule === undefined) return [`${name} stands in no room of the house`];
  return importsOf(source).flatMap((from) => {
    if (from.startsWith('.')) {
      const target = relative(SRC, resolve(dirname(path), from));
      const allowed =
        target === room ||
        target.startsWith(`${room}/`) ||
        rule.rooms.some((one) => target === one || target.startsWith(`${one}/`));
      return allowed ? [] : [`${name} imports ${target}`];
    }
    const allowed = rule.outside.includes(from) || (from.startsWith('node:') && rule.outside.includes('node:*'));
    return allowed ? [] : [`${name} imports ${from}`];
  });
}

const FILES = filesBelow(SRC).map((path) => ({path, name: relative(SRC, path), source: readFileSync(path, 'utf8')}));

describe('the house', () => {
  it('has no import that crosses a wall', () => {
    expect(FILES.flatMap(({path, source}) => trespasses(path, source))).toEqual([]);
  });

  it('would notice one, of every kind', () => {
    const put = (room: string, source: string) => trespasses(join(SRC, room, 'x.ts'), source);
    expect(put('domain', "import {readFileSync} from 'node:fs';")).toEqual(['domain/x.ts imports node:fs']);
    expect(put('domain', "import type {Engine} from '../engine/ports.ts';")).toEqual([
      'domain/x.ts imports engine/ports.ts',
    ]);
    expect(put('ssh', "import {openStore} from '../store/open-store.ts';")).toEqual([
      'ssh/x.ts imports store/open-store.ts',
    ]);
    expect(put('cli', "import {execute} from '../engine/execute.ts';")).toEqual(['cli/x.ts imports engine/execute.ts']);
    expect(put('engine', "const ssh2 = await import('ssh2');")).toEqual(['engine/x.ts imports ssh2']);
    expect(put('engine', "const {Resvg} = createRequire(import.meta.url)('@resvg/resvg-js');")).toEqual([
      'engine/x.ts imports @resvg/resvg-js',
    ]);
    expect(put('report', "export {Secret} from '../secret.ts';")).toEqual(['report/x.ts imports secret.ts']);
    expect(put('helpers', '')).toEqual(['helpers/x.ts stands in no room of the house']);
    expect(put('engine', "import {startLab} from '../playground/lab/lab.ts';")).toEqual([
      'engine/x.ts imports playground/lab/lab.ts',
    ]);
  });

  it.each([
    ['process.env is read in config only', /\bprocess\.env\b/, ['config']],
    [
      'the clock is handed in, never looked at, in the pure rooms and the engine',
      /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bMath\.random\(/,
      ['system-clock.ts', 'ssh', 'store', 'config', 'log.ts', 'secret.ts', 'cli'],
    ],
    ['console is nobody’s: the terminal writes through its own streams', /\bconsole\./, []],
  ])('%s', (_what, pattern, allowed) => {
    const found = FILES.filter(({path}) => roomOf(path) !== 'playground' && !allowed.includes(roomOf(path)));
    expect(found.filter(({source}) => pattern.test(withoutComments(source))).map(({name}) => name)).toEqual([]);
  });

  it('has no barrel, no default export, and no room for odds and ends', () => {
    expect(FILES.filter(({source}) => /^export \* from|^export default/m.test(source)).map(({name}) => name)).toEqual(
      [],
    );
    expect(
      FILES.filter(({name}) => /(^|\/)(utils?|helpers?|common|misc|shared|index)(\/|\.ts$)/.test(name)).map(
        ({name}) => name,
      ),
    ).toEqual([]);
  });
});

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/\/\/.*$/gm, '');
}
