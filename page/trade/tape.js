// @ts-check
/** Confirmed trades, newest first. */
import { element, oncePerFrame, setClass, setText } from '../dom.js';
import { clockTime, figure } from './format.js';

/** @param {Element} root @param {import('./app.js').App} app */
export function tape(root, app) {
  const heads = element(
    'div',
    { class: 'level-head' },
    'Price',
    element('span', {}, 'Size'),
    element('span', {}, 'Time'),
  );
  const list = element('ol', { class: 'tape', tabindex: '0', 'aria-label': 'Trades, newest first' });
  const none = element('p', { class: 'none' }, 'No trades yet.');
  /** @type {{ row: HTMLElement, price: HTMLElement, size: HTMLElement, time: HTMLElement, id: bigint | null }[]} */
  const rows = [];
  root.append(heads, list, none);

  const draw = oncePerFrame(() => {
    const { trades } = app.feed;
    none.hidden = trades.length > 0;
    list.hidden = trades.length === 0;
    while (rows.length < trades.length) {
      const [price, size, time] = [element('b', {}), element('span', {}), element('time', {})];
      const row = element('li', {}, price, size, time);
      rows.push({ row, price, size, time, id: null });
      list.append(row);
    }
    rows.forEach((cells, index) => {
      const trade = trades[index];
      if (cells.row.hidden !== (trade === undefined)) cells.row.hidden = trade === undefined;
      if (trade === undefined || cells.id === trade.trade_id) return;
      cells.id = trade.trade_id;
      // The side of the taker: a maker that buys was hit by a seller.
      setClass(cells.price, trade.buyer_is_maker ? 'down' : 'up');
      setText(cells.price, figure(trade.price, app.priceDecimals));
      setText(cells.size, figure(trade.quantity, app.quantityDecimals));
      setText(cells.time, clockTime(trade.timestamp_ns));
    });
  });
  draw();
  app.on('trades', draw);
  app.on('market', () => {
    for (const cells of rows) cells.id = null;
    draw();
  });
}
