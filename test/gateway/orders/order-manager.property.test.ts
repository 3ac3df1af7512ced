// tier: quick, 5 s
/** Properties of the order manager under random legal interleavings of clients, market and clearing. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { OrderReply } from '../../../src/codec/shapes/order-record-shapes.ts';
import { notional18, quantity18, tradingFee18 } from '../../../src/core/arithmetic.ts';
import { formatRaw } from '../../../src/core/decimal.ts';
import { USD, type UserId } from '../../../src/core/ids.ts';
import { SIDE } from '../../../src/core/order-terms.ts';
import type { RawPrice, RawQuantity } from '../../../src/core/units.ts';
import type { RowPage } from '../../../src/gateway/orders/history/pages.ts';
import { BASE, MARKET } from '../../support/order-fixture.ts';
import { ORDERS, orderPage, planned, TRADES, tradePage } from '../../support/pages.ts';
import { PlainExchange, type PlainOrder, rests, USERS } from '../../support/plain-exchange.ts';
import { propertyParameters, storyOf } from '../../support/property.ts';

const PARAMETERS = propertyParameters(40);

const STEPS: readonly ((exchange: PlainExchange, pick: number) => void)[] = [
  (exchange, pick) => exchange.create(pick),
  (exchange, pick) => exchange.create(pick),
  (exchange, pick) => exchange.create(pick),
  (exchange, pick) => exchange.change(pick),
  (exchange, pick) => exchange.market(pick),
  (exchange, pick) => exchange.market(pick),
  (exchange, pick) => exchange.market(pick),
  (exchange, pick) => exchange.clearing(pick),
  (exchange, pick) => exchange.clearing(pick),
  (exchange, pick) => exchange.hearMarket(1 + (pick % 6)),
  (exchange, pick) => exchange.hearMarket(1 + (pick % 6)),
  (exchange, pick) => exchange.hearClearing(1 + (pick % 6)),
  (exchange, pick) => pick % 4 === 0 && exchange.cancelAll(pick >> 2),
  (exchange, pick) => {
    if (pick % 6 === 0) exchange.cancelAll(pick);
  },
  (exchange) => exchange.checkpoint(),
];

const story = storyOf(STEPS, [20, 250]);

/** Plays a story; `look` looks after every step. */
function play(
  steps: readonly (readonly [number, number])[],
  look: (exchange: PlainExchange, pick: number) => void,
): PlainExchange {
  const exchange = new PlainExchange();
  for (const [step, pick] of steps) {
    STEPS[step]?.(exchange, pick);
    look(exchange, pick);
  }
  return exchange;
}

function holds(name: string, check: (steps: readonly (readonly [number, number])[]) => void): void {
  test(name, () => fc.assert(fc.property(story, check), PARAMETERS));
}

/** What the market's resting orders hold of a balance, computed from nothing but the market. */
function plainHold(orders: readonly PlainOrder[], user: UserId, isBuy: boolean): bigint {
  let held = 0n;
  for (const order of orders) {
    if (!rests(order) || order.user !== user || (order.side === SIDE.buy) !== isBuy) continue;
    const left = (order.quantity - order.filled) as RawQuantity;
    const notional = notional18(order.price as RawPrice, left, MARKET);
    held += isBuy ? notional + tradingFee18(notional, 500) : quantity18(left, 4);
  }
  return held;
}

function allPages<T>(limit: number, read: (page: number) => RowPage<T>): readonly T[] {
  const rows: T[] = [];
  for (let page = 0; ; page += 1) {
    const { rows: some, total } = read(page);
    rows.push(...some);
    if (rows.length >= total || some.length === 0) {
      assert.equal(rows.length, total, 'the total is what the pages hold');
      return rows;
    }
    assert.equal(some.length, limit, 'only the last page is short');
  }
}

function allOrders(exchange: PlainExchange, user: UserId, limit: number): readonly OrderReply[] {
  const query = { user, marketIndex: null, subAccounts: null, openOnly: false, limit };
  return allPages(limit, (page) => orderPage(exchange.manager, exchange.history, { ...query, page }));
}

function tradeKeys(exchange: PlainExchange, user: UserId, limit: number): readonly string[] {
  const query = { user, marketIndex: 3, subAccounts: [0], limit };
  const rows = allPages(limit, (page) => tradePage(exchange.manager, exchange.history, { ...query, page }));
  return rows.map((trade) => `${trade.tradeId} ${trade.isMaker}`);
}

suite('order manager, properties', () => {
  holds(
    'when all events are delivered, holds are those of the resting orders and nothing is pending (AMB-112)',
    (steps) => {
      const exchange = play(steps, () => {});
      exchange.settle();
      for (const user of USERS) {
        for (const asset of [USD, BASE]) {
          const { owned, held, pending, settling } = exchange.manager.funds({ user, subAccount: 0, asset });
          assert.equal(owned, exchange.owned.get(`${user}/${asset}`));
          assert.equal(held, plainHold(exchange.orders, user, asset === USD));
          assert.deepEqual([pending, settling], [0n, 0n]);
        }
      }
      assert.equal(exchange.manager.requests.count, 0);
    },
  );

  holds('the counts that bound live orders are those of a recount, over rollbacks and replaces (AMB-124)', (steps) => {
    const recount = (exchange: PlainExchange, user: UserId): number =>
      allOrders(exchange, user, 1_000).filter(({ status }) => status === 'Open' || status === 'PartiallyFilled').length;
    const exchange = play(steps, (playing) => {
      const counts = USERS.map((user) => playing.manager.openOrders(user));
      assert.equal(playing.manager.openOrders(null), (counts[0] ?? 0) + (counts[1] ?? 0));
      for (const [at, user] of USERS.entries()) assert.ok((counts[at] ?? 0) >= recount(playing, user));
    });
    exchange.settle();
    for (const user of USERS) {
      assert.equal(exchange.manager.openOrders(user), recount(exchange, user));
      assert.equal(
        recount(exchange, user),
        exchange.orders.filter((order) => order.user === user && rests(order)).length,
      );
    }
  });

  holds('records agree with the market and clearing when all events are delivered (AMB-128, AMB-142)', (steps) => {
    const exchange = play(steps, () => {});
    exchange.settle();
    for (const order of exchange.orders) {
      const record = exchange.manager.order({ user: order.user, marketIndex: 3, orderId: order.id as never });
      assert.ok(record !== undefined);
      assert.equal(record.in_flight, false);
      assert.equal(record.pending_filled_quantity, '0');
      assert.equal(record.confirmed_filled_quantity, formatRaw(order.confirmed, MARKET.quantityDecimals));
      assert.equal(['Open', 'PartiallyFilled'].includes(record.status), rests(order));
      if (!rests(order)) assert.equal(record.status === 'Filled', order.confirmed >= order.quantity);
    }
  });

  holds('an order has one Created before anything else and exactly one terminal event (AMB-128)', (steps) => {
    const exchange = play(steps, () => {});
    exchange.settle();
    for (const order of exchange.orders) {
      const kinds = exchange.sink.events
        .filter(({ user, event }) => user === order.user && event.orderId === order.id)
        .map(({ event }) => event.kind)
        .filter((kind) => !kind.endsWith('Failed'));
      const terminal = kinds.filter((kind) => kind === 'Canceled' || kind === 'Removed');
      assert.equal(terminal.length, rests(order) ? 0 : 1);
      if (terminal.length === 1) assert.equal(kinds.at(-1), terminal[0]);
      assert.deepEqual(
        kinds.filter((kind) => kind === 'Created'),
        order.end === 5 ? [] : ['Created'],
      );
      if (order.end !== 5) assert.equal(kinds[0], 'Created');
    }
  });

  holds(
    'every side of every match is published as Pending and then one outcome (FIL-03 to FIL-05, AMB-35)',
    (steps) => {
      const exchange = play(steps, () => {});
      exchange.settle();
      const told = new Map<string, string[]>();
      for (const { trade } of exchange.sink.trades) {
        const key = `${trade.tradeId} ${trade.isMaker}`;
        told.set(key, [...(told.get(key) ?? []), trade.status]);
      }
      const confirmed = new Set(exchange.confirmedTrades.map(({ id }) => id));
      for (const [key, statuses] of told) {
        assert.deepEqual(statuses, ['Pending', confirmed.has(Number.parseInt(key, 10)) ? 'Confirmed' : 'Rollbacked']);
      }
    },
  );

  holds('at any moment pages are disjoint, sorted and add up to their total (PAG-01 to PAG-03)', (steps) => {
    play(steps, (exchange, pick) => {
      if (pick % 8 !== 0) return;
      for (const user of USERS) {
        const ids = allOrders(exchange, user, 1 + (pick % 5)).map((row) => row.order_id);
        assert.deepEqual(ids, [...new Set(ids)].sort().reverse());
        const trades = tradeKeys(exchange, user, 1 + (pick % 4));
        assert.equal(new Set(trades).size, trades.length);
        const numbers = trades.map((key) => Number.parseInt(key, 10));
        assert.deepEqual(
          numbers,
          [...numbers].sort((a, b) => b - a),
        );
      }
    });
  });

  holds(
    'a page planned now and read much later shows all that was there, and nothing twice (QRY-01, QRY-03)',
    (steps) => {
      let asked: (() => void) | null = null;
      play(steps, (exchange, pick) => {
        if (asked !== null && pick % 3 === 0) return;
        asked?.();
        const checks = USERS.map((user) => {
          const query = { user, marketIndex: null, subAccounts: null, page: 0, limit: 1_000 };
          const ids = allOrders(exchange, user, 1_000).map((row) => row.order_id);
          const sides = tradeKeys(exchange, user, 1_000);
          const orders = planned(exchange.manager.planOrderPage({ ...query, openOnly: false }, ORDERS));
          const trades = planned(exchange.manager.planTradePage(query, TRADES));
          return () => {
            const idsNow = orders(exchange.history, ORDERS).rows.map((row) => row.order_id);
            assert.deepEqual([...idsNow].sort().reverse(), [...new Set(idsNow)].sort().reverse());
            for (const id of ids) assert.ok(idsNow.includes(id), `order ${id}`);
            const sidesNow = trades(exchange.history, TRADES).rows.map((trade) => `${trade.tradeId} ${trade.isMaker}`);
            assert.equal(new Set(sidesNow).size, sidesNow.length);
            for (const side of sides) assert.ok(sidesNow.includes(side), `trade ${side}`);
          };
        });
        asked = () => {
          for (const check of checks) check();
        };
      });
    },
  );

  holds('when all events are delivered, pages hold every order and every confirmed side (QRY-01, QRY-03)', (steps) => {
    const exchange = play(steps, () => {});
    exchange.settle();
    for (const user of USERS) {
      const ids = exchange.orders.filter((order) => order.user === user).map((order) => order.id);
      assert.deepEqual(
        allOrders(exchange, user, 3).map((row) => row.order_id),
        ids.sort().reverse(),
      );
      const sides = exchange.confirmedTrades.flatMap(({ id, maker, taker }) => [
        ...(maker.user === user ? [`${id} true`] : []),
        ...(taker.user === user ? [`${id} false`] : []),
      ]);
      assert.deepEqual([...tradeKeys(exchange, user, 3)].sort(), sides.sort());
    }
  });

  holds('memory keeps no finished order and no trade that an announced checkpoint holds', (steps) => {
    const exchange = play(steps, () => {});
    exchange.settle();
    // Two flushes after the last decision: one dates everything, one announces the checkpoint that holds it.
    exchange.checkpoint();
    exchange.manager.onJournalFlushed({ sequence: 1_000_000, checkpoint: 1_000_000 });
    assert.equal(exchange.manager.ordersInMemory, exchange.orders.filter(rests).length);
    assert.equal(exchange.manager.uncheckpointedTrades, 0);
  });
});
