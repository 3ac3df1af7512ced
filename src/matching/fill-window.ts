/**
 * A sliding window of fills and their sums (MMP-03).
 *
 * It has at most WINDOW_ENTRIES_MAX entries. Beyond, the oldest two become one with the time of the younger: these fills
 * count a little longer than the window, never shorter, and their rollback is not subtracted.
 */
import { PROTECTED_FILLS_MAX } from '../core/limits.ts';

/** Entries of one window: 1,024 of about 100 bytes. */
export const WINDOW_ENTRIES_MAX: number = PROTECTED_FILLS_MAX + 24;

/** What members have traded. */
export interface Count {
  fills: number;
  lots: bigint;
  money: bigint;
}

interface Entry extends Count {
  /** 0 of an entry that stands for several trades. */
  tradeId: number;
  ns: bigint;
}

/** The fills of a window, oldest first, and their sums. */
export class FillWindow implements Readonly<Count> {
  fills = 0;
  lots = 0n;
  money = 0n;
  #entries: Entry[] = [];
  /** Entries before it have left the window. */
  #head = 0;

  get size(): number {
    return this.#entries.length - this.#head;
  }

  /** @param ns not before that of the last one. */
  add(tradeId: number, ns: bigint, fills: number, lots: bigint, money: bigint): void {
    if (this.size === WINDOW_ENTRIES_MAX) this.#mergeOldest();
    this.#entries.push({ tradeId, ns, fills, lots, money });
    this.fills += fills;
    this.lots += lots;
    this.money += money;
  }

  /** Entries at this time and before leave. */
  slideTo(ns: bigint): void {
    for (
      let entry = this.#entries[this.#head];
      entry !== undefined && entry.ns <= ns;
      entry = this.#entries[this.#head]
    ) {
      this.#subtract(entry);
      this.#head += 1;
    }
    // Removed in runs, so that an entry costs one move at most.
    if (this.#head > this.#entries.length - this.#head) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
  }

  /** @returns whether the trade was in the window, with an entry of its own. */
  remove(tradeId: number): boolean {
    const at = this.#entries.findLastIndex((entry) => entry.tradeId === tradeId);
    if (at < this.#head) return false;
    this.#subtract(this.#entries[at] as Entry);
    this.#entries.splice(at, 1);
    return true;
  }

  clear(): void {
    this.#entries = [];
    this.#head = 0;
    this.fills = 0;
    this.lots = 0n;
    this.money = 0n;
  }

  #subtract({ fills, lots, money }: Count): void {
    this.fills -= fills;
    this.lots -= lots;
    this.money -= money;
  }

  #mergeOldest(): void {
    const older = this.#entries[this.#head] as Entry;
    const younger = this.#entries[this.#head + 1] as Entry;
    this.#head += 1;
    this.#entries[this.#head] = {
      tradeId: 0,
      ns: younger.ns,
      fills: older.fills + younger.fills,
      lots: older.lots + younger.lots,
      money: older.money + younger.money,
    };
  }
}
