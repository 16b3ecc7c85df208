/** The confirm dialog and the modal, both native dialogs: focus is kept inside, Escape means no. */
import {renderBlocks} from './blocks.js';
import {byId} from './dom.js';
import {answersIn, putBack} from './fields.js';
import {plain, textObject} from './mrkdwn.js';

/** True once somebody confirmed; false for no, Escape, or a click elsewhere. */
export function askFirst(confirm, names) {
  const box = byId('confirm');
  byId('confirm-title').textContent = plain(confirm.title.text);
  byId('confirm-text').replaceChildren(...textObject(confirm.text, names));
  byId('confirm-yes').textContent = plain(confirm.confirm.text);
  byId('confirm-yes').className = confirm.style ?? 'danger';
  byId('confirm-no').textContent = plain(confirm.deny.text);
  box.returnValue = 'deny';
  box.showModal();
  // Enter must not be a yes by itself.
  byId('confirm-no').focus();
  return new Promise((resolve) => {
    box.addEventListener('close', () => resolve(box.returnValue === 'confirm'), {once: true});
  });
}

let shown = null;

/** Shows this view, or closes the modal. What was typed stays, where the same field is still there. */
export function showView(view, errors, acts, names) {
  const box = byId('modal');
  if (view === null) {
    shown = null;
    if (box.open) box.close();
    return;
  }
  const form = byId('modal-form');
  const body = byId('modal-body');
  const kept = shown === view.id ? answersIn(form) : {};
  const focused = document.activeElement?.id;
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
    submit.disabled = true;
    await acts.submit(answersIn(form));
    submit.disabled = false;
  };
  byId('modal-close').onclick = () => acts.close();
  box.oncancel = (event) => {
    event.preventDefault();
    acts.close();
  };
  if (!box.open) box.showModal();
  const wrong = body.querySelector('[aria-invalid] input, [aria-invalid] textarea, [aria-invalid] select');
  (wrong ?? (focused ? byId(focused) : null))?.focus();
}
