/** `gpu-reclaim start` as a process: how it begins, what ends it, and with which status. */
import {type ChildProcess, spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {programFile} from '../../src/playground/program.ts';
import {type LocalSlack, startLocalSlack} from '../../src/playground/slack/local-slack.ts';

interface Program {
  readonly child: ChildProcess;
  readonly ended: Promise<{readonly code: number | null; readonly out: string; readonly err: string}>;
}

async function workspace(): Promise<{readonly slack: LocalSlack; start(env?: Record<string, string>): Program}> {
  const slack = await startLocalSlack();
  const folder = mkdtempSync(join(tmpdir(), 'gpu-reclaim-start-'));
  onTestFinished(async () => {
    await slack.close();
    rmSync(folder, {recursive: true, force: true});
  });
  const knownHosts = join(folder, 'known_hosts');
  writeFileSync(knownHosts, '');
  writeFileSync(
    join(folder, 'hosts.yaml'),
    JSON.stringify({hosts: {'gpu-07': {address: '127.0.0.1', port: 1, user: 'bot', look: {agent: {}}, knownHosts}}}),
  );
  const start = (env: Record<string, string> = {}): Program => {
    const child = spawn(process.execPath, [programFile(), 'start'], {
      env: {
        ...process.env,
        SSH_AUTH_SOCK: join(folder, 'agent'),
        GPU_RECLAIM_HOSTS: join(folder, 'hosts.yaml'),
        GPU_RECLAIM_DB: join(folder, 'runs.db'),
        SLACK_BOT_TOKEN: slack.botToken,
        SLACK_APP_TOKEN: slack.appToken,
        SLACK_CHANNEL: slack.channel.id,
        SLACK_API_URL: slack.apiUrl,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let err = '';
    let out = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    const ended = new Promise<{code: number | null; out: string; err: string}>((resolve) => {
      child.once('close', (code) => resolve({code, out, err}));
    });
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    return {child, ended};
  };
  return {slack, start};
}

describe('gpu-reclaim start', () => {
  it('answers commands and its health, keeps a second bot from its store, and ends at SIGTERM', async () => {
    const {slack, start} = await workspace();
    const port = await freePort();
    const bot = start({GPU_RECLAIM_HEALTH_PORT: String(port)});
    await connected(slack);
    await slack.type(slack.users.stranger, '/gpu hosts');
    expect((await slack.nextEphemeral()).text).toContain('gpu-07');
    expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).json()).toMatchObject({ok: true, socketDownMs: 0});

    const second = await start().ended;
    expect(second.code).toBe(7);
    expect(second.err).toMatch(/Another bot runs on the store/);

    bot.child.kill('SIGTERM');
    expect(await bot.ended).toEqual({code: 0, err: '', out: expect.stringMatching(/^Connected to Slack: .*\n$/)});
  });

  it('waits for a Slack that is down, and begins when it is back', async () => {
    const {slack, start} = await workspace();
    const clear = slack.setFault({
      kind: 'http-error',
      method: 'auth.test',
      status: 503,
      times: Number.POSITIVE_INFINITY,
    });
    start();
    await expect
      .poll(() => slack.calls.filter(({method}) => method === 'auth.test').length, {timeout: 15_000})
      .toBeGreaterThan(3);
    clear();
    await connected(slack);
  });

  it.each(['auth.test', 'apps.connections.open'])(
    'ends with one line and status 2 when %s says invalid_auth',
    async (method) => {
      const {slack, start} = await workspace();
      slack.setFault({kind: 'refuse', method, error: 'invalid_auth', times: Number.POSITIVE_INFINITY});
      const {code, err} = await start({GPU_RECLAIM_LOG_LEVEL: 'silent'}).ended;
      expect(code).toBe(2);
      expect(err.trim().split('\n')).toHaveLength(1);
      expect(err).toContain('invalid_auth');
    },
  );

  it('names all that its environment lacks, with status 2', async () => {
    const {start} = await workspace();
    const {code, err} = await start({SLACK_BOT_TOKEN: '', SLACK_CHANNEL: '#gpu', SLACK_API_URL: 'http://slack.example'})
      .ended;
    expect(code).toBe(2);
    expect(err).toMatch(/SLACK_BOT_TOKEN[\s\S]*SLACK_CHANNEL[\s\S]*SLACK_API_URL/);
  });
});

/** Loading the whole program through tsx takes seconds on a busy machine. */
async function connected(slack: LocalSlack): Promise<void> {
  await expect.poll(() => slack.connected(), {timeout: 25_000}).toBe(1);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
