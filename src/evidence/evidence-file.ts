/**
 * The evidence of an order as a file (EVD-10): one line of compact JSON, members in the order of this module, hashes in base64. It is
 * read strictly: unknown, missing or repeated members, another order, spaces, other base64 than the canonical one are errors, so that
 * there is one text for each evidence.
 */
import { isJsonObject, type JsonValue, parseJson } from '../codec/json-tree.ts';
import { base64Of, readBase64 } from './base64.ts';
import { TREE_HASH_BYTES } from './tree/hashes.ts';
import { RECORD_LEAF_BYTES, SALT_BYTES } from './tree/record-leaf.ts';
import { readSize } from './venue-notes.ts';

export const EVIDENCE_BYTES_MAX: number = 4 * 1024 * 1024;

export interface EvidenceEntry {
  readonly index: number;
  readonly salt: Uint8Array;
  /** The row's bytes, without a newline. */
  readonly row: Uint8Array;
  readonly path: readonly Uint8Array[];
}

export interface EvidenceRecord {
  /** 111 bytes. */
  readonly leaf: Uint8Array;
  readonly index: number;
  readonly path: readonly Uint8Array[];
  readonly entries: readonly EvidenceEntry[];
}

interface SignedText {
  /** Its place: record and entry in this file. */
  readonly entry: readonly [number, number];
  readonly text: Uint8Array;
  /** As they are stored: 64 bytes, or the form with co-signers. */
  readonly signatures: Uint8Array;
}

interface Claim {
  readonly assetId: string;
  readonly orderId: string;
  readonly user: string;
}

export interface EvidenceFile {
  readonly origin: string;
  /** Notes of the venue key. */
  readonly certificates: readonly string[];
  /** A note with cosignatures. */
  readonly checkpoint: string;
  readonly claim: Claim;
  readonly records: readonly EvidenceRecord[];
  readonly signed: readonly SignedText[];
}

const paths = (path: readonly Uint8Array[]): readonly string[] => path.map(base64Of);

/** The text of the file, with a newline at its end. */
export function evidenceText({ origin, certificates, checkpoint, claim, records, signed }: EvidenceFile): string {
  const { assetId: asset_id, orderId: order_id, user } = claim;
  const value = {
    v: 1,
    origin,
    certificates,
    checkpoint,
    claim: { asset_id, order_id, user },
    records: records.map(({ leaf, index, path, entries }) => ({
      leaf: base64Of(leaf),
      index: String(index),
      path: paths(path),
      entries: entries.map((entry) => ({
        index: entry.index,
        salt: base64Of(entry.salt),
        row: base64Of(entry.row),
        path: paths(entry.path),
      })),
    })),
    signed: signed.map(({ entry, text, signatures }) => ({
      entry,
      text: base64Of(text),
      signatures: base64Of(signatures),
    })),
  };
  return `${JSON.stringify(value)}\n`;
}

class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

const fail = (what: string): never => {
  throw new Unreadable(what);
};

/** Exactly these members, in this order. */
function members(value: JsonValue | undefined, names: readonly string[], what: string): ReadonlyMap<string, JsonValue> {
  if (!isJsonObject(value)) return fail(`${what} is no object`);
  const found = [...value.keys()];
  if (found.join() !== names.join())
    return fail(`${what} has the members ${found.join(', ')} and not ${names.join(', ')}`);
  return value;
}

function list(value: JsonValue | undefined, what: string): readonly JsonValue[] {
  return Array.isArray(value) ? value : fail(`${what} is no list`);
}

function text(value: JsonValue | undefined, what: string): string {
  return typeof value === 'string' ? value : fail(`${what} is no string`);
}

function bytes(value: JsonValue | undefined, what: string, length: number | null = null): Uint8Array {
  const decoded = readBase64(text(value, what));
  if (decoded === null) return fail(`${what} is no canonical base64`);
  return length === null || decoded.length === length
    ? decoded
    : fail(`${what} has ${decoded.length} bytes, not ${length}`);
}

function count(value: JsonValue | undefined, what: string): number {
  return typeof value === 'bigint' && value >= 0n && value < 1n << 32n ? Number(value) : fail(`${what} is no u32`);
}

function path(value: JsonValue | undefined, what: string): readonly Uint8Array[] {
  return list(value, what).map((hash) => bytes(hash, `a hash of ${what}`, TREE_HASH_BYTES));
}

function readRecord(value: JsonValue, at: number): EvidenceRecord {
  const what = `record ${at}`;
  const record = members(value, ['leaf', 'index', 'path', 'entries'], what);
  return {
    leaf: bytes(record.get('leaf'), `the leaf of ${what}`, RECORD_LEAF_BYTES),
    index: readSize(text(record.get('index'), `the index of ${what}`)) ?? fail(`the index of ${what} is no number`),
    path: path(record.get('path'), `the path of ${what}`),
    entries: list(record.get('entries'), `entries of ${what}`).map((each, number) =>
      readEntry(each, `${what}, entry ${number}`),
    ),
  };
}

function readEntry(value: JsonValue, what: string): EvidenceEntry {
  const entry = members(value, ['index', 'salt', 'row', 'path'], what);
  return {
    index: count(entry.get('index'), `the index of ${what}`),
    salt: bytes(entry.get('salt'), `the salt of ${what}`, SALT_BYTES),
    row: bytes(entry.get('row'), `the row of ${what}`),
    path: path(entry.get('path'), `the path of ${what}`),
  };
}

function readSigned(value: JsonValue, at: number): SignedText {
  const what = `signed text ${at}`;
  const signed = members(value, ['entry', 'text', 'signatures'], what);
  const [record, entry, ...more] = list(signed.get('entry'), `the entry of ${what}`);
  if (more.length > 0) fail(`the entry of ${what} is no pair`);
  return {
    entry: [count(record, `the record of ${what}`), count(entry, `the entry of ${what}`)],
    text: bytes(signed.get('text'), what),
    signatures: bytes(signed.get('signatures'), `the signatures of ${what}`),
  };
}

function readMembers(tree: JsonValue): EvidenceFile {
  const file = members(tree, ['v', 'origin', 'certificates', 'checkpoint', 'claim', 'records', 'signed'], 'the file');
  if (file.get('v') !== 1n) fail('the file is not of version 1');
  const claim = members(file.get('claim'), ['asset_id', 'order_id', 'user'], 'the claim');
  return {
    origin: text(file.get('origin'), 'origin'),
    certificates: list(file.get('certificates'), 'certificates').map((note) => text(note, 'a certificate')),
    checkpoint: text(file.get('checkpoint'), 'checkpoint'),
    claim: {
      assetId: text(claim.get('asset_id'), 'asset_id'),
      orderId: text(claim.get('order_id'), 'order_id'),
      user: text(claim.get('user'), 'user'),
    },
    records: list(file.get('records'), 'records').map(readRecord),
    signed: list(file.get('signed'), 'signed').map(readSigned),
  };
}

/** @returns the file, or why its bytes are none. */
export function readEvidence(from: Uint8Array): EvidenceFile | string {
  if (from.length > EVIDENCE_BYTES_MAX) return `it has ${from.length} bytes, more than 4 MiB`;
  const parsed = parseJson(from);
  if (!parsed.ok) return `it is no strict JSON: ${parsed.reject.message}`;
  try {
    const file = readMembers(parsed.value);
    const written = new TextEncoder().encode(evidenceText(file));
    const isSame = written.length === from.length && written.every((byte, at) => byte === from[at]);
    return isSame ? file : 'it is not written in the one way in which this evidence is written';
  } catch (error) {
    if (error instanceof Unreadable) return error.message;
    throw error;
  }
}
