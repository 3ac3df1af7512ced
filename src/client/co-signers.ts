/**
 * Co-signers of actions (wire.md 4.4): keys of the four schemes that sign the canonical bytes of an action, beside the master key
 * of the account or in place of it.
 *
 *   Ed25519      64 bytes over the text                          secp256k1    64 bytes over its SHA-256, or, as wallets sign,
 *   P-256        64 bytes over its SHA-256                                    65 bytes over the EIP-191 personal-message hash
 *   WebAuthn     the assertion of an authenticator whose challenge is the text, as JSON
 *
 * A key in a browser, a wallet or a security key signs elsewhere: bring its entry ready-made. `SoftwareAuthenticator` is an
 * authenticator in software, for tests and machines.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes } from '@noble/hashes/utils.js';
import * as secp256k1 from '@noble/secp256k1';
import {
  type AdditionalSigner,
  PERSONAL_SIGNATURE_BYTES,
  type SignerKey,
  type SignerScheme,
} from '../codec/signatures.ts';
import { assert, must } from '../core/assert.ts';
import { parseHex, toHex } from '../core/hex.ts';
import { invalidArgument } from './errors.ts';
import { generateSeed, keyFromSeed } from './keys.ts';
import { type P256Pair, p256Pair } from './platform.ts';

/** A key that co-signs; its secret is not accessible. */
export interface CoSigner {
  readonly signer: SignerKey;
  /** @returns the signature in the form of its scheme, over exactly these bytes. */
  sign(text: Uint8Array): Uint8Array;
}

// The nonces of secp256k1 are those of RFC 6979; its package leaves the choice of the hash functions to the program.
secp256k1.hashes.sha256 = sha256;
secp256k1.hashes.hmacSha256 = (key, message) => hmac(sha256, key, message);

const SECRET_BYTES = 32;
const PERSONAL_HEAD = '\x19Ethereum Signed Message:\n';
/** v of the two points that a signature may come from. */
const PERSONAL_V = 27;

/** @param seed 32 bytes. */
export function ed25519CoSigner(seed: Uint8Array): CoSigner {
  const { userId, sign } = keyFromSeed(seed);
  return { signer: { scheme: 'Ed25519', key: must(parseHex(userId, 32), 'a user id is 32 bytes of hex') }, sign };
}

/**
 * @param secret 32 bytes. @param form `sha256`: 64 bytes over SHA-256; `personal`: 65 bytes over the EIP-191 personal-message
 *   hash, as a wallet's `personal_sign`.
 */
export function secp256k1CoSigner(secret: Uint8Array, form: 'sha256' | 'personal' = 'sha256'): CoSigner {
  const key = secretOf(secret, secp256k1.utils.isValidSecretKey, 'secp256k1');
  return {
    signer: { scheme: 'Secp256k1', key: secp256k1.getPublicKey(key, true) },
    sign: (text) => (form === 'sha256' ? secp256k1.sign(text, key) : personal(text, key)),
  };
}

/** @param secret 32 bytes. @throws RingbookError INVALID_ARGUMENT in a browser, whose keys sign by WebAuthn. */
export function p256CoSigner(secret: Uint8Array): CoSigner {
  const pair = p256PairOf(secret);
  return { signer: { scheme: 'P256', key: pair.publicKey }, sign: (text) => signP256(text, pair) };
}

function personal(text: Uint8Array, key: Uint8Array): Uint8Array {
  const digest = keccak_256(concatBytes(utf8(`${PERSONAL_HEAD}${text.length}`), text));
  // The recovery bit, then r and s; wallets write it last.
  const [recovery = 0, ...point] = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' });
  assert(point.length === PERSONAL_SIGNATURE_BYTES - 1, 'r and s of secp256k1 have 64 bytes');
  return Uint8Array.of(...point, PERSONAL_V + recovery);
}

/** The order of P-256 (FIPS 186-4, D.1.2.3). */
const P256_ORDER = 0xffffffff_00000000_ffffffff_ffffffff_bce6faad_a7179e84_f3b9cac2_fc632551n;

function isP256Secret(key: Uint8Array): boolean {
  const value = bigIntOf(key);
  return value > 0n && value < P256_ORDER;
}

/** @throws RingbookError INVALID_ARGUMENT for bytes that are no private key. */
function p256PairOf(secret: Uint8Array): P256Pair {
  return p256Pair(secretOf(secret, isP256Secret, 'P-256'));
}

/** @returns 64 bytes over the SHA-256 of `bytes`, s in the lower half, which is the form of either twin that all verifiers take. */
function signP256(bytes: Uint8Array, pair: P256Pair): Uint8Array {
  const signature = Uint8Array.from(pair.sign(bytes));
  const s = bigIntOf(signature.subarray(SECRET_BYTES));
  const lower = s > P256_ORDER / 2n ? P256_ORDER - s : s;
  signature.set(must(parseHex(hexOf(lower), SECRET_BYTES), 's has 32 bytes'), SECRET_BYTES);
  return signature;
}

function bigIntOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes)}`);
}

/** @returns 32 bytes as 64 hex digits. */
function hexOf(value: bigint): string {
  return value.toString(16).padStart(2 * SECRET_BYTES, '0');
}

/** The ASN.1 form of a signature: a sequence of two integers, each without leading zeros (SEC 1, C.5). */
function derOf(signature: Uint8Array): Uint8Array {
  const integers = [signature.subarray(0, SECRET_BYTES), signature.subarray(SECRET_BYTES)].map((bytes) => {
    const first = bytes.findIndex((byte) => byte !== 0);
    const digits = bytes.subarray(first);
    const positive = (digits[0] ?? 0) < 0x80 ? digits : Uint8Array.of(0, ...digits);
    return Uint8Array.of(0x02, positive.length, ...positive);
  });
  const content = concatBytes(...integers);
  return Uint8Array.of(0x30, content.length, ...content);
}

/** The relying party and the page of an authenticator. */
export interface AuthenticatorOptions {
  /** `webauthn.rp_id` of the node. */
  readonly rpId: string;
  /** One of `webauthn.origins` of the node. */
  readonly origin: string;
  /** How the signature inside of the assertion is written. Browsers write `der`. */
  readonly form?: 'der' | 'raw';
}

/** The parts of an assertion before they are signed; tests change them. */
export interface AssertionParts {
  readonly authenticatorData: Uint8Array;
  readonly clientDataJson: Uint8Array;
}

const USER_PRESENT = 0x01;
const COUNTER_BYTES = 4;

/** A WebAuthn authenticator in software, with the page that uses it: one credential, of one relying party. */
export class SoftwareAuthenticator implements CoSigner {
  readonly signer: SignerKey;
  readonly #pair: P256Pair;
  readonly #options: AuthenticatorOptions;
  #counter = 0;

  /** @param secret 32 bytes, a private key of P-256. */
  constructor(secret: Uint8Array, options: AuthenticatorOptions) {
    this.#pair = p256PairOf(secret);
    this.#options = options;
    this.signer = { scheme: 'WebAuthn', key: this.#pair.publicKey };
  }

  sign(text: Uint8Array): Uint8Array {
    return this.assert(this.parts(text));
  }

  /** What `navigator.credentials.get` with the text as its challenge would have signed. */
  parts(text: Uint8Array): AssertionParts {
    const { rpId, origin } = this.#options;
    this.#counter += 1;
    const tail = new Uint8Array(1 + COUNTER_BYTES);
    tail[0] = USER_PRESENT;
    new DataView(tail.buffer).setUint32(1, this.#counter);
    const challenge = base64Url(text);
    return {
      authenticatorData: concatBytes(sha256(utf8(rpId)), tail),
      clientDataJson: utf8(JSON.stringify({ type: 'webauthn.get', challenge, origin, crossOrigin: false })),
    };
  }

  /** Signs the parts. @returns the bytes of the assertion as JSON. */
  assert({ authenticatorData, clientDataJson }: AssertionParts): Uint8Array {
    const raw = signP256(concatBytes(authenticatorData, sha256(clientDataJson)), this.#pair);
    const signature = this.#options.form === 'raw' ? raw : derOf(raw);
    return assertionBytes({ authenticatorData, clientDataJson }, signature);
  }
}

/** The assertion of an authenticator as the bytes that `additional_signers` carries. @param signature 64 bytes, or DER. */
export function assertionBytes(
  { authenticatorData, clientDataJson }: AssertionParts,
  signature: Uint8Array,
): Uint8Array {
  const assertion = {
    authenticatorData: base64Url(authenticatorData),
    clientDataJSON: base64Url(clientDataJson),
    signature: base64Url(signature),
  };
  return utf8(JSON.stringify(assertion));
}

/** The entry of `additional_signers` of each of them. @param text the canonical text of an action. */
export function coSign(coSigners: readonly CoSigner[], text: string | Uint8Array): AdditionalSigner[] {
  const bytes = typeof text === 'string' ? utf8(text) : text;
  return coSigners.map((coSigner) => ({ ...coSigner.signer, signature: coSigner.sign(bytes) }));
}

/** A new private key for any scheme: 32 bytes. */
export function generateSecret(scheme: SignerScheme): Uint8Array {
  if (scheme === 'Ed25519') return generateSeed();
  return scheme === 'Secp256k1' ? secp256k1.utils.randomSecretKey() : randomP256Secret();
}

function randomP256Secret(): Uint8Array {
  for (;;) {
    const secret = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
    if (isP256Secret(secret)) return secret;
  }
}

function secretOf(secret: Uint8Array, isValid: (key: Uint8Array) => boolean, curve: string): Uint8Array {
  if (secret.length !== SECRET_BYTES || !isValid(secret)) {
    throw invalidArgument(`a private key of ${curve} is 32 bytes, above 0 and below the order of the curve`);
  }
  return Uint8Array.from(secret);
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function base64Url(bytes: Uint8Array): string {
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
