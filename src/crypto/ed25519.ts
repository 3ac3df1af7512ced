/**
 * Ed25519: "is this signature by this key over these bytes?", decided by libsodium alone.
 *
 * One verifier for the whole node, because verifiers differ in edge cases: libsodium rejects small-order keys and
 * commitments, non-canonical encodings and S ≥ L, all of which others accept (docs/decisions/0002). A journal replay
 * does not verify again: the verdict is part of the journal.
 *
 * Caution: the binding returns `undefined` for memory of a SharedArrayBuffer. Everything is therefore copied into
 * buffers of this module first, and only `true` counts.
 */

import { existsSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { assert } from '../core/assert.ts';
import { VERIFIED_TEXT_BYTES_MAX } from '../core/limits.ts';
import { PUBLIC_KEY_BYTES, SIGNATURE_BYTES } from './ed25519-sizes.ts';

/** A range of bytes; may lie in shared memory. */
interface ByteRange {
  readonly bytes: Uint8Array;
  readonly at: number;
  readonly length: number;
}

const signatureScratch = Buffer.alloc(SIGNATURE_BYTES);
const publicKeyScratch = Buffer.alloc(PUBLIC_KEY_BYTES);
const messageScratch = Buffer.alloc(VERIFIED_TEXT_BYTES_MAX);

function copy(target: Uint8Array, source: Uint8Array, at: number, length: number): void {
  assert(at >= 0 && at + length <= source.length, 'the bytes to verify lie inside their buffer');
  // A view costs more than the bytes of a signature or a key.
  if (length > SIGNATURE_BYTES) target.set(source.subarray(at, at + length));
  else for (let index = 0; index < length; index += 1) target[index] = source[at + index] as number;
}

/**
 * Verifies bytes that may lie in a ring.
 *
 * @param message at most VERIFIED_TEXT_BYTES_MAX bytes.
 * @returns true only for a valid signature; a malformed one is not valid.
 */
export function verifyRange(signature: ByteRange, message: ByteRange, publicKey: ByteRange): boolean {
  if (signature.length !== SIGNATURE_BYTES || publicKey.length !== PUBLIC_KEY_BYTES) return false;
  assert(message.length <= VERIFIED_TEXT_BYTES_MAX, 'a signed text is within its limit');
  copy(signatureScratch, signature.bytes, signature.at, SIGNATURE_BYTES);
  copy(publicKeyScratch, publicKey.bytes, publicKey.at, PUBLIC_KEY_BYTES);
  copy(messageScratch, message.bytes, message.at, message.length);
  const text = messageScratch.subarray(0, message.length);
  return sodium.crypto_sign_verify_detached(signatureScratch, text, publicKeyScratch) === true;
}

/** Verifies a text of any length that lies in memory of this thread alone: the configuration of a deposit. */
export function verifyLong(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES || publicKey.length !== PUBLIC_KEY_BYTES) return false;
  const [signed, text, key] = [Buffer.from(signature), Buffer.from(message), Buffer.from(publicKey)];
  return sodium.crypto_sign_verify_detached(signed, text, key) === true;
}

/** Verifies complete arrays: logins, transfers, tests. */
export function verify(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  return verifyRange(whole(signature), whole(message), whole(publicKey));
}

/** Whether the 32 bytes are a key that a signature can be of: a point of the curve, canonical, of the main subgroup. */
export function isValidKey(publicKey: Uint8Array): boolean {
  // mutant: deposit-to-a-key
  return publicKey.length === PUBLIC_KEY_BYTES && sodium.crypto_core_ed25519_is_valid_point(Buffer.from(publicKey));
}

function whole(bytes: Uint8Array): ByteRange {
  return { bytes, at: 0, length: bytes.length };
}

// libsodium's binding, loaded with require because it is CommonJS: an import would make Node parse its hundred
// kilobytes for export names, and the compiler optimise that parser, in every verifying thread.

type Sodium = typeof import('sodium-native')['default'];

/**
 * The package finds its binary through fifteen modules that know every system it is built for. Where the binary is at its
 * known place, it is given to the package in their stead; everything that checks arguments is the package's own, as ever.
 */
function loadSodium(): Sodium {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve('sodium-native'));
  const binding = join(folder, 'binding.js');
  const binary = join(folder, 'prebuilds', `${process.platform}-${process.arch}`, 'sodium-native.node');
  if (require.cache[binding] === undefined && existsSync(binary)) {
    const module = new Module(binding);
    module.exports = require(binary);
    module.loaded = true;
    require.cache[binding] = module;
  }
  return require('sodium-native') as Sodium;
}

const sodium: Sodium = loadSodium();
