// tier: full, 6 s
/**
 * Keys that cost nothing leave nothing behind (C12; AMB-139, SUB-05, SUB-14): a session makes a user known as long as it
 * lives; funds and orders make it known for good.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { stateHash } from '../../src/clearing/state-hash.ts';
import { keyFromSeed } from '../../src/client/keys.ts';
import { must } from '../../src/core/assert.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { MemoryDurability } from '../support/memory-durability.ts';
import { createRequest } from '../support/order-fixture.ts';
import { prepareMarkets } from '../support/simulated-markets.ts';
import { SIMULATED_MARKETS, SIMULATION_START_NS, SimulatedNode, simulatedUser } from '../support/simulated-node.ts';
import { TestNode } from '../support/test-node.ts';
import { above, innerBody, limit } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

const LOGINS = 2_500;
const ADDRESSES = 500;

suite('logins of free keys', () => {
  test('thousands of them change neither the journal nor the state of clearing (AMB-139)', () => {
    const durability = new MemoryDurability();
    const node = new SimulatedNode({ seed: 1, durability, forged: new Set(), startNs: SIMULATION_START_NS });
    prepareMarkets(node);
    const { ledger } = node.clearing;
    const bytesOf = () => durability.journal.reduce((sum, { payload }) => sum + payload.length, 0);
    const look = () => [durability.journal.length, bytesOf(), ledger.users.size, stateHash(ledger)];
    const before = look();
    const seed = new Uint8Array(32);
    for (let index = 0; index < LOGINS; index += 1) {
      new DataView(seed.buffer).setUint32(0, index + 1);
      const key = keyFromSeed(seed);
      const { value: nonce } = node.gateway.sessions.issueNonce(key.userId);
      const signature = key.sign(Buffer.from(nonce));
      const login = { userId: key.userId, nonce, signature, additionalSigners: [] };
      const session = node.gateway.sessions.login(login as never, `10.0.${index % ADDRESSES}`);
      assert.ok(session.ok, `login ${index}`);
      assert.ok(node.gateway.sessions.find(key.userId, session.value.token) !== null);
    }
    node.settle();
    assert.deepEqual(look(), before);
  });

  test('orders that wait for a trigger come from users who have something: ids are not taken for nothing (AMB-08, AMB-28)', () => {
    const durability = new MemoryDurability();
    const node = new SimulatedNode({ seed: 2, durability, forged: new Set(), startNs: SIMULATION_START_NS });
    prepareMarkets(node);
    const records = durability.journal.length;
    const user = simulatedUser(0xee);
    const market = must(SIMULATED_MARKETS[0], 'there is a market');
    const send = (id: string, account: number): string => {
      const nowNs = node.nowNs as TimestampNs;
      const place = { baseAsset: { id: market, text: market }, account, isSpot: account === 0 };
      const wish = { user, id, above: 210_000, postSignNs: nowNs };
      const request = createRequest(wish, { ...place, creationNs: nowNs, maxTradingFeesRate: 3_000 });
      let code = 'no answer';
      node.gateway.entry.submit(
        { kind: 'create', request },
        { user, connection: 1, isControl: true },
        ({ refusal }) => {
          code = refusal?.code ?? 'Received';
        },
      );
      node.settle();
      return code;
    };
    assert.deepEqual([send('spot', 0), send('margin', 1)], ['INSUFFICIENT_INVENTORY', 'INSUFFICIENT_MARGIN']);
    assert.equal(durability.journal.length, records);
    node.command({ kind: 'faucet', body: { user_id: user, sub_account: 0, asset_id: '0', amount: '0.01' } });
    assert.deepEqual([send('spot', 0), send('margin', 1)], ['Received', 'Received'], 'neither holds anything yet');
  });
});

suite('a user without funds, over the wire', () => {
  let node: TestNode;
  let stranger: Trader;

  before(async () => {
    node = await TestNode.start();
    await node.oraclePrice('2000');
    stranger = await node.trader({});
  });
  after(() => node.stop());

  async function durable(): Promise<readonly unknown[]> {
    await node.rest();
    const { journal, counts, state_hash } = await node.operate('GET', '/operator/state');
    // Without the checkpoint, which comes with time as well.
    const { sequence, flushed_sequence } = journal as Readonly<Record<string, number>>;
    return [sequence, flushed_sequence, (counts as { users: number }).users, state_hash];
  }

  async function signed(path: string, inner: string): Promise<string> {
    return (await stranger.call('POST', path, innerBody(stranger.key, inner))).text;
  }

  test('reads its defaults, and every request is refused and kept nowhere (AMB-139, SUB-05, SUB-14, TRF-04, POS-04)', async () => {
    const before = await durable();
    const { userId } = stranger;
    const read = async (path: string): Promise<{ readonly [name: string]: unknown }> => {
      const { status, text } = await stranger.call('GET', path);
      assert.equal(status, 200, `${path}: ${text}`);
      return JSON.parse(text);
    };
    const { accounts } = await read(`/inventory/user/${userId}`);
    assert.deepEqual(Object.keys(accounts as object), ['0', '1']);
    const [source, target] = ['"source_index":0', '"target_index":2'];
    const move = `{"user":"${userId}",${source},${target},"transfer_asset":"0","transfer_amount":"1","target_account_type":"Spot","nonce":1}`;
    assert.match(await signed('/account/transfer/sub-account', move), /"code":"INSUFFICIENT_INVENTORY"/);
    const close = `{"user":"${userId}","account":1,"asset_identifier":"2","nonce":1}`;
    assert.match(await signed('/account/transfer/close-position', close), /"code":"POSITION_NOT_FOUND"/);
    const named = await stranger.call('PATCH', `/account/${userId}/sub-account/2/name`, '{"name":"mine"}');
    assert.match(named.text, /"code":"INVALID_REQUEST"/);
    const orders = [
      await stranger.buy(limit(190_000, 1_000)),
      await stranger.buy(limit(190_000, 1_000, 'POST')),
      await stranger.buy(limit(190_000, 1_000), { trigger: above(210_000) }),
      await stranger.sell(limit(190_000, 1_000), { trigger: above(210_000), account: 1, isSpot: false }),
      await stranger.sell(limit(190_000, 1_000), { account: 1, isSpot: false, reduceOnly: true }),
    ];
    for (const { word } of orders) assert.match(word, /^INSUFFICIENT_(INVENTORY|MARGIN)$/);
    await stranger.cancelAll();
    assert.deepEqual(await durable(), before);
  });

  test('is known to operators while its session lives, and after a kill to none (AMB-139, SES-15)', async () => {
    const path = `/operator/users/${stranger.userId}`;
    const { sub_accounts, is_mm } = await node.operate('GET', path);
    assert.deepEqual([Object.keys(sub_accounts as object), is_mm], [['0', '1'], false]);
    await stranger.call('POST', '/logout');
    await stranger.login();
    const { users } = (await node.operate('GET', '/operator/state'))['counts'] as { users: number };
    await node.restart();
    const { counts } = await node.operate('GET', '/operator/state');
    assert.equal((counts as { users: number }).users, users);
    const funded = { user_id: stranger.userId, sub_account: 0, asset_id: '0', amount: '1' };
    await node.operate('POST', '/operator/faucet', funded);
    await node.restart();
    const { sub_accounts: kept } = await node.operate('GET', path);
    assert.equal(
      (kept as { [index: string]: { balances: { [asset: string]: { owned: string } } } })['0']?.balances['0']?.owned,
      '1',
    );
  });
});
