// tier: quick
/** What operators configure and read (operator-api.md 4 to 6), over a real clearing state. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ensureUser } from '../../src/clearing/balances.ts';
import { setBackstopRow } from '../../src/clearing/liquidation/liquidation-rows.ts';
import { positionSlot, setLegs } from '../../src/clearing/positions.ts';
import { stateLines } from '../../src/clearing/state-hash.ts';
import { must } from '../../src/core/assert.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { type Amount18, ONE_18, type TimestampNs, ZERO_18 } from '../../src/core/units.ts';
import type { Legs } from '../../src/risk/position.ts';
import { OpsFixture } from '../support/ops-client.ts';
import { NEVER_SEEN } from '../support/ops-world.ts';

const CHAIN = '000000000000007a69';
const TOKEN_40 = '6b'.repeat(20);
const TOKEN_64 = TOKEN_40.padEnd(64, '0');
const USER = '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c';
const MARKET = { book_price_decimals: 2, book_quantity_decimals: 4, tick_size: '0.01', min_order_size: '0.001' };
const T0 = '1800000000000000000';
let fixture: OpsFixture;

beforeEach(async () => {
  fixture = await new OpsFixture().open();
});
afterEach(() => fixture.close());

async function withMarket(): Promise<void> {
  await fixture.ok('PUT', '/operator/assets/0', { symbol: 'USD' });
  await fixture.ok('PUT', '/operator/assets/2', { symbol: 'ETH' });
  await fixture.ok('PUT', '/operator/markets/2', { ...MARKET, maker_fee_rate: 100, taker_fee_rate: 450 });
}

describe('bodies', () => {
  test('a malformed body reaches no journal, and its target is refused before it (operator-api.md 2)', async () => {
    await withMarket();
    await fixture.ok('PUT', `/operator/chains/${CHAIN}`, { kind: 'simulated' });
    const vault = `${TOKEN_64}@${CHAIN}`;
    const malformed = { nonsense: true };
    const before = [...stateLines(fixture.world.state)];
    const refusals: [string, string, string][] = [
      ['PATCH', '/operator/assets/2', '400 INVALID_REQUEST'],
      ['PATCH', '/operator/assets/9', '404 ASSET_NOT_FOUND'],
      ['PUT', '/operator/risk-parameters/2', '400 INVALID_REQUEST'],
      ['PUT', '/operator/risk-parameters/9', '404 ASSET_NOT_FOUND'],
      ['PUT', '/operator/markets/2', '400 INVALID_REQUEST'],
      ['PUT', '/operator/markets/0', '400 INVALID_REQUEST'],
      ['PUT', '/operator/markets/9', '404 ASSET_NOT_FOUND'],
      ['PUT', `/operator/vaults/${vault}`, '400 INVALID_REQUEST'],
      ['PUT', `/operator/vaults/${TOKEN_64}@${'0'.repeat(17)}1`, '404 CHAIN_NOT_FOUND'],
      ['PUT', `/operator/settlers/${USER}`, '400 INVALID_REQUEST'],
      ['PUT', '/operator/withdrawal-delay-parameters', '400 INVALID_REQUEST'],
      ['PATCH', '/operator/settings', '400 INVALID_REQUEST'],
      ['PUT', `/operator/users/${USER}`, '400 INVALID_REQUEST'],
      ['POST', '/operator/prices', '400 INVALID_REQUEST'],
      ['POST', '/operator/faucet', '400 INVALID_REQUEST'],
    ];
    const commands = fixture.world.commands;
    for (const [method, path, expected] of refusals) {
      const { status, text } = await fixture.call(method, path, malformed);
      const { error } = JSON.parse(text) as { error: { code: string; details: { field?: string } } };
      const { code, details } = error;
      assert.equal(`${status} ${code}`, expected, `${method} ${path}`);
      if (path.includes('markets/0')) assert.equal(details.field, 'asset_id');
    }
    assert.equal(fixture.world.commands, commands, 'clearing received none of them');
    assert.deepEqual([...stateLines(fixture.world.state)], before);
  });
});

describe('assets', () => {
  const token = { token: TOKEN_40, chain_id: CHAIN, decimals: 18, max_deposits: '200000000000000000000000' };

  test('a put answers the whole object with its defaults, and so do the reads', async () => {
    const eth = await fixture.ok('PUT', '/operator/assets/2', { symbol: 'ETH', tokens: [token] });
    assert.deepEqual(eth, {
      asset_id: '2',
      symbol: 'ETH',
      max_adl: null,
      rebalancing: { mode: 'fixed', deposit_rate: '0', withdrawal_rate: '0' },
      mark_band: null,
      mark_min_notional: '0',
      tokens: [
        { ...token, token: TOKEN_64, max_1hr_deposits: null, min_weight: '0', min_first_deposit_base_units: '0' },
      ],
    });
    await fixture.ok('PUT', '/operator/assets/10', {});
    assert.deepEqual(await fixture.ok('GET', '/operator/assets/2'), eth);
    const { assets } = (await fixture.ok('GET', '/operator/assets')) as unknown as { assets: { asset_id: string }[] };
    assert.deepEqual(
      assets.map((asset) => asset.asset_id),
      ['2', '10'],
    );
    const patched = await fixture.ok('PATCH', '/operator/assets/2', { max_adl: '5' });
    assert.deepEqual(patched, { ...eth, max_adl: '5' });
  });

  test('refusals name the code and the field', async () => {
    await fixture.ok('PUT', '/operator/assets/2', { tokens: [token] });
    const path = '/operator/assets/2';
    assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'PUT', path, { symbool: 'E' }), 'symbool');
    assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'PUT', '/operator/assets/02', {}), 'asset_id');
    assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'GET', '/operator/assets/65536'), 'asset_id');
    const other = { tokens: [{ ...token, decimals: 6 }] };
    assert.equal(await fixture.refused(409, 'IMMUTABLE_FIELD', 'PUT', path, other), 'tokens[0].decimals');
    await fixture.refused(404, 'ASSET_NOT_FOUND', 'GET', '/operator/assets/9');
    await fixture.refused(404, 'ASSET_NOT_FOUND', 'PATCH', '/operator/assets/9', {});
  });
});

describe('risk parameters and markets', () => {
  test('risk rows have defaults before they are put, null for no cap, and USD is fixed', async () => {
    await withMarket();
    const before = await fixture.ok('GET', '/operator/risk-parameters/2');
    assert.equal(Object.keys(before).length, 21);
    assert.deepEqual([before['collateral_factor'], before['max_collateral']], [0, null]);
    const body = { collateral_factor: 90, max_collateral: '100000000000000000000000' };
    const put = await fixture.ok('PUT', '/operator/risk-parameters/2', body);
    assert.deepEqual(put, { ...before, ...body });
    const patched = await fixture.ok('PATCH', '/operator/risk-parameters/2', { isolated_only: true });
    assert.deepEqual(patched, { ...put, isolated_only: true });
    assert.deepEqual(await fixture.ok('GET', '/operator/risk-parameters/2'), patched);
    assert.deepEqual(Object.keys(await fixture.ok('GET', '/operator/risk-parameters')), ['0', '2']);
    await fixture.refused(409, 'IMMUTABLE_FIELD', 'PUT', '/operator/risk-parameters/0', { collateral_factor: 50 });
    await fixture.refused(404, 'ASSET_NOT_FOUND', 'GET', '/operator/risk-parameters/9');
    const field = await fixture.refused(400, 'INVALID_REQUEST', 'PUT', '/operator/risk-parameters/2', { skew: 1 });
    assert.equal(field, 'skew');
  });

  test('a market is created by put and changed by patch; its decimals never change', async () => {
    await withMarket();
    const market = await fixture.ok('GET', '/operator/markets/2');
    assert.deepEqual(market, {
      asset_id: '2',
      ...MARKET,
      min_notional: '0.01',
      maker_fee_rate: 100,
      taker_fee_rate: 450,
      status: 'Active',
      self_trade_prevention: false,
      price_collar: null,
    });
    const halted = await fixture.ok('PATCH', '/operator/markets/2', { status: 'Halted' });
    assert.deepEqual(halted, { ...market, status: 'Halted' });
    assert.deepEqual(await fixture.ok('GET', '/operator/markets'), { markets: [halted] });
    const path = '/operator/markets/2';
    const immutable = { book_price_decimals: 3 };
    assert.equal(await fixture.refused(409, 'IMMUTABLE_FIELD', 'PATCH', path, immutable), 'book_price_decimals');
    assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'PUT', '/operator/markets/0', MARKET), 'asset_id');
    await fixture.refused(404, 'ASSET_NOT_FOUND', 'PUT', '/operator/markets/9', MARKET);
    await fixture.refused(404, 'MARKET_NOT_FOUND', 'GET', '/operator/markets/0');
    await fixture.ok('PUT', '/operator/assets/7', {});
    await fixture.refused(404, 'MARKET_NOT_FOUND', 'PATCH', '/operator/markets/7', { status: 'Halted' });
  });

  test('an address-form asset is one path segment, whatever its spelling', async () => {
    const id = `${TOKEN_64}@${CHAIN}`;
    const put = await fixture.ok('PUT', `/operator/assets/${encodeURIComponent(`0x${TOKEN_40}@${CHAIN}`)}`, {});
    assert.equal(put['asset_id'], id);
    assert.equal((await fixture.ok('GET', `/operator/assets/${id}`))['asset_id'], id);
  });
});

describe('chains, vaults, settlers, settings, delays', () => {
  const vault = `${'0d'.repeat(20).padEnd(64, '0')}@${CHAIN}`;

  test('chains and vaults are registered once each and listed', async () => {
    const chain = await fixture.ok('PUT', `/operator/chains/${CHAIN}`, { kind: 'simulated', block_time_ms: 250 });
    assert.deepEqual(chain, {
      chain_id: CHAIN,
      kind: 'simulated',
      block_time_ms: 250,
      auto_mine: false,
      providers: 3,
      confirmations: { deposit: 1, withdrawal: 1, settlement: 0 },
      checkpoint_interval_ms: 1000,
      approval_validity_s: 3600,
      escape_timeout_s: 604800,
    });
    assert.deepEqual(await fixture.ok('GET', '/operator/chains'), { chains: [chain] });
    assert.deepEqual(await fixture.ok('GET', `/operator/chains/${CHAIN}`), chain);
    await fixture.refused(404, 'CHAIN_NOT_FOUND', 'GET', '/operator/chains/000000000000000001');
    assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'GET', '/operator/chains/1'), 'chain_id');

    const body = { administrators: ['5d'.repeat(20)], quorum: 1 };
    const short = `/operator/vaults/${'0d'.repeat(20)}@${CHAIN}`;
    assert.deepEqual(await fixture.ok('PUT', short, body), { vault, ...body, confirmations: null, abi: 'v1' });
    assert.deepEqual(await fixture.ok('GET', '/operator/vaults'), {
      vaults: [{ vault, ...body, confirmations: null, abi: 'v1' }],
    });
    await fixture.refused(409, 'VAULT_EXISTS', 'PUT', `/operator/vaults/${'0e'.repeat(20)}@${CHAIN}`, body);
    await fixture.refused(
      404,
      'CHAIN_NOT_FOUND',
      'PUT',
      `/operator/vaults/${'0e'.repeat(20)}@000000000000000001`,
      body,
    );
    assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'PUT', '/operator/vaults/0d@1', body), 'vault');
  });

  test('settlers come and go', async () => {
    await fixture.ok('PUT', `/operator/chains/${CHAIN}`, { kind: 'simulated' });
    const body = { chain_id: CHAIN, executor: 'e3'.repeat(20) };
    const path = `/operator/settlers/${USER}`;
    assert.deepEqual(await fixture.ok('PUT', path, body), { settler: USER, ...body });
    assert.deepEqual(await fixture.ok('GET', '/operator/settlers'), { settlers: [{ settler: USER, ...body }] });
    assert.deepEqual(await fixture.ok('DELETE', path), {});
    assert.deepEqual(await fixture.ok('GET', '/operator/settlers'), { settlers: [] });
    await fixture.refused(404, 'SETTLER_NOT_FOUND', 'DELETE', path);
    assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'DELETE', '/operator/settlers/xy'), 'settler');
  });

  test('settings and delays have their defaults before they are set', async () => {
    const settings = await fixture.ok('GET', '/operator/settings');
    assert.deepEqual(
      [settings['acks'], settings['max_open_orders'], settings['oracle_max_jump']],
      ['optimistic', 1000, null],
    );
    const patched = await fixture.ok('PATCH', '/operator/settings', { acks: 'durable' });
    assert.deepEqual(patched, { ...settings, acks: 'durable' });
    assert.deepEqual(await fixture.ok('GET', '/operator/settings'), patched);
    assert.equal(
      await fixture.refused(400, 'INVALID_REQUEST', 'PATCH', '/operator/settings', { ack: 'durable' }),
      'ack',
    );
    await fixture.refused(405, 'METHOD_NOT_ALLOWED', 'PUT', '/operator/settings', {});
    assert.deepEqual(settings['webauthn'], { rp_id: 'localhost', origins: ['http://localhost'] });
    assert.deepEqual(settings['approval_keys'], ['5d5c99edf529335160ff180fa141dd4967fc00d2']);
    for (const member of ['webauthn', 'approval_keys']) {
      const body = { [member]: settings[member] };
      assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'PATCH', '/operator/settings', body), member);
    }

    const path = '/operator/withdrawal-delay-parameters';
    const delays = await fixture.ok('GET', path);
    assert.deepEqual(delays, {
      min_delay: 30,
      max_delay: 3600,
      delay_clamps: [0, 10000, 50000, 250000],
      delay_values: [0, 300, 1800, 7200],
      cap_floor: 50000,
    });
    assert.deepEqual(await fixture.ok('PUT', path, { ...delays, min_delay: 60 }), { ...delays, min_delay: 60 });
    assert.deepEqual(await fixture.ok('GET', path), { ...delays, min_delay: 60 });
  });
});

describe('users', () => {
  test('a user exists after a put, also a key never seen, with what the gateway has', async () => {
    const path = `/operator/users/${USER}`;
    await fixture.refused(404, 'USER_NOT_FOUND', 'GET', `/operator/users/${NEVER_SEEN}`);
    assert.equal((await fixture.ok('GET', path))['is_mm'], false, 'a session makes a user known (AMB-139)');
    const user = await fixture.ok('PUT', path, { is_mm: true });
    assert.deepEqual(user, {
      user_id: USER,
      is_mm: true,
      config_nonce: 0,
      sub_accounts: {
        0: { kind: 'spot', name: 'Spot', balances: { 0: { owned: '0', held: '0', locked: '0' } }, positions: {} },
        1: {
          kind: 'cross_margin',
          name: 'Margin',
          balances: { 0: { owned: '0', held: '0', locked: '0' } },
          positions: {},
        },
      },
      isolated_lots: [],
      withdrawal_usage: {},
      action_nonces: { transfer: 0, close_position: 0 },
      pressure: { 1: { buy: '7329.495', sell: '0' } },
      sessions: 1,
      streams: 2,
    });
    assert.deepEqual(await fixture.ok('GET', path), user);
    assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'PUT', path, { is_mm: 1 }), 'is_mm');
    assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'GET', '/operator/users/zz'), 'user_id');
  });
});

describe('prices', () => {
  test('nanoseconds beyond 2^53 survive both ways, to the last digit', async () => {
    await withMarket();
    const body =
      '{"prices":[{"asset_id":"2","price":"3000.25","publish_time_ns":1799999999999999999},{"asset_id":"9","price":"1"}]}';
    const posted = await fixture.call('POST', '/operator/prices', body);
    assert.equal(
      posted.text,
      '{"accepted":[{"asset_id":"2","price":"3000.25","publish_time_ns":1799999999999999999}],' +
        '"rejected":[{"asset_id":"9","reason":"UnknownAsset"}]}',
    );
    assert.equal(
      (await fixture.call('GET', '/operator/prices')).text,
      '{"prices":{"2":{"oracle":{"price":"3000.25","publish_time_ns":1799999999999999999,"age_ns":1,' +
        '"state":"healthy","fresh_updates":0},"mark":{"price":null,"timestamp_ns":null,"age_ns":null,' +
        '"state":"none","fresh_updates":0},"circuit_broken":false}}}',
    );
    const field = await fixture.refused(400, 'INVALID_REQUEST', 'POST', '/operator/prices', {
      prices: [{ asset: '2' }],
    });
    assert.equal(field, 'prices[0].asset');
  });

  test('a price is stale after one hour (CB-01) and gone after two (LIQ-10); an asset without one has none', async () => {
    await withMarket();
    const oracle = async (): Promise<Readonly<Record<string, unknown>>> => {
      const { prices } = (await fixture.ok('GET', '/operator/prices')) as unknown as {
        prices: Record<string, { oracle: Record<string, unknown> }>;
      };
      return prices['2']?.oracle ?? {};
    };
    assert.deepEqual([(await oracle())['state'], (await oracle())['price']], ['none', null]);
    await fixture.ok('POST', '/operator/prices', { prices: [{ asset_id: '2', price: '3000' }] });
    const hour = 3_600_000_000_000n;
    fixture.world.clock.advance(hour);
    assert.equal((await oracle())['state'], 'healthy');
    fixture.world.clock.advance(1n);
    assert.deepEqual([(await oracle())['state'], (await oracle())['price']], ['stale', '3000']);
    fixture.world.clock.advance(hour);
    assert.equal((await oracle())['price'], null);
  });

  test('a stale oracle breaks the asset and recovers with the third price in a row (CB-01, CB-03, AMB-44)', async () => {
    await withMarket();
    const said = async (): Promise<readonly unknown[]> => {
      const { prices } = (await fixture.ok('GET', '/operator/prices')) as unknown as {
        prices: Record<string, { oracle: Record<string, unknown>; circuit_broken: boolean }>;
      };
      const { oracle = {}, circuit_broken } = prices['2'] ?? {};
      return [oracle['state'], oracle['fresh_updates'], circuit_broken];
    };
    assert.deepEqual(await said(), ['none', 0, true]);
    const publish = (): Promise<unknown> =>
      fixture.ok('POST', '/operator/prices', { prices: [{ asset_id: '2', price: '3000' }] });
    await publish();
    assert.deepEqual(await said(), ['healthy', 0, false]);
    fixture.world.clock.advance(3_600_000_000_001n);
    assert.deepEqual(await said(), ['stale', 0, true]);
    const steps: readonly (readonly unknown[])[] = [
      ['recovering', 1, true],
      ['recovering', 2, true],
      ['healthy', 0, false],
    ];
    for (const expected of steps) {
      await publish();
      assert.deepEqual(await said(), expected);
    }
  });
});

describe('reads', () => {
  test('state shows profile, clock, journal, markets and counts', async () => {
    await withMarket();
    const { text, json } = await fixture.call('GET', '/operator/state');
    assert.ok(text.startsWith(`{"profile":"test","clock":{"mode":"manual","now_ns":${T0}},"journal":{"sequence":6,`));
    assert.match(String(json['state_hash']), /^[0-9a-f]{64}$/);
    assert.deepEqual(json['markets'], {
      2: { sequence: 0, last_trade_id: 0, depth_sequence: 0, open_orders: 0, untriggered_orders: 0 },
    });
    assert.deepEqual(json['counts'], {
      users: 0,
      sub_accounts: 0,
      open_orders: 0,
      pending_fills: 0,
      confirmed_trades: 0,
      rolled_back_fills: 0,
      deposits: 0,
      withdrawals_live: 0,
      settlements_live: 0,
    });
  });

  test('actors are those of the plan, with mailboxes, batches and messages', async () => {
    const { actors } = (await fixture.ok('GET', '/operator/actors')) as unknown as {
      actors: Record<string, unknown>[];
    };
    assert.deepEqual(
      actors.map((actor) => actor['name']),
      fixture.world.plan.actors.map((actor) => actor.name),
    );
    assert.deepEqual(actors[0], {
      name: 'front-door',
      thread: 'main',
      state: 'starting',
      mailbox: { depth: 0, capacity: 65_536 * actorsInto('front-door'), high_water: 0, reserved: 0 },
      batches: { count: 0, last: 0, max: 0, mean: '0' },
      messages_in: 0,
      messages_out: 0,
    });
  });

  test('the ledger adds up after the faucet', async () => {
    await withMarket();
    const body = { user_id: USER, sub_account: 1, asset_id: '0', amount: '1000.5' };
    assert.deepEqual(await fixture.ok('POST', '/operator/faucet', body), { balance: '1000.5' });
    const { assets } = (await fixture.ok('GET', '/operator/ledger')) as unknown as {
      assets: Record<string, Record<string, string>>;
    };
    const { spot, faucet, claims, difference } = assets['0'] ?? {};
    assert.deepEqual([spot, faucet, claims, difference], ['1000.5', '-1000.5', '0', '0']);
  });

  test('the backstop shows its capital and what it took over, by index (BKS-02, operator-api.md 6)', async () => {
    await withMarket();
    const { state, clock } = fixture.world;
    const account = state.settings.backstop_account;
    assert.deepEqual(await fixture.ok('GET', '/operator/backstop'), { account, capital: '0', sub_accounts: [] });
    const backstop = ensureUser(state, account, []);
    const taken = must(backstop.subAccounts.get(1), 'every user has account 1');
    const legs = { base: 2n * ONE_18, quote: -100n * ONE_18, entry: 100n * ONE_18 } as Legs;
    setLegs(state, positionSlot(state, taken, '2' as AssetId), legs);
    setBackstopRow(state, {
      index: 1,
      sourceUser: USER as UserId,
      sourceIndex: 7,
      startedNs: clock.nowNs(),
      state: 'working',
      provisional: ONE_18,
      posted: ZERO_18,
      taken: [],
      takenSpot: [],
      adlClosed: [{ asset: '2' as AssetId, quantity: (ONE_18 / 2n) as Amount18 }],
      clipNs: 0n as TimestampNs,
      adlMarket: null,
      counterparties: [],
      order: null,
    });
    const { text } = await fixture.call('GET', '/operator/backstop');
    assert.equal(
      text,
      `{"account":"${account}","capital":"0","sub_accounts":[{"index":1,"source_user":"${USER}","source_index":7,` +
        '"state":"working","spot":{},"positions":{"2":{"base":"2","quote":"-100"}},"provisional_collateral":"1",' +
        '"posted_collateral":"0","equity":"-100","im_surplus":"-100","im_requirement":"0","adl_closed":{"2":"0.5"}}]}',
    );
  });

  test('accounts at risk are listed with the smallest surplus first, as many as asked for (AMB-62)', async () => {
    const path = '/operator/accounts-at-risk';
    await withMarket();
    assert.deepEqual(await fixture.ok('GET', path), {
      timestamp_ns: 0,
      accounts_at_risk: 0,
      shielded_accounts: 0,
      accounts: [],
    });
    const { state, atRisk, clock } = fixture.world;
    for (const user of ['1'.repeat(64), '2'.repeat(64)] as UserId[]) {
      // An account that owes 100 USD for nothing.
      const account = must(ensureUser(state, user, []).subAccounts.get(1), 'every user has account 1');
      const legs = { base: 0n, quote: -100n * ONE_18, entry: 0n } as Legs;
      setLegs(state, positionSlot(state, account, '2' as AssetId), legs);
      atRisk.judged(account, true);
    }
    atRisk.poll(state, { nowNs: () => clock.nowNs(), elapsedMs: () => 0 });
    const { text, json } = await fixture.call('GET', `${path}?limit=1`);
    assert.deepEqual(json['accounts'], [
      {
        user_id: '1'.repeat(64),
        sub_account: 1,
        maintenance_surplus: '-100',
        maintenance_requirement: '0',
        is_shielded: false,
        liquidation: null,
        positions: {},
      },
    ]);
    assert.ok(text.startsWith(`{"timestamp_ns":${T0},"accounts_at_risk":2,"shielded_accounts":0,"accounts":[`), text);
    assert.equal(((await fixture.ok('GET', path))['accounts'] as unknown as readonly unknown[]).length, 2);
    for (const above of ['1001', '9'.repeat(400)]) {
      assert.equal((await fixture.ok('GET', `${path}?limit=${above}`))['accounts_at_risk'], 2, 'the cap');
    }
    for (const query of ['limit=0', 'limit=-1', 'limit=x', 'limit=1&limit=1', 'page=1']) {
      const field = query.split('=')[0];
      assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'GET', `${path}?${query}`), field);
    }
  });
});

function actorsInto(actor: string): number {
  return fixture.world.plan.edges.filter((edge) => edge.to === actor).length;
}

test('a changing call is answered after every actor had time to see it; a refused one is not kept waiting', async () => {
  await fixture.ok('PUT', '/operator/assets/2', {});
  assert.deepEqual(fixture.world.settled, [2_000]);
  await fixture.refused(400, 'INVALID_REQUEST', 'PUT', '/operator/assets/2', { wrong: 1 });
  await fixture.ok('GET', '/operator/assets/2');
  assert.deepEqual(fixture.world.settled, [2_000]);
});
