/** The program for a real GPU, on a lab host: its own processes, its own poll, the product over its own SSH server. */
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {CLEANERS} from '../../src/playground/gpu/cleaners.ts';
import {oneRow, type RowAsked} from '../../src/playground/gpu/one-row.ts';
import {type Product, productFor} from '../../src/playground/gpu/product.ts';
import type {Row} from '../../src/playground/gpu/results.ts';
import {labSite, type Site} from '../../src/playground/gpu/site.ts';
import {speciesOn} from '../../src/playground/gpu/species.ts';
import type {HeardExec} from '../../src/playground/lab/own-server.ts';
import {programFile} from '../../src/playground/program.ts';

const AS_ROOT = process.getuid?.() === 0;
const ALL_ALIVE = {'another user': true, 'detached trainer': true, 'persistence daemon': true};

describe.skipIf(!AS_ROOT)('the zoo for a real GPU (a root lab; needs root)', () => {
  const heard: HeardExec[] = [];
  let site: Site;
  let product: Product;

  beforeAll(async () => {
    site = await labSite(2, (exec) => heard.push(exec));
    product = productFor(site, programFile());
  }, 60_000);
  afterAll(async () => {
    product.remove();
    await site.stop();
  });

  function row(name: string, change: Partial<RowAsked> = {}): Promise<Row> {
    const species = speciesOn([0]).find((one) => one.name === name);
    if (species === undefined) throw new Error(`no species ${name}`);
    const asked = {site, product, species, server: 'alive', nth: 1, gpus: [0], idleMiB: 0, cleaner: null} as const;
    return oneRow({...asked, ...change});
  }

  it('frees what fuser cannot see, spares the innocents, and writes down when', async () => {
    const {product: part, ...zombie} = await row('zombie leader');
    expect(zombie).toMatchObject({freed: true, serverGone: true, holderGone: true, innocents: ALL_ALIVE});
    expect(zombie.seen.fuser).not.toContain('holder');
    expect(zombie.heldMiB - zombie.innocentMiB).toBe(4614);
    expect(part).toMatchObject({outcome: 'reclaimed', requests: 1, belonging: 'parents'});
    expect(part?.findings).toContain('zombie-leader');
    expect(part?.signals.map(({name, result}) => `${name} ${result}`)).toEqual(['server sent', 'holder sent']);
    expect(part?.teardownMs).toBeGreaterThan(0);
    expect(zombie.deaths.map(({name}) => name)).toEqual(['server', 'holder']);
    // Every command of the product was heard, with its answer.
    expect(heard.filter(({stdout}) => stdout.includes('/proc/1/')).length).toBeGreaterThan(0);
    expect(heard.every(({stdin}) => stdin !== '')).toBe(true);
  }, 60_000);

  it('knows a ghost by an earlier look once its server is dead', async () => {
    const renamed = await row('renamed', {server: 'dead'});
    expect(renamed).toMatchObject({freed: true, innocents: ALL_ALIVE, product: {belonging: 'earlier-look'}});
    expect(renamed.deaths[0]).toMatchObject({name: 'server'});
  }, 60_000);

  it('runs nothing where somebody else’s process carries the name', async () => {
    const stranger = site.start(['sh', '-c', 'sleep 60; : vllm']);
    const ended = new Promise((resolve) => stranger.once('close', resolve));
    try {
      await expect(row('plain')).rejects.toThrow('not run');
    } finally {
      if (stranger.pid !== undefined) process.kill(-stranger.pid, 'SIGKILL');
      await ended;
    }
  }, 60_000);

  it('shows what fuser -k does to everybody else', async () => {
    const cleaner = CLEANERS.find(({name}) => name === 'fuser -k') ?? null;
    const killed = await row('in flight', {cleaner});
    expect(killed).toMatchObject({freed: false, serverGone: false, holderGone: false, product: null});
    expect(Object.values(killed.innocents)).toEqual([false, false, false]);
  }, 60_000);
});
