/** Reduce-only orders at the door: what matches at once must shrink its position (TIF-08, TIF-09, AMB-27, AMB-28). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { must } from '../../src/core/assert.ts';
import { ORDER_END } from '../../src/core/order-terms.ts';
import { ETH, MARKETS, MarginDesk, SIDE, TIF, USD } from '../support/margin-desk.ts';
import { BOB } from '../support/order-desk.ts';

const { buy, sell } = SIDE;

suite('reduce-only at the door', () => {
  const verdict = (base: number, wish: Partial<Parameters<MarginDesk['verdict']>[0]>): string => {
    const desk = new MarginDesk();
    desk.spot(USD, 10_000);
    if (base !== 0) desk.position(ETH, base, 0);
    return desk.verdict({ side: sell, reduceOnly: true, quantity: 1, ...wish });
  };

  test('IOC, FOK and base-sized market orders shrink the position or are refused (TIF-08, TIF-09, AMB-27)', () => {
    for (const shape of [{ tif: TIF.ioc }, { tif: TIF.fok }, { market: { base: 10_000 } }]) {
      assert.equal(verdict(1, shape), 'ok', 'all of it');
      assert.equal(verdict(2, shape), 'ok', 'a part of it');
      assert.equal(verdict(0.5, shape), 'REDUCE_ONLY_WOULD_INCREASE', 'it would flip');
      assert.equal(verdict(-1, shape), 'REDUCE_ONLY_WOULD_INCREASE', 'it would grow');
      assert.equal(verdict(0, shape), 'REDUCE_ONLY_WOULD_INCREASE', 'flat');
    }
  });

  test('GTC, GTD and quote-sized ones are left to clearing, whatever the position (TIF-10, AMB-27)', () => {
    for (const shape of [{ tif: TIF.gtc }, { tif: TIF.gtd }, { market: { quote: 10_000 } }]) {
      for (const base of [0.5, 0, -1]) assert.equal(verdict(base, shape), 'ok', `${base}`);
    }
  });

  test('one that waits for its trigger needs nothing yet; released as an IOC without a position it ends (TIF-08, AMB-28)', () => {
    const wish = { side: sell, quantity: 1, reduceOnly: true, above: 200_000, tif: TIF.ioc } as const;
    for (const [base, end] of [
      [0, ORDER_END.reduceOnly],
      [-1, ORDER_END.reduceOnly],
      [1, 0],
    ] as const) {
      const desk = new MarginDesk();
      desk.spot(USD, 10_000);
      const order = desk.place(wish);
      desk.position(ETH, base, 0);
      desk.trigger(order, 10_000);
      assert.deepEqual(
        desk.sink.releases.map((release) => release.end),
        [end],
      );
    }
  });

  test('the position counts fills on their way (AMB-27)', () => {
    const desk = new MarginDesk();
    desk.spot(USD, 10_000);
    desk.spot(USD, 10_000, 1, BOB);
    const maker = desk.place({ user: BOB, side: sell, quantity: 1 });
    const taker = desk.place({ side: buy, quantity: 1 });
    desk.match(maker, taker, 2_000, 1, buy);
    assert.equal(desk.verdict({ side: sell, tif: TIF.ioc, reduceOnly: true, quantity: 1 }), 'ok');
    assert.equal(
      desk.verdict({ side: sell, tif: TIF.ioc, reduceOnly: true, quantity: 1.0001 }),
      'REDUCE_ONLY_WOULD_INCREASE',
    );
  });

  test('the minimum does not bind one that closes the whole position (AMB-42)', () => {
    const desk = new MarginDesk();
    desk.spot(USD, 10_000);
    desk.position(ETH, 0.0005, 0);
    desk.manager.onMarketChanged({ ...must(MARKETS[ETH], 'a market of the desk'), minimumQuantity: 100 as never });
    assert.equal(desk.verdict({ side: sell, reduceOnly: true, quantity: 0.0005 }), 'ok');
    assert.equal(desk.verdict({ side: sell, reduceOnly: true, quantity: 0.0004 }), 'INVALID_ORDER');
    assert.equal(desk.verdict({ side: sell, quantity: 0.0005 }), 'INVALID_ORDER');
  });
});
