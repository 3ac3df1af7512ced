/**
 * What changed from one version of the data to the next, as conversions of entries: a new map of version n + 1 is made of
 * one of version n (copy-map.ts). A step that is released is never changed; it reads layouts that nothing else knows any
 * more, so they are written down here.
 *
 *   5 ─▶ 6   entries of runs of finished orders and of trades say their sub-account
 *   6 ─▶ 7   where the journal begins stands in the map, and its size in the checkpoint; the tables stay as they are
 *
 * Only tables are converted. Records of the journal are read by the rules of their time, so the journal of the new map
 * begins with the one that the tables reflect (journal-base.ts).
 */

import { must } from '../core/assert.ts';
import type { OrderId } from '../core/ids.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { ByteReader } from './byte-reader.ts';
import type { Convert } from './copy-map.ts';
import type { Entry, StorageReader } from './environment.ts';
import { keyWriter, TABLE, TRADE_SIDE, type TradeSideIndex } from './key-layout.ts';
import { decodeRow } from './row-codecs.ts';
import { decodeRun, encodeRun, FINISHED_RUNS, listNameOf, TRADE_RUNS } from './runs.ts';

export interface UpgradeStep {
  readonly from: number;
  /** @param source the whole map of version `from`, for entries that say what others must know. */
  convert(source: StorageReader): Convert;
}

export const UPGRADE_STEPS: readonly UpgradeStep[] = [
  { from: 5, convert: (source) => (entry, to) => withSubAccounts(source, entry, to) },
  {
    from: 6,
    convert:
      () =>
      ({ value }) =>
        value,
  },
];

const withSubAccounts = (source: StorageReader, entry: Entry, to: Parameters<Convert>[1]): Uint8Array => {
  const { key } = entry;
  if (key[0] === TABLE.finishedRun) {
    const { marketIndex } = listNameOf(key);
    const items = decodeRun(entry, readFinished5).map((item) => {
      const row = rowOf(source, 'order', TABLE.finishedOrder, marketIndex, item.orderSequence);
      return { ...item, subAccount: row.subAccount };
    });
    return encodeRun(to, key, items, FINISHED_RUNS.write);
  }
  if (key[0] !== TABLE.tradeRun) return entry.value;
  const { marketIndex } = listNameOf(key);
  const items = decodeRun(entry, readTrade5).map((item) => {
    const { maker, taker } = rowOf(source, 'trade', TABLE.trade, marketIndex, item.tradeId);
    return { ...item, subAccount: (item.side === TRADE_SIDE.maker ? maker : taker).subAccount };
  });
  return encodeRun(to, key, items, TRADE_RUNS.write);
};

type RowOf<T extends 'order' | 'trade'> = ReturnType<typeof decodeRow<T>>;

function rowOf<T extends 'order' | 'trade'>(
  source: StorageReader,
  kind: T,
  table: typeof TABLE.finishedOrder | typeof TABLE.trade,
  marketIndex: number,
  sequence: Sequence,
): RowOf<T> {
  const key = keyWriter().ofMarket(table, marketIndex, sequence);
  return decodeRow(
    kind,
    key,
    must(source.get(key), `storage: the ${kind} ${marketIndex} ${sequence} of a run is there`),
  );
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
