/**
 * The public order book of one market, updated by absolute level changes and published as numbered diffs (AMB-98, MD-01
 * to MD-04).
 *
 *   market ─▶ levelChanged … commit(n) ─▶ levels ─▶ takeDiffs (paced by the caller) ─▶ sequence +1, +2, …
 *                               │ n is not last + 1
 *                               ▼
 *                             gap: everything is ignored until reset … commit
 *
 * Invariants
 *   (1) Only complete, contiguous market messages change the levels: messages after a gap are dropped.
 *   (2) The snapshot of sequence s followed by diffs s+1 … t is the snapshot of t, across resets too: a reset is published
 *       as the difference between the published and the new book.
 *   (3) Sequences increase by one; `reset` may increase them by more, which clients detect and answer with a new snapshot.
 *
 * The number of levels is bounded by the number of orders in the market; `levelsMax` levels per side are published.
 */
import { assert } from '../core/assert.ts';
import type { DepthLevels } from '../core/market-figures.ts';
import { SIDE, type Side } from '../core/order-terms.ts';
import type { RawPrice, Sequence } from '../core/units.ts';
import { DepthSide } from './depth-side.ts';

/** Levels per side in a snapshot (AMB-98). */
export const DEPTH_LEVELS_MAX = 10_000;
/** Levels in one diff: at 44 bytes per level at most the frame stays below 1 MiB. */
export const DIFF_LEVELS_MAX = 20_000;

/** All levels as price, quantity, …, and the changes of a message that is not committed yet as side, price, quantity, … */
export interface BookImage {
  readonly asks: readonly number[];
  readonly bids: readonly number[];
  /** Of the last committed message. */
  readonly marketSequence: Sequence;
  /** Of the last diff. */
  readonly sequenceNumber: number;
  readonly uncommitted: readonly number[];
}

/** `waiting`: before the first reset; `live`: contiguous; `gap`: needs a reset. */
type ReplicaState = 'waiting' | 'live' | 'gap';

export class DepthReplica {
  readonly #asks: DepthSide;
  readonly #bids: DepthSide;
  #state: ReplicaState = 'waiting';
  #isResetting = false;
  #marketSequence = 0;
  #sequenceNumber = 0;
  /** Changes of the current message: side, price, quantity, … */
  #uncommitted: number[] = [];

  constructor(levelsMax: number = DEPTH_LEVELS_MAX) {
    this.#asks = new DepthSide(SIDE.sell, levelsMax);
    this.#bids = new DepthSide(SIDE.buy, levelsMax);
  }

  get state(): ReplicaState {
    return this.#state;
  }

  /** Whether a diff is due. */
  get hasChanges(): boolean {
    return this.#asks.hasChanges || this.#bids.hasChanges;
  }

  /** Number of the last diff, or the base of the last reset. */
  get sequenceNumber(): number {
    return this.#sequenceNumber;
  }

  /** @param quantity the level's new absolute quantity in raw units, 0 if it is removed. */
  levelChanged(side: Side, price: RawPrice, quantity: number): void {
    assert(price >= 1 && Number.isSafeInteger(price), 'depth: a raw price');
    assert(quantity >= 0 && Number.isSafeInteger(quantity), 'depth: a raw quantity or 0');
    if (this.#state === 'live' || this.#isResetting) this.#uncommitted.push(side, price, quantity);
  }

  /**
   * Ends a market message, with or without level changes.
   *
   * @returns false if messages are missing: the replica then needs a reset.
   */
  commit(marketSequence: Sequence): boolean {
    // mutant: depth-gap
    if (!this.#isResetting && (this.#state !== 'live' || marketSequence !== this.#marketSequence + 1)) {
      if (this.#state === 'live') this.#state = 'gap';
      this.#uncommitted = [];
      return false;
    }
    if (this.#isResetting) this.#replaceLevels();
    else this.#applyChanges();
    this.#isResetting = false;
    this.#state = 'live';
    this.#marketSequence = marketSequence;
    this.#uncommitted = [];
    return true;
  }

  /**
   * Starts a new image of the book: the following level changes are all its levels, and the next commit, with any
   * market sequence, activates it.
   *
   * @param baseSequence at least every number used for this market before, in this run or an earlier one; the next
   *   diff has the number after it. With the last used number the sequence stays contiguous for clients.
   */
  reset(baseSequence: number): void {
    assert(Number.isSafeInteger(baseSequence), 'depth: a base sequence');
    assert(baseSequence >= this.#sequenceNumber, 'depth sequences never go backwards');
    this.#sequenceNumber = baseSequence;
    this.#isResetting = true;
    this.#uncommitted = [];
  }

  /** The unpublished changes, in as few diffs as their size permits; none without an effective change. */
  takeDiffs(): DepthLevels[] {
    const asks = this.#asks.takeChanges();
    const bids = this.#bids.takeChanges();
    const diffs: DepthLevels[] = [];
    let ask = 0;
    let bid = 0;
    while (ask < asks.length || bid < bids.length) {
      const askEnd = Math.min(asks.length, ask + 2 * DIFF_LEVELS_MAX);
      const bidEnd = Math.min(bids.length, bid + 2 * DIFF_LEVELS_MAX - (askEnd - ask));
      // mutant: diff-numbers
      this.#sequenceNumber += 1;
      diffs.push({
        asks: asks.slice(ask, askEnd),
        bids: bids.slice(bid, bidEnd),
        sequenceNumber: this.#sequenceNumber,
      });
      ask = askEnd;
      bid = bidEnd;
    }
    return diffs;
  }

  /** The book as of the last diff; null before the first image is complete. */
  snapshot(): DepthLevels | null {
    if (this.#state === 'waiting') return null;
    return { asks: this.#asks.published(), bids: this.#bids.published(), sequenceNumber: this.#sequenceNumber };
  }

  /** The best `count` levels of each side as of the last diff; null before the first image is complete. */
  top(count: number): DepthLevels | null {
    if (this.#state === 'waiting') return null;
    return {
      asks: this.#asks.publishedTop(count),
      bids: this.#bids.publishedTop(count),
      sequenceNumber: this.#sequenceNumber,
    };
  }

  /** The book as it is, for another replica that goes on from here; null unless it is contiguous. */
  image(): BookImage | null {
    if (this.#state !== 'live' || this.#isResetting) return null;
    return {
      asks: this.#asks.levels(),
      bids: this.#bids.levels(),
      marketSequence: this.#marketSequence as Sequence,
      sequenceNumber: this.#sequenceNumber,
      uncommitted: this.#uncommitted.slice(),
    };
  }

  #applyChanges(): void {
    const changes = this.#uncommitted;
    for (let index = 0; index + 2 < changes.length; index += 3) {
      const side = changes[index] === SIDE.buy ? this.#bids : this.#asks;
      side.set(changes[index + 1] ?? 0, changes[index + 2] ?? 0);
    }
  }

  #replaceLevels(): void {
    const bids = new Map<number, number>();
    const asks = new Map<number, number>();
    const changes = this.#uncommitted;
    for (let index = 0; index + 2 < changes.length; index += 3) {
      const levels = changes[index] === SIDE.buy ? bids : asks;
      const quantity = changes[index + 2] ?? 0;
      if (quantity > 0) levels.set(changes[index + 1] ?? 0, quantity);
      else levels.delete(changes[index + 1] ?? 0);
    }
    this.#bids.replaceAll(bids);
    this.#asks.replaceAll(asks);
  }
}
