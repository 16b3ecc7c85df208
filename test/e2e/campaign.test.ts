/** A campaign by the built program on a lab host: what is left is named, each printed command is run, and nothing differs. */
import {afterAll, expect, test} from 'vitest';
import {playCampaign} from '../../src/playground/story/campaign.ts';
import {makeBench, startSoundLab} from './bench.ts';

const HOST = 'gpu-07';

const lab = await startSoundLab(HOST, 8);
const bench = makeBench({[HOST]: lab});
afterAll(async () => {
  await lab.stop();
  bench.remove();
});

test('a campaign ends with nothing of it left', async () => {
  const said: string[] = [];
  const broken = await playCampaign({
    lab,
    bot: bench,
    host: HOST,
    slack: null,
    say: (...lines) => void said.push(...lines),
    show: (command, {out, err, code}) => void said.push(`$ ${command}`, err, out, `[exit ${code}]`),
  });
  expect(broken, said.join('\n')).toEqual([]);
  const {campaigns} = (await bench.json('profile', 'list')) as {campaigns: {state: string; label: string}[]};
  expect(campaigns).toMatchObject([{state: 'ended', label: 'nsys sweep'}]);
});
