/** App Home through a real Bolt over the local Slack: what stands there, when it moves, and what its buttons and forms do. */
import type {ViewOutput} from '@slack/bolt';
import {describe, expect, it} from 'vitest';
import type {SlackPerson} from '../../src/playground/slack/cast.ts';
import {FIELD} from '../../src/slack/blocks/home-modals.ts';
import {ACTION} from '../../src/slack/ids.ts';
import {lookedAtRig} from './reporting-rig.ts';
import {HOST, type Rig, startRig} from './rig.ts';

/** All that is written on it, and the names of what can be pressed. */
function textOf(view: ViewOutput | null): string {
  return JSON.stringify(view?.blocks ?? []);
}

async function opened({slack}: Rig, person: SlackPerson): Promise<ViewOutput> {
  await slack.openHome(person);
  return slack.nextHome(person);
}

/** The next one that says so. */
function homeWith({slack}: Rig, person: SlackPerson, what: RegExp): Promise<ViewOutput> {
  return slack.nextHome(person, (view) => what.test(textOf(view)));
}

async function press(rig: Rig, person: SlackPerson, actionId: string): Promise<ViewOutput> {
  const home = rig.slack.homeOf(person);
  if (home === null) throw new Error('no home is open');
  await rig.slack.click(person, home.id, actionId);
  const {view} = await rig.slack.nextView(person);
  if (view === null) throw new Error('no form was opened');
  return view;
}

describe('what stands on App Home', () => {
  it('is the fleet by the last looks, with their age: opening the tab looks at no host', async () => {
    const {rig, host} = await lookedAtRig();
    const {requester} = rig.slack.users;
    expect(textOf(await opened(rig, requester))).toMatch(/1 host: 1 not seen.*never looked at/);
    expect(host.looks).toBe(0);

    let release: () => void = () => undefined;
    host.held = new Promise((resolve) => {
      release = resolve;
    });
    await rig.slack.click(requester, rig.slack.homeOf(requester)?.id ?? '', ACTION.homeLook);
    await homeWith(rig, requester, /Looking at every host/);
    release();
    const after = await homeWith(rig, requester, /1 host: 1 dirty/);
    expect(textOf(after)).toMatch(/\*gpu-07\* dirty GPU 0 .* looked <!date\^\d+/);
    expect(textOf(after)).toContain(ACTION.homeLook);
    const looks = host.looks;
    expect(looks).toBeGreaterThan(0);
    await opened(rig, requester);
    expect(host.looks).toBe(looks);

    // A try that came to nothing is said, with what was seen before: never the old state as if it were of now.
    host.says = null;
    await rig.slack.click(requester, rig.slack.homeOf(requester)?.id ?? '', ACTION.homeLook);
    expect(textOf(await homeWith(rig, requester, /1 not seen/))).toMatch(
      /not seen: host unreachable, tried <!date.* before: dirty GPU 0 /,
    );
    expect(rig.fatal).toEqual([]);
  });

  it('calls a look of the day before no knowledge', async () => {
    const {rig} = await lookedAtRig();
    const {requester} = rig.slack.users;
    await opened(rig, requester);
    await rig.slack.click(requester, rig.slack.homeOf(requester)?.id ?? '', ACTION.homeLook);
    await homeWith(rig, requester, /1 dirty/);
    rig.skip(25 * 3_600_000);
    expect(textOf(await opened(rig, requester))).toMatch(/1 host: 1 not seen.*not seen for a day · before: dirty/);
  });

  it('moves with a run: an approver sees what waits for them, the requester their own, and a link to its card', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester, approver, stranger} = slack.users;
    for (const one of [requester, approver, stranger]) await opened(rig, one);
    await slack.type(requester, `/gpu reclaim ${HOST} match=vllm`);
    const card = await slack.nextPost();
    const waits = /Waiting for your go\* \(1\).*Waiting for a go · gpu-07.*\/archives\/[A-Z0-9]+\/p\d+\|the card>/;
    await homeWith(rig, approver, waits);
    // Not a proven ghost, so that the requester's own go is not enough: theirs, and no approval that waits for them.
    const own = await homeWith(rig, requester, /Your open runs\* \(1\).*\|the card>/);
    expect(textOf(own)).not.toContain('Waiting for your go');
    expect(textOf(await homeWith(rig, stranger, /1 run of others is open/))).not.toContain(ACTION.terminateThenKill);
    expect(textOf(own)).not.toContain(ACTION.terminateThenKill);
    await slack.click(approver, card.ts, ACTION.leave);
    await slack.nextView(approver);
    await slack.submitView(approver, {reason: 'not now'});
    await homeWith(rig, requester, /Nothing waits for you/);
  });

  it('says on top who has paused', async () => {
    const rig = await startRig();
    const {requester, stranger} = rig.slack.users;
    await opened(rig, requester);
    await rig.slack.type(stranger, '/gpu pause');
    const view = await homeWith(rig, requester, /Paused/);
    expect(textOf({...view, blocks: view.blocks.slice(0, 1)})).toMatch(
      new RegExp(`⏸ \\*Paused\\* by <@${stranger.id}> at <!date`),
    );
  });

  it('is not sent again where nothing changed', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester, approver} = slack.users;
    await opened(rig, requester);
    const published = (): number =>
      slack.calls.filter(({method, args}) => method === 'views.publish' && args['user_id'] === requester.id).length;
    await slack.type(requester, '/gpu help');
    await slack.nextEphemeral();
    // One after the other: the next one's turn comes after theirs.
    await opened(rig, approver);
    expect(published()).toBe(1);
    await slack.type(requester, '/gpu pause');
    await homeWith(rig, requester, /Paused/);
    expect(published()).toBe(2);
  });

  it('says so where Slack does not tell who is in the approver groups', async () => {
    const rig = await startRig({
      groups: {'gpu-oncall': ['approver']},
      scopes: ['commands', 'chat:write', 'app_mentions:read', 'im:history', 'users:read'],
      policy: (slack) => ({approvers: slack.groups.map(({id}) => ({kind: 'slack-group' as const, id}))}),
    });
    expect(textOf(await opened(rig, rig.slack.users.approver))).toContain('more may wait for your go than is shown');
  });

  it('shows people of another workspace nothing of ours', async () => {
    const rig = await startRig();
    const {requester} = rig.slack.users;
    await rig.slack.openHome(requester, {teamId: 'T0ELSEWHERE'});
    const view = await rig.slack.nextHome(requester);
    expect(textOf(view)).toContain('its own workspace only');
    expect(textOf(view)).not.toContain(HOST);
    expect(view.blocks).toHaveLength(1);
  });
});

it('believes the profile, where the event names the workspace in which it was opened', async () => {
  const rig = await startRig({elsewhere: ['stranger']});
  const {stranger, requester} = rig.slack.users;
  const theirs = textOf(await opened(rig, stranger));
  expect(theirs).toContain('its own workspace only');
  expect(theirs).not.toContain(HOST);
  expect(textOf(await opened(rig, requester))).toContain(HOST);
});

describe('buttons and forms of App Home', () => {
  it('diagnoses: the answer comes into the form, and its button opens a card in the channel', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester} = slack.users;
    await opened(rig, requester);
    const form = await press(rig, requester, ACTION.homeDiagnose);
    expect(form.title.text).toBe('Diagnose a host');
    await slack.submitView(requester, {[FIELD.host]: HOST});
    expect(textOf((await slack.nextView(requester)).view)).toContain(`Looking at ${HOST}`);
    const {view} = await slack.nextView(requester);
    expect(textOf(view)).toContain(ACTION.propose);
    await slack.click(requester, view?.id ?? '', ACTION.propose);
    const card = await slack.nextPost();
    expect(card.channel).toBe(slack.channel.id);
    expect(textOf((await slack.nextView(requester)).view)).toContain('for a plan');
    const {view: told} = await slack.nextView(requester);
    expect(textOf(told)).toMatch(/A card for gpu-07 is opened in <#C\w+>, run [0-9a-f]{6}.*<http.*\|Its card>/);
    expect(await slack.messages(slack.dm(requester))).toEqual([]);
    expect(rig.executed).toEqual([]);
  });

  it('tells whoever closed the form meanwhile in their conversation with the bot', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester} = slack.users;
    await opened(rig, requester);
    await press(rig, requester, ACTION.homeDiagnose);
    const release = rig.hold();
    await slack.submitView(requester, {[FIELD.host]: HOST});
    await slack.closeView(requester);
    release();
    expect((await slack.nextDm(requester)).text).toContain(HOST);
  });

  it('proposes: an ordinary card in the channel, and what is wrong stands at its field', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester} = slack.users;
    await opened(rig, requester);
    await press(rig, requester, ACTION.homePropose);
    await slack.submitView(requester, {[FIELD.host]: HOST, [FIELD.gpus]: 'all of them'});
    expect((await slack.nextView(requester)).errors).toEqual({
      [FIELD.gpus]: expect.stringContaining('indexes and ranges'),
    });
    // A phone's long dash is read as in a command.
    await slack.submitView(requester, {
      [FIELD.host]: HOST,
      [FIELD.gpus]: '0–1',
      [FIELD.match]: 'vllm',
      [FIELD.reason]: 'prod at 6',
    });
    const card = await slack.nextPost();
    expect(card.text).toMatch(/reclaim gpu-07 gpus=0-1 match=vllm reason="prod at 6"/);
    expect(textOf((await slack.nextView(requester)).view)).toContain('for a plan');
    expect(textOf((await slack.nextView(requester)).view)).toContain('Its card>');
  });

  it('adds a report: errors in the form, then its next three times, then the schedule on the tab, which removes it', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester} = slack.users;
    await opened(rig, requester);
    const form = await press(rig, requester, ACTION.homeReport);
    expect(textOf(form)).toContain('Times are Europe/Berlin');
    const filled = {[FIELD.hosts]: ['all'], [FIELD.when]: 'whenever'};
    await slack.submitView(requester, filled);
    expect(Object.keys((await slack.nextView(requester)).errors)).toEqual([FIELD.when]);
    await slack.submitView(requester, {...filled, [FIELD.when]: 'at 18:00 Mars/Olympus'});
    expect((await slack.nextView(requester)).errors[FIELD.when]).toContain('no time zone');
    await slack.submitView(requester, {...filled, [FIELD.when]: 'cron "* * * * *"'});
    expect((await slack.nextView(requester)).errors[FIELD.when]).toContain('more often than every 5m');
    expect(await rig.store.schedules.all(Date.now())).toEqual([]);

    await slack.submitView(requester, {...filled, [FIELD.when]: 'every weekday 18:00'});
    const {view: sure} = await slack.nextView(requester);
    expect(textOf(sure).match(/<!date\^\d+/g)).toHaveLength(3);
    expect(textOf(sure)).toContain(`Told in <#${slack.channel.id}>`);
    expect(await rig.store.schedules.all(Date.now())).toEqual([]);
    await slack.submitView(requester, {});
    expect(slack.viewOf(requester)).toBeNull();
    const home = await homeWith(rig, requester, /Scheduled reports\* \(1\)/);
    const [kept] = await rig.store.schedules.all(Date.now());
    expect(kept?.schedule).toMatchObject({
      by: `slack:${requester.id}`,
      zone: 'Europe/Berlin',
      quiet: true,
      channel: slack.channel.id,
    });

    await slack.click(requester, home.id, ACTION.removeSchedule);
    await homeWith(rig, requester, /None yet/);
    expect((await rig.store.schedules.all(Date.now())).filter(({nextMs}) => nextMs !== null)).toEqual([]);
  });

  it('helps in a form', async () => {
    const rig = await startRig();
    const {requester} = rig.slack.users;
    await opened(rig, requester);
    const help = await press(rig, requester, ACTION.homeHelp);
    expect(textOf(help)).toContain('/gpu reclaim HOST');
    expect(help.submit).toBeNull();
  });
});
