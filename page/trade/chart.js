// @ts-check
/** Candles with their volume, by interval. Drawn by lightweight-charts; figures of the candle under the cursor as text. */
import { CandlestickSeries, CrosshairMode, createChart, HistogramSeries, TickMarkType } from 'lightweight-charts';
import { button, element, fill, oncePerFrame } from '../dom.js';
import { figure, short } from './format.js';
import { INTERVALS } from './market-feed.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./market-feed.js').Candle} Candle */

/** A colour of the theme, as the canvas takes it. @param {string} name */
function colour(name) {
  const probe = element('i', { class: `colour ${name}` });
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/**
 * Times of the axis are those of the browser's time zone, as in the tables; the library would show UTC.
 *
 * @type {Record<number, Intl.DateTimeFormat>}
 */
const TICKS = {
  [TickMarkType.Year]: new Intl.DateTimeFormat('en-GB', { year: 'numeric' }),
  [TickMarkType.Month]: new Intl.DateTimeFormat('en-GB', { month: 'short' }),
  [TickMarkType.DayOfMonth]: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' }),
  [TickMarkType.Time]: new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' }),
  [TickMarkType.TimeWithSeconds]: new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' }),
};
const UNDER_CURSOR = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const UNDER_CURSOR_SECONDS = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** @param {Element} root @param {App} app */
export function candleChart(root, app) {
  const frame = element('div', { class: 'chart-frame' });
  const legend = element('p', { class: 'legend', 'aria-live': 'off' });
  const none = element('p', { class: 'none' }, 'No candles of this interval yet.');
  frame.append(legend, none);
  const home = element('a', { href: 'https://www.tradingview.com/', rel: 'noreferrer' }, 'TradingView');
  root.append(frame, element('p', { class: 'credit' }, 'Chart: Lightweight Charts by ', home));
  const intervals = element('div', { class: 'intervals', role: 'group', 'aria-label': 'Interval' });
  root.parentElement?.querySelector('h2')?.after(intervals);

  const chart = createChart(frame, {
    autoSize: true,
    layout: { attributionLogo: false, fontFamily: 'system-ui, sans-serif', background: { color: 'transparent' } },
    crosshair: { mode: CrosshairMode.Normal },
    rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.08, bottom: 0.22 } },
    timeScale: {
      borderVisible: false,
      timeVisible: true,
      secondsVisible: false,
      rightOffset: 4,
      barSpacing: 9,
      tickMarkFormatter: (/** @type {any} */ time, /** @type {number} */ type) =>
        TICKS[type]?.format(new Date(time * 1_000)) ?? null,
    },
    localization: {
      locale: 'en-GB',
      timeFormatter: (/** @type {any} */ time) =>
        (app.interval === '1s' ? UNDER_CURSOR_SECONDS : UNDER_CURSOR).format(new Date(time * 1_000)),
      priceFormatter: (/** @type {number} */ price) => figure(price.toFixed(app.priceDecimals)),
    },
  });
  const candles = chart.addSeries(CandlestickSeries, { borderVisible: false });
  const volumes = chart.addSeries(HistogramSeries, {
    priceScaleId: 'volume',
    priceFormat: { type: 'volume' },
    lastValueVisible: false,
    priceLineVisible: false,
  });
  chart.priceScale('volume').applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } });
  let barColours = { up: '', down: '' };

  /** @param {Candle} candle */
  const barOf = ({ time, open, close, volume }) => ({
    time: /** @type {any} */ (time),
    value: volume,
    color: close >= open ? barColours.up : barColours.down,
  });
  const all = () => [...app.feed.candles.values()].sort((left, right) => left.time - right.time);

  const drawAll = oncePerFrame(() => {
    const rows = all();
    none.hidden = rows.length > 0;
    // Without candles there is nothing that a crosshair could point at.
    for (const line of /** @type {const} */ (['vertLine', 'horzLine']))
      chart.applyOptions({ crosshair: { [line]: { visible: rows.length > 0, labelVisible: rows.length > 0 } } });
    const { priceDecimals } = app;
    candles.applyOptions({
      priceFormat: { type: 'price', precision: priceDecimals, minMove: 10 ** -priceDecimals },
    });
    candles.setData(/** @type {any} */ (rows));
    volumes.setData(rows.map(barOf));
    describe(rows.at(-1));
  });
  const drawLast = oncePerFrame(() => {
    const last = all().at(-1);
    const [shown] = candles.data().slice(-1);
    if (last === undefined || shown === undefined || last.time < Number(shown.time)) return drawAll();
    candles.update(/** @type {any} */ (last));
    volumes.update(barOf(last));
    describe(last);
  });

  /** @param {Candle | undefined} candle */
  const describe = (candle) => {
    if (candle === undefined) return fill(legend);
    const { priceDecimals } = app;
    const parts = /** @type {const} */ (['open', 'high', 'low', 'close']).flatMap((name) => [
      element('span', {}, name[0]?.toUpperCase() ?? ''),
      element('b', {}, figure(candle[name].toFixed(priceDecimals))),
    ]);
    // The volume is there of candles of the feed, and not of those that the library gives back.
    const volume = candle.volume ?? app.feed.candles.get(candle.time)?.volume;
    if (volume !== undefined) parts.push(element('span', {}, 'V'), element('b', {}, short(String(volume))));
    legend.className = `legend ${candle.close >= candle.open ? 'up' : 'down'}`;
    fill(legend, ...parts);
  };
  chart.subscribeCrosshairMove(({ seriesData }) => {
    const under = /** @type {any} */ (seriesData.get(candles));
    describe(under ?? all().at(-1));
  });

  const paint = () => {
    const [ink, line, up, down] = ['soft', 'line', 'up', 'down'].map(colour);
    barColours = { up: colour('up-bar'), down: colour('down-bar') };
    chart.applyOptions({
      layout: { textColor: ink ?? '' },
      crosshair: { vertLine: { labelBackgroundColor: line ?? '' }, horzLine: { labelBackgroundColor: line ?? '' } },
      grid: { vertLines: { color: line ?? '' }, horzLines: { color: line ?? '' } },
    });
    candles.applyOptions({
      upColor: up ?? '',
      downColor: down ?? '',
      wickUpColor: up ?? '',
      wickDownColor: down ?? '',
    });
    drawAll();
  };
  addEventListener('themechange', paint);
  paint();

  const buttons = INTERVALS.map(([name]) =>
    button(name, () => {
      app.setInterval(name);
      mark();
      chart.timeScale().applyOptions({ secondsVisible: name === '1s' });
      chart.timeScale().resetTimeScale();
    }),
  );
  const mark = () => {
    for (const one of buttons) one.setAttribute('aria-pressed', String(one.textContent === app.interval));
  };
  fill(intervals, ...buttons);
  mark();
  app.on('candles', drawAll);
  app.on('candle', drawLast);
}
