/**
 * Co-signers as bytes, for ring messages and journal records: one after the other,
 *
 *   1 byte   scheme: 0 Ed25519, 1 secp256k1, 2 P-256, 3 WebAuthn (wire.md G10)
 *   32 or 33 the key, by its scheme
 *   2 bytes  length of the signature, little-endian
 *   …        the signature
 */
import { assert, must } from '../core/assert.ts';
import { type AdditionalSigner, coSignerBytes, keyBytesOf, SCHEMES } from './signatures.ts';

/** Length of the encoding. */
export function coSignersBytes(coSigners: readonly AdditionalSigner[]): number {
  let bytes = 0;
  for (const coSigner of coSigners) bytes += coSignerBytes(coSigner);
  return bytes;
}

/** Writes all of them from `at` on. @returns the position behind the last. */
export function writeCoSigners(coSigners: readonly AdditionalSigner[], into: Uint8Array, at: number): number {
  let next = at;
  for (const { scheme, key, signature } of coSigners) {
    assert(key.length === keyBytesOf(scheme) && signature.length <= 0xffff, 'sizes of a co-signer');
    into[next] = SCHEMES.indexOf(scheme);
    into.set(key, next + 1);
    next += 1 + key.length;
    into[next] = signature.length & 0xff;
    into[next + 1] = signature.length >> 8;
    into.set(signature, next + 2);
    next += 2 + signature.length;
  }
  return next;
}

/**
 * Reads `count` co-signers into memory of their own.
 *
 * @param bytes written by writeCoSigners; may be shared memory.
 */
export function readCoSigners(bytes: Uint8Array, at: number, count: number): readonly AdditionalSigner[] {
  const coSigners: AdditionalSigner[] = [];
  let next = at;
  for (let index = 0; index < count; index += 1) {
    const scheme = must(SCHEMES[bytes[next] ?? SCHEMES.length], 'a scheme');
    const keyEnd = next + 1 + keyBytesOf(scheme);
    const key = bytes.slice(next + 1, keyEnd);
    const length = (bytes[keyEnd] ?? 0) | ((bytes[keyEnd + 1] ?? 0) << 8);
    next = keyEnd + 2 + length;
    assert(next <= bytes.length, 'a co-signer lies inside its bytes');
    coSigners.push({ scheme, key, signature: bytes.slice(keyEnd + 2, next) });
  }
  return coSigners;
}
