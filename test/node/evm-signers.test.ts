// tier: full, 7 s
/**
 * Configurations by the deposit overload of a real vault (anvil): what its event has is in force once the deposit is final, and an
 * event of any length neither configures too much nor stops the chain.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { Anvil, deployVault, depositOnAnvil, padded, type VaultOnAnvil } from '../support/anvil.ts';
import { type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { removeDirectory } from '../support/temporary-directory.ts';
import { type ConfigRow, configText, keyText, type WireSigner, wireSigner } from '../support/wire-signers.ts';
import { PlainKey } from '../support/wire-texts.ts';

const VM_ID = 1_338;
const ADMINISTRATOR = '0x5d5c99edf529335160ff180fa141dd4967fc00d2';
const CONFIRMATIONS = 2;
const ASSET = '7';
const UNIT = 1_000_000n;

/** Any 32 bytes after a prefix: a key that never signs. */
function pointOf(index: number): WireSigner {
  const key = new Uint8Array(33);
  key[0] = 2;
  new DataView(key.buffer).setUint32(29, index);
  return { scheme: 'P256', key, sign: () => new Uint8Array(64) };
}

suite('configurations by deposits on an EVM chain', () => {
  let anvil: Anvil;
  let node: NodeProcess;
  let contracts: VaultOnAnvil;
  let total = 0;

  before(async () => {
    anvil = await Anvil.start(VM_ID);
    contracts = await deployVault(anvil, [ADMINISTRATOR]);
    node = await startNode({ env: { RINGBOOK_LOG_LEVEL: 'warn' } });
    const chain = { kind: 'evm', rpc_urls: [anvil.url], confirmations: { deposit: CONFIRMATIONS } };
    await put(`/operator/chains/${anvil.chainId}`, chain);
    const vault = `${padded(contracts.vault)}@${anvil.chainId}`;
    await put(`/operator/vaults/${vault}`, { administrators: [ADMINISTRATOR.slice(2)], quorum: 1 });
    const token = { token: padded(contracts.token), chain_id: anvil.chainId, decimals: 6 };
    await put(`/operator/assets/${ASSET}`, { symbol: 'EVM', tokens: [token] });
  });

  after(async () => {
    await stopNode(node, 'SIGKILL');
    await anvil.stop();
    removeDirectory(node.dataDirectory);
  });

  async function put(path: string, body: object): Promise<void> {
    const { status, text } = await operator(node, 'PUT', path, body);
    assert.equal(status, 200, `${path}: ${text}`);
  }

  async function credited(): Promise<number> {
    const { body } = await operator(node, 'GET', '/operator/ledger');
    return Number((body['assets'] as Record<string, { spot: string }>)[ASSET]?.spot ?? '0');
  }

  /** Accounts that list the key. */
  async function accountsOf(signer: WireSigner): Promise<string> {
    const answer = await fetch(`${node.oms}/multisig/signers?bare=true`, { method: 'POST', body: keyText(signer) });
    return answer.text();
  }

  /** A deposit of one unit with a signed configuration; it is credited. */
  async function deposit(user: PlainKey, rows: readonly ConfigRow[]): Promise<void> {
    const signature = Buffer.from(user.sign(configText({ high: 2 }, rows))).toString('hex');
    const signers = rows.map(({ signer: { scheme, key }, weight = 1 }) => ({
      key: `0x${Buffer.from(key.subarray(1)).toString('hex')}`,
      keyType: scheme === 'P256' ? 2 : 1,
      keyPrefix: key[0],
      weight,
      expiresAtNs: 0n,
      maxSigningWindowNs: 0n,
    }));
    const config = [1, 1, 1, 2, signers, `0x${signature}`];
    assert.equal(await depositOnAnvil(anvil, contracts, user.id, UNIT, config), null);
    await anvil.mine(CONFIRMATIONS);
    total += 1;
    await eventually(
      async () => (await credited()) === total,
      () => `never credited:\n${node.stderr()}`,
    );
  }

  test('MSG-04, DEP-06, AMB-132: the overload of the vault configures the account, also behind a kill', async () => {
    const [user, other] = [new PlainKey(0x42), new PlainKey(0x43)];
    const signer = wireSigner(0x21);
    await deposit(user, [{ signer, weight: 3 }]);
    await eventually(async () => (await accountsOf(signer)) === `["${user.id}"]`);
    await deposit(other, [{ signer }]);
    await stopNode(node, 'SIGKILL');
    node = await startNode({ dataDirectory: node.dataDirectory });
    assert.equal(await accountsOf(signer), `["${user.id}","${other.id}"]`);
  });

  test('AMB-132: an event with a hundred signers configures sixteen; one that is too long is credited and configures none', async () => {
    const user = new PlainKey(0x44);
    const rows = (count: number, from: number) =>
      Array.from({ length: count }, (_, index) => ({ signer: pointOf(from + index) }));
    await deposit(user, rows(100, 1));
    await eventually(async () => (await accountsOf(pointOf(16))) === `["${user.id}"]`);
    assert.equal(await accountsOf(pointOf(17)), '[]');
    await deposit(new PlainKey(0x45), rows(1_400, 1_000));
    assert.equal(await accountsOf(pointOf(1_000)), '[]');
    await deposit(new PlainKey(0x46), [{ signer: pointOf(5_000) }]);
    assert.notEqual(await accountsOf(pointOf(5_000)), '[]', 'the chain goes on');
  });
});
