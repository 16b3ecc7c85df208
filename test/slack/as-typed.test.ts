/** Commands as people type and paste them, through a real Bolt: read as they were meant, or asked back in private. */
import {describe, expect, it} from 'vitest';
import {requestOf} from '../../src/domain/run-state.ts';
import {HOST, startRig} from './rig.ts';

const ANSWERED: readonly (readonly [string, RegExp])[] = [
  [`/gpu kill ${HOST}`, /"kill" is no command; did you mean "reclaim"\?/],
  [`/gpu free ${HOST}`, /did you mean "reclaim"\?/],
  [`/gpu ${HOST}`, /did you mean "status gpu-07" or "diagnose gpu-07"/],
  ['/gpu reclaim all', /reclaim needs a host/],
  [`/gpu reclaim ${HOST} because prod is down dryrnu`, /did you mean "dry-run"/],
  [`/gpu reclaim ${HOST} user=<@U0NOBODY|x>`, /no uid for this person/],
  [`/gpu reclaim ${HOST} ${'x'.repeat(10_000)}`, /10,0\d\d characters.*nothing of it was done/],
  ['/gpu status gpu-0*', /gpu-07/],
  ['/gpu status gpu-9*', /is not in the hosts file; did you mean "gpu-07"/],
  [
    '/gpu help reclaim',
    /grace=30s[\s\S]*left out: 30 s[\s\S]*You may run it here; the go for its plan is for\s+approvers/,
  ],
  ['/gpu reclaim --help', /gpus=0-3[\s\S]*Try: `\/gpu reclaim gpu-07 match=vllm`/],
  ['/gpu help resume', /Only approvers may run it/],
  ['/gpu start', /is for the terminal/],
  ['/gpu show', /Which run\?/],
];

describe('a command as it is typed', () => {
  it('opens the plan that was meant, whatever the phone made of it', async () => {
    const rig = await startRig();
    const {slack} = rig;
    await slack.type(
      slack.users.requester,
      `/gpu reclaim on <http://${HOST}|${HOST}> gpus 0–1, 2 match = “vllm” grace 90 sec because prod is down —dry-run`,
    );
    await slack.nextPost((message) => message.text.includes(HOST));
    const runs = await rig.engine.recent(1);
    const run = runs.ok ? runs.value[0] : undefined;
    expect(run === undefined ? null : requestOf(run)).toMatchObject({
      host: HOST,
      gpus: [0, 1, 2],
      match: 'vllm',
      graceMs: 90_000,
      reason: 'prod is down',
      dryRun: true,
    });
  });

  it('that is none is answered in private, and opens nothing', async () => {
    const rig = await startRig();
    const told: string[] = [];
    for (const [text] of ANSWERED) {
      await rig.slack.type(rig.slack.users.stranger, text);
      told.push((await rig.slack.nextEphemeral()).text);
    }
    for (const [nth, [text, expected]] of ANSWERED.entries()) expect(told[nth], text).toMatch(expected);
    expect(await rig.slack.messages()).toEqual([]);
    expect(rig.fatal).toEqual([]);
  });
});
