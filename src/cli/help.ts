/** What may be typed, with examples to copy and the policy in force. */
import {approverName} from '../domain/authority.ts';
import {span} from '../report/amounts.ts';
import type {CliContext} from './context.ts';
import {EXIT, type ExitCode} from './exit-code.ts';

export const USAGE = `gpu-reclaim looks first, shows a plan, asks a human, signals only what was approved, and proves the result.

  gpu-reclaim status [HOST…|GROUP]   per GPU: MiB used, state, who holds it
  gpu-reclaim diagnose HOST          every holder, what it is and where that was read
  gpu-reclaim reclaim HOST [gpus=0-3] [match=vllm] [user=bo] [pid=4711]
                [include-others] [grace=30s] [dry-run] [reason="…"]
                [override="…"]
                                     make a plan, show it, ask for a go
  gpu-reclaim report [HOST…] [WHEN] [to=C0123456789] [zone=Europe/Berlin] [quiet|loud]
                                     hosts as one table, the worst first; with a time the
                                     Slack bot tells it: in 2h, tomorrow 07:30, every weekday
                                     18:00, every 4h, cron "0 18 * * 1-5", when PID 12345
                                     exits, when idle 20m
  gpu-reclaim schedules [remove ID]  the reports that are to come
  gpu-reclaim profile start HOST… [LABEL] [gpus=0-3] [out=/data/run] [sample=60s] [until=18:00]
                                     hold GPUs for a campaign, from a look at them
  gpu-reclaim profile stop ID|HOST   end it: what is left behind, what is set differently,
                                     and the command for each; profile report looks again
  gpu-reclaim profile list           who holds what
  gpu-reclaim keep HOST [gpus=0-3] [pid=4711] until=18:00 "why"
                                     the same hold without the looks
  gpu-reclaim runs                   what was done
  gpu-reclaim show RUN               one run, whole
  gpu-reclaim cancel RUN             stop it before its next signal
  gpu-reclaim pause | resume         stop every signal everywhere, and go on
  gpu-reclaim hosts                  the names you may use
  gpu-reclaim probe HOST [--out F]   save what the host says, secrets removed
  gpu-reclaim diagnose --from F      read such a file; no host is asked
  gpu-reclaim start                  the Slack bot, until it is stopped

Options: --json   --confirm COUNT:HOST:DIGEST   --terminate-only
Examples: gpu-reclaim reclaim gpu-07 match=vllm
          gpu-reclaim reclaim gpu-07 gpus=0-3 dry-run`;

export function help(context: CliContext): ExitCode {
  const {policy, hosts} = context;
  const approvers = policy.approvers.map(approverName);
  const acting = [...hosts.values()].filter((host) => host.mode === 'act').length;
  context.terminal.print(
    USAGE,
    '',
    `Here: ${hosts.size} ${hosts.size === 1 ? 'host' : 'hosts'}, ${acting} of them may be signalled.`,
    `Go by: ${approvers.length === 0 ? 'nobody is listed' : approvers.join(', ')}${policy.breakGlass ? '; at a terminal anybody with a typed reason (break-glass)' : ''}.`,
    `SIGTERM, then kill -9 after ${span(policy.graceMs)}; a plan waits ${span(policy.approvalMs)} for its go.`,
  );
  return EXIT.done;
}
