/**
 * A market's price collar (AMB-39): the raw prices at which fills may happen, from the mark and the market's fraction.
 *
 * The mark is the last confirmed trade while it is recent, else the oracle's price; without either there is no collar
 * (AMB-43). Limits are rounded inwards, so every permitted price is within the fraction.
 */
import type { MarketDefinition } from './market-definition.ts';
import { ONE_18 } from './units.ts';

/** An older trade is not used as mark (CB-02). */
export const MARK_AGE_NS_MAX = 60_000_000_000n;

const PRICE_MAX = Number.MAX_SAFE_INTEGER;

export interface CollarBounds {
  readonly lowest: number;
  readonly highest: number;
}

/** Every valid price. */
export const NO_COLLAR: CollarBounds = { lowest: 1, highest: PRICE_MAX };

interface MarkSources {
  /** Raw price of the last confirmed trade and when it was matched; price 0: none. */
  readonly trade: { readonly price: number; readonly matchedNs: bigint };
  /** 18 decimals, or null while there is none. */
  readonly oracle: bigint | null;
}

/** The mark in 10^-18 of a raw price unit, or null. */
function markOf(definition: MarketDefinition, { trade, oracle }: MarkSources, nowNs: bigint): bigint | null {
  if (trade.price > 0 && nowNs - trade.matchedNs <= MARK_AGE_NS_MAX) return BigInt(trade.price) * ONE_18;
  return oracle === null ? null : oracle * 10n ** BigInt(definition.priceDecimals);
}

export function collarBounds(definition: MarketDefinition, sources: MarkSources, nowNs: bigint): CollarBounds {
  const fraction = definition.priceCollar;
  const mark = fraction === null ? null : markOf(definition, sources, nowNs);
  if (fraction === null || mark === null) return NO_COLLAR;
  const unit = ONE_18 * ONE_18;
  const floor = fraction >= ONE_18 ? 0n : mark * (ONE_18 - fraction);
  const ceiling = mark * (ONE_18 + fraction);
  const lowest = (floor + unit - 1n) / unit;
  return {
    lowest: Math.max(1, bounded(lowest)),
    highest: bounded(ceiling / unit),
  };
}

function bounded(price: bigint): number {
  return price > BigInt(PRICE_MAX) ? PRICE_MAX : Number(price);
}
