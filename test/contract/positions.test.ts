// tier: full, 5 s
/** Positions and margin as a client reads them (wire.md 7.11 to 7.16; QRY-05 to QRY-10, PAG-04, SIM, STR-03, STR-04). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { HttpAnswer } from '../support/edge-client.ts';
import { type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

type Row = Readonly<Record<string, unknown>>;

const POSITION_KEYS = [
  ...['asset_id', 'name', 'sub_account_index', 'side', 'size', 'base_credits', 'base_liabilities', 'quote_credits'],
  ...['quote_liabilities', 'entry_price', 'mark_price', 'unrealized_pnl', 'margin', 'leverage', 'liquidation_price'],
];
const MARGIN_KEYS = [
  ...['account_equity', 'available_margin', 'utilized_margin', 'maintenance_margin_surplus', 'account_leverage'],
  ...['is_solvent', 'is_liquidatable', 'im_surplus', 'unrealized_pnl', 'total_upnl', 'mm_requirement'],
  ...['net_apy', 'margin_calls', 'netting'],
];
const SIMULATION_KEYS = [
  ...['account_equity', 'available_margin', 'mm_surplus', 'account_leverage', 'utilized_margin', 'margin_required'],
  ...['margin_impact', 'is_solvent', 'trade_accepted', 'liquidation_price', 'positions'],
];
const DECIMAL = /^-?(0|[1-9]\d*)(\.\d*[1-9])?$/;

suite('positions and margin', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;
  let quiet: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user({ '0': '100000' }, [0, 1]);
    bob = await node.user({ '0': '100000', '2': '100', '1': '10' }, [0, 1]);
    quiet = await node.user({});
    const words = { source: 0, target: 3, amount: String(20_000n * 10n ** 18n), type: '"CrossMargin"', nonce: 1 };
    assert.equal((await alice.transfer(words)).text, '{"success":true}');
    await node.rest();
    const prices = [
      { asset_id: '1', price: '60000' },
      { asset_id: '2', price: '3000' },
    ];
    await node.operate('POST', '/operator/prices', { prices });
    await node.rest();
    // Alice is long of ETH in 1 and 3 and of BTC in 1.
    for (const [account, asset, price, quantity] of [
      [1, '2', 300_000, 20_000],
      [3, '2', 300_000, 10_000],
      [1, '1', 600_000, 50_000],
    ] as const) {
      const sold = await bob.create({ asset, price, quantity });
      assert.equal(sold.status, 200, sold.text);
      const bought = await alice.create({ asset, side: 'Buy', price, quantity, account, isSpot: false });
      assert.equal(bought.status, 200, bought.text);
      await node.rest();
    }
  });
  after(() => node?.stop());

  test('positions are an envelope by account, then asset, each with its keys in order (QRY-05, QRY-07, PAG-04, wire.md 7.11)', async () => {
    const answer = await alice.get(`/positions/${alice.id}`);
    const { positions, ...counters } = JSON.parse(answer.text) as { positions: Row[] };
    assert.deepEqual(
      positions.map((row) => [row['sub_account_index'], row['asset_id'], row['side'], row['size']]),
      [
        [1, '1', 'long', '0.5'],
        [1, '2', 'long', '2'],
        [3, '2', 'long', '1'],
      ],
    );
    for (const row of positions) assert.deepEqual(Object.keys(row), POSITION_KEYS);
    const expected = { page: 0, limit: 100, total_positions: 3, total_pages: 1, cursor_size: 3, has_next_page: false };
    assert.deepEqual(counters, { ...expected, next_page: null });
    const eth = positions[1] ?? assert.fail();
    assert.deepEqual(
      ['name', 'base_credits', 'base_liabilities', 'quote_credits', 'entry_price'].map((key) => eth[key]),
      ['Margin', '2', '0', '0', '3000'],
    );
    assert.equal(eth['quote_liabilities'], '6002.7', 'price times quantity, and the taker’s fee (SUB-15)');
    for (const key of ['mark_price', 'unrealized_pnl', 'margin', 'leverage', 'liquidation_price']) {
      assert.ok(eth[key] === null || DECIMAL.test(String(eth[key])), `${key}: ${eth[key]}`);
    }
    const page = (await alice.read(`/positions/${alice.id}?limit=2&page=1`)) as Row;
    assert.deepEqual([page['cursor_size'], page['total_pages'], page['has_next_page']], [1, 2, false]);
  });

  test('one market, one account (QRY-05, QRY-06)', async () => {
    const sizes = async (path: string): Promise<unknown[]> =>
      ((await alice.read(path)) as { positions: Row[] }).positions.map((row) => row['size']);
    assert.deepEqual(await sizes(`/positions/${alice.id}/2`), ['2', '1']);
    assert.deepEqual(await sizes(`/positions/${alice.id}/2?sub_account=3`), ['1']);
    assert.deepEqual(await sizes(`/positions/${alice.id}?sub_account=1`), ['0.5', '2']);
    assert.deepEqual(await sizes(`/positions/${alice.id}/3`), []);
    assert.equal(toldBy(await alice.get(`/positions/${alice.id}/77`)), '404 MARKET_NOT_FOUND');
    const none = (await quiet.get(`/positions/${quiet.id}`)).text;
    assert.match(none, /^\{"positions":\[\],"page":0,"limit":100,"total_positions":0,/);
  });

  test('the preview of closing all has one opposite reduce-only order a position, and does nothing (QRY-08, AMB-70, wire.md 7.12)', async () => {
    const before = (await alice.get(`/positions/${alice.id}`)).text;
    const { text } = await alice.get(`/positions/close-all/${alice.id}/1`);
    const row = (asset: string, quantity: number, price: number, decimals: readonly number[]): string =>
      `{"asset_id":"${asset}","side":"Sell","quantity":${quantity},"suggested_max_sellable_amount":null,"oracle_price":"${price}",` +
      `"book_price_decimals":${decimals[0]},"book_quantity_decimals":${decimals[1]},"sub_account_index":1,"reduce_only":true}`;
    assert.equal(
      text,
      `{"orders":[${row('1', 50_000, 60_000, [1, 5])},${row('2', 20_000, 3_000, [2, 4])}],"errors":{}}`,
    );
    assert.equal((await alice.get(`/positions/${alice.id}`)).text, before);
    assert.equal((await quiet.get(`/positions/close-all/${quiet.id}/1`)).text, '{"orders":[],"errors":{}}');
  });

  test('margin shows the accounts of margin type, deprecated in a header (QRY-10, VER-03, AMB-129, wire.md 7.14)', async () => {
    const answer = await alice.get(`/margin/user/${alice.id}`);
    assert.equal(answer.headers['deprecation'], 'true');
    const { accounts, warnings } = JSON.parse(answer.text) as { accounts: Record<string, Row>; warnings: Row[] };
    assert.deepEqual([Object.keys(accounts), warnings], [['1', '3'], []]);
    for (const account of Object.values(accounts)) {
      assert.deepEqual(
        Object.keys(account).filter((key) => key !== 'positions'),
        MARGIN_KEYS,
      );
      for (const key of MARGIN_KEYS.filter((each) => !/^is_|^net|_calls$/.test(each))) {
        assert.match(String(account[key]), DECIMAL, key);
      }
      assert.deepEqual([account['net_apy'], account['margin_calls'], account['netting']], [null, [], null]);
      assert.equal(account['total_upnl'], account['unrealized_pnl']);
      assert.deepEqual([account['is_solvent'], account['is_liquidatable']], [true, false]);
      assert.ok(account['positions'] === undefined || account['positions'] === null);
    }
    const detailed = (await alice.read(
      `/margin/user/${alice.id}?include_positions=true&sub_account=3`,
    )) as typeof answer & {
      accounts: Record<string, { positions: Row[] }>;
    };
    assert.deepEqual(Object.keys(detailed.accounts), ['3']);
    const [held = {}] = detailed.accounts['3']?.positions ?? [];
    assert.deepEqual(Object.entries(held).slice(0, 4), [
      ['asset_id', '2'],
      ['side', 'Long'],
      ['size', '1'],
      ['notional_value', '3000'],
    ]);
    assert.deepEqual(Object.keys(held).slice(4), ['margin']);
    for (const query of ['include_positions=1', 'sub_account=x', 'sub_account=256']) {
      assert.equal(toldBy(await alice.get(`/margin/user/${alice.id}?${query}`)), '400 INVALID_REQUEST', query);
    }
  });

  test('the maintenance requirement is the sum of its parts, one for each position (wire-additions.md 9.1)', async () => {
    const path = `/margin/user/${alice.id}?include_positions=true&sub_account=3`;
    const read = async (): Promise<{ account: Row; position: Row; warnings: Row[] }> => {
      const { accounts, warnings } = (await alice.read(path)) as { accounts: Record<string, Row>; warnings: Row[] };
      const account = accounts['3'] ?? assert.fail();
      return { account, position: (account['positions'] as Row[])[0] ?? assert.fail(), warnings };
    };
    const { account, position, warnings } = await read();
    assert.deepEqual(warnings, []);
    assert.equal(account['mm_requirement'], position['margin'], 'one position, the rest is USD');
    const { collateral_factor: factor } = (
      JSON.parse((await alice.get('/registry/risk-parameters')).text) as Record<string, { collateral_factor: number }>
    )['2'] ?? { collateral_factor: 0 };
    assert.equal(position['margin'], String((3_000 * (100 - factor)) / 100), 'size x (1 - CF) x the higher price');
  });

  test('solvency repeats two figures of margin (wire.md 7.15)', async () => {
    const margin = (await alice.read(`/margin/user/${alice.id}`)) as { accounts: Record<string, Row> };
    const shown = Object.entries(margin.accounts).map(
      ([index, { maintenance_margin_surplus: surplus }]) =>
        `"${index}":{"is_solvent":true,"distance_from_liquidation":"${surplus}"}`,
    );
    assert.equal((await alice.get(`/solvency/user/${alice.id}`)).text, `{"accounts":{${shown}}}`);
  });

  const simulate = (trade: object | null, rest: object = {}, account = 1): Promise<HttpAnswer> =>
    alice.post(
      `/account/simulate/${alice.id}`,
      JSON.stringify({ sub_account: account, ...(trade === null ? {} : { trade }), pending_transfers: [], ...rest }),
    );
  const buy = (size: bigint): object => ({
    asset: '2',
    is_buy: true,
    size: String(size * 10n ** 18n),
    limit_price: String(3_000n * 10n ** 18n),
    trade_type: 'margin',
  });

  test('a simulation answers what an order would do, and does nothing (SIM-01, SIM-04, wire.md 7.16)', async () => {
    const before = (await alice.get(`/margin/user/${alice.id}`)).text;
    const answer = await simulate(buy(1n));
    assert.equal(answer.status, 200, answer.text);
    const body = JSON.parse(answer.text) as Row;
    assert.deepEqual(Object.keys(body), SIMULATION_KEYS);
    assert.deepEqual([body['trade_accepted'], body['is_solvent']], [true, true]);
    assert.match(String(body['margin_impact']), /^-/);
    assert.equal(`-${String(body['margin_required'])}`, body['margin_impact']);
    const refused = JSON.parse((await simulate(buy(10_000n))).text) as Row;
    assert.equal(refused['trade_accepted'], false);
    assert.equal((await alice.get(`/margin/user/${alice.id}`)).text, before);
  });

  test('pending transfers come first; over 50 million is 400; shapes are strict (SIM-02 to SIM-04, AMB-71)', async () => {
    const size = buy(400n);
    assert.equal((JSON.parse((await simulate(size)).text) as Row)['trade_accepted'], false);
    const transfer = { asset: '0', amount: String(5_000_000n * 10n ** 18n) };
    const helped = await simulate(size, { pending_transfers: [transfer] });
    assert.equal((JSON.parse(helped.text) as Row)['trade_accepted'], true, helped.text);
    assert.equal(toldBy(await simulate(buy(16_667n))), '400 INVALID_REQUEST');
    assert.equal((await simulate(buy(16_666n))).status, 200);
    for (const wrong of [
      { ...buy(1n), size: '1.5' },
      { ...buy(1n), size: 1 },
      { ...buy(1n), is_buy: 'yes' },
      { ...buy(1n), trade_type: 'x' },
    ]) {
      assert.equal(toldBy(await simulate(wrong)), '400 INVALID_REQUEST', JSON.stringify(wrong));
    }
    assert.equal(
      toldBy(
        await bob.post(
          `/account/simulate/${alice.id}`,
          JSON.stringify({ sub_account: 1, trade: buy(1n), pending_transfers: [] }),
        ),
      ),
      '401 UNAUTHORIZED',
    );
  });

  test('inventory shows the legs of a position (QRY-09, SUB-15, wire.md 7.13)', async () => {
    const { text } = await alice.get(`/inventory/user/${alice.id}?sub_account=3`);
    assert.equal(
      text,
      '{"is_mm":false,"accounts":{"3":{"kind":"cross_margin","name":"3","spot":{"0":"20000"},"margins":{"2":{"base":{"credits":"1","liabilities":"0"},"quote":{"credits":"0","liabilities":"3001.35"}}}}}}'.replace(
        '"name":"3"',
        /"name":"[^"]*"/.exec(text)?.[0] ?? '',
      ),
    );
  });

  test('open interest is the sum of margin legs, on its route and in the ticker (AMB-54, wire-additions.md 6)', async () => {
    const one = await alice.market('/openinterest/2');
    assert.match(one.text, /^\{"asset_id":"2","long":"3","short":"0","timestamp_ns":1[0-9]{18}\}$/);
    const all = await alice.market('/openinterest');
    assert.match(all.text, new RegExp(`^\\[\\{"asset_id":"1","long":"0.5".*\\},${one.text}[\\],]`));
    assert.equal(toldBy(await alice.market('/openinterest/77')), '404 MARKET_NOT_FOUND');
    const ticker = JSON.parse((await alice.market('/ticker/2')).text) as Row;
    assert.deepEqual({ asset_id: '2', ...(ticker['open_interest'] as Row) }, JSON.parse(one.text));
    assert.deepEqual([ticker['mark_price'], ticker['index_price']], ['3000', '3000']);
  });

  test('position and stats streams publish what changed (STR-03, STR-04)', async () => {
    const [positions, stats] = [
      await alice.stream(`/positions/ws/${alice.id}`),
      await alice.stream(`/account/stats/${alice.id}`),
    ];
    assert.equal((await bob.create({ price: 300_000, quantity: 1_000 })).status, 200);
    assert.equal(
      (await alice.create({ side: 'Buy', price: 300_000, quantity: 1_000, account: 1, isSpot: false })).status,
      200,
    );
    await node.rest();
    const rows = JSON.parse(await positions.frame()) as Row[];
    assert.deepEqual(
      rows.map((row) => [row['asset_id'], row['sub_account_index'], row['size']]),
      [['2', 1, '2.1']],
    );
    assert.deepEqual(Object.keys(rows[0] ?? {}), POSITION_KEYS);
    const told = JSON.parse(await stats.frame()) as { accounts: Record<string, Row> };
    assert.ok(Object.keys(told.accounts).includes('1'));
    for (const { socket } of [positions, stats]) socket.terminate();
  });

  test('under another name of v1 a frame of positions is an object with all of them (wire-additions.md 9.2)', async () => {
    const path = `/positions/ws/${alice.id}`;
    const [object, array, plain] = [
      await alice.stream(path, ['other.ws.v1']),
      await alice.stream(path, ['other.ws.v1', 'svc.ws.v1']),
      await alice.stream(path),
    ];
    assert.equal((await bob.create({ price: 300_000, quantity: 1_000 })).status, 200);
    const own = { side: 'Buy', price: 300_000, quantity: 1_000, account: 1, isSpot: false } as const;
    assert.equal((await alice.create(own)).status, 200);
    await node.rest();
    const frame = JSON.parse(await object.frame()) as { channel: string; data: Row };
    assert.deepEqual(Object.keys(frame.data), ['user_id', 'positions', 'timestamp_ns']);
    assert.deepEqual([frame.channel, frame.data['user_id']], ['positions', alice.id]);
    const listed = (await alice.read(`/positions/${alice.id}`)) as { positions: Row[] };
    assert.deepEqual(frame.data['positions'], listed.positions, 'every position, not the changed one alone');
    const enveloped = JSON.parse(await array.frame()) as { data: Row[] };
    assert.deepEqual(enveloped.data, JSON.parse(await plain.frame()));
    for (const { socket } of [object, array, plain]) socket.terminate();
  });

  test('an opposite order flattens, the quote leg stays until the position is closed (POS-01, POS-04 to POS-06, AMB-69)', async () => {
    const close = async (nonce: number): Promise<string> => (await alice.closePosition(3, '2', nonce)).text;
    assert.match(await close(11), /"success":false,"details":\{"code":"POSITION_NOT_FLAT"/);
    assert.equal((await bob.create({ side: 'Buy', price: 300_000, quantity: 10_000 })).status, 200);
    const flat = await alice.create({ side: 'Sell', price: 300_000, quantity: 10_000, account: 3, isSpot: false });
    assert.equal(flat.status, 200, flat.text);
    await node.rest();
    const { positions } = (await alice.read(`/positions/${alice.id}?sub_account=3`)) as { positions: Row[] };
    assert.deepEqual(
      positions.map((row) => [row['side'], row['size']]),
      [['closed', '0']],
    );
    const events = await alice.stream(`/account/events/${alice.id}`);
    assert.equal(await close(12), '{"success":true}');
    assert.match(
      await events.frame(),
      new RegExp(
        `^\\{"PositionCleared":\\{"user":"${alice.id}","asset":"2","sub_account_index":3,"timestamp_ns":18\\d{17}\\}\\}$`,
      ),
    );
    assert.deepEqual(
      ((await alice.read(`/positions/${alice.id}?sub_account=3`)) as { positions: Row[] }).positions,
      [],
    );
    await node.ledgerAddsUp();
    events.socket.terminate();
  });

  test('open interest and prices are there after a restart (wire-additions.md 6)', async () => {
    const before = JSON.parse((await alice.market('/openinterest/1')).text) as Row;
    await node.restart();
    const restored = JSON.parse((await alice.market('/openinterest/1')).text) as Row;
    assert.deepEqual([restored['long'], restored['short']], [before['long'], before['short']]);
    assert.equal((JSON.parse((await alice.market('/ticker/2')).text) as Row)['index_price'], '3000');
  });

  test('rows of a day are made of the tables after a restart, when their seconds are long gone (wire-additions.md 7.2)', async () => {
    await node.advance(86_400n * 1_000_000_000n);
    const read = async (interval: string): Promise<{ items: Row[]; truncated_before_ns: number | null }> =>
      JSON.parse((await alice.market(`/klines/2?interval=${interval}`)).text);
    const before = await read('1D');
    assert.ok(before.items.length > 0);
    await node.advance(8n * 86_400n * 1_000_000_000n);
    await node.restart();
    assert.deepEqual(await read('1D'), before);
    assert.equal((await read('1m')).truncated_before_ns, null);
    const seconds = await read('1S');
    assert.deepEqual(seconds.items, []);
    assert.notEqual(seconds.truncated_before_ns, null);
  });
});
