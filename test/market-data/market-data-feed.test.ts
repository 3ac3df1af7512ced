// tier: quick
/** What the market-data thread makes of its messages, without a listener. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { TradeFigures } from '../../src/core/market-figures.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import type { Clock, Sequence, TimestampNs } from '../../src/core/units.ts';
import { viewsOf } from '../../src/core/views.ts';
import { type FeedSink, MarketDataFeed, type StoredTrade } from '../../src/market-data/market-data-feed.ts';
import { FillConfirmed, NodeEvent } from '../../src/schema/generated/messages.ts';
import { encodePlain } from '../../src/schema/plain-values.ts';
import { marketOf, SECOND, START_NS, tradeOf } from '../support/market-figures.ts';

function feedWith(history: readonly StoredTrade[]): { readonly feed: MarketDataFeed; readonly told: number[] } {
  const told: number[] = [];
  const nothing = (): void => undefined;
  const sink: FeedSink = {
    depthDiff: nothing,
    klines: nothing,
    trade: (_market, { tradeId }) => told.push(tradeId),
    tradeEvent: nothing,
    ticker: nothing,
    tickers: nothing,
    resyncWanted: nothing,
    tradeEventsLost: nothing,
  };
  const clock: Clock = { nowNs: () => START_NS as TimestampNs };
  const openHistory = () => ({
    marketTradesSince: (_market: number, sinceNs: TimestampNs) =>
      history.filter(({ matchedNs }) => matchedNs >= sinceNs).reverse(),
    marketTradesAfter: (_market: number, after: number) => history.filter(({ tradeId }) => tradeId > after),
    marketTrades: ({ below, limit }: { readonly below: Sequence | null; readonly limit: number }) =>
      history
        .filter(({ tradeId }) => below === null || tradeId < below)
        .reverse()
        .slice(0, limit),
  });
  return { feed: new MarketDataFeed(sink, { clock, clearingChannel: 0, openHistory, pacingNs: () => START_NS }), told };
}

function stored(trade: TradeFigures, isAutoDeleverage = false): StoredTrade {
  return { ...trade, isAutoDeleverage };
}

const views = viewsOf(new ArrayBuffer(4_096), 0, 4_096);

function say(feed: MarketDataFeed, news: object): void {
  const text = encodePlain(news);
  NodeEvent.setTextBytes(views, 0, text.length);
  views.u8.set(text, NodeEvent.bytes);
  feed.handle(NodeEvent.typeId, views, 0);
}

function confirm(feed: MarketDataFeed, { tradeId, price, quantity, matchedNs }: TradeFigures): void {
  FillConfirmed.setMarketIndex(views, 0, 0);
  FillConfirmed.setTradeId(views, 0, tradeId);
  FillConfirmed.setPrice(views, 0, price);
  FillConfirmed.setQuantity(views, 0, quantity);
  FillConfirmed.setMatchedNs(views, 0, matchedNs);
  FillConfirmed.setTakerSide(views, 0, SIDE.buy);
  feed.handle(FillConfirmed.typeId, views, 0);
}

suite('market data feed', () => {
  test('a trade that a gap let be read from the tables is not published again when its message comes (AMB-35)', () => {
    const trades = [tradeOf(1, START_NS), tradeOf(2, START_NS)];
    const tables = trades.slice(0, 1).map((trade) => stored(trade));
    const { feed, told } = feedWith(tables);
    say(feed, { kind: 'registryChanged', change: { table: 'market', row: { definition: marketOf(0, '12') } } });
    say(feed, { kind: 'historyReady' });
    feed.publish();
    assert.deepEqual(told, [], 'what was there before is history');
    tables.push(...trades.slice(1).map((trade) => stored(trade)));
    say(feed, { kind: 'historyReady' });
    for (const trade of [...trades, tradeOf(3, START_NS)]) confirm(feed, trade);
    assert.deepEqual(told, [2, 3]);
  });

  test('ADL-08, AMB-43: auto-deleveraging trades of the tables are not public, and hide no other trade', () => {
    const tables = [stored(tradeOf(1, START_NS)), ...[2, 3].map((id) => stored(tradeOf(id, START_NS), true))];
    const { feed, told } = feedWith(tables);
    say(feed, { kind: 'registryChanged', change: { table: 'market', row: { definition: marketOf(0, '12') } } });
    say(feed, { kind: 'historyReady' });
    feed.publish();
    assert.deepEqual(
      feed.data.trades(0, 0, 10).map(({ tradeId }) => tradeId),
      [1],
    );
    tables.push(stored(tradeOf(4, START_NS), true), stored(tradeOf(5, START_NS)));
    say(feed, { kind: 'historyReady' });
    assert.deepEqual(told, [5]);
  });

  test('AMB-43: the last price of a market that had nothing but auto-deleveraging for long is that of a trade', () => {
    const tables = [stored(tradeOf(1, START_NS))];
    for (let id = 2; id < 1_500; id += 1) tables.push(stored(tradeOf(id, START_NS), true));
    const { feed } = feedWith(tables);
    say(feed, { kind: 'registryChanged', change: { table: 'market', row: { definition: marketOf(0, '12') } } });
    say(feed, { kind: 'historyReady' });
    assert.deepEqual(
      feed.data.trades(0, 0, 10).map(({ tradeId }) => tradeId),
      [1],
    );
  });

  test('all trades of the tables make rows of a day, older ones a part at a time (wire-additions.md 7.2)', () => {
    // One an hour for a year, and deleveraging in between.
    const trades = Array.from({ length: 8_760 }, (_, index) => {
      return stored(tradeOf(index + 1, START_NS - BigInt(8_759 - index) * 3_600n * SECOND), index % 24 === 7);
    });
    const { feed } = feedWith(trades);
    say(feed, { kind: 'registryChanged', change: { table: 'market', row: { definition: marketOf(0, '12') } } });
    say(feed, { kind: 'historyReady' });
    feed.publish();
    while (feed.hasOlderTrades) feed.readOlder();
    const query = { page: 0, limit: 1_000, nowNs: START_NS as TimestampNs, endNs: START_NS as TimestampNs };
    const days = feed.data.widePage(0, { ...query, width: 86_400 });
    assert.equal(days.truncatedBeforeNs, null);
    const volume = days.rows.reduce((sum, row) => sum + row.volume, 0n);
    // The second of the newest trade is open.
    const counted = trades.slice(0, -1).filter(({ isAutoDeleverage }) => !isAutoDeleverage);
    assert.equal(volume, BigInt(counted.length) * 315_025n * 5_000n, 'each public trade once');
    const hours = feed.data.widePage(0, { ...query, width: 3_600, limit: 10_000 });
    assert.equal(hours.rows.length, counted.length);
  });

  test('a last trade of long ago makes its row once, beside those of the last days (wire-additions.md 7.2)', () => {
    const long = stored(tradeOf(1, START_NS - 400n * 86_400n * SECOND));
    const lately = [2, 3].map((id) => stored(tradeOf(id, START_NS - BigInt(5 - id) * 86_400n * SECOND)));
    for (const trades of [[long], [long, ...lately]]) {
      const { feed } = feedWith(trades);
      say(feed, { kind: 'registryChanged', change: { table: 'market', row: { definition: marketOf(0, '12') } } });
      say(feed, { kind: 'historyReady' });
      feed.publish();
      while (feed.hasOlderTrades) feed.readOlder();
      const query = { page: 0, limit: 10, nowNs: START_NS as TimestampNs, endNs: START_NS as TimestampNs };
      const { rows } = feed.data.widePage(0, { ...query, width: 86_400 });
      assert.deepEqual(
        rows.map(({ volume }) => volume),
        trades.map(({ price, quantity }) => BigInt(price) * BigInt(quantity)),
      );
    }
  });
});
