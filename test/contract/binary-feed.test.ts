// tier: quick, 5 s
/** The feed of the SDK in text and in FlatBuffers, beside each other on a whole node: the same events and the same books (BMD-01). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type FeedChannel, type FeedEvent, type MarketFeed, RingbookClient } from '../../src/client/sdk.ts';
import { eventually } from '../support/patience.ts';
import type { PlainClient } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

const CHANNELS = ['bbo', 'trades', 'ticker', 'prices'] as const;
type Channel = (typeof CHANNELS)[number];
type Events = Readonly<Record<Channel, FeedEvent<FeedChannel>[]>>;

suite('the feed in two forms', () => {
  let node: TestNode;
  let maker: PlainClient;
  let taker: PlainClient;
  before(async () => {
    node = await TestNode.start();
    maker = await node.user();
    taker = await node.user();
  });
  after(() => node?.stop());

  async function eventsOf(feed: MarketFeed): Promise<Events> {
    const events: Events = { bbo: [], trades: [], ticker: [], prices: [] };
    for (const channel of CHANNELS) {
      await feed.subscribe(channel, { assetIds: ['2'] }, (event) => events[channel].push(event));
    }
    await eventually(() => CHANNELS.every((channel) => events[channel].length > 0));
    return events;
  }

  test('BMD-01: events and books of `binary` are those of `text`, checksums hold, a refused market is named', async () => {
    const addresses = { oms: node.process.oms, mds: `http://127.0.0.1:${node.ports.mds}` };
    const clients = [new RingbookClient(addresses), new RingbookClient(addresses)] as const;
    const feeds = [await clients[0].marketFeed(), await clients[1].marketFeed({ format: 'binary' })] as const;
    assert.equal((await maker.create({ side: 'Sell', quantity: 10_000 })).status, 200);
    await node.rest();
    const books = [await feeds[0].book('2', { checksumEvery: 1 }), await feeds[1].book('2', { checksumEvery: 1 })];
    const [text, binary] = [await eventsOf(feeds[0]), await eventsOf(feeds[1])];
    for (let count = 0; count < 5; count += 1) {
      assert.equal((await maker.create({ side: 'Buy', price: 100_000 + 500 * count, quantity: 1_000 })).status, 200);
      assert.equal((await taker.create({ side: 'Buy', quantity: 1_000 })).status, 200);
      await node.rest();
    }
    const isComplete = ({ trades, ticker }: Events): boolean =>
      trades.filter(({ type }) => type === 'update').length >= 5 &&
      ticker.some(({ type, data }) => type === 'update' && 'lastPrice' in data && data.lastPrice !== null);
    await eventually(() => isComplete(text) && isComplete(binary));
    await eventually(() => books[0]?.sequenceNumber === books[1]?.sequenceNumber);
    for (const channel of ['bbo', 'trades'] as const) {
      await eventually(() => text[channel].length === binary[channel].length);
      const updates = (events: Events) => events[channel].filter(({ type }) => type === 'update');
      assert.deepEqual(updates(binary), updates(text), channel);
      assert.deepEqual(binary[channel][0]?.data, text[channel][0]?.data, `the snapshot of ${channel}`);
    }
    const timesOf = (events: Events) => new Map(events.ticker.map((event) => [event.timestampNs, event.data]));
    const tickers = [...timesOf(binary)].filter(([ns]) => timesOf(text).has(ns));
    assert.ok(tickers.length > 0, 'tickers of the same time');
    for (const [ns, data] of tickers) assert.deepEqual(data, timesOf(text).get(ns));
    for (const side of ['bids', 'asks'] as const) {
      assert.ok((books[1]?.[side](20) ?? []).length > 0, side);
      assert.deepEqual(books[1]?.[side](20), books[0]?.[side](20));
    }
    assert.deepEqual(
      books.map(({ resyncs }) => resyncs),
      [0, 0],
    );
    await assert.rejects(
      feeds[1].subscribe('bbo', { assetIds: ['9999'] }, () => undefined),
      { code: 'MARKET_NOT_FOUND' },
    );
    for (const client of clients) client.close();
  });
});
