/**
 * One conversation with the Web API, held with our front and with `emulate` alone. Where both answer, they must agree; where
 * the front is stricter, or answers at all, the row says so and why.
 */
import {afterAll, afterEach, describe, expect, it, vi} from 'vitest';
import {type Answer, emulateSide, frontSide, GRANTED, type Side} from './contract-sides.ts';

interface Row {
  readonly name: string;
  readonly scopes?: readonly string[];
  readonly say: (side: Side) => Promise<Answer>;
  /** `ok`, or the error. Of both, or of each: then `because` says why they differ. */
  readonly answer: string | {readonly front: string; readonly emulate: string; readonly because: string};
}

const text = (length: number) => 'x'.repeat(length);
const section = (length: number) => ({type: 'section', text: {type: 'mrkdwn', text: text(length)}});
const button = {
  type: 'actions',
  elements: [{type: 'button', action_id: 'a', value: 'r', text: {type: 'plain_text', text: 'Go'}}],
};
const CARD = [section(20), button];
const view = (change: object = {}) => ({
  type: 'modal',
  callback_id: 'c',
  title: {type: 'plain_text', text: 'Choose'},
  submit: {type: 'plain_text', text: 'Go'},
  blocks: [section(10)],
  ...change,
});
const HOME = {type: 'home', blocks: [section(10), button]};

const posted = (side: Side, change: object = {}): Promise<Answer> =>
  side.call('chat.postMessage', {channel: side.channel, text: 'card', blocks: CARD, ...change});
/** On a clock that stands still: a busy machine must not let a trigger grow old. */
const triggered = (side: Side, ...from: Parameters<Side['trigger']>): Promise<string> => {
  vi.useFakeTimers({toFake: ['Date'], now: Date.now()});
  return side.trigger(...from);
};
const opened = async (side: Side): Promise<Answer> =>
  side.call('views.open', {trigger_id: await triggered(side, 'command'), view: view()});
const viewId = (answer: Answer): string => (answer['view'] as {readonly id: string} | undefined)?.id ?? '';
const file = async (side: Side): Promise<string> => {
  const asked = await side.call('files.getUploadURLExternal', {filename: 'a.png', length: 3, alt_text: 'a'});
  expect(await side.upload(asked['upload_url'], Buffer.from('abc'))).toBe(200);
  return String(asked['file_id']);
};
const shared = (side: Side, id: string, change: object = {}): Promise<Answer> =>
  side.call('files.completeUploadExternal', {files: [{id, title: 'A'}], channel_id: side.channel, ...change});

const BLOCKS = 'emulate checks no block; Slack does, and so does the front';
const ABSENT = 'emulate has no such method; the front answers for Slack';

const TABLE: readonly Row[] = [
  {name: 'auth.test', say: (side) => side.call('auth.test'), answer: 'ok'},
  {name: 'auth.test without a token', say: (side) => side.call('auth.test', {}, null), answer: 'not_authed'},
  {
    name: 'auth.test with a token that nobody was given',
    say: (side) => side.call('auth.test', {}, 'xoxb-made-up'),
    answer: {front: 'invalid_auth', emulate: 'ok', because: 'emulate takes any token'},
  },
  {
    name: 'a method that there is not',
    say: (side) => side.call('chat.shout'),
    answer: {front: 'unknown_method', emulate: 'http 404', because: 'emulate answers 404 where Slack says it in JSON'},
  },
  {name: 'a card', say: (side) => posted(side), answer: 'ok'},
  {
    name: 'a card in a channel that there is not',
    say: (side) => posted(side, {channel: 'C0NOWHERE'}),
    answer: 'channel_not_found',
  },
  {
    name: 'a message with nothing in it',
    say: (side) => side.call('chat.postMessage', {channel: side.channel}),
    answer: 'no_text',
  },
  {
    name: 'a block that there is not',
    say: (side) => posted(side, {blocks: [{type: 'nope'}]}),
    answer: {front: 'invalid_blocks', emulate: 'ok', because: BLOCKS},
  },
  {
    name: 'a section of 3001 characters',
    say: (side) => posted(side, {blocks: [section(3_001)]}),
    answer: {front: 'invalid_blocks', emulate: 'ok', because: BLOCKS},
  },
  {
    name: '51 blocks',
    say: (side) => posted(side, {blocks: Array(51).fill({type: 'divider'})}),
    answer: {front: 'invalid_blocks', emulate: 'ok', because: BLOCKS},
  },
  {
    name: 'blocks too long together',
    say: (side) => posted(side, {blocks: Array(5).fill(section(2_900))}),
    answer: {front: 'msg_blocks_too_long', emulate: 'ok', because: BLOCKS},
  },
  {name: 'a reply', say: async (side) => posted(side, {thread_ts: (await posted(side))['ts']}), answer: 'ok'},
  {
    name: 'a reply to the channel as well',
    say: async (side) => posted(side, {thread_ts: (await posted(side))['ts'], reply_broadcast: true}),
    answer: 'ok',
  },
  {
    name: 'an edit',
    say: async (side) =>
      side.call('chat.update', {channel: side.channel, ts: (await posted(side))['ts'], text: 'new', blocks: CARD}),
    answer: 'ok',
  },
  {
    name: 'an edit of no message',
    say: (side) => side.call('chat.update', {channel: side.channel, ts: '1.000001', text: 'new', blocks: CARD}),
    answer: 'message_not_found',
  },
  {
    name: 'an edit without a word',
    say: async (side) => side.call('chat.update', {channel: side.channel, ts: (await posted(side))['ts']}),
    answer: 'no_text',
  },
  {
    name: 'a deletion',
    say: async (side) => side.call('chat.delete', {channel: side.channel, ts: (await posted(side))['ts']}),
    answer: 'ok',
  },
  {
    name: 'a deletion of no message',
    say: (side) => side.call('chat.delete', {channel: side.channel, ts: '1.000001'}),
    answer: 'message_not_found',
  },
  {
    name: 'a private answer',
    say: (side) => side.call('chat.postEphemeral', {channel: side.channel, user: side.user, text: 'only you'}),
    answer: 'ok',
  },
  {
    name: 'a private answer to nobody',
    say: (side) => side.call('chat.postEphemeral', {channel: side.channel, user: 'U0NOBODY', text: 'x'}),
    answer: 'user_not_found',
  },
  {
    name: 'a link to a message',
    say: async (side) =>
      side.call('chat.getPermalink', {channel: side.channel, message_ts: (await posted(side))['ts']}),
    answer: 'ok',
  },
  {
    name: 'a link to no message',
    say: (side) => side.call('chat.getPermalink', {channel: side.channel, message_ts: '1.000001'}),
    answer: 'message_not_found',
  },
  {name: 'a person', say: (side) => side.call('users.info', {user: side.user}), answer: 'ok'},
  {name: 'nobody', say: (side) => side.call('users.info', {user: 'U0NOBODY'}), answer: 'user_not_found'},
  {
    name: 'what no scope was granted for',
    say: (side) => side.call('conversations.history', {channel: side.channel}),
    answer: 'missing_scope',
  },
  {name: 'a card without its scope', scopes: ['commands'], say: (side) => posted(side), answer: 'missing_scope'},
  {
    name: 'an upload',
    say: async (side) => shared(side, await file(side), {thread_ts: (await posted(side))['ts']}),
    answer: 'ok',
  },
  {
    name: 'an upload shared twice',
    say: async (side) => {
      const id = await file(side);
      await shared(side, id);
      return shared(side, id);
    },
    answer: 'file_not_found',
  },
  {name: 'an upload that never was', say: (side) => shared(side, 'F0NOTHING'), answer: 'file_not_found'},
  {
    name: 'an upload to nowhere',
    say: async (side) => shared(side, await file(side), {channel_id: 'C0NOWHERE'}),
    answer: 'channel_not_found',
  },
  {
    name: 'an upload without its scope',
    scopes: GRANTED.filter((one) => one !== 'files:write'),
    say: (side) => side.call('files.getUploadURLExternal', {filename: 'a', length: 3}),
    answer: 'missing_scope',
  },
  {name: 'a form', say: opened, answer: 'ok'},
  {
    name: 'a form by a trigger that was used',
    say: async (side) => {
      const trigger_id = await triggered(side, 'command');
      await side.call('views.open', {trigger_id, view: view()});
      return side.call('views.open', {trigger_id, view: view()});
    },
    answer: 'exchanged_trigger_id',
  },
  {
    name: 'a form by a trigger that is three seconds old',
    say: async (side) => {
      const trigger_id = await triggered(side, 'command');
      vi.setSystemTime(Date.now() + 3_100);
      return side.call('views.open', {trigger_id, view: view()});
    },
    answer: 'expired_trigger_id',
  },
  {
    name: 'a form by a trigger that was made up',
    say: (side) => side.call('views.open', {trigger_id: '1.2.abc', view: view()}),
    answer: 'invalid_trigger_id',
  },
  {
    name: 'a form with a title of 25',
    say: async (side) =>
      side.call('views.open', {
        trigger_id: await triggered(side, 'command'),
        view: view({title: {type: 'plain_text', text: text(25)}}),
      }),
    answer: {front: 'invalid_arguments', emulate: 'ok', because: BLOCKS},
  },
  {
    name: 'a form that changes',
    say: async (side) => side.call('views.update', {view_id: viewId(await opened(side)), view: view()}),
    answer: 'ok',
  },
  {
    name: 'a form that changes from an older state',
    say: async (side) => side.call('views.update', {view_id: viewId(await opened(side)), hash: 'old', view: view()}),
    answer: 'hash_conflict',
  },
  {
    name: 'a form that there is not',
    say: (side) => side.call('views.update', {view_id: 'V0NOTHING', view: view()}),
    answer: 'not_found',
  },
  {
    name: 'a form on a form',
    say: async (side) => {
      const below = viewId(await opened(side));
      return side.call('views.push', {trigger_id: await triggered(side, 'view', below), view: view()});
    },
    answer: 'ok',
  },
  {name: 'a home', say: (side) => side.call('views.publish', {user_id: side.user, view: HOME}), answer: 'ok'},
  {
    name: 'a home of nobody',
    say: (side) => side.call('views.publish', {user_id: 'U0NOBODY', view: HOME}),
    answer: 'user_not_found',
  },
  {
    name: 'groups',
    say: (side) => side.call('usergroups.list'),
    answer: {front: 'ok', emulate: 'http 404', because: ABSENT},
  },
  {
    name: 'a socket by the bot token',
    say: (side) => side.call('apps.connections.open'),
    answer: {front: 'not_allowed_token_type', emulate: 'http 404', because: ABSENT},
  },
  {
    name: 'a socket by the app token',
    say: (side) => side.call('apps.connections.open', {}, 'xapp-local-app'),
    answer: {front: 'ok', emulate: 'http 404', because: ABSENT},
  },
  {
    name: 'a trigger for the asking',
    say: (side) => side.call('views.generateTriggerId', {user_id: side.user}),
    answer: {front: 'unknown_method', emulate: 'ok', because: "emulate's own test method is none of Slack's"},
  },
];

const started = new Map<string, Promise<readonly [Side, Side]>>();

/** One pair for all rows with the same scopes: each row makes what it needs. */
function sides(scopes: readonly string[] = GRANTED): Promise<readonly [Side, Side]> {
  const key = scopes.join();
  const known = started.get(key) ?? Promise.all([frontSide(scopes), emulateSide(scopes)]);
  started.set(key, known);
  return known;
}

afterEach(() => {
  vi.useRealTimers();
});

afterAll(async () => {
  for (const pair of started.values()) for (const side of await pair) await side.close();
});

describe('the front and emulate', () => {
  it.each(TABLE)('$name', async ({say, answer, scopes}) => {
    const [ours, theirs] = await sides(scopes);
    const front = await say(ours);
    vi.useRealTimers();
    const emulate = await say(theirs);
    if (typeof answer !== 'string') {
      expect(answer.because.length).toBeGreaterThan(10);
      expect({front: wordOf(front), emulate: wordOf(emulate)}).toEqual({front: answer.front, emulate: answer.emulate});
      return;
    }
    expect({front: wordOf(front), emulate: wordOf(emulate)}).toEqual({front: answer, emulate: answer});
    // The front adds what emulate leaves out; it takes nothing away.
    expect(shapeOf(front)).toMatchObject(shapeOf(emulate) as object);
  });

  it('differ where an edit brings a text only: Slack keeps the blocks, emulate clears them', async () => {
    const edited = async (side: Side): Promise<unknown> => {
      const {ts} = await posted(side);
      const answer = await side.call('chat.update', {channel: side.channel, ts, text: 'new'});
      return ((answer['message'] as {readonly blocks?: readonly unknown[]} | undefined)?.blocks ?? []).length;
    };
    const [front, emulate] = await sides();
    expect([await edited(front), await edited(emulate)]).toEqual([2, 0]);
  });

  it('differ in the marks of a bot’s own message, which emulate leaves out', async () => {
    const marks = async (side: Side): Promise<readonly boolean[]> => {
      const message = (await posted(side))['message'] as Readonly<Record<string, unknown>>;
      return ['bot_id', 'app_id'].map((key) => key in message);
    };
    const [front, emulate] = await sides();
    expect([await marks(front), await marks(emulate)]).toEqual([
      [true, true],
      [false, false],
    ]);
  });
});

function wordOf(answer: Answer): string {
  if (answer['http'] !== undefined) return `http ${answer['http']}`;
  return answer.ok === true ? 'ok' : (answer.error ?? 'no error named');
}

/** Keys and types, in place of values and ids; of a list its first member. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [/^[A-Z][A-Z0-9]{7,}$/.test(key) ? 'an id' : key, shapeOf(one)]),
  );
}
