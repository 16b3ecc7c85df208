/** What cards say of people and requests, ready to stand in a message. */
import type {Approver, Policy} from '../domain/policy.ts';
import type {ReclaimRequest} from '../domain/request.ts';
import {ranges} from '../report/amounts.ts';

export function approverMentions(policy: Policy): readonly string[] {
  return policy.approvers.map(mentionOf);
}

/** The request as a command that could be typed again: what was typed is not stored, and others never saw it. */
export function commandOf(request: ReclaimRequest, slash: string): string {
  const {gpus, match, user, pids, graceMs, reason} = request;
  const quoted = (text: string): string => (/\s/.test(text) ? `"${text.replaceAll('"', "'")}"` : text);
  return [
    request.requester.kind === 'slack-user' ? slash : 'gpu-reclaim',
    'reclaim',
    request.host,
    ...(gpus === null ? [] : [`gpus=${ranges(gpus).replaceAll(' ', '')}`]),
    ...(match === null ? [] : [`match=${quoted(match)}`]),
    ...(user === null ? [] : [`user=${user}`]),
    ...(pids.length === 0 ? [] : [`pid=${pids.join(',')}`]),
    ...(request.includeOthers ? ['include-others'] : []),
    ...(graceMs === null ? [] : [graceMs % 1_000 === 0 ? `grace=${graceMs / 1_000}s` : `grace=${graceMs}ms`]),
    ...(request.dryRun ? ['dry-run'] : []),
    ...(reason === null ? [] : [`reason=${quoted(reason)}`]),
  ].join(' ');
}

function mentionOf(approver: Approver): string {
  switch (approver.kind) {
    case 'slack-user':
      return `<@${approver.id}>`;
    case 'slack-group':
      return `<!subteam^${approver.id}>`;
    case 'os-user':
      return `${approver.name} (terminal)`;
  }
}
