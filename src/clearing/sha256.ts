/** SHA-256 by OpenSSL, for states that tally many facts. Digits are ten times as fast to get from it as a buffer. */
import { createHash, hash } from 'node:crypto';
import type { BytesHash } from './state-hash.ts';

/** @returns 64 hex digits. */
export function nativeSha256(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

export function nativeBytesHash(): BytesHash {
  const sha256 = createHash('sha256');
  return { update: (bytes) => void sha256.update(bytes), digest: () => sha256.digest('hex') };
}
