/** The HTTP side that a bot talks to: /api/*, /response/*, /upload/*, with the faults that a test asks for. */
import type {IncomingMessage, ServerResponse} from 'node:http';
import {setTimeout as sleep} from 'node:timers/promises';
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
        const used = await deps.responses.use(path.slice('/response/'.length), args);
        answerJson(response, used.status, used.body);
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
    const call: Noted = {method, args, atMs: Date.now(), status: null, ok: false, error: null};
    deps.calls.push(call);
    if (deps.calls.length > MOST_CALLS) deps.calls.splice(0, MOST_CALLS / 2);
    const note = (status: number | null, ok: boolean, error: string | null): void => {
      Object.assign(call, {status, ok, error} satisfies Partial<ApiCall>);
    };
    const slow = faults.take('slow', method);
    if (slow !== null) await sleep(slow.delayMs, undefined, {ref: false});
    const limited = faults.take('rate-limit', method);
    if (limited !== null) {
      note(429, false, 'ratelimited');
      const headers = {'retry-after': String(limited.retryAfterS)};
      return answerJson(response, 429, {ok: false, error: 'ratelimited'}, headers);
    }
    const broken = faults.take('http-error', method);
    if (broken !== null) {
      note(broken.status, false, null);
      return answerJson(response, broken.status, {ok: false, error: 'internal_error'});
    }
    const refused = faults.take('refuse', method);
    const answer =
      refused === null ? await api.call(method, token, args) : ({ok: false, error: refused.error} as const);
    if (faults.take('drop-answer', method) !== null) {
      note(null, answer.ok, answer.error ?? null);
      request.socket.destroy();
      return;
    }
    note(200, answer.ok, answer.error ?? null);
    answerJson(response, 200, answer, {'x-oauth-scopes': deps.scopes.join(',')});
  }
}
