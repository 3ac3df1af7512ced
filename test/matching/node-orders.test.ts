// tier: quick
/** What liquidation needs of a market: orders of the node, cancels with the reason `Liquidation`, trade ids for ADL. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { InvariantError } from '../../src/core/assert.ts';
import { MARKET_STATUS, ORDER_END, ROLLBACK_REASON, TIF } from '../../src/core/order-terms.ts';
import { ConfirmedPrice } from '../../src/matching/confirmed-price.ts';
import { RESERVED_IDS_MAX } from '../../src/matching/market-engine.ts';
import { ends, fills, MarketFixture, only } from '../support/market-fixture.ts';
import { BUY, START_NS } from '../support/market-recorder.ts';

const { insufficientMargin: OWN, counterpartyAtFault: OTHER } = ROLLBACK_REASON;
const IOC = { tif: TIF.ioc, nodeMade: true } as const;

suite('orders of the node in a market', () => {
  test('LIQ-05, AMB-109: CancelOnly does not bind an order of the node, Halted does', () => {
    const fixture = new MarketFixture();
    fixture.buy('rests', 5, 100, { user: 'bob' });
    fixture.setMarket(MARKET_STATUS.cancelOnly);
    assert.equal(fixture.sell('own', 1, 100, { tif: TIF.ioc })[0]?.[3], 'MARKET_HALTED');
    assert.deepEqual(fills(fixture.sell('sys-liq-1', 3, 90, IOC)), [[1, 2, 100, 3]]);
    fixture.setMarket(MARKET_STATUS.halted);
    assert.deepEqual(fixture.sell('sys-liq-2', 3, 90, IOC)[0]?.slice(0, 1), ['createRefused']);
    assert.deepEqual(fixture.levels(BUY), [[100, 2]]);
  });

  test('LIQ-14: in price-time order like any other order, and never at rest', () => {
    const fixture = new MarketFixture();
    fixture.buy('first', 1, 100, { user: 'bob' });
    fixture.buy('second', 1, 100, { user: 'cyd' });
    fixture.buy('better', 1, 101, { user: 'dan' });
    const told = fixture.sell('sys-liq-1', 9, 100, IOC);
    assert.deepEqual(fills(told), [
      [3, 4, 101, 1],
      [1, 4, 100, 1],
      [2, 4, 100, 1],
    ]);
    assert.deepEqual(ends(told), [[4, 'ImmediateOrCancel', 6]]);
  });

  test('AMB-39, AMB-57: the collar binds an order of the node', () => {
    const fixture = new MarketFixture();
    fixture.buy('rests', 5, 80, { user: 'bob' });
    fixture.engine.setCollar(90, 110);
    const told = fixture.sell('sys-liq-1', 5, 70, IOC);
    assert.deepEqual([fills(told), ends(told)], [[], [[2, 'ImmediateOrCancel', 5]]]);
  });

  test('AMB-08: ids that its owner signed with a clock ahead do not make it too old', () => {
    const fixture = new MarketFixture({ rememberedIdsPerUserMax: 1 });
    for (const id of ['a', 'b', 'c']) {
      fixture.buy(id, 1, 100, { creationNs: START_NS + 4_000_000_000n });
      fixture.cancel(id);
    }
    assert.equal(fixture.buy('own', 1, 100)[0]?.[3], 'REQUEST_TOO_OLD');
    assert.equal(fixture.sell('sys-liq-1', 1, 100, IOC)[0]?.[0], 'accepted');
  });
});

suite('cancels of an account in liquidation', () => {
  test('LIQ-04: what rests and what waits ends with Liquidation', () => {
    const fixture = new MarketFixture();
    fixture.buy('rests', 2, 100);
    fixture.buy('waits', 1, 99, { above: 200 });
    for (const id of ['rests', 'waits']) fixture.cancel(id, { end: ORDER_END.liquidation });
    assert.deepEqual(fixture.levels(BUY), []);
    assert.equal(fixture.cancel('waits')[0]?.[2], 'ALREADY_CANCELLED');
  });

  test('LIQ-04, AMB-23: what is pending as a whole never comes back, and is Liquidation if a fill of it is undone', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 3, 100);
    const [fill] = only(fixture.sell('t', 3, 100, { user: 'bob' }), 'matched');
    const told = fixture.cancel('a', { end: ORDER_END.liquidation });
    assert.deepEqual(only(told, 'cancelPending', 'ended'), [['cancelPending', 4, 1]]);
    assert.deepEqual(ends(fixture.rollback(fill, OTHER, OWN)), [
      [2, 'AtFault', 3],
      [1, 'Liquidation', 3],
    ]);
    assert.deepEqual(fixture.levels(BUY), []);
  });
});

suite('trade ids for auto-deleveraging', () => {
  test('ADL-01, AMB-59: are the next ones, in the sequence of the market, and no trade has them', () => {
    const fixture = new MarketFixture();
    const trade = (id: string): unknown => {
      fixture.buy(id, 1, 100);
      return only(fixture.sell(`${id}-t`, 1, 100, { user: 'bob' }), 'matched')[0]?.slice(1, 3);
    };
    assert.deepEqual(trade('a'), [3, 1]);
    assert.equal(fixture.engine.reserveTradeIds(3), 2);
    assert.deepEqual(fixture.recorder.take(), [['tradeIdsReserved', 4, 2, 3]]);
    assert.deepEqual(trade('b'), [7, 5]);
    assert.deepEqual([fixture.engine.lastTradeId, fixture.engine.sequence], [5, 7]);
    fixture.settleAll();
    fixture.engine.checkInvariants();
  });

  test('ADL-01: as many as the ring of undecided trades has no room for', () => {
    const fixture = new MarketFixture({ firstCapacity: 2 });
    fixture.buy('a', 2, 100);
    const [fill] = only(fixture.sell('t', 2, 100, { user: 'bob' }), 'matched');
    fixture.engine.reserveTradeIds(1_000);
    fixture.recorder.take();
    assert.deepEqual(ends(fixture.rollback(fill, OTHER, OWN)), [[2, 'AtFault', 2]]);
    assert.deepEqual(fixture.levels(BUY), [[100, 2]]);
    assert.throws(() => fixture.engine.reserveTradeIds(0), InvariantError);
    assert.throws(() => fixture.engine.reserveTradeIds(RESERVED_IDS_MAX + 1), InvariantError);
  });

  test('AMB-43: confirm no price', () => {
    const confirmed = new ConfirmedPrice();
    confirmed.matched(1, 100, 0, 7);
    confirmed.skipped(2);
    confirmed.decidedThrough(2);
    assert.deepEqual([confirmed.price, confirmed.matchedNs], [100, 7n]);
    for (let id = 3; id < 3 + 200; id += 1) confirmed.skipped(id);
    confirmed.matched(203, 90, 0, 9);
    confirmed.decidedThrough(202);
    assert.equal(confirmed.price, 100);
    confirmed.decidedThrough(203);
    assert.equal(confirmed.price, 90);
  });

  test('AMB-110: after a restart the next id is behind them', () => {
    const fixture = new MarketFixture();
    fixture.engine.finishRestore({ sequence: 9, lastTradeId: 40, nowNs: START_NS });
    assert.equal(fixture.engine.reserveTradeIds(2), 41);
    fixture.buy('a', 1, 100);
    const [matched] = only(fixture.sell('t', 1, 100, { user: 'bob' }), 'matched');
    assert.equal(matched?.[2], 43);
  });
});
