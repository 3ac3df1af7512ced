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
import { createHash, randomBytes } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import {
  type AdditionalSigner,
  PERSONAL_SIGNATURE_BYTES,
  type SignerKey,
  type SignerScheme,
} from '../codec/signatures.ts';
import { must } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import { invalidArgument } from './errors.ts';
import { keyFromSeed } from './keys.ts';

/** A key that co-signs; its secret is not accessible. */
export interface CoSigner {
  readonly signer: SignerKey;
  /** @returns the signature in the form of its scheme, over exactly these bytes. */
  sign(text: Uint8Array): Uint8Array;
}

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
  const key = secretOf(secret, secp256k1.utils.isValidPrivateKey, 'secp256k1');
  return {
    signer: { scheme: 'Secp256k1', key: secp256k1.getPublicKey(key, true) },
    sign: (text) => (form === 'sha256' ? secp256k1.sign(sha256(text), key).toCompactRawBytes() : personal(text, key)),
  };
}

/** @param secret 32 bytes. */
export function p256CoSigner(secret: Uint8Array): CoSigner {
  const key = secretOf(secret, p256.utils.isValidPrivateKey, 'P-256');
  return {
    signer: { scheme: 'P256', key: p256.getPublicKey(key, true) },
    sign: (text) => p256.sign(sha256(text), key, { lowS: true }).toCompactRawBytes(),
  };
}

function personal(text: Uint8Array, key: Uint8Array): Uint8Array {
  const head = Buffer.from(`${PERSONAL_HEAD}${text.length}`, 'latin1');
  const signed = secp256k1.sign(keccak_256(Buffer.concat([head, text])), key);
  const bytes = new Uint8Array(PERSONAL_SIGNATURE_BYTES);
  bytes.set(signed.toCompactRawBytes());
  bytes[PERSONAL_SIGNATURE_BYTES - 1] = PERSONAL_V + signed.recovery;
  return bytes;
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
  readonly #secret: Uint8Array;
  readonly #options: AuthenticatorOptions;
  #counter = 0;

  /** @param secret 32 bytes, a private key of P-256. */
  constructor(secret: Uint8Array, options: AuthenticatorOptions) {
    this.#secret = secretOf(secret, p256.utils.isValidPrivateKey, 'P-256');
    this.#options = options;
    this.signer = { scheme: 'WebAuthn', key: p256.getPublicKey(this.#secret, true) };
  }

  sign(text: Uint8Array): Uint8Array {
    return this.assert(this.parts(text));
  }

  /** What `navigator.credentials.get` with the text as its challenge would have signed. */
  parts(text: Uint8Array): AssertionParts {
    const { rpId, origin } = this.#options;
    this.#counter += 1;
    const tail = Buffer.alloc(1 + COUNTER_BYTES);
    tail[0] = USER_PRESENT;
    tail.writeUInt32BE(this.#counter, 1);
    const challenge = Buffer.from(text).toString('base64url');
    return {
      authenticatorData: Buffer.concat([sha256(Buffer.from(rpId, 'utf8')), tail]),
      clientDataJson: Buffer.from(
        JSON.stringify({ type: 'webauthn.get', challenge, origin, crossOrigin: false }),
        'utf8',
      ),
    };
  }

  /** Signs the parts. @returns the bytes of the assertion as JSON. */
  assert({ authenticatorData, clientDataJson }: AssertionParts): Uint8Array {
    const signed = p256.sign(sha256(Buffer.concat([authenticatorData, sha256(clientDataJson)])), this.#secret, {
      lowS: true,
    });
    const signature = this.#options.form === 'raw' ? signed.toCompactRawBytes() : signed.toDERRawBytes();
    return assertionBytes({ authenticatorData, clientDataJson }, signature);
  }
}

/** The assertion of an authenticator as the bytes that `additional_signers` carries. @param signature 64 bytes, or DER. */
export function assertionBytes(
  { authenticatorData, clientDataJson }: AssertionParts,
  signature: Uint8Array,
): Uint8Array {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
  const assertion = {
    authenticatorData: text(authenticatorData),
    clientDataJSON: text(clientDataJson),
    signature: text(signature),
  };
  return Buffer.from(JSON.stringify(assertion), 'latin1');
}

/** The entry of `additional_signers` of each of them. @param text the canonical text of an action. */
export function coSign(coSigners: readonly CoSigner[], text: string | Uint8Array): AdditionalSigner[] {
  const bytes = typeof text === 'string' ? Buffer.from(text, 'utf8') : text;
  return coSigners.map((coSigner) => ({ ...coSigner.signer, signature: coSigner.sign(bytes) }));
}

/** A new private key for any scheme: 32 bytes. */
export function generateSecret(scheme: SignerScheme): Uint8Array {
  if (scheme === 'Ed25519') return randomBytes(SECRET_BYTES);
  return scheme === 'Secp256k1' ? secp256k1.utils.randomPrivateKey() : p256.utils.randomPrivateKey();
}

function secretOf(secret: Uint8Array, isValid: (key: Uint8Array) => boolean, curve: string): Uint8Array {
  if (secret.length !== SECRET_BYTES || !isValid(secret)) {
    throw invalidArgument(`a private key of ${curve} is 32 bytes, above 0 and below the order of the curve`);
  }
  return Uint8Array.from(secret);
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
