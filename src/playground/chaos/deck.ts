/** What is played and what goes wrong meanwhile, dealt from a seed: the same seed, the same conversations. Pure. */
import {dealer} from '../story/cast.ts';

/** How a conversation is meant to end; trouble may end it otherwise. */
export const ENDINGS = [
  'go',
  'terminate-only',
  'break-glass',
  'deny',
  'cancel',
  'stop',
  'expire',
  'dry-run',
  'nothing',
  'drift',
] as const;
export type Ending = (typeof ENDINGS)[number];

export const TROUBLES = [
  'rate-limit',
  'slow',
  'server-error',
  'lost-answer',
  'socket-drop',
  'refresh',
  'refused-upgrade',
  'delivered-twice',
  'lost-ack',
  'kill',
  'outage-then-kill',
  'archived',
  'deleted-card',
] as const;
export type TroubleKind = (typeof TROUBLES)[number];

/** Before the command · while the plan waits · right before the decision · while the run works. */
export const STAGES = ['asking', 'waiting', 'deciding', 'working'] as const;
export type Stage = (typeof STAGES)[number];

export interface Trouble {
  readonly kind: TroubleKind;
  readonly at: Stage;
  /** Figures of its own: seconds, times, whichever it needs. */
  readonly dose: number;
}

/** What people do beside what the ending needs. */
export type Manner = 'plain' | 'stranger-first' | 'two-at-once' | 'late-click' | 'dialog-denied';

export interface Conversation {
  readonly nth: number;
  /** Stands in the typed reason, so that it is found on every card of it. */
  readonly tag: string;
  readonly ending: Ending;
  readonly manner: Manner;
  readonly deaf: boolean;
  readonly troubles: readonly Trouble[];
}

const ENDING_SHARES: Readonly<Record<Ending, number>> = {
  go: 34,
  'terminate-only': 8,
  'break-glass': 8,
  deny: 10,
  cancel: 8,
  stop: 8,
  expire: 4,
  'dry-run': 8,
  nothing: 5,
  drift: 7,
};
const MANNERS: readonly Manner[] = [
  'plain',
  'plain',
  'plain',
  'stranger-first',
  'two-at-once',
  'late-click',
  'dialog-denied',
];
/** The rarer the trouble, the more it takes with it: a killed bot is everybody's. */
const TROUBLE_SHARES: Readonly<Record<TroubleKind, number>> = {
  'rate-limit': 12,
  slow: 12,
  'server-error': 12,
  'lost-answer': 14,
  'socket-drop': 10,
  refresh: 8,
  'refused-upgrade': 6,
  'delivered-twice': 12,
  'lost-ack': 8,
  kill: 8,
  'outage-then-kill': 3,
  archived: 4,
  'deleted-card': 6,
};
/** Each needs a run that works. */
const NEEDS_GO: readonly TroubleKind[] = ['outage-then-kill', 'archived'];

export function dealConversations(seed: number, count: number): readonly Conversation[] {
  const deal = dealer(seed);
  const endings = shuffled(spread(ENDING_SHARES, count), deal);
  const troubles = shuffled(spread(TROUBLE_SHARES, Math.ceil(count * 1.1)), deal);
  let lostAcks = 0;
  return Array.from({length: count}, (_, nth) => {
    // Every conversation has one but each fourth; the surplus makes pairs.
    const own = nth % 4 === 3 ? [] : troubles.splice(0, nth % 3 === 0 ? 2 : 1);
    // What is asked for twice shows best where the first is over before the second comes.
    if (own.includes('lost-ack')) lostAcks += 1;
    const isShown = own.includes('lost-ack') && lostAcks % 2 === 1 && !own.some((kind) => NEEDS_GO.includes(kind));
    const ending = isShown ? 'dry-run' : endingFor(endings[nth] ?? 'go', own);
    return {
      nth,
      tag: `talk-${seed}-${nth}`,
      ending,
      manner: MANNERS[deal(MANNERS.length)] ?? 'plain',
      deaf: deal(3) === 0,
      troubles: own.map((kind) => ({
        kind,
        at: isShown && kind === 'lost-ack' ? 'asking' : stageOf(kind, deal),
        dose: 1 + deal(5),
      })),
    };
  });
}

function endingFor(dealt: Ending, own: readonly TroubleKind[]): Ending {
  return own.some((kind) => NEEDS_GO.includes(kind)) ? 'go' : dealt;
}

function stageOf(kind: TroubleKind, deal: (below: number) => number): Stage {
  switch (kind) {
    case 'outage-then-kill':
    case 'archived':
      return 'working';
    case 'deleted-card':
      return deal(2) === 0 ? 'waiting' : 'working';
    case 'delivered-twice':
    case 'lost-ack':
      return deal(2) === 0 ? 'asking' : 'deciding';
    default:
      return STAGES[deal(STAGES.length)] ?? 'asking';
  }
}

/** `count` of them in these shares, each at least once if there is room. */
function spread<T extends string>(shares: Readonly<Record<T, number>>, count: number): T[] {
  const all = Object.entries<number>(shares) as unknown as readonly (readonly [T, number])[];
  const sum = all.reduce((total, [, share]) => total + share, 0);
  const dealt = all.flatMap(([one, share]) =>
    Array.from({length: Math.max(1, Math.floor((share * count) / sum))}, () => one),
  );
  for (let nth = 0; dealt.length < count; nth += 1) dealt.push(all[nth % all.length]?.[0] ?? (all[0]?.[0] as T));
  return dealt;
}

/** Fisher and Yates. */
function shuffled<T>(from: readonly T[], deal: (below: number) => number): T[] {
  const cards = [...from];
  for (let last = cards.length - 1; last > 0; last -= 1) {
    const other = deal(last + 1);
    [cards[last], cards[other]] = [cards[other] as T, cards[last] as T];
  }
  return cards;
}
