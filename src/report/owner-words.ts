/** Owners in words: how each is stopped, and whether it would start again what was killed. */
import type {Owner, OwnerKind} from '../domain/owner.ts';
import {safeLine} from './safe-text.ts';

/** Whether it starts again what is killed; only a proven setting makes it more than a possibility. */
const RESTARTS: Readonly<Record<Owner['restarts'], string>> = {
  yes: 'starts it again',
  no: 'does not start it again',
  unknown: 'may start it again',
};

/** Where no command alone ends it: what a person can do. */
const BY_HAND: Partial<Readonly<Record<OwnerKind, string>>> = {
  jupyter: 'shut it down in Jupyter: its variables are lost with it',
  'kubernetes-pod': 'delete the pod where it was made (kubectl)',
  torchrun: 'ends with its agent',
  supervisord: 'supervisorctl status names the program to stop',
};

/**
 * For a card, in one line: the nearest owner that can be stopped by a command, and whether the nearest one that may act by
 * itself starts it again. Null where nobody but a terminal or an agent that starts nothing owns it.
 */
export function stopHint(owners: readonly Owner[]): string | null {
  const stoppable = owners.find((owner) => owner.stopCommand !== null);
  if (stoppable?.stopCommand != null)
    return `stop: ${safeLine(stoppable.stopCommand, 80)} · ${RESTARTS[stoppable.restarts]}`;
  const acting = owners.find((owner) => owner.restarts !== 'no');
  if (acting === undefined) return null;
  const hand = BY_HAND[acting.kind];
  return `${ownerName(acting)} ${RESTARTS[acting.restarts]}${hand === undefined ? '' : `; ${hand}`}`;
}

/** For the thread: each owner, nearest first, with what its own tool said of it. */
export function ownerEvidence(owners: readonly Owner[]): readonly string[] {
  return owners.map((owner) => {
    const {facts} = owner;
    const stop = owner.stopCommand === null ? BY_HAND[owner.kind] : `stop it with: ${safeLine(owner.stopCommand, 100)}`;
    const setting = facts?.setting == null ? '' : ` (${safeLine(facts.setting, 60)})`;
    return [
      `${ownerName(owner)} ${RESTARTS[owner.restarts]}${setting}`,
      ...(facts?.state == null ? [] : [safeLine(facts.state, 40)]),
      ...(facts?.restartCount == null || facts.restartCount === 0
        ? []
        : [`started again ${facts.restartCount} times so far`]),
      ...(stop === undefined ? [] : [stop]),
    ].join(' · ');
  });
}

/** "Docker container 0123456789ab, inf-server" */
export function ownerName(owner: Owner): string {
  const name = safeLine(owner.name, 60);
  const title = owner.facts?.title ?? null;
  return `${nameOf(owner.kind, name)}${title === null ? '' : `, ${safeLine(title, 40)}`}`;
}

function nameOf(kind: OwnerKind, name: string): string {
  switch (kind) {
    case 'unit':
      return `unit ${name}`;
    case 'user-unit':
      return `user unit ${name}`;
    case 'docker':
      return `Docker container ${name}`;
    case 'containerd':
      return `containerd task ${name}`;
    case 'podman':
      return `Podman container ${name}`;
    case 'kubernetes':
      return `pod container ${name}`;
    case 'kubernetes-pod':
      return `pod ${name}`;
    case 'slurm-step':
      return `Slurm step ${name}`;
    case 'slurm-job':
      return `Slurm job ${name}`;
    case 'ray':
      return `Ray ${name}`;
    case 'jupyter':
      return `Jupyter kernel ${name}`;
    case 'torchrun':
      return `torchrun, PID ${name},`;
    case 'supervisord':
      return `supervisord, PID ${name},`;
    case 'tmux':
      return `tmux, PID ${name},`;
    case 'screen':
      return `screen, PID ${name},`;
    case 'mps':
      return `MPS, PID ${name},`;
  }
}
