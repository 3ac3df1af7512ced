/**
 * WebAuthn assertions as co-signatures (wire.md G10, MSG-22 to MSG-27): bytes of
 *
 *   {"authenticatorData":"…","clientDataJSON":"…","signature":"…"}     each base64url
 *
 * The signature is ECDSA over P-256 of `authenticatorData ‖ SHA-256(clientDataJSON)`, as 64 bytes or DER. Checked
 * besides: the user-present flag, the type, the hash of the relying party, the origin, and that the challenge is the
 * signed text itself, as base64url without padding. User verification is not required, and the counter is not kept
 * (AMB-119). Refused besides: what was signed inside of a frame of another site, bytes behind the authenticator's data,
 * flags that contradict each other.
 *
 * Without a policy, no assertion is valid.
 */
import { createHash } from 'node:crypto';
import { JsonCursor } from '../codec/json-cursor.ts';
import { objectShape } from '../codec/json-shape.ts';
import { ASSERTION_BYTES_MAX } from '../codec/signatures.ts';
import { verifyP256 } from './p256.ts';

/** The relying party and the origins of valid assertions: `webauthn` of the configuration (operator-api.md 1). */
export interface WebAuthnPolicy {
  readonly rpId: string;
  readonly origins: readonly string[];
}

interface Assertion {
  readonly authenticatorData: Buffer;
  readonly clientDataJson: Buffer;
  readonly signature: Buffer;
}

interface ClientData {
  readonly type: string;
  readonly challenge: string;
  readonly origin: string;
  /** The page was in a frame of another origin, which may lay anything over it. */
  readonly isFramed: boolean;
}

const ASSERTION = objectShape('refuse', ['authenticatorData', 'clientDataJSON', 'signature']);
/** Browsers add members of their own. */
const CLIENT_DATA = objectShape('skip', ['type', 'challenge', 'origin', 'crossOrigin?', 'topOrigin?']);
const TYPE = 'webauthn.get';
/** Hash of the relying party, flags, counter. */
const AUTHENTICATOR_DATA_BYTES = 37;
const RP_ID_HASH_BYTES = 32;
/** Flags of authenticatorData (WebAuthn L2, 6.1). */
const USER_PRESENT = 0x01;
const MAY_BE_BACKED_UP = 0x08;
const IS_BACKED_UP = 0x10;
/** Attested credential data or extensions follow behind the counter. */
const HAS_MORE = 0xc0;
const RAW_SIGNATURE_BYTES = 64;
const PADDING = /={1,2}$/;

const cursor = new JsonCursor();

/** @param key 33 bytes, a compressed point of P-256. @returns false for anything malformed. */
export function verifyAssertion(
  bytes: Uint8Array,
  text: Uint8Array,
  { key, policy }: { readonly key: Uint8Array; readonly policy: WebAuthnPolicy | null },
): boolean {
  if (policy === null || bytes.length > ASSERTION_BYTES_MAX) return false;
  const assertion = readAssertion(bytes);
  if (assertion === null) return false;
  const clientData = readClientData(assertion.clientDataJson);
  return (
    clientData !== null &&
    isOfPolicy(assertion.authenticatorData, clientData, policy) &&
    clientData.challenge === Buffer.from(text).toString('base64url') &&
    isSigned(assertion, key)
  );
}

function isOfPolicy(authenticatorData: Buffer, clientData: ClientData, policy: WebAuthnPolicy): boolean {
  return (
    isWellFormed(authenticatorData) &&
    clientData.type === TYPE &&
    !clientData.isFramed &&
    policy.origins.includes(clientData.origin) &&
    sha256(Buffer.from(policy.rpId, 'utf8')).equals(authenticatorData.subarray(0, RP_ID_HASH_BYTES))
  );
}

/** Whether a user was present, and the flags agree with each other and with the length. */
function isWellFormed({ length, [RP_ID_HASH_BYTES]: flags = 0 }: Buffer): boolean {
  const hasMore = (flags & HAS_MORE) !== 0;
  const isLong = length > AUTHENTICATOR_DATA_BYTES;
  const isBackupPossible = (flags & IS_BACKED_UP) === 0 || (flags & MAY_BE_BACKED_UP) !== 0;
  return length >= AUTHENTICATOR_DATA_BYTES && hasMore === isLong && (flags & USER_PRESENT) !== 0 && isBackupPossible;
}

function isSigned({ authenticatorData, clientDataJson, signature }: Assertion, key: Uint8Array): boolean {
  const signed = Buffer.concat([authenticatorData, sha256(clientDataJson)]);
  // A DER signature may have 64 bytes too, with two short numbers.
  if (signature.length === RAW_SIGNATURE_BYTES && verifyP256(signature, signed, key, 'raw')) return true;
  return verifyP256(signature, signed, key, 'der');
}

function readAssertion(bytes: Uint8Array): Assertion | null {
  let authenticatorData: Buffer | null = null;
  let clientDataJson: Buffer | null = null;
  let signature: Buffer | null = null;
  cursor.reset(bytes, 0, bytes.length);
  cursor.enterObject();
  for (let name = cursor.nextMember(ASSERTION); name !== null; name = cursor.nextMember(ASSERTION)) {
    const value = decodeBase64Url(cursor.readString());
    if (name === 'authenticatorData') authenticatorData = value;
    else if (name === 'clientDataJSON') clientDataJson = value;
    else signature = value;
  }
  if (!cursor.finish() || authenticatorData === null || clientDataJson === null || signature === null) return null;
  return { authenticatorData, clientDataJson, signature };
}

function readClientData(json: Buffer): ClientData | null {
  const read = { type: '', challenge: '', origin: '', isFramed: false };
  cursor.reset(json, 0, json.length);
  cursor.enterObject();
  for (let name = cursor.nextMember(CLIENT_DATA); name !== null; name = cursor.nextMember(CLIENT_DATA)) {
    if (name === 'crossOrigin') read.isFramed ||= cursor.readBoolean();
    else if (name === 'topOrigin') {
      cursor.skipValue();
      read.isFramed = true;
    } else read[name] = cursor.readString();
  }
  return cursor.finish() ? read : null;
}

/** @param text with or without padding. @returns null unless it is the one encoding of its bytes. */
function decodeBase64Url(text: string): Buffer | null {
  const bare = text.length % 4 === 0 ? text.replace(PADDING, '') : text;
  const bytes = Buffer.from(bare, 'base64url');
  return bytes.toString('base64url') === bare ? bytes : null;
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
