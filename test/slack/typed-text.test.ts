import {describe, expect, it} from 'vitest';
import {wordsOf} from '../../src/slack/typed-text.ts';

describe('the text of a command, as phones and Slack deliver it', () => {
  it.each([
    ['reclaim gpu-07 match=vllm', ['reclaim', 'gpu-07', 'match=vllm']],
    ['', []],
    ['   ', []],
    ['reclaim  gpu-07\tmatch=vllm\n', ['reclaim', 'gpu-07', 'match=vllm']],
    ['reclaim gpu-07 reason="two words"', ['reclaim', 'gpu-07', 'reason=two words']],
    ['reclaim gpu-07 reason=“prod at 6”', ['reclaim', 'gpu-07', 'reason=prod at 6']],
    ['reclaim gpu-07 reason=‘prod at 6’', ['reclaim', 'gpu-07', 'reason=prod at 6']],
    ['reclaim gpu-07 reason=«prod at 6»', ['reclaim', 'gpu-07', 'reason=prod at 6']],
    ['reclaim gpu-07 reason="bo\'s run"', ['reclaim', 'gpu-07', "reason=bo's run"]],
    ['reclaim gpu-07 reason=bo’s', ['reclaim', 'gpu-07', "reason=bo's"]],
    ['reclaim gpu-07 reason="never closed', ['reclaim', 'gpu-07', 'reason=never', 'closed']],
    ['reclaim gpu-07 match=""', ['reclaim', 'gpu-07', 'match=']],
    ['reclaim\u00a0gpu-07\u2009match=vllm', ['reclaim', 'gpu-07', 'match=vllm']],
    ['reclaim gpu-07 gpus=0–3', ['reclaim', 'gpu-07', 'gpus=0-3']],
    ['reclaim gpu‑07 —dry-run', ['reclaim', 'gpu-07', '--dry-run']],
    ['reclaim gpu-07 --dry-run', ['reclaim', 'gpu-07', '--dry-run']],
    ['reclaim gpu-07 –dry-run', ['reclaim', 'gpu-07', '--dry-run']],
    ['diagnose <http://gpu-07|gpu-07>', ['diagnose', 'gpu-07']],
    ['diagnose <http://gpu-08.lab.example|gpu-08.lab.example>', ['diagnose', 'gpu-08.lab.example']],
    ['diagnose <http://gpu-08.lab.example/>', ['diagnose', 'gpu-08.lab.example']],
    ['diagnose <mailto:root@gpu-07|root@gpu-07>', ['diagnose', 'root@gpu-07']],
    ['reclaim gpu-07 user=<@U123|bo>', ['reclaim', 'gpu-07', 'user=<@U123>']],
    ['status <#C123|gpu-ops>', ['status', '<#C123>']],
    ['reclaim gpu-07 match=a&amp;b', ['reclaim', 'gpu-07', 'match=a&b']],
    ['reclaim gpu-07 match=&amp;lt;', ['reclaim', 'gpu-07', 'match=&lt;']],
    ['reclaim gpu-07 match=&lt;b&gt;', ['reclaim', 'gpu-07', 'match=<b>']],
    ['status gpu\u200b-07', ['status', 'gpu-07']],
    ['status \u202egpu-07', ['status', 'gpu-07']],
    ['report all cron "0 18 ∗ ∗ 1-5"', ['report', 'all', 'cron', '0 18 * * 1-5']],
    ['reclaim gpu-07 match＝vllm', ['reclaim', 'gpu-07', 'match=vllm']],
  ])('%s', (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  it('of a hundred thousand characters is cut, at once', () => {
    expect(wordsOf('<'.repeat(100_000)).join('').length).toBeLessThanOrEqual(10_000);
    expect(wordsOf(`a ${'"'.repeat(100_000)}`)[0]).toBe('a');
  });
});
