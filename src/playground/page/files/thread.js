/** The pane at the right: one root with its replies, and the line to answer in it. */
import {byId} from './dom.js';
import {placeName} from './places.js';
import {at, markRead, messages, repliesOf} from './store.js';
import {drawLog, put} from './talk.js';

export function openThread(ts, focus = true) {
  at.threadTs = ts;
  const root = messages.get(ts);
  byId('thread').hidden = false;
  byId('app').classList.add('with-thread');
  drawLog(
    byId('thread-log'),
    [root, ...repliesOf(ts)].filter((one) => one !== undefined),
    true,
  );
  seeThread();
  put(byId('log'), root);
  // On a phone the keyboard would cover what was asked for.
  if (focus) byId(matchMedia('(hover: none)').matches ? 'thread-close' : 'thread-text').focus();
}

export function closeThread(focus = true) {
  const was = at.threadTs;
  at.threadTs = null;
  byId('thread').hidden = true;
  byId('app').classList.remove('with-thread');
  if (!focus) return;
  const door = byId('log').querySelector(`[data-ts="${CSS.escape(was ?? '')}"] .replies`);
  (door ?? byId('text')).focus();
}

export function seeThread() {
  byId('thread-about').textContent = placeName();
  markRead(`thread ${at.threadTs}`, repliesOf(at.threadTs));
}
