/** The door to Slack, put together: clients, delivery, the listeners and the socket; opened, and closed in order. */
import {App, SocketModeReceiver} from '@slack/bolt';
import type {Host, HostName} from '../domain/host.ts';
import type {Policy} from '../domain/policy.ts';
import type {Run, RunId} from '../domain/run.ts';
import type {CampaignTeller} from '../engine/campaign-ports.ts';
import type {Announcer, Clock, Engine, Log, RunStore} from '../engine/ports.ts';
import type {ReportTeller} from '../engine/report-ports.ts';
import type {Secret} from '../secret.ts';
import {troubleOf} from './api-errors.ts';
import {boltLogger} from './bolt-logger.ts';
import {makeCampaignTeller} from './campaign-notices.ts';
import {cardLink} from './card-link.ts';
import {API_TIMEOUT_MS, ASK_RETRIES, makeClients} from './clients.ts';
import {type Delivery, makeDelivery} from './delivery.ts';
import type {Desk} from './desk.ts';
import {tellRequester} from './ended.ts';
import {fatalSentence} from './fatal.ts';
import {type Health, SICK_AFTER_MS} from './health.ts';
import {type Homes, makeHomes} from './home.ts';
import {answerLeft} from './intake.ts';
import {keepLink} from './link.ts';
import {listen} from './listeners.ts';
import {approverMentions} from './mentions.ts';
import {makeNames} from './names.ts';
import {makePace} from './pace.ts';
import {makePeople} from './people.ts';
import {type Draw, makePictures} from './pictures.ts';
import {editWith, makePoster} from './poster.ts';
import {makeProgressEditor} from './progress-editor.ts';
import {makeReminders} from './reminders.ts';
import {makeReportTeller} from './reports.ts';
import {makeSharedAnswers} from './shared-answers.ts';
import {makeWork} from './work.ts';
import {makeZones} from './zones.ts';

export interface SlackOptions {
  readonly botToken: Secret;
  readonly appToken: Secret;
  /** null = Slack itself. */
  readonly apiUrl: string | null;
  /** Where reclaims may be asked for; the first is where runs of the terminal are told. */
  readonly channels: readonly [string, ...string[]];
  readonly command: string;
  /** A pong must come within this, ms. */
  readonly pingTimeoutMs: number;
}

export interface SlackDeps {
  readonly store: RunStore;
  readonly hosts: ReadonlyMap<HostName, Host>;
  readonly policy: Policy;
  readonly clock: Clock;
  readonly log: Log;
  /** SVG to PNG; null: no pictures are wanted. */
  readonly draw: Draw | null;
  /** The process must end: one line for its operator. */
  readonly onFatal: (sentence: string) => void;
  readonly onBug: (error: unknown, during: string) => void;
}

export interface SlackBot {
  /** For the engine that is then handed to `start`. */
  readonly announcer: Announcer;
  /** Tells what people are owed of campaigns. */
  readonly campaigns: CampaignTeller;
  /** Tells reports that are finished. */
  readonly reports: ReportTeller;
  /** Resolves when connected; Slack being down is waited out. */
  start(engine: Engine): Promise<void>;
  /** Posts what is owed; to be called every few seconds. */
  flush(): Promise<void>;
  health(): Health;
  /** Hears nobody any more, lets work end for `drainMs`, asks working runs to stop before their next signal, closes. */
  stop(drainMs: number): Promise<void>;
}

/** How long a run may take to notice that it is to stop. */
const LAST_WORDS_MS = 3_000;

export function makeSlackBot(options: SlackOptions, deps: SlackDeps): SlackBot {
  const {store, policy, clock, log} = deps;
  const noted = {eventTicks: null as number | null, apiTicks: null as number | null};
  const clients = makeClients({...options, log, onAnswer: () => (noted.apiTicks = clock.ticks())});
  const pace = makePace(clock);
  const editor = makeProgressEditor({clock, log, pace});
  const work = makeWork({clock, log, onBug: deps.onBug});
  const over = new AbortController();
  const executing = new Set<RunId>();
  const fatal = (error: unknown): void => {
    const trouble = troubleOf(error);
    if (!over.signal.aborted) deps.onFatal(fatalSentence(trouble));
  };
  const beganAtMs = clock.now();
  let team = '';
  /** Not before there is an engine. */
  let homes: Homes | null = null;
  let engineNow: Engine | null = null;
  const names = makeNames({client: clients.ask, hosts: deps.hosts.values(), log});
  const poster = makePoster({client: clients.deliver, clock, pace, log, dress: names.dress});
  const delivery: Delivery = makeDelivery({
    store,
    poster,
    editProgress: (card, message) => editWith(clients.progress, card, names.dress(message)),
    editor,
    pictures: makePictures({client: clients.deliver, draw: deps.draw, store, pace, work, clock, log}),
    clock,
    log,
    channel: options.channels[0],
    team: () => team,
    command: options.command,
    approvers: approverMentions(policy),
    tellEnd: (run) =>
      tellRequester(
        {
          store,
          poster,
          clock,
          log,
          wanted: policy.tellRequester,
          linkOf: ({id}) => cardLink({store, client: clients.ask}, id),
        },
        run,
      ),
    onFatal: (trouble) => {
      if (!over.signal.aborted) deps.onFatal(fatalSentence(trouble));
    },
  });

  const remind = makeReminders({store, poster, clock, log, approvers: approverMentions(policy)});
  const logger = boltLogger(log);
  const clientOptions = {
    timeout: API_TIMEOUT_MS,
    retryConfig: {...ASK_RETRIES},
    rejectRateLimitedCalls: true,
    ...(options.apiUrl === null ? {} : {slackApiUrl: options.apiUrl}),
  };
  const receiver = new SocketModeReceiver({
    appToken: options.appToken.reveal(),
    autoReconnectEnabled: false,
    clientPingTimeout: options.pingTimeoutMs,
    logger,
    // The library's own may ack once more, and nobody hears when that fails: it would end the process.
    processEventErrorHandler: async ({error}) => {
      log.error({error: error.stack ?? error.message}, 'a delivery of Slack was not handled');
      return false;
    },
    // Its own object: the library writes into it.
    installerOptions: {clientOptions: {...clientOptions, retryConfig: {retries: 0}}},
  });
  const app = new App({
    receiver,
    token: options.botToken.reveal(),
    convoStore: false,
    deferInitialization: true,
    extendedErrorHandler: true,
    logger,
    clientOptions,
  });
  app.use(async ({next}) => {
    noted.eventTicks = clock.ticks();
    await work.during(next);
  });
  app.error(async ({error}: {readonly error: Error}) => {
    log.error({error: error.stack ?? error.message}, 'a listener failed');
  });
  const link = keepLink({client: receiver.client, clock, log, onFatal: fatal});

  const execute = (engine: Engine, run: Run): void => {
    executing.add(run.id);
    work.start('run', async () => {
      try {
        const done = await engine.execute(run);
        if (!done.ok) log.error({runId: run.id, failure: done.failure}, 'a run could not be brought to its end');
      } finally {
        executing.delete(run.id);
      }
    });
  };

  /** Who are we? Asked until Slack answers; false once stopped or told that it can never work. */
  const introduce = async (): Promise<boolean> => {
    for (let gapMs = 1_000; !over.signal.aborted; gapMs = Math.min(gapMs * 2, 30_000)) {
      try {
        const us = await clients.ask.auth.test();
        team = us.team_id ?? '';
        await app.init();
        return true;
      } catch (error) {
        if (troubleOf(error).kind === 'fatal') {
          fatal(error);
          return false;
        }
        log.warn({trouble: troubleOf(error)}, 'Slack does not answer; trying again');
        await clock.wait(gapMs, over.signal);
      }
    }
    return false;
  };

  const agoMs = (ticks: number | null): number | null => (ticks === null ? null : Math.round(clock.ticks() - ticks));
  return {
    announcer: {
      ...delivery,
      announce: (run, events) => {
        delivery.announce(run, events);
        homes?.changed();
      },
    },
    campaigns: makeCampaignTeller({
      poster,
      clock,
      log,
      command: options.command,
      channel: options.channels[0],
      team: () => team,
      times: {askMs: policy.campaignIdleMs, keepMs: policy.campaignKeepMs},
      samePerson: policy.samePerson,
      reportOf: async (id) => {
        const done = await engineNow?.campaignReport(id);
        return done?.ok === true ? done.value : null;
      },
    }),
    reports: makeReportTeller({
      poster,
      log,
      command: options.command,
      channel: options.channels[0],
      team: () => team,
    }),
    start: async (engine) => {
      engineNow = engine;
      const desk: Desk = {
        engine,
        store,
        hosts: deps.hosts,
        policy,
        clock,
        log,
        client: clients.ask,
        poster,
        delivery,
        people: makePeople({client: clients.ask, policy, clock, log}),
        names,
        zones: makeZones({client: clients.ask, log}),
        work,
        shared: makeSharedAnswers(clock),
        command: options.command,
        channels: options.channels,
        team: () => team,
        execute: (run) => execute(engine, run),
      };
      homes = makeHomes(desk);
      listen(app, desk, homes);
      if (await introduce()) {
        // In the background: a card with an id on it is better than a late one.
        void names.learn();
        // Whoever the program before left waiting.
        work.start('answers', () => answerLeft(desk, beganAtMs));
        await link.start();
      }
    },
    flush: async () => {
      // Before auth.test no card can be kept with its workspace.
      if (team === '') return;
      homes?.beat();
      await delivery.flush();
      await remind();
    },
    health: () => {
      const downMs = link.downMs();
      return {
        ok: downMs <= SICK_AFTER_MS,
        socketDownMs: Math.round(downMs),
        lastEventAgoMs: agoMs(noted.eventTicks),
        lastApiOkAgoMs: agoMs(noted.apiTicks),
      };
    },
    stop: async (drainMs) => {
      over.abort();
      homes?.stop();
      await link.stop();
      if (!(await work.drained(drainMs))) {
        for (const id of executing) await store.askToStop(id, 'bot stopping', clock.now()).catch(() => undefined);
        await work.drained(LAST_WORDS_MS);
      }
      await delivery.settled(LAST_WORDS_MS);
      delivery.stop();
    },
  };
}
