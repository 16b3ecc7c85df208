/**
 * The same campaign on the page, by somebody at a browser: start and stop are typed, the report is read in its thread, each
 * command that stands there is run as it stands, what is left is given back by its button, and the next report is clean.
 */
import type {Locator, Page} from 'playwright-core';
import type {Lab} from '../lab/lab.ts';
import type {LabProcess} from '../lab/process-tree.ts';
import type {SlackPerson} from '../slack/cast.ts';
import type {LocalSlack} from '../slack/local-slack.ts';
import {CHANGES, commandsIn, measureOn, smiOn} from './campaign-host.ts';

export interface PageStage {
  readonly lab: Lab;
  readonly slack: LocalSlack;
  readonly page: Page;
  readonly host: string;
  /** Somebody else's work, outside the campaign's GPUs. */
  readonly neighbour: LabProcess;
  readonly say: (...lines: readonly string[]) => void;
  readonly show: (processes: readonly LabProcess[], user: string) => void;
}

const PATIENCE = {timeout: 40_000};

/** Each broken promise as a sentence. */
export async function playCampaignOnPage(stage: PageStage): Promise<readonly string[]> {
  const {lab, slack, page, host, say} = stage;
  const broken: string[] = [];
  const promise = (kept: boolean, otherwise: string): void => {
    if (!kept) broken.push(otherwise);
  };
  const type = async (command: string): Promise<void> => {
    say('', `${slack.users.requester.name} types: ${command}`);
    await page.getByLabel('Message or command').fill(command);
    await page.keyboard.press('Enter');
  };
  const thread = page.locator('#thread-log');
  const reports = thread.locator('.message').filter({hasText: 'profile report'});

  await type(`/gpu profile start ${host} "nsys sweep" gpus=0-6 out=${lab.folder}/run/traces until=2h`);
  const card = page.locator('#log .message').filter({hasText: 'nsys sweep'}).first();
  await card.waitFor(PATIENCE);
  const id = /\b(c[0-9a-f]{5})\b/.exec((await card.textContent()) ?? '')?.[1] ?? '';
  promise(id !== '', 'the card does not name its campaign');

  const left = await measureOn(lab, say, promise);
  stage.show([left.profiler, left.workload], 'root');

  await type(`/gpu profile stop ${id}`);
  await card.locator('.replies strong').waitFor(PATIENCE);
  await card.locator('.replies').click();
  await reports.first().waitFor(PATIENCE);
  const report = await wordsOf(reports.first());
  say('', 'The report in its thread:', report);
  promise(report.includes(`PID ${left.profiler.pid} `), 'the profiler is not named');
  promise(report.includes('sweep.nsys-rep'), 'the report file is not named');
  promise(!report.includes(`PID ${left.workload.pid} `), 'the workload is named, and it has ended');
  promise(!report.includes(`PID ${stage.neighbour.pid} `), 'a neighbour outside the campaign is named');
  promise(left.shared === null || report.includes(`/dev/shm/${left.shared}`), 'the shared memory is not named');
  const commands = commandsIn(report);
  for (const {change, back} of CHANGES)
    promise(
      commands.some((command) => command.endsWith(` ${back}`)),
      `no command sets back ${change}`,
    );

  say('', 'Each command that stands there, as it stands:');
  for (const command of commands) {
    const done = await smiOn(lab, command);
    say(`  ${command}: ${done.stdout.split('\n')[0] ?? ''} [exit ${done.code}]`);
    promise(done.code === 0, `${command} ended with ${done.code}`);
  }
  await giveBack(stage);

  await type(`/gpu profile report ${id}`);
  const clean = thread.getByText('as at the start, nothing differs').first();
  await clean.waitFor(PATIENCE).catch(async () => {
    promise(false, 'the next report still shows a difference');
    say(await wordsOf(reports.last()));
  });
  say('', `The report after it: ${await clean.textContent().catch(() => 'none')}`);
  promise(await lab.alive(stage.neighbour.pid), 'the neighbour is dead');
  return broken;
}

/** The button beside what is left opens a card; that card gets its go from another person. */
async function giveBack({lab, slack, page, host, say}: PageStage): Promise<void> {
  const be = (person: SlackPerson) => page.locator('#people').getByText(person.name).click();
  say('', 'Its button "Propose reclaim" opens a card, and an approver gives the go.');
  await page.locator('#thread-log button', {hasText: 'Propose'}).first().click();
  const waiting = page.locator('#log .message').filter({hasText: `Waiting for a go`}).last();
  await waiting.waitFor(PATIENCE);
  await be(slack.users.approver);
  await waiting.locator('button.danger').click();
  await page.locator('#confirm-yes').click();
  const over = page
    .locator('#log .message')
    .filter({hasText: /reclaimed/})
    .filter({hasText: host});
  await over.first().waitFor(PATIENCE);
  say(await wordsOf(over.first()));
  await be(slack.users.requester);
  const used = await lab.ledger();
  say(`GPU 2 holds ${used[2]} MiB now.`);
}

/** Block by block, as somebody copies it: a line of fixed text stays a line. */
async function wordsOf(message: Locator): Promise<string> {
  return (await message.locator('.block').allTextContents()).join('\n');
}
