/**
 * Resting reduce-only orders that together are more than their position, which has shrunk: they are cut or cancelled by the
 * node, youngest first by their admission (MON-09). Each lot beyond the position would be depth with a fill that clearing
 * undoes, at the cost of its taker.
 *
 *   position moved, order changed, answer arrived ─▶ to check ─turn─▶ more lots than the position? ─▶ cuts, cancels ─▶ market
 *                                                       ▲                                                        │
 *                                                       └──────────── a full ring, more than one turn cuts ◀─────┘
 *
 * The position counts as clearing has booked it, with what is undecided: all fills of orders that took, which the account sent in
 * this moment, and those fills of resting orders that make it larger. What a resting order may have closed is not gone before it is
 * confirmed.
 *
 * Invariant: with nothing on its way, the lots of a side that rest are at most the position.
 *
 * Not here: the room of one order that comes, is replaced or is released (margin-check.ts, src/matching/room.ts).
 */
import { ORDER_FLAG, SIDE, type Side } from '../../../core/order-terms.ts';
import { offsetLots } from '../../../risk/exposure.ts';
import { isOver, lotsWith } from '../balances/spending.ts';
import { filledOf, type LiveOrder } from '../book/live-order.ts';
import type { LiveOrders } from '../book/live-orders.ts';
import type { Position } from './margin-account.ts';
import type { MarginAccounts } from './margin-accounts.ts';

/** Positions that one turn passes, those of them with a walk of their orders, and orders that one walk cuts. */
const PASSED_MAX = 1_024;
const WALKED_MAX = 64;
const CUT_MAX = 1_024;

/** A cut of an order to this total, filled part included; 0: it is cancelled. */
export interface Cut {
  readonly order: LiveOrder;
  readonly total: number;
}

/** Sends a cut to the market; false: the ring is full, nothing was done. */
export type SendCut = (cut: Cut) => boolean;

/** How the check of a position ended: there is nothing beyond it; cuts are on their way; more must be sent; a ring was full. */
type Checked = 'quiet' | 'cutting' | 'more' | 'full';

export class ReduceOnlyExcess {
  readonly #orders: LiveOrders;
  readonly #margins: MarginAccounts;
  readonly #send: SendCut;
  /** Orders with a cut that their market has not answered, by index. */
  readonly #cutting = new Set<number>();

  constructor(orders: LiveOrders, margins: MarginAccounts, send: SendCut) {
    this.#orders = orders;
    this.#margins = margins;
    this.#send = send;
  }

  /** @returns whether positions are left to check: the next turn should not wait for something to happen. */
  look(): boolean {
    const toCheck = this.#margins.reduceOnlyToCheck;
    if (toCheck.size === 0) return false;
    let [passed, walked] = [0, 0];
    const again: Position[] = [];
    let isMore = false;
    for (const position of toCheck) {
      if (passed === PASSED_MAX || walked === WALKED_MAX) {
        isMore = true;
        break;
      }
      passed += 1;
      toCheck.delete(position);
      const checked = this.#check(position);
      if (checked !== 'quiet') walked += 1;
      if (checked === 'more') isMore = true;
      if (checked === 'more' || checked === 'full') again.push(position);
    }
    for (const position of again) toCheck.add(position);
    return isMore;
  }

  /** The market has answered a reduction or a cancel of the node. */
  answered({ index, exposure }: LiveOrder): void {
    if (!this.#cutting.delete(index) || exposure === null) return;
    exposure.position.account.reduceOnlyChanged(exposure.position);
  }

  #check(position: Position): Checked {
    const { market, reduceOnly } = position;
    if (market === null || reduceOnly === null) return 'quiet';
    const sides = [SIDE.buy, SIDE.sell].map((side) => this.#checkSide(position, side, reduceOnly.resting[side]));
    for (const checked of ['full', 'more', 'cutting'] as const) if (sides.includes(checked)) return checked;
    // What an earlier trade has undone of the position is made good: later fills beyond it are the user's.
    if (position.forcedThrough === Number.POSITIVE_INFINITY) position.forcedThrough = market.lastTradeId;
    return 'quiet';
  }

  #checkSide(position: Position, side: Side, queue: Position['buys']): Checked {
    let left = reducibleLots(position, side);
    if (queue.lots <= BigInt(left)) return 'quiet';
    let [cuts, checked]: [number, Checked] = [0, 'quiet'];
    for (const { owner } of queue.entries()) {
      const order = this.#orders.at(owner);
      const lots = restingLots(order);
      const kept = Math.min(lots, left);
      left -= kept;
      if (kept === lots) continue;
      if (this.#cutting.has(owner)) checked = 'cutting';
      if (!this.#mayCut(order)) continue;
      checked = 'cutting';
      if (cuts === CUT_MAX) return 'more';
      cuts += 1;
      // mutant: reduce-only-excess
      if (!this.#send({ order, total: kept === 0 ? 0 : order.quantity - (lots - kept) })) return 'full';
      this.#cutting.add(order.index);
    }
    return checked;
  }

  /** It rests, and no cut of it is on its way; one that is changed by its user meanwhile is not larger afterwards. */
  #mayCut(order: LiveOrder): boolean {
    const isUsers = (order.flags & ORDER_FLAG.nodeMade) === 0;
    return isUsers && order.sequence !== 0 && !isOver(order) && !this.#cutting.has(order.index);
  }
}

/** Lots in force that have not matched, without replaces that are on their way. */
function restingLots(order: LiveOrder): number {
  if (isOver(order) || order.releasedQuantity === 0) return 0;
  return Math.max(0, lotsWith(order, order, order) - filledOf(order));
}

/** Lots by which orders of the side may rest. */
function reducibleLots({ market, base, settling, pending, restingFills }: Position, side: Side): number {
  if (market === null) return 0;
  const { bought, sold } = restingFills;
  // Without the fills of resting orders, and with those of them that make the position of this side larger.
  const taken = pending.base - bought + sold;
  const grown = side === SIDE.sell ? bought : -sold;
  return offsetLots(side, base + settling.base + taken + grown, market.definition.quantityDecimals);
}
