/**
 * The wrapper around a signed object of an order action (wire.md 7.4 to 7.6): the object itself, members of its own, and
 * in every one of them `signature`, `additional_signers`, `post_sign_timestamp`. Members nobody knows are skipped
 * (AMB-02).
 *
 * Two kinds of refusal. A broken shape is INVALID_REQUEST and there is no request. A figure or an id outside its rule
 * is a domain error that is answered after session, rate and signer were looked at (AMB-91): the request then carries
 * it as `fault`, and has no text, because nobody may verify it.
 */
import type { Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { Draft } from './decode-text.ts';
import type { JsonCursor } from './json-cursor.ts';
import { type ObjectShape, objectShape } from './json-shape.ts';
import { readAdditionalSigners, readSignature, type Signatures } from './signatures.ts';
import { signingBytes } from './signed-text.ts';

const SIGNING_MEMBERS = ['signature', 'additional_signers?', 'post_sign_timestamp'] as const;
type SigningMember = 'signature' | 'additional_signers' | 'post_sign_timestamp';
type WrapperShape<Own extends string> = ObjectShape<Own | SigningMember>;

/** What stands beside the signed object. */
interface SigningMembers extends Signatures {
  readonly postSignNs: TimestampNs;
}

/** What every signed request is checked by. */
export interface SignedRequest extends SigningMembers {
  /** INVALID_ORDER with its field, or null. To be answered after the checks that come before it (AMB-91). */
  readonly fault: Reject | null;
  /** The bytes that were signed; none when there is a fault. */
  readonly text: Uint8Array;
}

const NO_BYTES = new Uint8Array();
const NOTHING_SIGNED: SigningMembers = { signature: NO_BYTES, additionalSigners: [], postSignNs: 0n as TimestampNs };

/** @param own the members of this wrapper, in declaration order. */
export function wrapperShape<const Own extends string>(own: readonly Own[]): WrapperShape<Own> {
  return objectShape('skip', [...own, ...SIGNING_MEMBERS]) as WrapperShape<Own>;
}

/** Reads a wrapper where the cursor stands. @param readOwn reads the value of a member of its own. */
export function readWrapper<Own extends string>(
  cursor: JsonCursor,
  shape: WrapperShape<Own>,
  readOwn: (name: Own) => void,
): SigningMembers {
  const members: Draft<SigningMembers> = { ...NOTHING_SIGNED };
  cursor.enterObject();
  for (let name = cursor.nextMember(shape); name !== null; name = cursor.nextMember(shape)) {
    if (name === 'signature') members.signature = readSignature(cursor);
    else if (name === 'additional_signers') members.additionalSigners = readAdditionalSigners(cursor);
    else if (name === 'post_sign_timestamp') members.postSignNs = cursor.readU64() as TimestampNs;
    else readOwn(name as Own);
  }
  return members;
}

/** @param textOf the canonical text; asked for only without a fault. */
export function signedRequest(members: SigningMembers, fault: Reject | null, textOf: () => string): SignedRequest {
  return { ...members, fault, text: fault === null ? signingBytes(textOf()) : NO_BYTES };
}
