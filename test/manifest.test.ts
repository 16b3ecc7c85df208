/** The app as it is installed, held against the code: commands, events and scopes are the same, and each scope has a reason. */
import {readdirSync, readFileSync} from 'node:fs';
import type {webApi} from '@slack/bolt';
import {describe, expect, it} from 'vitest';

const MANIFEST = JSON.parse(read('manifests/slack.socket.json')) as webApi.AppsManifestCreateArguments['manifest'];
const REASONS = JSON.parse(read('manifests/slack.reasons.json')) as Record<string, string>;
const SOURCE = readdirSync('src/slack', {recursive: true, encoding: 'utf8'})
  .filter((path) => path.endsWith('.ts'))
  .map((path) => read(`src/slack/${path}`))
  .join('\n');

/** Which scope each method of the Web API needs (docs.slack.dev/reference/methods); null = none beyond the token. */
const SCOPE_OF_METHOD: Readonly<Record<string, string | null>> = {
  'auth.test': null,
  'chat.postMessage': 'chat:write',
  'chat.postEphemeral': 'chat:write',
  'chat.update': 'chat:write',
  'chat.delete': 'chat:write',
  'chat.getPermalink': null,
  'files.uploadV2': 'files:write',
  'views.open': null,
  'views.publish': null,
  'views.update': null,
  'usergroups.users.list': 'usergroups:read',
  'users.info': 'users:read',
};
const SCOPE_OF_EVENT: Readonly<Record<string, string | null>> = {
  app_home_opened: null,
  app_mention: 'app_mentions:read',
  'message.im': 'im:history',
};
/** Listeners hear events by their type; subscribed is to a kind of channel. */
const EVENT_OF_LISTENER: Readonly<Record<string, string>> = {message: 'message.im'};

describe('the Slack manifest', () => {
  it('asks for the scopes that the code needs, and no other', () => {
    const methods = methodsIn(SOURCE);
    expect(methods.filter((method) => !(method in SCOPE_OF_METHOD))).toEqual([]);
    const needed = new Set(['commands', ...methods.flatMap((method) => SCOPE_OF_METHOD[method] ?? [])]);
    for (const event of eventsIn(SOURCE)) {
      const scope = SCOPE_OF_EVENT[event];
      if (scope !== null) needed.add(scope ?? `no scope known for ${event}`);
    }
    expect(MANIFEST.oauth_config?.scopes?.bot?.toSorted()).toEqual([...needed].toSorted());
  });

  it('has a reason for each scope', () => {
    expect(Object.keys(REASONS).toSorted()).toEqual(MANIFEST.oauth_config?.scopes?.bot?.toSorted());
    expect(Object.values(REASONS).every((reason) => reason.length > 15)).toBe(true);
  });

  it('subscribes to the events that are listened to', () => {
    expect(MANIFEST.settings?.event_subscriptions?.bot_events?.toSorted()).toEqual(eventsIn(SOURCE).toSorted());
  });

  it('has the tabs that the code fills', () => {
    expect(MANIFEST.features?.app_home).toEqual({
      home_tab_enabled: true,
      messages_tab_enabled: true,
      messages_tab_read_only_enabled: false,
    });
  });

  it('has the command that the bot is started with, with every verb in its hint', () => {
    const [command, ...more] = MANIFEST.features?.slash_commands ?? [];
    expect(more).toEqual([]);
    expect(read('src/bot.ts')).toContain(`COMMAND = '${command?.command}'`);
    for (const verb of [
      'help',
      'status',
      'diagnose',
      'reclaim',
      'runs',
      'show',
      'cancel',
      'pause',
      'resume',
      'hosts',
      'report',
      'schedules',
    ])
      expect(command?.usage_hint).toContain(verb);
    expect(command?.should_escape).toBe(true);
  });

  it('uses Socket Mode with interactivity on, and no address', () => {
    expect(MANIFEST.settings).toMatchObject({socket_mode_enabled: true, interactivity: {is_enabled: true}});
    expect(JSON.stringify(MANIFEST)).not.toMatch(/_url|https?:/);
  });
});

function methodsIn(source: string): readonly string[] {
  const calls = source.matchAll(
    /\b(?:client|deliver|progress)\.((?:auth|chat|views|usergroups|users|conversations|files)\.[\w.]+)\(/g,
  );
  return [...new Set([...calls].map((hit) => hit[1] ?? ''))];
}

function eventsIn(source: string): readonly string[] {
  return [...source.matchAll(/app\.event\('([\w.]+)'/g)].map((hit) => EVENT_OF_LISTENER[hit[1] ?? ''] ?? hit[1] ?? '');
}

function read(path: string): string {
  return readFileSync(path, 'utf8');
}
