/** The page's own routes: three kinds of file, one stream of news, and what the person in front of it does. */
import {randomUUID} from 'node:crypto';
import {readdirSync, readFileSync} from 'node:fs';
import type {IncomingMessage, ServerResponse} from 'node:http';
import {dmOf, type Named, type SlackPerson, type Workspace} from '../slack/cast.ts';
import {isObject, type Json} from '../slack/check-elements.ts';
import type {Ephemerals} from '../slack/ephemerals.ts';
import type {Answers} from '../slack/form.ts';
import type {Homes} from '../slack/homes.ts';
import {answerJson, bodyOf} from '../slack/http.ts';
import type {Newsroom, SlackMessage} from '../slack/news.ts';
import type {Done, People} from '../slack/people.ts';
import type {Screens} from '../slack/screens.ts';
import {type HostState, watchHosts} from './host-pane.ts';
import type {Switches} from './switches.ts';

export type {HostState} from './host-pane.ts';
export type {BotProcess, Switch} from './switches.ts';

export interface Page {
  answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>;
  close(): void;
}

const MODULES = readdirSync(new URL('./files/', import.meta.url)).flatMap((name) =>
  name.endsWith('.js') ? [name.slice(0, -3)] : [],
);
const FILES: Readonly<Record<string, {readonly name: string; readonly type: string}>> = {
  '/': {name: 'index.html', type: 'text/html'},
  '/page.css': {name: 'page.css', type: 'text/css'},
  '/blocks.css': {name: 'blocks.css', type: 'text/css'},
  ...Object.fromEntries(MODULES.map((name) => [`/${name}.js`, {name: `${name}.js`, type: 'text/javascript'}])),
};
const HISTORY = 200;

export function openPage(deps: {
  readonly workspace: Workspace;
  readonly people: People;
  readonly news: Newsroom;
  readonly ephemerals: Ephemerals;
  readonly screens: Screens;
  readonly homes: Homes;
  readonly messages: (channel: Named) => Promise<readonly SlackMessage[]>;
  readonly thread: (ts: string, channel: Named) => Promise<readonly SlackMessage[]>;
  readonly host: () => string;
  /** Commands to try, one click away. */
  readonly hints: readonly string[];
  readonly hostState: (() => Promise<HostState | readonly HostState[]>) | null;
  readonly switches: Switches;
  /** The bytes of an uploaded file; null if there is none. */
  readonly file: (path: string) => Promise<{readonly type: string; readonly bytes: Uint8Array} | null>;
}): Page {
  const {workspace, people, switches} = deps;
  // A page that was open over a restart of the demo must not take its own old marks for new ones.
  const run = randomUUID();
  const readers = new Set<ServerResponse>();
  const write = (reader: ServerResponse, kind: string, value: unknown): void => {
    reader.write(`event: ${kind}\ndata: ${JSON.stringify(value)}\n\n`);
  };
  const toAll = (kind: string, value: unknown): void => {
    for (const reader of readers) write(reader, kind, value);
  };
  const stop = deps.news.listen((news) => toAll('news', news));
  const stopSwitches = switches.listen((state) => toAll('stage', state));
  const hosts = deps.hostState === null ? null : watchHosts(deps.hostState, (state) => toAll('hosts', state));

  return {
    answer: async (request, response, path) => {
      if (request.method === 'POST') return act(request, response, path);
      if (path === '/news') return stream(request, response);
      if (path.startsWith('/files-pri/')) return sendFile(response, path);
      // A permalink opens the page, which then looks for the message.
      const file = FILES[path.startsWith('/archives/') ? '/' : path];
      if (file === undefined) return answerJson(response, 404, {error: 'There is nothing here.'});
      response.writeHead(200, {
        'content-type': `${file.type}; charset=utf-8`,
        'cache-control': 'no-cache',
        'content-security-policy': "default-src 'self'; img-src 'self' data:; style-src 'self'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
      });
      response.end(readFileSync(new URL(`./files/${file.name}`, import.meta.url)));
    },
    close: () => {
      stop();
      stopSwitches();
      hosts?.close();
      for (const reader of readers) reader.end();
    },
  };

  async function stream(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.writeHead(200, {'content-type': 'text/event-stream', 'cache-control': 'no-cache'});
    response.write('retry: 500\n\n');
    // What happens while the snapshot is read must not be lost, and may come twice: the page puts messages by their ts.
    const missed: unknown[] = [];
    const stopMissing = deps.news.listen((news) => missed.push(news));
    const channels = await Promise.all(
      Object.values(workspace.channels).map(async (channel) => ({...channel, messages: await everythingIn(channel)})),
    );
    const dms = await Promise.all(
      Object.values(workspace.users).map(async (person) => ({
        user: person.id,
        ...dmOf(person),
        messages: await everythingIn(dmOf(person)),
      })),
    );
    stopMissing();
    write(response, 'snapshot', {
      team: workspace.team,
      bot: workspace.bot,
      users: Object.values(workspace.users),
      groups: workspace.groups,
      channels,
      dms,
      ephemerals: deps.ephemerals.all(),
      homes: Object.values(workspace.users).map(({id}) => ({user: id, view: deps.homes.of(id)})),
      views: Object.values(workspace.users).map(({id}) => ({user: id, view: deps.screens.top(id)})),
      hosts: hosts?.latest() ?? null,
      watchesHosts: hosts !== null,
      hints: deps.hints,
      run,
      switches: switches.groups.map(({title, switches: some}) => ({
        title,
        switches: some.map(({id, label, does, watch}) => ({id, label, does, watch})),
      })),
      stage: switches.state(),
    });
    for (const news of missed) write(response, 'news', news);
    readers.add(response);
    hosts?.look();
    request.once('close', () => {
      readers.delete(response);
      if (readers.size === 0) hosts?.lookAway();
    });
  }

  /** Whatever somebody uploaded may be looked at, and can do nothing: no script, no frame, no other address. */
  async function sendFile(response: ServerResponse, path: string): Promise<void> {
    const found = await deps.file(path);
    if (found === null) return answerJson(response, 404, {error: 'There is no such file.'});
    const isPicture = /^image\/(png|jpeg|gif)$/.test(found.type);
    response.writeHead(200, {
      'content-type': isPicture ? found.type : 'text/plain; charset=utf-8',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    response.end(found.bytes);
  }

  async function everythingIn(channel: Named): Promise<readonly SlackMessage[]> {
    const roots = (await deps.messages(channel)).slice(-HISTORY);
    const threads = await Promise.all(
      roots.map((root) => ((root.reply_count ?? 0) > 0 ? deps.thread(root.ts, channel) : [root])),
    );
    return threads.flat();
  }

  /** Only this page may act: another site that is open in the same browser can't send JSON here without being asked first. */
  async function act(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const {origin} = request.headers;
    const host = deps.host();
    const ownHosts = [host, host.replace('127.0.0.1', 'localhost')];
    const isOwn =
      ownHosts.includes(request.headers.host ?? '') &&
      (origin === undefined || ownHosts.includes(origin.replace('http://', '')));
    if (!isOwn || request.headers['content-type'] !== 'application/json')
      return answerJson(response, 403, {error: 'Only the page itself may do that.'});
    const asked: unknown = JSON.parse((await bodyOf(request)).toString());
    if (!isObject(asked)) return answerJson(response, 400, {error: 'Not an object.'});
    const person = Object.values(workspace.users).find(({id}) => id === asked['user']);
    const places = [...Object.values(workspace.channels), ...(person === undefined ? [] : [dmOf(person)])];
    const channel = places.find(({id}) => id === asked['channel']);
    if (person === undefined || channel === undefined) return answerJson(response, 400, {error: 'Nobody, or nowhere.'});
    try {
      const done = await doIt(path, person, channel, asked);
      if (done === null) answerJson(response, 404, {error: 'There is nothing here.'});
      else answerJson(response, 200, done);
    } catch (error) {
      answerJson(response, 409, {error: error instanceof Error ? error.message : String(error)});
    }
  }

  async function doIt(
    path: string,
    person: SlackPerson,
    channel: Named,
    asked: Json,
  ): Promise<Done | {readonly said: string} | null> {
    const text = (key: string): string => String(asked[key] ?? '');
    switch (path) {
      case '/type':
        return people.type(person, text('text'), {
          channel,
          ...(typeof asked['thread'] === 'string' ? {threadTs: asked['thread']} : {}),
        });
      case '/home':
        return people.openHome(person);
      case '/click':
        return people.click(person, channel, text('where'), text('actionId'), {
          blockId: text('blockId'),
          // What stands on the screen may be older than what is stored: Slack sends what was clicked.
          ...(isObject(asked['card']) ? {card: asked['card'] as unknown as SlackMessage} : {}),
          ...(asked['choice'] === undefined ? {} : {choice: asked['choice'] as string | readonly string[]}),
          ...(isObject(asked['answers']) ? {answers: asked['answers'] as Answers} : {}),
        });
      case '/submit':
        return people.submit(person, (asked['answers'] ?? {}) as Answers, {});
      case '/switch':
        return {said: await switches.press(text('id'))};
      case '/close':
        return people.closeView(person);
      default:
        return null;
    }
  }
}
