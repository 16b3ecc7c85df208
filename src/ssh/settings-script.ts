/** The text of one look at what is set on the GPUs: constant script files, then one line. */
import {probeFunctions, scriptText} from './probe-script.ts';
import {quote} from './quote.ts';

/** The whole stdin text; see `probeScript` for why it begins and ends as it does. */
export function settingsScript(nonce: string): string {
  return `:\n${probeFunctions()}\n${scriptText('settings')}\nNONCE=${quote(nonce)}; settings_main </dev/null; exit $?\n`;
}
