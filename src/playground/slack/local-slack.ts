/**
 * A Slack on this machine, good enough for the production bot: emulate keeps the state, this front adds what it lacks and
 * refuses what Slack refuses. Loopback only. It is a stand-in: nothing here was ever held against a real workspace.
 */
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo, Socket} from 'node:net';
import type {ViewOutput} from '@slack/bolt';
import {type HostState, openPage} from '../page/serve.ts';
import {type BotProcess, openSwitches, type Switch} from '../page/switches.ts';
import type {ConfirmText} from './blocks.ts';
import {
  DEFAULT_SCOPES,
  dmOf,
  type Named,
  type SlackPerson,
  type Workspace,
  type WorkspaceOptions,
  workspaceOf,
} from './cast.ts';
import {isObject} from './check-elements.ts';
import {openEphemerals} from './ephemerals.ts';
import {type Fault, type Faults, openFaults} from './faults.ts';
import type {Answers} from './form.ts';
import {openFront} from './front.ts';
import {openHomes} from './homes.ts';
import {answerJson} from './http.ts';
import {type Ephemeral, type Newsroom, openNewsroom, type SlackMessage} from './news.ts';
import type {Mark} from './payloads.ts';
import {type ClickOptions, type Done, gather} from './people.ts';
import {openResponseUrls} from './response-urls.ts';
import {openScreens} from './screens.ts';
import {type EnvelopeRecord, openSockets} from './sockets.ts';
import {startStateKeeper} from './state-keeper.ts';
import {openWebApi} from './web-api.ts';

export interface LocalSlackOptions extends WorkspaceOptions {
  /** 0 (the default) takes a free one. */
  readonly port?: number;
  readonly commands?: readonly string[];
  /** What the bot token is granted; the manifest's scopes in a test that holds them against the code. */
  readonly scopes?: readonly string[];
  /** How long Slack waits for an ack: 3000. */
  readonly ackMs?: number;
  readonly pingMs?: number;
  /** Commands that the page offers to try. */
  readonly hints?: readonly string[];
  /** What the page shows beside the channel; polled while somebody looks. */
  readonly hostState?: () => Promise<HostState | readonly HostState[]>;
  /** The bot's process, where whoever starts this Slack owns it: the page's fault panel ends and starts it. */
  readonly bot?: BotProcess;
  /** What the page's fault panel can do to the hosts. */
  readonly hostSwitches?: readonly Switch[];
}

/** One call of the Web API, noted when it arrives, completed when it is answered. */
export interface ApiCall {
  readonly method: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly atMs: number;
  /** HTTP status; null as long as there is no answer, and for good if the connection was cut instead. */
  readonly status: number | null;
  readonly ok: boolean;
  readonly error: string | null;
}

type In = {readonly channel?: Named};
type Wait = {readonly withinMs?: number};

export interface LocalSlack extends Omit<Workspace, 'groups' | 'channels'> {
  /** The page. */
  readonly url: string;
  /** What SLACK_API_URL must be. */
  readonly apiUrl: string;
  /** The first channel, where everything happens unless told otherwise. */
  readonly channel: Named;
  readonly channels: Workspace['channels'];
  readonly groups: Workspace['groups'];

  type(
    user: SlackPerson,
    text: string,
    options?: In & {readonly threadTs?: string; readonly teamId?: string; readonly mark?: Mark},
  ): Promise<Done>;
  click(user: SlackPerson, where: string, actionId: string, options?: In & ClickOptions): Promise<Done>;
  confirmOf(where: string, actionId: string, options?: In): Promise<ConfirmText | null>;
  submitView(
    user: SlackPerson,
    answers: Answers,
    options?: {readonly view?: ViewOutput; readonly teamId?: string},
  ): Promise<Done>;
  closeView(user: SlackPerson): Promise<Done>;
  viewOf(user: SlackPerson): ViewOutput | null;

  /** Looks at the app's Home tab: the bot is told, with what it published before. */
  openHome(user: SlackPerson, options?: {readonly teamId?: string}): Promise<Done>;
  /** The last that was published for this person. */
  homeOf(user: SlackPerson): ViewOutput | null;
  nextHome(user: SlackPerson, fits?: (view: ViewOutput) => boolean, wait?: Wait): Promise<ViewOutput>;
  /** Their conversation with the bot, good wherever a channel is asked for. */
  dm(user: SlackPerson): Named;
  nextDm(user: SlackPerson, fits?: (message: SlackMessage) => boolean, wait?: Wait): Promise<SlackMessage>;

  /** Channel messages without replies, oldest first. */
  messages(channel?: Named): Promise<readonly SlackMessage[]>;
  /** A root and its replies, oldest first. */
  thread(ts: string, channel?: Named): Promise<readonly SlackMessage[]>;
  ephemerals(user: SlackPerson): readonly Ephemeral[];

  /** The next of its kind that was not handed out before, whether it already came or not; rejects after 10 s. */
  nextPost(fits?: (message: SlackMessage) => boolean, wait?: Wait): Promise<SlackMessage>;
  nextReply(fits?: (message: SlackMessage) => boolean, wait?: Wait): Promise<SlackMessage>;
  nextUpdate(fits?: (message: SlackMessage) => boolean, wait?: Wait): Promise<SlackMessage>;
  nextEphemeral(fits?: (message: Ephemeral) => boolean, wait?: Wait): Promise<Ephemeral>;
  /** The next change of what stands on somebody's screen. */
  nextView(
    user: SlackPerson,
    wait?: Wait,
  ): Promise<{readonly view: ViewOutput | null; readonly errors: Readonly<Record<string, string>>}>;
  /** What came so far is not waited for any more. */
  skip(): void;
  readonly news: Newsroom;

  readonly calls: readonly ApiCall[];
  readonly envelopes: readonly EnvelopeRecord[];
  setFault(fault: Fault): () => void;
  clearFaults(): void;
  /** How often a fault of each kind really struck. */
  readonly struck: Faults['struck'];
  dropSockets(): void;
  refreshSockets(): void;
  connected(): number;
  whenConnected(count?: number): Promise<void>;
  close(): Promise<void>;
}

export async function startLocalSlack(options: LocalSlackOptions = {}): Promise<LocalSlack> {
  const workspace = workspaceOf(options);
  const scopes = options.scopes ?? DEFAULT_SCOPES;
  const channel = Object.values(workspace.channels)[0];
  if (channel === undefined) throw new Error('A local Slack needs a channel');

  const keeper = await startStateKeeper(workspace, scopes);
  const news = openNewsroom();
  const faults = openFaults();
  const calls: ApiCall[] = [];
  const ephemerals = openEphemerals(news);
  const homes = openHomes(news);
  const screens = openScreens(keeper, workspace.botToken, news);
  const sockets = openSockets(faults, {ackMs: options.ackMs ?? 3000, pingMs: options.pingMs ?? 5000});
  let host = '';
  const base = (): string => `http://${host}`;
  const api = openWebApi({workspace, scopes, keeper, news, ephemerals, screens, homes, sockets, host: () => host});
  const responses = openResponseUrls({ephemerals, api, base, now: Date.now});
  const people = gather({
    workspace,
    commands: options.commands ?? ['/gpu'],
    keeper,
    api,
    news,
    ephemerals,
    screens,
    homes,
    sockets,
    responses,
  });

  const listed = async (method: string, args: Readonly<Record<string, unknown>>, place: Named) => {
    const answer = await keeper.call(method, {channel: place.id, limit: 1000, ...args});
    const found = Array.isArray(answer['messages']) ? answer['messages'].filter(isObject) : [];
    return found.map((one) => api.marked(place.id, one)).toSorted((one, two) => (one.ts < two.ts ? -1 : 1));
  };
  const messages: LocalSlack['messages'] = (place = channel) => listed('conversations.history', {}, place);
  const thread: LocalSlack['thread'] = (ts, place = channel) => listed('conversations.replies', {ts}, place);
  const next =
    (kind: 'post' | 'reply' | 'update') =>
    async (fits: (message: SlackMessage) => boolean = () => true, wait: Wait = {}): Promise<SlackMessage> =>
      (await news.next([kind], ({message}) => fits(message), kind, wait.withinMs)).message;

  const front = openFront({api, keeper, faults, responses, scopes, calls});
  const page = openPage({
    workspace,
    people,
    news,
    ephemerals,
    screens,
    homes,
    messages,
    thread,
    host: () => host,
    hints: options.hints ?? ['/gpu help'],
    hostState: options.hostState ?? null,
    switches: openSwitches({faults, sockets, bot: options.bot ?? null, hosts: options.hostSwitches ?? []}),
    file: (path) => keeper.file(path),
  });
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const path = new URL(request.url ?? '/', 'http://local').pathname;
    const from =
      path.startsWith('/api/') || path.startsWith('/response/') || path.startsWith('/upload/') ? front : page;
    from.answer(request, response, path).catch((error: unknown) => {
      answerJson(response, 500, {ok: false, error: 'fatal_error', detail: String(error)});
    });
  };
  const server = createServer(handle);
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('upgrade', (request, socket, head) => sockets.upgrade(request, socket, head));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  }).catch(async (error: unknown) => {
    sockets.close();
    await keeper.close();
    throw error;
  });
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  keeper.answerAs(base());

  return {
    ...workspace,
    url: `${base()}/`,
    apiUrl: `${base()}/api/`,
    channel,
    type: (user, text, how = {}) => people.type(user, text, {channel, ...how}),
    click: (user, where, actionId, how = {}) => people.click(user, how.channel ?? channel, where, actionId, how),
    confirmOf: (where, actionId, how = {}) => people.confirmOf(how.channel ?? channel, where, actionId),
    submitView: (user, answers, how = {}) => people.submit(user, answers, how),
    closeView: (user) => people.closeView(user),
    viewOf: (user) => screens.top(user.id),
    openHome: (user, how = {}) => people.openHome(user, how.teamId),
    homeOf: (user) => homes.of(user.id),
    nextHome: async (user, fits = () => true, wait = {}) =>
      (
        await news.next(
          ['home'],
          (one) => one.user === user.id && fits(one.view),
          `home of ${user.name}`,
          wait.withinMs,
        )
      ).view,
    dm: dmOf,
    nextDm: async (user, fits = () => true, wait = {}) =>
      (
        await news.next(
          ['dm'],
          (one) => one.user === user.id && fits(one.message),
          `message to ${user.name}`,
          wait.withinMs,
        )
      ).message,
    messages,
    thread,
    ephemerals: (user) => ephemerals.of(user.id),
    nextPost: next('post'),
    nextReply: next('reply'),
    nextUpdate: next('update'),
    nextEphemeral: async (fits = () => true, wait = {}) =>
      (await news.next(['ephemeral'], ({message}) => fits(message), 'ephemeral', wait.withinMs)).message,
    nextView: (user, wait = {}) =>
      news.next(['view'], (one) => one.user === user.id, `view for ${user.name}`, wait.withinMs),
    skip: news.skip,
    news,
    calls,
    envelopes: sockets.record,
    setFault: faults.set,
    clearFaults: faults.clear,
    struck: faults.struck,
    dropSockets: sockets.drop,
    refreshSockets: sockets.refresh,
    connected: sockets.connected,
    whenConnected: (count = 1) => sockets.whenConnected(count),
    close: async () => {
      news.close();
      page.close();
      sockets.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await Promise.all([closed, keeper.close()]);
    },
  };
}
