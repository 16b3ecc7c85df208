/** Who is in the local workspace, under ids that are the same at every start, so that a stored run still knows its people. */

export interface Named {
  readonly id: string;
  readonly name: string;
}

/** One person of the workspace. `role` is what they are for in the story, `name` what they are called. */
export interface SlackPerson extends Named {
  readonly role: string;
}

export interface Workspace {
  readonly team: {readonly id: string; readonly name: string; readonly domain: string};
  readonly bot: {readonly userId: string; readonly botId: string; readonly appId: string; readonly name: string};
  readonly users: {
    readonly requester: SlackPerson;
    readonly approver: SlackPerson;
    readonly stranger: SlackPerson;
    readonly [role: string]: SlackPerson;
  };
  readonly channels: {readonly [name: string]: Named};
  readonly groups: readonly SlackGroup[];
  readonly tabs: Tabs;
  readonly events: readonly string[];
  /** Ids of people whose profiles name another workspace. */
  readonly elsewhere: readonly string[];
  /** What every profile gives as its time zone. */
  readonly zone: string;
  readonly botToken: string;
  readonly appToken: string;
}

/** A user group (`@gpu-oncall`): emulate knows none, the front answers for them itself. */
export interface SlackGroup extends Named {
  readonly users: readonly string[];
}

/** What a bot of this kind is granted by its manifest, unless told otherwise. */
export const DEFAULT_SCOPES = [
  'commands',
  'chat:write',
  'files:write',
  'app_mentions:read',
  'im:history',
  'users:read',
  'usergroups:read',
] as const;

/** What a bot of this kind subscribes to by its manifest, unless told otherwise. */
export const DEFAULT_EVENTS = ['app_home_opened', 'app_mention', 'message.im'] as const;

/** `features.app_home` of a manifest. On a read-only Messages tab nobody can write to the app. */
export interface Tabs {
  readonly home: 'on' | 'off';
  readonly messages: 'on' | 'read-only' | 'off';
}

export interface WorkspaceOptions {
  /** More people, beside the requester (anna), the approver (carla) and the stranger (dave): role -> name. */
  readonly users?: Readonly<Record<string, string>>;
  /** Channel names; the first is the one where the bot works. */
  readonly channels?: readonly string[];
  /** Group name -> roles of its members. */
  readonly groups?: Readonly<Record<string, readonly string[]>>;
  /** The app's tabs, as its manifest has them: all on, unless told otherwise. */
  readonly tabs?: Tabs;
  /** Events that the app is subscribed to; others are not sent. */
  readonly events?: readonly string[];
  /** Time zone of everybody: Europe/Berlin. */
  readonly zone?: string;
  /** Roles of those who belong to another workspace and are here by a shared channel: so their profiles say. */
  readonly elsewhere?: readonly string[];
}

export function workspaceOf(options: WorkspaceOptions): Workspace {
  const people: Readonly<Record<string, string>> = {
    requester: 'anna',
    approver: 'carla',
    stranger: 'dave',
    ...options.users,
  };
  const person = (role: string): SlackPerson => ({id: `U0${idPart(role)}`, name: people[role] ?? role, role});
  const channels = options.channels ?? ['gpu-ops', 'random'];
  return {
    // emulate's own workspace: its id can't be chosen.
    team: {id: 'T000000001', name: 'Local workspace', domain: 'local'},
    bot: {userId: 'U0GPURECLAIM', botId: 'B0GPURECLAIM', appId: 'A0GPURECLAIM', name: 'gpu-reclaim'},
    users: {
      ...Object.fromEntries(Object.keys(people).map((role) => [role, person(role)])),
      requester: person('requester'),
      approver: person('approver'),
      stranger: person('stranger'),
    },
    channels: Object.fromEntries(channels.map((name) => [name, {id: `C0${idPart(name)}`, name}])),
    groups: Object.entries(options.groups ?? {}).map(([name, roles]) => ({
      id: `S0${idPart(name)}`,
      name,
      users: roles.map((role) => person(role).id),
    })),
    tabs: options.tabs ?? {home: 'on', messages: 'on'},
    events: options.events ?? DEFAULT_EVENTS,
    zone: options.zone ?? 'Europe/Berlin',
    elsewhere: (options.elsewhere ?? []).map((role) => person(role).id),
    botToken: 'xoxb-local-bot',
    appToken: 'xapp-local-app',
  };
}

/** The conversation of one person with the bot, on the app's Messages tab. */
export function dmOf(person: SlackPerson): Named {
  return {id: `D0${idPart(person.role)}`, name: 'directmessage'};
}

/** Whose conversation with the bot this is; null for a channel. */
export function personOfDm(workspace: Pick<Workspace, 'users'>, channel: string): SlackPerson | null {
  return Object.values(workspace.users).find((person) => dmOf(person).id === channel) ?? null;
}

/** The token with which a person's own words are written into emulate. */
export function tokenOf(person: SlackPerson): string {
  return `xoxp-local-${person.role}`;
}

export function idPart(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
}
