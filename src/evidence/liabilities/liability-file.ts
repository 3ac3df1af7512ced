/**
 * The part of one user in what the venue owes, as a file (LIA-05): the statement, the proof that it is in the log, and every chunk
 * of the user with its path. One line of compact JSON, read strictly (file-parts.ts).
 */
import type { JsonValue } from '../../codec/json-tree.ts';
import { base64Of } from '../base64.ts';
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
} from '../file-parts.ts';
import { TREE_HASH_BYTES } from '../tree/hashes.ts';
import { isOwedSum, type OwedChunk, type OwedNode } from './owed-tree.ts';

/** A user has at most 5 chunks an asset and sub-account. */
export const LIABILITY_BYTES_MAX: number = 16 * 1024 * 1024;

/** A chunk of the user that the file is of. */
export interface ProvenChunk extends Omit<OwedChunk, 'user'> {
  readonly index: number;
  readonly path: readonly OwedNode[];
}

export interface LiabilityFile {
  readonly origin: string;
  /** Notes of the venue key. */
  readonly certificates: readonly string[];
  /** A note with cosignatures. */
  readonly checkpoint: string;
  /** The statement, a note (statement.ts). */
  readonly note: string;
  /** The record with the row that has the hash of the statement. */
  readonly records: readonly EvidenceRecord[];
  /** 64 hex digits. */
  readonly user: string;
  readonly assets: readonly { readonly assetId: string; readonly chunks: readonly ProvenChunk[] }[];
}

type StatementProof = Omit<LiabilityFile, 'user' | 'assets'>;

function statementValue({ origin, certificates, checkpoint, note, records }: StatementProof): object {
  return { v: 1, origin, certificates, checkpoint, note, records: records.map(recordValue) };
}

/** The statement and the proof of its row, for everybody (LIA-04): the same members without a user. */
export function statementProofText(proof: StatementProof): string {
  return `${JSON.stringify(statementValue(proof))}\n`;
}

/** The text of the file, with a newline at its end. */
export function liabilityText({ user, assets, ...proof }: LiabilityFile): string {
  const value = {
    ...statementValue(proof),
    user,
    assets: assets.map(({ assetId, chunks }) => ({
      asset_id: assetId,
      chunks: chunks.map(({ amount, nonce, subAccount, i, k, n, last, index, path }) => ({
        amount: String(amount),
        nonce: base64Of(nonce),
        sub: subAccount,
        ...{ i, k, n },
        last: base64Of(last),
        index,
        path: path.map(({ sum, hash }) => ({ sum: String(sum), hash: base64Of(hash) })),
      })),
    })),
  };
  return `${JSON.stringify(value)}\n`;
}

function sum(value: JsonValue | undefined, what: string): bigint {
  const digits = strictText(value, what);
  const read = /^(?:0|[1-9][0-9]{0,38})$/.test(digits) ? BigInt(digits) : -1n;
  return isOwedSum(read) ? read : fail(`${what} is no sum below 2^127`);
}

function readChunk(value: JsonValue, what: string): ProvenChunk {
  const chunk = strictMembers(value, ['amount', 'nonce', 'sub', 'i', 'k', 'n', 'last', 'index', 'path'], what);
  return {
    amount: sum(chunk.get('amount'), `the amount of ${what}`),
    nonce: strictBytes(chunk.get('nonce'), `the nonce of ${what}`, TREE_HASH_BYTES),
    subAccount: strictCount(chunk.get('sub'), `the sub-account of ${what}`),
    i: strictCount(chunk.get('i'), `the number of ${what}`),
    k: strictCount(chunk.get('k'), `the count of ${what}`),
    n: strictCount(chunk.get('n'), `the last row of ${what}`),
    last: strictBytes(chunk.get('last'), `the last row of ${what}`, TREE_HASH_BYTES),
    index: strictCount(chunk.get('index'), `the index of ${what}`),
    path: strictList(chunk.get('path'), `the path of ${what}`).map((node) => {
      const sibling = strictMembers(node, ['sum', 'hash'], `the path of ${what}`);
      const hash = strictBytes(sibling.get('hash'), `a hash of ${what}`, TREE_HASH_BYTES);
      return { sum: sum(sibling.get('sum'), `a sum of ${what}`), hash };
    }),
  };
}

const MEMBERS = ['v', 'origin', 'certificates', 'checkpoint', 'note', 'records', 'user', 'assets'];

function fileOf(tree: JsonValue): LiabilityFile {
  const file = strictMembers(tree, MEMBERS, 'the file');
  if (file.get('v') !== 1n) fail('the file is not of version 1');
  return {
    origin: strictText(file.get('origin'), 'origin'),
    certificates: strictList(file.get('certificates'), 'certificates').map((note) => strictText(note, 'a certificate')),
    checkpoint: strictText(file.get('checkpoint'), 'checkpoint'),
    note: strictText(file.get('note'), 'note'),
    records: strictList(file.get('records'), 'records').map(readRecord),
    user: strictText(file.get('user'), 'user'),
    assets: strictList(file.get('assets'), 'assets').map((value, at) => {
      const asset = strictMembers(value, ['asset_id', 'chunks'], `asset ${at}`);
      const assetId = strictText(asset.get('asset_id'), `the id of asset ${at}`);
      const chunks = strictList(asset.get('chunks'), `chunks of asset ${at}`);
      return {
        assetId,
        chunks: chunks.map((chunk, number) => readChunk(chunk, `chunk ${number} of asset ${assetId}`)),
      };
    }),
  };
}

/** @returns the file, or why its bytes are none. */
export function readLiabilities(from: Uint8Array): LiabilityFile | string {
  return readStrict(from, LIABILITY_BYTES_MAX, { read: fileOf, write: liabilityText });
}
