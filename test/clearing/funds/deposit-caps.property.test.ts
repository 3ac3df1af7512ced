// tier: quick
/**
 * Deposits, lots, conversions and withdrawals against a plain ledger: any order of them, with clock moves, caps and rates that
 * change, and kills. After each step every balance, every lot and the ledger are what the plain one has.
 */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { applyBatch } from '../../../src/clearing/clearing.ts';
import { LOTS_PER_TOKEN } from '../../../src/clearing/funds/lot-book.ts';
import { createClearingState } from '../../../src/clearing/state.ts';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import { smaller } from '../../../src/core/arithmetic.ts';
import { format18 } from '../../../src/core/decimal.ts';
import type { UserId } from '../../../src/core/ids.ts';
import { type Amount18, HOUR_NS, ONE_18, SECOND_NS, type TimestampNs } from '../../../src/core/units.ts';
import { CapsWorld } from '../../support/caps-world.ts';
import { codeOf, PlainTables, reply, T0 } from '../../support/clearing-world.ts';
import { ALICE, BOB, CAROL } from '../../support/names.ts';
import { propertyParameters } from '../../support/property.ts';

const DECIMALS = 6;
const BASE_UNIT = 10n ** 12n;
const USERS: readonly UserId[] = [ALICE, BOB, CAROL];

const who = fc.nat({ max: USERS.length - 1 });
const cap = fc.option(fc.integer({ min: 0, max: 900 }), { nil: null });
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('deposit' as const), who, baseUnits: fc.integer({ min: 1, max: 3e8 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('withdraw' as const),
      who,
      raw: fc.bigInt({ min: 1n, max: 300n * ONE_18 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), who }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('execute' as const), who }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      seconds: fc.constantFrom(0, 1, 900, 1_799, 3_599, 3_600),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('caps' as const), total: cap, hour: cap }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('rates' as const),
      deposit: fc.nat({ max: 30 }),
      withdrawal: fc.nat({ max: 30 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), isWritten: fc.boolean() }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface PlainLot {
  readonly user: UserId;
  readonly timeNs: bigint;
  amount: bigint;
}

interface PlainLock {
  readonly user: UserId;
  /** Of the row in clearing. */
  readonly sequence: number;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly isolated: bigint;
}

/** Up, at a rate in thousandths of 25 at most. */
function feeAt(amount: bigint, thousandths: number): bigint {
  return (amount * BigInt(Math.min(thousandths, 25)) + 999n) / 1_000n;
}

/** The rules of AMB-73, AMB-75 and AMB-76 for one token, in lists. */
class PlainFunds {
  readonly pool = new Map<UserId, bigint>(USERS.map((user) => [user, 0n]));
  lots: PlainLot[] = [];
  locks: PlainLock[] = [];
  credits: { readonly timeNs: bigint; readonly amount: bigint }[] = [];
  units = 0n;
  rebalancing = 0n;
  total: bigint | null = null;
  hour: bigint | null = null;
  depositRate = 0;
  withdrawalRate = 0;

  deposit(user: UserId, gross: bigint, nowNs: bigint): void {
    const fee = feeAt(gross, this.depositRate);
    const fits = gross <= this.room(nowNs);
    this.units += gross;
    this.rebalancing += fee;
    if (fits) {
      this.credits.push({ timeNs: nowNs, amount: gross });
      this.#addPool(user, gross - fee);
    } else if (gross > fee) this.#addLot(user, gross - fee, nowNs);
  }

  /** @returns null when there is less. */
  lock(user: UserId, amount: bigint): Omit<PlainLock, 'sequence'> | null {
    const fee = feeAt(amount, this.withdrawalRate);
    const free = this.#sumOf(user) - this.#lockedOf(user);
    const isolated = smaller(amount + fee, free);
    const pooled = amount + fee - isolated;
    if (amount < BASE_UNIT || pooled > (this.pool.get(user) ?? 0n)) return null;
    this.#addPool(user, -pooled);
    return { user, amount, fee, isolated };
  }

  cancel(lock: PlainLock): void {
    this.locks = this.locks.filter((other) => other !== lock);
    this.#addPool(lock.user, lock.amount + lock.fee - lock.isolated);
  }

  pay(lock: PlainLock): void {
    const { user, amount, fee, isolated } = lock;
    this.locks = this.locks.filter((other) => other !== lock);
    const paid = (amount / BASE_UNIT) * BASE_UNIT;
    let ofLots = smaller(isolated, paid + fee);
    this.#addPool(user, amount + fee - isolated - (paid + fee - ofLots));
    for (const lot of this.lots.filter((own) => own.user === user)) {
      const taken = smaller(lot.amount, ofLots);
      lot.amount -= taken;
      ofLots -= taken;
    }
    this.lots = this.lots.filter((lot) => lot.amount > 0n);
    this.units -= paid;
    this.rebalancing += fee;
  }

  /** Every lot that fits, oldest first, as far as it is not locked. */
  convert(nowNs: bigint): void {
    const locked = new Map(USERS.map((user) => [user, this.#lockedOf(user)]));
    for (const lot of this.lots) {
      const covered = smaller(lot.amount, locked.get(lot.user) ?? 0n);
      locked.set(lot.user, (locked.get(lot.user) ?? 0n) - covered);
      const free = lot.amount - covered;
      if (free === 0n || free > this.room(nowNs)) continue;
      lot.amount -= free;
      this.#addPool(lot.user, free);
      this.credits.push({ timeNs: nowNs, amount: free });
    }
    this.lots = this.lots.filter((lot) => lot.amount > 0n);
  }

  room(nowNs: bigint): bigint {
    const pooled = this.units - this.isolated();
    const young = this.credits.filter(({ timeNs }) => nowNs - timeNs < HOUR_NS);
    const sum = young.reduce((all, { amount }) => all + amount, 0n);
    const none = 1n << 126n;
    return smaller(this.total === null ? none : this.total - pooled, this.hour === null ? none : this.hour - sum);
  }

  isolated(): bigint {
    return this.lots.reduce((sum, { amount }) => sum + amount, 0n);
  }

  /** As operators see them. */
  shown(user: UserId): readonly string[] {
    let locked = this.#lockedOf(user);
    const shown: string[] = [];
    for (const lot of this.lots.filter((own) => own.user === user)) {
      const covered = smaller(lot.amount, locked);
      locked -= covered;
      if (lot.amount > covered) shown.push(`${format18((lot.amount - covered) as Amount18)} at ${lot.timeNs - T0}`);
    }
    return shown;
  }

  #lockedOf(user: UserId): bigint {
    return this.locks.reduce((sum, lock) => (lock.user === user ? sum + lock.isolated : sum), 0n);
  }

  #sumOf(user: UserId): bigint {
    return this.lots.reduce((sum, lot) => (lot.user === user ? sum + lot.amount : sum), 0n);
  }

  #addPool(user: UserId, amount: bigint): void {
    this.pool.set(user, (this.pool.get(user) ?? 0n) + amount);
  }

  #addLot(user: UserId, amount: bigint, timeNs: bigint): void {
    const own = this.lots.filter((lot) => lot.user === user);
    const youngest = own.length === LOTS_PER_TOKEN ? own.at(-1) : undefined;
    this.lots = this.lots.filter((lot) => lot !== youngest);
    this.lots.push({ user, amount: amount + (youngest?.amount ?? 0n), timeNs });
  }
}

/** Plays steps in clearing and in the plain ledger. */
class FundsPlayer {
  readonly world = CapsWorld.opened(null, null, DECIMALS);
  readonly plain = new PlainFunds();
  readonly #tables = new PlainTables();

  play(step: Step): void {
    this.#act(step);
    // As clearing's actor does when something is due.
    this.world.at(this.world.nowNs - T0);
    this.plain.convert(this.world.nowNs);
    this.#compare(step);
  }

  #act(step: Step): void {
    const { world, plain } = this;
    const user = 'who' in step ? (USERS[step.who] ?? ALICE) : ALICE;
    switch (step.kind) {
      case 'deposit':
        world.deposit(BigInt(step.baseUnits), user);
        plain.deposit(user, BigInt(step.baseUnits) * BASE_UNIT, world.nowNs);
        return;
      case 'withdraw':
        this.#withdraw(user, step.raw);
        return;
      case 'cancel':
        this.#cancel(user);
        return;
      case 'execute':
        this.#execute(user);
        return;
      case 'pass':
        world.nowNs = (world.nowNs + BigInt(step.seconds) * SECOND_NS) as TimestampNs;
        return;
      case 'caps':
        world.caps(step.total, step.hour, DECIMALS);
        plain.total = step.total === null ? null : BigInt(step.total) * ONE_18;
        plain.hour = step.hour === null ? null : BigInt(step.hour) * ONE_18;
        return;
      case 'rates': {
        const rate = (thousandths: number): string => format18((BigInt(thousandths) * 10n ** 15n) as Amount18);
        const { deposit, withdrawal } = step;
        world.rates({ mode: 'fixed', deposit_rate: rate(deposit), withdrawal_rate: rate(withdrawal) });
        [plain.depositRate, plain.withdrawalRate] = [deposit, withdrawal];
        return;
      }
      case 'kill':
        this.#kill(step.isWritten);
    }
  }

  #withdraw(user: UserId, raw: bigint): void {
    const { world, plain } = this;
    const before = plain.locks.length;
    const code = codeOf(reply(world.withdraw(raw, user)));
    const lock = plain.lock(user, raw);
    assert.equal(code === null, lock !== null, `${code}`);
    if (lock === null) return;
    const rows = world.state.withdrawals.ofUser(user);
    plain.locks.push({ ...lock, sequence: rows.at(-1)?.row.sequence ?? 0 });
    assert.equal(plain.locks.length, before + 1);
  }

  #cancel(user: UserId): void {
    const { world, plain } = this;
    const row = world.state.withdrawals.ofUser(user).find((slot) => slot.row.status === 'filled')?.row;
    if (row === undefined) return;
    assert.equal(codeOf(reply(world.cancel(row.nonce, user))), null);
    plain.cancel(plain.locks.find(({ sequence }) => sequence === row.sequence) ?? assert.fail('it is locked'));
  }

  #execute(user: UserId): void {
    const { world, plain } = this;
    const live = world.state.withdrawals.ofUser(user).filter(({ row }) => ['filled', 'signing'].includes(row.status));
    if (live.length === 0) return;
    const { row } = live.find(({ row }) => row.status === 'signing') ?? live[0] ?? assert.fail('one is live');
    world.execute(user);
    plain.pay(plain.locks.find(({ sequence }) => sequence === row.sequence) ?? assert.fail('it is locked'));
  }

  /** The state of the journal, or that of the tables, is the one that was. */
  #kill(isWritten: boolean): void {
    const { world } = this;
    const hash = stateHash(world.state);
    if (isWritten) {
      this.#tables.checkpoint(world.state);
      world.state = this.#tables.load();
    } else {
      const again = createClearingState();
      for (const batch of world.journal) applyBatch(again, batch, []);
      // Its checkpoint writes all of it.
      world.state = again;
    }
    assert.equal(stateHash(world.state), hash);
  }

  #compare(step: Step): void {
    const { world, plain } = this;
    const text = (amount: bigint): string => format18(amount as Amount18);
    for (const user of USERS) {
      assert.equal(world.funds(user)[0], text(plain.pool.get(user) ?? 0n), step.kind);
      if (!world.state.users.has(user)) continue;
      assert.deepEqual(
        world.lots(user).map(([amount, ns]) => `${amount} at ${ns}`),
        plain.shown(user),
        step.kind,
      );
    }
    if (plain.units === 0n) return;
    const { spot, isolated, locks, fees, rebalancing_pool: pool, vault_holdings: held, dust } = world.ledger();
    const locked = plain.locks.reduce((sum, lock) => sum + lock.amount + lock.fee, 0n);
    const isolatedLocks = plain.locks.reduce((sum, lock) => sum + lock.isolated, 0n);
    const owned = [...plain.pool.values()].reduce((sum, amount) => sum + amount, 0n);
    assert.deepEqual(
      [spot, isolated, locks, fees, pool, held, dust],
      [owned, plain.isolated() - isolatedLocks, locked, 0n, plain.rebalancing, plain.units, 0n].map(text),
      step.kind,
    );
  }
}

suite('deposits against a plain ledger', () => {
  test('any steps leave the balances, lots and sums of the plain rules, over kills too (DEP-12 to DEP-16, AMB-73, AMB-75, AMB-76, AMB-116)', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => {
        const player = new FundsPlayer();
        for (const one of steps) player.play(one);
      }),
      propertyParameters(40),
    );
  });
});
