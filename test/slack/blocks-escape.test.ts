import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {code, cutMrkdwn, mrkdwn, plain} from '../../src/slack/escape.ts';
import {lengthOf} from '../../src/slack/limits.ts';
import {BROADCAST, hostile, INVISIBLE} from './blocks-hostile-text.ts';

describe('hostile text in mrkdwn', () => {
  it.each([
    ['calls no channel', '<!channel> hi', '&lt;!channel&gt; hi'],
    ['calls nobody by a bare name', 'ask @here, @channel and @everyone', 'ask ＠here, ＠channel and ＠everyone'],
    ['calls nobody by a name before a mark', '@channel_ @here_x', '＠channelˍ ＠here_x'],
    ['mentions nobody', '<@U0EVIL>', '&lt;@U0EVIL&gt;'],
    ['links nowhere', '<http://evil.example|the docs>', '&lt;http:⁄⁄evil.example|the docs&gt;'],
    ['keeps its entities as they were typed', '&amp; &', '&amp;amp; &amp;'],
    ['opens no code', '```rm``` `x`', 'ˋˋˋrmˋˋˋ ˋxˋ'],
    ['is not bold, italic or struck', '*a* _b_ ~c~', '∗a∗ ˍbˍ ∼c∼'],
    ['keeps marks inside of words', 'known_hosts 2*3 VLLM::Worker_TP0', 'known_hosts 2*3 VLLM::Worker_TP0'],
    ['keeps a home folder and an amount', '~/.ssh/config, ~378 GiB', '~/.ssh/config, ~378 GiB'],
    ['is one line of visible characters', 'a\nb\u0007c\u202ed\u200be', 'a b c d e'],
    ['gives no secret away', 'serve --api-key abcdef', 'serve --api-key [redacted]'],
  ])('%s', (_what, text, shown) => {
    expect(mrkdwn(text)).toBe(shown);
  });

  it('is cut by characters, with a mark', () => {
    expect(mrkdwn('😀'.repeat(20), 5)).toBe('😀😀😀😀…');
  });
});

describe('hostile text in code', () => {
  it.each([
    ['closes no fence', 'a```b', 'aˋˋˋb'],
    ['keeps what code shows as it stands', '*a* _b_', '*a* _b_'],
    ['escapes what Slack reads in code too', '<!here> & <b>', '&lt;!here&gt; &amp; &lt;b&gt;'],
  ])('%s', (_what, text, shown) => {
    expect(code(text)).toBe(shown);
  });
});

describe('hostile text in plain text', () => {
  it('has no angle brackets, since entities may be shown there as they stand', () => {
    expect(plain('<!channel> @here & co')).toBe('‹!channel› ＠here & co');
  });
});

describe('mrkdwn that is too long', () => {
  it.each([
    ['inside of an entity', `${'a'.repeat(80)}&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;`, 100],
    ['inside of a mention', `${'a'.repeat(78)}<@U0ANNA0000000000000000000000>`, 100],
    ['inside of a code block', `\`\`\`\n${'a'.repeat(200)}\n\`\`\``, 100],
    ['inside of the closing fence', `\`\`\`\n${'a'.repeat(80)}\n\`\`\`${'b'.repeat(40)}`, 100],
    ['inside of inline code', `${'a'.repeat(60)} \`${'b'.repeat(80)}\``, 100],
  ])('is cut before and not %s', (_where, text, limit) => {
    const cut = cutMrkdwn(text, limit);
    expect(lengthOf(cut)).toBeLessThanOrEqual(limit);
    expect(cut).toMatch(/\(truncated\)$/);
    expect(cut).not.toMatch(/&[a-z]*(?![a-z;])/);
    expect((cut.match(/</g) ?? []).length).toBe((cut.match(/>/g) ?? []).length);
    expect((cut.match(/`/g) ?? []).length % 2).toBe(0);
  });

  it('stays as it is at the limit', () => {
    expect(cutMrkdwn('a'.repeat(100), 100)).toBe('a'.repeat(100));
  });
});

it('lets nothing of any text become markup', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      for (const shown of [mrkdwn(text), code(text)]) {
        expect(shown).not.toMatch(/[<>`]/);
        expect(shown).not.toMatch(/&(?!amp;|lt;|gt;)/);
        expect(shown).not.toMatch(INVISIBLE);
      }
      expect(mrkdwn(text)).not.toMatch(BROADCAST);
      expect(mrkdwn(text)).not.toContain('://');
      expect(plain(text)).not.toMatch(/[<>]/);
      expect(plain(text)).not.toMatch(BROADCAST);
      expect(lengthOf(plain(text))).toBeLessThanOrEqual(75);
    }),
  );
});
