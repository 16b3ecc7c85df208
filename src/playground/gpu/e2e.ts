/** Every species of the zoo, reclaimed by the product and by what people type instead: `npm run e2e:gpu`. */
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import type {HeardExec} from '../lab/own-server.ts';
import {CLEANERS, strangers} from './cleaners.ts';
import {runOn, sum, usedMiB} from './commands.ts';
import {machineFacts} from './machine-facts.ts';
import {NotClean, oneRow, type RowAsked} from './one-row.ts';
import {type Options, readOptions, type Stage} from './options.ts';
import {type Product, productFor} from './product.ts';
import {type Results, type Row, strangersSignalled} from './results.ts';
import {renderResults, rowLine} from './results-page.ts';
import {labSite, realSite, type Site} from './site.ts';
import {type Species, speciesOn, speciesOver} from './species.ts';

const LAB_GPUS = 8;
/** Rows that fail one after the other, after which a lent machine is not kept any longer. */
const MOST_FAILURES = 4;
/** Rows of `timing` for each of these; the one of `alive` counts as the first. */
const TIMED = ['plain', 'deaf'];

interface Wanted {
  readonly species: Species;
  readonly more: Pick<RowAsked, 'server' | 'nth' | 'cleaner' | 'gpus'>;
}

/** All but `several` on one GPU. */
const FIRST = [0];

function wantedOf(stage: Stage, only: Options['only'], several: readonly number[]): readonly Wanted[] {
  const all = speciesOn(FIRST).filter(({name}) => only === null || only.includes(name));
  const timed = all.filter(({name}) => TIMED.includes(name));
  const rows = (of: readonly Species[], more: Partial<Wanted['more']>): readonly Wanted[] =>
    of.map((species) => ({species, more: {server: 'alive', nth: 1, cleaner: null, gpus: FIRST, ...more}}));
  switch (stage) {
    case 'alive':
      return rows(all, {});
    case 'dead':
      return rows(all, {server: 'dead'});
    case 'timing':
      return [2, 3].flatMap((nth) => rows(timed, {nth}));
    case 'several':
      return several.length < 2 ? [] : rows(speciesOver(several), {gpus: several});
    case 'cleaners':
      return CLEANERS.flatMap((cleaner) => rows(all, {cleaner}));
  }
}

class Journal {
  readonly rows: Row[] = [];
  readonly missing: string[] = [];
  readonly #execs: string[] = [];
  readonly #out: string;
  readonly #beganAt = performance.now();
  at = 'start';

  constructor(out: string) {
    this.#out = out;
    mkdirSync(out, {recursive: true});
  }

  seconds(): number {
    return (performance.now() - this.#beganAt) / 1000;
  }

  hear(exec: HeardExec): void {
    const {stdin, ...rest} = exec;
    // The script's text is the product's own constant; its last lines are the data that travelled with it.
    this.#execs.push(JSON.stringify({at: this.at, ...rest, stdinBytes: stdin.length, stdinEnd: stdin.slice(-1500)}));
  }

  say(line: string): void {
    process.stdout.write(`${this.seconds().toFixed(1).padStart(6)} s  ${line}\n`);
  }

  /** After each row, so that a machine that goes away takes little with it. */
  save(machine: Results['machine']): void {
    const results: Results = {machine, rows: this.rows, missing: this.missing};
    writeFileSync(join(this.#out, 'results.json'), `${JSON.stringify(results)}\n`);
    writeFileSync(join(this.#out, 'results.md'), renderResults(results));
    writeFileSync(join(this.#out, 'transcripts.jsonl.gz'), gzipSync(`${this.#execs.join('\n')}\n`));
  }
}

async function main(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv);
  const journal = new Journal(options.out);
  const hear = (exec: HeardExec): void => journal.hear(exec);
  const site = options.lab ? await labSite(LAB_GPUS, hear) : await realSite(hear);
  const product = productFor(site, fileURLToPath(new URL('./main.js', import.meta.url)));
  try {
    return await play(options, journal, site, product);
  } finally {
    product.remove();
    await site.stop();
  }
}

async function play(options: Options, journal: Journal, site: Site, product: Product): Promise<number> {
  const machine = await machineFacts(site);
  journal.say(`${machine.gpu}, driver ${machine.driver}, idle ${machine.idleMiB.join(' ')} MiB`);
  journal.say((await runOn(site, ['fuser', '-v', ...nodes(site)])).err.trim() || 'nobody holds the device nodes');
  const foreign = await strangers(site, new Set());
  if (foreign.length > 0) {
    journal.say(`processes ${foreign.join(', ')} are not the zoo's and would be in its way: nothing is run`);
    return 1;
  }
  const several = options.gpus === 'all' ? machine.idleMiB.map((_, gpu) => gpu) : options.gpus;
  let failures = 0;
  for (const stage of options.stages)
    for (const {species, more} of wantedOf(stage, options.only, several)) {
      const title = `${more.cleaner?.name ?? 'gpu-reclaim'}, ${species.name}, server ${more.server}, ${more.nth}`;
      if (journal.seconds() > options.budgetS) {
        journal.missing.push(`${title}: no time left`);
        continue;
      }
      journal.at = title;
      const idleMiB = sum(more.gpus.map((gpu) => machine.idleMiB[gpu] ?? 0));
      try {
        const row = await oneRow({site, product, species, idleMiB, ...more});
        journal.rows.push(row);
        failures = 0;
        journal.say(rowLine(row));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        journal.missing.push(`${title}: ${why}`);
        journal.say(`${title}: FAILED ${why}`);
        failures += 1;
        if (failures >= MOST_FAILURES) journal.missing.push(`${failures} failed in a row: nothing more is run`);
        if (failures >= MOST_FAILURES || (error instanceof NotClean && (await stillDirty(site, more.gpus, idleMiB)))) {
          journal.save(machine);
          return 1;
        }
      }
      journal.save(machine);
    }
  journal.save(machine);
  process.stdout.write(`\n${renderResults({machine, rows: journal.rows, missing: journal.missing})}`);
  return journal.missing.length === 0 && journal.rows.every(isRight) ? 0 : 1;
}

/** The product frees every species, ends the server unless others still work for it, and harms nobody. */
function isRight(row: Row): boolean {
  const unharmed = [...Object.values(row.innocents), ...Object.values(row.spared)].every((alive) => alive);
  const serverRight = row.serverGone || Object.keys(row.spared).length > 0;
  return row.product === null || (row.freed && serverRight && unharmed && strangersSignalled(row).length === 0);
}

async function stillDirty(site: Site, gpus: readonly number[], idleMiB: number): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, 5000));
  return sum(await usedMiB(site, gpus)) > idleMiB + 64;
}

function nodes(site: Site): readonly string[] {
  return ['nvidiactl', 'nvidia-uvm', 'nvidia0'].map((name) => join(site.devices, name));
}

// What libraries leave behind (a timer, a socket) must not keep a lent machine.
process.exit(await main(process.argv.slice(2)));
