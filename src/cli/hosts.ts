/** `hosts` and `probe`: the names that may be used, and what one of them says, raw. */
import {writeFile} from 'node:fs/promises';
import {readLookedAt} from '../domain/looks-words.ts';
import {saveTranscript} from '../domain/saved-transcript.ts';
import {column} from '../report/safe-text.ts';
import {type CliContext, printJson, refuse} from './context.ts';
import {EXIT, type ExitCode} from './exit-code.ts';
import {visibleMarks} from './json.ts';

export function hosts(context: CliContext): ExitCode {
  const all = [...context.hosts.values()];
  if (context.json) {
    printJson(context, {
      ok: true,
      hosts: all.map((host) => ({
        name: host.name,
        mode: host.mode,
        practice: host.practice,
        groups: host.groups,
        labels: host.labels,
        links: host.links,
      })),
    });
    return EXIT.done;
  }
  for (const host of all) {
    const labels = Object.entries(host.labels).map(([key, value]) => `${key}=${value}`);
    context.terminal.print(
      [
        column(host.name, 24),
        column(host.mode, 8),
        ...(host.practice ? ['practice'] : []),
        host.groups.join(','),
        ...labels,
      ]
        .join(' ')
        .trimEnd(),
    );
  }
  return EXIT.done;
}

export async function probe(context: CliContext, words: readonly string[], out: string | null): Promise<ExitCode> {
  const host = readLookedAt(words, [...context.hosts.values()], 'probe');
  if (!host.ok) return refuse(context, host.failure);
  const answer = await context.engine.probe(host.value);
  if (!answer.ok) return refuse(context, answer.failure);
  const text = visibleMarks(saveTranscript(answer.value, context.clock.now()));
  if (out === null) {
    context.terminal.print(text.trimEnd());
    return EXIT.done;
  }
  try {
    await writeFile(out, text, {mode: 0o600});
  } catch (error) {
    return refuse(context, {
      reason: 'argument-bad',
      argument: '--out',
      value: out,
      expected: `a file that can be written (${error instanceof Error ? error.message : String(error)})`,
    });
  }
  if (context.json) printJson(context, {ok: true, savedTo: out});
  else context.terminal.print(`Saved to ${out}, secrets removed; read it with: gpu-reclaim diagnose --from ${out}`);
  return EXIT.done;
}
