import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {redactText, redactWords} from '../../src/domain/redact.ts';

const GONE = '[redacted]';

describe('the words of a command line', () => {
  it.each([
    [
      ['--api-key', 'abc'],
      ['--api-key', GONE],
    ],
    [['--api-key=abc'], [`--api-key=${GONE}`]],
    [
      ['--hf-token', 'abc', '--port', '80'],
      ['--hf-token', GONE, '--port', '80'],
    ],
    [
      ['-password', 'abc'],
      ['-password', GONE],
    ],
    [
      ['--auth', 'me:pw'],
      ['--auth', GONE],
    ],
    [
      ['--apiKey', 'abc'],
      ['--apiKey', GONE],
    ],
    [['OPENAI_API_KEY=abc'], [`OPENAI_API_KEY=${GONE}`]],
    [['AWS_SECRET_ACCESS_KEY=a/b+c'], [`AWS_SECRET_ACCESS_KEY=${GONE}`]],
    [['DB_PASSWORD="a b"'], [`DB_PASSWORD=${GONE}`]],
    [['{"api_key": "abc", "port": 1}'], [`{"api_key": ${GONE}, "port": 1}`]],
    [
      ['--env', 'HF_TOKEN=abc'],
      ['--env', `HF_TOKEN=${GONE}`],
    ],
    [
      ['sh', '-c', 'serve --token abc --port 80'],
      ['sh', '-c', `serve --token ${GONE} --port 80`],
    ],
    [
      ['-H', 'Authorization: Bearer abcdefgh'],
      ['-H', `Authorization: Bearer ${GONE}`],
    ],
    [['https://me:pw@host/x?token=abc&n=1'], [`https://${GONE}@host/x?token=${GONE}&n=1`]],
    [['hf_abcdefghij'], [GONE]],
    [['sk-proj-abcdefgh'], [GONE]],
    [['x=xoxb-1234-abcdef'], [`x=${GONE}`]],
    [['AKIAABCDEFGHIJKLMNOP'], [GONE]],
    [['ghp_abcdefghij'], [GONE]],
    [['eyJhbGciOi.eyJzdWIiOi.abc_def'], [GONE]],
  ])('%j become %j', (words, safe) => expect(redactWords(words)).toEqual(safe));

  it.each([
    [['python3', '-m', 'vllm.entrypoints.api_server', '--model', '/m/llama', '--tensor-parallel-size', '4']],
    [['--max-tokens', '512', '--tokenizer', 'llama', '--max-num-batched-tokens=8192']],
    [['--key-prefix', 'run', '--author', 'bo', '--monkey=1', 'http://host:80/a@b']],
    [['--use-auth', '--port', '80']],
    [['VLLM::Worker_TP3']],
  ])('%j stay as they are', (words) => expect(redactWords(words)).toEqual(words));
});

it('does not change what it has already made safe', () => {
  const text = fc.array(
    fc.constantFrom(
      '--token',
      ' ',
      '=',
      'abc',
      'hf_abcdefgh',
      'API_KEY',
      ':',
      '"',
      'https://a:b@c',
      'Bearer ',
      'abcdefg',
      '\n',
    ),
    {maxLength: 12},
  );
  fc.assert(
    fc.property(text, (parts) => {
      const once = redactText(parts.join(''));
      expect(redactText(once)).toBe(once);
    }),
  );
});

describe('a title made to be slow', () => {
  // Cubic patterns needed minutes for these; linear ones need a millisecond. The bound is wide on purpose.
  it.each(['a', 'a.', 'a-', '"', 'key', 'eyJ'])('of 4 KB of %s is read at once', (piece) => {
    const title = piece.repeat(Math.ceil(4_096 / piece.length));
    const startedMs = performance.now();
    redactWords([title, title]);
    redactText(title);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });
});
