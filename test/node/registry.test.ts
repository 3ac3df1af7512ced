// tier: full, 4 s
/** The public registry, and markets that any user may create (REG-01 to REG-09, IDN-02 to IDN-06, AMB-130). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { TestNode } from '../support/test-node.ts';
import type { Trader } from '../support/wire-trader.ts';

const DEV = '000000000000007a69';
const ZEROS = '0'.repeat(24);
const USDC = `${'5a'.repeat(20)}${ZEROS}@${DEV}`;
const ETH = `${'6b'.repeat(20)}${ZEROS}@${DEV}`;
const NO_CAP = ((1n << 256n) - 1n).toString();

suite('registry', () => {
  let world: TestNode;
  let user: Trader;

  before(async () => {
    world = await TestNode.start();
    user = await world.trader({});
  });
  after(() => world.stop());

  const get = async (path: string): Promise<{ status: number; text: string; json: never }> => {
    const answer = await fetch(`${world.process.oms}${path}`);
    const text = await answer.text();
    return { status: answer.status, text, json: JSON.parse(text) as never };
  };
  const post = async (path: string, body: string): Promise<[number, string]> => {
    const answer = await fetch(`${world.process.oms}${path}`, { method: 'POST', body });
    return [answer.status, await answer.text()];
  };
  const refused = ([status, text]: [number, string]): string => `${status} ${JSON.parse(text).error.code}`;

  test('assets are listed by index, chain address and row, with both spellings of the caps (REG-04, REG-05, C4, AMB-117, AMB-138)', async () => {
    const { status, json } = await get('/registry/assets');
    const assets = json as Record<string, Record<string, Record<string, unknown>>>;
    assert.deepEqual([status, Object.keys(assets)], [200, ['0', '1', '2', '3']]);
    assert.deepEqual(assets['2'], {
      [ETH]: {
        address: ETH.slice(0, 64),
        maxDeposits: '200000000000000000000000',
        max1hrDeposits: '20000000000000000000000',
        minWeight: '0',
        max_deposits: '200000000000000000000000',
        max_1hr_deposits: '20000000000000000000000',
        symbol: 'ETH',
        decimals: 18,
      },
    });
    assert.deepEqual(Object.keys(assets['0'] ?? {}).length, 2, 'USD has a token on both chains');
  });

  test('an operator changes a row and every user reads it; no cap is the largest number (REG-04, AMB-140)', async () => {
    const token = { token: '7d'.repeat(20), chain_id: DEV, decimals: 9, max_deposits: null, min_weight: '1200000' };
    await world.operate('PUT', '/operator/assets/9', { symbol: 'NINE', tokens: [token] });
    const row = (await get('/registry/assets')).json['9'] as Record<string, Record<string, unknown>>;
    const [address] = Object.keys(row);
    assert.equal(address, `${'7d'.repeat(20)}${ZEROS}@${DEV}`);
    assert.deepEqual(
      [row[address ?? '']?.['maxDeposits'], row[address ?? '']?.['minWeight'], row[address ?? '']?.['decimals']],
      [NO_CAP, '1200000', 9],
    );
  });

  test('vaults are chain addresses in order of registration, over a restart too (REG-07, IDN-07, GEN-06)', async () => {
    const expected = `["${'0e'.repeat(20)}${ZEROS}@000000000000000001","${'0d'.repeat(20)}${ZEROS}@${DEV}"]`;
    assert.equal((await get('/registry/vaults')).text, expected);
    await world.restart();
    assert.equal((await get('/registry/vaults')).text, expected);
  });

  test('risk parameters have exactly the keys of the contract, USD included (REG-08, AMB-140)', async () => {
    const rows = (await get('/registry/risk-parameters')).json as Record<string, Record<string, unknown>>;
    const keys =
      'collateral_factor liability_factor max_collateral max_total_open_interest_notional max_spot_open_interest ' +
      'max_utilization isolated_only initial_margin_clamps initial_margin_factors max_funding_rate ' +
      'max_utilization_rate utilization_kinks rate_at_kinks quote_utilization_kinks quote_rate_at_kinks skew_factor ' +
      'base_funding_rate skew_cliff premium_clamp buffer_multiplier min_sub_account_balance';
    for (const asset of ['0', '1', '2', '3', '9']) {
      assert.deepEqual(Object.keys(rows[asset] ?? {}).sort(), keys.split(' ').sort(), asset);
    }
    assert.deepEqual([rows['0']?.['collateral_factor'], rows['0']?.['max_collateral']], [100, NO_CAP]);
    assert.deepEqual(
      [rows['9']?.['collateral_factor'], rows['2']?.['initial_margin_clamps']],
      [0, [0, 500000, 750000, 900000]],
    );
  });

  test('decimals are answered under the requested text, unknown tokens are left out (REG-09, IDN-04 to IDN-06)', async () => {
    const short = `0x${'6B'.repeat(20)}@0x${DEV}`;
    const stranger = `${'77'.repeat(32)}@${DEV}`;
    const asked = JSON.stringify({ assets: [USDC, short, stranger, '2'] });
    assert.deepEqual(await post('/registry/decimals', asked), [200, `{"${USDC}":6,"${short}":18}`]);
    assert.deepEqual(await post('/registry/decimals', '{"assets":[]}'), [200, '{}']);
    const bad = [`${'77'.repeat(31)}@${DEV}`, `${'77'.repeat(32)}@7a69`, 'ETH'];
    for (const asset of bad) {
      assert.equal(
        refused(await post('/registry/decimals', JSON.stringify({ assets: [asset] }))),
        '400 INVALID_REQUEST',
      );
    }
    for (const body of ['', '[]', '{}', '{"assets":"2"}', '{"assets":[2]}']) {
      assert.equal(refused(await post('/registry/decimals', body)), '400 INVALID_REQUEST', body);
    }
  });

  test('a refresh of decimals takes a session and at most 100 assets (wire.md 7.1, AMB-91)', async () => {
    const body = (count: number): string => JSON.stringify({ assets: Array.from({ length: count }, () => USDC) });
    assert.equal(refused(await post('/registry/decimals/update', body(1))), '401 UNAUTHORIZED');
    assert.equal(refused(await post('/registry/decimals/update', body(101))), '400 INVALID_REQUEST');
    assert.deepEqual(await user.call('POST', '/registry/decimals/update', body(100)), { status: 200, text: '{}' });
  });

  test('a market exists by its asset in any spelling, USD and symbols have none (REG-01 to REG-03, IDN-02 to IDN-04, IDN-10)', async () => {
    const { json: eth } = await get('/market/2');
    const { json: markets } = await get('/markets');
    const keys =
      'asset_id book_price_decimals book_quantity_decimals max_leverage isolated_only tick_size min_order_size ' +
      'fee_schedule maker_fee_rate taker_fee_rate status self_trade_prevention';
    assert.deepEqual(Object.keys(eth), keys.split(' '));
    assert.deepEqual([eth['max_leverage'], eth['tick_size'], eth['min_order_size']], ['10', '0.01', '0.001']);
    assert.deepEqual((markets as { asset_id: string }[])[1], eth);
    for (const path of ['0', 'ETH', '02', '99', `${'77'.repeat(32)}@${DEV}`]) {
      const { status, json } = await get(`/market/${path}`);
      assert.deepEqual([status, (json['error'] as { code: string }).code], [404, 'MARKET_NOT_FOUND'], path);
    }
  });

  test('a market of a token answers to its raw and its escaped address, and has no symbol (IDN-04, IDN-05, IDN-11)', async () => {
    const address = `${'8e'.repeat(20)}${ZEROS}@${DEV}`;
    await world.operate('PUT', `/operator/assets/${address}`, {});
    await world.operate('PUT', `/operator/markets/${address}`, { book_price_decimals: 2, book_quantity_decimals: 4 });
    for (const path of [address, address.replace('@', '%40'), `${'8E'.repeat(20)}@${DEV}`]) {
      const { status, json } = await get(`/market/${path}`);
      assert.deepEqual([status, json['asset_id'], 'symbol' in json], [200, address, false], path);
    }
  });

  test('any user makes the market of an asset with risk parameters, once, and it is open (AMB-130)', async () => {
    const create = (asset: string): Promise<[number, string]> => post('/market/create', `{"asset_id":"${asset}"}`);
    assert.deepEqual(await create('2'), [200, (await get('/market/2')).text], 'a market that exists is left as it is');
    for (const asset of ['0', '9', '77']) assert.equal(refused(await create(asset)), '404 MARKET_NOT_FOUND', asset);
    assert.equal(refused(await create('ETH')), '400 INVALID_REQUEST');
    await world.operate('PUT', '/operator/risk-parameters/9', { collateral_factor: 50 });
    const both = await Promise.all([create('9'), create('9')]);
    assert.deepEqual(both[0], both[1]);
    const made = JSON.parse(both[0][1]);
    assert.deepEqual([both[0][0], made.asset_id, made.max_leverage, made.status], [200, '9', '2', 'Active']);
    await world.operate('PATCH', '/operator/markets/9', { taker_fee_rate: 7 });
    assert.equal(JSON.parse((await create('9'))[1]).taker_fee_rate, 7);
    await world.operate('PUT', '/operator/risk-parameters/1', { collateral_factor: 50 });
    await world.operate('PATCH', '/operator/settings', { self_service_markets: false });
    await world.operate('PUT', '/operator/assets/10', {});
    await world.operate('PUT', '/operator/risk-parameters/10', { collateral_factor: 50 });
    assert.equal(refused(await create('10')), '404 MARKET_NOT_FOUND');
    assert.equal((await create('9'))[0], 200, 'what exists is answered all the same');
  });

  test('without a snapshot the registry is 503 and retryable, until it is released (REG-06, ERR-09)', async () => {
    const dropped = await world.hook({ fault: { kind: 'drop_snapshot' } });
    assert.deepEqual(dropped['faults'], [{ kind: 'drop_snapshot', remaining: 1 }]);
    for (const path of ['/registry/assets', '/registry/vaults', '/registry/risk-parameters']) {
      const { status, json } = await get(path);
      const { code, retryable } = json['error'] as { code: string; retryable: boolean };
      assert.deepEqual([status, code, retryable], [503, 'SERVICE_UNAVAILABLE', true], path);
    }
    assert.equal((await get('/market/2')).status, 200);
    await world.hook({ release: true });
    assert.equal((await get('/registry/assets')).status, 200);
  });
});
