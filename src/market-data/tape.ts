/**
 * The newest public trades: a ring per market, and pages over one ring or over all of them (PTR-01, PTR-02, AMB-101).
 *
 * Newest first by match time, then by trade id; across markets ties go by asset (AMB-35), which the caller expresses
 * by the order of the tapes.
 */
import { rowsBefore } from '../core/arithmetic.ts';
import { assert, must } from '../core/assert.ts';
import { TAPE_TRADES_MAX } from '../core/limits.ts';
import type { TradeFigures } from '../core/market-figures.ts';

export class Tape {
  #capacity: number;
  /** Oldest first, starting at #first once full. */
  #trades: TradeFigures[] = [];
  #first = 0;

  constructor(capacity: number = TAPE_TRADES_MAX) {
    assert(Number.isSafeInteger(capacity) && capacity >= 1, 'a tape holds at least one trade');
    this.#capacity = capacity;
  }

  get length(): number {
    return this.#trades.length;
  }

  /** Keeps the newest trades that fit; a larger tape fills with later ones. */
  resize(capacity: number): void {
    assert(Number.isSafeInteger(capacity) && capacity >= 1, 'a tape holds at least one trade');
    const kept = Math.min(capacity, this.length);
    this.#trades = Array.from({ length: kept }, (_, place) => this.at(kept - 1 - place));
    this.#first = 0;
    this.#capacity = capacity;
  }

  /** Ignores a trade older than all of a full tape. Trades mostly arrive in order; a late one is moved back. */
  add(trade: TradeFigures): void {
    if (this.length < this.#capacity) this.#trades.push(trade);
    else if (isNewer(trade, this.at(this.length - 1))) {
      this.#trades[this.#first] = trade;
      this.#first = (this.#first + 1) % this.#capacity;
    } else return;
    for (let rank = 0; rank + 1 < this.length && isNewer(this.at(rank + 1), trade); rank += 1) {
      this.#set(rank, this.at(rank + 1));
      this.#set(rank + 1, trade);
    }
  }

  /** @param rank 0 is the newest. */
  at(rank: number): TradeFigures {
    return must(this.#trades[this.#indexOf(rank)], 'a rank of the tape');
  }

  /** Whether it holds every trade that was ever added. */
  get #isWhole(): boolean {
    return this.length < this.#capacity;
  }

  /**
   * The trades with ids above this one, oldest first, `limit` at most; null where older ones among them may be gone.
   */
  behind(tradeId: number, limit: number): readonly TradeFigures[] | null {
    let rank = 0;
    while (rank < this.length && this.at(rank).tradeId > tradeId) rank += 1;
    // mutant: tape-without-a-hole
    if (rank === this.length && !this.#isWhole) return null;
    return Array.from({ length: Math.min(rank, limit) }, (_, place) => this.at(rank - 1 - place));
  }

  /** The number of trades matched after a time: the rank of the first that was not. */
  countAfter(ns: bigint): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle).matchedNs > ns) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #indexOf(rank: number): number {
    return (this.#first + this.length - 1 - rank) % this.length;
  }

  #set(rank: number, trade: TradeFigures): void {
    this.#trades[this.#indexOf(rank)] = trade;
  }
}

function isNewer(a: TradeFigures, b: TradeFigures): boolean {
  return a.matchedNs > b.matchedNs || (a.matchedNs === b.matchedNs && a.tradeId > b.tradeId);
}

/**
 * One page over several tapes, newest first. A deep page does not visit the skipped trades: the time at which the page
 * starts is found by bisection, so every page costs the same.
 *
 * @param tapes in the order in which ties between markets are broken.
 */
export function tapePage(tapes: readonly Tape[], page: number, limit: number): TradeFigures[] {
  const total = tapes.reduce((sum, tape) => sum + tape.length, 0);
  const offset = rowsBefore({ page, limit });
  if (offset >= total) return [];
  const startNs = startOf(tapes, offset);
  const ranks = tapes.map((tape) => tape.countAfter(startNs));
  let toSkip = offset - ranks.reduce((sum, rank) => sum + rank, 0);
  const trades: TradeFigures[] = [];
  while (trades.length < limit) {
    const next = newestOf(tapes, ranks);
    if (next === null) break;
    if (toSkip > 0) toSkip -= 1;
    else trades.push(next);
  }
  return trades;
}

/** The smallest time with at most `offset` trades after it. */
function startOf(tapes: readonly Tape[], offset: number): bigint {
  let low = 0n;
  let high = 1n << 64n;
  while (low < high) {
    const middle = (low + high) / 2n;
    const after = tapes.reduce((sum, tape) => sum + tape.countAfter(middle), 0);
    if (after <= offset) high = middle;
    else low = middle + 1n;
  }
  return low;
}

/** Takes the newest trade at the given ranks and advances its tape's rank. */
function newestOf(tapes: readonly Tape[], ranks: number[]): TradeFigures | null {
  let newest: TradeFigures | null = null;
  let taken = -1;
  for (const [index, tape] of tapes.entries()) {
    const rank = ranks[index] ?? 0;
    if (rank >= tape.length) continue;
    const trade = tape.at(rank);
    if (newest === null || isNewer(trade, newest)) {
      newest = trade;
      taken = index;
    }
  }
  if (newest !== null) ranks[taken] = (ranks[taken] ?? 0) + 1;
  return newest;
}
