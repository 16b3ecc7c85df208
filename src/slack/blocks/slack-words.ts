/** Sentences are written for the terminal; here their commands are those that can be typed in Slack. */
import {isAt, VERB_RULES} from '../../domain/grammar/verb-table.ts';

const HERE = VERB_RULES.filter((rule) => isAt(rule, 'slack')).map(({verb}) => verb);
const COMMAND = new RegExp(`"gpu-reclaim (${HERE.join('|')})\\b`, 'g');

/** "gpu-reclaim diagnose X" -> "/gpu diagnose X", for the verbs that Slack has. */
export function slackWords(text: string): string {
  return text.replaceAll(COMMAND, '"/gpu $1');
}
