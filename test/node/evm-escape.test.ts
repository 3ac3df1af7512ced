// tier: full, 9 s
/**
 * The escape hatch of an EVM chain with a whole node (WDR-24, AMB-85, CHN-07): the node signs the root, it is committed on anvil, the node is
 * gone, a user withdraws by proof after the timeout, and the node that comes back debits it before anything else.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Address, Hex } from 'viem';
import { type WithdrawableEntry, WithdrawableTree } from '../../src/chain/withdrawable-tree.ts';
import { Anvil, deployVault, depositOnAnvil, padded, type Revert, type VaultOnAnvil } from '../support/anvil.ts';
import { type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { PlainKey } from '../support/wire-texts.ts';

const ADMINISTRATOR: Address = '0x5d5c99edf529335160ff180fa141dd4967fc00d2';
const TARGET: Address = `0x${'7c'.repeat(20)}`;
const TIMEOUT_S = 604_800;
const UNIT = 1_000_000n;
const ASSET = '7';
const [ALICE, BOB] = [new PlainKey(0x11), new PlainKey(0x22)];

suite('the escape hatch of an EVM chain', () => {
  let anvil: Anvil;
  let contracts: VaultOnAnvil;
  let node: NodeProcess;
  let entries: readonly WithdrawableEntry[] = [];
  const chain = (): string => `/operator/chains/${anvil.chainId}`;

  before(async () => {
    anvil = await Anvil.start(1_338);
    contracts = await deployVault(anvil, [ADMINISTRATOR]);
    node = await startNode({ env: { RINGBOOK_LOG_LEVEL: 'warn' } });
    const urls = ['a', 'b', 'c'].map((name) => `${anvil.url}/?${name}`);
    await put(chain(), { kind: 'evm', rpc_urls: urls });
    const vault = `${padded(contracts.vault)}@${anvil.chainId}`;
    await put(`/operator/vaults/${vault}`, { administrators: [ADMINISTRATOR.slice(2)], quorum: 1 });
    const token = { token: padded(contracts.token), chain_id: anvil.chainId, decimals: 6 };
    await put(`/operator/assets/${ASSET}`, { symbol: 'EVM', tokens: [token] });
    assert.equal(await depositOnAnvil(anvil, contracts, ALICE.id, 100n * UNIT), null);
    assert.equal(await depositOnAnvil(anvil, contracts, BOB.id, 50n * UNIT), null);
    await eventually(async () => (await owned(BOB)) === '50' && (await owned(ALICE)) === '100');
  });
  after(async () => {
    await stopNode(node, 'SIGKILL');
    await anvil?.stop();
  });

  async function put(path: string, body: object): Promise<void> {
    const { status, text } = await operator(node, 'PUT', path, body);
    assert.equal(status, 200, `${path}: ${text}`);
  }
  async function owned({ id }: PlainKey): Promise<string> {
    const { status, body } = await operator(node, 'GET', `/operator/users/${id}`);
    if (status !== 200) return '0';
    const accounts = body['sub_accounts'] as Record<string, { balances: Record<string, { owned: string }> }>;
    return accounts['0']?.balances[ASSET]?.owned ?? '0';
  }
  async function difference(): Promise<string | undefined> {
    const { body } = await operator(node, 'GET', '/operator/ledger');
    return (body['assets'] as Record<string, { difference: string }>)[ASSET]?.difference;
  }
  const vaultCall = (name: string, args: readonly unknown[]): Promise<Revert | null> =>
    anvil.send({ contract: 'VaultV1', at: contracts.vault, name, args });
  async function force(key: PlainKey, amount: bigint): Promise<Revert | null> {
    const entry = entries.find(({ user }) => user === key.id);
    assert.ok(entry !== undefined);
    const leaf = {
      user: `0x${key.id}`,
      account: BigInt(entry.account),
      token: contracts.token,
      amount: entry.baseUnits,
      withdrawals: 0n,
      settlements: 0n,
    };
    const counted = await anvil.read('VaultV1', contracts.vault, 'forcedCounts', [leaf.user]);
    const digest = (await anvil.read('VaultV1', contracts.vault, 'forcedDigest', [
      leaf,
      amount,
      TARGET,
      counted,
    ])) as Hex;
    const signature = Buffer.from(key.sign(Buffer.from(digest.slice(2), 'hex'))).toString('hex');
    const proof = new WithdrawableTree(entries).proof(entry) ?? [];
    const halves = [`0x${signature.slice(0, 64)}`, `0x${signature.slice(64)}`];
    return vaultCall('forceWithdraw', [leaf, amount, TARGET, proof.map((hash) => `0x${hash}`), ...halves]);
  }
  /** With the operator's word. */
  const accepted = async (): Promise<NodeProcess> =>
    startNode({ dataDirectory: node.dataDirectory, env: { RINGBOOK_ACCEPT_ESCAPE: anvil.chainId } });

  test('CHN-07: the node signs the root over what each account can withdraw, and the vault takes it', async () => {
    const { status, body, text } = await operator(node, 'POST', `${chain()}/checkpoint`, undefined);
    assert.equal(status, 200, text);
    const rows = body['withdrawable'] as readonly Record<string, string | number>[];
    entries = rows.map((row) => ({
      user: String(row['user']),
      account: Number(row['account']),
      token: String(row['token']),
      baseUnits: BigInt(row['amount_base_units'] ?? 0),
      withdrawals: Number(row['withdrawals']),
      settlements: Number(row['settlements']),
    }));
    assert.deepEqual(
      entries.map(({ user, account, baseUnits }) => [user, account, baseUnits]).sort(),
      [
        [ALICE.id, 0, 100n * UNIT],
        [BOB.id, 0, 50n * UNIT],
      ].sort(),
    );
    assert.equal(body['root'], new WithdrawableTree(entries).root);
    const signatures = (body['signatures'] as readonly string[]).map((signature) => `0x${signature}`);
    const args = [`0x${body['root']}`, BigInt(String(body['number'])), signatures];
    assert.equal(await vaultCall('commitCheckpoint', args), null);
    const simulated = await operator(node, 'POST', '/operator/chains/000000000000007a69/checkpoint', undefined);
    assert.equal(simulated.status, 400);
  });

  test('CHN-07: with the node gone a user withdraws by proof after the timeout; the node that comes back debits it before its listeners open', async () => {
    await stopNode(node, 'SIGKILL');
    assert.equal((await force(ALICE, 60n * UNIT))?.name, 'EscapeClosed');
    await anvil.client.increaseTime({ seconds: TIMEOUT_S + 60 });
    await anvil.mine(1);
    assert.equal(await force(ALICE, 60n * UNIT), null);
    assert.equal((await force(ALICE, 41n * UNIT))?.name, 'ExceedsWithdrawable');
    assert.equal(await anvil.read('Token', contracts.token, 'balanceOf', [TARGET]), 60n * UNIT);

    await assert.rejects(startNode({ dataDirectory: node.dataDirectory }), (error: Error) => {
      assert.match(error.message, /78/);
      assert.match(error.message, new RegExp(`the vault of chain ${anvil.chainId} is in escape mode`));
      return true;
    });
    node = await accepted();
    // Ready means that the public listeners are open: it is debited by then.
    assert.equal(await owned(ALICE), '40');
    assert.equal(await difference(), '0');
    await stopNode(node, 'SIGKILL');
    node = await accepted();
    assert.deepEqual([await owned(ALICE), await owned(BOB), await difference()], ['40', '50', '0'], 'once');
    const refused = await operator(node, 'POST', `${chain()}/checkpoint`, undefined);
    assert.equal(refused.status, 503, 'no checkpoint while the vault is in escape mode');
  });

  test('CHN-07: what is forced while the node runs is debited too; after the owner has ended it a start needs no word', async () => {
    assert.equal(await force(BOB, 50n * UNIT), null);
    await anvil.mine(1);
    await eventually(async () => (await owned(BOB)) === '0');
    assert.equal(await vaultCall('endEscape', []), null);
    await stopNode(node, 'SIGTERM');
    node = await startNode({ dataDirectory: node.dataDirectory });
    assert.deepEqual([await owned(ALICE), await owned(BOB), await difference()], ['40', '0', '0']);
    // Signed is what the vault holds by then: after a start it is read first.
    let body: Readonly<Record<string, unknown>> = {};
    await eventually(
      async () => {
        const answer = await operator(node, 'POST', `${chain()}/checkpoint`, undefined);
        assert.ok(answer.status === 200 || answer.status === 503, answer.text);
        body = answer.body;
        return answer.status === 200;
      },
      () => `no checkpoint:\n${node.stderr()}`,
    );
    const rows = body['withdrawable'] as readonly Record<string, string>[];
    assert.deepEqual(
      rows.map(({ amount_base_units: units }) => units),
      [`${40n * UNIT}`],
    );
  });
});
