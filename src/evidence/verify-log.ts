/**
 * What a file of evidence proves to be in the log (EVD-11, checks 1 to 5): records and rows under a head that a certified key has
 * signed, under a venue key that the caller pinned. It runs in Node.js and in a browser; nothing is believed that is not signed or hashed.
 */
import { isJsonObject, type JsonObject, parseJson } from '../codec/json-tree.ts';
import { toHex } from '../core/hex.ts';
import type { EvidenceEntry, EvidenceRecord } from './file-parts.ts';
import { cosignedAt, signedBy, type VerifierKey } from './notes.ts';
import { sha256 } from './platform.ts';
import { isSameHash } from './tree/hashes.ts';
import { rootOfPath } from './tree/proofs.ts';
import { entryHash, type RecordLeaf, readRecordLeaf } from './tree/record-leaf.ts';
import { type Certificate, type KeyEnd, readSignedHead, readVenueNote, type SignedHead } from './venue-notes.ts';

/** The part of a file that every kind of evidence has. */
interface LogProof {
  readonly origin: string;
  /** Notes of the venue key. */
  readonly certificates: readonly string[];
  /** A note with cosignatures. */
  readonly checkpoint: string;
  readonly records: readonly EvidenceRecord[];
}

export interface LogOptions {
  readonly venueKey: VerifierKey;
  readonly witnesses: readonly VerifierKey[];
  /** How many of them must have cosigned. */
  readonly quorum: number;
  /** End notes that the caller knows beside those of the file. */
  readonly ends: readonly string[];
}

/** Everything that checks 1 to 5 have shown. */
interface ProvenLog {
  readonly signed: SignedHead;
  readonly keys: Keys;
  /** One a record of the file. */
  readonly leaves: readonly RecordLeaf[];
  readonly rows: readonly ProvenRow[];
  readonly witnessed: Witnessed;
}

/** `wrong` is a fault of the evidence, with the number of the check; `unreadable` says nothing about the venue. */
export type EvidenceVerdict =
  | { readonly kind: 'true'; readonly sentence: string }
  | { readonly kind: 'wrong'; readonly check: number; readonly reason: string }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** A check that fails; `verdictOf` catches it. */
export class Wrong extends Error {
  override readonly name = 'Wrong';
  readonly check: number;

  constructor(check: number, reason: string) {
    super(reason);
    this.check = check;
  }
}

/** @throws Wrong */
export function hold(check: number, isTrue: boolean, reason: string): asserts isTrue {
  if (!isTrue) throw new Wrong(check, reason);
}

/** One row whose place in the log is proven. */
export interface ProvenRow {
  readonly record: number;
  readonly entry: number;
  readonly leaf: RecordLeaf;
  readonly hash: Uint8Array;
  readonly members: JsonObject;
  readonly kind: string;
}

/** What a verification says. @param prove throws Wrong at the first check that fails. */
export function verdictOf(prove: () => string): EvidenceVerdict {
  try {
    return { kind: 'true', sentence: prove() };
  } catch (error) {
    if (error instanceof Wrong) return { kind: 'wrong', check: error.check, reason: error.message };
    throw error;
  }
}

/** Checks 1 to 5. @throws Wrong */
export function provenLog(file: LogProof, options: LogOptions): ProvenLog {
  const { venueKey } = options;
  hold(1, file.origin === venueKey.name, `the origin is ${file.origin}, and the venue key is of ${venueKey.name}`);
  const signed = readSignedHead(file.checkpoint);
  hold(2, signed !== null && signed.head.origin === file.origin, 'the checkpoint is no head of this origin');
  const leaves = recordsOf(file, signed);
  const keys = certifiedKeys(file.certificates, options);
  headIsSigned(signed, keys, leaves.at(-1) as RecordLeaf);
  const witnessed = countWitnesses(signed, options);
  const rows = file.records.flatMap((record, at) => rowsOf(record, at, leaves[at] as RecordLeaf));
  return { signed, keys, leaves, rows, witnessed };
}

// 2

export interface Keys {
  readonly certificates: readonly Certificate[];
  readonly ends: readonly KeyEnd[];
}

function certifiedKeys(notes: readonly string[], { venueKey, ends }: LogOptions): Keys {
  const read = [...notes, ...ends].map((note) => readVenueNote(note, venueKey));
  const certificates: Certificate[] = [];
  const ended: KeyEnd[] = [];
  for (const note of read) {
    hold(2, note !== null, 'a certificate is not one of this origin signed by the venue key');
    if (note.kind === 'end') ended.push(note);
    else {
      hold(2, note.use === 'heads', 'a certificate is of a key that signs answers and no heads');
      certificates.push(note);
    }
  }
  return { certificates, ends: ended };
}

function isOfKey(key: VerifierKey, other: VerifierKey): boolean {
  return key.name === other.name && key.id === other.id && isSameHash(key.publicKey, other.publicKey);
}

function headIsSigned({ note, head }: SignedHead, { certificates, ends }: Keys, newest: RecordLeaf): void {
  const signers = certificates.filter(({ key }) => {
    const signed = signedBy(note, key);
    hold(2, signed !== 'invalid', 'a signature of a certified key in the checkpoint is wrong');
    return signed === 'valid';
  });
  hold(2, signers.length > 0, 'no certified key has signed the checkpoint');
  const inTime = signers.filter(({ fromNs, untilNs }) => fromNs <= newest.timeNs && newest.timeNs < untilNs);
  hold(2, inTime.length > 0, 'the key that signed the checkpoint was not certified for the time of the newest record');
  const isEnded = ({ key }: Certificate): boolean => ends.some((end) => isOfKey(end.key, key) && head.size > end.size);
  hold(2, !inTime.every(isEnded), 'the key that signed the checkpoint had ended before this size');
}

// 3

export interface Witnessed {
  readonly count: number;
  /** Seconds since 1970 by which so many had seen the head as the quorum demands; null for none. */
  readonly byTime: number | null;
}

function countWitnesses({ note }: SignedHead, { witnesses, quorum }: LogOptions): Witnessed {
  const keys = new Map(witnesses.map((witness) => [toHex(witness.publicKey), witness]));
  const times: number[] = [];
  for (const witness of keys.values()) {
    const time = cosignedAt(note, witness);
    hold(3, time !== 'invalid', `the cosignature of ${witness.name} is wrong`);
    if (time !== 'absent') times.push(time);
  }
  hold(3, times.length >= quorum, `${times.length} of the witnesses have cosigned, and ${quorum} are demanded`);
  times.sort((one, other) => one - other);
  return { count: times.length, byTime: times[Math.max(quorum, 1) - 1] ?? null };
}

// 4

function recordsOf({ records }: LogProof, { head }: SignedHead): readonly RecordLeaf[] {
  hold(4, records.length > 0, 'there is no record');
  const leaves = records.map(({ leaf: bytes, index, path }) => {
    const leaf = readRecordLeaf(bytes);
    hold(4, leaf !== null, 'a leaf is not that of a record');
    hold(4, index < head.size, `record ${leaf.sequence} is behind the head`);
    const root = rootOfPath(index, head.size, sha256(Uint8Array.of(0, ...bytes)), path);
    hold(4, root !== null && isSameHash(root, head.root), `record ${leaf.sequence} is not under the head`);
    return leaf;
  });
  leaves.forEach((leaf, at) => {
    const [before, index] = [leaves[at - 1], records[at]?.index ?? 0];
    const [first, firstIndex] = [leaves[0] ?? leaf, records[0]?.index ?? 0];
    hold(4, leaf.sequence - index === first.sequence - firstIndex, 'sequence and index do not go together');
    if (before === undefined) return;
    hold(4, leaf.sequence > before.sequence && index > (records[at - 1]?.index ?? 0), 'records are not in order');
    hold(4, leaf.timeNs >= before.timeNs && leaf.epoch >= before.epoch, 'times and epochs do not rise');
  });
  return leaves;
}

// 5

function rowsOf({ entries }: EvidenceRecord, record: number, leaf: RecordLeaf): readonly ProvenRow[] {
  hold(5, entries.length > 0, `record ${leaf.sequence} has no row in the file`);
  return entries.map((entry, at) => {
    const before = entries[at - 1];
    hold(5, before === undefined || entry.index > before.index, `rows of record ${leaf.sequence} are not in order`);
    return provenRow(entry, leaf, { record, entry: at });
  });
}

function provenRow(
  { index, salt, row, path }: EvidenceEntry,
  leaf: RecordLeaf,
  place: Pick<ProvenRow, 'record' | 'entry'>,
): ProvenRow {
  const what = `row ${index} of record ${leaf.sequence}`;
  const hash = entryHash({ sequence: leaf.sequence, index, salt }, row);
  const root = rootOfPath(index, leaf.count, hash, path);
  hold(5, root !== null && isSameHash(root, leaf.entriesRoot), `${what} is not under its record`);
  const parsed = parseJson(row, { fractions: 'text' });
  const members = parsed.ok ? parsed.value : null;
  hold(5, members !== null && isJsonObject(members), `${what} is no strict JSON object`);
  const isPlaced =
    members.get('v') === 1n &&
    members.get('sequence') === String(leaf.sequence) &&
    members.get('index') === BigInt(index) &&
    members.get('time_ns') === String(leaf.timeNs);
  hold(5, isPlaced, `${what} names another sequence, index, time or version`);
  const kind = members.get('kind');
  hold(5, typeof kind === 'string', `${what} has no kind`);
  return { ...place, leaf, hash, members, kind };
}
