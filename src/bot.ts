/** Composition root of `gpu-reclaim start`: the engine with Slack at its door; stopped in order. */
import {createHash, randomBytes} from 'node:crypto';
import {EXIT} from './cli/exit-code.ts';
import type {Config, SlackSettings} from './config/config.ts';
import {loadConfig} from './config/load.ts';
import type {Failure} from './domain/failure.ts';
import type {Host, HostName} from './domain/host.ts';
import {parseSignalLine} from './domain/parse/signal-output.ts';
import {runId} from './domain/run.ts';
import {makeEngine} from './engine/engine.ts';
import type {Clock, Engine, RunStore} from './engine/ports.ts';
import {type Logger, makeLogger} from './log.ts';
import {makeDraw} from './picture/draw.ts';
import {failureSentence} from './report/failure-sentence.ts';
import {keepCampaigns} from './schedule/campaign-times.ts';
import {keepLaterLooks} from './schedule/later-looks.ts';
import {nextTimes} from './schedule/next-times.ts';
import {makeReportTimes, type ReportTimes} from './schedule/report-times.ts';
import {makeSlackBot, type SlackBot} from './slack/bot.ts';
import {serveHealth} from './slack/health.ts';
import {makeRemoteHosts} from './ssh/remote-host.ts';
import {REMOTE_SCRIPTS} from './ssh/remote-scripts.ts';
import {takeInstanceLock} from './store/instance-lock.ts';
import {isOwnerAlive, ownLeaseOwner} from './store/lease-owner.ts';
import {openStore} from './store/open-store.ts';
import {systemClock} from './system-clock.ts';

/** Expired plans are closed and dead programs' runs taken up so often. */
const RECOVER_EVERY_MS = 5_000;
/** Runs that the terminal closed are found so often. */
const LOOKS_EVERY_MS = 5_000;
/** Schedules that the terminal added are found so often, and what Slack did not take is tried again. */
const REPORTS_EVERY_MS = 5_000;
/** Campaigns that the terminal began are found so often. */
const CAMPAIGNS_EVERY_MS = 5_000;
/** How long a report that is being told may hold up the end. */
const REPORTS_END_MS = 5_000;
const FLUSH_EVERY_MS = 3_000;
const DRAIN_MS = 20_000;
/** As the manifest has it. */
const COMMAND = '/gpu';
const PING_TIMEOUT_MS = 2_500;

export interface BotIo {
  readonly print: (line: string) => void;
  readonly complain: (line: string) => void;
}

/** Runs until SIGINT or SIGTERM, or until Slack or a bug ends it; the exit code comes back. */
export async function runBot(io: BotIo): Promise<number> {
  const refuse = (failure: Failure): number => {
    io.complain(failureSentence(failure));
    return failure.reason === 'config-bad' ? EXIT.usage : EXIT.store;
  };
  const config = loadConfig(undefined, undefined, 'bot');
  if (!config.ok) return refuse(config.failure);
  const {slack, databasePath} = config.value;
  if (slack === null) throw new Error('Internal error: the config was loaded without Slack');
  const store = await openStore(databasePath);
  if (!store.ok) return refuse(store.failure);
  const lock = await takeInstanceLock(databasePath);
  if (!lock.ok) {
    await store.value.close();
    return refuse(lock.failure);
  }
  const logger = makeLogger({level: config.value.logLevel});
  try {
    return await work(config.value, slack, store.value, logger, io);
  } finally {
    await store.value.close();
    lock.value.release();
  }
}

async function work(config: Config, slack: SlackSettings, store: RunStore, logger: Logger, io: BotIo): Promise<number> {
  const clock = systemClock();
  const ending = hearTheEnd(logger, io.complain);
  const hosts = new Map([...config.hosts].map(([name, entry]) => [name, entry.host]));
  const remote = makeRemoteHosts({
    access: new Map([...config.hosts].map(([name, entry]) => [name, entry.access])),
    newNonce: () => randomBytes(16).toString('hex'),
    scripts: REMOTE_SCRIPTS,
    parseSignalLine,
    clock,
  });
  const bot = makeSlackBot(
    {...slack, command: COMMAND, pingTimeoutMs: PING_TIMEOUT_MS},
    {
      store,
      hosts,
      policy: config.policy,
      clock,
      log: logger,
      draw: config.policy.pictures ? makeDraw() : null,
      onFatal: (sentence) => ending.end(EXIT.usage, sentence),
      onBug: (error, during) => ending.end(EXIT.internal, `${during} failed: ${textOf(error)}`),
    },
  );
  const bare = engineFor({config, hosts, remote, store, clock, logger, bot});
  const reports = makeReportTimes({
    engine: bare,
    teller: bot.reports,
    clock,
    log: logger,
    everyMs: REPORTS_EVERY_MS,
    over: ending.signal,
  });
  const engine: Engine = {
    ...bare,
    addSchedule: async (asked) => {
      const added = await bare.addSchedule(asked);
      reports.nudge();
      return added;
    },
  };
  const health = slack.healthPort === null ? null : await serveHealth(slack.healthPort, bot.health);
  void repeat(clock, RECOVER_EVERY_MS, ending.signal, async () => {
    const recovered = await engine.recover();
    if (!recovered.ok) logger.error({failure: recovered.failure}, 'open runs could not be looked through');
  }).catch(ending.bug);
  const looking = keepLaterLooks({
    engine,
    clock,
    log: logger,
    everyMs: LOOKS_EVERY_MS,
    over: ending.signal,
  }).catch(ending.bug);
  const sampling = keepCampaigns({
    engine,
    teller: bot.campaigns,
    clock,
    log: logger,
    everyMs: CAMPAIGNS_EVERY_MS,
    watchEveryMs: config.policy.watchEveryMs,
    over: ending.signal,
  }).catch(ending.bug);
  const reporting = keepReports(engine, config, reports, logger).catch(ending.bug);
  void repeat(clock, FLUSH_EVERY_MS, ending.signal, () => bot.flush()).catch(ending.bug);
  void bot
    .start(engine)
    .then(() => {
      if (ending.signal.aborted) return;
      logger.info({hosts: hosts.size}, 'ready');
      io.print(`Connected to Slack: ${COMMAND} works in ${slack.channels.join(', ')}. Ctrl-C stops the bot.`);
    })
    .catch(ending.bug);

  const code = await ending.code;
  await bot.stop(code === EXIT.done ? DRAIN_MS : 0);
  health?.close();
  await remote.close();
  await looking;
  // A message that Slack is slow to take stays owed: the next start tells it.
  await Promise.race([Promise.all([reporting, sampling]), clock.wait(REPORTS_END_MS)]);
  ending.release();
  return code;
}

/** The policy file's schedules first: one that was taken out of it must not be due once more. */
async function keepReports(engine: Engine, config: Config, reports: ReportTimes, logger: Logger): Promise<void> {
  const kept = await engine.keepFileSchedules(config.schedules);
  if (!kept.ok) logger.error({failure: kept.failure}, 'the schedules of the policy file could not be kept');
  await reports.keep();
}

function engineFor(parts: {
  readonly config: Config;
  readonly hosts: ReadonlyMap<HostName, Host>;
  readonly remote: ReturnType<typeof makeRemoteHosts>;
  readonly store: RunStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bot: SlackBot;
}): Engine {
  const {config, hosts, remote, store, clock, logger, bot} = parts;
  return makeEngine({
    hosts,
    remote,
    store,
    policy: config.policy,
    clock,
    log: logger,
    announcer: bot.announcer,
    newRunId: () => runId(randomBytes(6).toString('hex')),
    digest: (text) => createHash('sha256').update(text).digest('hex'),
    nextTimes,
    isAlive: isOwnerAlive,
    owner: ownLeaseOwner('bot', 'the Slack bot'),
  });
}

/** At once and then every `ms`, never twice at a time. A broken store is waited out; anything else thrown is a bug. */
async function repeat(clock: Clock, ms: number, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Error && 'failure' in error)) throw error;
    }
    await clock.wait(ms, signal);
  }
}

interface Ending {
  readonly code: Promise<number>;
  readonly signal: AbortSignal;
  end(code: number, line: string): void;
  readonly bug: (error: unknown) => void;
  /** Hears no more signals. */
  release(): void;
}

/**
 * The first SIGINT or SIGTERM begins an orderly stop, the second ends at once. A rejection that nobody handled is a bug and
 * ends the process for its supervisor to start again, save the empty one that the socket library leaves behind at a stop.
 */
function hearTheEnd(logger: Logger, complain: (line: string) => void): Ending {
  const over = new AbortController();
  let settle: (code: number) => void = () => undefined;
  const code = new Promise<number>((resolve) => {
    settle = resolve;
  });
  const end = (exitCode: number, line: string): void => {
    if (over.signal.aborted) return;
    if (exitCode !== EXIT.done) {
      logger.error({}, line);
      complain(line);
    }
    over.abort();
    settle(exitCode);
  };
  const onSignal = (): void => {
    if (over.signal.aborted) process.exit(130);
    end(EXIT.done, 'stopping');
  };
  const bug = (error: unknown): void => end(EXIT.internal, `Internal error: ${textOf(error)}`);
  const onRejection = (reason: unknown): void => {
    if (reason === undefined && over.signal.aborted) return;
    bug(reason);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('unhandledRejection', onRejection);
  return {
    code,
    signal: over.signal,
    end,
    bug,
    release: () => {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
