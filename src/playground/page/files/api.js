/** What the person does, sent to the local Slack; its refusal is shown as a line at the bottom. */
import {byId} from './dom.js';
import {at} from './store.js';

export async function send(path, what) {
  notice('');
  const channel = at.here === 'home' ? at.world.channels[0].id : at.here;
  const response = await fetch(`/${path}`, {
    method: 'POST',
    headers: {'content-type': 'application/json'},
    body: JSON.stringify({user: at.me, channel, ...what}),
  }).catch(() => null);
  if (response === null) {
    notice('The local Slack does not answer. Is the demo still running?');
    return null;
  }
  const done = await response.json();
  if (done.error !== undefined) notice(done.error);
  return done;
}

export function notice(text) {
  byId('notice-text').textContent = text;
  byId('notice').hidden = text === '';
}
