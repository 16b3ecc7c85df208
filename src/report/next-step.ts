/** What is safe to do next, once a run is over: one sentence, or none where nothing is left to do. */
import type {Outcome} from '../domain/outcome.ts';
import type {Run} from '../domain/run.ts';
import {safeLine} from './safe-text.ts';

export function nextStep(run: Run, outcome: Outcome): string | null {
  const stuck = outcome.survivors.some((one) => one.why === 'stuck-in-kernel');
  if (stuck) return `Next: drain ${run.host} and reboot it when it is empty; another kill -9 changes nothing.`;
  if (outcome.survivors.some((one) => one.why === 'not-permitted' || one.why === 'cannot-see'))
    return `Next: give the act account on ${run.host} sudo (manifests/sudoers.gpu-reclaim), then ask again.`;
  if (outcome.survivors.some((one) => one.why === 'denied-by-host'))
    return `Next: ask whoever put /etc/gpu-reclaim/deny on ${run.host}; it is there to stop this.`;
  if (outcome.survivors.some((one) => one.why === 'ignored-sigterm'))
    return 'Next: ask again and let the go cover kill -9.';
  const moved = outcome.gpus.flatMap((gpu) => gpu.movedTo ?? [])[0];
  if (moved?.how === 'restarted') {
    const stop = moved.by?.stopCommand ?? null;
    return `Next: stop ${safeLine(moved.by?.name ?? 'what starts it again', 40)} first${stop === null ? '' : `, with "${safeLine(stop, 80)}"`}, then ask again.`;
  }
  if (moved !== undefined)
    return `Next: ask the owner of PID ${moved.pid} ${safeLine(moved.name, 30)} to restart it; what it shares comes free then.`;
  if (outcome.survivors.some((one) => one.why === 'outlived-kill'))
    return `Next: look again in a minute: "gpu-reclaim diagnose ${run.host}"; another kill -9 changes nothing.`;
  switch (outcome.word) {
    case 'reclaimed':
    case 'denied':
      return null;
    case 'dry-run':
      return 'Next: the same command without dry-run asks for a go.';
    case 'nothing-to-do':
      return `Next: "gpu-reclaim diagnose ${run.host}" lists every holder.`;
    case 'unknown':
    case 'interrupted':
      return `Next: look before anything else: "gpu-reclaim diagnose ${run.host}".`;
    case 'partly':
    case 'nothing-freed':
      return `Next: "gpu-reclaim diagnose ${run.host}" says what holds the rest.`;
    case 'stood-down':
    case 'expired':
    case 'cancelled':
    case 'failed':
      return 'Next: ask again for a fresh look; nothing goes on by itself.';
  }
}
