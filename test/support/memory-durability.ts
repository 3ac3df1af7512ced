/**
 * Clearing's disk as the simulation has it: what was appended is flushed, a checkpoint is whole, and a kill keeps both.
 * Rows are kept by the keys that rows.ts names.
 */
import type {
  CheckpointMark,
  Durability,
  DurableIds,
  JournalSize,
  Recovery,
  Tombstone,
} from '../../src/clearing/durability.ts';
import {
  type MarketRow,
  type OrderRow,
  plainRow,
  type RowWrite,
  type SignedText,
  type SignedTextRow,
  type TradeRow,
} from '../../src/clearing/rows.ts';
import { LOAD_ORDER } from '../../src/clearing/tables.ts';
import { ORDER_LIFE_NS } from '../../src/core/limits.ts';
import { isCancel } from '../../src/core/order-terms.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import type { PastOrder } from '../../src/gateway/orders/history/order-history.ts';

interface Journaled {
  readonly sequence: Sequence;
  readonly epoch: number;
  readonly timeNs: TimestampNs;
  readonly payload: Uint8Array;
  readonly hash: Uint8Array;
}

/** Nothing chains the records of this journal. */
const NO_HASH = new Uint8Array(32);

function keyOf({ table, row }: RowWrite): string {
  switch (table) {
    case 'user':
    case 'signers':
      return row.user;
    case 'subAccount':
      return `${row.user} ${row.subAccount}`;
    case 'balance':
    case 'position':
      return `${row.user} ${row.subAccount} ${row.asset}`;
    case 'order':
    case 'signedText':
      return `${row.marketIndex} ${String(row.orderSequence).padStart(16, '0')}`;
    case 'trade':
      return `${row.marketIndex} ${String(row.tradeId).padStart(16, '0')}`;
    case 'withdrawal':
    case 'settlement':
      return `${row.user} ${String(row.place).padStart(3, '0')}`;
    case 'usedText':
      return `${row.user} ${String(row.place).padStart(8, '0')}`;
    case 'signedApproval':
      return String(row.place).padStart(8, '0');
    case 'chainCursor':
      return `${row.chainId} ${row.event}`;
    case 'cursorEvent':
      return `${row.chainId} ${String(row.place).padStart(8, '0')} ${row.event}`;
    case 'protection':
      return `${row.user} ${row.marketIndex} ${row.slot}`;
    case 'lot':
      return `${row.user} ${String(row.place).padStart(3, '0')} ${row.asset}`;
    case 'netDeposit':
    case 'vaultDeviation':
      return `${row.chainId} ${row.asset}`;
    case 'unclaimed':
      return `${row.chainId} ${row.user} ${String(row.counter).padStart(16, '0')}`;
    case 'pooledCredits':
    case 'rebalancingPool':
      return row.asset;
    case 'withdrawalUsage':
      return `${row.user} ${row.asset}`;
    case 'forcedCounter':
    case 'withdrawalCounter':
      return `${row.chainId} ${row.user}`;
    case 'settlementCounter':
      return `${row.chainId} ${row.user} ${String(row.subAccount).padStart(3, '0')}`;
    case 'vaultToken':
    case 'payoutReserve':
      return `${row.chainId} ${row.token}`;
    case 'asset':
      return row.assetId.padStart(8, '0');
    case 'market':
      return String(row.definition.marketIndex).padStart(8, '0');
    case 'price':
    case 'mark':
    case 'totals':
      return row.asset;
    case 'deposit':
      return `${row.chainId} ${row.tx} ${row.logIndex}`;
    case 'config':
      return `${row.kind} ${row.key}`;
    case 'tally':
      return row.name;
    case 'liquidation':
      return `${row.user} ${String(row.subAccount).padStart(3, '0')}`;
    case 'backstop':
      return String(row.index).padStart(3, '0');
    case 'quoteSet':
      return `${String(row.marketIndex).padStart(8, '0')} ${row.user} ${row.slot}`;
    case 'adlUsage':
      return String(row.marketIndex).padStart(8, '0');
  }
}

function nameOf({ user, marketIndex, orderId }: Pick<OrderRow, 'user' | 'marketIndex' | 'orderId'>): string {
  return `${user} ${marketIndex} ${orderId}`;
}

export class MemoryDurability implements Durability {
  readonly journal: Journaled[] = [];
  readonly #tables = new Map<string, Map<string, RowWrite>>();
  /** In the order in which they ended. */
  readonly #finished: OrderRow[] = [];
  readonly #finishedById = new Map<string, OrderRow>();
  #mark: CheckpointMark | null = null;

  recover(): Recovery {
    const from = this.#mark?.sequence ?? 0;
    const rows = LOAD_ORDER.flatMap((table) => this.#rows(table));
    const batches = this.journal.filter((record) => record.sequence > from);
    return {
      checkpoint: this.#mark,
      rows,
      rowCount: rows.length,
      orderCount: rows.filter(({ table }) => table === 'order').length,
      lastTimeNs: this.journal.at(-1)?.timeNs ?? (0n as TimestampNs),
      batches,
      batchCount: batches.length,
    };
  }

  append(timeNs: TimestampNs, payload: Uint8Array): Sequence {
    const sequence = (this.journal.length + 1) as Sequence;
    this.journal.push({ sequence, epoch: 0, timeNs, payload: payload.slice(), hash: NO_HASH });
    return sequence;
  }

  checkpoint(mark: CheckpointMark, rows: readonly RowWrite[]): void {
    this.#mark = mark;
    for (const given of rows) {
      // An accessor of a record is over when the order changes.
      const write = given.table === 'order' ? { ...given, row: plainRow(given.row) } : given;
      if (write.isForgotten === true) {
        this.#tables.get(write.table)?.delete(keyOf(write));
        continue;
      }
      if (write.table === 'order' && write.row.end !== 0) {
        this.#finished.push(write.row);
        this.#finishedById.set(nameOf(write.row), write.row);
      }
      const table = this.#tables.get(write.table) ?? new Map<string, RowWrite>();
      table.set(keyOf(write), write);
      this.#tables.set(write.table, table);
    }
  }

  /** No part of it is ever evicted. */
  prune(): boolean {
    return true;
  }

  get lastRecord(): Durability['lastRecord'] {
    return { hash: NO_HASH, epoch: 0 };
  }

  get journalSize(): JournalSize {
    return { firstSequence: 1 as Sequence, bytes: this.journal.reduce((sum, { payload }) => sum + payload.length, 0) };
  }

  *rememberedIds(nowNs: TimestampNs): Generator<Tombstone> {
    yield* tombstonesOf(this.#finished, nowNs);
  }

  /** No test lets a user have so many ids that one is evicted. */
  idWatermarks(): readonly DurableIds[] {
    return [];
  }

  close(): void {}

  signedText(marketIndex: number, orderSequence: Sequence): SignedText | null {
    const key = keyOf({ table: 'signedText', row: { marketIndex, orderSequence } as SignedTextRow });
    return (this.#tables.get('signedText')?.get(key)?.row as SignedTextRow | undefined) ?? null;
  }

  /** Confirmed trades that the tables hold, oldest first. */
  trades(): readonly TradeRow[] {
    return this.#rows('trade').map((write) => write.row as TradeRow);
  }

  /** A copy that a kill at this moment would leave. */
  afterKill(): MemoryDurability {
    const copy = new MemoryDurability();
    for (const record of this.journal) copy.journal.push(record);
    for (const [name, table] of this.#tables) copy.#tables.set(name, new Map(table));
    for (const row of this.#finished) copy.#finished.push(row);
    for (const [name, row] of this.#finishedById) copy.#finishedById.set(name, row);
    copy.#mark = this.#mark;
    return copy;
  }

  /** A finished order that the tables hold. */
  finishedOrder(name: Pick<OrderRow, 'user' | 'marketIndex' | 'orderId'>): PastOrder | undefined {
    const row = this.#finishedById.get(nameOf(name));
    if (row === undefined) return undefined;
    const text = this.signedText(row.marketIndex, row.orderSequence)?.text ?? '';
    return {
      ...row,
      parentId: text.slice(row.parentIdAt, row.parentIdAt + row.parentIdBytes) as PastOrder['parentId'],
    };
  }

  /** The market's row as the tables hold it. */
  market(marketIndex: number): MarketRow | undefined {
    return this.#tables.get('market')?.get(String(marketIndex).padStart(8, '0'))?.row as MarketRow | undefined;
  }

  #rows(table: string): RowWrite[] {
    const entries = [...(this.#tables.get(table) ?? [])];
    return entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, write]) => write);
  }
}

/** The ids that the markets must remember at a start. Clearing keeps no finished orders: feed it the order table. */
export function* tombstonesOf(rows: Iterable<OrderRow>, nowNs: TimestampNs): Generator<Tombstone> {
  for (const row of rows) {
    if (row.end === 0 || row.creationNs + ORDER_LIFE_NS <= nowNs) continue;
    const { marketIndex, user, orderId, creationNs } = row;
    yield { marketIndex, user, orderId, creationNs, wasCancelled: isCancel(row.end) };
  }
}
