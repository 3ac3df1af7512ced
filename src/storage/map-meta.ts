/**
 * The two meta pages of a map file: where its trees begin. A commit writes the one that is not in force, so they are of
 * two transactions that follow each other, which is how a damaged transaction number shows.
 */
import { readSync } from 'node:fs';
import { InvariantError } from '../core/assert.ts';

export const META_PAGES = 2;
const META_BYTES = 176;
const MAGIC = 0xbeefc0de;
const FORMAT = 2;
const META_KIND = 0x08;
const PAGE_BYTES = { min: 512, max: 65_536 };
/** Entries of the free list are numbers; persisted flags of the map itself share the field. */
const NUMERIC_KEYS = 0x08;
const AT = { magic: 24, format: 28, address: 32, mapBytes: 40, free: 48, main: 96, lastPage: 144, txn: 152 } as const;

export interface TreeRoot {
  readonly isFreeList: boolean;
  readonly depth: number;
  readonly entries: number;
  /** All ones when the tree is empty. */
  readonly page: bigint;
}

export interface MapMeta {
  readonly pageBytes: number;
  readonly lastPage: number;
  readonly txn: number;
  readonly free: TreeRoot;
  readonly main: TreeRoot;
}

/** The meta page in force. @throws InvariantError when the pair of them is damaged. */
export function readMetas(descriptor: number): MapMeta {
  const first = metaAt(descriptor, 0, 0);
  const pageBytes = first.readUInt32LE(AT.free);
  if (pageBytes < PAGE_BYTES.min || pageBytes > PAGE_BYTES.max || (pageBytes & (pageBytes - 1)) !== 0) {
    throw new InvariantError('map: the size of pages is damaged');
  }
  const second = metaAt(descriptor, 1, pageBytes);
  const [a, b] = [txnOf(first), txnOf(second)];
  // A fresh map has two metas of transaction 0; from then on they take turns.
  const areTurns = Math.abs(a - b) === 1 && a % 2 === 0;
  if (!areTurns && !(a === 0 && b === 0)) {
    throw new InvariantError(`map: its meta pages are of transactions ${a} and ${b}`);
  }
  if (first.readUInt32LE(AT.free) !== second.readUInt32LE(AT.free) || kindOf(first) !== kindOf(second)) {
    throw new InvariantError('map: its meta pages contradict each other');
  }
  return decode(a > b ? first : second, pageBytes);
}

function metaAt(descriptor: number, page: number, at: number): Buffer {
  const bytes = Buffer.alloc(META_BYTES);
  const found = readSync(descriptor, bytes, 0, META_BYTES, at);
  const isMeta =
    found === META_BYTES &&
    Number(bytes.readBigUInt64LE(0)) === page &&
    bytes.readUInt16LE(18) === META_KIND &&
    bytes.readUInt32LE(AT.magic) === MAGIC &&
    bytes.readUInt32LE(AT.format) === FORMAT &&
    bytes.readBigUInt64LE(AT.address) === 0n;
  if (!isMeta) throw new InvariantError(`map: meta page ${page} is damaged`);
  return bytes;
}

function kindOf(meta: Buffer): number {
  return meta.readUInt16LE(AT.free + 4);
}

function txnOf(meta: Buffer): number {
  return Number(meta.readBigUInt64LE(AT.txn));
}

function decode(meta: Buffer, pageBytes: number): MapMeta {
  const free = rootAt(meta, AT.free, true);
  const main = rootAt(meta, AT.main, false);
  if ((kindOf(meta) & NUMERIC_KEYS) === 0 || meta.readUInt16LE(AT.main + 4) !== 0) {
    throw new InvariantError('map: its trees are of an unknown kind');
  }
  return { pageBytes, lastPage: Number(meta.readBigUInt64LE(AT.lastPage)), txn: txnOf(meta), free, main };
}

function rootAt(meta: Buffer, at: number, isFreeList: boolean): TreeRoot {
  return {
    isFreeList,
    depth: meta.readUInt16LE(at + 6),
    entries: Number(meta.readBigUInt64LE(at + 32)),
    page: meta.readBigUInt64LE(at + 40),
  };
}
