/** Progress of a run on the terminal: what is being done now, and for how long. */
import type {SignalEvent} from '../domain/order.ts';
import type {Run, RunEvent} from '../domain/run.ts';
import type {Announcer} from '../engine/ports.ts';
import {plural, roughMemory, span} from '../report/amounts.ts';
import {ownerWord, stopResultLine} from '../report/owner-stop-words.ts';
import {safeLine} from '../report/safe-text.ts';
import {DRIFT_WORD, RESULT_WORD, SEEN_WORD} from '../report/wording.ts';
import {stillWritingLines} from '../report/writing-words.ts';
import type {Terminal} from './terminal.ts';

/** Break-glass is said on standard error as well: the terminal is the only place that hears it before Slack answers. */
export function terminalAnnouncer(terminal: Terminal): Announcer {
  let firstUptimeMs: number | null = null;
  return {
    announce: (run, events) => {
      for (const event of events) say(terminal, run, event);
    },
    progress: (_run, event) => {
      firstUptimeMs ??= event.uptimeMs;
      const line = progressLine(event, event.uptimeMs - firstUptimeMs);
      if (line !== null && (event.kind !== 'heartbeat' || terminal.interactive)) terminal.progress(line);
    },
  };
}

function say(terminal: Terminal, run: Run, event: RunEvent): void {
  switch (event.kind) {
    case 'approved':
      terminal.progress(
        event.breakGlass
          ? `⏳ BREAK-GLASS go on ${run.host}; looking again before the first signal`
          : `⏳ go on ${run.host}; looking again before the first signal`,
      );
      return;
    case 'rechecked':
      for (const drift of event.drift)
        terminal.complain(
          `Since the plan: PID ${drift.pid} ${DRIFT_WORD[drift.what]}${drift.detail === '' ? '' : ` (${safeLine(drift.detail, 60)})`}`,
        );
      return;
    case 'signal-intended':
      terminal.progress(
        `⏳ ${event.signal === 'SIGKILL' ? 'kill -9' : 'SIGTERM'} to ${plural(event.identities.length, 'process', 'processes')}`,
      );
      return;
    case 'stop-intended':
      terminal.progress(`⏳ stopping ${ownerWord(event.owner)}`);
      return;
    case 'stop-result':
      terminal.progress(`⏳ ${stopResultLine(event)}`);
      return;
    case 'still-writing':
      for (const line of stillWritingLines(event)) terminal.progress(`⏳ ${line}`);
      return;
    case 'link-lost':
      terminal.complain(`The connection to ${run.host} was lost; looking again.`);
      return;
    default:
      return;
  }
}

function progressLine(event: SignalEvent, sinceMs: number): string | null {
  switch (event.kind) {
    case 'order':
      return `⏳ ${event.signal} to PID ${event.pid}: ${RESULT_WORD[event.result]}`;
    case 'seen':
      if (event.observation === 'alive') return null;
      return `⏳ PID ${event.pid}: ${SEEN_WORD[event.observation]} after ${span(sinceMs)}`;
    case 'heartbeat':
      return `⏳ watching, ${span(sinceMs)}`;
    case 'memory':
      return `⏳ ${roughMemory(Object.values(event.usedMiB).reduce((sum, used) => sum + used, 0))} still in use after ${span(sinceMs)}`;
    // Told with the owner's name as soon as it is stored.
    case 'stop':
    case 'settled':
      return null;
  }
}
