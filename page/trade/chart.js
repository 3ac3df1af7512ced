// @ts-check
/** Candles with their volume, by interval. Drawn by lightweight-charts; figures of the candle under the cursor as text. */
import { CandlestickSeries, CrosshairMode, createChart, HistogramSeries } from 'lightweight-charts';
import { button, element, fill, oncePerFrame } from '../dom.js';
import { figure } from './format.js';
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
    timeScale: { borderVisible: false, timeVisible: true, secondsVisible: false, rightOffset: 4, barSpacing: 9 },
    localization: { locale: 'en-GB' },
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
