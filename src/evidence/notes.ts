/**
 * Signed notes and verifier keys of C2SP (signed-note, tlog-checkpoint, tlog-cosignature): Ed25519 (type 0x01) and timestamped
 * cosignatures of witnesses (type 0x04).
 *
 *   note   text, which ends with a newline ‖ newline ‖ lines "— <key name> <base64 of key id 4 ‖ signature>\n"
 *   vkey   "<key name>+<key id, 8 hex digits>+<base64 of type 1 ‖ public key 32>"; id = SHA-256(name ‖ "\n" ‖ type ‖ key)[:4]
 *   key    "PRIVATE+KEY+<key name>+<key id>+<base64 of type 1 ‖ seed 32>", as Go's sumdb/note writes it
 */

import { base64Of, readBase64 } from './base64.ts';
import { ed25519PublicKey, ed25519Sign, ed25519Verify, sha256 } from './platform.ts';
import { readU64, writeU64 } from './tree/record-leaf.ts';

export const NOTE_TYPE = { ed25519: 0x01, cosignature: 0x04 } as const;
type NoteType = (typeof NOTE_TYPE)[keyof typeof NOTE_TYPE];

/** A certificate has 300 bytes; a head with 16 cosignatures 3 KiB. */
const NOTE_BYTES_MAX = 65_536;
const SIGNATURES_MAX = 64;
const KEY_NAME_BYTES_MAX = 255;
const KEY_BYTES = 32;
const ID_BYTES = 4;
const SIGNATURE_BYTES = 64;
const TIME_BYTES = 8;
const PRIVATE_HEAD = 'PRIVATE+KEY+';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A public key that a verifier trusts. */
export interface VerifierKey {
  readonly name: string;
  /** 8 hex digits. */
  readonly id: string;
  readonly type: NoteType;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** A key that signs notes. */
export interface NoteSigner {
  readonly key: VerifierKey;
  /** 32 bytes. */
  readonly seed: Uint8Array;
}

interface NoteSignature {
  readonly name: string;
  /** 8 hex digits. */
  readonly id: string;
  /** Without the id. */
  readonly bytes: Uint8Array;
}

export interface Note {
  /** With its last newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** Whether `name` can be that of a key: no spaces, no plus, no controls, 1 to 255 bytes of UTF-8. */
export function isKeyName(name: string): boolean {
  const bytes = utf8(name);
  if (bytes.length === 0 || bytes.length > KEY_NAME_BYTES_MAX) return false;
  return !/[\p{White_Space}\p{Cc}\p{Cs}+]/u.test(name);
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The verifier of a public key of 32 bytes. @param name one that `isKeyName` takes. */
export function verifierKey(name: string, type: NoteType, publicKey: Uint8Array): VerifierKey {
  const id = sha256(joined(utf8(name), Uint8Array.of(0x0a, type), publicKey)).subarray(0, ID_BYTES);
  return { name, type, publicKey, id: hexOf(id) };
}

export function vkeyText({ name, id, type, publicKey }: VerifierKey): string {
  return `${name}+${id}+${base64Of(joined(Uint8Array.of(type), publicKey))}`;
}

/** @returns null unless `text` is a vkey of one of the two types, with the id of its key. */
export function readVkey(text: string): VerifierKey | null {
  const [name = '', id = '', ...rest] = text.split('+');
  const bytes = readBase64(rest.join('+'));
  const type = bytes?.[0];
  if (bytes === null || bytes.length !== 1 + KEY_BYTES || !isKeyName(name)) return null;
  if (type !== NOTE_TYPE.ed25519 && type !== NOTE_TYPE.cosignature) return null;
  const key = verifierKey(name, type, bytes.slice(1));
  return key.id === id ? key : null;
}

/** A signer of Ed25519. @param seed 32 bytes. */
export function noteSigner(name: string, seed: Uint8Array): NoteSigner {
  return { key: verifierKey(name, NOTE_TYPE.ed25519, ed25519PublicKey(seed)), seed };
}

/** The line of a key file. */
export function signerText({ key, seed }: NoteSigner): string {
  return `${PRIVATE_HEAD}${key.name}+${key.id}+${base64Of(joined(Uint8Array.of(key.type), seed))}`;
}

/** The signer of the line of a key file; null when it is none. */
export function readSigner(line: string): NoteSigner | null {
  if (!line.startsWith(PRIVATE_HEAD)) return null;
  const [name = '', id = '', ...rest] = line.slice(PRIVATE_HEAD.length).split('+');
  const bytes = readBase64(rest.join('+'));
  if (bytes === null || bytes.length !== 1 + KEY_BYTES || bytes[0] !== NOTE_TYPE.ed25519 || !isKeyName(name))
    return null;
  const signer = noteSigner(name, bytes.slice(1));
  return signer.key.id === id ? signer : null;
}

function signatureLine({ name, id }: VerifierKey, signature: Uint8Array): string {
  const bytes = Uint8Array.from({ length: ID_BYTES }, (_, index) =>
    Number.parseInt(id.slice(2 * index, 2 * index + 2), 16),
  );
  return `\u2014 ${name} ${base64Of(joined(bytes, signature))}\n`;
}

/** @param text ends with a newline. @returns the note, with one signature. */
export function signNote(text: string, { key, seed }: NoteSigner): string {
  return `${text}\n${signatureLine(key, ed25519Sign(seed, utf8(text)))}`;
}

/** What a witness signs of a checkpoint. */
function cosignedText(text: string, timeSeconds: number): Uint8Array {
  return utf8(`cosignature/v1\ntime ${timeSeconds}\n${text}`);
}

/** The signature line of a witness. @param signer its key; its type is taken for that of cosignatures. */
export function cosignature(text: string, { key, seed }: NoteSigner, timeSeconds: number): string {
  const time = new Uint8Array(TIME_BYTES);
  writeU64(time, 0, timeSeconds);
  const witness = verifierKey(key.name, NOTE_TYPE.cosignature, key.publicKey);
  return signatureLine(witness, joined(time, ed25519Sign(seed, cosignedText(text, timeSeconds))));
}

/** @returns null unless `text` is a signed note of at most 64 KiB and 64 signatures, in canonical base64. */
export function readNote(text: string): Note | null {
  if (text.length > NOTE_BYTES_MAX || /(?!\n)\p{Cc}|\p{Cs}/u.test(text)) return null;
  const split = text.lastIndexOf('\n\n');
  if (split < 0 || !text.endsWith('\n')) return null;
  const lines = text.slice(split + 2, -1).split('\n');
  if (lines.length > SIGNATURES_MAX) return null;
  const signatures = lines.map(readSignatureLine);
  return signatures.every((each) => each !== null) ? { text: text.slice(0, split + 1), signatures } : null;
}

function readSignatureLine(line: string): NoteSignature | null {
  const [dash, name = '', signature = '', ...more] = line.split(' ');
  const bytes = readBase64(signature);
  if (dash !== '\u2014' || more.length > 0 || !isKeyName(name) || bytes === null || bytes.length <= ID_BYTES)
    return null;
  return { name, id: hexOf(bytes.subarray(0, ID_BYTES)), bytes: bytes.slice(ID_BYTES) };
}

/** What a note says of one key: a known key whose signature is wrong makes the note void (C2SP). */
type NoteSigned = 'valid' | 'invalid' | 'absent';

/** Whether the note is signed by this key of type 0x01. All signatures of the key must be valid. */
export function signedBy(note: Note, key: VerifierKey): NoteSigned {
  const own = note.signatures.filter(({ name, id }) => name === key.name && id === key.id);
  if (own.length === 0) return 'absent';
  const message = utf8(note.text);
  const isValid = (bytes: Uint8Array): boolean =>
    bytes.length === SIGNATURE_BYTES && ed25519Verify(key.publicKey, message, bytes);
  return own.every(({ bytes }) => isValid(bytes)) ? 'valid' : 'invalid';
}

/** When a witness (type 0x04) cosigned, in seconds since 1970; its latest time. */
export function cosignedAt(note: Note, witness: VerifierKey): number | 'invalid' | 'absent' {
  const own = note.signatures.filter(({ name, id }) => name === witness.name && id === witness.id);
  const times = own.map(({ bytes }) => {
    const seconds = bytes.length === TIME_BYTES + SIGNATURE_BYTES ? readU64(bytes, 0) : null;
    if (seconds === null) return null;
    return ed25519Verify(witness.publicKey, cosignedText(note.text, seconds), bytes.subarray(TIME_BYTES))
      ? seconds
      : null;
  });
  if (times.length === 0) return 'absent';
  return times.every((time) => time !== null) ? Math.max(...times) : 'invalid';
}
