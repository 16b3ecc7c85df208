/** What `gpu-reclaim start` needs of the environment: all mistakes at once, no token ever repeated. */
import {describe, expect, test} from 'vitest';
import {readSlackSettings} from '../../src/config/slack-env.ts';

const RIGHT = {SLACK_BOT_TOKEN: 'xoxb-1-a', SLACK_APP_TOKEN: 'xapp-1-a', SLACK_CHANNEL: 'C0123456789'};

function mistakesOf(env: Readonly<Record<string, string>>): readonly string[] {
  return readSlackSettings(env).mistakes.map(({at, problem}) => `${at.join('.')} ${problem}`);
}

describe("Slack's part of the environment", () => {
  test('reads, with channels in their order', () => {
    const read = readSlackSettings({...RIGHT, SLACK_CHANNEL: 'C0123456789, G0AB', GPU_RECLAIM_HEALTH_PORT: '8080'});
    expect(read.mistakes).toEqual([]);
    expect(read.value).toMatchObject({channels: ['C0123456789', 'G0AB'], apiUrl: null, healthPort: 8080});
    expect(read.value.botToken.reveal()).toBe('xoxb-1-a');
    expect(JSON.stringify(read.value)).not.toContain('xoxb');
  });

  test('names everything that is missing at once', () => {
    expect(mistakesOf({}).map((line) => line.split(' ')[0])).toEqual([
      'SLACK_BOT_TOKEN',
      'SLACK_APP_TOKEN',
      'SLACK_CHANNEL',
    ]);
  });

  test('tells swapped tokens without repeating them', () => {
    const swapped = {...RIGHT, SLACK_BOT_TOKEN: 'xapp-9-secret', SLACK_APP_TOKEN: 'xoxb-9-secret'};
    expect(mistakesOf(swapped)).toEqual([
      'SLACK_BOT_TOKEN does not begin with xoxb-',
      'SLACK_APP_TOKEN does not begin with xapp-',
    ]);
  });

  test.each(['#gpu-ops', 'gpu-ops', 'C012,@anna'])('%s is no channel id', (SLACK_CHANNEL) => {
    expect(mistakesOf({...RIGHT, SLACK_CHANNEL})).toHaveLength(1);
  });

  test.each([
    ['https://slack.example/api/', 0],
    ['http://127.0.0.1:3000/api/', 0],
    ['http://localhost:3000/api/', 0],
    ['http://[::1]:3000/api/', 0],
    ['http://slack.example/api/', 1],
    ['http://127.0.0.1.evil.example/api/', 1],
    ['file:///tmp/x', 1],
    ['nonsense', 1],
  ])('SLACK_API_URL=%s costs %i mistakes', (SLACK_API_URL, count) => {
    expect(mistakesOf({...RIGHT, SLACK_API_URL})).toHaveLength(count);
  });

  test.each(['0', '70000', 'x', '-1'])('%s is no port', (GPU_RECLAIM_HEALTH_PORT) => {
    expect(mistakesOf({...RIGHT, GPU_RECLAIM_HEALTH_PORT})).toHaveLength(1);
  });
});
