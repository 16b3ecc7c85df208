/** The page: one stream of news in, what the person does out. All state comes from the stream; a lost one starts afresh. */
import {notice, send} from './api.js';
import {composer, drawHints} from './composer.js';
import {byId, speak} from './dom.js';
import {nothingYet, topicOf} from './empty.js';
import {drawHome, drawTabs} from './home.js';
import {showHosts, tickHosts} from './hosts.js';
import {showView} from './modal.js';
import {drawPeople, drawPlaces, placeName} from './places.js';
import {drawSwitches, showState} from './stage.js';
import {
  at,
  become,
  begin,
  homes,
  isMine,
  isReply,
  markRead,
  messages,
  moveTo,
  nameOf,
  names,
  rootsOf,
  views,
} from './store.js';
import {tabsOf} from './tabs.js';
import {act, doors, drawLog, firstLine, follow, named, put} from './talk.js';
import {closeThread, openThread, seeThread} from './thread.js';

function connect() {
  const stream = new EventSource('/news');
  stream.addEventListener('open', () => {
    byId('offline').hidden = true;
  });
  stream.addEventListener('error', () => {
    byId('offline').hidden = false;
  });
  const on = (kind, take) => stream.addEventListener(kind, (event) => take(JSON.parse(event.data)));
  on('snapshot', start);
  on('news', take);
  on('hosts', showHosts);
  on('stage', (state) => showState(state, at.world.bot.name));
}

function start(snapshot) {
  begin(snapshot);
  drawPeople((id) => {
    become(id);
    if (at.here !== 'home' && !at.world.channels.some((one) => one.id === at.here)) moveTo('home');
    drawAll();
    if (at.here === 'home') void send('home', {});
    speak(`You are ${names.users.get(id)}.`);
  });
  drawHints(snapshot.hints ?? []);
  drawSwitches(snapshot.switches);
  showState(snapshot.stage, snapshot.bot.name);
  byId('stage').hidden = !snapshot.watchesHosts && snapshot.switches.length === 0;
  if (snapshot.hosts !== null) showHosts(snapshot.hosts);
  drawAll();
  if (location.pathname !== '/') goTo(location.href);
  else if (at.here === 'home') void send('home', {});
}

function take(news) {
  if (at.world === null) return;
  switch (news.kind) {
    case 'view':
      views.set(news.user, {view: news.view, errors: news.errors});
      if (news.user === at.me) drawView();
      return;
    case 'home':
      homes.set(news.user, news.view);
      if (news.user === at.me && at.here === 'home') drawHome();
      return;
    case 'deleted':
      messages.delete(news.ts);
      drawAll();
      return;
    default:
      takeMessage(news.message);
  }
}

function takeMessage(message) {
  const old = messages.get(message.ts);
  messages.set(message.ts, message);
  if (!isMine(message)) return;
  const root = isReply(message) ? message.thread_ts : message.ts;
  const inThread = root === at.threadTs;
  if (message.channel === at.here) {
    if (inThread) {
      put(byId('thread-log'), message);
      if (isReply(message)) seeThread();
    }
    if (isReply(message)) put(byId('log'), messages.get(root));
    if (!isReply(message) || message.reply_broadcast === true) put(byId('log'), message);
    seePlace();
  }
  drawMarks();
  const heard = old === undefined || firstLine(old) !== firstLine(message);
  if (heard && message.user !== at.me && message.channel === at.here && (!isReply(message) || inThread))
    speak(`${nameOf(message)}: ${firstLine(message)}`);
}

function seePlace() {
  if (at.here !== 'home' && document.visibilityState === 'visible') markRead(at.here, rootsOf(at.here));
}

function drawMarks() {
  drawPlaces(go);
  drawTabs(go);
}

function drawAll() {
  const home = at.here === 'home';
  const channel = at.world.channels.find(({id}) => id === at.here);
  byId('place-name').textContent = placeName();
  byId('place-about').textContent = channel === undefined ? 'App' : topicOf(channel);
  byId('home').hidden = !home;
  byId('log').hidden = home;
  byId('composer').hidden = home;
  byId('hints').hidden = channel === undefined;
  byId('text').placeholder =
    channel === undefined ? `Message ${at.world.bot.name}` : `Message ${placeName()}, or /gpu help`;
  byId('thread-text').placeholder = `Reply, or @${at.world.bot.name} status`;
  if (home) drawHome();
  else {
    const roots = rootsOf(at.here);
    drawLog(byId('log'), roots);
    if (roots.length === 0) byId('log').replaceChildren(nothingYet(channel));
    seePlace();
  }
  if (at.threadTs !== null && messages.get(at.threadTs)?.channel === at.here) openThread(at.threadTs, false);
  else closeThread(false);
  drawMarks();
  drawView();
}

function go(place) {
  moveTo(place);
  at.threadTs = null;
  pane('talk');
  drawAll();
  if (place === 'home') void send('home', {});
  byId(place === 'home' ? 'tab-home' : 'text').focus();
}

/** `/archives/C…/p1234567890123456`, optionally `?thread_ts=`: the message that a link means. Others open beside the page. */
function goTo(url) {
  const {origin, pathname} = new URL(url, location.href);
  const [, channel, whole] = /^\/archives\/(\w+)\/p(\d+)$/.exec(pathname) ?? [];
  if (origin !== location.origin || channel === undefined) {
    window.open(url, '_blank', 'noreferrer');
    return;
  }
  const ts = `${whole.slice(0, -6)}.${whole.slice(-6)}`;
  const message = messages.get(ts);
  if (message === undefined || !isMine(message)) {
    notice('That message is not here any more.');
    return;
  }
  moveTo(message.channel);
  at.threadTs = isReply(message) ? message.thread_ts : null;
  pane('talk');
  drawAll();
  const log = isReply(message) ? byId('thread-log') : byId('log');
  const found = log.querySelector(`[data-ts="${CSS.escape(ts)}"]`);
  found?.scrollIntoView({block: 'start'});
  found?.classList.add('meant');
  found?.focus();
}

function drawView() {
  const {view, errors} = views.get(at.me) ?? {view: null, errors: {}};
  const acts = {
    click: (element, block, choice, answers) =>
      act(element, () => send('click', {where: view.id, ...named(element, block, choice), answers})),
    submit: (answers) => send('submit', {answers}),
    close: () => send('close', {}),
  };
  showView(view, errors, acts, names);
}

/** On a narrow screen one pane at a time. */
function pane(which) {
  byId('app').dataset.pane = which;
  for (const button of byId('panes').querySelectorAll('button'))
    button.setAttribute('aria-pressed', String(button.dataset.goto === which));
}

// Who says something wants to see what comes of it.
composer({form: 'composer', input: 'text', where: () => ({}), sent: () => follow(byId('log'))});
composer({
  form: 'thread-composer',
  input: 'thread-text',
  where: () => ({thread: at.threadTs}),
  sent: () => follow(byId('thread-log')),
});
doors.openThread = openThread;
doors.goTo = goTo;
tabsOf(byId('stage'));
// What scrolls can be scrolled by keyboard.
for (const id of ['log', 'thread-log', 'hosts', 'faults']) byId(id).tabIndex = 0;
pane('talk');
byId('thread-close').addEventListener('click', () => closeThread());
byId('thread').addEventListener('keydown', (event) => {
  if (event.key === 'Escape') closeThread();
});
byId('notice-close').addEventListener('click', () => notice(''));
byId('panes').addEventListener('click', (event) => {
  const which = event.target.closest('button')?.dataset.goto;
  if (which !== undefined) pane(which);
});
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  if (link === null || link.origin !== location.origin || link.hasAttribute('download') || link.hash !== '') return;
  event.preventDefault();
  goTo(link.href);
});
document.addEventListener('visibilitychange', () => {
  if (at.world === null || document.visibilityState !== 'visible') return;
  seePlace();
  drawMarks();
});
setInterval(tickHosts, 1_000);
connect();
