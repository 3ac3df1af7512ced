/**
 * What files of evidence have in common (EVD-10, LIA-05): one line of compact JSON with its members in one order, hashes in base64, and
 * records of the log with rows under them. It is read strictly: unknown, missing or repeated members, another order, spaces, other base64 than the
 * canonical one are errors, so that there is one text for each content.
 */
import { isJsonObject, type JsonValue, parseJson } from '../codec/json-tree.ts';
import { base64Of, readBase64 } from './base64.ts';
import { TREE_HASH_BYTES } from './tree/hashes.ts';
import { RECORD_LEAF_BYTES, SALT_BYTES } from './tree/record-leaf.ts';
import { readSize } from './venue-notes.ts';

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

const paths = (path: readonly Uint8Array[]): readonly string[] => path.map(base64Of);

/** As it stands in a file. */
export function recordValue({ leaf, index, path, entries }: EvidenceRecord): Readonly<Record<string, unknown>> {
  return {
    leaf: base64Of(leaf),
    index: String(index),
    path: paths(path),
    entries: entries.map((entry) => ({
      index: entry.index,
      salt: base64Of(entry.salt),
      row: base64Of(entry.row),
      path: paths(entry.path),
    })),
  };
}

class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

/** @throws for a file that is not readable; `readStrict` catches it. */
export function fail(what: string): never {
  throw new Unreadable(what);
}

/** Exactly these members, in this order. */
export function strictMembers(
  value: JsonValue | undefined,
  names: readonly string[],
  what: string,
): ReadonlyMap<string, JsonValue> {
  if (!isJsonObject(value)) return fail(`${what} is no object`);
  const found = [...value.keys()];
  if (found.join() !== names.join())
    return fail(`${what} has the members ${found.join(', ')} and not ${names.join(', ')}`);
  return value;
}

export function strictList(value: JsonValue | undefined, what: string): readonly JsonValue[] {
  return Array.isArray(value) ? value : fail(`${what} is no list`);
}

export function strictText(value: JsonValue | undefined, what: string): string {
  return typeof value === 'string' ? value : fail(`${what} is no string`);
}

export function strictBytes(value: JsonValue | undefined, what: string, length: number | null = null): Uint8Array {
  const decoded = readBase64(strictText(value, what));
  if (decoded === null) return fail(`${what} is no canonical base64`);
  return length === null || decoded.length === length
    ? decoded
    : fail(`${what} has ${decoded.length} bytes, not ${length}`);
}

export function strictCount(value: JsonValue | undefined, what: string): number {
  return typeof value === 'bigint' && value >= 0n && value < 1n << 32n ? Number(value) : fail(`${what} is no u32`);
}

function path(value: JsonValue | undefined, what: string): readonly Uint8Array[] {
  return strictList(value, what).map((hash) => strictBytes(hash, `a hash of ${what}`, TREE_HASH_BYTES));
}

export function readRecord(value: JsonValue, at: number): EvidenceRecord {
  const what = `record ${at}`;
  const record = strictMembers(value, ['leaf', 'index', 'path', 'entries'], what);
  return {
    leaf: strictBytes(record.get('leaf'), `the leaf of ${what}`, RECORD_LEAF_BYTES),
    index:
      readSize(strictText(record.get('index'), `the index of ${what}`)) ?? fail(`the index of ${what} is no number`),
    path: path(record.get('path'), `the path of ${what}`),
    entries: strictList(record.get('entries'), `entries of ${what}`).map((each, number) =>
      readEntry(each, `${what}, entry ${number}`),
    ),
  };
}

function readEntry(value: JsonValue, what: string): EvidenceEntry {
  const entry = strictMembers(value, ['index', 'salt', 'row', 'path'], what);
  return {
    index: strictCount(entry.get('index'), `the index of ${what}`),
    salt: strictBytes(entry.get('salt'), `the salt of ${what}`, SALT_BYTES),
    row: strictBytes(entry.get('row'), `the row of ${what}`),
    path: path(entry.get('path'), `the path of ${what}`),
  };
}

/**
 * Reads a file.
 *
 * @param read takes the members of the parsed file. @param write the one text of what was read, with a newline at its end.
 * @returns the file, or why its bytes are none.
 */
export function readStrict<File>(
  from: Uint8Array,
  bytesMax: number,
  { read, write }: { readonly read: (tree: JsonValue) => File; readonly write: (file: File) => string },
): File | string {
  if (from.length > bytesMax) return `it has ${from.length} bytes, more than ${bytesMax / 1_048_576} MiB`;
  const parsed = parseJson(from);
  if (!parsed.ok) return `it is no strict JSON: ${parsed.reject.message}`;
  try {
    const file = read(parsed.value);
    const written = new TextEncoder().encode(write(file));
    const isSame = written.length === from.length && written.every((byte, at) => byte === from[at]);
    return isSame ? file : 'it is not written in the one way in which this evidence is written';
  } catch (error) {
    if (error instanceof Unreadable) return error.message;
    throw error;
  }
}
