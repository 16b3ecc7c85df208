/** `diagnose`: the cross-reference of one host, or of a saved transcript. */
import {readFile} from 'node:fs/promises';
import type {Diagnosis} from '../domain/diagnosis.ts';
import {fail, type Result} from '../domain/failure.ts';
import {readTranscript} from '../domain/saved-transcript.ts';
import {readHost} from '../domain/words.ts';
import type {Look} from '../engine/ports.ts';
import {gpuNotes, gpuTable, holderLines, hostTitle} from '../report/host-state.ts';
import {type CliContext, printJson, refuse} from './context.ts';
import {EXIT, type ExitCode} from './exit-code.ts';
import {diagnosisJson} from './json.ts';

export async function diagnose(context: CliContext, words: readonly string[], from: string | null): Promise<ExitCode> {
  const look = from === null ? await lookAt(context, words) : await readFrom(context, from);
  if (!look.ok) return refuse(context, look.failure);
  const {diagnosis} = look.value;
  if (context.json) printJson(context, {ok: true, ...diagnosisJson(diagnosis)});
  else
    context.terminal.print(
      hostTitle(diagnosis),
      ...gpuTable(diagnosis),
      ...gpuNotes(diagnosis),
      '',
      ...holderLines(diagnosis),
      ...nextStep(diagnosis, from !== null),
    );
  return EXIT.done;
}

async function lookAt(context: CliContext, words: readonly string[]): Promise<Result<Look>> {
  const known = [...context.hosts.keys()];
  const [first, ...more] = words;
  if (first === undefined) return fail({reason: 'host-missing', verb: 'diagnose', known});
  if (more.length > 0) return fail({reason: 'one-host-only', hosts: words});
  const host = readHost(first, known);
  if (!host.ok) return host;
  if (!context.json) context.terminal.progress(`looking at ${host.value}; nothing is signalled`);
  return context.engine.look(host.value);
}

async function readFrom(context: CliContext, path: string): Promise<Result<Look>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    return fail({
      reason: 'transcript-unreadable',
      path,
      detail: error instanceof Error ? error.message : String(error),
    });
  }
  const saved = readTranscript(text, path);
  return saved.ok ? context.engine.readBack(saved.value.transcript, saved.value.takenAtMs) : saved;
}

function nextStep(diagnosis: Diagnosis, offline: boolean): readonly string[] {
  const dirty = diagnosis.gpus.some((gpu) => gpu.state === 'dirty');
  return offline || !dirty
    ? []
    : [
        '',
        `To get it back: gpu-reclaim reclaim ${diagnosis.snapshot.host} (shows a plan first; nothing is signalled without a go)`,
      ];
}
