/** Laws of rollback and restart (AMB-32, AMB-34, AMB-110). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ROLLBACK_REASON, TIF, TRIGGER_STATE } from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { ends, fills, MarketDesk, only } from '../support/market-desk.ts';
import { BUY, keyOf, LIFE_NS, PLAIN_TERMS, SELL, START_NS } from '../support/market-recorder.ts';

const { counterpartyAtFault: OTHER, insufficientInventory: OWN, insufficientMargin, staleMatch } = ROLLBACK_REASON;

suite('rollback', () => {
  test('an innocent order that still rests gets its quantity back in place (AMB-32 a)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 5, 100);
    desk.sell('next', 5, 100);
    const [fill] = only(desk.buy('t', 2, 100, { tif: TIF.ioc }), 'matched');
    const told = desk.rollback(fill, OTHER, OWN);
    assert.deepEqual(only(told, 'restored'), [['restored', 6, 1, 1, 2]]);
    assert.deepEqual(only(told, 'levelChanged'), [['levelChanged', SELL, 100, 10]]);
    assert.deepEqual(fills(desk.buy('u', 6, 100))[0], [1, 7, 100, 5], 'priority kept');
  });

  test('an innocent order that was consumed comes back at the tail of its level (AMB-32 b)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 2, 100);
    const [fill] = only(desk.buy('t', 2, 100, { tif: TIF.ioc }), 'matched');
    desk.sell('later', 2, 100);
    assert.deepEqual(only(desk.rollback(fill, OTHER, OWN), 'restored'), [['restored', 6, 1, 6, 2]]);
    assert.deepEqual(fills(desk.buy('u', 2, 100)), [[4, 7, 100, 2]], 'behind the one that came meanwhile');
  });

  test('if coming back would cross, it is cancelled: it never takes (AMB-32 b)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 2, 100);
    const [fill] = only(desk.buy('t', 2, 100, { tif: TIF.ioc }), 'matched');
    desk.buy('bid', 1, 101);
    const told = desk.rollback(fill, OTHER, OWN);
    assert.deepEqual(ends(told).at(-1), [1, 'RollbackRestoreWouldCross', 2]);
    assert.deepEqual([fills(told), desk.levels(SELL)], [[], []]);
  });

  test('the remainder of an order at fault does not keep its innocent maker from coming back (AMB-32 b)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 5, 100);
    const [fill] = only(desk.buy('t', 7, 100), 'matched');
    const told = desk.rollback(fill, OTHER, OWN);
    assert.deepEqual(ends(told), [[2, 'AtFault', 7]]);
    assert.deepEqual(only(told, 'restored'), [['restored', 5, 1, 5, 5]]);
    assert.deepEqual(only(told, 'levelChanged').at(-1), ['levelChanged', SELL, 100, 5]);
  });

  test('immediate orders are not matched again (AMB-32 c)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 2, 100);
    const [fill] = only(desk.buy('t', 2, 100, { tif: TIF.ioc }), 'matched');
    assert.deepEqual(ends(desk.rollback(fill, OWN, OTHER)), [
      [1, 'AtFault', 2],
      [2, 'RolledBack', 2],
    ]);
  });

  test('what was cancelled or expired meanwhile is not restored (AMB-32 d)', () => {
    const desk = new MarketDesk();
    desk.sell('cancelled', 3, 100);
    desk.sell('expired', 3, 100, { tif: TIF.gtd, lifeNs: 1_000n });
    const [first, second] = only(desk.buy('t', 4, 100, { tif: TIF.ioc }), 'matched');
    desk.sell('again', 2, 100);
    desk.cancel('cancelled');
    desk.wait(1_000n);
    assert.deepEqual(ends(desk.rollback(second, OTHER, OWN)), [[3, 'AtFault', 1]]);
    assert.deepEqual(only(desk.rollback(first, OTHER, OWN), 'restored', 'ended'), [
      ['ended', 10, 1, 'UserRequested', 0, 3, 0],
    ]);
    assert.deepEqual(desk.levels(SELL), [[100, 2]]);
  });

  test('a consumed order past its expiry ends as expired (AMB-32 d, ORD-20)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 1, 101, { tif: TIF.gtd, lifeNs: 1_000n });
    const [fill] = only(desk.buy('t', 1, 101), 'matched');
    desk.nowNs += 1_000n;
    assert.deepEqual(ends(desk.rollback(fill, OTHER, OWN)).at(-1), [1, 'Expired', 1]);
  });

  test('after a replace the remainder is the new total less what is filled (AMB-32 e)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 10, 100);
    const [fill] = only(desk.buy('t', 4, 100), 'matched');
    desk.replace('m', { quantity: 3, timestampNs: START_NS + 1n });
    assert.deepEqual(desk.levels(SELL), []);
    assert.deepEqual(only(desk.rollback(fill, OTHER, OWN), 'restored')[0]?.at(-1), 3);
    assert.deepEqual(desk.levels(SELL), [[100, 3]]);
  });

  test('the party at fault loses its remainder with its reason, the other one nothing (FIL-14, FIL-15, AMB-32)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 5, 100);
    const [fill] = only(desk.buy('t', 8, 100), 'matched');
    const told = desk.rollback(fill, insufficientMargin, OTHER);
    assert.deepEqual(only(told, 'ended', 'restored'), [
      ['ended', 4, 1, 'AtFault', insufficientMargin, 5, 0],
      ['restored', 5, 2, 2, 5],
    ]);
    assert.deepEqual(desk.levels(BUY), [[100, 8]]);
  });

  test('a stale match is nobody’s fault; of two that would cross the maker comes back (AMB-33)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 5, 100);
    const [fill] = only(desk.buy('t', 5, 101), 'matched');
    const told = desk.rollback(fill, staleMatch, staleMatch);
    assert.deepEqual([only(told, 'restored').length, ends(told)], [1, [[2, 'RollbackRestoreWouldCross', 5]]]);
    assert.deepEqual([desk.levels(BUY), desk.levels(SELL)], [[], [[100, 5]]]);
  });

  test('a fill-or-kill unit rolls back whole: EX-25 (TIF-06, AMB-34, AMB-128)', () => {
    const desk = new MarketDesk();
    desk.sell('m1', 10, 2_000);
    desk.sell('m2', 20, 2_010);
    desk.sell('later', 10, 2_000);
    const [first, third, second] = only(desk.buy('t', 35, 2_010, { tif: TIF.fok }), 'matched');
    desk.rollback(first, OTHER, OTHER);
    desk.rollback(third, OTHER, OTHER);
    const told = desk.rollback(second, insufficientMargin, OTHER);
    assert.deepEqual(ends(told), [[2, 'AtFault', 20]], 'the taker’s end was told with the first fill');
    assert.deepEqual(desk.levels(SELL), [[2_000, 20]]);
    assert.deepEqual(desk.levels(BUY), []);
  });

  test('an order is remembered only when its last fill is decided (AMB-32, ORD-24)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 2, 100);
    const [first] = only(desk.buy('t', 1, 100), 'matched');
    const [second] = only(desk.buy('u', 1, 100), 'matched');
    desk.engine.settled(1);
    assert.throws(() => desk.rollback(first, OTHER, OWN), /undecided/);
    assert.deepEqual(only(desk.rollback(second, OTHER, OWN), 'restored')[0]?.at(-1), 1);
    assert.throws(() => desk.rollback(second, OTHER, OWN), /once/);
  });
});

suite('restart', () => {
  interface Kept {
    readonly order: number;
    readonly price: number;
    readonly quantity: number;
    readonly prioritySequence?: number;
  }
  const restore = (desk: MarketDesk, side: typeof BUY, { order, price, quantity, ...rest }: Kept): void =>
    desk.engine.restoreOrder({
      ...PLAIN_TERMS,
      ...keyOf('ada', `o${order}`),
      order,
      prioritySequence: rest.prioritySequence ?? order,
      side,
      price,
      quantity,
      filledQuantity: 0,
      triggerState: TRIGGER_STATE.live,
      parent: 0,
      creationNs: START_NS,
      timestampNs: START_NS,
      expiryNs: (START_NS + LIFE_NS) as TimestampNs,
    });
  const finish = (desk: MarketDesk, nowNs: bigint = START_NS): void =>
    desk.engine.finishRestore({ sequence: 1_000, lastTradeId: 500, nowNs: nowNs as TimestampNs });

  test('restored orders keep their priority, in whatever order they come (AMB-110)', () => {
    const desk = new MarketDesk();
    for (const order of [7, 3, 5]) restore(desk, SELL, { order, price: 100, quantity: 1 });
    restore(desk, SELL, { order: 1, price: 100, quantity: 1, prioritySequence: 9 });
    finish(desk);
    assert.deepEqual(
      fills(desk.buy('t', 4, 100)).map((fill) => (fill as number[])[0]),
      [3, 5, 7, 1],
    );
  });

  test('if restored orders cross, the later one takes, with new numbers (AMB-110)', () => {
    const desk = new MarketDesk();
    restore(desk, BUY, { order: 4, price: 101, quantity: 3 });
    restore(desk, SELL, { order: 2, price: 100, quantity: 2 });
    restore(desk, SELL, { order: 6, price: 101, quantity: 2 });
    finish(desk);
    assert.deepEqual(desk.recorder.take(), [
      ['matched', 1_001, 501, 2, 4, 100, 2, BUY, 0],
      ['matched', 1_002, 502, 4, 6, 101, 1, SELL, 0],
    ]);
    assert.deepEqual([desk.levels(BUY), desk.levels(SELL)], [[], [[101, 1]]]);
  });

  test('what expired while the node was down leaves before anything matches (AMB-110, ORD-20)', () => {
    const desk = new MarketDesk();
    restore(desk, BUY, { order: 1, price: 101, quantity: 1 });
    restore(desk, SELL, { order: 2, price: 100, quantity: 1 });
    finish(desk, START_NS + LIFE_NS);
    assert.deepEqual(ends(desk.recorder.take()), [
      [1, 'Expired', 1],
      [2, 'Expired', 1],
    ]);
  });

  test('remembered ids and the watermark survive (AMB-08)', () => {
    const desk = new MarketDesk();
    const key = keyOf('ada', 'old');
    desk.engine.restoreRememberedId({ ...key, creationNs: START_NS, wasCancelled: true });
    desk.engine.restoreWatermark(key.words, key.userAt, START_NS - 5n);
    finish(desk);
    assert.equal(desk.buy('old', 1, 100)[0]?.[3], 'DUPLICATE_ORDER');
    assert.equal(desk.cancel('old')[0]?.[2], 'ALREADY_CANCELLED');
    assert.equal(desk.buy('new', 1, 100, { creationNs: START_NS - 5n })[0]?.[3], 'REQUEST_TOO_OLD');
    assert.equal(desk.buy('new', 1, 100, { creationNs: START_NS - 4n })[0]?.[0], 'accepted');
  });
});
