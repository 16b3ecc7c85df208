/** The three dots: a menu that opens by click or Enter, is walked with the arrows, and closed with Escape. */
import {el} from './dom.js';
import {plain} from './mrkdwn.js';

export function menu(options, key, choose, label) {
  const list = el('div', {class: 'menu', role: 'menu', hidden: true});
  const door = el(
    'button',
    {
      type: 'button',
      class: 'dots',
      'data-key': key,
      'aria-haspopup': 'menu',
      'aria-expanded': 'false',
      'aria-label': label ?? 'More',
    },
    '⋯',
  );
  const items = options.map((option) =>
    el(
      'button',
      {type: 'button', role: 'menuitem', tabindex: '-1', onclick: () => pick(option.value)},
      plain(option.text.text),
    ),
  );
  list.append(...items);
  const set = (open) => {
    list.hidden = !open;
    door.setAttribute('aria-expanded', String(open));
    if (open) items[0]?.focus();
  };
  const pick = (value) => {
    set(false);
    door.focus();
    void choose(value);
  };
  door.addEventListener('click', () => set(list.hidden));
  list.addEventListener('keydown', (event) => {
    const at = items.indexOf(document.activeElement);
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step !== undefined) items[(at + step + items.length) % items.length]?.focus();
    else if (event.key !== 'Escape') return;
    else {
      set(false);
      door.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  });
  const whole = el('span', {class: 'has-menu'}, door, list);
  whole.addEventListener('focusout', (event) => {
    if (!whole.contains(event.relatedTarget)) set(false);
  });
  return whole;
}
