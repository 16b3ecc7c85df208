/** A plan and its steps: each with its state as a word, since a sign alone says nothing to everybody. */
import {el} from './dom.js';
import {plain} from './mrkdwn.js';
import {richText} from './rich.js';

const STATE = {
  pending: ['○', 'to do'],
  in_progress: ['◐', 'under way'],
  complete: ['✓', 'done'],
  error: ['✕', 'failed'],
};

export function plan(block, names) {
  return el(
    'div',
    {class: 'block plan'},
    el('strong', {}, wordsIn(block.title)),
    el('ol', {}, ...(block.tasks ?? []).map((one) => el('li', {}, ...step(one, names)))),
  );
}

export function taskCard(block, names) {
  return el('div', {class: 'block plan'}, ...step(block, names));
}

function step(task, names) {
  const [sign, word] = STATE[task.status] ?? STATE.pending;
  const detail = (rich) => (rich?.type === 'rich_text' ? richText(rich, names) : []);
  return [
    el('span', {class: `step ${task.status}`}, el('span', {'aria-hidden': 'true'}, sign), ' ', wordsIn(task.title)),
    el('span', {class: 'quiet'}, ` ${word}`),
    ...detail(task.details),
    ...detail(task.output),
  ];
}

function wordsIn(title) {
  return plain(typeof title === 'string' ? title : (title?.text ?? ''));
}
