/** Somebody who asks, goes, denies, cancels or pauses. */
export type Person =
  | {readonly kind: 'os-user'; readonly name: string; readonly uid: number}
  | {readonly kind: 'slack-user'; readonly id: string; readonly team: string; readonly groups: readonly string[]};

/** `anna` in the terminal, `U123` in Slack: one word that names the person in logs, on the host and in the store. */
export function personId(person: Person): string {
  return person.kind === 'os-user' ? `os:${person.name}` : `slack:${person.id}`;
}

/** Ids (`personId`) of one person each: who is `os:anna` at a terminal may be `slack:U024BE7LH` in Slack. */
export type SamePerson = readonly (readonly string[])[];

export function isSamePerson(a: Person, b: Person, same: SamePerson): boolean {
  return isSameId(personId(a), personId(b), same);
}

export function isSameId(a: string, b: string, same: SamePerson): boolean {
  return a === b || same.some((ids) => ids.includes(a) && ids.includes(b));
}
