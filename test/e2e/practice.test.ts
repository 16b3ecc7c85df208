/** A drill as newcomers make it: the practice host as its own program, its entry in a hosts file, and nobody an approver. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, expect, it} from 'vitest';
import {parse} from 'yaml';
import type {Lab} from '../../src/playground/lab/lab.ts';
import {freePort} from '../../src/playground/lab/machine.ts';
import {startLocalSlack} from '../../src/playground/slack/local-slack.ts';
import {LAB_POLICY, makeBot} from '../../src/playground/story/bot.ts';
import {makeSlackBot, slackEnv} from '../../src/playground/story/slack-bot.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

let folder = '';
beforeAll(() => {
  // Not below a home: holders of other users must be able to enter it.
  folder = mkdtempSync('/var/tmp/gpu-reclaim-drill-');
});
afterAll(() => rmSync(folder, {recursive: true, force: true}));

/** Starts the program, and resolves with the entry that it prints. */
async function practiceHost(port: number) {
  const words = ['--import', 'tsx', 'src/playground/practice.ts', '--port', String(port), '--folder', folder];
  const child = spawn(process.execPath, words, {cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit']});
  let said = '';
  await new Promise<void>((resolve) => {
    child.once('exit', resolve);
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('Ctrl-C')) resolve();
    });
  });
  const [, text = ''] = /\n( {2}practice-1:\n(?: {4}.*\n)+)/.exec(said) ?? [];
  const entry = (parse(text) as {readonly 'practice-1': ReturnType<Lab['hostsEntry']>})['practice-1'];
  return {
    entry,
    text,
    stop: async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

it('anybody asks and gives the go on the practice host, and every card says that it is a drill', {
  timeout: 90_000,
}, async () => {
  const port = await freePort();
  const practice = await practiceHost(port);
  const slack = await startLocalSlack({});
  const policy = {...LAB_POLICY, approvers: []};
  const lab = {hostsEntry: () => practice.entry} as unknown as Lab;
  const bot = makeBot({'practice-1': lab}, policy, {env: slackEnv(slack), owner: slack.users.approver.id});
  const slackBot = makeSlackBot(bot, slack);
  try {
    await slackBot.start();
    const {stranger} = slack.users;
    await slack.type(stranger, '/gpu reclaim practice-1 match=vllm');
    const waiting = await slack.nextUpdate((card) => card.text.includes('Waiting for a go'), {withinMs: 20_000});
    expect(waiting.text).toContain('⏳ PRACTICE · Waiting for a go');
    expect(waiting.text).toContain('Practice: press it yourself');
    await slack.click(stranger, waiting.ts, 'go_terminate_then_kill');
    const over = await slack.nextUpdate((card) => card.text.includes('reclaimed'), {withinMs: 40_000});
    expect(over.text).toMatch(/✅ PRACTICE · practice-1: reclaimed \d+ GiB \([\d,]+ MiB\), 6 of 8 free/);
    const report = await slack.nextReply((reply) => reply.text.includes('GPUs free now'), {withinMs: 10_000});
    expect(report.text).toContain('PRACTICE');
  } finally {
    await slackBot.stop();
    await slack.close();
    bot.remove();
    await practice.stop();
  }
  // Found again under the same entry: nobody edits a hosts file for the next drill.
  const again = await practiceHost(port);
  await again.stop();
  expect(again.text).toBe(practice.text);
});
