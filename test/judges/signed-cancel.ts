/**
 * A signed cancel: the wrapper of wire.md 7.6, its `cancel`, and the canonical text of `cancel` (wire.md 4.2).
 *
 * signed-wrapper.ts explains faults and invalid shapes.
 */

import { type Draft, decodeText } from '../../src/codec/decode-text.ts';
import type { JsonCursor } from '../../src/codec/json-cursor.ts';
import { objectShape } from '../../src/codec/json-shape.ts';
import {
  NO_ASSET,
  NO_USER,
  readAsset,
  readUser,
  type SpelledAsset,
  type SpelledUser,
  STRING_DECODED_MAX,
} from '../../src/codec/signed-text.ts';
import type { TextWriter } from '../../src/codec/text-writer.ts';
import type { OrderId } from '../../src/core/ids.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import type { Reject } from '../../src/core/reject.ts';
import { changedIdFault, versionFault } from './order-faults.ts';
import { readWrapper, type SignedRequest, signedText, wrapperShape } from './signed-wrapper.ts';

/** The signable `cancel`. */
export interface SignedCancel {
  readonly orderId: OrderId;
  readonly asset: SpelledAsset;
  readonly signer: SpelledUser;
  readonly protocolVersion: number;
}

export interface CancelRequest extends SignedRequest {
  readonly cancel: SignedCancel;
}

const WRAPPER = wrapperShape(['cancel']);
const CANCEL = objectShape('refuse', ['order_id', 'asset_id', 'signer', 'protocol_version']);

const NO_CANCEL: SignedCancel = {
  orderId: '' as OrderId,
  asset: NO_ASSET,
  signer: NO_USER,
  protocolVersion: 0,
};

/** Decodes the cancel wrapper in bytes[start … end). */
export function decodeCancel(bytes: Uint8Array, start: number, end: number): Outcome<CancelRequest> {
  return decodeText(bytes, start, end, readCancel);
}

/** Reads a cancel wrapper at the cursor. @returns null exactly when the cursor has failed. */
export function readCancel(cursor: JsonCursor): CancelRequest | null {
  let cancel = NO_CANCEL;
  const members = readWrapper(cursor, WRAPPER, () => {
    cancel = readSignedCancel(cursor);
  });
  if (cursor.hasFailed) return null;
  const { signature, additionalSigners, postSignNs } = members;
  const fault = cancelFault(cancel);
  return { cancel, signature, additionalSigners, postSignNs, fault, text: signedText(cancel, fault, writeCancelText) };
}

function readSignedCancel(cursor: JsonCursor): SignedCancel {
  const cancel: Draft<SignedCancel> = { ...NO_CANCEL };
  cursor.enterObject();
  for (let name = cursor.nextMember(CANCEL); name !== null; name = cursor.nextMember(CANCEL)) {
    if (name === 'order_id') cancel.orderId = cursor.readString(STRING_DECODED_MAX) as OrderId;
    else if (name === 'asset_id') cancel.asset = readAsset(cursor);
    else if (name === 'signer') cancel.signer = readUser(cursor);
    else cancel.protocolVersion = cursor.readInteger(0, Number.MAX_SAFE_INTEGER);
  }
  return cancel;
}

/** Validates the cancel itself. @returns INVALID_ORDER with the field, ORDER_NOT_FOUND, or null. */
export function cancelFault(cancel: SignedCancel): Reject | null {
  return changedIdFault(cancel.orderId) ?? versionFault(cancel.protocolVersion);
}

/** Canonical text of a `cancel` without fault. */
export function writeCancelText(text: TextWriter, cancel: SignedCancel): void {
  text.ascii('{"order_id":"');
  text.signed(cancel.orderId);
  text.ascii('","asset_id":"');
  text.signed(cancel.asset.text);
  text.ascii('","signer":"');
  text.signed(cancel.signer.text);
  text.ascii('","protocol_version":');
  text.integer(cancel.protocolVersion);
  text.ascii('}');
}
