/** Nonces of signed actions: strictly increasing per user and kind of action, consumed when applied (NON-06, AMB-68). */
import { type Reject, reject } from '../core/reject.ts';

const NONCE_MAX = (1n << 64n) - 1n;

/** @param last the one applied last, 0 for none. @returns INVALID_NONCE with `details.last_nonce`, or null. */
export function refuseNonce(last: bigint, nonce: bigint): Reject | null {
  // mutant: nonce-once
  if (nonce > last && nonce <= NONCE_MAX) return null;
  return {
    ...reject('INVALID_NONCE', 'the nonce is above the last one applied', 'nonce'),
    details: { last_nonce: last },
  };
}
