/**
 * The figures of a signed order as the book keeps them, and the rules about them that need the market (wire.md 4.3,
 * 7.4, AMB-05, AMB-42): tick and minimum of a limit order, minimum and caps of a market order.
 *
 *   kind           price   quantity         amount
 *   limit          limit   quantity         0
 *   market, base   0       quantity         quote cap of a buy, or 0
 *   market, quote  0       base cap, or 0   quote target
 *
 * Not here: decimals, times, fees (pre-flight.ts); raw bounds (wire).
 */

import type { OrderDetails, TriggerCondition } from '../../../codec/order-details.ts';
import { notional18 } from '../../../core/arithmetic.ts';
import { format18 } from '../../../core/decimal.ts';
import { AMOUNT18_MAX } from '../../../core/limits.ts';
import type { MarketDefinition } from '../../../core/market-definition.ts';
import {
  ORDER_KIND,
  type OrderKind,
  SIDE,
  type Side,
  TIF,
  type Tif,
  TRIGGER,
  type TriggerKind,
} from '../../../core/order-terms.ts';
import { type Reject, reject } from '../../../core/reject.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../../../core/units.ts';

export interface OrderFigures {
  readonly kind: OrderKind;
  readonly tif: Tif;
  readonly postOnly: boolean;
  /** 0n unless GTD. */
  readonly goodUntilNs: TimestampNs;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly amount: number;
}

const NO_TIME = 0n as TimestampNs;
const NO_PRICE = 0 as RawPrice;

export function figuresOf(details: OrderDetails): OrderFigures {
  if (details.kind === 'limit') {
    const { tif, postOnly, limitPrice, quantity } = details;
    const goodUntilNs = details.goodUntilNs ?? NO_TIME;
    return { kind: ORDER_KIND.limit, tif, postOnly, goodUntilNs, price: limitPrice, quantity, amount: 0 };
  }
  const tif = details.fillOrKill ? TIF.fok : TIF.ioc;
  const common = { tif, postOnly: false, goodUntilNs: NO_TIME, price: NO_PRICE };
  if (details.kind === 'market-base') {
    const { quantity, maxSellableAmount } = details;
    return { ...common, kind: ORDER_KIND.marketBase, quantity, amount: maxSellableAmount ?? 0 };
  }
  const quantity = details.maxSellableQuantity ?? (0 as RawQuantity);
  return { ...common, kind: ORDER_KIND.marketQuote, quantity, amount: details.amount };
}

/**
 * @param isClosing the order closes a whole position: no minimum binds it.
 * @returns INVALID_ORDER with the member at fault, or null.
 */
export function figuresFault(
  figures: OrderFigures,
  side: Side,
  definition: MarketDefinition,
  isClosing: boolean,
): Reject | null {
  const { kind, price, quantity, amount } = figures;
  switch (kind) {
    case ORDER_KIND.limit:
      if (price % definition.tickSize !== 0) return invalid('limit_price', 'off the tick');
      if (notional18(price, quantity, definition) > AMOUNT18_MAX) {
        return invalid('quantity', 'more money than there can be');
      }
      return isClosing ? null : (belowMinimum(quantity, definition) ?? notionalFault(price, quantity, definition));
    case ORDER_KIND.marketBase:
      if (amount !== 0 && side !== SIDE.buy) return invalid('max_sellable_amount', 'a quote cap is for a buy');
      return isClosing ? null : belowMinimum(quantity, definition);
    case ORDER_KIND.marketQuote:
      return quantity !== 0 && side !== SIDE.sell ? invalid('max_sellable_quantity', 'a base cap is for a sell') : null;
  }
}

function belowMinimum(quantity: number, definition: MarketDefinition): Reject | null {
  return quantity < definition.minimumQuantity ? invalid('quantity', 'below the minimum') : null;
}

function notionalFault(price: RawPrice, quantity: RawQuantity, definition: MarketDefinition): Reject | null {
  const fault = belowNotional(price, quantity, definition);
  return fault === null ? null : invalid('quantity', fault);
}

/**
 * What may rest is worth the minimum at its price (AMB-124); market orders never rest and may be of any size (ORD-14).
 *
 * @returns why it is not, or null.
 */
export function belowNotional(price: RawPrice, quantity: RawQuantity, definition: MarketDefinition): string | null {
  return notional18(price, quantity, definition) < definition.minimumNotional ? notionalText(definition) : null;
}

function notionalText({ minimumNotional }: MarketDefinition): string {
  return `worth less than the market's minimum of ${format18(minimumNotional)} USD`;
}

function invalid(field: string, message: string): Reject {
  return reject('INVALID_ORDER', message, field);
}

export function triggerKindOf(condition: TriggerCondition): TriggerKind {
  return condition.direction === 'PriceAbove' ? TRIGGER.above : TRIGGER.below;
}
