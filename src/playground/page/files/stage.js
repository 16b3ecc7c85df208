/** What is no part of Slack: whether the bot is there, and the switches that make trouble on purpose. */

import {send} from './api.js';
import {byId, el, speak} from './dom.js';

let before = null;

export function drawSwitches(groups) {
  byId('faults-body').replaceChildren(
    ...groups.map(({title, switches}) =>
      el(
        'section',
        {class: 'switches', 'aria-label': title},
        el('h3', {}, title),
        ...switches.map(({id, label, does, watch}) =>
          el(
            'div',
            {class: 'switch', 'data-switch': id},
            el(
              'button',
              {
                type: 'button',
                'data-key': `switch-${id}`,
                'aria-describedby': `switch-${id}-words`,
                onclick: () => press(id),
              },
              label,
            ),
            el('p', {class: 'state', hidden: true}),
            el('p', {class: 'quiet', id: `switch-${id}-words`}, does, ' ', el('strong', {}, 'Watch: '), watch),
          ),
        ),
      ),
    ),
  );
}

async function press(id) {
  const line = byId('faults-body').querySelector(`[data-switch="${CSS.escape(id)}"] .state`);
  line.hidden = false;
  line.textContent = '…';
  const done = await send('switch', {id});
  line.textContent = done?.said ?? '';
  line.hidden = line.textContent === '';
  if (done?.said) speak(done.said);
}

/** `state` = {connected, bot: 'running' | 'starting' | 'ended' | null, open: [{id, left}]}. */
export function showState(state, botName) {
  const banner = byId('down');
  const up = state.connected > 0;
  banner.hidden = up;
  if (!up) {
    const ended = state.bot === 'ended';
    banner.replaceChildren(
      el(
        'span',
        {},
        el('strong', {}, ended ? `${botName} is not running. ` : `${botName} is not connected. `),
        ended
          ? 'Commands and clicks fail now, as they would in Slack.'
          : 'It should be back within seconds; until then commands and clicks fail, as they would in Slack.',
      ),
      ...(ended ? [el('button', {type: 'button', onclick: () => send('switch', {id: 'start'})}, 'Start the bot')] : []),
    );
  }
  const light = byId('light');
  light.className = up ? 'light up' : 'light';
  light.textContent = up ? 'bot connected' : state.bot === 'ended' ? 'bot not running' : 'bot away';
  if (before !== null && before !== up) speak(up ? 'The bot is connected again.' : 'The bot is not connected.');
  before = up;
  for (const node of byId('faults-body').querySelectorAll('[data-switch]')) {
    const left = state.open.find(({id}) => id === node.dataset.switch)?.left ?? 0;
    const line = node.querySelector('.state');
    node.classList.toggle('armed', left > 0);
    if (left > 0) line.textContent = left === 1 ? 'Waiting for the next one.' : `For the next ${left}.`;
    else if (/^(Waiting|For the next)/.test(line.textContent)) line.textContent = 'Done.';
    line.hidden = line.textContent === '';
  }
}
