/**
 * Which modal is open before whom. emulate stores views and rules over triggers; what it lacks is the stack on a person's
 * screen, and a way to read it.
 */
import type {ViewOutput} from '@slack/bolt';
import {withIds} from './blocks.ts';
import {isObject, type Json} from './check-elements.ts';
import type {Newsroom} from './news.ts';
import type {StateKeeper} from './state-keeper.ts';

export interface Screens {
  /** A trigger for this person, good once and for 3 s; from within a view it may also push. */
  trigger(user: string, viewId?: string): Promise<string>;
  /** What a views.* call answered. */
  opened(triggerId: string, view: unknown, how: 'open' | 'push'): void;
  updated(view: unknown): void;
  top(user: string): ViewOutput | null;
  owner(viewId: string): string | null;
  say(user: string, errors: Readonly<Record<string, string>>): void;
  /** Takes this view away; what the app put above it in the meantime stays. */
  leave(user: string, viewId: string): void;
  clear(user: string): void;
}

export function openScreens(keeper: Pick<StateKeeper, 'call'>, botToken: string, news: Newsroom): Screens {
  const stacks = new Map<string, readonly ViewOutput[]>();
  const triggers = new Map<string, string>();
  const put = (user: string, stack: readonly ViewOutput[], errors: Readonly<Record<string, string>> = {}): void => {
    stacks.set(user, stack);
    news.tell({kind: 'view', user, view: stack.at(-1) ?? null, errors});
  };
  const stackOf = (user: string): readonly ViewOutput[] => stacks.get(user) ?? [];
  const owner = (viewId: string): string | null =>
    [...stacks].find(([, stack]) => stack.some((view) => view.id === viewId))?.[0] ?? null;
  return {
    trigger: async (user, viewId) => {
      const answer = await keeper.call(
        'views.generateTriggerId',
        {user_id: user, ...(viewId === undefined ? {} : {view_id: viewId})},
        botToken,
      );
      if (!answer.ok) throw new Error(`Internal error: no trigger for ${user}: ${answer.error}`);
      const trigger = String(answer['trigger_id']);
      triggers.set(trigger, user);
      if (triggers.size > 5000) triggers.delete(triggers.keys().next().value ?? '');
      return trigger;
    },
    opened: (triggerId, view, how) => {
      const user = triggers.get(triggerId);
      if (user === undefined || !isObject(view)) return;
      put(user, how === 'open' ? [viewOf(view)] : [...stackOf(user), viewOf(view)]);
    },
    updated: (view) => {
      if (!isObject(view)) return;
      const user = owner(String(view['id']));
      if (user !== null)
        put(
          user,
          stackOf(user).map((one) => (one.id === view['id'] ? viewOf(view) : one)),
        );
    },
    top: (user) => stackOf(user).at(-1) ?? null,
    owner,
    say: (user, errors) => put(user, stackOf(user), errors),
    leave: (user, viewId) =>
      put(
        user,
        stackOf(user).filter(({id}) => id !== viewId),
      ),
    clear: (user) => put(user, []),
  };
}

/** emulate's view has every field of Bolt's; only the ids of blocks are still to be dealt out. */
export function viewOf(view: Json): ViewOutput {
  const whole: Json = {...view, blocks: withIds(view['blocks'])};
  return whole as unknown as ViewOutput;
}
