/** The page: one stream of news in, what the person does out. All state comes from the stream; a lost one starts afresh. */
import {renderBlocks} from './blocks.js';
import {byId, el} from './dom.js';
import {showHosts} from './hosts.js';
import {askFirst, showView} from './modal.js';
import {mrkdwn} from './mrkdwn.js';

const WIDE = matchMedia('(min-width: 1100px)');
const names = {users: new Map(), channels: new Map(), groups: new Map()};
let world = null;
let me = sessionStorage.getItem('me');
let here = null;
let threadTs = null;
/** ts -> message, for the channel on the screen and for all others. */
const messages = new Map();
const views = new Map();
const typed = [];
let recall = 0;

function connect() {
  const stream = new EventSource('/news');
  stream.addEventListener('open', () => {
    byId('offline').hidden = true;
  });
  stream.addEventListener('error', () => {
    byId('offline').hidden = false;
  });
  stream.addEventListener('snapshot', (event) => begin(JSON.parse(event.data)));
  stream.addEventListener('news', (event) => take(JSON.parse(event.data)));
  stream.addEventListener('hosts', (event) => showHosts(JSON.parse(event.data)));
}

function begin(snapshot) {
  world = snapshot;
  for (const {id, name} of snapshot.users) names.users.set(id, name);
  names.users.set(snapshot.bot.userId, snapshot.bot.name);
  for (const {id, name} of snapshot.channels) names.channels.set(id, name);
  for (const {id, name} of snapshot.groups) names.groups.set(id, name);
  messages.clear();
  for (const channel of snapshot.channels) for (const message of channel.messages) messages.set(message.ts, message);
  for (const message of snapshot.ephemerals) messages.set(message.ts, message);
  for (const {user, view} of snapshot.views) views.set(user, {view, errors: {}});
  here ??= snapshot.channels[0].id;
  if (!names.users.has(me)) me = snapshot.users[0].id;
  drawChoices();
  drawHints();
  byId('hosts').hidden = !snapshot.watchesHosts;
  if (snapshot.hosts !== null) showHosts(snapshot.hosts);
  drawAll();
  if (location.pathname !== '/') goTo(location.pathname);
}

function take(news) {
  if (world === null) return;
  switch (news.kind) {
    case 'view':
      views.set(news.user, {view: news.view, errors: news.errors});
      if (news.user === me) drawView();
      return;
    case 'deleted':
      messages.delete(news.ts);
      drawAll();
      return;
    default: {
      const {message} = news;
      messages.set(message.ts, message);
      if (message.channel !== here || !isMine(message)) return;
      const root = message.thread_ts;
      if (root !== undefined && root !== message.ts) {
        put(byId('log'), messages.get(root));
        if (message.reply_broadcast === true) put(byId('log'), message);
        if (WIDE.matches && threadTs === null && news.kind === 'reply') openThread(root, false);
        else if (root === threadTs) put(byId('thread-log'), message);
        return;
      }
      put(byId('log'), message);
      if (threadTs === message.ts) put(byId('thread-log'), message);
    }
  }
}

function isMine(message) {
  return message.to === undefined || message.to === me;
}

function isReply(message) {
  return message.thread_ts !== undefined && message.thread_ts !== message.ts;
}

function drawAll() {
  const roots = inOrder((message) => !isReply(message) || message.reply_broadcast === true);
  byId('log').replaceChildren(...(roots.length === 0 ? [emptyLine()] : roots.map((one) => article(one))));
  showEnd(byId('log'));
  if (threadTs !== null && messages.has(threadTs)) openThread(threadTs, false);
  else closeThread(false);
  drawView();
}

function inOrder(fits) {
  return [...messages.values()]
    .filter((one) => one.channel === here && isMine(one) && fits(one))
    .sort((one, two) => (one.ts < two.ts ? -1 : 1));
}

function emptyLine() {
  return el(
    'p',
    {class: 'empty quiet'},
    'Nothing here yet. Type a command below, for example ',
    el('code', {}, '/gpu help'),
    '.',
  );
}

/** Puts one message where it belongs, keeping the reader's place and the focus. */
function put(log, message) {
  if (message === undefined) return;
  log.querySelector('.empty')?.remove();
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  // Where we put the reader, and they have not moved since.
  const unmoved = Number(log.dataset.put) === log.scrollTop;
  const fresh = article(message, log.id === 'thread-log');
  const old = log.querySelector(`[data-ts="${CSS.escape(message.ts)}"]`);
  const wasTall = old !== null && old.offsetHeight > log.clientHeight;
  if (old !== null) {
    const key = old.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    const held = old.contains(document.activeElement);
    old.replaceWith(fresh);
    if (held) (fresh.querySelector(`[data-key="${CSS.escape(key ?? '')}"]`) ?? fresh).focus();
  } else {
    const later = [...log.children].find((child) => (child.dataset.ts ?? '') > message.ts);
    log.insertBefore(fresh, later ?? null);
  }
  // Who reads a tall card, or has scrolled to its buttons, is left where they are.
  if ((atEnd || unmoved) && !wasTall) showEnd(log);
}

/** The end of the log; but of a message taller than the screen, its beginning. */
function showEnd(log) {
  const last = log.lastElementChild;
  log.scrollTop = log.scrollHeight;
  if (last !== null && last.offsetHeight > log.clientHeight) last.scrollIntoView({block: 'start'});
  log.dataset.put = String(log.scrollTop);
}

function article(message, inThread = false) {
  const bot = message.user === world.bot.userId;
  const slackbot = message.by === 'slack';
  const name = slackbot ? 'Slackbot' : (names.users.get(message.user) ?? message.user);
  const replies = inThread ? [] : inOrder((one) => isReply(one) && one.thread_ts === message.ts);
  const at = new Date(Number(message.ts) * 1000);
  return el(
    'article',
    {
      class: `message ${message.to === undefined ? '' : 'hidden-one'} ${slackbot ? 'trouble' : ''}`,
      'data-ts': message.ts,
      tabindex: '-1',
    },
    el('span', {class: `face ${bot ? 'bot' : ''}`, 'aria-hidden': 'true'}, bot ? '⌁' : name.slice(0, 1).toUpperCase()),
    el(
      'div',
      {class: 'content'},
      message.to === undefined ? null : el('p', {class: 'quiet only'}, 'Only visible to you'),
      el(
        'p',
        {class: 'who'},
        el('strong', {}, name),
        bot ? el('span', {class: 'app'}, 'APP') : null,
        el('time', {class: 'quiet', datetime: at.toISOString()}, at.toLocaleTimeString(undefined, {hour12: false})),
        message.edited === undefined ? null : el('span', {class: 'quiet'}, '(edited)'),
      ),
      message.reply_broadcast === true && !inThread
        ? el('p', {class: 'quiet'}, 'replied to a thread, and to the channel')
        : null,
      ...bodyOf(message),
      replies.length === 0 ? null : replyButton(message, replies),
    ),
  );
}

function bodyOf(message) {
  if ((message.blocks ?? []).length === 0) return [el('div', {class: 'block'}, ...mrkdwn(message.text, names))];
  const onAction = (element, block, choice) => act(element, () => clickOn(message, element, block, choice));
  return renderBlocks(message.blocks, {names, onAction});
}

function replyButton(message, replies) {
  const count = replies.length === 1 ? '1 reply' : `${replies.length} replies`;
  return el(
    'button',
    {type: 'button', class: 'replies', 'data-key': 'replies', onclick: () => openThread(message.ts)},
    count,
  );
}

function openThread(ts, focus = true) {
  threadTs = ts;
  const all = inOrder((one) => one.ts === ts || one.thread_ts === ts);
  byId('thread').hidden = false;
  byId('main').classList.add('with-thread');
  byId('thread-log').replaceChildren(...all.map((one) => article(one, true)));
  showEnd(byId('thread-log'));
  if (focus) byId('thread-close').focus();
}

function closeThread(focus = true) {
  const was = threadTs;
  threadTs = null;
  byId('thread').hidden = true;
  byId('main').classList.remove('with-thread');
  if (focus)
    byId('log')
      .querySelector(`[data-ts="${CSS.escape(was ?? '')}"] .replies`)
      ?.focus();
}

/** `/archives/C…/p1234567890123456`, optionally `?thread_ts=`: the message that a link means. */
function goTo(path) {
  const [, channel, whole] = /^\/archives\/(\w+)\/p(\d+)$/.exec(path) ?? [];
  if (channel === undefined || !names.channels.has(channel)) return;
  const ts = `${whole.slice(0, -6)}.${whole.slice(-6)}`;
  const message = messages.get(ts);
  if (message === undefined) return notice('That message is not here any more.');
  here = channel;
  byId('channel').value = channel;
  if (isReply(message)) threadTs = message.thread_ts;
  drawAll();
  const log = isReply(message) ? byId('thread-log') : byId('log');
  log.querySelector(`[data-ts="${CSS.escape(ts)}"]`)?.focus();
}

function drawView() {
  const {view, errors} = views.get(me) ?? {view: null, errors: {}};
  const acts = {
    click: (element, block, choice, answers) =>
      act(element, () => send('click', {where: view.id, ...named(element, block, choice), answers})),
    submit: (answers) => send('submit', {answers}),
    close: () => send('close', {}),
  };
  showView(view, errors, acts, names);
}

async function act(element, doIt) {
  if (element.url !== undefined) window.open(element.url, '_blank', 'noreferrer');
  if (element.confirm !== undefined && !(await askFirst(element.confirm, names))) return;
  await doIt();
}

function clickOn(message, element, block, choice) {
  return send('click', {where: message.ts, card: message, ...named(element, block, choice)});
}

function named(element, block, choice) {
  return {actionId: element.action_id, blockId: block.block_id, ...(choice === undefined ? {} : {choice})};
}

async function send(path, what) {
  notice('');
  const response = await fetch(`/${path}`, {
    method: 'POST',
    headers: {'content-type': 'application/json'},
    body: JSON.stringify({user: me, channel: here, ...what}),
  }).catch(() => null);
  if (response === null) return notice('The local Slack does not answer.');
  const done = await response.json();
  if (done.error !== undefined) notice(done.error);
  return done;
}

function notice(text) {
  byId('notice').textContent = text;
}

function drawChoices() {
  const channel = byId('channel');
  channel.replaceChildren(
    ...world.channels.map(({id, name}) => el('option', {value: id, selected: id === here}, `#${name}`)),
  );
  channel.onchange = () => {
    here = channel.value;
    threadTs = null;
    drawAll();
  };
  const people = byId('people');
  people.replaceChildren(
    el('legend', {}, 'You are'),
    ...world.users.map(({id, name, role}) =>
      el(
        'label',
        {title: role},
        el('input', {type: 'radio', name: 'me', value: id, checked: id === me, onchange: () => become(id)}),
        el('span', {}, name, el('small', {}, role)),
      ),
    ),
  );
}

function become(id) {
  me = id;
  sessionStorage.setItem('me', id);
  drawAll();
}

function drawHints() {
  const hints = world.hints ?? [];
  byId('hints').replaceChildren(
    ...hints.map((hint) =>
      el(
        'button',
        {
          type: 'button',
          onclick: () => {
            byId('text').value = hint;
            byId('text').focus();
          },
        },
        hint,
      ),
    ),
  );
}

function composer(formId, inputId, thread) {
  const input = byId(inputId);
  byId(formId).addEventListener('submit', (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text === '') return;
    typed.push(text);
    recall = typed.length;
    input.value = '';
    const root = thread();
    void send('type', {text, ...(root === null ? {} : {thread: root})});
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
    recall = Math.max(0, Math.min(typed.length, recall + (event.key === 'ArrowUp' ? -1 : 1)));
    input.value = typed[recall] ?? '';
    event.preventDefault();
  });
}

composer('composer', 'text', () => null);
composer('thread-composer', 'thread-text', () => threadTs);
byId('thread-close').addEventListener('click', () => closeThread());
byId('thread').addEventListener('keydown', (event) => {
  if (event.key === 'Escape') closeThread();
});
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  if (link === null || link.origin !== location.origin) return;
  event.preventDefault();
  goTo(link.pathname);
});
byId('hosts').open = WIDE.matches;
connect();
