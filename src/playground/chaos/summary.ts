/** What was played and what really went wrong meanwhile, in a few lines. */
import {type Evidence, endOf, isToldAlone, runsOf} from './judge.ts';
import type {World} from './world.ts';

export function summary(evidence: readonly Evidence[], worlds: readonly World[]): readonly string[] {
  const ends = counted(
    evidence.flatMap(({conversations, seen, told}) =>
      conversations.flatMap(({tag}) => {
        const last = runsOf(tag, seen).at(-1);
        if (last === undefined) return ['no run'];
        return [isToldAlone(last, told) && endOf(last) === 'no end' ? 'told in private' : shortEnd(endOf(last))];
      }),
    ),
  );
  const struck = counted(
    worlds.flatMap(({slack}) =>
      Object.entries(slack.struck).flatMap(([kind, times]) => Array.from({length: times}, () => kind)),
    ),
  );
  const dealt = counted(
    evidence.flatMap(({conversations}) => conversations.flatMap(({troubles}) => troubles.map(({kind}) => kind))),
  );
  const sum = (of: (one: Evidence) => number): number => evidence.reduce((total, one) => total + of(one), 0);
  return [
    `Conversations by their end: ${ends}`,
    `Faults dealt: ${dealt}`,
    `Faults that struck a call or an envelope: ${struck}`,
    `Bot lives ${sum(({starts}) => starts.length)} · acts ${sum(({acts}) => acts.length)} · messages ${sum(({seen}) => seen.length)} · edits ${sum(({calls}) => calls.filter(({method}) => method === 'chat.update').length)} · signals ${sum(({signals}) => signals.length)}`,
  ];
}

/** "✅ lab-1-2: reclaimed 60 GiB" → "reclaimed". */
function shortEnd(end: string): string {
  const [, word] =
    /(reclaimed|partly|nothing freed|nothing to do|stood down|plan out of date|denied|left|expired|cancelled|stopped|interrupted|failed|unknown|dry run)/i.exec(
      end,
    ) ?? [];
  return (word ?? end).toLowerCase();
}

function counted(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .map(([word, count]) => `${word} ${count}`)
    .join(', ');
}
