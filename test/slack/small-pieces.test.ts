import {describe, expect, it} from 'vitest';
import {runId} from '../../src/domain/run.ts';
import {boltLogger} from '../../src/slack/bolt-logger.ts';
import {readMetadata, writeMetadata} from '../../src/slack/form-metadata.ts';
import {serveHealth} from '../../src/slack/health.ts';
import {commandOf} from '../../src/slack/mentions.ts';
import {aRequest} from '../doubles/build.ts';

describe('the logger for Bolt', () => {
  it('joins its parts, drops debug with its payloads, and never prints a token', () => {
    const lines: string[] = [];
    const note = (_fields: unknown, message: string): void => void lines.push(message);
    const logger = boltLogger({info: note, warn: note, error: note});
    logger.debug('payload', {text: 'private words'});
    logger.warn('failed for', new Error('xoxb-123-abc refused'), {url: 'wss://x/?ticket=secret&y=1', app: 'xapp-1-A'});
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('refused');
    expect(lines.join()).not.toMatch(/private words|xoxb-123|xapp-1|ticket=secret/);
  });
});

describe('what travels through a form', () => {
  const metadata = {runId: runId('0123456789ab'), digest: '9f2c', channel: 'C1', choice: 'terminate-only'} as const;

  it('comes back as it was', () => {
    expect(readMetadata(writeMetadata(metadata))).toEqual(metadata);
  });

  it.each(['', '{}', 'null', '{"run":"x"}', writeMetadata(metadata).replace('"C1"', '"<!channel>"')])(
    'is nothing if it is %s',
    (text) => {
      expect(readMetadata(text)).toBeNull();
    },
  );
});

describe('the request on a card', () => {
  it.each([
    [{}, 'gpu-reclaim reclaim gpu-07'],
    [
      {gpus: [0, 1, 2, 5], match: 'vllm', graceMs: 90_000, reason: 'prod "now"'},
      'gpu-reclaim reclaim gpu-07 gpus=0-2,5 match=vllm grace=90s reason="prod \'now\'"',
    ],
    [
      {user: 'bo', pids: [1, 2], includeOthers: true, dryRun: true, graceMs: 500},
      'gpu-reclaim reclaim gpu-07 user=bo pid=1,2 include-others grace=500ms dry-run',
    ],
    [{requester: {kind: 'slack-user', id: 'U1', team: 'T1', groups: []}}, '/gpu reclaim gpu-07'],
  ] as const)('can be typed again %#', (change, text) => {
    expect(commandOf(aRequest(change), '/gpu')).toBe(text);
  });
});

describe('/healthz', () => {
  it('is 200 while Slack hears us and 503 when not, on loopback only', async () => {
    let ok = true;
    const health = {socketDownMs: 0, lastEventAgoMs: null, lastApiOkAgoMs: 5};
    const server = await serveHealth(0, () => ({...health, ok}));
    try {
      const ask = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);
      const good = await ask('/healthz');
      expect([good.status, await good.json()]).toEqual([200, {...health, ok: true}]);
      ok = false;
      expect((await ask('/healthz')).status).toBe(503);
      expect((await ask('/else')).status).toBe(404);
    } finally {
      server.close();
    }
  });
});
