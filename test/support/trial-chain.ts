/**
 * What docs/production.md has in place of a real chain for a trial: an anvil with a vault of wire.md §12 and two tokens, beside a
 * node that runs as in production. Started without npm in between, which passes no SIGTERM on.
 *
 *   start ADMINISTRATOR            prints the chain as lines for a shell, and goes on until SIGTERM or SIGINT
 *   deposit TOKEN USER BASE_UNITS  deposits into the vault for a user; RPC and VAULT are in the environment, as printed
 */
import type { Address } from 'viem';
import { Anvil, deployVault, depositOnAnvil } from './anvil.ts';

const USAGE = 'usage: trial-chain.js start ADMINISTRATOR | trial-chain.js deposit TOKEN USER BASE_UNITS';
const USD_DECIMALS = 6;
const ETH_DECIMALS = 18;

function refuse(reason: string): never {
  process.stderr.write(`${reason}\n${USAGE}\n`);
  process.exit(64);
}

function addressOf(text: string | undefined, name: string): Address {
  const hex = (text ?? '').replace(/^0x/, '').toLowerCase();
  return /^[0-9a-f]{40}$/.test(hex)
    ? `0x${hex}`
    : refuse(`${name} is an address of 40 hex digits, not "${text ?? ''}"`);
}

async function start(administrator: Address): Promise<void> {
  const anvil = await Anvil.start();
  const { vault, token } = await deployVault(anvil, [administrator], 'VaultV1', USD_DECIMALS);
  const eth = await anvil.deploy('Token', [ETH_DECIMALS]);
  const hex = (address: Address): string => address.slice(2).toLowerCase();
  const lines = { RPC: anvil.url, CHAIN: anvil.chainId, VAULT: hex(vault), USD: hex(token), ETH: hex(eth) };
  process.stdout.write(
    `${Object.entries(lines)
      .map(([name, value]) => `export ${name}=${value}`)
      .join('\n')}\n`,
  );
  const over = new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
  });
  // A signal is handled while the loop has something to wait for.
  const alive = setInterval(() => undefined, 60_000);
  await over;
  clearInterval(alive);
  await anvil.stop();
}

async function deposit(token: Address, user: string, amount: string): Promise<void> {
  if (!/^[0-9a-f]{64}$/.test(user)) refuse(`USER is a user id of 64 hex digits, not "${user}"`);
  if (!/^[1-9][0-9]{0,77}$/.test(amount)) refuse(`BASE_UNITS is a whole number, not "${amount}"`);
  const anvil = await Anvil.connect(process.env['RPC'] ?? refuse('RPC is not set'));
  const vault = addressOf(process.env['VAULT'], 'VAULT');
  const revert = await depositOnAnvil(anvil, { vault, token }, user, BigInt(amount));
  if (revert !== null) throw new Error(`the vault refuses the deposit: ${revert.name}`);
  process.stdout.write(`deposited in block ${await anvil.head()}\n`);
}

const [command, first = '', user = '', amount = ''] = process.argv.slice(2);
if (command === 'start') await start(addressOf(first, 'ADMINISTRATOR'));
else if (command === 'deposit') await deposit(addressOf(first, 'TOKEN'), user, amount);
else refuse('which one?');
process.exit();
