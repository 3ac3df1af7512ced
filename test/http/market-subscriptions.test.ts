// tier: quick
/** The multiplexed market-data socket: frames, subscriptions, checksums, slow readers (wire-additions.md 10). */
import assert from 'node:assert/strict';
import { after, beforeEach, suite, test } from 'node:test';
import { bookChecksum, SequencedFrame } from '../../src/codec/subscription-frames.ts';
import { crc32c } from '../../src/core/crc32c.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, Sequence, TimestampNs } from '../../src/core/units.ts';
import { AddressLimits } from '../../src/gateway/sessions/address-limits.ts';
import { BUDGET_MAX } from '../../src/gateway/sessions/bucket.ts';
import { STANDARD_PRICES } from '../../src/gateway/sessions/costs.ts';
import { SharedBudget } from '../../src/gateway/sessions/shared-budget.ts';
import { AddressGate } from '../../src/http/address-gate.ts';
import { MarketStreams, MdsServer } from '../../src/http/mds-server.ts';
import { MarketData } from '../../src/market-data/market-data.ts';
import { ask, SocketReader } from '../support/edge-client.ts';
import { marketOf, SECOND, tradeOf } from '../support/market-figures.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { choke } from '../support/stalled-reader.ts';

const MILLISECOND = 1_000_000n;
const START = 1_770_000_030_000_000_000n;
const ONE = 10n ** 18n;
const MARKETS = 30;

interface Frame {
  readonly type: string;
  readonly channel: string;
  readonly asset_id: string;
  readonly interval_s?: number;
  readonly sequence: number;
  readonly data: Record<string, unknown>;
}
type Level = readonly [number | string, number | string];
interface DepthData {
  readonly asks: readonly Level[];
  readonly bids: readonly Level[];
  readonly sequence_number: number;
  readonly more?: boolean;
  readonly checksum: number | null;
}

/** A book as a reader of frames keeps it, which checks all it is sent. */
class ReaderBook {
  readonly sides: Readonly<Record<'asks' | 'bids', Map<string, string>>> = { asks: new Map(), bids: new Map() };
  sequence = 0;
  sequenceNumber = 0;
  checked = 0;
  snapshots = 0;
  isPartial = false;

  take({ type, sequence, data }: Frame): void {
    assert.equal(sequence, this.sequence + 1, 'the sequence of a subscription has no gap');
    this.sequence = sequence;
    const depth = data as unknown as DepthData;
    if (type === 'snapshot') {
      if (!this.isPartial) for (const side of Object.values(this.sides)) side.clear();
      assert.ok(depth.asks.length + depth.bids.length <= 5_000);
      if (this.isPartial) assert.equal(depth.sequence_number, this.sequenceNumber);
      this.isPartial = depth.more === true;
      if (!this.isPartial) this.snapshots += 1;
      assert.equal(depth.checksum === null, this.isPartial);
    } else {
      assert.equal(depth.sequence_number, this.sequenceNumber + 1, 'updates are contiguous');
    }
    this.sequenceNumber = depth.sequence_number;
    for (const side of ['asks', 'bids'] as const) {
      for (const [price, quantity] of depth[side]) {
        if (Number(quantity) === 0) this.sides[side].delete(String(price));
        else this.sides[side].set(String(price), String(quantity));
      }
    }
    if (depth.checksum === null) return;
    this.checked += 1;
    assert.equal(crc32c(Buffer.from(this.text())), depth.checksum, this.text());
  }

  text(): string {
    const best = (side: 'asks' | 'bids', sign: number): string =>
      [...this.sides[side]]
        .sort(([a], [b]) => sign * (Number(a) - Number(b)))
        .slice(0, 10)
        .map(([price, quantity]) => `${price}:${quantity}`)
        .join(',');
    return `${best('bids', -1)}|${best('asks', 1)}`;
  }
}

const failures: unknown[] = [];
const refusals: string[] = [];
let lagged = 0;
let world: World;

class World {
  readonly streams = new MarketStreams(() => assert.fail('no gap is fed here'));
  readonly data = new MarketData(this.streams);
  readonly budget = new SharedBudget();
  readonly server: MdsServer;
  readonly #sequences = new Map<number, number>();
  #nowNs = START;
  #pacingNs = 0n;
  port = 0;

  /** @param gate of addresses; without one they pay nothing. */
  constructor(gate: AddressGate | null = null) {
    this.setUnits(BUDGET_MAX);
    this.server = new MdsServer({
      gate,
      marketData: this.data,
      streams: this.streams,
      clock: { nowNs: () => this.#nowNs as TimestampNs },
      budget: this.budget,
      observer: {
        answered: () => undefined,
        failed: (_, error) => failures.push(error),
        refused: (code) => refusals.push(code),
        lagged: () => {
          lagged += 1;
        },
      },
    });
    for (let index = 0; index < MARKETS; index += 1) {
      this.data.upsertMarket(marketOf(index, String(12 + index)));
      this.data.resetDepth(index, 9_000);
      this.commit(index);
    }
    this.tick();
  }

  async open(): Promise<void> {
    this.port = await this.server.listen({ host: '127.0.0.1', port: 0 });
  }

  get nowNs(): bigint {
    return this.#nowNs;
  }

  setUnits(capacity: bigint): void {
    const size = { unitsPerSecond: 0n, capacity };
    this.budget.configure(size, STANDARD_PRICES.publicRead, this.#nowNs as TimestampNs);
  }

  set(side: 0 | 1, price: number, quantity: number, index = 0): void {
    this.data.levelChanged(index, side, price as RawPrice, quantity);
  }

  commit(index = 0): void {
    const next = (this.#sequences.get(index) ?? 0) + 1;
    this.#sequences.set(index, next);
    this.data.commitDepth(index, next as Sequence);
  }

  /** Moves both clocks and publishes. */
  tick(aheadNs = 0n): void {
    this.#nowNs += aheadNs;
    this.#pacingNs += 20n * MILLISECOND + aheadNs;
    this.data.tick({ nowNs: this.#nowNs as TimestampNs, pacingNs: this.#pacingNs });
    this.streams.flush();
  }

  /** The book of 10.3. */
  sampleBook(): void {
    this.set(SIDE.sell, 315_025, 25_000);
    this.set(SIDE.sell, 315_100, 7_500);
    this.set(SIDE.buy, 314_975, 10_000);
    this.set(SIDE.buy, 314_950, 22_500);
    this.commit();
    this.tick();
  }

  /** A socket behind its first frame. */
  async connect(): Promise<SocketReader> {
    const reader = await SocketReader.open(this.port, '/ws');
    assert.equal(await reader.frame(), '{"type":"subscriptions","channels":[],"errors":[]}');
    return reader;
  }
}

beforeEach(async () => {
  world?.server.close();
  world = new World();
  await world.open();
});
after(() => {
  world.server.close();
  assert.deepEqual(failures, []);
});

const subscribe = (reader: SocketReader, ...channels: readonly object[]): void =>
  reader.socket.send(JSON.stringify({ type: 'subscribe', id: 's', channels }));
const next = async (reader: SocketReader): Promise<Frame> => JSON.parse(await reader.frame()) as Frame;
const depth = (checksum_every = 10, numbers = 'number'): object => ({
  name: 'depth',
  asset_ids: ['12'],
  checksum_every,
  numbers,
});

suite('the multiplexed market-data socket', () => {
  test('frames are the samples of the contract, to the byte (wire-additions.md 10.1 to 10.4)', async () => {
    world.sampleBook();
    const reader = await world.connect();
    reader.socket.send(
      '{"type":"subscribe","id":"s-1","channels":[{"name":"depth","asset_ids":["12"],"checksum_every":1},{"name":"bbo","asset_ids":["12","99"]},{"name":"klines","asset_ids":["12"],"interval":"1m"}]}',
    );
    const samples = [
      '{"type":"subscriptions","channels":[{"name":"depth","asset_ids":["12"],"numbers":"number","checksum_every":1},{"name":"bbo","asset_ids":["12"]},{"name":"klines","asset_ids":["12"],"interval":"1m"}],"errors":[{"name":"bbo","asset_id":"99","code":"MARKET_NOT_FOUND","message":"no market 99"}],"id":"s-1"}',
      '{"type":"snapshot","channel":"depth","asset_id":"12","sequence":1,"timestamp_ns":1770000030000000000,"data":{"asks":[[3150.25,2.5],[3151,0.75]],"bids":[[3149.75,1],[3149.5,2.25]],"sequence_number":9001,"more":false,"checksum":2548841431}}',
      '{"type":"snapshot","channel":"bbo","asset_id":"12","sequence":1,"timestamp_ns":1770000030000000000,"data":{"bid":{"price":"3149.75","size":"1"},"ask":{"price":"3150.25","size":"2.5"},"sequence_number":9001}}',
      '{"type":"snapshot","channel":"klines","asset_id":"12","interval_s":60,"sequence":1,"timestamp_ns":1770000030000000000,"data":{"items":[]}}',
    ];
    for (const sample of samples) assert.equal(await reader.frame(), sample);
    world.set(SIDE.sell, 315_025, 15_000);
    world.commit();
    world.tick(10n * MILLISECOND);
    const updates = [
      '{"type":"update","channel":"depth","asset_id":"12","sequence":2,"timestamp_ns":1770000030010000000,"data":{"asks":[[3150.25,1.5]],"bids":[],"sequence_number":9002,"checksum":3332010872}}',
      '{"type":"update","channel":"bbo","asset_id":"12","sequence":2,"timestamp_ns":1770000030010000000,"data":{"bid":{"price":"3149.75","size":"1"},"ask":{"price":"3150.25","size":"1.5"},"sequence_number":9002}}',
    ];
    for (const sample of updates) assert.equal(await reader.frame(), sample);
    reader.socket.close();
  });

  test('the checksum has the vectors of the contract (wire-additions.md 10.4)', () => {
    const market = marketOf(0, '12');
    assert.equal(crc32c(Buffer.from('123456789')), 3_808_858_755);
    const bids = [314_975, 10_000, 314_950, 22_500];
    assert.equal(bookChecksum(market, { bids, asks: [315_025, 25_000, 315_100, 7_500] }), 2_548_841_431);
    assert.equal(bookChecksum(market, { bids, asks: [315_025, 15_000, 315_100, 7_500] }), 3_332_010_872);
    assert.equal(bookChecksum(market, { bids: [], asks: [] }), 1_856_424_076);
  });

  test('a frame for many readers has the sequence of each, however many digits it has', () => {
    const head = { type: 'update', channel: 'bbo', assetId: '12' as AssetId, width: 0, timestampNs: 5n as TimestampNs };
    const frame = new SequencedFrame(head as never, '{"a":1}');
    for (const sequence of [1, 9, 10, 9_007_199_254_740_991, 7, 123_456, 99, 100]) {
      const text = `{"type":"update","channel":"bbo","asset_id":"12","sequence":${sequence},"timestamp_ns":5,"data":{"a":1}}`;
      assert.equal(Buffer.from(frame.of(sequence)).toString(), text);
    }
  });

  test('each channel begins with its snapshot and goes on with updates, sequences without gaps', async () => {
    world.data.tradeConfirmed(tradeOf(1, world.nowNs, 315_000));
    world.data.tradeConfirmed(tradeOf(2, world.nowNs, 316_000));
    world.tick(6n * SECOND);
    const reader = await world.connect();
    const assets = { asset_ids: ['12'] };
    subscribe(
      reader,
      { name: 'trades', ...assets },
      { name: 'klines', ...assets, interval: '1S' },
      { name: 'klines', ...assets, interval: '4H' },
      { name: 'ticker', ...assets },
      { name: 'prices', ...assets },
    );
    await reader.frame();
    const trades = await next(reader);
    const seconds = await next(reader);
    const hours = await next(reader);
    const ticker = await next(reader);
    const prices = await next(reader);
    const list = trades.data['trades'] as { trade_id: number }[];
    assert.deepEqual(
      list.map(({ trade_id }) => trade_id),
      [1, 2],
      'oldest first',
    );
    assert.deepEqual([seconds.interval_s, hours.interval_s], [1, 14_400]);
    assert.equal((hours.data['items'] as object[]).length, 1);
    assert.equal(ticker.data['last_price'], '3160');
    assert.deepEqual(prices.data, {
      mark_price: null,
      mark_source: null,
      mark_timestamp_ns: null,
      oracle_price: null,
      oracle_timestamp_ns: null,
    });
    world.data.oracleAccepted('12' as AssetId, {
      price: ((31_499n * ONE) / 10n) as Amount18,
      timeNs: world.nowNs as TimestampNs,
      isTripped: false,
      goodUpdates: 0,
    });
    world.data.tradeConfirmed(tradeOf(3, world.nowNs, 315_500));
    await new Promise((resolve) => setTimeout(resolve, 110));
    world.tick(6n * SECOND);
    const updates = new Map<string, Frame>();
    for (let count = 0; count < 5; count += 1) {
      const frame = await next(reader);
      updates.set(`${frame.channel} ${frame.interval_s ?? ''}`, frame);
      assert.deepEqual([frame.type, frame.sequence], ['update', 2]);
    }
    assert.equal(firstOf(updates.get('trades '), 'trades')['trade_id'], 3);
    assert.equal(firstOf(updates.get('klines 1'), 'items')['close'], '3155');
    assert.equal(firstOf(updates.get('klines 14400'), 'items')['open'], '3150');
    assert.equal(updates.get('ticker ')?.data['last_price'], '3155');
    assert.deepEqual(
      [updates.get('prices ')?.data['mark_price'], updates.get('prices ')?.data['mark_source']],
      ['3149.9', 'oracle'],
    );
    await new Promise((resolve) => setTimeout(resolve, 110));
    world.tick(SECOND);
    assert.equal(reader.unread, 0, 'sent on change only');
    reader.socket.close();
  });

  test('a book is that of its frames at any moment, in numbers and in text, with the checksums that were asked for', async () => {
    const random = lcg(7);
    const churn = (): void => {
      for (let change = 0; change < 6; change += 1) {
        const isBid = random(2) === 0;
        const price = 315_000 + (isBid ? -random(40) : 1 + random(40));
        world.set(isBid ? SIDE.buy : SIDE.sell, price, random(3) === 0 ? 0 : 1 + random(30_000));
      }
      world.commit();
      world.tick(10n * MILLISECOND);
    };
    for (let round = 0; round < 20; round += 1) churn();
    const options = [depth(1), depth(3, 'string'), depth(0), depth()];
    const readers = await Promise.all(options.map(() => world.connect()));
    const books = options.map(() => new ReaderBook());
    for (const [index, reader] of readers.entries()) {
      subscribe(reader, options[index] ?? {});
      await reader.frame();
      churn();
    }
    for (let round = 0; round < 60; round += 1) churn();
    for (const [index, reader] of readers.entries()) {
      await reader.caughtUp();
      const book = books[index] ?? assert.fail();
      while (reader.unread > 0) {
        const text = await reader.frame();
        if (text.startsWith('{"type":"pong"')) continue;
        book.take(JSON.parse(text));
        if (index === 1) assert.match(text, /"(asks|bids)":\[(\["[0-9.]+","[0-9.]+"\],?)*\]/);
      }
    }
    assert.deepEqual(new Set(books.map((book) => book.text())).size, 1, 'the same book');
    assert.equal(books[0]?.checked, (books[0]?.sequence ?? 0) - 0, 'on each frame');
    assert.equal(books[2]?.checked, 1, 'on the snapshot');
    assert.equal(books[3]?.checked, 1 + Math.floor(((books[3]?.sequence ?? 0) - 1) / 10));
    for (const reader of readers) reader.socket.close();
  });

  test('a large book comes in parts of 5,000 levels, the best first', async () => {
    for (let level = 0; level < 9_000; level += 1) world.set(SIDE.sell, 400_000 + level, 1 + level);
    for (let level = 0; level < 1_000; level += 1) world.set(SIDE.buy, 300_000 - level, 1 + level);
    world.commit();
    world.tick();
    const reader = await world.connect();
    subscribe(reader, depth(1));
    await reader.frame();
    const book = new ReaderBook();
    const sizes: (readonly number[])[] = [];
    for (let part = 0; part < 2; part += 1) {
      const frame = await next(reader);
      const { asks, bids } = frame.data as unknown as DepthData;
      sizes.push([asks.length, bids.length]);
      book.take(frame);
    }
    assert.deepEqual(sizes, [
      [4_000, 1_000],
      [5_000, 0],
    ]);
    assert.equal(book.snapshots, 1);
    assert.equal(book.sides.asks.size, 9_000);
    reader.socket.close();
  });

  test('subscribing again replaces the options, sends a new snapshot and starts at 1; unsubscribing ends it', async () => {
    world.sampleBook();
    const reader = await world.connect();
    subscribe(reader, depth(1), { name: 'bbo', asset_ids: ['12'] });
    for (let frame = 0; frame < 3; frame += 1) await reader.frame();
    world.set(SIDE.sell, 315_025, 15_000);
    world.commit();
    world.tick();
    assert.equal((await next(reader)).sequence, 2);
    assert.equal((await next(reader)).sequence, 2);
    subscribe(reader, depth(5, 'string'));
    const answer = await reader.frame();
    assert.ok(answer.includes('{"name":"depth","asset_ids":["12"],"numbers":"string","checksum_every":5}'), answer);
    const snapshot = await next(reader);
    assert.deepEqual([snapshot.type, snapshot.sequence], ['snapshot', 1]);
    assert.deepEqual(snapshot.data['bids'], [
      ['3149.75', '1'],
      ['3149.5', '2.25'],
    ]);
    const channels = [
      { name: 'depth', asset_ids: ['12', '13'] },
      { name: 'klines', asset_ids: ['12'], interval: '1m' },
    ];
    reader.socket.send(JSON.stringify({ type: 'unsubscribe', channels }));
    assert.equal(
      await reader.frame(),
      '{"type":"subscriptions","channels":[{"name":"bbo","asset_ids":["12"]}],"errors":[{"name":"depth","asset_id":"13","code":"NOT_SUBSCRIBED","message":"no subscription of depth 13"},{"name":"klines","asset_id":"12","code":"NOT_SUBSCRIBED","message":"no subscription of klines 12"}],"id":null}',
    );
    world.set(SIDE.sell, 315_025, 5_000);
    world.commit();
    world.tick();
    assert.equal((await next(reader)).channel, 'bbo');
    await reader.caughtUp();
    reader.socket.close();
  });

  test('a frame that cannot be taken is an error that names its member, and has no effect', async () => {
    const reader = await world.connect();
    const error = async (frame: string | Buffer): Promise<string> => {
      reader.socket.send(frame);
      const text = await reader.frame();
      const { type, id, error: fault } = JSON.parse(text);
      assert.deepEqual([type, fault.code, fault.retryable], ['error', 'INVALID_REQUEST', false], text);
      return `${id} ${fault.details?.field ?? '-'}`;
    };
    const item = (members: string): string => `{"type":"subscribe","id":"x","channels":[{${members}}]}`;
    const depthOf = '"name":"depth","asset_ids":["12"]';
    assert.equal(await error(Buffer.from('{"type":"ping"}')), 'null -', 'binary');
    assert.equal(await error('{'), 'null -');
    assert.equal(await error('[]'), 'null -');
    assert.equal(await error('{"type":"sub"}'), 'null type');
    assert.equal(await error('{"type":"ping","id":""}'), 'null id');
    assert.equal(await error(`{"type":"ping","id":"${'a'.repeat(65)}"}`), 'null id');
    assert.equal(await error('{"type":"ping","id":"p","channels":[]}'), 'p channels');
    assert.equal(await error('{"type":"subscribe","id":"x"}'), 'x channels');
    assert.equal(await error('{"type":"subscribe","id":"x","channels":[]}'), 'x channels');
    assert.equal(await error(item('"name":"depths","asset_ids":["12"]')), 'x channels[0].name');
    assert.equal(await error(item('"name":"depth"')), 'x channels[0].asset_ids');
    assert.equal(await error(item('"name":"depth","asset_ids":[]')), 'x channels[0].asset_ids');
    assert.equal(await error(item('"name":"depth","asset_ids":[12]')), 'x channels[0].asset_ids');
    assert.equal(await error(item(`${depthOf},"levels":5`)), 'x channels[0].levels');
    assert.equal(await error(item(`${depthOf},"interval":"1m"`)), 'x channels[0].interval');
    assert.equal(await error(item(`${depthOf},"numbers":"text"`)), 'x channels[0].numbers');
    assert.equal(await error(item(`${depthOf},"checksum_every":1001`)), 'x channels[0].checksum_every');
    assert.equal(await error(item(`${depthOf},"checksum_every":1.5`)), 'x channels[0].checksum_every');
    assert.equal(await error(item('"name":"klines","asset_ids":["12"]')), 'x channels[0].interval');
    assert.equal(await error(item('"name":"klines","asset_ids":["12"],"interval":"180"')), 'x channels[0].interval');
    assert.equal(await error(item('"name":"bbo","asset_ids":["12"],"numbers":"string"')), 'x channels[0].numbers');
    const wrongSecond = `{"type":"subscribe","channels":[{${depthOf}},{"name":"x","asset_ids":["12"]}]}`;
    assert.equal(await error(wrongSecond), 'null channels[1].name');
    const options = `{"type":"unsubscribe","channels":[{${depthOf},"checksum_every":1}]}`;
    assert.equal(await error(options), 'null channels[0].checksum_every');
    reader.socket.send('{"type":"ping","id":"p-1"}');
    assert.equal(await reader.frame(), '{"type":"pong","id":"p-1"}', 'nothing was subscribed');
    reader.socket.close();
    assert.equal((await ask(world.port, '/ws')).status, 426);
    await assert.rejects(SocketReader.open(world.port, '/ws?a=1'), /400/);
  });

  test('limits: 200 new ones a frame, 500 a socket, 2 units each, frames of 64 KiB, 50 frames at once', async () => {
    const reader = await world.connect();
    const assets = Array.from({ length: MARKETS }, (_, index) => String(12 + index));
    const names = ['depth', 'bbo', 'trades', 'ticker', 'prices'];
    subscribe(reader, ...[...names, 'bbo'].map((name) => ({ name, asset_ids: [...assets, ...assets] })));
    assert.match(await reader.frame(), /^\{"type":"subscriptions"/, 'one that is named twice counts once');
    const items = (count: number): object[] =>
      Array.from({ length: count }, (_, index) => ({
        name: 'klines',
        asset_ids: assets,
        interval: ['1S', '5S', '15S', '30S', '1m', '3m', '5m', '15m', '30m', '1h', '2h', '4h'][index],
      }));
    subscribe(reader, ...items(7));
    const isAnswer = (text: string): boolean => /^\{"type":"(subscriptions|error)"/.test(text);
    const answer = async (): Promise<string> => {
      for (;;) {
        const text = await reader.frame();
        if (isAnswer(text)) return text;
      }
    };
    assert.match(await answer(), /"type":"error".*at most 200/);
    subscribe(reader, ...items(6));
    assert.match(await answer(), /"errors":\[\]/);
    subscribe(reader, ...items(12).slice(6));
    const full = JSON.parse(await answer()) as { errors: { code: string }[] };
    assert.equal(full.errors.length, 150 + 180 + 180 - 500);
    assert.ok(full.errors.every(({ code }) => code === 'TOO_MANY_SUBSCRIPTIONS'));
    reader.socket.close();

    const poor = await world.connect();
    world.setUnits(5n);
    subscribe(poor, { name: 'bbo', asset_ids: ['12', '13', '14'] });
    const refused = JSON.parse(await poor.frame()) as { errors: { code: string; asset_id: string }[] };
    assert.deepEqual(
      refused.errors.map(({ code, asset_id }) => `${code} ${asset_id}`),
      ['RATE_LIMITED 14'],
    );
    world.setUnits(BUDGET_MAX);
    poor.socket.send(`{"type":"ping","id":"${'a'.repeat(65_536)}"}`);
    assert.deepEqual(await poor.closed, { code: 1009, reason: 'message_too_big' });

    const talker = await world.connect();
    for (let frame = 0; frame < 60; frame += 1) talker.socket.send('{"type":"ping"}');
    assert.deepEqual(await talker.closed, { code: 1008, reason: 'too_many_frames' });
  });

  /** Opens the world anew. @param units of each address, which are not refilled. */
  async function limitAddresses(units: bigint): Promise<void> {
    world.server.close();
    const limits = new AddressLimits({ size: { unitsPerSecond: 1n, capacity: units }, socketsMax: 10 });
    world = new World(
      new AddressGate({ limits, source: 'peer', nowNs: () => START as TimestampNs, refused: () => undefined }),
    );
    await world.open();
  }

  test('an address pays for the length of a frame and for the assets that it names, whatever becomes of them', async () => {
    await limitAddresses(240n);
    const reader = await world.connect();
    const unknown = Array.from({ length: 100 }, (_, index) => String(100 + index));
    const unsubscribe = (items: number): void => {
      const channels = Array.from({ length: items }, () => ({ name: 'bbo', asset_ids: unknown }));
      reader.socket.send(JSON.stringify({ type: 'unsubscribe', id: 'u', channels }));
    };
    unsubscribe(10);
    const taken = JSON.parse(await reader.frame()) as { type: string; errors: unknown[] };
    assert.deepEqual([taken.type, taken.errors.length], ['subscriptions', 1_000], '50 units, and 1 for 6 KiB');
    unsubscribe(20);
    const refused = JSON.parse(await reader.frame()) as { type: string; error: { code: string } };
    assert.deepEqual([refused.type, refused.error.code], ['error', 'RATE_LIMITED'], '100 units are not there');
    reader.socket.send('{"type":"ping","id":"p"}');
    assert.equal(await reader.frame(), '{"type":"pong","id":"p"}', 'short frames are free');
    reader.socket.close();
  });

  test('what a short frame costs less than a unit is paid with the next, and a long answer by its length', async () => {
    await limitAddresses(40n);
    const reader = await world.connect();
    // Below a unit in length and in assets, with an answer of 8 KiB.
    const asset_ids = Array.from({ length: 19 }, () => 'x'.repeat(150));
    const frame = JSON.stringify({ type: 'unsubscribe', channels: [{ name: 'bbo', asset_ids }] });
    const types: string[] = [];
    for (let sent = 0; sent < 12; sent += 1) {
      reader.socket.send(frame);
      types.push((JSON.parse(await reader.frame()) as { type: string }).type);
    }
    const expected = [...Array.from({ length: 10 }, () => 'subscriptions'), 'error', 'error'];
    assert.deepEqual(types, expected, 'two units each, of the half that is for reads');
    reader.socket.close();
  });

  test('frames of an address without units are not parsed', async () => {
    await limitAddresses(20n);
    const reader = await world.connect();
    const codeOf = async (text: string): Promise<unknown> => {
      reader.socket.send(text);
      const { type, error } = JSON.parse(await reader.frame()) as { type: string; error?: { code: string } };
      return error?.code ?? type;
    };
    refusals.length = 0;
    const expected = [...Array.from({ length: 18 }, () => 'INVALID_REQUEST'), 'RATE_LIMITED'];
    for (const code of expected) assert.equal(await codeOf('{'), code);
    assert.equal(await codeOf('{"type":"ping"}'), 'RATE_LIMITED');
    assert.deepEqual(refusals, [...expected, 'RATE_LIMITED'], 'each is counted');
    reader.socket.close();
  });

  test('a socket that sends wrong frames is closed at the lowest level of its address (AMB-91)', async () => {
    await limitAddresses(4n);
    const reader = await world.connect();
    // Two units are left; each refusal below zero costs a tenth, down to the capacity.
    for (let sent = 0; sent < 42; sent += 1) {
      reader.socket.send('{');
      assert.match(await reader.frame(), /^\{"type":"error"/);
    }
    assert.deepEqual(await reader.closed, { code: 1013, reason: 'rate_limited' });
  });

  test('frames of many sockets that come at once are read in many passes of the event loop', async () => {
    const readers = await Promise.all(Array.from({ length: 10 }, () => world.connect()));
    const unknown = Array.from({ length: 100 }, (_, index) => String(100 + index));
    const channels = Array.from({ length: 10 }, () => ({ name: 'bbo', asset_ids: unknown }));
    const frame = JSON.stringify({ type: 'unsubscribe', channels });
    let longestUs = 0;
    let isMeasured = true;
    let before = process.cpuUsage();
    const measure = (): void => {
      const { user, system } = process.cpuUsage(before);
      longestUs = Math.max(longestUs, user + system);
      before = process.cpuUsage();
      if (isMeasured) setImmediate(measure);
    };
    for (const reader of readers) for (let sent = 0; sent < 15; sent += 1) reader.socket.send(frame);
    setImmediate(measure);
    for (const reader of readers) for (let read = 0; read < 15; read += 1) await reader.frame();
    isMeasured = false;
    assert.ok(longestUs < 150_000, `${longestUs} µs in one pass`);
    for (const reader of readers) reader.socket.close();
  });

  test('a slow reader keeps all trades, misses old values and depth updates, and has the book of a new snapshot', async () => {
    lagged = 0;
    const reader = await world.connect();
    subscribe(reader, depth(1), { name: 'bbo', asset_ids: ['12'] }, { name: 'trades', asset_ids: ['12'] });
    const other = await world.connect();
    let tradeId = 0;
    /** Some 110 kB of depth, a new best price and a trade. */
    const publish = (): void => {
      for (let level = 0; level < 6_000; level += 1)
        world.set(SIDE.sell, 400_000 + level, 1 + ((level + tradeId) % 9_000));
      tradeId += 1;
      world.set(SIDE.buy, 300_000 + tradeId, 1);
      world.commit();
      world.data.tradeConfirmed(tradeOf(tradeId, world.nowNs));
      world.tick(10n * MILLISECOND);
    };
    reader.socket.pause();
    // What the kernels take differs from machine to machine.
    for (let round = 0; world.server.backlogBytes === 0; round += 1) {
      assert.ok(round < 1_000, 'a reader that does not read is noticed');
      publish();
      await new Promise((resolve) => setImmediate(resolve));
    }
    let most = 0;
    for (let round = 0; round < 40; round += 1) {
      publish();
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, world.server.backlogBytes);
    }
    assert.ok(most > 1_048_576 && most < 2_097_152, `queued at most ${most} bytes`);
    reader.socket.resume();
    other.socket.close();
    const book = new ReaderBook();
    const bests: number[] = [];
    const trades: number[] = [];
    const lastBid = (): boolean => book.sides.bids.has(String((300_000 + tradeId) / 100));
    let bestSequence = 0;
    let hasLast = false;
    const deadlineMs = performance.now() + PATIENCE_MS;
    while (!lastBid() || book.isPartial || trades.length < tradeId || !hasLast) {
      assert.ok(performance.now() < deadlineMs, `${book.text()} ${trades.length} ${tradeId}`);
      const text = await soon(reader.frame());
      if (text.startsWith('{"type":"subscriptions"')) continue;
      const frame = JSON.parse(text) as Frame;
      if (frame.channel === 'depth') book.take(frame);
      else if (frame.channel === 'trades') {
        const rows = frame.data['trades'] as { trade_id: number }[];
        trades.push(...rows.map(({ trade_id }) => trade_id));
      } else {
        bestSequence += 1;
        assert.equal(frame.sequence, bestSequence);
        const bid = frame.data['bid'] as { price: string } | null;
        bests.push(Number(bid?.price ?? 0));
        hasLast = bid !== null && Number(bid.price) === (300_000 + tradeId) / 100;
      }
    }
    assert.deepEqual(
      trades,
      Array.from({ length: tradeId }, (_, index) => index + 1),
      'every trade, once',
    );
    assert.ok(book.snapshots >= 2, 'a new snapshot');
    assert.ok(bests.length < tradeId, 'old best prices are left out');
    assert.deepEqual(
      bests,
      bests.toSorted((a, b) => a - b),
    );
    assert.equal(lagged, 0);
    publish();
    book.take(await nextOf(reader, 'depth'));
    reader.socket.close();
  });

  test('a reader too slow for trades is closed with 1013 resync_required', async () => {
    lagged = 0;
    const reader = await world.connect();
    subscribe(reader, { name: 'trades', asset_ids: ['12'] });
    let tradeId = 0;
    const trade = (): Promise<void> => {
      tradeId += 1;
      world.data.tradeConfirmed(tradeOf(tradeId, world.nowNs));
      world.tick();
      return Promise.resolve();
    };
    await choke(reader.socket, {
      tell: trade,
      backlogBytes: () => Promise.resolve(world.server.backlogBytes),
    });
    while (lagged === 0) {
      assert.ok(tradeId < 10_000);
      await trade();
    }
    const laggedAt = performance.now();
    reader.socket.resume();
    const closed = await reader.closed;
    // A reader that has not read four megabytes a second later is cut off.
    if (closed.code === 1006) assert.ok(performance.now() - laggedAt > 900);
    else assert.deepEqual(closed, { code: 1013, reason: 'resync_required' });
  });
});

/** The first row of a list of a frame. */
function firstOf(frame: Frame | undefined, list: string): Readonly<Record<string, unknown>> {
  return ((frame?.data[list] ?? []) as Record<string, unknown>[])[0] ?? assert.fail(list);
}

/** A frame that must come: a test that waits for it in vain ends. */
function soon(frame: Promise<string>): Promise<string> {
  const silence = new Promise<string>((_, reject) => {
    setTimeout(() => reject(new Error('no frame')), PATIENCE_MS).unref();
  });
  return Promise.race([frame, silence]);
}

async function nextOf(reader: SocketReader, channel: string): Promise<Frame> {
  for (;;) {
    const frame = await next(reader);
    if (frame.channel === channel) return frame;
  }
}

/** A small generator of numbers below n. */
function lcg(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}
