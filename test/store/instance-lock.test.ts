import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {takeInstanceLock} from '../../src/store/instance-lock.ts';

describe('the lock of one bot a store', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'instance-lock-'));
  });
  afterEach(() => rmSync(folder, {recursive: true, force: true}));

  it('is refused to a second bot, and had again once the first has let go', async () => {
    const path = join(folder, 'runs.db');
    const first = await takeInstanceLock(path);
    expect(await takeInstanceLock(path)).toEqual({ok: false, failure: {reason: 'store-in-use', path}});
    if (first.ok) first.value.release();
    const again = await takeInstanceLock(path);
    expect(again.ok).toBe(true);
    if (again.ok) again.value.release();
  });

  it('is freed by kill -9', async () => {
    const path = join(folder, 'runs.db');
    const module = new URL('../../src/store/instance-lock.ts', import.meta.url).href;
    const program = `const {takeInstanceLock} = await import(${JSON.stringify(module)}); const l = await takeInstanceLock(${JSON.stringify(path)}); console.log(l.ok); setInterval(() => l, 1000);`;
    const bot = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(bot.stdout, 'data')) as [Buffer];
    expect(said.toString().trim()).toBe('true');
    expect((await takeInstanceLock(path)).ok).toBe(false);
    bot.kill('SIGKILL');
    await once(bot, 'close');
    const mine = await takeInstanceLock(path);
    expect(mine.ok).toBe(true);
    if (mine.ok) mine.value.release();
  });

  it('says that its folder is missing', async () => {
    const answer = await takeInstanceLock(join(folder, 'absent', 'runs.db'));
    expect(answer).toMatchObject({ok: false, failure: {reason: 'store-unwritable'}});
  });
});
