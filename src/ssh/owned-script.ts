/** The text of one look at what owners own: constant script files, then one line with their names and folders. */
import type {StopKind, StoppableOwner} from '../domain/stop-owner.ts';
import {probeFunctions, scriptText} from './probe-script.ts';
import {quote} from './quote.ts';

/** What a name may be made of, by kind: the second lock, since names are read from paths that users may have made. */
const IDS: Readonly<Record<StopKind, RegExp>> = {
  unit: /^[A-Za-z0-9][A-Za-z0-9:_.@\\-]*\.service$/,
  docker: /^[0-9a-f]{64}$/,
  podman: /^[0-9a-f]{64}$/,
  'slurm-job': /^[1-9]\d{0,9}$/,
};
const FOLDER = /^(?!.*\/\.{1,2}(\/|$))(\/[A-Za-z0-9:_.@\\-]+)+$/;

/** Kind, id and folder, each a plain word. Another shape is a bug. */
export function ownerWords({kind, id, folder}: Pick<StoppableOwner, 'kind' | 'id' | 'folder'>): readonly string[] {
  if (!IDS[kind].test(id) || !FOLDER.test(folder))
    throw new Error(`Internal error: ${kind} ${JSON.stringify(id)} in ${JSON.stringify(folder)} is no owner to stop`);
  return [kind, id, folder];
}

/** The whole stdin text; see `probeScript` for why it begins and ends as it does. */
export function ownedScript(nonce: string, owners: readonly StoppableOwner[]): string {
  const functions = [probeFunctions(), ...['cgroup', 'owned'].map(scriptText)].join('\n');
  const words = owners.flatMap(ownerWords).map(quote).join(' ');
  return `:\n${functions}\nNONCE=${quote(nonce)}; owned_main ${words} </dev/null; exit $?\n`;
}
