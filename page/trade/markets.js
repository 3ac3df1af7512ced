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

/** @param {string} status of a market */
function statusWord(status) {
  return status === 'CancelOnly' ? 'Cancels only' : status;
}

/** The direction of a figure as it is shown: one that is cut to zero has none. @param {string} text */
function shownDirection(text) {
  return text.startsWith('+') ? 'up' : text.startsWith('−') ? 'down' : '';
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
      setClass(change, `change ${shownDirection(percentOf(ticker?.price_change_percent))}`);
      const status = app.markets.get(id)?.status;
      setText(volume, status === 'Active' ? `${short(ticker?.volume ?? null)} USD` : statusWord(status));
      setClass(volume, `volume ${status === 'Active' ? '' : 'warn'}`);
      if (id === app.market?.asset_id) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
      row.hidden = !app.symbolOf(id).toLowerCase().includes(filter.value.trim().toLowerCase());
    }
    // One stop of the Tab key, whatever the number of markets: the one on display, or the first that is shown.
    const shown = [...rows.values()].filter(({ row }) => !row.hidden);
    const stop = shown.find(({ link }) => link.hasAttribute('aria-current')) ?? shown[0];
    for (const each of rows.values()) each.link.tabIndex = each === stop ? 0 : -1;
  });

  /** Arrow keys, Home and End move between the markets that are shown. @param {KeyboardEvent} event */
  const move = (event) => {
    const shown = [...rows.values()].filter(({ row }) => !row.hidden).map(({ link }) => link);
    const at = shown.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    shown[Math.max(0, Math.min(shown.length - 1, to))]?.focus();
  };

  const rebuild = () => {
    if ([...app.markets.keys()].join() !== [...rows.keys()].join()) {
      rows.clear();
      for (const id of app.markets.keys()) {
        const [last, change, volume] = [element('b', { class: 'last' }), element('span', {}), element('span', {})];
        const name = element('span', { class: 'name', title: `${app.symbolOf(id)}/USD` }, app.symbolOf(id));
        name.append(element('i', {}, '/USD'));
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
  filter.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') list.querySelector('li:not([hidden]) a')?.dispatchEvent(new MouseEvent('click'));
    else move(event);
  });
  list.addEventListener('keydown', move);
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
  // A phone has room for one of them.
  const [absolute, relative] = [element('span', { class: 'absolute' }), element('span', {})];
  change.append(absolute, relative);
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
    name.title = name.textContent ?? '';
    picker.value = market.asset_id;
    setText(last, figure(app.feed.trades[0]?.price ?? ticker?.last_price, priceDecimals));
    const sign = direction(ticker?.price_change);
    setClass(last, `last ${sign}`);
    const moved = signed(ticker?.price_change, priceDecimals);
    setText(absolute, moved === '–' ? '' : `${moved} `);
    setText(relative, moved === '–' ? moved : `(${percentOf(ticker?.price_change_percent)})`);
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
    setText(status, statusWord(market.status));
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
