// tier: quick, 4 s
/**
 * The path of an order through a whole node: real threads, real sockets, real LMDB, the dev profile as a new user has
 * it.
 */

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import WebSocket from 'ws';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import type { UserTrade } from '../../src/client/replies.ts';

import { ETH } from '../support/names.ts';
import {
  barrier,
  cpuMsOf,
  metricOf,
  metricsOf,
  type NodeProcess,
  operator,
  startNode,
  stopNode,
} from '../support/node-process.ts';
import { eventually, SLOWEST } from '../support/patience.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

/** Of processor time: what else runs on the machine is not its fault. */
const READY_MS = 5_000;
const KLINE_LATE_MS = 4_000;

suite('a dev node', () => {
  let node: NodeProcess;
  let a: RingbookClient;
  let b: RingbookClient;

  before(async () => {
    node = await startNode({ profile: 'dev' });
    a = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
    b = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('b') });
    await a.login();
    await b.login();
  });

  after(async () => {
    a?.close();
    b?.close();
    if (node !== undefined) {
      await stopNode(node, 'SIGKILL');
      removeDirectory(node.dataDirectory);
    }
  });

  test('needs under five seconds to be ready, as far as a slow machine may take, and prints one line on standard output', async () => {
    const usedMs = cpuMsOf(node.pid);
    assert.ok(usedMs < SLOWEST * READY_MS, `${usedMs} ms`);
    const lines = node.stdout().trim().split('\n');
    assert.equal(lines.length, 1);
    const ready = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
    assert.deepEqual(Object.keys(ready), ['event', 'profile', 'oms', 'mds', 'ops', 'pid']);
    await eventually(() => /ringbook order/.test(node.stderr()), node.stderr);
  });

  test('has the seeded markets, users and balances (operator-api.md 9)', async () => {
    const markets = await a.markets();
    assert.deepEqual(
      markets.map((market) => market.assetId),
      ['1', '2', '3'],
    );
    const view = await operator(node, 'GET', `/operator/users/${a.userId}`);
    assert.equal(view.status, 200, view.text);
    const accounts = view.body['sub_accounts'] as Record<string, { balances: Record<string, { owned: string }> }>;
    const owned = (index: string) =>
      Object.fromEntries(
        Object.entries(accounts[index]?.balances ?? {}).map(([asset, { owned: amount }]) => [asset, amount]),
      );
    assert.deepEqual(owned('0'), { '0': '500000', '1': '5', '2': '100', '3': '50000' });
    assert.deepEqual(owned('1'), { '0': '500000', '1': '5', '2': '100' });
  });

  for (const version of ['v0', 'v1'] as const) {
    test(`two users trade over /control ${version} and see Pending, then Confirmed (FIL-02 to FIL-04, CTL-02, CTL-03)`, async () => {
      const streams = { a: await a.userTrades(), b: await b.userTrades() };
      const controls = { a: await a.control({ version }), b: await b.control({ version }) };
      const sell = await a.order({ assetId: ETH, side: 'Sell', price: '3000', quantity: '0.5' });
      const buy = await b.order({ assetId: ETH, side: 'Buy', price: '3000', quantity: '0.5' });
      const rested = await controls.a.send(a.signCreate(sell));
      assert.equal(rested.status, 'Received');
      const took = await controls.b.send(b.signCreate(buy));
      assert.equal(took.status, 'Received');
      for (const [name, stream] of Object.entries(streams)) {
        const seen: UserTrade[] = [];
        for await (const trade of stream) {
          seen.push(trade);
          if (seen.length === 2) break;
        }
        assert.deepEqual(
          seen.map((trade) => trade.status),
          ['Pending', 'Confirmed'],
          name,
        );
        const [pending, confirmed] = seen;
        assert.equal(pending?.tradeId, confirmed?.tradeId);
        assert.equal(confirmed?.price, '3000');
        assert.equal(confirmed?.quantity, '0.5');
        assert.equal(confirmed?.isMaker, name === 'a');
        // 1500 USD of notional: maker 100, taker 450 in 1e-6 (AMB-41).
        assert.equal(confirmed?.tradingFee, name === 'a' ? '0.15' : '0.675');
        stream.close();
      }
      controls.a.close();
      controls.b.close();
    });
  }

  test('confirmed trades stand in history, balances moved to the unit, and the ledger adds up (QRY-03, AMB-116)', async () => {
    await barrier(node);
    const trades = await a.trades();
    assert.equal(trades.items.length, 2);
    assert.ok(trades.items.every((trade) => trade.status === 'Confirmed'));
    const view = await operator(node, 'GET', `/operator/users/${b.userId}`);
    const accounts = view.body['sub_accounts'] as Record<
      string,
      { balances: Record<string, { owned: string; held: string }> }
    >;
    assert.deepEqual(accounts['1']?.balances['2'], { owned: '101', held: '0', locked: '0' });
    assert.equal(accounts['1']?.balances['0']?.owned, '496998.65');
    const ledger = await operator(node, 'GET', '/operator/ledger');
    for (const [asset, row] of Object.entries(
      ledger.body['assets'] as Record<string, { difference: string; fees: string }>,
    )) {
      assert.equal(row.difference, '0', `asset ${asset}`);
      if (asset === '0') assert.equal(row.fees, '1.65');
    }
  });

  test('market data shows the trade, the kline once its second is over, the ticker and the book (PTR-01, KLN-06, TKR-01, MD-01)', async () => {
    const [trade] = await a.publicTrades(ETH);
    assert.equal(trade?.price, '3000');
    const ticker = await a.ticker(ETH);
    assert.equal(ticker.lastPrice, '3000');
    const order = await a.order({ assetId: ETH, side: 'Sell', price: '3100.25', quantity: '1.5' });
    const reply = await a.create(order);
    assert.equal(reply.status, 'Received');
    await barrier(node);
    const depth = await a.depth(ETH);
    assert.deepEqual(depth.asks, [{ price: '3100.25', quantity: '1.5' }]);
    await a.cancel(ETH, order.orderId);
    await barrier(node);
    assert.deepEqual((await a.depth(ETH)).asks, []);
    await eventually(async () => (await a.klines(ETH)).items.length >= 1);
  });

  test('a trade on a quiet market has its kline soon after its second is over, in REST and as a frame (KLN-05, AMB-99)', async () => {
    const frames: string[] = [];
    const socket = new WebSocket(`${node.mds.replace('http', 'ws')}/klines/diff/${ETH}`);
    socket.on('message', (data) => frames.push(String(data)));
    await new Promise((resolve) => socket.once('open', resolve));
    const first = (await a.klines(ETH)).items.length;
    const [price, quantity] = ['3150', '0.5'];
    await a.create(await a.order({ assetId: ETH, side: 'Sell', price, quantity }));
    await b.create(await b.order({ assetId: ETH, side: 'Buy', price, quantity }));
    await eventually(async () => (await a.klines(ETH)).items.length > first);
    // An earlier trade may have opened the same second.
    const ofTrade = (): string | undefined => frames.find((frame) => frame.includes('"close":"3150"'));
    await eventually(() => ofTrade() !== undefined);
    const [, closeNs] = /"close_timestamp_ns":([0-9]+)/.exec(ofTrade() ?? '') ?? [];
    const lateMs = Date.now() - Number(BigInt(closeNs ?? 0) / 1_000_000n);
    // Some milliseconds on a quiet machine; 5 s where a quiet market passed no time.
    assert.ok(lateMs < KLINE_LATE_MS, `${lateMs} ms after its second was over`);
    socket.close();
  });

  test('a replace keeps the id, a cancel ends it, and both are refused for a finished order (RPL-04, CAN-04, AMB-23)', async () => {
    const order = await a.order({ assetId: ETH, side: 'Sell', price: '3200', quantity: '1' });
    await a.create(order);
    const replaced = await a.replace({ assetId: ETH, orderId: order.orderId, price: '3201' });
    assert.equal(replaced.status, 'Received');
    assert.equal((await a.orderRecord(ETH, order.orderId)).limitPrice, '3201');
    assert.equal((await a.cancel(ETH, order.orderId)).status, 'Received');
    await assert.rejects(a.cancel(ETH, order.orderId), { code: 'ALREADY_CANCELLED' });
    await assert.rejects(a.cancel(ETH, 'never-seen'), { code: 'ORDER_NOT_FOUND' });
    assert.equal((await a.orderRecord(ETH, order.orderId)).status, 'Canceled');
  });

  test('an order beyond the balance is refused and changes nothing (SUB-02, AMB-52)', async () => {
    const order = await a.order({ assetId: ETH, side: 'Sell', price: '3000', quantity: '1000' });
    await assert.rejects(a.create(order), { code: 'INSUFFICIENT_INVENTORY' });
  });

  test('a post-only order that would take is cancelled and leaves a record (TIF-07, AMB-16)', async () => {
    const rest = await a.order({ assetId: ETH, side: 'Sell', price: '3000', quantity: '0.1' });
    await a.create(rest);
    const maker = await b.order({
      assetId: ETH,
      side: 'Buy',
      price: '3000',
      quantity: '0.1',
      timeInForce: { kind: 'GTC', postOnly: true },
    });
    await assert.rejects(b.create(maker), { code: 'WOULD_CROSS' });
    assert.equal((await b.orderRecord(ETH, maker.orderId)).status, 'Canceled');
    await a.cancel(ETH, rest.orderId);
  });

  test('the ops listener shows life, readiness, version and metrics, and no user in them (AMB-115)', async () => {
    for (const path of ['/livez', '/readyz', '/version']) {
      assert.equal((await fetch(`${node.ops}${path}`)).status, 200, path);
    }
    const metrics = await metricsOf(node);
    for (const family of [
      'ringbook_orders_total',
      'ringbook_fills_total',
      'ringbook_commit_seconds',
      'ringbook_mailbox_depth',
      'ringbook_journal_sequence',
    ]) {
      assert.match(metrics, new RegExp(`^${family}`, 'm'));
    }
    assert.doesNotMatch(metrics, /[0-9a-f]{64}/);
    const actors = await operator(node, 'GET', '/operator/actors');
    const names = (actors.body['actors'] as { name: string }[]).map((actor) => actor.name);
    for (const name of ['front-door', 'market-0', 'clearing', 'market-data']) assert.ok(names.includes(name), name);
  });

  test('SIGTERM drains and ends with 0; the next start finds the same state (AMB-110)', async () => {
    const before = await operator(node, 'GET', '/operator/state');
    assert.equal(await stopNode(node), 0, node.stderr());
    node = await startNode({ profile: 'dev', dataDirectory: node.dataDirectory });
    const later = await operator(node, 'GET', '/operator/state');
    assert.equal(later.body['state_hash'], before.body['state_hash']);
    // The last record is on the page before there is a new one.
    const { sequence } = later.body['journal'] as { sequence: number };
    assert.equal(await metricOf(node, 'ringbook_journal_sequence'), sequence);
    assert.equal(await metricOf(node, 'ringbook_ready'), 1);
  });

  test('a node that drains is not ready', async () => {
    // Clearing commits a second later, so the node is seen while it drains.
    await operator(node, 'POST', '/operator/clearing', { delay_ms: 1_000 });
    const changed = operator(node, 'PUT', `/operator/users/${'ab'.repeat(32)}`, { is_mm: true }).catch(() => null);
    const ended = stopNode(node);
    const unready = async (): Promise<unknown> => {
      const response = await fetch(`${node.ops}/readyz`);
      return response.status === 503 ? response.json() : null;
    };
    let seen: unknown = null;
    while (seen === null) seen = await unready();
    assert.deepEqual(seen, { ready: false, waiting_for: ['market_data', 'chains'] });
    assert.equal(await ended, 0, node.stderr());
    await changed;
  });
});
