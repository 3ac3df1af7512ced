// tier: quick
/** Positions, margin, solvency, preview and simulation over HTTP, with the numbers of EX-03 (wire.md 7.11 to 7.16). */

import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { type AssetId, USD, type UserId } from '../../src/core/ids.ts';
import { riskTerms } from '../../src/risk/risk-terms.ts';
import { ask, type HttpAnswer } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { riskRow, source, usd } from '../support/margin-fixture.ts';
import { ALICE, BOB } from '../support/names.ts';
import { BASE, NOW } from '../support/order-fixture.ts';
import { ScriptedOms } from '../support/scripted-oms.ts';

const FLAT = '13' as AssetId;

interface Row {
  readonly sub_account_index: number;
  readonly asset_id: string;
  readonly name: string;
}

/** CF .90, LF .92, im .95; oracle 2000, mark 1990; spot USD 600, long 2 bought at 2000. A flat rest besides. */
function fill({ fixture }: ScriptedOms): void {
  const { manager } = fixture;
  const of = { user: ALICE, subAccount: 1 };
  manager.margin.onRiskChanged(BASE, riskTerms(riskRow(90, 92, 950_000)));
  manager.margin.onOraclePrice(BASE, source(usd(2_000), NOW));
  const interest = { credits: 0n, borrows: 0n };
  manager.margin.onMarketRisk({ marketIndex: 3, mark: source(usd(1_990), NOW), interest, holdings: 0n });
  manager.onBalanceChanged({ ...of, asset: USD, owned: usd(600), locked: usd(0) });
  manager.margin.onPositionChanged({ ...of, asset: BASE, base: usd(2), quote: usd(-4_000), entry: usd(4_000) });
}

suite('margin reads', () => {
  const oms = new ScriptedOms();
  const listener = listenTo(oms);

  before(() => {
    fill(oms);
  });

  const headers = (user: UserId): Record<string, string> => ({
    authorization: `Bearer ${oms.token(user)}`,
    'user-id': user,
  });
  const get = (path: string, user = ALICE): Promise<HttpAnswer> => ask(listener.port, path, { headers: headers(user) });
  const simulate = (body: unknown, user = ALICE): Promise<HttpAnswer> =>
    ask(listener.port, `/account/simulate/${user}`, {
      method: 'POST',
      headers: headers(user),
      body: Buffer.from(JSON.stringify(body)),
    });
  const code = ({ status, text }: HttpAnswer): string => `${status} ${JSON.parse(text).error.code}`;

  const LONG =
    '{"asset_id":"12","name":"Margin","sub_account_index":1,"side":"long","size":"2","base_credits":"2",' +
    '"base_liabilities":"0","quote_credits":"0","quote_liabilities":"4000","entry_price":"2000","mark_price":"1990",' +
    '"unrealized_pnl":"-20","margin":"580","leverage":"6.862068965517241379","liquidation_price":"1888.888888888888888888"}';

  test('positions come in their envelope with both legs and every figure (QRY-05, QRY-07, wire.md 7.11)', async () => {
    const { status, text } = await get(`/positions/${ALICE}`);
    const counters =
      '"page":0,"limit":100,"total_positions":1,"total_pages":1,"cursor_size":1,"has_next_page":false,"next_page":null';
    assert.deepEqual([status, text], [200, `{"positions":[${LONG}],${counters}}`]);
  });

  test('one market: its own positions, unknown markets are 404 (QRY-06)', async () => {
    const own = await get(`/positions/${ALICE}/12?sub_account=1`);
    assert.deepEqual(JSON.parse(own.text).positions, [JSON.parse(LONG)]);
    const elsewhere = await get(`/positions/${ALICE}/12?sub_account=0`);
    assert.deepEqual(JSON.parse(elsewhere.text).positions, []);
    assert.equal(code(await get(`/positions/${ALICE}/999`)), '404 MARKET_NOT_FOUND');
  });

  test('positions come by sub-account, then by asset as a number, in pages (PAG-01, PAG-04)', async () => {
    const of = { user: BOB, base: usd(1), quote: usd(0), entry: usd(0) };
    oms.fixture.manager.onSubAccountChanged({
      user: BOB,
      subAccount: 2,
      kind: 'cross_margin',
      name: 'Two',
      asset: null,
    });
    for (const [subAccount, asset] of [
      [2, '9'],
      [1, '12'],
      [2, '12'],
      [1, '9'],
    ] as const) {
      oms.fixture.manager.margin.onPositionChanged({ ...of, subAccount, asset: asset as AssetId });
    }
    const rows = async (query: string): Promise<readonly string[]> => {
      const { positions } = JSON.parse((await get(`/positions/${BOB}${query}`, BOB)).text) as { positions: Row[] };
      return positions.map((row) => `${row.sub_account_index} ${row.asset_id} ${row.name}`);
    };
    const all = ['1 9 Margin', '1 12 Margin', '2 9 Two', '2 12 Two'];
    assert.deepEqual(await rows(''), all);
    assert.deepEqual([...(await rows('?limit=3')), ...(await rows('?limit=3&page=1'))], all);
    assert.deepEqual(await rows('?sub_account=2'), all.slice(2));
    for (const subAccount of [1, 2]) {
      for (const asset of ['9', '12']) {
        const gone = { user: BOB, subAccount, asset: asset as AssetId, base: usd(0), quote: usd(0), entry: usd(0) };
        oms.fixture.manager.margin.onPositionChanged(gone);
      }
    }
  });

  test('an unknown user has empty pages, none of them positions (AMB-139)', async () => {
    const { status, text } = await get(`/positions/${BOB}`, BOB);
    assert.equal(status, 200);
    assert.deepEqual([JSON.parse(text).positions, JSON.parse(text).total_pages], [[], 0]);
  });

  const FIGURES =
    '"account_equity":"580","available_margin":"2.9","utilized_margin":"577.1","maintenance_margin_surplus":"200",' +
    '"account_leverage":"6.862068965517241379","is_solvent":true,"is_liquidatable":false,"im_surplus":"2.9",' +
    '"unrealized_pnl":"-20"';
  /** Of wire-additions.md 9.1, behind the positions where there are any. */
  const FURTHER = '"total_upnl":"-20","mm_requirement":"400","net_apy":null,"margin_calls":[],"netting":null';

  test('margin has the numbers of EX-03 with its deprecation (QRY-10, MRG-28, VER-03, AMB-129)', async () => {
    const plain = await get(`/margin/user/${ALICE}`);
    assert.equal(plain.headers['deprecation'], 'true');
    assert.equal(plain.text, `{"accounts":{"1":{${FIGURES},${FURTHER}}},"warnings":[]}`);
    const held = '"positions":[{"asset_id":"12","side":"Long","size":"2","notional_value":"3980","margin":"400"}]';
    const detailed = await get(`/margin/user/${ALICE}?sub_account=1&sub_account=0&include_positions=true`);
    assert.equal(detailed.text, `{"accounts":{"1":{${FIGURES},${held},${FURTHER}}},"warnings":[]}`);
    assert.equal((await get(`/margin/user/${ALICE}?sub_account=0`)).text, '{"accounts":{},"warnings":[]}');
    assert.equal(code(await get(`/margin/user/${ALICE}?include_positions=yes`)), '400 INVALID_REQUEST');
    assert.equal((await get(`/positions/${ALICE}`)).headers['deprecation'], undefined);
  });

  test('solvency is the maintenance surplus (wire.md 7.15, AMB-129)', async () => {
    const { text } = await get(`/solvency/user/${ALICE}`);
    assert.equal(text, '{"accounts":{"1":{"is_solvent":true,"distance_from_liquidation":"200"}}}');
  });

  test('inventory lists a position while a leg is not zero (QRY-09, AMB-72)', async () => {
    const { text } = await get(`/inventory/user/${ALICE}?sub_account=1`);
    const margins =
      '"margins":{"12":{"base":{"credits":"2","liabilities":"0"},"quote":{"credits":"0","liabilities":"4000"}}}';
    const account = `{"kind":"cross_margin","name":"Margin","spot":{"0":"600"},${margins}}`;
    assert.equal(text, `{"is_mm":false,"accounts":{"1":${account}}}`);
  });

  test('the preview closes every position whole and changes nothing (QRY-08, AMB-70)', async () => {
    const { text } = await get(`/positions/close-all/${ALICE}/1`);
    const order =
      '{"asset_id":"12","side":"Sell","quantity":20000,"suggested_max_sellable_amount":null,"oracle_price":"2000",' +
      '"book_price_decimals":2,"book_quantity_decimals":4,"sub_account_index":1,"reduce_only":true}';
    assert.equal(text, `{"orders":[${order}],"errors":{}}`);
    assert.equal((await get(`/positions/close-all/${ALICE}/0`)).text, '{"orders":[],"errors":{}}');
    assert.equal(code(await get(`/positions/close-all/${ALICE}/256`)), '400 INVALID_REQUEST');
  });

  test('a flat position with a quote rest stays listed as closed (AMB-69)', async () => {
    const rest = { user: ALICE, subAccount: 1, asset: FLAT, base: usd(0), quote: usd(36), entry: usd(0) };
    oms.fixture.manager.margin.onPositionChanged(rest);
    const { positions } = JSON.parse((await get(`/positions/${ALICE}`)).text);
    const { side, size, quote_credits: quote, entry_price: entry } = positions[1];
    assert.deepEqual([positions.length, side, size, quote, entry], [2, 'closed', '0', '36', null]);
    const margin = JSON.parse((await get(`/margin/user/${ALICE}?include_positions=true`)).text);
    assert.equal(margin.accounts['1'].positions.length, 1, 'and is none where closed is not a word');
    oms.fixture.manager.margin.onPositionChanged({ ...rest, quote: usd(0) });
    assert.equal(JSON.parse((await get(`/positions/${ALICE}`)).text).positions.length, 1);
  });

  const trade = (change: object = {}) => ({
    asset: '12',
    is_buy: false,
    size: '1000000000000000000',
    limit_price: '2000000000000000000000',
    ...change,
  });

  test('a simulated trade is the account after it; the body may leave out what has a default (SIM-01, AMB-71)', async () => {
    const { status, text } = await simulate({ sub_account: 1, trade: trade() });
    assert.equal(status, 200);
    // Spot 600, long 1, quote −2001 at a fee of 1: IM at mark 600 + .855·1990 − 2001.
    const figures =
      '"account_equity":"589","available_margin":"300.45","mm_surplus":"399","account_leverage":"3.378607809847198641",' +
      '"utilized_margin":"288.55","margin_required":"0","margin_impact":"297.55","is_solvent":true,"trade_accepted":true,' +
      '"liquidation_price":"1556.666666666666666666"';
    const held = '{"asset_id":"12","side":"Long","size":"1","notional_value":"1990","margin":"290"}';
    assert.equal(text, `{${figures},"positions":[${held}]}`);
    const after = (await get(`/margin/user/${ALICE}`)).text;
    assert.equal(after, `{"accounts":{"1":{${FIGURES},${FURTHER}}},"warnings":[]}`, 'nothing changed');
  });

  test('a simulated spot trade moves the balances, and its fee is paid in USD (SIM-01, AMB-71)', async () => {
    const spot = trade({ is_buy: true, size: '100000000000000000', trade_type: 'spot' });
    const { account_equity: equity, positions } = JSON.parse((await simulate({ sub_account: 1, trade: spot })).text);
    // 580 before; 0.1 at 2000 is worth 199 at the mark, and its fee is 0.1.
    assert.deepEqual([equity, positions[0].size], ['578.9', '2']);
  });

  test('pending transfers are applied first, and may make a trade feasible (SIM-02)', async () => {
    const buy = { sub_account: 1, trade: trade({ is_buy: true }) };
    const without = JSON.parse((await simulate(buy)).text);
    assert.deepEqual([without.trade_accepted, without.margin_required], [false, '299.55']);
    const pending = [{ asset: '0', amount: '400000000000000000000' }];
    const { trade_accepted: isAccepted, available_margin: available } = JSON.parse(
      (await simulate({ ...buy, pending_transfers: pending })).text,
    );
    assert.deepEqual([isAccepted, available], [true, '103.35']);
    const out = [{ asset: '0', amount: '-600000000000000000001' }];
    assert.equal(code(await simulate({ ...buy, pending_transfers: out })), '400 INVALID_REQUEST');
  });

  test('the notional is at most 50M, by the price given or the higher of oracle and mark (SIM-03)', async () => {
    const sized = (size: string, price?: string) =>
      simulate({ sub_account: 1, trade: { ...trade({ size }), limit_price: price ?? null } });
    assert.equal((await sized(`25000${'0'.repeat(18)}`, `2000${'0'.repeat(18)}`)).status, 200);
    assert.equal(code(await sized(`25000${'0'.repeat(17)}1`, `20000${'0'.repeat(18)}`)), '400 INVALID_REQUEST');
    assert.equal((await sized(`25000${'0'.repeat(18)}`)).status, 200);
    assert.equal(code(await sized(`25001${'0'.repeat(18)}`)), '400 INVALID_REQUEST');
  });

  test('amounts are whole numbers in strings; what is none is refused with its member (SIM-04)', async () => {
    const bad: readonly (readonly [unknown, string])[] = [
      [{ sub_account: 1, trade: trade({ size: '1.5' }) }, 'size'],
      [{ sub_account: 1, trade: trade({ size: 1 }) }, 'size'],
      [{ sub_account: 1, trade: trade({ size: '0' }) }, 'size'],
      [{ sub_account: 1, trade: trade({ trade_type: 'swap' }) }, 'trade_type'],
      [{ sub_account: 9, trade: trade() }, 'sub_account'],
      [{ sub_account: 1 }, 'trade'],
    ];
    for (const [body, field] of bad) {
      const answer = await simulate(body);
      assert.equal(code(answer), '400 INVALID_REQUEST', JSON.stringify(body));
      assert.equal(JSON.parse(answer.text).error.details.field, field);
    }
    assert.equal(code(await simulate({ sub_account: 1, trade: trade({ asset: '999' }) })), '404 MARKET_NOT_FOUND');
  });

  test('all of it is for the user of the session (G25)', async () => {
    const paths = ['/positions/U', '/positions/U/12', '/positions/close-all/U/1', '/margin/user/U', '/solvency/user/U'];
    for (const path of paths) {
      assert.equal(code(await get(path.replace('U', BOB))), '401 UNAUTHORIZED', path);
      assert.equal(code(await ask(listener.port, path.replace('U', ALICE))), '401 UNAUTHORIZED', path);
    }
  });

  test('an asset whose price is an hour old stands under the errors of the preview (AMB-70, CB-01)', async () => {
    oms.now = NOW + 3_600_000_000_001n;
    assert.equal(
      (await get(`/positions/close-all/${ALICE}/1`)).text,
      '{"orders":[],"errors":{"12":"no usable price"}}',
    );
  });

  test('a stored price is not shown after two hours (LIQ-10)', async () => {
    oms.now = NOW + 7_200_000_000_001n;
    const { positions } = JSON.parse((await get(`/positions/${ALICE}`)).text);
    assert.deepEqual([positions[0].mark_price, positions[0].unrealized_pnl], [null, null]);
  });
});
