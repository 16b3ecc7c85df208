/** The Share button under a private answer, and that answer as all may read it. Pure. */
import type {types} from '@slack/bolt';
import {ACTION, shareValue} from '../ids.ts';
import {button, label} from './buttons.ts';
import {context, type Message, messageOf} from './message.ts';
import {mentionOfId, timed} from './people.ts';

export function shareButton(id: string): types.ActionsBlock {
  return {
    type: 'actions',
    elements: [
      {
        ...button(ACTION.share, 'Share', shareValue(id)),
        accessibility_label: label('Share: post this answer where it was asked for, for all to read'),
      },
    ],
  };
}

/** `atMs`: when the answer was made; it is not made anew. */
export function sharedMessage(message: Message, user: string, how: 'looked' | 'read', atMs: number): Message {
  const when = how === 'looked' ? `looked ${timed(atMs)}` : `as of ${timed(atMs)}`;
  return messageOf([...message.blocks, context(`Shared by ${mentionOfId(`slack:${user}`)}, ${when}`)]);
}
