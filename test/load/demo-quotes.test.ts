// tier: quick
/** The demo traders' decisions: prices stay near the oracle's, ladders never cross, and a turn changes little. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  CHANGES_PER_TURN,
  type DemoMarket,
  DemoRandom,
  Ladder,
  LEVELS,
  MAKERS,
  takeOf,
  WANDER_PPM,
  WanderingPrice,
} from '../../src/load/demo-quotes.ts';
import { propertyParameters } from '../support/property.ts';

const BTC: DemoMarket = { assetId: '1', priceDecimals: 1, quantityDecimals: 5, tick: 1, minQuantity: 10 };
const ISO: DemoMarket = { assetId: '3', priceDecimals: 4, quantityDecimals: 1, tick: 1, minQuantity: 10 };
const COARSE: DemoMarket = { assetId: '9', priceDecimals: 0, quantityDecimals: 0, tick: 50, minQuantity: 7 };
const MARKETS: readonly DemoMarket[] = [BTC, ISO, COARSE];
const STEPS = 400_000;

suite('demo quotes', () => {
  test('the price wanders to both sides of the oracle price and never leaves its band', () => {
    const price = new WanderingPrice(600_000, new DemoRandom(7));
    const seen: number[] = [];
    for (let step = 0; step < STEPS; step += 1) {
      price.step();
      seen.push(price.raw);
    }
    const band = (600_000 * WANDER_PPM) / 1_000_000;
    assert.ok(seen.every((raw) => Number.isSafeInteger(raw) && Math.abs(raw - 600_000) <= band));
    const [lowest, highest] = [seen.reduce((a, b) => Math.min(a, b)), seen.reduce((a, b) => Math.max(a, b))];
    assert.ok(lowest < 599_400 && highest > 600_600, `${lowest} ${highest}`);
    const atTheEdge = seen.filter((raw) => Math.abs(raw - 600_000) > 0.9 * band).length;
    assert.ok(atTheEdge < STEPS / 1_000, `${atTheEdge} steps at the edge of the band`);
    const mean = seen.reduce((sum, raw) => sum + raw, 0) / STEPS;
    assert.ok(Math.abs(mean - 600_000) < band / 8, `drifted to ${mean}`);
    price.follow(300_000);
    assert.ok(Math.abs(price.raw - 300_000) <= band / 2, 'it follows the oracle at once');
  });

  test('the ladders of the makers share no level, lie on ticks, and no bid reaches an ask', () => {
    const arbitrary = fc.tuple(fc.integer({ min: 1_000, max: 10_000_000 }), fc.nat(MARKETS.length - 1), fc.integer());
    fc.assert(
      fc.property(arbitrary, ([price, at, seed]) => {
        const market = MARKETS[at] ?? BTC;
        const quotes = Array.from({ length: MAKERS }, (_, maker) =>
          new Ladder(market, maker, new DemoRandom(seed)).changes(price),
        ).flat();
        const pricesOf = (side: string): number[] => quotes.filter((one) => one.side === side).map((one) => one.price);
        assert.equal(quotes.length, 2 * MAKERS * LEVELS);
        assert.ok(Math.max(...pricesOf('Buy')) < Math.min(...pricesOf('Sell')));
        for (const quote of quotes) {
          assert.ok(quote.price >= market.tick && quote.price % market.tick === 0, `${quote.price}`);
          assert.ok(Number.isSafeInteger(quote.quantity) && quote.quantity >= market.minQuantity, `${quote.quantity}`);
        }
      }),
      propertyParameters(),
    );
  });

  test('a turn fills every hole, or moves the few quotes that are farthest off; a quote in its place stays', () => {
    const ladder = new Ladder(BTC, 0, new DemoRandom(3));
    const first = ladder.changes(600_000);
    assert.equal(first.length, 2 * LEVELS);
    for (const [at, change] of first.entries()) ladder.placed(change, `order ${at}`);
    assert.deepEqual(ladder.changes(600_000), []);
    assert.deepEqual(ladder.changes(600_003), [], 'within the tolerance');

    let moves = 0;
    for (let turn = 0; turn < 2 * LEVELS; turn += 1) {
      const changes = ladder.changes(600_600);
      assert.ok(changes.length <= CHANGES_PER_TURN);
      for (const change of changes) {
        assert.match(change.orderId ?? 'none', /^order [0-9]$/);
        ladder.placed(change, change.orderId ?? '');
        moves += 1;
      }
    }
    assert.equal(moves, 2 * LEVELS);
    assert.deepEqual(ladder.changes(600_600), []);

    ladder.ended('order 4');
    ladder.ended('an order of another user');
    const [hole, ...none] = ladder.changes(600_600);
    assert.deepEqual(none, []);
    assert.equal(hole?.orderId, null);
    ladder.clear();
    assert.equal(ladder.changes(600_600).length, 2 * LEVELS);
  });

  test('the taker buys and sells, crosses the first quotes, and stays within a bound of the price', () => {
    const random = new DemoRandom(11);
    const takes = Array.from({ length: 2_000 }, () => takeOf(600_000, BTC, random));
    const buys = takes.filter(({ side }) => side === 'Buy');
    assert.ok(buys.length > 800 && buys.length < 1_200, `${buys.length} buys`);
    for (const { side, price, quantity } of takes) {
      assert.ok(side === 'Buy' ? price > 600_000 && price < 600_600 : price < 600_000 && price > 599_400, `${price}`);
      const usd = (price * quantity) / 1_000_000;
      assert.ok(usd > 100 && usd < 2_700, `${usd} USD`);
    }
  });

  test('the same seed gives the same sequence, and any seed one that does not stand still', () => {
    const draw = (seed: number): number[] => {
      const random = new DemoRandom(seed);
      return Array.from({ length: 50 }, () => random.below(1_000));
    };
    assert.deepEqual(draw(42), draw(42));
    for (const seed of [0, 1, -1, 2 ** 32 - 1]) assert.ok(new Set(draw(seed)).size > 30, `seed ${seed}`);
  });
});
