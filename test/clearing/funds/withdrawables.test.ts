// tier: quick
/** What a checkpoint commits (CHN-07): never more than an account owns over all chains, nor than a vault has free. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { freeUnits } from '../../../src/clearing/funds/vault-units.ts';
import { type WithdrawableUnits, withdrawables } from '../../../src/clearing/funds/withdrawables.ts';
import type { AssetId, ChainId, UserId } from '../../../src/core/ids.ts';
import { type Amount18, ONE_18, SECOND_NS, type TimestampNs } from '../../../src/core/units.ts';
import { CHAIN, ClearingWorld, TOKEN } from '../../support/clearing-world.ts';
import { ALICE, BOB, USD } from '../../support/names.ts';
import { propertyParameters } from '../../support/property.ts';

const CHAINS = [CHAIN as ChainId, '000000000000000001' as ChainId] as const;
const DECIMALS = [6, 18] as const;
const TARGET = '7c'.repeat(20).padEnd(64, '0');
const vaultOf = (chain: ChainId): string => `${'0d'.repeat(20).padEnd(64, '0')}@${chain}`;

class RootWorld extends ClearingWorld {
  readonly #next = new Map<string, number>();

  static opened(): RootWorld {
    const world = new RootWorld();
    world.isolate(false);
    for (const chain of CHAINS) {
      const settings = { kind: 'simulated', checkpoint_interval_ms: 1_000, approval_validity_s: 3_600 };
      const config = { kind: 'putConfig', request: world.request(), method: 'put' } as const;
      world.send({ ...config, config: 'chain', key: chain, body: settings });
      const vault = { administrators: ['5d'.repeat(20)], quorum: 1 };
      world.send({ ...config, request: world.request(), config: 'vault', key: vaultOf(chain), body: vault });
    }
    return world;
  }

  isolate(isOver: boolean): void {
    const cap = isOver ? '0' : null;
    const tokens = CHAINS.map((chain, index) => ({
      token: TOKEN,
      chain_id: chain,
      decimals: DECIMALS[index],
      max_deposits: cap,
    }));
    this.put('putAsset', USD, { symbol: 'USD', tokens });
  }

  #counter(kind: string): number {
    const next = this.#next.get(kind) ?? 0;
    this.#next.set(kind, next + 1);
    return next;
  }

  deposit(user: UserId, chain: number, units: bigint): void {
    const chainId = CHAINS[chain] ?? CHAINS[0];
    const depositNonce = this.#counter(`deposit/${chainId}/${user}`);
    const tx = `${chainId}${user.slice(0, 14)}${String(depositNonce).padStart(32, '0')}`;
    const event = { chainId, tx, logIndex: 0, user, token: TOKEN, baseUnits: units, depositNonce };
    this.send({ kind: 'deposit', request: this.request(), ...event });
  }

  withdraw(user: UserId, chain: number, usd: number): void {
    const terms = { token: TOKEN, chainId: CHAINS[chain] ?? CHAINS[0], target: TARGET, nonce: null, isShort: false };
    const amount = (BigInt(usd) * ONE_18) as Amount18;
    this.send({ kind: 'withdraw', request: this.request(), user, amount, ...terms });
  }

  force(user: UserId, chain: number, units: bigint): void {
    const chainId = CHAINS[chain] ?? CHAINS[0];
    const nonce = this.#counter(`forced/${chainId}/${user}`);
    const event = { chainId, user, token: TOKEN, nonce, baseUnits: units };
    this.send({ kind: 'forcedWithdrawal', request: this.request(), ...event });
  }

  pass(): void {
    this.nowNs = (this.nowNs + 30n * SECOND_NS) as TimestampNs;
    this.send({ kind: 'withdrawalsDue' });
  }

  entries(chainId: ChainId): readonly WithdrawableUnits[] {
    const walk = withdrawables(this.state, chainId, this.nowNs);
    for (;;) {
      const step = walk.next();
      if (step.done === true) return step.value;
    }
  }
}

const scale = (chain: number): bigint => 10n ** BigInt(DECIMALS[chain] ?? 18);

suite('what can be withdrawn', () => {
  test('CHN-07: an asset in two vaults is divided by what is free in each; a lock and a lot are no part of the pool', () => {
    const world = RootWorld.opened();
    world.deposit(ALICE, 0, 300n * scale(0));
    world.deposit(BOB, 1, 100n * scale(1));
    const shown = (chain: number) =>
      world.entries(CHAINS[chain] ?? CHAINS[0]).map(({ user, baseUnits }) => [user, baseUnits]);
    assert.deepEqual(shown(0), [
      [ALICE, 225n * scale(0)],
      [BOB, 75n * scale(0)],
    ]);
    assert.deepEqual(shown(1), [
      [ALICE, 75n * scale(1)],
      [BOB, 25n * scale(1)],
    ]);
    world.withdraw(BOB, 1, 100);
    assert.deepEqual(
      shown(0).map(([user]) => user),
      [ALICE],
    );
    world.pass();
    assert.deepEqual(world.state.withdrawals.ofUser(BOB)[0]?.row.status, 'filled');
    assert.deepEqual(
      shown(1),
      [[BOB, 100n * scale(1)]],
      'what is promised is claimed in that vault, by its approval or by force',
    );
    assert.deepEqual(shown(0), [[ALICE, 300n * scale(0)]]);
    world.isolate(true);
    world.deposit(BOB, 1, 7n * scale(1));
    assert.deepEqual(shown(1), [[BOB, 107n * scale(1)]], 'a lot is of its own chain');
    assert.ok(shown(0).every(([user]) => user === ALICE));
  });

  test('property: over all chains no account has more than it owns, no token more than its vault has free, no debtor anything (CHN-07)', () => {
    const step = fc.record({
      kind: fc.constantFrom('deposit', 'deposit', 'withdraw', 'force', 'pass', 'isolate', 'pool'),
      user: fc.constantFrom(ALICE, BOB),
      chain: fc.integer({ min: 0, max: 1 }),
      usd: fc.integer({ min: 1, max: 400 }),
      dust: fc.bigInt(0n, 10n ** 12n),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const world = RootWorld.opened();
        for (const { kind, user, chain, usd, dust } of steps) {
          const units = BigInt(usd) * scale(chain) + (chain === 1 ? dust : dust % 1_000_000n);
          if (kind === 'deposit') world.deposit(user, chain, units);
          else if (kind === 'withdraw') world.withdraw(user, chain, usd);
          else if (kind === 'force') world.force(user, chain, units);
          else if (kind === 'pass') world.pass();
          else world.isolate(kind === 'isolate');
          checkEntries(world);
        }
      }),
      propertyParameters(80),
    );
  });
});

function checkEntries(world: RootWorld): void {
  const claimed = new Map<UserId, bigint>();
  for (const [index, chainId] of CHAINS.entries()) {
    const entries = world.entries(chainId);
    const sum = entries.reduce((all, { baseUnits }) => all + baseUnits, 0n);
    const units = world.state.vaultTokens.get(`${TOKEN}@${chainId}`)?.baseUnits ?? 0n;
    const lots = world.state.totals.get(`${TOKEN}@${chainId}` as AssetId)?.vaultHoldings ?? 0n;
    const free = freeUnits(world.state, TOKEN, chainId);
    const ofLots = (lots * scale(index)) / ONE_18;
    const promised = world.state.withdrawals.promised(TOKEN, chainId).units;
    assert.ok(free < 0n || sum <= units, `${sum} of ${units}`);
    assert.ok(sum <= (free > 0n ? free : 0n) + ofLots + promised, `${sum} of ${free}, ${ofLots} and ${promised}`);
    for (const { user, baseUnits } of entries) {
      assert.ok(baseUnits > 0n && !world.state.debtors.has(user));
      claimed.set(user, (claimed.get(user) ?? 0n) + (baseUnits * ONE_18) / scale(index));
    }
  }
  for (const [user, value] of claimed) {
    const balances = world.state.users.get(user)?.subAccounts.get(0)?.balances;
    const keys = [USD, ...CHAINS.map((chain) => `${TOKEN}@${chain}`)] as AssetId[];
    const owned = keys.reduce((all, key) => {
      const { owned: one = 0n, locked = 0n } = balances?.get(key) ?? {};
      return all + one + locked;
    }, 0n);
    assert.ok(value <= owned, `${value} of ${owned}`);
  }
}
