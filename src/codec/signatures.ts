/**
 * The unsigned members beside a signed object: `signature` and `additional_signers` (wire.md 4.4, AMB-136).
 *
 *   "signature":[64 integers] or []
 *   "additional_signers":[{"signer":{"Secp256k1":[33 integers]},"signature":[…]}]
 *
 * Only shapes are validated here; the verifier and multisig validate the signatures.
 */
import type { JsonCursor } from './json-cursor.ts';
import { choiceShape, objectShape } from './json-shape.ts';

export type SignerScheme = 'Ed25519' | 'Secp256k1' | 'P256' | 'WebAuthn';

export interface SignerKey {
  readonly scheme: SignerScheme;
  /** 32 bytes for Ed25519, else 33, compressed. */
  readonly key: Uint8Array;
}

export interface AdditionalSigner extends SignerKey {
  /** 64 bytes, or for WebAuthn the bytes of an assertion in JSON. */
  readonly signature: Uint8Array;
}

/** The signatures of an action. */
export interface Signatures {
  /** 64 bytes, or none (AMB-136). */
  readonly signature: Uint8Array;
  readonly additionalSigners: readonly AdditionalSigner[];
}

export const SIGNATURE_BYTES = 64;
/** Co-signers of one action (AMB-124). */
export const ADDITIONAL_SIGNERS_MAX = 16;
/** A WebAuthn assertion as JSON; an ordinary one has 500 to 700 bytes. */
export const ASSERTION_BYTES_MAX = 1_024;
const NO_SIGNERS: readonly AdditionalSigner[] = [];

const ENTRY = objectShape('skip', ['signer', 'signature']);
const KEY = choiceShape(['Ed25519', 'Secp256k1', 'P256', 'WebAuthn']);

/** Whether there is no signature at all: INSUFFICIENT_SIGNER_WEIGHT. */
export function isUnsigned(signatures: Signatures): boolean {
  return signatures.signature.length === 0 && signatures.additionalSigners.length === 0;
}

export function readSignature(cursor: JsonCursor): Uint8Array {
  const signature = cursor.readBytes(SIGNATURE_BYTES);
  if (signature.length !== 0 && signature.length !== SIGNATURE_BYTES) cursor.fail('expected 64 integers or none');
  return signature;
}

/** Null reads as absent. */
export function readAdditionalSigners(cursor: JsonCursor): readonly AdditionalSigner[] {
  if (cursor.readNull()) return NO_SIGNERS;
  const signers: AdditionalSigner[] = [];
  cursor.enterArray();
  while (cursor.nextItem()) {
    signers.push(readEntry(cursor));
    if (signers.length > ADDITIONAL_SIGNERS_MAX) cursor.fail(`at most ${ADDITIONAL_SIGNERS_MAX} additional signers`);
  }
  return signers;
}

function readEntry(cursor: JsonCursor): AdditionalSigner {
  let signer: SignerKey = { scheme: 'Ed25519', key: new Uint8Array() };
  let signature: Uint8Array = new Uint8Array();
  cursor.enterObject();
  for (let name = cursor.nextMember(ENTRY); name !== null; name = cursor.nextMember(ENTRY)) {
    if (name === 'signer') signer = readSignerKey(cursor);
    else signature = cursor.readBytes(ASSERTION_BYTES_MAX);
  }
  if (signer.scheme !== 'WebAuthn' && signature.length !== SIGNATURE_BYTES) {
    cursor.fail('expected 64 integers', 'additional_signers');
  }
  return { ...signer, signature };
}

/** One key, tagged with its scheme. */
export function readSignerKey(cursor: JsonCursor): SignerKey {
  let scheme: SignerScheme = 'Ed25519';
  let key: Uint8Array = new Uint8Array();
  cursor.enterObject();
  for (let name = cursor.nextMember(KEY); name !== null; name = cursor.nextMember(KEY)) {
    scheme = name;
    key = cursor.readBytes(33);
  }
  const length = scheme === 'Ed25519' ? 32 : 33;
  if (key.length !== length) cursor.fail(`expected a key of ${length} integers`);
  return { scheme, key };
}
