// @ts-check
/**
 * The public data of one market: its book, its trades, its candles. A book is read as a snapshot after its stream has
 * opened, and again after a gap in the sequence of the diffs.
 */
import { LocalBook } from '../../src/client/local-book.js';
import { MARKET_STREAMS, request } from './service.js';
import { Stream } from './stream.js';

/** @typedef {import('./service.js').Plain} Plain */
/** @typedef {'book' | 'trades' | 'candles' | 'candle' | 'state'} FeedChange */

const TRADES_KEPT = 100;
const CANDLES_READ = 500;
/** With more of them the older half is dropped: a page may stay open for days. */
const CANDLES_KEPT = 2 * CANDLES_READ;
/** Diffs that wait for the snapshot; with more the snapshot is too late and is read again. */
const DIFFS_WAITING_MAX = 2_000;
/** Streams of a market: its book, its trades, its candles. */
const STREAMS = 3;
const RETRY_MS = 1_000;

/** The intervals of the chart: name, spelling of the API, seconds. */
export const INTERVALS = /** @type {const} */ ([
  ['1s', '1S', 1],
  ['1m', '1m', 60],
  ['5m', '5m', 300],
  ['15m', '15m', 900],
  ['1h', '1h', 3_600],
  ['4h', '4h', 14_400],
  ['1d', '1D', 86_400],
]);

/**
 * @typedef {object} Candle
 * @property {number} time seconds
 * @property {number} open
 * @property {number} high
 * @property {number} low
 * @property {number} close
 * @property {number} volume
 */

/** @param {Plain} depth */
function depthOf(depth) {
  /** @param {Plain[]} levels */
  const read = (levels) => levels.map(([price, quantity]) => ({ price: String(price), quantity: String(quantity) }));
  return { asks: read(depth.asks), bids: read(depth.bids), sequenceNumber: Number(depth.sequence_number) };
}

export class MarketFeed {
  book = new LocalBook();
  /** Newest first. @type {Plain[]} */
  trades = [];
  /** Ascending. @type {Map<number, Candle>} */
  candles = new Map();
  /** Whether every stream of the market is open. */
  isLive = false;
  isBookLive = false;
  /** @type {Set<string>} */
  #open = new Set();
  #market = '';
  #width = 60;
  #spelling = '1m';
  /** @type {Stream[]} */
  #streams = [];
  /** @type {Stream | null} */
  #candleStream = null;
  /** @type {ReturnType<typeof depthOf>[]} */
  #waiting = [];
  /** Counts snapshots that were requested: a late reply of an earlier one is dropped. */
  #asked = 0;
  #changed;

  /** @param {(what: FeedChange) => void} changed */
  constructor(changed) {
    this.#changed = changed;
  }

  /** @param {string} market @param {string} interval */
  open(market, interval) {
    this.end();
    this.#market = market;
    this.book = new LocalBook();
    this.trades = [];
    this.#changed('book');
    this.#changed('trades');
    this.#streams = [
      new Stream({
        connect: () => new WebSocket(`${MARKET_STREAMS}/marketdepth/diff/${market}`),
        opened: () => this.#readBook(),
        frame: (frame) => this.#onDepth(frame),
        changed: (state) => this.#follow('book', state),
      }),
      new Stream({
        connect: () => new WebSocket(`${MARKET_STREAMS}/trades/${market}`),
        opened: () => void this.#readTrades(),
        frame: (frame) => this.#onTrade(frame),
        changed: (state) => this.#follow('trades', state),
      }),
    ];
    this.openCandles(interval);
  }

  /** @param {string} interval a name of INTERVALS */
  openCandles(interval) {
    const [, spelling, width] = INTERVALS.find(([name]) => name === interval) ?? INTERVALS[1];
    this.#spelling = spelling;
    this.#width = width;
    this.#candleStream?.end();
    this.candles = new Map();
    this.#changed('candles');
    const market = this.#market;
    this.#candleStream = new Stream({
      connect: () => new WebSocket(`${MARKET_STREAMS}/klines/diff/${market}?interval=${spelling}`),
      opened: () => void this.#readCandles(),
      frame: (frame) => {
        if (!Array.isArray(frame)) return;
        for (const row of frame) this.#addCandle(row);
        if (this.candles.size <= CANDLES_KEPT) return this.#changed('candle');
        this.candles = new Map([...this.candles].sort(([left], [right]) => left - right).slice(-CANDLES_READ));
        this.#changed('candles');
      },
      changed: (state) => this.#follow('candles', state),
    });
  }

  /** @param {string} name of a stream @param {import('./stream.js').StreamState} state */
  #follow(name, state) {
    if (state === 'live') this.#open.add(name);
    // Another interval opens another stream of candles: nothing was lost.
    else if (name !== 'candles' || state === 'waiting') this.#open.delete(name);
    this.isBookLive = this.#open.has('book');
    this.isLive = this.#open.size === STREAMS;
    this.#changed('state');
  }

  end() {
    for (const stream of this.#streams) stream.end();
    this.#streams = [];
    this.#candleStream?.end();
    this.#candleStream = null;
    this.#waiting = [];
    this.#asked += 1;
    this.#open = new Set(['candles']);
    this.isLive = false;
    this.isBookLive = false;
  }

  async #readBook() {
    this.#asked += 1;
    const asked = this.#asked;
    try {
      const snapshot = depthOf(await request(`/marketdepth/${this.#market}`));
      if (asked !== this.#asked) return;
      this.book.load(snapshot);
      const waiting = this.#waiting;
      this.#waiting = [];
      // A snapshot that is older than the first diff after it is read again, not at once: the next one may be as old.
      const gap = waiting.findIndex((diff) => this.book.apply(diff) === 'gap');
      if (gap >= 0) {
        this.#waiting = waiting.slice(gap);
        this.#readBookAgain(asked);
      }
      this.#changed('book');
    } catch {
      this.#readBookAgain(asked);
    }
  }

  /** @param {number} asked the read before */
  #readBookAgain(asked) {
    setTimeout(() => {
      if (asked === this.#asked) this.#readBook();
    }, RETRY_MS);
  }

  /** @param {Plain} frame */
  #onDepth(frame) {
    if (frame.sequence_number === undefined) return;
    const diff = depthOf(frame);
    if (!this.book.isCurrent) {
      if (this.#waiting.length < DIFFS_WAITING_MAX) this.#waiting.push(diff);
    } else if (this.book.apply(diff) === 'gap') {
      this.#waiting = [diff];
      this.#readBook();
    }
    this.#changed('book');
  }

  async #readTrades() {
    const market = this.#market;
    const rows = await request(`/trades/${market}?limit=${TRADES_KEPT}`).catch(() => null);
    if (rows === null || market !== this.#market) return;
    const known = new Set(rows.map((/** @type {Plain} */ row) => row.trade_id));
    // Trades that came over the stream before the reply stay in front of it.
    this.trades = [...this.trades.filter(({ trade_id: id }) => !known.has(id)), ...rows]
      .sort((left, right) => (left.trade_id < right.trade_id ? 1 : -1))
      .slice(0, TRADES_KEPT);
    this.#changed('trades');
  }

  /** @param {Plain} frame */
  #onTrade(frame) {
    // A read after the opening of the stream may have had it already.
    const isKnown = this.trades.some(({ trade_id: id }) => id === frame.trade_id);
    if (frame.trade_id === undefined || isKnown) return;
    this.trades.unshift(frame);
    if (this.trades.length > TRADES_KEPT) this.trades.pop();
    this.#changed('trades');
  }

  async #readCandles() {
    const market = this.#market;
    const spelling = this.#spelling;
    const path = `/klines/${market}?interval=${spelling}&limit=${CANDLES_READ}`;
    const page = await request(path).catch(() => null);
    if (page === null || market !== this.#market || spelling !== this.#spelling) return;
    const newer = this.candles;
    this.candles = new Map();
    for (const row of page.items) this.#addCandle(row);
    const last = Math.max(0, ...this.candles.keys());
    for (const [time, candle] of newer) if (time >= last) this.candles.set(time, candle);
    this.#changed('candles');
  }

  /** @param {Plain} row */
  #addCandle(row) {
    const time = Number(row.open_timestamp_ns / 1_000_000_000n);
    const start = time - (time % this.#width);
    this.candles.set(start, {
      time: start,
      open: Number(row.open),
      high: Number(row.high),
      low: Number(row.low),
      close: Number(row.close),
      volume: Number(row.volume),
    });
  }
}
