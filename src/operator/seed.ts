/**
 * Fills an empty node with the seed of operator-api.md §9, with the same commands and the same simulated chain that an
 * operator and a depositor would use. Called only on a start with an empty journal.
 */

import type { ChainOperations } from '../chain/chain-operations.ts';
import { PUBLIC_APPROVAL_ADDRESS } from '../chain/key-file.ts';
import type { OperatorCommand } from '../clearing/inputs.ts';
import { keyFromSeed } from '../client/keys.ts';
import { signTransfer } from '../client/signed-actions.ts';
import { decodeTransfer } from '../codec/account-requests.ts';
import { powerOfTen } from '../core/arithmetic.ts';
import { assert, must } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import type { AssetId, ChainId } from '../core/ids.ts';
import type { Amount18 } from '../core/units.ts';
import { verify } from '../crypto/ed25519.ts';
import { type OperatorRequest, readRequest } from './commands.ts';
import type { OpsParts } from './ops-parts.ts';
import type { AccountSettings } from './own-accounts.ts';
import {
  CHAIN_DEV,
  SEED_ASSETS,
  SEED_BACKSTOP,
  SEED_BYTE,
  SEED_CHAINS,
  SEED_EXECUTOR,
  SEED_FEE_ACCOUNT,
  SEED_FUNDS,
  SEED_MARKETS,
  SEED_PRICES,
  SEED_RISK,
  SEED_SETTLER,
  seedAddress,
} from './seed-data.ts';

/** 20 bytes of aa: the default depositor (operator-api.md 8). */
const DEPOSITOR = seedAddress('aa');

type Parts = Pick<OpsParts, 'command' | 'config'>;

/** @throws InvariantError when a seeded command is rejected: seed and validation disagree. */
export async function seedNode(seed: 'dev' | 'test', parts: Parts, chains: ChainOperations): Promise<void> {
  await seedRegistry(parts);
  if (seed === 'test') return;
  for (const byte of [SEED_BYTE.userA, SEED_BYTE.userB]) await fundUser(byte, parts, chains);
}

/**
 * Initial settings of a node without a seed: those whose default depends on the profile (operator-api.md 4.10).
 * Operators change them afterwards.
 */
export async function seedSettings(parts: Parts, accounts: AccountSettings): Promise<void> {
  const { acks, selfServiceMarkets, profile } = parts.config;
  const settings = { acks, self_service_markets: selfServiceMarkets, ...accounts };
  const body = profile === 'production' ? { ...settings, oracle_max_jump: '0.5' } : settings;
  await request(parts, { kind: 'putConfig', config: 'settings', key: '', method: 'patch', body });
}

/** Replaces public keys in the settings by other accounts. */
export async function patchAccounts(parts: Parts, accounts: AccountSettings): Promise<void> {
  if (Object.keys(accounts).length === 0) return;
  await request(parts, { kind: 'putConfig', config: 'settings', key: '', method: 'patch', body: accounts });
}

async function request(parts: Parts, asked: OperatorRequest): Promise<void> {
  const command = readRequest(asked);
  assert(command.ok, `the seed is valid: ${asked.kind} ${command.ok ? '' : (command.reject.field ?? '')}`);
  await run(parts, command.value);
}

async function run(parts: Parts, command: OperatorCommand): Promise<void> {
  const reply = await parts.command(command);
  assert(
    reply.ok,
    `the seed is accepted: ${command.kind} ${reply.ok ? '' : `${reply.reject.code} ${reply.reject.message} ${reply.reject.field ?? ''}`}`,
  );
}

async function seedRegistry(parts: Parts): Promise<void> {
  const { profile, chainsMine, acks, selfServiceMarkets, feeAccount, backstopAccount } = parts.config;
  for (const { chainId, confirmations, blockTimeMs } of SEED_CHAINS) {
    const body = {
      kind: 'simulated',
      block_time_ms: blockTimeMs,
      auto_mine: chainsMine === 'by-themselves',
      providers: 3,
      confirmations: { deposit: confirmations, withdrawal: confirmations, settlement: 0 },
    };
    await request(parts, { kind: 'putConfig', config: 'chain', key: chainId, method: 'put', body });
  }
  for (const { chainId, vault } of SEED_CHAINS) {
    const body = { administrators: [PUBLIC_APPROVAL_ADDRESS], quorum: 1, confirmations: null };
    await request(parts, { kind: 'putConfig', config: 'vault', key: `${vault}@${chainId}`, method: 'put', body });
  }
  const settings = {
    acks,
    fee_account: feeAccount ?? SEED_FEE_ACCOUNT,
    backstop_account: backstopAccount ?? SEED_BACKSTOP,
    self_service_markets: selfServiceMarkets,
  };
  await request(parts, { kind: 'putConfig', config: 'settings', key: '', method: 'patch', body: settings });
  const settler = { chain_id: CHAIN_DEV, executor: SEED_EXECUTOR };
  await request(parts, { kind: 'putConfig', config: 'settler', key: SEED_SETTLER, method: 'put', body: settler });
  for (const [asset, body] of Object.entries(SEED_ASSETS)) {
    await request(parts, { kind: 'putAsset', method: 'put', assetId: asset as AssetId, body });
  }
  for (const [asset, body] of Object.entries(SEED_RISK)) {
    await request(parts, { kind: 'putRisk', method: 'put', assetId: asset as AssetId, body });
  }
  for (const [asset, body] of Object.entries(SEED_MARKETS)) {
    await request(parts, { kind: 'putMarket', method: 'put', assetId: asset as AssetId, body });
  }
  const prices = Object.entries(SEED_PRICES).map(([asset, price]) => ({ asset_id: asset, price, source: profile }));
  await request(parts, { kind: 'setPrices', body: { prices } });
}

/** Real deposits on the dev chain, then transfers into account 1, signed by the user, nonces 1 to 3. */
async function fundUser(seedByte: number, parts: Parts, chains: ChainOperations): Promise<void> {
  const key = keyFromSeed(new Uint8Array(32).fill(seedByte));
  for (const { token, decimals, deposit } of SEED_FUNDS) {
    const reply = await chains.simulated.deposit(CHAIN_DEV as ChainId, {
      user: key.userId,
      token,
      baseUnits: deposit * powerOfTen(decimals),
      from: DEPOSITOR,
      approve: true,
      senderAllowed: true,
      confirm: true,
    });
    assert(reply.ok && reply.value.status === 'mined', 'a seeded deposit is mined');
  }
  let nonce = 0n;
  for (const { asset, toMargin } of SEED_FUNDS) {
    if (toMargin === 0n) continue;
    nonce += 1n;
    const amount = toMargin * powerOfTen(18);
    const text = signTransfer(key, {
      sourceIndex: 0,
      targetIndex: 1,
      assetId: asset as AssetId,
      amount18: amount,
      targetAccountType: null,
      nonce,
    });
    await run(parts, verifiedTransfer(text));
  }
}

/**
 * Processes a transfer like the gateway: decodes the signed body, verifies the canonical bytes, passes the values to
 * clearing.
 */
function verifiedTransfer(body: string): OperatorCommand {
  const bytes = Buffer.from(body, 'utf8');
  const decoded = decodeTransfer(bytes, 0, bytes.length);
  assert(decoded.ok, 'a seeded transfer decodes');
  const { inner, signature, text } = decoded.value;
  const key = must(parseHex(inner.user.id, 32), 'a user id is 32 bytes of hex');
  assert(verify(signature, text, key), 'a seeded transfer is signed by its user');
  return {
    kind: 'transfer',
    targetType: null,
    user: inner.user.id,
    sourceIndex: inner.sourceIndex,
    targetIndex: inner.targetIndex,
    asset: inner.transferAsset.id,
    amount: BigInt(inner.transferAmount) as Amount18,
    nonce: inner.nonce,
  };
}
