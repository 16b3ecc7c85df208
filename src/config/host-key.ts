const TYPES = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'ssh-rsa'];

/**
 * A pinned host key as `type base64`, the comment dropped; null if it is none. The type also stands inside the key
 * (RFC 4253 section 6.6: a length and the name), so that a mistyped or cut-off key is seen here and not at 3 a.m.
 */
export function pinnedKey(text: string): string | null {
  const [type = '', base64 = ''] = text.trim().split(/[ \t]+/);
  if (!TYPES.includes(type) || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null;
  const fields = sshFields(Buffer.from(base64, 'base64'));
  return fields !== null && fields.length > 1 && fields[0]?.toString('latin1') === type ? `${type} ${base64}` : null;
}

/** The length-prefixed fields of an SSH wire blob; null unless they fill it exactly. */
function sshFields(blob: Buffer): readonly Buffer[] | null {
  const fields: Buffer[] = [];
  let at = 0;
  while (at + 4 <= blob.length) {
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return null;
    fields.push(blob.subarray(at + 4, end));
    at = end;
  }
  return at === blob.length ? fields : null;
}
