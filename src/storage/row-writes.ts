/**
 * From a changed row to the writes it means: the row under its key and, for finished orders and trades, the entries of
 * the lists that lead to it (key-layout.ts).
 */
import type { OrderRow, RowWrite, TradeRow } from '../clearing/rows.ts';
import { unreachable } from '../core/assert.ts';
import type { ByteWriter } from './byte-writer.ts';
import type { Write } from './environment.ts';
import { KeyWriter, TABLE, TRADE_SIDE, type TradeSideIndex } from './key-layout.ts';
import { encodeFrame, encodeRow } from './row-codecs.ts';
import type { UserCounts } from './user-counts.ts';

export class RowWrites {
  readonly #bytes: ByteWriter;
  readonly #keys: KeyWriter;
  readonly #counts: UserCounts;

  constructor(bytes: ByteWriter, counts: UserCounts) {
    this.#bytes = bytes;
    this.#keys = new KeyWriter(bytes);
    this.#counts = counts;
  }

  of(change: RowWrite): readonly Write[] {
    if (change.table === 'order') return this.#order(change.row);
    if (change.table === 'trade') return this.#trade(change.row);
    const key = keyOf(this.#keys, change);
    return [{ key, value: encodeRow(this.#bytes, change.table, key, change.row) }];
  }

  #order(row: OrderRow): readonly Write[] {
    const { marketIndex, orderSequence } = row;
    const openKey = this.#keys.ofMarket(TABLE.openOrder, marketIndex, orderSequence);
    if (row.end === 0) return [{ key: openKey, value: encodeRow(this.#bytes, 'order', openKey, row) }];

    this.#counts.add(TABLE.finishedCount, row.user, marketIndex, 1);
    const place = () => {
      this.#bytes.u32(marketIndex);
      this.#bytes.safe(orderSequence);
    };
    const key = this.#keys.ofMarket(TABLE.finishedOrder, marketIndex, orderSequence);
    const byId = this.#keys.finishedById(row.user, marketIndex, row.orderId);
    return [
      { key: openKey, value: null },
      { key, value: encodeRow(this.#bytes, 'order', key, row), rule: 'once' },
      this.#entry(this.#keys.finishedByUser(row), place),
      this.#entry(this.#keys.finishedByUserAndMarket(row), place),
      {
        key: byId,
        value: encodeFrame(this.#bytes, byId, () => {
          this.#bytes.u64(row.creationNs);
          place();
        }),
      },
      this.#entry(this.#keys.finishedByLastUpdate(row.lastUpdateNs, marketIndex, orderSequence), () => {
        place();
        this.#bytes.hex(row.user, 32);
        this.#bytes.text(row.orderId);
      }),
    ];
  }

  #trade(row: TradeRow): readonly Write[] {
    const key = this.#keys.ofMarket(TABLE.trade, row.marketIndex, row.tradeId);
    return [
      { key, value: encodeRow(this.#bytes, 'trade', key, row), rule: 'once' },
      ...this.#tradeSide(row, TRADE_SIDE.maker),
      ...this.#tradeSide(row, TRADE_SIDE.taker),
    ];
  }

  #tradeSide(row: TradeRow, side: TradeSideIndex): readonly Write[] {
    const { marketIndex, tradeId, matchedNs } = row;
    const { user } = side === TRADE_SIDE.maker ? row.maker : row.taker;
    this.#counts.add(TABLE.tradeCount, user, marketIndex, 1);
    const place = () => {
      this.#bytes.u32(marketIndex);
      this.#bytes.safe(tradeId);
      this.#bytes.u8(side);
    };
    const listKey = { user, marketIndex, matchedNs, tradeId, side };
    return [
      this.#entry(this.#keys.tradeByUser(listKey), place),
      this.#entry(this.#keys.tradeByUserAndMarket(listKey), place),
    ];
  }

  #entry(key: Uint8Array, write: () => void): Write {
    return { key, value: encodeFrame(this.#bytes, key, write), rule: 'once' };
  }
}

/** The key of a row that is kept under that key alone. */
function keyOf(keys: KeyWriter, change: Exclude<RowWrite, { table: 'order' | 'trade' }>): Uint8Array {
  switch (change.table) {
    case 'user':
      return keys.user(change.row.user);
    case 'subAccount':
      return keys.subAccount(change.row.user, change.row.subAccount);
    case 'balance':
      return keys.balance(change.row.user, change.row.subAccount, change.row.asset);
    case 'asset':
      return keys.named(TABLE.asset, change.row.assetId);
    case 'market':
      return keys.market(change.row.definition.marketIndex);
    case 'price':
      return keys.named(TABLE.price, change.row.asset);
    case 'deposit':
      return keys.deposit(change.row.chainId, change.row.tx, change.row.logIndex);
    case 'config':
      return keys.config(change.row.kind, change.row.key);
    case 'totals':
      return keys.named(TABLE.totals, change.row.asset);
    case 'tally':
      return keys.named(TABLE.tally, change.row.name);
    default:
      return unreachable(change);
  }
}
