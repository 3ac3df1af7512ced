/**
 * Pages of orders and trades: the cost of a page for the main thread when its user has many live orders, and the cost
 * of the deepest page of a user's trades for the history thread.
 */
import { rmSync } from 'node:fs';
import type { RowWrite } from '../src/clearing/rows.ts';
import { assert, must } from '../src/core/assert.ts';
import { type AssetId, USD } from '../src/core/ids.ts';
import { type Amount18, ONE_18, type TimestampNs } from '../src/core/units.ts';
import { AS_JSON } from '../src/gateway/orders/history/history-request.ts';
import { OrderManager } from '../src/gateway/orders/order-manager.ts';
import { CheckpointStore, order, trade, userOf } from '../test/support/checkpoint-store.ts';
import { marketOf } from '../test/support/market-figures.ts';
import { ID_KEY, NO_HISTORY, RecordingSink, restoreRow } from '../test/support/order-fixture.ts';
import { type BenchResult, type BenchRow, median, type Scale } from './bench-kit.ts';

const SIZES = { small: { orders: 20_000, trades: 40_000 }, full: { orders: 250_000, trades: 1_000_000 } } as const;
const ROUNDS = 21;
const TRADES_PER_CHECKPOINT = 20_000;
const USER = userOf(1);

function msOf(work: () => void): number {
  const figures = Array.from({ length: ROUNDS }, () => {
    const began = performance.now();
    work();
    return performance.now() - began;
  });
  return median(figures);
}

function managerWith(orders: number): OrderManager {
  const manager = new OrderManager({ sink: new RecordingSink(), history: NO_HISTORY, idKey: ID_KEY });
  manager.restoreMarket(marketOf(0, '12'), orders + 1);
  for (const asset of [USD, '12'] as AssetId[]) {
    const owned = (10n ** 12n * ONE_18) as Amount18;
    manager.onBalanceChanged({ user: USER, subAccount: 0, asset, owned, total: owned } as never);
  }
  for (let at = 0; at < orders; at += 1) {
    const creationNs = BigInt(at) as TimestampNs;
    const row = order(at + 1, { creationNs, timestampNs: creationNs, subAccount: at % 4 });
    restoreRow(manager, { ...row, end: 0, quantity: 20 as never });
  }
  return manager;
}

function orderRows(orders: number): readonly BenchRow[] {
  const before = process.memoryUsage().heapUsed;
  const manager = managerWith(orders);
  const perOrder = (process.memoryUsage().heapUsed - before) / orders;
  const page = (more: { openOnly: boolean; subAccounts: readonly number[] | null; page: number }): number =>
    msOf(() => {
      const plan = manager.planOrderPage({ user: USER, marketIndex: null, limit: 1, ...more }, AS_JSON);
      if (!more.openOnly) return;
      const { rows, total } = must(plan.finish(null), 'open orders are in memory');
      assert(rows.length === 1 && total > 0, 'a page of one row');
      rows[0]?.();
    });
  const rows = [
    ['first, open only', page({ openOnly: true, subAccounts: null, page: 0 })],
    ['last, open only', page({ openOnly: true, subAccounts: null, page: orders - 1 })],
    ['last of a sub-account, open only', page({ openOnly: true, subAccounts: [1], page: orders / 4 - 1 })],
    ['plan of a page in the middle', page({ openOnly: false, subAccounts: null, page: orders / 2 })],
    ['plan of a page of a sub-account', page({ openOnly: false, subAccounts: [2], page: 0 })],
  ] as const;
  return [
    ...rows.map(([label, value]) => ({ label: `${label}, ${orders} live orders`, value, unit: 'ms' })),
    { label: 'heap of a live order', value: perOrder, unit: 'bytes' },
  ];
}

async function tradeRows(trades: number): Promise<readonly BenchRow[]> {
  const store = new CheckpointStore();
  for (let from = 0; from < trades; from += TRADES_PER_CHECKPOINT) {
    const rows = Array.from({ length: TRADES_PER_CHECKPOINT }, (_, at): RowWrite => {
      return { table: 'trade', row: trade(from + at + 1, { marketIndex: 0 }) };
    });
    store.checkpoint(rows);
  }
  const page = (skip: number): number =>
    msOf(() => {
      const { rows, total } = store.history.userTrades({ user: USER, marketIndex: null, skip, limit: 1 });
      assert(rows.length === 1 && total === trades, 'a page of one row');
    });
  const rows = [
    { label: `first page, ${trades} trades`, value: page(0), unit: 'ms' },
    { label: `page in the middle, ${trades} trades`, value: page(trades / 2), unit: 'ms' },
    { label: `deepest page, ${trades} trades`, value: page(trades - 1), unit: 'ms' },
  ];
  await store.close();
  rmSync(store.directory, { recursive: true, force: true });
  return rows;
}

export async function run(scale: Scale): Promise<BenchResult> {
  const { orders, trades } = SIZES[scale];
  const rows = [...orderRows(orders), ...(await tradeRows(trades))];
  return { name: 'pages', rows, checks: 'every page has its row and the total of all' };
}
