/**
 * Signatures of co-signers, of all four schemes, over the canonical bytes of an action (wire.md 4.4). One verifier each,
 * native or in WebAssembly: libsodium, libsecp256k1, OpenSSL.
 *
 * Measured on one core of the machine of docs/latency.md: Ed25519 45 µs, P-256 55 µs, WebAuthn 70 µs, secp256k1 210 µs.
 */
import type { AdditionalSigner } from '../codec/signatures.ts';
import { verify as verifyEd25519 } from './ed25519.ts';
import { verifyP256 } from './p256.ts';
import { verifySecp256k1 } from './secp256k1.ts';
import { verifyAssertion, type WebAuthnPolicy } from './webauthn.ts';

/**
 * Whether this key signed this text under its own scheme. Never throws, whatever the bytes of key and signature are.
 *
 * @param text at most VERIFIED_TEXT_BYTES_MAX bytes, not in shared memory. @param policy null: no WebAuthn co-signature is valid.
 */
export function verifyCoSignature(
  { scheme, key, signature }: AdditionalSigner,
  text: Uint8Array,
  policy: WebAuthnPolicy | null,
): boolean {
  switch (scheme) {
    case 'Ed25519':
      return verifyEd25519(signature, text, key);
    case 'Secp256k1':
      return verifySecp256k1(signature, text, key);
    case 'P256':
      return verifyP256(signature, text, key, 'raw');
    case 'WebAuthn':
      return verifyAssertion(signature, text, { key, policy });
  }
}

/** Whether all of them are valid; the first that is not ends the look. */
export function verifyCoSignatures(
  coSigners: readonly AdditionalSigner[],
  text: Uint8Array,
  policy: WebAuthnPolicy | null,
): boolean {
  // mutant: every-co-signature
  return coSigners.every((coSigner) => verifyCoSignature(coSigner, text, policy));
}
