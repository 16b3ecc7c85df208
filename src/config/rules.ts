/** Rules over the whole: what each file may say by itself and still not mean. Each looks for one thing. */
import type {Policy} from '../domain/policy.ts';
import type {HostEntry} from './config.ts';
import type {WrittenHosts} from './hosts-schema.ts';
import type {Mistake} from './mistake.ts';

type HostsRule = (written: WrittenHosts, entries: readonly HostEntry[], file: string) => readonly Mistake[];

export function hostsMistakes(written: WrittenHosts, entries: readonly HostEntry[], file: string): readonly Mistake[] {
  return HOSTS_RULES.flatMap((rule) => rule(written, entries, file));
}

/** Two names for one address would be two runs at once on one machine. */
const oneNamePerAddress: HostsRule = (_, entries, file) => {
  const first = new Map<string, string>();
  return entries.flatMap(({access}) => {
    const place = `${access.address.toLowerCase().replace(/\.$/, '')} port ${access.port}`;
    const other = first.get(place);
    if (other === undefined) {
      first.set(place, access.name);
      return [];
    }
    const at = ['hosts', access.name, 'address'];
    return [
      {file, at, problem: `is ${place}, as is ${other}`, wayOut: 'keep one name; use groups or labels for the rest'},
    ];
  });
};

const actNeedsCredential: HostsRule = ({hosts, defaults}, _, file) =>
  Object.entries(hosts).flatMap(([name, host]) => {
    if (host.mode !== 'act' || host.act !== undefined || defaults?.act !== undefined) return [];
    const wayOut = 'write act: {user: gpu-act, keyFile: PATH}, here or among the defaults, or mode: observe';
    return [{file, at: ['hosts', name, 'act'], problem: 'is missing, and the host is in mode act', wayOut}];
  });

/** Without root only the act user's own processes can be signalled: nobody should find that out at the go. */
const actAnswersSudo: HostsRule = ({hosts, defaults}, entries, file) =>
  entries.flatMap(({host, access: {act}}) => {
    const sudo = hosts[host.name]?.sudo ?? defaults?.sudo;
    if (host.mode !== 'act' || act === null || act.user === 'root' || sudo !== undefined) return [];
    const problem = `is not said, and ${act.user} alone can signal nobody else's processes`;
    const wayOut = `write sudo: true (manifests/sudoers.gpu-reclaim shows the rule), or sudo: false if that is meant`;
    return [{file, at: ['hosts', host.name, 'sudo'], problem, wayOut}];
  });

const groupsAreNoHosts: HostsRule = ({hosts, defaults}, _, file) => {
  const named = (groups: readonly string[] | undefined, place: readonly string[]) =>
    (groups ?? [])
      .filter((group) => Object.hasOwn(hosts, group))
      .map((group) => ({
        file,
        at: [...place, 'groups'],
        problem: `names ${group}, which is a host`,
        wayOut: 'give the group another name: both are typed in the same place',
      }));
  return [
    ...named(defaults?.groups, ['defaults']),
    ...Object.entries(hosts).flatMap(([name, host]) => named(host.groups, ['hosts', name])),
  ];
};

const someHost: HostsRule = ({hosts}, _, file) =>
  Object.keys(hosts).length > 0
    ? []
    : [{file, at: ['hosts'], problem: 'names no host', wayOut: 'write one as hosts.example.yaml shows'}];

const HOSTS_RULES = [someHost, oneNamePerAddress, actNeedsCredential, actAnswersSudo, groupsAreNoHosts];

/** The ladder must be able to run in its order: leaders, members, grace, kill, proof, later looks. */
export function policyMistakes(policy: Policy, file: string): readonly Mistake[] {
  const wrong = (key: string, problem: string, wayOut: string): Mistake => ({file, at: [key], problem, wayOut});
  const mistakes: Mistake[] = [];
  if (policy.memberDelayMs > policy.graceMs) {
    mistakes.push(wrong('memberDelay', 'is longer than grace: members would be killed untold', 'make it shorter'));
  }
  if (policy.profilerGraceMs < policy.graceMs) {
    mistakes.push(wrong('profilerGrace', 'is shorter than grace, though profilers need longer', 'make it longer'));
  }
  if (policy.writingGraceMs < policy.profilerGraceMs) {
    mistakes.push(wrong('writingGrace', 'is shorter than profilerGrace, which it is to go on from', 'make it longer'));
  }
  if (policy.stalledMs > policy.verifyMs) {
    mistakes.push(wrong('stalled', 'is longer than verify, so it can never be seen', 'make it shorter'));
  }
  if (policy.lookAgainMs.some((ms, nth) => nth > 0 && ms <= (policy.lookAgainMs[nth - 1] ?? 0))) {
    mistakes.push(wrong('lookAgain', 'does not grow from look to look', 'write for example [1m, 10m]'));
  }
  const ids = policy.samePerson.flat();
  for (const id of new Set(ids.filter((one, nth) => ids.indexOf(one) < nth)))
    mistakes.push(wrong('samePerson', `names ${id} twice`, 'write all ids of one person in one list, each once'));
  const names = policy.protectedList.map((entry) => entry.name);
  for (const [nth, entry] of policy.protectedList.entries()) {
    const at = `protected`;
    if (names.indexOf(entry.name) < nth) {
      mistakes.push(wrong(at, `has a second "${entry.name}"`, 'give it another name: it is shown to people'));
    }
    if (entry.executables.length + entry.units.length === 0) {
      mistakes.push(wrong(at, `"${entry.name}" covers nothing`, 'write its executables or its units'));
    }
  }
  return mistakes;
}
