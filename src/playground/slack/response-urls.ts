/** `response_url`: five answers in 30 minutes; ephemeral unless told otherwise; may replace or delete what it belongs to. */
import {randomUUID} from 'node:crypto';
import {withIds} from './blocks.ts';
import {checkBlocks} from './check-blocks.ts';
import {isObject, type Json} from './check-elements.ts';
import type {Ephemerals} from './ephemerals.ts';
import type {WebApi} from './web-api.ts';

export interface Origin {
  readonly user: string;
  readonly channel: string;
  /** The message that was clicked; null for a slash command. */
  readonly ts: string | null;
}

export interface ResponseUrls {
  create(origin: Origin): string;
  /** One POST to it. Status and body as Slack gives them. */
  use(id: string, body: Json): Promise<{readonly status: number; readonly body: Json}>;
  /** What an ack carried, shown as if it had come by a response_url; it costs no use. */
  show(origin: Origin, body: Json): Promise<string>;
}

const USES = 5;
const LIFE_MS = 30 * 60_000;

export function openResponseUrls(deps: {
  readonly ephemerals: Ephemerals;
  readonly api: WebApi;
  readonly base: () => string;
  readonly now: () => number;
}): ResponseUrls {
  const {ephemerals, api} = deps;
  const open = new Map<
    string,
    {readonly origin: Origin; readonly endsAtMs: number; uses: number; lastTs: string | null}
  >();

  /** "ok" or Slack's error; and the ts of what was shown. */
  const apply = async (
    origin: Origin,
    lastTs: string | null,
    body: Json,
  ): Promise<{error?: string; ts: string | null}> => {
    const target = origin.ts ?? lastTs;
    const hidden = target === null ? undefined : ephemerals.find(target);
    if (body['delete_original'] === true || body['delete_original'] === 'true') {
      if (target === null) return {error: 'message_not_found', ts: lastTs};
      if (hidden !== undefined) ephemerals.remove(target);
      else await api.asBot('chat.delete', {channel: origin.channel, ts: target});
      return {ts: null};
    }
    const text = typeof body['text'] === 'string' ? body['text'] : '';
    const blocks = body['blocks'];
    if (blocks !== undefined && checkBlocks(blocks, 'message').length > 0) return {error: 'invalid_blocks', ts: lastTs};
    if (text === '' && blocks === undefined) return {error: 'no_text', ts: lastTs};
    const shown = {text, ...(blocks === undefined ? {} : {blocks: withIds(blocks)})};
    if (body['replace_original'] === true && target !== null) {
      if (hidden !== undefined) ephemerals.replace(target, shown);
      else await api.asBot('chat.update', {channel: origin.channel, ts: target, ...shown});
      return {ts: target};
    }
    const thread = typeof body['thread_ts'] === 'string' ? {thread_ts: body['thread_ts']} : {};
    if (body['response_type'] === 'in_channel') {
      const answer = await api.asBot('chat.postMessage', {channel: origin.channel, ...shown, ...thread});
      return answer.ok ? {ts: String(answer['ts'])} : {error: String(answer.error), ts: lastTs};
    }
    const answer = await api.asBot('chat.postEphemeral', {
      channel: origin.channel,
      user: origin.user,
      ...shown,
      ...thread,
    });
    return answer.ok ? {ts: String(answer['message_ts'])} : {error: String(answer.error), ts: lastTs};
  };

  return {
    create: (origin) => {
      const id = randomUUID();
      open.set(id, {origin, endsAtMs: deps.now() + LIFE_MS, uses: 0, lastTs: null});
      return `${deps.base()}/response/${id}`;
    },
    use: async (id, body) => {
      const entry = open.get(id);
      if (entry === undefined || deps.now() > entry.endsAtMs) return refused(404, 'expired_url');
      if (entry.uses >= USES) return refused(404, 'used_url');
      entry.uses += 1;
      const {error, ts} = await apply(entry.origin, entry.lastTs, body);
      entry.lastTs = ts;
      return error === undefined ? {status: 200, body: {ok: true}} : refused(400, error);
    },
    show: async (origin, body) => (await apply(origin, null, body)).error ?? 'ok',
  };
}

/** What an ack may carry to be shown: a text, or blocks. */
export function isShowable(response: unknown): response is Json {
  return isObject(response) && (typeof response['text'] === 'string' || response['blocks'] !== undefined);
}

function refused(status: number, error: string): {readonly status: number; readonly body: Json} {
  return {status, body: {ok: false, error}};
}
