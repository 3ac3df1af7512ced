/**
 * Pages of a map's trees as bytes: what their headers promise (map-pages.ts has the picture). Nothing here trusts them:
 * whatever is not as it must be is an InvariantError.
 */
import { InvariantError } from '../core/assert.ts';

export const HEADER_BYTES = 24;
export const NODE_BYTES = 8;
export const KIND = { branch: 0x01, leaf: 0x02, overflow: 0x04 } as const;
/** Flags of a node. */
export const IN_PAGES_OF_ITS_OWN = 0x01;
export const PAGES_REFERENCE_BYTES = 24;
export const NO_PAGE: bigint = 2n ** 64n - 1n;
export const DEPTH_MAX = 32;

export function damagedPage(page: number, how: string): InvariantError {
  return new InvariantError(`map: page ${page} ${how}`);
}

/** Which page is expected. */
export interface PagePlace {
  readonly page: number;
  /** 1 for a leaf. */
  readonly depth: number;
  /** No page below was written later. */
  readonly txnMax: number;
}

export interface TreePageHeader {
  readonly txn: number;
  readonly isLeaf: boolean;
  readonly nodes: number;
  /** Where its nodes begin, from the end of the header. */
  readonly upper: number;
}

/** The header of a page that begins at `at`, which calls itself by its number. @throws InvariantError */
export function treePageHeader(bytes: Buffer, at: number, { page, depth, txnMax }: PagePlace): TreePageHeader {
  if (depth === 0) throw damagedPage(page, 'is deeper than its tree');
  const kind = bytes.readUInt16LE(at + 18);
  const lower = bytes.readUInt16LE(at + 20);
  const upper = bytes.readUInt16LE(at + 22);
  const txn = txnOf(bytes, at);
  const isLeaf = kind === KIND.leaf;
  if (!isLeaf && kind !== KIND.branch) throw damagedPage(page, 'is of an unknown kind');
  if (isLeaf !== (depth === 1)) throw damagedPage(page, 'is at the wrong depth');
  if (bytes.readUInt16LE(at + 16) !== 0 || lower % 2 !== 0 || lower === 0)
    throw damagedPage(page, 'has a damaged header');
  if (lower > upper) throw damagedPage(page, 'has more nodes than room');
  if (txn > txnMax) throw damagedPage(page, 'was written after what points to it');
  return { txn, isLeaf, nodes: lower / 2, upper };
}

export function txnOf(bytes: Buffer, at = 0): number {
  const txn = safeAt(bytes, at + 8);
  if (txn < 0) throw new InvariantError('map: a page was written by no transaction');
  return txn;
}

/** Eight bytes, or -1 when they are no safe integer. */
export function safeAt(bytes: Buffer, at: number): number {
  const high = bytes.readUInt32LE(at + 4);
  return high > 0x1f_ffff ? -1 : high * 0x1_0000_0000 + bytes.readUInt32LE(at);
}
