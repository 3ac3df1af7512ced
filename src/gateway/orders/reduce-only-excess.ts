/**
 * Cancels of resting reduce-only orders that are larger than their position, where the operator has set it (setting
 * `reduce_only_excess_cancel`, AMB-27): each is depth with a fill that clearing would undo, at the cost of its taker.
 *
 *   position event ────────────────────▶ its orders
 *   turn ─▶ positions, in rounds ─▶ those of which something has moved since ─▶ their orders
 *
 * The rounds find what a position event does not show: an order that was in flight, a fill that was rolled back, a
 * setting just turned on, a ring that was full, more orders than one walk cancels. Dormant orders rest nowhere and
 * are left alone.
 */
import { SIDE } from '../../core/order-terms.ts';
import { offsetLots } from '../../risk/exposure.ts';
import { filledOf, type LiveOrder } from './live-order.ts';
import type { LiveOrders } from './live-orders.ts';
import { optimisticBase, type Position } from './margin-account.ts';
import type { MarginAccounts } from './margin-accounts.ts';
import { isReducible } from './reduction-plan.ts';

/** Positions that one turn passes, those of them with a walk of their orders, and orders that one walk cancels. */
const PASSED_MAX = 256;
const WALKED_MAX = 4;
const TAKEN_OFF_MAX = 1_024;

/** Cancels an order; false: the ring is full, nothing was done. */
export type CancelReduceOnly = (order: LiveOrder) => boolean;

export class ReduceOnlyExcess {
  readonly #orders: LiveOrders;
  readonly #margins: MarginAccounts;
  readonly #cancel: CancelReduceOnly;
  /** How often a position's account had moved when all its orders were found to fit. */
  readonly #seen = new Map<Position, number>();
  /** A walk has taken off as many as it may, and there are more. */
  #isCut = false;
  #round: Iterator<Position> = [].values();

  constructor(orders: LiveOrders, margins: MarginAccounts, cancel: CancelReduceOnly) {
    this.#orders = orders;
    this.#margins = margins;
    this.#cancel = cancel;
  }

  /** @returns whether positions are left with orders to take off: the next turn should not wait. */
  look(): boolean {
    this.#isCut = false;
    const positions = this.#margins.withReduceOnly;
    const most = Math.min(PASSED_MAX, positions.size);
    let walked = 0;
    for (let passed = 0; passed < most && walked < WALKED_MAX; passed += 1) {
      const position = this.#next();
      if (position === null) break;
      if (position.reduceOnly === null || position.reduceOnly.live.size === 0) {
        positions.delete(position);
        this.#seen.delete(position);
      } else if (this.#seen.get(position) !== position.account.moves) {
        walked += 1;
        this.lookAt(position);
      }
    }
    return this.#isCut;
  }

  /** Booked and optimistic position, the larger one: what a fill on its way may still undo is not gone. */
  lookAt(position: Position): void {
    const { base, market, reduceOnly, account } = position;
    if (market === null || reduceOnly === null) return;
    const { quantityDecimals } = market.definition;
    const { moves } = account;
    const reducible = [SIDE.buy, SIDE.sell].map((side) => {
      const booked = offsetLots(side, base, quantityDecimals);
      return Math.max(booked, offsetLots(side, optimisticBase(position), quantityDecimals));
    });
    let [taken, isDone] = [0, true];
    for (const index of reduceOnly.live) {
      const order = this.#orders.at(index);
      const left = order.quantity - filledOf(order);
      if (order.releasedQuantity === 0 || left <= (reducible[order.side] ?? 0) || !isReducible(order)) continue;
      if (taken === TAKEN_OFF_MAX) {
        this.#isCut = true;
        return;
      }
      taken += 1;
      if (!this.#cancel(order)) isDone = false;
    }
    if (isDone) this.#seen.set(position, moves);
  }

  #next(): Position | null {
    const next = this.#round.next();
    if (next.done !== true) return next.value;
    this.#round = this.#margins.withReduceOnly.values();
    const first = this.#round.next();
    return first.done === true ? null : first.value;
  }
}
