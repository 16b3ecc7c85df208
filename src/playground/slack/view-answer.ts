import type {ViewOutput} from '@slack/bolt';
import {isObject, type Json} from './check-elements.ts';
import type {Screens} from './screens.ts';
import type {WebApi} from './web-api.ts';

/** The four response actions, and the plain ack that closes the view. */
export async function followAnswer(
  deps: {readonly api: WebApi; readonly screens: Screens},
  user: string,
  view: ViewOutput,
  response: unknown,
): Promise<void> {
  const {api, screens} = deps;
  const how = isObject(response) ? response['response_action'] : undefined;
  const body: Json = isObject(response) ? response : {};
  const trouble = (why: string): void => screens.say(user, {'': `We had some trouble connecting (${why}).`});
  switch (how) {
    case undefined:
      screens.leave(user, view.id);
      return;
    case 'clear':
      screens.clear(user);
      return;
    case 'errors': {
      const errors = isObject(body['errors']) ? body['errors'] : {};
      const inputs = new Set(view.blocks.filter(({type}) => type === 'input').map(({block_id: id}) => id ?? ''));
      const unknown = Object.keys(errors).filter((id) => !inputs.has(id));
      if (unknown.length > 0 || Object.keys(errors).length === 0)
        trouble(`errors for ${unknown.join(', ') || 'nothing'}`);
      else screens.say(user, Object.fromEntries(Object.entries(errors).map(([id, text]) => [id, String(text)])));
      return;
    }
    case 'update': {
      const answer = await api.asBot('views.update', {view_id: view.id, view: body['view']});
      if (!answer.ok) trouble(String(answer.error));
      return;
    }
    case 'push': {
      const trigger = await screens.trigger(user, view.id);
      const answer = await api.asBot('views.push', {trigger_id: trigger, view: body['view']});
      if (!answer.ok) trouble(String(answer.error));
      return;
    }
    default:
      trouble(`unknown response_action ${String(how)}`);
  }
}
