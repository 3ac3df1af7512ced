// tier: quick
/** Withdrawals in clearing: figures, states, queue, nonces, payout; every step is checked by a full recount. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ensureUser } from '../../../src/clearing/balances.ts';
import type { Effect } from '../../../src/clearing/effects.ts';
import { ratesOf, withdrawalFee } from '../../../src/clearing/funds/rebalancing.ts';
import {
  WITHDRAWALS_PER_USER,
  WithdrawalBook,
  type WithdrawalSlot,
} from '../../../src/clearing/funds/withdrawal-book.ts';
import { delaySeconds, payoutOf, usageAfter, usageChange } from '../../../src/clearing/funds/withdrawal-figures.ts';
import type { Withdraw } from '../../../src/clearing/inputs.ts';
import { positionSlot, setLegs } from '../../../src/clearing/positions.ts';
import { DEFAULT_WITHDRAWAL_DELAY } from '../../../src/clearing/registry/registry-config.ts';
import type { WithdrawalRow } from '../../../src/clearing/rows.ts';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import { userView } from '../../../src/clearing/views.ts';
import { must } from '../../../src/core/assert.ts';
import { format18 } from '../../../src/core/decimal.ts';
import type { ChainId, UserId } from '../../../src/core/ids.ts';
import {
  type Amount18,
  DAY_NS,
  HOUR_NS,
  ONE_18,
  SECOND_NS,
  type TimestampNs,
  ZERO_18,
} from '../../../src/core/units.ts';
import type { Legs } from '../../../src/risk/position.ts';
import {
  acceptedValue,
  CHAIN,
  ClearingWorld,
  codeOf,
  effectsOf,
  FEES,
  PlainTables,
  reply,
  TOKEN,
} from '../../support/clearing-world.ts';
import { ALICE, BOB, CAROL, ETH, USD } from '../../support/names.ts';
import { propertyParameters } from '../../support/property.ts';

const E18 = ONE_18;
const NO_UNITS = { units: new Map<string, bigint>(), requested: new Map<string, bigint>() };
const TARGET = '7c'.repeat(20).padEnd(64, '0');
const VAULT = `${'0d'.repeat(20).padEnd(64, '0')}@${CHAIN}`;
const SIGNATURE = '11'.repeat(65);

/** USD with 6 decimals on a chain with a vault; Alice has deposited. */
class FundsWorld extends ClearingWorld {
  readonly #deposits = new Map<UserId, number>();
  readonly #withdrawn = new Map<UserId, number>();

  static opened(depositUsd = 1_000): FundsWorld {
    const world = new FundsWorld();
    const tokens = [{ token: TOKEN, chain_id: CHAIN, decimals: 6 }];
    world.put('putAsset', USD, { symbol: 'USD', tokens });
    const chain = { kind: 'simulated', checkpoint_interval_ms: 1_000, approval_validity_s: 3_600 };
    world.send({ kind: 'putConfig', request: 1, config: 'chain', key: CHAIN, method: 'put', body: chain });
    const vault = { administrators: ['5d'.repeat(20)], quorum: 1 };
    world.send({ kind: 'putConfig', request: 2, config: 'vault', key: VAULT, method: 'put', body: vault });
    world.deposit(ALICE, BigInt(depositUsd) * 10n ** 6n);
    return world;
  }

  deposit(user: UserId, baseUnits: bigint): Effect[] {
    const depositNonce = this.#deposits.get(user) ?? 0;
    this.#deposits.set(user, depositNonce + 1);
    const tx = `${user.slice(0, 32)}${String(depositNonce).padStart(32, '0')}`;
    const event = { chainId: CHAIN as ChainId, tx, logIndex: 0, user, token: TOKEN, baseUnits, depositNonce };
    return this.send({ kind: 'deposit', request: this.request(), ...event });
  }

  withdraw(amount: bigint, more: Partial<Withdraw> = {}): Effect[] {
    return this.send({
      kind: 'withdraw',
      request: this.request(),
      user: ALICE,
      token: TOKEN,
      chainId: CHAIN as ChainId,
      amount: amount as Amount18,
      target: TARGET,
      nonce: null,
      isShort: false,
      ...more,
    });
  }

  cancel(nonce: number, user = ALICE): Effect[] {
    const chainId = CHAIN as ChainId;
    return this.send({ kind: 'cancelWithdrawal', request: this.request(), user, token: TOKEN, chainId, nonce });
  }

  pass(ns: bigint): void {
    this.nowNs = (this.nowNs + ns) as TimestampNs;
    this.send({ kind: 'withdrawalsDue' });
  }

  checkpoint(blockTime = 0): void {
    this.send({ kind: 'vaultCheckpoint', request: this.request(), chainId: CHAIN as ChainId, blockTime });
  }

  sign({ user, place, sequence }: WithdrawalRow): Effect[] {
    const signatures = [SIGNATURE];
    return this.send({ kind: 'approvalSigned', request: this.request(), user, place, sequence, signatures });
  }

  withdrew(row: WithdrawalRow, more: { readonly baseUnits?: bigint; readonly nonce?: number } = {}): Effect[] {
    const { user, token, chainId, nonce, payout } = row;
    this.#withdrawn.set(user, nonce + 1);
    const event = { user, token, chainId, nonce: more.nonce ?? nonce, baseUnits: more.baseUnits ?? payout };
    return this.send({ kind: 'withdrew', request: this.request(), ...event });
  }

  lapse(row: WithdrawalRow, blockTime: number, counter: number): Effect[] {
    const { user, place, sequence } = row;
    const approval = { user, place, sequence, blockTime, counter };
    return this.send({ kind: 'approvalLapsed', request: this.request(), ...approval });
  }

  rows(user = ALICE): readonly WithdrawalRow[] {
    return this.state.withdrawals.ofUser(user).map(({ row }) => row);
  }

  row(at: number, user = ALICE): WithdrawalRow {
    const row = this.rows(user)[at];
    assert.ok(row);
    return row;
  }

  statuses(user = ALICE): readonly string[] {
    return this.rows(user).map(({ nonce, status }) => `${nonce} ${status}`);
  }

  /** Owned and locked USD of account 0. */
  usd(user = ALICE): readonly [string, string] {
    const slot = this.state.users.get(user)?.subAccounts.get(0)?.balances.get(USD);
    return [format18(slot?.owned ?? ZERO_18), format18(slot?.locked ?? ZERO_18)];
  }

  /** A row that is filled, signed and approved. */
  approved(at: number): WithdrawalRow {
    this.pass(60n * SECOND_NS);
    this.checkpoint();
    this.sign(this.row(at));
    assert.equal(this.row(at).status, 'approved');
    return this.row(at);
  }
}

/** Bob owes it, for a unit that Carol is short of. */
function borrowUsd(world: ClearingWorld, amount: bigint): void {
  world.put('putAsset', ETH, { symbol: 'ETH' });
  world.put('putMarket', ETH, { book_price_decimals: 2, book_quantity_decimals: 4 });
  const leg = (user: UserId, sign: bigint): void => {
    const account = ensureUser(world.state, user, []).subAccounts.get(1);
    assert.ok(account);
    const legs = { base: sign * E18, quote: -sign * amount, entry: amount };
    setLegs(world.state, positionSlot(world.state, account, ETH), legs as Legs);
  };
  leg(BOB, 1n);
  leg(CAROL, -1n);
}

const usd = (amount: number): bigint => BigInt(amount) * E18;
const refusal = (effects: readonly Effect[]): string | null => codeOf(reply(effects));

suite('figures of withdrawals', () => {
  test('EX-11: usage and delay of one account, step for step (WDR-04, WDR-17 to WDR-20, AMB-77)', () => {
    const parameters = { ...DEFAULT_WITHDRAWAL_DELAY, min_delay: 30, max_delay: 3_600 };
    let usage = ZERO_18;
    let holdings = usd(900);
    const step = (change: number): readonly [string, number] => {
      const after = holdings + usd(change);
      usage = usageAfter(usage, usageChange({ before: holdings, after }, usd(100), parameters.cap_floor));
      holdings = after;
      return [format18(usage), delaySeconds(usage, parameters)];
    };
    assert.deepEqual(step(-500), ['0.138888888888888888', 30]);
    assert.deepEqual(step(-300), ['0.888888888888888888', 300]);
    assert.deepEqual(step(-95), ['18.936507936507936507', 3_600]);
    assert.deepEqual(step(395), ['0.138888888888888888', 30]);
    assert.deepEqual(step(600), ['0', 30]);
  });

  test('a payout is rounded down to base units (AMT-07), a fee up, at most 2.5 % and never negative (WDR-14, WDR-15)', () => {
    assert.equal(payoutOf((10n ** 15n) as Amount18, 6), 1_000n);
    assert.equal(payoutOf((10n ** 12n - 1n) as Amount18, 6), 0n);
    const fixed = (rate: string): bigint => {
      const rates = ratesOf({ mode: 'fixed', deposit_rate: '0', withdrawal_rate: rate });
      return withdrawalFee(usd(100) as Amount18, rates, CHAIN, NO_UNITS);
    };
    assert.deepEqual([fixed('0'), fixed('0.01'), fixed('0.5'), fixed('-0.1')], [0n, usd(1), (5n * E18) / 2n, 0n]);
    const odd = ratesOf({ mode: 'fixed', deposit_rate: '0', withdrawal_rate: '0.01' });
    assert.equal(withdrawalFee(101n as Amount18, odd, CHAIN, NO_UNITS), 2n);
    // Half of 1,000 is here and should be; taking 100 leaves 400 of 900: 0.009 · (50² + 50²) / 900 (MON-03).
    const curve = ratesOf({ mode: 'curve', k: '0.009', target_weights: { [CHAIN]: '0.5', other: '0.5' } });
    const units = new Map([CHAIN, 'other'].map((chain) => [chain, usd(500)]));
    const fee = withdrawalFee(usd(100) as Amount18, curve, CHAIN, { units, requested: new Map() });
    assert.equal(format18(fee), '0.05');
  });
});

suite('withdrawals', () => {
  test('a request locks amount and fee at once, and a cancel returns both (WDR-01, WDR-13, AMB-72, AMB-76)', () => {
    const world = FundsWorld.opened();
    const rebalancing = { mode: 'fixed', deposit_rate: '0', withdrawal_rate: '0.01' };
    world.put('putAsset', USD, { rebalancing }, 'patch');
    const effects = world.withdraw(usd(100));
    assert.equal(refusal(effects), null);
    assert.deepEqual(world.usd(), ['899', '101']);
    assert.deepEqual(effectsOf(effects, 'balanceChanged').length, 1);
    assert.equal(effectsOf(effects, 'withdrawalChanged')[0]?.row.payout, 100_000_000n);
    world.put('putAsset', USD, { rebalancing: { ...rebalancing, withdrawal_rate: '0.02' } }, 'patch');
    assert.equal(refusal(world.cancel(0)), null);
    assert.deepEqual(world.usd(), ['1000', '0']);
    assert.deepEqual(world.statuses(), ['0 cancelled']);
    assert.equal(refusal(world.cancel(0)), 'WITHDRAWAL_NOT_FOUND');
  });

  test('what cannot be withdrawn is refused and changes nothing (WDR-02, WDR-03, AMB-80)', () => {
    const world = FundsWorld.opened();
    const before = stateHash(world.state);
    const zero = '0'.repeat(64);
    assert.equal(refusal(world.withdraw(0n)), 'INVALID_REQUEST');
    assert.equal(refusal(world.withdraw(10n ** 12n - 1n)), 'INVALID_REQUEST');
    assert.equal(refusal(world.withdraw(usd(1), { target: zero })), 'INVALID_REQUEST');
    const longer = `${'7c'.repeat(20)}${'0'.repeat(23)}1`;
    assert.equal(refusal(world.withdraw(usd(1), { target: longer })), 'INVALID_REQUEST');
    assert.equal(refusal(world.withdraw(usd(1), { token: '99'.repeat(32) })), 'ASSET_NOT_FOUND');
    assert.equal(refusal(world.withdraw(usd(1), { nonce: 1 })), 'INVALID_NONCE');
    assert.equal(refusal(world.withdraw(usd(1_000) + 1n)), 'INSUFFICIENT_INVENTORY');
    assert.equal(refusal(world.withdraw(usd(1), { isShort: true })), 'INSUFFICIENT_INVENTORY');
    assert.equal(refusal(world.withdraw(usd(1), { user: BOB })), 'INSUFFICIENT_INVENTORY');
    assert.equal(stateHash(world.state), before);
    assert.equal(refusal(world.withdraw(usd(1_000), { nonce: 0 })), null);
  });

  test('from request to payout: signed once, the value leaves the ledger, the fee goes to the rebalancing pool (WDR-07, WDR-09, MON-03)', () => {
    const world = FundsWorld.opened();
    world.put('putAsset', USD, { rebalancing: { mode: 'fixed', deposit_rate: '0', withdrawal_rate: '0.01' } }, 'patch');
    world.withdraw(usd(100) + 5n);
    assert.deepEqual(world.statuses(), ['0 queued']);
    world.checkpoint();
    assert.deepEqual(world.statuses(), ['0 queued'], 'the delay is not over');
    world.pass(30n * SECOND_NS);
    assert.deepEqual(world.statuses(), ['0 filled']);
    world.checkpoint();
    assert.deepEqual(world.statuses(), ['0 signing']);
    const { validUntil, epochHash } = world.row(0);
    assert.equal(validUntil, Number(world.nowNs / SECOND_NS) + 3_600);
    assert.match(epochHash, /^[0-9a-f]{64}$/);
    assert.equal(refusal(world.cancel(0)), 'WITHDRAWAL_NOT_FOUND', 'an approval may exist');
    world.sign(world.row(0));
    assert.equal(refusal(world.sign(world.row(0))), 'WITHDRAWAL_NOT_FOUND', 'signed once');
    assert.deepEqual(world.row(0).signatures, [SIGNATURE]);
    const effects = world.withdrew(world.row(0));
    assert.deepEqual(acceptedValue(reply(effects)), { result: 'executed', next: 1 });
    assert.equal(effectsOf(effects, 'withdrawalCompleted')[0]?.amount, usd(100));
    assert.deepEqual(world.statuses(), ['0 executed']);
    assert.equal(format18(world.state.totals.get(USD)?.rebalancingPool ?? ZERO_18), '1.000000000000000001');
    assert.equal(world.state.users.get(FEES), undefined, 'none of it is of the fee account');
    assert.deepEqual(world.usd(), ['898.999999999999999999', '0']);
    assert.equal(world.state.totals.get(USD)?.vaultHoldings, usd(900));
    assert.deepEqual(acceptedValue(reply(world.withdrew(world.row(0)))), { result: 'duplicate', next: 1 });
  });

  test('an event that contradicts the ledger changes nothing (AMB-116)', () => {
    const world = FundsWorld.opened();
    world.withdraw(usd(100));
    const early = stateHash(world.state);
    assert.equal(acceptedValue(reply(world.withdrew(world.row(0))))['result'], 'unmatched');
    assert.equal(stateHash(world.state), early);
    const row = world.approved(0);
    const before = stateHash(world.state);
    for (const more of [{ baseUnits: row.payout + 1n }, { nonce: 1 }]) {
      assert.equal(acceptedValue(reply(world.withdrew(row, more)))['result'], 'unmatched');
    }
    assert.equal(stateHash(world.state), before);
  });

  test('an approval lapses with a block past validUntil and an unmoved counter, not by the clock (WDR-10)', () => {
    const world = FundsWorld.opened();
    world.withdraw(usd(100));
    const row = world.approved(0);
    world.pass(2n * HOUR_NS);
    assert.equal(world.row(0).status, 'approved');
    assert.equal(refusal(world.lapse(row, row.validUntil, 0)), 'WITHDRAWAL_NOT_FOUND');
    assert.equal(refusal(world.lapse(row, row.validUntil + 1, 1)), 'WITHDRAWAL_NOT_FOUND');
    assert.equal(refusal(world.lapse(row, row.validUntil + 1, 0)), null);
    assert.deepEqual(world.statuses(), ['0 expired']);
    assert.deepEqual(world.usd(), ['1000', '0']);
    world.withdraw(usd(50));
    assert.deepEqual(world.statuses(), ['0 expired', '0 queued'], 'the nonce is free again');
  });

  test('an approval lapses also where a reorganisation took the counter back (WDR-10, AMB-74)', () => {
    const world = FundsWorld.opened();
    world.withdraw(usd(100));
    world.withdrew(world.approved(0));
    world.withdraw(usd(50));
    const row = world.approved(1);
    assert.equal(refusal(world.lapse(row, row.validUntil + 1, 2)), 'WITHDRAWAL_NOT_FOUND', 'it was used');
    assert.equal(refusal(world.lapse(row, row.validUntil + 1, 0)), null);
    assert.deepEqual(world.statuses(), ['0 executed', '1 expired']);
    assert.deepEqual(world.usd(), ['900', '0']);
  });

  test('first come, first filled, half at least, and one that cannot be paid is passed over (WDR-05, WDR-06, AMB-78, MON-04)', () => {
    const world = FundsWorld.opened(100);
    world.fund(ALICE, USD, '1000');
    world.fund(BOB, USD, '1000');
    world.withdraw(usd(150));
    world.withdraw(usd(20), { user: BOB });
    world.pass(30n * SECOND_NS);
    assert.deepEqual(world.statuses(), ['0 filled', '1 queued'], '100 of 150 at once, the rest is a row of its own');
    assert.equal(world.row(0).payout, 100_000_000n);
    assert.equal(world.row(1).payout, 50_000_000n);
    assert.deepEqual(world.statuses(BOB), ['0 queued'], 'nothing is left');
    world.deposit(BOB, 24_000_000n);
    assert.deepEqual(world.statuses(), ['0 filled', '1 queued'], 'less than half of 50');
    assert.deepEqual(world.statuses(BOB), ['0 filled', '1 queued'], 'the one behind has the half that is not reserved');
    assert.equal(world.row(0, BOB).payout, 12_000_000n);
    world.deposit(BOB, 46_000_000n);
    assert.deepEqual(world.statuses(), ['0 filled', '1 filled'], '12 were reserved, and 46 came');
    assert.deepEqual(world.statuses(BOB), ['0 filled', '1 filled']);
  });

  test('of a token with more than 18 decimals no part pays more than what it locks (WDR-06, AMB-11)', () => {
    const world = FundsWorld.opened();
    const [token, asset] = ['d3'.repeat(20).padEnd(64, '0'), ETH];
    const tokens = [{ token, chain_id: CHAIN, decimals: 20 }];
    world.put('putAsset', asset, { symbol: 'ETH', tokens });
    world.fund(ALICE, asset, '0.0000000000000001');
    const event = { chainId: CHAIN as ChainId, tx: 'd0'.repeat(32), logIndex: 0, user: BOB, token };
    world.send({ kind: 'deposit', request: world.request(), ...event, baseUnits: 9_999n, depositNonce: 0 });
    // 100 of 18 decimals pay 10,000 base units; 9,999 are there, and are worth 99.99.
    assert.deepEqual(reply(world.withdraw(100n, { token })), { ok: true, value: { success: true } });
    world.pass(30n * SECOND_NS);
    const rows = [...world.state.withdrawals.all()].map(({ row }) => [row.status, row.amount, row.payout]);
    assert.deepEqual(rows, [['filled', 100n, 9_999n]]);
  });

  test('a queued withdrawal expires after a day, and the one behind it moves up (WDR-12, AMB-80)', () => {
    const world = FundsWorld.opened(100);
    world.fund(ALICE, USD, '1000');
    world.withdraw(usd(500));
    world.pass(HOUR_NS);
    world.withdraw(usd(60));
    assert.deepEqual(world.statuses(), ['0 queued', '1 queued']);
    world.pass(DAY_NS - HOUR_NS - 1n);
    assert.deepEqual(world.statuses(), ['0 queued', '1 queued']);
    world.pass(1n);
    assert.deepEqual(world.statuses(), ['0 expired', '0 filled'], 'renumbered, and filled');
    world.pass(DAY_NS);
    assert.deepEqual(
      world.statuses(),
      ['0 expired'],
      'finished rows are shown for a day; what no approval followed expires (MON-04)',
    );
  });

  test('a named nonce stays where it is, others move around it (AMB-80)', () => {
    const world = FundsWorld.opened();
    world.withdraw(usd(1));
    world.withdraw(usd(2), { nonce: 1 });
    world.withdraw(usd(3));
    world.cancel(0);
    assert.deepEqual(world.statuses(), ['0 cancelled', '1 queued', '0 queued']);
    world.pass(60n * SECOND_NS);
    world.checkpoint();
    assert.deepEqual(
      world.statuses(),
      ['0 cancelled', '1 filled', '0 signing'],
      'only the one at the counter, one at a time',
    );
    world.sign(world.row(2));
    world.checkpoint();
    assert.deepEqual(world.statuses(), ['0 cancelled', '1 filled', '0 approved']);
    world.withdrew(world.row(2));
    world.checkpoint();
    assert.deepEqual(world.statuses(), ['0 cancelled', '1 signing', '0 executed']);
  });

  test('usage is per account and asset, and zero after an hour (WDR-21, WDR-22)', () => {
    const world = FundsWorld.opened(900);
    borrowUsd(world, usd(100));
    const usageOf = (): unknown => acceptedValue(userView(world.state, ALICE, world.nowNs))['withdrawal_usage'];
    world.withdraw(usd(500));
    assert.deepEqual(usageOf(), { '0': { usage: '0.138888888888888888', started_at_ns: world.nowNs } });
    world.pass(HOUR_NS);
    assert.deepEqual(usageOf(), {});
  });

  test('rows are the state: loaded from a checkpoint, everything goes on (WDR-01)', () => {
    const world = FundsWorld.opened();
    world.withdraw(usd(100));
    world.withdraw(usd(50), { nonce: 1 });
    world.withdraw(usd(10));
    world.pass(60n * SECOND_NS);
    world.checkpoint();
    world.cancel(2);
    const hash = stateHash(world.state);
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    world.state = tables.load();
    assert.equal(stateHash(world.state), hash);
    world.sign(world.row(0));
    world.withdrew(world.row(0));
    assert.deepEqual(world.statuses(), ['0 executed', '1 filled', '2 cancelled']);
  });

  test('numbers of requests rise over starts, also behind rows that have gone', () => {
    const world = FundsWorld.opened();
    const tables = new PlainTables();
    world.withdraw(usd(100));
    world.cancel(0);
    world.pass(DAY_NS);
    assert.deepEqual(world.statuses(), [], 'the row has gone');
    tables.checkpoint(world.state);
    const [kept, loaded] = [world.state, tables.load()];
    const hashes = [kept, loaded].map((state) => {
      world.state = state;
      world.withdraw(usd(10), { text: 'ab'.repeat(32) });
      assert.equal(world.row(0).sequence, 2);
      world.cancel(0);
      return stateHash(state);
    });
    assert.equal(hashes[1], hashes[0]);
  });

  test('what is due at one time comes in the order of requests, also after a start (WDR-12)', () => {
    const world = FundsWorld.opened(100);
    for (const user of [ALICE, BOB]) world.fund(user, USD, '1000');
    // Bob, whose rows are loaded later, was the first.
    world.withdraw(usd(900), { user: BOB });
    world.withdraw(usd(900));
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    const hashes = [world.state, tables.load()].map((state) => {
      world.state = state;
      world.nowNs = (world.nowNs + DAY_NS) as TimestampNs;
      const changes = effectsOf(world.send({ kind: 'withdrawalsDue' }), 'withdrawalChanged');
      world.nowNs = (world.nowNs - DAY_NS) as TimestampNs;
      assert.deepEqual([changes[0]?.row.user, changes[0]?.row.status], [BOB, 'expired']);
      return stateHash(state);
    });
    assert.equal(hashes[1], hashes[0]);
  });

  test('what was to be looked at before a row went on does nothing when it is taken late, as after a start (WDR-12)', () => {
    const world = FundsWorld.opened(100);
    world.fund(ALICE, USD, '1000');
    world.withdraw(usd(10));
    world.nowNs = (world.nowNs + 5n * SECOND_NS) as TimestampNs;
    world.withdraw(usd(900));
    world.nowNs = (world.nowNs + 5n * SECOND_NS) as TimestampNs;
    world.cancel(0);
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    const nowNs = (world.nowNs + 2n * DAY_NS) as TimestampNs;
    const hashes = [world.state, tables.load()].map((state) => {
      world.state = state;
      world.nowNs = nowNs;
      const changes = effectsOf(world.send({ kind: 'withdrawalsDue' }), 'withdrawalChanged');
      assert.deepEqual(
        changes.map(({ row }) => row.status),
        ['expired', 'gone'],
        'each at its time: the cancelled one was to go after the other expired',
      );
      return stateHash(state);
    });
    assert.equal(hashes[1], hashes[0]);
  });

  test('a user has 64 withdrawals: finished ones make room, live ones do not', () => {
    const world = FundsWorld.opened();
    for (let count = 0; count < 64; count += 1) assert.equal(refusal(world.withdraw(usd(1))), null);
    assert.equal(refusal(world.withdraw(usd(1))), 'INVALID_REQUEST');
    world.cancel(63);
    assert.equal(refusal(world.withdraw(usd(1))), null);
    assert.equal(world.rows().length, 64);
  });

  test('requests and their cancels leave no more than a user’s places, and an hour of them is worked off (WDR-12, WDR-13, AMB-135)', () => {
    const world = FundsWorld.opened();
    for (let cycle = 0; cycle < 300; cycle += 1) {
      world.nowNs = (world.nowNs + 12n * SECOND_NS) as TimestampNs;
      assert.equal(refusal(world.withdraw(usd(1))), null);
      assert.equal(refusal(world.cancel(0)), null);
      assert.ok(world.state.withdrawals.size <= 64);
      assert.equal(world.state.withdrawals.dueCount, world.state.withdrawals.size);
    }
    assert.deepEqual([world.state.withdrawals.size, world.usd()], [64, ['1000', '0']]);
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    assert.equal(stateHash(tables.load()), stateHash(world.state));
    world.pass(DAY_NS);
    assert.deepEqual([world.state.withdrawals.size, world.state.withdrawals.nextDueNs], [0, null]);
  });
});

suite('the times of withdrawals', () => {
  const START = 1_800_000_000n * SECOND_NS;
  const rowOf = (place: number, sequence: number, more: Partial<WithdrawalRow> = {}): WithdrawalRow => ({
    user: ALICE,
    place,
    sequence,
    chainId: CHAIN as ChainId,
    token: TOKEN,
    asset: USD,
    amount: E18 as Amount18,
    fee: ZERO_18,
    isolated: ZERO_18,
    payout: 1_000_000n,
    target: TARGET,
    nonce: 0,
    isExplicit: false,
    status: 'queued',
    requestedNs: START as TimestampNs,
    dueNs: START as TimestampNs,
    endedNs: 0n as TimestampNs,
    validUntil: 0,
    epochHash: '',
    signatures: [],
    ...more,
  });

  test('a request and a cancel after 20,000 others cost what they cost at first, and the book has no more times than rows (WDR-13, AMB-135)', () => {
    const book = new WithdrawalBook();
    let nowNs = START;
    /** The best of some, in ms: what else the machine does is in none of the best. */
    const best = (): number => {
      let least = Number.POSITIVE_INFINITY;
      for (let part = 0; part < 20; part += 1) {
        const startedMs = performance.now();
        for (let cycle = 0; cycle < 500; cycle += 1) {
          nowNs += 20_000_000n;
          const place = must(book.freePlace(ALICE), 'a finished row makes room');
          const [requestedNs, dueNs] = [nowNs as TimestampNs, (nowNs + 30n * SECOND_NS) as TimestampNs];
          const slot = book.add(rowOf(place, book.nextSequence(), { requestedNs, dueNs }));
          book.change(slot, { ...slot.row, status: 'cancelled', endedNs: requestedNs });
        }
        least = Math.min(least, performance.now() - startedMs);
        assert.equal(book.dueCount, book.size);
        assert.ok(book.size <= WITHDRAWALS_PER_USER);
      }
      return least;
    };
    const first = best();
    best();
    const last = best();
    assert.ok(last < 4 * first + 2, `500 cycles took ${first} ms at first and ${last} ms later`);
  });

  test('rows are due in the order of time, request and place, however they came and changed (WDR-12)', () => {
    const step = fc.record({
      place: fc.nat({ max: 40 }),
      sequence: fc.integer({ min: 1, max: 9 }),
      delay: fc.nat({ max: 5 }),
      kind: fc.constantFrom('queue' as const, 'queue' as const, 'cancel' as const, 'fill' as const, 'take' as const),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const book = new WithdrawalBook();
        const slots = new Map<number, WithdrawalSlot>();
        const times = new Map<number, bigint>();
        const least = (): [number, bigint] | undefined => {
          const key = (place: number): number => must(slots.get(place), 'it is there').row.sequence * 100 + place;
          return [...times].sort((a, b) => (a[1] === b[1] ? key(a[0]) - key(b[0]) : a[1] < b[1] ? -1 : 1))[0];
        };
        for (const { place, sequence, delay, kind } of steps) {
          const slot = slots.get(place);
          const ns = START + BigInt(delay) * SECOND_NS;
          if (slot === undefined && kind === 'queue') {
            slots.set(place, book.add(rowOf(place, sequence, { dueNs: ns as TimestampNs })));
            times.set(place, ns);
          } else if (slot?.row.status === 'queued' && kind === 'cancel') {
            book.change(slot, { ...slot.row, status: 'cancelled', endedNs: ns as TimestampNs });
            times.set(place, ns + DAY_NS);
          } else if (slot?.row.status === 'queued' && kind === 'fill') {
            book.change(slot, { ...slot.row, status: 'filled' });
            times.set(place, START + DAY_NS);
          } else if (kind === 'take') {
            const expected = least();
            const due = book.takeDue((START + 2n * DAY_NS) as TimestampNs);
            assert.deepEqual([due?.slot.row.place, due?.ns], [expected?.[0], expected?.[1]]);
            if (expected === undefined || due === null) continue;
            times.delete(expected[0]);
            // A queued row expires a day after its request.
            if (due.slot.row.status === 'queued' && due.ns < START + DAY_NS) times.set(expected[0], START + DAY_NS);
          }
          assert.equal(book.dueCount, times.size);
          assert.equal(book.nextDueNs, least()?.[1] ?? null);
        }
      }),
      propertyParameters(200),
    );
  });
});
