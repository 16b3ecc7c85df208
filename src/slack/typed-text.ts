/** The text of a command as Slack's own escaping delivers it, back to what was typed. */
import {LONGEST, wordsIn} from '../domain/grammar/typed-text.ts';

/** Words of a command, as `wordsIn` splits them. */
export function wordsOf(text: string): readonly string[] {
  return wordsIn(plainText([...text].slice(0, LONGEST).join('')));
}

/**
 * Slack's escapes undone: `<http://gpu-07|gpu-07>` -> `gpu-07`, `<@U1|bo>` -> `<@U1>`, `&amp;` -> `&`. Marks of code go,
 * since commands are copied with them, and a star that was copied from an answer of ours is a star.
 */
function plainText(text: string): string {
  return (
    text
      .replaceAll('`', '')
      // Our own sentences write a star this way, so that it makes nothing bold.
      .replaceAll('∗', '*')
      .replaceAll(/<([^<>]*)>/g, (_whole, inside: string) => unlinked(inside))
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      // Last, so that "&amp;lt;" stays the four characters that were typed.
      .replaceAll('&amp;', '&')
  );
}

function unlinked(inside: string): string {
  const [target = '', label] = inside.split('|');
  if (/^[@#!]/.test(target)) return `<${target}>`;
  if (label !== undefined) return label;
  return target.replace(/^(https?:\/\/|mailto:|tel:)/, '').replace(/\/$/, '');
}
