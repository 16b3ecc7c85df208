/** The last resort before Slack would refuse: cards are made within their room, and what still is too long is cut in the open. */
import {cutMrkdwn} from '../escape.ts';
import {LIMITS, lengthOf, MESSAGE_BUDGET} from '../limits.ts';
import type {KnownBlock, Message} from './message.ts';

/** The message, shortened where it breaks a limit; what is left out is counted. The first block and the buttons stay. */
export function fitted(message: Message): Message {
  const blocks = dropSurplus(message.blocks.map(cutBlock));
  return {text: cutMrkdwn(message.text === '' ? ' ' : message.text, LIMITS.message.text), blocks};
}

/** One block within its own limits. */
export function cutBlock(block: KnownBlock): KnownBlock {
  switch (block.type) {
    case 'section':
      return {
        ...block,
        ...(block.text === undefined
          ? {}
          : {text: {...block.text, text: cutMrkdwn(block.text.text, LIMITS.section.text)}}),
        ...(block.fields === undefined
          ? {}
          : {
              fields: block.fields
                .slice(0, LIMITS.section.fields)
                .map((field) => ({...field, text: cutMrkdwn(field.text, LIMITS.section.field)})),
            }),
      };
    case 'context':
      return {
        ...block,
        elements: block.elements
          .slice(0, LIMITS.context.elements)
          .map((element) =>
            element.type === 'mrkdwn' || element.type === 'plain_text'
              ? {...element, text: cutMrkdwn(element.text, LIMITS.context.text)}
              : element,
          ),
      };
    case 'header':
      return {...block, text: {...block.text, text: cutMrkdwn(block.text.text, LIMITS.header)}};
    default:
      return block;
  }
}

/** Takes blocks out from the end of the middle until count and weight fit, and says how many. */
function dropSurplus(blocks: readonly KnownBlock[]): readonly KnownBlock[] {
  if (fits(blocks)) return blocks;
  const kept = [...blocks];
  for (let dropped = 1; kept.length > 1; dropped += 1) {
    const at = kept.findLastIndex((block, index) => index > 0 && block.type !== 'actions');
    if (at < 0) break;
    kept.splice(at, 1);
    const shortened = [...kept.slice(0, at), leftOut(dropped), ...kept.slice(at)];
    if (fits(shortened)) return shortened;
  }
  return kept;
}

function fits(blocks: readonly KnownBlock[]): boolean {
  return blocks.length <= LIMITS.message.blocks && lengthOf(JSON.stringify(blocks)) <= MESSAGE_BUDGET;
}

function leftOut(count: number): KnownBlock {
  const text = `(truncated: ${count} more ${count === 1 ? 'part' : 'parts'} left out; the terminal shows all)`;
  return {type: 'context', elements: [{type: 'mrkdwn', text, verbatim: true}]};
}
