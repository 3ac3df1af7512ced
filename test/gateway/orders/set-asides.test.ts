// tier: quick
/** What actions set aside of margin accounts, and for a quote leg that is folded (AMB-65, AMB-69, AMB-112, TRF-08). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AssetId } from '../../../src/core/ids.ts';
import { type Amount18, ONE_18 } from '../../../src/core/units.ts';
import { MarginFixture, SIDE, USD } from '../../support/margin-fixture.ts';
import { ALICE, ETH } from '../../support/names.ts';
import { codeOf, mustPass, NOW } from '../../support/order-fixture.ts';

const { buy, sell } = SIDE;

function take(
  fixture: MarginFixture,
  amount: number,
  asset: AssetId = USD,
): ReturnType<typeof fixture.manager.setAsides.take> {
  const from = { user: ALICE, subAccount: 1, asset };
  return fixture.manager.setAsides.take({ from, amount: (BigInt(amount) * ONE_18) as Amount18, leaves: true }, NOW);
}

suite('what actions set aside', () => {
  test('leaves the margin that open orders press for, and orders find it gone (AMB-65, AMB-112, TRF-08)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 10_000);
    fixture.place({ side: buy, quantity: 1 });
    const capacity = fixture.capacity();
    assert.ok(capacity > 1_000n * ONE_18 && capacity < 10_000n * ONE_18);
    const free = Number(capacity / ONE_18);
    assert.equal(codeOf(take(fixture, free + 1)), 'INSUFFICIENT_MARGIN');
    assert.equal(fixture.capacity(), capacity, 'what is refused changes nothing');
    const taken = mustPass(take(fixture, free));
    assert.ok(fixture.capacity() < ONE_18);
    assert.equal(fixture.verdict({ side: buy, quantity: 1 }), 'INSUFFICIENT_MARGIN', 'the order came second');
    assert.equal(codeOf(take(fixture, 1)), 'INSUFFICIENT_MARGIN');
    taken.free();
    assert.equal(fixture.capacity(), capacity);
    assert.equal(fixture.verdict({ side: buy, quantity: 1 }), 'ok');
  });

  test('an account without orders and borrows gives all that it has, once (AMB-65, AMB-112)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 100);
    assert.equal(codeOf(take(fixture, 101)), 'INSUFFICIENT_INVENTORY');
    const taken = mustPass(take(fixture, 60));
    assert.equal(codeOf(take(fixture, 41)), 'INSUFFICIENT_INVENTORY');
    taken.free();
    mustPass(take(fixture, 100));
    assert.equal(codeOf(take(fixture, 1, ETH)), 'INSUFFICIENT_INVENTORY', 'a balance that never was');
  });

  test('a quote leg below zero takes spot USD that orders then lack, and the margin stays as it is (AMB-69, AMB-112)', () => {
    const fixture = new MarginFixture();
    const account = { user: ALICE, subAccount: 1 };
    fixture.spot(USD, 500);
    assert.equal(mustPass(fixture.manager.setAsides.takeQuoteLeg(account, ETH)).amount, 0n, 'there is no position');
    fixture.position(ETH, 0, 40);
    assert.equal(mustPass(fixture.manager.setAsides.takeQuoteLeg(account, ETH)).amount, 0n, 'a gain takes nothing');
    fixture.position(ETH, 0, -400);
    const capacity = fixture.capacity();
    const taken = mustPass(fixture.manager.setAsides.takeQuoteLeg(account, ETH));
    assert.deepEqual([taken.amount, fixture.capacity()], [400n * ONE_18, capacity]);
    assert.equal(codeOf(fixture.manager.setAsides.takeQuoteLeg(account, ETH)), 'INSUFFICIENT_INVENTORY', 'it is spent');
    const { available } = fixture.manager.funds({ ...account, asset: USD });
    assert.equal(available, 100n * ONE_18);
    taken.free();
    assert.equal(fixture.manager.funds({ ...account, asset: USD }).available, 500n * ONE_18);
  });

  test('fills on their way count where they cost more than what is booked (AMB-69, AMB-112)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 100_000);
    fixture.position(ETH, 0, -1);
    const order = fixture.place({ side: buy, quantity: 1 });
    const other = fixture.place({ side: sell, quantity: 1, price: 205_000 });
    fixture.match(order, other, 2_000, 1, sell);
    const { amount } = mustPass(fixture.manager.setAsides.takeQuoteLeg({ user: ALICE, subAccount: 1 }, ETH));
    assert.ok(amount > 0n);
    assert.equal(codeOf(fixture.manager.setAsides.takeQuoteLeg({ user: ALICE, subAccount: 1 }, ETH)), 'ok');
  });
});
