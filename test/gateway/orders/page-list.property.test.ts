/** The list that pages of orders are made of, against a sorted array (PAG-01, PAG-02, QRY-01). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { OrderId } from '../../../src/core/ids.ts';
import { ORDER_END } from '../../../src/core/order-terms.ts';
import type { RawQuantity, TimestampNs } from '../../../src/core/units.ts';
import { type LiveOrder, NOT_LISTED } from '../../../src/gateway/orders/live-order.ts';
import { isOpen } from '../../../src/gateway/orders/order-life.ts';
import {
  CHUNK_ORDERS,
  compareOrders,
  type Listable,
  type ListFilter,
  PageList,
} from '../../../src/gateway/orders/page-list.ts';
import { propertyParameters } from '../../support/property.ts';

type Listed = { -readonly [Key in keyof Listable]: Listable[Key] };

const MARKETS = [0, 3, 7];

function orderOf(number: number, timeNs: number): Listed {
  const filled = { quantity: 0, notional: 0n, fees: 0n };
  return {
    terms: { orderId: `o${number % 5}-${number}` as OrderId, subAccount: number % 3 } as LiveOrder['terms'],
    market: { definition: { marketIndex: MARKETS[number % MARKETS.length] } } as LiveOrder['market'],
    timestampNs: BigInt(timeNs) as TimestampNs,
    pageWord: NOT_LISTED,
    sequence: number % 4 === 0 ? 0 : number + 1,
    end: 0,
    isSpent: false,
    faultReason: 0,
    quantity: 10 as RawQuantity,
    pending: filled,
    confirmed: { ...filled },
  };
}

const placeOf = ({ timestampNs, terms, market, sequence }: Listed) => ({
  timeNs: timestampNs,
  name: terms.orderId,
  marketIndex: market.definition.marketIndex,
  sequence,
});

function expected(orders: ReadonlySet<Listed>, { marketIndex, subAccounts, openOnly }: ListFilter): readonly Listed[] {
  return [...orders]
    .filter((order) => marketIndex === null || order.market.definition.marketIndex === marketIndex)
    .filter((order) => subAccounts === null || subAccounts.includes(order.terms.subAccount))
    .filter((order) => !openOnly || isOpen(order))
    .sort((a, b) => compareOrders(placeOf(a), placeOf(b)));
}

const filter: fc.Arbitrary<ListFilter> = fc.record({
  marketIndex: fc.option(fc.constantFrom(...MARKETS, 9)),
  subAccounts: fc.option(fc.subarray([0, 1, 2, 5])),
  openOnly: fc.boolean(),
});
const step = fc.record({
  kind: fc.constantFrom('insert', 'remove', 'end', 'admit', 'retime', 'removeMany'),
  pick: fc.nat(1_000_000),
});

function apply(list: PageList<Listed>, orders: Set<Listed>, kind: string, pick: number): void {
  const all = [...orders];
  const chosen = all[pick % Math.max(1, all.length)];
  if (kind === 'insert' || chosen === undefined) {
    const order = orderOf(2_000_000 + pick + orders.size * 1_000_000, pick % 50);
    orders.add(order);
    list.insert(order);
  } else if (kind === 'end') {
    chosen.end = chosen.end === 0 ? ORDER_END.userRequested : 0;
    list.update(chosen);
  } else if (kind === 'admit') {
    chosen.sequence = pick + 1;
    list.update(chosen);
  } else if (kind === 'retime') {
    list.remove(chosen);
    chosen.timestampNs = BigInt(pick % 60) as TimestampNs;
    list.insert(chosen);
  } else {
    const count = kind === 'remove' ? 1 : CHUNK_ORDERS;
    for (const order of all.slice(pick % all.length, (pick % all.length) + count)) {
      orders.delete(order);
      list.remove(order);
    }
  }
}

suite('list of pages', () => {
  test('at any moment it is the sorted array of its orders under every filter, and what was frozen stays (PAG-02)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 3 * CHUNK_ORDERS }),
        fc.array(step, { maxLength: 30 }),
        filter,
        fc.nat(2_000),
        (size, steps, asked, rank) => {
          const list = new PageList<Listed>();
          const orders = new Set<Listed>();
          for (let number = 0; number < size; number += 1) {
            const order = orderOf(number, number % 2 === 0 ? number : (number * 7_919) % 1_000);
            orders.add(order);
            list.insert(order);
          }
          for (const { kind, pick } of steps) {
            const frozen = list.freeze(asked);
            const before = expected(orders, asked).map((order) => [order, order.timestampNs]);
            assert.equal(frozen.count, before.length, 'as many as the array has');
            apply(list, orders, kind, pick);
            const seen = [...frozen.from(rank)].map(({ order, place }) => [order, place.timeNs]);
            assert.deepEqual(seen, before.slice(rank));
          }
          const now = list.freeze(asked);
          assert.deepEqual(
            [...now.from(0)].map(({ order }) => order),
            expected(orders, asked),
          );
        },
      ),
      propertyParameters(40),
    );
  });

  test('what the tables may have too is what is not open or has no answer of its market', () => {
    const list = new PageList<Listed>();
    const orders = Array.from({ length: 2 * CHUNK_ORDERS }, (_, number) => orderOf(number + 1, number));
    for (const order of orders) list.insert(order);
    for (const order of orders.filter((_, at) => at % 7 === 0)) {
      order.end = ORDER_END.userRequested;
      list.update(order);
    }
    const all = { marketIndex: null, subAccounts: null, openOnly: false };
    const doubtful = new Set([...list.freeze(all).doubtful()].map(({ order }) => order));
    assert.deepEqual(doubtful, new Set(orders.filter((order) => order.end !== 0 || order.sequence === 0)));
    const pivots = list.freeze(all).pivots(CHUNK_ORDERS, 4);
    const sorted = expected(new Set(orders), all);
    for (const { rank, place } of pivots) assert.deepEqual(place, placeOf(sorted[rank] as Listed));
    assert.ok(pivots.length > 0 && (pivots.at(-1)?.rank ?? 0) >= CHUNK_ORDERS, 'the last is not before the page');
  });
});
