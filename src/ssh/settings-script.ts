/** The text of one look at what a campaign may leave behind: constant script files, then one line with the folders. */
import {probeFunctions, scriptText} from './probe-script.ts';
import {quote} from './quote.ts';

const MOST_FOLDERS = 8;

/** The whole stdin text; see `probeScript` for why it begins and ends as it does. A folder that is no plain path is a bug. */
export function settingsScript(nonce: string, folders: readonly string[]): string {
  const stray = folders.find((folder) => !/^\/[^\x00-\x1f\x7f]*$/.test(folder));
  if (stray !== undefined || folders.length > MOST_FOLDERS)
    throw new Error(`Internal error: ${JSON.stringify(stray ?? folders)} is no folder to look into`);
  const words = ['settings_main', ...folders].map(quote).join(' ');
  return `:\n${probeFunctions()}\n${scriptText('settings')}\nNONCE=${quote(nonce)}; ${words} </dev/null; exit $?\n`;
}
