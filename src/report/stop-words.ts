/** How the owner of a process stops it: in a line for a card, in full for the evidence. Plans of an earlier version know only the container. */
import type {Container} from '../domain/diagnosis.ts';
import type {Owner} from '../domain/owner.ts';
import {ownerEvidence, stopHint} from './owner-words.ts';
import {safeLine} from './safe-text.ts';

interface Owned {
  readonly owners: readonly Owner[];
  readonly container: Container | null;
}

/** "stop: docker stop 0123456789ab · starts it again"; null where nobody owns it who could. */
export function stopLine({owners, container}: Owned): string | null {
  if (owners.length > 0) return stopHint(owners);
  return container === null ? null : `stop: ${safeLine(container.stopCommand, 80)}`;
}

/** Each owner, nearest first. */
export function ownerLines({owners, container}: Owned): readonly string[] {
  if (owners.length > 0) return ownerEvidence(owners).map((line) => `· ${line}`);
  return container === null ? [] : [`· stop it with: ${safeLine(container.stopCommand, 80)}`];
}
