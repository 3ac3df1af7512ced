/** Accounts that hold more than they own after a booking lose their youngest orders, and only then (AMB-112). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { USD } from '../../../src/core/ids.ts';
import { ORDER_END, SIDE } from '../../../src/core/order-terms.ts';
import { ONE_18, type TimestampNs } from '../../../src/core/units.ts';
import { ALICE, BASE, BOB, mustPass, NOW, OrderDesk, replaceRequest } from '../../support/order-desk.ts';
import { propertyParameters } from '../../support/property.ts';

/** An order of 1 unit at 2,000 holds 2,001 USD with the fee of 500 ppm. */
const ONE_UNIT = { price: 200_000, quantity: 10_000 };
const HOLD = 2_001n * ONE_18;

/** Clearing books a balance, and has published all of it. */
function book(desk: OrderDesk, owned: bigint): void {
  desk.setOwned(ALICE, USD, owned);
  desk.decide();
  desk.manager.onJournalFlushed({ sequence: 1, checkpoint: 0 });
}

function cancelled(desk: OrderDesk): readonly string[] {
  while (desk.manager.cancelUncovered());
  return desk.sink.reductions.map(({ orderId, total, end }) => {
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
      const desk = new OrderDesk();
      const orders: PlainOrder[] = [];
      for (const [index, { lots, isReplaced, isBase }] of wishes.entries()) {
        const id = `o${index}`;
        const side = isBase ? SIDE.sell : SIDE.buy;
        const before = desk.held(ALICE, USD);
        const sequence = desk.place({ id, side, price: 200_000, quantity: lots });
        if (isReplaced) desk.replaced(sequence, 200_000, lots);
        const hold = desk.held(ALICE, USD) - before;
        const stampNs = desk.record(ALICE, id)?.timestamp_ns as bigint;
        if (hold > 0n) orders.push({ id, stampNs, sequence, hold });
      }
      const held = desk.held(ALICE, USD);
      const owned = (held * BigInt(share)) / 10_000n;
      book(desk, owned);
      const losses = plainLosses(orders, owned);
      assert.deepEqual(cancelled(desk), losses);
      assert.deepEqual(cancelled(desk), losses, 'asked for once');
      for (const [index, id] of losses.entries()) {
        desk.end(orders.find((one) => one.id === id)?.sequence ?? 0, ORDER_END.marginInsufficient);
        desk.answer(desk.sink.reductions[index]?.requestId ?? 0);
        assert.equal(desk.told(ALICE, id).at(-1), 'Canceled MarginInsufficient');
      }
      assert.deepEqual(cancelled(desk), losses, 'and that was enough');
      assert.ok(desk.available(ALICE, USD) >= 0n);
    });
    fc.assert(property, propertyParameters(60));
  });

  test('an order on its way is the youngest, and is waited for (AMB-112)', () => {
    const desk = new OrderDesk();
    desk.place({ id: 'old', ...ONE_UNIT });
    const request = desk.request({ id: 'young', ...ONE_UNIT });
    assert.ok(request.ok);
    book(desk, HOLD);
    assert.deepEqual(cancelled(desk), [], 'the market has not answered');
    const sequence = desk.nextSequence;
    const admitted = { requestId: request.value, marketIndex: 3, sequence, timeNs: 1n as TimestampNs, refusal: 0 };
    desk.manager.onAccepted(admitted);
    desk.answer(request.value, sequence);
    assert.deepEqual(cancelled(desk), ['young']);
  });

  test('a balance that comes before the match that it contains costs no order (AMB-112)', () => {
    const desk = new OrderDesk();
    const maker = desk.place({ id: 'maker', ...ONE_UNIT });
    const taker = desk.place({ id: 'taker', user: BOB, side: SIDE.sell, ...ONE_UNIT });
    desk.place({ id: 'other', price: 190_000, quantity: 40_000 });
    desk.setOwned(ALICE, USD, 2_000n * ONE_18 + desk.held(ALICE, USD));
    // Clearing has decided the match that this door has yet to receive.
    desk.setOwned(ALICE, USD, desk.held(ALICE, USD) - 1n);
    desk.manager.onMarketDecided({ marketIndex: 3, sequence: 4 });
    desk.manager.onJournalFlushed({ sequence: 1, checkpoint: 0 });
    assert.deepEqual(cancelled(desk), []);
    desk.match(maker, taker, 200_000, 10_000);
    assert.deepEqual(cancelled(desk), []);
  });

  test('of many orders some go at a time, the youngest first, until all is owned (AMB-112)', () => {
    const desk = new OrderDesk();
    desk.setOwned(ALICE, USD, 400n * HOLD);
    const sequences = Array.from({ length: 300 }, (_, index) => desk.place({ id: `o${index}`, ...ONE_UNIT }));
    book(desk, 10n * HOLD);
    let ended = 0;
    for (let lost = cancelled(desk); lost.length > ended; lost = cancelled(desk)) {
      assert.ok(lost.length - ended <= 64);
      for (const id of lost.slice(ended)) {
        desk.end(sequences[Number(id.slice(1))] ?? 0, ORDER_END.marginInsufficient);
        desk.answer(desk.sink.reductions[ended]?.requestId ?? 0);
        ended += 1;
        assert.equal(id, `o${300 - ended}`);
      }
    }
    assert.equal(ended, 290);
  });

  test('a replace on its way keeps no order (AMB-112)', () => {
    const desk = new OrderDesk();
    desk.place({ id: 'order', ...ONE_UNIT });
    const caller = { user: ALICE, now: NOW, looksUp: false };
    const replace = replaceRequest({ orderId: 'order' as never, newPriceLimit: 195_000 as never });
    mustPass(desk.manager.requests.reserveReplace(mustPass(desk.manager.requests.checkReplace(replace, caller))));
    book(desk, 0n);
    assert.deepEqual(cancelled(desk), ['order']);
    assert.deepEqual(cancelled(desk), ['order'], 'once');
  });

  test('orders that spend something else stay, and a full ring is retried (AMB-112)', () => {
    const desk = new OrderDesk();
    desk.place({ id: 'buy', ...ONE_UNIT });
    desk.place({ id: 'sell', side: SIDE.sell, price: 210_000, quantity: 10_000 });
    desk.sink.isFull = true;
    book(desk, 0n);
    assert.deepEqual(cancelled(desk), []);
    desk.sink.isFull = false;
    assert.deepEqual(cancelled(desk), ['buy']);
    assert.equal(desk.held(ALICE, BASE), ONE_18);
  });
});
