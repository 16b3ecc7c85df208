/** Before and after as a picture: every figure of the table is in it and in its words, and nothing is legible only by colour. */
import {describe, expect, it} from 'vitest';
import {thousands} from '../../src/report/amounts.ts';
import {barsPicture} from '../../src/report/picture-bars.ts';
import {curvePicture} from '../../src/report/picture-curve.ts';
import {MOST_ROWS, pictureRows} from '../../src/report/picture-rows.ts';
import type {Picture} from '../../src/report/picture-svg.ts';
import {aRequest} from '../doubles/build.ts';
import {SCENES, sceneOutcome, sceneRun} from './picture-scenes.ts';

function pictureOf(name: string): Picture {
  const scene = SCENES.find((one) => one.name === name);
  const picture = scene === undefined ? null : barsPicture(scene.run, scene.outcome);
  if (picture === null) throw new Error(`no picture of ${name}`);
  return picture;
}

/** What somebody reads in the picture. */
function read(picture: Picture): readonly string[] {
  return [...picture.svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map((hit) => hit[1] ?? '');
}

describe('the picture of bars', () => {
  it('is this SVG for one GPU', () => {
    expect(pictureOf('one').svg.replace(/<defs>.*<\/defs>/s, '')).toMatchInlineSnapshot(`
      "<svg xmlns="http://www.w3.org/2000/svg" width="440" height="156" viewBox="0 0 440 156" font-family="Roboto">

      <rect x="0" y="0" width="440" height="156" fill="#fcfcfd"/>
      <text x="20" y="30" font-size="19" font-weight="700" fill="#1b1f27">gpu-07: memory before and after</text>
      <text x="20" y="51" font-size="14" fill="#565d6b">MiB in use of 81,559 each; 77,996 less in all</text>
      <text x="20" y="80" font-size="15" font-weight="700" fill="#1b1f27">GPU 0</text>
      <text x="71" y="80" font-size="14" fill="#00755a">free</text>
      <text x="420" y="80" font-size="15" fill="#1b1f27" text-anchor="end">78,000 to 4</text>
      <rect x="20" y="86" width="400" height="16" rx="2" fill="#e7e9ee"/>
      <rect x="20.02" y="86" width="382.53" height="16" fill="url(#freed)" stroke="#00755a" stroke-width="1"/>
      <path d="M402.55 83L402.55 105" stroke="#1b1f27" stroke-width="2"/>
      <rect x="20" y="121" width="16" height="12" fill="url(#freed)" stroke="#00755a"/>
      <text x="42" y="132" font-size="13" fill="#565d6b">freed</text>
      <path d="M89 119L89 135" stroke="#1b1f27" stroke-width="2"/>
      <text x="97" y="132" font-size="13" fill="#565d6b">before</text>
      </svg>"
    `);
  });

  it('says of each GPU what it was, what it is and whose it is, in figures and words', () => {
    const words = read(pictureOf('mixed'));
    expect(words.join(' | ')).toMatchInlineSnapshot(
      `"gpu-07: memory before and after | MiB in use of 143,771 each; change unknown in all | GPU 0 | free | 96,844 to 4 | GPU 1 | no process | 96,844 to 61,200 | GPU 2 | train.py | 40,960 to 80,000 | GPU 3 | unknown | 96,844 to ? | GPU 4 | no process | 96,844 to 45,000 | GPU 5 | unknown | ? to 12,000 | in use | freed | no process | unknown | before"`,
    );
  });

  it('has the same facts in its alternative text', () => {
    for (const {name, run, outcome} of SCENES) {
      const picture = barsPicture(run, outcome);
      for (const row of pictureRows(outcome, new Map())) {
        expect(picture?.altText, name).toContain(row.name);
        if (row.afterMiB !== null) expect(picture?.altText, name).toContain(thousands(row.afterMiB));
      }
      expect([...(picture?.altText ?? '')].length).toBeLessThanOrEqual(1_000);
    }
  });

  it('counts in its alternative text what has no room there', () => {
    const gpus = Array.from({length: 16}, () => ({
      before: 143_000,
      after: 140_000,
      holder: 'a-rather-long-name',
      unexplained: 9_000,
      expected: 300,
    }));
    const picture = barsPicture(sceneRun(gpus), sceneOutcome(gpus));
    expect([...(picture?.altText ?? '')].length).toBeLessThanOrEqual(1_000);
    expect(picture?.altText).toMatch(/GPU 11: .* … 4 more, in the message above\.$/);
  });

  it('puts GPUs of one fate together where there are many, as sums that are those of all', () => {
    const scene = SCENES.find((one) => one.name === 'sixty-four');
    const outcome = scene?.outcome ?? sceneOutcome([]);
    const rows = pictureRows(outcome, new Map());
    expect(rows.length).toBeLessThanOrEqual(MOST_ROWS);
    expect(rows.reduce((total, row) => total + row.gpus, 0)).toBe(64);
    const before = outcome.gpus.reduce((total, gpu) => total + (gpu.beforeMiB ?? 0), 0);
    expect(rows.reduce((total, row) => total + (row.beforeMiB ?? 0), 0)).toBe(before);
    expect(rows.filter((row) => row.state === 'unknown' || row.state === 'unexplained').map((row) => row.name)).toEqual(
      ['GPU 20', 'GPU 41'],
    );
  });

  it('falls back to the states alone where every GPU has another holder', () => {
    const gpus = Array.from({length: 64}, (_, at) => ({before: 9_000, after: 9_000, holder: `job-${at}`}));
    expect(pictureRows(sceneOutcome(gpus), new Map())).toMatchObject([
      {name: 'GPU 0-63', gpus: 64, state: 'held', holders: 'several', afterMiB: 576_000},
    ]);
  });

  it('never calls a GPU free whose figure is missing, and no sum known that has such a one', () => {
    const gpus = [{before: 100, after: null}, ...Array.from({length: 19}, () => ({before: null, after: 4}))];
    expect(pictureRows(sceneOutcome(gpus), new Map())).toMatchObject([
      {state: 'unknown', beforeMiB: null, afterMiB: null},
    ]);
  });

  it('lets no text of a host out of its place', () => {
    const {svg, altText} = pictureOf('hostile');
    expect(svg).not.toContain('<script');
    expect(svg).toContain('&lt;/text&gt;&lt;script&gt;');
    // One whole tag after another, and nothing that the bundled font lacks.
    expect(svg).not.toMatch(/[^\u0020-\u007e\u00a0-\u017f\u2026\n]/u);
    expect(altText).not.toMatch(/\u202e/);
  });

  it('says of a drill that it is one, as the curve does, since pictures travel without their card', () => {
    const scene = SCENES.find(({name}) => name === 'one');
    if (scene === undefined) throw new Error('no scene');
    const asked = {kind: 'requested', atMs: 0, request: aRequest({practice: true})} as const;
    const events = [asked, ...scene.run.events];
    const run = {...scene.run, events};
    for (const picture of [barsPicture(run, scene.outcome), curvePicture(run)]) {
      expect(picture?.altText).toMatch(/^PRACTICE · gpu-07: /);
      expect(picture?.svg).toContain('>PRACTICE · gpu-07: ');
    }
  });

  it('is the same for the same run, always', () => {
    expect(pictureOf('mixed')).toEqual(pictureOf('mixed'));
  });
});
