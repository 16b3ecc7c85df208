/** How long a response_url lives: with a clock of our own, since nobody waits half an hour. */
import {afterEach, beforeEach, expect, it} from 'vitest';
import {workspaceOf} from '../../src/playground/slack/cast.ts';
import {openEphemerals} from '../../src/playground/slack/ephemerals.ts';
import {openNewsroom} from '../../src/playground/slack/news.ts';
import {openResponseUrls, type ResponseUrls} from '../../src/playground/slack/response-urls.ts';

const workspace = workspaceOf({});
const user = workspace.users.requester.id;
const news = openNewsroom();
const ephemerals = openEphemerals(news);
let nowMs = 0;
let urls: ResponseUrls;

beforeEach(() => {
  nowMs = 1_000;
  urls = openResponseUrls({
    ephemerals,
    api: {
      asBot: async (_method, {channel, text}) => {
        ephemerals.add(user, 'bot', {ts: '1.000001', channel: String(channel), text: String(text), user: 'U0BOT'});
        return {ok: true, message_ts: '1.000001'};
      },
      call: async () => ({ok: false}),
      marked: () => {
        throw new Error('not asked for here');
      },
    },
    base: () => 'http://local',
    now: () => nowMs,
  });
});
afterEach(() => news.close());

const open = (): string => urls.create({user, channel: 'C0GPUOPS', ts: null}).split('/').at(-1) ?? '';

it('answers until the thirtieth minute is over', async () => {
  const id = open();
  nowMs += 30 * 60_000;
  expect((await urls.use(id, {text: 'just in time'})).status).toBe(200);
  nowMs += 1;
  expect(await urls.use(id, {text: 'too late'})).toEqual({status: 404, body: {ok: false, error: 'expired_url'}});
  expect(ephemerals.of(user).at(-1)?.text).toBe('just in time');
});

it.each([
  ['nothing to say', {}, 400, 'no_text'],
  ['blocks that Slack refuses', {blocks: [{type: 'nope'}]}, 400, 'invalid_blocks'],
  ['nothing to delete', {delete_original: true}, 400, 'message_not_found'],
])('refuses %s', async (_what, body, status, error) => {
  expect(await urls.use(open(), body)).toEqual({status, body: {ok: false, error}});
});

it('knows only the addresses that it gave out', async () => {
  expect((await urls.use('made-up', {text: 'x'})).body).toEqual({ok: false, error: 'expired_url'});
});
