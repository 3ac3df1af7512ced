/**
 * Signers of accounts. Every account has the default configuration: its master key alone signs, with full weight; no
 * co-signer is registered (wire.md 7.20).
 */
import { DEFAULT_MULTISIG, type MultisigView } from '../codec/multisig.ts';
import type { Signatures, SignerKey } from '../codec/signatures.ts';
import type { UserId } from '../core/ids.ts';
import { type Reject, reject } from '../core/reject.ts';

const NO_SIGNATURE: Reject = reject('INSUFFICIENT_SIGNER_WEIGHT', 'the action carries no signature', 'signature');
const UNKNOWN_SIGNER: Reject = reject(
  'SIGNER_UNKNOWN',
  'a co-signer is not registered for this account',
  'additional_signers',
);

/** Weight, before any signature is verified (AMB-91). */
export function refuseSigners({ signature, additionalSigners }: Signatures): Reject | null {
  if (additionalSigners.length > 0) return UNKNOWN_SIGNER;
  return signature.length === 0 ? NO_SIGNATURE : null;
}

/** Reads of signers. */
export class SignerQueries {
  configOf(_user: UserId): MultisigView {
    return DEFAULT_MULTISIG;
  }

  /** Accounts that list this key as a signer. */
  accountsOf(_key: SignerKey): readonly UserId[] {
    return [];
  }
}
