/**
 * Reads a map file page by page without lmdb, and checks everything that its layout promises. lmdb itself keeps no
 * checksums and follows a damaged page wherever it leads, out of the process if need be; this walk only ever throws.
 *
 *   page 0, 1     meta: the later transaction is in force     0 page header │ 24 magic … 48 two trees │ 144 last page │ 152 txn
 *   other pages   0 own number 8 │ 8 transaction that wrote it 8 │ 16 pad 2 │ 18 kind 2 │ 20 lower 2, upper 2 or pages 4 │ 24 …
 *   tree pages    24 offsets of nodes, 2 each ──▶ … free … ◀── nodes, packed to the end
 *   node          0 low 16, middle 16 bits │ 4 flags or high 16 bits │ 6 key bytes │ 8 key │ value, or where its pages are
 *
 * Checked: a page calls itself by the number under which it was looked for, so swapped pages show; it was written by no
 * later transaction than its parent; nodes fill it exactly; keys rise through the whole tree; nothing is used twice; what
 * is free is not in use; the trees have as many entries as stand in their roots.
 *
 * Pages are never changed in place: a subtree with a root page not newer than a transaction has nothing newer in it.
 * So a walk `since` a transaction reads only what was written after it.
 *
 * A commit writes the meta page that is not in force, so the two are of transactions that follow each other, which is how a
 * damaged transaction number shows.
 *
 * Not here: what keys and values mean (verify-map.ts). Integers of this file are little-endian.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
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

interface TreeRoot {
  readonly isFreeList: boolean;
  readonly depth: number;
  readonly entries: number;
  /** All ones when the tree is empty. */
  readonly page: bigint;
}

interface MapMeta {
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
  const [a, b] = [metaTxnOf(first), metaTxnOf(second)];
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

function metaTxnOf(meta: Buffer): number {
  return Number(meta.readBigUInt64LE(AT.txn));
}

function decode(meta: Buffer, pageBytes: number): MapMeta {
  const free = rootAt(meta, AT.free, true);
  const main = rootAt(meta, AT.main, false);
  if ((kindOf(meta) & NUMERIC_KEYS) === 0 || meta.readUInt16LE(AT.main + 4) !== 0) {
    throw new InvariantError('map: its trees are of an unknown kind');
  }
  return { pageBytes, lastPage: Number(meta.readBigUInt64LE(AT.lastPage)), txn: metaTxnOf(meta), free, main };
}

function rootAt(meta: Buffer, at: number, isFreeList: boolean): TreeRoot {
  return {
    isFreeList,
    depth: meta.readUInt16LE(at + 6),
    entries: Number(meta.readBigUInt64LE(at + 32)),
    page: meta.readBigUInt64LE(at + 40),
  };
}

export const HEADER_BYTES = 24;
export const NODE_BYTES = 8;
const KIND = { branch: 0x01, leaf: 0x02, overflow: 0x04 } as const;
/** Flags of a node. */
export const IN_PAGES_OF_ITS_OWN = 0x01;
const PAGES_REFERENCE_BYTES = 24;
export const NO_PAGE: bigint = 2n ** 64n - 1n;
const DEPTH_MAX = 32;

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

interface TreePageHeader {
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

function txnOf(bytes: Buffer, at = 0): number {
  const txn = safeAt(bytes, at + 8);
  if (txn < 0) throw new InvariantError('map: a page was written by no transaction');
  return txn;
}

/** Eight bytes, or -1 when they are no safe integer. */
export function safeAt(bytes: Buffer, at: number): number {
  const high = bytes.readUInt32LE(at + 4);
  return high > 0x1f_ffff ? -1 : high * 0x1_0000_0000 + bytes.readUInt32LE(at);
}

const KEY_BYTES_MAX = 1_978;
const NO_KEY: Buffer = Buffer.alloc(0);
const FREE_TAIL_BYTES = 1_048_576;

interface WalkOptions {
  /** Only entries on pages written after this transaction; 0: all. */
  readonly since: number;
  /** Called for each entry in the order of keys; the bytes are valid during the call. */
  entry(key: Buffer, value: Buffer): void;
  /** Called now and then with the pages read so far. */
  progress?(pagesRead: number, pagesInFile: number): void;
}

interface Walked {
  /** Transaction that the file is at. */
  readonly txn: number;
  /** In the file, free ones included. */
  readonly pages: number;
  readonly pagesRead: number;
  readonly freePages: number;
}

/** @throws InvariantError at the first thing that is not as it must be. */
export function walkMap(path: string, options: WalkOptions): Walked {
  const descriptor = openSync(path, 'r');
  try {
    return new Walk(descriptor, options).run();
  } finally {
    closeSync(descriptor);
  }
}

/** A page of a tree that is being looked through. */
interface TreePage extends TreePageHeader {
  readonly number: number;
  readonly bytes: Buffer;
}

/** How one of the two trees is walked. */
interface Task extends Pick<WalkOptions, 'since' | 'entry'> {
  /** Keys are numbers of 8 bytes. */
  readonly isNumeric: boolean;
}

const PROGRESS_PAGES = 4_096;

class Walk {
  readonly #descriptor: number;
  readonly #options: WalkOptions;
  readonly #meta: MapMeta;
  /** A bit for each page that was met. */
  readonly #met: Uint8Array;
  #pagesRead = 0;
  #entries = 0;
  #lastKey: Buffer = NO_KEY;
  /** The last one that was passed on the way down. */
  #separator: Buffer = NO_KEY;
  #isAll = true;

  constructor(descriptor: number, options: WalkOptions) {
    this.#descriptor = descriptor;
    this.#options = options;
    this.#meta = readMetas(descriptor);
    const { lastPage, pageBytes } = this.#meta;
    // Free pages at the end may never have been written, so the file may be shorter, but not by much.
    if (lastPage * pageBytes > 2 * fstatSync(descriptor).size + FREE_TAIL_BYTES) {
      throw new InvariantError('map: the file is shorter than its pages');
    }
    this.#met = new Uint8Array(Math.ceil((lastPage + 1) / 8));
  }

  run(): Walked {
    const { main, free, txn, lastPage } = this.#meta;
    const { since, entry } = this.#options;
    this.#tree(main, { since, entry, isNumeric: false });
    let freePages = 0;
    const freed = (_key: Buffer, value: Buffer): void => {
      freePages += this.#freePages(value);
    };
    this.#tree(free, { since: 0, entry: freed, isNumeric: true });
    return { txn, pages: lastPage + 1, pagesRead: this.#pagesRead, freePages };
  }

  #tree(root: TreeRoot, task: Task): void {
    this.#entries = 0;
    this.#lastKey = NO_KEY;
    this.#separator = NO_KEY;
    this.#isAll = true;
    const isEmpty = root.page === NO_PAGE;
    if (isEmpty !== (root.depth === 0) || root.depth > DEPTH_MAX) throw new InvariantError('map: a root is damaged');
    if (!isEmpty) this.#page({ page: Number(root.page), depth: root.depth, txnMax: this.#meta.txn }, task);
    if (this.#isAll && this.#entries !== root.entries) {
      throw new InvariantError(`map: a tree has ${this.#entries} entries and says ${root.entries}`);
    }
  }

  #page(place: PagePlace, task: Task): void {
    const page = this.#read(place);
    if (page.txn <= task.since) {
      this.#isAll = false;
      return;
    }
    let used = 0;
    for (let index = 0; index < page.nodes; index += 1) {
      const at = this.#nodeAt(page, index);
      const { bytes } = page;
      const keyBytes = bytes.readUInt16LE(at + 6);
      const key = bytes.subarray(at + NODE_BYTES, at + NODE_BYTES + keyBytes);
      if (keyBytes > KEY_BYTES_MAX || key.length !== keyBytes)
        throw damagedPage(page.number, 'has a key beyond its end');
      if (task.isNumeric && keyBytes !== 8 && (page.isLeaf || index > 0))
        throw damagedPage(page.number, 'has a key of a wrong length');
      if (page.isLeaf) used += this.#leafNode(page, at, key, task);
      else {
        used += even(NODE_BYTES + keyBytes);
        if (index > 0) this.#divide(page.number, key, task);
        const child = bytes.readUInt32LE(at) + bytes.readUInt16LE(at + 4) * 2 ** 32;
        this.#page({ page: child, depth: place.depth - 1, txnMax: page.txn }, task);
      }
    }
    const upper = page.bytes.readUInt16LE(22);
    if (upper + used !== page.bytes.length - HEADER_BYTES) throw damagedPage(page.number, 'is not filled by its nodes');
  }

  /** @returns the bytes that the node takes. */
  #leafNode(page: TreePage, at: number, key: Buffer, { since, entry, isNumeric }: Task): number {
    const { bytes } = page;
    const flags = bytes.readUInt16LE(at + 4);
    const valueBytes = bytes.readUInt32LE(at);
    const valueAt = at + NODE_BYTES + key.length;
    const isBehind = this.#lastKey.length === 0 || compare(key, this.#lastKey, isNumeric) > 0;
    const isWithin = this.#separator.length === 0 || compare(key, this.#separator, isNumeric) >= 0;
    if (key.length === 0 || !isBehind || !isWithin) throw damagedPage(page.number, 'has keys out of order');
    this.#lastKey = Buffer.from(key);
    this.#entries += 1;
    if (flags === 0) {
      if (valueAt + valueBytes > bytes.length) throw damagedPage(page.number, 'has a value beyond its end');
      entry(key, bytes.subarray(valueAt, valueAt + valueBytes));
      return even(NODE_BYTES + key.length + valueBytes);
    }
    if (flags !== IN_PAGES_OF_ITS_OWN || valueAt + PAGES_REFERENCE_BYTES > bytes.length) {
      throw damagedPage(page.number, 'has a node of an unknown kind');
    }
    const reference = bytes.subarray(valueAt, valueAt + PAGES_REFERENCE_BYTES);
    // A value in pages of its own may be older than the page that leads to it.
    if (Number(reference.readBigUInt64LE(8)) <= since) this.#isAll = false;
    else entry(key, this.#ownPages(page, reference, valueBytes));
    return even(NODE_BYTES + key.length + PAGES_REFERENCE_BYTES);
  }

  /** A separator is above every key before it, and no key behind it is below it. */
  #divide(page: number, separator: Buffer, { isNumeric }: Task): void {
    const isAboveKeys = this.#lastKey.length === 0 || compare(separator, this.#lastKey, isNumeric) > 0;
    const isAboveLast = this.#separator.length === 0 || compare(separator, this.#separator, isNumeric) > 0;
    if (separator.length === 0 || !isAboveKeys || !isAboveLast) throw damagedPage(page, 'divides its keys wrongly');
    this.#separator = Buffer.from(separator);
  }

  #nodeAt(page: TreePage, index: number): number {
    const upper = page.bytes.readUInt16LE(22);
    const offset = page.bytes.readUInt16LE(HEADER_BYTES + 2 * index);
    const at = offset + HEADER_BYTES;
    if (offset < upper || at + NODE_BYTES > page.bytes.length)
      throw damagedPage(page.number, 'has a node beyond its end');
    return at;
  }

  #read(place: PagePlace): TreePage {
    const bytes = this.#pages(place.page, 1);
    return { number: place.page, bytes, ...treePageHeader(bytes, 0, place) };
  }

  #ownPages(owner: TreePage, reference: Buffer, valueBytes: number): Buffer {
    const first = Number(reference.readBigUInt64LE(0));
    const count = Number(reference.readBigUInt64LE(16));
    const needed = Math.ceil((HEADER_BYTES + valueBytes) / this.#meta.pageBytes);
    if (count !== needed) throw damagedPage(owner.number, 'has a value in the wrong number of pages');
    const bytes = this.#pages(first, count);
    const txn = txnOf(bytes);
    const isOwn = bytes.readUInt16LE(18) === KIND.overflow && bytes.readUInt32LE(20) === count;
    if (!isOwn || txn !== Number(reference.readBigUInt64LE(8)) || txn > owner.txn) {
      throw damagedPage(first, 'is not the value that points to it');
    }
    return bytes.subarray(HEADER_BYTES, HEADER_BYTES + valueBytes);
  }

  /** Pages that follow each other, the first of which has a header. Each may be met once. */
  #pages(first: number, count: number): Buffer {
    const { pageBytes, lastPage } = this.#meta;
    if (first < META_PAGES || first + count - 1 > lastPage) throw damagedPage(first, 'is not in the file');
    for (let page = first; page < first + count; page += 1) this.#meet(page);
    const bytes = Buffer.allocUnsafe(count * pageBytes);
    if (readSync(this.#descriptor, bytes, 0, bytes.length, first * pageBytes) !== bytes.length) {
      throw damagedPage(first, 'is cut off');
    }
    if (Number(bytes.readBigUInt64LE(0)) !== first) throw damagedPage(first, 'is another page');
    const before = this.#pagesRead;
    this.#pagesRead += count;
    if (Math.floor(before / PROGRESS_PAGES) !== Math.floor(this.#pagesRead / PROGRESS_PAGES)) {
      this.#options.progress?.(this.#pagesRead, lastPage + 1);
    }
    return bytes;
  }

  #meet(page: number): void {
    const index = page >>> 3;
    const bit = 1 << (page & 7);
    const byte = this.#met[index] ?? 0;
    if ((byte & bit) !== 0) throw damagedPage(page, 'is used twice');
    this.#met[index] = byte | bit;
  }

  /** A list of free pages: a count, then numbers; a negative one is the length of the run that starts at the next. */
  #freePages(list: Buffer): number {
    const count = list.length >= 8 ? Number(list.readBigUInt64LE(0)) : -1;
    if (list.length % 8 !== 0 || count < 0 || 8 * (count + 1) > list.length)
      throw new InvariantError('map: a list of free pages is damaged');
    let free = 0;
    for (let index = 1; index <= count; index += 1) {
      let length = 1;
      let number = Number(list.readBigInt64LE(8 * index));
      if (number === 0) continue;
      if (number < 0) {
        index += 1;
        length = -number;
        number = index <= count ? Number(list.readBigInt64LE(8 * index)) : 0;
      }
      if (number < META_PAGES || number + length - 1 > this.#meta.lastPage)
        throw damagedPage(number, 'is free and not in the file');
      for (let page = number; page < number + length; page += 1) this.#meet(page);
      free += length;
    }
    return free;
  }
}

function compare(a: Buffer, b: Buffer, isNumeric: boolean): number {
  if (!isNumeric) return Buffer.compare(a, b);
  return Number(a.readBigUInt64LE(0) - b.readBigUInt64LE(0));
}

function even(bytes: number): number {
  return (bytes + 1) & ~1;
}
