/**
 * ECDSA over secp256k1, verified by libsecp256k1 in WebAssembly (tiny-secp256k1); OpenSSL, as Node offers it, does not
 * verify over a digest that it did not compute. The two forms of a signature (wire.md G26):
 *
 *   64 bytes  r‖s     over SHA-256 of the text
 *   65 bytes  r‖s‖v   over the EIP-191 personal-message hash of the text, as wallets sign it
 *
 * v selects one of the keys that a signature could be by; here the key is given, so v decides nothing. It must be one of the
 * values that wallets write: 27 or 28, or 0 or 1.
 *
 * s is normalized to its low form before it is verified: a signature and its twin are both valid (MSG-21, AMB-31).
 *
 * The library is loaded at the first signature (13 ms and 11 MB): a node without such co-signers does not pay for it.
 * WebAssembly reserves 10 GiB of address space for each thread that loads it, unless Node runs with
 * `--disable-wasm-trap-handler`. Where the address space of the process is limited, nothing is loaded and no such
 * signature is valid: the verdict is the same in each thread, and no signature ends the node.
 */
import { createECDH, createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { PERSONAL_SIGNATURE_BYTES } from '../codec/signatures.ts';
import { areAddressesBounded, ownLimits } from '../runtime/address-limit.ts';

const COMPRESSED_KEY_BYTES = 33;
const RAW_SIGNATURE_BYTES = 64;
const ADDRESS_BYTES = 20;

const PERSONAL_HEAD = Buffer.from('\x19Ethereum Signed Message:\n', 'latin1');

/** @param signature 64 or 65 bytes. @param key 33 bytes, compressed. @returns false for anything malformed. */
export function verifySecp256k1(signature: Uint8Array, text: Uint8Array, key: Uint8Array): boolean {
  if (key.length !== COMPRESSED_KEY_BYTES) return false;
  if (signature.length === RAW_SIGNATURE_BYTES) return isValid(sha256(text), key, signature);
  if (signature.length !== PERSONAL_SIGNATURE_BYTES || !isRecoveryByte(signature[RAW_SIGNATURE_BYTES])) return false;
  return isValid(personalMessageHash(text), key, signature.subarray(0, RAW_SIGNATURE_BYTES));
}

/** EIP-191, version 0x45: keccak-256 of the head, the length of the text in decimal digits, and the text. */
function personalMessageHash(text: Uint8Array): Uint8Array {
  return keccak_256(Buffer.concat([PERSONAL_HEAD, Buffer.from(String(text.length), 'latin1'), text]));
}

/** @param privateKey 32 bytes, a key of the curve. @returns its address on EVM chains: 40 hex digits. */
export function addressOfKey(privateKey: Uint8Array): string {
  const curve = createECDH('secp256k1');
  curve.setPrivateKey(privateKey);
  return Buffer.from(keccak_256(curve.getPublicKey().subarray(1)).subarray(-ADDRESS_BYTES)).toString('hex');
}

function isRecoveryByte(v: number | undefined): boolean {
  return v === 27 || v === 28 || v === 0 || v === 1;
}

function isValid(digest: Uint8Array, key: Uint8Array, signature: Uint8Array): boolean {
  const secp256k1 = library();
  if (secp256k1 === null) return false;
  try {
    // Not strict: s above half of the order is normalized first.
    return secp256k1.verify(digest, key, signature, false);
  } catch (error) {
    // What the library throws for a key that is no point, and for r or s at or above the order.
    if (error instanceof TypeError) return false;
    throw error;
  }
}

function sha256(text: Uint8Array): Uint8Array {
  return createHash('sha256').update(text).digest();
}

type Library = typeof import('tiny-secp256k1');

/** Undefined before the first signature. */
let loaded: Library | null | undefined;

function library(): Library | null {
  if (loaded === undefined) {
    loaded = canVerifySecp256k1() ? (createRequire(import.meta.url)('tiny-secp256k1') as Library) : null;
  }
  return loaded;
}

const NO_RESERVATION = '--disable-wasm-trap-handler';

/** Whether this process may reserve the address space that the library takes, or need not. */
export function canVerifySecp256k1(): boolean {
  const flags = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ');
  return flags.includes(NO_RESERVATION) || !areAddressesBounded(ownLimits());
}
