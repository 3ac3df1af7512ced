/** A clearing state with one token of USD in a vault, caps of its deposits, and withdrawals without a delay. */

import assert from 'node:assert/strict';
import type { Effect } from '../../src/clearing/effects.ts';
import { lotsDueNs } from '../../src/clearing/funds/deposit-caps.ts';
import { ledgerView, userView } from '../../src/clearing/views.ts';
import { format18 } from '../../src/core/decimal.ts';
import type { AssetId, ChainId, UserId } from '../../src/core/ids.ts';
import { type Amount18, ONE_18, type TimestampNs, ZERO_18 } from '../../src/core/units.ts';
import { acceptedValue, CHAIN, ClearingWorld, codeOf, reply, T0, TOKEN } from './clearing-world.ts';
import { ALICE, USD } from './names.ts';

/** The token's address form. */
export const LOTS: AssetId = `${TOKEN}@${CHAIN}` as AssetId;
const VAULT = `${'0d'.repeat(20).padEnd(64, '0')}@${CHAIN}`;
const TARGET = '7c'.repeat(20).padEnd(64, '0');

/** A token of USD with 18 decimals in a vault, and caps in whole units. */
export class CapsWorld extends ClearingWorld {
  readonly #deposits = new Map<UserId, number>();
  readonly #withdrawn = new Map<UserId, number>();

  static opened(total: number | null, hour: number | null, decimals = 18): CapsWorld {
    const world = new CapsWorld();
    world.put('putAsset', USD, { symbol: 'USD' });
    world.caps(total, hour, decimals);
    const chain = { kind: 'simulated', checkpoint_interval_ms: 1_000, approval_validity_s: 3_600 };
    world.send({ kind: 'putConfig', request: 1, config: 'chain', key: CHAIN, method: 'put', body: chain });
    const vault = { administrators: ['5d'.repeat(20)], quorum: 1 };
    world.send({ kind: 'putConfig', request: 2, config: 'vault', key: VAULT, method: 'put', body: vault });
    world.send({
      kind: 'putConfig',
      request: 3,
      config: 'withdrawal-delay',
      key: '',
      method: 'put',
      body: { min_delay: 0, max_delay: 0, delay_clamps: [0], delay_values: [0], cap_floor: 50_000 },
    });
    return world;
  }

  caps(total: number | null, hour: number | null, decimals = 18): void {
    const text = (units: number | null): string | null => (units === null ? null : (BigInt(units) * ONE_18).toString());
    const caps = { max_deposits: text(total), max_1hr_deposits: text(hour) };
    acceptedValue(
      this.put('putAsset', USD, { tokens: [{ token: TOKEN, chain_id: CHAIN, decimals, ...caps }] }, 'patch'),
    );
  }

  rates(rebalancing: object): void {
    acceptedValue(this.put('putAsset', USD, { rebalancing }, 'patch'));
  }

  /** In base units. */
  deposit(baseUnits: bigint, user: UserId = ALICE, token: string = TOKEN): Effect[] {
    const depositNonce = this.#deposits.get(user) ?? 0;
    this.#deposits.set(user, depositNonce + 1);
    const tx = `${user.slice(0, 32)}${String(depositNonce).padStart(32, '0')}`;
    const event = { chainId: CHAIN as ChainId, tx, logIndex: 0, user, token, baseUnits, depositNonce };
    return this.send({ kind: 'deposit', request: this.request(), ...event });
  }

  withdraw(units: bigint, user: UserId = ALICE): Effect[] {
    const terms = { user, token: TOKEN, chainId: CHAIN as ChainId, amount: units as Amount18, target: TARGET };
    return this.send({ kind: 'withdraw', request: this.request(), ...terms, nonce: null, isShort: false });
  }

  cancel(nonce: number, user: UserId = ALICE): Effect[] {
    const chainId = CHAIN as ChainId;
    return this.send({ kind: 'cancelWithdrawal', request: this.request(), user, token: TOKEN, chainId, nonce });
  }

  /** A withdrawal from request to payout. */
  paidOut(units: bigint, user: UserId = ALICE): Effect[] {
    assert.equal(codeOf(reply(this.withdraw(units, user))), null);
    return this.execute(user);
  }

  /** Signs and executes the row at the vault's counter. */
  execute(user: UserId = ALICE): Effect[] {
    const chainId = CHAIN as ChainId;
    this.send({ kind: 'vaultCheckpoint', request: this.request(), chainId, blockTime: 0 });
    const row = this.state.withdrawals.ofUser(user).find(({ row }) => row.status === 'signing')?.row;
    assert.ok(row, 'a row is to be signed');
    const { place, sequence, payout: baseUnits } = row;
    const nonce = this.#withdrawn.get(user) ?? 0;
    this.#withdrawn.set(user, nonce + 1);
    const signatures = ['11'.repeat(65)];
    this.send({ kind: 'approvalSigned', request: this.request(), user, place, sequence, signatures });
    const paid = this.send({
      kind: 'withdrew',
      request: this.request(),
      user,
      token: TOKEN,
      chainId,
      nonce,
      baseUnits,
    });
    assert.equal(acceptedValue(reply(paid))['result'], 'executed');
    return paid;
  }

  /** To so long after the start, with what clearing's actor does when something is due. */
  at(ns: bigint): Effect[] {
    this.nowNs = (T0 + ns) as TimestampNs;
    const dueNs = lotsDueNs(this.state, this.nowNs);
    return dueNs === null || dueNs > this.nowNs ? [] : this.send({ kind: 'lotsDue' });
  }

  /** Pooled and isolated units of a user. */
  funds(user: UserId = ALICE): readonly [string, string] {
    const balances = this.state.users.get(user)?.subAccounts.get(0)?.balances;
    const of = (asset: AssetId): string => format18(balances?.get(asset)?.owned ?? ZERO_18);
    return [of(USD), of(LOTS)];
  }

  lots(user: UserId = ALICE): readonly (readonly [string, bigint])[] {
    const view = acceptedValue(userView(this.state, user, this.nowNs));
    return (view['isolated_lots'] as readonly { asset: string; amount: string; credited_at_ns: bigint }[]).map(
      ({ asset, amount, credited_at_ns: creditedNs }) => {
        assert.equal(asset, LOTS);
        return [amount, creditedNs - T0] as const;
      },
    );
  }

  ledger(): Readonly<Record<string, string>> {
    const job = ledgerView(this.state);
    let step = job.next();
    while (step.done !== true) step = job.next();
    const { assets } = step.value as { assets: Record<string, Record<string, string>> };
    for (const [asset, entry] of Object.entries(assets)) assert.equal(entry['difference'], '0', asset);
    assert.equal(assets[LOTS], undefined, 'a token counts with its asset');
    return assets[USD] ?? assert.fail('there is an entry');
  }
}

/** Whole units with 18 decimals. */
export const units = (amount: number): bigint => BigInt(amount) * ONE_18;
