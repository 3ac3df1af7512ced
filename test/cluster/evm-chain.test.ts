// tier: full, 100 s
/**
 * An EVM chain over takeovers, on real nodes and anvil: deposits before, during and after are credited once, a stop stays, approvals are the
 * same bytes and pay once, and no leader reads the chain from its first block again (cluster.md 6 and 8, AMB-74).
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Address } from 'viem';
import { Anvil, deployVault, depositOnAnvil, padded, type Revert } from '../support/anvil.ts';
import { inVenue, PATIENT } from '../support/cluster-venue.ts';
import { operator } from '../support/node-process.ts';
import { aMoment, eventually } from '../support/patience.ts';
import { RpcProxy } from '../support/rpc-proxy.ts';

/** Of the public approval key of dev. */
const ADMINISTRATOR: Address = '0x5d5c99edf529335160ff180fa141dd4967fc00d2';
const TARGET: Address = `0x${'7c'.repeat(20)}`;
const ASSET = '7';
const CONFIRMATIONS = 2;
const UNIT = 1_000_000n;
/** Blocks before the chain is configured. */
const PAST = 40;

interface Queued {
  readonly nonce: number;
  readonly status: {
    readonly type: string;
    readonly approvals?: readonly {
      readonly inner: { readonly signature: string };
      readonly expiry: number;
      readonly epoch_hash: readonly number[];
    }[];
  };
}

test('an EVM chain over two takeovers by kill -9', { timeout: 300_000 }, async (t) => {
  const anvil = await Anvil.start(1_337);
  const contracts = await deployVault(anvil, [ADMINISTRATOR]);
  const proxies = await Promise.all([1, 2, 3].map(() => RpcProxy.start(anvil.url)));
  const path = `/operator/chains/${anvil.chainId}`;
  const read = (): readonly number[] => proxies.flatMap(({ fromBlocks }) => fromBlocks.splice(0));
  try {
    await anvil.mine(PAST);
    await inVenue(t, PATIENT, async (venue) => {
      const alice = venue.user(1);
      const figures = async (): Promise<Readonly<Record<string, string>>> => {
        const { status, body } = await operator(venue.node, 'GET', '/operator/ledger');
        return status === 200 ? ((body['assets'] as Record<string, never>)[ASSET] ?? {}) : {};
      };
      const becomes = (name: string, value: string): Promise<void> =>
        eventually(
          async () => (await figures())[name] === value,
          () => `${name} is never ${value}: ${venue.node.stderr}`,
        );
      const deposit = async (units: bigint): Promise<void> => {
        await depositOnAnvil(anvil, contracts, alice.id, units * UNIT);
        await anvil.mine(CONFIRMATIONS - 1);
      };
      const isStopped = async (): Promise<boolean> =>
        new RegExp(`^ringbook_chain_stopped\\{chain="${anvil.chainId}"\\} 1$`, 'm').test(
          await (await fetch(`${venue.node.ops}/metrics`)).text(),
        );
      const queue = async (): Promise<readonly Queued[]> =>
        (await alice.read(`/withdrawal/queue/${alice.id}`)) as readonly Queued[];
      const approvals = async (): Promise<readonly Queued['status'][]> => (await queue()).map(({ status }) => status);

      const counts = { deposit: CONFIRMATIONS, withdrawal: CONFIRMATIONS };
      const urls = proxies.map(({ url }) => url);
      await venue.operate('PUT', path, { kind: 'evm', rpc_urls: urls, confirmations: counts });
      const vault = `${padded(contracts.vault)}@${anvil.chainId}`;
      await venue.operate('PUT', `/operator/vaults/${vault}`, {
        administrators: [ADMINISTRATOR.slice(2)],
        quorum: 1,
      });
      const token = { token: padded(contracts.token), chain_id: anvil.chainId, decimals: 6 };
      await venue.operate('PUT', `/operator/assets/${ASSET}`, { symbol: 'EVM', tokens: [token] });

      // ---- before: a deposit, and a withdrawal whose approval is out
      await deposit(100n);
      await becomes('spot', '100');
      await alice.login();
      const asked = await alice.withdraw({
        asset: `${padded(contracts.token)}@${anvil.chainId}`,
        amount: (10n * 10n ** 18n).toString(16),
        target: padded(TARGET),
      });
      assert.equal(asked.status, 200, asked.text);
      assert.equal((await figures())['locks'], '10', asked.text);
      await venue.operate('POST', '/operator/clock', { advance_ns: 31_000_000_000 });
      venue.aheadNs = 31_000_000_000n;
      await eventually(
        async () => (await queue())[0]?.status.type === 'approved',
        () => `no approval: ${venue.node.stderr}`,
      );
      const before = await approvals();
      assert.equal(before[0]?.approvals?.length, 1);
      assert.ok(Math.min(...read()) <= 1, 'the first leader has read from the first block');

      // ---- the leader dies; a deposit while nobody leads, and one after
      await venue.world.node('a').kill();
      read();
      await deposit(5n);
      await venue.follows('b', 2);
      venue.aheadNs -= 10_000_000_000n;
      await becomes('spot', '95');
      await deposit(3n);
      await becomes('spot', '98');
      assert.equal((await figures())['vault_holdings'], '108', 'each once');
      const first = Math.min(...read());
      assert.ok(first > PAST - 10, `read from block ${first} on`);

      await alice.login();
      assert.deepEqual(await approvals(), before, 'the same bytes');
      const [row] = await queue();
      const [approval] = row?.status.approvals ?? [];
      assert.ok(row !== undefined && approval !== undefined);
      const execute = (): Promise<Revert | null> =>
        anvil.send({
          contract: 'VaultV1',
          at: contracts.vault,
          name: 'withdraw',
          args: [
            { tokenAddress: contracts.token, amount: 10n * UNIT, nonce: BigInt(row.nonce) },
            `0x${alice.id}`,
            TARGET,
            BigInt(approval.expiry),
            `0x${Buffer.from(approval.epoch_hash).toString('hex')}`,
            [`0x${approval.inner.signature.replace(/^0x/, '')}`],
          ],
        });
      assert.equal(await execute(), null);
      assert.equal((await execute())?.name, 'InvalidNonce', 'and it pays once');
      await anvil.mine(CONFIRMATIONS);
      await becomes('locks', '0');

      // ---- a stop survives the next takeover, until the operator ends it
      venue.world.node('a').launch();
      await venue.world.node('a').until('following');
      await deposit(1n);
      await becomes('spot', '99');
      await anvil.reorg(CONFIRMATIONS + 1);
      await eventually(isStopped, () => `never stopped: ${venue.node.stderr}`);
      await venue.world.node('b').kill();
      read();
      await venue.follows('a', 3);
      await eventually(isStopped, () => `forgotten: ${venue.node.stderr}`);
      // The counter of the one that vanished, and one behind it.
      await deposit(10n);
      await deposit(20n);
      await aMoment(4_000);
      assert.equal((await figures())['spot'], '99', 'nothing is credited');
      assert.equal(await isStopped(), true);
      assert.deepEqual(read(), [], 'a stopped chain is not read, from no block');
      await eventually(
        async () => (await operator(venue.node, 'POST', `${path}/resume`, { accept: true })).status === 200,
        () => `not resumed: ${venue.node.stderr}`,
      );
      await becomes('spot', '119');
      await eventually(async () => !(await isStopped()));
    });
  } finally {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await anvil.stop();
  }
});
