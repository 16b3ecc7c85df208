/** The known_hosts format of sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT", as far as plain host keys go. */
import {createHmac, timingSafeEqual} from 'node:crypto';

export interface PublicKey {
  readonly type: string;
  readonly blob: Buffer;
}

export interface KnownHostsLine extends PublicKey {
  readonly marker: 'plain' | 'revoked' | 'cert-authority';
  /** The host field as written: one hashed name, or a comma list of globs. */
  readonly hosts: string;
}

/** Every line that holds a whole key. Comments, unknown markers and damaged lines can match nothing and are left out. */
export function parseKnownHosts(text: string): readonly KnownHostsLine[] {
  return text.split('\n').flatMap((line) => {
    const words = line.trim().split(/[ \t]+/);
    if (words[0] === undefined || words[0] === '' || words[0].startsWith('#')) return [];
    const marker = words[0].startsWith('@') ? MARKERS.get(words.shift() ?? '') : 'plain';
    const [hosts, type, base64] = words;
    if (marker === undefined || hosts === undefined || type === undefined || base64 === undefined) return [];
    const key = parsePublicKey(`${type} ${base64}`);
    return key === null ? [] : [{...key, marker, hosts}];
  });
}

/** `ssh-ed25519 AAAA… [comment]`; null unless the blob is whole base64 and names the same type itself. */
export function parsePublicKey(text: string): PublicKey | null {
  const [type, base64] = text.trim().split(/[ \t]+/);
  if (type === undefined || base64 === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null;
  const blob = Buffer.from(base64, 'base64');
  return keyType(blob) === type ? {type, blob} : null;
}

/** The type that a key blob names itself (RFC 4253, 6.6); empty if it names none. */
export function keyType(blob: Buffer): string {
  if (blob.length < 4) return '';
  const end = 4 + blob.readUInt32BE(0);
  return end <= blob.length ? blob.toString('latin1', 4, end) : '';
}

/** The name under which a host stands in the file: lower case, `[host]:port` unless the port is 22. */
export function nameToMatch(address: string, port: number): string {
  const host = address.toLowerCase();
  return port === 22 ? host : `[${host}]:${port}`;
}

export function matchesName(hosts: string, name: string): boolean {
  if (hosts.startsWith('|')) return matchesHashed(hosts, name);
  let matched = false;
  for (const pattern of hosts.split(',')) {
    // One negated match rejects the whole line, wherever it stands.
    if (pattern.startsWith('!')) {
      if (globMatches(pattern.slice(1), name)) return false;
    } else if (globMatches(pattern, name)) {
      matched = true;
    }
  }
  return matched;
}

const MARKERS: ReadonlyMap<string, KnownHostsLine['marker']> = new Map([
  ['@revoked', 'revoked'],
  ['@cert-authority', 'cert-authority'],
]);

function matchesHashed(field: string, name: string): boolean {
  const [, version, salt, hash] = field.split('|');
  if (version !== '1' || salt === undefined || hash === undefined) return false;
  const wanted = Buffer.from(hash, 'base64');
  const got = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest();
  return wanted.length === got.length && timingSafeEqual(wanted, got);
}

function globMatches(pattern: string, name: string): boolean {
  const source = pattern
    .toLowerCase()
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${source}$`, 's').test(name);
}
