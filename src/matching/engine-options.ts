/** What an engine is made with: its listener, what never changes about its market, and its bounds. */
import type { MarketEvents } from './commands.ts';

export interface MarketEngineOptions {
  readonly events: MarketEvents;
  /** Of the market; they never change. */
  readonly priceDecimals: number;
  /** 64 bits that nobody outside knows: the key of the hash tables. No event depends on it. */
  readonly hashSeed?: bigint;
  readonly heldCancelNs?: bigint;
  readonly heldCancelsPerUserMax?: number;
  readonly rememberedIdsPerUserMax?: number;
  readonly rememberedIdsMax?: number;
  readonly expiredPerTurn?: number;
  /** Orders that live or have undecided fills; ORDERS_MAX if left out. */
  readonly ordersMax?: number;
  /** Slots that every pool starts with, a power of two; pools double when they are full. */
  readonly firstCapacity?: number;
}
