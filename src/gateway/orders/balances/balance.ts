import { type AssetId, USD, type UserId } from '../../../core/ids.ts';
import { type Amount18, ZERO_18 } from '../../../core/units.ts';
import { type Views, viewsOf } from '../../../core/views.ts';
import { roundsFees } from '../../../risk/buy-holds.ts';
import { changeReservedBuys, type ReservedByBuys, reservedByBuys } from '../../../risk/reservation.ts';
import { readInt128, writeInt128 } from '../../../schema/int128.ts';
import type { MarketSlot } from '../book/markets.ts';

/** Optimistic sum of the spot balances of an asset in margin-type accounts, 10^-18. Changed only by `Holds`. */
export interface CollateralSum {
  amount: bigint;
}

/** From this number of balances on, an account finds them by a map; most accounts have fewer. */
const FEW_BALANCES = 8;

/** The spot balances of one sub-account, linked in the order in which they came. Changed only by `Holds`. */
export class SpotAccount {
  readonly subAccount: number;
  /** Rises with every change of what the account owns, fills on their way included. */
  changes = 0;
  #first: Balance | null = null;
  #last: Balance | null = null;
  #count = 0;
  /** Null while a look through all balances is as fast. */
  #byAsset: Map<AssetId, Balance> | null = null;

  constructor(subAccount: number) {
    this.subAccount = subAccount;
  }

  /** The others follow through `next`. */
  get first(): Balance | null {
    return this.#first;
  }

  find(asset: AssetId): Balance | undefined {
    if (this.#byAsset !== null) return this.#byAsset.get(asset);
    for (let balance = this.#first; balance !== null; balance = balance.next) {
      if (balance.asset === asset) return balance;
    }
    return undefined;
  }

  /** @param balance of an asset that the account has no balance of. */
  add(balance: Balance): void {
    if (this.#last === null) this.#first = balance;
    else this.#last.next = balance;
    this.#last = balance;
    this.#count += 1;
    this.#byAsset?.set(balance.asset, balance);
    if (this.#count !== FEW_BALANCES) return;
    this.#byAsset = new Map();
    for (let each = this.#first; each !== null; each = each.next) this.#byAsset.set(each.asset, each);
  }
}

/** One spot balance: (user, sub-account, asset). Changed only by `Holds`. */
export interface Balance {
  /** Its index among all balances, from 0: orders refer to it by this number. */
  readonly number: number;
  readonly subAccount: number;
  readonly asset: AssetId;
  /** A count of fee changes, or NOT_SUMMED. */
  heldAt: number;
  readonly account: SpotAccount;
  /** The next balance of the account. */
  next: Balance | null;
  owned: bigint;
  /** At the fees as they were after `heldAt` changes: `heldIn` returns what is held now. */
  held: bigint;
  readonly shared: SharedState;
  /** For USD: what buys may spend of it, by market; null before the first. */
  buys: ReservedByBuys<MarketSlot> | null;
  pending: bigint;
  settling: bigint;
  /** What undecided fills will bring, and confirmed ones until the balance that contains it arrives. */
  incoming: bigint;
  settlingIn: bigint;
  /** What actions will take that clearing has not answered, and how much of it leaves the sub-account. */
  setAside: bigint;
  leaving: bigint;
  /** The number of the last balance message that set `owned`. */
  messageNumber: number;
  /** The sum of its asset over all users; null for USD, and in an account of no margin type. */
  collateral: CollateralSum | null;
  /** How much of this balance is contained in the sum `collateral`. */
  summed: bigint;
}

/** State that all balances share. */
export interface SharedState {
  /** How often a taker fee has changed: a balance is summed again at its next read. */
  feeChanges: number;
  /** What restored orders hold and `held` does not contain yet. */
  readonly restored: RestoredSpending;
}

/** Stands for the count of fee changes: orders were restored since the balance was summed. */
export const NOT_SUMMED = -1;

/** What is set aside for live orders. A changed fee walks no orders: it costs each balance its markets, at its next read. */
export function heldIn(balance: Balance): bigint {
  const { heldAt, shared } = balance;
  if (heldAt === shared.feeChanges) return balance.held;
  if (heldAt === NOT_SUMMED) shared.restored.settle(balance);
  balance.heldAt = shared.feeChanges;
  if (balance.buys !== null) balance.held = reservedByBuys(balance.buys);
  return balance.held;
}

/** What can still be spent; negative after a restored hold found its money spent. */
export function availableIn(balance: Balance): Amount18 {
  // mutant: pending-available
  // mutant: set-aside-available
  return (balance.owned - heldIn(balance) - balance.pending - balance.settling - balance.setAside) as Amount18;
}

/** By how much orders and their undecided fills take more than is owned; what actions may take does not count. */
export function excessOf(balance: Balance): bigint {
  const { owned, pending, settling } = balance;
  return heldIn(balance) + pending + settling - owned;
}

/** What is owned once every fill on its way is booked, and every action that takes from the sub-account. */
export function optimisticOf(balance: Balance): bigint {
  const { owned, pending, settling, incoming, settlingIn, leaving } = balance;
  // mutant: set-aside-margin
  return owned - pending - settling + incoming + settlingIn - leaving;
}

/** A balance has changed: brings the sum of its asset over all users up to date. */
export function addToCollateral(balance: Balance): void {
  const { collateral, summed } = balance;
  if (collateral === null) return;
  // mutant: pending-collateral
  balance.summed = optimisticOf(balance) + balance.leaving;
  collateral.amount += balance.summed - summed;
}

export interface BalanceKey {
  readonly user: UserId;
  readonly subAccount: number;
  readonly asset: AssetId;
}

/** A balance as reads return it; available = owned − the others. */
export interface Funds {
  readonly owned: bigint;
  readonly held: bigint;
  readonly pending: bigint;
  readonly settling: bigint;
  readonly setAside: bigint;
  readonly available: bigint;
}

export const NO_FUNDS: Funds = { owned: 0n, held: 0n, pending: 0n, settling: 0n, setAside: 0n, available: 0n };

/** What a spot fill moves between two balances of its account. */
export interface SpotMove {
  readonly from: Balance;
  readonly debit: Amount18;
  readonly to: Balance;
  readonly credit: Amount18;
}

// What restored orders of one market may spend, summed by balance: a start adds up a million orders, most of them of
// balances with several in a market, and a balance is an object that is in no cache. So each order costs one sum in an
// array, and each balance is changed once for a market.
//
//   order ─▶ sum by number of the balance ──another market, its opening, or a read of the balance (heldOf)──▶ balance
//
// In markets where the fees of single orders are rounded (buy-holds.ts) each order counts by itself: none is summed.
//
// Invariant: a sum above 0 belongs to a balance in `#touched`, and to `#market`.
//
// Not here: what an order may spend (spending.ts), what a balance holds for it (`heldIn`).

const SUM_BYTES = 16;
const SUMS_MIN = 1_024;

export class RestoredSpending {
  #market: MarketSlot | null = null;
  #sums: Views = sumsFor(SUMS_MIN);
  #touched: Balance[] = [];

  /** @param spend above 0, of one more order. */
  add(balance: Balance, market: MarketSlot, spend: Amount18): void {
    if (market !== this.#market) this.settleAll();
    this.#market = market;
    if (roundsFees(market.definition)) {
      hold(balance, market, spend);
      return;
    }
    const at = balance.number * SUM_BYTES;
    if (at >= this.#sums.u8.length) this.#grow(balance.number + 1);
    const sum = readInt128(this.#sums, at);
    if (sum === 0n) this.#touched.push(balance);
    writeInt128(this.#sums, at, sum + spend);
  }

  /** The balance contains what was summed for it. */
  settle(balance: Balance): void {
    const at = balance.number * SUM_BYTES;
    if (this.#market === null || at >= this.#sums.u8.length) return;
    const sum = readInt128(this.#sums, at);
    if (sum === 0n) return;
    writeInt128(this.#sums, at, ZERO_18);
    hold(balance, this.#market, sum as Amount18);
  }

  settleAll(): void {
    for (const balance of this.#touched) this.settle(balance);
    this.#touched = [];
    this.#market = null;
  }

  /** Every order of a market was restored; others may follow. */
  close(): void {
    this.settleAll();
    this.#sums = sumsFor(SUMS_MIN);
  }

  #grow(balances: number): void {
    const { u8 } = this.#sums;
    this.#sums = sumsFor(Math.max(balances, (2 * u8.length) / SUM_BYTES));
    this.#sums.u8.set(u8);
  }
}

function sumsFor(balances: number): Views {
  return viewsOf(new ArrayBuffer(balances * SUM_BYTES), 0, balances * SUM_BYTES);
}

/** A sell holds what it may spend; what buys hold follows from all of a market, and from its fee. */
function hold(balance: Balance, market: MarketSlot, spend: Amount18): void {
  if (balance.asset !== USD) {
    balance.held += spend;
    return;
  }
  balance.buys ??= new Map();
  changeReservedBuys(balance.buys, market, ZERO_18, spend);
}
