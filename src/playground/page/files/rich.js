/** Rich text: its parts are lists, quotes, fixed text and plain lines; their leaves carry a style. */
import {el} from './dom.js';
import {dated, plain, safeLink} from './mrkdwn.js';

export function richText(block, names) {
  return block.elements.map((one) => richPart(one, names));
}

export function richPart(part, names) {
  const leaves = () => (part.elements ?? []).map((one) => richLeaf(one, names));
  switch (part.type) {
    case 'rich_text_preformatted':
      return el('pre', {tabindex: '0'}, ...leaves());
    case 'rich_text_quote':
      return el('blockquote', {}, ...leaves());
    case 'rich_text_list':
      return el(
        part.style === 'ordered' ? 'ol' : 'ul',
        {},
        ...part.elements.map((one) => el('li', {}, richPart(one, names))),
      );
    default:
      return el('div', {class: 'rich'}, ...leaves());
  }
}

function richLeaf(leaf, names) {
  const {bold, italic, strike, code} = leaf.style ?? {};
  const tags = [code && 'code', bold && 'strong', italic && 'em', strike && 's'].filter(Boolean);
  return tags.reduce((inside, tag) => el(tag, {}, inside), wordsOf(leaf, names));
}

function wordsOf(leaf, names) {
  const mention = (text) => el('span', {class: 'mention'}, text);
  switch (leaf.type) {
    case 'text':
      return leaf.text;
    case 'link':
      return safeLink(leaf.url, leaf.text ?? leaf.url);
    case 'user':
      return mention(`@${names.users.get(leaf.user_id) ?? leaf.user_id}`);
    case 'usergroup':
      return mention(`@${names.groups.get(leaf.usergroup_id) ?? leaf.usergroup_id}`);
    case 'channel':
      return mention(`#${names.channels.get(leaf.channel_id) ?? leaf.channel_id}`);
    case 'broadcast':
      return mention(`@${leaf.range}`);
    case 'emoji':
      return plain(`:${leaf.name}:`);
    case 'date':
      return dated(`!date^${leaf.timestamp}^${leaf.format}`, leaf.fallback);
    default:
      return '';
  }
}
