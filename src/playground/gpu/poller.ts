/** Used MiB every 20 ms, read by a program of the zoo's own: what the driver itself says of its teardown. */

import {join} from 'node:path';
import type {Sample} from './results.ts';
import {PROGRAMS, type Site} from './site.ts';

export interface Poller {
  readonly samples: readonly Sample[];
  stop(): Promise<void>;
}

/** Resolves at its first sample. */
export function startPoller(site: Site, gpus: readonly number[]): Promise<Poller> {
  const child = site.start([site.python, '-B', join(PROGRAMS, 'poll.py'), site.poll, gpus.join(',')]);
  const samples: Sample[] = [];
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.stdin?.on('error', () => {});
  let complaints = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  let text = '';
  return new Promise((resolve, reject) => {
    child.once('close', () => reject(new Error(`the poller ended: ${complaints}`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      const lines = (text + chunk.toString()).split('\n');
      text = lines.pop() ?? '';
      samples.push(...lines.map((line) => JSON.parse(line) as Sample));
      if (samples.length > 0)
        resolve({
          samples,
          stop: async () => {
            child.stdin?.end();
            await ended;
          },
        });
    });
  });
}

/** From `sinceUptimeMs` to the first sample that is at or under `atMostMiB`; null if there is none. */
export function backAfterMs(samples: readonly Sample[], sinceUptimeMs: number, atMostMiB: number): number | null {
  const back = samples.find(
    ([atMs, used]) => atMs >= sinceUptimeMs && used.reduce((total, one) => total + one, 0) <= atMostMiB,
  );
  return back === undefined ? null : Math.round((back[0] - sinceUptimeMs) * 10) / 10;
}
