/**
 * Computes the lots that an order with money limits, or an all-or-nothing order, would get (TIF-04, TIF-05, AMB-37,
 * AMB-39).
 *
 * Visits the makers like matching, without changes. At each price the order takes the offered lots, limited by its
 * quantity, its money and its budget. Money is exact: price × quantity, in units of 10^-(price decimals + quantity
 * decimals).
 *
 *   ends because                                          complete?
 *   its quantity or base cap is reached                   yes
 *   its target or quote cap buys less than one lot more   yes
 *   its budget is exhausted                               no
 *   no more is offered within its price limit             only if the target is met exactly
 */
import { RAW_MAX } from '../core/limits.ts';
import { SIDE, type Side } from '../core/order-terms.ts';
import { NONE } from '../core/pools.ts';
import type { Book } from './book.ts';
import { MARK } from './order-records.ts';

interface Bounds {
  /** The worst price. */
  readonly price: number;
  /** Base lots wanted. */
  readonly lots: number;
  /** Money amount that completes the order, or null. */
  readonly target: bigint | null;
  /** Money of a buy or base lots of a sell; exhausting it does not complete the order. Null for none. */
  readonly budget: bigint | null;
}

export interface Size {
  readonly lots: number;
  readonly isComplete: boolean;
  /** The cost or proceeds. */
  readonly money: bigint;
}

/** The size that the order would get now. An order without any fill, now or before, is not complete (AMB-128). */
export function sizeOf(book: Book, index: number, bounds: Bounds): Size {
  const side = book.orders.sideOf(index);
  const makers = book.otherSide(side);
  const hadLots = book.orders.filledOf(index) > 0;
  if (book.protection.hasMembers) book.protection.beginScan();
  let lots = 0;
  let money = 0n;
  for (
    let level = makers.bestLevel;
    level !== NONE && makers.isWithin(level, bounds.price);
    level = makers.worse(level)
  ) {
    const offered = offeredAt(book, level, index);
    if (offered === 0) continue;
    const price = BigInt(makers.levelPrice(level));
    const payable = bounds.target === null ? RAW_MAX : lotsFor(bounds.target - money, price);
    if (payable === 0) return { lots, isComplete: hadLots || lots > 0, money };
    const wanted = bounds.lots - lots;
    const taken = Math.min(offered, wanted, payable, allowance(bounds, side, { lots, money, price }));
    lots += taken;
    money += price * BigInt(taken);
    if (taken === wanted || money === bounds.target) return { lots, isComplete: true, money };
    if (taken < offered) return { lots, isComplete: taken === payable && (hadLots || lots > 0), money };
  }
  return { lots, isComplete: false, money };
}

/**
 * Lots at a level that the order could match; with self-trade prevention those of other owners (AMB-37). Not those that
 * protection takes off the book during the match, so levels are visited in the order in which they are matched (MMP-03).
 */
function offeredAt(book: Book, level: number, index: number): number {
  const { orders, protection } = book;
  const makers = book.otherSide(orders.sideOf(index));
  if (!book.preventsSelfTrades && !protection.hasMembers) return makers.levelQuantity(level);
  const price = makers.levelPrice(level);
  let lots = 0;
  for (let maker = makers.levelHead(level); maker !== NONE; maker = makers.behind(level, maker)) {
    // mutant: fill-or-kill-own-orders
    if (book.preventsSelfTrades && book.isSameOwner(maker, index)) continue;
    const left = orders.remaining(maker);
    const isMember = orders.hasMark(maker, MARK.isMember);
    if (!isMember || protection.meets(maker, orders.userOf(index), left, price)) lots += left;
  }
  return lots;
}

/** Lots that the remaining budget permits at this price. */
function allowance(bounds: Bounds, side: Side, got: { lots: number; money: bigint; price: bigint }): number {
  if (bounds.budget === null) return RAW_MAX;
  return side === SIDE.buy ? lotsFor(bounds.budget - got.money, got.price) : lotsFor(bounds.budget, 1n) - got.lots;
}

function lotsFor(money: bigint, price: bigint): number {
  const lots = money / price;
  return lots > BigInt(RAW_MAX) ? RAW_MAX : Number(lots);
}
