// @ts-check
/**
 * The user's own orders, fills, positions, margin and balances: read as a whole when the streams have opened, then kept
 * up to date by their events, and read again after every reconnection (a close for lag included). Three sockets of the ten
 * that a user has.
 *
 * Events that arrive during a read may be in its reply or not, so the orders are read again after them.
 */
import { format18, formatRaw, parseDecimal18 } from '../../src/core/decimal.js';
import { Refusal, request, unreachable } from './service.js';
import { Stream } from './stream.js';

/** @typedef {import('./service.js').Plain} Plain */
/** @typedef {import('../session.js').Session} Session */
/** @typedef {'orders' | 'fills' | 'positions' | 'margin' | 'balances' | 'account-state'} AccountChange */
/** @typedef {{ subject: string, text: string, isGood: boolean }} Notice */

const FILLS_KEPT = 200;
const ENDED_KEPT = 100;
const REREAD_MS = 300;
const READS_MAX = 3;
const MARKS_READ_MS = 5_000;
/** Of orders that live, as the history reads spell it. */
const LIVE_STATUSES = ['open', 'partial', 'untriggered'];
const RATE_UNITS = 1_000_000n;
const ONE_18 = 10n ** 18n;
const ENDED = new Set(['Filled', 'Canceled', 'Expired', 'Rejected']);

/** @param {Plain} order the signed object @returns {Plain} as a record of the order reads (wire.md 7.9) */
function recordOf(order) {
  const price = Number(order.book_price_decimals);
  const quantity = Number(order.book_quantity_decimals);
  const limit = order.details.Limit;
  const base = order.details.Market?.quantity.BaseAsset;
  const quote = order.details.Market?.quantity.QuoteAsset;
  const raw = limit?.quantity ?? base?.quantity ?? null;
  const condition = order.trigger?.condition;
  /** @param {Plain} value @param {number} decimals */
  const shown = (value, decimals) =>
    value === undefined || value === null ? null : formatRaw(Number(value), decimals);
  return {
    order_id: order.order_id,
    base_asset: order.base_asset,
    side: order.side,
    limit_price: shown(limit?.limit_price, price),
    quantity: shown(raw, quantity),
    amount: shown(quote?.quantity, quantity),
    confirmed_filled_quantity: '0',
    pending_filled_quantity: '0',
    timestamp_ns: order.creation_timestamp_ns,
    status: condition === undefined ? 'Open' : 'Untriggered',
    trigger_above_price: shown(condition?.PriceAbove?.price, price),
    trigger_below_price: shown(condition?.PriceBelow?.price, price),
    is_reduce_only: order.reduce_only,
    parent_id: order.trigger?.parent_order_id ?? null,
    account_index: order.target.account,
    is_spot: order.target.is_spot,
  };
}

/** The quote set of a created order, or null: an entry has the id `<set>:<n>` and no signature of its own. @param {Plain} event */
function setOf({ user_order: order, signature }) {
  const colon = order.order_id.lastIndexOf(':');
  return signature.length === 0 && colon > 0 ? order.order_id.slice(0, colon) : null;
}

/** The account of an order, and whether it moves its balances. @param {Plain} order */
function targetOf(order) {
  return order?.is_spot === undefined ? {} : { account_index: order.account_index, is_spot: order.is_spot };
}

/** @param {string} left @param {string} right @param {1n | -1n} sign */
function added(left, right, sign) {
  const sum = (parseDecimal18(left) ?? 0n) + sign * (parseDecimal18(right) ?? 0n);
  return format18(sum < 0n ? 0n : sum);
}

export class Account {
  /** Open orders by market and id. @type {Map<string, Plain>} */
  orders = new Map();
  /** Orders that ended, newest first. @type {Plain[]} */
  ended = [];
  /** By trade and order, newest first. @type {Map<string, Plain>} */
  fills = new Map();
  /** @type {Plain[]} */
  positions = [];
  /** Margin figures by sub-account. @type {Record<string, Plain>} */
  margin = {};
  /** The accounts of the inventory by index. @type {Record<string, Plain>} */
  inventory = {};
  /** Withdrawals that live or ended within a day, newest first. @type {Plain[]} */
  withdrawals = [];
  /** Whether every stream is open and everything was read. */
  isLive = false;
  /** @type {(notice: Notice) => void} */
  onNotice = () => undefined;
  #session;
  #changed;
  /** @type {Map<string, Stream>} */
  #streams = new Map();
  /** @type {Set<string>} */
  #open = new Set();
  #userId = '';
  #events = 0;
  /** @type {Promise<void> | null} */
  #login = null;
  /** @type {Map<string, ReturnType<typeof setTimeout>>} */
  #planned = new Map();
  #lastNonce = 0n;

  /** @param {Session} session @param {(what: AccountChange) => void} changed */
  constructor(session, changed) {
    this.#session = session;
    this.#changed = changed;
    session.watch(() => this.#follow());
    // Marks move margins and positions without an event.
    setInterval(() => {
      if (this.isLive && this.positions.some(({ side }) => side !== 'closed')) this.balancesChanged();
    }, MARKS_READ_MS);
  }

  /** What of an order can still be filled, 18 decimals. @param {Plain} order */
  openQuantity(order) {
    const filled =
      (parseDecimal18(order.confirmed_filled_quantity) ?? 0n) + (parseDecimal18(order.pending_filled_quantity) ?? 0n);
    const left = (parseDecimal18(order.quantity ?? '0') ?? 0n) - filled;
    return left < 0n ? 0n : left;
  }

  /**
   * What the open orders of an account hold of a balance, 18 decimals: a buy its price and the taker's fee, a sale its size.
   *
   * @param {string} index @param {string} assetId '0' for USD @param {(assetId: string) => bigint} takerFeeOf 1e-6
   */
  held(index, assetId, takerFeeOf) {
    let held = 0n;
    for (const order of this.orders.values()) {
      const isOf = order.is_spot === true && String(order.account_index) === index && order.status !== 'Untriggered';
      if (!isOf || order.limit_price === null) continue;
      const left = this.openQuantity(order);
      if (order.side === 'Sell') held += order.base_asset === assetId ? left : 0n;
      else if (assetId === '0') {
        const cost = (left * (parseDecimal18(order.limit_price) ?? 0n)) / ONE_18;
        held += cost + (cost * takerFeeOf(order.base_asset)) / RATE_UNITS;
      }
    }
    return held;
  }

  /** One login at a time: two that race would spend each other's nonce. @returns {Promise<void>} */
  logIn() {
    this.#login ??= this.#session
      .logIn()
      .catch((error) => {
        // What `fetch` throws without a reply.
        throw error instanceof TypeError ? unreachable() : error;
      })
      .finally(() => {
        this.#login = null;
      });
    return this.#login;
  }

  /**
   * A request with the session; logs in again when the session has ended.
   *
   * @param {string} path @param {RequestInit} [init] @returns {Promise<Plain>} @throws {Refusal}
   */
  async request(path, init = {}) {
    const send = () => {
      const headers = { 'Content-Type': 'application/json', ...this.#session.headers() };
      return request(path, { ...init, headers });
    };
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'UNAUTHORIZED') throw error;
      await this.logIn();
      return await send();
    }
  }

  /** Strictly increasing, for transfers. */
  nextNonce() {
    const now = this.#session.nowNs() / 1_000_000n;
    this.#lastNonce = now > this.#lastNonce ? now : this.#lastNonce + 1n;
    return this.#lastNonce;
  }

  /** Balances and margin change without an event that carries them: they are read soon. */
  balancesChanged() {
    this.#plan('balances', () => this.#readBalances());
  }

  #follow() {
    const { userId, token } = this.#session;
    if (userId !== this.#userId || token === '') {
      for (const stream of this.#streams.values()) stream.end();
      this.#streams.clear();
      this.#open.clear();
      this.#clear();
      this.#userId = userId;
    }
    if (token !== '' && this.#streams.size === 0) this.#start(userId);
  }

  #clear() {
    this.orders = new Map();
    this.ended = [];
    this.fills = new Map();
    this.positions = [];
    this.margin = {};
    this.inventory = {};
    this.withdrawals = [];
    this.isLive = false;
    for (const what of /** @type {const} */ (['orders', 'fills', 'positions', 'margin', 'balances', 'account-state']))
      this.#changed(what);
  }

  /** @param {string} userId */
  #start(userId) {
    /** @type {readonly [string, (data: Plain) => void][]} */
    const paths = [
      ['/orders', (data) => this.#onOrder(data)],
      [`/trades/user/events/${userId}`, (data) => this.#onTrade(data)],
      [`/account/events/${userId}`, () => this.#onAccount()],
    ];
    for (const [path, take] of paths) {
      this.#streams.set(
        path,
        new Stream({
          connect: () => this.#session.open(path, true),
          opened: () => {
            this.#open.add(path);
            if (this.#open.size === paths.length) this.#plan('all', () => this.#readAll());
          },
          frame: (frame) => {
            if (frame.type === 'event' && frame.data !== null) take(frame.data);
          },
          changed: (state) => {
            if (state !== 'waiting') return;
            // A handshake fails when the session has ended, which a request renews, or when the user has as many
            // sockets as are allowed: then what can be read is shown without updates.
            if (!this.#open.delete(path)) this.#plan('all', () => this.#readAll());
            this.isLive = false;
            this.#changed('account-state');
          },
        }),
      );
    }
  }

  /**
   * Runs a read soon, once for all that ask for it until then.
   *
   * @param {string} name @param {() => Promise<unknown>} read
   */
  #plan(name, read) {
    if (this.#planned.has(name)) return;
    const user = this.#userId;
    const run = () => {
      this.#planned.delete(name);
      if (user !== this.#userId || this.#session.token === '') return;
      read().catch((error) => {
        // Without a node the streams are closed too, and everything is read when they have opened.
        const isGone = error instanceof Refusal && error.code === 'UNREACHABLE' && this.#open.size < this.#streams.size;
        if (isGone) return;
        // Refused, for instance by the rate limit: later again.
        if (user === this.#userId) setTimeout(() => this.#plan(name, read), 4 * REREAD_MS);
      });
    };
    this.#planned.set(name, setTimeout(run, name === 'all' ? 0 : REREAD_MS));
  }

  async #readAll() {
    const user = this.#userId;
    for (let read = 1; read <= READS_MAX; read += 1) {
      const eventsBefore = this.#events;
      const orders = await this.#pages(`/orders/user/${user}?open_only=true`, 'orders');
      if (user !== this.#userId) return;
      // The target of an order never changes, and only the history reads have it.
      const known = this.orders;
      const rows = orders.map((order) => ({ key: `${order.base_asset}/${order.order_id}`, order }));
      this.orders = new Map(rows.map(({ key, order }) => [key, { ...targetOf(known.get(key)), ...order }]));
      if (this.#events === eventsBefore) break;
    }
    const trades = await this.request(`/trades/user/${user}?limit=100`);
    if (user !== this.#userId) return;
    this.#mergeFills(trades.trades);
    await this.#readBalances();
    await this.#readTargets();
    if (user !== this.#userId) return;
    this.isLive = this.#open.size === this.#streams.size;
    for (const what of /** @type {const} */ (['orders', 'fills', 'account-state'])) this.#changed(what);
  }

  /** The accounts that open orders belong to, as far as they are not known: without them what orders hold is not shown. */
  async #readTargets() {
    const user = this.#userId;
    if ([...this.orders.values()].every(({ is_spot: isSpot }) => isSpot !== undefined)) return;
    for (const status of LIVE_STATUSES) {
      const path = `/market-data/orders/user/${user}?status=${status}`;
      const rows = await this.#pages(path, 'orders').catch(() => []);
      if (user !== this.#userId) return;
      for (const row of rows) {
        const key = `${row.base_asset}/${row.order_id}`;
        const order = this.orders.get(key);
        if (order !== undefined) this.orders.set(key, { ...order, ...targetOf(row) });
      }
    }
  }

  /** @param {string} path @param {string} list @returns {Promise<Plain[]>} */
  async #pages(path, list) {
    const rows = [];
    for (let page = 0; page < 10; page += 1) {
      const reply = await this.request(`${path}&limit=1000&page=${page}`);
      rows.push(...reply[list]);
      if (!reply.has_next_page) break;
    }
    return rows;
  }

  async #readBalances() {
    const user = this.#userId;
    const [inventory, margin, positions] = await Promise.all([
      this.request(`/inventory/user/${user}`),
      this.request(`/margin/user/${user}`),
      this.request(`/positions/${user}?limit=1000`),
    ]);
    if (user !== this.#userId) return;
    this.inventory = inventory.accounts;
    this.margin = margin.accounts;
    this.positions = positions.positions;
    for (const what of /** @type {const} */ (['balances', 'margin', 'positions'])) this.#changed(what);
  }

  async readWithdrawals() {
    const user = this.#userId;
    const rows = await this.request(`/withdrawal/queue/${user}`);
    if (user !== this.#userId) return;
    this.withdrawals = rows.reverse();
    this.#changed('balances');
  }

  /** Orders that ended before, for the list of finished ones. */
  async readEnded() {
    const user = this.#userId;
    const page = await this.request(`/orders/user/${user}?limit=${ENDED_KEPT}`);
    if (user !== this.#userId) return;
    this.ended = page.orders.filter((/** @type {Plain} */ order) => ENDED.has(order.status));
    this.#changed('orders');
  }

  #onAccount() {
    this.balancesChanged();
    if (this.withdrawals.length > 0) this.#plan('withdrawals', () => this.readWithdrawals());
  }

  /** @param {Plain} data one tag (wire.md 9.4) */
  #onOrder(data) {
    this.#events += 1;
    const [[tag, event] = ['', null]] = Object.entries(data);
    const key = `${event.asset_id ?? event.user_order?.base_asset}/${event.order_id ?? event.user_order?.order_id}`;
    const order = this.orders.get(key);
    if (tag === 'Created') {
      if (order === undefined) this.orders.set(key, { ...recordOf(event.user_order), quote_set_id: setOf(event) });
    } else if (tag === 'Canceled' || tag === 'Removed') this.#end(key, tag, String(event.reason ?? ''));
    else if ((tag === 'Replaced' || tag === 'Amended') && order !== undefined)
      this.#plan(`order ${key}`, () => this.#rereadOrder(key));
    else if (tag === 'Triggered' && order !== undefined) {
      this.#plan(`order ${key}`, () => this.#rereadOrder(key));
      this.orders.set(key, { ...order, status: 'Open' });
    } else if (tag.endsWith('Failed')) {
      this.#notice(key, `${tag.replace('Failed', '')} of ${event.order_id} failed: ${event.reason ?? ''}`, false);
      this.#plan('all', () => this.#readAll());
    }
    this.#changed('orders');
  }

  /** @param {string} key */
  async #rereadOrder(key) {
    const [asset = '', ...rest] = key.split('/');
    const id = encodeURIComponent(rest.join('/'));
    const order = await this.request(`/orders/user/${this.#userId}/${asset}/${id}`);
    if (!this.orders.has(key)) return;
    if (ENDED.has(order.status)) this.orders.delete(key);
    else this.orders.set(key, { ...targetOf(this.orders.get(key)), ...order });
    this.#changed('orders');
  }

  /** @param {string} key @param {string} tag @param {string} reason */
  #end(key, tag, reason) {
    const order = this.orders.get(key);
    this.orders.delete(key);
    if (order === undefined) return;
    const status = tag === 'Canceled' ? 'Canceled' : reason === 'Filled' ? 'Filled' : reason;
    this.ended.unshift({ ...order, status, reason });
    this.ended.length = Math.min(this.ended.length, ENDED_KEPT);
    this.balancesChanged();
    if (reason !== 'Filled')
      this.#notice(key, `Order ${order.order_id.slice(0, 8)} ended: ${reason}`, reason === 'UserRequested');
  }

  /** @param {Plain} trade */
  #onTrade(trade) {
    this.#events += 1;
    const key = `${trade.trade_id}/${trade.order_id}`;
    const before = this.fills.get(key);
    // The statuses of one fill arrive in order; a read may have brought the last one first.
    if (before?.status === 'Confirmed') return;
    this.#mergeFills([trade]);
    this.#moveFill(trade, before);
    if (trade.status !== 'Pending') this.balancesChanged();
    if (before?.status !== trade.status) {
      const what = `${trade.is_buyer ? 'Bought' : 'Sold'} ${trade.quantity} at ${trade.price}`;
      if (trade.status === 'Rollbacked') this.#notice(key, `Rolled back: ${what} (${trade.rollback_reason})`, false);
      else this.#notice(key, `${what}: ${trade.status}`, true);
    }
    this.#changed('fills');
    this.#changed('orders');
  }

  /** @param {Plain} trade @param {Plain} before */
  #moveFill(trade, before) {
    const key = `${trade.asset_id}/${trade.order_id}`;
    const order = this.orders.get(key);
    if (order === undefined) return;
    let { pending_filled_quantity: pending, confirmed_filled_quantity: confirmed } = order;
    if (trade.status === 'Pending') pending = added(pending, trade.quantity, 1n);
    else if (before === undefined) {
      // Its beginning was missed: the order itself is read.
      this.#plan(`order ${key}`, () => this.#rereadOrder(key));
      return;
    } else {
      pending = added(pending, trade.quantity, -1n);
      if (trade.status === 'Confirmed') confirmed = added(confirmed, trade.quantity, 1n);
    }
    const status = order.status === 'Open' ? 'PartiallyFilled' : order.status;
    this.orders.set(key, { ...order, status, pending_filled_quantity: pending, confirmed_filled_quantity: confirmed });
  }

  /** @param {Plain[]} trades */
  #mergeFills(trades) {
    for (const trade of trades) this.fills.set(`${trade.trade_id}/${trade.order_id}`, trade);
    const rows = [...this.fills].sort(([, left], [, right]) => Number(right.timestamp_ns - left.timestamp_ns));
    this.fills = new Map(rows.slice(0, FILLS_KEPT));
  }

  /** @param {string} subject what it is about: a later notice about it replaces this one @param {string} text @param {boolean} isGood */
  #notice(subject, text, isGood) {
    this.onNotice({ subject, text, isGood });
  }
}
