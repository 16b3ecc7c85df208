/** Cards and reports of campaigns, and the card of an overriding run, with hostile text in every place that has any. */
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {asHold, type KeptCampaign} from '../../src/domain/campaign.ts';
import {compareHost} from '../../src/domain/campaign-report.ts';
import {figure} from '../../src/domain/snapshot.ts';
import {failureMessage} from '../../src/slack/blocks/answers.ts';
import {campaignReplies, holdCard, holdsMessage} from '../../src/slack/blocks/campaign-message.ts';
import {idleAnswered, idleQuestion, noticeReply} from '../../src/slack/blocks/campaign-notices.ts';
import type {Message} from '../../src/slack/blocks/message.ts';
import {rootCard} from '../../src/slack/blocks/root-card.ts';
import {HOST} from '../doubles/build.ts';
import {aCampaign, aHolder, hostSettings, kept, settingsOf, someFacts} from '../doubles/campaign.ts';
import {expectSafe, hostile} from './blocks-hostile-text.ts';
import {CARD, requested, runOf} from './blocks-runs.ts';

const ENDED = {ended: {by: 'slack:U0BOB', atMs: 9_000, after: []}};

/** Everything that is told without asking. */
function notices(one: KeptCampaign): readonly Message[] {
  const owed = {what: '', dueAtMs: 90_000, late: true, question: {sinceMs: 5, id: '5'}};
  const times = {askMs: 1, keepMs: 7_200_000};
  const over = noticeReply({...owed, kind: 'over', kept: one}, '/gpu', one.campaign.by);
  const ended = {...one, ...ENDED, ended: {...ENDED.ended, by: 'itself'}};
  const itself = noticeReply(
    {...owed, kind: 'ended', kept: {...ended, notes: [{what: 'released', atMs: 1, by: 'reboot'}]}},
    '/gpu',
    one.campaign.by,
  );
  if (over === null || itself === null) throw new Error('nothing is told');
  const asked = idleQuestion({...owed, kind: 'idle', kept: one}, 2_700_005, times, one.campaign.by);
  return [over, itself, asked, idleAnswered('keep', 'slack:U0BOB', 5, 9)];
}

describe('a campaign in Slack', () => {
  it('is safe whatever people, processes and folders are called', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const process = {host: HOST, bootId: 'b', pid: 7, startTicks: '70', title: text};
        const campaign = aCampaign({
          by: 'slack:U0ANNA',
          label: text,
          out: text,
          untilMs: 90_000,
          processes: [process, {...process, pid: 8}],
        });
        const now = someFacts({
          see: {holders: [aHolder(7, {title: text}), aHolder(8, {title: text})]},
          deep: {
            leftovers: [{kind: 'file', name: text, MiB: 1, uid: 0, ageMs: null}],
            xids: [{uptimeMs: 200_000, busId: 'x', code: 79, pid: null, text}],
            mpsControl: 1,
            mpsSeen: true,
          },
          settings: hostSettings([settingsOf(0, {computeMode: text, powerLimitW: figure(300)})], {
            profilers: [{pid: 9, startTicks: '1', name: text, folder: `/${text}`}],
            files: [{path: `/${text}`, MiB: 1, changedAtMs: 5_000}],
            sought: [{folder: `/${text}`, whole: false}],
          }),
        });
        const host = compareHost(campaign, someFacts(), now);
        const done = {kept: {...kept(), campaign, ...ENDED}, report: {campaign, hosts: [host]}};
        for (const message of [
          holdCard({...kept(), campaign}, 5_000, '/gpu'),
          holdCard(done.kept, 5_000, '/gpu'),
          holdsMessage([{...kept(), campaign}, done.kept], 5_000, '/gpu'),
          ...campaignReplies(done, '/gpu'),
          ...notices({...kept(), campaign}),
          failureMessage({reason: 'gpus-held', host: HOST, holds: [asHold(campaign)]}),
        ])
          expectSafe(message);
      }),
      {numRuns: 150},
    );
  });

  it('is within every limit with a thousand leftovers', () => {
    const holders = Array.from({length: 1_000}, (_, at) => aHolder(at + 10, {title: 'x'.repeat(60)}));
    const host = compareHost(aCampaign(), someFacts(), someFacts({see: {holders}}));
    const [message] = campaignReplies(
      {kept: {...kept(), ...ENDED}, report: {campaign: aCampaign(), hosts: [host]}},
      '/gpu',
    );
    if (message === undefined) throw new Error('no reply');
    expectSafe(message);
    expect(message.text).toContain('left behind: 1,000 processes');
    expect(message.text).toContain('more lines');
  });

  it('calls a host unknown that did not answer, and why', () => {
    const failure = {reason: 'host-unreachable', host: 'gpu-07' as never, address: 'a:22', detail: 'no route'} as const;
    const hosts = [{state: 'unseen', host: 'gpu-07' as never, failure}] as const;
    const [message] = campaignReplies({kept: {...kept(), ...ENDED}, report: {campaign: aCampaign(), hosts}}, '/gpu');
    expect(message?.text).toContain('unknown, it could not be looked at');
    expect(message?.text).toContain('no route');
  });
});

describe('the card of a run that overrides a hold', () => {
  const overriding = (label: string | null) =>
    rootCard(
      runOf('looking', {
        ...requested,
        request: {
          ...requested.request,
          override: {why: label ?? 'prod is down', holds: [asHold(aCampaign({by: 'slack:U0BOB', label}))]},
        },
      }),
      CARD,
    );

  it('mentions the holder in its first post, with the reason', () => {
    const {text} = overriding(null);
    expect(text).toContain('⚠ Overrides a hold: its GPUs are held by <@U0BOB> (profile c0a1b2). Why: prod is down');
  });

  it('is safe whatever the hold and the reason are called', () => {
    fc.assert(
      fc.property(hostile, (text) => expectSafe(overriding(text))),
      {numRuns: 150},
    );
  });
});
