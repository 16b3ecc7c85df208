/** Makes what was dealt go wrong, in the front or with the bot itself. */
import type {Conversation, Stage, Trouble} from './deck.ts';
import {newest, type Seen} from './record.ts';
import type {Slot, World} from './world.ts';

/** What of a conversation can be broken. */
export interface Target {
  readonly world: World;
  readonly slot: Slot;
  /** The card that counts now; null: none yet. */
  readonly card: () => Seen | null;
  /** Resolves once everything that was asked for is freed and the run had time to close. */
  readonly worked: () => Promise<void>;
}

export async function strike(conversation: Conversation, stage: Stage, target: Target): Promise<void> {
  for (const trouble of conversation.troubles) if (trouble.at === stage) await make(trouble, target);
}

async function make({kind, dose}: Trouble, {world, slot, card, worked}: Target): Promise<void> {
  const {slack} = world;
  const method = ['chat.update', 'chat.postMessage', '*'][dose % 3] ?? '*';
  switch (kind) {
    case 'rate-limit':
      slack.setFault({kind: 'rate-limit', method, retryAfterS: dose, times: 1 + (dose % 2)});
      return;
    case 'slow':
      // Beyond the patience of a client now and then: the call is still carried out, later than what follows it.
      slack.setFault({kind: 'slow', method, delayMs: dose * 2_500, times: 1 + (dose % 2)});
      return;
    case 'server-error':
      slack.setFault({kind: 'http-error', method: '*', status: dose % 2 === 0 ? 500 : 503, times: dose * 2});
      return;
    case 'lost-answer':
      slack.setFault({
        kind: 'drop-answer',
        method: ['chat.postMessage', 'chat.update', 'response_url', 'chat.postEphemeral'][dose % 4] ?? '*',
        times: 1 + (dose % 3),
      });
      return;
    case 'socket-drop':
      slack.dropSockets();
      return;
    case 'refresh':
      slack.refreshSockets();
      return;
    case 'refused-upgrade':
      slack.setFault({kind: 'refuse-upgrade', times: 1 + (dose % 2)});
      slack.dropSockets();
      return;
    case 'delivered-twice':
      slack.setFault({kind: 'duplicate-envelope', times: 1 + (dose % 2)});
      return;
    case 'lost-ack':
      slack.setFault({kind: 'lose-ack'});
      slack.setFault({kind: 'redeliver-unacked'});
      return;
    case 'kill':
      return world.killBot();
    case 'outage-then-kill': {
      // Refused for certain: nothing is left in doubt, so that the outbox alone knows what is owed.
      const clear = slack.setFault({kind: 'rate-limit', method: '*', retryAfterS: 5, times: Number.POSITIVE_INFINITY});
      await worked();
      await world.killBot(clear);
      clear();
      return;
    }
    case 'archived': {
      const clear = slack.setFault({
        kind: 'refuse',
        method: '*',
        error: 'is_archived',
        channel: slot.channel.id,
        times: Number.POSITIVE_INFINITY,
      });
      await worked();
      await world.record.until(
        () =>
          world.record.told.some(
            ({user, how, text}) => user === slot.requester.id && how === 'direct' && /Told here because/.test(text),
          ),
        60_000,
      );
      clear();
      return;
    }
    case 'deleted-card': {
      const gone = card();
      if (gone === null) return;
      await fetch(`${slack.apiUrl}chat.delete`, {
        method: 'POST',
        headers: {authorization: `Bearer ${slack.botToken}`, 'content-type': 'application/json'},
        body: JSON.stringify({channel: gone.channel, ts: newest(gone).message.ts}),
      });
      return;
    }
  }
}
