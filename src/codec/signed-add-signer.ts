/**
 * `inner` of `POST /multisig/add-signer` (wire.md 4.2, G9) with its two canonical texts: the members received select the
 * text (AMB-13).
 *
 *   user, signer, weight, session_duration_ns, ce_nonce
 *   user, oms_nonce, ce_nonce, signer, weight, session_duration_ns     with a fresh value of `GET /nonce/{user_id}`
 */
import type { Outcome } from '../core/outcome.ts';
import { ADD_SIGNER_REQUEST } from './shapes/account-shapes.ts';
import type { SignerKey } from './signatures.ts';
import { type ActionRequest, decodeAction } from './signed-action.ts';
import type { SpelledUser } from './signed-text.ts';

export interface SignedAddSigner {
  readonly user: SpelledUser;
  readonly signer: SignerKey;
  /** u32, at least 1. */
  readonly weight: number;
  /** u64; null for ever. */
  readonly sessionDurationNs: bigint | null;
  /** The `config_nonce` of the account. */
  readonly ceNonce: number;
  /** Null: absent. */
  readonly omsNonce: string | null;
}

/** The members of either text. */
export type AddSignerRead = Omit<SignedAddSigner, 'omsNonce'> | (SignedAddSigner & { readonly omsNonce: string });

export function decodeAddSigner(
  bytes: Uint8Array,
  start: number,
  end: number,
): Outcome<ActionRequest<SignedAddSigner>> {
  return decodeAction(ADD_SIGNER_REQUEST, [bytes, start, end], (read) => ({ omsNonce: null, ...read }));
}
