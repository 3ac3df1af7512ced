/** Trigger orders: when they fire, how they are released, how they are replaced. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { RAW_MAX } from '../../src/core/limits.ts';
import { MARKET_STATUS, ORDER_END, ROLLBACK_REASON, TIF, TRIGGER } from '../../src/core/order-terms.ts';
import { ends, fills, LAST_PRICE, MarketDesk, names, only, releases, tradeAt } from '../support/market-desk.ts';
import { BUY, LIFE_NS, SELL, START_NS } from '../support/market-recorder.ts';

const at = (ns: bigint): { timestampNs: bigint } => ({ timestampNs: START_NS + ns });

suite('triggers', () => {
  test('a trigger order waits in a book of its own: admitted, and the depth is without it (TRG-01, AMB-28)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 1, 100, { user: 'bob' });
    assert.deepEqual(desk.buy('t', 5, 120, { above: 110 }), [['accepted', 2, 'ada', 't', 0]]);
    assert.deepEqual([desk.levels(BUY), desk.levels(SELL)], [[], [[100, 1]]]);
  });

  test('above fires at or above its price, below at or below (TRG-02, AMB-28)', () => {
    const fired = (price: number): unknown[] => {
      const desk = new MarketDesk();
      desk.buy('above', 1, 1, { above: 100 });
      desk.buy('below', 1, 1, { below: 100 });
      tradeAt(desk, price);
      return only([...desk.settleAll(), ...desk.poll()], 'triggered').map(([, , order]) => order);
    };
    assert.deepEqual([fired(99), fired(100), fired(101)], [[2], [1, 2], [1]]);
  });

  test('a match fires nothing, nor does a fill that is rolled back; its confirmation does (TRG-03)', () => {
    const desk = new MarketDesk();
    desk.buy('t', 1, 1, { above: 100 });
    const [fill] = only(tradeAt(desk, 100), 'matched');
    assert.deepEqual(desk.poll(), []);
    desk.rollback(fill, ROLLBACK_REASON.insufficientInventory, ROLLBACK_REASON.counterpartyAtFault);
    assert.deepEqual([desk.settleAll(), desk.poll()], [[], []]);
    tradeAt(desk, 100);
    assert.deepEqual([desk.settleAll(), names(desk.poll())], [[], ['triggered']]);
  });

  test('only trades confirmed after its admission count; a condition that holds already waits for the next (AMB-28)', () => {
    const desk = new MarketDesk();
    tradeAt(desk, 100);
    desk.settleAll();
    desk.buy('late', 1, 1, { above: 90 });
    assert.deepEqual([desk.settleAll(), desk.poll()], [[], []]);
    tradeAt(desk, 95);
    desk.settleAll();
    assert.deepEqual(names(desk.poll()), ['triggered']);
  });

  test('from one trade the price that was reached first goes first, then admission (AMB-28)', () => {
    const desk = new MarketDesk();
    desk.buy('near', 1, 1, { above: 110 });
    desk.buy('far', 1, 1, { above: 101 });
    desk.buy('other side', 1, 1, { below: 125 });
    desk.buy('as near', 1, 1, { above: 110 });
    tradeAt(desk, 115);
    desk.settleAll();
    assert.deepEqual(
      only(desk.poll(), 'triggered').map(([, , order]) => order),
      [2, 3, 1, 4],
    );
  });

  test('it is published, released as published, activated, and then an order like any other (TRG-02, TRG-08, AMB-28)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 2, 120, { user: 'bob' });
    desk.buy('t', 5, 120, { above: LAST_PRICE });
    tradeAt(desk);
    desk.settleAll();
    const [told] = desk.poll();
    assert.deepEqual(told, ['triggered', 6, 2, LAST_PRICE, 5]);
    assert.deepEqual(desk.release(2, 5), []);
    assert.deepEqual(desk.poll(), [
      ['activated', 7, 2, 7, 5],
      ['matched', 8, 2, 1, 2, 120, 2, BUY, 0],
      ['levelChanged', BUY, 120, 3],
      ['levelChanged', SELL, 120, 0],
      ['depthCommitted', 8],
    ]);
    assert.deepEqual(ends(desk.cancel('t')), [[2, 'UserRequested', 3]]);
  });

  test('it takes its place in the queue when it is activated, not when it was admitted (AMB-28)', () => {
    const desk = new MarketDesk();
    desk.sell('t', 1, 120, { above: LAST_PRICE });
    desk.sell('m', 1, 120);
    tradeAt(desk);
    desk.runTriggers();
    assert.deepEqual(
      fills(desk.buy('b', 2, 120, { user: 'bob' })).map((fill) => (fill as number[])[0]),
      [2, 1],
    );
  });

  test('an answer that is not to the last event changes nothing, and one counts once (AMB-28)', () => {
    const desk = new MarketDesk();
    desk.buy('t', 5, 50, { above: LAST_PRICE });
    tradeAt(desk);
    desk.settleAll();
    assert.deepEqual([desk.release(1, 5), desk.poll(0)], [[], []], 'not told yet');
    desk.poll();
    desk.release(1, 4);
    desk.release(99, 5);
    assert.deepEqual(desk.poll(), []);
    desk.release(1, 5);
    desk.release(1, 5, ORDER_END.marginInsufficient);
    assert.deepEqual(names(desk.poll()), ['activated']);
    assert.deepEqual([desk.release(1, 5), desk.poll()], [[], []]);
  });

  test('without a hold, or as a reduce-only order, it ends (AMB-28, AMB-128)', () => {
    const desk = new MarketDesk();
    desk.buy('a', 5, 50, { above: LAST_PRICE });
    desk.buy('b', 5, 50, { above: LAST_PRICE });
    tradeAt(desk);
    desk.settleAll();
    desk.poll();
    assert.deepEqual(ends(desk.release(1, 5, ORDER_END.marginInsufficient)), [[1, 'MarginInsufficient', 5]]);
    assert.deepEqual(ends(desk.release(2, 5, ORDER_END.reduceOnly)), [[2, 'ReduceOnly', 5]]);
    assert.equal(desk.cancel('a')[0]?.[2], 'ALREADY_CANCELLED');
  });

  test('cancels and expiry reach it whatever it waits for (AMB-23, ORD-20)', () => {
    const desk = new MarketDesk();
    desk.buy('fired', 5, 50, { above: LAST_PRICE });
    desk.buy('dormant', 5, 50, { above: 1_000, lifeNs: 10n, tif: TIF.gtd });
    tradeAt(desk);
    desk.settleAll();
    desk.poll();
    assert.deepEqual(ends(desk.cancel('fired')), [[1, 'UserRequested', 5]]);
    assert.deepEqual([desk.release(1, 5), desk.poll()], [[], []], 'an answer comes too late');
    assert.deepEqual(ends(desk.wait(10n)), [[2, 'Expired', 5]]);
    desk.buy('long', 5, 50, { above: 1_000 });
    assert.deepEqual(ends(desk.wait(LIFE_NS)), [[9, 'Expired', 5]]);
  });

  test('market orders may wait too: published by their lots, 0 where quote alone sizes them (AMB-28)', () => {
    const desk = new MarketDesk();
    desk.marketBuy('lots', { lots: 3, above: LAST_PRICE });
    desk.marketBuy('quote', { quote: 350, above: LAST_PRICE });
    tradeAt(desk);
    desk.settleAll();
    assert.deepEqual(releases(desk.poll()), [
      ['triggered', 1, 3],
      ['triggered', 2, 0],
    ]);
    desk.sell('m', 9, 110, { user: 'bob' });
    desk.release(2, 0);
    const told = desk.poll();
    assert.deepEqual([releases(told), fills(told)], [[['activated', 2, 0]], [[8, 2, 110, 3]]]);
    assert.deepEqual(ends(told), [[2, 'Filled', 0]]);
    assert.deepEqual([desk.release(2, 0), desk.poll()], [[], []]);
  });

  test('a post-only order that would take when it is released ends (TIF-07, AMB-28)', () => {
    const desk = new MarketDesk();
    desk.buy('p', 1, 120, { above: LAST_PRICE, postOnly: true });
    tradeAt(desk);
    desk.sell('m', 1, 120, { user: 'bob' });
    const told = desk.runTriggers();
    assert.deepEqual([names(told), ends(told)], [['triggered', 'ended'], [[1, 'PostOnlyWouldCross', 1]]]);
  });

  test('a release that finds no space at its level ends (AMB-01)', () => {
    const desk = new MarketDesk();
    desk.buy('t', 5, 50, { above: LAST_PRICE });
    desk.buy('full', RAW_MAX, 50);
    tradeAt(desk);
    assert.deepEqual(ends(desk.runTriggers()), [[1, 'ImmediateOrCancel', 5]]);
  });

  test('triggers wait while the market is not active (AMB-109)', () => {
    const desk = new MarketDesk();
    desk.buy('t', 1, 50, { above: LAST_PRICE });
    tradeAt(desk);
    desk.setMarket(MARKET_STATUS.cancelOnly);
    desk.settleAll();
    assert.equal(desk.engine.poll(desk.nowNs, 64), false);
    desk.setMarket(MARKET_STATUS.active);
    assert.deepEqual(names(desk.poll()), ['triggered']);
    desk.setMarket(MARKET_STATUS.halted);
    desk.release(1, 1);
    assert.deepEqual(desk.poll(), []);
    desk.setMarket(MARKET_STATUS.active);
    assert.deepEqual(names(desk.poll()), ['activated']);
  });
});

suite('replace of a waiting trigger', () => {
  test('price, quantity and trigger of a dormant limit order change, and nothing is matched (RPL-05, AMB-20)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 1, 100, { user: 'bob' });
    desk.buy('t', 5, 90, { above: 110 });
    assert.deepEqual(desk.replace('t', { price: 120, quantity: 4, below: 80, ...at(1n) }), [
      ['replaced', 3, 2, 2, 120, 4, START_NS + 1n, 3, TRIGGER.below, 80],
    ]);
    assert.deepEqual(desk.replace('t', { quantity: 3, ...at(2n) })[0]?.slice(4), [120, 3, START_NS + 2n, 4, 2, 80]);
  });

  test('older is too old, identical succeeds, another trigger at the same time is too old (RPL-09, AMB-21)', () => {
    const desk = new MarketDesk();
    desk.buy('t', 5, 90, { above: 110 });
    assert.equal(desk.replace('t', { above: 120, ...at(0n) })[0]?.[2], 'REQUEST_TOO_OLD');
    assert.deepEqual(desk.replace('t', { above: 110, ...at(0n) }), [['replaceUnchanged', 3, 1]]);
    assert.equal(desk.replace('t', { price: 91, ...at(-1n) })[0]?.[2], 'REQUEST_TOO_OLD');
  });

  test('a trigger is for what waits: on a live or fired order it is invalid (AMB-20)', () => {
    const desk = new MarketDesk();
    desk.buy('live', 5, 90);
    desk.buy('fired', 5, 90, { above: LAST_PRICE });
    tradeAt(desk);
    desk.settleAll();
    desk.poll();
    for (const id of ['live', 'fired'])
      assert.equal(desk.replace(id, { above: 130, ...at(1n) })[0]?.[2], 'INVALID_ORDER', id);
  });

  test('a market order is not replaced, waiting or not (RPL-10)', () => {
    const desk = new MarketDesk();
    desk.marketBuy('t', { lots: 3, above: 110 });
    assert.equal(desk.replace('t', { quantity: 2, ...at(1n) })[0]?.[2], 'INVALID_ORDER');
  });

  test('a fired order whose terms change is published again, and the answer to the old ones is void (AMB-20, AMB-28)', () => {
    const desk = new MarketDesk();
    desk.buy('t', 5, 50, { above: LAST_PRICE });
    tradeAt(desk);
    desk.settleAll();
    desk.poll();
    desk.release(1, 5);
    const [replaced] = desk.replace('t', { quantity: 7, ...at(1n) });
    assert.deepEqual(replaced?.slice(8), [TRIGGER.none, 0], 'it waits for no price any more');
    desk.release(1, 5);
    assert.deepEqual(releases(desk.poll()), [['triggered', 1, 7]]);
    desk.release(1, 5);
    assert.deepEqual(desk.poll(), []);
    desk.release(1, 7);
    assert.deepEqual(releases(desk.poll()), [['activated', 1, 7]]);
  });
});
