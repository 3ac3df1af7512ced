/**
 * Statements of what the venue owes, as they lie in the folder of the evidence. The process of a snapshot writes a folder, whole or not at
 * all; the thread of proofs signs its statement and answers users from it, without the tree in memory:
 *
 *   evidence/liabilities/<sequence, 20 digits>/statement    the text (statement.ts)
 *                                              accounts     106 bytes for each amount: user 32 │ u16 asset │ u16 sub │ u128 amount │ u64 n │ last 32, rising
 *                                              tree-<n>     of asset n of the statement, level by level from the leaves: u128 sum │ hash 32
 *                                              note         the statement as a signed note
 *                                              place        where its row is in the log: sequence and index
 *
 * Chunks and nonces are not stored: they follow from the evidence secret.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { assert, must } from '../../core/assert.ts';
import { parseHex, toHex } from '../../core/hex.ts';
import { flush, makeDirectory } from '../../storage/data-files.ts';
import { StorageError, storageError } from '../../storage/storage-error.ts';
import { TREE_HASH_BYTES } from '../tree/hashes.ts';
import type { Liabilities } from './liabilities.ts';
import type { LiabilityFile, ProvenChunk } from './liability-file.ts';
import { chunksOf, emptyNodes, type Owed, type OwedNode, owedContext, owedLeaf } from './owed-tree.ts';
import { type LiabilityStatement, parseStatement } from './statement.ts';

const NODE_BYTES = 16 + TREE_HASH_BYTES;
const ACCOUNT_BYTES = TREE_HASH_BYTES + 2 + 2 + 16 + 8 + TREE_HASH_BYTES;
const FOLDER_FORM = /^[0-9]{20}$/;
const PLACE_FORM = /^([0-9]{1,16}) ([0-9]{1,10})\n$/;
/** Bytes that are written at a time. */
const WRITE_BYTES = 1 << 20;
/** Files of a user. */
const ACCOUNTS_MAX = 65_536;

/** Where the row of a statement is. */
export interface StatementPlace {
  readonly sequence: number;
  readonly index: number;
}

/** Folders of statements, the oldest first. @param folder of all of them. */
export function storedSequences(folder: string): readonly number[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => FOLDER_FORM.test(name))
    .map(Number)
    .sort((one, other) => one - other);
}

function placeOf(folder: string, sequence: number): string {
  return join(folder, String(sequence).padStart(20, '0'));
}

/** A statement is removed whole: its name goes first. */
export function removeStatement(folder: string, sequence: number): void {
  const gone = `${placeOf(folder, sequence)}.gone`;
  rmSync(gone, { recursive: true, force: true });
  renameSync(placeOf(folder, sequence), gone);
  rmSync(gone, { recursive: true });
}

/** Durable when it returns. @throws StorageError */
export function storeLiabilities(folder: string, liabilities: Liabilities): void {
  const { statement, text, accounts, trees } = liabilities;
  const home = placeOf(folder, statement.sequence);
  const fresh = `${home}.new`;
  try {
    makeDirectory(folder);
    rmSync(fresh, { recursive: true, force: true });
    makeDirectory(fresh);
    writeAll(join(fresh, 'statement'), [new TextEncoder().encode(text)]);
    writeAll(join(fresh, 'accounts'), accounts.map(accountBytes));
    for (const [at, { tree }] of trees.entries()) writeAll(join(fresh, `tree-${at}`), nodesOf(tree.levels));
    flush(fresh);
    renameSync(fresh, home);
    flush(folder);
  } catch (error) {
    throw storageError('writing what is owed', error, folder);
  }
}

function* nodesOf(levels: readonly (readonly OwedNode[])[]): Generator<Uint8Array, void, undefined> {
  for (const level of levels) {
    for (const { sum, hash } of level) {
      const bytes = new Uint8Array(NODE_BYTES);
      putU128(bytes, 0, sum);
      bytes.set(hash, 16);
      yield bytes;
    }
  }
}

/** An amount of the ledger, and which asset of the statement it is of. */
type StoredAccount = Owed & { readonly asset: number };

function accountBytes({ user, asset, subAccount, amount, n, last }: StoredAccount): Uint8Array {
  const bytes = new Uint8Array(ACCOUNT_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set(must(parseHex(user, TREE_HASH_BYTES), 'owed: a user is 32 bytes of hex'));
  view.setUint16(32, asset);
  view.setUint16(34, subAccount);
  putU128(bytes, 36, amount);
  view.setBigUint64(52, BigInt(n));
  bytes.set(last, 60);
  return bytes;
}

function putU128(to: Uint8Array, at: number, value: bigint): void {
  const view = new DataView(to.buffer, to.byteOffset);
  view.setBigUint64(at, value >> 64n);
  view.setBigUint64(at + 8, value & 0xffff_ffff_ffff_ffffn);
}

function u128(of: Uint8Array, at: number): bigint {
  const view = new DataView(of.buffer, of.byteOffset);
  return (view.getBigUint64(at) << 64n) | view.getBigUint64(at + 8);
}

function writeAll(path: string, parts: Iterable<Uint8Array>): void {
  const descriptor = openSync(path, 'wx', 0o600);
  try {
    let [waiting, bytes]: [Uint8Array[], number] = [[], 0];
    const put = (): void => {
      const all = Buffer.concat(waiting);
      for (let at = 0; at < all.length; ) at += writeSync(descriptor, all, at);
      [waiting, bytes] = [[], 0];
    };
    for (const part of parts) {
      waiting.push(part);
      bytes += part.length;
      if (bytes >= WRITE_BYTES) put();
    }
    put();
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A folder with fixed pieces that is read at places. */
class Pieces {
  readonly #path: string;
  readonly #bytes: number;

  constructor(path: string, bytes: number) {
    this.#path = path;
    this.#bytes = bytes;
  }

  /** @param read gets a reader of one piece, and the number of all. */
  with<T>(read: (piece: (at: number) => Uint8Array) => T): T {
    const descriptor = openSync(this.#path, 'r');
    try {
      return read((at) => {
        const bytes = new Uint8Array(this.#bytes);
        if (readSync(descriptor, bytes, 0, bytes.length, at * this.#bytes) !== bytes.length)
          throw new StorageError(`${this.#path} ends before piece ${at}`);
        return bytes;
      });
    } finally {
      closeSync(descriptor);
    }
  }
}

/** One statement that lies there. */
export class StoredLiabilities {
  readonly sequence: number;
  readonly text: string;
  readonly statement: LiabilityStatement;
  readonly #home: string;
  readonly #accounts: number;

  /** @throws StorageError when it cannot be read. */
  constructor(folder: string, sequence: number) {
    this.sequence = sequence;
    this.#home = placeOf(folder, sequence);
    try {
      this.text = readFileSync(join(this.#home, 'statement'), 'utf8');
      this.#accounts = readFileSync(join(this.#home, 'accounts')).length / ACCOUNT_BYTES;
    } catch (error) {
      throw storageError('reading what is owed', error);
    }
    const statement = parseStatement(this.text);
    if (typeof statement === 'string') throw new StorageError(`the statement in ${this.#home} ${statement}`);
    if (statement.sequence !== sequence || !Number.isSafeInteger(this.#accounts))
      throw new StorageError(`${this.#home} is not what was written there`);
    this.statement = statement;
  }

  /** The signed note; null until there is one. */
  get note(): string | null {
    return textOf(join(this.#home, 'note'));
  }

  set note(text: string) {
    this.#write('note', text);
  }

  /** Where its row is; null until it is found. */
  get place(): StatementPlace | null {
    const [, sequence, index] = PLACE_FORM.exec(textOf(join(this.#home, 'place')) ?? '') ?? [];
    return sequence === undefined ? null : { sequence: Number(sequence), index: Number(index) };
  }

  set place({ sequence, index }: StatementPlace) {
    this.#write('place', `${sequence} ${index}\n`);
  }

  #write(name: string, text: string): void {
    const path = join(this.#home, name);
    try {
      rmSync(`${path}.new`, { force: true });
      writeAll(`${path}.new`, [new TextEncoder().encode(text)]);
      renameSync(`${path}.new`, path);
      flush(this.#home);
    } catch (error) {
      throw storageError('writing what is owed', error, path);
    }
  }

  /** Every chunk of a user with its path, as liabilities.ts has it. @param secret the evidence secret. */
  partOf(user: string, secret: Uint8Array): LiabilityFile['assets'] {
    const byAsset = new Map<number, ProvenChunk[]>();
    const { origin, sequence, assets } = this.statement;
    for (const account of this.#accountsOf(user)) {
      const { asset, ...owed } = account;
      const stated = must(assets[asset], 'owed: an asset of the statement');
      const context = owedContext(origin, sequence, stated.assetId);
      const nodes = new Pieces(join(this.#home, `tree-${asset}`), NODE_BYTES);
      const chunks = byAsset.get(asset) ?? [];
      byAsset.set(asset, chunks);
      nodes.with((piece) => {
        for (const chunk of chunksOf(secret, context, owed)) {
          const leaf = owedLeaf(context, chunk);
          const { user: _, ...rest } = chunk;
          chunks.push({ ...rest, ...proofOf(piece, leaf, stated.leaves) });
        }
      });
    }
    return [...byAsset]
      .sort(([one], [other]) => one - other)
      .map(([asset, chunks]) => ({ assetId: must(assets[asset], 'owed: an asset').assetId, chunks }));
  }

  #accountsOf(user: string): readonly StoredAccount[] {
    const wanted = must(parseHex(user, TREE_HASH_BYTES), 'owed: a user is 32 bytes of hex');
    return new Pieces(join(this.#home, 'accounts'), ACCOUNT_BYTES).with((piece) => {
      const first = lowest(this.#accounts, (at) => Buffer.compare(piece(at).subarray(0, 32), wanted) >= 0);
      const found: StoredAccount[] = [];
      for (let at = first; at < this.#accounts && found.length < ACCOUNTS_MAX; at += 1) {
        const bytes = piece(at);
        if (Buffer.compare(bytes.subarray(0, 32), wanted) !== 0) break;
        const view = new DataView(bytes.buffer);
        const [asset, subAccount] = [view.getUint16(32), view.getUint16(34)];
        const [amount, n] = [u128(bytes, 36), Number(view.getBigUint64(52))];
        found.push({ user: toHex(wanted), asset, subAccount, amount, n, last: bytes.slice(60) });
      }
      return found;
    });
  }
}

function textOf(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

/** The lowest of `count` numbers for which it holds, as for all above; `count` for none. */
function lowest(count: number, holds: (at: number) => boolean): number {
  let [from, to] = [0, count];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** @param leaves chunks of the tree. @throws InvariantError for a leaf that it has not: the secret is another one. */
function proofOf(
  piece: (at: number) => Uint8Array,
  leaf: OwedNode,
  leaves: number,
): { readonly index: number; readonly path: readonly OwedNode[] } {
  const index = lowest(leaves, (at) => Buffer.compare(piece(at).subarray(16), leaf.hash) >= 0);
  const isThere = index < leaves && Buffer.compare(piece(index).subarray(16), leaf.hash) === 0;
  assert(isThere, 'owed: the tree has the leaf: the secret is that of the statement');
  let [at, begin, count] = [index, 0, leaves];
  const path = emptyNodes(leaves).map((empty) => {
    const sibling = at % 2 === 0 ? at + 1 : at - 1;
    const bytes = sibling < count ? piece(begin + sibling) : null;
    begin += count;
    count = Math.ceil(count / 2);
    at = Math.floor(at / 2);
    return bytes === null ? empty : { sum: u128(bytes, 0), hash: bytes.slice(16) };
  });
  return { index, path };
}
