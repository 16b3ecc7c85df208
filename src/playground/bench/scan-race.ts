/** The probe, what people would type instead, and the probe's own parts alone: same host, same connection, same shell. */
import {randomBytes} from 'node:crypto';
import {BUILT_IN_WORKLOADS} from '../../config/workloads.ts';
import {hostName} from '../../domain/host.ts';
import {toPattern} from '../../domain/parse/matches.ts';
import {parseProbe} from '../../domain/parse/probe-output.ts';
import {probeCommand} from '../../ssh/commands.ts';
import {probeScript} from '../../ssh/probe-script.ts';
import {quote} from '../../ssh/quote.ts';
import type {Lab} from '../lab/lab.ts';
import type {CommandResult, LabConnection} from '../lab/run-in-lab.ts';
import {type Contender, type Timed, takeTurns} from './rounds.ts';

/** What a look at memory waits for. */
export const SMI_CALL = 'nvidia-smi, one call';

export interface Race {
  readonly probe: Timed;
  readonly fuser: Timed;
  readonly lsof: Timed;
  /** The probe's sections, each as a command of its own, slowest first. */
  readonly sections: readonly Timed[];
}

export async function race(lab: Lab, connection: LabConnection, rounds: number): Promise<Race> {
  const entry = lab.hostsEntry();
  const deviceFolder = entry.deviceFolder ?? '/dev';
  const command = probeCommand(
    {
      name: hostName(lab.name),
      address: entry.address,
      port: entry.port,
      look: {user: entry.look.user, key: {kind: 'file', path: entry.look.keyFile, passphrase: null}},
      act: null,
      hostKeys: {kind: 'pinned', keys: entry.hostKeys},
      sudo: false,
      extraPath: entry.extraPath,
      libraryPath: [],
      deviceFolder,
    },
    60_000,
  );
  const literals = BUILT_IN_WORKLOADS.flatMap((workload) => workload.literals);
  let nonce = '';
  const probe: Contender = {
    name: 'probe, whole',
    command,
    input: () => {
      nonce = randomBytes(16).toString('hex');
      return probeScript(nonce, {literals, pids: []}, {deviceFolder});
    },
    holdersIn: (answer) => holdersOfProbe(lab, nonce, answer),
  };
  const typed = (name: string, script: string, holdersIn: Contender['holdersIn']): Contender => ({
    name,
    command,
    input: () => `${script}\n`,
    holdersIn,
  });
  const devices = `${deviceFolder}/nvidia*`;
  const fuser = typed('fuser', `fuser ${devices} 2>/dev/null`, pidsIn(/\d+/g));
  const lsof = typed('lsof', `lsof -t ${devices} 2>/dev/null`, pidsIn(/^\d+$/gm));
  const fds = `find /proc/[0-9]*/fd -maxdepth 1 -lname '${devices}' -printf '%h %l\\n' 2>/dev/null`;
  const mapping = `^[^ ]* [^ ]* [^ ]* [^ ]* [0-9]* *${deviceFolder}/nvidia`;
  const patterns = quote(literals.map(toPattern).join('\n'));
  const sections = [
    typed('open files (find)', fds, pidsIn(/(?<=^\/proc\/)\d+/gm)),
    typed('mappings (grep)', `grep -las '${mapping}' /proc/[0-9]*/maps`, pidsIn(/(?<=^\/proc\/)\d+/gm)),
    typed('names (grep)', `grep -aoisH ${patterns} /proc/[0-9]*/comm /proc/[0-9]*/cmdline >/dev/null`, null),
    typed('zombies (grep)', "grep -las ') Z ' /proc/[0-9]*/stat >/dev/null", null),
    typed(SMI_CALL, 'nvidia-smi --query-gpu=uuid,memory.used --format=csv,noheader,nounits', null),
  ];
  const timed = await takeTurns(connection, [probe, fuser, lsof, ...sections], rounds);
  const [first, second, third, ...rest] = timed;
  if (first === undefined || second === undefined || third === undefined)
    throw new Error('Internal error: the race came back without its runners');
  return {probe: first, fuser: second, lsof: third, sections: rest.toSorted((a, b) => b.medianMs - a.medianMs)};
}

/** Throws where the probe's answer is not whole: a time without the work is none. */
function holdersOfProbe(lab: Lab, nonce: string, answer: CommandResult): number {
  const snapshot = parseProbe(
    {
      host: hostName(lab.name),
      hostKey: '',
      nonce,
      stdout: Buffer.from(answer.stdout),
      stderr: answer.stderr,
      exitCode: answer.code,
      tookMs: 0,
    },
    0,
  );
  if (!snapshot.ok) throw new Error(`the probe did not read: ${JSON.stringify(snapshot.failure)}`);
  const broken = snapshot.value.sections.filter((section) => !section.complete).map((section) => section.name);
  if (broken.length > 0) throw new Error(`the probe's sections were not whole: ${broken.join(', ')}`);
  return snapshot.value.holdings.length;
}

function pidsIn(pattern: RegExp): (answer: CommandResult) => number {
  return ({stdout}) => new Set(stdout.match(pattern) ?? []).size;
}
