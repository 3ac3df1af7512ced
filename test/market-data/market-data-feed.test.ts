/** What the market-data thread makes of its messages, without a listener. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { PublicTrade } from '../../src/core/market-figures.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import type { Clock, TimestampNs } from '../../src/core/units.ts';
import { viewsOf } from '../../src/core/views.ts';
import { type FeedSink, MarketDataFeed } from '../../src/market-data/market-data-feed.ts';
import { FillConfirmed, NodeEvent } from '../../src/schema/generated/messages.ts';
import { encodePlain } from '../../src/schema/plain-values.ts';
import { marketOf, START_NS, tradeOf } from '../support/market-figures.ts';

function feedWith(history: readonly PublicTrade[]): { readonly feed: MarketDataFeed; readonly told: number[] } {
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
    marketTradesSince: () => [...history].reverse(),
    marketTradesAfter: (_market: number, after: number) => history.filter(({ tradeId }) => tradeId > after),
    marketTrades: () => [...history].reverse().slice(0, 1),
  });
  return { feed: new MarketDataFeed(sink, { clock, clearingChannel: 0, openHistory, pacingNs: () => START_NS }), told };
}

const views = viewsOf(new ArrayBuffer(4_096), 0, 4_096);

function say(feed: MarketDataFeed, news: object): void {
  const text = encodePlain(news);
  NodeEvent.setTextBytes(views, 0, text.length);
  views.u8.set(text, NodeEvent.bytes);
  feed.handle(NodeEvent.typeId, views, 0);
}

function confirm(feed: MarketDataFeed, { tradeId, price, quantity, matchedNs }: PublicTrade): void {
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
    const tables = [...trades.slice(0, 1)];
    const { feed, told } = feedWith(tables);
    say(feed, { kind: 'registryChanged', change: { table: 'market', row: { definition: marketOf(0, '12') } } });
    say(feed, { kind: 'historyReady' });
    feed.publish();
    assert.deepEqual(told, [], 'what was there before is history');
    tables.push(...trades.slice(1));
    say(feed, { kind: 'historyReady' });
    for (const trade of [...trades, tradeOf(3, START_NS)]) confirm(feed, trade);
    assert.deepEqual(told, [2, 3]);
  });
});
