/** The HTTP side that a bot talks to: /api/*, /response/*, /upload/*, with the faults that a test asks for. */
import type {IncomingMessage, ServerResponse} from 'node:http';
import {setTimeout as sleep} from 'node:timers/promises';
import type {Json} from './check-elements.ts';
import type {Faults} from './faults.ts';
import {answerJson, argumentsOf, bodyOf} from './http.ts';
import type {ApiCall} from './local-slack.ts';
import type {ResponseUrls} from './response-urls.ts';
import type {StateKeeper} from './state-keeper.ts';
import type {WebApi} from './web-api.ts';

export interface Front {
  answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>;
}

const MOST_CALLS = 50_000;
/** What a use of a response_url is called among the calls and for faults: it is no method. */
export const RESPONSE_URL = 'response_url';

type Noted = {-readonly [K in keyof ApiCall]: ApiCall[K]};

export function openFront(deps: {
  readonly api: WebApi;
  readonly keeper: StateKeeper;
  readonly faults: Faults;
  readonly responses: ResponseUrls;
  readonly scopes: readonly string[];
  readonly calls: ApiCall[];
}): Front {
  const {api, faults} = deps;
  return {
    answer: async (request, response, path) => {
      const body = await bodyOf(request);
      if (path.startsWith('/response/')) {
        const args = argumentsOf(body.toString(), 'application/json', new URLSearchParams());
        const id = path.slice('/response/'.length);
        await carryOut(request, response, RESPONSE_URL, args, () => deps.responses.use(id, args));
        return;
      }
      if (path.startsWith('/upload/')) {
        const status = await deps.keeper.upload(path, body, request.headers['content-type'] ?? '');
        response.writeHead(status).end();
        return;
      }
      await callApi(request, response, path.slice('/api/'.length), body.toString());
    },
  };

  async function callApi(request: IncomingMessage, response: ServerResponse, method: string, body: string) {
    const {searchParams} = new URL(request.url ?? '/', 'http://local');
    const {token: inArguments, ...args} = argumentsOf(body, request.headers['content-type'] ?? '', searchParams);
    const token = (request.headers.authorization ?? '').replace(/^Bearer\s*/i, '') || String(inArguments ?? '');
    await carryOut(request, response, method, args, async () => {
      const channel = typeof args['channel'] === 'string' ? args['channel'] : undefined;
      const refused = faults.take('refuse', method, channel);
      const body =
        refused === null ? await api.call(method, token, args) : ({ok: false, error: refused.error} as const);
      return {status: 200, body, headers: {'x-oauth-scopes': deps.scopes.join(',')}};
    });
  }

  /** Noted when it arrives, with whatever goes wrong on the way in or out. */
  async function carryOut(
    request: IncomingMessage,
    response: ServerResponse,
    method: string,
    args: Readonly<Record<string, unknown>>,
    act: () => Promise<{readonly status: number; readonly body: Json; readonly headers?: Record<string, string>}>,
  ): Promise<void> {
    const call: Noted = {method, args, atMs: Date.now(), status: null, ok: false, error: null};
    deps.calls.push(call);
    if (deps.calls.length > MOST_CALLS) deps.calls.splice(0, MOST_CALLS / 2);
    const note = (status: number | null, body: Json): void => {
      const error = typeof body['error'] === 'string' ? body['error'] : null;
      Object.assign(call, {status, ok: body['ok'] === true, error} satisfies Partial<ApiCall>);
    };
    const answer = (status: number, body: Json, headers: Record<string, string> = {}): void => {
      note(status, body);
      answerJson(response, status, body, headers);
    };
    const slow = faults.take('slow', method);
    if (slow !== null) await sleep(slow.delayMs, undefined, {ref: false});
    const limited = faults.take('rate-limit', method);
    if (limited !== null)
      return answer(429, {ok: false, error: 'ratelimited'}, {'retry-after': String(limited.retryAfterS)});
    const broken = faults.take('http-error', method);
    if (broken !== null) return answer(broken.status, {ok: false, error: 'internal_error'});
    const done = await act();
    if (faults.take('drop-answer', method) === null) return answer(done.status, done.body, done.headers);
    note(null, done.body);
    request.socket.destroy();
  }
}
