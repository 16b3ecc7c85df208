/** The text of one question about owners: constant script files, then one line with their names. */
import type {OwnerName} from '../domain/owner.ts';
import {scriptText} from './probe-script.ts';
import {quote} from './quote.ts';

/** What a name may be made of, by kind: read from a cgroup path, where a user may make folders, so this is the second lock. */
const SHAPES: Partial<Readonly<Record<OwnerName['kind'], RegExp>>> = {
  unit: /^[A-Za-z0-9][A-Za-z0-9:_.@\\-]*\.(service|scope)$/,
  'user-unit': /^[A-Za-z0-9][A-Za-z0-9:_.@\\-]*\.(service|scope)$/,
  docker: /^[0-9a-f]{64}$/,
  podman: /^[0-9a-f]{64}$/,
  'slurm-job': /^\d{1,10}$/,
};

/** The words of the shell function `owners`. A name of another shape, or of a kind that no tool is asked about, is a bug. */
export function ownersWords(names: readonly OwnerName[]): string {
  const stray = names.find(({kind, id, uid}) => !SHAPES[kind]?.test(id) || (kind === 'user-unit') !== isUid(uid));
  if (stray !== undefined)
    throw new Error(`Internal error: no tool is asked about ${stray.kind} ${JSON.stringify(stray.id)}`);
  const ids = (kind: OwnerName['kind']): readonly string[] =>
    names.filter((one) => one.kind === kind).map((one) => one.id);
  const users = new Set(names.flatMap((one) => one.uid ?? []));
  const words = [
    ...['units', ...ids('unit')],
    ...[...users].flatMap((uid) => [
      'user',
      String(uid),
      ...names.filter((one) => one.uid === uid).map((one) => one.id),
    ]),
    ...['docker', ...ids('docker')],
    ...['podman', ...ids('podman')],
    ...['jobs', ...ids('slurm-job')],
  ];
  return words.map(quote).join(' ');
}

/** The whole stdin text; see `probeScript` for why it begins and ends as it does. */
export function ownersScript(nonce: string, names: readonly OwnerName[]): string {
  const functions = ['frame', 'side', 'facts', 'owners'].map(scriptText).join('\n');
  return `:\n${functions}\nNONCE=${quote(nonce)}; owners_main ${ownersWords(names)} </dev/null; exit $?\n`;
}

function isUid(uid: number | null): boolean {
  return uid !== null && Number.isSafeInteger(uid) && uid >= 0;
}
