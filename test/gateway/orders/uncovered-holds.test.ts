// tier: quick
/** Accounts that hold more than they own after a booking lose their youngest orders, and only then (AMB-112). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { USD } from '../../../src/core/ids.ts';
import { ORDER_END, SIDE } from '../../../src/core/order-terms.ts';
import { ONE_18, type TimestampNs } from '../../../src/core/units.ts';
import { ALICE, BOB } from '../../support/names.ts';
import { BASE, mustPass, NOW, OrderFixture, replaceRequest } from '../../support/order-fixture.ts';
import { propertyParameters } from '../../support/property.ts';

/** An order of 1 unit at 2,000 holds 2,001 USD with the fee of 500 ppm. */
const ONE_UNIT = { price: 200_000, quantity: 10_000 };
const HOLD = 2_001n * ONE_18;

/** Clearing books a balance, and has published all of it. */
function book(fixture: OrderFixture, owned: bigint): void {
  fixture.setOwned(ALICE, USD, owned);
  fixture.decide();
  fixture.manager.onJournalFlushed({ sequence: 1, checkpoint: 0 });
}

function cancelled(fixture: OrderFixture): readonly string[] {
  while (fixture.manager.cancelUncovered());
  return fixture.sink.reductions.map(({ orderId, total, end }) => {
    assert.deepEqual([total, end], [0, ORDER_END.marginInsufficient]);
    return orderId;
  });
}

interface PlainOrder {
  readonly id: string;
  readonly stampNs: bigint;
  readonly sequence: number;
  readonly hold: bigint;
}

/** The shortest run of the youngest orders without which the holds fit into what is owned. */
function plainLosses(orders: readonly PlainOrder[], owned: bigint): readonly string[] {
  const youngest = [...orders].sort((a, b) =>
    a.stampNs === b.stampNs ? b.sequence - a.sequence : Number(b.stampNs - a.stampNs),
  );
  const lost: string[] = [];
  let held = orders.reduce((sum, { hold }) => sum + hold, 0n);
  for (const { id, hold } of youngest) {
    if (held <= owned) break;
    lost.push(id);
    held -= hold;
  }
  return lost;
}

suite('holds that are not owned', () => {
  test('the youngest orders go until the rest fits, as in a plain reference (AMB-112)', () => {
    const order = fc.record({
      lots: fc.integer({ min: 10, max: 5_000 }),
      isReplaced: fc.boolean(),
      isBase: fc.boolean(),
    });
    const property = fc.property(fc.array(order, { minLength: 1, maxLength: 12 }), fc.nat(10_000), (wishes, share) => {
      const fixture = new OrderFixture();
      const orders: PlainOrder[] = [];
      for (const [index, { lots, isReplaced, isBase }] of wishes.entries()) {
        const id = `o${index}`;
        const side = isBase ? SIDE.sell : SIDE.buy;
        const before = fixture.held(ALICE, USD);
        const sequence = fixture.place({ id, side, price: 200_000, quantity: lots });
        if (isReplaced) fixture.replaced(sequence, 200_000, lots);
        const hold = fixture.held(ALICE, USD) - before;
        const stampNs = fixture.record(ALICE, id)?.timestamp_ns as bigint;
        if (hold > 0n) orders.push({ id, stampNs, sequence, hold });
      }
      const held = fixture.held(ALICE, USD);
      const owned = (held * BigInt(share)) / 10_000n;
      book(fixture, owned);
      const losses = plainLosses(orders, owned);
      assert.deepEqual(cancelled(fixture), losses);
      assert.deepEqual(cancelled(fixture), losses, 'asked for once');
      for (const [index, id] of losses.entries()) {
        fixture.end(orders.find((one) => one.id === id)?.sequence ?? 0, ORDER_END.marginInsufficient);
        fixture.answer(fixture.sink.reductions[index]?.requestId ?? 0);
        assert.equal(fixture.told(ALICE, id).at(-1), 'Canceled MarginInsufficient');
      }
      assert.deepEqual(cancelled(fixture), losses, 'and that was enough');
      assert.ok(fixture.available(ALICE, USD) >= 0n);
    });
    fc.assert(property, propertyParameters(60));
  });

  test('an order on its way is the youngest, and is waited for (AMB-112)', () => {
    const fixture = new OrderFixture();
    fixture.place({ id: 'old', ...ONE_UNIT });
    const request = fixture.request({ id: 'young', ...ONE_UNIT });
    assert.ok(request.ok);
    book(fixture, HOLD);
    assert.deepEqual(cancelled(fixture), [], 'the market has not answered');
    const sequence = fixture.nextSequence;
    const admitted = { requestId: request.value, marketIndex: 3, sequence, timeNs: 1n as TimestampNs, rejectCode: 0 };
    fixture.manager.onAccepted(admitted);
    fixture.answer(request.value, sequence);
    assert.deepEqual(cancelled(fixture), ['young']);
  });

  test('a balance that comes before the match that it contains costs no order (AMB-112)', () => {
    const fixture = new OrderFixture();
    const maker = fixture.place({ id: 'maker', ...ONE_UNIT });
    const taker = fixture.place({ id: 'taker', user: BOB, side: SIDE.sell, ...ONE_UNIT });
    fixture.place({ id: 'other', price: 190_000, quantity: 40_000 });
    fixture.setOwned(ALICE, USD, 2_000n * ONE_18 + fixture.held(ALICE, USD));
    // Clearing has decided the match that this gateway has yet to receive.
    fixture.setOwned(ALICE, USD, fixture.held(ALICE, USD) - 1n);
    fixture.manager.onMarketDecided({ marketIndex: 3, sequence: 4 });
    fixture.manager.onJournalFlushed({ sequence: 1, checkpoint: 0 });
    assert.deepEqual(cancelled(fixture), []);
    fixture.match(maker, taker, 200_000, 10_000);
    assert.deepEqual(cancelled(fixture), []);
  });

  test('of many orders some go at a time, the youngest first, until all is owned (AMB-112)', () => {
    const fixture = new OrderFixture();
    fixture.setOwned(ALICE, USD, 400n * HOLD);
    const sequences = Array.from({ length: 300 }, (_, index) => fixture.place({ id: `o${index}`, ...ONE_UNIT }));
    book(fixture, 10n * HOLD);
    let ended = 0;
    for (let lost = cancelled(fixture); lost.length > ended; lost = cancelled(fixture)) {
      assert.ok(lost.length - ended <= 64);
      for (const id of lost.slice(ended)) {
        fixture.end(sequences[Number(id.slice(1))] ?? 0, ORDER_END.marginInsufficient);
        fixture.answer(fixture.sink.reductions[ended]?.requestId ?? 0);
        ended += 1;
        assert.equal(id, `o${300 - ended}`);
      }
    }
    assert.equal(ended, 290);
  });

  test('a replace on its way keeps no order (AMB-112)', () => {
    const fixture = new OrderFixture();
    fixture.place({ id: 'order', ...ONE_UNIT });
    const caller = { user: ALICE, now: NOW, looksUp: false };
    const replace = replaceRequest({ orderId: 'order' as never, newPriceLimit: 195_000 as never });
    mustPass(fixture.manager.requests.reserveReplace(mustPass(fixture.manager.requests.checkReplace(replace, caller))));
    book(fixture, 0n);
    assert.deepEqual(cancelled(fixture), ['order']);
    assert.deepEqual(cancelled(fixture), ['order'], 'once');
  });

  test('orders that spend something else stay, and a full ring is retried (AMB-112)', () => {
    const fixture = new OrderFixture();
    fixture.place({ id: 'buy', ...ONE_UNIT });
    fixture.place({ id: 'sell', side: SIDE.sell, price: 210_000, quantity: 10_000 });
    fixture.sink.isFull = true;
    book(fixture, 0n);
    assert.deepEqual(cancelled(fixture), []);
    fixture.sink.isFull = false;
    assert.deepEqual(cancelled(fixture), ['buy']);
    assert.equal(fixture.held(ALICE, BASE), ONE_18);
  });
});
