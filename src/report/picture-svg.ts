/** The parts that pictures are made of: SVG text, pure, with one font and colours that everybody can tell apart. */
import {safeLine} from './safe-text.ts';

export interface Picture {
  /** Short, for the file's title. */
  readonly title: string;
  readonly svg: string;
  /** The same facts in words, at most 1000 characters. */
  readonly altText: string;
}

/** Units; two pixels each. A phone shows a picture about 360 points wide: 15 units of text are 12 points there. */
export const WIDTH = 440;
export const EDGE = 20;
export const ALT_TEXT = 1_000;

/**
 * On a light ground of its own, so that a dark page changes nothing. Colours of Okabe and Ito, which colour-blind people
 * tell apart; beside each stands a pattern, a word or a figure. Ink on paper: 15:1, faint ink 6:1.
 */
export const INK = '#1b1f27';
export const FAINT = '#565d6b';
export const PAPER = '#fcfcfd';
export const TRACK = '#e7e9ee';
export const BLUE = '#0072b2';
export const GREEN = '#00755a';
export const ORANGE = '#b84a00';
export const PURPLE = '#7d3c78';

/** What the bundled font has (src/picture/fonts): anything else would ask for a font of the machine. */
const UNDRAWABLE =
  /[^\u0020-\u007e\u00a0-\u017f\u2010-\u2015\u2018-\u201d\u2022\u2026\u2212\u2248\u2264\u2265\u00d7]/gu;

/** Hostile text as XML character data or attribute value: one line, drawable, escaped, at most `limit` characters. */
export function xml(text: string, limit = 60): string {
  return safeLine(text, limit)
    .replaceAll(UNDRAWABLE, '?')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;');
}

export interface TextStyle {
  readonly size: number;
  readonly bold?: true;
  readonly fill?: string;
  readonly anchor?: 'start' | 'middle' | 'end';
}

/** `y` is the line that letters stand on. `text` is raw. */
export function words(x: number, y: number, text: string, style: TextStyle): string {
  const {size, bold, fill = INK, anchor = 'start'} = style;
  const weight = bold === true ? ' font-weight="700"' : '';
  const side = anchor === 'start' ? '' : ` text-anchor="${anchor}"`;
  return `<text x="${n(x)}" y="${n(y)}" font-size="${size}"${weight} fill="${fill}"${side}>${xml(text)}</text>`;
}

export function box(x: number, y: number, width: number, height: number, paint: string, radius = 0): string {
  const round = radius === 0 ? '' : ` rx="${radius}"`;
  return `<rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}"${round} ${paint}/>`;
}

export function line(x1: number, y1: number, x2: number, y2: number, paint: string): string {
  return `<path d="M${n(x1)} ${n(y1)}L${n(x2)} ${n(y2)}" ${paint}/>`;
}

/** A whole picture of this height, in the order of `parts`. */
export function svgOf(height: number, defs: string, parts: readonly string[]): string {
  const size = `width="${WIDTH}" height="${n(height)}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${WIDTH} ${n(height)}" font-family="Roboto">`,
    ...(defs === '' ? [] : [`<defs>${defs}</defs>`]),
    box(0, 0, WIDTH, height, `fill="${PAPER}"`),
    ...parts,
    '</svg>',
  ].join('\n');
}

/** At most two digits after the point: the same text on every machine. */
export function n(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Sentences of an alternative text; what does not fit is counted, so that nobody takes the rest for all. */
export function altTextOf(head: string, facts: readonly string[], limit = ALT_TEXT): string {
  const more = (count: number): string => (count === 0 ? '' : ` … ${count} more, in the message above.`);
  for (let shown = facts.length; shown >= 0; shown -= 1) {
    const text = `${[head, ...facts.slice(0, shown)].map((one) => safeLine(one, limit)).join(' ')}${more(facts.length - shown)}`;
    if ([...text].length <= limit) return text;
  }
  return safeLine(head, limit);
}
