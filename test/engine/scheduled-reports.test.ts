/**
 * Scheduled reports over a real store, the real engine and timer, a clock that is moved by hand, and hosts that answer with
 * what a real H200 said, or do not answer. A bot that dies is one whose work is left where it stands.
 */
import {readFileSync} from 'node:fs';
import {describe, expect, it, onTestFinished} from 'vitest';
import {ok, type Result} from '../../src/domain/failure.ts';
import {type Host, type HostName, hostName} from '../../src/domain/host.ts';
import {hostState} from '../../src/domain/host-report.ts';
import {readReport} from '../../src/domain/report-words.ts';
import {runId} from '../../src/domain/run.ts';
import type {NewSchedule, Report} from '../../src/domain/schedule.ts';
import type {Transcript} from '../../src/domain/transcript.ts';
import type {EngineDeps} from '../../src/engine/deps.ts';
import {makeEngine} from '../../src/engine/engine.ts';
import type {Clock, RunStore} from '../../src/engine/ports.ts';
import type {FinishedReport, Telling} from '../../src/engine/report-ports.ts';
import {makeTurns} from '../../src/engine/turns.ts';
import {lateLines, whyLine} from '../../src/report/fleet-report.ts';
import {nextTimes} from '../../src/schedule/next-times.ts';
import {makeReportTimes} from '../../src/schedule/report-times.ts';
import {StoreError} from '../../src/store/store-error.ts';
import {ANNA, aHost, aPolicy} from '../doubles/build.ts';
import {lookOnly, unreachable} from '../doubles/look-only.ts';
import {opened, storePath} from '../store/fresh-store.ts';
import {OWNER, RUN, requested} from '../store/sample.ts';

const NONCE = '0123456789abcdef0123456789abcdef';
const H200 = readFileSync(new URL('../fixtures/probes/h200.txt', import.meta.url), 'utf8');
const A = hostName('gpu-07');
const B = hostName('gpu-08');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse('2027-03-01T10:00:00Z');
/** A process of the fixture. */
const PID = 1365;

type Answering = (host: HostName) => Promise<Result<string>>;

interface World {
  readonly store: RunStore;
  readonly clock: Clock & {at: number};
  /** Moves the clock; whoever waits for a time that has come wakes. */
  pass(ms: number): Promise<void>;
  hosts: Map<HostName, Host>;
  answer: Answering;
  probes: number;
}

/** Time stands still until it is moved. */
async function world(): Promise<World> {
  const waiting = new Set<{readonly atMs: number; wake(): void}>();
  const clock = {
    at: START,
    now: () => clock.at,
    ticks: () => clock.at,
    wait: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        const entry = {
          atMs: clock.at + ms,
          wake: () => {
            waiting.delete(entry);
            resolve();
          },
        };
        if (ms <= 0 || signal?.aborted === true) return resolve();
        waiting.add(entry);
        signal?.addEventListener('abort', entry.wake, {once: true});
      }),
  };
  const host = (name: HostName): [HostName, Host] => [name, {...aHost(), name}];
  return {
    store: await opened(storePath()),
    clock,
    pass: async (ms) => {
      clock.at += ms;
      for (const entry of [...waiting]) if (entry.atMs <= clock.at) entry.wake();
    },
    hosts: new Map([host(A), host(B)]),
    answer: async () => ok(H200),
    probes: 0,
  };
}

interface Bot {
  readonly engine: ReturnType<typeof makeEngine>;
  readonly told: FinishedReport[];
  telling: Telling['kind'];
  nudge(): void;
  stop(): Promise<void>;
}

/** One bot's life. `stop` is orderly; one that is not stopped has died where it stood. */
function bot(on: World): Bot {
  const {store, clock} = on;
  const quiet = {info: () => undefined, warn: () => undefined, error: () => undefined};
  let count = 0;
  const deps: EngineDeps = {
    hosts: on.hosts,
    remote: {
      host: (name) =>
        lookOnly(name, async () => {
          on.probes += 1;
          const said = await on.answer(name);
          return said.ok ? ok(transcript(name, said.value)) : said;
        }),
      close: async () => undefined,
    },
    store,
    policy: aPolicy(),
    clock,
    log: quiet,
    announcer: {announce: () => undefined, progress: () => undefined},
    // The same ids in each life: one that is taken must not be taken again.
    newRunId: () => {
      count += 1;
      return runId(`${String(count).padStart(5, '0')}0000000`);
    },
    digest: () => 'd',
    nextTimes,
    isAlive: () => true,
    turns: makeTurns(clock),
    owner: OWNER,
  };
  const engine = makeEngine(deps);
  const over = new AbortController();
  const told: FinishedReport[] = [];
  const made: Bot = {
    engine,
    told,
    telling: 'told',
    nudge: () => times.nudge(),
    stop: async () => {
      over.abort();
      await keeping;
    },
  };
  const times = makeReportTimes({
    engine,
    teller: {
      tell: async (finished) => {
        if (made.telling === 'later') return {kind: 'later'};
        told.push(finished);
        if (made.telling === 'nowhere') return {kind: 'nowhere', why: 'is_archived'};
        return {kind: 'told', message: {channel: 'C1', ts: `${told.length}.0`, day: '2027-03-01'}};
      },
    },
    clock,
    log: quiet,
    everyMs: 5_000,
    over: over.signal,
  });
  const keeping = times.keep();
  onTestFinished(made.stop);
  return made;
}

function transcript(host: HostName, said: string): Transcript {
  const stdout = new TextEncoder().encode(said);
  return {host, hostKey: 'SHA256:k', nonce: NONCE, stdout, stderr: '', exitCode: 0, tookMs: 9};
}

async function add(on: World, one: Bot, phrase: string) {
  const asked = readReport(phrase.split(' '), [...on.hosts.values()]);
  if (!asked.ok || asked.value.when === null) throw new Error(`${phrase} does not read`);
  const {hosts, when, zone, quiet} = asked.value;
  const wanted: NewSchedule = {hosts, when, zone: zone ?? 'UTC', channel: null, quiet, by: 'slack:U1'};
  const added = await one.engine.addSchedule(wanted);
  one.nudge();
  if (!added.ok) throw new Error(JSON.stringify(added.failure));
  return added.value;
}

async function reportsOf(on: World, id: string): Promise<readonly Report[]> {
  return (await on.store.schedules.reportsOf(id as never, 50)).toReversed();
}

const at = (atMs: number): string => new Date(atMs).toISOString().slice(11, 16);
const short = (report: Report): string =>
  `${at(report.dueAtMs)} ${report.phase}${report.late ? ' late' : ''}${report.missed > 0 ? ` +${report.missed}` : ''}`;

describe('a bot that is dead for two hours across due times', () => {
  it('makes each due report once when it is back: late, one for all that were missed', async () => {
    const on = await world();
    const first = bot(on);
    const repeating = await add(on, first, 'gpu-07 every 30m');
    const once = await add(on, first, 'gpu-08 in 45m');
    const after = await add(on, first, 'gpu-08 in 3h');
    await on.pass(30 * MINUTE);
    await expect.poll(() => first.told.length).toBe(1);
    await first.stop();
    await on.pass(2 * HOUR + 7 * MINUTE);
    expect(on.probes).toBe(1);

    const second = bot(on);
    await expect.poll(() => second.told.length).toBe(2);
    expect((await reportsOf(on, repeating.schedule.id)).map(short)).toEqual(['10:30 told', '12:30 told late +3']);
    expect((await reportsOf(on, once.schedule.id)).map(short)).toEqual(['10:45 told late']);
    expect(await reportsOf(on, after.schedule.id)).toEqual([]);
    expect(on.probes).toBe(3);
    const late = second.told.find(({schedule}) => schedule.id === repeating.schedule.id);
    expect(late && lateLines(late.report, late.skippedMs, at)).toEqual([
      'Late: due 12:30, and nobody was there to make it. It stands for 3 earlier ones missed as well.',
    ]);
    // Compared with what the dead one saw.
    expect(late?.beforeMs).toBe(START + 30 * MINUTE);

    // And it goes on where its times are.
    await on.pass(23 * MINUTE);
    await expect.poll(() => second.told.length).toBe(4);
    expect((await reportsOf(on, repeating.schedule.id)).map(short).at(-1)).toBe('13:00 told');
    expect((await reportsOf(on, after.schedule.id)).map(short)).toEqual(['13:00 told']);
  });

  it('looks again for one that died while it looked, and tells one that it had made', async () => {
    const on = await world();
    let hang = true;
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    on.answer = async (host) => {
      if (hang && host === A) await gate;
      return ok(H200);
    };
    const first = bot(on);
    first.telling = 'later';
    const looking = await add(on, first, 'gpu-07 in 1m');
    const untold = await add(on, first, 'gpu-08 in 1m');
    await on.pass(MINUTE);
    await expect.poll(async () => (await reportsOf(on, untold.schedule.id)).map(short)).toEqual(['10:01 looked']);
    expect((await reportsOf(on, looking.schedule.id)).map(short)).toEqual(['10:01 begun']);
    hang = false;
    on.probes = 0;
    await on.pass(2 * HOUR);

    const second = bot(on);
    await expect.poll(() => second.told.length).toBe(2);
    // Only the one that hung is looked at again; the other has its cross-reference from the stored look.
    expect(on.probes).toBe(1);
    const kept = second.told.find(({schedule}) => schedule.id === untold.schedule.id);
    expect(kept?.diagnoses.get(B)?.holders.length).toBeGreaterThan(0);
    expect((await reportsOf(on, looking.schedule.id)).map(short)).toEqual(['10:01 told late']);
    expect((await reportsOf(on, untold.schedule.id)).map(short)).toEqual(['10:01 told']);
    expect(first.told).toEqual([]);
    release();
  });

  it('is late by seconds as well', async () => {
    const on = await world();
    const first = bot(on);
    const {schedule} = await add(on, first, 'gpu-07 in 1m');
    await first.stop();
    await on.pass(MINUTE + 10_000);
    const second = bot(on);
    await expect.poll(() => second.told.length).toBe(1);
    expect((await reportsOf(on, schedule.id)).map(short)).toEqual(['10:01 told late']);
    // One that is due in a bot's life is not, however short that is.
    const soon = await add(on, second, 'gpu-07 in 1s');
    await on.pass(3_000);
    await expect.poll(async () => (await reportsOf(on, soon.schedule.id)).map(short)).toEqual(['10:01 told']);
  });

  it('told nothing of a removed one', async () => {
    const on = await world();
    const first = bot(on);
    const {schedule} = await add(on, first, 'gpu-07 every 30m');
    await first.stop();
    expect(await first.engine.removeSchedule(schedule.id.slice(0, 4), ANNA)).toMatchObject({ok: true});
    await on.pass(2 * HOUR);
    const second = bot(on);
    await add(on, second, 'gpu-08 now');
    await expect.poll(() => second.told.length).toBe(1);
    expect(second.told[0]?.schedule.id).not.toBe(schedule.id);
    expect(await first.engine.removeSchedule(schedule.id, ANNA)).toMatchObject({failure: {reason: 'schedule-unknown'}});
  });
});

describe('a host whose connection is cut for two hours', () => {
  it('has each due report once, as unknown and never as clean, and is news when it goes and when it comes', async () => {
    const on = await world();
    const one = bot(on);
    const {schedule} = await add(on, one, 'gpu-07 gpu-08 every 30m');
    await on.pass(30 * MINUTE);
    await expect.poll(() => one.told.length).toBe(1);
    on.answer = async (host) => (host === A ? unreachable(A) : ok(H200));
    for (const nth of [2, 3, 4, 5]) {
      await on.pass(30 * MINUTE);
      await expect.poll(() => one.told.length).toBe(nth);
    }
    on.answer = async () => ok(H200);
    await on.pass(30 * MINUTE);
    await expect.poll(() => one.told.length).toBe(6);
    expect((await reportsOf(on, schedule.id)).map(short)).toEqual(
      ['10:30', '11:00', '11:30', '12:00', '12:30', '13:00'].map((time) => `${time} told`),
    );
    expect(one.told.map(({report}) => report.seen.map(hostState))).toEqual([
      ['dirty', 'dirty'],
      ...Array.from({length: 4}, () => ['unseen', 'dirty']),
      ['dirty', 'dirty'],
    ]);
    expect(one.told.map(({changes}) => changes.map((change) => change.what))).toEqual([
      [],
      ['sight'],
      [],
      [],
      [],
      ['sight'],
    ]);
  });
});

describe('a due report', () => {
  it('that meets the one before still looking is skipped, and that is said', async () => {
    const on = await world();
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    on.answer = async () => {
      await gate;
      return ok(H200);
    };
    const one = bot(on);
    const {schedule} = await add(on, one, 'gpu-07 every 5m');
    await on.pass(5 * MINUTE);
    await expect.poll(() => on.probes).toBe(1);
    await on.pass(5 * MINUTE);
    await expect
      .poll(async () => (await reportsOf(on, schedule.id)).map(short))
      .toEqual(['10:05 begun', '10:10 skipped']);
    release();
    await expect.poll(() => one.told.length).toBe(1);
    const [finished] = one.told;
    expect(finished && lateLines(finished.report, finished.skippedMs, at)).toEqual([
      'Skipped: 10:10, since this one was still looking.',
    ]);
    await on.pass(5 * MINUTE);
    await expect.poll(() => one.told.length).toBe(2);
    expect(on.probes).toBe(2);
  });

  it('waits for a Slack that is down, in its order, and is looked at once', async () => {
    const on = await world();
    const one = bot(on);
    one.telling = 'later';
    const {schedule} = await add(on, one, 'gpu-07 every 30m');
    await on.pass(30 * MINUTE);
    await expect.poll(async () => (await reportsOf(on, schedule.id)).map(short)).toEqual(['10:30 looked']);
    await on.pass(30 * MINUTE);
    await expect.poll(async () => (await reportsOf(on, schedule.id)).length).toBe(2);
    one.telling = 'told';
    await on.pass(5_000);
    await expect.poll(() => one.told.map(({report}) => at(report.dueAtMs))).toEqual(['10:30', '11:00']);
    expect(on.probes).toBe(2);
  });

  it('that no channel takes is ended as such, and the next one is tried', async () => {
    const on = await world();
    const one = bot(on);
    one.telling = 'nowhere';
    const {schedule} = await add(on, one, 'gpu-07 every 30m');
    await on.pass(30 * MINUTE);
    await expect.poll(async () => (await reportsOf(on, schedule.id)).map(short)).toEqual(['10:30 undeliverable']);
    one.telling = 'told';
    await on.pass(30 * MINUTE);
    await expect.poll(async () => (await reportsOf(on, schedule.id)).map(short).at(-1)).toBe('11:00 told');
  });

  it('of a host that is out of the hosts file says so, and looks at the others', async () => {
    const on = await world();
    const one = bot(on);
    await add(on, one, 'gpu-07 gpu-08 every 30m');
    await on.pass(30 * MINUTE);
    await expect.poll(() => one.told.length).toBe(1);
    on.hosts.delete(B);
    await on.pass(30 * MINUTE);
    await expect.poll(() => one.told.length).toBe(2);
    expect(one.told[1]?.report.seen.map(({host, state}) => `${host} ${state}`)).toEqual(['gpu-07 seen', 'gpu-08 gone']);
    expect(one.told[1]?.changes).toMatchObject([{host: B, what: 'sight', to: 'gone'}]);
  });

  it('does not look where a run is at work, and says so', async () => {
    const on = await world();
    const one = bot(on);
    const opened = await on.store.open({
      id: RUN,
      host: A,
      atMs: 1,
      requester: 'os:anna',
      event: requested(A),
      owner: OWNER,
    });
    if (!opened.ok) throw new Error('busy');
    await on.store.append({
      runId: RUN,
      expectedVersion: opened.run.version,
      phase: 'executing',
      events: [],
      outbox: [],
    });
    await add(on, one, 'gpu-07 gpu-08 now');
    await expect.poll(() => one.told.length).toBe(1);
    expect(one.told[0]?.report.seen.map((host) => host.state)).toEqual(['busy', 'seen']);
    expect(on.probes).toBe(1);
  });
});

describe('when a process exits', () => {
  const GONE = H200.replaceAll(String(PID), '2365');
  const BOOT = /boot_id \S+/;

  it.each([
    ['has ended.', GONE],
    ['the host was rebooted', H200.replace(BOOT, 'boot_id 00000000-0000-0000-0000-000000000001')],
  ])('its report says that it %s', async (expected, then) => {
    const on = await world();
    const one = bot(on);
    const {schedule, watch} = await add(on, one, `gpu-07 when PID ${PID} exits`);
    expect(watch).toMatchObject({
      kind: 'exit',
      pinned: {pid: PID, host: A, startTicks: expect.stringMatching(/^\d+$/)},
    });
    await on.pass(MINUTE);
    await expect.poll(() => on.probes).toBe(2);
    // A look that fails says nothing of it.
    on.answer = async () => unreachable(A);
    await on.pass(MINUTE);
    await expect.poll(() => on.probes).toBe(3);
    expect(await reportsOf(on, schedule.id)).toEqual([]);
    on.answer = async () => ok(then);
    await on.pass(MINUTE);
    await expect.poll(() => one.told.length).toBe(1);
    const [finished] = one.told;
    expect(finished && whyLine(finished.report)).toContain(expected);
    expect(finished?.nextMs).toBeNull();
    await on.pass(HOUR);
    expect((await reportsOf(on, schedule.id)).map((report) => report.phase)).toEqual(['told']);
  });

  it('is refused for a process that is not there', async () => {
    const on = await world();
    const one = bot(on);
    await expect(add(on, one, 'gpu-07 when PID 99999 exits')).rejects.toThrow('process-absent');
  });

  it('the store is not asked again and again while a slow host is looked at for it', async () => {
    const on = await world();
    const one = bot(on);
    const {schedule} = await add(on, one, `gpu-07 when PID ${PID} exits`);
    const later = await add(on, one, 'gpu-08 in 3h');
    await one.stop();
    await on.pass(2 * MINUTE);
    const due = await one.engine.dueReports(START);
    expect(due).toMatchObject({value: {watches: [schedule.id], nextMs: later.nextMs}});
  });

  it('goes on waiting after the bot was dead, and sees an exit that came meanwhile', async () => {
    const on = await world();
    const first = bot(on);
    await add(on, first, `gpu-07 when PID ${PID} exits`);
    await first.stop();
    on.answer = async () => ok(GONE);
    await on.pass(2 * HOUR);
    const second = bot(on);
    await expect.poll(() => second.told.length).toBe(1);
  });
});

describe('when idle', () => {
  it('its report comes after looks without a gap that show no work, and once', async () => {
    const on = await world();
    const one = bot(on);
    const {schedule} = await add(on, one, 'gpu-07 when idle 5m');
    for (let minute = 1; minute <= 5; minute += 1) {
      await on.pass(MINUTE);
      await expect.poll(() => on.probes).toBe(minute);
    }
    // Since the first look, not since it was asked for.
    expect(await reportsOf(on, schedule.id)).toEqual([]);
    await on.pass(MINUTE);
    await expect.poll(() => one.told.length).toBe(1);
    const [finished] = one.told;
    expect(finished && whyLine(finished.report)).toBe('Every GPU was idle for 5 m by unbroken looks.');
    await on.pass(HOUR);
    expect(await reportsOf(on, schedule.id)).toHaveLength(1);
  });
});

describe('schedules of the policy file', () => {
  const wanted: NewSchedule = {
    hosts: [{kind: 'host', name: A}],
    when: {kind: 'interval', ms: HOUR},
    zone: 'UTC',
    channel: null,
    quiet: true,
    by: 'file',
  };

  it('go on where they were, begin anew when changed, and end when taken out', async () => {
    const on = await world();
    const {engine} = bot(on);
    const listed = async () => {
      const all = await engine.schedules();
      return all.ok ? all.value.map(({schedule, nextMs}) => `${schedule.id} ${at(nextMs ?? 0)}`) : [];
    };
    await engine.keepFileSchedules(new Map([['nightly', wanted]]));
    expect(await listed()).toEqual(['file:nightly 11:00']);
    await on.pass(10 * MINUTE);
    await engine.keepFileSchedules(new Map([['nightly', {...wanted}]]));
    expect(await listed()).toEqual(['file:nightly 11:00']);
    await engine.keepFileSchedules(new Map([['nightly', {...wanted, quiet: false}]]));
    expect(await listed()).toEqual(['file:nightly 11:10']);
    expect(await engine.removeSchedule('nightly', ANNA)).toMatchObject({failure: {reason: 'schedule-in-file'}});
    await engine.keepFileSchedules(new Map());
    expect(await listed()).toEqual([]);
  });

  it('that come too often are left out, and so is a time that is over', async () => {
    const on = await world();
    const {engine} = bot(on);
    await engine.keepFileSchedules(new Map([['busy', {...wanted, when: {kind: 'cron', pattern: '*/2 * * * *'}}]]));
    expect(await engine.schedules()).toEqual(ok([]));
    const today = {kind: 'at', time: {hour: 9, minute: 0}, day: {by: 'days-on', days: 0}} as const;
    expect(await engine.addSchedule({...wanted, when: today})).toMatchObject({
      failure: {reason: 'schedule-unreadable', phrase: 'today 09:00 UTC'},
    });
  });
});

describe('many and broken schedules', () => {
  it('makes 200 that come due at once, each once', async () => {
    const on = await world();
    on.answer = async (host) => unreachable(host);
    const one = bot(on);
    for (let nth = 0; nth < 200; nth += 1) await add(on, one, nth % 2 === 0 ? 'gpu-07 in 5m' : 'gpu-08 every 5m');
    const asked = readReport(['gpu-07', 'in', '5m'], [...on.hosts.values()]);
    if (!asked.ok || asked.value.when === null) throw new Error('does not read');
    const {hosts, when} = asked.value;
    const more = {hosts, when, zone: 'UTC', channel: null, quiet: true, by: 'slack:U1'};
    expect(await one.engine.addSchedule(more)).toMatchObject({failure: {reason: 'too-many-schedules', limit: 200}});
    await on.pass(5 * MINUTE);
    await expect.poll(() => one.told.length, {timeout: 20_000}).toBe(200);
    expect(new Set(one.told.map(({schedule}) => schedule.id)).size).toBe(200);
  }, 30_000);

  it('goes on where one was kept with a zone that the tables of this machine do not know', async () => {
    const on = await world();
    const one = bot(on);
    const strange = await add(on, one, 'gpu-07 every day 18:00');
    const sound = await add(on, one, 'gpu-08 in 5m');
    const kept = await on.store.schedules.load(strange.schedule.id);
    if (kept === null) throw new Error('it is not kept');
    await on.store.schedules.put({...kept, schedule: {...kept.schedule, zone: 'Mars/Olympus'}, nextMs: START + MINUTE});
    expect((await one.engine.schedules()).ok).toBe(true);
    await on.pass(5 * MINUTE);
    await expect.poll(() => one.told.length).toBe(2);
    expect((await reportsOf(on, sound.schedule.id)).map(short)).toEqual(['10:05 told']);
    expect((await on.store.schedules.load(strange.schedule.id))?.nextMs).toBeNull();
  });

  it('tells once what a full store cannot write down, and writes it once it can', async () => {
    const on = await world();
    let full = true;
    const {end, ...schedules} = on.store.schedules;
    const failing: typeof end = async (...words) => {
      if (full) throw new StoreError({reason: 'store-unwritable', path: 'x', detail: 'full'});
      return end(...words);
    };
    const one = bot({...on, store: {...on.store, schedules: {...schedules, end: failing}}});
    const added = await add(on, one, 'gpu-07 in 5m');
    await on.pass(5 * MINUTE);
    await expect.poll(() => one.told.length).toBe(1);
    for (let tries = 0; tries < 3; tries += 1) {
      await on.pass(5_000);
      await expect.poll(async () => (await reportsOf(on, added.schedule.id)).map(short)).toEqual(['10:05 looked']);
    }
    full = false;
    await expect
      .poll(async () => {
        await on.pass(5_000);
        return (await reportsOf(on, added.schedule.id)).map(short);
      })
      .toEqual(['10:05 told']);
    expect(one.told).toHaveLength(1);
  });
});
