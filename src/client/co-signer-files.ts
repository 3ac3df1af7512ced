/**
 * Files of co-signer keys, one line each, readable by their owner alone:
 *
 *   <64 hex>                                   Ed25519, as a user's own key file
 *   secp256k1 <64 hex>                         signs over SHA-256
 *   secp256k1-personal <64 hex>                signs the personal message, as a wallet does
 *   p256 <64 hex>
 *   webauthn <64 hex> <relying party> <origin> an authenticator in software
 *
 * and the text of a public key: `<scheme>:<hex>`, as `secp256k1:02ab…`.
 */
import { keyBytesOf, SCHEMES, type SignerKey, type SignerScheme } from '../codec/signatures.ts';
import { parseHex, toHex } from '../core/hex.ts';
import {
  type CoSigner,
  ed25519CoSigner,
  generateSecret,
  p256CoSigner,
  SoftwareAuthenticator,
  secp256k1CoSigner,
} from './co-signers.ts';
import { invalidArgument } from './errors.ts';
import { readSecretFile, writeSecretFile } from './platform.ts';

/** The first word of a line. */
export const KEY_KINDS = ['ed25519', 'secp256k1', 'secp256k1-personal', 'p256', 'webauthn'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

const SECRET_BYTES = 32;
const SCHEME_OF: Readonly<Record<KeyKind, SignerScheme>> = {
  ed25519: 'Ed25519',
  secp256k1: 'Secp256k1',
  'secp256k1-personal': 'Secp256k1',
  p256: 'P256',
  webauthn: 'WebAuthn',
};

/** @throws RingbookError INVALID_ARGUMENT when the file holds no such key or others may read it. */
export function loadCoSigner(path: string): CoSigner {
  const coSigner = coSignerOf(readSecretFile(path));
  if (coSigner === null) {
    throw invalidArgument(`${path} is no key of a co-signer: make one with "ringbook keygen FILE --scheme …"`);
  }
  return coSigner;
}

/** Writes a new key. @param party of `webauthn`: its relying party and origin. @throws an EEXIST error for a file that exists. */
export function createCoSigner(
  path: string,
  kind: KeyKind,
  party: { readonly rpId: string; readonly origin: string } | null = null,
): CoSigner {
  const hex = toHex(generateSecret(SCHEME_OF[kind]));
  if (kind === 'webauthn' && party === null)
    throw invalidArgument('a key of webauthn needs a relying party and an origin');
  const words = kind === 'webauthn' ? [hex, party?.rpId ?? '', party?.origin ?? ''] : [hex];
  const line = kind === 'ed25519' ? hex : `${kind} ${words.join(' ')}`;
  const coSigner = coSignerOf(line);
  if (coSigner === null) throw invalidArgument('a relying party and an origin are words without spaces');
  writeSecretFile(path, line);
  return coSigner;
}

function coSignerOf(line: string): CoSigner | null {
  const words = line.split(' ');
  const [kind, hex = '', ...party] = words.length === 1 ? ['ed25519', line] : words;
  const secret = parseHex(hex, SECRET_BYTES);
  if (secret === null || party.length !== (kind === 'webauthn' ? 2 : 0) || party.includes('')) return null;
  const [rpId = '', origin = ''] = party;
  switch (kind) {
    case 'ed25519':
      return ed25519CoSigner(secret);
    case 'secp256k1':
      return secp256k1CoSigner(secret);
    case 'secp256k1-personal':
      return secp256k1CoSigner(secret, 'personal');
    case 'p256':
      return p256CoSigner(secret);
    case 'webauthn':
      return new SoftwareAuthenticator(secret, { rpId, origin });
    default:
      return null;
  }
}

/** `secp256k1:02ab…` */
export function publicKeyText({ scheme, key }: SignerKey): string {
  return `${scheme.toLowerCase()}:${toHex(key)}`;
}

/** @returns null for a text that is no public key of a known scheme. */
export function parsePublicKey(text: string): SignerKey | null {
  const [name = '', hex = '', ...rest] = text.split(':');
  const scheme = SCHEMES.find((known) => known.toLowerCase() === name.toLowerCase());
  if (scheme === undefined || rest.length > 0) return null;
  const key = parseHex(hex, keyBytesOf(scheme));
  return key === null ? null : { scheme, key };
}
