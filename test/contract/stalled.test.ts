// tier: full, 8 s
/**
 * Readers that stall or are slow, among steady ones, on a whole node: the steady ones receive everything in order, what
 * is kept for the others stays bounded and ends as the contract requires, and a reader that reconnects and reads again
 * has what the steady ones know (wire.md 9.2, 9.8; WS-13 to WS-16, AMB-94).
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { SocketReader } from '../support/edge-client.ts';
import { metricOf } from '../support/node-process.ts';
import type { PlainClient } from '../support/plain-client.ts';
import { choke, nudge } from '../support/stalled-reader.ts';
import { TestNode } from '../support/test-node.ts';
import { IOC } from '../support/wire-texts.ts';
import { OrderFold, viewOfRecords } from './order-fold.ts';

type Row = Readonly<Record<string, unknown>>;

const BATCH = 50;
/** Far more than 4,096 messages: what kernels keep is filled before. */
const ORDERS_MAX = 60_000;
/** Taken at once by one order: what clearing commits in one piece stays small. */
const RESTING_MAX = 400;
/** Who lags has so long to read what waits, and is cut off then, without a word. A slow machine may need longer. */
const CUT_OFF_MS = 5_000;
const CUT_OFF = { code: 1006, reason: '' };

interface Depth {
  readonly asks: readonly (readonly [number, number])[];
  readonly bids: readonly (readonly [number, number])[];
  readonly sequence_number: number;
}

/** Takes what there is for a moment now and then. @returns how to let it read on. */
function slow(reader: SocketReader): () => void {
  reader.keepsUp = false;
  let isReading = false;
  const timer = setInterval(() => {
    if (isReading) reader.socket.pause();
    else reader.socket.resume();
    isReading = !isReading;
  }, 10);
  return () => {
    clearInterval(timer);
    reader.keepsUp = true;
    reader.socket.resume();
  };
}

/** All frames that have come. */
async function drained(reader: SocketReader): Promise<string[]> {
  const frames: string[] = [];
  while (reader.unread > 0) frames.push(await reader.frame());
  return frames;
}

/** What a v1 frame carries; an error frame as it is. */
function bare(frame: string): string {
  const shape = /^\{"type":"event","channel":"orders","request_id":null,"timestamp_ns":\d+,"data":(.*),"error":null\}$/;
  return shape.exec(frame)?.[1] ?? frame;
}

suite('readers that stall', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;
  let made = 0;
  /** Of market data, from the first order on: what both tests publish counts for the one that stalls. */
  let events: SocketReader;
  let depth: SocketReader;
  let stalledEvents: SocketReader;
  /** Those that read nothing now. */
  const stalled: SocketReader[] = [];
  let first = 0;

  before(async () => {
    node = await TestNode.start();
    await node.operate('PUT', '/operator/stream-caps', { default: 100, market_maker: 100 });
    alice = await node.user({ '0': '1000000', '2': '100000' });
    bob = await node.user({ '0': '1000000000' });
    events = await alice.marketStream('/trades/events');
    depth = await alice.marketStream('/marketdepth/diff/2');
    stalledEvents = await alice.marketStream('/trades/events');
    first = (await book()).sequence_number;
  });
  after(() => node?.stop());

  /** So many orders of Alice rest, then Bob takes them all: on average 0.7 kB an order on her stream, two public events. */
  async function tell(orders: number): Promise<void> {
    const sent: Promise<void>[] = [];
    for (let left = orders; left > 0; left -= BATCH) {
      const bodies = Array.from({ length: Math.min(BATCH, left) }, (_, index) =>
        alice.createBody({ price: 310_000 + left + index, quantity: 100 }),
      );
      sent.push(
        alice.post('/orders/batch-create', `{"orders":[${bodies}]}`).then((answer) => {
          assert.ok(answer.status === 200 && !answer.text.includes('Rejected'), answer.text.slice(0, 300));
        }),
      );
      if (sent.length > 1) await sent.shift();
    }
    await Promise.all(sent);
    const taken = await bob.create({ side: 'Buy', price: 400_000, quantity: 100 * orders, tif: IOC });
    assert.equal(taken.status, 200, taken.text);
    for (const { socket } of stalled) nudge(socket);
    await node.rest();
    made += orders;
  }

  /** @returns a time before the first of them lagged. */
  async function tellUntilLagged(count: number): Promise<number> {
    let sinceMs = Number.POSITIVE_INFINITY;
    for (let lagged = 0; lagged < count; ) {
      assert.ok(made < ORDERS_MAX, `${made} orders and nobody lags`);
      const fromMs = performance.now();
      await tell(RESTING_MAX);
      lagged = await lagCloses('oms');
      if (lagged > 0) sinceMs = Math.min(sinceMs, fromMs);
    }
    return sinceMs;
  }

  /** A reader that takes nothing from its connection until it is resumed. */
  async function stall(reader: SocketReader, service: 'oms' | 'mds'): Promise<SocketReader> {
    reader.keepsUp = false;
    await choke(reader.socket, {
      tell: () => tell(1),
      backlogBytes: () => metric(`ringbook_socket_backlog_bytes{service="${service}"}`),
    });
    stalled.push(reader);
    return reader;
  }

  const metric = (name: string): Promise<number> => metricOf(node.process, name);

  const lagCloses = (service: 'oms' | 'mds'): Promise<number> =>
    metric(`ringbook_lag_closes_total{service="${service}"}`);

  async function records(): Promise<Row[]> {
    const rows: Row[] = [];
    for (let page = 0; ; page += 1) {
      const reply = (await alice.read(`/orders/user/${alice.id}?limit=1000&page=${page}`)) as Row;
      rows.push(...(reply['orders'] as Row[]));
      if (reply['has_next_page'] !== true) return rows;
    }
  }

  test('orders: the steady receive all in order, the stalled end with 1013 and a prefix, a reader that reconnects gets the rest (WS-13, WS-14, WS-16, AMB-94)', async (t) => {
    const steady = [await alice.stream('/orders'), await alice.stream('/orders', ['svc.ws.v1'])];
    const readers = [
      await alice.stream('/orders'),
      await alice.stream('/orders'),
      await alice.stream('/orders', ['svc.ws.v1']),
    ];
    const sluggish = await alice.stream('/orders');
    const wake = slow(sluggish);
    for (const reader of readers) await stall(reader, 'oms');
    const sinceMs = await tellUntilLagged(3);
    for (const { socket } of stalled.splice(0)) socket.resume();
    const ends = await Promise.all(readers.map(({ closed }) => closed));
    const wereInTime = performance.now() - sinceMs < CUT_OFF_MS;
    for (const end of ends) {
      const isCutOff = end.code === CUT_OFF.code && !wereInTime;
      assert.deepEqual(end, isCutOff ? CUT_OFF : { code: 1013, reason: 'resync_required' });
    }
    const back = await alice.stream('/orders');
    const backTrades = await alice.stream(`/trades/user/events/${alice.id}`);
    const fold = new OrderFold(() => [2, 4]);
    fold.startOrders(await records());
    await tell(BATCH);
    wake();
    await node.rest();
    const [frames = [], framesV1 = []] = await Promise.all(steady.map(drained));
    assert.deepEqual(framesV1.map(bare), frames, 'both versions tell the same');
    everyOrderOnce(frames);
    const [stalledV1] = readers.splice(2);
    assert.ok(stalledV1 !== undefined);
    for (const reader of readers) {
      const received = await drained(reader);
      assert.ok(received.length > 0 && received.length < frames.length);
      assert.deepEqual(received, frames.slice(0, received.length), 'a prefix without a gap');
    }
    const received = await drained(stalledV1);
    const lastWord =
      /^\{"type":"error","channel":"orders","request_id":null,"timestamp_ns":\d+,"data":null,"error":\{"code":"RESYNC_REQUIRED",/;
    const events1 = ends[2]?.code === CUT_OFF.code ? received : received.slice(0, -1);
    if (events1 !== received) assert.match(received.at(-1) ?? '', lastWord);
    assert.deepEqual(events1.map(bare), frames.slice(0, events1.length));
    const slowly = await drained(sluggish);
    assert.deepEqual(slowly, frames.slice(0, slowly.length), 'the slow one is whole, or a prefix');
    if (sluggish.socket.readyState === sluggish.socket.OPEN) assert.equal(slowly.length, frames.length);
    for (const frame of await drained(back)) fold.event(JSON.parse(frame) as Row);
    for (const frame of await drained(backTrades)) fold.trade(JSON.parse(frame) as Row);
    fold.startTrades(await trades());
    const rows = await records();
    assert.equal(rows.length, made);
    assert.deepEqual(fold.view(), viewOfRecords(rows, fold.view()), 're-fetch then consume is what the reads say');
    assert.deepEqual(
      [...endsOf(frames)].sort(),
      [...fold.view()].map(([key, line]) => [key.split('/')[1], line.split(' ')[0]]).sort(),
    );
    t.diagnostic(`${frames.length} events of ${made} orders`);
    for (const reader of [...steady, sluggish, back, backTrades]) reader.socket.terminate();
  });

  async function trades(): Promise<Row[]> {
    const rows: Row[] = [];
    for (let page = 0; ; page += 1) {
      const reply = (await alice.read(`/trades/user/${alice.id}?limit=1000&page=${page}`)) as Row;
      rows.push(...(reply['trades'] as Row[]));
      if (reply['has_next_page'] !== true) return rows;
    }
  }

  /** Each order is Created once and Removed once, in that order. */
  function everyOrderOnce(frames: readonly string[]): void {
    const states = new Map<string, string>();
    for (const frame of frames) {
      const [, tag = '', id = ''] = /^\{"(\w+)":\{.*?"order_id":"([^"]+)"/.exec(frame) ?? assert.fail(frame);
      assert.equal(states.get(id), tag === 'Created' ? undefined : 'Created', `${tag} of ${id}`);
      states.set(id, tag);
    }
    assert.equal(states.size, made);
    assert.ok([...states.values()].every((tag) => tag === 'Removed'));
  }

  /** How each order ended, from the steady observer. */
  function endsOf(frames: readonly string[]): Map<string, string> {
    const ended = frames.filter((frame) => frame.startsWith('{"Removed"'));
    return new Map(
      ended.map((frame) => [/"order_id":"([^"]+)"/.exec(frame)?.[1] ?? '', /"reason":"(\w+)"/.exec(frame)?.[1] ?? '']),
    );
  }

  test('market data: the steady skip nothing, the stalled just end, snapshot then diffs is the book (WS-15, WS-16, MD-03, MD-04, AMB-94)', async (t) => {
    await stall(stalledEvents, 'mds');
    while ((await lagCloses('mds')) < 1) {
      assert.ok(made < ORDERS_MAX, `${made} orders and nobody lags`);
      await tell(RESTING_MAX);
    }
    for (const { socket } of stalled.splice(0)) socket.resume();
    const { code, reason } = await stalledEvents.closed;
    assert.ok(code === 1000 || code === 1006, `closed ${code}: it just ended, or was cut off after a second`);
    assert.equal(reason, '');
    const later = await alice.marketStream('/marketdepth/diff/2');
    const snapshot = await book();
    await tell(BATCH);
    assert.equal((await alice.create({ price: 320_000, quantity: 500 })).status, 200);
    await node.rest();
    const frames = (await drained(events)).slice(1);
    const confirmed = frames
      .flatMap((frame) => /^\{"Confirmed":\{"asset_id":"2","trade_id":(\d+)/.exec(frame)?.[1] ?? [])
      .map(Number);
    assert.deepEqual(
      confirmed,
      Array.from({ length: made }, (_, index) => index + 1),
      'every trade once, in order',
    );
    const received = (await drained(stalledEvents)).slice(1); // nothing, if it was cut off
    assert.ok(received.length < frames.length);
    assert.deepEqual(received, frames.slice(0, received.length), 'a prefix without a gap');
    const diffs = (await drained(depth)).slice(1).map((frame) => JSON.parse(frame) as Depth);
    assert.deepEqual(
      diffs.map(({ sequence_number }) => sequence_number),
      diffs.map((_, index) => first + index + 1),
      'no step is left out',
    );
    const since = (await drained(later)).slice(1).map((frame) => JSON.parse(frame) as Depth);
    const news = since.filter(({ sequence_number }) => sequence_number > snapshot.sequence_number);
    assert.deepEqual(levelsOf([snapshot, ...news]), levelsOf([await book()]), 'snapshot then diffs');
    assert.deepEqual(levelsOf(diffs), levelsOf([await book()]), 'as the steady one has it');
    const open100 = JSON.parse((await alice.market('/trades/2?limit=100')).text) as { trade_id: number }[];
    assert.deepEqual(
      open100.map(({ trade_id }) => trade_id),
      confirmed.slice(-100).reverse(),
      'trades read again (wire.md 9.8)',
    );
    t.diagnostic(`${frames.length} public events, ${diffs.length} diffs`);
    for (const reader of [events, depth, later]) reader.socket.terminate();
  });

  async function book(): Promise<Depth> {
    return JSON.parse((await alice.market('/marketdepth/2')).text) as Depth;
  }

  function levelsOf(diffs: readonly Depth[]): unknown {
    const sides = { asks: new Map<number, number>(), bids: new Map<number, number>() };
    for (const diff of diffs) {
      for (const side of ['asks', 'bids'] as const) {
        for (const [level, quantity] of diff[side]) {
          if (quantity === 0) sides[side].delete(level);
          else sides[side].set(level, quantity);
        }
      }
    }
    return [[...sides.asks].sort(), [...sides.bids].sort()];
  }

  test('no queue remains once the slow are gone, and no other socket was closed (AMB-94)', async () => {
    await node.rest();
    for (const service of ['oms', 'mds'] as const) {
      assert.equal(await metric(`ringbook_socket_backlog_bytes{service="${service}"}`), 0, service);
    }
    assert.equal(await lagCloses('mds'), 1);
    assert.ok((await lagCloses('oms')) <= 4, 'the three that stalled, and perhaps the slow one');
    await node.ledgerAddsUp();
  });
});
