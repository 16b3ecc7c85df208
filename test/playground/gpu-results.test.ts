/** The page of the zoo on a real GPU: what it says of rows, and that the committed page is what the raw files give. */
import {existsSync, readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {backAfterMs} from '../../src/playground/gpu/poller.ts';
import {merged, PAGE, RAW, readRaw} from '../../src/playground/gpu/raw-files.ts';
import type {Machine, Results, Row} from '../../src/playground/gpu/results.ts';
import {renderResults} from '../../src/playground/gpu/results-page.ts';

const MACHINE: Machine = {
  date: '2026-12-01',
  gpu: 'GPU',
  gpus: 1,
  driver: '580.1',
  kernel: '6.18',
  standIn: false,
  idleMiB: [0],
  smiMs: 25,
};
const ALIVE = {'another user': true, 'detached trainer': true, 'persistence daemon': true};

function row(change: Partial<Row>): Row {
  return {
    cleaner: 'gpu-reclaim',
    species: 'plain',
    server: 'alive',
    nth: 1,
    gpus: [0],
    innocentMiB: 3084,
    heldMiB: 7698,
    afterMiB: 3084,
    freed: true,
    innocents: ALIVE,
    spared: {},
    serverGone: true,
    holderGone: true,
    deaths: [],
    seconds: 4,
    end: '-',
    product: product(100, 90),
    seen: {apps: [], fuser: []},
    raw: {},
    ...change,
  };
}

function product(freedAfterMs: number | null, teardownMs: number | null): NonNullable<Row['product']> {
  return {
    findings: ['workload'],
    belonging: 'named',
    plan: [],
    outcome: 'reclaimed',
    requests: 1,
    signals: [],
    freedAfterMs,
    lastSignalUptimeMs: 0,
    teardownMs,
    polled: [],
  };
}

function page(rows: readonly Row[], change: Partial<Results> = {}): string {
  return renderResults({machine: MACHINE, rows, missing: [], ...change});
}

describe('the page of the zoo', () => {
  it('says of each species what was found, freed and spared', () => {
    const text = page([
      row({}),
      row({species: 'in flight', freed: false, serverGone: false, product: product(null, null)}),
    ]);
    expect(text).toContain('| plain | workload | named | yes | 3 of 3 | gone | 100 | 90 | 7698 | 3084 | 3084 |');
    expect(text).toContain('| in flight | workload | named | **no** | 3 of 3 | **left alive** | - | - |');
    expect(text).not.toContain('Time to verified free');
  });

  it('takes the median of three, and says by how much the limit is missed', () => {
    const timed = (figures: readonly number[]): readonly Row[] =>
      figures.map((freed, at) => row({nth: at + 1, product: product(freed, [80, 100, 90][at] ?? 0)}));
    expect(page(timed([300, 120, 160]))).toContain('| 300, 120, 160 | 160 | 80, 100, 90 | 90 | 160 | within |');
    expect(page(timed([300, 120, 171]))).toContain('| 171 | 80, 100, 90 | 90 | 160 | over by 11 ms |');
  });

  it('counts the innocents of every cleaner apart', () => {
    const dead = {...ALIVE, 'persistence daemon': false};
    const rows = [
      row({cleaner: 'fuser -k', product: null, innocents: dead, serverGone: false, seconds: 0.01, end: '0'}),
      row({cleaner: 'fuser -k', product: null, species: 'in flight', freed: false, innocents: dead, end: '0'}),
    ];
    expect(page([row({}), ...rows])).toContain(
      '| fuser -k | 1 of 2 | in flight | 2 of 2 | 2 of 2 | 0 of 2 | 1 of 2 | 0 |',
    );
    expect(page([row({}), ...rows])).toContain('| gpu-reclaim | 1 of 1 | - | 1 of 1 | 1 of 1 | 1 of 1 | 1 of 1 |');
  });

  it('never lets an error or a host end a cell, and says what was not run', () => {
    expect(page([row({species: 'a | b\nc'})])).toContain('| a \\| b c |');
    expect(page([], {missing: ['plain: no time\nleft']})).toContain('- plain: no time left');
  });

  it('calls a lab host what it is', () => {
    const standIn = {...MACHINE, standIn: true};
    expect(page([row({})], {machine: standIn})).toContain('stand-ins');
    expect(page([row({})])).not.toContain('stand-ins');
  });

  it('does not mix machines', () => {
    const results: Results = {machine: MACHINE, rows: [row({})], missing: []};
    expect(merged([results, results]).rows).toHaveLength(2);
    const other = {...results, machine: {...MACHINE, driver: '570.1'}};
    expect(() => merged([results, other])).toThrow('570.1');
  });
});

describe('the poll', () => {
  it('counts from the signal to the first sample at the mark, over all GPUs', () => {
    const samples = [
      [1000, [10, 0]],
      [1100, [4000, 4000]],
      [2000.4, [3000, 3000]],
      [2040.2, [10, 60]],
    ] as const;
    expect(backAfterMs(samples, 1990, 70)).toBe(50.2);
    expect(backAfterMs(samples, 1990, 60)).toBeNull();
  });
});

describe.skipIf(!existsSync(PAGE) && !existsSync(RAW))('docs/gpu-results.md', () => {
  it('is what the raw files beside it give (npm run e2e:gpu -- --page)', () => {
    expect(readFileSync(PAGE, 'utf8')).toBe(renderResults(readRaw(RAW)));
  });

  it('was measured on a GPU, not on a stand-in', () => {
    expect(readRaw(RAW).machine.standIn).toBe(false);
  });
});
