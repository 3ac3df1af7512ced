/**
 * Ed25519 keys of a user: generated, stored in a file readable only by its owner, and used for signing.
 *
 * A key file is one line, the 32-byte seed as 64 hex digits. The user id is the public key. Signing uses node:crypto
 * and falls back to @noble/ed25519 where the platform's crypto has no Ed25519 (FIPS builds); both follow RFC 8032, so
 * the signature is the same.
 *
 * Signatures are verified by the server only.
 */
import { getPublicKey, hashes, sign as nobleSign } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import { parseHex, toHex } from '../core/hex.ts';
import { type UserId, userIdOf } from '../core/ids.ts';
import { invalidArgument } from './errors.ts';
import { platformKey, readSecretFile, writeSecretFile } from './platform.ts';

/** A signing key of a user; the seed is not accessible. */
export interface SigningKey {
  readonly userId: UserId;
  /** @returns 64 bytes, Ed25519 over exactly these bytes. */
  sign(bytes: Uint8Array): Uint8Array;
}

const SEED_BYTES = 32;

export type SigningBackend = 'node' | 'noble';

/** @param seed 32 bytes. @throws RingbookError INVALID_ARGUMENT for any other length. */
export function keyFromSeed(seed: Uint8Array, backend: SigningBackend = 'node'): SigningKey {
  if (seed.length !== SEED_BYTES) throw invalidArgument('a seed is 32 bytes');
  const copy = Uint8Array.from(seed);
  const platform = backend === 'node' ? platformKey(copy) : null;
  if (platform === null) {
    hashes.sha512 = sha512;
    return { userId: userIdOf(getPublicKey(copy)), sign: (bytes) => nobleSign(bytes, copy) };
  }
  return { userId: userIdOf(platform.publicKey), sign: platform.sign };
}

export function generateSeed(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(SEED_BYTES));
}

/** The published keys of the dev seed (operator-api.md 9), for experiments on a dev node only. */
export function devKey(user: 'a' | 'b'): SigningKey {
  return keyFromSeed(new Uint8Array(SEED_BYTES).fill(user === 'a' ? 1 : 2));
}

/** Writes a new key file, readable only by its owner. @throws an EEXIST error instead of overwriting a key. */
export function saveSeed(path: string, seed: Uint8Array): void {
  if (seed.length !== SEED_BYTES) throw invalidArgument('a seed is 32 bytes');
  writeSecretFile(path, toHex(seed));
}

/** @throws RingbookError INVALID_ARGUMENT when the file is not a key or others may read it. */
export function loadKey(path: string): SigningKey {
  const seed = parseHex(readSecretFile(path), SEED_BYTES);
  if (seed === null) throw invalidArgument(`${path} is not a key file: expected 64 hex digits`);
  return keyFromSeed(seed);
}
