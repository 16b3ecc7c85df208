/** The text that one probe sends: constant script files, then one line with the data. */
import {readFileSync} from 'node:fs';
import {toPattern} from '../domain/parse/matches.ts';
import type {ProbeRequest} from '../engine/remote-ports.ts';
import {quote} from './quote.ts';

const texts = new Map<string, string>();

/** The constant text of `scripts/NAME.sh`, beside this file in `src` as in `dist`. Read once. */
export function scriptText(name: string): string {
  const known = texts.get(name);
  if (known !== undefined) return known;
  const text = readFileSync(new URL(`./scripts/${name}.sh`, import.meta.url), 'utf8');
  texts.set(name, text);
  return text;
}

/** Every function that `probe` needs, `frame.sh` first: what the signalling script puts in front of its own text. */
export function probeFunctions(): string {
  return ['frame', 'side', 'scan', 'smi', 'facts', 'probe'].map(scriptText).join('\n');
}

/**
 * The arguments of the shell function `probe`, quoted: device folder, number of literals, literals as patterns, PIDs.
 * Literals with control characters match no process and are left out; anything else of another shape is a bug.
 */
export function probeWords(request: ProbeRequest, host: {readonly deviceFolder: string}): string {
  if (!/^\/[A-Za-z0-9._/-]*[A-Za-z0-9._-]$/.test(host.deviceFolder)) {
    throw new Error(`Internal error: ${JSON.stringify(host.deviceFolder)} is no device folder`);
  }
  const literals = request.literals.filter((literal) => literal !== '' && !/[\x00-\x1f\x7f]/.test(literal));
  const pids = request.pids.filter((pid) => Number.isSafeInteger(pid) && pid > 0);
  const words = [host.deviceFolder, String(literals.length), ...literals.map(toPattern), ...pids.map(String)];
  return words.map(quote).join(' ');
}

/**
 * The whole stdin text of a probe. The first line is a sacrifice: a `.bashrc` with one `read` eats it. All else is
 * functions, so that a text cut short runs nothing; the call stands on the last line, with stdin from /dev/null so
 * that no command eats the script.
 */
export function probeScript(nonce: string, request: ProbeRequest, host: {readonly deviceFolder: string}): string {
  return `:\n${probeFunctions()}\nNONCE=${quote(nonce)}; probe_main ${probeWords(request, host)} </dev/null; exit $?\n`;
}
