/**
 * The wrapper around a signed object of an order action (wire.md 7.4 to 7.6): the object itself, members of its own,
 * and in each of them `signature`, `additional_signers`, `post_sign_timestamp`. Unknown members are skipped (AMB-02).
 *
 * Two kinds of rejection. An invalid shape is INVALID_REQUEST and yields no request. An invalid figure or id is a
 * domain error that is reported after session, rate and signer were checked (AMB-91): the request then carries it as
 * `fault` and has no text, because it must not be verified.
 */

import type { Draft } from '../../src/codec/decode-text.ts';
import type { JsonCursor } from '../../src/codec/json-cursor.ts';
import { type ObjectShape, objectShape } from '../../src/codec/json-shape.ts';
import { NO_SIGNERS, readAdditionalSigners, readOrderSignature, type Signatures } from '../../src/codec/signatures.ts';
import { type TextWriter, textBytes } from '../../src/codec/text-writer.ts';
import type { Reject } from '../../src/core/reject.ts';
import type { TimestampNs } from '../../src/core/units.ts';

const SIGNING_MEMBERS = ['signature', 'additional_signers?', 'post_sign_timestamp'] as const;
type SigningMember = 'signature' | 'additional_signers' | 'post_sign_timestamp';
type WrapperShape<Own extends string> = ObjectShape<Own | SigningMember>;

/** The members beside the signed object. */
export interface SigningMembers extends Signatures {
  readonly postSignNs: TimestampNs;
}

/** The part of a signed request that validation uses. */
export interface SignedRequest extends SigningMembers {
  /** INVALID_ORDER with its field, or null. To be reported after the preceding checks (AMB-91). */
  readonly fault: Reject | null;
  /** The signed bytes; empty when there is a fault. */
  readonly text: Uint8Array;
}

const NO_BYTES = new Uint8Array();
const NOTHING_SIGNED: SigningMembers = {
  signature: NO_BYTES,
  additionalSigners: NO_SIGNERS,
  postSignNs: 0n as TimestampNs,
};
/** Of a request that a session alone authorizes. */
export const UNSIGNED: Omit<SignedRequest, 'fault'> = { ...NOTHING_SIGNED, text: NO_BYTES };

/** @param own the members of this wrapper, in declaration order. */
export function wrapperShape<const Own extends string>(own: readonly Own[]): WrapperShape<Own> {
  return objectShape('skip', [...own, ...SIGNING_MEMBERS]) as WrapperShape<Own>;
}

/** Reads a wrapper at the cursor. @param readOwn reads the value of one of its own members. */
export function readWrapper<Own extends string>(
  cursor: JsonCursor,
  shape: WrapperShape<Own>,
  readOwn: (name: Own) => void,
): SigningMembers {
  const members: Draft<SigningMembers> = { ...NOTHING_SIGNED };
  cursor.enterObject();
  for (let name = cursor.nextMember(shape); name !== null; name = cursor.nextMember(shape)) {
    if (name === 'signature') members.signature = readOrderSignature(cursor);
    else if (name === 'additional_signers') members.additionalSigners = readAdditionalSigners(cursor);
    else if (name === 'post_sign_timestamp') members.postSignNs = cursor.readTime();
    else readOwn(name as Own);
  }
  return members;
}

/** The signed bytes of an object without fault. @param write writes its canonical text. */
export function signedText<Signed>(
  signed: Signed,
  fault: Reject | null,
  write: (text: TextWriter, signed: Signed) => void,
): Uint8Array {
  return fault === null ? textBytes(signed, write) : NO_BYTES;
}
