import {readFileSync} from 'node:fs';
import fc from 'fast-check';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {parse} from 'yaml';
import {loadConfig} from '../../src/config/load.ts';
import {type Folder, makeFolder} from './folder.ts';

const HOSTS = readFileSync('hosts.example.yaml', 'utf8');
const POLICY = readFileSync('policy.example.yaml', 'utf8');

let folder: Folder;
beforeAll(() => {
  folder = makeFolder();
});
afterAll(() => folder.remove());

/** One cut, one insertion or one doubling somewhere in the text. */
function damaged(text: string): fc.Arbitrary<string> {
  const letters = fc.oneof(
    fc.constantFrom(...':-[]{}"\'#&*!|>%@`,? \n\t0~'),
    fc.string({unit: 'binary', maxLength: 8}),
  );
  return fc
    .tuple(fc.nat(text.length), fc.nat(40), letters, fc.constantFrom('cut', 'insert', 'double'))
    .map(([at, length, extra, how]) => {
      const piece = text.slice(at, at + length);
      const between = {cut: '', insert: extra + piece, double: piece + piece}[how];
      return text.slice(0, at) + between + text.slice(at + length);
    });
}

/** The same text with one value, anywhere, exchanged for something else. */
function misfilled(text: string): fc.Arbitrary<string> {
  const written = parse(text);
  const places = leafPlaces(written);
  return fc
    .tuple(fc.constantFrom(...places), fc.jsonValue({maxDepth: 2}))
    .map(([place, value]) => JSON.stringify(replaced(written, place, value)));
}

test.each([
  ['hosts', 'damaged', damaged(HOSTS)],
  ['policy', 'damaged', damaged(POLICY)],
  ['hosts', 'misfilled', misfilled(HOSTS)],
  ['policy', 'misfilled', misfilled(POLICY)],
] as const)(
  'a %s file that is %s anywhere gives a config or a list of mistakes, and never throws',
  (file, _, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        folder.write('.config/gpu-reclaim/hosts.yaml', file === 'hosts' ? text : HOSTS);
        folder.write('.config/gpu-reclaim/policy.yaml', file === 'policy' ? text : POLICY);
        const config = loadConfig({HOME: folder.home, GPU_RECLAIM_ACT_PASSPHRASE: 'x'}, folder.home);
        if (config.ok) {
          // What passed is sound: no host is acted on without a credential, and every number is one.
          for (const {host, access} of config.value.hosts.values()) {
            expect(host.mode === 'observe' || access.act !== null).toBe(true);
            expect(access.extraPath.every((path) => /^\/[A-Za-z0-9/_.+-]*$/.test(path))).toBe(true);
          }
          expect(config.value.policy.graceMs).toBeGreaterThan(0);
          expect(config.value.policy.workloads.every(({literals}) => literals.every((one) => one.length > 2))).toBe(
            true,
          );
          return;
        }
        if (config.failure.reason !== 'config-bad') throw new Error(`Internal error: ${config.failure.reason}`);
        expect(config.failure.mistakes.length).toBeGreaterThan(0);
        for (const {problem, wayOut} of config.failure.mistakes) {
          expect(problem).not.toMatch(/undefined|\[object/);
          expect(wayOut).not.toMatch(/undefined|\[object/);
        }
      }),
      {numRuns: 50},
    );
  },
);

type Place = readonly (string | number)[];

function leafPlaces(value: unknown, at: Place = []): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([key, item]) => leafPlaces(item, [...at, key]))];
}

function replaced(value: unknown, [first, ...rest]: Place, by: unknown): unknown {
  if (first === undefined) return by;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[first] = replaced(copy[first], rest, by);
  return copy;
}
