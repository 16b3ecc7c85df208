/** The demo's own process of the bot, as the page's fault panel ends and starts it. */
import {setTimeout as wait} from 'node:timers/promises';
import type {BotProcess} from '../page/switches.ts';
import type {SlackBot} from './slack-bot.ts';

const LOOK_MS = 10;

/** `signals` counts what has reached processes of the hosts so far, as the labs' witnesses have it. */
export function botProcess(bot: () => SlackBot | null, signals: () => Promise<number>): BotProcess {
  let starting = false;
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const present = (): SlackBot => {
    const found = bot();
    if (found === null) throw new Error('The bot is not made yet.');
    return found;
  };
  const state: BotProcess['state'] = () =>
    starting ? 'starting' : bot()?.running() === false ? 'ended' : bot() === null ? 'starting' : 'running';
  return {
    state,
    start: async () => {
      if (state() !== 'ended') return;
      starting = true;
      changed();
      try {
        await present().start();
      } finally {
        starting = false;
        changed();
      }
    },
    stop: () => present().stop(),
    kill: () => present().kill(),
    killAtNextSignal: async () => {
      const before = await signals();
      // The labs' record is a file that grows: nothing calls us when it does.
      while (present().running()) {
        if ((await signals()) > before) {
          await present().kill();
          return 'The bot was killed after a signal had arrived.';
        }
        await wait(LOOK_MS);
      }
      return 'The bot ended before any signal.';
    },
    listen: (listener) => {
      listeners.add(listener);
      const stop = bot()?.listen(listener);
      return () => {
        listeners.delete(listener);
        stop?.();
      };
    },
  };
}
