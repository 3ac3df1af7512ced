/**
 * The ledger adds up (AMB-116). After every batch the touched assets are compared through their running sums; a full
 * recount of everything derived is for the start, for operators and for tests.
 */
import { add18, mulDivFloor, powerOfTen } from '../core/arithmetic.ts';
import { assert, must } from '../core/assert.ts';
import { type AssetId, isToken, type UserId } from '../core/ids.ts';
import { SUB_ACCOUNTS_MAX } from '../core/limits.ts';
import { SIDE } from '../core/order-terms.ts';
import { type Amount18, ONE_18, ZERO_18 } from '../core/units.ts';
import { isMarginType } from '../risk/account-types.ts';
import type { AssetTerms } from '../risk/asset-terms.ts';
import { allBalances, allUsers, MARGIN_ACCOUNT, SPOT_ACCOUNT } from './balances.ts';
import { enabledQuantityOf, hasLiveParent } from './children.ts';
import { isExposureRight } from './exposures.ts';
import { LOTS_PER_TOKEN } from './funds/lot-book.ts';
import { isLive } from './funds/withdrawal-book.ts';
import { availableOf, heldOf, holdOf } from './holds.ts';
import { baseOf, type ClearingOrder, orderAt, usdOf } from './live-orders.ts';
import { allPositions } from './positions.ts';
import { tokenKey } from './registry/registry-assets.ts';
import { assetTermsOf } from './risks.ts';
import type {
  AssetTotals,
  BalanceSlot,
  BookExposure,
  ClearingState,
  PositionSlot,
  RiskSlot,
  SubAccountSlot,
  UserSlot,
} from './state.ts';
import { isWatchedRight } from './trigger-heaps.ts';

/**
 * By how much claims and holdings differ, the amounts of all assets added without sign; 18 decimals. It takes the
 * running sums.
 */
export function differenceOfAll(state: ClearingState): bigint {
  let sum = 0n;
  for (const totals of state.totals.values()) {
    const difference = differenceOf(totals);
    sum += difference < 0n ? -difference : difference;
  }
  return sum;
}

function differenceOf({ claims, faucet, backstopCredits, rebalancingPool, vaultHoldings }: AssetTotals): bigint {
  return claims + faucet + backstopCredits + rebalancingPool - vaultHoldings;
}

/** claims + faucet + backstop credits + rebalancing pool = vault holdings. @throws InvariantError */
export function assertConserved(totals: AssetTotals): void {
  assert(differenceOf(totals) === 0n, `asset ${totals.asset} adds up`);
}

/**
 * Rebates are paid of what fees brought in (MON-03). Of what a batch touched: data of before version 14 may have less,
 * until its first start has filled it.
 *
 * @throws InvariantError
 */
export function assertPoolCovered({ asset, rebalancingPool }: AssetTotals): void {
  // mutant: pool-below-zero
  assert(rebalancingPool >= 0n, `the rebalancing pool of asset ${asset} is not below zero`);
}

/** Recounts claims, holds and signs from the rows. @throws InvariantError at the first thing that does not agree. */
export function checkLedger(state: ClearingState): void {
  checkSums(state);
  checkLocks(state);
  checkLots(state);
  checkUnits(state);
  checkUsedTexts(state);
  checkOrders(state);
}

/**
 * Everything but orders. For a state that was made from its rows a moment ago: what its orders hold, and by what they are
 * found, was counted from those very rows.
 */
export function checkSums(state: ClearingState): void {
  const sums = new Recount(state);
  for (const user of allUsers(state)) {
    checkUser(user);
    for (const account of user.subAccounts.values()) {
      const { balances, positions } = account;
      checkLiquidation(state, account);
      for (const slot of balances.values()) sums.balance(slot);
      for (const slot of positions.values()) sums.position(slot);
    }
  }
  sums.check(state);
}

/** fill-plan.ts */
const UNPLANNED = 'what is planned or changed is so within one input only';

function checkUser({ subAccounts }: UserSlot): void {
  assert(subAccounts.has(SPOT_ACCOUNT) && subAccounts.has(MARGIN_ACCOUNT), 'accounts 0 and 1 exist');
  assert(subAccounts.size <= SUB_ACCOUNTS_MAX, 'sub-accounts are bounded');
}

/** An account is under liquidation exactly when it has a row; detection finds it in the lists where it says that it is. */
function checkLiquidation({ liquidations }: ClearingState, account: SubAccountSlot): void {
  const { row, liquidation, watch } = account;
  assert(liquidations.has(account) === (liquidation !== null), 'accounts under liquidation are found by their rows');
  if (liquidation !== null) {
    const { stage, order } = liquidation;
    assert(isMarginType(row) && stage !== 'ended', 'margin accounts are liquidated');
    assert(order === null || stage === 'ordering', 'an order is outstanding while positions are ordered out');
  }
  if (watch === null) return;
  for (const [at, risk] of watch.risks.entries()) {
    assert(risk.watchers.accountAt(watch.places[at] as number) === account, 'an account is where detection has put it');
  }
}

interface RiskSums {
  credits: bigint;
  borrows: bigint;
  collateral: bigint;
  open: number;
}

/** Claims of assets, sums of legs and of collateral, counted anew in one walk. Every method throws InvariantError. */
class Recount {
  readonly #claims = new Map<AssetTotals, bigint>();
  readonly #risks = new Map<RiskSlot, RiskSums>();
  /** Users with forced withdrawals: their account 0 may be negative. */
  readonly #forced: ReadonlySet<string>;
  readonly #debtors = new Map<UserId, number>();

  constructor({ forcedCounters }: ClearingState) {
    this.#forced = new Set([...forcedCounters.keys()].map((key) => key.split('/')[1] ?? ''));
  }

  balance({ user, subAccount, owned, locked, planned, isChanged, totals, collateral }: BalanceSlot): void {
    const mayBeNegative = subAccount === SPOT_ACCOUNT && this.#forced.has(user);
    assert((owned >= 0n || mayBeNegative) && locked >= 0n, 'no balance is negative');
    if (owned < 0n) this.#debtors.set(user, (this.#debtors.get(user) ?? 0) + 1);
    assert(planned === null && !isChanged, UNPLANNED);
    this.#claim(totals, owned + locked);
    if (collateral !== null && owned !== 0n) this.#risk(collateral).collateral += owned;
  }

  position(slot: PositionSlot): void {
    const { legs, planned, isChanged, totals, usdTotals, risk } = slot;
    assert(legs.entry >= 0n && (legs.base !== 0n || legs.entry === 0n), 'the cost of an open base is not negative');
    assert(planned === null && !isChanged, UNPLANNED);
    this.#claim(totals, legs.base);
    this.#claim(usdTotals, legs.quote);
    assert(risk.open.has(slot) === (legs.base !== 0n), 'open positions are found by their asset');
    if (legs.base !== 0n) this.#risk(risk).open += 1;
    if (legs.base > 0n) this.#risk(risk).credits += legs.base;
    else if (legs.base < 0n) this.#risk(risk).borrows -= legs.base;
  }

  check(state: ClearingState): void {
    for (const totals of state.totals.values()) {
      const claims = this.#claims.get(totals) ?? 0n;
      assert(totals.claims === claims, `claims of asset ${totals.asset} are the sum of its balances`);
      assertConserved(totals);
    }
    for (const slot of state.risks.values()) {
      const sums = this.#risk(slot);
      assert(slot.credits === sums.credits && slot.borrows === sums.borrows, 'interest is the sum of all legs');
      assert(slot.open.size === sums.open, 'open positions are counted');
      assert(slot.collateral === sums.collateral, 'collateral is what margin accounts own');
    }
    const { debtors } = state;
    assert(debtors.size === this.#debtors.size, 'users with a negative balance are counted');
    for (const [user, count] of this.#debtors) {
      assert(debtors.get(user) === count, 'negative balances of a user are counted');
    }
  }

  #claim(totals: AssetTotals, amount: bigint): void {
    this.#claims.set(totals, (this.#claims.get(totals) ?? 0n) + amount);
  }

  #risk(slot: RiskSlot): RiskSums {
    let sums = this.#risks.get(slot);
    if (sums === undefined) {
      sums = { credits: 0n, borrows: 0n, collateral: 0n, open: 0 };
      this.#risks.set(slot, sums);
    }
    return sums;
  }
}

/** What withdrawals and settlements lock, and what all users owe in USD. */
function checkLocks(state: ClearingState): void {
  const locked = new Map<string, bigint>();
  let due = 0;
  for (const { row } of state.withdrawals.all()) {
    if (row.status === 'queued' || row.status === 'filled' || !isLive(row)) due += 1;
    if (!isLive(row)) continue;
    assert(row.isolated >= 0n && row.isolated <= row.amount + row.fee, 'of lots at most all of a lock is taken');
    const isolated = tokenKey(row.token, row.chainId);
    for (const [asset, amount] of [
      [row.asset, row.amount + row.fee - row.isolated],
      [isolated, row.isolated],
    ] as const) {
      const key = `${row.user}/${SPOT_ACCOUNT}/${asset}`;
      locked.set(key, (locked.get(key) ?? 0n) + amount);
    }
  }
  assert(
    due === state.withdrawals.dueCount,
    'withdrawals of which something is due by time are found by it, once each',
  );
  for (const { user, subAccount, assetOut, amountOut } of state.settlements.all()) {
    const key = `${user}/${subAccount}/${assetOut}`;
    locked.set(key, (locked.get(key) ?? 0n) + amountOut);
  }
  for (const { user, subAccount, asset, locked: found } of allBalances(state)) {
    const expected = locked.get(`${user}/${subAccount}/${asset}`) ?? 0n;
    assert(found === expected, 'a balance has locked what its live withdrawals and settlements lock');
  }
  let owed = 0n;
  for (const { legs } of allPositions(state)) if (legs.quote < 0n) owed -= legs.quote;
  assert(state.usdBorrows === owed, 'the borrows of USD are the sum of negative quote legs');
}

/** Lots are part of their balances, oldest first, and are found by their free amount. */
function checkLots(state: ClearingState): void {
  let count = 0;
  for (const slot of allBalances(state)) {
    const { lots, owned, locked, subAccount, asset } = slot;
    if (lots === null) continue;
    assert(subAccount === SPOT_ACCOUNT && isToken(asset), 'lots are of tokens in account 0');
    assert(lots.lots.length > 0 && lots.lots.length <= LOTS_PER_TOKEN, 'lots of a balance are bounded');
    let [sum, free] = [0n, 0n];
    for (const [at, lot] of lots.lots.entries()) {
      assert(lot.amount > 0n && lot.free >= 0n && lot.free <= lot.amount, 'a lot has something');
      assert(at === 0 || (lots.lots[at - 1]?.sequence ?? 0) < lot.sequence, 'the lots of a balance are in their order');
      sum += lot.amount;
      free += lot.free;
      count += 1;
    }
    assert(sum <= owned + locked, 'lots are part of their balance');
    const available = availableOf(slot);
    assert(free === (sum < available ? sum : available), 'what of lots is free is neither locked nor held');
  }
  assert(count === state.lots.size, 'lots are counted');
}

/**
 * A used text is live exactly as long as the row that it made (MON-01). Of a settlement only the first half: under a
 * clock that stands still a later row may have its place and time.
 */
function checkUsedTexts({ usedTexts, withdrawals, settlements }: ClearingState): void {
  for (const { kind, status, owner, sequence, requestedNs } of usedTexts.all()) {
    if (kind === 'floor') continue;
    const isLiveText = status === 'live';
    if (kind === 'settlement' || kind === 'makerOrder') {
      const isMade = settlements.find(owner, sequence)?.requestedNs === requestedNs;
      assert(!isLiveText || isMade, `settlement ${sequence} of ${owner} lives as its text does`);
    } else {
      const isMade = withdrawals.ofUser(owner).some(({ row }) => row.sequence === sequence && isLive(row));
      assert(isLiveText === isMade, `withdrawal ${sequence} of ${owner} lives as its text does`);
    }
  }
}

/** What was credited for the units of an asset's tokens is at most what they are worth. */
function checkUnits(state: ClearingState): void {
  const left = new Map<AssetId, bigint>();
  for (const { asset, token, chainId, baseUnits } of state.vaultTokens.values()) {
    assert(baseUnits >= 0n, 'a vault owes nothing');
    const decimals = must(
      state.tokenDecimals.get(tokenKey(token, chainId)),
      'the decimals of a token are kept for ever',
    );
    left.set(asset, (left.get(asset) ?? 0n) + mulDivFloor(baseUnits, ONE_18, powerOfTen(decimals)));
  }
  for (const { asset, vaultHoldings } of state.totals.values()) {
    const of = state.vaultTokens.get(asset)?.asset ?? asset;
    left.set(of, (left.get(of) ?? 0n) - vaultHoldings);
  }
  for (const [asset, dust] of left) assert(dust >= 0n, `no more of asset ${asset} is held than its vaults have`);
}

function checkOrders(state: ClearingState): void {
  const held = new Map<BalanceSlot, Amount18>();
  for (const market of state.markets) {
    assert(market.decidedSequence <= market.sequence, 'what is decided has arrived');
    let count = 0;
    for (const index of market.orders.indexes()) {
      count += 1;
      const order = orderAt(market, index);
      const { row } = order;
      assert(market.orders.find(row.orderSequence) === index, 'live orders are found by their sequence');
      const hold = holdOf(row, market.definition);
      if (hold !== ZERO_18) {
        const spent = row.side === SIDE.buy ? usdOf(state, order) : baseOf(state, order);
        held.set(spent, add18(held.get(spent) ?? ZERO_18, hold));
      }
      checkOrder(state, order);
    }
    assert(count === market.orders.size, 'live orders are counted');
  }
  for (const slot of allBalances(state)) {
    assert(heldOf(slot) === (held.get(slot) ?? ZERO_18), 'a balance is held by its live orders');
  }
}

/** What is derived from a live order, its hold apart. */
function checkOrder(state: ClearingState, order: ClearingOrder): void {
  assert(order.row.end === 0, 'live orders are live');
  checkEnabled(order);
  assert(isWatchedRight(order), 'an order that waits for a price is found by it');
  assert(isExposureRight(state, order, termsInForce), 'orders that may count are found by their account, and counted');
}

function termsInForce({ risk }: BookExposure): AssetTerms {
  return risk.terms ?? assetTermsOf(risk, risk.termsNs);
}

function checkEnabled({ index, row, market }: ClearingOrder): void {
  const { parentSequence, enabledQuantity, quantity } = row;
  const isChild = hasLiveParent(market, row);
  assert(
    isChild || parentSequence === 0
      ? enabledQuantity === enabledQuantityOf(market, row, quantity)
      : enabledQuantity <= quantity,
    'a child is enabled as far as its parent is filled',
  );
  assert(
    market.orders.store.parentOf(index) === market.orders.find(parentSequence),
    'live children of live parents are found by their parent',
  );
}
