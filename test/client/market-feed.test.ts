// tier: quick, 4 s
/** The SDK's feed against a real listener: channels, books with checksums, renewals, reconnection (wire-additions.md 10). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { RingbookError } from '../../src/client/errors.ts';
import { type FeedEvent, MarketFeed } from '../../src/client/market-feed.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import type { RawPrice, Sequence, TimestampNs } from '../../src/core/units.ts';
import { SharedBudget } from '../../src/gateway/sessions/shared-budget.ts';
import { MarketStreams, MdsServer } from '../../src/http/mds-server.ts';
import { MarketData } from '../../src/market-data/market-data.ts';
import { marketOf, SECOND, START_NS, tradeOf } from '../support/market-figures.ts';

/** A market-data listener that is driven by hand. */
class Exchange {
  readonly streams = new MarketStreams(() => undefined);
  readonly data = new MarketData(this.streams);
  readonly server: MdsServer;
  #nowNs = START_NS;
  #sequence = 1;

  constructor() {
    const clock = { nowNs: () => this.#nowNs as TimestampNs };
    const observer = {
      answered: () => undefined,
      failed: (_: string, error: unknown) => assert.fail(String(error)),
      lagged: () => undefined,
    };
    this.server = new MdsServer({
      marketData: this.data,
      streams: this.streams,
      clock,
      budget: new SharedBudget(),
      observer,
    });
    for (const index of [0, 1]) this.data.upsertMarket(marketOf(index, String(12 + index)));
    this.data.resetDepth(0, 0);
    this.data.resetDepth(1, 0);
    this.data.commitDepth(0, 1 as Sequence);
    this.data.commitDepth(1, 1 as Sequence);
    this.tick();
  }

  get nowNs(): bigint {
    return this.#nowNs;
  }

  set(side: 0 | 1, price: number, quantity: number): void {
    this.data.levelChanged(0, side, price as RawPrice, quantity);
  }

  /** Publishes what was set. */
  tick(): void {
    this.#sequence += 1;
    this.data.commitDepth(0, this.#sequence as Sequence);
    this.#nowNs += SECOND;
    this.data.tick({ nowNs: this.#nowNs as TimestampNs, pacingNs: this.#nowNs });
    this.streams.flush();
  }
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!isSo()) {
    assert.ok(performance.now() < deadline, 'it comes within five seconds');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

suite('the feed of the SDK', () => {
  let exchange: Exchange;
  let base = '';
  before(async () => {
    exchange = new Exchange();
    base = `http://127.0.0.1:${await exchange.server.listen({ host: '127.0.0.1', port: 0 })}`;
  });
  after(() => exchange.server.close());

  test('each channel begins with a snapshot and goes on with updates, of all its assets', async () => {
    exchange.set(SIDE.buy, 300_000, 10_000);
    exchange.data.tradeConfirmed(tradeOf(1, exchange.nowNs, 315_000));
    exchange.tick();
    const feed = await MarketFeed.open(base);
    const events: string[] = [];
    const note = ({ type, channel, assetId, sequence }: FeedEvent<never> | FeedEvent<'bbo'>): number =>
      events.push(`${type} ${channel} ${assetId} ${sequence}`);
    const bids: (string | undefined)[] = [];
    await feed.subscribe('bbo', { assetIds: ['12', '13'] }, (event) => {
      note(event);
      bids.push(event.data.bid?.price);
    });
    const trades: number[] = [];
    await feed.subscribe('trades', { assetIds: ['12'] }, ({ data }) => {
      trades.push(...data.map(({ tradeId }) => tradeId));
    });
    const closes: (string | undefined)[] = [];
    await feed.subscribe('klines', { assetIds: ['12'], interval: '1m' }, ({ data }) => closes.push(data.at(-1)?.close));
    const last: (string | null)[] = [];
    await feed.subscribe('ticker', { assetIds: ['12'] }, ({ data }) => last.push(data.lastPrice));
    const marks: (string | null)[] = [];
    await feed.subscribe('prices', { assetIds: ['12'] }, ({ data }) => marks.push(data.oraclePrice));
    await until(() => marks.length === 1);
    exchange.set(SIDE.buy, 300_100, 10_000);
    exchange.data.tradeConfirmed(tradeOf(2, exchange.nowNs, 316_000));
    exchange.tick();
    for (let second = 0; second < 6; second += 1) exchange.tick();
    await until(() => closes.at(-1) === '3160' && last.at(-1) === '3160' && bids.at(-1) === '3001');
    assert.deepEqual(events, ['snapshot bbo 12 1', 'snapshot bbo 13 1', 'update bbo 12 2']);
    assert.deepEqual(trades, [1, 2]);
    await feed.unsubscribe('trades', { assetIds: ['12'] });
    exchange.data.tradeConfirmed(tradeOf(3, exchange.nowNs, 317_000));
    exchange.tick();
    await until(() => last.at(-1) === '3170');
    assert.deepEqual(trades, [1, 2]);
    feed.close();
  });

  test('what is refused throws and names the asset; the others are subscribed', async () => {
    const feed = await MarketFeed.open(base);
    const seen = new Set<string>();
    await assert.rejects(
      feed.subscribe('bbo', { assetIds: ['12', '99'] }, ({ assetId }) => seen.add(assetId)),
      (error) =>
        error instanceof RingbookError && error.code === 'MARKET_NOT_FOUND' && error.details?.['asset_id'] === '99',
    );
    await until(() => seen.has('12'));
    await assert.rejects(
      feed.subscribe('klines', { assetIds: ['12'] }, () => undefined),
      /INVALID_ARGUMENT/,
    );
    await assert.rejects(
      feed.subscribe('klines', { assetIds: ['12'], interval: '180' }, () => undefined),
      /180S/,
    );
    await assert.rejects(feed.book('99'), /MARKET_NOT_FOUND/);
    feed.close();
  });

  test('a book follows the updates and its checksums', async () => {
    const feed = await MarketFeed.open(base);
    const book = await feed.book('12', { checksumEvery: 1 });
    exchange.set(SIDE.sell, 320_050, 7_500);
    exchange.set(SIDE.buy, 300_000, 0);
    exchange.tick();
    await until(() => book.asks()[0]?.price === '3200.5');
    assert.deepEqual(book.asks(), [{ price: '3200.5', quantity: '0.75' }]);
    assert.deepEqual(book.bids(), [{ price: '3001', quantity: '1' }]);
    assert.equal(book.resyncs, 0);
    await book.close();
    feed.close();
  });
});

interface Item {
  readonly name: string;
  readonly asset_ids: readonly string[];
  readonly interval?: string;
}

/** A service that sends what a test says, to find out what the SDK does about faults on the way. */
class FaultyService {
  readonly #server: WebSocketServer;
  readonly requests: { readonly type: string; readonly channels: readonly Item[] }[] = [];
  socket: WebSocket | null = null;
  connections = 0;
  /** Ends the connection instead of an answer. */
  isCutting = false;
  /** Ends each connection as soon as it is open. */
  isClosing = false;
  /** A frame in place of the answer to one with this id; null: the ordinary answer. */
  instead: (id: string, channels: readonly Item[]) => string | null = () => null;

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.socket = socket;
      this.connections += 1;
      if (this.isClosing) {
        socket.close(1013, 'rate_limited');
        return;
      }
      socket.send('{"type":"subscriptions","channels":[],"errors":[]}');
      socket.on('message', (data: Buffer) => {
        const { id, ...request } = JSON.parse(data.toString());
        this.requests.push(request);
        if (this.isCutting) {
          socket.terminate();
          return;
        }
        const other = this.instead(id, request.channels);
        socket.send(other ?? `{"type":"subscriptions","channels":[],"errors":[],"id":${JSON.stringify(id)}}`);
        if (other === null) socket.send(snapshot(1));
      });
    });
  }

  static async start(): Promise<FaultyService> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    return new FaultyService(server);
  }

  get base(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  send(frame: string): void {
    this.socket?.send(frame);
  }

  stop(): void {
    for (const socket of this.#server.clients) socket.terminate();
    this.#server.close();
  }
}

function depthFrame(type: string, sequence: number, data: string): string {
  return `{"type":"${type}","channel":"depth","asset_id":"12","sequence":${sequence},"timestamp_ns":1770000030000000000,"data":${data}}`;
}

/** The book of the contract, with its checksum. */
function snapshot(sequence: number): string {
  const levels = '"asks":[[3150.25,2.5],[3151,0.75]],"bids":[[3149.75,1],[3149.5,2.25]]';
  return depthFrame('snapshot', sequence, `{${levels},"sequence_number":9001,"more":false,"checksum":2548841431}`);
}

function update(sequence: number, sequenceNumber: number, checksum: number): string {
  const levels = '"asks":[[3150.25,1.5]],"bids":[]';
  return depthFrame('update', sequence, `{${levels},"sequence_number":${sequenceNumber},"checksum":${checksum}}`);
}

suite('a book of the SDK when something is lost on the way', () => {
  let service: FaultyService;
  before(async () => {
    service = await FaultyService.start();
  });
  after(() => service.stop());

  test('a wrong checksum, a gap and a lost connection each begin it anew', async () => {
    let reconnections = 0;
    const feed = await MarketFeed.open(service.base, { onReconnected: () => (reconnections += 1) });
    const book = await feed.book('12', { checksumEvery: 1 });
    service.send(update(2, 9_002, 3_332_010_872));
    await until(() => book.sequenceNumber === 9_002);
    assert.equal(book.resyncs, 0, 'the checksum of the contract');

    service.send(update(3, 9_003, 1));
    await until(() => book.resyncs === 1);
    await until(() => service.requests.length === 2 && book.isCurrent && book.sequenceNumber === 9_001);

    service.send(update(3, 9_002, 3_332_010_872));
    await until(() => !book.isCurrent);
    assert.throws(() => book.asks(), /RESYNC_REQUIRED/);
    await until(() => service.requests.length === 3 && book.isCurrent);

    service.socket?.terminate();
    await until(() => !book.isCurrent);
    await until(() => book.isCurrent);
    assert.equal(reconnections, 1);
    assert.deepEqual(service.requests.at(-1), {
      type: 'subscribe',
      channels: [{ name: 'depth', asset_ids: ['12'], checksum_every: 1 }],
    });
    feed.close();
  });

  test('frames of the subscription before a renewal are not taken for those of the new one', async () => {
    const feed = await MarketFeed.open(service.base);
    const book = await feed.book('12');
    const asked = service.requests.length;
    service.send(update(7, 9_007, 1));
    service.send(update(8, 9_008, 1));
    await until(() => service.requests.length > asked && book.isCurrent);
    assert.equal(book.sequenceNumber, 9_001);
    feed.close();
  });

  test('a book that is replaced, or whose feed is closed, is not read any more, and ends no other one', async () => {
    const feed = await MarketFeed.open(service.base);
    const first = await feed.book('12');
    const second = await feed.book('12');
    assert.throws(() => first.bids(), /RESYNC_REQUIRED/);
    const asked = service.requests.length;
    await first.close();
    assert.equal(service.requests.length, asked, 'the subscription is of the other book');
    assert.equal(second.bids()[0]?.price, '3149.75');
    feed.close();
    assert.throws(() => second.bids(), /RESYNC_REQUIRED/);
    await assert.rejects(feed.book('12'), /CONNECTION_CLOSED/);
    await assert.rejects(
      feed.subscribe('bbo', { assetIds: ['12'] }, () => undefined),
      /CONNECTION_CLOSED/,
    );
  });

  test('a book that is replaced or closed before its first snapshot is refused, not awaited for ever', async () => {
    const feed = await MarketFeed.open(service.base);
    // The service sends snapshots of asset 12 only.
    const replaced = feed.book('13');
    const closed = feed.book('13');
    await assert.rejects(replaced, /CONNECTION_CLOSED/);
    feed.close();
    await assert.rejects(closed, /CONNECTION_CLOSED/);
  });

  test('what was on its way when the connection was lost is not subscribed later; what was confirmed is', async () => {
    let reconnections = 0;
    const feed = await MarketFeed.open(service.base, { onReconnected: () => (reconnections += 1) });
    await feed.subscribe('bbo', { assetIds: ['13'] }, () => undefined);
    service.isCutting = true;
    await assert.rejects(
      feed.subscribe('ticker', { assetIds: ['14'] }, () => undefined),
      /CONNECTION_CLOSED/,
    );
    service.isCutting = false;
    const asked = service.requests.length;
    await until(() => reconnections === 1 && service.requests.length > asked);
    assert.deepEqual(service.requests.slice(asked), [
      { type: 'subscribe', channels: [{ name: 'bbo', asset_ids: ['13'] }] },
    ]);
    feed.close();
  });

  test('many subscriptions end as they began, twenty in a frame', async () => {
    const feed = await MarketFeed.open(service.base);
    const assetIds = Array.from({ length: 45 }, (_, index) => String(100 + index));
    const asked = service.requests.length;
    await feed.subscribe('bbo', { assetIds }, () => undefined);
    await feed.unsubscribe('bbo', { assetIds });
    const sent = service.requests.slice(asked).map(({ type, channels }) => `${type} ${channels.length}`);
    assert.deepEqual(sent, [
      'subscribe 20',
      'subscribe 20',
      'subscribe 5',
      'unsubscribe 20',
      'unsubscribe 20',
      'unsubscribe 5',
    ]);
    feed.close();
  });

  test('calls of one moment are combined into few frames; klines of two intervals of a market are in two', async () => {
    const feed = await MarketFeed.open(service.base);
    const asked = service.requests.length;
    const assetIds = Array.from({ length: 100 }, (_, index) => String(100 + index));
    await Promise.all(assetIds.map((assetId) => feed.subscribe('bbo', { assetIds: [assetId] }, () => undefined)));
    assert.deepEqual(
      service.requests.slice(asked).map(({ channels }) => channels.length),
      [20, 20, 20, 20, 20],
    );
    service.instead = (id, channels) => {
      const error = '{"name":"klines","asset_id":"12","code":"RATE_LIMITED","message":"no units"}';
      const errors = channels.some(({ interval }) => interval === '5m') ? error : '';
      return `{"type":"subscriptions","channels":[],"errors":[${errors}],"id":"${id}"}`;
    };
    const outcomes = await Promise.allSettled(
      ['1m', '5m', '1h'].map((interval) => feed.subscribe('klines', { assetIds: ['12'], interval }, () => undefined)),
    );
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    service.instead = () => null;
    feed.close();
  });

  test('no more frames are sent than the service reads of a socket: 50 at once, 10 a second', async () => {
    const feed = await MarketFeed.open(service.base);
    const asked = service.requests.length;
    const startedMs = performance.now();
    const changes: Promise<void>[] = [];
    for (let turn = 0; turn < 25; turn += 1) {
      changes.push(feed.subscribe('bbo', { assetIds: ['12'] }, () => undefined));
      changes.push(feed.unsubscribe('bbo', { assetIds: ['12'] }));
    }
    await Promise.allSettled(changes);
    assert.equal(service.requests.length - asked, 50);
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs > 1_000, `50 frames in ${tookMs} ms`);
    feed.close();
  });

  test('an error frame without an id is for the oldest request, which is refused, not awaited for ever', async () => {
    const feed = await MarketFeed.open(service.base);
    const fault = '"error":{"code":"RATE_LIMITED","message":"this address has no units","retryable":true}';
    service.instead = () => `{"type":"error","id":null,${fault}}`;
    await assert.rejects(
      feed.subscribe('bbo', { assetIds: ['12'] }, () => undefined),
      /RATE_LIMITED/,
    );
    await assert.rejects(feed.book('12'), /RATE_LIMITED/);
    service.instead = () => null;
    const book = await feed.book('12');
    assert.equal(book.sequenceNumber, 9_001);

    service.instead = () => `{"type":"error","id":null,${fault}}`;
    const asked = service.requests.length;
    service.socket?.terminate();
    await until(() => service.requests.length >= asked + 1);
    assert.equal(book.isCurrent, false);
    service.instead = () => null;
    await until(() => book.isCurrent);
    assert.ok(service.requests.length <= asked + 3, 'a refusal is repeated after a pause');
    feed.close();
  });

  test('a service that ends each connection at once is not connected to again and again without a pause', async () => {
    const feed = await MarketFeed.open(service.base);
    const before = service.connections;
    service.isClosing = true;
    service.socket?.terminate();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const tries = service.connections - before;
    assert.ok(tries >= 1 && tries <= 4, `${tries} connections in two seconds`);
    service.isClosing = false;
    feed.close();
  });

  test('an exception of a listener is the caller’s, and no fault of the connection', async () => {
    const feed = await MarketFeed.open(service.base);
    const before = service.connections;
    const book = await feed.book('12', { checksumEvery: 1 });
    const bids: string[] = [];
    await feed.subscribe('bbo', { assetIds: ['12'] }, () => bids.push(book.bids()[0]?.price ?? ''));
    const best = '"bid":{"price":"3149.75","size":"1"},"ask":null,"sequence_number":9001';
    const bbo = (type: string, sequence: number): string =>
      `{"type":"${type}","channel":"bbo","asset_id":"12","sequence":${sequence},"timestamp_ns":1,"data":{${best}}}`;
    service.send(bbo('snapshot', 1));
    await until(() => bids.length === 1);
    // Between a wrong checksum and the new snapshot the book is not current: reading it throws, in the listener.
    const thrown: unknown[] = [];
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => thrown.push(error));
    try {
      service.send(update(2, 9_002, 1));
      service.send(bbo('update', 2));
      await until(() => thrown.length === 1);
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const listener of listeners) process.on('uncaughtException', listener);
    }
    assert.match(String(thrown[0]), /RESYNC_REQUIRED/);
    await until(() => book.isCurrent);
    service.send(bbo('update', 3));
    await until(() => bids.length === 2);
    assert.equal(service.connections, before, 'the same connection');
    feed.close();
  });

  test('a caller is notified when the book is no longer current, once each time', async () => {
    const feed = await MarketFeed.open(service.base);
    const seen: string[] = [];
    const book = await feed.book('12', {
      checksumEvery: 1,
      onChange: ({ sequenceNumber }) => seen.push(`${sequenceNumber}`),
      onStale: ({ isCurrent }) => seen.push(`stale ${isCurrent}`),
    });
    service.send(update(2, 9_002, 1));
    await until(() => seen.length === 3);
    service.socket?.terminate();
    await until(() => seen.length === 5);
    await book.close();
    feed.close();
    assert.deepEqual(seen, ['9001', 'stale false', '9001', 'stale false', '9001', 'stale false']);
  });

  test('a number of updates between checksums that the service would refuse is not sent', async () => {
    const feed = await MarketFeed.open(service.base);
    for (const checksumEvery of [-1, 1.5, 1_001]) {
      await assert.rejects(feed.book('12', { checksumEvery }), /INVALID_ARGUMENT.*0 to 1000/);
    }
    feed.close();
  });
});
