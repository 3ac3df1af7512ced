/**
 * What orders hold after a replay, recounted without a walk through all of them: what was loaded was summed up from its
 * rows, so only orders that the replay may have changed, or has created, are counted anew.
 *
 *   loaded, all orders ──less the late ones as they were──▶ the others ──and the late ones as they are──▶ what balances say
 *
 * Not here: everything but orders (checkSums of checks.ts).
 */
import { assert } from '../core/assert.ts';
import { allBalances } from './balances.ts';
import { checkOrder } from './checks.ts';
import { spendOf } from './holds.ts';
import type { LateOrders } from './late-orders.ts';
import { SpentBalances } from './spent-balances.ts';
import type { BalanceSlot, BookExposure, ClearingState, OrderSlot } from './state.ts';

export class ReplayChecks {
  readonly #state: ClearingState;
  readonly #late: LateOrders;
  /** What live orders may spend, fees apart: 0 of those that are not here. */
  readonly #spends = new Map<BalanceSlot, bigint>();

  /** Before the replay. @param state as it was loaded. */
  constructor(state: ClearingState, late: LateOrders) {
    this.#state = state;
    this.#late = late;
    for (const balance of allBalances(state)) {
      const spends = spendsOf(balance);
      if (spends !== 0n) this.#spends.set(balance, spends);
    }
    this.#add(-1n);
  }

  /** After it, once. @throws InvariantError at the first thing that does not agree. */
  check(): void {
    this.#add(1n);
    for (const balance of allBalances(this.#state)) {
      assert(spendsOf(balance) === (this.#spends.get(balance) ?? 0n), 'a balance is held by its live orders');
    }
    this.#checkOrders();
  }

  /** All late orders, as they are now. */
  #add(sign: 1n | -1n): void {
    const spender = new SpentBalances(this.#state);
    for (const market of this.#state.markets) {
      for (const row of this.#late.of(market)) {
        const spend = spendOf(row, market.definition);
        if (spend === 0n) continue;
        const balance = spender.of(market, market.orders.userOf(row), row);
        this.#spends.set(balance, (this.#spends.get(balance) ?? 0n) + sign * spend);
      }
    }
  }

  /** Each as it is found, and all books of the margin accounts whose orders they are. */
  #checkOrders(): void {
    const books = new Set<BookExposure>();
    for (const market of this.#state.markets) {
      for (const look of this.#late.of(market)) {
        const slot = market.orders.slotOf(look.orderSequence);
        checkOrder(market, slot, slot === null ? look : slot.row);
        for (const book of booksOf(slot)) books.add(book);
      }
    }
    for (const { market, queue } of books) {
      const [first] = queue.entries();
      if (first !== undefined) checkOrder(market, first.owner, first.owner.row);
    }
  }
}

function spendsOf({ heldBySells, buys }: BalanceSlot): bigint {
  let spends: bigint = heldBySells;
  if (buys !== null) for (const { notional } of buys.values()) spends += notional;
  return spends;
}

function* booksOf(slot: OrderSlot | null): Generator<BookExposure> {
  if (slot !== null) for (const side of slot.account.exposures) yield* side.values();
}
