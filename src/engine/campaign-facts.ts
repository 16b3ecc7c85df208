/** What a campaign needs to know of a host: a look, a deeper one, and what is set on its GPUs. Three execs. */
import {ok, type Result} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import {type HostFacts, hostFacts} from '../domain/host-facts.ts';
import {parseSettings} from '../domain/parse/settings.ts';
import type {HostSettings} from '../domain/settings.ts';
import {type EngineDeps, hostOf} from './deps.ts';
import {lookDeeper, survey} from './survey.ts';

/** `earlier`: the look at the start; the kernel's log is read from there on. */
export async function factsAt(
  deps: EngineDeps,
  host: HostName,
  out: string | null,
  earlier: HostFacts | null,
): Promise<Result<HostFacts>> {
  if (!deps.hosts.has(host)) return {ok: false, failure: {reason: 'host-unknown', host, nearest: []}};
  const look = await survey(deps, hostOf(deps, host).name, {match: null, pids: []});
  if (!look.ok) return look;
  const sameBoot = earlier !== null && earlier.seen.bootId === look.value.snapshot.machine.bootId;
  const sinceUptimeMs = sameBoot ? earlier.uptimeMs : null;
  const deeper =
    look.value.snapshot.deep === null ? await lookDeeper(deps, look.value, {pids: [], sinceUptimeMs}) : look.value;
  const settings = await settingsAt(deps, host, out, look.value.snapshot.machine.bootId);
  return ok(hostFacts(deeper.diagnosis, settings));
}

/** null where it could not be read: the report then says so. */
async function settingsAt(
  deps: EngineDeps,
  host: HostName,
  out: string | null,
  bootId: string,
): Promise<HostSettings | null> {
  const answer = await deps.remote.host(host).settings(out === null ? [] : [out]);
  const read = answer.ok ? parseSettings(answer.value, deps.clock.now()) : answer;
  if (read.ok && read.value.bootId === bootId) return read.value;
  deps.log.warn({host, ...(read.ok ? {} : {reason: read.failure.reason})}, 'what is set on the GPUs could not be read');
  return null;
}
