/** All that the page knows, as the stream told it. Nothing here draws. */

export const names = {users: new Map(), channels: new Map(), groups: new Map()};
/** ts -> message, of every channel and every thread. */
export const messages = new Map();
/** User id -> {view, errors}: the modal before that person. */
export const views = new Map();
/** User id -> the home view that the app published for that person. */
export const homes = new Map();

export const at = {
  /** The snapshot: team, bot, users, channels, hints. */
  world: null,
  me: sessionStorage.getItem('me'),
  /** A channel id, a DM's id, or `home`. */
  here: sessionStorage.getItem('here'),
  threadTs: null,
};

const READ = 'read';
let read = JSON.parse(sessionStorage.getItem(READ) ?? 'null');

export function begin(snapshot) {
  at.world = snapshot;
  for (const {id, name} of snapshot.users) names.users.set(id, name);
  names.users.set(snapshot.bot.userId, snapshot.bot.name);
  for (const {id, name} of snapshot.channels) names.channels.set(id, name);
  for (const {id, name} of snapshot.groups) names.groups.set(id, name);
  messages.clear();
  for (const {messages: some} of [...snapshot.channels, ...snapshot.dms])
    for (const one of some) messages.set(one.ts, one);
  for (const one of snapshot.ephemerals) messages.set(one.ts, one);
  for (const {user, view} of snapshot.views) views.set(user, {view, errors: {}});
  for (const {user, view} of snapshot.homes) homes.set(user, view);
  if (!snapshot.users.some(({id}) => id === at.me)) at.me = snapshot.users[0].id;
  if (!isPlace(at.here)) at.here = snapshot.channels[0].id;
  // What was there before this tab was opened is not new to anybody in it.
  const newest = [...messages.keys()].sort().at(-1) ?? '0';
  if (read === null || read.run !== snapshot.run) read = {run: snapshot.run, since: newest, places: {}};
}

export function isPlace(id) {
  return id === 'home' || at.world.channels.some((one) => one.id === id) || dmOf(at.me)?.id === id;
}

/** The direct messages between this person and the bot: {id, user}; undefined before the first. */
export function dmOf(user) {
  return at.world.dms.find((one) => one.user === user);
}

export function isMine(message) {
  const dm = at.world.dms.find(({id}) => id === message.channel);
  return (message.to === undefined || message.to === at.me) && (dm === undefined || dm.user === at.me);
}

export function isReply(message) {
  return message.thread_ts !== undefined && message.thread_ts !== message.ts;
}

export function inOrder(fits) {
  return [...messages.values()]
    .filter((one) => isMine(one) && fits(one))
    .sort((one, two) => (one.ts < two.ts ? -1 : 1));
}

/** What stands in a channel itself. */
export function rootsOf(channel) {
  return inOrder((one) => one.channel === channel && (!isReply(one) || one.reply_broadcast === true));
}

export function repliesOf(root) {
  return inOrder((one) => isReply(one) && one.thread_ts === root);
}

/** How many of these this person has not seen: somebody else's, and newer than the last look at `place`. */
export function unread(place, some) {
  const seen = read.places[`${at.me} ${place}`] ?? read.since;
  return some.filter((one) => one.ts > seen && one.user !== at.me).length;
}

export function markRead(place, some) {
  const newest = some.at(-1)?.ts;
  const key = `${at.me} ${place}`;
  if (newest === undefined || newest <= (read.places[key] ?? read.since)) return;
  read.places[key] = newest;
  sessionStorage.setItem(READ, JSON.stringify(read));
}

export function become(id) {
  at.me = id;
  sessionStorage.setItem('me', id);
}

export function moveTo(place) {
  at.here = place;
  sessionStorage.setItem('here', place);
}

export function nameOf(message) {
  return message.by === 'slack' ? 'Slackbot' : (names.users.get(message.user) ?? message.user);
}

/** "14:05", as the reader's own clock says it. */
export function timeOf(ts) {
  return new Date(Number(ts) * 1000).toLocaleTimeString(undefined, {hour: '2-digit', minute: '2-digit', hour12: false});
}
