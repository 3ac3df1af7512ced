/**
 * How many finished orders and trades each user has, in all and per market: the totals of pages, which would otherwise
 * be counted entry by entry. A checkpoint gathers its changes here and writes each count once.
 */
import { assert } from '../core/assert.ts';
import type { UserId } from '../core/ids.ts';
import type { ByteWriter } from './byte-writer.ts';
import type { StorageReader, Write } from './environment.ts';
import { KeyWriter, keyWriter, type TABLE } from './key-layout.ts';
import { decodeFrame, encodeFrame } from './row-codecs.ts';

export type CountTable = typeof TABLE.finishedCount | typeof TABLE.tradeCount;

interface Count {
  readonly table: CountTable;
  readonly user: UserId;
  /** Null: all markets. */
  readonly marketIndex: number | null;
  value: number;
}

/** @returns 0 for a user who has none. */
export function readCount(reader: StorageReader, table: CountTable, user: UserId, marketIndex: number | null): number {
  const key = keyWriter().ofUser(table, user, marketIndex);
  const value = reader.get(key);
  return value === null ? 0 : decodeFrame(key, value, (from) => from.safe());
}

export class UserCounts {
  readonly #reader: StorageReader;
  readonly #counts = new Map<string, Count>();

  constructor(reader: StorageReader) {
    this.#reader = reader;
  }

  /** Counts for the market and for all markets. */
  add(table: CountTable, user: UserId, marketIndex: number, change: number): void {
    this.#at(table, user, marketIndex).value += change;
    this.#at(table, user, null).value += change;
  }

  /** Users whose count over all markets was touched, with what it is now. Changes while iterating are allowed. */
  users(table: CountTable): readonly { readonly user: UserId; readonly count: number }[] {
    return [...this.#counts.values()]
      .filter((count) => count.table === table && count.marketIndex === null)
      .map(({ user, value }) => ({ user, count: value }));
  }

  *writes(to: ByteWriter): Generator<Write> {
    const keys = new KeyWriter(to);
    for (const { table, user, marketIndex, value } of this.#counts.values()) {
      assert(value >= 0, 'storage: a count is never below zero');
      const key = keys.ofUser(table, user, marketIndex);
      yield { key, value: value === 0 ? null : encodeFrame(to, key, () => to.safe(value)) };
    }
  }

  #at(table: CountTable, user: UserId, marketIndex: number | null): Count {
    const name = `${table}/${user}/${marketIndex ?? ''}`;
    let count = this.#counts.get(name);
    if (count === undefined) {
      count = { table, user, marketIndex, value: readCount(this.#reader, table, user, marketIndex) };
      this.#counts.set(name, count);
    }
    return count;
  }
}
