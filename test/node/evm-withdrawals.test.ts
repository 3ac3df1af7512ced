// tier: full, 26 s
/**
 * Withdrawals from a vault on a real EVM chain (anvil): the unmodified node signs an approval of what it has locked, the
 * vault pays it once, and the node books what the chain confirms. Kills, approvals that lapse, payouts without a request.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Address, Hex } from 'viem';
import { sign } from 'viem/accounts';
import { domainHash, withdrawalDigest } from '../../src/chain/approval-digests.ts';
import type { Withdrawal } from '../../src/client/account.ts';
import { RingbookClient } from '../../src/client/client.ts';
import { keyFromSeed } from '../../src/client/keys.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { Anvil, deployVault, depositOnAnvil, padded, type Revert, type VaultOnAnvil } from '../support/anvil.ts';
import { type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { aMoment, eventually } from '../support/patience.ts';
import { RpcProxy } from '../support/rpc-proxy.ts';
import { extentOf } from '../support/shares.ts';

const ADMINISTRATOR: Address = '0x5d5c99edf529335160ff180fa141dd4967fc00d2';
const TARGET: Address = `0x${'7c'.repeat(20)}`;
const ASSET = '7' as AssetId;
const CONFIRMATIONS = 2;
const UNIT18 = 10n ** 18n;
const SECOND = 1_000_000_000;
const key = keyFromSeed(new Uint8Array(32).fill(0xe2));

suite('EVM withdrawals', () => {
  let anvil: Anvil;
  let node: NodeProcess;
  let contracts: VaultOnAnvil;
  let client: RingbookClient;
  let proxies: readonly RpcProxy[] = [];

  before(async () => {
    anvil = await Anvil.start(1_337);
    contracts = await deployVault(anvil, [ADMINISTRATOR]);
    node = await startNode();
    const path = `/operator/chains/${anvil.chainId}`;
    proxies = await Promise.all([anvil.url, anvil.url, anvil.url].map((url) => RpcProxy.start(url)));
    const urls = proxies.map(({ url }) => url);
    const counts = { deposit: CONFIRMATIONS, withdrawal: CONFIRMATIONS };
    await call('PUT', path, { kind: 'evm', rpc_urls: urls, confirmations: counts });
    const vault = `${padded(contracts.vault)}@${anvil.chainId}`;
    await call('PUT', `/operator/vaults/${vault}`, { administrators: [ADMINISTRATOR.slice(2)], quorum: 1 });
    const token = { token: padded(contracts.token), chain_id: anvil.chainId, decimals: 6 };
    await call('PUT', `/operator/assets/${ASSET}`, { symbol: 'EVM', tokens: [token] });
    client = new RingbookClient({ oms: node.oms, mds: node.mds, key });
    await depositOnAnvil(anvil, contracts, client.userId, 100_000_000n);
    await anvil.mine(CONFIRMATIONS);
    await eventually(async () => (await figures()).spot === '100');
    await client.login();
  });

  after(async () => {
    await stopNode(node, 'SIGKILL');
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await anvil.stop();
  });

  async function call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const { status, text, body: answer } = await operator(node, method, path, body);
    assert.equal(status, 200, `${path}: ${text}`);
    return answer;
  }

  async function figures(): Promise<{ spot: string; locks: string; vault_holdings: string; difference: string }> {
    const { assets } = (await call('GET', '/operator/ledger')) as { assets: Record<string, never> };
    return assets[ASSET] ?? { spot: '0', locks: '0', vault_holdings: '0', difference: '0' };
  }

  const paid = (): Promise<unknown> => anvil.read('Token', contracts.token, 'balanceOf', [TARGET]);
  /** The rows that live, oldest first. */
  const rows = async (): Promise<readonly Withdrawal[]> =>
    (await client.account.withdrawals()).filter(({ status }) => !['executed', 'expired', 'cancelled'].includes(status));
  const withdraw = (units: bigint): Promise<void> =>
    client.account.withdraw({
      token: padded(contracts.token),
      chainId: anvil.chainId,
      amount18: units * UNIT18,
      target: padded(TARGET),
    });

  /** Its delay of 30 s is over; a checkpoint in real time, and the signature, follow. */
  async function approved(): Promise<Withdrawal> {
    await call('POST', '/operator/clock', { advance_ns: 31 * SECOND });
    let row: Withdrawal | undefined;
    await eventually(
      async () => {
        row = (await rows()).find(({ status }) => status === 'approved');
        return row !== undefined;
      },
      () => `no approval: ${node.stderr()}`,
    );
    return row ?? assert.fail();
  }

  /** Anybody may execute an approval. */
  function execute(row: Withdrawal, units: bigint, nonce = BigInt(row.nonce)): Promise<Revert | null> {
    const [approval] = row.approvals;
    assert.ok(approval !== undefined && row.approvals.length === 1);
    return anvil.send({
      contract: 'VaultV1',
      at: contracts.vault,
      name: 'withdraw',
      args: [
        { tokenAddress: contracts.token, amount: units * 1_000_000n, nonce },
        `0x${client.userId}`,
        TARGET,
        BigInt(approval.expiry),
        `0x${approval.epochHash}`,
        [`0x${approval.signature.replace(/^0x/, '')}`],
      ],
    });
  }

  test('WDR-07 to WDR-09, APR-04, DEP-22: locked, approved at a checkpoint, paid by the vault once, booked after its confirmations', async () => {
    await withdraw(40n);
    assert.deepEqual(await figures().then(({ spot, locks }) => [spot, locks]), ['60', '40']);
    const row = await approved();
    assert.equal(await execute(row, 40n), null);
    assert.equal(await paid(), 40_000_000n);
    assert.deepEqual(await execute(row, 40n), { name: 'InvalidNonce', args: [1n, 0n] });
    assert.equal((await figures()).locks, '40', 'one confirmation is not enough');
    await anvil.mine(CONFIRMATIONS - 1);
    await eventually(async () => (await figures()).locks === '0');
    assert.deepEqual(await figures().then((one) => [one.spot, one.vault_holdings, one.difference]), ['60', '60', '0']);
    assert.equal(await anvil.read('Token', contracts.token, 'balanceOf', [contracts.vault]), 60_000_000n);
  });

  test('WDR-07, WDR-11: killed with an approval out, the node has the same one after a start, and books a payout made meanwhile', async () => {
    await withdraw(10n);
    const before = await approved();
    await stopNode(node, 'SIGKILL');
    node = await startNode({ dataDirectory: node.dataDirectory });
    client = new RingbookClient({ oms: node.oms, mds: node.mds, key });
    await client.login();
    assert.deepEqual((await rows())[0]?.approvals, before.approvals);
    await stopNode(node, 'SIGKILL');
    assert.equal(await execute(before, 10n), null);
    await anvil.mine(CONFIRMATIONS);
    node = await startNode({ dataDirectory: node.dataDirectory });
    client = new RingbookClient({ oms: node.oms, mds: node.mds, key });
    await client.login();
    await eventually(async () => (await figures()).locks === '0');
    assert.deepEqual(await figures().then((one) => [one.spot, one.difference]), ['50', '0']);
    assert.equal(await paid(), 50_000_000n);
  });

  test('WDR-10: an approval ends when a confirmed block is past its time and the counter has not moved; the clock alone ends nothing', async () => {
    await withdraw(7n);
    const row = await approved();
    const [approval] = row.approvals;
    assert.ok(approval !== undefined);
    await call('POST', '/operator/clock', { advance_ns: 7_200 * SECOND });
    await anvil.mine(CONFIRMATIONS);
    await aMoment(2_500);
    assert.equal((await rows())[0]?.status, 'approved');
    await anvil.client.setNextBlockTimestamp({ timestamp: BigInt(approval.expiry) + 10n });
    await anvil.mine(CONFIRMATIONS + 1);
    await eventually(async () => (await figures()).locks === '0');
    assert.equal((await figures()).spot, '50');
    assert.equal((await execute(row, 7n))?.name, 'Expired');
    assert.equal(await paid(), 50_000_000n);
  });

  test('the counter of an approval that ended is approved again, and paid once', async () => {
    await withdraw(5n);
    const row = await approved();
    assert.equal(row.nonce, 2);
    assert.equal(await execute(row, 5n), null);
    await anvil.mine(CONFIRMATIONS);
    await eventually(async () => (await figures()).locks === '0');
    assert.deepEqual(await figures().then((one) => [one.spot, one.difference]), ['45', '0']);
  });

  test('CHN-04: a payout whose log all providers hide while its block is read is booked when they show it, and the next one is approved', async () => {
    await withdraw(2n);
    const row = await approved();
    await withdraw(1n);
    for (const proxy of proxies) proxy.fault = 'omits';
    assert.equal(await execute(row, 2n), null);
    await anvil.mine(CONFIRMATIONS + 2);
    await aMoment(6_000);
    assert.equal((await rows())[0]?.status, 'approved', 'its block is read, without its log');
    for (const proxy of proxies) proxy.fault = 'none';
    await eventually(
      async () => (await rows()).every(({ nonce }) => nonce !== row.nonce),
      () => node.stderr(),
    );
    const next = await approved();
    assert.equal(await execute(next, 1n), null);
    await anvil.mine(CONFIRMATIONS);
    await eventually(async () => (await figures()).locks === '0');
    assert.deepEqual(await figures().then((one) => [one.spot, one.difference]), ['42', '0']);
  });

  const isStopped = async (): Promise<boolean> => {
    const page = await (await fetch(`${node.ops}/metrics`)).text();
    return page.includes(`ringbook_chain_stopped{chain="${anvil.chainId}"} 1`);
  };

  /** Pays an approval, and replaces its final blocks by others without the payout. @returns the approval. */
  async function vanished(units: bigint): Promise<Withdrawal> {
    await withdraw(units);
    const row = await approved();
    const snapshot = await anvil.client.snapshot();
    assert.equal(await execute(row, units), null);
    await anvil.mine(CONFIRMATIONS);
    await eventually(async () => (await figures()).locks === '0');
    await anvil.client.revert({ id: snapshot });
    await anvil.mine(CONFIRMATIONS + 4);
    await eventually(isStopped, node.stderr);
    return row;
  }

  const resume = (): Promise<unknown> => call('POST', `/operator/chains/${anvil.chainId}/resume`, { accept: true });

  test('CHN-06: a booked payout that a reorganisation drops stops the chain; resumed, its row is approved with its lock, and it is booked once when it is executed, after a kill too', async () => {
    const paidBefore = (await paid()) as bigint;
    const row = await vanished(3n);
    assert.deepEqual(await figures().then((one) => [one.spot, one.locks, one.vault_holdings]), ['39', '0', '39']);
    assert.equal(await paid(), paidBefore);
    await stopNode(node, 'SIGKILL');
    node = await startNode({ dataDirectory: node.dataDirectory });
    client = new RingbookClient({ oms: node.oms, mds: node.mds, key });
    await client.login();
    await eventually(isStopped, node.stderr);
    for (const proxy of proxies.slice(1)) proxy.fault = 'unreachable';
    const refused = await operator(node, 'POST', `/operator/chains/${anvil.chainId}/resume`, { accept: true });
    assert.equal(refused.status, 503, refused.text);
    assert.deepEqual(await rows(), []);
    for (const proxy of proxies) proxy.fault = 'none';
    await eventually(async () => {
      const { status } = await operator(node, 'POST', `/operator/chains/${anvil.chainId}/resume`, { accept: true });
      return status === 200;
    }, node.stderr);
    const [again] = await rows();
    assert.deepEqual([again?.status, again?.nonce, again?.approvals], ['approved', row.nonce, row.approvals]);
    assert.deepEqual(await figures().then((one) => [one.spot, one.locks, one.difference]), ['39', '3', '0']);
    await resume();
    assert.equal((await figures()).locks, '3', 'taken back once');
    assert.equal(await execute(row, 3n), null);
    await anvil.mine(CONFIRMATIONS);
    await eventually(async () => (await figures()).locks === '0');
    assert.deepEqual(await figures().then((one) => [one.spot, one.vault_holdings, one.difference]), ['39', '39', '0']);
    assert.equal(await paid(), paidBefore + 3_000_000n);
    await withdraw(1n);
    assert.equal((await approved()).nonce, row.nonce + 1, 'the next number is that of the vault');
    const [next] = await rows();
    assert.ok(next !== undefined);
    assert.equal(await execute(next, 1n), null);
    await anvil.mine(CONFIRMATIONS);
    await eventually(async () => (await figures()).locks === '0');
  });

  test('CHN-06, WDR-10: a payout that is taken back and not executed again ends when a final block is past its time, and its lock returns', async () => {
    const row = await vanished(2n);
    await resume();
    assert.deepEqual(await figures().then((one) => [one.spot, one.locks]), ['36', '2']);
    const [approval] = row.approvals;
    await anvil.client.setNextBlockTimestamp({ timestamp: BigInt(approval?.expiry ?? 0) + 10n });
    await anvil.mine(CONFIRMATIONS + 1);
    await eventually(async () => (await figures()).locks === '0', node.stderr);
    assert.deepEqual(await figures().then((one) => [one.spot, one.difference]), ['38', '0']);
    assert.equal((await execute(row, 2n))?.name, 'Expired');
  });

  /** Killed at a commit of the node: everything from the request to the booking is repeated until it is done. */
  async function survives(point: 'before_flush' | 'after_flush', afterTransactions: number): Promise<boolean> {
    const paidBefore = (await paid()) as bigint;
    const spotBefore = Number((await figures()).spot);
    const fault = { kind: 'crash', point, after_transactions: afterTransactions };
    await call('POST', '/operator/clearing', { fault });
    let kills = 0;
    const isDone = async (): Promise<boolean> => {
      const { locks } = await figures();
      const isPaid = (await paid()) === paidBefore + 1_000_000n;
      if (isPaid && locks === '0') return true;
      const [row] = await rows();
      if (row === undefined && !isPaid) await withdraw(1n);
      else if (row?.status === 'queued') await call('POST', '/operator/clock', { advance_ns: 31 * SECOND });
      else if (row?.status === 'approved' && !isPaid) {
        assert.equal(await execute(row, 1n), null);
        await anvil.mine(CONFIRMATIONS - 1);
      }
      return false;
    };
    await eventually(async () => {
      try {
        return await isDone();
      } catch (error) {
        // A call to a node that dies fails in many ways; one to a node that lives must not.
        await aMoment(100);
        if (node.child.exitCode === null && node.child.signalCode === null) throw error;
        kills += 1;
        node = await startNode({ dataDirectory: node.dataDirectory });
        client = new RingbookClient({ oms: node.oms, mds: node.mds, key });
        await client.login();
        return false;
      }
    });
    await call('POST', '/operator/clearing', { fault: null });
    assert.equal(await paid(), paidBefore + 1_000_000n, 'paid once');
    assert.deepEqual(await figures().then((one) => [Number(one.spot), one.difference]), [spotBefore - 1, '0']);
    return kills > 0;
  }

  /** All commits of a withdrawal with `RINGBOOK_KILLS=all`, otherwise some of them. */
  const kills = extentOf() === 'command' ? [0, 1, 2, 3, 4, 5, 6] : [1, 3];
  for (const point of ['before_flush', 'after_flush'] as const) {
    test(`WDR-07, WDR-09: killed ${point} at the commits of a withdrawal, it is paid once and booked once`, async () => {
      let killed = 0;
      for (const afterTransactions of kills) if (await survives(point, afterTransactions)) killed += 1;
      assert.ok(killed > 0, 'a kill happened');
    });
  }

  test('a payout that the ledger has not locked stops the chain: no credit, no approval', async () => {
    const user = 'b7'.repeat(32) as UserId;
    const validUntil = 4_000_000_000n;
    const approval = {
      token: padded(contracts.token),
      baseUnits: 1n,
      user,
      nonce: 0n,
      validUntil,
      target: padded(TARGET),
    };
    const domain = domainHash(padded(contracts.vault), anvil.chainId);
    const epochHash = 'ee'.repeat(32);
    const hash: Hex = `0x${withdrawalDigest(domain, { ...approval, epochHash })}`;
    const signature = await sign({ hash, privateKey: `0x${'a1'.repeat(32)}`, to: 'hex' });
    const payout = { tokenAddress: contracts.token, amount: 1n, nonce: 0n };
    const args = [payout, `0x${user}`, TARGET, validUntil, `0x${epochHash}`, [signature]];
    assert.equal(await anvil.send({ contract: 'VaultV1', at: contracts.vault, name: 'withdraw', args }), null);
    await anvil.mine(CONFIRMATIONS);
    await eventually(async () => {
      const page = await (await fetch(`${node.ops}/metrics`)).text();
      return page.includes(`ringbook_chain_stopped{chain="${anvil.chainId}"} 1`);
    });
    await eventually(() => /"reason":"unmatched"/.test(node.stderr()), node.stderr);
    const { spot } = await figures();
    assert.equal(await depositOnAnvil(anvil, contracts, client.userId, 1_000_000n), null);
    await anvil.mine(CONFIRMATIONS);
    await aMoment(2_500);
    assert.equal((await figures()).spot, spot);
  });
});
