// tier: quick

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { applyBatch } from '../../src/clearing/clearing.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import { configList } from '../../src/clearing/registry/registry-config.ts';
import { createClearingState } from '../../src/clearing/state.ts';
import { stateLines } from '../../src/clearing/state-hash.ts';
import type { AssetId } from '../../src/core/ids.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import type { OperatorRequest } from '../../src/operator/commands.ts';
import { mustInputs } from '../support/asked.ts';
import {
  type Answer,
  acceptedValue,
  CHAIN,
  ClearingWorld,
  codeOf,
  effectsOf,
  PlainTables,
  reply,
  TOKEN,
} from '../support/clearing-world.ts';
import { ETH, USD } from '../support/names.ts';

const SOL = '7' as AssetId;
const SETTLER = 'ed4928c628d1c2c6eae90338905995612959273a5c63f93636c14614ac8737d1';
const MARKET = { book_price_decimals: 2, book_quantity_decimals: 4 };

function fieldOf(answer: Answer): string | undefined {
  return answer.ok ? undefined : answer.reject.field;
}

suite('assets', () => {
  test('a PUT answers the whole object with its defaults (operator-api.md 4.1)', () => {
    const world = new ClearingWorld();
    assert.deepEqual(acceptedValue(world.put('putAsset', SOL, {})), {
      asset_id: '7',
      symbol: null,
      max_adl: null,
      rebalancing: { mode: 'fixed', deposit_rate: '0', withdrawal_rate: '0' },
      mark_band: null,
      mark_min_notional: '0',
      tokens: [],
    });
    const token = { token: '5a'.repeat(20), chain_id: CHAIN, decimals: 6 };
    const body = {
      symbol: 'SOL',
      max_adl: '10.50',
      rebalancing: { mode: 'curve', k: '0.0125', target_weights: { [CHAIN]: '1' } },
    };
    assert.deepEqual(acceptedValue(world.put('putAsset', SOL, { ...body, tokens: [token] })), {
      asset_id: '7',
      symbol: 'SOL',
      max_adl: '10.5',
      rebalancing: { mode: 'curve', k: '0.0125', target_weights: { [CHAIN]: '1' } },
      mark_band: null,
      mark_min_notional: '0',
      tokens: [
        {
          token: TOKEN,
          chain_id: CHAIN,
          decimals: 6,
          max_deposits: null,
          max_1hr_deposits: null,
          min_weight: '0',
          min_first_deposit_base_units: '0',
        },
      ],
    });
    assert.equal(acceptedValue(world.put('putAsset', SOL, { symbol: 'SOL2' }, 'patch'))['max_adl'], '10.5');
    assert.equal(acceptedValue(world.put('putAsset', SOL, {}))['symbol'], null);
  });

  test('unknown members are refused by name, at any depth', () => {
    const world = new ClearingWorld();
    const misspelt = world.put('putAsset', SOL, { symbl: 'X', sumbol: 'Y' });
    assert.equal(fieldOf(misspelt), 'symbl');
    assert.equal(misspelt.ok ? '' : misspelt.reject.message, 'unknown member: did you mean "symbol"?');
    const unlike = world.put('putAsset', SOL, { colour: 'red' });
    assert.equal(unlike.ok ? '' : unlike.reject.message, 'unknown member');
    const token = { token: TOKEN, chain_id: CHAIN, decimals: 6, decimal: 6 };
    assert.equal(fieldOf(world.put('putAsset', SOL, { tokens: [token] })), 'tokens[0].decimal');
    assert.equal(fieldOf(world.put('putAsset', SOL, { rebalancing: { mode: 'fixed', k: '1' } })), 'rebalancing.k');
    const curve = (k: string, ...weights: readonly string[]): string | undefined => {
      const target_weights = Object.fromEntries(weights.map((weight, at) => [`${CHAIN.slice(1)}${at}`, weight]));
      return fieldOf(world.put('putAsset', SOL, { rebalancing: { mode: 'curve', k, target_weights } }));
    };
    // The potential of MON-03 bounds its rates only so.
    assert.equal(curve('0.012500000000000001', '1'), 'rebalancing.k');
    assert.equal(curve('0.0125', '0.5', '0.4'), 'rebalancing.target_weights');
    assert.equal(curve('0.0125', '0.5', '0.500000000000000001'), 'rebalancing.target_weights');
    assert.equal(curve('0.0125'), 'rebalancing.target_weights');
    assert.equal(codeOf(world.put('putAsset', SOL, [])), 'INVALID_REQUEST');
    assert.equal(world.state.assets.size, 0);
  });

  test('decimals of a token never change, and a token belongs to one asset', () => {
    const world = ClearingWorld.withMarket();
    const token = { token: TOKEN, chain_id: CHAIN, decimals: 8 };
    assert.equal(codeOf(world.put('putAsset', USD, { tokens: [token] }, 'patch')), 'IMMUTABLE_FIELD');
    assert.equal(codeOf(world.put('putAsset', SOL, { tokens: [{ ...token, decimals: 6 }] })), 'INVALID_REQUEST');
    assert.equal(codeOf(world.put('putAsset', SOL, {}, 'patch')), 'ASSET_NOT_FOUND');
  });
});

suite('decimals of tokens (operator-api.md 4.1 IMMUTABLE_FIELD)', () => {
  const token = { token: TOKEN, chain_id: CHAIN, decimals: 18 };
  const other = { ...token, decimals: 6 };

  test('a token that an asset no longer has keeps its decimals, there and in any other asset', () => {
    const world = new ClearingWorld();
    acceptedValue(world.put('putAsset', SOL, { tokens: [token] }));
    acceptedValue(world.put('putAsset', SOL, { tokens: [] }));
    for (const asset of [SOL, ETH]) {
      for (const method of asset === SOL ? (['put', 'patch'] as const) : (['put'] as const)) {
        const refused = world.put('putAsset', asset, { tokens: [other] }, method);
        assert.equal(codeOf(refused), 'IMMUTABLE_FIELD');
        assert.equal(fieldOf(refused), 'tokens[0].decimals');
      }
    }
    // It goes to another asset, is dropped there too, and comes home: its decimals are the same all the way.
    const shown = acceptedValue(world.put('putAsset', ETH, { tokens: [token] }));
    assert.deepEqual(Object.keys(shown).sort(), [
      'asset_id',
      'mark_band',
      'mark_min_notional',
      'max_adl',
      'rebalancing',
      'symbol',
      'tokens',
    ]);
    acceptedValue(world.put('putAsset', ETH, { symbol: 'ETH' }));
    assert.equal(codeOf(world.put('putAsset', SOL, { tokens: [other] })), 'IMMUTABLE_FIELD');
    acceptedValue(world.put('putAsset', SOL, { tokens: [token] }));
    acceptedValue(world.put('putAsset', SOL, { symbol: 'SOL' }, 'patch'));
    assert.equal(codeOf(world.put('putAsset', ETH, { tokens: [other] })), 'INVALID_REQUEST');
  });

  test('what was dropped is remembered by tables, by a replay and by the state hash', () => {
    const world = new ClearingWorld();
    acceptedValue(world.put('putAsset', SOL, { tokens: [token] }));
    acceptedValue(world.put('putAsset', SOL, {}));
    acceptedValue(world.put('putRisk', SOL, { collateral_factor: 10 }));
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    const loaded = tables.load();
    const replayed = createClearingState();
    for (const batch of world.journal) applyBatch(replayed, batch, []);
    const never = new ClearingWorld();
    acceptedValue(never.put('putAsset', SOL, {}));
    acceptedValue(never.put('putAsset', SOL, {}));
    acceptedValue(never.put('putRisk', SOL, { collateral_factor: 10 }));
    assert.notDeepEqual([...stateLines(never.state)], [...stateLines(world.state)]);
    for (const state of [loaded, replayed]) {
      assert.deepEqual([...stateLines(state)], [...stateLines(world.state)]);
      const effects: Effect[] = [];
      const body = { tokens: [other] };
      const put = { kind: 'putAsset', request: 9, method: 'put', assetId: ETH, body } as const;
      applyBatch(state, { timeNs: world.nowNs, inputs: mustInputs([put]), verdicts: [] }, effects);
      assert.equal(codeOf(reply(effects)), 'IMMUTABLE_FIELD');
    }
  });

  test('an asset drops 1024 tokens in its life, then it keeps what it has', () => {
    const world = new ClearingWorld();
    const named = (from: number): object[] =>
      Array.from({ length: 512 }, (_, at) => ({ ...token, token: (from + at).toString(16).padStart(64, '0') }));
    for (const from of [0, 512]) acceptedValue(world.put('putAsset', SOL, { tokens: named(from) }));
    acceptedValue(world.put('putAsset', SOL, { tokens: [token] }));
    const refused = world.put('putAsset', SOL, { tokens: [] });
    assert.equal(codeOf(refused), 'INVALID_REQUEST');
    assert.equal(fieldOf(refused), 'tokens');
    acceptedValue(world.put('putAsset', SOL, { tokens: [token, ...named(0)] }));
  });
});

suite('risk parameters', () => {
  test('an asset has the defaults with CF 0 and no caps until a row is put (operator-api.md 4.2)', () => {
    const world = ClearingWorld.withMarket();
    const row = acceptedValue(world.put('putRisk', ETH, {}));
    assert.equal(Object.keys(row).length, 21);
    assert.equal(row['collateral_factor'], 0);
    assert.equal(row['max_collateral'], null);
    assert.match(world.state.assets.get(ETH)?.riskJson ?? '', new RegExp(`"max_collateral":"${2n ** 256n - 1n}"`));
  });

  test('lists start, end and move as the registry contract wants (wire.md 12.5)', () => {
    const world = ClearingWorld.withMarket();
    const field = (body: unknown): string | undefined => fieldOf(world.put('putRisk', ETH, body));
    assert.equal(field({ collateral_factor: 101 }), 'collateral_factor');
    assert.equal(field({ utilization_kinks: [1, 1_000_000] }), 'utilization_kinks');
    assert.equal(field({ utilization_kinks: [0, 999_999] }), 'utilization_kinks');
    assert.equal(field({ rate_at_kinks: [5, 4] }), 'rate_at_kinks');
    assert.equal(field({ rate_at_kinks: [1] }), 'rate_at_kinks');
    assert.equal(
      field({ initial_margin_clamps: [0, 5, 4], initial_margin_factors: [3, 2, 1] }),
      'initial_margin_clamps',
    );
    assert.equal(field({ initial_margin_clamps: [0, 5], initial_margin_factors: [1, 2] }), 'initial_margin_factors');
    assert.equal(field({ max_funding_rate: 1_143 }), 'max_funding_rate');
    assert.equal(field({ buffer_multiplier: 999_999 }), 'buffer_multiplier');
    assert.equal(field({ max_utilization: '1000000000000000001' }), 'max_utilization');
    assert.equal(field({ max_collateral: 5 }), 'max_collateral');
    assert.equal(field({ initial_margin_factors: [1_000_000], base_funding_rate: -10 }), undefined);
  });

  test('USD is fixed, unknown assets are 404', () => {
    const world = ClearingWorld.withMarket();
    assert.equal(codeOf(world.put('putRisk', USD, { collateral_factor: 90 }, 'patch')), 'IMMUTABLE_FIELD');
    assert.equal(codeOf(world.put('putRisk', USD, {})), 'IMMUTABLE_FIELD');
    assert.equal(codeOf(world.put('putRisk', USD, { collateral_factor: 100 })), null);
    assert.equal(codeOf(world.put('putRisk', SOL, {})), 'ASSET_NOT_FOUND');
  });
});

suite('markets', () => {
  test('a market has the node’s own dense number and one raw unit for what is left out (AMB-134)', () => {
    const world = ClearingWorld.withMarket();
    world.put('putAsset', SOL, {});
    assert.deepEqual(
      acceptedValue(world.put('putMarket', SOL, { book_price_decimals: 3, book_quantity_decimals: 1 })),
      {
        asset_id: '7',
        book_price_decimals: 3,
        book_quantity_decimals: 1,
        tick_size: '0.001',
        min_order_size: '0.1',
        min_notional: '0.01',
        maker_fee_rate: 0,
        taker_fee_rate: 0,
        status: 'Active',
        self_trade_prevention: false,
        price_collar: null,
      },
    );
    assert.equal(world.state.marketOfAsset.get(SOL)?.definition.marketIndex, 1);
  });

  test('decimals are needed once and never change; PATCH keeps what PUT resets (IMMUTABLE_FIELD)', () => {
    const world = ClearingWorld.withMarket();
    world.put('putAsset', SOL, {});
    assert.equal(fieldOf(world.put('putMarket', SOL, {})), 'book_price_decimals');
    assert.equal(codeOf(world.put('putMarket', ETH, { ...MARKET, book_price_decimals: 3 })), 'IMMUTABLE_FIELD');
    assert.equal(acceptedValue(world.put('putMarket', ETH, { tick_size: '0.05' }, 'patch'))['taker_fee_rate'], 450);
    assert.equal(acceptedValue(world.put('putMarket', ETH, {}))['taker_fee_rate'], 0);
    assert.equal(world.state.markets.length, 1);
  });

  test('values out of range are refused with their field (operator-api.md 4.3)', () => {
    const world = ClearingWorld.withMarket();
    const field = (body: Readonly<Record<string, unknown>>): string | undefined =>
      fieldOf(world.put('putMarket', ETH, body, 'patch'));
    assert.equal(field({ tick_size: '0.001' }), 'tick_size');
    assert.equal(field({ tick_size: '0' }), 'tick_size');
    assert.equal(field({ tick_size: 0.01 }), 'tick_size');
    assert.equal(field({ min_order_size: '900719925475' }), 'min_order_size');
    assert.equal(field({ taker_fee_rate: -1 }), 'taker_fee_rate');
    assert.equal(field({ maker_fee_rate: -451 }), 'maker_fee_rate');
    assert.equal(field({ status: 'Open' }), 'status');
    assert.equal(field({ price_collar: '-0.1' }), 'price_collar');
    assert.equal(field({ isolated: true }), 'isolated');
    assert.equal(field({ maker_fee_rate: -450, price_collar: '0.05', status: 'CancelOnly' }), undefined);
  });

  test('USD has no market, unknown assets and markets are 404', () => {
    const world = ClearingWorld.withMarket();
    assert.equal(codeOf(world.put('putMarket', USD, MARKET)), 'INVALID_REQUEST');
    assert.equal(codeOf(world.put('putMarket', SOL, MARKET)), 'ASSET_NOT_FOUND');
    world.put('putAsset', SOL, {});
    assert.equal(codeOf(world.put('putMarket', SOL, MARKET, 'patch')), 'MARKET_NOT_FOUND');
    assert.equal(
      fieldOf(world.put('putMarket', SOL, { book_price_decimals: 9, book_quantity_decimals: 10 })),
      'book_quantity_decimals',
    );
  });
});

type ConfigRequest = Extract<OperatorRequest, { kind: 'putConfig' }>;

suite('operator objects', () => {
  function put(
    world: ClearingWorld,
    config: ConfigRequest['config'],
    key: string,
    body: unknown,
    method: ConfigRequest['method'] = 'put',
  ): Answer {
    return reply(world.send({ kind: 'putConfig', request: world.request(), config, key, method, body }));
  }

  test('confirmations of a chain follow its vm id (DEP-17 to DEP-20, operator-api.md 4.4)', () => {
    const world = new ClearingWorld();
    const cases: readonly (readonly [number, number])[] = [
      [1, 4],
      [42_161, 15],
      [143, 15],
      [8_453, 10],
      [31_337, 1],
    ];
    for (const [vm, count] of cases) {
      const chain = acceptedValue(put(world, 'chain', vm.toString(16).padStart(18, '0'), { kind: 'simulated' }));
      assert.deepEqual(chain['confirmations'], { deposit: count, withdrawal: count, settlement: 0 });
    }
    assert.equal(fieldOf(put(world, 'chain', CHAIN, { kind: 'simulated', rpc_urls: [] })), 'rpc_urls');
    assert.equal(codeOf(put(world, 'chain', CHAIN, { kind: 'evm', rpc_urls: ['https://a.example'] })), null);
  });

  test('a chain has one vault, listed in order of registration (VAULT_EXISTS, AMB-107)', () => {
    const world = new ClearingWorld();
    const body = { administrators: ['5d5c99edf529335160ff180fa141dd4967fc00d2'], quorum: 1, confirmations: null };
    const vault = (byte: string, chain: string): string => `${byte.repeat(20)}${'0'.repeat(24)}@${chain}`;
    assert.equal(codeOf(put(world, 'vault', vault('0d', CHAIN), body)), 'CHAIN_NOT_FOUND');
    put(world, 'chain', CHAIN, { kind: 'simulated' });
    put(world, 'chain', '000000000000000001', { kind: 'simulated' });
    assert.deepEqual(acceptedValue(put(world, 'vault', vault('0d', CHAIN), body)), {
      vault: vault('0d', CHAIN),
      ...body,
      abi: 'v1',
    });
    assert.equal(codeOf(put(world, 'vault', vault('0c', CHAIN), body)), 'VAULT_EXISTS');
    assert.equal(codeOf(put(world, 'vault', vault('0a', '000000000000000001'), body)), null);
    assert.equal(codeOf(put(world, 'vault', vault('0d', CHAIN), body)), null);
    assert.deepEqual(
      configList(world.state, 'vault').map((item) => item['vault']),
      [vault('0d', CHAIN), vault('0a', '000000000000000001')],
    );
    assert.equal(fieldOf(put(world, 'vault', vault('0d', CHAIN), { ...body, quorum: 2 })), 'quorum');
  });

  test('a settler can be removed, once (operator-api.md 4.6)', () => {
    const world = new ClearingWorld();
    put(world, 'chain', CHAIN, { kind: 'simulated' });
    assert.equal(codeOf(put(world, 'settler', SETTLER, { chain_id: CHAIN, executor: 'e3'.repeat(20) })), null);
    assert.deepEqual(configList(world.state, 'settler'), [
      { settler: SETTLER, chain_id: CHAIN, executor: 'e3'.repeat(20) },
    ]);
    assert.deepEqual(put(world, 'settler', SETTLER, null, 'delete'), { ok: true, value: {} });
    assert.equal(codeOf(put(world, 'settler', SETTLER, null, 'delete')), 'SETTLER_NOT_FOUND');
    assert.deepEqual(configList(world.state, 'settler'), []);
  });

  test('settings change by member and keep the rest (operator-api.md 4.10)', () => {
    const world = new ClearingWorld();
    assert.equal(world.state.settings.acks, 'optimistic');
    put(world, 'settings', '', { acks: 'durable', oracle_max_jump: '0.50' }, 'patch');
    const settings = acceptedValue(put(world, 'settings', '', { public_trade_cache: 5 }, 'patch'));
    assert.equal(settings['acks'], 'durable');
    assert.equal(settings['oracle_max_jump'], '0.5');
    assert.equal(world.state.settings.public_trade_cache, 5);
    assert.equal(fieldOf(put(world, 'settings', '', { ack: 'durable' }, 'patch')), 'ack');
    assert.equal(fieldOf(put(world, 'settings', '', { fee_account: 'me' }, 'patch')), 'fee_account');
  });
});

suite('oracle prices', () => {
  function prices(world: ClearingWorld, ...items: readonly unknown[]): Answer {
    return reply(world.send({ kind: 'setPrices', request: world.request(), body: { prices: items } }));
  }
  const reasons = (answer: Answer): unknown =>
    (acceptedValue(answer)['rejected'] as { reason: string }[]).map((item) => item.reason);

  test('a price needs a known asset, a value above zero and a newer time (AMB-108)', () => {
    const world = ClearingWorld.withMarket();
    const now = world.nowNs;
    assert.deepEqual(acceptedValue(prices(world, { asset_id: '2', price: '3000.250' })), {
      accepted: [{ asset_id: '2', price: '3000.25', publish_time_ns: now }],
      rejected: [],
    });
    const answer = prices(
      world,
      { asset_id: '9', price: '1' },
      { asset_id: '0', price: '1' },
      { asset_id: '2', price: '0' },
      { asset_id: '2', price: '-1' },
      { asset_id: '2', price: '1', publish_time_ns: now },
      { asset_id: '2', price: '1', publish_time_ns: now + 5_000_000_001n },
    );
    assert.deepEqual(reasons(answer), [
      'UnknownAsset',
      'UnknownAsset',
      'NotPositive',
      'NotPositive',
      'NotNewer',
      'TooFarAhead',
    ]);
    assert.deepEqual(acceptedValue(prices(world, { asset_id: '2', price: '3001' }))['accepted'], [
      { asset_id: '2', price: '3001', publish_time_ns: now + 1n },
    ]);
    assert.equal(codeOf(prices(world, { asset_id: '2', price: 3000 })), 'INVALID_REQUEST');
  });

  test('a jump over the setting waits for a second source, equal is no jump (AMB-108)', () => {
    const world = ClearingWorld.withMarket();
    world.send({
      kind: 'putConfig',
      request: 1,
      config: 'settings',
      key: '',
      method: 'patch',
      body: { oracle_max_jump: '0.5' },
    });
    const say = (price: string, source: string): unknown => {
      world.nowNs = (world.nowNs + 1n) as TimestampNs;
      return reasons(prices(world, { asset_id: '2', price, source }));
    };
    assert.deepEqual(say('1000', 'a'), []);
    assert.deepEqual(say('1500', 'a'), []);
    assert.deepEqual(say('2250.000000000000000001', 'a'), ['Jump']);
    assert.deepEqual(say('2300', 'a'), ['Jump'], 'the same source does not confirm itself');
    assert.deepEqual(say('9000', 'b'), ['Jump'], 'another source that says something else does not confirm');
    assert.deepEqual(say('9100', 'a'), []);
    assert.equal(world.state.prices.get(ETH)?.jump, null);
  });

  test('every accepted price is published, refused ones are not', () => {
    const world = ClearingWorld.withMarket();
    const effects = world.send({
      kind: 'setPrices',
      request: 1,
      body: {
        prices: [
          { asset_id: '2', price: '3000' },
          { asset_id: '2', price: '0' },
        ],
      },
    });
    assert.equal(effectsOf(effects, 'priceAccepted').length, 1);
  });
});
