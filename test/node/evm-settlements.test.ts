// tier: full, 17 s
/**
 * Settlements with a vault on a real EVM chain (anvil): the unmodified node signs an approval, an executor contract settles
 * it, and the node books what the chain shows, at once. Reorganisations, kills, approvals that lapse.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type Address, encodeFunctionData } from 'viem';
import type { SettlementApproval } from '../../src/client/account.ts';
import { RingbookClient } from '../../src/client/client.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { keyFromSeed } from '../../src/client/keys.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { Anvil, deployVault, depositOnAnvil, padded, type Revert, type VaultOnAnvil } from '../support/anvil.ts';
import { contracts } from '../support/contracts.ts';
import { type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { aMoment, eventually } from '../support/patience.ts';
import { extentOf } from '../support/shares.ts';

const ADMINISTRATOR: Address = '0x5d5c99edf529335160ff180fa141dd4967fc00d2';
/** Confirmations of deposits and withdrawals; settlements have none (DEP-23). */
const CONFIRMATIONS = 3;
const UNIT18 = 10n ** 18n;
const SECOND = 1_000_000_000;
const OUT = '8' as AssetId;
const key = keyFromSeed(new Uint8Array(32).fill(0xe4));
const settler = keyFromSeed(new Uint8Array(32).fill(0x5e));

for (const abi of ['v1', 'v2'] as const) {
  suite(`EVM settlements, vault ${abi}`, () => {
    const version = abi === 'v1' ? 'VaultV1' : 'VaultV2';
    let anvil: Anvil;
    let node: NodeProcess;
    let vault: VaultOnAnvil;
    let tokenIn: Address;
    let executor: Address;
    let client: RingbookClient;

    before(async () => {
      anvil = await Anvil.start(abi === 'v1' ? 1_401 : 1_402);
      vault = await deployVault(anvil, [ADMINISTRATOR], version);
      tokenIn = await anvil.deploy('Token', [18]);
      executor = await anvil.deploy('Executor');
      const settle = [`0x${settler.userId}`, executor];
      await anvil.send({ contract: version, at: vault.vault, name: 'addSettlerExecutor', args: settle });
      node = await startNode();
      const urls = ['a', 'b', 'c'].map((name) => `${anvil.url}/?${name}`);
      const confirmations = { deposit: CONFIRMATIONS, withdrawal: CONFIRMATIONS };
      await call('PUT', `/operator/chains/${anvil.chainId}`, { kind: 'evm', rpc_urls: urls, confirmations });
      const administrators = [ADMINISTRATOR.slice(2)];
      await call('PUT', `/operator/vaults/${padded(vault.vault)}@${anvil.chainId}`, { administrators, quorum: 1, abi });
      const registered = { chain_id: anvil.chainId, executor: executor.slice(2).toLowerCase() };
      await call('PUT', `/operator/settlers/${settler.userId}`, registered);
      const token = (at: Address, decimals: number): object => ({
        token: padded(at),
        chain_id: anvil.chainId,
        decimals,
      });
      await call('PUT', `/operator/assets/${OUT}`, { symbol: 'OUT', tokens: [token(vault.token, 6)] });
      await call('PUT', '/operator/assets/9', { symbol: 'IN', tokens: [token(tokenIn, 18)] });
      client = new RingbookClient({ oms: node.oms, mds: node.mds, key });
      await depositOnAnvil(anvil, vault, client.userId, 100_000_000n);
      await anvil.mine(CONFIRMATIONS);
      await eventually(async () => (await figures(OUT))['spot'] === '100');
      await client.login();
    });

    after(async () => {
      await stopNode(node, 'SIGKILL');
      await anvil.stop();
    });

    async function call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
      const { status, text, body: answer } = await operator(node, method, path, body);
      assert.equal(status, 200, `${path}: ${text}`);
      return answer;
    }

    async function figures(asset: string): Promise<Record<string, string>> {
      const { assets } = (await call('GET', '/operator/ledger')) as { assets: Record<string, Record<string, string>> };
      return assets[asset] ?? { spot: '0', locks: '0', difference: '0' };
    }

    /** The node settles once it has read a final block since its start; this chain mines none by itself. */
    async function settle(out: bigint, into: bigint): Promise<SettlementApproval> {
      let approval: SettlementApproval | undefined;
      await eventually(async () => {
        try {
          approval = await client.account.settle(request(out, into));
        } catch (error) {
          if (!(error instanceof RingbookError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
          await anvil.mine(1);
        }
        return approval !== undefined;
      });
      return approval ?? assert.fail();
    }

    const spots = async (): Promise<readonly (string | undefined)[]> => [
      (await figures(OUT))['spot'],
      (await figures('9'))['spot'],
    ];
    const request = (out: bigint, into: bigint) => ({
      subAccount: 0,
      settler: settler.userId,
      tokenOut: padded(vault.token),
      amountOut18: out * UNIT18,
      tokenIn: padded(tokenIn),
      amountIn18: into * UNIT18,
      chainId: anvil.chainId,
    });

    async function restarted(): Promise<void> {
      node = await startNode({ dataDirectory: node.dataDirectory });
      client = new RingbookClient({ oms: node.oms, mds: node.mds, key });
      await client.login();
    }

    /** By the executor, which has what it pays. */
    async function execute(approval: SettlementApproval, out: bigint, into: bigint): Promise<Revert | null> {
      const amountIn = into * UNIT18;
      await anvil.send({ contract: 'Token', at: tokenIn, name: 'mint', args: [executor, amountIn] });
      const prepared = [tokenIn, vault.vault, amountIn, amountIn, '0x'];
      await anvil.send({ contract: 'Executor', at: executor, name: 'prepare', args: prepared });
      const order = {
        tokenOut: vault.token,
        amountOut: out * 1_000_000n,
        tokenIn,
        amountIn,
        mode: 0,
        user: `0x${client.userId}`,
        account: 0n,
        nonce: BigInt(approval.nonce),
        validUntil: BigInt(approval.expiry),
      };
      const data = encodeFunctionData({
        abi: contracts()[version].abi,
        functionName: 'executeAtomicSettlement',
        args: [order, `0x${settler.userId}`, '0x', `0x${approval.signature}`],
      });
      return anvil.send({ contract: 'Executor', at: executor, name: 'call', args: [vault.vault, data] });
    }

    const booked = (out: string, into: string): Promise<void> =>
      eventually(
        async () => {
          const [spot, came] = await spots();
          return spot === out && came === into;
        },
        () => `not booked: ${node.stderr()}`,
      );

    test('STL-04, STL-14, DEP-22, DEP-23, APR-02: the vault accepts the approval, and Settled is booked without confirmations, once', async () => {
      const approval = await settle(10n, 20n);
      assert.equal(approval.nonce, 0);
      assert.deepEqual(await client.account.settlementSignatures(), [approval]);
      assert.deepEqual([(await figures(OUT))['spot'], (await figures(OUT))['locks']], ['90', '10']);
      assert.equal(await execute(approval, 10n, 20n), null);
      await booked('90', '20');
      assert.deepEqual(await client.account.settlementSignatures(), []);
      assert.equal((await figures(OUT))['locks'], '0');
      assert.deepEqual(await execute(approval, 10n, 20n), { name: 'InvalidNonce', args: [1n, 0n] });
      for (const asset of [OUT, '9']) assert.equal((await figures(asset))['difference'], '0');
      assert.equal(await anvil.read('Token', vault.token, 'balanceOf', [vault.vault]), 90_000_000n);
    });

    if (abi === 'v2') return;

    test('DEP-23: a settlement that a reorganisation takes away is executed again with the same approval, and booked once', async () => {
      const approval = await settle(10n, 20n);
      const snapshot = await anvil.client.snapshot();
      assert.equal(await execute(approval, 10n, 20n), null);
      await booked('80', '40');
      await anvil.client.revert({ id: snapshot });
      await anvil.mine(6);
      await aMoment(2_500);
      assert.deepEqual(await spots(), ['80', '40'], 'what is booked stays booked');
      const page = await (await fetch(`${node.ops}/metrics`)).text();
      assert.match(page, new RegExp(`ringbook_chain_stopped\\{chain="${anvil.chainId}"\\} 0`), 'it may come again');
      assert.equal(await execute(approval, 10n, 20n), null, 'the vault takes it again');
      await aMoment(2_500);
      assert.deepEqual(await spots(), ['80', '40'], 'and the ledger does not');
      await anvil.mine(CONFIRMATIONS);
      const next = await settle(1n, 1n);
      assert.equal(next.nonce, 2);
      assert.equal(await execute(next, 1n, 1n), null);
      await booked('79', '41');
    });

    test('STL-03, AMB-82: an approval ends by a confirmed block past its time; the newest block and the clock end nothing', async () => {
      const approval = await settle(5n, 5n);
      await call('POST', '/operator/clock', { advance_ns: 7_200 * SECOND });
      await anvil.mine(1);
      await aMoment(2_500);
      assert.equal((await client.account.settlementSignatures()).length, 1);
      await anvil.client.setNextBlockTimestamp({ timestamp: BigInt(approval.expiry) + 10n });
      await anvil.mine(1);
      await aMoment(2_500);
      assert.equal((await client.account.settlementSignatures()).length, 1, 'a block that may still be replaced');
      await anvil.mine(CONFIRMATIONS);
      await eventually(async () => (await client.account.settlementSignatures()).length === 0);
      await booked('79', '41');
      assert.equal((await execute(approval, 5n, 5n))?.name, 'Expired');
    });

    test('CHN-06: a settlement that a reorganisation drops is taken back by the resumption when its approval has ended, once', async () => {
      const approval = await settle(2n, 2n);
      const snapshot = await anvil.client.snapshot();
      assert.equal(await execute(approval, 2n, 2n), null);
      await booked('77', '43');
      await anvil.client.revert({ id: snapshot });
      await anvil.mine(6);
      await aMoment(2_500);
      const refusal = await client.account.settle(request(1n, 1n)).catch((error: unknown) => error);
      assert.ok(
        refusal instanceof RingbookError && refusal.code === 'SERVICE_UNAVAILABLE',
        'nothing is approved meanwhile',
      );
      assert.deepEqual(await spots(), ['77', '43']);
      await anvil.client.setNextBlockTimestamp({ timestamp: BigInt(approval.expiry) + 7_200n });
      await anvil.mine(CONFIRMATIONS + 1);
      await eventually(
        async () => {
          const page = await (await fetch(`${node.ops}/metrics`)).text();
          return page.includes(`ringbook_chain_stopped{chain="${anvil.chainId}"} 1`);
        },
        () => node.stderr(),
      );
      assert.deepEqual(await spots(), ['77', '43'], 'the operator decides');
      for (let time = 0; time < 2; time += 1) {
        await call('POST', `/operator/chains/${anvil.chainId}/resume`, { accept: true });
        await booked('79', '41');
      }
      for (const asset of [OUT, '9']) assert.equal((await figures(asset))['difference'], '0');
      assert.equal((await execute(approval, 2n, 2n))?.name, 'Expired');
      const next = await settle(1n, 1n);
      assert.equal(next.nonce, approval.nonce, 'the number is that of the vault again');
      assert.equal(await execute(next, 1n, 1n), null);
      await booked('78', '42');
    });

    /** Killed at a commit of the node: request, execution and booking are repeated until the settlement is done. */
    async function survives(point: 'before_flush' | 'after_flush', afterTransactions: number): Promise<boolean> {
      const [before, came] = (await spots()).map(Number);
      const countBefore = await anvil.read(version, vault.vault, 'settlementCounts', [`0x${client.userId}`, 0n]);
      await call('POST', '/operator/clearing', {
        fault: { kind: 'crash', point, after_transactions: afterTransactions },
      });
      let kills = 0;
      const isDone = async (): Promise<boolean> => {
        const count = await anvil.read(version, vault.vault, 'settlementCounts', [`0x${client.userId}`, 0n]);
        const [approval] = await client.account.settlementSignatures();
        const { locks } = await figures(OUT);
        if (count !== countBefore) return locks === '0';
        if (approval !== undefined) assert.equal(await execute(approval, 1n, 1n), null);
        else if (locks === '0') await settle(1n, 1n);
        return false;
      };
      await eventually(async () => {
        try {
          return await isDone();
        } catch (error) {
          await aMoment(100);
          if (node.child.exitCode === null && node.child.signalCode === null) throw error;
          kills += 1;
          await restarted();
          return false;
        }
      });
      await call('POST', '/operator/clearing', { fault: null });
      const [spot, into] = (await spots()).map(Number);
      assert.deepEqual([spot, into], [(before ?? 0) - 1, (came ?? 0) + 1], 'exchanged once');
      for (const asset of [OUT, '9']) assert.equal((await figures(asset))['difference'], '0');
      return kills > 0;
    }

    /** All commits of a settlement with `RINGBOOK_KILLS=all`, otherwise some of them. */
    const kills = extentOf() === 'command' ? [0, 1, 2, 3] : [1, 2];
    for (const point of ['before_flush', 'after_flush'] as const) {
      test(`STL-04, STL-07: killed ${point} at the commits of a settlement, it is exchanged once and booked once`, async () => {
        let killed = 0;
        for (const afterTransactions of kills) if (await survives(point, afterTransactions)) killed += 1;
        assert.ok(killed > 0, 'a kill happened');
      });
    }
  });
}
