import type {webApi} from '@slack/bolt';
import {describe, expect, it} from 'vitest';
import {checkView} from '../../src/playground/slack/check-blocks.ts';
import {messageOf, section} from '../../src/slack/blocks/message.ts';
import {makeNames} from '../../src/slack/names.ts';
import {aHost} from '../doubles/build.ts';

const LOG = {info: () => undefined, warn: () => undefined, error: () => undefined};
const hosts = [
  aHost({
    people: new Map([
      [0, 'U0ANNA'],
      [1, 'bo'],
      [2, 'U0GONE'],
    ]),
  }),
];

function clientOf(answer: (user: string) => unknown): webApi.WebClient {
  return {users: {info: async ({user}: {user: string}) => answer(user)}} as unknown as webApi.WebClient;
}

describe('names of owners', () => {
  it('stand in place of bare ids, never inside of a mention, and only for owners that the hosts file gives', async () => {
    const names = makeNames({
      hosts,
      log: LOG,
      client: clientOf((user) => {
        if (user === 'U0GONE') throw new Error('user_not_found');
        return {user: {name: 'anna', profile: {display_name: 'anna <b>'}}};
      }),
    });
    const message = messageOf([section('U0ANNA · U0GONE · U0STRANGER · <@U0ANNA> · xU0ANNA')]);
    expect(names.dress(message)).toEqual(message);
    await names.learn();
    const dressed = JSON.stringify(names.dress(message).blocks);
    expect(dressed).toContain('· U0GONE · U0STRANGER · <@U0ANNA> · xU0ANNA');
    expect(dressed).not.toContain('"U0ANNA ·');
    expect(names.dress(message).text).toContain('anna');
  });

  it('stand in forms as well, and an option stays within what Slack takes, ticked or not', async () => {
    const long = 'a'.repeat(20);
    const names = makeNames({hosts, log: LOG, client: clientOf(() => ({user: {name: long}}))});
    await names.learn();
    const option = {text: {type: 'plain_text', text: `${'x'.repeat(68)} U0ANNA`}, value: 'U0ANNA'} as const;
    const view = names.dressForm({
      type: 'modal',
      submit: {type: 'plain_text', text: 'Take it'},
      title: {type: 'plain_text', text: 'Choose'},
      blocks: [
        {
          type: 'input',
          label: {type: 'plain_text', text: 'U0ANNA: 1 process'},
          element: {type: 'checkboxes', action_id: 'a', options: [option], initial_options: [option]},
        },
      ],
    });
    expect(checkView(view, 'modal')).toEqual([]);
    expect(view.blocks).toMatchObject([{label: {text: `${long}: 1 process`}, element: {options: [{value: 'U0ANNA'}]}}]);
    const [block] = view.blocks as unknown as readonly [
      {readonly element: {readonly options: unknown; readonly initial_options: unknown}},
    ];
    expect(block.element.initial_options).toEqual(block.element.options);
  });
});
