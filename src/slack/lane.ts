/** What this program knows of one run that people are being told about. The store knows the rest. */
import type {Run} from '../domain/run.ts';
import type {ApiTrouble} from './api-errors.ts';

export interface Lane {
  running: Promise<void> | null;
  again: boolean;
  /** Channel that it was asked for in; null = the default. */
  channel: string | null;
  /** Version that the card shows by a delivered edit; null = unknown to this program. */
  shown: number | null;
  trouble: ApiTrouble | null;
  notBeforeTicks: number;
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
    trouble: null,
    notBeforeTicks: Number.NEGATIVE_INFINITY,
    line: null,
    firstUptimeMs: null,
    lineAtTicks: Number.NEGATIVE_INFINITY,
    latest: null,
  };
}
