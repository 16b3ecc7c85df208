/** Text as a process, a host or a person might write it to fool a card, and what must be true of every card after it. */
import fc from 'fast-check';
import {expect} from 'vitest';
import {type Message, twinOf} from '../../src/slack/blocks/message.ts';
import {checkBlocks} from '../../src/slack/check-blocks.ts';

export const INVISIBLE =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u;
export const BROADCAST = /@(here|channel|everyone|group)\b/i;

const PIECES = [
  ...[
    '<!channel>',
    '<!here|x>',
    '<@U0EVIL>',
    '<http://evil.example|docs>',
    'https://evil.example',
    '@here',
    '@channel',
  ],
  ...['```', '`', '*bold*', '_it_', '~no~', '&', '&lt;', '&amp;', '<', '>', '>quote', ':skull:', '|', '"', '{date}'],
  ...['\n', '\t', '\u0000', '\u001b[31m', '\u202e', '\u2066', '\u200b', '\ufeff', '😀', 'e\u0301', 'ﷺ', '\ud800'],
  ...['slack:U0EVIL', '@U0EVIL', '@S0EVIL', '<!subteam^S0EVIL>', '<!date^1^{time}|x>', 'gpu-reclaim show', ' '],
  ...[
    'VLLM::Worker_TP3',
    'train.py',
    '7',
    'x'.repeat(120),
    '<'.repeat(90),
    '`'.repeat(90),
    '&'.repeat(300),
    'y'.repeat(10_000),
  ],
];

export const hostile = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({maxLength: 8})), {maxLength: 8})
  .map((parts) => parts.join(''));

/** What our own code writes in angle brackets: dates, the people of the run, and the bot's own channel. */
const OURS =
  /<!date\^\d+\^(\{date_short\} )?\{time_secs\}\|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC>|<@U0(ANNA|BOB)>|<!subteam\^S0ONCALL>|<#C0GPU>/g;

/** Slack would take it, its twin holds all of its blocks, and no text of others became markup. */
export function expectSafe(message: Message): void {
  expect(checkBlocks(message)).toEqual([]);
  for (const text of [message.text, ...stringsIn(message.blocks)]) {
    const rest = text.replaceAll(OURS, '');
    expect(rest).not.toMatch(/[<>]/);
    expect(rest).not.toMatch(INVISIBLE);
    expect(rest).not.toMatch(/\p{Surrogate}/u);
    expect((text.match(/```/g) ?? []).length % 2).toBe(0);
  }
  for (const text of [message.text, ...mrkdwnIn(message.blocks)]) expect(text).not.toMatch(/&(?!amp;|lt;|gt;)/);
  for (const text of mrkdwnIn(message.blocks)) {
    expect(text.replaceAll(/```[\s\S]*?```|`[^`]*`/g, '')).not.toMatch(BROADCAST);
  }
  const twin = message.text.split('\n');
  for (const line of twinOf(message.blocks).split('\n')) if (!line.includes('(truncated')) expect(twin).toContain(line);
}

export function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

export function mrkdwnIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(mrkdwnIn);
  if (typeof value !== 'object' || value === null) return [];
  const own = 'type' in value && value.type === 'mrkdwn' && 'text' in value ? [String(value.text)] : [];
  return [...own, ...Object.values(value).flatMap(mrkdwnIn)];
}

/** Lines of monospace text in a message: what a phone must not have to scroll. */
export function codeLinesIn(message: Message): readonly string[] {
  return mrkdwnIn(message.blocks)
    .flatMap((text) => [...text.matchAll(/```\n([\s\S]*?)\n```/g)].map((match) => match[1] ?? ''))
    .flatMap((block) => block.split('\n'))
    .map((line) => line.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'));
}

/** What is to be read in blocks, whatever their kind: every text, and what a picture says. */
function visible(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(visible);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'confirm' || key === 'accessibility_label') return [];
    return (key === 'text' || key === 'alt_text') && typeof inner === 'string' ? [inner] : visible(inner);
  });
}

/** Numbers, names, times and people: whatever stands between blanks and marks. */
function factsIn(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.match(/<[^<>]+>|[\p{L}\p{N}][\p{L}\p{N}.,:_/+-]*/gu) ?? []);
}

/** Every fact of the blocks is in the text, by this file's own reading of both; for text that nobody made to be neutralised. */
export function expectTwin(message: Message): void {
  const twin = factsIn([message.text]);
  for (const fact of factsIn(visible(message.blocks))) expect(twin).toContain(fact);
}
