/** The text of a command as phones and Slack's own escaping deliver it, back to the words that were meant. */

/** Longer than any sensible command; what is beyond is not read. */
const MOST_CHARACTERS = 2_000;

/**
 * Words of a command: split at blanks outside of quotes, quotes taken off. `reason="two words"` is one word. Smart quotes,
 * odd blanks, long dashes, auto-links and escaped mentions are read as what was typed.
 */
export function wordsOf(text: string): readonly string[] {
  return split(plainText([...text].slice(0, MOST_CHARACTERS).join('')));
}

/** Slack's escapes undone: `<http://gpu-07|gpu-07>` -> `gpu-07`, `<@U1|bo>` -> `<@U1>`, `&amp;` -> `&`. */
function plainText(text: string): string {
  return (
    text
      .replaceAll(/<([^<>]*)>/g, (_whole, inside: string) => unlinked(inside))
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      // Last, so that "&amp;lt;" stays the four characters that were typed.
      .replaceAll('&amp;', '&')
      .replaceAll(/[\u0000-\u001f\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g, ' ')
      .replaceAll(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '')
      .replaceAll(/[\u201c-\u201f\u00ab\u00bb\u300c\u300d\uff02]/g, '"')
      .replaceAll(/[\u2018-\u201b\uff07]/g, "'")
      .replaceAll('\uff1d', '=')
      // A phone turns "--" into one long dash at the start of a word; elsewhere a dash is a dash (gpus=0–3).
      .replaceAll(/(^|\s)[\u2013\u2014](?=\p{L})/gu, '$1--')
      .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
  );
}

function unlinked(inside: string): string {
  const [target = '', label] = inside.split('|');
  if (/^[@#!]/.test(target)) return `<${target}>`;
  if (label !== undefined) return label;
  return target.replace(/^(https?:\/\/|mailto:|tel:)/, '').replace(/\/$/, '');
}

/** A quote counts at the start of a word or after its `=`; an unclosed one reaches to the end. */
function split(text: string): readonly string[] {
  const words: string[] = [];
  let word = '';
  let open: string | null = null;
  let begun = false;
  const end = (): void => {
    if (begun) words.push(word.replace(/^--(?=\p{L})/u, ''));
    word = '';
    begun = false;
  };
  for (const character of text) {
    if (open !== null) {
      if (character === open) open = null;
      else word += character;
    } else if ((character === '"' || character === "'") && (word === '' || word.endsWith('='))) {
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
