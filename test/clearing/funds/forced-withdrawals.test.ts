// tier: quick
/** Forced withdrawals in clearing (AMB-85): once, exact, below zero if need be; every step is checked by a full recount. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import type { AssetId, ChainId, UserId } from '../../../src/core/ids.ts';
import { type Amount18, ONE_18, SECOND_NS, type TimestampNs } from '../../../src/core/units.ts';
import {
  acceptedValue,
  CHAIN,
  ClearingWorld,
  codeOf,
  PlainTables,
  reply,
  TOKEN,
} from '../../support/clearing-world.ts';
import { MarginWorld } from '../../support/margin-world.ts';
import { ALICE, BOB, ETH, USD } from '../../support/names.ts';
import { propertyParameters } from '../../support/property.ts';

const CHAIN_ID = CHAIN as ChainId;
const UNIT = 1_000_000n;
const LOTS = `${TOKEN}@${CHAIN}` as AssetId;
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

  /** Deposits are over the cap from now on, or none is and what was isolated is pooled. */
  isolate(isOver: boolean): void {
    const token = { token: TOKEN, chain_id: CHAIN, decimals: 6, max_deposits: isOver ? '0' : null };
    this.put('putAsset', USD, { symbol: 'USD', tokens: [token] });
  }

  /** Owned of the pool, owned isolated, and locked of both, of account 0. */
  funds(user: UserId): readonly [number, number, number] {
    const balances = this.state.users.get(user)?.subAccounts.get(0)?.balances;
    const [pool, lots] = [balances?.get(USD as AssetId), balances?.get(LOTS)];
    const locked = (pool?.locked ?? 0n) + (lots?.locked ?? 0n);
    return [this.usd(user), Number((lots?.owned ?? 0n) / ONE_18), Number(locked / ONE_18)];
  }

  /** What the isolated lots of a user are, oldest first, without what is locked of them. */
  lots(user: UserId): readonly number[] {
    const shown = this.state.users.get(user)?.subAccounts.get(0)?.balances.get(LOTS)?.lots?.shown() ?? [];
    return shown.map(({ amount }) => Number(amount / ONE_18));
  }

  statuses(user: UserId): readonly string[] {
    return this.state.withdrawals.ofUser(user).map(({ row }) => row.status);
  }

  sign(): void {
    this.send({ kind: 'vaultCheckpoint', request: this.request(), chainId: CHAIN_ID, blockTime: 0 });
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

  test('AMB-85, AMB-73: isolated lots of the token are debited first, the oldest first, then the pool', () => {
    const world = EscapeWorld.opened();
    world.deposit(BOB, 500);
    world.deposit(ALICE, 40);
    world.isolate(true);
    world.deposit(ALICE, 60);
    world.deposit(ALICE, 30);
    assert.deepEqual(
      [world.funds(ALICE), world.lots(ALICE)],
      [
        [40, 90, 0],
        [60, 30],
      ],
    );
    world.force(ALICE, 70);
    assert.deepEqual([world.funds(ALICE), world.lots(ALICE), world.units()], [[40, 20, 0], [20], 560]);
    world.force(ALICE, 50);
    assert.deepEqual([world.funds(ALICE), world.lots(ALICE), world.units()], [[10, 0, 0], [], 510]);
    assert.equal(world.withdraw(ALICE, 11), 'INSUFFICIENT_INVENTORY');
    world.force(ALICE, 20);
    assert.deepEqual(world.funds(ALICE), [-10, 0, 0]);
    world.deposit(ALICE, 50);
    assert.deepEqual(world.funds(ALICE), [-10, 50, 0]);
    assert.equal(world.withdraw(ALICE, 1), 'INSUFFICIENT_INVENTORY', 'lots do not leave while the pool is owed');
    world.isolate(false);
    assert.deepEqual(world.funds(ALICE), [40, 0, 0]);
    assert.equal(world.withdraw(ALICE, 40), null);
  });

  test('AMB-85, WDR-13: queued and filled withdrawals end, the youngest first, until their funds cover the debit; those of others stay and are filled', () => {
    const world = EscapeWorld.opened();
    world.deposit(ALICE, 300);
    assert.equal(world.withdraw(ALICE, 100), null);
    world.isolate(true);
    world.deposit(ALICE, 80);
    assert.equal(world.withdraw(ALICE, 120), null);
    assert.equal(world.withdraw(ALICE, 60), null);
    assert.deepEqual(world.funds(ALICE), [100, 0, 280]);
    world.isolate(false);
    world.deposit(BOB, 100);
    assert.equal(world.withdraw(BOB, 100), null);
    world.pass(3_600n * SECOND_NS);
    assert.deepEqual(world.statuses(ALICE), ['filled', 'filled', 'filled']);
    world.force(ALICE, 130);
    assert.deepEqual(world.statuses(ALICE), ['filled', 'filled', 'cancelled']);
    assert.deepEqual(world.funds(ALICE), [30, 0, 220]);
    world.force(ALICE, 150);
    assert.deepEqual(world.statuses(ALICE), ['filled', 'cancelled', 'cancelled']);
    assert.deepEqual([world.funds(ALICE), world.units()], [[0, 0, 100], 200]);
    world.force(ALICE, 101);
    assert.deepEqual([world.statuses(ALICE).join(), world.funds(ALICE)], ['cancelled,cancelled,cancelled', [-1, 0, 0]]);
    assert.deepEqual([world.statuses(BOB), world.funds(BOB), world.units()], [['filled'], [0, 0, 100], 99]);
  });

  test('AMB-85, WDR-10: what the vault may have an approval of stays bound, and the balance becomes negative; its end fills it up', () => {
    const world = EscapeWorld.opened();
    world.deposit(BOB, 500);
    world.deposit(ALICE, 100);
    assert.equal(world.withdraw(ALICE, 60), null);
    assert.equal(world.withdraw(ALICE, 40), null);
    world.pass(3_600n * SECOND_NS);
    world.sign();
    assert.deepEqual(world.statuses(ALICE), ['signing', 'filled']);
    world.force(ALICE, 100);
    assert.deepEqual(
      [world.statuses(ALICE), world.funds(ALICE)],
      [
        ['signing', 'cancelled'],
        [-60, 0, 60],
      ],
    );
    world.sign();
    assert.deepEqual(world.statuses(ALICE), ['signing', 'cancelled'], 'nothing else is signed');
    const row = world.state.withdrawals.ofUser(ALICE)[0]?.row;
    assert.ok(row);
    const { place, sequence, validUntil } = row;
    const approval = { user: ALICE, place, sequence, blockTime: validUntil + 1, counter: 0 };
    world.send({ kind: 'approvalLapsed', request: world.request(), ...approval });
    assert.deepEqual([world.funds(ALICE), world.funds(BOB), world.units()], [[0, 0, 0], [500, 0, 0], 500]);
  });

  test('AMB-85, FIL-17: while account 0 owes, own orders of any sub-account are filled on neither side; a transfer that fills it up ends that', () => {
    const world = debtorWorld();
    const [alice, bob] = [{ user: ALICE }, { user: BOB }];
    const low = { price: 1, quantity: 1 };
    const trade = { ...low, seller: { ...alice, isSpot: true }, buyer: { ...bob, isSpot: true } };
    assert.deepEqual(world.trade(trade), ['InsufficientInventory', 'CounterpartyAtFault'], 'spot, in account 1');
    assert.deepEqual(world.trade({ ...low, seller: alice, buyer: bob }), [
      'InsufficientInventory',
      'CounterpartyAtFault',
    ]);
    assert.deepEqual(world.trade({ price: 3_000, quantity: 0.01, seller: bob, buyer: alice }), [
      'CounterpartyAtFault',
      'InsufficientInventory',
    ]);
    assert.equal(world.owned(ALICE, ETH, 1), ONE_18);

    const tables = new PlainTables();
    tables.checkpoint(world.state);
    assert.deepEqual([...tables.load().debtors], [[ALICE, 1]], 'a start finds who owes');

    const move = { user: ALICE, amount: '10', sourceIndex: 1, targetIndex: 0 };
    assert.equal(codeOf(world.transfer(move)), null);
    assert.equal(world.state.debtors.size, 0);
    assert.equal(world.trade({ ...trade, price: 2_000 }), 'confirmed');
  });

  test('AMB-85: the sums stay equal whatever is forced, beside lots and live withdrawals, and a start from the rows is the same state', () => {
    const kinds = ['deposit', 'deposit', 'force', 'withdraw', 'withdraw', 'pass', 'sign', 'isolate', 'pool'] as const;
    const step = fc.record({
      user: fc.constantFrom(ALICE, BOB),
      usd: fc.integer({ min: 1, max: 400 }),
      kind: fc.constantFrom(...kinds),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const world = EscapeWorld.opened();
        const tables = new PlainTables();
        let units = 0;
        const worth = new Map<UserId, number>();
        const gain = (user: UserId, usd: number): void => {
          worth.set(user, (worth.get(user) ?? 0) + usd);
          units += usd;
        };
        for (const { user, usd, kind } of steps) {
          if (kind === 'deposit') {
            world.deposit(user, usd);
            gain(user, usd);
          } else if (kind === 'force') {
            world.force(user, usd);
            gain(user, -Math.min(usd, units));
            checkForced(world, user);
          } else if (kind === 'withdraw') {
            const isOwed = world.usd(user) < 0;
            if (world.withdraw(user, usd) === null) assert.ok(!isOwed, 'what is negative covers nothing');
          } else if (kind === 'sign') world.sign();
          else if (kind === 'pass') world.pass(30n * SECOND_NS);
          else world.isolate(kind === 'isolate');
          for (const one of [ALICE, BOB]) {
            const sum = world.funds(one).reduce((all, part) => all + part, 0);
            assert.equal(sum, worth.get(one) ?? 0, 'what a user has is what came less what was forced');
          }
          assert.equal(world.units(), units);
          tables.checkpoint(world.state);
        }
        tables.checkpoint(world.state);
        assert.equal(stateHash(tables.load()), stateHash(world.state));
      }),
      propertyParameters(60),
    );
  });
});

/** Alice owes 10 USD in account 0, and has 1 ETH and 1000 USD in account 1; Bob has much of both. */
function debtorWorld(): MarginWorld {
  const world = MarginWorld.make();
  const event = { chainId: CHAIN_ID, token: '5a'.repeat(32) };
  const deposit = { ...event, tx: 'd0'.repeat(32), logIndex: 0, user: BOB, baseUnits: 100n * UNIT, depositNonce: 0 };
  world.send({ kind: 'deposit', request: world.request(), ...deposit });
  world.fund(BOB, USD, '100000', 1);
  world.fund(ALICE, ETH, '1', 1);
  world.fund(ALICE, USD, '1000', 1);
  const forced = { ...event, user: ALICE, nonce: 0, baseUnits: 10n * UNIT };
  world.send({ kind: 'forcedWithdrawal', request: world.request(), ...forced });
  assert.equal(world.owned(ALICE, USD), -10n * ONE_18);
  return world;
}

/** After a forced withdrawal only what an approval may exist of is left to a user whose pool is negative. */
function checkForced(world: EscapeWorld, user: UserId): void {
  const [pool, lots] = world.funds(user);
  if (pool >= 0) return;
  assert.equal(lots, 0, 'lots were taken first');
  const unsigned = world.statuses(user).filter((status) => status === 'queued' || status === 'filled');
  assert.deepEqual(unsigned, [], 'unsigned withdrawals were ended');
}
