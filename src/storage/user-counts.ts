/**
 * How many finished orders and trades each user has, in all and per market: the totals of pages, which would otherwise
 * be counted entry by entry. A checkpoint gathers its changes here and writes each count once.
 */
import { assert } from '../core/assert.ts';
import type { UserId } from '../core/ids.ts';
import { ByteReader } from '../schema/byte-reader.ts';
import type { ByteWriter } from '../schema/byte-writer.ts';
import type { StorageReader, Write } from './environment.ts';
import { decodeFrame, encodeFrame } from './frames.ts';
import { endOf, KeyWriter, keyAfter, keyWriter, TABLE } from './key-layout.ts';

export type CountTable = typeof TABLE.finishedCount | typeof TABLE.tradeCount;

const MARKETS_PER_STEP = 64;

/** Changes of one user's counts of one table. */
interface Changes {
  all: number;
  readonly byMarket: Map<number, number>;
}

/** @returns 0 for a user who has none. */
export function readCount(reader: StorageReader, table: CountTable, user: UserId, marketIndex: number | null): number {
  const key = keyWriter().ofUser(table, user, marketIndex);
  const value = reader.get(key);
  return value === null ? 0 : decodeFrame(key, value, (from) => from.safe());
}

/** In which markets a user has any, lowest index first. */
export function marketsWithCount(reader: StorageReader, table: CountTable, user: UserId): readonly number[] {
  const ofUser = keyWriter().ofUser(table, user, null);
  const entries = reader.entries({ from: keyAfter(ofUser), to: endOf(ofUser), perStep: MARKETS_PER_STEP });
  return Array.from(entries, ({ key }) => new ByteReader(key.subarray(ofUser.length)).u32());
}

export class UserCounts {
  readonly #reader: StorageReader;
  readonly #changes: Readonly<Record<CountTable, Map<UserId, Changes>>> = {
    [TABLE.finishedCount]: new Map(),
    [TABLE.tradeCount]: new Map(),
  };

  constructor(reader: StorageReader) {
    this.#reader = reader;
  }

  /** Counts for the market and for all markets. */
  add(table: CountTable, user: UserId, marketIndex: number, change: number): void {
    let changes = this.#changes[table].get(user);
    if (changes === undefined) {
      changes = { all: 0, byMarket: new Map() };
      this.#changes[table].set(user, changes);
    }
    changes.all += change;
    changes.byMarket.set(marketIndex, (changes.byMarket.get(marketIndex) ?? 0) + change);
  }

  /** Users with changed counts, and their counts over all markets. */
  users(table: CountTable): readonly { readonly user: UserId; readonly count: number }[] {
    return [...this.#changes[table]].map(([user, { all }]) => ({
      user,
      count: readCount(this.#reader, table, user, null) + all,
    }));
  }

  *writes(to: ByteWriter): Generator<Write> {
    const keys = new KeyWriter(to);
    for (const table of [TABLE.finishedCount, TABLE.tradeCount]) {
      for (const [user, { all, byMarket }] of this.#changes[table]) {
        yield this.#write(to, keys, { table, user, marketIndex: null, change: all });
        for (const [marketIndex, change] of byMarket) {
          yield this.#write(to, keys, { table, user, marketIndex, change });
        }
      }
    }
  }

  #write(
    to: ByteWriter,
    keys: KeyWriter,
    count: { readonly table: CountTable; readonly user: UserId; readonly marketIndex: number | null; change: number },
  ): Write {
    const { table, user, marketIndex, change } = count;
    const value = readCount(this.#reader, table, user, marketIndex) + change;
    assert(value >= 0, 'storage: a count is never below zero');
    const key = keys.ofUser(table, user, marketIndex);
    return { key, value: value === 0 ? null : encodeFrame(to, key, () => to.safe(value)) };
  }
}
