// tier: quick, 4 s
/**
 * Budgets on a whole node: REST, `/control` and market data pay from the same buckets, on the node's clock, and what an
 * operator set is gone after a restart.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { RingbookClient } from '../../src/client/client.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { devKey } from '../../src/client/keys.ts';
import { metricOf } from '../support/node-process.ts';
import { errorOf, type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

const MS = 1_000_000n;
const RATES = '/operator/rate-limits';
const size = (units: number): object => ({ units_per_second: units, capacity: units });

suite('budgets of requests', () => {
  let node: TestNode;
  let a: PlainClient;
  let b: PlainClient;

  before(async () => {
    node = await TestNode.start();
    a = await node.user();
    b = await node.user();
  });
  beforeEach(() => node.operate('PUT', RATES, {}));
  after(() => node?.stop());

  async function units(client: PlainClient): Promise<readonly [string, string]> {
    const view = await node.operate('GET', `${RATES}/${client.id}`);
    return [String(view['user_units']), String(view['global_units'])];
  }

  const refusals = (bucket: string): Promise<number> =>
    metricOf(node.process, `ringbook_rate_limited_total{bucket="${bucket}"}`);

  const cancelAll = (client: PlainClient): ReturnType<PlainClient['send']> =>
    client.send('DELETE', '/orders/cancel-all');

  test('EX-13 over REST: cancel-alls, cancels and actions, and one unit after 5 ms of the node clock (LIM-01, LIM-08 to LIM-10)', async () => {
    for (let each = 0; each < 4; each += 1) assert.equal((await cancelAll(a)).status, 202);
    const before = await refusals('user');
    const refused = await a.cancel('nothing');
    assert.equal(toldBy(refused), '429 RATE_LIMITED');
    const { retryable, details } = errorOf(refused);
    const bucket = { bucket: 'user', units_asked: '1', units_available: '0', order_id: 'nothing' };
    assert.deepEqual([retryable, details], [true, bucket]);
    assert.deepEqual(
      Object.keys(refused.headers).filter((name) => /retry|ratelimit|reset/i.test(name)),
      [],
    );
    assert.equal(await refusals('user'), before + 1);
    await node.advance(5n * MS);
    assert.equal(toldBy(await a.create()), '429 RATE_LIMITED');
    assert.equal(toldBy(await a.cancel('nothing')), '404 ORDER_NOT_FOUND');
    assert.equal(toldBy(await a.cancel('nothing')), '429 RATE_LIMITED');
  });

  test('EX-13: who is refused by his own bucket takes nothing from the others; both or neither (LIM-02, LIM-06, LIM-07)', async () => {
    await node.operate('PUT', RATES, { default: size(240), global: size(400) });
    const read = (client: PlainClient): ReturnType<PlainClient['get']> => client.get(`/inventory/user/${client.id}`);
    for (let each = 0; each < 120; each += 1) assert.equal((await read(a)).status, 200);
    assert.deepEqual(await units(a), ['0', '160']);
    for (let each = 0; each < 40; each += 1) assert.equal((await read(a)).status, 429);
    assert.deepEqual(await units(a), ['0', '160']);
    for (let each = 0; each < 80; each += 1) assert.equal((await read(b)).status, 200);
    assert.equal(errorOf(await read(b)).details?.['bucket'], 'global');
    assert.deepEqual(await units(b), ['80', '0']);
  });

  test('history pages cost 25, one order 2, and what is refused before the limiter nothing (LIM-13, AMB-91)', async () => {
    const path = `/orders/user/${a.id}`;
    for (let each = 0; each < 8; each += 1) {
      assert.equal((await a.get(path)).status, 200);
      assert.equal((await a.get(`${path}?limit=0`)).status, 400);
      assert.equal((await a.get(path, { ...a.headers, authorization: 'Bearer x' })).status, 401);
      assert.equal((await b.get(path)).status, 401);
    }
    assert.equal(toldBy(await a.get(path)), '429 RATE_LIMITED');
    assert.deepEqual(await units(b), ['200', '19800']);
    assert.equal(toldBy(await b.get(`/orders/user/${b.id}/2/nothing`)), '404 ORDER_NOT_FOUND');
    assert.deepEqual(await units(b), ['198', '19798']);
  });

  test('/control pays like REST, from the same bucket, and answers in its own shape (LIM-15)', async () => {
    const control = await a.stream('/control');
    for (let each = 0; each < 3; each += 1) await cancelAll(a);
    for (let each = 0; each < 30; each += 1) control.socket.send(`{"CreateOrderRequest":${a.createBody()}}`);
    const answers: string[] = [];
    for (let each = 0; each < 30; each += 1) answers.push(await control.frame());
    const have = (word: string): number => answers.filter((text) => text.includes(word)).length;
    assert.deepEqual([have('"status":"Received"'), have('"reason":"RateLimited"')], [25, 5]);
    assert.equal((await units(a))[0], '0');
    control.socket.send('{"CancelOrderRequest":5}');
    assert.match(await control.frame(), /INVALID_REQUEST/, 'what is malformed is not charged');
    control.socket.close();
  });

  test('market data pays 2 a read from the budget of all, on its own thread; no user pays (LIM-02, LIM-05, LIM-14)', async () => {
    await node.operate('PUT', RATES, { global: { units_per_second: 1000, capacity: 10 } });
    assert.equal((await a.market('/tickers')).status, 200);
    assert.equal((await a.get('/markets')).status, 200);
    assert.deepEqual(await units(a), ['200', '6']);
    for (const path of ['/marketdepth/2', '/trades/2', '/klines/2']) assert.equal((await a.market(path)).status, 200);
    const before = await refusals('global');
    for (const answer of [await a.market('/ticker/2'), await a.get('/markets')]) {
      assert.equal(toldBy(answer), '429 RATE_LIMITED');
      assert.equal(errorOf(answer).details?.['bucket'], 'global');
    }
    assert.equal(await refusals('global'), before + 2);
    await node.advance(2n * MS);
    assert.equal((await a.market('/ticker/2')).status, 200);
    assert.deepEqual(await units(a), ['200', '0']);
  });

  test('the tier follows is_mm at once, and a new login brings no budget (LIM-03, LIM-04, AMB-120)', async () => {
    for (let each = 0; each < 4; each += 1) await cancelAll(b);
    await b.login();
    assert.equal(toldBy(await cancelAll(b)), '429 RATE_LIMITED');
    await node.operate('PUT', `/operator/users/${b.id}`, { is_mm: true });
    assert.equal((await cancelAll(b)).status, 202);
    assert.equal((await units(b))[0], '1750');
    await node.operate('PUT', `/operator/users/${b.id}`, { is_mm: false });
    assert.equal(toldBy(await cancelAll(b)), '429 RATE_LIMITED');
  });

  test('a client reads its limits, the clock and the status, and a refusal names the budget that was empty', async () => {
    const client = new RingbookClient({
      oms: node.process.oms,
      mds: node.process.mds,
      key: devKey('a'),
      nowNs: () => node.stamp(),
    });
    await client.login();
    assert.ok((await client.systemTime()) >= node.nowNs);
    const status = await client.systemStatus();
    assert.deepEqual([status.takesOrders, status.markets['2']], [true, 'Active']);
    const stream = await client.orderEvents();
    const limits = await client.limits();
    assert.deepEqual(
      [limits.tier, limits.units, limits.capacity, limits.costs['bulk_item'], limits.openStreams, limits.streamCap],
      ['default', '198', 200, '1.5', 1, 10],
    );
    for (let each = 0; each < 7; each += 1) await client.orders();
    await assert.rejects(client.orders(), (error: unknown) => {
      assert.ok(error instanceof RingbookError);
      assert.deepEqual(error.budget, { bucket: 'user', unitsAsked: '25', unitsAvailable: '23' });
      return error.retryable;
    });
    stream.close();
    client.close();
  });

  test('stream caps change at run time, for new streams only (LIM-19 to LIM-21, AMB-96)', async () => {
    const open = [];
    for (let each = 0; each < 10; each += 1) open.push(await a.stream('/orders'));
    const refused = await a.upgrade('/orders');
    assert.equal(toldBy(refused), '429 RATE_LIMITED');
    assert.deepEqual(errorOf(refused).details, { limit: 10 });
    await node.operate('PUT', '/operator/stream-caps', { default: 11, market_maker: 20 });
    open.push(await a.stream('/control'));
    await node.operate('PUT', '/operator/stream-caps', { default: 1 });
    assert.equal(toldBy(await a.upgrade('/orders')), '429 RATE_LIMITED');
    open[0]?.socket.send('{"type":"ping"}');
    assert.match((await open[0]?.frame()) ?? '', /pong/, 'what is open stays open');
    for (const stream of open) stream.socket.close();
  });

  test('a stop is sent to version 1 sockets; after it the budgets are those of the profile again: lifted (LIM-16, LIM-18)', async () => {
    await node.operate('PUT', RATES, { default: size(7) });
    await node.operate('PUT', '/operator/stream-caps', { default: 1 });
    await node.operate('PUT', '/operator/stream-caps', { default: 10 });
    const v1 = await a.stream('/orders', ['svc.ws.v1']);
    const v0 = await a.stream('/orders');
    await node.operate('PUT', '/operator/stream-caps', { default: 1 });
    await node.restart('SIGTERM');
    assert.match(await v1.frame(), /^\{"type":"server_shutdown","channel":"orders",/);
    assert.deepEqual([await v1.closed, (await v0.closed).code], [{ code: 1001, reason: 'going_away' }, 1001]);
    assert.equal(v0.unread, 0);
    const view = await node.operate('GET', RATES);
    assert.deepEqual(view['default'], size(1_000_000_000));
    assert.deepEqual(await node.operate('GET', '/operator/stream-caps'), { default: 10, market_maker: 20 });
  });
});
