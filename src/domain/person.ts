/** Somebody who asks, goes, denies, cancels or pauses. */
export type Person =
  | {readonly kind: 'os-user'; readonly name: string; readonly uid: number}
  | {readonly kind: 'slack-user'; readonly id: string; readonly team: string; readonly groups: readonly string[]};

/** `anna` in the terminal, `U123` in Slack: one word that names the person in logs, on the host and in the store. */
export function personId(person: Person): string {
  return person.kind === 'os-user' ? `os:${person.name}` : `slack:${person.id}`;
}

export function isSamePerson(a: Person, b: Person): boolean {
  return personId(a) === personId(b);
}
