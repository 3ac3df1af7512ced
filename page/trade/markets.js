// @ts-check
/** The list of markets, and the figures of the market on display. */
import { element, fill, oncePerFrame, setClass, setText } from '../dom.js';
import { direction, figure, short, signed } from './format.js';

/** @typedef {import('./app.js').App} App */

/** @param {App} app @param {string} assetId */
function decimalsOfMarket(app, assetId) {
  return (app.markets.get(assetId)?.tick_size ?? '1').split('.')[1]?.length ?? 0;
}

/** @param {string | null | undefined} percent */
function percentOf(percent) {
  return percent === null || percent === undefined ? '–' : `${signed(percent, 2)} %`;
}

/** @param {Element} root @param {App} app */
export function marketList(root, app) {
  const list = element('ul', { class: 'market-list' });
  const none = element('p', { class: 'none', hidden: '' }, 'No markets yet.');
  const filter = /** @type {HTMLInputElement} */ (
    element('input', {
      type: 'search',
      class: 'market-filter',
      placeholder: 'Find a market',
      'aria-label': 'Find a market',
      spellcheck: 'false',
      hidden: '',
    })
  );
  /** @type {Map<string, { row: HTMLElement, link: HTMLAnchorElement, last: HTMLElement, change: HTMLElement, volume: HTMLElement }>} */
  const rows = new Map();

  const draw = oncePerFrame(() => {
    for (const [id, { row, link, last, change, volume }] of rows) {
      const ticker = app.tickers.get(id);
      setText(last, figure(ticker?.last_price, decimalsOfMarket(app, id)));
      setText(change, percentOf(ticker?.price_change_percent));
      setClass(change, `change ${direction(ticker?.price_change_percent)}`);
      setText(volume, `${short(ticker?.volume ?? null)} USD`);
      if (id === app.market?.asset_id) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
      row.hidden = !app.symbolOf(id).toLowerCase().includes(filter.value.trim().toLowerCase());
    }
  });

  const rebuild = () => {
    if ([...app.markets.keys()].join() !== [...rows.keys()].join()) {
      rows.clear();
      for (const id of app.markets.keys()) {
        const [last, change, volume] = [element('b', { class: 'last' }), element('span', {}), element('span', {})];
        const name = element('span', { class: 'name' }, app.symbolOf(id), element('i', {}, '/USD'));
        const link = /** @type {HTMLAnchorElement} */ (element('a', { href: `#${id}` }, name, last, volume, change));
        volume.className = 'volume';
        rows.set(id, { row: element('li', {}, link), link, last, change, volume });
      }
      fill(list, ...[...rows.values()].map(({ row }) => row));
      filter.hidden = rows.size < 8;
    }
    none.hidden = rows.size > 0;
    draw();
  };
  filter.addEventListener('input', draw);
  root.append(filter, list, none);
  app.on('markets', rebuild);
  app.on('market', draw);
  app.on('ticker', draw);
}

/** @param {Element} root @param {App} app */
export function marketStats(root, app) {
  const picker = /** @type {HTMLSelectElement} */ (element('select', { class: 'picker', 'aria-label': 'Market' }));
  const name = element('h1', {});
  const last = element('b', { class: 'last' });
  /** @type {(label: string, kind?: string) => [HTMLElement, HTMLElement]} */
  const stat = (label, kind = '') => {
    const value = element('b', {});
    return [element('div', { class: `stat ${kind}` }, element('span', {}, label), value), value];
  };
  const [changeBox, change] = stat('24 h change');
  const [highBox, high] = stat('24 h high', 'wide-only');
  const [lowBox, low] = stat('24 h low', 'wide-only');
  const [volumeBox, volume] = stat('24 h volume (USD)', 'not-narrow');
  const [markBox, mark] = stat('Mark', 'wide-only');
  const [indexBox, index] = stat('Index', 'wide-only');
  const status = element('span', { class: 'badge warn' });
  root.append(element('div', { class: 'market-name' }, name, picker, status), last);
  root.append(changeBox, markBox, indexBox, highBox, lowBox, volumeBox);

  const draw = oncePerFrame(() => {
    const { market } = app;
    if (market === null) return;
    const ticker = app.tickers.get(market.asset_id);
    const { priceDecimals } = app;
    setText(name, `${app.symbolOf(market.asset_id)}/USD`);
    picker.value = market.asset_id;
    setText(last, figure(app.feed.trades[0]?.price ?? ticker?.last_price, priceDecimals));
    const sign = direction(ticker?.price_change);
    setClass(last, `last ${sign}`);
    const moved = signed(ticker?.price_change, priceDecimals);
    setText(change, moved === '–' ? moved : `${moved} (${percentOf(ticker?.price_change_percent)})`);
    setClass(change, sign);
    setText(high, figure(ticker?.high, priceDecimals));
    setText(low, figure(ticker?.low, priceDecimals));
    setText(volume, short(ticker?.volume ?? null));
    volume.title = ticker?.volume ?? '';
    markBox.hidden = ticker?.mark_price === undefined;
    indexBox.hidden = ticker?.index_price === undefined;
    setText(mark, figure(ticker?.mark_price, priceDecimals));
    setText(index, figure(ticker?.index_price, priceDecimals));
    status.hidden = market.status === 'Active';
    setText(status, market.status === 'CancelOnly' ? 'Cancels only' : String(market.status));
  });
  picker.addEventListener('change', () => {
    location.hash = picker.value;
  });
  app.on('markets', () => {
    fill(picker, ...[...app.markets.keys()].map((id) => element('option', { value: id }, `${app.symbolOf(id)}/USD`)));
    draw();
  });
  for (const what of /** @type {const} */ (['market', 'ticker', 'trades'])) app.on(what, draw);
}
