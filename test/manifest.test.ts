/** The app as it is installed, held against the code: commands, events and scopes are the same, and each scope has a reason. */
import {readdirSync, readFileSync} from 'node:fs';
import type {webApi} from '@slack/bolt';
import {describe, expect, it} from 'vitest';
import {DEFAULT_EVENTS, DEFAULT_SCOPES} from '../src/playground/slack/cast.ts';
import {hintOf} from '../src/report/verb-help.ts';
import {manifestRules} from './manifest-rules.ts';

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

  it('is what the local Slack grants unless told otherwise', () => {
    expect([...DEFAULT_SCOPES].toSorted()).toEqual(MANIFEST.oauth_config?.scopes?.bot?.toSorted());
    expect([...DEFAULT_EVENTS].toSorted()).toEqual(MANIFEST.settings?.event_subscriptions?.bot_events?.toSorted());
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
    expect(command?.usage_hint).toBe(hintOf('slack'));
    expect(command?.should_escape).toBe(true);
  });

  it('uses Socket Mode with interactivity on, and no address', () => {
    expect(MANIFEST.settings).toMatchObject({socket_mode_enabled: true, interactivity: {is_enabled: true}});
    expect(JSON.stringify(MANIFEST)).not.toMatch(/_url|https?:/);
  });

  it('keeps the rules of the published schema', () => {
    expect(manifestRules.safeParse(MANIFEST).error?.issues ?? []).toEqual([]);
  });

  it.each<readonly [string, string, (manifest: Draft) => void]>([
    ['a name of 36', 'display_information.name', (m) => (m.display_information.name = 'x'.repeat(36))],
    ['no colour', 'display_information.background_color', (m) => (m.display_information.background_color = 'blue')],
    ['a command without its slash', 'features.slash_commands.0.command', (m) => (firstOf(m).command = 'gpu')],
    ['a command of 33', 'features.slash_commands.0.command', (m) => (firstOf(m).command = `/${'x'.repeat(32)}`)],
    ['a hint of 1001', 'features.slash_commands.0.usage_hint', (m) => (firstOf(m).usage_hint = 'x'.repeat(1_001))],
    ['a key nobody knows', 'settings', (m) => Object.assign(m.settings, {socket_mode: true})],
    [
      'an address',
      'settings.interactivity',
      (m) => Object.assign(m.settings.interactivity, {request_url: 'https://x'}),
    ],
    ['a scope twice', 'oauth_config.scopes.bot', (m) => m.oauth_config.scopes.bot.push('commands')],
    ['an older schema', '_metadata.major_version', (m) => (m._metadata.major_version = 1)],
  ])('would not keep them with %s', (_what, where, spoil) => {
    const spoilt = structuredClone(MANIFEST) as unknown as Draft;
    spoil(spoilt);
    expect(manifestRules.safeParse(spoilt).error?.issues.map((issue) => issue.path.join('.'))).toEqual([where]);
  });
});

describe('the Slack CLI', () => {
  const hooks = (JSON.parse(read('.slack/hooks.json')) as {readonly hooks: Record<string, string>}).hooks;
  const scripts = (JSON.parse(read('package.json')) as {readonly scripts: Record<string, string>}).scripts;

  it('finds the manifest where it looks for one, and is told that this one counts', () => {
    expect(JSON.parse(read('manifest.json'))).toEqual(MANIFEST);
    expect(JSON.parse(read('.slack/config.json'))).toEqual({manifest: {source: 'local'}});
  });

  it('starts the bot from its source, with a package that is fetched by its exact version', () => {
    const {start, ...others} = hooks;
    expect(Object.keys(others)).toEqual(['get-hooks', 'get-manifest', 'check-update', 'doctor']);
    const [, script = ''] = /^npm run -s (\w+)$/.exec(start ?? '') ?? [];
    expect(scripts[script]).toBe('tsx src/main.ts start');
    for (const hook of Object.values(others))
      expect(hook).toMatch(/^npx -q --yes -p @slack\/cli-hooks@\d+\.\d+\.\d+ slack-cli-/);
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

interface Draft {
  _metadata: {major_version: number};
  display_information: {name: string; background_color: string};
  features: {slash_commands: {command: string; usage_hint: string}[]};
  oauth_config: {scopes: {bot: string[]}};
  settings: {interactivity: object};
}

function firstOf(manifest: Draft): Draft['features']['slash_commands'][number] {
  const [command] = manifest.features.slash_commands;
  if (command === undefined) throw new Error('no command');
  return command;
}
