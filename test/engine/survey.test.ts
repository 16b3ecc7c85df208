/** How long a deeper look takes is told, since the host's uptime goes on meanwhile and a signal must not be late by it. */
import {expect, it} from 'vitest';
import {fail} from '../../src/domain/failure.ts';
import type {EngineDeps} from '../../src/engine/deps.ts';
import {lookDeeper} from '../../src/engine/survey.ts';
import {aDiagnosis, aSnapshot, HOST} from '../doubles/build.ts';

it('a deeper look that took 9 s and failed says so, and a second one adds to it', async () => {
  let ticks = 0;
  const deps = {
    clock: {now: () => 1, ticks: () => ticks},
    log: {warn: () => undefined},
    remote: {
      host: () => ({
        deep: async () => {
          ticks += 9_000;
          return fail({reason: 'host-unreachable', host: HOST, address: '192.0.2.7:22', detail: 'no route'});
        },
      }),
    },
  } as unknown as EngineDeps;
  const snapshot = aSnapshot([]);
  const request = {pids: [], sinceUptimeMs: null};
  const once = await lookDeeper(deps, {snapshot, diagnosis: aDiagnosis(snapshot)}, request);
  expect(once.deeperMs).toBe(9_000);
  expect((await lookDeeper(deps, once, request)).deeperMs).toBe(18_000);
});
