/** The list on the left: channels, the app with its home and its messages; and who the person in front of the page is. */
import {byId, el} from './dom.js';
import {at, dmOf, rootsOf, unread} from './store.js';

const ROLE = {
  requester: 'may ask; may give a go for ghosts',
  approver: 'may ask, and give a go',
  stranger: 'is no approver',
};

export function drawPlaces(go) {
  const {world} = at;
  byId('team').textContent = world.team.name;
  byId('channel-list').replaceChildren(
    ...world.channels.map(({id, name}) => item(id, el('span', {class: 'hash', 'aria-hidden': 'true'}, '#'), name, go)),
  );
  const dm = dmOf(at.me);
  byId('app-list').replaceChildren(
    item('home', el('span', {class: 'dot', 'aria-hidden': 'true'}, '▦'), world.bot.name, go, dm?.id),
  );
  const sum = [...world.channels.map(({id}) => id), ...(dm === undefined ? [] : [dm.id])].reduce(
    (all, id) => all + fresh(id),
    0,
  );
  document.title = `${sum > 0 ? `(${sum}) ` : ''}${placeName()} · gpu-reclaim playground`;
  const mark = byId('places-mark');
  mark.textContent = sum > 0 ? String(sum) : '';
  mark.hidden = sum === 0;
}

export function placeName() {
  if (at.here === 'home' || at.here === dmOf(at.me)?.id) return at.world.bot.name;
  return `#${at.world.channels.find(({id}) => id === at.here)?.name ?? ''}`;
}

function fresh(id) {
  return unread(id, rootsOf(id));
}

function item(id, sign, name, go, alsoId) {
  const current = id === at.here || (alsoId !== undefined && alsoId === at.here);
  const count = current ? 0 : fresh(alsoId ?? id);
  return el(
    'li',
    {},
    el(
      'button',
      {
        type: 'button',
        class: count > 0 ? 'unread' : '',
        'data-place': id,
        'aria-current': current ? 'page' : undefined,
        onclick: () => go(id),
      },
      sign,
      el('span', {class: 'place-name'}, name),
      count > 0 ? el('span', {class: 'badge'}, String(count), el('span', {class: 'unseen'}, ' new')) : null,
    ),
  );
}

export function drawPeople(become) {
  byId('people').replaceChildren(
    el('legend', {}, 'You are'),
    ...at.world.users.map(({id, name, role}) =>
      el(
        'label',
        {title: `${name} ${ROLE[role] ?? role}`},
        el('input', {type: 'radio', name: 'me', value: id, checked: id === at.me, onchange: () => become(id)}),
        el('span', {}, name, el('small', {}, role)),
      ),
    ),
  );
}
