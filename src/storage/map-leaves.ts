/**
 * The entries of one table, read leaf by leaf from the map's file without lmdb: a start reads all of them once, and a
 * call and two buffers for each are most of what that would cost. Only for who holds the directory, and writes nothing
 * meanwhile: pages of an older version may be used again.
 *
 *   leaf as it lies   │ header │ offsets of nodes │ … free … │ node │ node │ … │      ── compact ──▶      │ node │ node │ … │
 *
 * A leaf is read to wherever its reader wants it, so that what shall stay is copied once. What pages promise is checked
 * as far as reading needs it; what entries say, and that all are there, checksums and sums tell (load-rows.ts).
 */
import { closeSync, openSync, readSync } from 'node:fs';
import type { Entry } from './environment.ts';
import { type MapMeta, META_PAGES, readMetas } from './map-meta.ts';
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

/** Bytes that nothing is in yet. */
export interface Room {
  readonly bytes: Buffer;
  readonly at: number;
}

/** Gives room for so many bytes. */
export type GiveRoom = (byteLength: number) => Room;

/** One leaf at a time, and one of its nodes: what `next` reads is over with the next. */
export class Leaf {
  bytes: Buffer = Buffer.alloc(0);
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
  #offsets: Uint16Array = new Uint16Array(0);
  #upper = 0;
  /** Where offset 0 would be. */
  #base = 0;
  #end = 0;

  /** @throws InvariantError when these are not the bytes of that page. */
  open({ bytes, at }: Room, pageBytes: number, place: PagePlace): void {
    const { nodes, upper, txn } = treePageHeader(bytes, at, place);
    this.bytes = bytes;
    this.nodes = nodes;
    this.#page = place.page;
    this.#txn = txn;
    this.#upper = upper;
    this.#base = at + HEADER_BYTES;
    this.#end = at + pageBytes;
    if (this.#offsets.length < nodes) this.#offsets = new Uint16Array(2 * nodes);
    for (let node = 0; node < nodes; node += 1) this.#offsets[node] = bytes.readUInt16LE(this.#base + 2 * node);
  }

  /** Moves the nodes to the front. @returns how many bytes they are. */
  compact(): number {
    const from = this.#base + this.#upper;
    const to = this.#base - HEADER_BYTES;
    this.bytes.copyWithin(to, from, this.#end);
    this.#base = to - this.#upper;
    this.#end -= from - to;
    return this.#end - to;
  }

  read(node: number): void {
    const offset = this.#offsets[node] as number;
    const at = this.#base + offset;
    if (offset < this.#upper || at + NODE_BYTES > this.#end) throw this.damaged('has a node beyond its end');
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

  get txn(): number {
    return this.#txn;
  }

  damaged(how: string): Error {
    return damagedPage(this.#page, how);
  }
}

export class MapLeaves {
  readonly #descriptor: number;
  readonly #meta: MapMeta;
  readonly #leaf = new Leaf();

  /** @throws InvariantError when its meta pages are damaged. */
  constructor(path: string) {
    this.#descriptor = openSync(path, 'r');
    this.#meta = readMetas(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** The leaves in which the entries of a table are, in order; among them may be others, of the tables beside it. */
  *of(table: number, room: GiveRoom): Generator<Leaf, void, undefined> {
    const { main, txn } = this.#meta;
    if (main.page === NO_PAGE) return;
    const place = { page: Number(main.page), depth: main.depth, txnMax: txn };
    if (main.depth > DEPTH_MAX) throw damagedPage(place.page, 'is too high a root');
    yield* this.#below(place, table, room);
  }

  /** The entries of a table; their bytes are valid until the next. */
  *entries(table: number): Generator<Entry, void, undefined> {
    const scratch = Buffer.allocUnsafeSlow(this.#meta.pageBytes);
    const room = { bytes: scratch, at: 0 };
    for (const leaf of this.of(table, () => room)) {
      for (let node = 0; node < leaf.nodes; node += 1) {
        leaf.read(node);
        if (leaf.bytes[leaf.keyAt] !== table) continue;
        const key = leaf.bytes.subarray(leaf.keyAt, leaf.valueAt);
        if (!leaf.isElsewhere) yield { key, value: leaf.bytes.subarray(leaf.valueAt, leaf.valueEnd) };
        else {
          const { bytes, at } = this.elsewhere(leaf, fresh);
          yield { key, value: bytes.subarray(at, at + leaf.valueBytes) };
        }
      }
    }
  }

  /** The value of the node that a leaf has read, where that is in pages of its own. @returns where it begins. */
  elsewhere(leaf: Leaf, room: GiveRoom): Room {
    const { bytes, valueAt, valueBytes } = leaf;
    const { pageBytes } = this.#meta;
    const first = safeAt(bytes, valueAt);
    const count = safeAt(bytes, valueAt + 16);
    if (count !== Math.ceil((HEADER_BYTES + valueBytes) / pageBytes)) {
      throw leaf.damaged('has a value in the wrong number of pages');
    }
    const own = this.#pages(first, count, room);
    const txn = txnOf(own.bytes, own.at);
    const isOwn =
      own.bytes.readUInt16LE(own.at + 18) === KIND.overflow && own.bytes.readUInt32LE(own.at + 20) === count;
    if (!isOwn || txn !== safeAt(bytes, valueAt + 8) || txn > leaf.txn) {
      throw damagedPage(first, 'is not the value that points to it');
    }
    return { bytes: own.bytes, at: own.at + HEADER_BYTES };
  }

  *#below(place: PagePlace, table: number, room: GiveRoom): Generator<Leaf, void, undefined> {
    if (place.depth === 1) {
      this.#leaf.open(this.#pages(place.page, 1, room), this.#meta.pageBytes, place);
      yield this.#leaf;
      return;
    }
    const { bytes } = this.#pages(place.page, 1, fresh);
    const { nodes, txn, upper } = treePageHeader(bytes, 0, place);
    const nodeAt = (node: number): number => {
      const offset = bytes.readUInt16LE(HEADER_BYTES + 2 * node);
      if (offset < upper || offset + HEADER_BYTES + NODE_BYTES >= bytes.length + (node === 0 ? 1 : 0))
        throw damagedPage(place.page, 'has a node beyond its end');
      return offset + HEADER_BYTES;
    };
    for (let node = 0; node < nodes; node += 1) {
      // What is below a node lies from its key up to the next one's; the first key is left out.
      if (node > 0 && (bytes[nodeAt(node) + NODE_BYTES] as number) > table) return;
      if (node + 1 < nodes && (bytes[nodeAt(node + 1) + NODE_BYTES] as number) < table) continue;
      const at = nodeAt(node);
      const page = bytes.readUInt32LE(at) + bytes.readUInt16LE(at + 4) * 2 ** 32;
      yield* this.#below({ page, depth: place.depth - 1, txnMax: txn }, table, room);
    }
  }

  #pages(first: number, count: number, giveRoom: GiveRoom): Room {
    const { pageBytes, lastPage } = this.#meta;
    if (first < META_PAGES || first + count - 1 > lastPage) throw damagedPage(first, 'is not in the file');
    const room = giveRoom(count * pageBytes);
    const { bytes, at } = room;
    if (readSync(this.#descriptor, bytes, at, count * pageBytes, first * pageBytes) !== count * pageBytes) {
      throw damagedPage(first, 'is cut off');
    }
    if (safeAt(bytes, at) !== first) throw damagedPage(first, 'is another page');
    return room;
  }
}

function fresh(byteLength: number): Room {
  return { bytes: Buffer.allocUnsafeSlow(byteLength), at: 0 };
}
