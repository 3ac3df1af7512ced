/**
 * What goes away: finished orders after their 30 days, beyond 100,000 of one user (AMB-17), and their ids beyond a million
 * of one user in one market (AMB-08). Everything else stays. What ended first goes first.
 *
 *   finished run   the records of a user in a market that one checkpoint added, at most 256: what lists show
 *   run of ids     the same orders as they ended (id-runs.ts)
 *
 * An order over the user's limit leaves its block (order-blocks.ts) and its finished run, and its signed text goes with it;
 * its id stays until its time is over, or until its list is full, which raises the watermark of the list. Runs and blocks
 * are rewritten without what went.
 *
 * Markets are merged by last update. Only lists and users that the checkpoint touches are looked at, and only what was
 * written before it goes.
 *
 * Reads happen before the checkpoint's commit, its writes join it; with one writer nothing comes between the two.
 */
import { must } from '../core/assert.ts';
import type { UserId } from '../core/ids.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { ByteWriter } from '../schema/byte-writer.ts';
import type { StorageReader, Write } from './environment.ts';
import { decodeFrame } from './frames.ts';
import type { IdLists } from './id-lists.ts';
import { decodeIdRun, dueRunOf, type IdEntry, type IdRun, idRunsOf, idRunWrites } from './id-runs.ts';
import { type KeyWriter, keyWriter, type ListName, TABLE } from './key-layout.ts';
import { type BlockPlace, blockWithout, ORDER_OF_ID } from './order-blocks.ts';
import { decodeRun, encodeRun, FINISHED_RUNS, type FinishedEntry, leastOf, listNameOf } from './runs.ts';
import { withoutTexts } from './signed-texts.ts';
import { marketsWithCount, type UserCounts } from './user-counts.ts';

/** How many orders one checkpoint lets go by age: bounds its work, give or take a run; the rest waits for the next. */
const EXPIRED_PER_CHECKPOINT_MAX = 10_000;
const RUNS_PER_STEP = 64;

/** How much is kept of finished orders. */
export interface FinishedLimits {
  /** Records of a user over all markets (AMB-17). */
  readonly recordsPerUser: number;
  /** Ids of a user in a market (AMB-08). */
  readonly idsPerList: number;
}

/** A finished run as this checkpoint leaves it: the reader still sees it as it was. */
interface OpenRecords extends ListName {
  readonly key: Uint8Array;
  entries: readonly FinishedEntry[];
  hasChanged: boolean;
}

/** A run of ids as this checkpoint leaves it. */
interface OpenIds extends ListName, IdRun {
  readonly key: Uint8Array;
  entries: readonly IdEntry[];
  hasChanged: boolean;
}

/** What one checkpoint lets go. */
export class Forgetting {
  readonly #reader: StorageReader;
  readonly #counts: UserCounts;
  readonly #lists: IdLists;
  readonly #keys: KeyWriter = keyWriter();
  readonly #removedKeys: Uint8Array[] = [];
  /** What goes of blocks of orders: by market, by their places. */
  readonly #gone = new Map<number, Map<BlockPlace, Set<Sequence>>>();
  /** By their keys, in hex. */
  readonly #records = new Map<string, OpenRecords>();
  readonly #ids = new Map<string, OpenIds>();

  constructor(reader: StorageReader, counts: UserCounts, lists: IdLists) {
    this.#reader = reader;
    this.#counts = counts;
    this.#lists = lists;
  }

  *writes(to: ByteWriter): Generator<Write, void, undefined> {
    for (const key of this.#removedKeys) yield { key, value: null };
    for (const [marketIndex, blocks] of this.#gone) {
      for (const [place, gone] of blocks) {
        const key = this.#keys.ofMarket(TABLE.orderBlock, marketIndex, place);
        const value = must(this.#reader.get(key), `storage: block ${place} of market ${marketIndex} is missing`);
        yield { key, value: blockWithout(to, key, value, gone) };
      }
      const orders = [...blocks.values()].flatMap((gone) => [...gone]);
      yield* withoutTexts(this.#reader, to, marketIndex, orders);
    }
    for (const { key, entries, hasChanged } of this.#records.values()) {
      if (!hasChanged) continue;
      yield { key, value: entries.length === 0 ? null : encodeRun(to, key, entries, FINISHED_RUNS.write) };
    }
    for (const run of this.#ids.values()) {
      if (!run.hasChanged) continue;
      if (run.entries.length === 0) yield { key: run.key, value: null };
      else yield* idRunWrites(to, run.key, run);
    }
  }

  /** Removes orders with a last update before `beforeNs`, and their entries everywhere. */
  forgetExpired(beforeNs: TimestampNs): void {
    const from = this.#keys.table(TABLE.dueRun);
    const to = this.#keys.dueRunsFrom(beforeNs);
    let expired = 0;
    for (const due of this.#reader.entries({ from, to, perStep: RUNS_PER_STEP })) {
      this.#removedKeys.push(due.key);
      const run = this.#idsAt(dueRunOf(due));
      const gone = run.entries.filter(({ lastUpdateNs }) => lastUpdateNs < beforeNs);
      this.#removeOrders(run, gone);
      // What remains is written with the time of its own first order.
      run.hasChanged = true;
      expired += gone.length;
      if (expired >= EXPIRED_PER_CHECKPOINT_MAX) break;
    }
    this.#lists.forgetWatermarks(beforeNs);
  }

  /** What ended first of users and lists that have more than their limit, what this checkpoint adds included. */
  forgetOverLimit(limits: FinishedLimits): void {
    for (const { user, count } of this.#counts.users(TABLE.finishedCount)) {
      this.#forgetRecords(user, count - limits.recordsPerUser);
    }
    for (const list of this.#lists.touched()) this.#forgetIds(list, list.count - limits.idsPerList);
  }

  #forgetRecords(user: UserId, excess: number): void {
    if (excess <= 0) return;
    let left = excess;
    for (const { records, entry } of this.#endedFirst(user)) {
      this.#removeRecords(records, [entry]);
      left -= 1;
      if (left === 0) return;
    }
  }

  #forgetIds(name: ListName, excess: number): void {
    let left = excess;
    if (left <= 0) return;
    const list = this.#lists.of(name);
    for (const { key, value } of idRunsOf(this.#reader, name, null)) {
      const run = this.#idsAt(key, value);
      const gone = run.entries.slice(0, left);
      for (const { creationNs } of gone) {
        if (list.watermarkNs === null || creationNs > list.watermarkNs) list.watermarkNs = creationNs;
      }
      this.#removeOrders(run, gone);
      left -= gone.length;
      if (left === 0) return;
    }
  }

  /** The records that a user has, over all markets. */
  *#endedFirst(user: UserId): Generator<{ readonly records: OpenRecords; readonly entry: IdEntry }, void, undefined> {
    const lists = marketsWithCount(this.#reader, TABLE.finishedCount, user).flatMap((marketIndex) => {
      const orders = this.#recordsOf({ user, marketIndex });
      const next = orders.next().value;
      return next === undefined ? [] : [{ orders, next }];
    });
    for (;;) {
      const first = leastOf(lists, (a, b) => Number(a.next.entry.lastUpdateNs - b.next.entry.lastUpdateNs));
      if (first === undefined) return;
      yield first.next;
      const next = first.orders.next().value;
      if (next === undefined) lists.splice(lists.indexOf(first), 1);
      else first.next = next;
    }
  }

  *#recordsOf(name: ListName): Generator<{ readonly records: OpenRecords; readonly entry: IdEntry }, void, undefined> {
    const list = this.#lists.of(name);
    for (const { key, value } of idRunsOf(this.#reader, name, list.recordsFrom)) {
      const ids = this.#idsAt(key, value);
      const records = this.#recordsAt(ids.finishedRun);
      if (records.entries.length === 0) continue;
      list.recordsFrom = key;
      const sequences = new Set(records.entries.map(({ orderSequence }) => orderSequence));
      for (const entry of ids.entries) if (sequences.has(entry.orderSequence)) yield { records, entry };
    }
  }

  /** The finished run under that key, empty when nothing of it is left. */
  #recordsAt(key: Uint8Array): OpenRecords {
    const name = Buffer.from(key).toString('hex');
    let run = this.#records.get(name);
    if (run === undefined) {
      const value = this.#reader.get(key);
      const entries = value === null ? [] : decodeRun({ key, value }, FINISHED_RUNS.read);
      run = { key, ...listNameOf(key), entries, hasChanged: false };
      this.#records.set(name, run);
    }
    return run;
  }

  /** The run of ids under that key, empty when nothing of it is left. */
  #idsAt(key: Uint8Array, value: Uint8Array | null = this.#reader.get(key)): OpenIds {
    const name = Buffer.from(key).toString('hex');
    let run = this.#ids.get(name);
    if (run === undefined) {
      const read: IdRun = value === null ? { finishedRun: key, entries: [] } : decodeIdRun({ key, value });
      run = { key, ...listNameOf(key), ...read, hasChanged: false };
      this.#ids.set(name, run);
    }
    return run;
  }

  /** Removes orders with all that remembers them. @param gone some of the run's. */
  #removeOrders(run: OpenIds, gone: readonly IdEntry[]): void {
    if (gone.length === 0) return;
    this.#removeRecords(this.#recordsAt(run.finishedRun), gone);
    for (const entry of gone) this.#removeId(run, entry);
    const removed = new Set(gone);
    run.entries = run.entries.filter((entry) => !removed.has(entry));
    run.hasChanged = true;
    this.#lists.of(run).count -= gone.length;
  }

  /** Removes those of the orders that are in the run: their records and their entries. */
  #removeRecords(run: OpenRecords, gone: readonly IdEntry[]): void {
    const sequences = new Set<Sequence>(gone.map(({ orderSequence }) => orderSequence));
    const kept = run.entries.filter(({ orderSequence }) => !sequences.has(orderSequence));
    const removedCount = run.entries.length - kept.length;
    if (removedCount === 0) return;
    for (const { orderSequence, block } of run.entries) {
      if (sequences.has(orderSequence)) this.#goneOf(run.marketIndex, block).add(orderSequence);
    }
    run.entries = kept;
    run.hasChanged = true;
    this.#counts.add(TABLE.finishedCount, run.user, run.marketIndex, -removedCount);
  }

  /** The orders of that block that go. */
  #goneOf(marketIndex: number, block: BlockPlace): Set<Sequence> {
    let blocks = this.#gone.get(marketIndex);
    if (blocks === undefined) {
      blocks = new Map();
      this.#gone.set(marketIndex, blocks);
    }
    let gone = blocks.get(block);
    if (gone === undefined) {
      gone = new Set();
      blocks.set(block, gone);
    }
    return gone;
  }

  /** Removes the id, unless a later order has it. */
  #removeId({ user, marketIndex }: ListName, { orderId, orderSequence }: IdEntry): void {
    const key = this.#keys.finishedById(user, marketIndex, orderId);
    const value = this.#reader.get(key);
    if (value !== null && decodeFrame(key, value, ORDER_OF_ID.read).orderSequence === orderSequence)
      this.#removedKeys.push(key);
  }
}
