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
import { requestBytes } from './text-writer.ts';

/** The index is the key type code of wire.md G10: durable, never changed. */
export const SCHEMES = ['Ed25519', 'Secp256k1', 'P256', 'WebAuthn'] as const;
export type SignerScheme = (typeof SCHEMES)[number];

export interface SignerKey {
  readonly scheme: SignerScheme;
  /** 32 bytes for Ed25519, else 33, compressed. */
  readonly key: Uint8Array;
}

export interface AdditionalSigner extends SignerKey {
  /** 64 bytes; of secp256k1 also 65 (wire.md G26); of WebAuthn the bytes of an assertion in JSON. */
  readonly signature: Uint8Array;
}

/** The signatures of an action. */
export interface Signatures {
  /** 64 bytes, or none (AMB-136). */
  readonly signature: Uint8Array;
  readonly additionalSigners: readonly AdditionalSigner[];
}

export const SIGNATURE_BYTES = 64;
/** A secp256k1 signature over the personal-message hash, with its last byte v. */
export const PERSONAL_SIGNATURE_BYTES = 65;
/** Co-signers of one action (AMB-124). */
export const ADDITIONAL_SIGNERS_MAX = 16;
/**
 * A WebAuthn assertion as JSON. Its challenge is the whole signed text, in base64url inside of base64url: 16/9 of its bytes,
 * and about 350 for the rest. The longest text of an order (SIGNED_TEXT_BYTES_MAX) takes 2,200 bytes, one of 2 KiB 3,990: a quote set with
 * a WebAuthn co-signer has a text of at most 2,100 bytes.
 */
export const ASSERTION_BYTES_MAX = 4_096;
/**
 * Keys and signatures of all co-signers of one action: an order travels with them, and they are stored with it. Sixteen
 * assertions over an ordinary order, of 480 bytes, take 21,000 bytes.
 */
export const CO_SIGNERS_BYTES_MAX = 24_576;
export const NO_SIGNERS: readonly AdditionalSigner[] = [];

const ENTRY = objectShape('skip', ['signer', 'signature']);
const KEY = choiceShape(SCHEMES);

/** A key in JSON, tagged with its scheme. */
export function signerKeyText({ scheme, key }: SignerKey): string {
  return `{"${scheme}":[${key.join(',')}]}`;
}

/** Signatures beyond the first one of an action, which is paid with it; −1 without any. */
export function furtherSignatures({ signature, additionalSigners }: Signatures): number {
  return additionalSigners.length - (signature.length === 0 ? 1 : 0);
}

/** Bytes of one co-signer where it travels and is stored (co-signer-bytes.ts). */
export function coSignerBytes({ key, signature }: AdditionalSigner): number {
  return 1 + key.length + 2 + signature.length;
}

/** Whether there is no signature at all: INSUFFICIENT_SIGNER_WEIGHT. */
export function isUnsigned(signatures: Signatures): boolean {
  return signatures.signature.length === 0 && signatures.additionalSigners.length === 0;
}

export function readSignature(cursor: JsonCursor): Uint8Array {
  return checkedSignature(cursor, cursor.readBytes(SIGNATURE_BYTES));
}

/** As `readSignature`, of an action on orders: for as long as its request. */
export function readOrderSignature(cursor: JsonCursor): Uint8Array {
  return checkedSignature(cursor, cursor.readBytes(SIGNATURE_BYTES, requestBytes));
}

function checkedSignature(cursor: JsonCursor, signature: Uint8Array): Uint8Array {
  if (signature.length !== 0 && signature.length !== SIGNATURE_BYTES) cursor.fail('expected 64 integers or none');
  return signature;
}

/** Null reads as absent. */
export function readAdditionalSigners(cursor: JsonCursor): readonly AdditionalSigner[] {
  if (cursor.readNull()) return NO_SIGNERS;
  const signers: AdditionalSigner[] = [];
  let bytes = 0;
  cursor.enterArray();
  while (cursor.nextItem()) {
    const signer = readEntry(cursor);
    signers.push(signer);
    bytes += coSignerBytes(signer);
    if (signers.length > ADDITIONAL_SIGNERS_MAX) {
      cursor.fail(`at most ${ADDITIONAL_SIGNERS_MAX} additional signers`, 'additional_signers');
    } else if (bytes > CO_SIGNERS_BYTES_MAX)
      cursor.fail(`at most ${CO_SIGNERS_BYTES_MAX} bytes of keys and signatures`, 'additional_signers');
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
  const fault = lengthFault(signer.scheme, signature.length);
  if (fault !== null) cursor.fail(fault, 'additional_signers');
  return { ...signer, signature };
}

/** @returns why a signature of this length is none of the scheme; an assertion is read by its verifier. */
export function lengthFault(scheme: SignerScheme, length: number): string | null {
  if (scheme === 'WebAuthn' || length === SIGNATURE_BYTES) return null;
  if (scheme !== 'Secp256k1') return 'expected 64 integers';
  return length === PERSONAL_SIGNATURE_BYTES ? null : 'expected 64 or 65 integers';
}

/** Bytes of a key of this scheme: 33 for a compressed point. */
export function keyBytesOf(scheme: SignerScheme): number {
  return scheme === 'Ed25519' ? 32 : 33;
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
  const length = keyBytesOf(scheme);
  if (key.length !== length) cursor.fail(`expected a key of ${length} integers`);
  return { scheme, key };
}
