/**
 * What the gateway keeps of an order beside its record (src/order/order-store.ts): figures of what clearing has not decided,
 * and where the order stands in the gateway's lists. In memory only; a start begins with none of it.
 *
 *   cell, 48 bytes, one an index of the store   │ released │ last sequence │ spend, Int128 │ four words │
 *
 * Cells lie in chunks, so nothing is copied when there are more. What few orders have (pending
 * amounts, replaces in flight, memberships) is in maps of live-orders.ts; the exposures of margin orders lie in
 * arrays that a chunk gets with its first.
 *
 * Not here: what the figures mean (live-order.ts).
 */
import { type Views, viewsOf } from '../../../core/views.ts';
import type { OrderExposure } from '../margin/order-exposure.ts';

const CHUNK_SHIFT = 12;
const CHUNK_CELLS: number = 1 << CHUNK_SHIFT;
const CELL_BYTES = 48;
const CELL_WORDS: number = CELL_BYTES >>> 2;

/** Offsets of a cell's members, in bytes. */
export const CELL = {
  releasedQuantity: 0,
  lastSequence: 8,
  spend: 16,
  pageWord: 32,
  flags: 36,
  requests: 40,
  /** Number of the balance (holds.ts) plus 1; 0: none. */
  balance: 44,
} as const;

/** Cells of consecutive indexes. */
export interface FigureChunk {
  readonly views: Views;
  /** By cell of the chunk; null while none of its orders has an exposure. */
  exposures: (OrderExposure | null)[] | null;
}

export class OptimisticFigures {
  readonly #chunks: FigureChunk[] = [];

  /** Memory of the cells. */
  get bytes(): number {
    return this.#chunks.length * CHUNK_CELLS * CELL_BYTES;
  }

  /** The chunk of an index, made if there is none. */
  chunk(index: number): FigureChunk {
    const number = index >>> CHUNK_SHIFT;
    while (this.#chunks.length <= number) {
      this.#chunks.push({
        // As chunks of the store: not work for the garbage collector.
        views: viewsOf(new SharedArrayBuffer(CHUNK_CELLS * CELL_BYTES), 0, CHUNK_CELLS * CELL_BYTES),
        exposures: null,
      });
    }
    return this.#chunks[number] as FigureChunk;
  }

  /** All members of the cell become 0, and the order has no exposure. */
  clear(index: number): void {
    const { views, exposures } = this.chunk(index);
    const word = cellAt(index) >>> 2;
    views.i32.fill(0, word, word + CELL_WORDS);
    if (exposures !== null) exposures[cellOf(index)] = null;
  }
}

/** Where the cell of an index begins in its chunk, in bytes. */
export function cellAt(index: number): number {
  return cellOf(index) * CELL_BYTES;
}

/** Number of the cell of an index in its chunk. */
export function cellOf(index: number): number {
  return index & (CHUNK_CELLS - 1);
}

/** Exposures of a chunk that has none yet. */
export function noExposures(): (OrderExposure | null)[] {
  return new Array<OrderExposure | null>(CHUNK_CELLS).fill(null);
}
