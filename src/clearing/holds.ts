/**
 * What a live order holds (AMB-52, AMB-39, EX-27): a function of its row and its market. With the fee it is never stored:
 * a balance keeps what its orders may spend, by market, so a changed taker fee is in force for all of them at once.
 *
 *   kind          a buy holds USD                              a sell holds base
 *   limit         price × remaining, and the taker's fee       remaining
 *   market base   cap or budget left, and the taker's fee      remaining
 *   market quote  target left, and the taker's fee             base cap or budget, less what is sold
 *
 * and a buy what rounding the fee of each of its fills may cost (core/buy-holds.ts).
 *
 * `remaining` is of what is enabled: a child holds nothing for what its parent has not filled (AMB-29). Orders that wait
 * for their trigger, or for the word that they may go, reserve nothing (AMB-28).
 */
import { add18, notional18, powerOfTen, quantity18, subtract18, tradingFee18 } from '../core/arithmetic.ts';
import { assert } from '../core/assert.ts';
import { type BuyHolds, changeBuy, feeRounding, heldByBuys, noBuys } from '../core/buy-holds.ts';
import { USD } from '../core/ids.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { ORDER_FLAG, ORDER_KIND, SIDE, TRIGGER_STATE } from '../core/order-terms.ts';
import { type Amount18, type RawQuantity, ZERO_18 } from '../core/units.ts';
import type { OrderRow } from './rows.ts';
import type { BalanceSlot, MarketSlot } from './state.ts';

/** A quote integer, which has the scale of quantities, as USD (AMB-05). */
export function quote18(amount: number, market: MarketDefinition): Amount18 {
  return (BigInt(amount) * powerOfTen(18 - market.quantityDecimals)) as Amount18;
}

/** What a live order may spend of its balance, a buy's fee apart. Margin orders spend no spot. */
export function spendOf(row: OrderRow, market: MarketDefinition): Amount18 {
  if (row.triggerState !== TRIGGER_STATE.live || (row.flags & ORDER_FLAG.isSpot) === 0) return ZERO_18;
  if (row.side === SIDE.sell) return quantity18(lotsToSell(row), market.quantityDecimals);
  return usdToSpend(row, market);
}

/**
 * What a limit order may spend in units of its market, a buy's fee apart: lots, or price × lots. Beyond 2^53 it is not
 * exact, and never too small to show that.
 */
export function rawSpendOf(row: OrderRow): number {
  if (row.triggerState !== TRIGGER_STATE.live || (row.flags & ORDER_FLAG.isSpot) === 0) return 0;
  const lots = lotsToSell(row);
  return row.side === SIDE.sell ? lots : row.price * lots;
}

/** What a live order holds of the balance that it spends. */
export function holdOf(row: OrderRow, market: MarketDefinition): Amount18 {
  const spend = spendOf(row, market);
  return row.side === SIDE.sell ? spend : add18(spend, tradingFee18(spend, market.takerFeeRate));
}

/** An order may spend something else of its balance now. @param before what it could spend, 0 for a new one. */
export function changeSpend(balance: BalanceSlot, market: MarketSlot, before: Amount18, after: Amount18): void {
  if (before === after) return;
  if (balance.asset === USD) changeBuy(buysOf(balance, market), before, after);
  else balance.heldBySells = add18(subtract18(balance.heldBySells, before), after);
  assert(balance.heldBySells >= 0n, 'holds are never negative');
}

function buysOf(balance: BalanceSlot, market: MarketSlot): BuyHolds {
  balance.buys ??= new Map();
  let buys = balance.buys.get(market);
  if (buys === undefined) {
    buys = noBuys(market.definition);
    balance.buys.set(market, buys);
  }
  return buys;
}

/** What its live orders hold of a balance, at the fees in force. */
export function heldOf({ heldBySells, buys }: BalanceSlot): Amount18 {
  if (buys === null) return heldBySells;
  let held = ZERO_18;
  for (const [{ definition }, own] of buys) held = add18(held, heldByBuys(own, definition.takerFeeRate));
  return held;
}

/** What can leave the balance: owned without holds (TRF-04), and never below zero. */
export function availableOf(slot: BalanceSlot): Amount18 {
  const held = heldOf(slot);
  return held >= slot.owned ? ZERO_18 : subtract18(slot.owned, held);
}

/** Less what is confirmed; an order replaced below its fills needs nothing more. */
function lotsToSell(row: OrderRow): RawQuantity {
  const isBoundByTarget = row.kind === ORDER_KIND.marketQuote && row.quantity === 0;
  const lots = isBoundByTarget ? row.budget : row.enabledQuantity;
  return Math.max(0, lots - row.filledQuantity - row.droppedQuantity) as RawQuantity;
}

/**
 * Without fees. A released market buy that has neither cap nor budget is bound by what it finds only. One that is sized
 * in base spends nothing while all that its parent has activated is filled.
 */
function usdToSpend(row: OrderRow, market: MarketDefinition): Amount18 {
  const lots = row.enabledQuantity - row.filledQuantity - row.droppedQuantity;
  if (row.kind !== ORDER_KIND.marketQuote && lots <= 0) return ZERO_18;
  const left =
    row.kind === ORDER_KIND.limit
      ? notional18(row.price, lots as RawQuantity, market)
      : quote18(row.amount === 0 ? row.budget : row.amount, market) - row.filledNotional;
  const rounding = feeRounding(market, row.kind === ORDER_KIND.marketQuote ? null : lots);
  return (left <= 0n ? 0n : left + rounding) as Amount18;
}
