/** The two lines that are typed into. `sent` is called for each. Arrow up brings back what was typed before, as a shell does. */
import {send} from './api.js';
import {byId, el} from './dom.js';

export function composer({form, input, where, sent}) {
  const line = byId(input);
  const typed = [];
  let recall = 0;
  byId(form).addEventListener('submit', (event) => {
    event.preventDefault();
    const text = line.value.trim();
    if (text === '') return;
    typed.push(text);
    recall = typed.length;
    line.value = '';
    sent();
    void send('type', {text, ...where()});
  });
  line.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
    const next = Math.max(0, Math.min(typed.length, recall + (event.key === 'ArrowUp' ? -1 : 1)));
    if (next === recall) return;
    recall = next;
    line.value = typed[recall] ?? '';
    event.preventDefault();
  });
}

/** Commands to try: one click puts it into the line, Enter sends it. */
export function drawHints(hints) {
  byId('hints').replaceChildren(
    ...hints.map((hint) =>
      el(
        'button',
        {
          type: 'button',
          title: 'Puts this into the line below; Enter sends it',
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
