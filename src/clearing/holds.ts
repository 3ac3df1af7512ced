/**
 * What live orders hold of balances (AMB-52, AMB-39, EX-27): a function of an order's row and its market, by confirmed
 * figures. With the fee it is never stored: a balance keeps what its orders may spend, by market, so a changed taker fee is
 * in force for all of them at once.
 *
 * Not here: the rule (src/risk/reservation.ts).
 */
import { add18, subtract18 } from '../core/arithmetic.ts';
import { assert } from '../core/assert.ts';
import { USD } from '../core/ids.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { ORDER_FLAG, TRIGGER_STATE } from '../core/order-terms.ts';
import { type Amount18, ZERO_18 } from '../core/units.ts';
import { changeReservedBuys, reservationOf, reservedByBuys, spendLeft } from '../risk/reservation.ts';
import type { OrderRow } from './rows.ts';
import type { BalanceSlot, ClearingMarket } from './state.ts';

/** Orders that wait for their trigger, or for their release, reserve nothing (AMB-28); margin orders spend no spot. */
function spends({ triggerState, flags }: OrderRow): boolean {
  return triggerState === TRIGGER_STATE.live && (flags & ORDER_FLAG.isSpot) !== 0;
}

/** What a live order may spend of its balance, a buy's fee apart. */
export function spendOf(row: OrderRow, market: MarketDefinition): Amount18 {
  return spends(row) ? spendLeft(row, row.enabledQuantity - row.droppedQuantity, market) : ZERO_18;
}

/** What a live order holds of the balance that it spends. */
export function holdOf(row: OrderRow, market: MarketDefinition): Amount18 {
  return reservationOf(row.side, spendOf(row, market), market.takerFeeRate);
}

/** An order may spend something else of its balance now. @param before what it could spend, 0 for a new one. */
export function changeSpend(balance: BalanceSlot, market: ClearingMarket, before: Amount18, after: Amount18): void {
  if (before === after) return;
  if (balance.asset === USD) {
    balance.buys ??= new Map();
    changeReservedBuys(balance.buys, market, before, after);
  } else balance.heldBySells = add18(subtract18(balance.heldBySells, before), after);
  assert(balance.heldBySells >= 0n, 'holds are never negative');
  if (balance.lots !== null) balance.lots.balanceChanged();
}

/** What its live orders hold of a balance, at the fees in force. */
export function heldOf({ heldBySells, buys }: BalanceSlot): Amount18 {
  return buys === null ? heldBySells : reservedByBuys(buys);
}

/** What can leave the balance: owned without holds (TRF-04), and never below zero. */
export function availableOf(slot: BalanceSlot): Amount18 {
  const held = heldOf(slot);
  return held >= slot.owned ? ZERO_18 : subtract18(slot.owned, held);
}
