/**
 * What restored orders of one market may spend, summed by balance: a start adds up a million orders, most of them of
 * balances with several in a market, and a balance is an object that is in no cache. So each order costs one sum in an array,
 * and each balance is changed once for a market.
 *
 *   order ─▶ sum by number of the balance ──another market, its opening, or a read of the balance (heldOf)──▶ balance
 *
 * In markets where the fees of single orders are rounded (buy-holds.ts) each order counts by itself: none is summed.
 *
 * Invariant: a sum above 0 belongs to a balance in `#touched`, and to `#market`.
 *
 * Not here: what an order may spend (spending.ts), what a balance holds for it (holds.ts).
 */
import { USD } from '../../../core/ids.ts';
import { type Amount18, ZERO_18 } from '../../../core/units.ts';
import { type Views, viewsOf } from '../../../core/views.ts';
import { roundsFees } from '../../../risk/buy-holds.ts';
import { changeReservedBuys } from '../../../risk/reservation.ts';
import { readInt128, writeInt128 } from '../../../schema/int128.ts';
import type { MarketSlot } from '../book/markets.ts';
import type { Balance } from './holds.ts';

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
