/** Who has a host, since when, what for and how far: for whoever asks for the same host meanwhile. */
import type {HostName} from '../domain/host.ts';
import {personId} from '../domain/person.ts';
import type {Run} from '../domain/run.ts';
import {planOf, requestOf} from '../domain/run-state.ts';
import {dateTime} from './amounts.ts';
import {safeLine} from './safe-text.ts';

/** `mine`: it is the asker's own run. `host`: the one that was asked for, which may be another name of the same machine. */
export function busySentence(run: Run, host: HostName, mine: boolean): string {
  const {requester, reason} = requestOf(run);
  const id = run.id.slice(0, 6);
  const other = run.host === host ? '' : `, the same machine as ${run.host},`;
  const who = mine ? 'you' : safeLine(personId(requester), 60);
  return [
    `${host}${other} is busy with run ${id}, which ${who} asked for at ${dateTime(run.createdAtMs)}; ${stage(run)}.`,
    reason === null ? 'No reason was given.' : `Reason: ${safeLine(reason, 200)}.`,
    mine
      ? `"gpu-reclaim cancel ${id}" withdraws it; then ask again.`
      : `Wait for it or ask them; "gpu-reclaim cancel ${id}" stops it, and its thread will say that it was you.`,
  ].join(' ');
}

function stage(run: Run): string {
  switch (run.phase) {
    case 'looking':
      return 'it is looking, and nothing is signalled yet';
    case 'awaiting-go': {
      const shown = planOf(run);
      return shown === null ? 'it waits for a go' : `its plan waits for a go until ${dateTime(shown.expiresAtMs)}`;
    }
    case 'executing':
      return 'it has its go and is at work';
    case 'closed':
      return 'it is over by now: ask again';
  }
}
