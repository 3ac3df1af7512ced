/**
 * Frozen judge: how this was read and written by hand before shapes did.
 *
 * `inner` of `POST /multisig/add-signer` (wire.md 4.2, G9) with its two canonical texts: the members received select the
 * text (AMB-13).
 *
 *   user, signer, weight, session_duration_ns, ce_nonce
 *   user, oms_nonce, ce_nonce, signer, weight, session_duration_ns     with a fresh value of `GET /nonce/{user_id}`
 */

import { type Draft, decodeText } from '../../src/codec/decode-text.ts';
import type { JsonCursor } from '../../src/codec/json-cursor.ts';
import { objectShape } from '../../src/codec/json-shape.ts';
import { readSignerKey, type SignerKey, signerKeyText } from '../../src/codec/signatures.ts';
import { readUser, type SpelledUser, STRING_DECODED_MAX, signedString } from '../../src/codec/signed-text.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { type ActionRequest, readAction } from './signed-transfer.ts';

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

const ADD_SIGNER = objectShape('refuse', [
  'user',
  'oms_nonce?',
  'signer',
  'weight',
  'session_duration_ns?',
  'ce_nonce',
]);
const WEIGHT_MAX = 4_294_967_295;
/** Nonces of this node have 43 characters. */
const OMS_NONCE_FORM = /^[!#-[\]-~]{1,64}$/;

export function decodeAddSigner(
  bytes: Uint8Array,
  start: number,
  end: number,
): Outcome<ActionRequest<SignedAddSigner>> {
  return decodeText(bytes, start, end, (cursor) => readAction(cursor, readAddSigner, addSignerText));
}

function readAddSigner(cursor: JsonCursor): SignedAddSigner {
  const inner: Partial<Draft<SignedAddSigner>> = { sessionDurationNs: null, omsNonce: null };
  cursor.enterObject();
  for (let name = cursor.nextMember(ADD_SIGNER); name !== null; name = cursor.nextMember(ADD_SIGNER)) {
    if (name === 'user') inner.user = readUser(cursor);
    else if (name === 'oms_nonce') inner.omsNonce = readOmsNonce(cursor);
    else if (name === 'signer') inner.signer = readSignerKey(cursor);
    else if (name === 'weight') inner.weight = cursor.readInteger(1, WEIGHT_MAX);
    else if (name === 'session_duration_ns') inner.sessionDurationNs = cursor.readNull() ? null : cursor.readU64();
    else inner.ceNonce = cursor.readInteger(0, Number.MAX_SAFE_INTEGER);
  }
  return inner as SignedAddSigner;
}

function readOmsNonce(cursor: JsonCursor): string {
  const text = cursor.readString(STRING_DECODED_MAX);
  if (!OMS_NONCE_FORM.test(text)) cursor.fail('expected a value of GET /nonce/{user_id}');
  return text;
}

/** Canonical text of an add-signer's `inner`. */
export function addSignerText({ user, signer, weight, sessionDurationNs, ceNonce, omsNonce }: SignedAddSigner): string {
  const [account, key] = [`{"user":"${signedString(user.text)}"`, `"signer":${signerKeyText(signer)}`];
  const terms = `"weight":${weight},"session_duration_ns":${sessionDurationNs}`;
  if (omsNonce === null) return `${account},${key},${terms},"ce_nonce":${ceNonce}}`;
  return `${account},"oms_nonce":"${signedString(omsNonce)}","ce_nonce":${ceNonce},${key},${terms}}`;
}
