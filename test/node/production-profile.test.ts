// tier: full, 20 s
/**
 * What a production node refuses to start with (operator-api.md 1): one line on standard error, exit code 78; and that
 * the public keys of the dev seed have no account there (operator-api.md 9).
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { RingbookClient } from '../../src/client/client.ts';
import { keyFromSeed } from '../../src/client/keys.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { bareEnvironment } from '../support/bare-environment.ts';
import { type NodeProcess, OPERATOR_TOKEN, startNode, stopNode } from '../support/node-process.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { PlainKey } from '../support/wire-texts.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const TOKEN = 'f'.repeat(32);
const BEHIND_TERMINATOR = { publicListeners: 'plain-behind-terminator', storage: { mapSizeMiB: 1024 } };
const FEES = 'f1'.repeat(32);
const BACKSTOP = 'b1'.repeat(32);
const PUBLIC = [0x01, 0x02, 0x03, 0xbb, 0xfe].map((byte) => new PlainKey(byte));
const PUBLIC_FEES = new PlainKey(0xfe).id;

/** Data of the test profile has times of 2027: more than so many seconds ahead of the machine's clock would be refused for that (MCH-02). */
const ACCEPT_CLOCK = '1000000000';

/** Starts a production node that refuses. @returns its one line. */
function refusal(directory: string, data: string, config: object, token: string | null = TOKEN): string {
  const path = `${directory}/refused.json`;
  writeFileSync(path, JSON.stringify({ extends: 'production', ...config }));
  const env = {
    ...bareEnvironment(),
    ...(token === null ? {} : { RINGBOOK_OPERATOR_TOKEN: token }),
    RINGBOOK_CONFIG: path,
    RINGBOOK_ACCEPT_CLOCK: ACCEPT_CLOCK,
    RINGBOOK_DATA_DIR: data,
    RINGBOOK_OMS_PORT: '0',
    RINGBOOK_MDS_PORT: '0',
    RINGBOOK_OPS_PORT: '0',
  };
  const run = spawnSync(process.execPath, [CLI, 'start'], { env, encoding: 'utf8', timeout: PATIENCE_MS });
  assert.equal(run.status, 78, run.stderr);
  assert.equal(run.stdout, '');
  // A slow start logs what it does meanwhile.
  const [said = '', ...more] = run.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  assert.deepEqual(more, [], run.stderr);
  return said;
}

suite('production does not start', () => {
  const directory = temporaryDirectory();
  after(() => removeDirectory(directory));

  for (const [name, { token, config, says }] of Object.entries({
    'without an operator token': { token: null, config: BEHIND_TERMINATOR, says: /RINGBOOK_OPERATOR_TOKEN/ },
    'with an operator token of 31 characters': {
      token: TOKEN.slice(1),
      config: BEHIND_TERMINATOR,
      says: /at least 32 characters/,
    },
    'with test hooks': {
      token: TOKEN,
      config: { ...BEHIND_TERMINATOR, hooks: true },
      says: /: "hooks" is true: give false$/,
    },
    'with simulated chains': {
      token: TOKEN,
      config: { ...BEHIND_TERMINATOR, chains: 'simulated' },
      says: /: "chains" is "simulated": give "none"$/,
    },
    'with a seed': {
      token: TOKEN,
      config: { ...BEHIND_TERMINATOR, seed: 'dev' },
      says: /: "seed" is "dev": give "none"$/,
    },
    'with a manual clock': {
      token: TOKEN,
      config: { ...BEHIND_TERMINATOR, clock: 'manual' },
      says: /: "clock" is "manual": give "system"$/,
    },
    'with a feeder that repeats old prices as new ones': {
      token: TOKEN,
      config: { ...BEHIND_TERMINATOR, oracleFeedMs: 60_000, seed: 'test' },
      says: /: "seed" is "test": give "none"; "oracleFeedMs" is 60000: give 0$/,
    },
    'with listeners that nobody declared safe': { token: TOKEN, config: {}, says: /plain-behind-terminator/ },
    'with the fee account of the dev seed': {
      token: TOKEN,
      config: { ...BEHIND_TERMINATOR, feeAccount: PUBLIC_FEES, backstopAccount: BACKSTOP },
      says: /"feeAccount" is a key of the dev seed/,
    },
    'with one account for fees and backstop': {
      token: TOKEN,
      config: { ...BEHIND_TERMINATOR, feeAccount: FEES, backstopAccount: FEES },
      says: /differ/,
    },
    'with a misspelt setting': { token: TOKEN, config: { ...BEHIND_TERMINATOR, hoooks: false }, says: /hoooks/ },
  })) {
    test(name, () => {
      assert.match(refusal(directory, `${directory}/data`, config, token), says);
    });
  }
});

suite('in production the keys of the dev seed have no account (operator-api.md 9)', () => {
  const directory = temporaryDirectory();
  const data = `${directory}/data`;
  const config = `${directory}/config.json`;
  let node: NodeProcess;

  async function start(accounts: object): Promise<NodeProcess> {
    writeFileSync(config, JSON.stringify({ extends: 'production', ...BEHIND_TERMINATOR, ...accounts }));
    return startNode({ dataDirectory: data, env: { RINGBOOK_CONFIG: config, RINGBOOK_OPERATOR_TOKEN: TOKEN } });
  }

  async function operator(
    method: string,
    path: string,
    body?: object,
    token = TOKEN,
  ): Promise<{ status: number; body: Json }> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const text = body === undefined ? null : JSON.stringify(body);
    const response = await fetch(`${node.ops}/operator${path}`, { method, headers, body: text });
    return { status: response.status, body: (await response.json()) as Json };
  }

  async function login(key: PlainKey): Promise<{ status: number; body: Json }> {
    const { value } = (await (await fetch(`${node.oms}/nonce/${key.id}`)).json()) as { value: string };
    const body = JSON.stringify({ user_id: key.id, nonce: value, signature: [...key.sign(value)] });
    const response = await fetch(`${node.oms}/auth`, { method: 'POST', body });
    return { status: response.status, body: (await response.json()) as Json };
  }

  before(async () => {
    // What another profile has left: a market, and public keys in its settings.
    const plain = `${directory}/plain.json`;
    writeFileSync(plain, JSON.stringify({ extends: 'test', seed: 'none', chains: 'none' }));
    const env = { RINGBOOK_CONFIG: plain };
    node = await startNode({ dataDirectory: `${directory}/seeded`, env });
    const market = { book_price_decimals: 2, book_quantity_decimals: 4 };
    assert.equal((await operator('PUT', '/assets/2', { symbol: 'ETH' }, OPERATOR_TOKEN)).status, 200);
    assert.equal((await operator('PUT', '/markets/2', market, OPERATOR_TOKEN)).status, 200);
    await stopNode(node, 'SIGTERM');
    node = await start({ feeAccount: FEES, backstopAccount: BACKSTOP });
  });
  after(async () => {
    if (node !== undefined) await stopNode(node, 'SIGKILL');
    removeDirectory(directory);
  });

  test('an empty directory takes the accounts of the configuration, and has the other settings of production', async () => {
    const { body } = await operator('GET', '/settings');
    assert.equal(body['fee_account'], FEES);
    assert.equal(body['backstop_account'], BACKSTOP);
    assert.equal(body['oracle_max_jump'], '0.5');
    assert.equal(body['self_service_markets'], false);
  });

  test('without accounts of its own a node opens no market until an operator has set them', async () => {
    const used = node;
    const env = { RINGBOOK_CONFIG: config, RINGBOOK_OPERATOR_TOKEN: TOKEN };
    writeFileSync(config, JSON.stringify({ extends: 'production', ...BEHIND_TERMINATOR }));
    node = await startNode({ dataDirectory: `${directory}/bare`, env });
    const market = { book_price_decimals: 2, book_quantity_decimals: 4 };
    const refused = async (field: string): Promise<void> => {
      const { status, body } = await operator('PUT', '/markets/2', market);
      assert.deepEqual([status, body.error?.code, body.error?.details?.field], [400, 'INVALID_REQUEST', field]);
    };
    assert.equal((await operator('PUT', '/assets/2', { symbol: 'ETH' })).status, 200);
    await refused('fee_account');
    assert.equal((await operator('PATCH', '/settings', { fee_account: FEES })).status, 200);
    await refused('backstop_account');
    assert.equal((await operator('PATCH', '/settings', { backstop_account: BACKSTOP })).status, 200);
    assert.equal((await operator('PUT', '/markets/2', market)).status, 200);
    await stopNode(node, 'SIGKILL');
    node = used;
  });

  test('none of the five logs in, however often: 401, and their signature opens nothing', async () => {
    for (const key of [...PUBLIC, ...PUBLIC]) {
      const { status, body } = await login(key);
      assert.equal(status, 401);
      assert.equal(body.error?.code, 'INVALID_SIGNATURE');
      const headers = { authorization: 'Bearer none', 'user-id': key.id };
      assert.equal((await fetch(`${node.oms}/inventory/user/${key.id}`, { headers })).status, 401);
    }
    assert.equal((await login(new PlainKey(0x51))).status, 200);
  });

  test('no operator body names one, in whatever spelling: 400 with the field', async () => {
    const executor = { chain_id: '000000000000007a69', executor: 'e3'.repeat(20) };
    for (const { id } of PUBLIC) {
      for (const key of [id, id.toUpperCase()]) {
        for (const [method, path, field, sent] of [
          ['PATCH', '/settings', 'fee_account', { fee_account: key }],
          ['PATCH', '/settings', 'backstop_account', { acks: 'durable', backstop_account: key }],
          ['PUT', `/users/${key}`, 'user_id', { is_mm: true }],
          ['PUT', `/settlers/${key}`, 'settler', executor],
        ] as const) {
          const { status, body } = await operator(method, path, sent);
          assert.equal(status, 400, `${method} ${path}`);
          assert.equal(body.error?.code, 'INVALID_REQUEST');
          assert.equal(body.error?.details?.field, field);
        }
      }
    }
    assert.equal((await operator('PUT', `/users/${FEES}`, { is_mm: true })).status, 200);
  });

  test('what an operator has set since stays at the next start, which needs no accounts in its configuration', async () => {
    const own = 'f2'.repeat(32);
    assert.equal((await operator('PATCH', '/settings', { fee_account: own })).status, 200);
    await stopNode(node, 'SIGKILL');
    node = await start({});
    assert.equal((await operator('GET', '/settings')).body['fee_account'], own);
    await stopNode(node, 'SIGKILL');
    node = await start({ feeAccount: FEES, backstopAccount: BACKSTOP });
    assert.equal((await operator('GET', '/settings')).body['fee_account'], own);
  });

  test('a simulated chain and the public approval key as an administrator are refused with 400 and the field; an EVM chain is registered and watched', async () => {
    const path = '/chains/000000000000007a69';
    const { status, body } = await operator('PUT', path, { kind: 'simulated', confirmations: { deposit: 3 } });
    assert.deepEqual([status, body.error?.code, body.error?.details?.field], [400, 'INVALID_REQUEST', 'kind']);
    assert.deepEqual((await operator('GET', '/chains')).body['chains'], []);
    const evm = { kind: 'evm', rpc_urls: ['http://127.0.0.1:9/'] };
    assert.equal((await operator('PUT', path, evm)).status, 200);
    assert.equal(
      (
        await operator('PUT', `/vaults/${'0d'.repeat(20)}@000000000000007a69`, {
          administrators: ['5d'.repeat(20)],
          quorum: 1,
        })
      ).status,
      200,
    );
    const publicKey = { administrators: ['5d'.repeat(20), '0x5D5C99EDF529335160FF180FA141DD4967FC00D2'], quorum: 1 };
    const vault = await operator('PUT', `/vaults/${'0d'.repeat(20)}@000000000000007a69`, publicKey);
    assert.deepEqual([vault.status, vault.body.error?.details?.field], [400, 'administrators']);
    assert.equal((await operator('POST', `${path}/resume`, { accept: true })).status, 200);
  });

  test('a directory with simulated chains is refused with 78, and another profile still opens it', async () => {
    const simulated = await startNode({ profile: 'test', dataDirectory: `${directory}/simulated` });
    await stopNode(simulated, 'SIGTERM');
    const accounts = { feeAccount: FEES, backstopAccount: BACKSTOP };
    const line = refusal(directory, simulated.dataDirectory, { ...BEHIND_TERMINATOR, ...accounts });
    assert.match(line, /serves no simulated chains, and this data directory has [0-9a-f]+ \(simulated\)/);
    await stopNode(await startNode({ profile: 'test', dataDirectory: simulated.dataDirectory }), 'SIGTERM');
  });

  test('margin accounts are served: their orders and transfers meet the ordinary checks alone (AMB-57)', async () => {
    const market = { book_price_decimals: 2, book_quantity_decimals: 4 };
    await operator('PUT', '/assets/2', { symbol: 'ETH' });
    assert.equal((await operator('PUT', '/markets/2', market)).status, 200);
    const key = keyFromSeed(new Uint8Array(32).fill(0x52));
    const client = new RingbookClient({ oms: node.oms, mds: node.mds, key });
    await client.login();
    const order = { assetId: '2' as AssetId, side: 'Buy', price: '3000', quantity: '0.1' } as const;
    for (const isSpot of [true, false]) {
      const ticket = await client.order({ ...order, target: { account: 1, isSpot } });
      const code = isSpot ? 'INSUFFICIENT_INVENTORY' : 'INSUFFICIENT_MARGIN';
      await assert.rejects(client.create(ticket), { code });
    }
    const transfer = { sourceIndex: 0, targetIndex: 1, assetId: '0' as AssetId, amount18: 1n, nonce: 1n };
    await assert.rejects(client.account.transfer({ ...transfer, targetAccountType: null }), {
      code: 'INSUFFICIENT_INVENTORY',
    });
    client.close();
  });

  test('a directory with markets whose settings hold public keys is refused, or takes the accounts of the configuration', async () => {
    await stopNode(node, 'SIGTERM');
    const seeded = `${directory}/seeded`;
    assert.match(refusal(directory, seeded, { ...BEHIND_TERMINATOR, backstopAccount: BACKSTOP }), /"feeAccount"/);
    writeFileSync(
      config,
      JSON.stringify({ extends: 'production', ...BEHIND_TERMINATOR, feeAccount: FEES, backstopAccount: BACKSTOP }),
    );
    const env = { RINGBOOK_CONFIG: config, RINGBOOK_OPERATOR_TOKEN: TOKEN, RINGBOOK_ACCEPT_CLOCK: ACCEPT_CLOCK };
    node = await startNode({ dataDirectory: seeded, env });
    const { body } = await operator('GET', '/settings');
    assert.deepEqual([body['fee_account'], body['backstop_account']], [FEES, BACKSTOP]);
  });
});

interface Json {
  readonly [member: string]: unknown;
  readonly error?: { readonly code: string; readonly details?: { readonly field?: string } };
}
