/**
 * Finished orders of a market in blocks: what a checkpoint adds, about a page under one key, like trades
 * (trade-blocks.ts).
 *
 *   key     │ market 4 │ place 8 │                       the sequence of the order that was its first when it was written
 *   value   │ version 1 │ count 4 │ order │ order │ … │ CRC 4 │
 *   order   a row as the table of open orders has it, without its checksum (order-look.ts)
 *
 * An order that rested for long ends beside young ones, so blocks overlap: whatever leads to an order names the place of
 * its block. Orders go one by one (finished-orders.ts); a block of which nothing is left goes.
 *
 * Invariants
 *   (1) An order is in one block, so no two blocks of a market have one place.
 *   (2) Sequences rise within a block. Orders go; what remains is never changed, and neither is the key.
 */
import type { OrderRow } from '../clearing/rows.ts';
import { assert, InvariantError, must } from '../core/assert.ts';
import { isCancel } from '../core/order-terms.ts';
import type { Sequence } from '../core/units.ts';
import { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import type { StorageReader, Write } from './environment.ts';
import { checkFrame, encodeFrame, LAYOUT_VERSION } from './frames.ts';
import type { IdEntry } from './id-runs.ts';
import { type KeyWriter, keyWriter, TABLE } from './key-layout.ts';
import { OrderLook, rowBytes } from './order-look.ts';
import { orderCodec } from './row-codecs-orders.ts';
import { cutByBytes, type FinishedEntry } from './runs.ts';

/** Of orders in a block: with its frame and the header of its page they fill one. */
const BLOCK_BYTES = 4_063;
/** Version and count. */
const HEAD_BYTES = 5;
const COUNT_AT = 1;
/** An order whose ids, text and signature are empty. */
const ORDER_BYTES = 250;
/** Of a list of one user, that go on being asked for: a few in each market, as blocks overlap. */
const KEPT_BLOCKS_MAX = 32;

/** The place of a block: the sequence of an order that was in it. */
export type BlockPlace = Sequence;

/** An order that a checkpoint adds, with what lists say of it: rows wait for long, so each is looked at once. */
export interface EndedOrder extends Omit<FinishedEntry, 'block'>, IdEntry {
  readonly row: OrderRow;
  /** In its block. More than that where a text is not ASCII: then its block takes a page more. */
  readonly bytes: number;
  /** Known when all are. */
  block: BlockPlace;
}

/** @param row of an order that is over. */
export function endedOrder(row: OrderRow): EndedOrder {
  const { orderId, orderSequence, subAccount, timestampNs, creationNs, lastUpdateNs, end } = row;
  const { parentId, text, signature } = row;
  return {
    row,
    bytes: ORDER_BYTES + orderId.length + parentId.length + text.length + signature.length,
    block: orderSequence,
    timestampNs,
    orderId,
    orderSequence,
    subAccount,
    creationNs,
    lastUpdateNs,
    wasCancelled: end !== 0 && isCancel(end),
  };
}

/**
 * The blocks that one checkpoint adds to a market, and in each order the place of its own.
 *
 * @param ended sorted here, by their sequences.
 * @throws InvariantError when an order is there twice.
 */
export function* orderBlockWrites(
  to: ByteWriter,
  keys: KeyWriter,
  ended: EndedOrder[],
): Generator<Write, void, undefined> {
  ended.sort((a, b) => a.orderSequence - b.orderSequence);
  for (const piece of cutByBytes(ended, BLOCK_BYTES, bytesOf)) yield blockWrite(to, keys, piece);
}

function bytesOf({ bytes }: EndedOrder): number {
  return bytes;
}

function blockWrite(to: ByteWriter, keys: KeyWriter, ended: readonly EndedOrder[]): Write {
  const { marketIndex = 0, orderSequence: place = 0 as Sequence } = ended[0]?.row ?? {};
  let last = -1;
  for (const order of ended) {
    assert(order.orderSequence > last, `storage: order ${order.orderSequence} of a market is written once`);
    last = order.orderSequence;
    order.block = place;
  }
  const key = keys.ofMarket(TABLE.orderBlock, marketIndex, place);
  const value = encodeFrame(to, key, () => {
    to.u32(ended.length);
    for (const { row } of ended) {
      to.u8(LAYOUT_VERSION);
      orderCodec.write(to, row);
    }
  });
  return { key, value, rule: 'once' };
}

/** A block that was checked. */
interface OpenBlock {
  readonly body: Uint8Array;
  readonly sequences: readonly Sequence[];
  /** Where each order begins, and the end of the last. */
  readonly bounds: readonly number[];
}

/** Finds orders in one version of the tables. The blocks that it was led to last are read and checked once. */
export class OrderFinder {
  readonly #reader: StorageReader;
  /** By market and place, in the order of their last use. */
  readonly #kept = new Map<string, OpenBlock>();

  constructor(reader: StorageReader) {
    this.#reader = reader;
  }

  /** The finished order with that sequence, or null: its record is gone. @throws InvariantError when its block is damaged. */
  find(marketIndex: number, place: BlockPlace, orderSequence: Sequence): OrderRow | null {
    const block = this.#block(marketIndex, place);
    const index = block === null ? -1 : block.sequences.indexOf(orderSequence);
    return block === null || index < 0 ? null : orderCodec.read(new ByteReader(orderAt(block, index).subarray(1)));
  }

  #block(marketIndex: number, place: BlockPlace): OpenBlock | null {
    const name = `${marketIndex}/${place}`;
    const block = this.#kept.get(name) ?? this.#read(marketIndex, place);
    if (block === null) return null;
    this.#kept.delete(name);
    this.#kept.set(name, block);
    if (this.#kept.size > KEPT_BLOCKS_MAX) this.#kept.delete(must(this.#kept.keys().next().value, 'one is the oldest'));
    return block;
  }

  #read(marketIndex: number, place: BlockPlace): OpenBlock | null {
    const key = keyWriter().ofMarket(TABLE.orderBlock, marketIndex, place);
    const value = this.#reader.get(key);
    return value === null ? null : openBlock(key, value);
  }
}

/** A block without those orders; null when nothing is left of it. */
export function blockWithout(
  to: ByteWriter,
  key: Uint8Array,
  value: Uint8Array,
  gone: ReadonlySet<Sequence>,
): Uint8Array | null {
  const block = openBlock(key, value);
  const kept = [...block.sequences.keys()].filter((index) => !gone.has(block.sequences[index] as Sequence));
  if (kept.length === 0) return null;
  return encodeFrame(to, key, () => {
    to.u32(kept.length);
    for (const index of kept) to.raw(orderAt(block, index));
  });
}

function orderAt({ body, bounds }: OpenBlock, index: number): Uint8Array {
  return body.subarray(bounds[index], bounds[index + 1]);
}

/** @throws InvariantError unless it is as it was written. */
function openBlock(key: Uint8Array, value: Uint8Array): OpenBlock {
  const body = checkFrame(key, value);
  const lies = rowBytes(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  if (body[0] !== LAYOUT_VERSION || body.length < HEAD_BYTES)
    throw new InvariantError('storage: a block of a known layout');
  const look = new OrderLook();
  const sequences: Sequence[] = [];
  const bounds = [HEAD_BYTES];
  let at = HEAD_BYTES;
  while (at < body.length) {
    look.point(lies, at);
    sequences.push(look.orderSequence);
    at = look.endAt();
    bounds.push(at);
  }
  const isWhole = at === body.length && sequences.length === lies.view.getUint32(COUNT_AT);
  if (!isWhole) throw new InvariantError('storage: a block is as long as its orders');
  return { body, sequences, bounds };
}
