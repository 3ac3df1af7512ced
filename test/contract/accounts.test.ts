// tier: quick, 3 s
/** Registry, transfers, names, multisig reads and account events (wire.md 7.2, 7.3, 7.17, 7.20, 9.5; REG, TRF, SUB, NON). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { HttpAnswer } from '../support/edge-client.ts';
import { type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

const UNIT = 10n ** 18n;
const CHAIN = '000000000000007a69';
const token = (byte: string): string => `${byte.repeat(20)}${'00'.repeat(12)}@${CHAIN}`;

suite('registry', () => {
  let node: TestNode;
  let alice: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user({});
  });
  after(() => node?.stop());

  const post = (path: string, body: string): Promise<HttpAnswer> => alice.post(path, body, {});

  test('markets are an array of the objects that one market is (REG-01 to REG-03, wire.md 7.2)', async () => {
    const one = (await alice.get('/market/2', {})).text;
    assert.match(
      one,
      /^\{"asset_id":"2","book_price_decimals":2,"book_quantity_decimals":4,"max_leverage":"10","isolated_only":false,"tick_size":"0.01","min_order_size":"0.001","fee_schedule":\{"fee_account":"[0-9a-f]{64}","global":\[\],"per_asset":\[\]\},"maker_fee_rate":100,"taker_fee_rate":450,"status":"Active","self_trade_prevention":false\}$/,
    );
    const all = (await alice.get('/markets', {})).text;
    assert.ok(all.startsWith('[{"asset_id":"1"') && all.includes(one) && all.endsWith('}]'), all);
    assert.equal(toldBy(await alice.get('/market/77', {})), '404 MARKET_NOT_FOUND');
  });

  test('assets are keyed by index, then by token, with both spellings of the caps (REG-04, REG-05, wire.md 7.3, C4)', async () => {
    const { text } = await alice.get('/registry/assets', {});
    const assets = JSON.parse(text) as Record<string, Record<string, Record<string, unknown>>>;
    assert.deepEqual(Object.keys(assets), ['0', '1', '2', '3']);
    const usd = assets['0']?.[token('5a')] ?? assert.fail(text);
    assert.equal(usd['address'], `${'5a'.repeat(20)}${'00'.repeat(12)}`);
    assert.deepEqual([usd['maxDeposits'], usd['max1hrDeposits']], [String(10n ** 9n * UNIT), String(10n ** 8n * UNIT)]);
    assert.deepEqual([usd['max_deposits'], usd['max_1hr_deposits']], [usd['maxDeposits'], usd['max1hrDeposits']]);
    assert.deepEqual([usd['symbol'], usd['decimals']], ['USD', 6]);
    assert.equal(typeof usd['minWeight'], 'string');
  });

  test('vaults are an array of strings, one a chain, in order of registration (REG-07, GEN-06, IDN-07)', async () => {
    const { text } = await alice.get('/registry/vaults', {});
    const vaults = JSON.parse(text) as string[];
    const pad = (byte: string): string => `${byte.repeat(20)}${'00'.repeat(12)}`;
    assert.deepEqual([...vaults].sort(), [`${pad('0d')}@${CHAIN}`, `${pad('0e')}@000000000000000001`].sort());
  });

  test('risk rows have exactly the keys of the contract, USD included (REG-08, AMB-138, AMB-140)', async () => {
    const { text } = await alice.get('/registry/risk-parameters', {});
    const rows = JSON.parse(text) as Record<string, Record<string, unknown>>;
    assert.deepEqual(Object.keys(rows), ['0', '1', '2', '3']);
    const keys = [
      ...['collateral_factor', 'liability_factor', 'max_collateral', 'max_total_open_interest_notional'],
      ...[
        'max_spot_open_interest',
        'max_utilization',
        'isolated_only',
        'initial_margin_clamps',
        'initial_margin_factors',
      ],
      ...['max_funding_rate', 'max_utilization_rate', 'utilization_kinks', 'rate_at_kinks', 'quote_utilization_kinks'],
      ...[
        'quote_rate_at_kinks',
        'skew_factor',
        'base_funding_rate',
        'skew_cliff',
        'premium_clamp',
        'buffer_multiplier',
      ],
      'min_sub_account_balance',
    ];
    for (const row of Object.values(rows)) assert.deepEqual(Object.keys(row), keys);
    assert.equal(rows['0']?.['max_collateral'], String(2n ** 256n - 1n), 'no cap');
    assert.equal(rows['1']?.['max_collateral'], String(5_000n * UNIT));
    assert.equal(rows['3']?.['isolated_only'], true);
  });

  test('decimals are looked up by token, unknown ones are absent (REG-09, wire.md 7.3)', async () => {
    const asked = [token('5a'), token('6b'), token('99')];
    const answer = await post('/registry/decimals', JSON.stringify({ assets: asked }));
    assert.equal(answer.text, JSON.stringify({ [asked[0] ?? '']: 6, [asked[1] ?? '']: 18 }));
    for (const body of ['', '{}', '[]', '{"assets":"x"}', '{"assets":[7]}']) {
      assert.equal(toldBy(await post('/registry/decimals', body)), '400 INVALID_REQUEST', body);
    }
    const refreshed = await alice.post('/registry/decimals/update', JSON.stringify({ assets: asked }));
    assert.deepEqual([refreshed.status, refreshed.text], [200, '{}']);
    const many = JSON.stringify({ assets: Array.from({ length: 101 }, () => token('5a')) });
    assert.equal(toldBy(await alice.post('/registry/decimals/update', many)), '400 INVALID_REQUEST');
    assert.equal(toldBy(await post('/registry/decimals/update', '{"assets":[]}')), '401 UNAUTHORIZED');
  });

  test('without its first snapshot the registry is 503 (REG-06, ERR-09)', async () => {
    await node.hook({ fault: { kind: 'drop_snapshot' } });
    const answer = await alice.get('/registry/assets', {});
    assert.equal(toldBy(answer), '503 SERVICE_UNAVAILABLE');
    assert.match(answer.text, /"retryable":true/);
    await node.hook({ release: true });
    assert.equal((await alice.get('/registry/assets', {})).status, 200);
  });

  test('a market is answered if it exists, else made where the asset has risk parameters (AMB-130)', async () => {
    const known = await post('/market/create', '{"asset_id":"2"}');
    assert.equal(known.text, (await alice.get('/market/2', {})).text);
    assert.equal(toldBy(await post('/market/create', '{"asset_id":"4711"}')), '404 MARKET_NOT_FOUND');
    assert.equal(toldBy(await post('/market/create', '{"asset_id":"0"}')), '404 MARKET_NOT_FOUND');
    for (const body of ['', '{}', '{"asset_id":2}']) {
      assert.equal(toldBy(await post('/market/create', body)), '400 INVALID_REQUEST', body);
    }
  });
});

suite('sub-accounts', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;
  let nonce = 0;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user({ '0': '1000', '2': '10', '3': '500' });
    bob = await node.user({ '0': '1000' });
  });
  after(() => node?.stop());

  const next = (): number => {
    nonce += 1;
    return nonce;
  };
  const done = (answer: HttpAnswer): void => assert.deepEqual([answer.status, answer.text], [200, '{"success":true}']);
  /** 200 with `success:false`: the code. */
  const refusal = (answer: HttpAnswer): string => {
    assert.equal(answer.status, 200, answer.text);
    const shape =
      /^\{"success":false,"details":\{"code":"([A-Z_]+)","message":".+","retryable":(?:true|false)(?:,.+)?\}\}$/;
    return shape.exec(answer.text)?.[1] ?? assert.fail(answer.text);
  };
  const spot = async (account: number, asset = '0'): Promise<string | undefined> => {
    const { accounts } = (await alice.read(`/inventory/user/${alice.id}`)) as {
      accounts: Record<string, { spot: Record<string, string> }>;
    };
    return accounts[account]?.spot[asset];
  };

  test('a transfer moves 18-decimal units exactly and publishes the event (TRF-01, TRF-14, AMT-02, STR-05)', async () => {
    const events = await alice.stream(`/account/events/${alice.id}`);
    done(await alice.transfer({ source: 0, target: 1, amount: String(UNIT), nonce: next() }));
    assert.deepEqual([await spot(0), await spot(1)], ['999', '1']);
    const told = await events.frame();
    assert.match(
      told,
      new RegExp(
        `^\\{"SubAccountAssetTransferred":\\{"user":"${alice.id}","asset":"0","amount":"0xde0b6b3a7640000","source_sub_account_index":0,"target_sub_account_index":1,"timestamp_ns":18\\d{17}\\}\\}$`,
      ),
    );
    done(await alice.transfer({ source: 0, target: 1, amount: '1', nonce: next() }));
    assert.equal(await spot(1), '1.000000000000000001');
    events.socket.terminate();
  });

  test('a deposit is published as it landed (STR-05, AMB-72)', async () => {
    const events = await alice.stream(`/account/events/${alice.id}`);
    const body = { user: alice.id, token: '5a'.repeat(20), amount_base_units: '2500000' };
    await node.operate('POST', `/operator/chains/${CHAIN}/deposits`, body);
    const frame = await events.frame();
    assert.match(
      frame,
      new RegExp(
        `^\\{"DepositLanded":\\{"user":"${alice.id}","asset":"0","amount":"0x22b1c8c1227a0000","chain_id":"${CHAIN}","deposit_nonce":0,"timestamp_ns":18\\d{17}\\}\\}$`,
      ),
    );
    events.socket.terminate();
  });

  test('what clearing refuses is 200 with success false and its code, and moves nothing (GEN-09, AMB-67, TRF-02 to TRF-04)', async () => {
    const before = [await spot(0), await spot(1)];
    const over = await alice.transfer({ source: 0, target: 1, amount: String(10n ** 6n * UNIT), nonce: next() });
    assert.equal(refusal(over), 'INSUFFICIENT_INVENTORY');
    for (const words of [
      { source: 0, target: 0, amount: '1' },
      { source: 0, target: 1, amount: '0' },
      { source: 0, target: 7, amount: '1' },
      { source: 0, target: 256, amount: '1', type: '"Spot"' },
      { source: 0, target: 1, amount: '1', type: '"CrossMargin"' },
    ]) {
      const answer = await alice.transfer({ ...words, nonce: next() });
      assert.ok(answer.status === 400 || refusal(answer) !== '', answer.text);
    }
    assert.deepEqual([await spot(0), await spot(1)], before);
  });

  test('a new account is made by the transfer that names its type, in each form (SUB-05, SUB-09, TRF-06, TRF-07)', async () => {
    done(await alice.transfer({ source: 0, target: 2, amount: '5', type: '"Spot"', nonce: next() }));
    done(await alice.transfer({ source: 0, target: 3, amount: '5', type: '"CrossMargin"', nonce: next() }));
    done(await alice.transfer({ source: 0, target: 4, amount: '5', type: '{"CrossMargin":null}', nonce: next() }));
    done(
      await alice.transfer({ source: 0, target: 5, amount: '5', type: '{"Isolated":{"asset":"3"}}', nonce: next() }),
    );
    const { accounts } = (await alice.read(`/inventory/user/${alice.id}`)) as {
      accounts: Record<string, Record<string, unknown>>;
    };
    const kinds = Object.values(accounts).map(({ kind, asset }) => (asset === undefined ? kind : `${kind} ${asset}`));
    assert.deepEqual(kinds, ['spot', 'cross_margin', 'spot', 'cross_margin', 'cross_margin', 'isolated_margin 3']);
  });

  test('nonces go up, a gap is allowed, a refusal does not use one up (NON-06, NON-07, AMB-68)', async () => {
    const words = { source: 0, target: 1, amount: '7' };
    nonce += 100;
    const used = next();
    done(await alice.transfer({ ...words, nonce: used }));
    for (const old of [used, used - 1, 0]) {
      const answer = await alice.transfer({ ...words, nonce: old });
      assert.equal(refusal(answer), 'INVALID_NONCE', String(old));
    }
    const free = next();
    assert.equal(
      refusal(await alice.transfer({ ...words, amount: String(10n ** 30n), nonce: free })),
      'INSUFFICIENT_INVENTORY',
    );
    done(await alice.transfer({ ...words, nonce: free }));
  });

  test('the wrapper is checked in front: shape 400, session 401, signer 403, signature 401 (SIG-01, SIG-09, SIG-14)', async () => {
    const path = '/account/transfer/sub-account';
    const body = alice.transferBody({ source: 0, target: 1, amount: '9', nonce: next() });
    for (const broken of ['', '{}', body.slice(1), body.replace('"nonce"', '"nonse"'), body.replace('"9"', '9')]) {
      assert.equal(toldBy(await alice.post(path, broken, {})), '400 INVALID_REQUEST', broken);
    }
    assert.equal(toldBy(await alice.post(path, body, {})), '401 UNAUTHORIZED');
    assert.equal(toldBy(await bob.post(path, body)), '403 SIGNER_MISMATCH');
    assert.equal(toldBy(await alice.post(path, body.replace('"9"', '"8"'))), '401 INVALID_SIGNATURE');
    const before = await spot(1);
    done(await alice.post(path, body.replace(',"additional_signers":[]', '')));
    assert.notEqual(await spot(1), before);
  });

  test('closing a position needs one (POS-10, AMB-69)', async () => {
    assert.equal(refusal(await alice.closePosition(1, '2', 1)), 'POSITION_NOT_FOUND');
    assert.equal(toldBy(await alice.post('/account/transfer/close-position', '{}')), '400 INVALID_REQUEST');
  });

  test('names: 1 to 32 characters, no control characters, not the reserved ones, own accounts only (SUB-10 to SUB-14)', async () => {
    const rename = (index: number | string, name: unknown, id = alice.id): Promise<HttpAnswer> =>
      alice.send('PATCH', `/account/${id}/sub-account/${index}/name`, JSON.stringify({ name }));
    const answer = await rename(2, 'Hedge book');
    const names = '"account_index":2,"old_name":"Account 2","new_name":"Hedge book"';
    assert.deepEqual([answer.status, answer.text], [200, `{"sub_account_index":2,"name":"Hedge book",${names}}`]);
    for (const good of ['x', 'ü'.repeat(32), '🙂'.repeat(32), 'spot'])
      assert.equal((await rename(2, good)).status, 200, good);
    const bad = ['', 'x'.repeat(33), 'a\u0000', 'a\u001f', 'a\u007f', 'a\u0085', 'Spot', 'Margin', 7, null, ['x']];
    for (const name of bad) assert.equal((await rename(2, name)).status, 400, JSON.stringify(name));
    for (const index of [0, 1, 200, 256, -1, 'x']) {
      const refused = await rename(index, 'fine');
      assert.ok(refused.status === 400 || refused.status === 404 || refusal(refused) !== '', String(index));
    }
    assert.equal(toldBy(await rename(2, 'fine', bob.id)), '401 UNAUTHORIZED');
    const { accounts } = (await alice.read(`/inventory/user/${alice.id}`)) as {
      accounts: Record<string, { name: string }>;
    };
    assert.deepEqual([accounts['0']?.name, accounts['1']?.name, accounts['2']?.name], ['Spot', 'Margin', 'spot']);
  });

  test('multisig reads: the default configuration, nobody’s signer, and a method that is not allowed (ERR-06, wire.md 7.20)', async () => {
    const config = await alice.get(`/multisig/config/${alice.id}`);
    assert.match(
      config.text,
      /^\{"master_weight":1,"signers":\[\],"thresholds":\{"low":1,"medium":1,"high":1\},"config_nonce":0\}$/,
    );
    for (const key of [`{"Secp256k1":[2,${new Array(32).fill(17)}]}`, `{"Ed25519":[${new Array(32).fill(1)}]}`]) {
      const found = await alice.post('/multisig/signers', key, {});
      assert.deepEqual([found.status, found.text], [200, '{"accounts":[]}'], key);
    }
    assert.equal(toldBy(await alice.post('/multisig/signers', '{"Rsa":[1]}', {})), '400 INVALID_REQUEST');
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      assert.equal(toldBy(await alice.send(method, '/multisig/config')), '405 METHOD_NOT_ALLOWED', method);
    }
  });
});
