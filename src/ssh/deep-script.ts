/** The text that one deeper look sends: constant script files, then one line with the data. */
import type {DeepRequest} from '../domain/deep.ts';
import {probeFunctions, scriptText} from './probe-script.ts';
import {quote} from './quote.ts';

/** The kernel side is read thread by thread: more processes than one run may signal are never asked for. */
const PIDS_MAX = 64;

/** The arguments of the shell function `deep`: device folder, uptime in ms or `-`, PIDs. Another shape is a bug, or left out. */
export function deepWords(request: DeepRequest, host: {readonly deviceFolder: string}): string {
  if (!/^\/[A-Za-z0-9._/-]*[A-Za-z0-9._-]$/.test(host.deviceFolder)) {
    throw new Error(`Internal error: ${JSON.stringify(host.deviceFolder)} is no device folder`);
  }
  const since = request.sinceUptimeMs;
  const pids = request.pids.filter((pid) => Number.isSafeInteger(pid) && pid > 0).slice(0, PIDS_MAX);
  const words = [host.deviceFolder, since === null ? '-' : String(Math.max(0, Math.floor(since))), ...pids.map(String)];
  return words.map(quote).join(' ');
}

/** The whole stdin text of a deeper look; see `probeScript` for why it begins and ends as it does. */
export function deepScript(nonce: string, request: DeepRequest, host: {readonly deviceFolder: string}): string {
  const functions = [probeFunctions(), ...['identity', 'deep-holders', 'deep-kernel', 'deep'].map(scriptText)].join(
    '\n',
  );
  return `:\n${functions}\nNONCE=${quote(nonce)}; deep_main ${deepWords(request, host)} </dev/null; exit $?\n`;
}
