/** The production door to Slack in a local Slack, over a real store and the real rules; only the host is scripted. */
import {createHash, randomBytes} from 'node:crypto';
import {onTestFinished} from 'vitest';
import {type Failure, fail, ok} from '../../src/domain/failure.ts';
import {hostName} from '../../src/domain/host.ts';
import type {Policy} from '../../src/domain/policy.ts';
import {type RunId, runId} from '../../src/domain/run.ts';
import type {Snapshot} from '../../src/domain/snapshot.ts';
import {bareOutcome, close, commit} from '../../src/engine/commit.ts';
import type {EngineDeps} from '../../src/engine/deps.ts';
import {makeEngine} from '../../src/engine/engine.ts';
import {offerFrom} from '../../src/engine/offer.ts';
import type {Clock, Engine, RunStore} from '../../src/engine/ports.ts';
import type {RemoteHosts} from '../../src/engine/remote-ports.ts';
import {makeTurns} from '../../src/engine/turns.ts';
import {type LocalSlack, type LocalSlackOptions, startLocalSlack} from '../../src/playground/slack/local-slack.ts';
import {keepCampaigns} from '../../src/schedule/campaign-times.ts';
import {nextTimes} from '../../src/schedule/next-times.ts';
import {makeReportTimes} from '../../src/schedule/report-times.ts';
import {Secret} from '../../src/secret.ts';
import {makeSlackBot, type SlackBot} from '../../src/slack/bot.ts';
import {isOwnerAlive, ownLeaseOwner} from '../../src/store/lease-owner.ts';
import {systemClock} from '../../src/system-clock.ts';
import {
  aDiagnosis,
  aHost,
  aPolicy,
  aProcess,
  aSnapshot,
  BO_UID,
  billed,
  HOST,
  MACHINE,
  planFor,
} from '../doubles/build.ts';
import {opened, storePath} from '../store/fresh-store.ts';

export {HOST};

/** A server that a request for vllm names, and bo's job, which no request names. */
export const SNAPSHOT = aSnapshot(
  [
    billed(aProcess({pid: 500, words: ['python3', '-m', 'vllm.entrypoints']}), {0: 96_844}),
    billed(aProcess({pid: 600, uid: BO_UID, words: ['python3', 'train.py']}), {1: 21_630}),
  ],
  {used: [97_460, 22_246, 4]},
);

const unreachable = async () =>
  fail({reason: 'host-unreachable', host: HOST, address: 'gpu-07', detail: 'no route'} as const);
/** Hosts that answer no further question: what is written, and what owners know, is then unknown. */
const silentHosts: RemoteHosts = {
  host: () => ({
    probe: unreachable,
    deep: unreachable,
    writes: unreachable,
    owners: unreachable,
    owned: unreachable,
    settings: unreachable,
    sample: unreachable,
    signal: unreachable,
  }),
  close: async () => undefined,
};

export interface Rig {
  readonly slack: LocalSlack;
  readonly store: RunStore;
  readonly engine: Engine;
  readonly log: readonly string[];
  readonly fatal: readonly string[];
  /** Moves the clock of rules and expiries. */
  skip(ms: number): void;
  /** Looks and executions wait from here on, until what comes back is called. */
  hold(): () => void;
  /** The ids of runs that were executed. */
  readonly executed: readonly RunId[];
  /** Kills nothing: the bot is stopped and another begins on the same store. */
  restart(): Promise<void>;
  stopBot(drainMs: number): Promise<void>;
  connect(): Promise<void>;
}

export interface RigOptions extends LocalSlackOptions {
  readonly policy?: (slack: LocalSlack) => Partial<Policy>;
  readonly connected?: boolean;
  /** The channel that the bot is told to work in: the first unless said. */
  readonly allowed?: (slack: LocalSlack) => string | undefined;
  /** Names of hosts, if not the one. */
  readonly hosts?: readonly string[];
  /** What the look for "Choose…" sees, or why it fails: what stood on the card unless said. */
  readonly fresh?: () => Snapshot | Failure;
  /** What the first look sees. */
  readonly first?: Snapshot;
  /** Who answers the looks of scheduled reports: nobody unless said. */
  readonly remote?: RemoteHosts;
  /** None unless said. */
  readonly draw?: (svg: string) => Promise<Uint8Array>;
}

export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const slack = await startLocalSlack(options);
  onTestFinished(() => slack.close());
  const path = storePath();
  const store = await opened(path);
  const {approver, requester} = slack.users;
  const names = options.hosts?.map(hostName) ?? [HOST];
  const hosts = new Map(names.map((name) => [name, aHost({name})]));
  const policy = aPolicy({
    approvers: [
      {kind: 'slack-user', id: approver.id},
      {kind: 'slack-user', id: requester.id},
    ],
    ...options.policy?.(slack),
  });
  let skewMs = 0;
  let gate: Promise<void> | null = null;
  const log: string[] = [];
  const fatal: string[] = [];
  const executed: RunId[] = [];
  const real = systemClock();
  const clock: Clock = {...real, now: () => real.now() + skewMs};
  const note = (fields: unknown, message: string): void => void log.push(`${message} ${JSON.stringify(fields)}`);

  const begin = (): {readonly bot: SlackBot; readonly engine: Engine; end(drainMs: number): Promise<void>} => {
    const bot = makeSlackBot(
      {
        botToken: new Secret(slack.botToken),
        appToken: new Secret(slack.appToken),
        apiUrl: slack.apiUrl,
        channels: [options.allowed?.(slack) ?? slack.channel.id],
        command: '/gpu',
        pingTimeoutMs: 2_500,
      },
      {
        store,
        hosts,
        policy,
        clock,
        log: {info: note, warn: note, error: note},
        draw: options.draw ?? null,
        onFatal: (sentence) => void fatal.push(sentence),
        onBug: (error, during) => void fatal.push(`bug in ${during}: ${error instanceof Error ? error.stack : error}`),
      },
    );
    const engine = scripted({
      turns: makeTurns(clock),
      hosts,
      remote: options.remote ?? {
        host: () => {
          throw new Error('Internal error: no host is asked in these tests');
        },
        close: async () => undefined,
      },
      store,
      policy,
      clock,
      log: {info: note, warn: note, error: note},
      announcer: bot.announcer,
      newRunId: () => runId(randomBytes(6).toString('hex')),
      digest: (text) => createHash('sha256').update(text).digest('hex'),
      nextTimes,
      isAlive: isOwnerAlive,
      owner: ownLeaseOwner('bot', 'test'),
    });
    const over = new AbortController();
    const reports = makeReportTimes({
      engine,
      teller: bot.reports,
      clock,
      log: {info: note, warn: note, error: note},
      everyMs: 150,
      over: over.signal,
    });
    const reporting = reports.keep();
    const campaigns = keepCampaigns({
      engine,
      teller: bot.campaigns,
      clock,
      log: {info: note, warn: note, error: note},
      everyMs: 150,
      watchEveryMs: policy.watchEveryMs,
      over: over.signal,
    });
    const pulse = (async () => {
      while (!over.signal.aborted) {
        await bot.flush();
        await clock.wait(150, over.signal);
      }
    })();
    return {
      bot,
      engine,
      end: async (drainMs) => {
        over.abort();
        await bot.stop(drainMs);
        await pulse;
        await reporting;
        await campaigns;
      },
    };
  };

  const lookedAt = async () => {
    await gate;
    return ok({snapshot: SNAPSHOT, diagnosis: aDiagnosis(SNAPSHOT)});
  };

  const scripted = (deps: EngineDeps): Engine => ({
    ...makeEngine(deps),
    look: lookedAt,
    diagnose: lookedAt,
    offer: async (run) => {
      await gate;
      const look = options.fresh?.() ?? options.first ?? SNAPSHOT;
      const answer = 'reason' in look ? fail(look) : ok({snapshot: look, diagnosis: aDiagnosis(look)});
      return offerFrom({...deps, remote: silentHosts}, run, answer);
    },
    propose: async (request) => {
      const atMs = clock.now();
      const seen = options.first ?? SNAPSHOT;
      const first = {kind: 'requested', atMs, request} as const;
      const requester = request.requester.kind === 'slack-user' ? `slack:${request.requester.id}` : 'os:anna';
      const id = deps.newRunId();
      const run = await store.open({id, host: HOST, atMs, requester, event: first, owner: deps.owner});
      if (!run.ok)
        return {ok: false, failure: {reason: 'host-busy', host: HOST, runId: run.busy.id, by: 'slack:somebody'}};
      deps.announcer.announce(run.run, run.run.events);
      const surveyed = await commit(deps, run.run, 'looking', [{kind: 'surveyed', atMs, snapshot: seen}], {
        machine: {bootId: MACHINE.bootId, pidNamespace: MACHINE.pidNamespace},
      });
      if (!surveyed.ok) return surveyed;
      const plan = {...planFor(seen, request, {policy}), runId: id};
      const digest = deps.digest(JSON.stringify(plan));
      const expiresAtMs = atMs + policy.approvalMs;
      const waiting = await commit(
        deps,
        surveyed.value,
        'awaiting-go',
        [{kind: 'planned', atMs, plan, digest, expiresAtMs}],
        {openApproval: {digest, expiresAtMs}, releaseLease: true},
      );
      return waiting.ok ? ok({run: waiting.value, plan, digest, diagnosis: aDiagnosis(seen)}) : waiting;
    },
    execute: async (run) => {
      executed.push(run.id);
      const going = await commit(deps, run, 'executing', [
        {kind: 'rechecked', atMs: clock.now(), snapshot: SNAPSHOT, drift: []},
      ]);
      if (!going.ok) return going;
      for (let beat = 0; beat < 3; beat += 1) deps.announcer.progress(going.value, {kind: 'heartbeat', uptimeMs: beat});
      await gate;
      const stop = await store.stopAsked(run.id);
      return close(deps, going.value, bareOutcome(stop === null ? 'reclaimed' : 'cancelled', null));
    },
  });

  let running = begin();
  const connect = async (): Promise<void> => {
    void running.bot.start(running.engine);
    await slack.whenConnected();
  };
  if (options.connected !== false) await connect();
  // Before the store and the Slack that they need are closed.
  onTestFinished(() => running.end(1_000));
  return {
    slack,
    store,
    get engine() {
      return running.engine;
    },
    log,
    fatal,
    executed,
    skip: (ms) => {
      skewMs += ms;
    },
    hold: () => {
      let release: () => void = () => undefined;
      gate = new Promise((resolve) => {
        release = resolve;
      });
      return () => {
        gate = null;
        release();
      };
    },
    connect,
    stopBot: (drainMs) => running.end(drainMs),
    restart: async () => {
      await running.end(0);
      running = begin();
      await connect();
    },
  };
}
