/** Messages: one article each, put where it belongs without moving the reader. */
import {send} from './api.js';
import {renderBlocks} from './blocks.js';
import {el} from './dom.js';
import {fileCards} from './files.js';
import {askFirst} from './modal.js';
import {mrkdwn} from './mrkdwn.js';
import {at, isReply, nameOf, names, repliesOf, timeOf, unread} from './store.js';

/** Set by the page: opens a thread, follows a link. */
export const doors = {openThread: () => undefined, goTo: () => undefined};

const SAME_SPEAKER_S = 300;

export function drawLog(log, some, inThread = false) {
  log.replaceChildren(...some.map((one) => article(one, inThread)));
  arrange(log);
  showEnd(log);
}

/** Puts one message where it belongs, keeping the reader's place and the focus. */
export function put(log, message) {
  if (message === undefined) return;
  log.querySelector('.empty')?.remove();
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  // Where we put the reader, and they have not moved since.
  const unmoved = Number(log.dataset.put) === log.scrollTop;
  const fresh = article(message, log.id === 'thread-log');
  const old = log.querySelector(`[data-ts="${CSS.escape(message.ts)}"]`);
  const wasTall = old !== null && old.offsetHeight > log.clientHeight;
  if (old !== null) {
    const held = old.contains(document.activeElement);
    const key = held ? document.activeElement.dataset.key : undefined;
    old.replaceWith(fresh);
    if (held) (fresh.querySelector(`[data-key="${CSS.escape(key ?? '')}"]`) ?? fresh).focus();
  } else {
    const later = [...log.children].find((child) => (child.dataset.ts ?? '') > message.ts);
    log.insertBefore(fresh, later ?? null);
  }
  arrange(log);
  // Who reads a tall card, or has scrolled to its buttons, is left where they are.
  if ((atEnd || unmoved) && !wasTall) showEnd(log);
}

/** The end of the log; but of a message taller than the screen, its beginning. */
export function showEnd(log) {
  const last = log.lastElementChild;
  log.scrollTop = log.scrollHeight;
  if (last !== null && last.offsetHeight > log.clientHeight) last.scrollIntoView({block: 'start'});
  log.dataset.put = String(log.scrollTop);
}

/** From here on the newest is shown, wherever the reader was. */
export function follow(log) {
  log.scrollTop = log.scrollHeight;
  log.dataset.put = String(log.scrollTop);
}

/** A line for each day, and a name only where the speaker changes. */
function arrange(log) {
  for (const line of log.querySelectorAll('.day')) line.remove();
  let before = null;
  for (const one of [...log.querySelectorAll('.message')]) {
    const day = dayOf(one.dataset.ts);
    const newDay = before === null || dayOf(before.dataset.ts) !== day;
    if (newDay && log.id === 'log') one.before(el('div', {class: 'day'}, el('span', {}, day)));
    const follows =
      !newDay &&
      before.dataset.speaker === one.dataset.speaker &&
      Number(one.dataset.ts) - Number(before.dataset.ts) < SAME_SPEAKER_S &&
      (log.id === 'thread-log' ? before !== log.querySelector('.message') : !one.dataset.speaker.startsWith('bot'));
    one.classList.toggle('follows', follows);
    before = one;
  }
}

function dayOf(ts) {
  const day = new Date(Number(ts) * 1000);
  const words = day.toLocaleDateString(undefined, {weekday: 'long', day: 'numeric', month: 'long'});
  return day.toDateString() === new Date().toDateString() ? 'Today' : words;
}

function article(message, inThread) {
  const bot = message.user === at.world.bot.userId;
  const name = nameOf(message);
  const when = new Date(Number(message.ts) * 1000);
  const only = message.to !== undefined;
  const kinds = ['message', only ? 'hidden-one' : '', message.by === 'slack' ? 'trouble' : ''];
  return el(
    'article',
    {
      class: kinds.filter((kind) => kind !== '').join(' '),
      'data-ts': message.ts,
      'data-speaker': `${bot ? 'bot' : message.user}${only ? ' only' : ''}`,
      'aria-label': `${name}, ${timeOf(message.ts)}${only ? ', only visible to you' : ''}`,
      tabindex: '-1',
    },
    face(message.user, name),
    el(
      'div',
      {class: 'content'},
      only ? el('p', {class: 'only'}, el('span', {class: 'eye', 'aria-hidden': 'true'}), 'Only visible to you') : null,
      message.reply_broadcast === true && !inThread
        ? el('p', {class: 'quiet'}, 'replied to a thread, and to the channel')
        : null,
      el(
        'p',
        {class: 'who'},
        el('strong', {}, name),
        bot ? el('span', {class: 'tag'}, 'APP') : null,
        only
          ? el('time', {datetime: when.toISOString()}, timeOf(message.ts))
          : el(
              'a',
              {class: 'when', href: linkTo(message), title: when.toLocaleString(), 'data-key': 'link'},
              el('time', {datetime: when.toISOString()}, timeOf(message.ts)),
            ),
      ),
      ...bodyOf(message),
      message.edited === undefined || bot ? null : el('span', {class: 'quiet'}, '(edited)'),
      inThread || only ? null : threadDoor(message),
    ),
  );
}

export function face(user, name) {
  const bot = user === at.world.bot.userId;
  const nth = at.world.users.findIndex(({id}) => id === user);
  return el(
    'span',
    {class: `face ${bot ? 'bot' : nth < 0 ? '' : `person-${nth % 4}`}`, 'aria-hidden': 'true'},
    bot ? '▦' : name.slice(0, 1).toUpperCase(),
  );
}

function linkTo({channel, ts, thread_ts}) {
  const link = `/archives/${channel}/p${ts.replace('.', '')}`;
  return thread_ts === undefined || thread_ts === ts ? link : `${link}?thread_ts=${thread_ts}&cid=${channel}`;
}

function bodyOf(message) {
  const files = fileCards(message.files ?? []);
  const {blocks = [], text} = message;
  if (blocks.length === 0) return [text === '' ? null : el('div', {class: 'block'}, ...mrkdwn(text, names)), ...files];
  const onAction = (element, block, choice) => act(element, () => clickOn(message, element, block, choice));
  return [...renderBlocks(blocks, {names, onAction}), ...files];
}

/** The confirm dialog first, if the element has one; then the click itself. A link of the button is followed as well. */
export async function act(element, doIt) {
  if (element.confirm !== undefined && !(await askFirst(element.confirm, names))) return;
  if (element.url !== undefined) doors.goTo(element.url);
  await doIt();
}

export function named(element, block, choice) {
  return {actionId: element.action_id, blockId: block.block_id, ...(choice === undefined ? {} : {choice})};
}

function clickOn(message, element, block, choice) {
  return send('click', {channel: message.channel, where: message.ts, card: message, ...named(element, block, choice)});
}

/** "3 replies · last reply 18:02", or the way to the first one. */
function threadDoor(message) {
  const root = isReply(message) ? message.thread_ts : message.ts;
  const open = () => doors.openThread(root);
  const shared = {type: 'button', 'data-key': 'replies', onclick: open};
  if (isReply(message)) return el('button', {...shared, class: 'replies first'}, 'View thread');
  const replies = repliesOf(root);
  const last = replies.at(-1);
  if (last === undefined) return el('button', {...shared, class: 'replies first'}, 'Reply in thread');
  const fresh = unread(`thread ${root}`, replies);
  return el(
    'button',
    {...shared, class: `replies ${fresh > 0 ? 'fresh' : ''}`},
    el('strong', {}, replies.length === 1 ? '1 reply' : `${replies.length} replies`),
    fresh > 0 ? el('span', {class: 'badge'}, `${fresh} new`) : null,
    el('span', {class: 'quiet'}, `last reply ${timeOf(last.ts)}`),
  );
}

/** The one line of a message that is read out, or stands in a list. */
export function firstLine(message) {
  const line = (message.text ?? '').split('\n').find((one) => one.trim() !== '') ?? '';
  const node = el('span', {}, ...mrkdwn(line, names));
  return node.textContent;
}

export function emptyLine(...words) {
  return el('div', {class: 'empty'}, ...words);
}
