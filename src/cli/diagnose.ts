/** `diagnose`: the cross-reference of one host, or of a saved transcript. */
import type {Diagnosis} from '../domain/diagnosis.ts';
import type {Result} from '../domain/failure.ts';
import {readLookedAt} from '../domain/looks-words.ts';
import type {Look} from '../engine/ports.ts';
import {diagnosisNotes} from '../report/diagnosis-notes.ts';
import {gpuNotes, gpuTable, holderLines, hostTitle} from '../report/host-state.ts';
import {type Answering, type CliContext, printJson, refuse} from './context.ts';
import {EXIT, type ExitCode} from './exit-code.ts';
import {diagnosisJson, isKnown} from './json.ts';
import {type Known, readBack} from './read-back.ts';
import {takeUp} from './recovered.ts';

export async function diagnoseHost(asked: CliContext, words: readonly string[]): Promise<ExitCode> {
  const taken = await takeUp(asked);
  if (!taken.ok) return refuse(asked, taken.failure);
  const context = taken.value;
  const look = await lookAt(context, words);
  if (!look.ok) return refuse(context, look.failure);
  return tell(context, look.value.diagnosis, nextStep(look.value.diagnosis));
}

export async function diagnoseFile(answering: Answering, path: string, known: Known): Promise<ExitCode> {
  const diagnosis = await readBack(path, known);
  return diagnosis.ok ? tell(answering, diagnosis.value, []) : refuse(answering, diagnosis.failure);
}

async function lookAt(context: CliContext, words: readonly string[]): Promise<Result<Look>> {
  const host = readLookedAt(words, [...context.hosts.values()], 'diagnose');
  if (!host.ok) return host;
  if (!context.json) context.terminal.progress(`looking at ${host.value}; nothing is signalled`);
  return context.engine.diagnose(host.value);
}

function tell(answering: Answering, diagnosis: Diagnosis, next: readonly string[]): ExitCode {
  if (answering.json) printJson(answering, diagnosisJson(diagnosis));
  else
    answering.terminal.print(
      hostTitle(diagnosis),
      ...gpuTable(diagnosis),
      ...gpuNotes(diagnosis),
      ...diagnosisNotes(diagnosis),
      '',
      ...holderLines(diagnosis),
      ...next,
    );
  return isKnown(diagnosis) ? EXIT.done : EXIT.unknown;
}

function nextStep(diagnosis: Diagnosis): readonly string[] {
  return diagnosis.gpus.some((gpu) => gpu.state === 'dirty')
    ? [
        '',
        `To get it back: gpu-reclaim reclaim ${diagnosis.snapshot.host} (shows a plan first; nothing is signalled without a go)`,
      ]
    : [];
}
