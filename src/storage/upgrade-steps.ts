/**
 * What changed from one version of the data to the next, as conversions of entries: a new map of version n + 1 is made of
 * one of version n (copy-map.ts). A step that is released is never changed; it reads layouts that nothing else knows any
 * more, so they are written down here.
 *
 *   5 ─▶ 6   entries of runs of finished orders and of trades say their sub-account
 *   6 ─▶ 7   where the journal begins stands in the map, and its size in the checkpoint; an order's row says what is in
 *            force of a child that is released in part, and what of that nobody matched
 *   7 ─▶ 8   trades stand in blocks (trade-blocks.ts): those of before in blocks of one; a tally carries the facts that it
 *            has not hashed yet: before, it hashed each at once
 *   8 ─▶ 9   finished orders stand in blocks (order-blocks.ts): those of before in blocks of one; whatever leads to one
 *            says where
 *   9 ─▶ 10  a run of trades says how many of its list are older; a market has a minimum notional, the default; other
 *            decisions follow from the same inputs, so the journal of before ends here
 *
 * Only tables are converted. Records of the journal are read by the rules of their time, so the journal of the new map
 * begins with the one that the tables reflect (journal-base.ts).
 */

import { must } from '../core/assert.ts';
import type { OrderId } from '../core/ids.ts';
import { MINIMUM_NOTIONAL } from '../core/limits.ts';
import { TIF, TRIGGER_STATE } from '../core/order-terms.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import type { Convert } from './copy-map.ts';
import type { Entry, StorageReader } from './environment.ts';
import { checkFrame, decodeFrame, encodeFrame } from './frames.ts';
import { keyWriter, TABLE, TRADE_SIDE, type TradeSideIndex } from './key-layout.ts';
import { TRADE } from './row-tables.ts';
import {
  decodeRun,
  encodeRun,
  encodeTradeRun,
  FINISHED_RUNS,
  type FinishedPlace,
  type LastTradeRun,
  LIST_NAME_BYTES,
  listNameOf,
  olderThan,
  TRADE_RUNS,
} from './runs.ts';

const SAFE_BYTES = 8;
const NOTHING = new Uint8Array(SAFE_BYTES);

export interface UpgradeStep {
  readonly from: number;
  /** @param source the whole map of version `from`, for entries that say what others must know. */
  convert(source: StorageReader): Convert;
}

export const UPGRADE_STEPS: readonly UpgradeStep[] = [
  { from: 5, convert: (source) => (entry, to) => withSubAccounts(source, entry, to) },
  { from: 6, convert: () => withActivated },
  { from: 7, convert: () => withBlocksAndPieces },
  { from: 8, convert: () => withOrderBlocks },
  { from: 9, convert: () => withOlderAndNotional() },
];

const withSubAccounts = (source: StorageReader, entry: Entry, to: Parameters<Convert>[1]): Uint8Array => {
  const { key } = entry;
  if (key[0] === TABLE.finishedRun) {
    const { marketIndex } = listNameOf(key);
    const items = decodeRun(entry, readFinished5).map((item) => {
      const key = keyWriter().ofMarket(TABLE.orderBlock, marketIndex, item.orderSequence);
      return { ...item, subAccount: checkFrame(key, rowBytes(source, key))[ORDER_6.subAccount] as number };
    });
    return encodeRun(to, key, items, writeFinished8);
  }
  if (key[0] !== TABLE.tradeRun) return entry.value;
  const { marketIndex } = listNameOf(key);
  const items = decodeRun(entry, readTrade5).map((item) => {
    const tradeKey = keyWriter().ofMarket(TABLE.tradeBlock, marketIndex, item.tradeId);
    const { maker, taker } = decodeFrame(tradeKey, rowBytes(source, tradeKey), TRADE.read);
    return { ...item, subAccount: (item.side === TRADE_SIDE.maker ? maker : taker).subAccount };
  });
  return encodeRun(to, key, items, TRADE_RUNS.write);
};

function rowBytes(source: StorageReader, key: Uint8Array): Uint8Array {
  return must(source.get(key), 'storage: the row of which a run tells is there');
}

/** An entry of a finished run in version 5. */
function readFinished5(from: ByteReader): { timestampNs: TimestampNs; orderId: OrderId; orderSequence: Sequence } {
  return {
    timestampNs: from.u64() as TimestampNs,
    orderId: from.text() as OrderId,
    orderSequence: from.safe() as Sequence,
  };
}

/** An entry of a trade run in version 5. */
function readTrade5(from: ByteReader): { matchedNs: TimestampNs; tradeId: Sequence; side: TradeSideIndex } {
  return { matchedNs: from.u64() as TimestampNs, tradeId: from.safe() as Sequence, side: from.u8() as TradeSideIndex };
}

/**
 * Places in an order's row of versions 5 and 6: ids of any length stand before its terms and before its figures, which
 * begin with the lots that are enabled.
 */
const ORDER_6 = {
  subAccount: 53,
  idLength: 54,
  id: 58,
  tif: 2,
  triggerState: 48,
  parent: 49,
  parentIdLength: 57,
  parentId: 61,
  filled: 64,
};

/**
 * Versions 5 and 6 took all that was enabled of a released child for released, and ended one that never rests with its
 * last match: what it had not filled was dropped.
 */
function withActivated({ key, value }: Entry, to: ByteWriter): Uint8Array {
  if (key[0] !== TABLE.openOrder && key[0] !== TABLE.orderBlock) return value;
  const body = checkFrame(key, value);
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const terms = ORDER_6.id + view.getUint32(ORDER_6.idLength);
  const figures = terms + ORDER_6.parentId + view.getUint32(terms + ORDER_6.parentIdLength);
  const isChild = view.getBigUint64(terms + ORDER_6.parent) !== 0n;
  const isReleased = body[terms + ORDER_6.triggerState] === TRIGGER_STATE.live;
  const isActivated = isChild && isReleased;
  const tif = body[terms + ORDER_6.tif];
  const neverRests = tif === TIF.ioc || tif === TIF.fok;
  const left = view.getBigUint64(figures) - view.getBigUint64(figures + ORDER_6.filled);
  const enabled = body.subarray(figures, figures + SAFE_BYTES);
  return encodeFrame(to, key, () => {
    to.raw(body.subarray(1, figures + SAFE_BYTES));
    to.raw(isActivated ? enabled : NOTHING);
    to.u64(isActivated && neverRests && left > 0n ? left : 0n);
    to.raw(body.subarray(figures + SAFE_BYTES));
  });
}

/** Versions 5 to 7 had one trade under each key, and tallies with nothing pending. */
function withBlocksAndPieces({ key, value }: Entry, to: ByteWriter): Uint8Array {
  const [table] = key;
  if (table !== TABLE.tradeBlock && table !== TABLE.tally) return value;
  const body = checkFrame(key, value).subarray(1);
  return encodeFrame(to, key, () => {
    if (table === TABLE.tradeBlock) to.u32(1);
    to.raw(body);
    if (table === TABLE.tally) to.u32(0);
  });
}

/** An entry of a finished run in versions 6 to 8. */
interface Finished8 extends FinishedPlace {
  readonly orderSequence: Sequence;
  readonly subAccount: number;
}

function writeFinished8(to: ByteWriter, { timestampNs, orderId, orderSequence, subAccount }: Finished8): void {
  to.u64(timestampNs);
  to.text(orderId);
  to.safe(orderSequence);
  to.u8(subAccount);
}

function readFinished8(from: ByteReader): Finished8 {
  return {
    timestampNs: from.u64() as TimestampNs,
    orderId: from.text() as OrderId,
    orderSequence: from.safe() as Sequence,
    subAccount: from.u8(),
  };
}

/** Up to version 8 a finished order had a key of its own: its sequence, which is the place of a block of one. */
function withOrderBlocks(entry: Entry, to: ByteWriter): Uint8Array {
  const { key, value } = entry;
  if (key[0] === TABLE.orderBlock) {
    const row = checkFrame(key, value);
    return encodeFrame(to, key, () => {
      to.u32(1);
      to.raw(row);
    });
  }
  if (key[0] === TABLE.finishedRun) {
    const items = decodeRun(entry, readFinished8).map((item) => ({ ...item, block: item.orderSequence }));
    return encodeRun(to, key, items, FINISHED_RUNS.write);
  }
  if (key[0] !== TABLE.finishedById) return value;
  const sequence = checkFrame(key, value).subarray(1);
  return encodeFrame(to, key, () => {
    to.raw(sequence);
    to.raw(sequence);
  });
}

/** A run of trades of versions 6 to 9 does not say how many are older: runs of a list come oldest first. */
function withOlderAndNotional(): Convert {
  let list: Uint8Array = new Uint8Array();
  let last: LastTradeRun | null = null;
  return (entry, to) => {
    const { key, value } = entry;
    if (key[0] === TABLE.market) return withMinimumNotional(entry, to);
    if (key[0] !== TABLE.tradeRun) return value;
    const name = key.subarray(0, LIST_NAME_BYTES);
    if (Buffer.compare(name, list) !== 0) [list, last] = [Uint8Array.from(name), null];
    const items = decodeRun(entry, TRADE_RUNS.read);
    const [newest, oldest] = [must(items[0], 'a run holds something'), must(items.at(-1), 'a run holds something')];
    const older = olderThan(last, oldest);
    last = { place: newest, older, count: items.length };
    return encodeTradeRun(to, key, { older, items });
  };
}

/** The minimum stands between the definition and the two sequences at the end of a market's row. */
function withMinimumNotional({ key, value }: Entry, to: ByteWriter): Uint8Array {
  const body = checkFrame(key, value).subarray(1);
  const definitionEnd = body.length - 2 * SAFE_BYTES;
  return encodeFrame(to, key, () => {
    to.raw(body.subarray(0, definitionEnd));
    to.integer(MINIMUM_NOTIONAL);
    to.raw(body.subarray(definitionEnd));
  });
}
