/**
 * `npm run try:chain`: an EVM chain with a vault, a node that watches it through three addresses, a deposit, a trade and a
 * withdrawal. With `--once` it ends then; otherwise it goes on until SIGINT.
 */
import type { Address } from 'viem';
import type { Withdrawal } from '../../src/client/account.ts';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey, keyFromSeed } from '../../src/client/keys.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { Anvil, deployVault, depositOnAnvil, padded } from './anvil.ts';
import { operator, startNode, stopNode } from './node-process.ts';
import { eventually } from './patience.ts';

const VM_ID = 1_337;
const CONFIRMATIONS = 4;
const ASSET = '7';
const TARGET: Address = `0x${'7c'.repeat(20)}`;
/** The user whose key is 32 bytes of 0xe1. */
const SEED_BYTE = 0xe1;

function line(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** JSON with maps as objects. */
function plain(value: unknown): string {
  return JSON.stringify(value, (_name, item: unknown) => (item instanceof Map ? Object.fromEntries(item) : item));
}

const anvil = await Anvil.start(VM_ID);
const contracts = await deployVault(anvil, ['0x5d5c99edf529335160ff180fa141dd4967fc00d2']);
const node = await startNode({ profile: 'dev' });

async function put(path: string, body: object): Promise<void> {
  const { status, text } = await operator(node, 'PUT', path, body);
  if (status !== 200) throw new Error(`${path}: ${text}`);
}

const chain = anvil.chainId;
const rpcUrls = ['a', 'b', 'c'].map((name) => `${anvil.url}/?${name}`);
await put(`/operator/chains/${chain}`, {
  kind: 'evm',
  rpc_urls: rpcUrls,
  confirmations: { deposit: CONFIRMATIONS, withdrawal: CONFIRMATIONS },
});
await put(`/operator/vaults/${padded(contracts.vault)}@${chain}`, {
  administrators: ['5d5c99edf529335160ff180fa141dd4967fc00d2'],
  quorum: 1,
});
const token = { token: padded(contracts.token), chain_id: chain, decimals: 6 };
await put(`/operator/assets/${ASSET}`, { symbol: 'TOKEN', tokens: [token] });
await put(`/operator/markets/${ASSET}`, { book_price_decimals: 2, book_quantity_decimals: 2 });
const key = keyFromSeed(new Uint8Array(32).fill(SEED_BYTE));
const client = new RingbookClient({ oms: node.oms, mds: node.mds, key });
line(`chain ${chain} at ${anvil.url}, vault ${contracts.vault}, token ${contracts.token}`);
line(`node at ${node.oms}, operator API at ${node.ops}`);

await depositOnAnvil(anvil, contracts, client.userId, 5_000_000n);
line(`deposited 5 tokens for ${client.userId} in block ${await anvil.head()}`);
await anvil.mine(CONFIRMATIONS - 1);
const confirmedMs = performance.now();
let units = '0';
await eventually(async () => {
  const { body } = await operator(node, 'GET', '/operator/ledger');
  units = (body['assets'] as Record<string, { spot: string }>)[ASSET]?.spot ?? '0';
  return units !== '0';
});
line(
  `credited ${units} after ${CONFIRMATIONS} confirmations, ${Math.round(performance.now() - confirmedMs)} ms after the last`,
);
await client.login();
line(`inventory of the user: ${plain(await client.inventory())}`);

const buyer = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
await buyer.login();
const terms = { assetId: ASSET as AssetId, price: '10', quantity: '1', target: { account: 0, isSpot: true } };
await client.create(await client.order({ ...terms, side: 'Sell' }));
await buyer.create(await buyer.order({ ...terms, side: 'Buy' }));
await eventually(async () => (await client.trades()).items.length > 0);
line(`sold 1 token at 10 to a user of the dev seed; inventory: ${plain(await client.inventory())}`);

await client.account.withdraw({
  token: padded(contracts.token),
  chainId: chain,
  amount18: 2n * 10n ** 18n,
  target: padded(TARGET),
});
line('withdrawing 2; the clock of the node is moved over the delay of 30 s');
await operator(node, 'POST', '/operator/clock', { advance_ns: 31_000_000_000 });
const dueMs = performance.now();
let approved: Withdrawal | undefined;
await eventually(async () => {
  approved = (await client.account.withdrawals()).find(({ status }) => status === 'approved');
  return approved !== undefined;
});
const [approval] = approved?.approvals ?? [];
if (approved === undefined || approval === undefined) throw new Error('an approved withdrawal has an approval');
line(
  `approved after ${Math.round(performance.now() - dueMs)} ms: nonce ${approved.nonce}, signature ${approval.signature.slice(0, 16)}…, valid until ${approval.expiry}`,
);
const revert = await anvil.send({
  contract: 'VaultV1',
  at: contracts.vault,
  name: 'withdraw',
  args: [
    { tokenAddress: contracts.token, amount: 2_000_000n, nonce: BigInt(approved.nonce) },
    `0x${client.userId}`,
    TARGET,
    BigInt(approval.expiry),
    `0x${approval.epochHash}`,
    [`0x${approval.signature.replace(/^0x/, '')}`],
  ],
});
if (revert !== null) throw new Error(`the vault refused: ${revert.name}`);
line(`executed: ${TARGET} has ${await anvil.read('Token', contracts.token, 'balanceOf', [TARGET])} base units`);
await anvil.mine(CONFIRMATIONS - 1);
await eventually(async () => {
  const { body } = await operator(node, 'GET', '/operator/ledger');
  const figures = (body['assets'] as Record<string, { locks: string; spot: string }>)[ASSET];
  units = figures?.spot ?? '0';
  return figures?.locks === '0';
});
line(`booked after ${CONFIRMATIONS} confirmations; all users together have ${units} left`);

if (!process.argv.includes('--once')) {
  line('end it with Ctrl-C');
  await new Promise((resolve) => process.once('SIGINT', resolve));
}
await stopNode(node);
await anvil.stop();
process.exit();
