/** The form behind "Choose…" in a real browser, of the production bot: with the mouse, and by keyboard alone. */
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {planOf} from '../../src/domain/run-state.ts';
import {aProcess, aSnapshot, BO_UID, billed} from '../doubles/build.ts';
import {HAS_CHROMIUM, NEEDS, type PageRig, shoot, startPageRig, type} from '../playground/page-rig.ts';
import {HOST, startRig} from './rig.ts';

const worker = (at: number) =>
  aProcess({pid: 501 + at, ppid: 500, comm: `VLLM::Worker_TP${at}`, words: ['python3', '-m', 'vllm.entrypoints']});
const server = aProcess({pid: 500, words: ['python3', '-m', 'vllm.entrypoints']});
const other = (pid: number) => aProcess({pid, uid: BO_UID, words: ['python3', 'train.py']});

/** A server with so many workers, and so many jobs of somebody else. */
function crowd(workers: number, others: number) {
  return aSnapshot(
    [
      billed(server, {0: 20_000}),
      ...Array.from({length: workers}, (_, at) => billed(worker(at), {[at]: 90_000})),
      ...Array.from({length: others}, (_, at) => billed(other(5_000 + at), {[at % 3]: 200})),
    ],
    {used: Array.from({length: 8}, () => 11_000 * workers), takenAtMs: Date.now()},
  );
}

describe.skipIf(!HAS_CHROMIUM)(`the form on the page (${NEEDS})`, () => {
  let browser: PageRig;
  beforeAll(async () => {
    browser = await startPageRig();
  }, 60_000);
  afterAll(() => browser.close());

  it('is read, narrowed by Enter, turned and submitted; what is out of sight stays ticked', {
    timeout: 30_000,
  }, async () => {
    const rig = await startRig({first: crowd(8, 3), fresh: () => crowd(7, 70)});
    const page = await browser.open(rig.slack.url);
    await type(page, `/gpu reclaim ${HOST} match=vllm`);
    await page.locator('#log .message button', {hasText: 'Choose…'}).click();
    const form = page.getByRole('dialog');
    const says = (text: string) => form.getByText(text).first().waitFor();
    await says('1 of 9 targets gone, 67 new holders');
    await shoot(page, 'choose-open');

    const find = form.getByLabel(/name, PID or facts/);
    await find.fill('5012');
    await find.press('Enter');
    await says('78 processes can be chosen, 1 listed');
    await says('Ticked and not listed now: 8');
    // It is still where it was: somebody may go on typing.
    expect(await form.locator('input:focus').inputValue()).toBe('5012');
    await form.getByRole('checkbox', {name: /PID 5012/}).check();
    await shoot(page, 'choose-found');
    await form.getByRole('button', {name: /^Show everybody/}).click();
    await says('Page 1 of 2: 1 to 48.');
    expect(await find.inputValue()).toBe('');
    await shoot(page, 'choose-all');

    // Each has a name of its own that says what it does.
    const next = form.getByRole('button', {name: 'Next: page 2 of 2; ticks are kept'}).first();
    await next.focus();
    await page.keyboard.press('Enter');
    await says('Page 2 of 2: 49 to 78.');
    await says('Ticked on other pages: 9');
    await form.getByRole('button', {name: 'Back to page 1 of 2; ticks are kept'}).first().click();
    await form.getByRole('button', {name: 'Untick all 8 of vLLM of anna'}).click();
    await form.getByRole('button', {name: 'Tick all 8 of vLLM of anna'}).waitFor();
    await form.getByRole('checkbox', {name: /PID 503 /}).check();
    await form.locator('#modal-submit').click();
    await form.waitFor({state: 'hidden'});
    await page.locator('#log .message', {hasText: '5012'}).first().waitFor();
    const [run] = await rig.store.openRuns();
    const pids = run === undefined ? [] : planOf(run)?.plan.targets.map((target) => target.identity.pid);
    expect(pids?.toSorted()).toEqual([5_012, 503].toSorted());
    expect(browser.faults).toEqual([]);
  });
});
