// tier: quick
/** Test hooks and simulated chains (operator-api.md 7, 8) as the ops listener serves them. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { devKey } from '../../src/client/keys.ts';
import { limitOrder, signCreate } from '../../src/client/signed-actions.ts';
import { OpsFixture } from '../support/ops-client.ts';

const CHAIN = '000000000000007a69';
const USER = '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c';
const T0 = '1800000000000000000';
const CLEARING = '/operator/clearing';
const NOTHING = { hold: { all: false, assets: [] }, held_fills: 0, delay_ms: 0, faults: [] };
let fixture: OpsFixture;

beforeEach(async () => {
  fixture = await new OpsFixture().open();
  await fixture.ok('PUT', '/operator/assets/2', {});
  await fixture.ok('PUT', '/operator/markets/2', { book_price_decimals: 2, book_quantity_decimals: 4 });
  fixture.world.settled.length = 0;
});
afterEach(() => fixture.close());

test('in production no hook exists, whatever the method, and prices are the oracle entry', async () => {
  const production = await new OpsFixture('production').open();
  const chain = `/operator/chains/${CHAIN}`;
  const hooks = ['/operator/clock', '/operator/barrier', CLEARING, '/operator/faucet'];
  const chains = ['deposits', 'mine', 'tokens/mint', 'counters', 'balances', 'vault', 'providers'];
  for (const path of [...hooks, ...chains.map((name) => `${chain}/${name}`)]) {
    await production.refused(404, 'NOT_FOUND', 'POST', path, {});
    await production.refused(404, 'NOT_FOUND', 'GET', path);
  }
  assert.deepEqual(await production.ok('POST', '/operator/prices', { prices: [] }), { accepted: [], rejected: [] });
  await production.close();
});

describe('the clock', () => {
  test('it moves by a length or to an instant, exactly, and the answer waits for rest', async () => {
    const read = await fixture.call('GET', '/operator/clock');
    assert.equal(read.text, `{"mode":"manual","now_ns":${T0}}`);
    const advanced = await fixture.call('POST', '/operator/clock', '{"advance_ns":61000000001}');
    assert.equal(advanced.text, '{"mode":"manual","now_ns":1800000061000000001}');
    const set = await fixture.call('POST', '/operator/clock', '{"set_ns":1800000061000000003}');
    assert.equal(set.text, '{"mode":"manual","now_ns":1800000061000000003}');
    assert.deepEqual(fixture.world.settled, [10_000, 10_000]);
  });

  test('it never goes back, and a body has exactly one member', async () => {
    assert.equal(
      await fixture.refused(409, 'CLOCK_BACKWARDS', 'POST', '/operator/clock', '{"set_ns":1799999999999999999}'),
      'set_ns',
    );
    const bodies: [string, string][] = [
      ['{}', 'advance_ns'],
      ['{"advance_ns":1,"set_ns":2}', 'set_ns'],
      ['{"advance_ns":-1}', 'advance_ns'],
      ['{"advance_ns":"1"}', 'advance_ns'],
      ['{"advance_ns":8000000000000000000}', 'advance_ns'],
      ['{"set_ns":9300000000000000000}', 'set_ns'],
      ['{"advance":1}', 'advance'],
    ];
    for (const [body, field] of bodies) {
      assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'POST', '/operator/clock', body), field, body);
    }
    assert.equal(String(fixture.world.clock.nowNs()), T0);
  });

  test('a node that does not come to rest is 504', async () => {
    fixture.world.isAtRest = false;
    await fixture.refused(504, 'TIMEOUT', 'POST', '/operator/clock', { advance_ns: 5 });
    await fixture.refused(504, 'TIMEOUT', 'POST', '/operator/barrier', { timeout_ms: 7 });
    assert.deepEqual(fixture.world.settled, [10_000, 7]);
  });
});

test('the barrier answers where the journal stands, and waits 5 s by default', async () => {
  assert.deepEqual(await fixture.ok('POST', '/operator/barrier'), { quiescent: true, journal_sequence: 4 });
  assert.deepEqual(fixture.world.settled, [5_000]);
  assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'POST', '/operator/barrier', { timeout: 1 }), 'timeout');
});

describe('clearing', () => {
  test('holds of everything or of an asset end with a release', async () => {
    assert.deepEqual(await fixture.ok('GET', CLEARING), NOTHING);
    const held = { ...NOTHING, hold: { all: false, assets: ['2'] } };
    assert.deepEqual(await fixture.ok('POST', CLEARING, { hold: { asset_id: '2' } }), held);
    assert.deepEqual(await fixture.ok('POST', CLEARING, { release: { fills: 1 } }), held);
    const all = { ...NOTHING, hold: { all: true, assets: ['2'] } };
    assert.deepEqual(await fixture.ok('POST', CLEARING, { hold: true }), all);
    assert.deepEqual(await fixture.ok('POST', CLEARING, { release: true }), NOTHING);
    await fixture.refused(404, 'ASSET_NOT_FOUND', 'POST', CLEARING, { hold: { asset_id: '9' } });
  });

  test('a delay is set, shown and ended', async () => {
    assert.deepEqual(await fixture.ok('POST', CLEARING, { delay_ms: 50 }), { ...NOTHING, delay_ms: 50 });
    assert.deepEqual(await fixture.ok('POST', CLEARING, { delay_ms: 0 }), NOTHING);
  });

  test('faults are armed, shown and cleared; a stall ends with the release', async () => {
    const fault = { kind: 'reject_fill', party: 'maker', reason: 'Overfill', count: 2 };
    const armed = { kind: 'reject_fill', remaining: 2 };
    assert.deepEqual((await fixture.ok('POST', CLEARING, { fault }))['faults'], [armed]);
    const stalled = { kind: 'stall_market', asset_id: '2', remaining: 1 };
    const stall = { fault: { kind: 'stall_market', asset_id: '2' } };
    assert.deepEqual((await fixture.ok('POST', CLEARING, stall))['faults'], [armed, stalled]);
    assert.deepEqual((await fixture.ok('POST', CLEARING, { fault: null }))['faults'], [stalled]);
    assert.deepEqual(await fixture.ok('POST', CLEARING, { release: true }), NOTHING);
    assert.deepEqual(fixture.world.stalls, [
      [0, true],
      [0, false],
    ]);
    await fixture.refused(404, 'MARKET_NOT_FOUND', 'POST', CLEARING, {
      fault: { kind: 'stall_market', asset_id: '7' },
    });
  });

  test('a crash is planned at its point, and taken back', async () => {
    await fixture.ok('POST', CLEARING, { fault: { kind: 'crash', point: 'after_flush', after_transactions: 3 } });
    await fixture.ok('POST', CLEARING, { fault: null });
    assert.deepEqual(fixture.world.hooks, [
      { kind: 'crash', point: 'after_flush', afterTransactions: 3 },
      { kind: 'crash', point: null, afterTransactions: 0 },
    ]);
  });

  test('an order is injected as in its wrapper, past the checks that are named', async () => {
    const ticket = { assetId: '2', side: 'Sell', price: '3000', quantity: '0.5', orderId: 'past-checks' } as const;
    const key = devKey('a');
    const decimals = { priceDecimals: 2, quantityDecimals: 4 };
    const { body } = signCreate(key, limitOrder(ticket, { signer: key.userId, decimals, nowNs: 1n }), 1n);
    const fault = `{"fault":{"kind":"inject_order","wrapper":${body},"skip":["signature","fees"]}}`;
    assert.deepEqual(await fixture.ok('POST', CLEARING, fault), NOTHING);
    assert.deepEqual(fixture.world.injected, [['past-checks', 'signature', 'fees']]);
    const broken = `{"fault":{"kind":"inject_order","wrapper":{"order":{}}}}`;
    await fixture.refused(400, 'INVALID_REQUEST', 'POST', CLEARING, broken);
  });

  test('what is not exactly one known thing is refused by name', async () => {
    const bodies: [unknown, string][] = [
      [{}, 'hold'],
      [{ hold: true, delay_ms: 1 }, 'delay_ms'],
      [{ held: true }, 'held'],
      [{ hold: false }, 'hold'],
      [{ release: false }, 'release'],
      [{ fault: true }, 'fault'],
      [{ hold: { asset_id: '2', x: 1 } }, 'hold.x'],
      [{ release: { fills: 0 } }, 'release.fills'],
      [{ delay_ms: 1_000_000 }, 'delay_ms'],
      [{ fault: { kind: 'inject_order' } }, 'fault.wrapper'],
      [{ fault: { kind: 'inject_order', wrapper: {}, skip: ['shape'] } }, 'fault.skip'],
      [{ fault: { kind: 'inject_fill', asset_id: '2' } }, 'fault.maker'],
      [{ fault: { kind: 'inject_fill', asset_id: '2', maker: { user_id: USER } } }, 'fault.maker.order_id'],
      [{ fault: { kind: 'withhold_checkpoints' } }, 'fault.chain_id'],
      [{ fault: { kind: 'withhold_checkpoints', chain_id: 'x' } }, 'fault.chain_id'],
      [{ fault: {} }, 'fault.kind'],
      [{ fault: { kind: 'reject_fill', party: 'nobody' } }, 'fault.party'],
      [{ fault: { kind: 'crash', point: 'later' } }, 'fault.point'],
      [{ fault: { kind: 'crash', point: 'now', after: 1 } }, 'fault.after'],
      [{ fault: { kind: 'stall_market' } }, 'fault.asset_id'],
    ];
    for (const [body, field] of bodies) {
      assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'POST', CLEARING, body), field, JSON.stringify(body));
    }
  });
});

test('the faucet credits, takes back, and refuses what is not there', async () => {
  const grant = { user_id: USER, sub_account: 0, asset_id: '2', amount: '2.5' };
  assert.deepEqual(await fixture.ok('POST', '/operator/faucet', grant), { balance: '2.5' });
  assert.deepEqual(await fixture.ok('POST', '/operator/faucet', { ...grant, amount: '-1' }), { balance: '1.5' });
  const refused = (body: unknown, status = 400, code = 'INVALID_REQUEST') =>
    fixture.refused(status, code, 'POST', '/operator/faucet', body);
  assert.equal(await refused({ ...grant, amount: '-9' }), 'amount');
  assert.equal(await refused({ ...grant, amount: 1 }), 'amount');
  assert.equal(await refused({ ...grant, to: 'x' }), 'to');
  await refused({ ...grant, asset_id: '9' }, 404, 'ASSET_NOT_FOUND');
});

describe('simulated chains', () => {
  const path = (name: string, chain = CHAIN): string => `/operator/chains/${chain}/${name}`;
  const transaction = { tx: 'ab'.repeat(32), status: 'mined', revert: null, block: 12, head: 12, nonce: 0 };
  const token = '5a'.repeat(20);

  beforeEach(async () => {
    await fixture.ok('PUT', `/operator/chains/${CHAIN}`, { kind: 'simulated' });
    await fixture.ok('PUT', '/operator/chains/000000000000000001', { kind: 'evm', rpc_urls: ['http://rpc.example'] });
  });

  test('unknown chains are 404, evm chains 400', async () => {
    await fixture.refused(404, 'CHAIN_NOT_FOUND', 'POST', path('mine', '000000000000000002'), {});
    assert.equal(
      await fixture.refused(400, 'INVALID_REQUEST', 'POST', path('mine', '000000000000000001'), {}),
      'chain_id',
    );
  });

  test('a deposit has its defaults, in normal form', async () => {
    const body = { user: USER, token, amount_base_units: '1000000' };
    assert.deepEqual(await fixture.ok('POST', path('deposits'), body), transaction);
    assert.deepEqual(fixture.chains.asked, [
      [
        CHAIN,
        {
          user: USER,
          token: token.padEnd(64, '0'),
          baseUnits: 1_000_000n,
          from: 'aa'.repeat(20).padEnd(64, '0'),
          approve: true,
          senderAllowed: true,
          confirm: true,
        },
      ],
    ]);
    const refused = (more: object) =>
      fixture.refused(400, 'INVALID_REQUEST', 'POST', path('deposits'), { ...body, ...more });
    assert.equal(await refused({ amount: '1' }), 'amount');
    assert.equal(await refused({ amount_base_units: '-1' }), 'amount_base_units');
    assert.equal(await refused({ config: { master_weight: 1 } }), 'config.low_threshold');
    assert.equal(await refused({ config: [] }), 'config');
  });

  test('MSG-04: a deposit with a configuration has every figure of it, exactly', async () => {
    const signer = {
      ...{ key: new Array(32).fill(7), key_type: 1, key_prefix: 2, weight: 4_294_967_295 },
      ...{ expires_at_ns: '@', max_signing_window_ns: 0 },
    };
    const config = {
      ...{ master_weight: 1, low_threshold: 2, medium_threshold: 3, high_threshold: 4, signers: [signer] },
      master_config_signature: [1, 255],
    };
    const body = JSON.stringify({ user: USER, token, amount_base_units: '1', config });
    const exact = body.replace('"@"', '18446744073709551615');
    assert.deepEqual(await fixture.ok('POST', path('deposits'), exact), transaction);
    const [, request] = fixture.chains.asked.at(-1) as [string, { readonly config: unknown }];
    assert.deepEqual(request.config, {
      ...{ masterWeight: 1, low: 2, medium: 3, high: 4, signature: '01ff' },
      signers: [
        {
          ...{ key: '07'.repeat(32), keyType: 1, keyPrefix: 2, weight: 4_294_967_295 },
          ...{ expiresAtNs: 2n ** 64n - 1n, maxSigningWindowNs: 0n },
        },
      ],
    });
    const wrong: readonly (readonly [string, string, string])[] = [
      ['"key_type":1', '"key_type":256', 'config.signers.0.key_type'],
      ['"weight":4294967295', '"weight":4294967296', 'config.signers.0.weight'],
      ['18446744073709551615', '18446744073709551616', 'config.signers.0.expires_at_ns'],
      ['"key":[7,', '"key":[', 'config.signers.0.key'],
      ['"key_prefix"', '"prefix"', 'config.signers.0.prefix'],
      ['[1,255]', '[1,256]', 'config.master_config_signature'],
    ];
    for (const [before, after, field] of wrong) {
      assert.ok(exact.includes(before), before);
      const refused = exact.replace(before, after);
      assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'POST', path('deposits'), refused), field);
    }
  });

  test('blocks and tokens are made on request', async () => {
    assert.deepEqual(await fixture.ok('POST', path('mine')), { head: 13 });
    assert.deepEqual(await fixture.ok('POST', path('mine'), { blocks: 3 }), { head: 15 });
    assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'POST', path('mine'), { blocks: 0 }), 'blocks');
    const mint = { token, to: 'bb'.repeat(20), amount_base_units: '5' };
    assert.deepEqual(await fixture.ok('POST', path('tokens/mint'), mint), transaction);
  });

  test('what a chain shows is read by query', async () => {
    assert.deepEqual(await fixture.ok('GET', path(`counters?user=${USER}`)), {
      depositCounts: 1,
      withdrawalCounts: 0,
      settlementCounts: 0,
    });
    assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'GET', path('counters')), 'user');
    const far = path(`counters?user=${USER}&sub_account=99999999999`);
    assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'GET', far), 'sub_account');
    const query = path(`balances?address=${token}&token=${token}`);
    assert.deepEqual(await fixture.ok('GET', query), { balance_base_units: '1000000000000000000000000000000' });
    assert.deepEqual(await fixture.ok('GET', path('providers')), { providers: [{ provider: 0, fault: 'none' }] });
    assert.deepEqual(await fixture.ok('GET', path('vault')), {
      vault: `${'0d'.repeat(32)}@${CHAIN}`,
      head: 12,
      balances: { ['5a'.repeat(32)]: '1000000000000000000000000' },
      administrators: ['5d'.repeat(20)],
      quorum: 1,
      escape_mode: false,
      last_checkpoint_ns: null,
    });
  });
});
