/** Multisig reads (wire.md 7.20): the configuration of an account, and the accounts that list a key. */
import type { Outcome } from '../core/outcome.ts';
import { quote } from './json-writer.ts';
import { decodeShape } from './shape-reader.ts';
import { SIGNER_SEARCH } from './shapes/account-shapes.ts';
import { type SignerKey, signerKeyText } from './signatures.ts';

export interface MultisigView {
  readonly masterWeight: number;
  readonly signers: readonly (SignerKey & {
    readonly weight: number;
    readonly expiresAtNs: bigint | null;
    readonly maxSigningWindowNs: bigint | null;
  })[];
  readonly thresholds: { readonly low: number; readonly medium: number; readonly high: number };
  readonly configNonce: number;
}

/** The reply of `GET /multisig/config/{user_id}`. */
export function multisigConfig(view: MultisigView): string {
  const { low, medium, high } = view.thresholds;
  const signers = view.signers.map(
    ({ scheme, key, weight, expiresAtNs, maxSigningWindowNs }) =>
      `{"key":${signerKeyText({ scheme, key })},"weight":${weight},"expires_at_ns":${expiresAtNs},` +
      `"max_signing_window_ns":${maxSigningWindowNs}}`,
  );
  return (
    `{"master_weight":${view.masterWeight},"signers":[${signers.join(',')}],` +
    `"thresholds":{"low":${low},"medium":${medium},"high":${high}},"config_nonce":${view.configNonce}}`
  );
}

/** The body of `POST /multisig/signers`: one bare key, `{"Secp256k1":[33 integers]}`. */
export function decodeSignerKey(bytes: Uint8Array): Outcome<SignerKey> {
  return decodeShape(SIGNER_SEARCH, bytes);
}

/** The reply of `POST /multisig/signers`. @param isBare the array alone. */
export function signerAccounts(accounts: readonly string[], isBare: boolean): string {
  const list = `[${accounts.map(quote).join(',')}]`;
  return isBare ? list : `{"accounts":${list}}`;
}
