/**
 * What systemctl, docker, podman and scontrol said -> `OwnerFacts`. A tool that is missing, failed or was too slow says
 * nothing, and nothing follows from that. Names of containers and jobs are their makers' to choose: hostile.
 */
import {fail, ok, type Result} from '../failure.ts';
import type {OwnerFacts, OwnerName, Restarts} from '../owner.ts';
import type {Transcript} from '../transcript.ts';
import {bodyOf, type Section, splitSections} from './sections.ts';

/** Only of those that were asked about; an answer about another one is nobody's. */
export function parseOwners(transcript: Transcript, asked: readonly OwnerName[]): Result<readonly OwnerFacts[]> {
  const {kind, version, sections} = splitSections(transcript.stdout, transcript.nonce);
  if (kind !== 'owners' || version !== 1) {
    return fail({reason: 'probe-unreadable', host: transcript.host, section: 'BEGIN', detail: `${kind} ${version}`});
  }
  return ok(asked.flatMap((owner) => factsOf(owner, sections) ?? []));
}

function factsOf(owner: OwnerName, sections: readonly Section[]): OwnerFacts | null {
  switch (owner.kind) {
    case 'unit':
      return unitFacts(owner, answer(sections, 'units'));
    case 'user-unit':
      return unitFacts(owner, answer(sections, `user.${owner.uid}`));
    case 'docker':
    case 'podman':
      return containerFacts(owner, answer(sections, owner.kind));
    case 'slurm-job':
      return jobFacts(owner, answer(sections, `job.${owner.id}`));
    default:
      return null;
  }
}

/** Empty where the section is not whole, or was cut by its second. Some codes of failure come with good answers about others. */
function answer(sections: readonly Section[], name: string): string {
  const found = sections.find((section) => section.name === name);
  return found === undefined || found.exitCode === null || found.exitCode >= 124 ? '' : bodyOf([found], name);
}

/** systemctl(1) show: a block of FIELD=VALUE lines for each unit, blank lines between; one for units that do not exist, too. */
function unitFacts({kind, id}: OwnerName, text: string): OwnerFacts | null {
  const block = text
    .split(/\n[ \t]*\n/)
    .map((lines) => fieldsOf(lines, '='))
    .find((fields) => fields.get('Id') === id);
  if (block === undefined || !block.has('LoadState') || block.get('LoadState') === 'not-found') return null;
  const restart = block.get('Restart') ?? '';
  return {
    kind,
    id,
    title: null,
    state: textOf(block.get('ActiveState')),
    restarts: unitRestarts(restart),
    setting: restart === '' ? null : `Restart=${restart}`,
    run: textOf(block.get('InvocationID')),
    restartCount: countOf(block.get('NRestarts')),
  };
}

/** systemd.service(5), Restart=: the settings between always and no depend on how the process ends. */
function unitRestarts(restart: string): Restarts {
  if (restart === 'always') return 'yes';
  return restart === 'no' || restart === 'on-watchdog' ? 'no' : 'unknown';
}

/** One FIELD VALUE line for each field of the template in owners.sh; a block begins with its Id. */
function containerFacts({kind, id}: OwnerName, text: string): OwnerFacts | null {
  const block = text
    .split(/^(?=Id )/m)
    .map((lines) => fieldsOf(lines, ' '))
    .find((fields) => fields.get('Id') === id);
  const policy = block?.get('Restart');
  if (block === undefined || policy === undefined) return null;
  return {
    kind,
    id,
    title: textOf(block.get('Name')?.replace(/^\//, '')),
    state: textOf(block.get('Status')),
    restarts: policyRestarts(policy),
    setting: policy === '' ? null : `restart policy ${policy}`,
    run: textOf(block.get('StartedAt')),
    restartCount: countOf(block.get('RestartCount')),
  };
}

/** A process that is killed is no "docker stop": of the policies only on-failure depends on how the container ends. */
function policyRestarts(policy: string): Restarts {
  if (policy === 'always' || policy === 'unless-stopped') return 'yes';
  return policy === 'no' || policy === '' ? 'no' : 'unknown';
}

/** scontrol(1) show job: the first line is `JobId=7 JobName=…`, the name to its end; each other line begins with three blanks. */
function jobFacts({kind, id}: OwnerName, text: string): OwnerFacts | null {
  const none = {kind, id, title: null, restarts: 'unknown', setting: null, run: null, restartCount: null} as const;
  // Slurm answered, and has no such job any more: that is no silence.
  if (/^slurm_load_jobs error: Invalid job id specified$/m.test(text)) return {...none, state: 'not known to Slurm'};
  const [first = '', ...rest] = text.trim().split('\n');
  const [, job, name] = /^JobId=(\d+)(?: ArrayJobId=\d+ ArrayTaskId=\S+)? JobName=(.*)$/.exec(first) ?? [];
  if (job !== id) return null;
  const field = (key: string): string | undefined =>
    rest.map((line) => new RegExp(`^ {3}(?:.* )?${key}=(\\S+)`).exec(line)?.[1]).find((value) => value !== undefined);
  const requeue = field('Requeue');
  return {
    ...none,
    title: textOf(name),
    state: textOf(field('JobState')),
    // It is put back after a node failure or by an administrator, not because a process of it was killed.
    restarts: requeue === '0' ? 'no' : 'unknown',
    setting: requeue === undefined ? null : `Requeue=${requeue}`,
    run: textOf(field('StartTime')),
    restartCount: countOf(field('Restarts')),
  };
}

/** Each field once: the first that says it, since values may hold line breaks of their maker's. */
function fieldsOf(lines: string, between: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of lines.split('\n')) {
    const at = line.indexOf(between);
    if (at > 0 && !fields.has(line.slice(0, at))) fields.set(line.slice(0, at), line.slice(at + 1).trim());
  }
  return fields;
}

function textOf(value: string | undefined): string | null {
  return value === undefined || value === '' || value === 'Unknown' ? null : value.slice(0, 200);
}

function countOf(value: string | undefined): number | null {
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : null;
}
