/**
 * What goes away: finished orders after their 30 days, and beyond 100,000 of one user (AMB-17). Everything else stays.
 *
 *   finished run   the orders of a user in a market that one checkpoint finished: what lists show
 *   expiry run     the same orders, by last update: what is to be forgotten, and when
 *
 * An order over the user's limit loses its record and leaves its finished run; it stays in the expiry run, as its id is
 * remembered until its time has come (AMB-08). Both are kept whole or rewritten without what went.
 *
 * Reads happen before the checkpoint's commit, its writes join it; with one writer nothing comes between the two.
 */
import type { OrderId, UserId } from '../core/ids.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import type { Entry, StorageReader, Write } from './environment.ts';
import { KeyWriter, keyWriter, type ListName, TABLE } from './key-layout.ts';
import { decodeFrame } from './row-codecs.ts';
import { decodeRun, encodeRun, FINISHED_RUNS, type FinishedEntry, leastOf, listNameOf, runsOf } from './runs.ts';
import { marketsWithCount, type UserCounts } from './user-counts.ts';

/** How many orders one checkpoint lets go by age: bounds its work, give or take a run; the rest waits for the next. */
const EXPIRED_PER_CHECKPOINT_MAX = 10_000;
const RUNS_PER_STEP = 64;
/** Table and first last update: what an expiry run's key has before the key of its finished run. */
const EXPIRY_PREFIX_BYTES = 9;

/** An order as its expiry run knows it. */
interface ExpiryEntry {
  readonly lastUpdateNs: TimestampNs;
  readonly orderId: OrderId;
  readonly orderSequence: Sequence;
}

function writeExpiryEntry(to: ByteWriter, entry: ExpiryEntry): void {
  to.u64(entry.lastUpdateNs);
  to.text(entry.orderId);
  to.safe(entry.orderSequence);
}

function readExpiryEntry(from: ByteReader): ExpiryEntry {
  return {
    lastUpdateNs: from.u64() as TimestampNs,
    orderId: from.text() as OrderId,
    orderSequence: from.safe() as Sequence,
  };
}

/** The expiry run of a finished run. @param entries at least one. */
export function writeExpiry(to: ByteWriter, finishedRun: Uint8Array, entries: readonly ExpiryEntry[]): Entry {
  let [{ lastUpdateNs: firstNs } = { lastUpdateNs: 0n as TimestampNs }] = entries;
  for (const { lastUpdateNs } of entries) if (lastUpdateNs < firstNs) firstNs = lastUpdateNs;
  const key = new KeyWriter(to).expiryRun(firstNs, finishedRun);
  return { key, value: encodeRun(to, key, entries, writeExpiryEntry) };
}

/** What an order's id leads to. */
export interface RememberedOrder {
  readonly orderSequence: Sequence;
  readonly creationNs: TimestampNs;
}

export function readRememberedOrder(from: ByteReader): RememberedOrder {
  return { orderSequence: from.safe() as Sequence, creationNs: from.u64() as TimestampNs };
}

/** A finished run as this checkpoint leaves it: the reader still sees it as it was. */
interface OpenRun extends ListName {
  readonly key: Uint8Array;
  entries: readonly FinishedEntry[];
  hasChanged: boolean;
}

/** What one checkpoint lets go. */
export class Forgetting {
  readonly #reader: StorageReader;
  readonly #counts: UserCounts;
  readonly #keys: KeyWriter = keyWriter();
  readonly #removedKeys: Uint8Array[] = [];
  /** By their keys, in hex. */
  readonly #runs = new Map<string, OpenRun>();
  /** Expiry runs of which a part remains. */
  readonly #remaining: { readonly finishedRun: Uint8Array; readonly entries: readonly ExpiryEntry[] }[] = [];

  constructor(reader: StorageReader, counts: UserCounts) {
    this.#reader = reader;
    this.#counts = counts;
  }

  *writes(to: ByteWriter): Generator<Write, void, undefined> {
    for (const key of this.#removedKeys) yield { key, value: null };
    for (const { key, entries, hasChanged } of this.#runs.values()) {
      if (!hasChanged) continue;
      yield { key, value: entries.length === 0 ? null : encodeRun(to, key, entries, FINISHED_RUNS.write) };
    }
    for (const { finishedRun, entries } of this.#remaining) yield writeExpiry(to, finishedRun, entries);
  }

  /** Orders whose last update is before `beforeNs`, with all that remembers them. */
  forgetExpired(beforeNs: TimestampNs): void {
    const from = this.#keys.table(TABLE.expiryRun);
    const to = this.#keys.expiryRunsFrom(beforeNs);
    let expired = 0;
    for (const run of this.#reader.entries({ from, to, perStep: RUNS_PER_STEP })) {
      expired += this.#forgetExpiredOf(run, beforeNs);
      if (expired >= EXPIRED_PER_CHECKPOINT_MAX) return;
    }
  }

  /**
   * The oldest written orders of users who have more than their limit, what this checkpoint adds included. Runs go one
   * after the other: an order that rested for long may stay a little longer than younger ones.
   */
  forgetOverLimit(perUserMax: number): void {
    for (const { user, count } of this.#counts.users(TABLE.finishedCount)) {
      let excess = count - perUserMax;
      if (excess <= 0) continue;
      for (const { run, entry } of this.#oldestFirst(user)) {
        this.#removeRecords(run, new Set([entry.orderSequence]));
        excess -= 1;
        if (excess === 0) break;
      }
    }
  }

  /** @returns how many orders it was about. */
  #forgetExpiredOf({ key, value }: Entry, beforeNs: TimestampNs): number {
    const entries = decodeRun({ key, value }, readExpiryEntry);
    const expired = entries.filter(({ lastUpdateNs }) => lastUpdateNs < beforeNs);
    const finishedRun = key.subarray(EXPIRY_PREFIX_BYTES);
    const run = this.#runAt(finishedRun);
    this.#removeRecords(run, new Set(expired.map(({ orderSequence }) => orderSequence)));
    for (const entry of expired) this.#removeId(run, entry);
    this.#removedKeys.push(key);
    if (expired.length < entries.length) {
      this.#remaining.push({ finishedRun, entries: entries.filter(({ lastUpdateNs }) => lastUpdateNs >= beforeNs) });
    }
    return expired.length;
  }

  /** The finished run under that key, empty when nothing of it is left. */
  #runAt(key: Uint8Array, value: Uint8Array | null = this.#reader.get(key)): OpenRun {
    const name = Buffer.from(key).toString('hex');
    let run = this.#runs.get(name);
    if (run === undefined) {
      const entries = value === null ? [] : decodeRun({ key, value }, FINISHED_RUNS.read);
      run = { key, ...listNameOf(key), entries, hasChanged: false };
      this.#runs.set(name, run);
    }
    return run;
  }

  /** What is left of a user's written orders: in each market run after run, oldest entry first, the markets merged. */
  *#oldestFirst(user: UserId): Generator<{ readonly run: OpenRun; readonly entry: FinishedEntry }, void, undefined> {
    const lists = marketsWithCount(this.#reader, TABLE.finishedCount, user).flatMap((marketIndex) => {
      const entries = this.#oldestOfMarket({ user, marketIndex });
      const next = entries.next().value;
      return next === undefined ? [] : [{ entries, next }];
    });
    for (;;) {
      const oldest = leastOf(lists, (a, b) => FINISHED_RUNS.compare(b.next.entry, a.next.entry));
      if (oldest === undefined) return;
      yield oldest.next;
      const next = oldest.entries.next().value;
      if (next === undefined) lists.splice(lists.indexOf(oldest), 1);
      else oldest.next = next;
    }
  }

  *#oldestOfMarket(name: ListName): Generator<{ readonly run: OpenRun; readonly entry: FinishedEntry }> {
    for (const { key, value } of runsOf(this.#reader, TABLE.finishedRun, name, false)) {
      const run = this.#runAt(key, value);
      for (const entry of [...run.entries].reverse()) yield { run, entry };
    }
  }

  /** Removes those of the orders that are in the run: their records and their entries. */
  #removeRecords(run: OpenRun, sequences: ReadonlySet<Sequence>): void {
    const kept = run.entries.filter(({ orderSequence }) => !sequences.has(orderSequence));
    const removedCount = run.entries.length - kept.length;
    if (removedCount === 0) return;
    for (const { orderSequence } of run.entries) {
      if (!sequences.has(orderSequence)) continue;
      this.#removedKeys.push(this.#keys.ofMarket(TABLE.finishedOrder, run.marketIndex, orderSequence));
    }
    run.entries = kept;
    run.hasChanged = true;
    this.#counts.add(TABLE.finishedCount, run.user, run.marketIndex, -removedCount);
  }

  /** Forgets the id, unless a later order has taken it. */
  #removeId({ user, marketIndex }: ListName, { orderId, orderSequence }: ExpiryEntry): void {
    const key = this.#keys.finishedById(user, marketIndex, orderId);
    const value = this.#reader.get(key);
    if (value === null) return;
    const remembered = decodeFrame(key, value, readRememberedOrder);
    if (remembered.orderSequence === orderSequence) this.#removedKeys.push(key);
  }
}
