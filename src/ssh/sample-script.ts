/** The text of one sample in a campaign: constant script files, then one line. */
import {scriptText} from './probe-script.ts';
import {quote} from './quote.ts';

/** The whole stdin text; see `probeScript` for why it begins and ends as it does. */
export function sampleScript(nonce: string): string {
  const functions = ['frame', 'side', 'facts', 'smi', 'sample'].map(scriptText).join('\n');
  return `:\n${functions}\nNONCE=${quote(nonce)}; sample_main </dev/null; exit $?\n`;
}
