/** Lists: page envelopes with their counters, and bare arrays (wire.md 6.2, PAG-01). */

/** The lists, with the names of their members on the wire. */
const PAGE_LIST = {
  trades: { list: 'trades', total: 'total_trades' },
  positions: { list: 'positions', total: 'total_positions' },
  orders: { list: 'orders', total: 'total_orders' },
  markets: { list: 'markets', total: 'total_markets' },
} as const;

interface PageView {
  /** JSON texts of the rows of this page, in order. */
  readonly rows: readonly string[];
  /** From 0. */
  readonly page: number;
  /** As applied, at least 1. */
  readonly limit: number;
  /** Rows on all pages. */
  readonly total: number;
}

export function pageEnvelope(kind: keyof typeof PAGE_LIST, view: PageView): string {
  const names = PAGE_LIST[kind];
  const totalPages = Math.ceil(view.total / view.limit);
  const hasNext = view.page + 1 < totalPages;
  const total = `"${names.total}":${view.total},`;
  const window = `"page":${view.page},"limit":${view.limit},`;
  // The page of markets has its total first (wire-additions.md 5), the others behind the limit (wire.md 6.2).
  return (
    `{"${names.list}":${bareArray(view.rows)},${kind === 'markets' ? total + window : window + total}` +
    `"total_pages":${totalPages},"cursor_size":${view.rows.length},` +
    `"has_next_page":${hasNext},"next_page":${hasNext ? view.page + 1 : 'null'}}`
  );
}

/** @param rows JSON texts. */
export function bareArray(rows: readonly string[]): string {
  return `[${rows.join(',')}]`;
}
