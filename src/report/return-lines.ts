/** What the looks after a run's close found, and when the next ones come. */
import {notedSoFar, owedLooks} from '../domain/later-look.ts';
import type {Return, Start} from '../domain/return.ts';
import type {Run, RunEvent} from '../domain/run.ts';
import type {Supervisor} from '../domain/supervisor.ts';
import {clockTime, mib, plural, ranges, span} from './amounts.ts';
import {failureSentence} from './failure-sentence.ts';
import {safeLine} from './safe-text.ts';

type Noted = Extract<RunEvent, {kind: 'noted'}>;

/** One line for each thing worth saying; none where a look found nothing and others are still to come. */
export function noteLines(run: Run, {atMs, note}: Noted): readonly string[] {
  if (note.what === 'stopped') return [`later looks stopped by ${safeLine(note.by, 60)}`];
  const at = `+${span(Math.max(0, atMs - closedAtMs(run)))}`;
  const late = note.late ? ` (looked late: due at +${span(note.afterMs)}, and nobody was there)` : '';
  switch (note.what) {
    case 'no-look':
      return [`could not look at ${at}${late}: ${safeLine(failureSentence(note.failure), 300)}`];
    case 'other-machine':
      return [`at ${at} the host had been started again, or was another machine: nothing to compare with${late}`];
    case 'compared': {
      const lines = [
        ...note.returns.map((one) => `${one.known ? 'still there' : 'returned'} at ${at}: ${returnWords(one)}`),
        ...note.starts.map((one) => `new at ${at}, a start and no return: ${startWords(one)}`),
        ...(note.unseenGpus.length === 0 ? [] : [`could not tell at ${at} for ${unseen(note.unseenGpus)}`]),
        ...(note.last && note.returns.length === 0 ? [lastWords(run, note, at)] : []),
      ];
      return lines.map((line, nth) => (nth === 0 ? `${line}${late}` : line));
    }
  }
}

/** The same where every event has its line: a look that found nothing is said too. */
export function noteEntry(run: Run, event: Noted): readonly string[] {
  const lines = noteLines(run, event);
  return lines.length > 0 ? lines : ['looked again: nothing came back so far'];
}

/** "Looks again 02:04:10, 02:13:10 UTC"; null where none is owed. */
export function looksAgainLine(run: Run): string | null {
  const owed = owedLooks(run);
  if (owed.length === 0) return null;
  const times = owed.map((look) => clockTime(look.dueAtMs)).join(', ');
  return `Looks again ${times} UTC, by the Slack bot if one runs on this store`;
}

function returnWords(found: Return): string {
  switch (found.by) {
    case 'ghost':
      return `a ghost, PID ${found.pid} ${safeLine(found.name, 30)}${share(found)}`;
    case 'unexplained':
      return `${mib(found.MiB)} that no process explains${onGpus(found.gpus)}`;
    case 'restart': {
      const stop = found.supervisor.stopCommand;
      const pids = `PID ${ranges(found.pids.slice(0, 8))}${found.pids.length > 8 ? ' and more' : ''}`;
      return `${supervisorWords(found.supervisor)} started ${safeLine(found.name, 30)} again, ${pids}${found.gpus.length === 0 ? ', no GPU yet' : share(found)}${stop === null ? '' : `; it stops with: ${safeLine(stop, 80)}`}`;
    }
  }
}

function supervisorWords({kind, name, pid}: Supervisor): string {
  const safe = safeLine(name, 60);
  switch (kind) {
    case 'process':
      return `PID ${pid} ${safe}`;
    case 'unit':
      return `unit ${safe}`;
    case 'user-unit':
      return `user unit ${safe}`;
    case 'kubernetes-pod':
      return `pod ${safe}`;
    case 'slurm-step':
      return `Slurm step ${safe}`;
    case 'slurm-job':
      return `Slurm job ${safe}`;
    default:
      return `${kind} container ${safe}`;
  }
}

function startWords(start: Start): string {
  const {person, uid} = start.ownership;
  const whose = person === null ? (uid === null ? 'owner unknown' : `uid ${uid}`) : safeLine(person, 30);
  return `PID ${start.pid} ${safeLine(start.name, 30)} (${whose})${share(start)}`;
}

function share({gpus, MiB}: {readonly gpus: readonly number[]; readonly MiB: number | null}): string {
  return `${MiB === null ? '' : `, ${mib(MiB)}`}${onGpus(gpus)}`;
}

function onGpus(gpus: readonly number[]): string {
  return gpus.length === 0 ? '' : ` on GPU ${ranges(gpus)}`;
}

function unseen(gpus: readonly (number | null)[]): string {
  const known = gpus.flatMap((index) => index ?? []);
  return known.length === gpus.length ? `GPU ${ranges(known)}` : plural(gpus.length, 'GPU', 'GPUs');
}

function lastWords(
  run: Run,
  note: {readonly unseenGpus: readonly unknown[]; readonly fullSight: boolean},
  at: string,
): string {
  if (notedSoFar(run).returns.length > 0) return `what had come back is gone at ${at}`;
  if (note.unseenGpus.length > 0) return `on the other GPUs nothing came back by ${at}`;
  return `nothing came back by ${at}${note.fullSight ? '' : ", as far as the look account can see: others' processes are hidden from it"}`;
}

function closedAtMs(run: Run): number {
  return run.events.find((event) => event.kind === 'closed')?.atMs ?? run.createdAtMs;
}
