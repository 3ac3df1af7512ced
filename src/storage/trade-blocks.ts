/**
 * Trades of a market in blocks: what a checkpoint adds, some twenty under one key, so that a trade costs neither a call of
 * lmdb nor a share of half-empty pages.
 *
 *   key     │ market 4 │ id of the first trade 8 │
 *   value   │ version 1 │ count 4 │ trade │ trade │ … │ CRC 4 │         about as long as a page of the map
 *
 * A trade (row-layouts.ts) has its id at its beginning and two order ids, which alone differ in length: a search
 * passes over the others without decoding them.
 *
 * Invariants
 *   (1) Ids rise within a block and from block to block, so the block of a trade is the last that begins at or before it.
 *   (2) A block is never changed.
 */

import { TRADE } from '../clearing/row-layouts.ts';
import type { TradeRow } from '../clearing/rows.ts';
import { assert, InvariantError, must } from '../core/assert.ts';
import type { Sequence } from '../core/units.ts';
import { ByteReader } from '../schema/byte-reader.ts';
import type { ByteWriter } from '../schema/byte-writer.ts';
import type { Entry, StorageReader, Write } from './environment.ts';
import { checkFrame } from './frames.ts';
import { type KeyWriter, keyWriter, TABLE } from './key-layout.ts';
import { cutByBytes, decodeRun, encodeRun } from './runs.ts';

/** Bytes of trades in a block: with its frame and the header of its page they fill a page. */
const BLOCK_BYTES = 4_063;
/** Version and count. */
const HEAD_BYTES = 5;
/** Places in a trade: market first, then its id; each side begins with user and sub-account. */
const TRADE_ID_AT = 4;
const SIDES_AT = 39;
const SIDE_HEAD_BYTES = 33;
const SIDE_TAIL_BYTES = 24;
const LENGTH_BYTES = 4;
const TRADE_BYTES = SIDES_AT + 2 * (SIDE_HEAD_BYTES + LENGTH_BYTES + SIDE_TAIL_BYTES);
const BLOCKS_PER_STEP = 16;
/** Blocks that one finder keeps, of as many markets: some 500 KB. */
const KEPT_BLOCKS_MAX = 64;

/**
 * The blocks of trades that one checkpoint adds to a market, in the order of their ids.
 *
 * @throws InvariantError unless every trade comes after all that the market has.
 */
export function* tradeBlockWrites(
  reader: StorageReader,
  to: ByteWriter,
  keys: KeyWriter,
  trades: readonly TradeRow[],
): Generator<Write, void, undefined> {
  const { marketIndex = 0 } = trades[0] ?? {};
  let last = lastTradeId(reader, marketIndex);
  for (const { tradeId } of trades) {
    assert(tradeId > last, `storage: trade ${tradeId} of market ${marketIndex} is written once, after those before it`);
    last = tradeId;
  }
  for (const piece of cutByBytes(trades, BLOCK_BYTES, bytesOf)) yield blockWrite(to, keys, piece);
}

function bytesOf({ maker, taker }: TradeRow): number {
  return TRADE_BYTES + maker.orderId.length + taker.orderId.length;
}

function blockWrite(to: ByteWriter, keys: KeyWriter, trades: readonly TradeRow[]): Write {
  const { marketIndex, tradeId } = must(trades[0], 'storage: a block holds a trade');
  const key = keys.ofMarket(TABLE.tradeBlock, marketIndex, tradeId);
  return { key, value: encodeRun(to, key, trades, TRADE.write), rule: 'once' };
}

/** A block that was checked: a copy. */
interface OpenBlock {
  readonly body: Uint8Array;
  /** Where in it each trade begins. */
  readonly places: ReadonlyMap<number, number>;
}

/**
 * Finds trades by their ids in one version of the tables. Of each market the block that it read last is kept: lists are read
 * in the order of ids, and a block has some twenty.
 */
export class TradeFinder {
  readonly #reader: Pick<StorageReader, 'range'>;
  /** By market, in the order of their reading. */
  readonly #kept = new Map<number, OpenBlock>();

  constructor(reader: Pick<StorageReader, 'range'>) {
    this.#reader = reader;
  }

  /** The trade with that id. @throws InvariantError when it is not there, or its block is damaged. */
  find(marketIndex: number, tradeId: Sequence): TradeRow {
    const { body, at } = this.#placeOf(marketIndex, tradeId);
    return TRADE.read(new ByteReader(body.subarray(at)));
  }

  #placeOf(marketIndex: number, tradeId: Sequence): { readonly body: Uint8Array; readonly at: number } {
    const kept = this.#kept.get(marketIndex);
    const known = kept?.places.get(tradeId);
    if (kept !== undefined && known !== undefined) return { body: kept.body, at: known };
    const entry = blockAt(this.#reader, marketIndex, tradeId);
    const block = entry === null ? null : openBlock(entry);
    const at = block?.places.get(tradeId);
    if (block === null || at === undefined) {
      throw new InvariantError(`storage: trade ${tradeId} of market ${marketIndex} is missing`);
    }
    this.#kept.delete(marketIndex);
    this.#kept.set(marketIndex, block);
    if (this.#kept.size > KEPT_BLOCKS_MAX) this.#kept.delete(must(this.#kept.keys().next().value, 'one is the oldest'));
    return { body: block.body, at };
  }
}

/** Trades of a market, newest first. @param below only ids less than this; null for all. */
export function* tradesBefore(
  reader: StorageReader,
  marketIndex: number,
  below: Sequence | null,
): Generator<TradeRow, void, undefined> {
  const { from, to } = bounds(marketIndex, below ?? Number.MAX_SAFE_INTEGER);
  for (const block of reader.entries({ from, to, newestFirst: true, perStep: BLOCKS_PER_STEP })) {
    const trades = tradesOf(block);
    for (const trade of trades.reverse()) if (below === null || trade.tradeId < below) yield trade;
  }
}

/** Trades of a market with ids above `tradeId`, oldest first. */
export function* tradesAfter(
  reader: StorageReader,
  marketIndex: number,
  tradeId: Sequence,
): Generator<TradeRow, void, undefined> {
  const { from, to } = bounds(marketIndex, Number.MAX_SAFE_INTEGER);
  const first = blockAt(reader, marketIndex, tradeId)?.key ?? from;
  for (const block of reader.entries({ from: first, to, perStep: BLOCKS_PER_STEP })) {
    for (const trade of tradesOf(block)) if (trade.tradeId > tradeId) yield trade;
  }
}

/** 0 before the first. */
function lastTradeId(reader: StorageReader, marketIndex: number): number {
  const block = blockAt(reader, marketIndex, Number.MAX_SAFE_INTEGER - 1);
  return block === null ? 0 : (tradesOf(block).at(-1)?.tradeId ?? 0);
}

function tradesOf(block: Entry): TradeRow[] {
  return decodeRun(block, TRADE.read);
}

/** The last block that begins at or before that id. */
function blockAt(reader: Pick<StorageReader, 'range'>, marketIndex: number, tradeId: number): Entry | null {
  const [block] = reader.range({ ...bounds(marketIndex, tradeId + 1), newestFirst: true, limit: 1 });
  return block ?? null;
}

/** @throws InvariantError unless it is as it was written. */
function openBlock({ key, value }: Entry): OpenBlock {
  const body = checkFrame(key, value).slice();
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const places = new Map<number, number>();
  let at = HEAD_BYTES;
  while (at < body.length) {
    places.set(Number(view.getBigUint64(at + TRADE_ID_AT)), at);
    at += SIDES_AT;
    for (let side = 0; side < 2; side += 1) {
      at += SIDE_HEAD_BYTES;
      at += LENGTH_BYTES + view.getUint32(at) + SIDE_TAIL_BYTES;
    }
  }
  return { body, places };
}

/** Keys of blocks that begin below that id. */
function bounds(marketIndex: number, below: number): { readonly from: Uint8Array; readonly to: Uint8Array } {
  const keys = keyWriter();
  return {
    from: keys.ofMarket(TABLE.tradeBlock, marketIndex, 0),
    to: keys.ofMarket(TABLE.tradeBlock, marketIndex, below),
  };
}
