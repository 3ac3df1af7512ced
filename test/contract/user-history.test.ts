// tier: quick, 4 s
/** A user's orders and trades as market data shows them: form, filters, one origin, costs (wire-additions.md 8.2 to 8.5). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { parseJson } from '../../src/codec/json-tree.ts';
import { checkShape } from '../../src/codec/shapes/read-shape.ts';
import type { Shape } from '../../src/codec/shapes/shape-kit.ts';
import { ask, type HttpAnswer } from '../support/edge-client.ts';
import { errorOf, type PlainClient, toldBy } from '../support/plain-client.ts';
import { SERVICE_TABLES } from '../support/service-tables.ts';
import { TestNode } from '../support/test-node.ts';
import { IOC } from '../support/wire-texts.ts';

type Row = Readonly<Record<string, unknown>>;
interface Page {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly text: string;
}

suite('a user’s history on market data', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;
  /** Creation times of the orders that rest, by id. */
  const createdNs = new Map<string, bigint>();

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
    bob = await node.user();
    for (let index = 0; index < 4; index += 1) await node.trade(alice, bob, 1_000 + index);
    for (let index = 0; index < 3; index += 1) await node.trade(bob, alice, 2_000 + index);
    for (let index = 0; index < 5; index += 1) {
      const id = `rest-${index}`;
      createdNs.set(id, node.nowNs + BigInt(index));
      const order = { id, price: 320_000 + index, createdNs: createdNs.get(id) ?? 0n };
      assert.equal((await alice.create(order)).status, 200);
    }
    assert.equal((await alice.cancel('rest-0')).status, 200);
    assert.equal((await alice.create({ id: 'ioc', price: 900_000, timeInForce: IOC } as never)).status, 200);
    await node.rest();
  });
  after(() => node?.stop());

  const at = (path: string, user: PlainClient = alice): Promise<HttpAnswer> =>
    ask(node.ports.mds, path, { headers: user.headers });
  async function page(kind: 'orders' | 'trades', query = '', market = ''): Promise<Page> {
    const path = `/${kind}/user/${alice.id}${market}?limit=1000${query}`;
    // Pages are read at a low priority: on a busy machine one may take longer than its deadline.
    let answer = await at(path);
    for (let tries = 1; answer.status === 504 && tries < 10; tries += 1) answer = await at(path);
    assert.equal(answer.status, 200, answer.text);
    const body = JSON.parse(answer.text) as Record<string, unknown>;
    const rows = body[kind] as Row[];
    const keys = ['page', 'limit', `total_${kind}`, 'total_pages', 'cursor_size', 'has_next_page', 'next_page'];
    assert.deepEqual(Object.keys(body), [kind, ...keys]);
    return { rows, total: body[`total_${kind}`] as number, text: answer.text };
  }
  const idsOf = ({ rows }: Page): unknown[] => rows.map((row) => row['order_id']);

  test('orders have the record of the order service, its account and its revision, and no null flag', async () => {
    const { rows, total } = await page('orders');
    const listed = (await alice.read(`/orders/user/${alice.id}?limit=1000`)) as { orders: Row[]; total_orders: number };
    assert.equal(total, listed.total_orders);
    assert.deepEqual(
      idsOf({ rows } as Page),
      listed.orders.map((row) => row['order_id']),
      'the same rows in the same order',
    );
    for (const [index, row] of rows.entries()) {
      const { account_index, is_spot, authorization_revision, last_update_timestamp_ns: last, ...record } = row;
      const { last_update_timestamp_ns: plain, ...same } = listed.orders[index] ?? {};
      assert.deepEqual(record, same);
      assert.deepEqual([account_index, is_spot, authorization_revision], [0, true, null]);
      assert.ok(typeof last === 'number' && (plain === null || plain === last));
      assert.deepEqual(Object.keys(row).slice(-3), ['account_index', 'is_spot', 'authorization_revision']);
    }
  });

  test('a replaced order has the time of the replace as its revision', async () => {
    const answer = await alice.replace({ id: 'rest-4', price: 330_000, timestampNs: node.nowNs + 50n } as never);
    assert.equal(answer.status, 200, answer.text);
    await node.rest();
    const { text } = await page('orders', '&status=open');
    const row = /\{"order_id":"rest-4"[^}]*\}/.exec(text)?.[0] ?? assert.fail(text);
    const time = /"timestamp_ns":(\d+)/.exec(row)?.[1];
    assert.equal(/"authorization_revision":(\d+)/.exec(row)?.[1], time);
  });

  test('filters are judged before the page and its total; every word of a status, in any case', async () => {
    const all = await page('orders');
    const statuses = new Map<string, readonly string[]>([
      ['open', ['Open']],
      ['OPEN', ['Open']],
      ['pending', ['Untriggered']],
      ['partial', ['PartiallyFilled']],
      ['cancelled', ['Canceled']],
      ['completed', ['Filled']],
      ['Filled', ['Filled']],
      ['closed', ['Filled', 'Canceled', 'Expired', 'Rejected']],
    ]);
    for (const [status, taken] of statuses) {
      const found = await page('orders', `&status=${status}`);
      const expected = all.rows.filter((row) => taken.includes(String(row['status'])));
      assert.deepEqual([idsOf(found), found.total], [expected.map((row) => row['order_id']), expected.length], status);
    }
    for (const side of ['Buy', 'Sell']) {
      const found = await page('orders', `&side=${side.toLowerCase()}`);
      const expected = all.rows.filter((row) => row['side'] === side);
      assert.ok(expected.length > 0);
      assert.deepEqual([idsOf(found), found.total], [expected.map((row) => row['order_id']), expected.length], side);
    }
    const sells = await page('orders', '&side=sell');
    const second = await at(`/orders/user/${alice.id}?side=sell&limit=2&page=1`);
    const { orders, ...counters } = JSON.parse(second.text) as { orders: Row[] } & Record<string, unknown>;
    assert.deepEqual(
      orders.map((row) => row['order_id']),
      idsOf(sells).slice(2, 4),
    );
    assert.equal(counters['total_orders'], sells.total);
  });

  test('times are inclusive and of the creation of an order, the match of a trade', async () => {
    const [from, to] = [createdNs.get('rest-1') ?? 0n, createdNs.get('rest-3') ?? 0n];
    const between = await page('orders', `&start_time=${from}&end_time=${to}`);
    const resting = idsOf(between).filter((id) => String(id).startsWith('rest-'));
    assert.deepEqual(resting, ['rest-3', 'rest-2', 'rest-1']);
    assert.equal(between.total, between.rows.length);
    const replaced = await page('orders', `&start_time=${createdNs.get('rest-4')}&end_time=${createdNs.get('rest-4')}`);
    assert.ok(idsOf(replaced).includes('rest-4'), 'its creation, not its replace');
    const trades = await page('trades');
    const times = [...trades.text.matchAll(/"timestamp_ns":(\d+)/g)].map(([, time = '0']) => BigInt(time));
    const newest = times[0] ?? 0n;
    const oldest = times.at(-1) ?? 0n;
    assert.equal((await page('trades', `&start_time=${oldest}&end_time=${newest}`)).total, trades.total);
    assert.equal(
      (await page('trades', `&end_time=${newest - 1n}`)).total,
      times.filter((time) => time < newest).length,
    );
    assert.equal((await page('trades', `&start_time=${newest}`)).total, times.filter((time) => time >= newest).length);
    assert.equal((await page('trades', `&start_time=${newest + 1n}`)).total, 0);
  });

  test('trades have every member; side is the user’s; history holds confirmed trades alone', async () => {
    const all = await page('trades');
    assert.equal(all.total, 7);
    for (const row of all.rows) {
      assert.deepEqual([row['rollback_reason'], row['status'], row['sub_account']], [null, 'Confirmed', 0]);
      assert.match(String(row['trading_fee']), /^-?[0-9.]+$/);
    }
    const buys = await page('trades', '&side=BUY');
    assert.ok(buys.total > 0 && buys.total < all.total);
    assert.ok(buys.rows.every((row) => row['is_buyer'] === true));
    assert.equal(buys.total + (await page('trades', '&side=sell')).total, all.total);
    assert.equal((await page('trades', '&status=confirmed')).total, all.total);
    for (const status of ['pending', 'Rollbacked']) assert.equal((await page('trades', `&status=${status}`)).total, 0);
    assert.equal((await page('trades', '&sub_account=7')).total, 0);
    assert.equal((await page('trades', '&sub_account=0', '/2')).total, all.total);
    assert.equal((await page('trades', '&sub_account=0&side=buy', '/2')).text, buys.text);
    assert.equal((await page('trades', '&sub_account=0&start_time=1', '/2')).text, all.text);
    assert.equal((await page('orders', '', '/2')).total, (await page('orders')).total);
  });

  test('after a restart the same pages come from the tables', async () => {
    const queries = ['&side=sell', '&status=completed', `&end_time=${createdNs.get('rest-2')}`];
    const before = await Promise.all(queries.map((query) => page('orders', query)));
    const trades = await page('trades', '&side=buy');
    await node.restart('SIGTERM');
    for (const user of [alice, bob]) await user.login();
    const after = await Promise.all(queries.map((query) => page('orders', query)));
    assert.deepEqual(after.map(idsOf), before.map(idsOf));
    assert.equal((await page('trades', '&side=buy')).text, trades.text);
  });

  test('one origin: a filter selects the market-data form, without one the order service answers as ever', async () => {
    const [oms, mds] = [node.ports.oms, node.ports.mds];
    const { headers } = alice;
    const read = async (port: number, path: string): Promise<string> => (await ask(port, path, { headers })).text;
    for (const path of [`/orders/user/${alice.id}`, `/orders/user/${alice.id}/2`, `/trades/user/${alice.id}/2`]) {
      const plain = await read(mds, path);
      assert.equal(await read(oms, `/market-data${path}`), plain);
      assert.equal(await read(mds, `/market-data${path}`), plain);
      assert.equal(await read(oms, `${path}?side=sell`), await read(mds, `${path}?side=sell`));
    }
    assert.ok((await read(oms, `/orders/user/${alice.id}/2`)).startsWith('['), 'the bare array of one market stays');
    assert.ok((await read(oms, `/orders/user/${alice.id}/2?sub_account=1&sub_account=0`)).startsWith('['));
    assert.ok((await read(oms, `/trades/user/${alice.id}?sub_account=7`)).includes('"total_trades":0'));
    const both = await ask(oms, `/orders/user/${alice.id}?open_only=true&side=sell`, { headers });
    assert.deepEqual([both.status, errorOf(both).details?.['field']], [400, 'open_only']);
  });

  test('the document has both forms of the reply: the one that is served plain, and the envelope under a filter (8.2)', async () => {
    const fits = (shape: Shape, text: string): boolean => {
      const tree = parseJson(Buffer.from(text), { fractions: 'text' });
      assert.ok(tree.ok, text);
      return checkShape(shape, tree.value, { strangers: 'refuse' }).ok;
    };
    for (const path of ['/orders/user/{user_id}', '/orders/user/{user_id}/{asset_id}']) {
      const row = SERVICE_TABLES.orders.routes.find((route) => route.path === path) ?? assert.fail(path);
      const forms = (row.reply as unknown as { readonly anyOf: readonly Shape[] }).anyOf;
      const names = (row.query ?? []).map(({ name }) => name);
      const url = path.replace('{user_id}', alice.id).replace('{asset_id}', '2');
      const { text } = await ask(node.ports.oms, url, { headers: alice.headers });
      assert.deepEqual(
        forms.map((form) => fits(form, text)),
        [true, false],
        path,
      );
      for (const filter of ['start_time=0', `end_time=${node.nowNs}`, 'side=sell', 'status=open']) {
        assert.ok(names.includes(filter.replace(/=.*/, '')), filter);
        const { text: filtered } = await ask(node.ports.oms, `${url}?${filter}`, { headers: alice.headers });
        assert.ok(filtered.startsWith('{"orders":[{'), filtered);
        assert.deepEqual(
          forms.map((form) => fits(form, filtered)),
          [false, true],
          `${path} ${filter}`,
        );
      }
    }
  });

  test('values outside of the table are 400 and named, before the session', async () => {
    for (const [query, field] of [
      ['side=up', 'side'],
      ['status=gone', 'status'],
      ['start_time=-1', 'start_time'],
      ['end_time=9223372036854775808', 'end_time'],
      ['start_time=2&end_time=1', 'start_time'],
      ['sub_account=256', 'sub_account'],
      ['sub_account=0&sub_account=1', 'sub_account'],
      ['open_only=true', 'open_only'],
      ['limit=0', 'limit'],
    ] as const) {
      const answer = await ask(node.ports.mds, `/orders/user/${alice.id}?${query}`);
      assert.deepEqual([answer.status, errorOf(answer).details?.['field']], [400, field], query);
    }
    assert.equal(toldBy(await at(`/orders/user/${alice.id}/77`)), '404 MARKET_NOT_FOUND');
    assert.equal(toldBy(await at(`/trades/user/${alice.id}/77?status=pending`)), '404 MARKET_NOT_FOUND');
    assert.equal(toldBy(await at(`/trades/user/${alice.id}`, bob)), '401 UNAUTHORIZED');
    const stranger = node.stranger();
    await stranger.login();
    assert.ok((await at(`/orders/user/${stranger.id}`, stranger)).text.startsWith('{"orders":[],"page":0'));
  });
});
