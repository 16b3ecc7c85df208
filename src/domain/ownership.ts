/** Whose work a process is: container or job first, then login uid, then uid. Unknown counts as somebody else's. */
import {managerUid, slurmUid} from './cgroup.ts';
import type {Container, Ownership} from './diagnosis.ts';
import type {Host} from './host.ts';
import type {Person} from './person.ts';
import type {ProcessFacts} from './snapshot.ts';

export function ownershipOf(process: ProcessFacts, container: Container | null, host: Host): Ownership {
  if (container !== null) {
    const uid = slurmUid(process.cgroups) ?? managerUid(process.cgroups);
    return {person: uid === null ? null : (host.people.get(uid) ?? null), uid: process.uid, by: 'container'};
  }
  if (process.loginUid !== null && process.loginUid !== 0) {
    return {person: host.people.get(process.loginUid) ?? null, uid: process.loginUid, by: 'login-uid'};
  }
  if (process.uid === null) return {person: null, uid: null, by: 'unknown'};
  return {person: host.people.get(process.uid) ?? null, uid: process.uid, by: 'uid'};
}

/** True only if the hosts file maps the owner to exactly this person. */
export function isOwnedBy(ownership: Ownership, person: Person): boolean {
  if (ownership.person === null) return false;
  return person.kind === 'os-user' ? ownership.person === person.name : ownership.person === person.id;
}
