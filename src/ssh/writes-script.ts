/** The text of one look at what processes write: constant script files, then one line with the PIDs. */
import {scriptText} from './probe-script.ts';
import {quote} from './quote.ts';

/**
 * The whole stdin text. As in a probe the first line may be lost to a login shell, all else is functions, and the call
 * stands on the last line. A PID of another shape is a bug.
 */
export function writesScript(nonce: string, pids: readonly number[]): string {
  const stray = pids.find((pid) => !Number.isSafeInteger(pid) || pid <= 0);
  if (stray !== undefined) throw new Error(`Internal error: ${stray} is no PID`);
  const functions = ['frame', 'side', 'facts', 'writes'].map(scriptText).join('\n');
  return `:\n${functions}\nNONCE=${quote(nonce)}; writes_main ${pids.join(' ')} </dev/null; exit $?\n`;
}
