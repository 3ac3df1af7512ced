// tier: quick
/** The uncheckpointed: everything that a checkpoint holds leaves memory, and no step of it grows with how much there is. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { OrderId, UserId } from '../../../src/core/ids.ts';
import { FILL_STATUS } from '../../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../../../src/core/units.ts';
import type { MarketSlot } from '../../../src/gateway/orders/book/markets.ts';
import type { UserTradeEvent } from '../../../src/gateway/orders/book/order-events.ts';
import {
  type ConfirmedTrade,
  DROPPED_PER_FLUSH,
  type FinishedOrder,
  UncheckpointedHistory,
} from '../../../src/gateway/orders/history/uncheckpointed.ts';
import { ALICE, BOB } from '../../support/names.ts';
import { MARKET } from '../../support/order-fixture.ts';

/** A finished order, as often as wanted: each time counts by itself. */
function tailOf(count: number) {
  const market = { decidedSequence: 0 };
  const order = { lastSequence: 7, market };
  let removed = 0;
  const remove = () => {
    removed += 1;
  };
  const uncheckpointed = new UncheckpointedHistory<FinishedOrder>(
    { remove },
    () => ({ definition: MARKET }) as MarketSlot,
  );
  for (let at = 0; at < count; at += 1) uncheckpointed.orderFinished(order);
  return { uncheckpointed, order, market, removed: () => removed };
}

/** A confirmed trade; figures, flags and the length of the id differ from one to the next. */
function trade(tradeId: number): UserTradeEvent {
  return {
    assetId: MARKET.assetId,
    tradeId,
    orderId: `${'o'.repeat(tradeId % 60)}-${tradeId % 10}` as OrderId,
    subAccount: tradeId % 65_536,
    price: (Number.MAX_SAFE_INTEGER - tradeId) as RawPrice,
    quantity: (2 * tradeId) as RawQuantity,
    priceDecimals: MARKET.priceDecimals,
    quantityDecimals: MARKET.quantityDecimals,
    timestampNs: (1_770_000_000_123_456_789n + BigInt(tradeId)) as TimestampNs,
    isMaker: tradeId % 2 === 0,
    isBuyer: tradeId % 3 === 0,
    status: FILL_STATUS.confirmed,
    rollbackReason: null,
    isLiquidation: tradeId % 5 === 0,
    isAutoDeleverage: tradeId % 7 === 0,
    fee: ((tradeId % 2 === 0 ? -1n : 10n ** 20n) * BigInt(tradeId)) as Amount18,
  };
}

function isSpot({ tradeId }: Pick<UserTradeEvent, 'tradeId'>): boolean {
  return tradeId % 4 < 2;
}

function confirmed(tradeId: number): ConfirmedTrade {
  return { ...trade(tradeId), isSpot: isSpot({ tradeId }) };
}

suite('the tail', () => {
  test('a confirmed trade is read as it was, of its own user, while others come and go', () => {
    const { uncheckpointed } = tailOf(0);
    const kept = new Map<UserId, UserTradeEvent[]>([
      [ALICE, []],
      [BOB, []],
    ]);
    let [id, journal] = [0, 0];
    for (const step of Array.from({ length: 40 }, (_, at) => (at * 631) % 997)) {
      for (let added = 0; added < step; added += 1) {
        id += 1;
        const user = id % 3 === 0 ? BOB : ALICE;
        uncheckpointed.tradeConfirmed(user, 0, confirmed(id));
        kept.get(user)?.push(trade(id));
      }
      journal += 1;
      const before = uncheckpointed.tradeCount;
      uncheckpointed.journalFlushed(journal, journal - 3);
      const first = id - uncheckpointed.tradeCount + 1;
      assert.ok(before - uncheckpointed.tradeCount <= DROPPED_PER_FLUSH + 2 * step);
      for (const [user, trades] of kept) {
        const left = trades.filter(({ tradeId }) => tradeId >= first);
        assert.deepEqual(
          uncheckpointed.tradesOf(user),
          left.map((each) => ({ marketIndex: 0, trade: each, isSpot: isSpot(each) })),
        );
      }
    }
    assert.ok(id > 15_000 && uncheckpointed.tradeCount < id, 'through several chunks');
  });

  test('a market may end any number of orders before clearing decides them', () => {
    const count = 300_000;
    const { uncheckpointed, order, market, removed } = tailOf(count);
    market.decidedSequence = order.lastSequence;
    uncheckpointed.marketDecided(market);
    uncheckpointed.journalFlushed(1, 0);
    while (removed() < count) {
      const before = removed();
      uncheckpointed.journalFlushed(2, 1);
      assert.ok(removed() > before, 'each flush lets some go');
    }
    uncheckpointed.journalFlushed(3, 3);
    assert.equal(removed(), count);
  });

  test('what is not decided stays, and what finished behind it goes with it', () => {
    const { uncheckpointed, market, removed } = tailOf(1);
    uncheckpointed.orderFinished({ lastSequence: 5, market });
    for (const decided of [0, 6]) {
      market.decidedSequence = decided;
      uncheckpointed.marketDecided(market);
      for (const sequence of [1, 2, 3]) uncheckpointed.journalFlushed(sequence, sequence);
      assert.equal(removed(), 0, `decided up to ${decided}`);
    }
    market.decidedSequence = 7;
    uncheckpointed.marketDecided(market);
    uncheckpointed.journalFlushed(4, 3);
    assert.equal(removed(), 0, 'no checkpoint holds them yet');
    uncheckpointed.journalFlushed(5, 4);
    assert.equal(removed(), 2);
  });

  test('a flush lets go of some, and of more than it dates, so nothing piles up', () => {
    const { uncheckpointed, order, market, removed } = tailOf(0);
    market.decidedSequence = order.lastSequence;
    let finished = 0;
    for (let flush = 1; flush <= 40; flush += 1) {
      const before = removed();
      for (let at = 0; at < 2_000; at += 1) uncheckpointed.orderFinished(order);
      finished += 2_000;
      // A checkpoint every ten flushes.
      uncheckpointed.journalFlushed(flush, flush - (flush % 10));
      assert.ok(removed() - before <= DROPPED_PER_FLUSH + 2 * 2_000);
    }
    assert.ok(finished - removed() <= 2 * 10 * 2_000, `${finished - removed()} are left`);
  });

  test('one user may have any number of trades', () => {
    const { uncheckpointed } = tailOf(0);
    const count = 200_000;
    for (let at = 1; at <= count; at += 1) uncheckpointed.tradeConfirmed(ALICE, 0, confirmed(at));
    uncheckpointed.journalFlushed(1, 0);
    for (let left = count; left > 0; left = Math.max(0, left - DROPPED_PER_FLUSH)) {
      assert.equal(uncheckpointed.tradeCount, left);
      uncheckpointed.journalFlushed(2, 1);
    }
    assert.deepEqual([uncheckpointed.tradeCount, uncheckpointed.tradesOf(ALICE)], [0, []]);
  });

  test('trades go in the order of their confirmation, and a user without any is forgotten', () => {
    const { uncheckpointed } = tailOf(0);
    const count = 3 * DROPPED_PER_FLUSH;
    for (let at = 1; at <= count; at += 1) uncheckpointed.tradeConfirmed(at % 3 === 0 ? BOB : ALICE, 0, confirmed(at));
    uncheckpointed.journalFlushed(1, 0);
    assert.equal(uncheckpointed.tradeCount, count);
    uncheckpointed.journalFlushed(2, 1);
    assert.equal(uncheckpointed.tradeCount, count - DROPPED_PER_FLUSH);
    assert.equal(
      uncheckpointed.tradesOf(ALICE)[0]?.trade.tradeId,
      DROPPED_PER_FLUSH + 1 + ((DROPPED_PER_FLUSH + 1) % 3 === 0 ? 1 : 0),
    );
    for (let flush = 3; flush < 6; flush += 1) uncheckpointed.journalFlushed(flush, 2);
    assert.deepEqual(
      [uncheckpointed.tradeCount, uncheckpointed.tradesOf(ALICE), uncheckpointed.tradesOf(BOB)],
      [0, [], []],
    );
  });
});
