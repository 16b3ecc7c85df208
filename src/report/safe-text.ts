/**
 * Process titles, user names and what hosts say are hostile text: they may hold line breaks, terminal escapes or marks
 * that turn the reading direction. All that leaves this room is one visible line.
 */

/** C0, DEL, C1, and the bidi and zero-width marks of Unicode (UAX #9, and U+200B-200D, U+2060, U+FEFF). */
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/gu;

/** One line of visible characters, at most `limit` of them; a cut is shown. */
export function safeLine(text: string, limit = 200): string {
  const visible = text.replaceAll(INVISIBLE, ' ').replaceAll(/ {2,}/g, ' ').trim();
  const characters = [...visible];
  return characters.length <= limit ? visible : `${characters.slice(0, Math.max(1, limit - 1)).join('')}…`;
}

/** Pads or cuts to exactly `width` characters. */
export function column(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const characters = [...text];
  if (characters.length > width) return `${characters.slice(0, width - 1).join('')}…`;
  return side === 'left' ? text.padEnd(width) : text.padStart(width);
}
