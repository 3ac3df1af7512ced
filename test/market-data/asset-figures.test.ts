// tier: quick
/** Prices and open interest as public reads show them (wire-additions.md 6). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openInterestJson, tickerJson } from '../../src/codec/market-data-json.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../../src/core/units.ts';
import { AssetFigures } from '../../src/market-data/asset-figures.ts';
import { MarketData, type MarketDataSink } from '../../src/market-data/market-data.ts';
import { type MarkRule, type PriceSource, shownPrices } from '../../src/risk/prices.ts';
import { marketOf, SECOND, START_NS, tradeOf } from '../support/market-figures.ts';

const ONE = 10n ** 18n;
const ETH = '12' as AssetId;
const NOW = START_NS as TimestampNs;

function sourceOf(price: bigint, agoSeconds: bigint, isTripped = false): PriceSource {
  return {
    price: (price * ONE) as Amount18,
    timeNs: (START_NS - agoSeconds * SECOND) as TimestampNs,
    isTripped,
    goodUpdates: 0,
  };
}

const NO_BAND: MarkRule = { band: null, bandAgeNs: 0n };

/** The mark as `price source`, and the oracle price. */
function shown(oracle: PriceSource | null, trade: PriceSource | null, rule: MarkRule = NO_BAND): string {
  const { mark, oracle: index } = shownPrices(oracle, trade, rule, NOW);
  const text = (price: bigint | undefined): string => (price === undefined ? 'none' : String(price / ONE));
  return `${text(mark?.price)} ${mark?.source ?? '-'} ${text(index?.price)}`;
}

suite('prices that public reads show', () => {
  test('the mark is the last trade for a minute, then the oracle; none is older than two hours (AMB-43, LIQ-10)', () => {
    assert.equal(shown(null, null), 'none - none');
    assert.equal(shown(sourceOf(3_000n, 0n), sourceOf(3_151n, 60n)), '3151 trade 3000');
    assert.equal(shown(sourceOf(3_000n, 0n), sourceOf(3_151n, 61n)), '3000 oracle 3000');
    assert.equal(
      shown(sourceOf(3_000n, 0n), sourceOf(3_151n, 1n, true)),
      '3000 oracle 3000',
      'a tripped mark (AMB-44)',
    );
    assert.equal(shown(sourceOf(3_000n, 7_200n), null), '3000 oracle 3000');
    assert.equal(shown(sourceOf(3_000n, 7_201n), null), 'none - none');
    assert.equal(shown(sourceOf(3_000n, 7_201n), sourceOf(3_151n, 61n)), 'none - none');
    assert.equal(shown(null, sourceOf(3_151n, 7_200n)), '3151 trade none', 'no oracle ever: the last trade');
    assert.equal(shown(null, sourceOf(3_151n, 7_201n)), 'none - none');
  });
});

suite('open interest', () => {
  test('its time is that of its last change, and a market without a position has none', () => {
    const figures = new AssetFigures();
    const risk = (long: bigint, mark: PriceSource | null = null) => ({
      mark,
      credits: (long * ONE) as Amount18,
      borrows: (long * ONE) as Amount18,
    });
    const at = (seconds: bigint): TimestampNs => (START_NS + seconds * SECOND) as TimestampNs;
    figures.riskChanged(ETH, risk(0n, sourceOf(3_000n, 0n)), at(1n));
    assert.equal(figures.openInterest(ETH), null, 'a spot trade');
    figures.riskChanged(ETH, risk(2n), at(2n));
    figures.riskChanged(ETH, risk(2n, sourceOf(3_001n, 0n)), at(3n));
    assert.deepEqual(figures.openInterest(ETH), { long: 2n * ONE, short: 2n * ONE, changedNs: at(2n) });
    figures.riskChanged(ETH, risk(0n), at(4n));
    assert.deepEqual(figures.openInterest(ETH), { long: 0n, short: 0n, changedNs: at(4n) });
    assert.equal(
      openInterestJson(marketOf(0, '12'), figures.openInterest(ETH)),
      `{"asset_id":"12","long":"0","short":"0","timestamp_ns":${at(4n)}}`,
    );
    assert.equal(
      openInterestJson(marketOf(0, '13'), figures.openInterest('13' as AssetId)),
      '{"asset_id":"13","long":null,"short":null,"timestamp_ns":null}',
    );
  });

  test('after a start its time is that of the last trade of the market', () => {
    const figures = new AssetFigures();
    const mark = sourceOf(3_000n, 500n);
    figures.riskChanged(ETH, { mark, credits: ONE as Amount18, borrows: ONE as Amount18 }, null);
    assert.equal(figures.openInterest(ETH)?.changedNs, mark.timeNs);
  });
});

suite('the ticker', () => {
  test('is the sample of the contract, members in order (wire-additions.md 6.1)', () => {
    const sample =
      '{"asset_id":"12","last_price":"3151","open":"3100","high":"3188","low":"3080.5","volume":"9120334.1","price_change":"51","price_change_percent":"1.645","timestamp_ns":1770000004000000000,"volume_24h":"9120334.1","high_24h":"3188","low_24h":"3080.5","price_change_24h":"51","price_change_pct_24h":"1.645","mark_price":"3151","index_price":"3149.9","best_bid":{"price":"3149.75","size":"1"},"best_ask":{"price":"3150.25","size":"2.5"},"open_interest":{"long":"410.5","short":"410.5","timestamp_ns":1770000004000000000}}';
    const asOfNs = 1_770_000_004_000_000_000n as TimestampNs;
    const raw = (price: number): RawPrice => price as RawPrice;
    const interest = ((410n * ONE * 10n + 5n * ONE) / 10n) as Amount18;
    const text = tickerJson(marketOf(0, '12'), {
      ticker: {
        lastPrice: raw(315_100),
        day: {
          open: raw(310_000),
          high: raw(318_800),
          low: raw(308_050),
          volume: 9_120_334_100_000n,
          changeMilliPercent: 1_645n,
        },
        asOfNs,
      },
      quotes: {
        markPrice: (3_151n * ONE) as Amount18,
        indexPrice: ((31_499n * ONE) / 10n) as Amount18,
        bestBid: { price: raw(314_975), quantity: 10_000 as RawQuantity },
        bestAsk: { price: raw(315_025), quantity: 25_000 as RawQuantity },
        openInterest: { long: interest, short: interest, changedNs: asOfNs },
      },
    });
    assert.equal(text, sample);
  });

  test('carries the best levels of the last diff, and is not sent because of them (TKR-03)', () => {
    const sent: string[] = [];
    const nothing = (): void => undefined;
    const sink: MarketDataSink = {
      depthDiff: nothing,
      klines: nothing,
      trade: nothing,
      tradeEvent: nothing,
      ticker: (market, ticker) => sent.push(tickerJson(market, ticker)),
      tickers: nothing,
      resyncWanted: nothing,
    };
    const data = new MarketData(sink);
    data.upsertMarket(marketOf(0, '12'));
    data.resetDepth(0, 0);
    data.levelChanged(0, SIDE.buy, 314_975 as RawPrice, 10_000);
    data.commitDepth(0, 1 as Sequence);
    const best = (): readonly unknown[] => {
      const { bestBid, bestAsk } = data.ticker(0, NOW).quotes;
      return [bestBid, bestAsk];
    };
    assert.deepEqual(best(), [null, null], 'not published yet');
    data.tick({ nowNs: NOW, pacingNs: 0n });
    assert.deepEqual(best(), [{ price: 314_975, quantity: 10_000 }, null]);
    data.levelChanged(0, SIDE.buy, 314_975 as RawPrice, 0);
    data.levelChanged(0, SIDE.buy, 314_900 as RawPrice, 5);
    data.levelChanged(0, SIDE.sell, 315_025 as RawPrice, 7);
    data.commitDepth(0, 2 as Sequence);
    data.oracleAccepted(ETH, sourceOf(3_000n, 0n));
    assert.deepEqual(best(), [{ price: 314_975, quantity: 10_000 }, null], 'as of the last diff');
    data.tick({ nowNs: NOW, pacingNs: 2n * SECOND });
    assert.deepEqual(best(), [
      { price: 314_900, quantity: 5 },
      { price: 315_025, quantity: 7 },
    ]);
    assert.deepEqual(sent, []);
    data.tradeConfirmed(tradeOf(1, START_NS, 315_025));
    data.tick({ nowNs: NOW, pacingNs: 4n * SECOND });
    assert.match(sent.join(), /"mark_price":"3000","index_price":"3000","best_bid":\{"price":"3149","size":"0.0005"\}/);
  });
});
