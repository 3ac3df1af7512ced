/** Pages that read their part of the tables at once. */

import type { OrderReply } from '../../src/codec/shapes/order-record-shapes.ts';
import { must } from '../../src/core/assert.ts';
import { accepted } from '../../src/core/outcome.ts';
import type { UserTradeEvent } from '../../src/gateway/orders/book/order-events.ts';
import {
  AS_JSON,
  answerHistory,
  type HistoryRequest,
  type Show,
} from '../../src/gateway/orders/history/history-request.ts';
import type { OrderHistory } from '../../src/gateway/orders/history/order-history.ts';
import type { OrderPageQuery, PagePlan, RowPage, RowQuery } from '../../src/gateway/orders/history/pages.ts';
import { BasisFolds } from '../../src/gateway/orders/history/position-basis.ts';
import type { OrderManager } from '../../src/gateway/orders/order-manager.ts';
import type { PageReader } from '../../src/gateway/queries/history-thread.ts';

type Planner = Pick<OrderManager, 'planOrderPage' | 'planTradePage'>;
const NEVER = (): never => {
  throw new Error('a page holds rows of one kind');
};
export const ORDERS: Show<OrderReply> = { order: (view) => view, trade: NEVER };
export const TRADES: Show<UserTradeEvent> = { order: NEVER, trade: (trade) => trade };

export function orderPage(manager: Planner, history: OrderHistory, query: OrderPageQuery): RowPage<OrderReply> {
  return finished(manager.planOrderPage(query, ORDERS), history, ORDERS);
}

export function tradePage(manager: Planner, history: OrderHistory, query: RowQuery): RowPage<UserTradeEvent> {
  return finished(manager.planTradePage(query, TRADES), history, TRADES);
}

function finished<T>(plan: PagePlan<T>, history: OrderHistory, show: Show<T>): RowPage<T> {
  return planned(plan)(history, show);
}

/** The second step of a page, whenever it is taken; plans travel to another thread and back as JSON-like values. */
export function planned<T>({
  request,
  finish,
  requestAll,
  release,
}: PagePlan<T>): (history: OrderHistory, show: Show<T>) => RowPage<T> {
  const travelled = structuredClone(request);
  const answerTo = (history: OrderHistory, show: Show<T>, question: HistoryRequest | null) =>
    question === null ? null : history.read((snapshot) => answerHistory(snapshot, question, show));
  return (history, show) => {
    const page =
      finish(answerTo(history, show, travelled)) ?? finish(answerTo(history, show, structuredClone(requestAll())));
    const { rows, total } = must(page, 'a question about all of memory is always answered');
    const shown = { rows: rows.map((row) => row()), total };
    release();
    return shown;
  };
}

/** What the history thread does, without the thread. */
export function pagesOf(history: OrderHistory): PageReader {
  const folds = new BasisFolds();
  return {
    read: async (request) => accepted(history.read((snapshot) => answerHistory(snapshot, request, AS_JSON))),
    ledger: async () => accepted(null),
    basis: async (request) => accepted(history.read((snapshot) => folds.answer(snapshot, request))),
  };
}
