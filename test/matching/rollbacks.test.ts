// tier: quick
/** Rollback (AMB-32, AMB-34). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ROLLBACK_REASON, TIF } from '../../src/core/order-terms.ts';
import { ends, fills, MarketFixture, only } from '../support/market-fixture.ts';
import { BUY, SELL, START_NS } from '../support/market-recorder.ts';

const { counterpartyAtFault: OTHER, insufficientInventory: OWN, insufficientMargin, staleMatch } = ROLLBACK_REASON;

suite('rollback', () => {
  test('an innocent order that still rests gets its quantity back in place (AMB-32 a)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 5, 100);
    fixture.sell('next', 5, 100);
    const [fill] = only(fixture.buy('t', 2, 100, { tif: TIF.ioc }), 'matched');
    const told = fixture.rollback(fill, OTHER, OWN);
    assert.deepEqual(only(told, 'restored'), [['restored', 6, 1, 1, 2]]);
    assert.deepEqual(only(told, 'levelChanged'), [['levelChanged', SELL, 100, 10]]);
    assert.deepEqual(fills(fixture.buy('u', 6, 100))[0], [1, 7, 100, 5], 'priority kept');
  });

  test('an innocent order that was consumed comes back to its old place (AMB-32 b)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 2, 100);
    const [fill] = only(fixture.buy('t', 2, 100, { tif: TIF.ioc }), 'matched');
    fixture.sell('later', 2, 100);
    assert.deepEqual(only(fixture.rollback(fill, OTHER, OWN), 'restored'), [['restored', 6, 1, 1, 2]]);
    assert.deepEqual(fills(fixture.buy('u', 2, 100)), [[1, 7, 100, 2]], 'before the one that came meanwhile');
  });

  test('the remainder of an order at fault does not keep its innocent maker from coming back (AMB-32 b)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 5, 100);
    const [fill] = only(fixture.buy('t', 7, 100), 'matched');
    const told = fixture.rollback(fill, OTHER, OWN);
    assert.deepEqual(ends(told), [[2, 'AtFault', 7]]);
    assert.deepEqual(only(told, 'restored'), [['restored', 5, 1, 1, 5]]);
    assert.deepEqual(only(told, 'levelChanged').at(-1), ['levelChanged', SELL, 100, 5]);
  });

  test('immediate orders are not matched again (AMB-32 c)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 2, 100);
    const [fill] = only(fixture.buy('t', 2, 100, { tif: TIF.ioc }), 'matched');
    assert.deepEqual(ends(fixture.rollback(fill, OWN, OTHER)), [
      [1, 'AtFault', 2],
      [2, 'RolledBack', 2],
    ]);
  });

  test('what was cancelled or expired meanwhile is not restored (AMB-32 d)', () => {
    const fixture = new MarketFixture();
    fixture.sell('cancelled', 3, 100);
    fixture.sell('expired', 3, 100, { tif: TIF.gtd, lifeNs: 1_000n });
    const [first, second] = only(fixture.buy('t', 4, 100, { tif: TIF.ioc }), 'matched');
    fixture.sell('again', 2, 100);
    fixture.cancel('cancelled');
    fixture.wait(1_000n);
    assert.deepEqual(ends(fixture.rollback(second, OTHER, OWN)), [[3, 'AtFault', 1]]);
    assert.deepEqual(only(fixture.rollback(first, OTHER, OWN), 'restored', 'ended'), [
      ['ended', 10, 1, 'UserRequested', 0, 3, 0],
    ]);
    assert.deepEqual(fixture.levels(SELL), [[100, 2]]);
  });

  test('a consumed order past its expiry ends as expired (AMB-32 d, ORD-20)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 1, 101, { tif: TIF.gtd, lifeNs: 1_000n });
    const [fill] = only(fixture.buy('t', 1, 101), 'matched');
    fixture.nowNs += 1_000n;
    assert.deepEqual(ends(fixture.rollback(fill, OTHER, OWN)).at(-1), [1, 'Expired', 1]);
  });

  test('after a replace the remainder is the new total less what is filled (AMB-32 e)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 10, 100);
    const [fill] = only(fixture.buy('t', 4, 100), 'matched');
    fixture.replace('m', { quantity: 3, timestampNs: START_NS + 1n });
    assert.deepEqual(fixture.levels(SELL), []);
    assert.deepEqual(only(fixture.rollback(fill, OTHER, OWN), 'restored')[0]?.at(-1), 3);
    assert.deepEqual(fixture.levels(SELL), [[100, 3]]);
  });

  test('who was at fault while a replace left nothing of it ends so when a later rollback leaves some (AMB-32, AMB-19)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 10, 100);
    const [first] = only(fixture.buy('t', 2, 100, { tif: TIF.ioc }), 'matched');
    const [second] = only(fixture.buy('u', 3, 100, { tif: TIF.ioc }), 'matched');
    fixture.replace('m', { quantity: 3, timestampNs: START_NS + 1n });
    assert.deepEqual(ends(fixture.rollback(first, OWN, OTHER)), [[2, 'RolledBack', 2]], 'filled as it was');
    const told = fixture.rollback(second, OTHER, insufficientMargin);
    assert.deepEqual(
      only(told, 'ended', 'restored').map((word) => word.slice(2, 6)),
      [
        [4, 'AtFault', insufficientMargin, 3],
        [1, 'AtFault', OWN, 3],
      ],
    );
    assert.deepEqual(fixture.levels(SELL), []);
  });

  test('the party at fault loses its remainder with its reason, the other one nothing (FIL-14, FIL-15, AMB-32)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 5, 100);
    const [fill] = only(fixture.buy('t', 8, 100), 'matched');
    const told = fixture.rollback(fill, insufficientMargin, OTHER);
    assert.deepEqual(only(told, 'ended', 'restored'), [
      ['ended', 4, 1, 'AtFault', insufficientMargin, 5, 0],
      ['restored', 5, 2, 2, 5],
    ]);
    assert.deepEqual(fixture.levels(BUY), [[100, 8]]);
  });

  test('a stale match has no side at fault: both come back and match again as they did (AMB-33)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 5, 100);
    const [fill] = only(fixture.buy('t', 5, 101), 'matched');
    const told = fixture.rollback(fill, staleMatch, staleMatch);
    assert.deepEqual([only(told, 'restored').length, ends(told)], [2, []]);
    assert.deepEqual(fills(told), [[1, 2, 100, 5]]);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[], []]);
  });

  test('a fill-or-kill unit rolls back whole: EX-25 (TIF-06, AMB-34, AMB-128)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m1', 10, 2_000);
    fixture.sell('m2', 20, 2_010);
    fixture.sell('later', 10, 2_000);
    const [first, third, second] = only(fixture.buy('t', 35, 2_010, { tif: TIF.fok }), 'matched');
    fixture.rollback(first, OTHER, OTHER);
    fixture.rollback(third, OTHER, OTHER);
    const told = fixture.rollback(second, insufficientMargin, OTHER);
    assert.deepEqual(ends(told), [[2, 'AtFault', 20]], 'the taker’s end was told with the first fill');
    assert.deepEqual(fixture.levels(SELL), [[2_000, 20]]);
    assert.deepEqual(fixture.levels(BUY), []);
  });

  test('an order is remembered only when its last fill is decided (AMB-32, ORD-24)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 2, 100);
    const [first] = only(fixture.buy('t', 1, 100), 'matched');
    const [second] = only(fixture.buy('u', 1, 100), 'matched');
    fixture.engine.settled(1);
    assert.throws(() => fixture.rollback(first, OTHER, OWN), /undecided/);
    assert.deepEqual(only(fixture.rollback(second, OTHER, OWN), 'restored')[0]?.at(-1), 1);
    assert.throws(() => fixture.rollback(second, OTHER, OWN), /once/);
  });
});
