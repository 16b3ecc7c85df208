/** What this program knows of one run that people are being told about. The store knows the rest. */
import type {Run} from '../domain/run.ts';
import type {ApiTrouble} from './api-errors.ts';

export interface Lane {
  running: Promise<void> | null;
  again: boolean;
  /** Channel that it was asked for in; null = as the store has it, else the default. */
  channel: string | null;
  /** Version that the card shows by a delivered edit; null = unknown to this program. */
  shown: number | null;
  /** The card is gone, or its channel: shown by what delivers, whatever was shown before. */
  mustShow: boolean;
  /** Slack took no edit when the card should have had one. */
  cardOwed: boolean;
  trouble: ApiTrouble | null;
  notBeforeTicks: number;
  /** Its kept card was found by this program already. */
  met: boolean;
  /** An edit without an answer may still land until then, over a newer one: the card is written once more. */
  doubtUntilTicks: number | null;
  /** The store knows of that. */
  doubtKept: boolean;
  /** Slack was there and did not take something of this run. */
  held: boolean;
  /** What the card says of its own delay. */
  lateNote: string | null;
  /** Where a working run stands, for the progress line. */
  line: string | null;
  firstUptimeMs: number | null;
  lineAtTicks: number;
  latest: Run | null;
}

export function newLane(): Lane {
  return {
    running: null,
    again: false,
    channel: null,
    shown: null,
    mustShow: false,
    cardOwed: false,
    trouble: null,
    notBeforeTicks: Number.NEGATIVE_INFINITY,
    met: false,
    doubtUntilTicks: null,
    doubtKept: false,
    held: false,
    lateNote: null,
    line: null,
    firstUptimeMs: null,
    lineAtTicks: Number.NEGATIVE_INFINITY,
    latest: null,
  };
}
