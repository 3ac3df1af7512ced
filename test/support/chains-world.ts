/** A clearing state with one asset on several chains, each with a vault and a token of 18 decimals, and withdrawals without a delay. */

import assert from 'node:assert/strict';
import { totalsOf } from '../../src/clearing/balances.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import type { WithdrawalRow } from '../../src/clearing/rows.ts';
import type { ChainId, UserId } from '../../src/core/ids.ts';
import { type Amount18, SECOND_NS, type TimestampNs } from '../../src/core/units.ts';
import { acceptedValue, ClearingWorld, codeOf, reply } from './clearing-world.ts';
import { ALICE, USD } from './names.ts';

export const CHAINS: readonly ChainId[] = ['1', '2', '3'].map(
  (vm: string): ChainId => `0000000000000000${vm}a` as ChainId,
);
const TARGET = '7c'.repeat(20).padEnd(64, '0');

/** The token of the asset on a chain, by its place in the list; of another asset with another letter. */
export function tokenOn(at: number, letter = 'e'): string {
  return `${letter}${at}`.repeat(20).padEnd(64, '0');
}

export class ChainsWorld extends ClearingWorld {
  readonly #counters = new Map<string, number>();

  static opened(count: number = CHAINS.length, delayS = 0): ChainsWorld {
    const world = new ChainsWorld();
    const tokens = CHAINS.slice(0, count).map((chain, at) => {
      return { token: tokenOn(at).slice(0, 40), chain_id: chain, decimals: 18 };
    });
    acceptedValue(world.put('putAsset', USD, { symbol: 'USD', tokens }));
    for (const [at, chain] of CHAINS.slice(0, count).entries()) {
      const body = { kind: 'simulated', checkpoint_interval_ms: 1_000, approval_validity_s: 3_600 };
      world.send({ kind: 'putConfig', request: 1, config: 'chain', key: chain, method: 'put', body });
      const key = `${`0${at}`.repeat(20).padEnd(64, '0')}@${chain}`;
      const vault = { administrators: ['5d'.repeat(20)], quorum: 1 };
      world.send({ kind: 'putConfig', request: 2, config: 'vault', key, method: 'put', body: vault });
    }
    const delays = { min_delay: delayS, max_delay: delayS, delay_clamps: [0], delay_values: [0], cap_floor: 50_000 };
    world.send({ kind: 'putConfig', request: 3, config: 'withdrawal-delay', key: '', method: 'put', body: delays });
    return world;
  }

  #next(name: string): number {
    const count = this.#counters.get(name) ?? 0;
    this.#counters.set(name, count + 1);
    return count;
  }

  deposit(at: number, baseUnits: bigint, user: UserId = ALICE, letter = 'e'): Effect[] {
    const chainId = CHAINS[at] as ChainId;
    const depositNonce = this.#next(`deposit/${at}/${user}`);
    const tx = `${user.slice(0, 30)}0${at}${String(depositNonce).padStart(32, '0')}`;
    const event = { chainId, tx, logIndex: 0, user, token: tokenOn(at, letter), baseUnits, depositNonce };
    const effects = this.send({ kind: 'deposit', request: this.request(), ...event });
    assert.equal(acceptedValue(reply(effects))['result'], 'credited');
    return effects;
  }

  /** @returns the code of the refusal, or null. */
  withdraw(at: number, amount: bigint, user: UserId = ALICE, letter = 'e', nonce: number | null = null): string | null {
    const terms = { user, token: tokenOn(at, letter), chainId: CHAINS[at] as ChainId, target: TARGET };
    const asked = { kind: 'withdraw' as const, request: this.request(), ...terms, amount: amount as Amount18 };
    return codeOf(reply(this.send({ ...asked, nonce, isShort: false })));
  }

  cancel({ chainId, nonce, user, token }: WithdrawalRow): void {
    const asked = { kind: 'cancelWithdrawal' as const, request: this.request(), user, token, chainId, nonce };
    assert.equal(codeOf(reply(this.send(asked))), null);
  }

  rows(user: UserId = ALICE): WithdrawalRow[] {
    return this.state.withdrawals.ofUser(user).map(({ row }) => row);
  }

  /** What a checkpoint of the chain makes to be signed. */
  checkpoint(at: number): void {
    this.send({ kind: 'vaultCheckpoint', request: this.request(), chainId: CHAINS[at] as ChainId, blockTime: 0 });
  }

  /** Signs and executes the row at the vault's counter, if there is one. */
  execute(at: number, user: UserId = ALICE): WithdrawalRow | null {
    const chainId = CHAINS[at] as ChainId;
    this.checkpoint(at);
    const row = this.rows(user).find((one) => one.chainId === chainId && one.status === 'signing');
    if (row === undefined) return null;
    const { place, sequence, payout: baseUnits, nonce, token } = row;
    const signatures = ['11'.repeat(65)];
    this.send({ kind: 'approvalSigned', request: this.request(), user, place, sequence, signatures });
    const event = { user, token, chainId, nonce, baseUnits };
    const paid = this.send({ kind: 'withdrew', request: this.request(), ...event });
    // A forced payout may have taken what this one was promised.
    return acceptedValue(reply(paid))['result'] === 'executed' ? row : null;
  }

  /** The vault pays without the node. */
  force(at: number, baseUnits: bigint, user: UserId = ALICE): void {
    const event = { chainId: CHAINS[at] as ChainId, user, token: tokenOn(at), baseUnits };
    const nonce = this.#next(`forced/${at}/${user}`);
    this.send({ kind: 'forcedWithdrawal', request: this.request(), ...event, nonce });
  }

  /** Time passes, with what clearing's actor does when something is due. */
  pass(seconds: number): void {
    this.nowNs = (this.nowNs + BigInt(seconds) * SECOND_NS) as TimestampNs;
    const dueNs = this.state.withdrawals.nextDueNs;
    if (dueNs !== null && dueNs <= this.nowNs) this.send({ kind: 'withdrawalsDue' });
  }

  /** What a user has, locked or not. */
  wealth(user: UserId = ALICE): bigint {
    const balance = this.state.users.get(user)?.subAccounts.get(0)?.balances.get(USD);
    return balance === undefined ? 0n : balance.owned + balance.locked;
  }

  pool(): bigint {
    return totalsOf(this.state, USD).rebalancingPool;
  }

  unpaid(): bigint {
    return totalsOf(this.state, USD).rebalancingUnpaid;
  }

  curve(k: string, weights: readonly string[]): void {
    const target_weights = Object.fromEntries(weights.map((weight, at) => [CHAINS[at], weight]));
    acceptedValue(this.put('putAsset', USD, { rebalancing: { mode: 'curve', k, target_weights } }, 'patch'));
  }
}
