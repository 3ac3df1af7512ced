/** Constructor options of a market engine: its event listener, the market's constants, and limits. */
import type { MarketEvents } from './commands.ts';

export interface MarketEngineOptions {
  readonly events: MarketEvents;
  /** Price decimals of the market; constant. */
  readonly priceDecimals: number;
  /** A secret 64-bit key of the hash tables. No event depends on it. */
  readonly hashSeed?: bigint;
  readonly heldCancelNs?: bigint;
  readonly heldCancelsPerUserMax?: number;
  readonly rememberedIdsPerUserMax?: number;
  readonly rememberedIdsMax?: number;
  readonly expiredPerTurn?: number;
  /** Maximum number of live orders and orders with undecided fills; ORDERS_MAX by default. */
  readonly ordersMax?: number;
  /** Initial number of entries of every pool, a power of two; full pools double. */
  readonly firstCapacity?: number;
}
