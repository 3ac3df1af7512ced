/** Forced withdrawals in clearing (AMB-85): once, exact, below zero if need be; every step is checked by a full recount. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import type { AssetId, ChainId, UserId } from '../../../src/core/ids.ts';
import { type Amount18, ONE_18, SECOND_NS, type TimestampNs } from '../../../src/core/units.ts';
import {
  ALICE,
  acceptedValue,
  BOB,
  CHAIN,
  ClearingWorld,
  codeOf,
  PlainTables,
  reply,
  TOKEN,
  USD,
} from '../../support/clearing-world.ts';
import { propertyParameters } from '../../support/property.ts';

const CHAIN_ID = CHAIN as ChainId;
const UNIT = 1_000_000n;
const VAULT = `${'0d'.repeat(20).padEnd(64, '0')}@${CHAIN}`;
const TARGET = '7c'.repeat(20).padEnd(64, '0');

class EscapeWorld extends ClearingWorld {
  readonly #next = new Map<string, number>();

  static opened(): EscapeWorld {
    const world = new EscapeWorld();
    world.put('putAsset', USD, { symbol: 'USD', tokens: [{ token: TOKEN, chain_id: CHAIN, decimals: 6 }] });
    const chain = { kind: 'simulated', checkpoint_interval_ms: 1_000, approval_validity_s: 3_600 };
    world.send({ kind: 'putConfig', request: 1, config: 'chain', key: CHAIN, method: 'put', body: chain });
    const vault = { administrators: ['5d'.repeat(20)], quorum: 1 };
    world.send({ kind: 'putConfig', request: 2, config: 'vault', key: VAULT, method: 'put', body: vault });
    return world;
  }

  #counter(kind: string, user: UserId): number {
    const next = this.#next.get(kind + user) ?? 0;
    this.#next.set(kind + user, next + 1);
    return next;
  }

  deposit(user: UserId, usd: number): void {
    const depositNonce = this.#counter('deposit', user);
    const tx = `${user.slice(0, 32)}${String(depositNonce).padStart(32, '0')}`;
    const event = {
      chainId: CHAIN_ID,
      tx,
      logIndex: 0,
      user,
      token: TOKEN,
      baseUnits: BigInt(usd) * UNIT,
      depositNonce,
    };
    this.send({ kind: 'deposit', request: this.request(), ...event });
  }

  withdraw(user: UserId, usd: number): string | null {
    const amount = (BigInt(usd) * ONE_18) as Amount18;
    const terms = { token: TOKEN, chainId: CHAIN_ID, amount, target: TARGET, nonce: null, isShort: false };
    return codeOf(reply(this.send({ kind: 'withdraw', request: this.request(), user, ...terms })));
  }

  /** @param nonce the next if left out. */
  force(user: UserId, usd: number, more: { readonly nonce?: number; readonly token?: string } = {}): unknown {
    const { nonce = this.#counter('forced', user), token = TOKEN } = more;
    const event = { chainId: CHAIN_ID, user, token, nonce, baseUnits: BigInt(usd) * UNIT };
    return acceptedValue(reply(this.send({ kind: 'forcedWithdrawal', request: this.request(), ...event })));
  }

  pass(ns: bigint): void {
    this.nowNs = (this.nowNs + ns) as TimestampNs;
    this.send({ kind: 'withdrawalsDue' });
  }

  usd(user: UserId): number {
    return Number(this.owned(user, USD as AssetId) / ONE_18);
  }

  units(): number {
    return Number((this.state.vaultTokens.get(`${TOKEN}@${CHAIN}`)?.baseUnits ?? 0n) / UNIT);
  }
}

suite('forced withdrawals', () => {
  test('AMB-85: what the account owns and what it does not is debited, with the units of the vault, once for each counter', () => {
    const world = EscapeWorld.opened();
    world.deposit(ALICE, 100);
    world.deposit(BOB, 500);
    assert.deepEqual(world.force(ALICE, 70), { result: 'debited', next: 1 });
    assert.deepEqual(world.force(ALICE, 70, { nonce: 0 }), { result: 'duplicate', next: 1 });
    assert.deepEqual(world.force(ALICE, 70, { nonce: 5 }), { result: 'gap', next: 1 });
    assert.deepEqual([world.usd(ALICE), world.units()], [30, 530]);
    assert.deepEqual(world.force(ALICE, 200), { result: 'debited', next: 2 });
    assert.deepEqual([world.usd(ALICE), world.usd(BOB), world.units()], [-170, 500, 330]);
    assert.equal(world.withdraw(ALICE, 1), 'INSUFFICIENT_INVENTORY');
    world.deposit(ALICE, 171);
    assert.equal(world.usd(ALICE), 1);
  });

  test('AMB-85, AMB-116: units beyond those of the ledger, and tokens that it never had, are not debited', () => {
    const world = EscapeWorld.opened();
    world.deposit(BOB, 50);
    assert.deepEqual(world.force(ALICE, 80), { result: 'debited', next: 1 });
    assert.deepEqual([world.usd(ALICE), world.units()], [-50, 0]);
    assert.deepEqual(world.force(ALICE, 80), { result: 'debited', next: 2 });
    assert.equal(world.usd(ALICE), -50);
    assert.deepEqual(world.force(ALICE, 1, { token: 'ee'.repeat(32) }), { result: 'unknownToken', next: 3 });
  });

  test('AMB-85, WDR-05: a vault that has paid what withdrawals were promised fills no further one', () => {
    const world = EscapeWorld.opened();
    world.deposit(ALICE, 1_000);
    assert.equal(world.withdraw(ALICE, 600), null);
    assert.equal(world.withdraw(ALICE, 300), null);
    world.pass(3_600n * SECOND_NS);
    world.force(BOB, 700);
    assert.deepEqual([world.usd(ALICE), world.usd(BOB), world.units()], [100, -700, 300]);
    assert.equal(world.withdraw(ALICE, 100), null);
    world.pass(3_600n * SECOND_NS);
    const statuses = world.state.withdrawals.ofUser(ALICE).map(({ row }) => row.status);
    assert.deepEqual(statuses, ['filled', 'filled', 'queued']);
  });

  test('AMB-85, WDR-11: a payout of units that a forced withdrawal took from the ledger is unmatched: the chain stops, nothing is booked', () => {
    const world = EscapeWorld.opened();
    world.deposit(ALICE, 100);
    assert.equal(world.withdraw(ALICE, 100), null);
    world.pass(3_600n * SECOND_NS);
    world.send({ kind: 'vaultCheckpoint', request: world.request(), chainId: CHAIN_ID, blockTime: 0 });
    world.force(BOB, 100);
    const paid = { chainId: CHAIN_ID, user: ALICE, token: TOKEN, nonce: 0, baseUnits: 100n * UNIT };
    const answer = reply(world.send({ kind: 'withdrew', request: world.request(), ...paid }));
    assert.deepEqual(acceptedValue(answer), { result: 'unmatched', next: 0 });
    assert.equal(world.units(), 0);
  });

  test('AMB-85: the sums stay equal whatever is forced, and a start from the rows is the same state', () => {
    const step = fc.record({
      user: fc.constantFrom(ALICE, BOB),
      usd: fc.integer({ min: 1, max: 400 }),
      kind: fc.constantFrom('deposit' as const, 'force' as const, 'withdraw' as const, 'pass' as const),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const world = EscapeWorld.opened();
        const tables = new PlainTables();
        let units = 0;
        const owed = new Map<UserId, number>();
        for (const { user, usd, kind } of steps) {
          const before = owed.get(user) ?? 0;
          if (kind === 'deposit') {
            world.deposit(user, usd);
            units += usd;
            owed.set(user, before + usd);
          } else if (kind === 'force') {
            world.force(user, usd);
            const paid = Math.min(usd, units);
            units -= paid;
            owed.set(user, before - paid);
          } else if (kind === 'withdraw') {
            if (world.withdraw(user, usd) === null) owed.set(user, before - usd);
          } else world.pass(30n * SECOND_NS);
          assert.equal(world.usd(user), owed.get(user) ?? 0);
          assert.equal(world.units(), units);
          tables.checkpoint(world.state);
        }
        tables.checkpoint(world.state);
        assert.equal(stateHash(tables.load()), stateHash(world.state));
      }),
      propertyParameters(30),
    );
  });
});
