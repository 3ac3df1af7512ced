/** SHA-256 by OpenSSL, for states that tally many facts. Digits are ten times as fast to get from it as a buffer. */
import { hash } from 'node:crypto';

/** @returns 64 hex digits. */
export function nativeSha256(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}
