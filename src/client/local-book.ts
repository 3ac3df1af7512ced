/**
 * The order book of one market, rebuilt on the client from a snapshot and diffs (wire.md 8, 9.6; MD-03, MD-04).
 *
 *   empty ──snapshot──▶ current ──diff = last + 1──▶ current
 *                          └─────diff > last + 1──▶ stale ──snapshot──▶ current
 *
 * A diff that is not newer than the book is ignored: a snapshot read after subscribing covers it. A gap makes the book
 * stale at once, and reading a stale book throws.
 *
 * Sockets are in live-book.ts. Prices and quantities are 18-decimal bigints inside, decimal strings outside.
 */
import { format18, parseDecimal18 } from '../core/decimal.ts';
import { invalidResponse, RingbookError } from './errors.ts';
import type { Depth, DepthLevel } from './replies.ts';

/** Result of `apply`; after `gap` a new snapshot is needed. */
export type Applied = 'applied' | 'ignored' | 'gap';

interface Level {
  readonly price18: bigint;
  quantity18: bigint;
}

/** One side, best first, always sorted. */
class BookSide {
  readonly levels: Level[] = [];
  readonly #direction: 1n | -1n;

  /** @param direction 1n when the lowest price is best (asks), −1n when the highest is (bids). */
  constructor(direction: 1n | -1n) {
    this.#direction = direction;
  }

  clear(): void {
    this.levels.length = 0;
  }

  /** Sets the quantity of a price; 0 removes it. */
  set(price18: bigint, quantity18: bigint): void {
    const index = this.#indexOf(price18);
    const level = this.levels[index];
    const isKnown = level?.price18 === price18;
    if (quantity18 === 0n) {
      if (isKnown) this.levels.splice(index, 1);
    } else if (level !== undefined && isKnown) {
      level.quantity18 = quantity18;
    } else {
      this.levels.splice(index, 0, { price18, quantity18 });
    }
  }

  /** The index of the first level that is not better than this price. */
  #indexOf(price18: bigint): number {
    let low = 0;
    let high = this.levels.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const level = this.levels[middle] as Level;
      if ((level.price18 - price18) * this.#direction < 0n) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export class LocalBook {
  readonly #asks = new BookSide(1n);
  readonly #bids = new BookSide(-1n);
  /** Sequence of the last snapshot or diff; null without a book. */
  #sequence: number | null = null;

  /** False before the first snapshot and after a gap. */
  get isCurrent(): boolean {
    return this.#sequence !== null;
  }

  /** @throws RingbookError when the book is not current. */
  get sequenceNumber(): number {
    return this.#known();
  }

  /** The book is not current until the next snapshot. */
  drop(): void {
    this.#sequence = null;
  }

  /** Restarts from a snapshot. */
  load(snapshot: Depth): void {
    this.#asks.clear();
    this.#bids.clear();
    this.#merge(snapshot);
    this.#sequence = snapshot.sequenceNumber;
  }

  apply(diff: Depth): Applied {
    if (this.#sequence === null) return 'gap';
    if (diff.sequenceNumber <= this.#sequence) return 'ignored';
    if (diff.sequenceNumber !== this.#sequence + 1) {
      this.#sequence = null;
      return 'gap';
    }
    this.#merge(diff);
    this.#sequence = diff.sequenceNumber;
    return 'applied';
  }

  /** The best asks, ascending. @throws RingbookError when the book is not current. */
  asks(count: number = Number.POSITIVE_INFINITY): readonly DepthLevel[] {
    this.#known();
    return this.#asks.levels.slice(0, count).map(print);
  }

  /** The best bids, descending. @throws RingbookError when the book is not current. */
  bids(count: number = Number.POSITIVE_INFINITY): readonly DepthLevel[] {
    this.#known();
    return this.#bids.levels.slice(0, count).map(print);
  }

  #merge(depth: Depth): void {
    for (const level of depth.asks) this.#asks.set(amount(level.price), amount(level.quantity));
    for (const level of depth.bids) this.#bids.set(amount(level.price), amount(level.quantity));
  }

  #known(): number {
    if (this.#sequence !== null) return this.#sequence;
    throw new RingbookError({ code: 'RESYNC_REQUIRED', message: 'the book is not current', retryable: true });
  }
}

/** What is read of a book that is kept current. */
export class BookView {
  readonly #book: LocalBook;

  /** @internal */
  constructor(book: LocalBook) {
    this.#book = book;
  }

  get isCurrent(): boolean {
    return this.#book.isCurrent;
  }

  /** @throws RingbookError when the book is not current. */
  get sequenceNumber(): number {
    return this.#book.sequenceNumber;
  }

  /** The best asks, ascending. @throws RingbookError when the book is not current. */
  asks(count?: number): readonly DepthLevel[] {
    return this.#book.asks(count);
  }

  /** The best bids, descending. @throws RingbookError when the book is not current. */
  bids(count?: number): readonly DepthLevel[] {
    return this.#book.bids(count);
  }
}

function print(level: Level): DepthLevel {
  return { price: format18(level.price18), quantity: format18(level.quantity18) };
}

function amount(text: string): bigint {
  const value = parseDecimal18(text);
  if (value === null || value < 0n) throw invalidResponse('depth', `${text} is not a plain decimal`);
  return value;
}
