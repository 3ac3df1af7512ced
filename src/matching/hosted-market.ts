/**
 * One market on its shard: the engine, its output, and its inputs from the node: the time of each call, the limits of
 * its price collar, and polls for work of its own (fired triggers).
 */

import type { ProtectionRow } from '../clearing/rows.ts';
import { assert } from '../core/assert.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { SIDE } from '../core/order-terms.ts';
import { type CollarBounds, collarBounds, MARK_AGE_NS_MAX, NO_COLLAR } from '../core/price-collar.ts';
import { MILLISECOND_NS, type TimestampNs } from '../core/units.ts';
import type { RestoredPosition, RollbackCommand } from './commands.ts';
import { MarketEngine } from './market-engine.ts';
import { type MarketOutlets, MarketOutput } from './market-output.ts';
import type { ProtectionTerms } from './protection.ts';

/** Triggers and releases processed per poll, so that commands are not delayed. */
const POLL_BUDGET = 64;
/** Steps of uncrossing per poll: about 100 µs (uncross.ts). */
const UNCROSS_BUDGET = 256;

interface MarketBeginning {
  /** The oracle price with 18 decimals; null before the first. */
  readonly oraclePrice: bigint | null;
  readonly hashSeed: bigint;
}

export class HostedMarket {
  readonly engine: MarketEngine;
  readonly output: MarketOutput;
  /** One unit of the engine's money scale, with 18 decimals. */
  readonly moneyUnit: bigint;
  /** Whether it is restored and accepts commands. */
  isOpen = false;
  #oraclePrice: bigint | null;
  #collar: CollarBounds = NO_COLLAR;

  constructor(definition: MarketDefinition, to: MarketOutlets, begin: MarketBeginning) {
    const { oraclePrice, hashSeed } = begin;
    this.output = new MarketOutput(definition, to);
    this.moneyUnit = 10n ** BigInt(18 - definition.priceDecimals - definition.quantityDecimals);
    this.engine = new MarketEngine({ events: this.output, priceDecimals: definition.priceDecimals, hashSeed });
    this.#oraclePrice = oraclePrice;
    this.engine.setMarket(definition);
  }

  define(definition: MarketDefinition, nowNs: TimestampNs): void {
    this.output.definition = definition;
    this.engine.setMarket(definition);
    this.#moveCollar(nowNs);
  }

  /** @param price with 18 decimals. */
  setOraclePrice(price: bigint, nowNs: TimestampNs): void {
    this.#oraclePrice = price;
    this.#moveCollar(nowNs);
  }

  /** Clearing has decided every trade up to this one. */
  decided(throughTradeId: number, nowNs: TimestampNs): void {
    this.output.setTimeNs(nowNs);
    this.output.confirmed.decidedThrough(throughTradeId);
    this.engine.settled(throughTradeId);
    this.#moveCollar(nowNs);
  }

  rollBack(command: RollbackCommand): void {
    this.output.setTimeNs(command.receivedNs);
    this.output.confirmed.rolledBack(command.tradeId);
    this.engine.rollback(command);
  }

  /** A group was defined, changed, reset or removed; before the market is open, it is restored (MMP-04). */
  setProtection(row: ProtectionRow): void {
    const words = new Int32Array(new Uint8Array(Buffer.from(row.user, 'hex')).buffer);
    const name = { words, userAt: 0, slot: row.slot };
    const terms = termsOf(row, this.output.definition);
    const { trip, endedTrip, frozenUntilNs: untilNs, isGone } = row;
    if (!this.isOpen)
      this.engine.restoreProtection({ ...name, terms, freeze: trip > endedTrip ? { untilNs, trip } : null });
    else this.engine.setProtection({ ...name, terms: isGone ? null : terms, resetTrip: endedTrip });
  }

  /** Gives the next trade ids to clearing (ADL). */
  reserveTradeIds(count: number, nowNs: TimestampNs): void {
    this.output.setTimeNs(nowNs);
    this.engine.reserveTradeIds(count);
  }

  /** Uncrosses a part after rollbacks. @returns whether steps remain. */
  uncross(nowNs: TimestampNs): boolean {
    this.output.setTimeNs(nowNs);
    return this.engine.uncross(UNCROSS_BUDGET);
  }

  finishRestore(position: RestoredPosition): void {
    this.output.setTimeNs(position.nowNs);
    this.output.confirmed.startAfter(position.lastTradeId);
    this.output.lastSequence = position.sequence;
    this.#moveCollar(position.nowNs);
    this.engine.finishRestore(position);
    this.isOpen = true;
  }

  /** Work due by time, including the age of the mark. */
  tick(nowNs: TimestampNs): void {
    this.output.setTimeNs(nowNs);
    this.engine.tick(nowNs);
    this.#moveCollar(nowNs);
  }

  /** The time of the next `tick` that may change anything: an expiry, or the mark becomes too old. */
  nextTickNs(nowNs: TimestampNs): bigint {
    const { definition, confirmed } = this.output;
    const { dueNs } = this.engine;
    if (definition.priceCollar === null || confirmed.price === 0) return dueNs;
    const staleNs = confirmed.matchedNs + MARK_AGE_NS_MAX + 1n;
    return staleNs > nowNs && staleNs < dueNs ? staleNs : dueNs;
  }

  /** Publishes fired triggers and places released orders. @returns whether more of them wait. */
  poll(nowNs: TimestampNs): boolean {
    this.output.setTimeNs(nowNs);
    return this.engine.poll(nowNs, POLL_BUDGET);
  }

  /** Called at the end of every batch (market-engine.ts, `checkBatch`). @throws InvariantError */
  check(): void {
    assert(this.output.lastSequence === this.engine.sequence, 'every number that a market gave out was published');
    this.engine.checkBatch(this.output.published);
  }

  /** Sends the whole book to market data. */
  sendBook(): void {
    const { engine, output } = this;
    output.depth.startReset(engine.sequence);
    for (const side of [SIDE.buy, SIDE.sell]) {
      engine.forEachLevel(side, (price, quantity) => output.levelChanged(side, price, quantity));
    }
    output.depthCommitted();
  }

  #moveCollar(nowNs: TimestampNs): void {
    const { definition, confirmed } = this.output;
    if (definition.priceCollar === null && this.#collar === NO_COLLAR) return;
    const bounds = collarBounds(definition, { trade: confirmed, oracle: this.#oraclePrice }, nowNs);
    const { lowest, highest } = this.#collar;
    if (bounds.lowest === lowest && bounds.highest === highest) return;
    this.#collar = bounds;
    this.engine.setCollar(bounds.lowest, bounds.highest);
  }
}

/** The limits in nanoseconds, lots and price × lots; an amount is reached with the first unit at or above it. */
function termsOf(row: ProtectionRow, { priceDecimals, quantityDecimals }: MarketDefinition): ProtectionTerms {
  const lot = 10n ** BigInt(18 - quantityDecimals);
  const unit = 10n ** BigInt(18 - priceDecimals - quantityDecimals);
  const up = (amount: bigint, size: bigint): bigint => (amount + size - 1n) / size;
  return {
    windowNs: BigInt(row.windowMs) * MILLISECOND_NS,
    frozenNs: BigInt(row.frozenMs) * MILLISECOND_NS,
    maxFills: row.maxFills,
    maxLots: row.maxQuantity === null ? null : up(row.maxQuantity, lot),
    maxMoney: row.maxNotional === null ? null : up(row.maxNotional, unit),
    minMoney: up(row.minFillNotional, unit),
  };
}
