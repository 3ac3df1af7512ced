// tier: quick
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { SIDE } from '../../src/core/order-terms.ts';
import type { RawPrice, Sequence, TimestampNs } from '../../src/core/units.ts';
import { BUDGET_MAX } from '../../src/gateway/sessions/bucket.ts';
import { STANDARD_PRICES } from '../../src/gateway/sessions/costs.ts';
import { SharedBudget } from '../../src/gateway/sessions/shared-budget.ts';
import { arrayFrames, MarketStreams, MdsServer } from '../../src/http/mds-server.ts';
import { MarketData } from '../../src/market-data/market-data.ts';
import { ask, SocketReader } from '../support/edge-client.ts';
import { marketOf, SECOND, START_NS, tradeOf } from '../support/market-figures.ts';

const TOKEN = `${'ab'.repeat(32)}@${'0'.repeat(17)}1`;
const failures: unknown[] = [];
const streams = new MarketStreams(() => assert.fail('no gap is fed here'));
const data = new MarketData(streams);
let nowNs = START_NS;
let pacingNs = 0n;
const budget = new SharedBudget();
const setUnits = (capacity: bigint): void =>
  budget.configure({ unitsPerSecond: 0n, capacity }, STANDARD_PRICES.publicRead, nowNs as TimestampNs);
setUnits(BUDGET_MAX);
let sequence = 1;
const server = new MdsServer({
  marketData: data,
  streams,
  clock: { nowNs: () => nowNs as TimestampNs },
  budget,
  observer: { answered: () => undefined, failed: (_, error) => failures.push(error), lagged: () => undefined },
});
let port = 0;

/** Moves both clocks and publishes. */
function tick(aheadNs = 0n): void {
  nowNs += aheadNs;
  pacingNs += 2n * SECOND;
  data.tick({ nowNs: nowNs as TimestampNs, pacingNs });
  streams.flush();
}

function setLevel(side: 0 | 1, price: number, quantity: number): void {
  data.levelChanged(0, side, price as RawPrice, quantity);
  sequence += 1;
  data.commitDepth(0, sequence as Sequence);
}

before(async () => {
  data.upsertMarket(marketOf(0, '12'));
  data.upsertMarket(marketOf(1, TOKEN));
  data.upsertMarket(marketOf(2, '13'));
  for (const index of [0, 1]) {
    data.resetDepth(index, 9_000);
    data.commitDepth(index, 1 as Sequence);
  }
  tick();
  port = await server.listen({ host: '127.0.0.1', port: 0 });
});
after(() => {
  server.close();
  assert.deepEqual(failures, []);
});

const keysOf = (text: string): string[] => Object.keys(JSON.parse(text));
const TRADE_KEYS = ['asset_id', 'trade_id', 'price', 'quantity', 'timestamp_ns', 'buyer_is_maker', 'status'];
const KLINE_KEYS = ['open', 'high', 'low', 'close', 'volume', 'open_timestamp_ns', 'close_timestamp_ns'];
const TICKER_KEYS = [
  'asset_id',
  'last_price',
  'open',
  'high',
  'low',
  'volume',
  'price_change',
  'price_change_percent',
  'timestamp_ns',
  ...['volume_24h', 'high_24h', 'low_24h', 'price_change_24h', 'price_change_pct_24h', 'mark_price', 'index_price'],
  ...['best_bid', 'best_ask', 'open_interest'],
];

suite('market-data listener', () => {
  test('each stream begins with its welcome and then carries its frames, unasked (WS-01 to WS-03, WS-06, AMB-102)', async () => {
    const paths = {
      '/marketdepth/diff/12': 'marketdepth',
      '/klines/diff/12': 'klines',
      '/trades': 'trades',
      '/trades/12': 'trades',
      '/trades/events': 'trade_events',
      '/ticker/ws/12': 'ticker',
      '/tickers/ws': 'tickers',
    };
    const readers = new Map<string, SocketReader>();
    for (const [path, name] of Object.entries(paths)) {
      const reader = await SocketReader.open(port, path);
      assert.equal(await reader.frame(), `{"type":"subscriptions","channels":[{"name":"${name}"}],"errors":[]}`);
      readers.set(path, reader);
    }
    const next = async (path: string): Promise<string> => (await readers.get(path)?.frame()) ?? '';
    setLevel(SIDE.sell, 315_025, 25_000);
    setLevel(SIDE.buy, 314_975, 10_000);
    data.tradeConfirmed(tradeOf(88_017, nowNs, 315_025, 5_000));
    data.clearingPassed(0, (nowNs + SECOND) as TimestampNs);
    tick(SECOND);
    assert.equal(
      await next('/marketdepth/diff/12'),
      '{"asks":[[3150.25,2.5]],"bids":[[3149.75,1]],"sequence_number":9001}',
    );
    assert.equal(
      await next('/klines/diff/12'),
      '[{"open":"3150.25","high":"3150.25","low":"3150.25","close":"3150.25","volume":"1575.125",' +
        '"open_timestamp_ns":1770001200000000000,"close_timestamp_ns":1770001201000000000}]',
    );
    const trade =
      '{"asset_id":"12","trade_id":88017,"price":"3150.25","quantity":"0.5","timestamp_ns":1770001200000000000,"buyer_is_maker":false,"status":"Confirmed"}';
    assert.equal(await next('/trades'), trade);
    assert.equal(await next('/trades/12'), trade);
    assert.equal(await next('/trades/events'), `{"Pending":${trade.replace('Confirmed', 'Pending')}}`);
    assert.equal(await next('/trades/events'), `{"Confirmed":${trade}}`);
    const ticker = await next('/ticker/ws/12');
    assert.deepEqual(keysOf(ticker), TICKER_KEYS);
    assert.equal(await next('/tickers/ws'), `[${ticker}]`);
    data.tradeConfirmed(tradeOf(3, nowNs, 1, 1, 1));
    tick();
    assert.match(await next('/trades'), new RegExp(`^{"asset_id":"${TOKEN}"`));
    assert.match(await next('/tickers/ws'), new RegExp(`^.{"asset_id":"${TOKEN}"`));
    assert.match(await next('/trades/events'), /^{"Pending":/);
    assert.match(await next('/trades/events'), /^{"Confirmed":/);
    for (const [path, reader] of readers) {
      assert.equal(reader.unread, 0, `${path} carries its own market only`);
      reader.socket.close();
      assert.equal((await reader.closed).code, 1005);
    }
  });

  test('depth is a snapshot with its sequence number (MD-01)', async () => {
    const { status, text, headers } = await ask(port, '/marketdepth/12');
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(text, '{"asks":[[3150.25,2.5]],"bids":[[3149.75,1]],"sequence_number":9001}');
    assert.equal((await ask(port, '/marketdepth/13')).status, 503, 'a book that is not loaded is not shown as empty');
  });

  test('klines are an envelope, paged from the newest window (KLN-01, KLN-02, G19)', async () => {
    const { text } = await ask(port, '/klines/12?limit=1&page=0');
    const page = JSON.parse(text);
    assert.deepEqual(Object.keys(page), [
      'items',
      'page',
      'limit',
      'total_pages',
      'cursor_size',
      'has_next_page',
      'next_page',
    ]);
    assert.deepEqual(Object.keys(page.items[0]), KLINE_KEYS);
    assert.deepEqual(
      [page.limit, page.total_pages, page.cursor_size, page.has_next_page, page.next_page],
      [1, 1, 1, false, null],
    );
    assert.equal(JSON.parse((await ask(port, '/klines/12?limit=18001')).text).limit, 18_000);
    const early = JSON.parse((await ask(port, `/klines/12?end_timestamp_ns=${START_NS}`)).text);
    assert.deepEqual(early.items, []);
    for (const query of [
      'limit=0',
      'limit=-1',
      'limit=1.5',
      'page=x',
      'page=01',
      'limit=1&limit=2',
      'end_timestamp_ns=',
    ]) {
      const refused = await ask(port, `/klines/12?${query}`);
      assert.equal(refused.status, 400, query);
      assert.equal(JSON.parse(refused.text).error.code, 'INVALID_REQUEST');
    }
  });

  test('trades and tickers are bare arrays, a ticker is an object (TKR-01, TKR-02, PTR-01)', async () => {
    const trades = JSON.parse((await ask(port, '/trades')).text);
    assert.deepEqual(
      trades.map((trade: { asset_id: string }) => trade.asset_id),
      [TOKEN, '12'],
    );
    assert.deepEqual(Object.keys(trades[0]), TRADE_KEYS);
    assert.equal(JSON.parse((await ask(port, '/trades?limit=1&page=1')).text)[0].trade_id, 88_017);
    assert.equal(JSON.parse((await ask(port, '/trades/12')).text).length, 1);
    assert.equal((await ask(port, '/trades/13')).text, '[]');
    const tickers = JSON.parse((await ask(port, '/tickers')).text);
    assert.deepEqual(
      tickers.map((ticker: { asset_id: string }) => ticker.asset_id),
      ['12', '13', TOKEN],
    );
    assert.deepEqual(
      tickers.map((ticker: object) => Object.keys(ticker)),
      [TICKER_KEYS, TICKER_KEYS, TICKER_KEYS],
    );
    assert.deepEqual(keysOf((await ask(port, '/ticker/13')).text), TICKER_KEYS);
  });

  test('an asset in address form is found with a raw and with an encoded @, in any case (wire.md 1, 2.1)', async () => {
    for (const spelling of [TOKEN, TOKEN.replace('@', '%40'), `0x${TOKEN.toUpperCase()}`]) {
      assert.equal(JSON.parse((await ask(port, `/ticker/${spelling}`)).text).asset_id, TOKEN);
      const reader = await SocketReader.open(port, `/trades/${spelling}`);
      await reader.frame();
      reader.socket.terminate();
    }
    assert.equal((await ask(port, '/ticker/%zz')).status, 400);
  });

  test('an interval is taken by klines and their stream; any other one is 400 before the upgrade (wire-additions.md 7)', async () => {
    data.tradeConfirmed(tradeOf(88_500, nowNs, 315_025, 5_000));
    tick(6n * SECOND);
    const reader = await SocketReader.open(port, '/klines/diff/12?interval=4h');
    await reader.frame();
    data.tradeConfirmed(tradeOf(88_501, nowNs, 316_000, 5_000));
    tick(6n * SECOND);
    const [row] = JSON.parse(await reader.frame()) as Record<string, unknown>[];
    assert.deepEqual(Object.keys(row ?? {}), KLINE_KEYS);
    reader.socket.close();
    const page = JSON.parse((await ask(port, '/klines/12?interval=240&limit=99999')).text);
    assert.deepEqual(page.items.at(-1), row);
    assert.deepEqual(Object.keys(page).slice(-3), ['next_page', 'interval_s', 'truncated_before_ns']);
    assert.deepEqual([page.limit, page.interval_s, page.truncated_before_ns], [18_000, 14_400, null]);
    assert.equal(JSON.parse((await ask(port, '/klines/12?interval=60')).text).interval_s, 3_600);
    assert.equal(JSON.parse((await ask(port, '/klines/12?interval=1s')).text).interval_s, 1);
    assert.ok(!(await ask(port, '/klines/12')).text.includes('interval_s'));
    for (const interval of ['180', '90S', '', '5M']) {
      const answer = await ask(port, `/klines/12?interval=${interval}`);
      assert.equal(answer.status, 400, interval);
      assert.match(answer.text, /"code":"INVALID_REQUEST".*interval.*"field":"interval"/);
    }
    await assert.rejects(SocketReader.open(port, '/klines/diff/12?interval=180'), /400/);
  });

  test('an unknown market is 404, before the upgrade too (AMB-102)', async () => {
    for (const path of ['/marketdepth/99', '/klines/99', '/trades/99', '/ticker/x', '/ticker/99999']) {
      const { status, text } = await ask(port, path);
      assert.equal(status, 404, path);
      assert.equal(JSON.parse(text).error.code, 'MARKET_NOT_FOUND');
    }
    for (const path of ['/marketdepth/diff/99', '/klines/diff/99', '/trades/99', '/ticker/ws/99']) {
      await assert.rejects(SocketReader.open(port, path), /404/);
    }
  });

  test('a plain GET of a stream is 426, other paths 404, other methods 405, all in the envelope (AMB-97, AMB-103)', async () => {
    const expected: readonly [string, string, number, string][] = [
      ['GET', '/marketdepth/diff/12', 426, 'UPGRADE_REQUIRED'],
      ['GET', '/klines/diff/12', 426, 'UPGRADE_REQUIRED'],
      ['GET', '/ticker/ws/12', 426, 'UPGRADE_REQUIRED'],
      ['GET', '/tickers/ws', 426, 'UPGRADE_REQUIRED'],
      ['GET', '/trades/events', 426, 'UPGRADE_REQUIRED'],
      ['GET', '/', 404, 'NOT_FOUND'],
      ['GET', '/marketdepth', 404, 'NOT_FOUND'],
      ['GET', '/trades/12/13', 404, 'NOT_FOUND'],
      ['POST', '/trades', 405, 'METHOD_NOT_ALLOWED'],
      ['DELETE', '/klines/12', 405, 'METHOD_NOT_ALLOWED'],
      ['POST', '/tickers/ws', 405, 'METHOD_NOT_ALLOWED'],
    ];
    for (const [method, path, status, code] of expected) {
      const answer = await ask(port, path, { method });
      assert.equal(answer.status, status, `${method} ${path}`);
      const { error } = JSON.parse(answer.text);
      assert.deepEqual([error.code, error.retryable], [code, false]);
      assert.match(`${error.trace_id} ${error.span_id}`, /^[0-9a-f]{32} [0-9a-f]{16}$/);
      if (status === 405) assert.equal(answer.headers.allow, 'GET, HEAD');
    }
    assert.deepEqual((await ask(port, '/nowhere', { method: 'HEAD' })).status, 404);
  });

  test('readers of trade events are let go when events were lost, the others stay (WS-15)', async () => {
    const events = await SocketReader.open(port, '/trades/events');
    const trades = await SocketReader.open(port, '/trades');
    await events.frame();
    await trades.frame();
    data.tradeMatched(tradeOf(90_000, nowNs));
    streams.tradeEventsLost();
    assert.match(await events.frame(), /^{"Pending":/, 'what was told before is written first');
    assert.deepEqual(await events.closed, { code: 1000, reason: '' });
    data.tradeConfirmed(tradeOf(90_001, nowNs));
    tick();
    assert.match(await trades.frame(), /"trade_id":90001/);
    trades.socket.terminate();
  });

  test('market data uses v0 whatever is offered, and selects the first offer (WS-05, AMB-90)', async () => {
    const reader = await SocketReader.open(port, '/trades/12', ['svc.ws.v1', 'other']);
    assert.equal(reader.socket.protocol, 'svc.ws.v1');
    assert.match(await reader.frame(), /^{"type":"subscriptions"/);
    const plain = await SocketReader.open(port, '/trades/12');
    assert.equal(plain.socket.protocol, '');
    reader.socket.terminate();
    plain.socket.terminate();
  });

  test('text pings are answered, other text is ignored, protocol pings echo (WS-08, WS-09, AMB-95)', async () => {
    const reader = await SocketReader.open(port, '/tickers/ws');
    await reader.frame();
    const pong = new Promise<string>((resolve) => reader.socket.once('pong', (bytes) => resolve(bytes.toString())));
    for (const text of ['hello', '{"type":"subscribe"}', '{"type":"ping"', '[]', '{"type":"ping"}'])
      reader.socket.send(text);
    reader.socket.ping('abc');
    assert.equal(await reader.frame(), '{"type":"pong"}');
    assert.equal(await pong, 'abc');
    assert.equal(reader.unread, 0);
    reader.socket.send(Buffer.alloc(1_048_577, 0x20), { binary: false });
    assert.equal((await reader.closed).code, 1009);
  });

  test('a read costs 2 of the budget that all share; malformed ones cost nothing, unknown markets do (LIM-02, LIM-14, AMB-91)', async () => {
    setUnits(7n);
    for (const path of ['/trades?limit=0', '/klines/12?page=x']) assert.equal((await ask(port, path)).status, 400);
    assert.equal((await ask(port, '/tickers')).status, 200);
    assert.equal((await ask(port, '/marketdepth/12')).status, 200);
    assert.equal((await ask(port, '/ticker/99')).status, 404);
    const refused = await ask(port, '/trades');
    assert.equal(refused.status, 429);
    const { code, retryable, details } = JSON.parse(refused.text).error;
    assert.deepEqual(
      [code, retryable, details],
      ['RATE_LIMITED', true, { bucket: 'global', units_asked: '2', units_available: '1' }],
    );
    const headers = Object.keys(refused.headers);
    assert.deepEqual(
      headers.filter((name) => /retry|ratelimit|reset/.test(name)),
      [],
      'no reset headers (ERR-08)',
    );
    assert.equal(budget.refusals('global'), 1n);
    setUnits(BUDGET_MAX);
  });

  test('the port is had by one listener only', async () => {
    const second = new MdsServer({
      marketData: data,
      streams,
      clock: { nowNs: () => nowNs as TimestampNs },
      budget,
      observer: { answered: () => undefined, failed: () => undefined, lagged: () => undefined },
    });
    await assert.rejects(second.listen({ host: '127.0.0.1', port }), /cannot listen/);
    second.close();
  });

  test('snapshots fetched while diffs stream fit them: a book kept by a reader is the book (MD-02, MD-03)', async () => {
    const reader = await SocketReader.open(port, '/marketdepth/diff/12');
    await reader.frame();
    const book = new Map<string, number>();
    const apply = (levels: { asks: [number, number][]; bids: [number, number][] }): void => {
      for (const side of ['asks', 'bids'] as const) {
        for (const [price, quantity] of levels[side]) {
          if (quantity === 0) book.delete(`${side} ${price}`);
          else book.set(`${side} ${price}`, quantity);
        }
      }
    };
    let noise = 12_345;
    const random = (below: number): number => {
      noise = (noise * 48_271) % 2_147_483_647;
      return noise % below;
    };
    const load = (): void => {
      for (let count = random(5); count >= 0; count -= 1) setLevel(random(2) === 0 ? 0 : 1, 1 + random(40), random(3));
      if (random(3) > 0) tick();
    };
    for (let round = 0; round < 50; round += 1) load();
    const snapshot = JSON.parse((await ask(port, '/marketdepth/12')).text);
    for (let round = 0; round < 300; round += 1) load();
    setLevel(0, 1, 77);
    tick();
    const last = data.depthSequence(0);
    let expected = snapshot.sequence_number;
    apply(snapshot);
    while (expected < last) {
      const diff = JSON.parse(await reader.frame());
      if (diff.sequence_number <= snapshot.sequence_number) continue;
      expected += 1;
      assert.equal(diff.sequence_number, expected);
      apply(diff);
    }
    const end = JSON.parse((await ask(port, '/marketdepth/12')).text);
    const kept = new Map([...book]);
    book.clear();
    apply(end);
    assert.deepEqual([...kept].sort(), [...book].sort());
    reader.socket.terminate();
  });

  test('arrays longer than a frame are split into whole arrays', () => {
    assert.deepEqual(arrayFrames([]), []);
    assert.deepEqual(arrayFrames(['aaa', 'bbb', 'cc'], 9), ['[aaa,bbb]', '[cc]']);
    assert.deepEqual(arrayFrames(['aaa', 'bbb', 'cc'], 8), ['[aaa]', '[bbb,cc]']);
  });
});
