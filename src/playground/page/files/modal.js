/** The confirm dialog and the modal, both native dialogs: focus is kept inside, Escape means no, and goes back where it was. */
import {renderBlocks} from './blocks.js';
import {byId, rememberFocus} from './dom.js';
import {answersIn, putBack} from './fields.js';
import {plain, textObject} from './mrkdwn.js';

/** True once somebody confirmed; false for no, Escape, or a click elsewhere. */
export function askFirst(confirm, names) {
  const box = byId('confirm');
  const back = rememberFocus();
  byId('confirm-title').textContent = plain(confirm.title.text);
  byId('confirm-text').replaceChildren(...textObject(confirm.text, names));
  byId('confirm-yes').textContent = plain(confirm.confirm.text);
  byId('confirm-yes').className = confirm.style ?? 'primary';
  byId('confirm-no').textContent = plain(confirm.deny.text);
  box.returnValue = 'deny';
  box.showModal();
  // Enter must not be a yes by itself.
  byId('confirm-no').focus();
  return new Promise((resolve) => {
    box.addEventListener(
      'close',
      () => {
        back();
        resolve(box.returnValue === 'confirm');
      },
      {once: true},
    );
  });
}

let shown = null;
let back = () => undefined;

/** Shows this view, or closes the modal. What was typed stays, where the same field is still there. */
export function showView(view, errors, acts, names) {
  const box = byId('modal');
  if (view === null) {
    shown = null;
    if (!box.open) return;
    box.close();
    back();
    return;
  }
  const form = byId('modal-form');
  const body = byId('modal-body');
  const kept = shown === view.id ? answersIn(form) : {};
  const scrolled = shown === view.id ? body.scrollTop : 0;
  const focused = shown === view.id ? document.activeElement : null;
  const key = focused?.dataset.key;
  const id = focused?.id ?? '';
  shown = view.id;
  byId('modal-title').textContent = plain(view.title.text);
  const context = {
    names,
    errors,
    onAction: (element, block, choice) => acts.click(element, block, choice, answersIn(form)),
  };
  body.replaceChildren(...renderBlocks(view.blocks, context));
  putBack(form, kept);
  const trouble = byId('modal-trouble');
  trouble.textContent = errors[''] ?? '';
  trouble.hidden = errors[''] === undefined;
  const submit = byId('modal-submit');
  submit.hidden = !view.submit;
  submit.disabled = false;
  submit.textContent = plain(view.submit?.text ?? 'Submit');
  byId('modal-close').textContent = plain(view.close?.text ?? 'Cancel');
  form.onsubmit = async (event) => {
    event.preventDefault();
    if (submit.hidden) return;
    submit.disabled = true;
    await acts.submit(answersIn(form));
    submit.disabled = false;
  };
  byId('modal-close').onclick = () => acts.close();
  box.oncancel = (event) => {
    event.preventDefault();
    acts.close();
  };
  if (!box.open) {
    back = rememberFocus();
    box.showModal();
  }
  body.scrollTop = scrolled;
  const wrong = body.querySelector('.wrong input, .wrong textarea, .wrong select');
  const same = key === undefined ? null : body.querySelector(`[data-key="${CSS.escape(key)}"]`);
  (wrong ?? same ?? (id === '' ? null : byId(id)) ?? firstField(body) ?? byId('modal-close')).focus();
}

function firstField(body) {
  return body.querySelector('input, textarea, select, button');
}
