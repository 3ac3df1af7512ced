/**
 * Records of orders that have ended and that no checkpoint has written yet: copies one behind the other in chunks, so that
 * an order that ends allocates nothing. A checkpoint takes all of them; then the chunks are used again.
 */
import { type Views, viewsOf } from '../core/views.ts';
import { OrderRecord, OrderRecordView } from '../schema/generated/messages.ts';
import type { OrderRow } from './rows.ts';

const RECORDS_PER_CHUNK = 1_024;
const CHUNK_BYTES: number = RECORDS_PER_CHUNK * OrderRecord.bytes;
/** Chunks that are kept for the next ones: some 18 MiB. */
const CHUNKS_KEPT = 64;

export class FinishedOrders {
  readonly #chunks: Views[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** @returns the copy, kept until the next checkpoint. */
  push(row: OrderRow): OrderRecordView {
    const record = this.#at(this.#length);
    if (row instanceof OrderRecordView) OrderRecord.copy(row.v, row.at, record.v, record.at);
    else OrderRecord.write(record.v, record.at, row);
    this.#length += 1;
    return record;
  }

  /** In the order in which they ended. */
  *[Symbol.iterator](): Generator<OrderRecordView, void, undefined> {
    for (let place = 0; place < this.#length; place += 1) yield this.#at(place);
  }

  /** The accessors that were given are over. */
  clear(): void {
    this.#chunks.length = Math.min(this.#chunks.length, CHUNKS_KEPT);
    this.#length = 0;
  }

  #at(place: number): OrderRecordView {
    const chunk = Math.floor(place / RECORDS_PER_CHUNK);
    let views = this.#chunks[chunk];
    if (views === undefined) {
      views = viewsOf(new ArrayBuffer(CHUNK_BYTES), 0, CHUNK_BYTES);
      this.#chunks.push(views);
    }
    return new OrderRecordView(views, (place % RECORDS_PER_CHUNK) * OrderRecord.bytes);
  }
}
