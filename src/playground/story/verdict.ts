/** The witness against the record: what really arrived, held against what was approved and what the run says it sent. */
import type {Lab} from '../lab/lab.ts';
import {receivedSignals} from '../lab/witness.ts';
import type {Bot} from './bot.ts';

export interface Sent {
  readonly pid: number;
  readonly signal: string;
}

/** Every signal that the stored runs say was sent. */
export async function recorded(bot: Bot): Promise<readonly Sent[]> {
  const answer = (await bot.json('runs')) as {
    runs: {events: {kind: string; result?: string; pid?: number; signal?: string}[]}[];
  };
  return answer.runs.flatMap((run) =>
    run.events.flatMap((event) =>
      event.kind === 'signal-result' && event.result === 'sent'
        ? [{pid: event.pid ?? 0, signal: (event.signal ?? '').replace('SIG', '')}]
        : [],
    ),
  );
}

/** Every signal that reached a process of the lab. */
export async function received(lab: Lab): Promise<readonly Sent[]> {
  return receivedSignals(await lab.witness()).map(({pid, signal}) => ({pid, signal}));
}

export function asWords(signals: readonly Sent[]): readonly string[] {
  return signals.map(({pid, signal}) => `${signal} ${pid}`).toSorted();
}

/** Differences between two sets of signals, each as a sentence; empty if they are the same. */
export function differences(witnessed: readonly Sent[], written: readonly Sent[]): readonly string[] {
  const left = new Map<string, number>();
  for (const word of asWords(witnessed)) left.set(word, (left.get(word) ?? 0) + 1);
  for (const word of asWords(written)) left.set(word, (left.get(word) ?? 0) - 1);
  return [...left].flatMap(([word, count]) =>
    count === 0
      ? []
      : [
          count > 0
            ? `the witness saw ${word}, and no run recorded it`
            : `a run recorded ${word}, and the witness did not see it`,
        ],
  );
}
