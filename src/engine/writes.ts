/** Looks at what processes write. Signals nothing; a look that failed is null: nobody knows, and the log says why. */
import {ok, type Result} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import {parseWrites} from '../domain/parse/writes.ts';
import type {Plan} from '../domain/plan.ts';
import type {Run} from '../domain/run.ts';
import type {WritesLook} from '../domain/writing.ts';
import {commit} from './commit.ts';
import type {EngineDeps} from './deps.ts';
import type {RunOn} from './run-on.ts';

export async function lookAtWrites(
  deps: EngineDeps,
  host: HostName,
  pids: readonly number[],
): Promise<WritesLook | null> {
  const answer = await deps.remote.host(host).writes(pids);
  const look = answer.ok ? parseWrites(answer.value, pids) : answer;
  if (look.ok) return look.value;
  deps.log.warn({host, reason: look.failure.reason}, 'what is being written could not be read');
  return null;
}

/** kill -9 is due: what its targets write, and what people have to hear of it. */
export async function lookBeforeKill(
  deps: EngineDeps,
  run: Run,
  input: {readonly plan: Plan; readonly runOn: RunOn; readonly pids: readonly number[]},
): Promise<Result<Run>> {
  const {plan, runOn, pids} = input;
  const news = runOn.saw(await lookAtWrites(deps, run.host, pids), pids);
  if (news.files.length + news.unread.length === 0) return ok(run);
  const atMs = deps.clock.now();
  const waits = runOn.writers().size > 0;
  const leftMs = waits ? Math.max(0, plan.longestGraceMs - plan.graceMs - runOn.state().ranOnMs) : 0;
  return commit(deps, run, 'executing', [{kind: 'still-writing', atMs, ...news, untilMs: atMs + leftMs}]);
}
