/**
 * Builds the evidence of an order (EVD-10) from the rows, the tree and a head: the user's rows of the order that the head covers, of
 * an entry of a quote set also those of the set, the public trade of each confirmed fill, and what was signed. `complete` adds all
 * rows of the user between the first and the last of them.
 */
import { isJsonObject, type JsonObject, parseJson } from '../codec/json-tree.ts';
import { readBase64 } from './base64.ts';
import { EVIDENCE_BYTES_MAX, type EvidenceFile, evidenceText } from './evidence-file.ts';
import type { EvidenceRecord } from './file-parts.ts';
import { inclusionProof, type TileReader } from './tree/proofs.ts';
import { entryHash, entryPaths, type RecordLeaf, recordLeaf, type Salts } from './tree/record-leaf.ts';

interface LocatedRow {
  readonly sequence: number;
  readonly index: number;
  readonly bytes: Uint8Array;
}

interface UserRow extends LocatedRow {
  readonly link: { readonly n: number };
}

/** Where rows are read. */
export interface RowSource {
  /** A record with its rows; null when it is gone. */
  record(sequence: number): (RecordLeaf & { readonly rows: readonly Uint8Array[] }) | null;
  /** The user's rows of an order or quote set, in order. */
  orderRows(user: string, order: { readonly assetId: string; readonly orderId: string }): readonly UserRow[];
  /** Rows n to `last` of a user, in order; those that are gone are left out. */
  userRows(user: string, n: number, last: number): Iterable<UserRow>;
}

/** A head that the venue has signed. */
interface IssuedHead {
  /** With cosignatures. */
  readonly note: string;
  readonly size: number;
}

export interface EvidenceContext {
  readonly origin: string;
  /** The sequence of leaf 0. */
  readonly first: number;
  readonly rows: RowSource;
  readonly tiles: TileReader;
  readonly salts: Salts;
  /** Notes of the venue key: certificates and ends of keys of heads. */
  readonly certificates: readonly string[];
  readonly head: IssuedHead;
}

interface EvidenceRequest {
  readonly assetId: string;
  readonly orderId: string;
  readonly user: string;
  readonly isComplete: boolean;
}

/** `unknown`: no row of it. `later`: no row of it is under the head yet. `expired`: rows of it are gone. `tooLarge`: above 4 MiB. */
type EvidenceReply = { readonly text: string } | 'unknown' | 'later' | 'expired' | 'tooLarge';

/** Rows of one evidence: of an order of some thousand fills. */
const ROWS_MAX = 20_000;

export function orderEvidence(context: EvidenceContext, request: EvidenceRequest): EvidenceReply {
  const { rows, head, first } = context;
  const own = rowsOf(rows, request);
  if (own.length === 0) return 'unknown';
  const covered = own.filter(({ sequence }) => sequence - first < head.size);
  const [begin, end] = [covered[0], covered.at(-1)];
  if (begin === undefined || end === undefined) return 'later';
  const wanted = request.isComplete ? allBetween(rows, request.user, begin.link.n, end.link.n) : covered;
  if (wanted === null) return 'expired';
  if (wanted.length > ROWS_MAX) return 'tooLarge';
  const bySequence = new Map<number, UserRow[]>();
  for (const row of wanted) bySequence.set(row.sequence, [...(bySequence.get(row.sequence) ?? []), row]);
  const records: EvidenceRecord[] = [];
  const signed: EvidenceFile['signed'][number][] = [];
  const isSigned = new Set(covered.map(({ link }) => link.n));
  let bytes = 0;
  for (const [sequence, ofRecord] of bySequence) {
    const record = rows.record(sequence);
    if (record === null) return 'expired';
    const made = evidenceRecord(context, record, ofRecord);
    for (const { index, link, bytes: row } of ofRecord) {
      const texts = isSigned.has(link.n) ? signedOf(row) : null;
      if (texts === null) continue;
      signed.push({ entry: [records.length, made.entries.findIndex((entry) => entry.index === index)], ...texts });
    }
    records.push(made);
    bytes += sizeOf(made);
    if (bytes > EVIDENCE_BYTES_MAX) return 'tooLarge';
  }
  const { origin, certificates } = context;
  const { assetId, orderId, user } = request;
  const claim = { assetId, orderId, user };
  const text = evidenceText({ origin, certificates, checkpoint: head.note, claim, records, signed });
  return Buffer.byteLength(text) > EVIDENCE_BYTES_MAX ? 'tooLarge' : { text };
}

/** In the order of their numbers. */
function rowsOf(rows: RowSource, { user, assetId, orderId }: EvidenceRequest): readonly UserRow[] {
  const own = rows.orderRows(user, { assetId, orderId });
  const setEnd = orderId.lastIndexOf(':');
  const ofSet = setEnd < 0 ? [] : rows.orderRows(user, { assetId, orderId: orderId.slice(0, setEnd) });
  return [...own, ...ofSet].sort((one, other) => one.link.n - other.link.n);
}

/** Null when one of them is gone. */
function allBetween(rows: RowSource, user: string, first: number, last: number): readonly UserRow[] | null {
  const all: UserRow[] = [];
  for (const row of rows.userRows(user, first, last)) {
    all.push(row);
    if (all.length > ROWS_MAX) break;
  }
  const isWhole =
    all.every(({ link }, at) => link.n === first + at) && (all.length > ROWS_MAX || all.length === last - first + 1);
  return isWhole ? all : null;
}

function evidenceRecord(
  context: EvidenceContext,
  record: RecordLeaf & { readonly rows: readonly Uint8Array[] },
  own: readonly UserRow[],
): EvidenceRecord {
  const chosen = new Set([...own.map(({ index }) => index), ...tradesOf(record.rows, own)]);
  return provenRecord(
    context,
    record,
    [...chosen].sort((one, other) => one - other),
  );
}

/** A record with some of its rows, proven under the head of the context. @param indexes of rows, rising. */
export function provenRecord(
  { salts, tiles, head, first }: Pick<EvidenceContext, 'salts' | 'tiles' | 'head' | 'first'>,
  record: RecordLeaf & { readonly rows: readonly Uint8Array[] },
  indexes: readonly number[],
): EvidenceRecord {
  const { sequence } = record;
  const hashes = record.rows.map((row, index) =>
    entryHash({ sequence, index, salt: salts.salt(sequence, index) }, row),
  );
  const paths = entryPaths(hashes, indexes);
  return {
    leaf: recordLeaf(record),
    index: sequence - first,
    path: inclusionProof(tiles, sequence - first, head.size),
    entries: indexes.map((index, at) => ({
      index,
      salt: salts.salt(sequence, index),
      row: record.rows[index] as Uint8Array,
      path: paths[at] ?? [],
    })),
  };
}

/** Indexes of the public trades of confirmed fills. */
function tradesOf(rows: readonly Uint8Array[], own: readonly UserRow[]): readonly number[] {
  const fills = own.map(({ bytes }) => membersOf(bytes)).filter((row) => row?.get('status') === 'Confirmed');
  if (fills.length === 0) return [];
  const key = (row: JsonObject | null): string => `${String(row?.get('asset_id'))}/${String(row?.get('trade_id'))}`;
  const wanted = new Set(fills.map(key));
  return rows.flatMap((bytes, index) => {
    if (!isTrade(bytes)) return [];
    return wanted.has(key(membersOf(bytes))) ? [index] : [];
  });
}

/** Rows are written with their members in one order (row-kinds.ts), so that the kind stands near the beginning. */
function isTrade(row: Uint8Array): boolean {
  return Buffer.from(row.buffer, row.byteOffset, Math.min(row.length, 200)).includes('"kind":"trade"');
}

function membersOf(row: Uint8Array): JsonObject | null {
  const parsed = parseJson(row, { fractions: 'text' });
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : null;
}

/** The text that the row of an order or a quote set has, and its signatures. */
function signedOf(row: Uint8Array): { readonly text: Uint8Array; readonly signatures: Uint8Array } | null {
  const members = membersOf(row);
  const [text, encoded] = [members?.get('text'), members?.get('signatures')];
  const signatures = typeof encoded === 'string' ? readBase64(encoded) : null;
  return typeof text !== 'string' || signatures === null ? null : { text: Buffer.from(text, 'utf8'), signatures };
}

/** About what it takes in the file. */
function sizeOf({ entries, path }: EvidenceRecord): number {
  const ofEntries = entries.reduce((sum, entry) => sum + entry.row.length * 1.4 + 45 * (entry.path.length + 2), 0);
  return 200 + 45 * path.length + ofEntries;
}
