/** Colours that can be told apart, and text that stays text. */
import {describe, expect, it} from 'vitest';
import {altTextOf, BLUE, FAINT, GREEN, INK, ORANGE, PAPER, PURPLE, TRACK, xml} from '../../src/report/picture-svg.ts';

/** WCAG 2.1, relative luminance and contrast. */
function contrast(one: string, other: string): number {
  const luminance = (colour: string): number => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

describe('colours', () => {
  it.each([INK, FAINT, BLUE, GREEN, ORANGE, PURPLE])('%s is legible as text on the paper', (colour) => {
    expect(contrast(colour, PAPER)).toBeGreaterThanOrEqual(4.5);
  });

  it.each([BLUE, GREEN, ORANGE, PURPLE, INK])('%s stands out from the track', (colour) => {
    expect(contrast(colour, TRACK)).toBeGreaterThanOrEqual(3);
  });
});

describe('text in a picture', () => {
  it.each([
    ['<b>&"\'', '&lt;b&gt;&amp;&quot;&apos;'],
    ['a\u0000b\u001b[31m\nc', 'a b [31m c'],
    ['\u202egpj.exe', 'gpj.exe'],
    ['漢字😀\ud800', '????'],
    ['±5 – “x” ≤ é', '±5 – “x” ≤ é'],
    ['x'.repeat(100), `${'x'.repeat(59)}…`],
  ])('%j becomes %j', (raw, shown) => {
    expect(xml(raw)).toBe(shown);
  });

  it('is cut in the open where its words are too many', () => {
    expect(altTextOf('Head.', ['One.', 'Two.', 'Three, and far too many more words.'], 46)).toBe(
      'Head. One. … 2 more, in the message above.',
    );
    expect(altTextOf('Head.', ['One.'])).toBe('Head. One.');
  });
});
