/** Each failure in one sentence: what, with the names in it, and the way out. The only place that speaks of failures. */
import {type Failure, unreachable} from '../domain/failure.ts';
import {dateTime, plural, ranges, span, thousands} from './amounts.ts';
import {holdSentence} from './hold-sentence.ts';
import {safeLine} from './safe-text.ts';
import {sshSentence} from './ssh-sentence.ts';

export function failureSentence(failure: Failure): string {
  switch (failure.reason) {
    case 'probe-unreadable':
      return `${failure.host}: the look came back unreadable (${failure.section}: ${safeLine(failure.detail)}), so nothing is known and nothing was sent; "gpu-reclaim probe ${failure.host}" saves what the host said.`;
    case 'transcript-unreadable':
      return `${safeLine(failure.path)} is no readable transcript (${safeLine(failure.detail)}); save one with "gpu-reclaim probe HOST".`;
    case 'verb-unknown':
      return `"${safeLine(failure.verb, 40)}" is no command${wayOut(failure.nearest, '"gpu-reclaim help" lists them.')}`;
    case 'host-unknown':
      return `"${safeLine(failure.host, 60)}" is not in the hosts file${wayOut(failure.nearest, '"gpu-reclaim hosts" lists the names.')}`;
    case 'host-is-address':
      return `"${safeLine(failure.host, 60)}" is an address; only names from the hosts file are accepted${among(failure.known)}.`;
    case 'host-missing':
      return `${failure.verb} needs a host${among(failure.known)}.`;
    case 'one-host-only':
      if (failure.given !== undefined)
        return `"${safeLine(failure.given, 40)}" fits ${failure.hosts.length} hosts (${few(failure.hosts)}), and one is meant; name it.`;
      return `One host a run, but ${failure.hosts.length} were named (${safeLine(failure.hosts.join(', '), 80)}); ask for each by itself.`;
    case 'argument-bad':
      if (failure.value === '' && /^(--|it )/.test(failure.argument.startsWith('--') ? '--' : failure.expected))
        return `${failure.argument} does not read; expected ${failure.expected}.`;
      return failure.value === ''
        ? `${failure.argument}= is missing: ${failure.expected}.`
        : `${failure.argument}=${safeLine(failure.value, 40)} does not read; expected ${failure.expected}.`;
    case 'argument-unknown':
      return `"${safeLine(failure.argument, 40)}" is no argument here${wayOut(failure.nearest, '', failure.hint)}`;
    case 'command-too-long':
      return `The command has ${thousands(failure.characters)} characters, and ${thousands(failure.limit)} are the most; nothing of it was done, so shorten it.`;
    case 'verb-elsewhere':
      return `"${failure.verb}" is for the terminal: gpu-reclaim ${failure.verb}. ${failure.instead}`;
    case 'gpu-absent':
      return `${failure.host} has no GPU ${safeLine(failure.asked, 20)}; it has ${failure.present.length === 0 ? 'none' : ranges(failure.present)}.`;
    case 'config-bad':
      return [
        `${plural(failure.mistakes.length, 'mistake', 'mistakes')} in the configuration:`,
        ...failure.mistakes.map(
          (one) =>
            `  ${one.file}${one.path === '' ? '' : `: ${safeLine(one.path)}`}: ${safeLine(one.problem)}; ${safeLine(one.wayOut)}`,
        ),
      ].join('\n');
    case 'schedule-unreadable':
      return `"${safeLine(failure.phrase, 80)}" does not read as a time: ${safeLine(failure.problem, 120)}; ${failure.wayOut}.`;
    case 'schedule-unknown':
      if (failure.given === '') return 'Which schedule? Name it by its id; "gpu-reclaim schedules" lists them.';
      return `No schedule is called "${safeLine(failure.given, 40)}"${wayOut(failure.nearest, '"gpu-reclaim schedules" lists them.')}`;
    case 'schedule-in-file':
      return `The schedule ${safeLine(failure.name, 60)} stands in the policy file; take it out there, and start the bot again.`;
    case 'too-many-schedules':
      return `There are ${failure.limit} schedules already, the most there may be; remove one with "gpu-reclaim schedules remove ID".`;
    case 'process-absent':
      return `${failure.host} has no process ${failure.pid} now, so there is no exit to wait for; ask for a report at once instead.`;
    case 'campaign-unknown':
      if (failure.given === '')
        return 'Which one? Name it by its id or its host; "gpu-reclaim profile list" lists them.';
      return `No campaign or hold is called "${safeLine(failure.given, 40)}"${wayOut(failure.nearest, '"gpu-reclaim profile list" lists them.')}`;
    case 'gpus-held':
    case 'held-already':
    case 'host-measured':
    case 'not-the-holder':
    case 'idle-answered':
    case 'hold-over':
    case 'campaign-running':
    case 'campaign-ended':
      return holdSentence(failure);
    case 'host-observe-only':
      return `${failure.host} is in observe mode: it can be looked at, never signalled. An admin may set "mode: act" for it in the hosts file.`;
    case 'not-a-practice-host':
      return `${failure.host} is marked "practice: true", but ${failure.gpu === null ? 'it shows no GPU' : `it has a ${safeLine(failure.gpu, 40)}`} and no lab's stand-ins: nothing is reclaimed there. Take the mark out of the hosts file, or start the lab with "npm run practice".`;
    case 'host-busy':
      return `${failure.host} is busy with run ${short(failure.runId)} by ${safeLine(failure.by)}; "gpu-reclaim show ${short(failure.runId)}" tells more, "gpu-reclaim cancel ${short(failure.runId)}" stops it.`;
    case 'machine-busy':
      return `${failure.host} is the same machine as ${failure.otherHost}, which is busy with run ${short(failure.runId)}; wait for it or cancel it.`;
    case 'too-many-open-runs':
      return `${failure.limit} runs are open already, the most that the policy allows; "gpu-reclaim runs" lists them.`;
    case 'too-many-runs-by-person':
      return `${safeLine(failure.person)} has asked for ${failure.limit} runs in ${span(failure.windowMs)}, the most that the policy allows; again at ${dateTime(failure.againAtMs)}.`;
    case 'too-many-targets':
      return `The plan would signal ${failure.count} processes outside one workload, the policy allows ${failure.limit}; narrow it with gpus=, match= or pid=.`;
    case 'paused':
      return `Paused by ${safeLine(failure.by)} at ${dateTime(failure.atMs)}: nothing is signalled until an approver says "gpu-reclaim resume".`;
    case 'no-approvers':
      return 'No approver is configured, so nobody could give the go; list them in the policy file, such as approvers: [os:anna]. Looking and dry-run work without.';
    case 'not-an-approver':
      return failure.approvers.length === 0
        ? `${safeLine(failure.person)} is no approver.`
        : `${safeLine(failure.person)} is no approver; ask ${safeLine(failure.approvers.join(', '))}.`;
    case 'needs-another-approver':
      return `This plan reaches beyond ghosts and your own processes, so another approver must give the go${failure.approvers.length === 0 ? '' : ` (${safeLine(failure.approvers.join(', '))})`}${failure.breakGlass ? '; if nobody is awake, give a reason="…" and it goes ahead as break-glass, announced to all' : ''}.`;
    case 'break-glass-needs-reason':
      return `${safeLine(failure.person)} is no listed approver, so this go is break-glass: it needs reason="…", which everybody will read.`;
    case 'already-decided':
      return `Run ${short(failure.runId)} was ${safeLine(failure.decision)} by ${safeLine(failure.by)} at ${dateTime(failure.atMs)}; "gpu-reclaim show ${short(failure.runId)}" tells how it ended.`;
    case 'approval-expired':
      return `The plan of run ${short(failure.runId)} expired at ${dateTime(failure.atMs)} and nothing was sent; ask again for a fresh look.`;
    case 'plan-outdated':
      return `That go is for plan ${safeLine(failure.given, 12) || 'another'}, but plan ${failure.current.slice(0, 8)} waits now; look at it with "gpu-reclaim show ${short(failure.runId)}" and confirm that one.`;
    case 'choice-refused':
      switch (failure.why) {
        case 'nobody':
          return 'Nobody is ticked, so there is nothing to plan; tick at least one process, or leave it.';
        case 'not-offered':
          return `PID ${failure.pid} is not to be had: it is locked, or no part of this plan; choose among those that are offered.`;
        case 'server-above-kept-work':
          return `PID ${failure.pid} is the server of a process that you keep: ending it would end that one too. Untick the server as well, or tick all of its workers.`;
        case 'machine-changed':
          return 'The host has been started anew since this plan, or is another one: nothing of the plan is there any more. Leave it and ask again.';
        case 'form-unknown':
          return 'What this form showed is not kept any more, so nothing was changed; press "Choose…" on the card again.';
        default:
          return unreachable(failure.why);
      }
    case 'confirmation-mismatch':
      return `"${safeLine(failure.given, 60)}" is not the confirmation of this plan; type exactly "${failure.expected}".`;
    case 'no-terminal':
      return `A go needs a terminal to be typed in; without one, confirm this very plan with --confirm ${failure.confirm}`;
    case 'run-unknown':
      if (failure.given === '') return 'Which run? Name it by its id; "gpu-reclaim runs" lists them.';
      return `No run starts with "${safeLine(failure.given, 24)}"${wayOut(failure.nearest, '"gpu-reclaim runs" lists them.')}`;
    case 'run-ended':
      return `Run ${short(failure.runId)} is over (${safeLine(failure.outcome)}); nothing was sent for this.`;
    case 'nothing-pending':
      return `No plan waits for a go on ${failure.host}; make one with "gpu-reclaim reclaim ${failure.host}".`;
    case 'signal-may-still-arrive':
      return `A signal of run ${short(failure.runId)} was lost on its way to ${failure.host} and may still arrive for ${span(failure.waitMs)}; ask again after that.`;
    case 'store-in-use':
      return `Another bot runs on the store ${safeLine(failure.path)}; stop it first, or give this one a store of its own (GPU_RECLAIM_DB).`;
    case 'store-unwritable':
      return `The store ${safeLine(failure.path)} cannot be written (${safeLine(failure.detail)}), so nothing was sent; free space or mend its rights, then ask again.`;
    case 'store-unreadable':
      return `The store ${safeLine(failure.path)} cannot be read (${safeLine(failure.detail)}).`;
    default:
      return sshSentence(failure);
  }
}

function short(id: string): string {
  return id.slice(0, 6);
}

/** The end of a sentence that named something unknown: what may have been meant, and what lists all there is. */
function wayOut(nearest: readonly string[], rest = '', hint = ''): string {
  if (nearest.length === 0 && hint !== '') return `; ${safeLine(hint, 120)}.`;
  if (nearest.length === 0) return rest === '' ? '.' : `; ${rest}`;
  const names = nearest.map((name) => `"${safeLine(name, 60)}"`).join(' or ');
  return `; did you mean ${names}?${rest === '' ? '' : ` ${rest}`}`;
}

function among(names: readonly string[]): string {
  if (names.length === 0) return '';
  return ` (${few(names)})`;
}

function few(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ');
  return safeLine(names.length > 8 ? `${shown}, and ${names.length - 8} more` : shown);
}
