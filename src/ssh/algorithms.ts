/**
 * What we offer in the handshake. Explicit for every field: ssh2's own lists hold SHA-1, zlib, and a group exchange that
 * blocks the event loop for over a second a connect, which a hostile host could choose.
 */
import type {Algorithms, ServerHostKeyAlgorithm} from 'ssh2';

const SIGNATURES: ReadonlyMap<string, readonly ServerHostKeyAlgorithm[]> = new Map([
  ['ssh-ed25519', ['ssh-ed25519']],
  ['ecdsa-sha2-nistp256', ['ecdsa-sha2-nistp256']],
  ['ecdsa-sha2-nistp384', ['ecdsa-sha2-nistp384']],
  ['ecdsa-sha2-nistp521', ['ecdsa-sha2-nistp521']],
  // The key type is called ssh-rsa; the signature of that name is SHA-1 and is not offered (RFC 8332).
  ['ssh-rsa', ['rsa-sha2-512', 'rsa-sha2-256']],
]);

/**
 * Host key algorithms for the key types known for a host, best first; for none, all that we can check. Without this
 * limit the server shows its favourite key, and a host known by another type looks like a changed one.
 */
export function hostKeyAlgorithms(knownTypes: ReadonlySet<string>): ServerHostKeyAlgorithm[] {
  const all = [...SIGNATURES.entries()];
  const wanted = knownTypes.size === 0 ? all : all.filter(([type]) => knownTypes.has(type));
  return wanted.flatMap(([, algorithms]) => algorithms);
}

export function offer(serverHostKey: ServerHostKeyAlgorithm[]): Algorithms {
  return {
    kex: ['curve25519-sha256', 'curve25519-sha256@libssh.org', 'ecdh-sha2-nistp256'],
    // GCM only: not open to a Terrapin prefix cut even where the server lacks strict key exchange.
    cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com'],
    serverHostKey,
    hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com'],
    compress: ['none'],
  };
}
