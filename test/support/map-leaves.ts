/** Where the entries of a map lie in its file: what damage is aimed with. Reads beside a writer, so pages may contradict. */
import { readSync } from 'node:fs';
import {
  damagedPage,
  HEADER_BYTES,
  IN_PAGES_OF_ITS_OWN,
  META_PAGES,
  NO_PAGE,
  NODE_BYTES,
  type PagePlace,
  readMetas,
  safeAt,
  treePageHeader,
} from '../../src/storage/map-pages.ts';

/** A part of the file. */
export interface Piece {
  readonly at: number;
  readonly byteLength: number;
}

export interface LeafPage {
  readonly page: number;
  /** Its entries: where the key and the value of each are. */
  readonly entries: readonly { readonly key: Piece; readonly value: Piece; readonly table: number }[];
}

export function pageBytesOf(descriptor: number): number {
  return readMetas(descriptor).pageBytes;
}

/** The leaves of the map as it is now, in the order of their keys. @throws InvariantError at a page that is no tree page. */
export function* leavesOf(descriptor: number): Generator<LeafPage, void, undefined> {
  const { main, txn, pageBytes, lastPage } = readMetas(descriptor);
  if (main.page === NO_PAGE) return;
  function* below(place: PagePlace): Generator<LeafPage, void, undefined> {
    const { page, depth } = place;
    if (page < META_PAGES || page > lastPage) throw damagedPage(page, 'is not in the file');
    const bytes = Buffer.alloc(pageBytes);
    readSync(descriptor, bytes, 0, pageBytes, page * pageBytes);
    if (safeAt(bytes, 0) !== page) throw damagedPage(page, 'is another page');
    const { nodes, txn: written } = treePageHeader(bytes, 0, place);
    if (HEADER_BYTES + 2 * nodes > pageBytes) throw damagedPage(page, 'has more nodes than room');
    const places = Array.from({ length: nodes }, (_, node) => nodeAt(bytes, page, node));
    if (depth === 1) yield { page, entries: places.map((at) => entryAt(bytes, page, at)) };
    else {
      for (const at of places) {
        const child = bytes.readUInt32LE(at) + bytes.readUInt16LE(at + 4) * 2 ** 32;
        yield* below({ page: child, depth: depth - 1, txnMax: written });
      }
    }
  }
  yield* below({ page: Number(main.page), depth: main.depth, txnMax: txn });
}

function nodeAt(bytes: Buffer, page: number, node: number): number {
  const at = HEADER_BYTES + bytes.readUInt16LE(HEADER_BYTES + 2 * node);
  if (at + NODE_BYTES > bytes.length) throw damagedPage(page, 'has a node beyond its end');
  return at;
}

function entryAt(bytes: Buffer, page: number, at: number): LeafPage['entries'][number] {
  const base = page * bytes.length;
  const keyAt = at + NODE_BYTES;
  const valueAt = keyAt + bytes.readUInt16LE(at + 6);
  if (valueAt > bytes.length) throw damagedPage(page, 'has a key beyond its end');
  const isElsewhere = bytes.readUInt16LE(at + 4) === IN_PAGES_OF_ITS_OWN;
  const from = isElsewhere ? safeAt(bytes, valueAt) * bytes.length + HEADER_BYTES : base + valueAt;
  return {
    key: { at: base + keyAt, byteLength: valueAt - keyAt },
    value: { at: from, byteLength: bytes.readUInt32LE(at) },
    table: bytes[keyAt] ?? 0,
  };
}
