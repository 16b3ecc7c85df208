/** The fault panel: each switch says in one sentence what it does, and what to watch for. */
import type {Fault, Faults} from '../slack/faults.ts';
import type {Sockets} from '../slack/sockets.ts';

/** What a person in front of the page reads of one switch. */
export interface SwitchWords {
  readonly id: string;
  readonly label: string;
  readonly does: string;
  readonly watch: string;
}

/** `press` answers with one sentence about what happened. */
export interface Switch extends SwitchWords {
  readonly press: () => Promise<string> | string;
}

export interface SwitchGroup {
  readonly title: string;
  readonly switches: readonly Switch[];
}

/** The demo's own process of the bot. */
export interface BotProcess {
  state(): 'running' | 'starting' | 'ended';
  start(): Promise<void>;
  /** SIGTERM, and its end. */
  stop(): Promise<void>;
  /** SIGKILL, and its end. */
  kill(): Promise<void>;
  /** SIGKILL at the moment when the next signal reaches a process of a host. */
  killAtNextSignal(): Promise<string>;
  listen(listener: () => void): () => void;
}

export interface StageState {
  readonly connected: number;
  /** null: whoever made this Slack starts and ends the bot itself. */
  readonly bot: 'running' | 'starting' | 'ended' | null;
  /** Switches that wait for their moment. */
  readonly open: readonly {readonly id: string; readonly left: number}[];
}

export interface Switches {
  readonly groups: readonly SwitchGroup[];
  state(): StageState;
  press(id: string): Promise<string>;
  listen(listener: (state: StageState) => void): () => void;
}

const CALLS = 5;
const WAIT_S = 2;
const SLOW_MS = 3_000;

export function openSwitches(deps: {
  readonly faults: Faults;
  readonly sockets: Sockets;
  readonly bot: BotProcess | null;
  /** What can be done to the hosts. */
  readonly hosts: readonly Switch[];
}): Switches {
  const {faults, sockets, bot} = deps;
  const armed = new Map<Fault, string>();
  let kills = 0;
  const arm = (id: string, fault: Fault, said: string): string => {
    armed.set(fault, id);
    faults.set(fault);
    return said;
  };
  const groups = [
    {title: 'The socket', switches: socketSwitches(sockets, arm)},
    {title: "Slack's answers", switches: answerSwitches(arm, faults)},
    ...(bot === null ? [] : [{title: 'The bot', switches: botSwitches(bot, armKill)}]),
    ...(deps.hosts.length === 0 ? [] : [{title: 'The hosts', switches: deps.hosts}]),
  ];
  const listeners = new Set<(state: StageState) => void>();
  const state = (): StageState => {
    const left = new Map<string, number>(kills > 0 ? [['kill-in-the-middle', kills]] : []);
    for (const one of faults.open()) {
      const id = armed.get(one.fault);
      if (id !== undefined) left.set(id, (left.get(id) ?? 0) + one.left);
    }
    return {
      connected: sockets.connected(),
      bot: bot?.state() ?? null,
      open: [...left].map(([id, count]) => ({id, left: count})),
    };
  };
  const changed = (): void => {
    for (const listener of listeners) listener(state());
  };
  const stops = [faults.listen(changed), sockets.listen(changed), ...(bot === null ? [] : [bot.listen(changed)])];

  return {
    groups,
    state,
    press: async (id) => {
      if (id === 'start' && bot !== null) {
        if (bot.state() !== 'ended') return 'It is running.';
        await bot.start();
        return 'The bot is running again.';
      }
      const found = groups.flatMap(({switches}) => switches).find((one) => one.id === id);
      if (found === undefined) throw new Error('There is no such switch.');
      return found.press();
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) for (const stop of stops) stop();
      };
    },
  };

  function armKill(): string {
    if (bot === null || kills > 0) return 'It waits already.';
    kills = 1;
    changed();
    void bot.killAtNextSignal().finally(() => {
      kills = 0;
      changed();
    });
    return 'Waiting for the next one.';
  }
}

type Arm = (id: string, fault: Fault, said: string) => string;

function socketSwitches(sockets: Sockets, arm: Arm): readonly Switch[] {
  return [
    {
      id: 'drop',
      label: 'Drop the socket',
      does: "Cuts the bot's connection without a word.",
      watch: 'it is back within seconds, and no card stands still for good.',
      press: () => {
        const count = sockets.connected();
        sockets.drop();
        return count === 0 ? 'There was no socket.' : 'Dropped.';
      },
    },
    {
      id: 'refresh',
      label: 'Refresh the socket',
      does: 'Asks the bot to come back by a new socket, as Slack does every few hours.',
      watch: 'no command in between is lost, none is answered twice.',
      press: () => {
        sockets.refresh();
        return 'Asked.';
      },
    },
    {
      id: 'duplicate',
      label: 'Deliver the next one twice',
      does: 'The next command or click reaches the bot two times.',
      watch: 'one run and one card; a second click is told who was first.',
      press: () => arm('duplicate', {kind: 'duplicate-envelope'}, 'Waiting for the next one.'),
    },
    {
      id: 'redeliver',
      label: 'Redeliver the last one',
      does: 'Sends the last command or click once more, as when its acknowledgement was lost.',
      watch: 'no second run, no second signal.',
      press: async () => {
        const done = await sockets.redeliver();
        if (done === null) return 'Nothing was delivered yet.';
        return done.outcome === 'acked' ? 'Delivered again, and acknowledged.' : `Not acknowledged (${done.outcome}).`;
      },
    },
  ];
}

function answerSwitches(arm: Arm, faults: Faults): readonly Switch[] {
  return [
    {
      id: 'rate-limit',
      label: `Too many requests, ${CALLS} times`,
      does: `The next ${CALLS} calls of the bot are answered with 429 and "wait ${WAIT_S} s".`,
      watch: 'cards move late, but the last state arrives.',
      press: () =>
        arm(
          'rate-limit',
          {kind: 'rate-limit', method: '*', retryAfterS: WAIT_S, times: CALLS},
          `For the next ${CALLS}.`,
        ),
    },
    {
      id: 'slow',
      label: `Slow answers, ${CALLS} times`,
      does: `The next ${CALLS} calls of the bot take ${SLOW_MS / 1000} s each.`,
      watch: 'commands are acknowledged all the same, and the run on the host waits for no Slack.',
      press: () => arm('slow', {kind: 'slow', method: '*', delayMs: SLOW_MS, times: CALLS}, `For the next ${CALLS}.`),
    },
    {
      id: 'lost-answer',
      label: 'Lose the next answer',
      does: 'The next message is stored, and then the connection is cut instead of an answer.',
      watch: 'the bot cannot know that it was posted; what it does next must not make two runs of one.',
      press: () => arm('lost-answer', {kind: 'drop-answer', method: 'chat.postMessage'}, 'Waiting for the next one.'),
    },
    {
      id: 'calm',
      label: 'Take all of it back',
      does: 'Whatever still waits for its moment is forgotten.',
      watch: 'everything goes its way again.',
      press: () => {
        faults.clear();
        return 'Nothing waits any more.';
      },
    },
  ];
}

function botSwitches(bot: BotProcess, armKill: () => string): readonly Switch[] {
  return [
    {
      id: 'restart',
      label: 'Restart the bot',
      does: 'SIGTERM, then a new process, as when a new version is brought out.',
      watch: 'cards that wait still work, a run at work stops before its next signal.',
      press: async () => {
        await bot.stop();
        await bot.start();
        return 'A new process is connected.';
      },
    },
    {
      id: 'kill-in-the-middle',
      label: 'Kill the bot in the middle',
      does: 'SIGKILL to the bot as soon as the next signal has reached a process.',
      watch: 'started again, it sends nothing by itself: it looks, closes the run as interrupted, and asks.',
      press: armKill,
    },
    {
      id: 'kill',
      label: 'Kill the bot now',
      does: 'SIGKILL, and nobody starts it again but you.',
      watch: 'what is typed now fails as in Slack; after the start everything stored is still there.',
      press: async () => {
        await bot.kill();
        return 'It is dead.';
      },
    },
  ];
}
