// tier: quick
/** What is looked at after every batch, in production too: each kind of damage is found, and costs a few looks only. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { InvariantError } from '../../src/core/assert.ts';
import { hashId, hashKeyOf } from '../../src/core/key-words.ts';
import { ORDER_END, SIDE, TRIGGER } from '../../src/core/order-terms.ts';
import { viewsOf } from '../../src/core/views.ts';
import { BookSide } from '../../src/matching/book-side.ts';
import type { NewOrderCommand, OrderKey } from '../../src/matching/commands.ts';
import { HostedMarket } from '../../src/matching/hosted-market.ts';
import { MarketEngine } from '../../src/matching/market-engine.ts';
import { OrderPool } from '../../src/matching/order-pool.ts';
import { ORDER_STATE } from '../../src/matching/order-records.ts';
import { PriceHash } from '../../src/matching/price-hash.ts';
import { PublishedLevels } from '../../src/matching/published-levels.ts';
import { NO_BOUND } from '../../src/order/order-codec.ts';
import { type RetriedPublication, RetryBuffer } from '../../src/runtime/retry-buffer.ts';
import { MarketFixture } from '../support/market-fixture.ts';
import {
  BUY,
  keyOf,
  LIFE_NS,
  MarketRecorder,
  newOrder,
  PLAIN_TERMS,
  received,
  SELL,
  START_NS,
} from '../support/market-recorder.ts';
import { MARKET } from '../support/order-fixture.ts';

const PRICE = 100;

/** A side with three orders of 5, 6 and 7 lots at one price. */
function threeOrders(): { side: BookSide; orders: OrderPool; slots: number[] } {
  const orders = new OrderPool(4);
  const side = new BookSide(BUY, orders, { leaves: 1, hash: new PriceHash(hashKeyOf(1n)) });
  const slots = [5, 6, 7].map((lots, at) => {
    const slot = orders.allocate({ ...PLAIN_TERMS, side: BUY, price: PRICE }, 0, lots);
    orders.setPriority(slot, at + 1);
    orders.setState(slot, ORDER_STATE.resting);
    side.append(slot);
    return slot;
  });
  return { side, orders, slots };
}

suite('after every batch', () => {
  test('a sound level passes, looked at whole or in part', () => {
    const { side } = threeOrders();
    for (const looks of [1, 2, 3, 8]) side.checkLevel(PRICE, 18, looks);
    side.checkLevel(PRICE + 1, 0, 8);
  });

  const damages: readonly [string, RegExp, (orders: OrderPool, slots: number[]) => void][] = [
    ['lots that nobody counted', /sum of its orders/, (orders, [slot = 0]) => orders.setFilled(slot, 1)],
    ['an order out of its turn', /first in first out/, (orders, [, slot = 0]) => orders.setPriority(slot, 9)],
    ['an order that ended', /its orders rest/, (orders, [slot = 0]) => orders.setState(slot, ORDER_STATE.ended)],
    ['an order of which nothing remains', /has remaining quantity/, (orders, [slot = 0]) => orders.setFilled(slot, 5)],
    ['another price', /at its price/, (orders, [slot = 0]) => orders.setPriceAndQuantity(slot, PRICE + 1, 5)],
  ];
  for (const [what, promise, damage] of damages)
    test(`${what} in a level that was told is found`, () => {
      const { side, orders, slots } = threeOrders();
      damage(orders, slots);
      assert.throws(() => side.checkLevel(PRICE, 18, 8), { name: 'InvariantError', message: promise });
    });

  test('a level that is not what was told of it is found, gone or there', () => {
    const { side } = threeOrders();
    for (const [price, told] of [
      [PRICE, 17],
      [PRICE, 0],
      [PRICE + 1, 3],
    ] as const)
      assert.throws(() => side.checkLevel(price, told, 8), {
        name: 'InvariantError',
        message: /equals its published quantity/,
      });
  });

  test('of many levels that were told the last eight are looked at, each once with its last quantity', () => {
    const told = new PublishedLevels();
    for (let price = 1; price <= 20; price++) told.note(SELL, price, price);
    told.note(SELL, 20, 7);
    told.note(BUY, 20, 3);
    const seen: number[][] = [];
    told.take((...level) => seen.push(level));
    assert.deepEqual(
      seen.sort(([a = 0, p = 0], [b = 0, q = 0]) => a - b || p - q),
      [[BUY, 20, 3], ...[14, 15, 16, 17, 18, 19].map((price) => [SELL, price, price]), [SELL, 20, 7]],
    );
    told.take(() => assert.fail('they are taken'));
  });

  test('an engine checks what was told; while a batch of orders holds its levels back, there is nothing to check', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 5, PRICE);
    const told = new PublishedLevels();
    told.note(BUY, PRICE, 6);
    fixture.engine.deferDepth(true);
    fixture.engine.checkBatch(told);
    fixture.engine.deferDepth(false);
    assert.throws(() => fixture.engine.checkBatch(told), InvariantError);
  });
});

suite('after every batch of a shard', () => {
  test('a number that was given out and not told, or told out of turn, ends the process', () => {
    const market = openMarket();
    market.check();
    market.engine.cancelAll({
      ...nobody(),
      end: ORDER_END.userRequested,
      requestId: 1,
      receivedHigh: 0,
      receivedLow: 0,
      beforeHigh: 0,
      beforeLow: 0,
      sideOnly: 0,
      protectionGroup: 0,
    });
    market.check();
    market.output.lastSequence++;
    assert.throws(() => market.check(), { name: 'InvariantError', message: /every number/ });
    const other = openMarket();
    assert.throws(() => other.output.cancelPending(5 as never, 1 as never), {
      name: 'InvariantError',
      message: /without a gap/,
    });
  });

  test('a level that market data was told wrong ends the process', () => {
    const market = openMarket();
    market.output.levelChanged(SIDE.sell, PRICE, 4);
    assert.throws(() => market.check(), { name: 'InvariantError', message: /equals its published quantity/ });
  });
});

suite('a hash that is not of its market', () => {
  const wrong = { idHash: 7 };

  test('is found after the batch in which its order came in (AMB-07)', () => {
    const engine = engineOf();
    engine.create({ ...order(), idHash: hashId(hashKeyOf(5n), ...placesOf(order())) });
    engine.checkBatch(new PublishedLevels());
    engine.create({ ...order('b'), ...wrong });
    assert.throws(() => engine.checkBatch(new PublishedLevels()), { name: 'InvariantError', message: /has the hash/ });
  });

  test('is found when a cancel or a replace finds nothing by it (AMB-23)', () => {
    const engine = engineOf();
    engine.create({ ...order(), idHash: hashId(hashKeyOf(5n), ...placesOf(order())) });
    const asked = { ...keyOf('ada', 'a'), ...received(2, START_NS), ...wrong };
    assert.throws(() => engine.cancel({ ...asked, mayPark: false, end: 1 }), InvariantError);
    const times = { timestampHigh: 0, timestampLow: 0, expectsRevision: false, expectedHigh: 0, expectedLow: 0 };
    const terms = {
      ...TRIGGERLESS,
      ...times,
      price: 1,
      quantity: 0,
      isNodeMade: false,
      isComplete: false,
      isAmend: false,
      ...NO_BOUND,
    };
    assert.throws(() => engine.replace({ ...asked, ...terms }), InvariantError);
  });
});

const TRIGGERLESS = { triggerKind: TRIGGER.none, triggerPrice: 0 };

function engineOf(): MarketEngine {
  return new MarketEngine({ events: new MarketRecorder(), priceDecimals: 0, hashSeed: 5n });
}

function order(orderId = 'a'): NewOrderCommand {
  const times = { receivedNs: START_NS, creationNs: START_NS, expiryNs: START_NS + LIFE_NS };
  return newOrder({ ...PLAIN_TERMS, ...times, user: 'ada', orderId, requestId: 1, side: BUY, price: 1, quantity: 1 });
}

function placesOf({ words, userAt, orderIdAt, orderIdBytes }: OrderKey): [Int32Array, number, number, number] {
  return [words, userAt, orderIdAt, orderIdBytes];
}

function nobody(): { words: Int32Array; userAt: number } {
  return { words: new Int32Array(8), userAt: 0 };
}

/** A restored, empty market without a reader of its output. */
function openMarket(): HostedMarket {
  const views = viewsOf(new ArrayBuffer(1 << 12), 0, 1 << 12);
  const nowhere: RetriedPublication = {
    views,
    claim: () => 0,
    commit: () => {},
    flush: () => {},
    hasRoom: () => true,
    wantRoom: () => {},
  };
  const to = { clearing: new RetryBuffer(nowhere), gateway: new RetryBuffer(nowhere), data: nowhere };
  const market = new HostedMarket(MARKET, to, { oraclePrice: null, hashSeed: 1n });
  market.finishRestore({ sequence: 7, lastTradeId: 3, nowNs: START_NS });
  return market;
}
