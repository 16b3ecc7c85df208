/** The policy file's schedules, with their hosts looked up in the hosts file. */
import {readChoices} from '../domain/report-words.ts';
import type {NewSchedule} from '../domain/schedule.ts';
import type {HostEntry} from './config.ts';
import type {Mistake, Read} from './mistake.ts';
import type {WrittenPolicy} from './policy-schema.ts';

/** Quiet unless said otherwise: all of them repeat. */
export function schedulesOf(
  written: WrittenPolicy['schedules'],
  hosts: readonly HostEntry[],
  file: string,
): Read<ReadonlyMap<string, NewSchedule>> {
  const known = hosts.map(({host}) => host);
  const mistakes: Mistake[] = [];
  const schedules = new Map<string, NewSchedule>();
  for (const [name, {when, zone, channel, quiet, hosts: words}] of Object.entries(written ?? {})) {
    const stray = words.filter((word) => !readChoices([word], known).ok);
    for (const word of stray)
      mistakes.push({
        file,
        at: ['schedules', name, 'hosts'],
        problem: `names "${word}", which is no host, no group and fits none`,
        wayOut: 'write a name of the hosts file, a group, or all',
      });
    const choices = readChoices(words, known);
    if (stray.length > 0 || !choices.ok) continue;
    schedules.set(name, {hosts: choices.value, when, zone, channel: channel ?? null, quiet: quiet ?? true, by: 'file'});
  }
  return {value: schedules, mistakes};
}
