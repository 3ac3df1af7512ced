// tier: quick
/** What an account in liquidation may still do: reduce, and receive (AMB-57, decision 7 on liquidation). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { UserId } from '../../../src/core/ids.ts';
import { ORDER_END } from '../../../src/core/order-terms.ts';
import { ALICE, MarginFixture, SIDE, TIF, USD, usd } from '../../support/margin-fixture.ts';
import { BOB, BTC, ETH } from '../../support/names.ts';
import { codeOf, NOW } from '../../support/order-fixture.ts';

const { buy, sell } = SIDE;

/** Alice is long 4 ETH with far more capacity than any order here needs. */
function inLiquidation(): MarginFixture {
  const fixture = new MarginFixture();
  fixture.spot(USD, 1_000_000);
  fixture.position(ETH, 4, -8_000);
  fixture.manager.onLiquidationChanged({ user: ALICE, subAccount: 1 }, true);
  return fixture;
}

function transferred(fixture: MarginFixture, subAccount: number): string {
  const from = { user: ALICE, subAccount, asset: USD };
  return codeOf(fixture.manager.setAsides.take({ from, amount: usd(1), leaves: true }, NOW));
}

suite('an account in liquidation', () => {
  test('AMB-57: takes no order that adds risk, whatever its capacity', () => {
    const fixture = inLiquidation();
    for (const wish of [
      { side: buy, quantity: 0.1 },
      { side: sell, quantity: 5 },
      { side: buy, quantity: 0.1, asset: BTC, price: 50_000 },
      { side: buy, quantity: 0.1, tif: TIF.ioc },
      { side: buy, quantity: 0.1, above: 2_100 },
      { side: buy, quantity: 0.1, isSpot: true },
    ]) {
      assert.equal(fixture.verdict(wish), 'INSUFFICIENT_MARGIN', JSON.stringify(wish));
    }
  });

  test('AMB-57: takes no spot sell either, which would leave less collateral', () => {
    const fixture = inLiquidation();
    fixture.spot(ETH, 3);
    assert.equal(fixture.verdict({ side: sell, quantity: 1, isSpot: true }), 'INSUFFICIENT_MARGIN');
    fixture.manager.onLiquidationChanged({ user: ALICE, subAccount: 1 }, false);
    assert.equal(fixture.verdict({ side: sell, quantity: 1, isSpot: true }), 'ok');
  });

  test('AMB-57: takes reducing orders, reduce-only or not', () => {
    const fixture = inLiquidation();
    assert.equal(fixture.verdict({ side: sell, quantity: 1 }), 'ok');
    assert.equal(fixture.verdict({ side: sell, quantity: 1, reduceOnly: true, tif: TIF.ioc }), 'ok');
    assert.equal(fixture.verdict({ side: sell, quantity: 1, reduceOnly: true }), 'ok');
    assert.equal(fixture.verdict({ side: sell, quantity: 1, reduceOnly: true, above: 2_500 }), 'ok');
    assert.equal(fixture.verdict({ side: sell, quantity: 4 }), 'INSUFFICIENT_MARGIN', 'with the others it would flip');
  });

  test('AMB-57, AMB-55: a market maker is not exempt', () => {
    const fixture = inLiquidation();
    fixture.manager.onUserChanged({ user: ALICE, isMarketMaker: true });
    assert.equal(fixture.verdict({ side: buy, quantity: 0.1, price: 1_900, postOnly: true }), 'INSUFFICIENT_MARGIN');
  });

  test('AMB-57: a replace may lower an order and not raise it', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 1_000_000);
    fixture.place({ id: 'buy', side: buy, quantity: 2, price: 1_900 });
    fixture.place({ id: 'waits', side: buy, quantity: 2, price: 1_900, above: 2_100 });
    fixture.manager.onLiquidationChanged({ user: ALICE, subAccount: 1 }, true);
    for (const id of ['buy', 'waits']) {
      assert.equal(codeOf(fixture.replace(id, { quantity: 3 })), 'INSUFFICIENT_MARGIN', id);
      assert.equal(codeOf(fixture.replace(id, { quantity: 1 })), 'ok', id);
    }
    assert.equal(codeOf(fixture.replace('buy', { price: 1_950 })), 'INSUFFICIENT_MARGIN');
  });

  test('AMB-57: a trigger that fires meanwhile ends its order, unless it reduces', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 1_000_000);
    const order = fixture.place({ side: buy, quantity: 1, above: 2_100 });
    fixture.manager.onLiquidationChanged({ user: ALICE, subAccount: 1 }, true);
    fixture.trigger(order, 10_000);
    fixture.decide();
    assert.equal(fixture.sink.releases[0]?.end, ORDER_END.marginInsufficient);
  });

  test('AMB-57: nothing is transferred out of it; its other accounts and other users are as they were', () => {
    const fixture = inLiquidation();
    fixture.spot(USD, 100, 0);
    fixture.spot(USD, 100_000, 1, BOB);
    assert.deepEqual([transferred(fixture, 1), transferred(fixture, 0)], ['INSUFFICIENT_MARGIN', 'ok']);
    assert.equal(fixture.verdict({ user: BOB as UserId, side: buy, quantity: 0.1 }), 'ok');
    fixture.manager.onLiquidationChanged({ user: ALICE, subAccount: 1 }, false);
    assert.deepEqual([transferred(fixture, 1), fixture.verdict({ side: buy, quantity: 0.1 })], ['ok', 'ok']);
  });
});
