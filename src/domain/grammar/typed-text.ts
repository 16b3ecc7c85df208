/** What keyboards, phones and web pages make of text, undone: blanks, quotes, dashes and marks that nobody sees. */

/** Longer than any sensible command. What is longer is refused, since its end may be the word that matters. */
export const LONGEST = 10_000;

/** Blanks of every width; C0 and C1 are not among them. */
const ODD_BLANKS = /[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;
/** Zero-width, direction and filler marks; U+FE00-FE0F and the tags only change how others look. */
const UNSEEN =
  /\u00ad|\u034f|\u061c|\u180e|[\u200b-\u200f]|[\u202a-\u202e]|[\u2060-\u206f]|[\ufe00-\ufe0f]|\ufeff|[\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
const DOUBLE_QUOTES = /[\u201c-\u201f\u00ab\u00bb\u300c\u300d\u2033\uff02]/g;
const SINGLE_QUOTES = /[\u2018-\u201b\u2032\uff07]/g;

/** Reading it twice changes nothing more. Line breaks and other controls stay. */
export function tidied(text: string): string {
  return (
    text
      .replaceAll(UNSEEN, '')
      .replaceAll(ODD_BLANKS, ' ')
      .replaceAll(DOUBLE_QUOTES, '"')
      .replaceAll(SINGLE_QUOTES, "'")
      .replaceAll('\uff1d', '=')
      .replaceAll('\uff0c', ',')
      .replaceAll('\u2026', '...')
      // A phone turns "--" into one long dash at the start of a word; elsewhere a dash is a dash (gpus=0–3).
      .replaceAll(/(^|\s)[\u2013\u2014](?=\p{L})/gu, '$1--')
      .replaceAll(/[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g, '-')
  );
}

/**
 * Words of one line: split at blanks and controls outside of quotes, quotes taken off. `reason="two words"` is one word.
 * A quote counts at the start of a word or behind its key. One that is never closed is none: else it would swallow
 * whatever was asked for behind it, such as `dry-run`.
 */
export function wordsIn(line: string): readonly string[] {
  const text = tidied(line).replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
  const words: string[] = [];
  let word = '';
  let open: string | null = null;
  let begun = false;
  const end = (): void => {
    if (begun) words.push(word);
    word = '';
    begun = false;
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (open !== null) {
      if (character === open) open = null;
      else word += character;
    } else if ((character === '"' || character === "'") && (word === '' || /^[^=]*=$|^[a-z-]+:$/i.test(word))) {
      if (text.lastIndexOf(character) <= at) continue;
      open = character;
      begun = true;
    } else if (character === ' ') end();
    else {
      word += character;
      begun = true;
    }
  }
  end();
  return words;
}

/**
 * Words as a shell has split them. It knows neither typographic quotes nor wide blanks: what was pasted with those is
 * put together, or taken apart, as it was meant. Controls stay, so that a value with one is refused and not mended.
 */
export function wordsOfArguments(argv: readonly string[]): readonly string[] {
  const words: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const raw = argv[at] ?? '';
    let word = tidied(raw);
    if (raw !== word && word.includes('"')) {
      while ((word.match(/"/g)?.length ?? 0) % 2 === 1 && at + 1 < argv.length) {
        at += 1;
        word += ` ${tidied(argv[at] ?? '')}`;
      }
      words.push(...wordsIn(word));
    } else if (!raw.includes(' ') && word.includes(' ') && !word.includes('=')) words.push(...word.trim().split(/ +/));
    else words.push(word);
  }
  return words;
}
