/**
 * Finished orders of a market in blocks: what a checkpoint adds, about a page under one key, like trades
 * (trade-blocks.ts).
 *
 *   key     │ market 4 │ place 8 │                       the sequence of the order that was its first when it was written
 *   value   │ version 1 │ count 4 │ record │ record │ … │ CRC 4 │
 *
 * An order that rested for long ends beside young ones, so blocks overlap: whatever leads to an order names the place of
 * its block (OrderOfId). Orders go one by one (finished-orders.ts); an empty block is removed.
 *
 * Invariants
 *   (1) An order is in one block, so no two blocks of a market have one place.
 *   (2) Sequences rise within a block. Orders go; what remains is never changed, and neither is the key.
 */

import { ORDER } from '../clearing/row-layouts.ts';
import type { OrderRow } from '../clearing/rows.ts';
import { assert, InvariantError, must } from '../core/assert.ts';
import { isCancel } from '../core/order-terms.ts';
import type { Sequence } from '../core/units.ts';
import { type Views, viewsOf } from '../core/views.ts';
import type { ByteWriter } from '../schema/byte-writer.ts';
import { OrderRecord, OrderRecordView } from '../schema/generated/messages.ts';
import { type Field, safe, struct } from '../schema/row-fields.ts';
import type { StorageReader, Write } from './environment.ts';
import { checkFrame, decodeFrame, encodeFrame, LAYOUT_VERSION } from './frames.ts';
import type { IdEntry } from './id-runs.ts';
import { type KeyWriter, keyWriter, TABLE } from './key-layout.ts';
import { encodeRun, type FinishedEntry } from './runs.ts';

/** This number of orders, the frame of their block and the header of its page fill a page. */
const ORDERS_PER_BLOCK = 13;
/** Version and count. */
const HEAD_BYTES = 5;
const COUNT_AT = 1;
/** Blocks of a list of one user that are read again: a few in each market, as blocks overlap. */
const KEPT_BLOCKS_MAX = 32;
/** Blocks that are read at a time when all are. */
const BLOCKS_PER_STEP = 64;

/** The place of a block: the sequence of an order that was in it. */
export type BlockPlace = Sequence;

/** An order that a checkpoint adds, with its entries of lists, which are read from its row once. */
export interface EndedOrder extends Omit<FinishedEntry, 'block'>, IdEntry {
  readonly row: OrderRow;
  /** Known when all are. */
  block: BlockPlace;
}

/** @param row of an order that is over; it stays as it is until its block is written. */
export function endedOrder(row: OrderRow): EndedOrder {
  const { orderId, orderSequence, subAccount, timestampNs, creationNs, lastUpdateNs, end } = row;
  const wasCancelled = end !== 0 && isCancel(end);
  return {
    row,
    block: orderSequence,
    timestampNs,
    orderId,
    orderSequence,
    subAccount,
    creationNs,
    lastUpdateNs,
    wasCancelled,
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
  for (let start = 0; start < ended.length; start += ORDERS_PER_BLOCK) {
    yield blockWrite(to, keys, ended.slice(start, start + ORDERS_PER_BLOCK));
  }
}

function blockWrite(to: ByteWriter, keys: KeyWriter, ended: readonly EndedOrder[]): Write {
  const { marketIndex, orderSequence: place } = must(ended[0], 'storage: a block holds an order').row;
  let last = -1;
  for (const order of ended) {
    assert(order.orderSequence > last, `storage: order ${order.orderSequence} of a market is written once`);
    last = order.orderSequence;
    order.block = place;
  }
  const key = keys.ofMarket(TABLE.orderBlock, marketIndex, place);
  const rows = ended.map(({ row }) => row);
  return { key, value: encodeRun(to, key, rows, ORDER.write), rule: 'once' };
}

/** A block that was checked. */
interface OpenBlock {
  /** One behind the other, from 0 on. */
  readonly records: Views;
  readonly sequences: readonly Sequence[];
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
    const view = this.view(marketIndex, place, orderSequence);
    return view === null ? null : OrderRecord.read(view.v, view.at);
  }

  /** The same order where it lies: a copy of its block, which is not changed. */
  view(marketIndex: number, place: BlockPlace, orderSequence: Sequence): OrderRecordView | null {
    const block = this.#block(marketIndex, place);
    const index = block === null ? -1 : block.sequences.indexOf(orderSequence);
    return block === null || index < 0 ? null : new OrderRecordView(block.records, index * OrderRecord.bytes);
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

/** Every finished order of a market whose record is kept, block by block; the accessor is valid until the next one. */
export function* finishedOrdersOf(
  reader: StorageReader,
  marketIndex: number,
): Generator<OrderRecordView, void, undefined> {
  const from = keyWriter().ofMarket(TABLE.orderBlock, marketIndex, 0 as Sequence);
  const to = keyWriter().ofMarket(TABLE.orderBlock, marketIndex, Number.MAX_SAFE_INTEGER as Sequence);
  for (const { key, value } of reader.entries({ from, to, perStep: BLOCKS_PER_STEP })) {
    const { records, sequences } = openBlock(key, value);
    for (const index of sequences.keys()) yield new OrderRecordView(records, index * OrderRecord.bytes);
  }
}

/** A block without those orders; null when nothing is left of it. */
export function blockWithout(
  to: ByteWriter,
  key: Uint8Array,
  value: Uint8Array,
  gone: ReadonlySet<Sequence>,
): Uint8Array | null {
  const { records, sequences } = openBlock(key, value);
  const kept = [...sequences.keys()].filter((index) => !gone.has(sequences[index] as Sequence));
  if (kept.length === 0) return null;
  return encodeFrame(to, key, () => {
    to.u32(kept.length);
    for (const index of kept) to.raw(records.u8.subarray(index * OrderRecord.bytes, (index + 1) * OrderRecord.bytes));
  });
}

/** @throws InvariantError unless it is as it was written. */
function openBlock(key: Uint8Array, value: Uint8Array): OpenBlock {
  const body = checkFrame(key, value);
  const bytes = body.length - HEAD_BYTES;
  if (bytes < 0 || bytes % OrderRecord.bytes !== 0 || body[0] !== LAYOUT_VERSION) throw notWhole();
  const records = viewsOf(new ArrayBuffer(bytes), 0, bytes);
  records.u8.set(body.subarray(HEAD_BYTES));
  const sequences: Sequence[] = [];
  for (let at = 0; at < bytes; at += OrderRecord.bytes) sequences.push(OrderRecord.orderSequence(records, at));
  const view = new DataView(body.buffer, body.byteOffset, HEAD_BYTES);
  if (view.getUint32(COUNT_AT) !== sequences.length) throw notWhole();
  return { records, sequences };
}

function notWhole(): InvariantError {
  return new InvariantError('storage: a block is as long as its orders');
}

/**
 * The value of the id of a finished order (table 34): the last order of that id, and the place of its record. A user may
 * use an id again once it is removed, or earlier where it was never taken: the later order replaces the entry.
 */
interface OrderOfId {
  readonly orderSequence: Sequence;
  readonly block: BlockPlace;
}

export const ORDER_OF_ID: Field<OrderOfId> = struct<OrderOfId>({ orderSequence: safe, block: safe });

export function encodeOrderOfId(to: ByteWriter, key: Uint8Array, order: OrderOfId): Uint8Array {
  return encodeFrame(to, key, () => ORDER_OF_ID.write(to, order));
}

/** @throws InvariantError unless what is written under a key is a later order than what is there: each ends once. */
export function checkOrderOfId(key: Uint8Array, before: Uint8Array, after: Uint8Array): void {
  const { orderSequence } = decodeFrame(key, after, ORDER_OF_ID.read);
  // mutant: finished-order-once
  if (decodeFrame(key, before, ORDER_OF_ID.read).orderSequence < orderSequence) return;
  throw new InvariantError(`storage: finished order ${orderSequence} is written once, after those that had its id`);
}
