// tier: quick
/** The list that pages of orders are made of, against a sorted array (PAG-01, PAG-02, QRY-01). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { OrderId } from '../../../src/core/ids.ts';
import type { MarketDefinition } from '../../../src/core/market-definition.ts';
import { ORDER_END } from '../../../src/core/order-terms.ts';
import type { RawQuantity, Sequence, TimestampNs } from '../../../src/core/units.ts';
import { Holds } from '../../../src/gateway/orders/balances/holds.ts';
import { type LiveOrder, NOT_LISTED } from '../../../src/gateway/orders/book/live-order.ts';
import { LiveOrders } from '../../../src/gateway/orders/book/live-orders.ts';
import { Markets } from '../../../src/gateway/orders/book/markets.ts';
import { isOpenOrder } from '../../../src/gateway/orders/book/order-life.ts';
import {
  CHUNK_ORDERS,
  compareOrders,
  type ListFilter,
  PageList,
} from '../../../src/gateway/orders/history/page-list.ts';
import { OrderRecord } from '../../../src/schema/generated/messages.ts';
import { ALICE } from '../../support/names.ts';
import { ID_KEY, MARKET } from '../../support/order-fixture.ts';
import { propertyParameters } from '../../support/property.ts';

const MARKETS = [0, 3, 7];

/** Orders of one user outside of every other list, and a list of them. */
class Listed {
  readonly #markets = new Markets();
  readonly #all = new LiveOrders({ markets: this.#markets, holds: new Holds(), key: ID_KEY });
  readonly list: PageList = new PageList(this.#all);
  readonly orders: Map<number, LiveOrder> = new Map();

  constructor() {
    for (const marketIndex of MARKETS) this.#markets.set({ ...MARKET, marketIndex } as MarketDefinition);
  }

  insert(number: number, timeNs: number): void {
    const { store } = this.#all;
    const index = store.claim();
    OrderRecord.setMarketIndex(store.viewsOf(index), store.at(index), MARKETS[number % MARKETS.length] as number);
    this.#all.figures.clear(index);
    const order = this.#all.at(index);
    order.user = ALICE;
    order.orderId = `o${number % 5}-${number}` as OrderId;
    order.subAccount = number % 3;
    order.timestampNs = BigInt(timeNs) as TimestampNs;
    order.pageWord = NOT_LISTED;
    order.orderSequence = (number % 4 === 0 ? 0 : number + 1) as Sequence;
    order.quantity = 10 as RawQuantity;
    this.orders.set(index, order);
    this.list.insert(order);
  }

  remove({ index }: LiveOrder): void {
    this.list.remove(must(this.orders.get(index)));
    this.orders.delete(index);
  }
}

function must(order: LiveOrder | undefined): LiveOrder {
  assert.ok(order !== undefined);
  return order;
}

const placeOf = ({ timestampNs, orderId, marketIndex, sequence }: LiveOrder) => ({
  timeNs: timestampNs,
  name: orderId,
  marketIndex,
  sequence,
});

function expected(orders: Listed['orders'], { marketIndex, subAccounts, openOnly }: ListFilter): readonly LiveOrder[] {
  return [...orders.values()]
    .filter((order) => marketIndex === null || order.marketIndex === marketIndex)
    .filter((order) => subAccounts === null || subAccounts.includes(order.subAccount))
    .filter((order) => !openOnly || isOpenOrder(order))
    .map((order) => ({ order, place: placeOf(order) }))
    .sort((a, b) => compareOrders(a.place, b.place))
    .map(({ order }) => order);
}

const filter: fc.Arbitrary<ListFilter> = fc.record({
  marketIndex: fc.option(fc.constantFrom(...MARKETS, 9)),
  subAccounts: fc.option(fc.subarray([0, 1, 2, 5])),
  openOnly: fc.boolean(),
});
const step = fc.record({
  kind: fc.constantFrom('insert', 'remove', 'end', 'accept', 'retime', 'removeMany'),
  pick: fc.nat(1_000_000),
});

function apply(listed: Listed, kind: string, pick: number): void {
  const { list, orders } = listed;
  const all = [...orders.values()];
  const chosen = all[pick % Math.max(1, all.length)];
  if (kind === 'insert' || chosen === undefined) listed.insert(2_000_000 + pick + orders.size * 1_000_000, pick % 50);
  else if (kind === 'end') {
    chosen.end = chosen.end === 0 ? ORDER_END.userRequested : 0;
    list.update(chosen);
  } else if (kind === 'accept') {
    chosen.orderSequence = (pick + 1) as Sequence;
    list.update(chosen);
  } else if (kind === 'retime') {
    list.remove(chosen);
    chosen.timestampNs = BigInt(pick % 60) as TimestampNs;
    list.insert(chosen);
  } else {
    const count = kind === 'remove' ? 1 : CHUNK_ORDERS;
    for (const order of all.slice(pick % all.length, (pick % all.length) + count)) listed.remove(order);
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
          const listed = new Listed();
          for (let number = 0; number < size; number += 1) {
            listed.insert(number, number % 2 === 0 ? number : (number * 7_919) % 1_000);
          }
          for (const { kind, pick } of steps) {
            const frozen = listed.list.freeze(asked);
            const before = expected(listed.orders, asked).map(({ index, timestampNs }) => [index, timestampNs]);
            assert.equal(frozen.count, before.length, 'as many as the array has');
            apply(listed, kind, pick);
            const seen = [...frozen.from(rank)].map(({ order, place }) => [order.index, place.timeNs]);
            assert.deepEqual(seen, before.slice(rank));
          }
          const now = listed.list.freeze(asked);
          assert.deepEqual(
            [...now.from(0)].map(({ order }) => order.index),
            expected(listed.orders, asked).map(({ index }) => index),
          );
        },
      ),
      propertyParameters(40),
    );
  });

  test('what the tables may have too is what is not open or has no answer of its market', () => {
    const listed = new Listed();
    for (let number = 0; number < 2 * CHUNK_ORDERS; number += 1) listed.insert(number + 1, number);
    const orders = [...listed.orders.values()];
    for (const order of orders.filter((_, at) => at % 7 === 0)) {
      order.end = ORDER_END.userRequested;
      listed.list.update(order);
    }
    const all = { marketIndex: null, subAccounts: null, openOnly: false };
    const doubtful = new Set([...listed.list.freeze(all).doubtful()].map(({ order }) => order.index));
    const isDoubtful = (order: LiveOrder): boolean => order.end !== 0 || order.sequence === 0;
    assert.deepEqual(doubtful, new Set(orders.filter(isDoubtful).map(({ index }) => index)));
    const pivots = listed.list.freeze(all).pivots(CHUNK_ORDERS, 4);
    const sorted = expected(listed.orders, all);
    for (const { rank, place } of pivots) assert.deepEqual(place, placeOf(must(sorted[rank])));
    assert.ok(pivots.length > 0 && (pivots.at(-1)?.rank ?? 0) >= CHUNK_ORDERS, 'the last is not before the page');
  });
});
