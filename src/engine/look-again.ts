/** After a lost connection: look until the host answers or the time to verify is over. Never sends anything. */
import type {Result} from '../domain/failure.ts';
import type {Run} from '../domain/run.ts';
import {commit} from './commit.ts';
import type {EngineDeps} from './deps.ts';
import type {Ladder} from './ladder.ts';
import type {Look} from './ports.ts';
import {survey} from './survey.ts';

/** Pauses between looks, ms: short first, since most lost links are back at once. */
const PAUSES_MS = [200, 1_000, 3_000, 10_000, 30_000];

/**
 * Looks again until every doubtful signal has shown its effect, or the host's uptime has passed `notAfterUptimeMs` so
 * that none can arrive any more. `look` is null if the host did not answer within the time to verify.
 */
export async function lookAgain(
  deps: EngineDeps,
  run: Run,
  ladder: Ladder,
  notAfterUptimeMs: number,
): Promise<Result<{readonly run: Run; readonly look: Look | null}>> {
  const startedTicks = deps.clock.ticks();
  let at = run;
  for (let tries = 0; ; tries += 1) {
    const pauseMs = PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 0;
    await deps.clock.wait(pauseMs);
    const look = await survey(deps, run.host, {match: null, pids: ladder.pids()});
    const noted = await commit(deps, at, 'executing', [
      {
        kind: 'looked-again',
        atMs: deps.clock.now(),
        snapshot: look.ok ? look.value.snapshot : null,
        failure: look.ok ? null : look.failure,
      },
    ]);
    if (!noted.ok) return noted;
    at = noted.value;
    const overTime = deps.clock.ticks() - startedTicks > deps.policy.verifyMs;
    if (look.ok) {
      ladder.see(look.value.snapshot);
      const late = look.value.snapshot.uptimeMs >= notAfterUptimeMs;
      if (ladder.doubtful().length === 0 || late || overTime) return {ok: true, value: {run: at, look: look.value}};
    } else if (overTime) {
      return {ok: true, value: {run: at, look: null}};
    }
  }
}
