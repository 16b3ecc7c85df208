/** `cancel`, `pause`, `resume`: anyone may stop, few may go. */
import {readCancel} from '../domain/run-words.ts';
import {dateTime} from '../report/amounts.ts';
import {safeLine} from '../report/safe-text.ts';
import {type CliContext, printJson, refuse} from './context.ts';
import {EXIT, type ExitCode} from './exit-code.ts';
import {takeUp} from './recovered.ts';

export async function cancel(asked: CliContext, words: readonly string[]): Promise<ExitCode> {
  const taken = await takeUp(asked);
  if (!taken.ok) return refuse(asked, taken.failure);
  const context = taken.value;
  const {given, reason} = readCancel(words);
  if (given === '') return refuse(context, {reason: 'run-unknown', given: '', nearest: []});
  const found = await context.engine.find(given);
  if (!found.ok) return refuse(context, found.failure);
  const cancelled = await context.engine.cancel(found.value, context.person, reason);
  if (!cancelled.ok) return refuse(context, cancelled.failure);
  const {id, phase} = cancelled.value;
  if (context.json) printJson(context, {ok: true, run: id, phase});
  else
    context.terminal.print(
      phase === 'closed'
        ? `Run ${id.slice(0, 6)} is cancelled; nothing was sent.`
        : `Run ${id.slice(0, 6)} stops before its next signal; "gpu-reclaim show ${id.slice(0, 6)}" tells how it ends.`,
    );
  return EXIT.done;
}

export async function pause(context: CliContext): Promise<ExitCode> {
  const done = await context.engine.pause(context.person);
  if (!done.ok) return refuse(context, done.failure);
  if (context.json) printJson(context, {ok: true, paused: true});
  else
    context.terminal.print(
      'Paused: nothing is signalled anywhere until "gpu-reclaim resume". Open runs stop before their next signal.',
    );
  return EXIT.done;
}

export async function resume(context: CliContext): Promise<ExitCode> {
  const before = await context.engine.paused();
  const done = await context.engine.resume(context.person);
  if (!done.ok) return refuse(context, done.failure);
  if (context.json) printJson(context, {ok: true, paused: false});
  else
    context.terminal.print(
      before.ok && before.value !== null
        ? `Resumed. It was paused by ${safeLine(before.value.by)} at ${dateTime(before.value.atMs)}.`
        : 'It was not paused.',
    );
  return EXIT.done;
}
