/**
 * What the reads need of the tables; storage implements it with one read transaction per `read`.
 *
 * Orders come newest first: `timestampNs` descending, `orderId` by bytes descending, market index and then order
 * sequence ascending. Trades likewise: `matchedNs` descending, `tradeId` descending, asset ascending as
 * `compareAssetIds` has it, and of a self-match the taker's side first (PAG-02, PAG-03, AMB-35).
 */
import type { OrderRow, TradeRow } from '../../../clearing/rows.ts';
import type { OrderId, UserId } from '../../../core/ids.ts';
import type { MarketDefinition } from '../../../core/market-definition.ts';

export interface HistoryQuery {
  readonly user: UserId;
  /** Null for all markets. */
  readonly marketIndex: number | null;
  /** Null for all sub-accounts. */
  readonly subAccounts: readonly number[] | null;
}

/** One side of a confirmed trade; a self-match is two of these. */
export interface HistoryTrade {
  readonly row: TradeRow;
  readonly isMaker: boolean;
}

/** What orders are sorted by: timestamp and id, both descending (PAG-02). */
export interface OrderPlace {
  readonly timeNs: bigint;
  readonly name: string;
  readonly marketIndex: number;
  readonly sequence: number;
}

/** Some of a list, and how many there are of it. */
export interface HistoryWindow<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** A finished order with the id of its parent, as signed; '' of an order that is no child. */
export type PastOrder = OrderRow & { readonly parentId: OrderId | '' };

/** Inclusive; null: any. */
export interface TimeRange {
  readonly fromNs: bigint | null;
  readonly toNs: bigint | null;
}

/** One checkpoint's tables, standing still while it is read. */
export interface HistorySnapshot {
  /** The last sequence of the market that the tables reflect; 0 for a market they do not know. */
  marketSequence(marketIndex: number): number;
  /** Every confirmed trade of the market up to this id is in the tables, and no later one. */
  lastTradeId(marketIndex: number): number;
  /**
   * Whether the order is in the tables as finished (`end` is not 0), or was; or a later one of its id, which has the same meaning.
   *
   * @param orderId its own.
   */
  isFinished(user: UserId, marketIndex: number, orderId: OrderId, orderSequence: number): boolean;
  /**
   * Bits of ORDER_FLAG of an order, live or finished; null when its record is gone or a later one has its id.
   *
   * @param orderId its own.
   */
  orderFlags(user: UserId, marketIndex: number, orderId: OrderId, orderSequence: number): number | null;
  /** A finished order by its id. */
  findOrder(user: UserId, marketIndex: number, orderId: OrderId): PastOrder | undefined;
  /** Finished orders, newest first. */
  finishedOrders(query: HistoryQuery, offset: number, limit: number): HistoryWindow<PastOrder>;
  /**
   * The same one after another, until `look` returns false: each list is read once.
   *
   * @param look is given an order to be read during the call, and what makes a row of it.
   */
  scanFinished(query: HistoryQuery, look: (order: OrderRow, rowOf: () => PastOrder) => boolean): void;
  /**
   * How many finished orders of the query come before each place.
   *
   * @param places newest first.
   * @param rank what is more than that need not be exact, but is more than that.
   */
  finishedBefore(query: HistoryQuery, places: readonly OrderPlace[], rank: number): readonly number[];
  /** The user's sides of confirmed trades, newest first; `subAccounts` is about the user's side. */
  trades(query: HistoryQuery, offset: number, limit: number): HistoryWindow<HistoryTrade>;
  /** Those matched within the times one after another, until `look` returns false: each list is read once. */
  scanTrades(query: HistoryQuery, times: TimeRange, look: (entry: HistoryTrade) => boolean): void;
  /** The market of a row: what of it rows are printed with never changes. */
  definition(marketIndex: number): MarketDefinition;
}

export interface OrderHistory {
  read<T>(reader: (snapshot: HistorySnapshot) => T): T;
}
