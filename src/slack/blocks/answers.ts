/** Private answers to commands: what was asked, in one message each. */
import type {Diagnosis} from '../../domain/diagnosis.ts';
import type {Failure, Result} from '../../domain/failure.ts';
import type {Host, HostName} from '../../domain/host.ts';
import type {Policy} from '../../domain/policy.ts';
import type {Run} from '../../domain/run.ts';
import type {Look} from '../../engine/ports.ts';
import {failureSentence} from '../../report/failure-sentence.ts';
import {mrkdwn} from '../escape.ts';
import {type Message, messageOf, section} from './message.ts';

/** What `/gpu help` must know of who asks, and where. */
export interface HelpContext {
  /** The slash command itself, e.g. "/gpu". */
  readonly command: string;
  readonly hosts: readonly Host[];
  readonly policy: Policy;
  /** Mention-ready. */
  readonly approvers: readonly string[];
  readonly isApprover: boolean;
  /** False: this channel may not be used for reclaims. */
  readonly channelAllowed: boolean;
}

export interface HostLook {
  readonly name: HostName;
  readonly look: Result<Look>;
}

export function helpMessage(_context: HelpContext): Message {
  return sentence('help');
}

export function statusMessage(_results: readonly HostLook[]): Message {
  return sentence('status');
}

export function diagnosisMessage(diagnosis: Diagnosis): Message {
  return sentence(diagnosis.snapshot.host);
}

export function hostsMessage(_hosts: readonly Host[]): Message {
  return sentence('hosts');
}

export function runsMessage(_runs: readonly Run[]): Message {
  return sentence('runs');
}

export function runMessage(run: Run): Message {
  return sentence(run.id);
}

/** One line of any text. */
export function sentence(text: string): Message {
  return messageOf([section(mrkdwn(text, 2_000))]);
}

/** A failure as Slack says it: people as mentions, commands as they are typed here. */
export function failureMessage(failure: Failure): Message {
  return sentence(failureSentence(failure));
}
