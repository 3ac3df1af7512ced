// tier: full, 11 s
/** The escape hatch of simulated vaults: heartbeat, silence, forced withdrawals, and starts (WDR-24, AMB-85; operator-api.md 7.3, 8). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { operator, startNode, stopNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import type { PlainClient } from '../support/plain-client.ts';
import { type Json, TestNode } from '../support/test-node.ts';
import { PlainKey } from '../support/wire-texts.ts';

const DEV = '000000000000007a69';
const ONE = '000000000000000001';
const address = (byte: string): string => byte.repeat(20).padEnd(64, '0');
const [USD, ETH] = [address('5a'), address('6b')];
/** Registered by the seed. */
const SETTLER = new PlainKey(0x03).id;
const TARGET = address('7c');
const SECOND = 1_000_000_000n;
const DAY = 86_400n * SECOND;

suite('the escape hatch', () => {
  let node: TestNode;

  before(async () => {
    node = await TestNode.start();
  });
  after(() => node?.stop());

  const call = (name: string, body: object, chain = DEV): Promise<Json> =>
    node.operate('POST', `/operator/chains/${chain}/${name}`, body);
  const vault = (chain = DEV): Promise<Json> => node.operate('GET', `/operator/chains/${chain}/vault`);
  const deposit = async (user: PlainClient, usd: number): Promise<void> => {
    await call('deposits', { user: user.id, token: USD, amount_base_units: `${usd}000000` });
    await node.rest();
  };
  const force = (user: PlainClient, usd: number, more: object = {}): Promise<Json> =>
    call('force-withdraw', {
      user: user.id,
      token: USD,
      amount_base_units: String(usd * 1e6),
      target: TARGET,
      ...more,
    });
  const account = async (user: PlainClient): Promise<string> => {
    await node.rest();
    const body = await node.operate('GET', `/operator/users/${user.id}`);
    const accounts = body['sub_accounts'] as Record<string, { balances: Record<string, { owned: string }> }>;
    return accounts['0']?.balances['0']?.owned ?? '0';
  };
  const ledger = async (): Promise<readonly (string | undefined)[]> => {
    const { assets } = await node.operate('GET', '/operator/ledger');
    const { vault_holdings, on_chain, difference } = (assets as Record<string, Record<string, string>>)['0'] ?? {};
    return [vault_holdings, on_chain, difference];
  };
  const withdraw = async (user: PlainClient, usd: number): Promise<string> => {
    const amount = (BigInt(usd) * 10n ** 18n).toString(16);
    return (await user.withdraw({ asset: `${USD}@${DEV}`, amount, target: TARGET })).text;
  };
  const queue = async (user: PlainClient): Promise<readonly string[]> => {
    await node.rest();
    const rows = (await user.read(`/withdrawal/queue/${user.id}`)) as readonly { status: { type: string } }[];
    return rows.map(({ status }) => status.type);
  };

  test('a running node commits a heartbeat each interval, and no jump of the clock opens the vault (AMB-85, AMB-79)', async () => {
    const first = await vault();
    assert.deepEqual([first['escape_mode'], first['last_checkpoint_ns']], [false, Number(node.nowNs)]);
    await node.advance(SECOND / 2n);
    assert.equal((await vault())['last_checkpoint_ns'], Number(node.nowNs - SECOND / 2n));
    await node.advance(SECOND / 2n);
    assert.equal((await vault())['last_checkpoint_ns'], Number(node.nowNs));
    await node.advance(30n * DAY);
    const later = await vault();
    assert.deepEqual([later['escape_mode'], later['last_checkpoint_ns']], [false, Number(node.nowNs)]);
  });

  test('a vault that is not in escape mode reverts a forced withdrawal with EscapeClosed, and nothing is debited (WDR-24)', async () => {
    const user = await node.user({});
    await deposit(user, 100);
    const forced = await force(user, 40);
    assert.deepEqual([forced['status'], forced['revert']], ['reverted', 'EscapeClosed']);
    assert.equal(await account(user), '100');
    for (const target of [
      'aa',
      '00'.repeat(20),
      '0'.repeat(64),
      `${'00'.repeat(20)}${'77'.repeat(12)}`,
      '7c'.repeat(32),
    ]) {
      const bad = { user: user.id, token: USD, amount_base_units: '1', target };
      const refused = await operator(node.process, 'POST', `/operator/chains/${DEV}/force-withdraw`, bad);
      assert.equal(refused.status, 400);
      assert.match(JSON.stringify(refused.body), /"code":"INVALID_REQUEST".*"field":"target"/);
    }
    const unaccepted = await operator(node.process, 'POST', `/operator/chains/${DEV}/escape`, { accept: false });
    assert.equal(unaccepted.status, 400);
  });

  test('with checkpoints withheld there is no checkpoint, heartbeat or approval until the release (operator-api.md 7.3)', async () => {
    const user = await node.user({});
    await deposit(user, 100);
    const { faults } = await node.hook({ fault: { kind: 'withhold_checkpoints', chain_id: DEV } });
    assert.deepEqual(faults, [{ kind: 'withhold_checkpoints', chain_id: DEV, remaining: 1 }]);
    const { last_checkpoint_ns: last } = await vault();
    assert.equal(await withdraw(user, 30), '{"success":true}');
    await node.advance(40n * SECOND);
    await node.advance(40n * SECOND);
    assert.deepEqual(await queue(user), ['filled']);
    assert.equal((await vault())['last_checkpoint_ns'], last);
    assert.equal((await vault(ONE))['last_checkpoint_ns'], Number(node.nowNs), 'another chain goes on');
    assert.deepEqual((await node.hook({ release: true }))['faults'], []);
    assert.deepEqual(await queue(user), ['approved']);
    assert.equal((await vault())['last_checkpoint_ns'], Number(node.nowNs));
    const unknown = { fault: { kind: 'withhold_checkpoints', chain_id: '0000000000000000aa' } };
    assert.equal((await operator(node.process, 'POST', '/operator/clearing', unknown)).status, 404);
  });

  test('after the timeout without a checkpoint the vault is in escape mode; what it pays is debited, below zero if need be, once, and the ledger adds up (WDR-24, AMB-85, AMB-116)', async () => {
    const [user, other] = [await node.user({}), await node.user({})];
    await deposit(user, 100);
    await deposit(other, 500);
    await node.hook({ fault: { kind: 'withhold_checkpoints', chain_id: DEV } });
    await node.advance(7n * DAY);
    assert.equal((await vault())['escape_mode'], false);
    await node.advance(1n);
    assert.equal((await vault())['escape_mode'], true);
    await eventually(() => /the vault is in escape mode/.test(node.process.stderr()), node.process.stderr);

    const [before] = await ledger();
    const paid = await force(user, 70);
    assert.deepEqual([paid['status'], paid['revert'], paid['nonce']], ['mined', null, 0]);
    assert.equal(await account(user), '30');
    assert.equal((await force(user, 90))['nonce'], 1);
    assert.equal(await account(user), '-60');
    const after = String(Number(before) - 160);
    assert.deepEqual(await ledger(), [after, after, '0']);
    const balance = await node.operate('GET', `/operator/chains/${DEV}/balances?address=${TARGET}&token=${USD}`);
    assert.equal(balance['balance_base_units'], '160000000');
    assert.equal((await force(user, 1_000_000))['revert'], 'TransferFailed');
    assert.equal((await force(user, 0))['revert'], 'ZeroAmount');

    // Seven days have passed.
    await user.login();
    await other.login();
    await node.oraclePrice('3000');
    assert.match(await withdraw(user, 1), /INSUFFICIENT_INVENTORY/, 'what is negative is available for nothing');
    const order = await user.create({ side: 'Buy', price: 300_000, quantity: 100, account: 0, isSpot: true });
    assert.match(order.text, /INSUFFICIENT_INVENTORY/);
    await deposit(user, 100);
    assert.equal(await account(user), '40', 'a deposit fills it up first');
    assert.equal(await withdraw(other, 10), '{"success":true}');
    await node.hook({ release: true });
    await node.advance(40n * SECOND);
    await node.advance(40n * SECOND);
    assert.deepEqual(await queue(other), ['filled'], 'nothing is approved in escape mode');
    await node.ledgerAddsUp();
  });

  test('a node does not start on a vault in escape mode without the operator’s word; with it, what the vault paid is debited and escape mode ends (AMB-85)', async () => {
    const user = await node.user({});
    await deposit(user, 50);
    const unconfirmed = await force(user, 20, { confirm: false });
    assert.equal(unconfirmed['revert'], null);
    const { dataDirectory } = node.process;
    await stopNode(node.process, 'SIGKILL');
    await assert.rejects(startNode({ profile: 'test', dataDirectory }), (error: Error) => {
      assert.match(error.message, /78/);
      assert.match(error.message, /the vault of chain 000000000000007a69 is in escape mode/);
      return true;
    });
    const env = { RINGBOOK_ACCEPT_ESCAPE: DEV };
    node.process = await startNode({ profile: 'test', dataDirectory, env });
    await node.login();
    assert.equal(await account(user), '30');
    const now = await vault();
    assert.deepEqual([now['escape_mode'], now['last_checkpoint_ns']], [false, Number(node.nowNs)]);
    assert.equal((await force(user, 1))['revert'], 'EscapeClosed');
    await node.restart('SIGTERM');
    assert.equal(await account(user), '30', 'debited once, also after another start');
    await node.ledgerAddsUp();
  });

  test('what was forced leaves by no other way: lots and queued withdrawals are debited first, and settlements of another account are refused (AMB-85, AMB-73, WDR-13, STL-01)', async () => {
    const [alice, bob, other] = [await node.user({}), await node.user({}), await node.user({})];
    const caps = (total: string | null): Promise<Json> =>
      node.operate('PATCH', '/operator/assets/2', {
        tokens: [{ token: ETH, chain_id: DEV, decimals: 18, max_deposits: total }],
      });
    const funds = async (user: PlainClient, subAccount = '0'): Promise<readonly (string | undefined)[]> => {
      await node.rest();
      const body = await node.operate('GET', `/operator/users/${user.id}`);
      const accounts = body['sub_accounts'] as Record<string, { balances: Record<string, Json> }>;
      const { owned = '0', locked = '0' } = (accounts[subAccount]?.balances['2'] ?? {}) as Record<string, string>;
      const lots = body['isolated_lots'] as readonly { amount: string }[];
      return [owned, locked, ...lots.map(({ amount }) => amount)];
    };
    const depositEth = async (user: PlainClient, eth: number): Promise<void> => {
      await call('deposits', { user: user.id, token: ETH, amount_base_units: `${eth}000000000000000000` });
      await node.rest();
    };
    const forceEth = (user: PlainClient, eth: number): Promise<Json> =>
      force(user, 0, { token: ETH, amount_base_units: `${eth}000000000000000000` });
    const withdrawEth = async (user: PlainClient, eth: number): Promise<string> => {
      const amount = (BigInt(eth) * 10n ** 18n).toString(16);
      return (await user.withdraw({ asset: `${ETH}@${DEV}`, amount, target: TARGET })).text;
    };
    await depositEth(other, 1_000);
    await depositEth(bob, 100);
    assert.equal(await withdrawEth(bob, 60), '{"success":true}');
    const moved = { source: 0, target: 1, asset: '2', amount: (40n * 10n ** 18n).toString(), nonce: 1 };
    assert.match((await bob.transfer(moved)).text, /"success":true/);
    await depositEth(alice, 5);
    await caps('0');
    await depositEth(alice, 100);
    assert.deepEqual(await funds(alice), ['5', '0', '100']);

    await call('escape', { accept: true });
    assert.equal((await forceEth(alice, 102))['revert'], null);
    assert.deepEqual(await funds(alice), ['3', '0']);
    assert.equal((await forceEth(bob, 100))['revert'], null);
    assert.deepEqual(
      [await funds(bob), await funds(bob, '1')],
      [
        ['-40', '0'],
        ['40', '0'],
      ],
    );
    assert.deepEqual(await queue(bob), ['cancelled']);
    await call('resume', { accept: true });
    assert.match(await withdrawEth(alice, 100), /INSUFFICIENT_INVENTORY/);
    const settlement = { settler: SETTLER, assetIn: USD, amountIn: '1', assetOut: ETH, amountOut: 'de0b6b3a7640000' };
    assert.match((await bob.settle({ ...settlement, subAccount: 1 })).text, /INSUFFICIENT_INVENTORY/);
    await deposit(bob, 100);
    assert.match(
      await withdraw(bob, 10),
      /INSUFFICIENT_INVENTORY/,
      'another asset neither, as it may be what the first was sold for',
    );
    await node.ledgerAddsUp();
    await node.restart('SIGKILL');
    await bob.login();
    assert.deepEqual(
      [await funds(alice), await funds(bob)],
      [
        ['3', '0'],
        ['-40', '0'],
      ],
    );
    await node.advance(40n * SECOND);
    await node.advance(40n * SECOND);
    assert.deepEqual(await queue(bob), ['cancelled']);
    await caps(null);
    const back = { source: 1, target: 0, asset: '2', amount: (40n * 10n ** 18n).toString(), nonce: 2 };
    assert.match((await bob.transfer(back)).text, /"success":true/);
    assert.equal(await withdraw(bob, 10), '{"success":true}', 'what was owed is filled up');
    await node.ledgerAddsUp();
  });

  test('the operator opens and ends escape mode; a debit that a reorganisation takes back stops the chain and stays (WDR-24, AMB-74)', async () => {
    const user = await node.user({});
    await deposit(user, 50);
    const opened = await call('escape', { accept: true });
    assert.deepEqual([opened['escape_mode'], String(opened['vault']).split('@')[1]], [true, DEV]);
    assert.equal((await vault(ONE))['escape_mode'], false);
    await force(user, 20);
    assert.equal(await account(user), '30');
    await call('reorg', { depth: 1 });
    assert.equal(await account(user), '30');
    assert.deepEqual(await call('resume', { accept: true }), {});
    assert.equal((await vault())['escape_mode'], false);
    await node.restart('SIGKILL');
    assert.equal(await account(user), '30');
    await node.ledgerAddsUp();
  });
});
