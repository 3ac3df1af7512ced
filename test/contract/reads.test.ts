// tier: quick
/** Reads of one's own: order records, trades, inventory, pages and their order (wire.md 6, 7.9 to 7.13; QRY, PAG). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { operator } from '../support/node-process.ts';
import { type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';
import { FOK, IOC } from '../support/wire-texts.ts';

type Row = Readonly<Record<string, unknown>>;
const NS = '18\\d{17}';

const RECORD_KEYS = [
  ...['order_id', 'base_asset', 'side', 'limit_price', 'quantity', 'amount', 'max_sellable_amount'],
  ...['max_sellable_quantity', 'confirmed_filled_quantity', 'pending_filled_quantity', 'confirmed_filled_amount'],
  ...['pending_filled_amount', 'confirmed_trading_fees_amount', 'pending_trading_fees_amount'],
  ...['good_until_timestamp_ns', 'timestamp_ns', 'in_flight', 'canceled', 'status', 'trigger_above_price'],
  ...['trigger_below_price', 'trigger_touched', 'parent_id', 'last_update_timestamp_ns', 'is_immediate_or_cancel'],
  ...['is_fill_or_kill', 'is_liquidation', 'is_auto_deleverage', 'is_reduce_only', 'trigger_enabled_quantity'],
];

suite('orders and trades of a user', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
    bob = await node.user();
    for (let index = 0; index < 7; index += 1) {
      // Two of a time, so that the second key decides.
      const createdNs = node.nowNs + BigInt(Math.ceil(index / 2));
      const id = `page-${index}`;
      assert.equal((await alice.create({ id, price: 310_000 + index, createdNs })).status, 200);
    }
    for (let index = 0; index < 5; index += 1) await node.trade(alice, bob, 1_000 + index);
    assert.equal((await alice.create({ asset: '1', id: 'btc-1', price: 600_000 })).status, 200);
    await node.rest();
  });
  after(() => node?.stop());

  const idsOf = (rows: readonly Row[]): unknown[] => rows.map((row) => row['order_id']);
  const orders = async (query = ''): Promise<readonly Row[]> =>
    (await alice.read(`/orders/user/${alice.id}/2${query}`)) as readonly Row[];

  test('a record has every key, in its order (QRY-11, wire.md 7.9)', async () => {
    const answer = await alice.get(`/orders/user/${alice.id}/2/page-0`);
    assert.deepEqual(Object.keys(JSON.parse(answer.text) as object), RECORD_KEYS);
    const money =
      '"limit_price":"3100","quantity":"0.1","amount":null,"max_sellable_amount":null,"max_sellable_quantity":null,' +
      '"confirmed_filled_quantity":"0","pending_filled_quantity":"0","confirmed_filled_amount":"0",' +
      '"pending_filled_amount":"0","confirmed_trading_fees_amount":"0","pending_trading_fees_amount":"0"';
    const state =
      `"good_until_timestamp_ns":null,"timestamp_ns":${NS},"in_flight":false,"canceled":false,"status":"Open",` +
      '"trigger_above_price":null,"trigger_below_price":null,"trigger_touched":null,"parent_id":null,' +
      `"last_update_timestamp_ns":(null|${NS}),"is_immediate_or_cancel":false,"is_fill_or_kill":false,` +
      '"is_liquidation":false,"is_auto_deleverage":false,"is_reduce_only":false,"trigger_enabled_quantity":null';
    assert.match(
      answer.text,
      new RegExp(`^\\{"order_id":"page-0","base_asset":"2","side":"Sell",${money},${state}\\}$`),
    );
    const [row] = await orders('?limit=1000&open_only=true&page=0');
    const listed = (await alice.get(`/orders/user/${alice.id}/2?limit=1000`)).text;
    assert.ok(listed.includes(answer.text), 'a page shows the same record');
    assert.ok(row !== undefined);
  });

  test('one market is a bare array, all markets an envelope (QRY-01, QRY-02, wire.md 6.2)', async () => {
    assert.ok(Array.isArray(await orders()));
    const answer = await alice.get(`/orders/user/${alice.id}?limit=3`);
    const { orders: rows, ...counters } = JSON.parse(answer.text) as { orders: Row[] };
    assert.equal(rows.length, 3);
    assert.deepEqual(Object.entries(counters), [
      ['page', 0],
      ['limit', 3],
      ['total_orders', 13],
      ['total_pages', 5],
      ['cursor_size', 3],
      ['has_next_page', true],
      ['next_page', 1],
    ]);
    const last = JSON.parse((await alice.get(`/orders/user/${alice.id}?limit=3&page=4`)).text) as Row;
    assert.deepEqual([last['cursor_size'], last['has_next_page'], last['next_page']], [1, false, null]);
    const past = JSON.parse((await alice.get(`/orders/user/${alice.id}?limit=3&page=5`)).text) as Row;
    assert.deepEqual([past['orders'], past['cursor_size'], past['total_pages'], past['next_page']], [[], 0, 5, null]);
  });

  test('orders are newest first, equal times by id downwards (PAG-02)', async () => {
    const rows = await orders('?open_only=true');
    assert.deepEqual(idsOf(rows), ['page-6', 'page-5', 'page-4', 'page-3', 'page-2', 'page-1', 'page-0']);
    const text = (await alice.get(`/orders/user/${alice.id}/2?open_only=true`)).text;
    const times = [...text.matchAll(/[^_]"timestamp_ns":(\d+)/g)].map(([, time = '']) => BigInt(time));
    assert.equal(times[0], times[1], 'two have one time');
    assert.ok(times.every((time, index) => index === 0 || time <= (times[index - 1] ?? 0n)));
  });

  test('pages are disjoint and contiguous, whatever their size (PAG-01)', async () => {
    const whole = idsOf(await orders('?limit=1000'));
    for (const limit of [1, 2, 3, 5, 12, 13]) {
      const walked: unknown[] = [];
      for (let page = 0; walked.length < whole.length; page += 1)
        walked.push(...idsOf(await orders(`?limit=${limit}&page=${page}`)));
      assert.deepEqual(walked, whole, `limit ${limit}`);
    }
  });

  test('a limit over the cap is served as the cap and echoed; zero and nonsense are 400 (AMB-105, wire.md 6.1)', async () => {
    for (const [path, key] of [
      [`/orders/user/${alice.id}`, 'limit'],
      [`/trades/user/${alice.id}`, 'limit'],
    ] as const) {
      const page = (await alice.read(`${path}?limit=5000`)) as Row;
      assert.equal(page[key], 1_000);
      assert.equal(((await alice.read(path)) as Row)['limit'], 100);
      for (const query of [
        'limit=0',
        'limit=-1',
        'limit=1.5',
        'limit=x',
        'limit=',
        'page=-1',
        'page=x',
        'page=1e3',
        'limit=1&limit=2',
      ]) {
        assert.equal(toldBy(await alice.get(`${path}?${query}`)), '400 INVALID_REQUEST', query);
      }
    }
    for (const query of ['open_only=1', 'open_only=TRUE', 'sub_account=-1', 'sub_account=256', 'sub_account=x']) {
      assert.equal(toldBy(await alice.get(`/orders/user/${alice.id}/2?${query}`)), '400 INVALID_REQUEST', query);
    }
  });

  test('open_only and sub_account narrow the pages (QRY-01)', async () => {
    assert.equal((await orders('?open_only=true')).length, 7);
    assert.equal((await orders('?open_only=false')).length, 12);
    assert.equal((await orders('?sub_account=0')).length, 12);
    assert.equal((await orders('?sub_account=1')).length, 0);
    assert.equal((await orders('?sub_account=0&sub_account=1&open_only=true')).length, 7);
  });

  test('an order is found by its percent-encoded id, whatever it holds (wire.md G7)', async () => {
    const id = 'a/b+c=d_e.f:g-h';
    assert.equal((await alice.create({ id, price: 310_000, tif: IOC })).status, 200);
    await node.rest();
    const record = (await alice.read(`/orders/user/${alice.id}/2/${encodeURIComponent(id)}`)) as Row;
    assert.equal(record['order_id'], id);
    assert.deepEqual(
      [record['status'], record['is_immediate_or_cancel'], record['canceled']],
      ['Canceled', true, true],
    );
    for (const unknown of ['none', 'page-0%00', '%20', 'a'.repeat(65)]) {
      assert.equal(toldBy(await alice.get(`/orders/user/${alice.id}/2/${unknown}`)), '404 ORDER_NOT_FOUND', unknown);
    }
    assert.equal(toldBy(await alice.get(`/orders/user/${alice.id}/1/page-0`)), '404 ORDER_NOT_FOUND');
    assert.equal(toldBy(await alice.get(`/orders/user/${alice.id}/77/page-0`)), '404 MARKET_NOT_FOUND');
  });

  test('trades are an envelope, newest first, then the higher id (QRY-03, QRY-04, PAG-03, wire.md 7.10)', async () => {
    const text = (await bob.get(`/trades/user/${bob.id}?limit=2`)).text;
    const tail =
      '"page":0,"limit":2,"total_trades":5,"total_pages":3,"cursor_size":2,"has_next_page":true,"next_page":1';
    assert.match(text, new RegExp(`^\\{"trades":\\[\\{.*\\}\\],${tail}\\}$`));
    const trade =
      `"asset_id":"2","trade_id":\\d+,"order_id":"[^"]+","price":"3000","quantity":"0\\.1004","timestamp_ns":${NS},` +
      '"is_maker":false,"is_buyer":true,"status":"Confirmed","rollback_reason":null,"is_liquidation":false,' +
      '"is_auto_deleverage":false,"sub_account":0,"trading_fee":"0\\.13554"';
    assert.match(text, new RegExp(`^\\{"trades":\\[\\{${trade}\\},`));
    const all = (await bob.read(`/trades/user/${bob.id}/2`)) as { trades: { trade_id: number }[] };
    const tradeIds = all.trades.map(({ trade_id }) => trade_id);
    assert.deepEqual(
      tradeIds,
      [...tradeIds].sort((a, b) => b - a),
    );
    const none = (await bob.read(`/trades/user/${bob.id}/1`)) as Row;
    assert.deepEqual([none['trades'], none['total_trades'], none['total_pages']], [[], 0, 0]);
  });

  test('public trades and the own ones are the same trades (PTR-01, wire.md 8)', async () => {
    const own = (await bob.read(`/trades/user/${bob.id}/2`)) as { trades: { trade_id: number; quantity: string }[] };
    const open = JSON.parse((await bob.market('/trades/2?limit=5')).text) as { trade_id: number; quantity: string }[];
    assert.deepEqual(
      open.map(({ trade_id, quantity }) => [trade_id, quantity]),
      own.trades.map(({ trade_id, quantity }) => [trade_id, quantity]),
    );
    const first = (await bob.market('/trades?limit=1')).text;
    assert.match(
      first,
      new RegExp(
        `^\\[\\{"asset_id":"2","trade_id":\\d+,"price":"3000","quantity":"0.1004","timestamp_ns":${NS},"buyer_is_maker":false,"status":"Confirmed"\\}\\]$`,
      ),
    );
  });

  test('an unknown user reads empty pages (AMB-139, wire.md 6.3)', async () => {
    const user = await node.user({});
    const counters =
      '"page":0,"limit":100,"total_T":0,"total_pages":0,"cursor_size":0,"has_next_page":false,"next_page":null';
    assert.equal((await user.get(`/orders/user/${user.id}`)).text, `{"orders":[],${counters.replace('T', 'orders')}}`);
    assert.equal((await user.get(`/trades/user/${user.id}`)).text, `{"trades":[],${counters.replace('T', 'trades')}}`);
    assert.equal((await user.get(`/orders/user/${user.id}/2`)).text, '[]');
    assert.equal(
      (await user.get(`/inventory/user/${user.id}`)).text,
      '{"is_mm":false,"accounts":{"0":{"kind":"spot","name":"Spot","spot":{"0":"0"},"margins":{}},"1":{"kind":"cross_margin","name":"Margin","spot":{"0":"0"},"margins":{}}}}',
    );
  });

  test('inventory shows what is owned; holds of orders do not reduce it; sub_account narrows it (QRY-09, AMB-72)', async () => {
    const user = await node.user({ '2': '3', '0': '12.5' });
    const spot = '"spot":{"0":"12.5","2":"3"}';
    const zero = `"0":{"kind":"spot","name":"Spot",${spot},"margins":{}}`;
    const one = '"1":{"kind":"cross_margin","name":"Margin","spot":{"0":"0"},"margins":{}}';
    const read = async (query = ''): Promise<string> => (await user.get(`/inventory/user/${user.id}${query}`)).text;
    assert.equal(await read(), `{"is_mm":false,"accounts":{${zero},${one}}}`);
    assert.equal((await user.create({ price: 320_000, quantity: 20_000 })).status, 200);
    assert.equal(await read('?sub_account=0'), `{"is_mm":false,"accounts":{${zero}}}`);
    assert.equal(await read('?sub_account=1&sub_account=0'), `{"is_mm":false,"accounts":{${zero},${one}}}`);
    assert.equal(await read('?sub_account=7'), '{"is_mm":false,"accounts":{}}');
    await node.operate('PUT', `/operator/users/${user.id}`, { is_mm: true });
    assert.match(await read(), /^\{"is_mm":true,/);
  });

  test('a page of any number behind the end is empty, on every list (MCH-10)', async () => {
    const lists = [`/orders/user/${alice.id}`, `/trades/user/${alice.id}`, `/positions/${alice.id}`];
    for (const path of [...lists, `/orders/user/${alice.id}/2`]) {
      for (const page of [2 ** 32, 2 ** 52, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER]) {
        for (const limit of [1, 2, 1000]) {
          const reply = await alice.read(`${path}?page=${page}&limit=${limit}`);
          const rows = Array.isArray(reply) ? reply : Object.values(reply as Row)[0];
          assert.deepEqual(rows, [], `${path} ${page} ${limit}`);
          if (!Array.isArray(reply)) assert.equal((reply as Row)['page'], page);
        }
      }
    }
    for (const path of ['/trades/2', '/trades', '/klines/2', '/klines/2?interval=1']) {
      const separator = path.includes('?') ? '&' : '?';
      const answer = await alice.market(`${path}${separator}page=${Number.MAX_SAFE_INTEGER}`);
      assert.equal(answer.status, 200, answer.text);
      const reply = JSON.parse(answer.text) as unknown;
      const rows = Array.isArray(reply) ? reply : Object.values(reply as Row).find((member) => Array.isArray(member));
      assert.deepEqual(rows, [], path);
    }
  });

  test('a time in seconds, milliseconds or microseconds is 400 with its member, and cancels nothing (MCH-11)', async () => {
    const id = alice.newId();
    assert.equal((await alice.create({ id, price: 330_000 })).status, 200);
    const today = 1_785_000_000n;
    for (const ns of [10n ** 9n, today, today * 1_000n, today * 1_000_000n, 1_577_836_799_999_999_999n]) {
      const asked: [string, Promise<{ status: number; text: string }>][] = [
        ['max_ts', alice.send('DELETE', `/orders/cancel-all?max_ts=${ns}`, '')],
        ['max_ts', alice.send('DELETE', `/orders/cancel-all/2?max_ts=${ns}`, '')],
        ['start_time', alice.get(`/orders/user/${alice.id}?start_time=${ns}`)],
        ['end_time', alice.get(`/trades/user/${alice.id}?end_time=${ns}`)],
        ['end_timestamp_ns', alice.market(`/klines/2?end_timestamp_ns=${ns}`)],
        ['creation_timestamp_ns', alice.create({ createdNs: ns })],
        ['timestamp_ns', alice.create({ tif: `{"GTD":{"post_only":false,"timestamp_ns":${ns}}}` })],
        ['timestamp_ns', alice.replace({ id, timestampNs: ns, price: 331_000 })],
      ];
      for (const [member, sent] of asked) {
        const { status, text } = await sent;
        assert.equal(status, 400, `${member} ${ns}: ${text}`);
        assert.match(text, /"INVALID_REQUEST"/);
        assert.ok(text.includes(member), `${member} ${ns}: ${text}`);
      }
    }
    const open = (await alice.read(`/orders/user/${alice.id}/2/${id}`)) as Row;
    assert.equal(open['status'], 'Open');
    for (const ns of [0n, 999_999_999n, 1_577_836_800_000_000_000n]) {
      assert.equal((await alice.get(`/orders/user/${alice.id}?start_time=${ns}`)).status, 200, `${ns}`);
    }
    const prices = { prices: [{ asset_id: '2', price: '3000', publish_time_ns: 1_785_000_000_000 }] };
    const answer = await operator(node.process, 'POST', '/operator/prices', prices);
    assert.equal(answer.status, 400, answer.text);
    assert.ok(answer.text.includes('publish_time_ns'), answer.text);
    await alice.cancel(id);
    await node.rest();
  });

  test('pending and confirmed filled quantities are distinguished (ORD-23, ORD-24, GEN-08)', async () => {
    await node.hook({ hold: true });
    const id = alice.newId();
    assert.equal((await alice.create({ id, price: 300_000, quantity: 4_000 })).status, 200);
    assert.equal((await bob.create({ side: 'Buy', price: 300_000, quantity: 1_000 })).status, 200);
    await node.rest();
    const read = async (): Promise<unknown[]> => {
      const record = (await alice.read(`/orders/user/${alice.id}/2/${id}`)) as Row;
      return [
        'status',
        'pending_filled_quantity',
        'confirmed_filled_quantity',
        'pending_filled_amount',
        'confirmed_filled_amount',
      ].map((key) => record[key]);
    };
    assert.deepEqual(await read(), ['PartiallyFilled', '0.1', '0', '300', '0']);
    await node.hook({ release: true });
    await node.rest();
    assert.deepEqual(await read(), ['PartiallyFilled', '0', '0.1', '0', '300']);
    const killed = alice.newId();
    assert.equal((await bob.create({ side: 'Buy', price: 299_000, quantity: 10 })).status, 200);
    assert.equal((await alice.create({ id: killed, price: 299_000, quantity: 50, tif: FOK })).status, 200);
    await node.rest();
    const record = (await alice.read(`/orders/user/${alice.id}/2/${killed}`)) as Row;
    assert.deepEqual([record['status'], record['is_fill_or_kill']], ['Canceled', true]);
  });
});
