/** What the documents promise, held against what is there. */
import {execFileSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';
import {describe, expect, it} from 'vitest';
import {EXIT} from '../src/cli/exit-code.ts';
import {VERBS} from '../src/domain/grammar/rules.ts';
import {VERB_RULES} from '../src/domain/grammar/verb-table.ts';
import {BREAKS} from '../src/playground/story/breaks.ts';
import {SLACK_BREAKS} from '../src/playground/story/slack-breaks.ts';
import {meaningOf, optionsOf, usageOf} from '../src/report/verb-help.ts';

const ROOT = resolve(import.meta.dirname, '..');
const README = read('README.md');
const GUIDES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'src/domain/README.md'];
const {scripts} = JSON.parse(read('package.json')) as {scripts: Record<string, string>};

describe('the README', () => {
  it('names every verb that may be typed', () => {
    const missing = VERBS.filter((verb) => !README.includes(`\`gpu-reclaim ${verb}`));
    expect(missing).toEqual([]);
  });

  it('has the table of verbs as the program knows them', () => {
    expect(README).toContain(verbTable());
  });

  it('has the exit codes of the program, all of them and no other', () => {
    const rows = [...README.matchAll(/^\| (\d+) +\| \S/gm)].map((row) => Number(row[1]));
    expect(rows).toEqual(Object.values(EXIT).toSorted((a, b) => a - b));
  });

  it('names every attack that the demo can play', () => {
    const paragraph = README.slice(README.indexOf('NAME is'), README.indexOf('--seed N'));
    const named = [...paragraph.matchAll(/`([a-z][a-z-]+)`/g)].map((word) => word[1]);
    expect(named.toSorted()).toEqual([...new Set([...Object.keys(BREAKS), ...Object.keys(SLACK_BREAKS)])].toSorted());
  });

  it('shows a whole run, as the program printed it', () => {
    expect(
      README.split('\n').filter((line) => /^✅ lab-1: reclaimed \d+ GiB \([\d,]+ MiB\), \d of 8 free$/.test(line)),
    ).toHaveLength(1);
    expect(README.match(/@@[A-Z]+@@/)).toBeNull();
  });
});

describe.each(GUIDES)('%s', (guide) => {
  const text = read(guide);

  it('names only scripts that package.json has', () => {
    const asked = [...text.matchAll(/\bnpm (?:run ([a-z][a-z0-9:]*)|(test|start)\b)/g)].map(
      (hit) => hit[1] ?? hit[2] ?? '',
    );
    expect(asked.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('links only to files that are there', () => {
    const linked = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map((hit) => hit[1] ?? '');
    expect(linked.filter((path) => !existsSync(resolve(ROOT, dirname(guide), path)))).toEqual([]);
  });

  it('names only files and folders that are there', () => {
    const named = [...text.matchAll(/`((?:src|test|manifests|\.ci)\/[\w./-]*[\w/])`/g)].map((hit) => hit[1] ?? '');
    const placeholders = /your_species|NAME/;
    expect(named.filter((path) => !placeholders.test(path) && !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe('the files of the project', () => {
  const files = trackedFiles();

  it('include what the README sends people to', () => {
    const sent = [
      'hosts.example.yaml',
      'policy.example.yaml',
      '.env.example',
      'manifests/sudoers.gpu-reclaim',
      'LICENSE',
    ];
    expect(sent.filter((path) => !files.includes(path) || !README.includes(path))).toEqual([]);
  });

  it('name no registry and no path of the machine that they were made on', () => {
    // Spelled in pieces, so that this line is no such place itself.
    const foreign = new RegExp(String.raw`/${'work'}/|\bregistry\.[a-z]+\.(?:org|com|io)\b`);
    const found = files.flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, nth) => (foreign.test(line) ? [`${path}:${nth + 1}: ${line.trim().slice(0, 100)}`] : [])),
    );
    expect(found).toEqual([]);
  });

  it('include a lock file that leaves the registry to whoever installs', () => {
    const lock = JSON.parse(read('package-lock.json')) as {packages: Record<string, {resolved?: string}>};
    expect(Object.keys(lock.packages).length).toBeGreaterThan(20);
    expect(Object.entries(lock.packages).filter(([, one]) => one.resolved !== undefined)).toEqual([]);
  });

  it('include a lock file that npm ci can install: every package that one needs has its place', () => {
    const {packages} = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, {dependencies?: Record<string, string>; optionalDependencies?: Record<string, string>}>;
    };
    const placed = new Set(Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, '')));
    const lost = Object.entries(packages).flatMap(([path, one]) =>
      Object.keys({...one.dependencies, ...one.optionalDependencies}).flatMap((name) =>
        placed.has(name) ? [] : [`${path} needs ${name}`],
      ),
    );
    expect(lost).toEqual([]);
  });
});

/** As Markdown, padded like the README's other tables. */
function verbTable(): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  const rows = VERB_RULES.flatMap((rule) =>
    rule.forms.map((form) => [
      `\`gpu-reclaim ${cell(usageOf(rule, form, {door: 'terminal'}, 'bare'))}\``,
      cell([meaningOf(form), ...optionsOf(form, 'terminal').map((one) => `\`${one}\``)].join(' ')),
    ]),
  );
  const all = [['command', 'what it does'], ...rows];
  const widths = [0, 1].map((nth) => Math.max(...all.map((row) => [...(row[nth] ?? '')].length)));
  const line = (row: readonly string[], fill = ' '): string =>
    `| ${row.map((cell, nth) => cell + fill.repeat((widths[nth] ?? 0) - [...cell].length)).join(' | ')} |`;
  const [head = [], ...body] = all;
  return [line(head), line(['', ''], '-'), ...body.map((row) => line(row))].join('\n');
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** As git knows them; without git or a clone, what stands in the folder besides what is built. */
function trackedFiles(): readonly string[] {
  try {
    return execFileSync('git', ['ls-files', '-z'], {cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']})
      .split('\0')
      .filter((path) => path !== '' && existsSync(join(ROOT, path)));
  } catch {
    return readdirSync(ROOT, {recursive: true, withFileTypes: true})
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
      .filter((path) => !/^(node_modules|dist|coverage|\.git)\//.test(path));
  }
}
