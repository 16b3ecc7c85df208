/** `status`: one host in full, or the fleet with the worst first. A host that could not be looked at is unknown, never left out. */
import type {Diagnosis, GpuState} from '../domain/diagnosis.ts';
import type {Result} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import {readStatus} from '../domain/looks-words.ts';
import type {Look} from '../engine/ports.ts';
import {failureSentence} from '../report/failure-sentence.ts';
import {fleetLine, gpuNotes, gpuTable, hostTitle} from '../report/host-state.ts';
import {type CliContext, printJson, refuse} from './context.ts';
import {EXIT, type ExitCode} from './exit-code.ts';
import {diagnosisJson, isKnown} from './json.ts';
import {takeUp} from './recovered.ts';

export async function status(asked: CliContext, words: readonly string[]): Promise<ExitCode> {
  const taken = await takeUp(asked);
  if (!taken.ok) return refuse(asked, taken.failure);
  const context = taken.value;
  const names = readStatus(words, [...context.hosts.values()]);
  if (!names.ok) return refuse(context, names.failure);
  if (!context.json)
    context.terminal.progress(
      `looking at ${names.value.length === 1 ? names.value[0]?.name : `${names.value.length} hosts`}; nothing is signalled`,
    );
  const looks = await Promise.all(
    names.value.map(async ({name, by}) => ({name, look: await context.engine.look(name, {unasked: by !== 'name'})})),
  );
  const unknown = looks.filter(({look}) => !look.ok || !isKnown(look.value.diagnosis)).length;

  if (context.json) {
    printJson(context, {
      ok: unknown === 0,
      hosts: looks.map(({name, look}) =>
        look.ok
          ? diagnosisJson(look.value.diagnosis)
          : {host: name, ok: false, failure: look.failure, sentence: failureSentence(look.failure)},
      ),
    });
  } else if (looks.length === 1) {
    const [only] = looks;
    if (only?.look.ok) printHost(context, only.look.value.diagnosis);
    else if (only !== undefined && !only.look.ok) return refuse(context, only.look.failure);
  } else {
    printFleet(context, looks);
  }
  return unknown === 0 ? EXIT.done : EXIT.unknown;
}

function printHost(context: CliContext, diagnosis: Diagnosis): void {
  context.terminal.print(hostTitle(diagnosis), ...gpuTable(diagnosis), ...gpuNotes(diagnosis));
}

function printFleet(
  context: CliContext,
  looks: readonly {readonly name: HostName; readonly look: Result<Look>}[],
): void {
  const rank: readonly (GpuState | 'failed')[] = ['failed', 'dirty', 'unknown', 'occupied', 'clean'];
  const worst = (look: Result<Look>): number =>
    look.ok ? Math.min(rank.length, ...look.value.diagnosis.gpus.map((gpu) => rank.indexOf(gpu.state))) : 0;
  for (const {name, look} of looks.toSorted((a, b) => worst(a.look) - worst(b.look))) {
    context.terminal.print(
      look.ok ? fleetLine(look.value.diagnosis) : `${name}: unknown: ${failureSentence(look.failure)}`,
    );
  }
  context.terminal.print(`Looked at ${looks.filter(({look}) => look.ok).length} of ${looks.length} hosts.`);
}
