/**
 * Makes one word safe for any POSIX sh: the only place that spells a shell quote. Words with a NUL byte can't be passed
 * to a shell at all; asking for one is a bug of the caller.
 */
export function quote(word: string): string {
  if (word.includes('\0')) throw new Error('Internal error: a shell word cannot hold a NUL byte');
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
