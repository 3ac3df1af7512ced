/**
 * The evidence of an order as a file (EVD-10): one line of compact JSON, members in the order of this module, hashes in base64. It is
 * read strictly: unknown, missing or repeated members, another order, spaces, other base64 than the canonical one are errors, so that
 * there is one text for each evidence.
 */
import type { JsonValue } from '../codec/json-tree.ts';
import { base64Of } from './base64.ts';
import {
  type EvidenceRecord,
  fail,
  readRecord,
  readStrict,
  recordValue,
  strictBytes,
  strictCount,
  strictList,
  strictMembers,
  strictText,
} from './file-parts.ts';

export const EVIDENCE_BYTES_MAX: number = 4 * 1024 * 1024;

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

/** The text of the file, with a newline at its end. */
export function evidenceText({ origin, certificates, checkpoint, claim, records, signed }: EvidenceFile): string {
  const { assetId: asset_id, orderId: order_id, user } = claim;
  const value = {
    v: 1,
    origin,
    certificates,
    checkpoint,
    claim: { asset_id, order_id, user },
    records: records.map(recordValue),
    signed: signed.map(({ entry, text, signatures }) => ({
      entry,
      text: base64Of(text),
      signatures: base64Of(signatures),
    })),
  };
  return `${JSON.stringify(value)}\n`;
}

function readSigned(value: JsonValue, at: number): SignedText {
  const what = `signed text ${at}`;
  const signed = strictMembers(value, ['entry', 'text', 'signatures'], what);
  const [record, entry, ...more] = strictList(signed.get('entry'), `the entry of ${what}`);
  if (more.length > 0) fail(`the entry of ${what} is no pair`);
  return {
    entry: [strictCount(record, `the record of ${what}`), strictCount(entry, `the entry of ${what}`)],
    text: strictBytes(signed.get('text'), what),
    signatures: strictBytes(signed.get('signatures'), `the signatures of ${what}`),
  };
}

function fileOf(tree: JsonValue): EvidenceFile {
  const file = strictMembers(
    tree,
    ['v', 'origin', 'certificates', 'checkpoint', 'claim', 'records', 'signed'],
    'the file',
  );
  if (file.get('v') !== 1n) fail('the file is not of version 1');
  const claim = strictMembers(file.get('claim'), ['asset_id', 'order_id', 'user'], 'the claim');
  return {
    origin: strictText(file.get('origin'), 'origin'),
    certificates: strictList(file.get('certificates'), 'certificates').map((note) => strictText(note, 'a certificate')),
    checkpoint: strictText(file.get('checkpoint'), 'checkpoint'),
    claim: {
      assetId: strictText(claim.get('asset_id'), 'asset_id'),
      orderId: strictText(claim.get('order_id'), 'order_id'),
      user: strictText(claim.get('user'), 'user'),
    },
    records: strictList(file.get('records'), 'records').map(readRecord),
    signed: strictList(file.get('signed'), 'signed').map(readSigned),
  };
}

/** @returns the file, or why its bytes are none. */
export function readEvidence(from: Uint8Array): EvidenceFile | string {
  return readStrict(from, EVIDENCE_BYTES_MAX, { read: fileOf, write: evidenceText });
}
