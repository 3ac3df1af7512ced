// tier: quick
/** Trigger orders: when they fire, how they are released, how they are replaced. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { RAW_MAX } from '../../src/core/limits.ts';
import { MARKET_STATUS, ORDER_END, ROLLBACK_REASON, TIF, TRIGGER } from '../../src/core/order-terms.ts';
import { ends, fills, LAST_PRICE, MarketFixture, names, only, releases, tradeAt } from '../support/market-fixture.ts';
import { BUY, LIFE_NS, SELL, START_NS } from '../support/market-recorder.ts';

const at = (ns: bigint): { timestampNs: bigint } => ({ timestampNs: START_NS + ns });

suite('triggers', () => {
  test('a trigger order waits in a book of its own: admitted, and the depth is without it (TRG-01, AMB-28)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 1, 100, { user: 'bob' });
    assert.deepEqual(fixture.buy('t', 5, 120, { above: 110 }), [['accepted', 2, 'ada', 't', 0]]);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[], [[100, 1]]]);
  });

  test('above fires at or above its price, below at or below (TRG-02, AMB-28)', () => {
    const fired = (price: number): unknown[] => {
      const fixture = new MarketFixture();
      fixture.buy('above', 1, 1, { above: 100 });
      fixture.buy('below', 1, 1, { below: 100 });
      tradeAt(fixture, price);
      return only([...fixture.settleAll(), ...fixture.poll()], 'triggered').map(([, , order]) => order);
    };
    assert.deepEqual([fired(99), fired(100), fired(101)], [[2], [1, 2], [1]]);
  });

  test('a match fires nothing, nor does a fill that is rolled back; its confirmation does (TRG-03)', () => {
    const fixture = new MarketFixture();
    fixture.buy('t', 1, 1, { above: 100 });
    const [fill] = only(tradeAt(fixture, 100), 'matched');
    assert.deepEqual(fixture.poll(), []);
    fixture.rollback(fill, ROLLBACK_REASON.insufficientInventory, ROLLBACK_REASON.counterpartyAtFault);
    assert.deepEqual([fixture.settleAll(), fixture.poll()], [[], []]);
    tradeAt(fixture, 100);
    assert.deepEqual([fixture.settleAll(), names(fixture.poll())], [[], ['triggered']]);
  });

  test('only trades confirmed after its admission count; a condition that holds already waits for the next (AMB-28)', () => {
    const fixture = new MarketFixture();
    tradeAt(fixture, 100);
    fixture.settleAll();
    fixture.buy('late', 1, 1, { above: 90 });
    assert.deepEqual([fixture.settleAll(), fixture.poll()], [[], []]);
    tradeAt(fixture, 95);
    fixture.settleAll();
    assert.deepEqual(names(fixture.poll()), ['triggered']);
  });

  test('from one trade the price that was reached first goes first, then admission (AMB-28)', () => {
    const fixture = new MarketFixture();
    fixture.buy('near', 1, 1, { above: 110 });
    fixture.buy('far', 1, 1, { above: 101 });
    fixture.buy('other side', 1, 1, { below: 125 });
    fixture.buy('as near', 1, 1, { above: 110 });
    tradeAt(fixture, 115);
    fixture.settleAll();
    assert.deepEqual(
      only(fixture.poll(), 'triggered').map(([, , order]) => order),
      [2, 3, 1, 4],
    );
  });

  test('it is published, released as published, activated, and then an order like any other (TRG-02, TRG-08, AMB-28)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 2, 120, { user: 'bob' });
    fixture.buy('t', 5, 120, { above: LAST_PRICE });
    tradeAt(fixture);
    fixture.settleAll();
    const [told] = fixture.poll();
    assert.deepEqual(told, ['triggered', 6, 2, LAST_PRICE, 5]);
    assert.deepEqual(fixture.release(2, 5), []);
    assert.deepEqual(fixture.poll(), [
      ['activated', 7, 2, 7, 5],
      ['matched', 8, 2, 1, 2, 120, 2, BUY, 0],
      ['levelChanged', BUY, 120, 3],
      ['levelChanged', SELL, 120, 0],
      ['depthCommitted', 8],
    ]);
    assert.deepEqual(ends(fixture.cancel('t')), [[2, 'UserRequested', 3]]);
  });

  test('it takes its place in the queue when it is activated, not when it was admitted (AMB-28)', () => {
    const fixture = new MarketFixture();
    fixture.sell('t', 1, 120, { above: LAST_PRICE });
    fixture.sell('m', 1, 120);
    tradeAt(fixture);
    fixture.runTriggers();
    assert.deepEqual(
      fills(fixture.buy('b', 2, 120, { user: 'bob' })).map((fill) => (fill as number[])[0]),
      [2, 1],
    );
  });

  test('an answer that is not to the last event changes nothing, and one counts once (AMB-28)', () => {
    const fixture = new MarketFixture();
    fixture.buy('t', 5, 50, { above: LAST_PRICE });
    tradeAt(fixture);
    fixture.settleAll();
    assert.deepEqual([fixture.release(1, 5), fixture.poll(0)], [[], []], 'not told yet');
    fixture.poll();
    fixture.release(1, 4);
    fixture.release(99, 5);
    assert.deepEqual(fixture.poll(), []);
    fixture.release(1, 5);
    fixture.release(1, 5, ORDER_END.marginInsufficient);
    assert.deepEqual(names(fixture.poll()), ['activated']);
    assert.deepEqual([fixture.release(1, 5), fixture.poll()], [[], []]);
  });

  test('without a hold, or as a reduce-only order, it ends (AMB-28, AMB-128)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 5, 50, { above: LAST_PRICE });
    fixture.buy('b', 5, 50, { above: LAST_PRICE });
    tradeAt(fixture);
    fixture.settleAll();
    fixture.poll();
    assert.deepEqual(ends(fixture.release(1, 5, ORDER_END.marginInsufficient)), [[1, 'MarginInsufficient', 5]]);
    assert.deepEqual(ends(fixture.release(2, 5, ORDER_END.reduceOnly)), [[2, 'ReduceOnly', 5]]);
    assert.equal(fixture.cancel('a')[0]?.[2], 'ALREADY_CANCELLED');
  });

  test('cancels and expiry reach it whatever it waits for (AMB-23, ORD-20)', () => {
    const fixture = new MarketFixture();
    fixture.buy('fired', 5, 50, { above: LAST_PRICE });
    fixture.buy('dormant', 5, 50, { above: 1_000, lifeNs: 10n, tif: TIF.gtd });
    tradeAt(fixture);
    fixture.settleAll();
    fixture.poll();
    assert.deepEqual(ends(fixture.cancel('fired')), [[1, 'UserRequested', 5]]);
    assert.deepEqual([fixture.release(1, 5), fixture.poll()], [[], []], 'an answer comes too late');
    assert.deepEqual(ends(fixture.wait(10n)), [[2, 'Expired', 5]]);
    fixture.buy('long', 5, 50, { above: 1_000 });
    assert.deepEqual(ends(fixture.wait(LIFE_NS)), [[9, 'Expired', 5]]);
  });

  test('market orders may wait too: published by their lots, 0 where quote alone sizes them (AMB-28)', () => {
    const fixture = new MarketFixture();
    fixture.marketBuy('lots', { lots: 3, above: LAST_PRICE });
    fixture.marketBuy('quote', { quote: 350, above: LAST_PRICE });
    tradeAt(fixture);
    fixture.settleAll();
    assert.deepEqual(releases(fixture.poll()), [
      ['triggered', 1, 3],
      ['triggered', 2, 0],
    ]);
    fixture.sell('m', 9, 110, { user: 'bob' });
    fixture.release(2, 0);
    const told = fixture.poll();
    assert.deepEqual([releases(told), fills(told)], [[['activated', 2, 0]], [[8, 2, 110, 3]]]);
    assert.deepEqual(ends(told), [[2, 'Filled', 0]]);
    assert.deepEqual([fixture.release(2, 0), fixture.poll()], [[], []]);
  });

  test('a post-only order that would take when it is released ends (TIF-07, AMB-28)', () => {
    const fixture = new MarketFixture();
    fixture.buy('p', 1, 120, { above: LAST_PRICE, postOnly: true });
    tradeAt(fixture);
    fixture.sell('m', 1, 120, { user: 'bob' });
    const told = fixture.runTriggers();
    assert.deepEqual([names(told), ends(told)], [['triggered', 'ended'], [[1, 'PostOnlyWouldCross', 1]]]);
  });

  test('a release that finds no space at its level ends (AMB-01)', () => {
    const fixture = new MarketFixture();
    fixture.buy('t', 5, 50, { above: LAST_PRICE });
    fixture.buy('full', RAW_MAX, 50);
    tradeAt(fixture);
    assert.deepEqual(ends(fixture.runTriggers()), [[1, 'ImmediateOrCancel', 5]]);
  });

  test('triggers wait while the market is not active (AMB-109)', () => {
    const fixture = new MarketFixture();
    fixture.buy('t', 1, 50, { above: LAST_PRICE });
    tradeAt(fixture);
    fixture.setMarket(MARKET_STATUS.cancelOnly);
    fixture.settleAll();
    assert.equal(fixture.engine.poll(fixture.nowNs, 64), false);
    fixture.setMarket(MARKET_STATUS.active);
    assert.deepEqual(names(fixture.poll()), ['triggered']);
    fixture.setMarket(MARKET_STATUS.halted);
    fixture.release(1, 1);
    assert.deepEqual(fixture.poll(), []);
    fixture.setMarket(MARKET_STATUS.active);
    assert.deepEqual(names(fixture.poll()), ['activated']);
  });
});

suite('replace of a waiting trigger', () => {
  test('price, quantity and trigger of a dormant limit order change, and nothing is matched (RPL-05, AMB-20)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 1, 100, { user: 'bob' });
    fixture.buy('t', 5, 90, { above: 110 });
    assert.deepEqual(fixture.replace('t', { price: 120, quantity: 4, below: 80, ...at(1n) }), [
      ['replaced', 3, 2, 2, 120, 4, START_NS + 1n, 3, TRIGGER.below, 80],
    ]);
    assert.deepEqual(fixture.replace('t', { quantity: 3, ...at(2n) })[0]?.slice(4), [120, 3, START_NS + 2n, 4, 2, 80]);
  });

  test('older is too old, identical succeeds, another trigger at the same time is too old (RPL-09, AMB-21)', () => {
    const fixture = new MarketFixture();
    fixture.buy('t', 5, 90, { above: 110 });
    assert.equal(fixture.replace('t', { above: 120, ...at(0n) })[0]?.[2], 'REQUEST_TOO_OLD');
    assert.deepEqual(fixture.replace('t', { above: 110, ...at(0n) }), [['replaceUnchanged', 3, 1]]);
    assert.equal(fixture.replace('t', { price: 91, ...at(-1n) })[0]?.[2], 'REQUEST_TOO_OLD');
  });

  test('a trigger is for what waits: on a live or fired order it is invalid (AMB-20)', () => {
    const fixture = new MarketFixture();
    fixture.buy('live', 5, 90);
    fixture.buy('fired', 5, 90, { above: LAST_PRICE });
    tradeAt(fixture);
    fixture.settleAll();
    fixture.poll();
    for (const id of ['live', 'fired'])
      assert.equal(fixture.replace(id, { above: 130, ...at(1n) })[0]?.[2], 'INVALID_ORDER', id);
  });

  test('a market order is not replaced, waiting or not (RPL-10)', () => {
    const fixture = new MarketFixture();
    fixture.marketBuy('t', { lots: 3, above: 110 });
    assert.equal(fixture.replace('t', { quantity: 2, ...at(1n) })[0]?.[2], 'INVALID_ORDER');
  });

  test('a fired order whose terms change is published again, and the answer to the old ones is void (AMB-20, AMB-28)', () => {
    const fixture = new MarketFixture();
    fixture.buy('t', 5, 50, { above: LAST_PRICE });
    tradeAt(fixture);
    fixture.settleAll();
    fixture.poll();
    fixture.release(1, 5);
    const [replaced] = fixture.replace('t', { quantity: 7, ...at(1n) });
    assert.deepEqual(replaced?.slice(8), [TRIGGER.none, 0], 'it waits for no price any more');
    fixture.release(1, 5);
    assert.deepEqual(releases(fixture.poll()), [['triggered', 1, 7]]);
    fixture.release(1, 5);
    assert.deepEqual(fixture.poll(), []);
    fixture.release(1, 7);
    assert.deepEqual(releases(fixture.poll()), [['activated', 1, 7]]);
  });

  test('complete terms keep, change or leave out a trigger by what it is: never taken away, never armed again (wire-additions.md 3.3)', () => {
    const complete = { price: 50, quantity: 5, isComplete: true };
    const codeAt = (fixture: MarketFixture, terms: Parameters<MarketFixture['replace']>[1]): unknown => {
      fixture.wait(1n);
      const [told] = fixture.replace('t', { ...complete, ...terms });
      return told?.[0] === 'replaceRefused' ? told.at(-1) : told?.[0];
    };
    const dormant = (): MarketFixture => {
      const fixture = new MarketFixture();
      fixture.buy('t', 5, 50, { above: LAST_PRICE });
      return fixture;
    };
    assert.equal(codeAt(dormant(), {}), 'INVALID_ORDER', 'a trigger is not taken away');
    assert.equal(codeAt(dormant(), { above: LAST_PRICE }), 'replaced');
    const moved = dormant();
    assert.equal(codeAt(moved, { above: LAST_PRICE + 50 }), 'replaced');
    tradeAt(moved);
    assert.deepEqual(names([...moved.settleAll(), ...moved.poll()]), [], 'the other trigger is in force');

    const fired = dormant();
    tradeAt(fired);
    fired.settleAll();
    fired.poll();
    assert.equal(codeAt(fired, { above: LAST_PRICE + 50 }), 'INVALID_ORDER', 'a fired trigger is not changed');
    assert.equal(codeAt(fired, { above: LAST_PRICE }), 'replaced', 'its own changes nothing');
    assert.deepEqual(names(fired.poll()), ['triggered'], 'it stays fired: the new terms are to be released');
    assert.equal(codeAt(fired, {}), 'replaced', 'none is fine as well');

    const live = new MarketFixture();
    live.buy('t', 5, 50);
    assert.equal(codeAt(live, {}), 'replaced');
    assert.equal(codeAt(live, { above: LAST_PRICE }), 'INVALID_ORDER');
  });
});
