/** What actions set aside of margin accounts, and for a quote leg that is folded (AMB-65, AMB-69, AMB-112, TRF-08). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AssetId } from '../../../src/core/ids.ts';
import { type Amount18, ONE_18 } from '../../../src/core/units.ts';
import { ETH, MarginDesk, SIDE, USD } from '../../support/margin-desk.ts';
import { ALICE, codeOf, mustPass, NOW } from '../../support/order-desk.ts';

const { buy, sell } = SIDE;

function take(desk: MarginDesk, amount: number, asset: AssetId = USD): ReturnType<typeof desk.manager.setAsides.take> {
  const from = { user: ALICE, subAccount: 1, asset };
  return desk.manager.setAsides.take({ from, amount: (BigInt(amount) * ONE_18) as Amount18, leaves: true }, NOW);
}

suite('what actions set aside', () => {
  test('leaves the margin that open orders press for, and orders find it gone (AMB-65, AMB-112, TRF-08)', () => {
    const desk = new MarginDesk();
    desk.spot(USD, 10_000);
    desk.place({ side: buy, quantity: 1 });
    const capacity = desk.capacity();
    assert.ok(capacity > 1_000n * ONE_18 && capacity < 10_000n * ONE_18);
    const free = Number(capacity / ONE_18);
    assert.equal(codeOf(take(desk, free + 1)), 'INSUFFICIENT_MARGIN');
    assert.equal(desk.capacity(), capacity, 'what is refused changes nothing');
    const taken = mustPass(take(desk, free));
    assert.ok(desk.capacity() < ONE_18);
    assert.equal(desk.verdict({ side: buy, quantity: 1 }), 'INSUFFICIENT_MARGIN', 'the order came second');
    assert.equal(codeOf(take(desk, 1)), 'INSUFFICIENT_MARGIN');
    taken.free();
    assert.equal(desk.capacity(), capacity);
    assert.equal(desk.verdict({ side: buy, quantity: 1 }), 'ok');
  });

  test('an account without orders and borrows gives all that it has, once (AMB-65, AMB-112)', () => {
    const desk = new MarginDesk();
    desk.spot(USD, 100);
    assert.equal(codeOf(take(desk, 101)), 'INSUFFICIENT_INVENTORY');
    const taken = mustPass(take(desk, 60));
    assert.equal(codeOf(take(desk, 41)), 'INSUFFICIENT_INVENTORY');
    taken.free();
    mustPass(take(desk, 100));
    assert.equal(codeOf(take(desk, 1, ETH)), 'INSUFFICIENT_INVENTORY', 'a balance that never was');
  });

  test('a quote leg below zero takes spot USD that orders then lack, and the margin stays as it is (AMB-69, AMB-112)', () => {
    const desk = new MarginDesk();
    const account = { user: ALICE, subAccount: 1 };
    desk.spot(USD, 500);
    assert.equal(mustPass(desk.manager.setAsides.takeQuoteLeg(account, ETH)).amount, 0n, 'there is no position');
    desk.position(ETH, 0, 40);
    assert.equal(mustPass(desk.manager.setAsides.takeQuoteLeg(account, ETH)).amount, 0n, 'a gain takes nothing');
    desk.position(ETH, 0, -400);
    const capacity = desk.capacity();
    const taken = mustPass(desk.manager.setAsides.takeQuoteLeg(account, ETH));
    assert.deepEqual([taken.amount, desk.capacity()], [400n * ONE_18, capacity]);
    assert.equal(codeOf(desk.manager.setAsides.takeQuoteLeg(account, ETH)), 'INSUFFICIENT_INVENTORY', 'it is spent');
    const { available } = desk.manager.funds({ ...account, asset: USD });
    assert.equal(available, 100n * ONE_18);
    taken.free();
    assert.equal(desk.manager.funds({ ...account, asset: USD }).available, 500n * ONE_18);
  });

  test('fills on their way count where they cost more than what is booked (AMB-69, AMB-112)', () => {
    const desk = new MarginDesk();
    desk.spot(USD, 100_000);
    desk.position(ETH, 0, -1);
    const order = desk.place({ side: buy, quantity: 1 });
    const other = desk.place({ side: sell, quantity: 1, price: 205_000 });
    desk.match(order, other, 2_000, 1, sell);
    const { amount } = mustPass(desk.manager.setAsides.takeQuoteLeg({ user: ALICE, subAccount: 1 }, ETH));
    assert.ok(amount > 0n);
    assert.equal(codeOf(desk.manager.setAsides.takeQuoteLeg({ user: ALICE, subAccount: 1 }, ETH)), 'ok');
  });
});
