/** The app's own place: its home, as it published it for this person, beside the direct messages with it. */
import {send} from './api.js';
import {renderBlocks} from './blocks.js';
import {byId, el} from './dom.js';
import {answersIn} from './fields.js';
import {at, dmOf, homes, names, rootsOf, unread} from './store.js';
import {act, emptyLine, named} from './talk.js';

export function drawHome() {
  const box = byId('home');
  const view = homes.get(at.me) ?? null;
  if (view === null) {
    box.replaceChildren(
      emptyLine(
        el('p', {}, el('strong', {}, 'Nothing here yet')),
        el('p', {}, `${at.world.bot.name} has not filled this page. It does so when you open it, if it is connected.`),
      ),
    );
    return;
  }
  const form = el('div', {class: 'sheet'});
  const onAction = (element, block, choice) =>
    act(element, () => send('click', {where: view.id, ...named(element, block, choice), answers: answersIn(form)}));
  form.append(...renderBlocks(view.blocks, {names, onAction}));
  const held = box.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const top = box.scrollTop;
  box.replaceChildren(form);
  box.scrollTop = top;
  if (held !== undefined) box.querySelector(`[data-key="${CSS.escape(held)}"]`)?.focus();
}

export function drawTabs(go) {
  const dm = dmOf(at.me);
  const inApp = at.here === 'home' || at.here === dm?.id;
  const fresh = dm === undefined || at.here === dm.id ? 0 : unread(dm.id, rootsOf(dm.id));
  const tab = (id, label, panel, count) =>
    el(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${panel}`,
        'aria-selected': String(at.here === id),
        'aria-controls': panel,
        tabindex: at.here === id ? '0' : '-1',
        onclick: () => go(id),
      },
      label,
      count > 0 ? el('span', {class: 'badge'}, `${count} new`) : null,
    );
  const bar = byId('app-tabs');
  bar.hidden = !inApp;
  bar.replaceChildren(
    tab('home', 'Home', 'home', 0),
    ...(dm === undefined ? [] : [tab(dm.id, 'Messages', 'log', fresh)]),
  );
}
