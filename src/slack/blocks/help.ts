/** `/gpu help`: what you may run here, with examples to copy, and the policy in force. */
import type {Host} from '../../domain/host.ts';
import type {Policy} from '../../domain/policy.ts';
import {plural, span} from '../../report/amounts.ts';
import {code} from '../escape.ts';
import {codeSections, type Message, messageOf, section} from './message.ts';
import {mentions} from './people.ts';

/** What help must know of who asks, and where. */
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

export function helpMessage(help: HelpContext): Message {
  const {hosts} = help;
  const acting = hosts.filter((host) => host.mode === 'act');
  const example = acting[0] ?? hosts[0];
  return messageOf([
    section(
      '*gpu-reclaim* looks first, shows a plan, asks a human, signals only what was approved, and proves the result.',
    ),
    ...codeSections(verbLines(help.command)),
    section(
      [
        youMay(help, acting.length),
        ...(example === undefined ? [] : [`Try: ${examples(help.command, example, acting.length > 0)}`]),
      ].join('\n'),
    ),
    section(policyLines(help.policy, help.approvers).join('\n')),
  ]);
}

function verbLines(command: string): readonly string[] {
  return [
    `${command} status [HOST…|GROUP]`,
    '   GPUs: MiB, use, who holds them',
    `${command} diagnose HOST`,
    '   every holder, and what it is',
    `${command} reclaim HOST [gpus=0-3]`,
    '   [match=vllm] [user=bo] [pid=4711]',
    '   [include-others] [grace=30s]',
    '   [dry-run] [reason="…"]',
    '   [override="…"]',
    '   a plan that asks for a go',
    `${command} report [HOST…] [WHEN]`,
    '   now, in 2h, every weekday 18:00,',
    '   when PID 12345 exits, when idle 20m',
    '   [to=#channel] [zone=…] [quiet|loud]',
    `${command} schedules [remove ID]`,
    '   the reports that are to come',
    `${command} profile start HOST [label]`,
    '   [gpus=0-3] [out=/data] [until=18:00]',
    '   holds GPUs for a campaign',
    `${command} profile stop ID`,
    '   ends it: what is left, what differs',
    `${command} profile list · report ID`,
    `${command} keep HOST until=18:00 "why"`,
    '   the same hold without the looks',
    `${command} runs · show RUN · cancel RUN`,
    '   what was done; stop one',
    `${command} pause · resume`,
    '   stop every signal; go on',
    `${command} hosts`,
    '   the names you may use',
  ];
}

function youMay({hosts, isApprover, channelAllowed}: HelpContext, acting: number): string {
  const here = `Here: ${plural(hosts.length, 'host', 'hosts')}, ${acting} of them may be signalled after a go.`;
  if (!channelAllowed) return `${here} This channel may look, but not reclaim.`;
  return `${here} You may look, ask for a reclaim, pause and stop${isApprover ? ', and give the go' : '; the go is for approvers'}.`;
}

function examples(command: string, host: Host, acting: boolean): string {
  const name = code(host.name, 60);
  const first = `\`${code(command, 30)} diagnose ${name}\``;
  return acting ? `${first}, \`${code(command, 30)} reclaim ${name} match=vllm dry-run\`` : first;
}

function policyLines(policy: Policy, approvers: readonly string[]): readonly string[] {
  const names = policy.protectedList.map((entry) => entry.name);
  const shown = names
    .slice(0, 12)
    .map((name) => code(name, 40))
    .join(', ');
  return [
    `Go by: ${mentions(approvers)}${policy.breakGlass ? '; an approver alone with a typed reason (break-glass), announced to all' : ''}.`,
    `Requesters who are approvers go alone for ${policy.selfGo ? 'ghosts and their own processes' : 'nothing'}.`,
    `SIGTERM, then kill -9 after ${span(policy.graceMs)}; a plan waits ${span(policy.approvalMs)} for its go.`,
    `Never signalled: ${shown}${names.length > 12 ? ` and ${names.length - 12} more` : ''}.`,
  ];
}
