/**
 * How many ids of finished orders a user has in a market, and the watermark of those that were evicted: creates
 * signed at or before the watermark may be replays of them (AMB-08). A checkpoint gathers its changes here and writes
 * each list once.
 */
import { assert } from '../core/assert.ts';
import type { UserId } from '../core/ids.ts';
import type { TimestampNs } from '../core/units.ts';
import type { ByteWriter } from '../schema/byte-writer.ts';
import { bytes, type Field, optional, safe, struct, u64 } from '../schema/row-fields.ts';
import type { Entry, StorageReader, Write } from './environment.ts';
import { decodeFrame, encodeFrame } from './frames.ts';
import { KeyWriter, keyWriter, type ListName, TABLE } from './key-layout.ts';

interface IdList {
  readonly count: number;
  /** The largest creation time of an evicted id; null when none did. */
  readonly watermarkNs: TimestampNs | null;
  /** Key of a run of ids: no run before it has a record left. Null: the first. */
  readonly recordsFrom: Uint8Array | null;
}

/** A list as this checkpoint leaves it. */
interface OpenIdList extends ListName {
  count: number;
  watermarkNs: TimestampNs | null;
  recordsFrom: Uint8Array | null;
}

const ID_LIST: Field<IdList> = struct<IdList>({
  count: safe,
  watermarkNs: optional(u64),
  recordsFrom: optional(bytes),
});
const NO_IDS: IdList = { count: 0, watermarkNs: null, recordsFrom: null };

export function readIdList({ key, value }: Entry): IdList {
  return decodeFrame(key, value, ID_LIST.read);
}

export class IdLists {
  readonly #reader: StorageReader;
  readonly #lists = new Map<UserId, Map<number, OpenIdList>>();

  constructor(reader: StorageReader) {
    this.#reader = reader;
  }

  /** The list, to be changed in place. */
  of({ user, marketIndex }: ListName): OpenIdList {
    let markets = this.#lists.get(user);
    if (markets === undefined) {
      markets = new Map();
      this.#lists.set(user, markets);
    }
    let list = markets.get(marketIndex);
    if (list === undefined) {
      const key = keyWriter().ofUser(TABLE.idList, user, marketIndex);
      const value = this.#reader.get(key);
      list = { user, marketIndex, ...(value === null ? NO_IDS : readIdList({ key, value })) };
      markets.set(marketIndex, list);
    }
    return list;
  }

  /** The lists that this checkpoint has touched so far. */
  touched(): readonly OpenIdList[] {
    return [...this.#lists.values()].flatMap((markets) => [...markets.values()]);
  }

  /** Watermarks before that time have no effect any more: creates as old as that are too old in any case. */
  forgetWatermarks(beforeNs: TimestampNs): void {
    for (const list of this.touched()) {
      if (list.watermarkNs !== null && list.watermarkNs < beforeNs) list.watermarkNs = null;
    }
  }

  *writes(to: ByteWriter): Generator<Write, void, undefined> {
    const keys = new KeyWriter(to);
    for (const list of this.touched()) {
      const { user, marketIndex, count, watermarkNs } = list;
      assert(count >= 0, 'storage: a list never has fewer than no ids');
      const key = keys.ofUser(TABLE.idList, user, marketIndex);
      const isEmpty = count === 0 && watermarkNs === null;
      const value = encodeFrame(to, key, () => ID_LIST.write(to, list));
      yield { key, value: isEmpty ? null : value };
    }
  }
}
