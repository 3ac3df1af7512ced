/**
 * The tables as the order manager's reads want them (src/orders/order-history.ts): one version of the map per `read`,
 * with the exact order of ties.
 *
 * The lists of the map break ties by market index. Readers are promised the asset's order for trades, and market index
 * upwards for orders, so a window somewhat larger than the page is read and sorted; ties are as many as markets at most.
 */
import type { OrderRow } from '../clearing/rows.ts';
import { compareAssetIds, type OrderId, type UserId } from '../core/ids.ts';
import type { Sequence } from '../core/units.ts';
import type { HistoryQuery, HistorySnapshot, HistoryTrade, OrderHistory } from '../orders/order-history.ts';
import type { StorageReader } from './environment.ts';
import { History, type HistoryPage, type HistoryRequest } from './history.ts';
import { keyWriter, TABLE } from './key-layout.ts';
import { decodeRow } from './row-codecs.ts';

/** Rows on either side of a page that may tie with it: two sides of a trade in this many markets. */
const TIES_MAX = 256;
/** Rows per step when a filter has to look at all of a user's. */
const ROWS_PER_STEP = 512;

type Pages<Row> = (request: HistoryRequest) => HistoryPage<Row>;

export class TableHistory implements OrderHistory {
  private readonly reader: StorageReader;
  private readonly history: History;

  constructor(reader: StorageReader) {
    this.reader = reader;
    this.history = new History(reader);
  }

  read<T>(reader: (snapshot: HistorySnapshot) => T): T {
    return this.reader.view(() => reader(new TableSnapshot(this.reader, this.history)));
  }
}

class TableSnapshot implements HistorySnapshot {
  private readonly reader: StorageReader;
  private readonly history: History;
  private readonly assets = new Map<number, string>();

  constructor(reader: StorageReader, history: History) {
    this.reader = reader;
    this.history = history;
  }

  marketSequence(marketIndex: number): number {
    return this.market(marketIndex)?.sequence ?? 0;
  }

  lastTradeId(marketIndex: number): number {
    return this.market(marketIndex)?.lastTradeId ?? 0;
  }

  isFinished(marketIndex: number, orderSequence: number): boolean {
    return this.reader.get(keyWriter().ofMarket(TABLE.finishedOrder, marketIndex, orderSequence as Sequence)) !== null;
  }

  findOrder(user: UserId, marketIndex: number, orderId: OrderId): OrderRow | undefined {
    return this.history.finishedOrder(user, marketIndex, orderId) ?? undefined;
  }

  finishedOrders(query: HistoryQuery, offset: number, limit: number): readonly OrderRow[] {
    const { subAccounts } = query;
    const isMeant = (row: OrderRow): boolean => subAccounts === null || subAccounts.includes(row.subAccount);
    return this.page((request) => this.history.finishedOrders(request), query, {
      offset,
      limit,
      isMeant,
      compare: compareOrders,
    });
  }

  countFinishedOrders(query: HistoryQuery): number {
    const { subAccounts } = query;
    if (subAccounts === null) return this.history.finishedOrders({ ...placeOf(query), skip: 0, limit: 0 }).total;
    const pages: Pages<OrderRow> = (request) => this.history.finishedOrders(request);
    return count(pages, query, (row) => subAccounts.includes(row.subAccount));
  }

  trades(query: HistoryQuery, offset: number, limit: number): readonly HistoryTrade[] {
    const { subAccounts } = query;
    const isMeant = (side: HistoryTrade): boolean => subAccounts === null || subAccounts.includes(subAccountOf(side));
    const compare = (a: HistoryTrade, b: HistoryTrade): number => this.compareTrades(a, b);
    return this.page((request) => this.tradePages(request), query, { offset, limit, isMeant, compare });
  }

  countTrades(query: HistoryQuery): number {
    const { subAccounts } = query;
    if (subAccounts === null) return this.history.userTrades({ ...placeOf(query), skip: 0, limit: 0 }).total;
    return count(
      (request) => this.tradePages(request),
      query,
      (side) => subAccounts.includes(subAccountOf(side)),
    );
  }

  private tradePages(request: HistoryRequest): HistoryPage<HistoryTrade> {
    const page = this.history.userTrades(request);
    return { ...page, rows: page.rows.map(({ trade, isMaker }) => ({ row: trade, isMaker })) };
  }

  private page<Row>(
    pages: Pages<Row>,
    query: HistoryQuery,
    want: {
      readonly offset: number;
      readonly limit: number;
      readonly isMeant: (row: Row) => boolean;
      readonly compare: (a: Row, b: Row) => number;
    },
  ): readonly Row[] {
    const { offset, limit, isMeant, compare } = want;
    if (query.subAccounts !== null) {
      return [...rowsOf(pages, query)]
        .filter(isMeant)
        .sort(compare)
        .slice(offset, offset + limit);
    }
    const skip = Math.max(0, offset - TIES_MAX);
    const window = pages({ ...placeOf(query), skip, limit: offset - skip + limit + TIES_MAX }).rows;
    return [...window].sort(compare).slice(offset - skip, offset - skip + limit);
  }

  private compareTrades(a: HistoryTrade, b: HistoryTrade): number {
    if (a.row.matchedNs !== b.row.matchedNs) return a.row.matchedNs > b.row.matchedNs ? -1 : 1;
    if (a.row.tradeId !== b.row.tradeId) return b.row.tradeId - a.row.tradeId;
    if (a.row.marketIndex !== b.row.marketIndex) {
      return compareAssetIds(this.assetOf(a.row.marketIndex), this.assetOf(b.row.marketIndex));
    }
    return Number(a.isMaker) - Number(b.isMaker);
  }

  private assetOf(marketIndex: number): Parameters<typeof compareAssetIds>[0] {
    let asset = this.assets.get(marketIndex);
    if (asset === undefined) {
      asset = this.market(marketIndex)?.definition.assetId ?? '';
      this.assets.set(marketIndex, asset);
    }
    return asset as Parameters<typeof compareAssetIds>[0];
  }

  private market(marketIndex: number): ReturnType<typeof decodeMarket> | null {
    const key = keyWriter().market(marketIndex);
    const value = this.reader.get(key);
    return value === null ? null : decodeMarket(key, value);
  }
}

function decodeMarket(key: Uint8Array, value: Uint8Array): ReturnType<typeof decodeRow<'market'>> {
  return decodeRow('market', key, value);
}

function placeOf({ user, marketIndex }: HistoryQuery): { readonly user: UserId; readonly marketIndex: number | null } {
  return { user, marketIndex };
}

function subAccountOf({ row, isMaker }: HistoryTrade): number {
  return isMaker ? row.maker.subAccount : row.taker.subAccount;
}

function* rowsOf<Row>(pages: Pages<Row>, query: HistoryQuery): Generator<Row> {
  for (let skip = 0; ; skip += ROWS_PER_STEP) {
    const { rows } = pages({ ...placeOf(query), skip, limit: ROWS_PER_STEP });
    yield* rows;
    if (rows.length < ROWS_PER_STEP) return;
  }
}

function count<Row>(pages: Pages<Row>, query: HistoryQuery, isMeant: (row: Row) => boolean): number {
  let sum = 0;
  for (const row of rowsOf(pages, query)) if (isMeant(row)) sum += 1;
  return sum;
}

function compareOrders(a: OrderRow, b: OrderRow): number {
  if (a.timestampNs !== b.timestampNs) return a.timestampNs > b.timestampNs ? -1 : 1;
  if (a.orderId !== b.orderId) return a.orderId > b.orderId ? -1 : 1;
  return a.marketIndex - b.marketIndex || a.orderSequence - b.orderSequence;
}
