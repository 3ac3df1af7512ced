/**
 * What the venue signs: heads of its log (C2SP checkpoints, EVD-06), certificates of log keys and the ends of them (EVD-01).
 *
 *   checkpoint    origin ⏎ size ⏎ base64 root ⏎
 *   certificate   ringbook/log-key/v1 ⏎ origin ⏎ vkey ⏎ use heads|answers ⏎ from <RFC 3339> ⏎ until <RFC 3339> ⏎
 *   end           ringbook/log-key-end/v1 ⏎ origin ⏎ vkey ⏎ size <n> ⏎
 *   request       the first four lines of a certificate, unsigned
 */
import { base64Of, readBase64 } from './base64.ts';
import { NOTE_TYPE, type Note, readNote, readVkey, signedBy, type VerifierKey, vkeyText } from './notes.ts';
import { TREE_HASH_BYTES } from './tree/hashes.ts';
import type { TreeState } from './tree/proofs.ts';

const CERTIFICATE_HEAD = 'ringbook/log-key/v1';
const END_HEAD = 'ringbook/log-key-end/v1';
const NS_PER_MS = 1_000_000n;
export const KEY_USES = ['heads', 'answers'] as const;
export type KeyUse = (typeof KEY_USES)[number];

/** A head of a log. */
export interface LogHead extends TreeState {
  readonly origin: string;
}

export function headText({ origin, size, root }: LogHead): string {
  return `${origin}\n${size}\n${base64Of(root)}\n`;
}

/** A decimal without leading zeros, below 2^53; null for any other text. */
export function readSize(text: string): number | null {
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(text)) return null;
  return Number.isSafeInteger(Number(text)) ? Number(text) : null;
}

/** @returns null unless the text is a checkpoint of exactly three lines. */
export function readLogHead(text: string): LogHead | null {
  const [origin = '', digits = '', encoded = '', end, ...more] = text.split('\n');
  const [size, root] = [readSize(digits), readBase64(encoded)];
  if (end !== '' || more.length > 0 || origin === '' || size === null) return null;
  return root === null || root.length !== TREE_HASH_BYTES ? null : { origin, size, root };
}

/** What a request asks for, and a certificate grants. */
interface LogKey {
  readonly origin: string;
  readonly key: VerifierKey;
  readonly use: KeyUse;
}

export interface Certificate extends LogKey {
  readonly fromNs: bigint;
  /** Exclusive. */
  readonly untilNs: bigint;
}

export function keyRequestText({ origin, key, use }: LogKey): string {
  return `${CERTIFICATE_HEAD}\n${origin}\n${vkeyText(key)}\nuse ${use}\n`;
}

/** @returns null unless the text is a request, with a key of type 0x01 whose name is the origin. */
export function readKeyRequest(text: string): LogKey | null {
  const [head, origin = '', vkey = '', useLine = '', end, ...more] = text.split('\n');
  if (head !== CERTIFICATE_HEAD || end !== '' || more.length > 0) return null;
  return logKeyOf(origin, vkey, useLine);
}

function logKeyOf(origin: string, vkey: string, useLine: string): LogKey | null {
  const key = readVkey(vkey);
  const use = KEY_USES.find((known) => useLine === `use ${known}`);
  if (key === null || use === undefined || key.type !== NOTE_TYPE.ed25519 || key.name !== origin) return null;
  return { origin, key, use };
}

/** `2026-11-27T00:00:00Z`, whole milliseconds at most. */
function timeText(timeNs: bigint): string {
  return new Date(Number(timeNs / NS_PER_MS)).toISOString().replace('.000Z', 'Z');
}

/** @returns null unless it is the text that `timeText` writes. */
function readTime(text: string): bigint | null {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) return null;
  const timeNs = BigInt(ms) * NS_PER_MS;
  return timeText(timeNs) === text ? timeNs : null;
}

export function certificateText({ fromNs, untilNs, ...logKey }: Certificate): string {
  return `${keyRequestText(logKey)}from ${timeText(fromNs)}\nuntil ${timeText(untilNs)}\n`;
}

/** The certificate of a note's text; its signature is for the caller to verify. */
function readCertificate(text: string): Certificate | null {
  const [head, origin = '', vkey = '', useLine = '', from = '', until = '', end, ...more] = text.split('\n');
  if (head !== CERTIFICATE_HEAD || end !== '' || more.length > 0) return null;
  const logKey = logKeyOf(origin, vkey, useLine);
  const fromNs = from.startsWith('from ') ? readTime(from.slice(5)) : null;
  const untilNs = until.startsWith('until ') ? readTime(until.slice(6)) : null;
  return logKey === null || fromNs === null || untilNs === null || fromNs >= untilNs
    ? null
    : { ...logKey, fromNs, untilNs };
}

/** Heads of this key above the size are void. */
export interface KeyEnd {
  readonly origin: string;
  readonly key: VerifierKey;
  readonly size: number;
}

export function keyEndText({ origin, key, size }: KeyEnd): string {
  return `${END_HEAD}\n${origin}\n${vkeyText(key)}\nsize ${size}\n`;
}

function readKeyEnd(text: string): KeyEnd | null {
  const [head, origin = '', vkey = '', sizeLine = '', end, ...more] = text.split('\n');
  const key = readVkey(vkey);
  const size = sizeLine.startsWith('size ') ? readSize(sizeLine.slice(5)) : null;
  if (head !== END_HEAD || end !== '' || more.length > 0) return null;
  return key === null || size === null || key.name !== origin ? null : { origin, key, size };
}

/** What a note of the venue key grants or ends. */
type VenueNote = ({ readonly kind: 'certificate' } & Certificate) | ({ readonly kind: 'end' } & KeyEnd);

/**
 * @param venueKey the key that the caller pinned: its name is the origin.
 * @returns null unless `text` is a certificate or an end of this origin with a valid signature of this key.
 */
export function readVenueNote(text: string, venueKey: VerifierKey): VenueNote | null {
  const note = readNote(text);
  if (note === null || signedBy(note, venueKey) !== 'valid') return null;
  const certificate = readCertificate(note.text);
  const end = certificate === null ? readKeyEnd(note.text) : null;
  const origin = certificate?.origin ?? end?.origin;
  if (origin !== venueKey.name) return null;
  if (certificate !== null) return { kind: 'certificate', ...certificate };
  return end === null ? null : { kind: 'end', ...end };
}

/** A head that was read from a note. */
export interface SignedHead {
  readonly note: Note;
  readonly head: LogHead;
}

/** @returns null unless the text is a note whose text is a checkpoint; signatures are not verified. */
export function readSignedHead(text: string): SignedHead | null {
  const note = readNote(text);
  const head = note === null ? null : readLogHead(note.text);
  return note === null || head === null ? null : { note, head };
}
