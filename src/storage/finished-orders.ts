/**
 * What goes away: finished orders after their 30 days, and beyond 100,000 of one user (AMB-17). Everything else stays.
 *
 * An order over the user's limit loses its record and its places in the lists; its id stays remembered until its time
 * has come (AMB-08), when the entry by last update leads here once more.
 *
 * Reads happen before the checkpoint's commit, its writes join it; with one writer nothing comes between the two.
 */
import type { OrderRow } from '../clearing/rows.ts';
import { must } from '../core/assert.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { ByteReader } from './byte-reader.ts';
import type { StorageReader, Write } from './environment.ts';
import { endOf, type KeyWriter, keyWriter, TABLE } from './key-layout.ts';
import { decodeFrame, decodeRow } from './row-codecs.ts';
import type { UserCounts } from './user-counts.ts';

/** How many orders one checkpoint lets go by age: bounds its work; the rest waits for the next. */
const EXPIRED_PER_CHECKPOINT_MAX = 10_000;

/** An order by its place: what the lists of a user hold. */
export interface OrderPlace {
  readonly marketIndex: number;
  readonly orderSequence: Sequence;
}

export function readOrderPlace(from: ByteReader): OrderPlace {
  return { marketIndex: from.u32(), orderSequence: from.safe() as Sequence };
}

/** The order at that place, which is there because a list says so. */
export function finishedOrderAt(reader: StorageReader, keys: KeyWriter, place: OrderPlace): OrderRow {
  const key = keys.ofMarket(TABLE.finishedOrder, place.marketIndex, place.orderSequence);
  const value = must(
    reader.get(key),
    `storage: order ${place.orderSequence} of market ${place.marketIndex} is missing`,
  );
  return decodeRow('order', key, value);
}

/** What one checkpoint lets go. */
export class Forgetting {
  readonly #reader: StorageReader;
  readonly #counts: UserCounts;
  readonly #keys: KeyWriter = keyWriter();
  readonly #writes: Write[] = [];
  /** Places of records already let go in this checkpoint: the reader still sees them. */
  readonly #gone = new Set<string>();

  constructor(reader: StorageReader, counts: UserCounts) {
    this.#reader = reader;
    this.#counts = counts;
  }

  get writes(): readonly Write[] {
    return this.#writes;
  }

  /** Orders whose last update is before `beforeNs`, with all that remembers them. */
  forgetExpired(beforeNs: TimestampNs): void {
    const from = this.#keys.table(TABLE.finishedByLastUpdate);
    const to = this.#keys.finishedByLastUpdate(beforeNs, 0, 0 as Sequence);
    for (const { key, value } of this.#reader.range({ from, to, limit: EXPIRED_PER_CHECKPOINT_MAX })) {
      const entry = decodeFrame(key, value, readExpiryEntry);
      const recordKey = this.#keys.ofMarket(TABLE.finishedOrder, entry.marketIndex, entry.orderSequence);
      const record = this.#reader.get(recordKey);
      if (record !== null) this.#removeRecord(decodeRow('order', recordKey, record));
      this.#removeId(entry);
      this.#writes.push({ key, value: null });
    }
  }

  /** The oldest written orders of users who have more than their limit, what this checkpoint adds included. */
  forgetOverLimit(perUserMax: number): void {
    for (const { user, count } of this.#counts.users(TABLE.finishedCount)) {
      let excess = count - perUserMax;
      if (excess <= 0) continue;
      const from = this.#keys.ofUser(TABLE.finishedByUser, user, null);
      const oldest = this.#reader.range({ from, to: endOf(from), limit: excess + this.#gone.size });
      for (const { key, value } of oldest) {
        const order = finishedOrderAt(this.#reader, this.#keys, decodeFrame(key, value, readOrderPlace));
        if (excess > 0 && this.#removeRecord(order)) excess -= 1;
      }
    }
  }

  /** Removes the record and the list entries of one order. @returns false when that is already done. */
  #removeRecord(order: OrderRow): boolean {
    const name = `${order.marketIndex}/${order.orderSequence}`;
    if (this.#gone.has(name)) return false;
    this.#gone.add(name);
    const key = this.#keys.ofMarket(TABLE.finishedOrder, order.marketIndex, order.orderSequence);
    const lists = [this.#keys.finishedByUser(order), this.#keys.finishedByUserAndMarket(order)];
    for (const removed of [key, ...lists]) this.#writes.push({ key: removed, value: null });
    this.#counts.add(TABLE.finishedCount, order.user, order.marketIndex, -1);
    return true;
  }

  /** Forgets the id, unless a later order has taken it. */
  #removeId(entry: ExpiryEntry): void {
    const key = this.#keys.finishedById(entry.user, entry.marketIndex, entry.orderId);
    const value = this.#reader.get(key);
    if (value === null) return;
    const { orderSequence } = decodeFrame(key, value, readRememberedOrder);
    if (orderSequence === entry.orderSequence) this.#writes.push({ key, value: null });
  }
}

/** What an order's id leads to. */
export interface RememberedOrder extends OrderPlace {
  readonly creationNs: TimestampNs;
}

export function readRememberedOrder(from: ByteReader): RememberedOrder {
  return { creationNs: from.u64() as TimestampNs, ...readOrderPlace(from) };
}

interface ExpiryEntry extends OrderPlace {
  readonly user: UserId;
  readonly orderId: OrderId;
}

function readExpiryEntry(from: ByteReader): ExpiryEntry {
  return { ...readOrderPlace(from), user: from.hex(32) as UserId, orderId: from.text() as OrderId };
}
