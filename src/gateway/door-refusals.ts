/** What the front door answers when it cannot send an action on, and when those who signed it may not. */

import type { Signatures } from '../codec/signatures.ts';
import { type Reject, reject } from '../core/reject.ts';

export const MARKET_BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'the market is busy, try again');
export const MARKET_CLOSED: Reject = reject('SERVICE_UNAVAILABLE', 'the market is starting, try again');
export const CONNECTION_ENDED: Reject = reject('SERVICE_UNAVAILABLE', 'the connection of this order has ended');
export const RESENT_TOO_OFTEN: Reject = reject('SERVICE_UNAVAILABLE', 'this create is on its way, wait for its answer');
export const POOL_FULL: Reject = reject('SERVICE_UNAVAILABLE', 'too many signatures are waiting, try again');
export const BAD_SIGNATURE: Reject = reject(
  'INVALID_SIGNATURE',
  'the signature does not verify over the canonical bytes',
  'signature',
);
const NO_SIGNATURE: Reject = reject('INSUFFICIENT_SIGNER_WEIGHT', 'the action carries no signature', 'signature');
const UNKNOWN_SIGNER: Reject = reject(
  'SIGNER_UNKNOWN',
  'a co-signer is not registered for this account',
  'additional_signers',
);

/** Weight, before any signature is verified: accounts have the default configuration, where only the master key counts. */
export function refuseSigners({ signature, additionalSigners }: Signatures): Reject | null {
  if (additionalSigners.length > 0) return UNKNOWN_SIGNER;
  return signature.length === 0 ? NO_SIGNATURE : null;
}
