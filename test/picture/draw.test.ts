/** Pictures as they come out: bytes that are a PNG, with the bars where the figures put them and words that can be read. */
import {mkdtempSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {makeDraw} from '../../src/picture/draw.ts';
import {barsPicture} from '../../src/report/picture-bars.ts';
import {curvePicture} from '../../src/report/picture-curve.ts';
import {BLUE, INK, PAPER, type Picture, TRACK} from '../../src/report/picture-svg.ts';
import {SCENES} from '../report/picture-scenes.ts';
import {readPng} from './png.ts';

const draw = makeDraw();
const design = readyOnce(() => draw(bars('design').svg).then(readPng));

function readyOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

function scene(name: string) {
  const found = SCENES.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no scene ${name}`);
  return found;
}

function bars(name: string): Picture {
  const {run, outcome} = scene(name);
  const picture = barsPicture(run, outcome);
  if (picture === null) throw new Error('no picture');
  return picture;
}

/** A program in place of the one that draws. */
function program(source: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'picture-')), 'program.mjs');
  writeFileSync(path, source);
  return path;
}

describe('the picture of bars, drawn', () => {
  it('is twice as many pixels as its units, on a ground of its own', async () => {
    const png = await design();
    expect([png.width, png.height]).toEqual([880, 956]);
    for (const [x, y] of [
      [1, 1],
      [438, 1],
      [1, 476],
      [438, 476],
    ] as const)
      expect(png.at(x, y)).toBe(PAPER);
  });

  it('has each bar as long as its figure, and tells freed from kept without colour', async () => {
    const png = await design();
    const rowY = (gpu: number): number => 66 + gpu * 46 + 28;
    const at = (MiB: number): number => 20 + (MiB / 143_771) * 400;
    // bo's job: one flat colour to its end, and track after it.
    expect(png.colours(22, rowY(6) - 4, at(21_630) - 26, 8)).toEqual(new Set([BLUE]));
    expect(png.at(at(21_630) + 5, rowY(6))).toBe(TRACK);
    // Freed: hatched to what it was before.
    const freed = png.colours(30, rowY(0) - 4, at(96_844) - 40, 8);
    expect(freed.size).toBeGreaterThan(2);
    expect(freed.has(BLUE)).toBe(false);
    expect(png.at(at(96_844) + 5, rowY(0))).toBe(TRACK);
    expect(png.at(at(96_844), rowY(0))).toBe(INK);
  });

  it('shows its words, with no font of the machine', async () => {
    const {svg} = bars('design');
    const png = await design();
    const without = readPng(await draw(svg.replaceAll(/<text.*<\/text>/g, '')));
    const title = [20, 14, 250, 22] as const;
    expect(png.colours(...title)).toContain(INK);
    expect(without.colours(...title)).toEqual(new Set([PAPER]));
    expect(png.colours(330, 66, 90, 18)).toContain(INK);
  });
});

describe('the picture of the curve, drawn', () => {
  it('falls from the top of the plot to its ground', async () => {
    const picture = curvePicture(scene('design').run);
    const png = readPng(await draw(picture?.svg ?? ''));
    expect([png.width, png.height]).toEqual([880, 680]);
    const hasLine = (x: number, y: number, width: number, height: number): boolean =>
      png.colours(x, y, width, height).has(BLUE);
    expect(hasLine(60, 95, 20, 12)).toBe(true);
    expect(hasLine(60, 150, 20, 130)).toBe(false);
    expect(hasLine(270, 284, 30, 10)).toBe(true);
  });
});

describe('drawing', () => {
  it.each(['mixed', 'sixty-four', 'hostile'])('takes what is awkward: %s', async (name) => {
    const {run} = scene(name);
    for (const picture of [bars(name), curvePicture(run)]) {
      if (picture === null) continue;
      const png = readPng(await draw(picture.svg));
      expect(png.width).toBe(880);
      // A picture that is taller than two phones is not looked at.
      expect(png.height).toBeLessThan(1_200);
    }
  });

  it('fails with a reason where there is no library, no SVG, or nothing at all', async () => {
    const broken = makeDraw({program: program("await import('@resvg/not-for-this-platform');")});
    await expect(broken('<svg/>')).rejects.toThrow(/Cannot find package '@resvg\/not-for-this-platform'/);
    await expect(draw('<svg')).rejects.toThrow(/no picture: exit 1/);
    await expect(makeDraw({program: program('')})('<svg/>')).rejects.toThrow('no picture: exit 0');
    await expect(makeDraw({program: '/nowhere.mjs'})('<svg/>')).rejects.toThrow(/no picture: exit 1/);
  });

  it('is given up when it takes too long or too much, and the next one is drawn all the same', async () => {
    const slow = makeDraw({program: program('setInterval(() => {}, 1000);'), limitMs: 150});
    const flood = makeDraw({
      program: program(
        "for (;;) process.stdout.write('x'.repeat(65536)) || await new Promise((r) => process.stdout.once('drain', r));",
      ),
    });
    await expect(slow('<svg/>')).rejects.toThrow('no picture: SIGKILL');
    await expect(flood('<svg/>')).rejects.toThrow('no picture: SIGKILL');
    const mixed = program(
      "let text = ''; for await (const one of process.stdin) text += one; process.exitCode = text === 'bad' ? 1 : 0; process.stdout.write(text);",
    );
    const both = makeDraw({program: mixed});
    const [bad, good] = await Promise.allSettled([both('bad'), both('good')]);
    expect(bad.status).toBe('rejected');
    expect(good.status === 'fulfilled' && Buffer.from(good.value).toString()).toBe('good');
  });

  it('hands the program nothing of our environment', async () => {
    process.env['PICTURE_TEST_TOKEN'] = 'secret';
    const told = await makeDraw({program: program('process.stdout.write(JSON.stringify(process.env));')})('<svg/>');
    delete process.env['PICTURE_TEST_TOKEN'];
    expect(Object.keys(JSON.parse(Buffer.from(told).toString()) as object)).toEqual([]);
  });
});
