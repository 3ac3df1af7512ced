// @ts-check
/**
 * The book as a ladder: asks above, bids below, sums and depth bars from the best price outwards, own orders marked.
 * A click on a price, or Enter, puts it into the order ticket.
 */
import { format18, formatScaled, parseDecimal18 } from '../../src/core/decimal.js';
import { element, oncePerFrame, setText } from '../dom.js';
import { figure } from './format.js';

const ROW_PX = 21;
const ROWS_MIN = 5;
const ROWS_MAX = 40;
/** Levels of the book that are summed into groups. */
const LEVELS_READ = 1_000;
const GROUPINGS = [1n, 10n, 100n, 1_000n];

/** @typedef {import('./app.js').App} App */
/** @typedef {{ price: bigint, quantity: bigint, sum: bigint }} Row */

/**
 * Levels of one side summed into groups of `step`, best first.
 *
 * @param {readonly import('../../src/client/replies.js').DepthLevel[]} levels
 * @param {bigint} step 18 decimals
 * @param {boolean} isAsk asks are rounded up, bids down: no group looks better than its orders
 * @param {number} count
 * @returns {Row[]}
 */
export function groupLevels(levels, step, isAsk, count) {
  /** @type {Row[]} */
  const rows = [];
  let sum = 0n;
  for (const level of levels) {
    const price = parseDecimal18(level.price) ?? 0n;
    const quantity = parseDecimal18(level.quantity) ?? 0n;
    const down = price - (price % step);
    const group = isAsk && down !== price ? down + step : down;
    const last = rows.at(-1);
    if (last === undefined || last.price !== group) {
      if (rows.length === count) break;
      sum += quantity;
      rows.push({ price: group, quantity, sum });
    } else {
      sum += quantity;
      last.quantity += quantity;
      last.sum = sum;
    }
  }
  return rows;
}

class SideRows {
  /** @type {HTMLElement} */
  root;
  /** @type {(Record<'bar' | 'own' | 'price' | 'quantity' | 'sum', HTMLElement> & { row: HTMLButtonElement })[]} */
  #rows = [];
  #isAsk;

  /** @param {boolean} isAsk @param {(price: string) => void} pick */
  constructor(isAsk, pick) {
    this.#isAsk = isAsk;
    this.root = element('div', { class: `side ${isAsk ? 'asks' : 'bids'}`, role: 'group' });
    this.root.setAttribute('aria-label', isAsk ? 'Asks' : 'Bids');
    for (let index = 0; index < ROWS_MAX; index += 1) {
      const bar = element('i', { class: 'depth' });
      const own = element('i', { class: 'own' });
      const [price, quantity, sum] = [element('b', {}), element('span', {}), element('span', {})];
      const row = /** @type {HTMLButtonElement} */ (
        element('button', { type: 'button', class: 'level', tabindex: index === 0 ? '0' : '-1' }, bar, own)
      );
      row.append(price, quantity, sum);
      row.addEventListener('click', () => {
        if (row.dataset['price'] !== undefined) pick(row.dataset['price']);
      });
      this.#rows.push({ row, bar, own, price, quantity, sum });
    }
    // The best price is nearest to the middle.
    const rows = this.#rows.map(({ row }) => row);
    this.root.append(...(isAsk ? rows.reverse() : rows));
    this.root.addEventListener('keydown', (event) => this.#move(event));
  }

  /** @param {KeyboardEvent} event */
  #move(event) {
    const step = event.key === 'ArrowUp' ? 'previousElementSibling' : 'nextElementSibling';
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
    const next = document.activeElement?.[step];
    if (!(next instanceof HTMLButtonElement) || next.disabled || next.hidden) return;
    next.focus();
    event.preventDefault();
  }

  /**
   * @param {readonly Row[]} rows
   * @param {number} shown
   * @param {bigint} largest the longest bar
   * @param {ReadonlyMap<string, bigint>} own quantity of own orders by price of the group
   * @param {{ price: number, quantity: number }} decimals
   */
  draw(rows, shown, largest, own, decimals) {
    this.#rows.forEach((cells, index) => {
      const { row, bar, price, quantity, sum } = cells;
      const isHidden = index >= shown;
      if (row.hidden !== isHidden) row.hidden = isHidden;
      if (isHidden) return;
      const level = rows[index];
      if (row.disabled !== (level === undefined)) row.disabled = level === undefined;
      if (level === undefined) {
        delete row.dataset['price'];
        for (const cell of [price, quantity, sum]) setText(cell, '');
        bar.style.transform = 'scaleX(0)';
        cells.own.hidden = true;
        return;
      }
      const text = format18(level.price);
      row.dataset['price'] = text;
      setText(price, figure(text, decimals.price));
      setText(quantity, figure(format18(level.quantity), decimals.quantity));
      setText(sum, figure(format18(level.sum), decimals.quantity));
      bar.style.transform = `scaleX(${largest === 0n ? 0 : Number((level.sum * 1_000n) / largest) / 1_000})`;
      const mine = own.get(text);
      cells.own.hidden = mine === undefined;
      const title = mine === undefined ? '' : `Own orders: ${format18(mine)}`;
      if (cells.own.title !== title) cells.own.title = title;
      const side = this.#isAsk ? 'Ask' : 'Bid';
      row.setAttribute(
        'aria-label',
        `${side} ${text}, ${format18(level.quantity)}${mine === undefined ? '' : ', own'}`,
      );
    });
  }
}

/** @param {Element} root @param {App} app */
export function ladder(root, app) {
  const asks = new SideRows(true, app.pickPrice);
  const bids = new SideRows(false, app.pickPrice);
  const middle = element('div', { class: 'middle' });
  const last = element('b', {});
  const [spread, share] = [element('span', { class: 'small' }), element('span', { class: 'small' })];
  middle.append(last, spread, share);
  const grouping = /** @type {HTMLSelectElement} */ (
    element('select', { class: 'grouping', 'aria-label': 'Group prices by' })
  );
  const heads = element(
    'div',
    { class: 'level-head' },
    'Price',
    element('span', {}, 'Size'),
    element('span', {}, 'Sum'),
  );
  const body = element('div', { class: 'ladder' }, asks.root, middle, bids.root);
  root.append(heads, body);
  root.parentElement?.querySelector('h2')?.after(grouping);
  let shown = 12;
  let groupFactor = 0;

  const draw = oncePerFrame(() => {
    const { market, feed } = app;
    grouping.hidden = market === null;
    const isCurrent = feed.book.isCurrent;
    const step = (parseDecimal18(market?.tick_size ?? '1') ?? 1n) * (GROUPINGS[groupFactor] ?? 1n);
    const askRows = isCurrent ? groupLevels(feed.book.asks(LEVELS_READ), step, true, shown) : [];
    const bidRows = isCurrent ? groupLevels(feed.book.bids(LEVELS_READ), step, false, shown) : [];
    const largest = [askRows.at(-1)?.sum ?? 0n, bidRows.at(-1)?.sum ?? 0n].reduce((a, b) => (a > b ? a : b));
    const decimals = { price: app.priceDecimals, quantity: app.quantityDecimals };
    asks.draw(askRows, shown, largest, ownBy(app, 'Sell', step), decimals);
    bids.draw(bidRows, shown, largest, ownBy(app, 'Buy', step), decimals);
    // What was read before the connection was lost stays, and is shown as old.
    body.classList.toggle('stale', !isCurrent || !feed.isBookLive);
    drawMiddle(app, { last, spread, share });
  });

  const fit = () => {
    const room = body.clientHeight - middle.offsetHeight;
    shown = Math.max(ROWS_MIN, Math.min(ROWS_MAX, Math.floor(room / 2 / ROW_PX)));
    draw();
  };
  new ResizeObserver(fit).observe(body);
  grouping.addEventListener('change', () => {
    groupFactor = Number(grouping.value);
    draw();
  });
  app.on('market', () => {
    const tick = parseDecimal18(app.market?.tick_size ?? '1') ?? 1n;
    grouping.replaceChildren(
      ...GROUPINGS.map((factor, index) => element('option', { value: String(index) }, formatScaled(tick * factor, 18))),
    );
    groupFactor = 0;
    draw();
  });
  for (const what of /** @type {const} */ (['book', 'state', 'orders', 'ticker', 'trades'])) app.on(what, draw);
  draw();
}

/** @param {App} app @param {'Buy' | 'Sell'} side @param {bigint} step */
function ownBy(app, side, step) {
  /** @type {Map<string, bigint>} */
  const own = new Map();
  for (const order of app.account.orders.values()) {
    if (order.base_asset !== app.market?.asset_id || order.side !== side || order.limit_price === null) continue;
    if (order.status === 'Untriggered') continue;
    const price = parseDecimal18(order.limit_price) ?? 0n;
    const down = price - (price % step);
    const group = format18(side === 'Sell' && down !== price ? down + step : down);
    own.set(group, (own.get(group) ?? 0n) + app.account.openQuantity(order));
  }
  return own;
}

/** @param {App} app @param {Record<'last' | 'spread' | 'share', HTMLElement>} cells */
function drawMiddle(app, { last, spread, share }) {
  const { feed } = app;
  const [newest, before] = feed.trades;
  setText(last, newest === undefined ? '–' : figure(newest.price, app.priceDecimals));
  const change = newest === undefined || before === undefined ? 0 : Number(newest.price) - Number(before.price);
  last.className = change > 0 ? 'up' : change < 0 ? 'down' : '';
  const ask = feed.book.isCurrent ? feed.book.asks(1)[0] : undefined;
  const bid = feed.book.isCurrent ? feed.book.bids(1)[0] : undefined;
  setText(share, '');
  if (app.market === null) return setText(spread, '');
  if (!feed.isBookLive) return setText(spread, 'not connected');
  if (ask === undefined || bid === undefined) {
    setText(spread, feed.book.isCurrent ? 'no spread' : 'reading the book …');
    return;
  }
  const gap = (parseDecimal18(ask.price) ?? 0n) - (parseDecimal18(bid.price) ?? 0n);
  setText(spread, `spread ${figure(format18(gap), app.priceDecimals)}`);
  const bid18 = parseDecimal18(bid.price) ?? 0n;
  // In percent of the best bid, with three digits behind the point.
  if (bid18 > 0n) setText(share, `${figure(formatScaled((gap * 100_000n) / bid18, 3), 3)} %`);
}
