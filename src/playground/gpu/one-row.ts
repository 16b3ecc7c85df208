/** One zoo from its making to its end, with one cleaner in between: one row of the table. */
import {type Cleaner, clean, strangers} from './cleaners.ts';
import {bills, fuserPids, rawLooks, sum, usedMiB} from './commands.ts';
import type {Product} from './product.ts';
import {reclaim} from './reclaim.ts';
import type {Innocent, Row} from './results.ts';
import type {Site} from './site.ts';
import {INNOCENTS, innocentsOn, type Species, serverOf} from './species.ts';
import {Zoo} from './zoo.ts';

/** Above what the living are billed: the driver's few MiB a context beyond its bill. */
const TOLERANCE_MIB = 64;
const SETTLE_MS = 1500;
/** A cleaner that only sends signals has ended before they have worked. The product waits by itself. */
const AFTER_CLEANER_MS = 1000;

export interface RowAsked {
  readonly site: Site;
  readonly product: Product;
  readonly species: Species;
  readonly server: 'alive' | 'dead';
  readonly nth: number;
  /** Watched and used by the innocents. */
  readonly gpus: readonly number[];
  readonly idleMiB: number;
  /** null: the product. */
  readonly cleaner: Cleaner | null;
}

/** What must not happen again in the next row either: the machine does not come back to where it was. */
export class NotClean extends Error {}

export async function oneRow(asked: RowAsked): Promise<Row> {
  const {site, species, gpus} = asked;
  const zoo = new Zoo(site);
  try {
    return await inZoo(asked, zoo);
  } finally {
    await zoo.end();
    const left = await settled(site, gpus, asked.idleMiB + TOLERANCE_MIB);
    if (left > asked.idleMiB + TOLERANCE_MIB)
      // biome-ignore lint/correctness/noUnsafeFinally: a machine that is not clean outweighs any row.
      throw new NotClean(`after ${species.name} ${left} MiB stay in use with the zoo gone: nothing more is run`);
  }
}

async function inZoo(asked: RowAsked, zoo: Zoo): Promise<Row> {
  const {site, product, species, cleaner} = asked;
  const gpus = species.range ?? asked.gpus;
  await zoo.make(innocentsOn(asked.gpus, site.daemonPath));
  const innocentMiB = sum(await usedMiB(site, gpus));
  const share = new Map<number, number>();
  // One row for each GPU of a process; every innocent has the same on each.
  for (const bill of await bills(site)) share.set(bill.pid, bill.MiB * gpus.length);
  const kept = (name: string): number => {
    const pid = zoo.pids.get(name);
    return pid === undefined ? 0 : (share.get(pid) ?? 0);
  };
  await zoo.make([serverOf(species)]);
  // As in life: somebody looked while all of it still ran.
  if (cleaner === null) await product.ask('diagnose', site.name);
  await zoo.turn(species.die, species.turns);
  if (asked.server === 'dead') await zoo.turn(['server'], []);
  const heldMiB = sum(await usedMiB(site, gpus));
  const seen = {
    apps: (await bills(site)).map((bill) => `${zoo.nameOf(bill.pid)} ${bill.MiB}`),
    fuser: (await fuserPids(site)).map((pid) => zoo.nameOf(pid)),
  };
  const raw = cleaner === null ? await rawLooks(site) : {};
  const foreign = await staying(() => strangers(site, new Set(zoo.pids.values())));
  if (foreign.length > 0)
    throw new Error(`not run: ${foreign.join(', ')} would be hit or asked for, and are not the zoo's`);

  const startedAt = performance.now();
  const done =
    cleaner === null
      ? {
          product: await reclaim({
            site,
            product,
            zoo,
            gpus,
            range: species.range?.join(',') ?? null,
            atMostMiB: innocentMiB + TOLERANCE_MIB,
          }),
          end: '-',
        }
      : {product: null, end: (await clean(site, cleaner)).end};
  const seconds = (performance.now() - startedAt) / 1000;

  if (cleaner !== null) await new Promise((resolve) => setTimeout(resolve, AFTER_CLEANER_MS));
  const state = await zoo.state();
  const innocents = Object.fromEntries(INNOCENTS.map((name) => [name, state[name]?.alive === true])) as Record<
    Innocent,
    boolean
  >;
  const lost = sum(INNOCENTS.filter((name) => !innocents[name]).map(kept));
  const afterMiB = await settled(site, gpus, innocentMiB - lost + TOLERANCE_MIB);
  return {
    cleaner: cleaner?.name ?? 'gpu-reclaim',
    species: species.name,
    server: asked.server,
    nth: asked.nth,
    gpus,
    innocentMiB,
    heldMiB,
    afterMiB,
    freed: afterMiB <= innocentMiB - lost + TOLERANCE_MIB,
    innocents,
    spared: Object.fromEntries((species.spared ?? []).map((name) => [name, state[name]?.alive === true])),
    serverGone: state['server']?.alive !== true,
    holderGone: state['holder']?.alive !== true,
    deaths: zoo.deaths.map((death) => ({...death, signal: death.signal ?? state[death.name]?.endedBy ?? null})),
    seconds: Math.round(seconds * 100) / 100,
    seen,
    raw,
    ...done,
  };
}

/** A species may have started a program that is about to end: who is found once is asked for again. */
async function staying(find: () => Promise<readonly number[]>): Promise<readonly number[]> {
  const first = await find();
  if (first.length === 0) return first;
  await new Promise((resolve) => setTimeout(resolve, AFTER_CLEANER_MS));
  const second = await find();
  return first.filter((pid) => second.includes(pid));
}

/** Used MiB once it is at or under the mark, or after a second and a half. */
async function settled(site: Site, gpus: readonly number[], atMostMiB: number): Promise<number> {
  const end = performance.now() + SETTLE_MS;
  for (;;) {
    const used = sum(await usedMiB(site, gpus));
    if (used <= atMostMiB || performance.now() > end) return used;
  }
}
