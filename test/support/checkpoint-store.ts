/** A storage with its journal and checkpoints in a temporary directory, and plain rows to put into it. */

import type { OrderRow, RowWrite, SignedTextRow, TradeRow } from '../../src/clearing/rows.ts';
import type { OrderId, UserId } from '../../src/core/ids.ts';
import { ORDER_END, ORDER_KIND, SIDE, TIF, TRIGGER, TRIGGER_STATE } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../../src/core/units.ts';
import type { PastOrder } from '../../src/gateway/orders/history/order-history.ts';
import { type CheckpointWrite, CheckpointWriter } from '../../src/storage/checkpoint.ts';
import { openWriter, type StorageWriter } from '../../src/storage/environment.ts';
import type { FinishedLimits } from '../../src/storage/finished-orders.ts';
import { History } from '../../src/storage/history.ts';
import { Journal } from '../../src/storage/journal.ts';
import { EMPTY_ORDER } from './empty-order.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export class CheckpointStore {
  readonly directory: string;
  readonly writer: StorageWriter;
  readonly journal: Journal;
  readonly checkpoints: CheckpointWriter;
  readonly history: History;

  constructor(directory: string = temporaryDirectory(), limits: Partial<FinishedLimits> = {}) {
    this.directory = directory;
    this.writer = openWriter(directory);
    this.journal = new Journal(this.writer);
    this.checkpoints = new CheckpointWriter(this.writer, { recordsPerUser: 100_000, idsPerList: 1_000_000, ...limits });
    this.history = new History(this.writer);
  }

  /** One journal record and a checkpoint right after it. */
  checkpoint(rows: Iterable<RowWrite>, more: Partial<CheckpointWrite> = {}): void {
    const sequence = this.journal.append(1n as TimestampNs, new Uint8Array(8));
    const stateHash = new Uint8Array(32).fill(sequence);
    const { lastHash } = this.journal;
    this.checkpoints.write({
      sequence,
      journalHash: lastHash,
      stateHash,
      clean: false,
      journalBytes: 0,
      rows,
      ...more,
    });
  }

  close(): Promise<void> {
    return this.writer.close();
  }
}

export const userOf = (byte: number): UserId => byte.toString(16).padStart(2, '0').repeat(32) as UserId;

/** A finished order of user 1 by default. */
export function order(sequence: number, more: Partial<OrderRow> = {}): OrderRow {
  const time = BigInt(sequence) as TimestampNs;
  return {
    ...EMPTY_ORDER,
    orderSequence: sequence as Sequence,
    prioritySequence: sequence as Sequence,
    user: userOf(1),
    subAccount: 1,
    orderId: `order-${sequence}` as OrderId,
    side: SIDE.buy,
    kind: ORDER_KIND.limit,
    tif: TIF.gtc,
    flags: 4,
    price: 100 as RawPrice,
    quantity: 10 as RawQuantity,
    triggerKind: TRIGGER.none,
    triggerState: TRIGGER_STATE.live,
    enabledQuantity: 10,
    maxFeeRate: 1000,
    creationNs: time,
    timestampNs: time,
    admittedNs: time,
    lastUpdateNs: time,
    filledQuantity: 10,
    filledNotional: 5n as Amount18,
    fees: -1n as Amount18,
    end: ORDER_END.filled,
    verdict: 1,
    ...more,
  };
}

/** A finished order without a parent as history shows it. */
export function past(row: OrderRow): PastOrder {
  return { ...row, parentId: '' };
}

/** The signed text of an order of market 0 by default. */
export function signedText(sequence: number, more: Partial<SignedTextRow> = {}): SignedTextRow {
  const signatures = new Uint8Array(64).fill(sequence);
  return { marketIndex: 0, orderSequence: sequence as Sequence, text: `{"order":${sequence}}`, signatures, ...more };
}

/** A trade between users 1 (maker) and 2 by default. */
export function trade(tradeId: number, more: Partial<TradeRow> = {}): TradeRow {
  const side = { subAccount: 1, orderSequence: tradeId as Sequence, fee: 1n as Amount18 };
  return {
    marketIndex: 0,
    tradeId: tradeId as Sequence,
    price: 100 as RawPrice,
    quantity: 1 as RawQuantity,
    matchedNs: BigInt(tradeId) as TimestampNs,
    takerSide: SIDE.sell,
    isLiquidation: false,
    isAutoDeleverage: false,
    maker: { ...side, user: userOf(1), orderId: `m-${tradeId}` as OrderId },
    taker: { ...side, user: userOf(2), orderId: `t-${tradeId}` as OrderId },
    ...more,
  };
}
