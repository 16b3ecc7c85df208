/** Looks at many hosts, some at a time. A host that can't be looked at is in the answer as such, never left out. */
import type {Diagnosis} from '../domain/diagnosis.ts';
import type {HostName} from '../domain/host.ts';
import {type HostReport, seenHost} from '../domain/host-report.ts';
import {chosenHosts} from '../domain/report-words.ts';
import type {HostChoice} from '../domain/schedule.ts';
import type {EngineDeps} from './deps.ts';
import type {FleetLook} from './report-ports.ts';
import {surveyUnasked} from './unasked.ts';

/** More connections at once would be a burst on the network and on our own two hands. */
const AT_ONCE = 8;

/** In the order of the hosts file; those that are gone from it last. */
export async function lookAtHosts(deps: EngineDeps, choices: readonly HostChoice[]): Promise<FleetLook> {
  const chosen = chosenHosts(choices, [...deps.hosts.values()]);
  const diagnoses = new Map<HostName, Diagnosis>();
  const hosts = await someAtATime(chosen, AT_ONCE, async ({name, gone}): Promise<HostReport> => {
    if (gone) return {state: 'gone', host: name};
    // Processes come and go by our own hand there; that run's thread tells it better.
    const run = await deps.store.openRunOn(name).catch(() => null);
    if (run?.phase === 'executing') return {state: 'busy', host: name, runId: run.id};
    const look = await surveyUnasked(deps, name, {match: null, pids: []});
    if (!look.ok) return {state: 'failed', host: name, failure: look.failure};
    diagnoses.set(name, look.value.diagnosis);
    return seenHost(look.value.diagnosis);
  });
  return {hosts, diagnoses};
}

/** The answers in the order of `items`. */
export async function someAtATime<T, R>(
  items: readonly T[],
  most: number,
  act: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const answers: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at];
      if (item !== undefined) answers[at] = await act(item);
    }
  };
  await Promise.all(Array.from({length: Math.min(most, items.length)}, work));
  return answers;
}
