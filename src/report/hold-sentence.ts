/** What a hold stands in the way of, in one sentence: who holds, what, until when, and the way out. */
import type {HoldFailure, HoldInTheWay} from '../domain/failure.ts';
import type {HoldOverride} from '../domain/request.ts';
import {dateTime, ranges} from './amounts.ts';
import {safeLine} from './safe-text.ts';

export function holdSentence(failure: HoldFailure): string {
  switch (failure.reason) {
    case 'gpus-held':
      return `${failure.host}: ${failure.holds.map(holdWords).join('; ')}. Ask them, leave those out, or say override="why", which they and everybody will read.`;
    case 'held-already':
      return `${holdWords(failure.hold)}; ask them to end it ("gpu-reclaim profile stop ${failure.hold.id}"), or wait for it.`;
    case 'host-measured':
      return `${failure.host} was not looked at: ${holdWords(failure.hold)}, and a look would sit in that measurement. "gpu-reclaim diagnose ${failure.host}" looks all the same.`;
    case 'not-the-holder':
      return `${holdWords(failure.hold)}; they, or an approver, may end it.`;
    case 'idle-answered':
      return `${safeLine(failure.by, 60)} was first, at ${dateTime(failure.atMs)}: ${failure.answer === 'end' ? 'it is ended' : 'it is kept on'}.`;
    case 'hold-over':
      return `${failure.hold.kind} ${failure.hold.id}: its time has passed, so it holds nothing any more; "gpu-reclaim profile stop ${failure.hold.id}" ends it.`;
    case 'campaign-running':
      return `${holdWords(failure.hold)}, and is not looked at before "gpu-reclaim profile stop ${failure.hold.id}".`;
    case 'campaign-ended':
      return `${failure.hold.kind} ${failure.hold.id} was ended by ${safeLine(failure.by, 60)} at ${dateTime(failure.atMs)}; "gpu-reclaim profile report ${failure.hold.id}" looks again.`;
  }
}

/** Whom a reclaim overrides, and why: said to everybody. */
export function overrideLine({why, holds}: HoldOverride): string {
  return `Overrides a hold: ${holds.map(holdWords).join('; ')}. Why: ${safeLine(why, 200)}`;
}

/** "GPU 0-3 are held by os:anna (profile c0a1b2 "sweep") until 2026-12-01 18:00:00 UTC" */
export function holdWords({id, kind, by, label, gpus, processes = [], untilMs}: HoldInTheWay): string {
  const what = `${kind} ${id}${label === null ? '' : ` "${safeLine(label, 60)}"`}`;
  const until = untilMs === null ? '' : ` until ${dateTime(untilMs)}`;
  const held = [
    ...(gpus === null ? [] : [`GPU ${ranges(gpus)}`]),
    ...processes.map(({pid, title}) => `PID ${pid} ${safeLine(title, 40)}`.trimEnd()),
  ];
  const one = (gpus?.length ?? 0) + processes.length === 1;
  const are = held.length === 0 ? 'its GPUs are' : `${held.join(', ')} ${one ? 'is' : 'are'}`;
  return `${are} held by ${safeLine(by, 60)} (${what})${until}`;
}
