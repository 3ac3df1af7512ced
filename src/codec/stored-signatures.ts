/**
 * All signatures of an order as one piece of bytes, as they travel from the gateway to clearing and are stored beside the
 * signed text.
 *
 *   64 bytes                                         the master's signature alone, as it came
 *   has master u8 │ 64 bytes │ count u8 │ co-signers   an order with co-signers, or without any signature; 64 zeros for no master
 *
 * The second form is longer than 64 bytes, so the length distinguishes them. An order that the node made has none: 0 bytes.
 */
import { assert } from '../core/assert.ts';
import { coSignersBytes, readCoSigners, writeCoSigners } from './co-signer-bytes.ts';
import { CO_SIGNERS_BYTES_MAX, NO_SIGNERS, SIGNATURE_BYTES, type Signatures } from './signatures.ts';

const COUNT_AT = 1 + SIGNATURE_BYTES;
const CO_SIGNERS_AT = COUNT_AT + 1;
const NO_BYTES = new Uint8Array();

/** Of the longest second form. */
export const STORED_SIGNATURES_BYTES_MAX: number = CO_SIGNERS_AT + CO_SIGNERS_BYTES_MAX;

/** The bytes of these signatures; the master's own where it alone signed, so that nothing is copied. */
export function storedSignatures({ signature, additionalSigners }: Signatures): Uint8Array {
  if (additionalSigners.length === 0 && signature.length === SIGNATURE_BYTES) return signature;
  const bytes = new Uint8Array(CO_SIGNERS_AT + coSignersBytes(additionalSigners));
  assert(bytes.length <= STORED_SIGNATURES_BYTES_MAX, 'co-signers are within their limit');
  bytes[0] = signature.length === 0 ? 0 : 1;
  bytes.set(signature, 1);
  bytes[COUNT_AT] = additionalSigners.length;
  writeCoSigners(additionalSigners, bytes, CO_SIGNERS_AT);
  return bytes;
}

/** @param bytes of `storedSignatures`. */
export function signaturesOf(bytes: Uint8Array): Signatures {
  if (bytes.length === SIGNATURE_BYTES) return { signature: bytes, additionalSigners: NO_SIGNERS };
  assert(bytes.length >= CO_SIGNERS_AT, 'the signatures of an order are whole');
  const signature = bytes[0] === 0 ? NO_BYTES : bytes.subarray(1, COUNT_AT);
  return { signature, additionalSigners: readCoSigners(bytes, CO_SIGNERS_AT, bytes[COUNT_AT] as number) };
}
