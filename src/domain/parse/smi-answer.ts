/** Whether nvidia-smi answered, from the text that `ssh/scripts/smi.sh` makes of one call. */
import type {SmiState} from '../snapshot.ts';

export interface SmiAnswer {
  readonly state: SmiState['state'];
  readonly exitCode: number | null;
  /** Fields of the call that counts: the last one. */
  readonly fields: readonly string[];
  /** What it printed, line by line, rows and sentences alike. */
  readonly lines: readonly string[];
  /** PIDs of the calls themselves. */
  readonly pids: readonly number[];
}

export function parseSmiAnswer(body: string): SmiAnswer {
  const lines = body.split('\n');
  const from = lines.findLastIndex((line) => line.startsWith('@fields '));
  const pids = lines.flatMap((line) => /^@pid (\d+) \d+$/.exec(line)?.[1] ?? []).map(Number);
  if (from === -1) {
    const missing = lines.includes('@missing');
    const stuck = lines.find((line) => line.startsWith('@stuck '));
    const said = stuck === undefined ? [] : [stuck.slice(1)];
    return {
      state: missing ? 'missing' : stuck ? 'still-stuck' : 'timed-out',
      exitCode: null,
      fields: [],
      lines: said,
      pids,
    };
  }
  const rest = lines.slice(from + 1);
  const end = rest.findLastIndex((line) => /^@rc \d{1,3}$/.test(line));
  const said = (end === -1 ? rest : rest.slice(0, end)).filter((line) => line.trim() !== '' && !/^@pid /.test(line));
  const exitCode = end === -1 ? null : Number(rest[end]?.slice(4));
  return {
    state: exitCode === null ? 'timed-out' : 'answered',
    exitCode,
    fields: (lines[from] ?? '').slice('@fields '.length).trim().split(','),
    lines: said,
    pids,
  };
}

/**
 * The two calls as one state. An exit code that is not 0 does not condemn good rows; no GPU row at all is a failure,
 * never an empty host; and a failed list of charges leaves us blind, whatever the totals say.
 */
export function smiState(gpus: SmiAnswer, gpuRows: number, charges: SmiAnswer, chargeRows: number): SmiState {
  const worse = gpus.state !== 'answered' ? gpus : charges.state !== 'answered' ? charges : null;
  if (worse !== null && worse.state !== 'answered') {
    return {state: worse.state, exitCode: worse.exitCode, note: noteOf(worse)};
  }
  if (gpuRows === 0) return {state: 'failed', exitCode: gpus.exitCode, note: noteOf(gpus)};
  if (charges.exitCode !== 0 && chargeRows === 0 && gpus.exitCode === 0) {
    return {state: 'failed', exitCode: charges.exitCode, note: noteOf(charges)};
  }
  return {state: 'answered', exitCode: gpus.exitCode ?? 0, note: gpus.exitCode === 0 ? '' : noteOf(gpus)};
}

function noteOf(answer: SmiAnswer): string {
  return answer.lines.join('\n').slice(0, 500);
}
