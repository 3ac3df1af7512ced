/**
 * ECDSA over P-256 with SHA-256, verified by OpenSSL (wire.md G26). Keys are compressed points of 33 bytes.
 *
 * OpenSSL accepts s in its high and in its low form alike, which is what a normalization to low s before verification comes
 * to (MSG-21). It rejects a DER signature that is not the only encoding of its two numbers.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';

/** `raw`: 64 bytes r‖s. `der`: the ASN.1 sequence of the two. */
type EcdsaForm = 'raw' | 'der';

const COMPRESSED_KEY_BYTES = 33;
const RAW_SIGNATURE_BYTES = 64;
/** Two integers of at most 33 bytes. */
const DER_SIGNATURE_BYTES_MAX = 72;
/** SubjectPublicKeyInfo of a P-256 key, up to its compressed point. */
const SPKI_HEAD = Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex');
/** Keys in OpenSSL's form: 120 µs to make one, twice the time of a verification, and about 3 KiB each. */
export const KEYS_MAX = 1_024;

const keys = new Map<string, KeyObject>();

/** @param key 33 bytes, compressed. @returns false for anything malformed. */
export function verifyP256(signature: Uint8Array, text: Uint8Array, key: Uint8Array, form: EcdsaForm): boolean {
  if (key.length !== COMPRESSED_KEY_BYTES) return false;
  if (form === 'raw' ? signature.length !== RAW_SIGNATURE_BYTES : signature.length > DER_SIGNATURE_BYTES_MAX) {
    return false;
  }
  const publicKey = keyObject(key);
  if (publicKey === null) return false;
  return verify('sha256', text, { key: publicKey, dsaEncoding: form === 'raw' ? 'ieee-p1363' : 'der' }, signature);
}

/** How many keys are kept. */
export function keptKeys(): number {
  return keys.size;
}

/** @returns null for bytes that are no point of the curve; those are not kept. */
function keyObject(key: Uint8Array): KeyObject | null {
  const name = Buffer.from(key).toString('latin1');
  const kept = keys.get(name);
  if (kept !== undefined) {
    // The most recently used key is the last in the order of the map.
    keys.delete(name);
    keys.set(name, kept);
    return kept;
  }
  let made: KeyObject;
  try {
    made = createPublicKey({ key: Buffer.concat([SPKI_HEAD, key]), format: 'der', type: 'spki' });
  } catch {
    return null;
  }
  if (keys.size >= KEYS_MAX) {
    for (const oldest of keys.keys()) {
      keys.delete(oldest);
      break;
    }
  }
  keys.set(name, made);
  return made;
}
