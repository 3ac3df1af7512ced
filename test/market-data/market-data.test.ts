// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { depthJson, klinesFrameJson, publicTradeJson, rawText, tickerJson } from '../../src/codec/market-data-json.ts';
import { formatRaw } from '../../src/core/decimal.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import type { RawPrice, Sequence, TimestampNs } from '../../src/core/units.ts';
import { MarketData, type MarketDataSink } from '../../src/market-data/market-data.ts';
import { marketOf, SECOND, START_NS, tradeOf } from '../support/market-figures.ts';

const MILLISECOND = 1_000_000n;

/** Everything published, as one line each. */
class Log implements MarketDataSink {
  lines: string[] = [];
  events: string[] = [];
  take(): string[] {
    const lines = this.lines;
    this.lines = [];
    return lines;
  }
  depthDiff: MarketDataSink['depthDiff'] = (market, diff) => this.lines.push(`depth ${depthJson(market, diff)}`);
  klines: MarketDataSink['klines'] = (market, rows) => this.lines.push(`klines ${klinesFrameJson(market, rows)}`);
  trade: MarketDataSink['trade'] = (market, trade) => this.lines.push(`trade ${publicTradeJson(market, trade)}`);
  tradeEvent: MarketDataSink['tradeEvent'] = (_, { tradeId }, status) => this.events.push(`${status} ${tradeId}`);
  ticker: MarketDataSink['ticker'] = (market, ticker) => this.lines.push(`ticker ${tickerJson(market, ticker)}`);
  tickers: MarketDataSink['tickers'] = (changed) =>
    this.lines.push(`tickers ${changed.map(({ market }) => market.assetId).join()}`);
  resyncWanted: MarketDataSink['resyncWanted'] = (marketIndex) => this.lines.push(`resync ${marketIndex}`);
}

function running(): { log: Log; data: MarketData; tick: (pacingMs: number, nowNs?: bigint) => string[] } {
  const log = new Log();
  const data = new MarketData(log);
  data.upsertMarket(marketOf(0, '12'));
  const tick = (pacingMs: number, nowNs = START_NS): string[] => {
    data.tick({ nowNs: nowNs as TimestampNs, pacingNs: BigInt(pacingMs) * MILLISECOND });
    return log.take();
  };
  return { log, data, tick };
}

suite('market data', () => {
  test('a first change goes out at once, later ones are merged for at most 10 ms (AMB-98)', () => {
    const { data, tick } = running();
    data.resetDepth(0, 0);
    data.commitDepth(0, 1 as Sequence);
    const change = (price: number, quantity: number, sequence: number): void => {
      data.levelChanged(0, SIDE.sell, price as RawPrice, quantity);
      data.commitDepth(0, sequence as Sequence);
    };
    assert.deepEqual(tick(100), []);
    change(315_025, 25_000, 2);
    assert.deepEqual(tick(100), ['depth {"asks":[[3150.25,2.5]],"bids":[],"sequence_number":1}']);
    change(315_026, 1, 3);
    assert.deepEqual(tick(105), []);
    change(315_025, 0, 4);
    assert.deepEqual(tick(110), ['depth {"asks":[[3150.25,0],[3150.26,0.0001]],"bids":[],"sequence_number":2}']);
    assert.deepEqual(tick(130), []);
  });

  test('every trade is reported as pending once and before its decision, whichever channel is first (wire.md 9.7)', () => {
    const { log, data, tick } = running();
    const trade = (id: number): ReturnType<typeof tradeOf> => tradeOf(id, START_NS);
    data.tradeConfirmed(trade(1));
    tick(0);
    assert.deepEqual(log.events, [], 'what was before the first reader is history');
    data.tradeMatched(trade(1));
    data.tradeMatched(trade(2));
    data.tradeConfirmed(trade(2));
    data.tradeRolledBack(trade(3));
    data.tradeConfirmed(trade(4));
    data.tradeMatched(trade(3));
    data.tradeMatched(trade(4));
    data.tradeMatched(trade(7));
    const expected = 'Pending 2,Confirmed 2,Pending 3,Rollbacked 3,Pending 4,Confirmed 4,Pending 7';
    assert.equal(log.events.join(), expected);
    assert.equal(tick(0).filter((line) => line.startsWith('trade ')).length, 2, 'the tape has confirmed ones only');
  });

  test('a gap requests a resync, again after a second, and publishes nothing until it is healed (MD-04)', () => {
    const { data, tick } = running();
    data.resetDepth(0, 0);
    data.levelChanged(0, SIDE.buy, 100 as RawPrice, 10_000);
    data.commitDepth(0, 1 as Sequence);
    assert.equal(tick(0).length, 1);
    data.levelChanged(0, SIDE.buy, 101 as RawPrice, 10_000);
    data.commitDepth(0, 3 as Sequence);
    assert.deepEqual(tick(20), ['resync 0']);
    assert.deepEqual(tick(1_019), []);
    assert.deepEqual(tick(1_020), ['resync 0']);
    data.resetDepth(0, data.depthSequence(0));
    data.levelChanged(0, SIDE.buy, 101 as RawPrice, 20_000);
    data.commitDepth(0, 5 as Sequence);
    assert.deepEqual(tick(1_030), ['depth {"asks":[],"bids":[[1.01,2],[1,0]],"sequence_number":2}']);
  });

  test('a confirmed trade is sent at once, its second when it closes, its ticker at most once a second (TKR-03, AMB-141)', () => {
    const { data, tick } = running();
    assert.deepEqual(tick(0), []);
    const noQuotes = '"mark_price":null,"index_price":null,"best_bid":null,"best_ask":null,"open_interest":null';
    data.tradeConfirmed(tradeOf(1, START_NS + 5n, 310_000, 10_000));
    data.tradeConfirmed(tradeOf(2, START_NS + 6n, 315_100, 5_000));
    data.clearingPassed(0, (START_NS + SECOND) as TimestampNs);
    const trade = '"asset_id":"12","trade_id":1,"price":"3100","quantity":"1","timestamp_ns":1770001200000000005';
    const ticker =
      '"asset_id":"12","last_price":"3151","open":"3100","high":"3151","low":"3100","volume":"4675.5","price_change":"51","price_change_percent":"1.645"';
    assert.deepEqual(tick(1, START_NS + 7n), [
      `trade {${trade},"buyer_is_maker":false,"status":"Confirmed"}`,
      'trade {"asset_id":"12","trade_id":2,"price":"3151","quantity":"0.5","timestamp_ns":1770001200000000006,"buyer_is_maker":true,"status":"Confirmed"}',
      `ticker {${ticker},"timestamp_ns":1770001200000000007,"volume_24h":"4675.5","high_24h":"3151","low_24h":"3100","price_change_24h":"51","price_change_pct_24h":"1.645",${noQuotes}}`,
      'tickers 12',
    ]);
    data.tradeConfirmed(tradeOf(3, START_NS + 8n, 315_100, 5_000));
    assert.equal(tick(900, START_NS + 9n).length, 1, 'the trade only: the ticker waits, on real time');
    assert.deepEqual(
      tick(1_001, START_NS + SECOND).map((line) => line.split(' ')[0]),
      ['klines', 'ticker', 'tickers'],
    );
    assert.deepEqual(tick(5_000, START_NS + 2n * SECOND), [], 'sent on change only');
    const rolled = tick(6_000, START_NS + 86_400n * SECOND + 5n);
    assert.equal(rolled.length, 2, 'a trade that leaves the window changes the ticker');
    const empty = tick(7_000, START_NS + 86_400n * SECOND + 8n);
    assert.deepEqual(empty, [
      `ticker {"asset_id":"12","last_price":"3151","open":null,"high":null,"low":null,"volume":"0","price_change":null,"price_change_percent":null,"timestamp_ns":1770087600000000008,"volume_24h":"0","high_24h":null,"low_24h":null,"price_change_24h":null,"price_change_pct_24h":null,${noQuotes}}`,
      'tickers 12',
    ]);
  });

  test('what is loaded before the first tick is history: read, not sent', () => {
    const { data, tick } = running();
    data.tradeConfirmed(tradeOf(1, START_NS - 10n * SECOND));
    data.tradeConfirmed(tradeOf(2, START_NS));
    assert.deepEqual(tick(0, START_NS + 1n), []);
    const now = (START_NS + 1n) as TimestampNs;
    assert.equal(data.klinePage(0, { endNs: now, page: 0, limit: 10, nowNs: now }).total, 1);
    assert.deepEqual(
      data.trades(null, 0, 10).map((trade) => trade.tradeId),
      [2, 1],
    );
    data.clearingPassed(0, (START_NS + SECOND) as TimestampNs);
    assert.equal(tick(1, START_NS + SECOND).length, 1, 'the second that was open then still closes');
  });

  test('markets are found by asset and listed in its order; settings change, decimals do not (AMB-105)', () => {
    const { data } = running();
    const token = `${'ab'.repeat(32)}@${'00'.repeat(9)}`;
    data.upsertMarket(marketOf(1, token));
    data.upsertMarket(marketOf(2, '7'));
    data.upsertMarket({ ...marketOf(2, '7'), status: 2 });
    assert.equal(data.find('7' as AssetId)?.status, 2);
    assert.equal(data.find('8' as AssetId), undefined);
    assert.deepEqual(
      data.tickers(START_NS as TimestampNs).map(({ market }) => market.assetId),
      ['7', '12', token],
    );
    assert.throws(() => data.upsertMarket({ ...marketOf(2, '7'), priceDecimals: 3 }), /keeps its price decimals/);
    assert.throws(() => data.upsertMarket(marketOf(4, '9')), /dense/);
  });

  test('a change of half a thousandth of a percent rounds away from zero (AMB-100)', () => {
    for (const [open, last, percent] of [
      [200_000, 200_001, '0.001'],
      [200_000, 199_999, '-0.001'],
      [400_001, 400_002, '0'],
      [3, 4, '33.333'],
    ] as const) {
      const { data } = running();
      data.tradeConfirmed(tradeOf(1, START_NS, open));
      data.tradeConfirmed(tradeOf(2, START_NS + 1n, last));
      const text = tickerJson(marketOf(0, '12'), data.ticker(0, (START_NS + 2n) as TimestampNs));
      assert.equal(JSON.parse(text).price_change_percent, percent);
    }
  });

  test('depth numbers are the shortest exact decimals (G8, AMB-133)', () => {
    for (const raw of [0, 1, 10, 1_000, 123_456_789, Number.MAX_SAFE_INTEGER]) {
      for (let decimals = 0; decimals <= 18; decimals += 1) {
        assert.equal(rawText(raw, decimals), formatRaw(raw, decimals));
      }
    }
  });
});
