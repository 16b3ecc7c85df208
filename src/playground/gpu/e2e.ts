/** Every species of the zoo, reclaimed by the product and by what people type instead: `npm run e2e:gpu`. */
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import type {HeardExec} from '../lab/own-server.ts';
import {CLEANERS} from './cleaners.ts';
import {runOn, usedMiB} from './commands.ts';
import {machineFacts} from './machine-facts.ts';
import {NotClean, oneRow, type RowAsked} from './one-row.ts';
import {type Options, readOptions, type Stage} from './options.ts';
import {type Product, productFor} from './product.ts';
import type {Results, Row} from './results.ts';
import {renderResults, rowLine} from './results-page.ts';
import {labSite, realSite, type Site} from './site.ts';
import {type Species, speciesOn} from './species.ts';

const LAB_GPUS = 8;
/** Rows of `timing` for each of these; the one of `alive` counts as the first. */
const TIMED = ['plain', 'deaf'];

interface Wanted {
  readonly species: Species;
  readonly more: Pick<RowAsked, 'server' | 'nth' | 'cleaner'>;
}

function wantedOf(stage: Stage, all: readonly Species[]): readonly Wanted[] {
  const rows = (server: 'alive' | 'dead', nth: number, cleaner: RowAsked['cleaner'], of = all): readonly Wanted[] =>
    of.map((species) => ({species, more: {server, nth, cleaner}}));
  switch (stage) {
    case 'alive':
      return rows('alive', 1, null);
    case 'dead':
      return rows('dead', 1, null);
    case 'timing':
      return [2, 3].flatMap((nth) =>
        rows(
          'alive',
          nth,
          null,
          all.filter(({name}) => TIMED.includes(name)),
        ),
      );
    case 'cleaners':
      return CLEANERS.flatMap((cleaner) => rows('alive', 1, cleaner));
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
  const gpus = options.gpus === 'all' ? machine.idleMiB.map((_, gpu) => gpu) : options.gpus;
  const idleMiB = gpus.reduce((total, gpu) => total + (machine.idleMiB[gpu] ?? 0), 0);
  const all = speciesOn(gpus).filter(({name}) => options.only === null || options.only.includes(name));
  for (const stage of options.stages)
    for (const {species, more} of wantedOf(stage, all)) {
      const title = `${more.cleaner?.name ?? 'gpu-reclaim'}, ${species.name}, server ${more.server}, ${more.nth}`;
      if (journal.seconds() > options.budgetS) {
        journal.missing.push(`${title}: no time left`);
        continue;
      }
      journal.at = title;
      try {
        const row = await oneRow({site, product, species, gpus, idleMiB, ...more});
        journal.rows.push(row);
        journal.say(rowLine(row));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        journal.missing.push(`${title}: ${why}`);
        journal.say(`${title}: FAILED ${why}`);
        if (error instanceof NotClean && (await stillDirty(site, gpus, idleMiB))) {
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

/** The product frees every species, ends the server and harms nobody. */
function isRight(row: Row): boolean {
  return row.product === null || (row.freed && row.serverGone && Object.values(row.innocents).every((alive) => alive));
}

async function stillDirty(site: Site, gpus: readonly number[], idleMiB: number): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, 5000));
  return (await usedMiB(site, gpus)).reduce((total, one) => total + one, 0) > idleMiB + 64;
}

function nodes(site: Site): readonly string[] {
  return ['nvidiactl', 'nvidia-uvm', 'nvidia0'].map((name) => join(site.devices, name));
}

// What libraries leave behind (a timer, a socket) must not keep a lent machine.
process.exit(await main(process.argv.slice(2)));
