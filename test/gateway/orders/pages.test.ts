// tier: quick
/** Pages of a user with thousands of live orders, between which finished ones of the tables lie (PAG-01, PAG-02, QRY-01). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { MarketRow, OrderRow, RowWrite } from '../../../src/clearing/rows.ts';
import { NO_MATCH } from '../../../src/clearing/rows.ts';
import { type AssetId, USD } from '../../../src/core/ids.ts';
import { type Amount18, ONE_18, type TimestampNs } from '../../../src/core/units.ts';
import type { HistorySnapshot } from '../../../src/gateway/orders/history/order-history.ts';
import { OrderManager } from '../../../src/gateway/orders/order-manager.ts';
import { TableHistory } from '../../../src/storage/order-history.ts';
import { CheckpointStore, order, userOf } from '../../support/checkpoint-store.ts';
import { marketOf } from '../../support/market-figures.ts';
import { ID_KEY, NO_HISTORY, RecordingSink, restoreRow } from '../../support/order-fixture.ts';
import { orderPage } from '../../support/pages.ts';

const USER = userOf(1);
const SEQUENCE = 1_000_000;
const QUERY = { user: USER, marketIndex: null, subAccounts: null, openOnly: false };

/** Live and finished orders of two markets, by turns, and long stretches of one kind. */
function rowsOf(count: number): readonly OrderRow[] {
  return Array.from({ length: count }, (_, at) => {
    const isLive = at < count / 4 ? at % 2 === 0 : at % 2_000 < 1_000;
    const more = { marketIndex: at % 2, creationNs: BigInt(at >> 2) as TimestampNs, subAccount: at % 3 };
    const row = order(at + 1, { ...more, timestampNs: more.creationNs, lastUpdateNs: BigInt(at) as TimestampNs });
    return isLive ? { ...row, end: 0, quantity: 20 as never } : row;
  });
}

function managerOf(rows: readonly OrderRow[]): OrderManager {
  const manager = new OrderManager({ sink: new RecordingSink(), history: NO_HISTORY, idKey: ID_KEY });
  for (const index of [0, 1]) manager.restoreMarket(marketOf(index, `${index + 12}`), SEQUENCE);
  for (const asset of [USD, '12', '13'] as AssetId[]) {
    for (const subAccount of [0, 1, 2]) {
      const owned = (10n ** 12n * ONE_18) as Amount18;
      manager.onBalanceChanged({ user: USER, subAccount, asset, owned, total: owned } as never);
    }
  }
  for (const row of rows) if (row.end === 0) restoreRow(manager, row);
  return manager;
}

function sorted(rows: readonly OrderRow[]): readonly OrderRow[] {
  return [...rows].sort((a, b) => {
    if (a.timestampNs !== b.timestampNs) return a.timestampNs > b.timestampNs ? -1 : 1;
    return a.orderId > b.orderId ? -1 : 1;
  });
}

suite('pages of many live orders', () => {
  const rows = rowsOf(10_000);
  const store = new CheckpointStore();
  const history = new TableHistory(store.writer);
  const manager = managerOf(rows);
  let mostRows = 0;
  const counting = {
    read: <T>(reader: (snapshot: HistorySnapshot) => T): T =>
      history.read((snapshot) => {
        const finishedOrders: HistorySnapshot['finishedOrders'] = (query, offset, limit) => {
          const window = snapshot.finishedOrders(query, offset, limit);
          mostRows = Math.max(mostRows, window.rows.length);
          return window;
        };
        const methods = [
          'marketSequence',
          'lastTradeId',
          'isFinished',
          'findOrder',
          'finishedBefore',
          'trades',
          'definition',
        ];
        const bound = Object.fromEntries(
          methods.map((name) => [name, (snapshot as never as Record<string, () => void>)[name]?.bind(snapshot)]),
        );
        return reader({ ...bound, finishedOrders } as never as HistorySnapshot);
      }),
  };

  before(() => {
    const markets = [0, 1].map((index): RowWrite => {
      const row = {
        definition: marketOf(index, `${index + 12}`),
        sequence: SEQUENCE,
        lastTradeId: 0,
        match: NO_MATCH,
      } as MarketRow;
      return { table: 'market', row };
    });
    store.checkpoint([
      ...markets,
      ...rows.filter((row) => row.end !== 0).map((row): RowWrite => ({ table: 'order', row })),
    ]);
  });
  after(() => store.close());

  test('every page is the part of one sorted list, under every filter', () => {
    const filters = [
      {},
      { marketIndex: 1 },
      { subAccounts: [0, 2] },
      { openOnly: true },
      { marketIndex: 0, openOnly: true },
    ];
    for (const filter of filters) {
      const query = { ...QUERY, ...filter };
      const meant = sorted(rows)
        .filter((row) => query.marketIndex === null || row.marketIndex === query.marketIndex)
        .filter((row) => query.subAccounts === null || query.subAccounts.includes(row.subAccount))
        .filter((row) => !query.openOnly || row.end === 0);
      for (let page = 0; page * 37 < meant.length + 100; page += 29) {
        const { rows: shown, total } = orderPage(manager, counting, { ...query, page, limit: 37 });
        const ids = shown.map((row) => row.order_id);
        assert.deepEqual(
          ids,
          meant.slice(page * 37, (page + 1) * 37).map((row) => row.orderId),
        );
        assert.equal(total, meant.length);
      }
    }
    assert.ok(mostRows < 3_000, `${mostRows} rows of the tables for one page of 37`);
  });
});
