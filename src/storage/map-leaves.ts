/**
 * The entries of one table, read leaf by leaf from the map's file without lmdb: a start reads all of them once, and a
 * call and two buffers for each are most of what that would cost. Only for who holds the directory, and writes nothing
 * meanwhile: pages of an older version may be used again.
 *
 * What pages promise is checked as far as reading needs it; what entries say, and that all are there, checksums and sums
 * tell (load-rows.ts).
 */
import { readSync } from 'node:fs';
import type { Entry } from './environment.ts';
import { type MapMeta, META_PAGES, readMetas } from './map-meta.ts';
import { type RowBytes, rowBytes } from './order-look.ts';
import {
  DEPTH_MAX,
  damagedPage,
  HEADER_BYTES,
  IN_PAGES_OF_ITS_OWN,
  KIND,
  NO_PAGE,
  NODE_BYTES,
  PAGES_REFERENCE_BYTES,
  type PagePlace,
  safeAt,
  treePageHeader,
  txnOf,
} from './tree-pages.ts';

/** A page of the tree, a leaf most often, and one of its nodes at a time. */
export class Leaf {
  /** It begins at `at` in these. */
  bytes: Buffer = Buffer.alloc(0);
  at = 0;
  nodes = 0;
  /** Of the node that was read last: where its key and its value are. */
  keyAt = 0;
  valueAt = 0;
  valueEnd = 0;
  /** Whether its value is not in the leaf: at `valueAt` is then where it is, and it is so long. */
  isElsewhere = false;
  valueBytes = 0;
  #page = 0;
  #txn = 0;
  #upper = 0;
  #end = 0;

  /** @throws InvariantError when these are not the bytes of that page. */
  open({ bytes, at }: { readonly bytes: Buffer; readonly at: number }, pageBytes: number, place: PagePlace): void {
    const { nodes, upper, txn } = treePageHeader(bytes, at, place);
    if (HEADER_BYTES + 2 * nodes > pageBytes) throw damagedPage(place.page, 'has more nodes than room');
    this.bytes = bytes;
    this.at = at;
    this.nodes = nodes;
    this.#page = place.page;
    this.#txn = txn;
    this.#upper = upper;
    this.#end = at + pageBytes;
  }

  read(node: number): void {
    const at = this.#nodeAt(node);
    const { bytes } = this;
    const flags = bytes.readUInt16LE(at + 4);
    this.keyAt = at + NODE_BYTES;
    this.valueAt = this.keyAt + bytes.readUInt16LE(at + 6);
    this.valueBytes = bytes.readUInt32LE(at);
    this.isElsewhere = flags === IN_PAGES_OF_ITS_OWN;
    if (flags !== 0 && !this.isElsewhere) throw this.damaged('has a node of an unknown kind');
    this.valueEnd = this.valueAt + (this.isElsewhere ? PAGES_REFERENCE_BYTES : this.valueBytes);
    if (this.valueAt === this.keyAt || this.valueEnd > this.#end) throw this.damaged('has an entry beyond its end');
  }

  /** In a branch: how the key of a node compares. */
  compareBranch(node: number, prefix: Uint8Array): number {
    const at = this.#nodeAt(node);
    const keyBytes = this.bytes.readUInt16LE(at + 6);
    if (at + NODE_BYTES + keyBytes > this.#end) throw this.damaged('has a key beyond its end');
    return comparePrefix(this.bytes, at + NODE_BYTES, keyBytes, prefix);
  }

  /** In a branch: the page to which a node leads. */
  child(node: number): number {
    const at = this.#nodeAt(node);
    return this.bytes.readUInt32LE(at) + this.bytes.readUInt16LE(at + 4) * 2 ** 32;
  }

  /** Of the key that was read last: below 0 when it comes before all keys with that prefix, 0 when it has it. */
  compareKey(prefix: Uint8Array): number {
    return comparePrefix(this.bytes, this.keyAt, this.valueAt - this.keyAt, prefix);
  }

  get txn(): number {
    return this.#txn;
  }

  #nodeAt(node: number): number {
    const base = this.at + HEADER_BYTES;
    const offset = this.bytes.readUInt16LE(base + 2 * node);
    const at = base + offset;
    if (offset < this.#upper || at + NODE_BYTES > this.#end) throw this.damaged('has a node beyond its end');
    return at;
  }

  damaged(how: string): Error {
    return damagedPage(this.#page, how);
  }
}

/** Read at once where leaves follow each other in the file, as they mostly do: a call of the system costs more than the bytes. */
const PAGES_AHEAD = 32;
/** So near behind the page before, a page is taken for the next of a row of them. */
const NEAR = 4;

export class MapLeaves {
  readonly #descriptor: number;
  readonly #meta: MapMeta;
  readonly #leaf = new Leaf();
  /** Pages that were read last, from `#firstAhead` on; the leaf that was read last is among them. */
  readonly ahead: RowBytes;
  #firstAhead = 0;
  #countAhead = 0;
  #before = 0;

  /**
   * The map as it is now.
   *
   * @param descriptor of its file, which stays open. @throws InvariantError when its meta pages are damaged.
   */
  constructor(descriptor: number) {
    this.#descriptor = descriptor;
    this.#meta = readMetas(descriptor);
    this.ahead = rowBytes(Buffer.allocUnsafeSlow(PAGES_AHEAD * this.#meta.pageBytes));
  }

  get pageBytes(): number {
    return this.#meta.pageBytes;
  }

  /**
   * The leaves in which the entries are whose keys have a prefix, in order; among them may be others beside those. Each
   * lies in `ahead`, and is valid until the next is asked for: one walk at a time.
   */
  *of(prefix: Uint8Array): Generator<Leaf, void, undefined> {
    const { main, txn } = this.#meta;
    if (main.page === NO_PAGE) return;
    const place = { page: Number(main.page), depth: main.depth, txnMax: txn };
    if (main.depth > DEPTH_MAX) throw damagedPage(place.page, 'is too high a root');
    yield* this.#below(place, prefix);
  }

  /** The entries whose keys have a prefix; their bytes are valid until the next. */
  *entries(prefix: Uint8Array): Generator<Entry, void, undefined> {
    for (const leaf of this.of(prefix)) {
      for (let node = 0; node < leaf.nodes; node += 1) {
        leaf.read(node);
        if (leaf.compareKey(prefix) !== 0) continue;
        const key = leaf.bytes.subarray(leaf.keyAt, leaf.valueAt);
        const value = leaf.isElsewhere ? this.elsewhere(leaf) : leaf.bytes.subarray(leaf.valueAt, leaf.valueEnd);
        yield { key, value };
      }
    }
  }

  /** The value of the node that a leaf has read, where that is in pages of its own. */
  elsewhere(leaf: Leaf): Buffer {
    const { bytes, valueAt, valueBytes } = leaf;
    const { pageBytes } = this.#meta;
    const first = safeAt(bytes, valueAt);
    const count = safeAt(bytes, valueAt + 16);
    if (count !== Math.ceil((HEADER_BYTES + valueBytes) / pageBytes)) {
      throw leaf.damaged('has a value in the wrong number of pages');
    }
    const own = this.#pages(first, count);
    const txn = txnOf(own);
    const isOwn = own.readUInt16LE(18) === KIND.overflow && own.readUInt32LE(20) === count;
    if (!isOwn || txn !== safeAt(bytes, valueAt + 8) || txn > leaf.txn) {
      throw damagedPage(first, 'is not the value that points to it');
    }
    return own.subarray(HEADER_BYTES, HEADER_BYTES + valueBytes);
  }

  *#below(place: PagePlace, prefix: Uint8Array): Generator<Leaf, void, undefined> {
    if (place.depth === 1) {
      this.#leaf.open({ bytes: this.ahead.bytes, at: this.#leafAt(place.page) }, this.#meta.pageBytes, place);
      yield this.#leaf;
      return;
    }
    const branch = new Leaf();
    branch.open({ bytes: this.#pages(place.page, 1), at: 0 }, this.#meta.pageBytes, place);
    for (let node = 0; node < branch.nodes; node += 1) {
      // What is below a node lies from its key up to the next one's; the first key is left out.
      if (node > 0 && branch.compareBranch(node, prefix) > 0) return;
      if (node + 1 < branch.nodes && branch.compareBranch(node + 1, prefix) < 0) continue;
      yield* this.#below({ page: branch.child(node), depth: place.depth - 1, txnMax: branch.txn }, prefix);
    }
  }

  /** Pages that are not leaves, in memory of their own. */
  #pages(first: number, count: number): Buffer {
    const { pageBytes, lastPage } = this.#meta;
    if (first < META_PAGES || first + count - 1 > lastPage) throw damagedPage(first, 'is not in the file');
    const bytes = Buffer.allocUnsafeSlow(count * pageBytes);
    if (this.#read(first, count, bytes) < count) throw damagedPage(first, 'is cut off');
    if (safeAt(bytes, 0) !== first) throw damagedPage(first, 'is another page');
    return bytes;
  }

  /** @returns where the page lies in `ahead`. */
  #leafAt(page: number): number {
    const { pageBytes, lastPage } = this.#meta;
    const { bytes } = this.ahead;
    if (page < META_PAGES || page > lastPage) throw damagedPage(page, 'is not in the file');
    if (page < this.#firstAhead || page >= this.#firstAhead + this.#countAhead) {
      const isNext = page > this.#before && page <= this.#before + NEAR;
      // The file may end before the last page: one that was taken and given back is never written.
      const count = isNext ? Math.min(PAGES_AHEAD, lastPage + 1 - page) : 1;
      this.#countAhead = this.#read(page, count, bytes);
      if (this.#countAhead === 0) throw damagedPage(page, 'is cut off');
      this.#firstAhead = page;
    }
    this.#before = page;
    const at = (page - this.#firstAhead) * pageBytes;
    if (safeAt(bytes, at) !== page) throw damagedPage(page, 'is another page');
    return at;
  }

  /** @returns how many of them are whole. */
  #read(first: number, count: number, bytes: Buffer): number {
    const { pageBytes } = this.#meta;
    return Math.floor(readSync(this.#descriptor, bytes, 0, count * pageBytes, first * pageBytes) / pageBytes);
  }
}

/** Keys sort by their bytes. @returns 0 when the key begins with the prefix. */
function comparePrefix(bytes: Buffer, at: number, keyBytes: number, prefix: Uint8Array): number {
  for (let index = 0; index < prefix.length; index += 1) {
    if (index === keyBytes) return -1;
    const difference = (bytes[at + index] as number) - (prefix[index] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}
