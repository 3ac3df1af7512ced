/**
 * Clearing's disk in the simulation: a memory that can lose power at a write, before it is kept or just after, and the
 * tables as the gateway reads them.
 */

import type { CheckpointMark } from '../../src/clearing/durability.ts';
import type { RowWrite } from '../../src/clearing/rows.ts';
import { must } from '../../src/core/assert.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import type { HistorySnapshot, OrderHistory } from '../../src/gateway/orders/history/order-history.ts';
import { MemoryDurability } from '../support/memory-durability.ts';
import type { LifeOptions } from './script.ts';

/** The power went. No running actor would have seen it. */
export class PowerLost extends Error {}

/** `lost`: the write is not there afterwards; `kept`: it is, without having been reported. */
export interface PowerCut {
  readonly after: number;
  readonly write: 'lost' | 'kept';
}

export class Disk extends MemoryDurability {
  /** The cut that is to come, or that came. */
  next: (PowerCut & { readonly options: LifeOptions }) | null = null;
  /** The power has gone. */
  isDark = false;
  #left = 0;

  /** The power goes at the `after`-th write from now, checkpoints included. */
  cutPower(cut: PowerCut & { readonly options: LifeOptions }): void {
    this.next = cut;
    this.#left = cut.after;
  }

  restorePower(): void {
    this.next = null;
    this.isDark = false;
  }

  override append(timeNs: TimestampNs, payload: Uint8Array): Sequence {
    const isCut = this.#isCut();
    if (isCut && this.next?.write === 'lost') throw new PowerLost();
    const sequence = super.append(timeNs, payload);
    if (isCut) throw new PowerLost();
    return sequence;
  }

  override checkpoint(mark: CheckpointMark, rows: readonly RowWrite[]): void {
    const isCut = this.#isCut();
    if (isCut && this.next?.write === 'lost') throw new PowerLost();
    super.checkpoint(mark, rows);
    if (isCut) throw new PowerLost();
  }

  #isCut(): boolean {
    if (this.next === null) return false;
    this.#left -= 1;
    this.isDark = this.#left < 0;
    return this.isDark;
  }
}

/** The tables of a disk, as far as the simulation reads them: finished orders by their id. */
export function historyOfDisk(disk: MemoryDurability): OrderHistory {
  const none = { rows: [], total: 0 };
  const snapshot: HistorySnapshot = {
    marketSequence: (marketIndex) => disk.market(marketIndex)?.sequence ?? 0,
    lastTradeId: (marketIndex) => disk.market(marketIndex)?.lastTradeId ?? 0,
    isFinished: () => false,
    orderFlags: () => null,
    findOrder: (user, marketIndex, orderId) => disk.finishedOrder({ user, marketIndex, orderId }),
    finishedOrders: () => none,
    scanFinished: () => undefined,
    scanTrades: () => undefined,
    finishedBefore: (_, places) => places.map(() => 0),
    trades: () => none,
    definition: (marketIndex) => must(disk.market(marketIndex), 'a market of the tables').definition,
  };
  return { read: (reader) => reader(snapshot) };
}
