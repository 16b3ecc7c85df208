/** The time-to-free picture of a closed run: memory of each GPU over time, with the moments of the signals. */
import {type MemoryCurve, memoryCurve, type SignalMoment} from '../domain/memory-curve.ts';
import type {Run} from '../domain/run.ts';
import {span, thousands} from './amounts.ts';
import {type CurveLine, curveLines} from './picture-lines.ts';
import {
  altTextOf,
  BLUE,
  EDGE,
  FAINT,
  GREEN,
  INK,
  line,
  n,
  ORANGE,
  type Picture,
  PURPLE,
  svgOf,
  words,
} from './picture-svg.ts';
import {drillTitle} from './practice.ts';
import {timeToFreeLines} from './time-to-free-lines.ts';

const HEIGHT = 340;
const PLOT = {left: 54, right: 300, top: 92, bottom: 290} as const;
const LABEL_GAP = 36;

/** null where nothing was signalled, or nothing seen after it. */
export function curvePicture(run: Run): Picture | null {
  const curve = memoryCurve(run);
  if (curve === null) return null;
  const title = drillTitle(run, `${run.host}: time to free`);
  const shown = windowOf(curve);
  const lines = curveLines(curve, shown.zeroMs);
  const top = topOf(lines);
  const place: Place = {
    x: (ms) => PLOT.left + ((ms - shown.fromMs) / (shown.toMs - shown.fromMs)) * (PLOT.right - PLOT.left),
    y: (MiB) => PLOT.bottom - (MiB / top.MiB) * (PLOT.bottom - PLOT.top),
  };
  const zero = curve.signals.findLast((one) => one.ms <= shown.zeroMs) ?? curve.signals[0];
  const caption = captionOf(curve, zero);
  return {
    title,
    svg: svgOf(HEIGHT, '', [
      words(EDGE, 30, title, {size: 19, bold: true}),
      words(EDGE, 51, caption, {size: 14, fill: FAINT}),
      ...axes(top, shown, place),
      ...moments(curve, shown, place),
      ...lines.map((one, at) => drawn(one, at, curve, shown, place)),
      ...labels(lines, place, curve.endMs),
    ]),
    altText: altTextOf(`${title}. ${caption}.`, [
      ...timeToFreeLines(run).map((one) => `${one}.`),
      ...lines.map(
        (one) =>
          `${one.name}: from ${thousands(one.fromMiB)} to ${thousands(one.lastMiB)} MiB${one.gpus > 1 ? ' each' : ''}.`,
      ),
    ]),
  };
}

interface Place {
  readonly x: (ms: number) => number;
  readonly y: (MiB: number) => number;
}

interface Window {
  readonly fromMs: number;
  readonly toMs: number;
  /** The signal that the axis counts from. */
  readonly zeroMs: number;
}

/** From the last signal before memory fell: a grace of half a minute would squeeze what came after it into one line. */
function windowOf(curve: MemoryCurve): Window {
  const firstFallMs = Math.min(
    ...curve.gpus.map(
      ({points}) =>
        points.find((point, at) => at > 0 && point.usedMiB < (points[0]?.usedMiB ?? 0) * 0.99)?.ms ?? curve.endMs,
    ),
  );
  const zeroMs = curve.signals.findLast((one) => one.ms <= firstFallMs)?.ms ?? 0;
  const length = Math.max(200, curve.endMs - zeroMs);
  return {fromMs: zeroMs - length * 0.08, toMs: zeroMs + length * 1.04, zeroMs};
}

function captionOf(curve: MemoryCurve, zero: SignalMoment): string {
  const before = curve.signals.filter((one) => one.ms < zero.ms);
  const earlier = before
    .map(
      (one) => `${one.what === zero.what ? `one more ${nameOf(one)}` : nameOf(one)} ${span(zero.ms - one.ms)} earlier`,
    )
    .slice(-1);
  return [`GiB per GPU, from ${nameOf(zero)} on`, ...earlier].join('; ');
}

function nameOf(one: SignalMoment): string {
  switch (one.what) {
    case 'SIGTERM':
      return 'SIGTERM';
    case 'SIGKILL':
      return 'kill -9';
    case 'stop':
      return "the owner's stop";
  }
}

interface Top {
  readonly MiB: number;
  readonly stepMiB: number;
}

function topOf(lines: readonly CurveLine[]): Top {
  const most = Math.max(1, ...lines.flatMap((one) => one.high.map((point) => point.usedMiB)));
  const stepMiB = niceStep(most / 1024, 4) * 1024;
  return {MiB: Math.ceil(most / stepMiB) * stepMiB, stepMiB};
}

/** 1, 2 or 5 times a power of ten, so that about `count` of them make `value`. */
function niceStep(value: number, count: number): number {
  const raw = value / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = [1, 2, 5, 10].find((one) => one * power >= raw) ?? 10;
  return factor * power;
}

function axes(top: Top, shown: Window, place: Place): readonly string[] {
  const grid = 'stroke="#dfe2e8" stroke-width="1"';
  const parts: string[] = [];
  for (let MiB = 0; MiB <= top.MiB * 1.001; MiB += top.stepMiB) {
    const y = place.y(MiB);
    parts.push(line(PLOT.left, y, PLOT.right, y, MiB === 0 ? `stroke="${FAINT}" stroke-width="1"` : grid));
    parts.push(words(PLOT.left - 8, y + 5, n(MiB / 1024), {size: 13, fill: FAINT, anchor: 'end'}));
  }
  const stepMs = niceStep(shown.toMs - shown.zeroMs, 3);
  for (let ms = 0; shown.zeroMs + ms <= shown.toMs; ms += stepMs) {
    const x = place.x(shown.zeroMs + ms);
    parts.push(line(x, PLOT.bottom, x, PLOT.bottom + 5, `stroke="${FAINT}" stroke-width="1"`));
    parts.push(words(x, PLOT.bottom + 20, `${n(ms / 1000)} s`, {size: 13, fill: FAINT, anchor: 'middle'}));
  }
  return parts;
}

/** Each at its moment; those too near to each other for two names share one line of words. */
function moments(curve: MemoryCurve, shown: Window, place: Place): readonly string[] {
  const here = curve.signals.filter((one) => one.ms >= shown.fromMs && one.ms <= shown.toMs);
  let lastEnd = -Infinity;
  let row = 0;
  return here.flatMap((one) => {
    const x = place.x(one.ms);
    const name = one.what === 'stop' ? 'stop' : nameOf(one);
    row = x < lastEnd ? (row + 1) % 2 : 0;
    lastEnd = x + name.length * 7.2 + 10;
    return [
      line(x, PLOT.top - 6, x, PLOT.bottom, `stroke="${INK}" stroke-width="1.5" stroke-dasharray="3 3"`),
      words(x + 2, PLOT.top - 10 - row * 14, name, {size: 13, bold: true}),
    ];
  });
}

const STROKES = [
  {color: BLUE, dash: ''},
  {color: ORANGE, dash: '7 3'},
  {color: GREEN, dash: '2 3'},
  {color: PURPLE, dash: '9 3 2 3'},
  {color: INK, dash: '4 2'},
  {color: FAINT, dash: '1 2'},
] as const;

function strokeOf(at: number): (typeof STROKES)[number] {
  return STROKES[at % STROKES.length] ?? STROKES[0];
}

function drawn(one: CurveLine, at: number, curve: MemoryCurve, shown: Window, place: Place): string {
  const {color, dash} = strokeOf(at);
  const pattern = dash === '' ? '' : ` stroke-dasharray="${dash}"`;
  const high = steps(one.high, curve, shown, place);
  const end = one.high.at(-1)?.usedMiB ?? 0;
  const band =
    one.low === null
      ? ''
      : `<path d="M${high.join('L')}L${steps(one.low, curve, shown, place).toReversed().join('L')}Z" fill="${color}" fill-opacity="0.18"/>`;
  return [
    band,
    `<path d="M${high.join('L')}" fill="none" stroke="${color}" stroke-width="2.5"${pattern}/>`,
    `<circle cx="${n(place.x(curve.endMs))}" cy="${n(place.y(end))}" r="4" fill="${color}"/>`,
  ].join('');
}

/** A sample holds until the next: the host speaks only when a figure changes. */
function steps(points: CurveLine['high'], curve: MemoryCurve, shown: Window, place: Place): readonly string[] {
  const corners: string[] = [];
  let usedMiB = points[0]?.usedMiB ?? 0;
  const corner = (ms: number, MiB: number): void => {
    corners.push(`${n(place.x(ms))} ${n(place.y(MiB))}`);
  };
  for (const point of points) {
    if (point.ms > shown.fromMs) {
      if (corners.length === 0) corner(shown.fromMs, usedMiB);
      corner(point.ms, usedMiB);
      corner(point.ms, point.usedMiB);
    }
    usedMiB = point.usedMiB;
  }
  if (corners.length === 0) corner(shown.fromMs, usedMiB);
  corner(curve.endMs, usedMiB);
  return corners;
}

/** Beside the end of each line, moved apart where ends lie together. */
function labels(lines: readonly CurveLine[], place: Place, endMs: number): readonly string[] {
  const wanted = lines
    .map((one, at) => ({one, at, y: place.y(one.high.at(-1)?.usedMiB ?? 0)}))
    .toSorted((a, b) => b.y - a.y || a.at - b.at);
  let below = PLOT.bottom + LABEL_GAP;
  return wanted.flatMap(({one, at, y}) => {
    const labelY = Math.min(y, below - LABEL_GAP);
    below = labelY;
    const {color} = strokeOf(at);
    return [
      line(place.x(endMs) + 6, y, PLOT.right + 10, labelY - 4, `stroke="${color}" stroke-width="1"`),
      words(PLOT.right + 14, labelY, one.name, {size: 14, bold: true, fill: color}),
      words(PLOT.right + 14, labelY + 15, one.how, {size: 13, fill: INK}),
    ];
  });
}
