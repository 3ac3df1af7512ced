// tier: quick
/** Settlements in clearing: states, nonces, vault units, margin, events; every step is checked by a full recount. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Effect } from '../../../src/clearing/effects.ts';
import { SETTLEMENTS_PER_USER } from '../../../src/clearing/funds/settlement-book.ts';
import { type ApprovalsPage, approvalsOfHour, SIGNED_MAX } from '../../../src/clearing/funds/signed-approvals.ts';
import { freeUnits } from '../../../src/clearing/funds/vault-units.ts';
import type { Settle, Settled } from '../../../src/clearing/inputs.ts';
import { positionSlot, setLegs } from '../../../src/clearing/positions.ts';
import type { SettlementRow, SignedApprovalRow } from '../../../src/clearing/rows.ts';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import { must } from '../../../src/core/assert.ts';
import { format18 } from '../../../src/core/decimal.ts';
import type { AssetId, ChainId, UserId } from '../../../src/core/ids.ts';
import { type Amount18, HOUR_NS, ONE_18, SECOND_NS, type TimestampNs, ZERO_18 } from '../../../src/core/units.ts';
import type { Legs } from '../../../src/risk/position.ts';
import {
  acceptedValue,
  CHAIN as CHAIN_TEXT,
  ClearingWorld,
  codeOf,
  effectsOf,
  PlainTables,
  reply,
  TOKEN,
  user,
} from '../../support/clearing-world.ts';
import { ALICE, BOB, ETH, USD } from '../../support/names.ts';
import { propertyParameters, storyOf } from '../../support/property.ts';

const CHAIN = CHAIN_TEXT as ChainId;
const E18 = ONE_18;
const USD_TOKEN = TOKEN;
const ETH_TOKEN = '6b'.repeat(20).padEnd(64, '0');
const VAULT_ADDRESS = '0d'.repeat(20).padEnd(64, '0');
const VAULT = `${VAULT_ADDRESS}@${CHAIN}`;
const SETTLER = user('5e');
const MAKER = user('4d');
const SIGNATURE = '11'.repeat(65);
const TARGET = '7c'.repeat(20).padEnd(64, '0');
const VALIDITY_S = 3_600;

const units = (amount: number): Amount18 => (BigInt(Math.round(amount * 1e6)) * 10n ** 12n) as Amount18;
const refusal = (effects: readonly Effect[]): string | null => codeOf(reply(effects));

/** USD with 6 and ETH with 18 decimals on a chain with a vault and a settler; Alice has deposited both. */
class SettlementWorld extends ClearingWorld {
  readonly #deposits = new Map<UserId, number>();

  static opened(usd = 1_000, eth = 10): SettlementWorld {
    const world = new SettlementWorld();
    const put = (config: 'chain' | 'vault' | 'settler', key: string, body: object): void => {
      world.send({ kind: 'putConfig', request: 1, config, key, method: 'put', body });
    };
    world.put('putAsset', USD, { symbol: 'USD', tokens: [{ token: USD_TOKEN, chain_id: CHAIN, decimals: 6 }] });
    world.put('putAsset', ETH, { symbol: 'ETH', tokens: [{ token: ETH_TOKEN, chain_id: CHAIN, decimals: 18 }] });
    world.put('putRisk', ETH, { collateral_factor: 90 });
    put('chain', CHAIN, { kind: 'simulated', approval_validity_s: VALIDITY_S });
    put('vault', VAULT, { administrators: ['5d'.repeat(20)], quorum: 1 });
    put('settler', SETTLER, { chain_id: CHAIN, executor: 'e3'.repeat(20) });
    if (usd > 0) world.deposit(ALICE, USD_TOKEN, BigInt(usd) * 10n ** 6n);
    if (eth > 0) world.deposit(ALICE, ETH_TOKEN, BigInt(eth) * E18);
    return world;
  }

  deposit(to: UserId, token: string, baseUnits: bigint): Effect[] {
    const depositNonce = this.#deposits.get(to) ?? 0;
    this.#deposits.set(to, depositNonce + 1);
    const tx = `${to.slice(0, 32)}${String(depositNonce).padStart(32, '0')}`;
    const event = { chainId: CHAIN, tx, logIndex: 0, user: to, token, baseUnits, depositNonce };
    return this.send({ kind: 'deposit', request: this.request(), ...event });
  }

  /** Gives 1 ETH for 3,000 USD, unless another is named. */
  settle(more: Partial<Settle> = {}): Effect[] {
    return this.send({
      kind: 'settle',
      request: this.request(),
      user: ALICE,
      subAccount: 0,
      chainId: CHAIN,
      vault: null,
      mode: 'spot',
      tokenOut: ETH_TOKEN,
      amountOut: units(1),
      tokenIn: USD_TOKEN,
      amountIn: units(3_000),
      settler: SETTLER,
      maker: null,
      nonce: null,
      expiresNs: null,
      blockTime: 0,
      shortfall: null,
      ...more,
    });
  }

  /** A settlement that is locked. */
  locked(more: Partial<Settle> = {}): SettlementRow {
    const effects = this.settle(more);
    assert.equal(refusal(effects), null);
    return must(effectsOf(effects, 'settlementChanged')[0]?.row, 'a locked row is published');
  }

  sign(row: SettlementRow): Effect[] {
    return this.send({ kind: 'settlementSigned', request: this.request(), ...nameOf(row), signature: SIGNATURE });
  }

  refuse(row: SettlementRow): Effect[] {
    return this.send({ kind: 'settlementRefused', request: this.request(), ...nameOf(row) });
  }

  lapse(row: SettlementRow, blockTime: number, counter: number): Effect[] {
    const times = { blockTime, counter };
    return this.send({ kind: 'settlementLapsed', request: this.request(), ...nameOf(row), ...times });
  }

  settled(row: SettlementRow, more: Partial<Settled> = {}): Effect[] {
    return this.send({ kind: 'settled', request: this.request(), ...eventOf(row), ...more });
  }

  approved(more: Partial<Settle> = {}): SettlementRow {
    const row = this.locked(more);
    this.sign(row);
    return this.row(row);
  }

  row({ user: of, place }: Pick<SettlementRow, 'user' | 'place'>): SettlementRow {
    return must(this.state.settlements.find(of, place), 'it lives');
  }

  withdrawUsd(amount: number, of = ALICE): Effect[] {
    const terms = { user: of, token: USD_TOKEN, chainId: CHAIN, amount: units(amount), target: TARGET, nonce: null };
    return this.send({ kind: 'withdraw', request: this.request(), ...terms, isShort: false });
  }

  /** Owned and locked. */
  balance(asset: AssetId, subAccount = 0, of = ALICE): readonly [string, string] {
    const slot = this.state.users.get(of)?.subAccounts.get(subAccount)?.balances.get(asset);
    return [format18(slot?.owned ?? ZERO_18), format18(slot?.locked ?? ZERO_18)];
  }

  pass(ns: bigint): void {
    this.nowNs = (this.nowNs + ns) as TimestampNs;
  }

  get nowS(): number {
    return Number(this.nowNs / SECOND_NS);
  }
}

function nameOf({
  user: of,
  place,
  requestedNs,
}: SettlementRow): Pick<SettlementRow, 'user' | 'place' | 'requestedNs'> {
  return { user: of, place, requestedNs };
}

function eventOf(row: SettlementRow): Omit<Settled, 'kind' | 'request'> {
  const { chainId, subAccount, nonce, tokenOut, baseUnitsOut, tokenIn, baseUnitsIn, mode, settler } = row;
  return { chainId, user: row.user, subAccount, nonce, tokenOut, baseUnitsOut, tokenIn, baseUnitsIn, mode, settler };
}

suite('settlements', () => {
  test('STL-01, AMB-82: a request locks what is given and binds it in the vault; Settled debits it and credits what came in', () => {
    const world = SettlementWorld.opened();
    const row = world.locked();
    assert.deepEqual([row.status, row.nonce, row.baseUnitsOut, row.baseUnitsIn], ['locked', 0, E18, 3_000_000_000n]);
    assert.deepEqual([row.validFrom, row.validUntil], [world.nowS, world.nowS + VALIDITY_S]);
    assert.deepEqual(world.balance(ETH), ['9', '1']);
    assert.equal(freeUnits(world.state, ETH_TOKEN, CHAIN), 9n * E18);
    world.sign(row);
    assert.deepEqual([world.row(row).status, world.row(row).signature], ['approved', SIGNATURE]);
    const effects = world.settled(row);
    assert.deepEqual(acceptedValue(reply(effects)), { result: 'executed', next: 1 });
    assert.equal(effectsOf(effects, 'settlementChanged')[0]?.row.status, 'executed');
    assert.deepEqual(
      [world.balance(ETH), world.balance(USD)],
      [
        ['9', '0'],
        ['4000', '0'],
      ],
    );
    assert.equal(world.state.totals.get(ETH)?.vaultHoldings, 9n * E18);
    assert.equal(world.state.totals.get(USD)?.vaultHoldings, 4_000n * E18);
    assert.equal(freeUnits(world.state, ETH_TOKEN, CHAIN), 9n * E18);
    assert.equal(world.state.settlements.size, 0);
  });

  test('AMB-85, STL-01: while account 0 owes what a vault paid by force, no settlement and no withdrawal of any asset is taken, and unsigned ones end', () => {
    const world = SettlementWorld.opened();
    world.deposit(BOB, ETH_TOKEN, 100n * E18);
    const terms = { user: ALICE, sourceIndex: 0, targetIndex: 1, amount: units(10), targetType: null, nonce: 1n };
    assert.equal(refusal(world.send({ kind: 'transfer', request: world.request(), asset: ETH, ...terms })), null);
    assert.equal(refusal(world.withdrawUsd(10)), null);
    const forced = { chainId: CHAIN, user: ALICE, token: ETH_TOKEN, nonce: 0, baseUnits: 10n * E18 };
    world.send({ kind: 'forcedWithdrawal', request: world.request(), ...forced });
    assert.deepEqual(
      [world.balance(ETH), world.balance(ETH, 1)],
      [
        ['-10', '0'],
        ['10', '0'],
      ],
    );
    assert.deepEqual(world.balance(USD), ['1000', '0']);
    assert.equal(world.state.withdrawals.ofUser(ALICE)[0]?.row.status, 'cancelled');
    assert.equal(refusal(world.settle({ subAccount: 1 })), 'INSUFFICIENT_INVENTORY');
    const usd = { tokenOut: USD_TOKEN, tokenIn: ETH_TOKEN, amountIn: units(0.001) };
    assert.equal(refusal(world.settle(usd)), 'INSUFFICIENT_INVENTORY');
    assert.equal(refusal(world.withdrawUsd(10)), 'INSUFFICIENT_INVENTORY');
    world.deposit(ALICE, ETH_TOKEN, 10n * E18);
    assert.equal(refusal(world.settle({ subAccount: 1 })), null);
    assert.equal(refusal(world.withdrawUsd(10)), null);
  });

  test('AMT-06, AMT-07, AMB-11: in is rounded up, out down; the rest of the lock returns, the excess that came in is credited', () => {
    const world = SettlementWorld.opened();
    const amountOut = (10n ** 12n + 7n) as Amount18;
    const row = world.approved({
      tokenOut: USD_TOKEN,
      amountOut,
      tokenIn: USD_TOKEN,
      amountIn: (10n ** 12n + 1n) as Amount18,
    });
    assert.deepEqual([row.baseUnitsOut, row.baseUnitsIn], [1n, 2n]);
    world.settled(row);
    assert.deepEqual(world.balance(USD), ['1000.000001', '0']);
    assert.equal(
      refusal(world.settle({ tokenOut: USD_TOKEN, amountOut: (10n ** 12n - 1n) as Amount18 })),
      'INVALID_REQUEST',
    );
  });

  test('what cannot be settled is refused and changes nothing (STL-01, STL-06, IDN-08, IDN-09, AMB-137)', () => {
    const world = SettlementWorld.opened();
    world.fund(BOB, ETH, '5');
    const before = stateHash(world.state);
    const cases: readonly [string, Partial<Settle>][] = [
      ['CHAIN_NOT_FOUND', { chainId: '000000000000000001' as ChainId }],
      ['VAULT_NOT_FOUND', { vault: '0e'.repeat(20).padEnd(64, '0') }],
      ['SETTLER_NOT_FOUND', { settler: ALICE }],
      ['SETTLER_NOT_FOUND', { maker: MAKER }],
      ['ASSET_NOT_FOUND', { tokenOut: '99'.repeat(32) }],
      ['ASSET_NOT_FOUND', { tokenIn: '99'.repeat(32) }],
      ['INVALID_REQUEST', { amountIn: ZERO_18 }],
      ['INVALID_REQUEST', { amountOut: ZERO_18 }],
      ['INVALID_REQUEST', { amountOut: (1n << 200n) as Amount18 }],
      ['INVALID_REQUEST', { subAccount: 7 }],
      ['INVALID_REQUEST', { mode: 'margin' }],
      ['INVALID_REQUEST', { expiresNs: world.nowNs }],
      ['INVALID_REQUEST', { blockTime: world.nowS + 10, expiresNs: world.nowNs + 9n * SECOND_NS }],
      ['INSUFFICIENT_INVENTORY', { amountOut: units(10.000001) }],
      ['INSUFFICIENT_INVENTORY', { shortfall: 'INSUFFICIENT_INVENTORY' }],
      ['INSUFFICIENT_INVENTORY', { user: user('99') }],
    ];
    for (const [code, more] of cases)
      assert.equal(refusal(world.settle(more)), code, JSON.stringify(Object.keys(more)));
    assert.equal(stateHash(world.state), before);
    assert.equal(refusal(world.settle({ vault: VAULT_ADDRESS })), null, 'the registered vault may be named');
    world.send({ kind: 'patchUser', request: 9, user: MAKER, isMarketMaker: true });
    assert.equal(refusal(world.settle({ maker: MAKER })), null, 'a market maker may be the maker');
    assert.equal(refusal(world.settle({ maker: SETTLER })), null, 'and a registered settler');
  });

  test('what is kept for withdrawals that wait is no liquidity of settlements (MON-04)', () => {
    const world = SettlementWorld.opened();
    world.fund(BOB, ETH, '1000');
    const terms = { user: BOB, token: ETH_TOKEN, chainId: CHAIN, amount: units(50), target: TARGET, nonce: null };
    world.send({ kind: 'withdraw', request: world.request(), ...terms, isShort: false });
    world.nowNs = (world.nowNs + 60n * SECOND_NS) as TimestampNs;
    world.send({ kind: 'withdrawalsDue' });
    world.deposit(ALICE, ETH_TOKEN, 8n * E18);
    const give = (eth: number): string | null => refusal(world.settle({ amountOut: units(eth) }));
    assert.equal(give(15), 'INSUFFICIENT_INVENTORY', '18 are free, and half of 8 is kept');
    assert.equal(give(14), null);
    assert.equal(
      world.state.payoutReserves.get(`${ETH_TOKEN}@${CHAIN}`)?.free,
      4n * E18,
      'what comes back is an increase',
    );
  });

  test('no settlement takes an asset of which the vault lacks some, and none is signed (MON-05)', () => {
    const world = SettlementWorld.opened();
    const row = world.locked();
    const lacks = (missing: bigint): void => {
      const input = { chainId: CHAIN, asset: ETH, missing: missing as Amount18 };
      world.send({ kind: 'vaultDeviation', request: world.request(), ...input });
    };
    lacks(1n);
    assert.equal(refusal(world.settle()), 'SERVICE_UNAVAILABLE');
    assert.equal(refusal(world.sign(row)), 'SERVICE_UNAVAILABLE');
    assert.equal(world.row(row).status, 'locked');
    const other = { tokenOut: USD_TOKEN, amountOut: units(10), tokenIn: ETH_TOKEN, amountIn: units(1) };
    assert.equal(refusal(world.settle(other)), null, 'of another asset it goes on');
    lacks(0n);
    assert.equal(refusal(world.sign(row)), null);
  });

  test('STL-01, AMB-78: units of the vault are promised once, to settlements and to withdrawals', () => {
    const world = SettlementWorld.opened(100, 0);
    world.fund(ALICE, USD, '1000');
    const give = (amount: number, more: Partial<Settle> = {}): Effect[] =>
      world.settle({ tokenOut: USD_TOKEN, amountOut: units(amount), tokenIn: ETH_TOKEN, amountIn: units(1), ...more });
    assert.equal(refusal(give(101)), 'INSUFFICIENT_INVENTORY', 'the vault has 100');
    assert.equal(refusal(give(60)), null);
    assert.equal(refusal(give(41)), 'INSUFFICIENT_INVENTORY', 'and 40 of them are free');
    world.withdrawUsd(60);
    world.pass(60n * SECOND_NS);
    world.send({ kind: 'withdrawalsDue' });
    const filled = world.state.withdrawals.ofUser(ALICE).map(({ row }) => [row.status, row.payout]);
    assert.deepEqual(
      filled,
      [
        ['filled', 40_000_000n],
        ['queued', 20_000_000n],
      ],
      'a withdrawal gets what is left',
    );
    assert.equal(refusal(give(1)), 'INSUFFICIENT_INVENTORY', 'and a settlement nothing of that');
    world.refuse(world.row({ user: ALICE, place: 0 }));
    const after = world.state.withdrawals.ofUser(ALICE).map(({ row }) => row.status);
    assert.deepEqual(after, ['filled', 'filled'], 'freed units fill the queue');
    assert.equal(freeUnits(world.state, USD_TOKEN, CHAIN), 40_000_000n);
  });

  test('STL-05, STL-06, NON-03: managed nonces count by user, sub-account and chain; a named one neither collides nor goes back', () => {
    const world = SettlementWorld.opened();
    world.fund(ALICE, ETH, '3', 1);
    const first = world.approved();
    assert.equal(world.locked().nonce, 1);
    assert.equal(world.locked({ subAccount: 1 }).nonce, 0, 'another sub-account');
    assert.equal(refusal(world.settle({ nonce: 1 })), 'INVALID_NONCE', 'it is in use');
    assert.equal(world.locked({ nonce: 3 }).nonce, 3, 'a later one may be named');
    assert.equal(world.locked().nonce, 2);
    assert.equal(world.locked().nonce, 4, 'the next one that is free');
    world.settled(first);
    assert.equal(refusal(world.settle({ nonce: 0 })), 'INVALID_NONCE', 'below the counter of the vault');
    assert.equal(world.locked().nonce, 5);
  });

  test('STL-06: a nonce is free again when its settlement ended without execution', () => {
    const world = SettlementWorld.opened();
    const row = world.locked();
    assert.equal(refusal(world.refuse(row)), null);
    assert.deepEqual(world.balance(ETH), ['10', '0']);
    assert.equal(refusal(world.refuse(row)), 'SETTLEMENT_NOT_FOUND');
    world.pass(1n);
    const next = world.approved({ nonce: 0 });
    assert.equal(next.place, row.place);
    for (const late of [world.sign(row), world.refuse(row), world.lapse(row, row.validUntil + 1, 0)]) {
      assert.equal(refusal(late), 'SETTLEMENT_NOT_FOUND', 'what is about the earlier one in its place');
    }
    assert.equal(refusal(world.refuse(next)), 'SETTLEMENT_NOT_FOUND', 'an approved one is not taken back');
    assert.equal(refusal(world.sign(next)), 'SETTLEMENT_NOT_FOUND', 'and signed once');
  });

  test('AMB-82: an approval lapses with a confirmed block past its expiry and an unmoved counter, not by the clock', () => {
    const world = SettlementWorld.opened();
    const row = world.approved();
    world.pass(2n * HOUR_NS);
    assert.equal(refusal(world.lapse(row, row.validUntil, 0)), 'SETTLEMENT_NOT_FOUND');
    assert.equal(refusal(world.lapse(row, row.validUntil + 1, 1)), 'SETTLEMENT_NOT_FOUND', 'it was executed');
    assert.deepEqual(world.balance(ETH), ['9', '1']);
    assert.equal(refusal(world.lapse(row, row.validUntil + 1, 0)), null);
    assert.deepEqual(world.balance(ETH), ['10', '0']);
    assert.equal(world.state.settlements.size, 0);
  });

  test('an approval ends with the request or the maker order, if that is earlier, and counts from the later clock (AMB-79, AMB-82)', () => {
    const world = SettlementWorld.opened();
    const expiresNs = world.nowNs + 90n * SECOND_NS + 999n;
    assert.equal(world.locked({ expiresNs }).validUntil, world.nowS + 90, 'in whole seconds, not later');
    assert.equal(world.locked({ expiresNs: world.nowNs + 2n * HOUR_NS }).validUntil, world.nowS + VALIDITY_S);
    const ahead = world.locked({ blockTime: world.nowS + 50 });
    assert.deepEqual([ahead.validFrom, ahead.validUntil], [world.nowS + 50, world.nowS + 50 + VALIDITY_S]);
  });

  test('DEP-23: an event counts once; one that is not what was approved changes nothing', () => {
    const world = SettlementWorld.opened();
    const row = world.approved();
    const other = world.approved();
    const before = stateHash(world.state);
    const wrong: readonly Partial<Settled>[] = [
      { baseUnitsOut: row.baseUnitsOut + 1n },
      { baseUnitsIn: row.baseUnitsIn - 1n },
      { tokenOut: USD_TOKEN },
      { tokenIn: ETH_TOKEN },
      { mode: 'margin' },
      { settler: ALICE },
      { subAccount: 1 },
      { user: BOB },
      { nonce: other.nonce },
    ];
    for (const more of wrong) {
      assert.deepEqual(
        acceptedValue(reply(world.settled(row, more))),
        { result: 'unmatched', next: 0 },
        `${Object.keys(more)}`,
      );
    }
    assert.equal(stateHash(world.state), before);
    world.settled(row);
    const after = stateHash(world.state);
    assert.deepEqual(acceptedValue(reply(world.settled(row))), { result: 'duplicate', next: 1 });
    assert.equal(stateHash(world.state), after);
    assert.deepEqual(acceptedValue(reply(world.settled(other))), { result: 'executed', next: 2 });
  });

  test('AMB-137: mode margin settles in a margin account, which keeps its initial margin without what is locked', () => {
    const world = SettlementWorld.opened();
    world.put('putMarket', ETH, { book_price_decimals: 2, book_quantity_decimals: 4 });
    world.send({ kind: 'setPrices', request: 1, body: { prices: [{ asset_id: ETH, price: '1000' }] } });
    world.deposit(BOB, ETH_TOKEN, 10n * E18);
    world.fund(ALICE, USD, '5', 1);
    world.fund(ALICE, ETH, '2', 1);
    const account = must(world.state.users.get(ALICE)?.subAccounts.get(1), 'account 1 exists');
    const short = { base: -units(1), quote: units(990), entry: units(990) };
    setLegs(world.state, positionSlot(world.state, account, ETH), short as Legs);
    const bob = must(world.state.users.get(BOB)?.subAccounts.get(1), 'account 1 exists');
    const long = { base: units(1), quote: -units(990), entry: units(990) };
    setLegs(world.state, positionSlot(world.state, bob, ETH), long as Legs);
    const give = (amount: number, mode: 'spot' | 'margin'): string | null =>
      refusal(world.settle({ subAccount: 1, mode, amountOut: units(amount), amountIn: units(1) }));
    for (const mode of ['margin', 'spot'] as const) assert.equal(give(2, mode), 'INSUFFICIENT_MARGIN', mode);
    assert.equal(give(0.1, 'margin'), null);
    assert.equal(
      refusal(world.settle({ subAccount: 1, amountOut: units(0.1), shortfall: 'INSUFFICIENT_MARGIN' })),
      'INSUFFICIENT_MARGIN',
    );
    assert.deepEqual(world.balance(ETH, 1), ['1.9', '0.1']);
  });

  test('rows are the state: loaded from a checkpoint, every settlement goes on (STL-04)', () => {
    const world = SettlementWorld.opened();
    const tables = new PlainTables();
    const [locked, approved, gone] = [world.locked(), world.approved(), world.locked()];
    world.refuse(gone);
    tables.checkpoint(world.state);
    world.pass(1n);
    const again = world.locked();
    assert.equal(again.place, gone.place, 'a place is used again between two checkpoints');
    tables.checkpoint(world.state);
    const hash = stateHash(world.state);
    world.state = tables.load();
    assert.equal(stateHash(world.state), hash);
    world.sign(locked);
    world.settled(locked);
    world.settled(approved);
    assert.deepEqual(world.balance(USD), ['7000', '0']);
  });

  test('a user has 64 live settlements; one that ends makes room', () => {
    const world = SettlementWorld.opened();
    const rows = Array.from({ length: SETTLEMENTS_PER_USER }, () => world.locked({ amountOut: units(0.1) }));
    assert.equal(refusal(world.settle({ amountOut: units(0.1) })), 'INVALID_REQUEST');
    world.refuse(must(rows[7], 'there are 64'));
    assert.equal(world.locked({ amountOut: units(0.1) }).place, 7);
  });
});

/** What a chain with one vault would do with the approvals of a node, and a ledger in plain numbers beside clearing's. */
class PlainSettlements {
  readonly world = SettlementWorld.opened(100_000, 100);
  readonly tables = new PlainTables();
  /** Every approval that ever left the node, and may be executed. */
  readonly published: SettlementRow[] = [];
  readonly counters = new Map<number, number>();
  /** Events that the chain has, some of which it shows again. */
  readonly events: SettlementRow[] = [];
  readonly owned = new Map<string, bigint>([
    ['0/0', 100_000n * E18],
    ['0/2', 100n * E18],
  ]);
  readonly live = new Map<number, SettlementRow>();
  readonly vault = new Map<AssetId, bigint>([
    [USD, 100_000n * E18],
    [ETH, 100n * E18],
  ]);
  chainTimeS = this.world.nowS;

  constructor() {
    this.world.fund(ALICE, ETH, '50', 1);
    this.owned.set('1/2', 50n * E18);
    this.owned.set('1/0', 0n);
  }

  request(pick: number): void {
    const subAccount = pick % 2;
    const gives = pick % 3 === 0 ? ETH : USD;
    const amountOut = units(1 + (pick % 7) + (pick % 5) / 1e6);
    const amountIn = units(1 + (pick % 11));
    const [tokenOut, tokenIn] = gives === ETH ? [ETH_TOKEN, USD_TOKEN] : [USD_TOKEN, ETH_TOKEN];
    const nonce = pick % 4 === 0 ? pick % 6 : null;
    const expiresNs = pick % 5 === 0 ? this.world.nowNs + BigInt(1 + (pick % 100)) * SECOND_NS : null;
    const effects = this.world.settle({ subAccount, tokenOut, tokenIn, amountOut, amountIn, nonce, expiresNs });
    const row = effectsOf(effects, 'settlementChanged')[0]?.row;
    const key = `${subAccount}/${gives}`;
    const bound = [...this.live.values()].filter(({ assetOut }) => assetOut === gives);
    const free = (this.vault.get(gives) ?? 0n) - bound.reduce((sum, one) => sum + one.amountOut, 0n);
    const used = [...this.live.values()].filter((one) => one.subAccount === subAccount).map((one) => one.nonce);
    const counter = this.counters.get(subAccount) ?? 0;
    const isFree = nonce === null || (nonce >= counter && !used.includes(nonce));
    const isPaid = (this.owned.get(key) ?? 0n) >= amountOut && free >= amountOut;
    assert.equal(row !== undefined, isFree && isPaid && this.live.size < SETTLEMENTS_PER_USER);
    if (row === undefined) return;
    assert.ok(!used.includes(row.nonce) && row.nonce >= counter, 'no two live settlements have one nonce');
    this.live.set(row.place, row);
    this.owned.set(key, (this.owned.get(key) ?? 0n) - amountOut);
  }

  sign(pick: number): void {
    const row = this.#pick(pick, 'locked');
    if (row === null) return;
    assert.equal(refusal(this.world.sign(row)), null);
    const approved = this.world.row(row);
    this.live.set(row.place, approved);
    this.published.push(approved);
  }

  refuse(pick: number): void {
    const row = this.#pick(pick, 'locked');
    if (row === null) return;
    assert.equal(refusal(this.world.refuse(row)), null);
    this.#returned(row);
  }

  /** Any approval that ever left the node is tried on the chain. */
  execute(pick: number): void {
    const row = this.published[pick % Math.max(this.published.length, 1)];
    if (row === undefined) return;
    const isAccepted = this.chainTimeS <= row.validUntil && row.nonce === (this.counters.get(row.subAccount) ?? 0);
    if (!isAccepted) return;
    this.counters.set(row.subAccount, row.nonce + 1);
    this.events.push(row);
    assert.equal(
      acceptedValue(reply(this.world.settled(row)))['result'],
      'executed',
      'what the vault takes, the ledger has',
    );
    this.live.delete(row.place);
    this.#add(`${row.subAccount}/${row.assetIn}`, row.assetIn, row.baseUnitsIn);
    this.#add(`${row.subAccount}/${row.assetOut}`, row.assetOut, -row.baseUnitsOut, row.amountOut);
  }

  /** A provider shows an event again, or another one. */
  replay(pick: number): void {
    const row = this.events[pick % Math.max(this.events.length, 1)];
    if (row === undefined) return;
    assert.equal(acceptedValue(reply(this.world.settled(row)))['result'], 'duplicate');
    const falsified = { nonce: this.counters.get(row.subAccount) ?? 0, baseUnitsOut: row.baseUnitsOut + 1n };
    assert.equal(acceptedValue(reply(this.world.settled(row, falsified)))['result'], 'unmatched');
  }

  pass(pick: number): void {
    this.world.pass(BigInt(pick % 1_200) * SECOND_NS);
    this.chainTimeS = this.world.nowS;
  }

  lapse(pick: number): void {
    const rows = [...this.live.values()];
    const row = rows[pick % Math.max(rows.length, 1)];
    if (row === undefined) return;
    const counter = this.counters.get(row.subAccount) ?? 0;
    const isOver = this.chainTimeS > row.validUntil;
    assert.equal(refusal(this.world.lapse(row, this.chainTimeS, counter)) === null, isOver);
    if (isOver) this.#returned(row);
  }

  checkpoint(): void {
    this.tables.checkpoint(this.world.state);
    const hash = stateHash(this.world.state);
    this.world.state = this.tables.load();
    assert.equal(stateHash(this.world.state), hash);
  }

  check(): void {
    for (const [key, owned] of this.owned) {
      const [subAccount, asset] = key.split('/') as [string, AssetId];
      const locked = [...this.live.values()]
        .filter((row) => row.subAccount === Number(subAccount) && row.assetOut === asset)
        .reduce((sum, row) => sum + row.amountOut, 0n);
      const expected = [format18(owned as Amount18), format18(locked as Amount18)];
      assert.deepEqual(this.world.balance(asset, Number(subAccount)), expected, key);
    }
    assert.equal(this.world.state.settlements.size, this.live.size);
    for (const [asset, held] of this.vault) assert.equal(this.world.state.totals.get(asset)?.vaultHoldings, held);
  }

  #pick(pick: number, status: SettlementRow['status']): SettlementRow | null {
    const rows = [...this.live.values()].filter((row) => row.status === status);
    return rows[pick % Math.max(rows.length, 1)] ?? null;
  }

  #returned(row: SettlementRow): void {
    this.live.delete(row.place);
    const key = `${row.subAccount}/${row.assetOut}`;
    this.owned.set(key, (this.owned.get(key) ?? 0n) + row.amountOut);
  }

  #add(key: string, asset: AssetId, baseUnits: bigint, unlocked = 0n): void {
    const value = asset === USD ? baseUnits * 10n ** 12n : baseUnits;
    this.owned.set(key, (this.owned.get(key) ?? 0n) + value + unlocked);
    this.vault.set(asset, (this.vault.get(asset) ?? 0n) + value);
  }
}

const STEPS = [
  'request',
  'request',
  'sign',
  'sign',
  'execute',
  'refuse',
  'replay',
  'pass',
  'lapse',
  'checkpoint',
] as const;

suite('approvals of the last hour (cluster.md 8)', () => {
  const signedOf = (world: SettlementWorld): readonly SignedApprovalRow[] =>
    [...pagesOf(world)].flatMap(({ approvals }) => approvals);

  function* pagesOf({ state, nowNs }: SettlementWorld): Generator<ApprovalsPage> {
    for (let from: number | null = 0; from !== null; ) {
      const page: ApprovalsPage = approvalsOfHour(state, from, nowNs);
      yield page;
      from = page.next;
    }
  }

  test('an executed settlement counts for an hour after its signature, over a restart, and leaves its place then', () => {
    const world = SettlementWorld.opened();
    const tables = new PlainTables();
    const row = world.approved();
    world.settled(row);
    assert.equal(world.state.settlements.size, 0);
    const { chainId, user, subAccount, nonce, validUntil, tokenOut: token, baseUnitsOut: baseUnits } = row;
    const terms = { chainId, user, subAccount, nonce, validUntil, token, baseUnits };
    const expected = { ...terms, place: 0, kind: 'settlement', signedNs: world.nowNs, isGone: false };
    for (let restart = 0; restart < 2; restart += 1) {
      assert.deepEqual(signedOf(world), [expected]);
      const hash = stateHash(world.state);
      tables.checkpoint(world.state);
      world.state = tables.load();
      assert.equal(stateHash(world.state), hash);
    }
    world.pass(HOUR_NS - 1n);
    assert.equal(signedOf(world).length, 1);
    world.pass(1n);
    assert.deepEqual(signedOf(world), []);
    const second = world.approved({ amountOut: units(2), amountIn: units(1) });
    assert.deepEqual(
      signedOf(world).map(({ place, nonce: next }) => [place, next]),
      [[0, second.nonce]],
    );
    tables.checkpoint(world.state);
    assert.equal(stateHash(tables.load()), stateHash(world.state));
  });

  test('a withdrawal counts when it is signed, not before', () => {
    const world = SettlementWorld.opened();
    assert.equal(refusal(world.withdrawUsd(100)), null);
    world.nowNs = must(world.state.withdrawals.nextDueNs, 'its delay ends') as TimestampNs;
    world.send({ kind: 'withdrawalsDue' });
    world.send({ kind: 'vaultCheckpoint', request: world.request(), chainId: CHAIN, blockTime: 0 });
    const [row] = world.state.withdrawals.ofUser(ALICE).map((slot) => slot.row);
    assert.equal(row?.status, 'signing');
    assert.deepEqual(signedOf(world), []);
    const { user, place, sequence } = must(row, 'it is there');
    world.send({ kind: 'approvalSigned', request: world.request(), user, place, sequence, signatures: [SIGNATURE] });
    assert.deepEqual(
      signedOf(world).map(({ kind, nonce, baseUnits }) => [kind, nonce, baseUnits]),
      [['withdrawal', row?.nonce, row?.payout]],
    );
  });

  test('beyond the bound nothing is signed until an hour has passed', () => {
    const world = SettlementWorld.opened();
    const row = world.locked();
    const { chainId, user, subAccount, nonce, validUntil, tokenOut: token } = row;
    const filler = { kind: 'settlement', chainId, user, subAccount, nonce, validUntil, token, baseUnits: 1n } as const;
    for (let at = 0; at < SIGNED_MAX; at += 1) world.state.signedApprovals.add({ ...filler, signedNs: world.nowNs });
    assert.equal(refusal(world.sign(row)), 'SERVICE_UNAVAILABLE');
    assert.equal(world.row(row).status, 'locked');
    world.pass(HOUR_NS);
    assert.equal(refusal(world.sign(row)), null);
    assert.equal(world.state.signedApprovals.size, 1);
  });
});

suite('settlements against a plain ledger and a chain', () => {
  test('STL-04 to STL-07, DEP-23: no approval that the vault accepts is missing in the ledger, none counts twice, whatever is executed, replayed, refused or lapses in between', () => {
    fc.assert(
      fc.property(storyOf(STEPS, [20, 80]), (story) => {
        const plain = new PlainSettlements();
        for (const [step, pick] of story) {
          plain[STEPS[step] ?? 'check'](pick);
          plain.check();
        }
      }),
      propertyParameters(40),
    );
  });
});
