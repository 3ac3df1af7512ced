/**
 * Reads of a user's own orders, trades, balances and ledger (wire.md 7.9 to 7.11).
 *
 * Pages are read a little in each turn of the event loop:
 *
 *   plan (what memory has) ─▶ history thread ─▶ print, some rows a turn ─▶ page
 *   └──── one page a turn ────┘                 └──── some rows of one page a turn ────┘
 *
 * A user's pages are read one after the other, and pages of several users in rotation, with the history thread too: however
 * many and however deep pages one user reads, another's waits for one of each user at most.
 *
 * Bounded: pages of a user, of users without funds, and of all; the fuller it is the fewer of one user, and what is more is
 * refused. Orders wait behind one plan or some rows at most.
 */
import type { LedgerRows, LedgerSelection } from '../../codec/ledger-page.ts';
import type { OrderReply } from '../../codec/shapes/order-record-shapes.ts';
import { assert, must } from '../../core/assert.ts';
import type { AssetId, OrderId, UserId } from '../../core/ids.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { InventoryBody } from '../orders/balances/inventory.ts';
import { jsonOf, type RowFilter, SCANNED_MAX } from '../orders/history/history-request.ts';
import type { PagePlan, RowPage, RowQuery } from '../orders/history/pages.ts';
import type { BasisPlan, BasisRow } from '../orders/history/position-basis.ts';
import type { OrderManager } from '../orders/order-manager.ts';
import type { PageReader } from './history-thread.ts';
import type { RegistryCache } from './registry-cache.ts';

const PAGES_MAX = 512;
/** Pages of one user while there are fewer than `all` in total; beyond the last pair, one. */
const PAGES_PER_USER: readonly (readonly [all: number, own: number])[] = [
  [256, 64],
  [384, 8],
];
/** Pages of all users without funds together. */
const PUBLIC_PAGES_MAX = 64;
/** Rows printed in one turn: well below a millisecond. */
const ROWS_PER_TURN = 50;
/** How often a page is planned again because the tables are ahead of this thread's view. */
const PLANS_MAX = 3;
/** Questions and trades of memory of one read of costs: what is more is added by the next read. */
const BASIS_STEPS_MAX = 32;
const BASIS_TRADES_PER_TURN = 256;
const BASIS_BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'many trades are being added up, try again');
const BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'too many pages are being read, try again');
const TOO_MANY_ROWS: Reject = reject(
  'INVALID_REQUEST',
  `a filter looks at most at ${SCANNED_MAX} rows: narrow start_time and end_time`,
  'start_time',
);
const NO_MARKET: Reject = reject('MARKET_NOT_FOUND', 'there is no such market');
const NO_LEDGER: Reject = reject('NOT_FOUND', 'this venue keeps no ledger of its users: its row log is off');
const NO_ORDER: Reject = reject('ORDER_NOT_FOUND', 'there is no such order');

interface PageRequest {
  readonly user: UserId;
  /** Null for all markets. */
  readonly assetId: AssetId | null;
  readonly subAccounts: readonly number[] | null;
  readonly page: number;
  readonly limit: number;
  /** Given: rows as market data shows them, and which. */
  readonly filter?: RowFilter | null;
}

/** Which costs; null: of all markets, of all sub-accounts. */
type BasisRequest = Pick<PageRequest, 'user' | 'assetId' | 'subAccounts'>;

interface OrderQueriesParts {
  readonly orders: Pick<
    OrderManager,
    'planBasis' | 'planOrderPage' | 'planTradePage' | 'order' | 'inventory' | 'accountName' | 'accountNames'
  >;
  readonly registry: Pick<RegistryCache, 'definitions'>;
  readonly isFunded: (user: UserId) => boolean;
  readonly pages: PageReader;
}

export class OrderQueries {
  readonly #parts: OrderQueriesParts;
  readonly #queue: PageQueue;

  constructor(parts: OrderQueriesParts) {
    this.#parts = parts;
    this.#queue = new PageQueue(parts.pages);
  }

  /** Rows as JSON. MARKET_NOT_FOUND for an unknown market, SERVICE_UNAVAILABLE when too many pages are being read. */
  async orderPage(request: PageRequest & { readonly openOnly: boolean }): Promise<Outcome<RowPage<string>>> {
    const { user, openOnly } = request;
    const query = this.#queryOf(request);
    if (!query.ok) return query;
    const show = jsonOf(query.value);
    const plan = (): PagePlan<string> => this.#parts.orders.planOrderPage({ ...query.value, openOnly }, show);
    return this.#queue.page(user, plan, !this.#parts.isFunded(user));
  }

  /** As `orderPage`. */
  async tradePage(request: PageRequest): Promise<Outcome<RowPage<string>>> {
    const { user } = request;
    const query = this.#queryOf(request);
    if (!query.ok) return query;
    const show = jsonOf(query.value);
    const plan = (): PagePlan<string> => this.#parts.orders.planTradePage(query.value, show);
    return this.#queue.page(user, plan, !this.#parts.isFunded(user));
  }

  /**
   * What the positions of those sub-accounts cost, of all markets or one. MARKET_NOT_FOUND; SERVICE_UNAVAILABLE when too
   * many pages are being read, or while many trades are added for the first time.
   */
  async positionBasis({ user, assetId, subAccounts }: BasisRequest): Promise<Outcome<readonly BasisRow[]>> {
    const { definitions } = this.#parts.registry;
    const definition = assetId === null ? null : definitions.get(assetId);
    if (definition === undefined) return rejected(NO_MARKET);
    const markets = definition === null ? [...definitions.values()] : [definition];
    const marketIndexes = markets.map(({ marketIndex }) => marketIndex);
    const plan = (): BasisPlan => this.#parts.orders.planBasis(user, marketIndexes);
    const found = await this.#queue.basis(user, plan, !this.#parts.isFunded(user));
    return found.ok ? accepted(found.value.rows(subAccounts)) : found;
  }

  /**
   * Rows of the user's ledger, newest first. NOT_FOUND where the venue keeps no row log, SERVICE_UNAVAILABLE when too many
   * pages are being read.
   */
  async ledgerPage(user: UserId, query: Omit<LedgerSelection, 'user'>): Promise<Outcome<LedgerRows>> {
    const found = await this.#queue.ledger(user, { ...query, user }, !this.#parts.isFunded(user));
    if (!found.ok) return found;
    return found.value === null ? rejected(NO_LEDGER) : accepted(found.value);
  }

  order(user: UserId, assetId: AssetId, orderId: OrderId): Outcome<OrderReply> {
    const definition = this.#parts.registry.definitions.get(assetId);
    if (definition === undefined) return rejected(NO_MARKET);
    const record = this.#parts.orders.order({ user, marketIndex: definition.marketIndex, orderId });
    return record === undefined ? rejected(NO_ORDER) : accepted(record);
  }

  accountNames(user: UserId): readonly (readonly [index: number, name: string])[] {
    return this.#parts.orders.accountNames(user);
  }

  accountName(user: UserId, subAccount: number): string | null {
    return this.#parts.orders.accountName(user, subAccount);
  }

  inventory(user: UserId, subAccounts: readonly number[] | null): InventoryBody {
    return this.#parts.orders.inventory(user, subAccounts);
  }

  #queryOf({ user, assetId, subAccounts, page, limit, filter = null }: PageRequest): Outcome<RowQuery> {
    const definition = assetId === null ? null : this.#parts.registry.definitions.get(assetId);
    if (definition === undefined) return rejected(NO_MARKET);
    return accepted({ user, marketIndex: definition?.marketIndex ?? null, subAccounts, page, limit, filter });
  }
}

/** Pages of one user that are requested and not answered. */
interface Own {
  count: number;
  /** The last of them. */
  last: Promise<unknown>;
}

export class PageQueue {
  readonly #reader: PageReader;
  /** Ends with the last turn that was assigned. */
  #lastTurn: Promise<void> = Promise.resolve();
  readonly #users = new Map<UserId, Own>();
  #pages = 0;
  #publicPages = 0;

  constructor(reader: PageReader) {
    this.#reader = reader;
  }

  /**
   * @param plan takes what memory has; called when its turn comes, and again where memory was behind the tables.
   * @param isPublic for a user without funds.
   * @returns SERVICE_UNAVAILABLE when too many are pending.
   */
  page(user: UserId, plan: () => PagePlan<string>, isPublic = false): Promise<Outcome<RowPage<string>>> {
    return this.#queued(user, () => this.#read(plan), isPublic);
  }

  /** As `page`, for the cost of positions. */
  basis(user: UserId, plan: () => BasisPlan, isPublic = false): Promise<Outcome<BasisPlan>> {
    return this.#queued(user, () => this.#readBasis(plan), isPublic);
  }

  /** As `page`, of the row log. */
  ledger(user: UserId, query: LedgerSelection, isPublic = false): Promise<Outcome<LedgerRows | null>> {
    return this.#queued(user, () => this.#reader.ledger(query), isPublic);
  }

  async #queued<T>(user: UserId, read: () => Promise<Outcome<T>>, isPublic: boolean): Promise<Outcome<T>> {
    const own = this.#users.get(user) ?? { count: 0, last: Promise.resolve() };
    if (isPublic && this.#publicPages >= PUBLIC_PAGES_MAX) return rejected(BUSY);
    if (this.#pages >= PAGES_MAX || own.count >= this.#ownMax()) return rejected(BUSY);
    this.#pages += 1;
    own.count += 1;
    if (isPublic) this.#publicPages += 1;
    this.#users.set(user, own);
    const before = own.last;
    const page = before.then(read);
    own.last = page.catch(() => undefined);
    try {
      return await page;
    } finally {
      this.#pages -= 1;
      own.count -= 1;
      if (own.count === 0) this.#users.delete(user);
      if (isPublic) this.#publicPages -= 1;
    }
  }

  #ownMax(): number {
    return PAGES_PER_USER.find(([all]) => this.#pages < all)?.[1] ?? 1;
  }

  async #read(plan: () => PagePlan<string>): Promise<Outcome<RowPage<string>>> {
    for (let plans = 1; ; plans += 1) {
      const planned = await this.#inTurn(plan);
      try {
        const page = await this.#readPlan(planned, plans >= PLANS_MAX);
        if (page !== null) return page;
      } finally {
        planned.release();
      }
    }
  }

  async #readBasis(plan: () => BasisPlan): Promise<Outcome<BasisPlan>> {
    const planned = await this.#inTurn(plan);
    for (let steps = 0; steps < BASIS_STEPS_MAX; steps += 1) {
      const { request } = planned;
      if (request === null) return accepted(planned);
      const answer = await this.#reader.basis(request);
      if (!answer.ok) return answer;
      await this.#inTurn(() => planned.take(answer.value));
      while (await this.#inTurn(() => planned.add(BASIS_TRADES_PER_TURN)));
    }
    return planned.request === null ? accepted(planned) : rejected(BASIS_BUSY);
  }

  /** @returns null: the tables are ahead of memory, and it is not the last plan. */
  async #readPlan(
    { request, requestAll, finish }: PagePlan<string>,
    isLast: boolean,
  ): Promise<Outcome<RowPage<string>> | null> {
    const answer = request === null ? accepted(null) : await this.#reader.read(request);
    if (!answer.ok) return answer;
    const page = await this.#inTurn(() => finish(answer.value));
    if (page?.isTooLong === true) return rejected(TOO_MANY_ROWS);
    if (page !== null) return accepted(await this.#print(page));
    if (!isLast) return null;
    const all = await this.#reader.read(must(await this.#inTurn(requestAll), 'only pages with a question are ahead'));
    if (!all.ok) return all;
    const known = await this.#inTurn(() => finish(all.value));
    assert(known !== null, 'a question about all of memory is always answered');
    if (known.isTooLong === true) return rejected(TOO_MANY_ROWS);
    return accepted(await this.#print(known));
  }

  async #print({ rows, total }: RowPage<() => string>): Promise<RowPage<string>> {
    const printed: string[] = [];
    for (let from = 0; from < rows.length; from += ROWS_PER_TURN) {
      await this.#inTurn(() => {
        for (const row of rows.slice(from, from + ROWS_PER_TURN)) printed.push(row());
      });
    }
    return { rows: printed, total };
  }

  /** One piece of work in each turn of the event loop, in the order of the calls. */
  #inTurn<T>(work: () => T): Promise<T> {
    const done = this.#lastTurn.then(work);
    this.#lastTurn = done.then(nextTurn, nextTurn);
    return done;
  }
}

/** What came in meanwhile is served first. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
