/** Memory over time as a picture: only what the host said, from the signal that made it fall. */
import {describe, expect, it} from 'vitest';
import {memoryCurve} from '../../src/domain/memory-curve.ts';
import {curvePicture} from '../../src/report/picture-curve.ts';
import {curveLines} from '../../src/report/picture-lines.ts';
import {memory, SCENES, sceneRun, sent, settled} from './picture-scenes.ts';

function runOf(name: string) {
  const scene = SCENES.find((one) => one.name === name);
  if (scene === undefined) throw new Error(`no scene ${name}`);
  return scene.run;
}

function read(svg: string): readonly string[] {
  return [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map((hit) => hit[1] ?? '');
}

function linesOf(name: string) {
  const curve = memoryCurve(runOf(name));
  if (curve === null) throw new Error('no curve');
  return curveLines(curve, curve.signals.at(-1)?.ms ?? 0);
}

describe('the picture of the curve', () => {
  it('is this SVG for one GPU', () => {
    expect(curvePicture(runOf('one'))?.svg).toMatchInlineSnapshot(`
      "<svg xmlns="http://www.w3.org/2000/svg" width="440" height="340" viewBox="0 0 440 340" font-family="Roboto">
      <rect x="0" y="0" width="440" height="340" fill="#fcfcfd"/>
      <text x="20" y="30" font-size="19" font-weight="700" fill="#1b1f27">gpu-07: time to free</text>
      <text x="20" y="51" font-size="14" fill="#565d6b">GiB per GPU, from SIGTERM on</text>
      <path d="M54 290L300 290" stroke="#565d6b" stroke-width="1"/>
      <text x="46" y="295" font-size="13" fill="#565d6b" text-anchor="end">0</text>
      <path d="M54 240.5L300 240.5" stroke="#dfe2e8" stroke-width="1"/>
      <text x="46" y="245.5" font-size="13" fill="#565d6b" text-anchor="end">20</text>
      <path d="M54 191L300 191" stroke="#dfe2e8" stroke-width="1"/>
      <text x="46" y="196" font-size="13" fill="#565d6b" text-anchor="end">40</text>
      <path d="M54 141.5L300 141.5" stroke="#dfe2e8" stroke-width="1"/>
      <text x="46" y="146.5" font-size="13" fill="#565d6b" text-anchor="end">60</text>
      <path d="M54 92L300 92" stroke="#dfe2e8" stroke-width="1"/>
      <text x="46" y="97" font-size="13" fill="#565d6b" text-anchor="end">80</text>
      <path d="M71.57 290L71.57 295" stroke="#565d6b" stroke-width="1"/>
      <text x="71.57" y="310" font-size="13" fill="#565d6b" text-anchor="middle">0 s</text>
      <path d="M187.17 290L187.17 295" stroke="#565d6b" stroke-width="1"/>
      <text x="187.17" y="310" font-size="13" fill="#565d6b" text-anchor="middle">1 s</text>
      <path d="M71.57 86L71.57 290" stroke="#1b1f27" stroke-width="1.5" stroke-dasharray="3 3"/>
      <text x="73.57" y="82" font-size="13" font-weight="700" fill="#1b1f27">SIGTERM</text>
      <path d="M54 101.47L71.57 101.47L71.57 101.47L233.41 101.47L233.41 193.32L291.21 193.32L291.21 289.99L291.21 289.99" fill="none" stroke="#0072b2" stroke-width="2.5"/><circle cx="291.21" cy="289.99" r="4" fill="#0072b2"/>
      <path d="M297.21 289.99L310 285.99" stroke="#0072b2" stroke-width="1"/>
      <text x="314" y="289.99" font-size="14" font-weight="700" fill="#0072b2">GPU 0</text>
      <text x="314" y="304.99" font-size="13" fill="#1b1f27">free at 1.9 s</text>
      </svg>"
    `);
  });

  it('counts from the signal that made memory fall, and names those before it', () => {
    const picture = curvePicture(runOf('mixed'));
    expect(read(picture?.svg ?? '')).toEqual(
      expect.arrayContaining([
        'GiB per GPU, from kill -9 on; SIGTERM 30 s earlier',
        'kill -9',
        '0 s',
        '1 s',
        'GPU 3',
        'stalled',
      ]),
    );
    expect(read(picture?.svg ?? '')).not.toContain('SIGTERM');
  });

  it('has both signals where memory fell after each', () => {
    const gpus = [
      {before: 80_000, after: 4},
      {before: 80_000, after: 4},
    ];
    const run = sceneRun(gpus, [
      ...sent('SIGTERM', 0, [500, 501]),
      memory(800, [4, 80_000]),
      ...sent('SIGKILL', 3_000, [501], 2),
      memory(3_100, [4, 4]),
      settled('expected', 3_100),
    ]);
    expect(read(curvePicture(run)?.svg ?? '')).toEqual(
      expect.arrayContaining(['SIGTERM', 'kill -9', 'GPU 0', 'GPU 1']),
    );
    expect(curvePicture(run)?.altText).toBe(
      'gpu-07: time to free. GiB per GPU, from SIGTERM on. GPU 1: half and all after 0.1 s. GPU 1: from 80,000 to 4 MiB. GPU 0: from 80,000 to 4 MiB.',
    );
  });

  it('is one line for GPUs that went down together', () => {
    expect(linesOf('design')).toMatchObject([{name: 'GPU 0-3', gpus: 4, low: null, lastMiB: 4}]);
  });

  it('makes one band of what is too many, from the lowest to the highest', () => {
    const lines = linesOf('sixty-four');
    expect(lines.length).toBe(6);
    expect(lines.reduce((total, one) => total + one.gpus, 0)).toBe(64);
    const band = lines.at(-1);
    expect(band?.low).not.toBeNull();
    for (const [at, high] of (band?.high ?? []).entries())
      expect(band?.low?.[at]?.usedMiB).toBeLessThanOrEqual(high.usedMiB);
  });

  it('keeps apart what is left and what is free, however many there are', () => {
    expect(linesOf('mixed').map(({name, how}) => `${name} ${how}`)).toEqual([
      'GPU 1 stalled',
      'GPU 4 stalled',
      'GPU 3 stalled',
      'GPU 0 free at 0.2 s',
    ]);
  });

  it('is none without a signal, and none without a sample after it', () => {
    const gpus = [{before: 80_000, after: 4}];
    expect(curvePicture(sceneRun(gpus, [memory(100, [4])]))).toBeNull();
    expect(curvePicture(sceneRun(gpus, sent('SIGKILL', 0, [500])))).toBeNull();
  });

  it('has its facts in at most 1000 characters of words, with every line in them', () => {
    for (const {name, run} of SCENES) {
      const picture = curvePicture(run);
      if (picture === null) continue;
      expect([...picture.altText].length, name).toBeLessThanOrEqual(1_000);
      for (const one of linesOf(name)) expect(picture.altText, name).toContain(`${one.name}: from`);
    }
  });
});
