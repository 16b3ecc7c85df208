/** What stands where nothing stands yet, and what a place is for. */
import {el} from './dom.js';
import {at} from './store.js';
import {emptyLine} from './talk.js';

export function topicOf({id}) {
  return id === at.world.channels[0].id
    ? 'Free GPU memory here, with a go'
    : 'The bot does not work here: see what it says';
}

/** On a narrow screen the names at the top stand without their roles. */
function approver() {
  const one = at.world.users.find(({role}) => role === 'approver');
  return one === undefined ? 'somebody else' : `${one.name}, the approver,`;
}

export function nothingYet(channel) {
  if (channel === undefined) return emptyLine(`No messages between you and ${at.world.bot.name} yet.`);
  if (channel.id !== at.world.channels[0].id) return emptyLine('Nothing here yet.');
  return emptyLine(
    el('p', {}, el('strong', {}, 'Nothing here yet. '), 'Three things to try:'),
    el(
      'ol',
      {},
      el(
        'li',
        {},
        'Pick a command below and press Enter. ',
        el('code', {}, '/gpu help'),
        ' says what you may do here.',
      ),
      el('li', {}, `Ask for memory back, then become ${approver()} at the top, and give the go.`),
      el('li', {}, 'Make trouble under ', el('em', {}, 'Faults'), ' while it works.'),
    ),
  );
}
