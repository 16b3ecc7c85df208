/** Each attack of the demo, by the built program: no forbidden signal, ever. */
import {afterAll, describe, expect, test} from 'vitest';
import type {Answer} from '../../src/playground/story/bot.ts';
import {BREAKS} from '../../src/playground/story/breaks.ts';
import {castFor} from '../../src/playground/story/cast.ts';
import {unaccounted} from '../../src/playground/story/play.ts';
import {makeBench, QUICK, startSoundLab} from './bench.ts';

const HOST = 'gpu-07';
const probe = await startSoundLab(HOST, 1);
const {features} = probe;
await probe.stop();

const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
});

describe.concurrent('an attack where', () => {
  for (const [name, attack] of Object.entries(BREAKS).toSorted(([a], [b]) => waits(b) - waits(a))) {
    const lacks = attack.needs !== undefined && !features.has(attack.needs);
    const title = `${attack.what}${lacks ? ` (needs a lab with ${attack.needs}: run as root)` : ''}`;
    test.skipIf(lacks)(title, async () => {
      const lab = await startSoundLab(HOST, 8);
      const bench = makeBench({[HOST]: lab}, {...QUICK, ...attack.policy});
      stops.push(async () => {
        await lab.stop();
        bench.remove();
      });
      const cast = await castFor(lab, 5);
      const said: string[] = [];
      const show = (answer: Answer): number => said.push(answer.out + answer.err);
      const say = (...lines: readonly string[]): number => said.push(...lines);
      const broken = await attack.play({lab, bot: bench, cast, host: HOST, show, say}).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${said.join('\n')}`);
      });
      const harm = (await unaccounted(lab, bench, cast)).filter((line) => line.startsWith('an innocent'));
      expect([...broken, ...harm], `${name}:\n${said.join('\n')}`).toEqual([]);
    });
  }
});

/** Those that mostly wait begin first, and wait while others work. */
function waits(name: string): number {
  return ['drop', 'late', 'smi-hung'].indexOf(name);
}
