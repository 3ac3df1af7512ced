// @ts-check
/** The state of the page, and what announces its changes: parts of the page register for the changes that they show. */
import { Session } from '../session.js';
import { Account } from './account.js';
import { chainNumber, decimalsOf } from './format.js';
import { MarketFeed } from './market-feed.js';
import { MARKET_STREAMS, request } from './service.js';
import { Stream } from './stream.js';

/** @typedef {import('./service.js').Plain} Plain */
/** @typedef {'markets' | 'market' | 'ticker' | 'session' | import('./market-feed.js').FeedChange | import('./account.js').AccountChange} Change */

const MARKETS_READ_MS = 30_000;

/** @param {string} key `<address>@<chain>` @param {Plain} token */
function tokenName(key, token) {
  return `${token.symbol ?? key.slice(0, 8)} on chain ${chainNumber(key.split('@')[1] ?? '')}`;
}

export class App {
  session = new Session();
  account = new Account(this.session, (what) => this.emit(what));
  feed = new MarketFeed((what) => this.emit(what));
  /** By asset id. @type {Map<string, Plain>} */
  markets = new Map();
  /** Symbols by asset id. @type {Map<string, string>} */
  symbols = new Map([['0', 'USD']]);
  /** Tokens that can be withdrawn: `<address>@<chain>` and a name. @type {[string, string][]} */
  tokens = [];
  /** Vaults of the chains, `<address>@<chain>`. @type {string[]} */
  vaults = [];
  /** By asset id. @type {Map<string, Plain>} */
  tickers = new Map();
  /** The market on display. @type {Plain} */
  market = null;
  interval = '1m';
  /** Whether the markets were read. */
  isStarted = false;
  /** Set by the order ticket. @type {(price: string) => void} */
  #onPick = () => undefined;
  /** @type {Map<Change, (() => void)[]>} */
  #listeners = new Map();

  /** @param {Change} what @param {() => void} listener */
  on(what, listener) {
    this.#listeners.set(what, [...(this.#listeners.get(what) ?? []), listener]);
  }

  /** @param {Change} what */
  emit(what) {
    for (const listener of this.#listeners.get(what) ?? []) listener();
  }

  /** A price of the book goes into the ticket. @param {string} price */
  pickPrice = (price) => this.#onPick(price);

  /** @param {(price: string) => void} take */
  set onPick(take) {
    this.#onPick = take;
  }

  /** Decimals of prices on display: those of the tick. */
  get priceDecimals() {
    return decimalsOf(this.market?.tick_size ?? '1');
  }

  get quantityDecimals() {
    return Math.max(0, Number(this.market?.book_quantity_decimals ?? 0n));
  }

  /** @param {string} assetId */
  symbolOf(assetId) {
    return this.symbols.get(assetId) ?? (assetId.length > 12 ? `${assetId.slice(0, 8)}…` : `#${assetId}`);
  }

  async start() {
    await this.#readMarkets();
    this.isStarted = true;
    setInterval(() => {
      // The first market of a node may come while the page is open.
      const read = this.#readMarkets().then(() => this.market === null && this.select(location.hash.slice(1)));
      read.catch(() => undefined);
    }, MARKETS_READ_MS);
    new Stream({
      connect: () => new WebSocket(`${MARKET_STREAMS}/tickers/ws`),
      opened: () => void this.#readTickers(),
      frame: (frame) => {
        if (Array.isArray(frame)) this.#keepTickers(frame);
      },
    });
    this.select(location.hash.slice(1));
    this.emit('state');
    addEventListener('hashchange', () => this.select(location.hash.slice(1)));
  }

  /** Shows a market; the first one when there is none of this id. @param {string} assetId */
  select(assetId) {
    const market = this.markets.get(assetId) ?? this.markets.values().next().value ?? null;
    if (market === null || market.asset_id === this.market?.asset_id) return;
    this.market = market;
    document.title = `${this.symbolOf(market.asset_id)} · ringbook`;
    if (location.hash.slice(1) !== market.asset_id) history.replaceState(null, '', `#${market.asset_id}`);
    this.feed.open(market.asset_id, this.interval);
    this.emit('market');
  }

  /** @param {string} interval */
  setInterval(interval) {
    this.interval = interval;
    if (this.market !== null) this.feed.openCandles(interval);
  }

  async #readMarkets() {
    const [markets, assets, vaults] = await Promise.all([
      request('/markets'),
      request('/registry/assets').catch(() => ({})),
      request('/registry/vaults').catch(() => []),
    ]);
    this.vaults = vaults;
    this.markets = new Map(markets.map((/** @type {Plain} */ market) => [market.asset_id, market]));
    this.tokens = Object.values(assets).flatMap((tokens) =>
      Object.entries(tokens).map(([key, token]) => /** @type {[string, string]} */ ([key, tokenName(key, token)])),
    );
    for (const [asset, tokens] of Object.entries(assets)) {
      const symbol = Object.values(tokens).find((/** @type {Plain} */ token) => token.symbol)?.symbol;
      if (symbol !== undefined) this.symbols.set(asset, symbol);
    }
    if (this.market !== null) this.market = this.markets.get(this.market.asset_id) ?? this.market;
    this.emit('markets');
  }

  async #readTickers() {
    const rows = await request('/tickers').catch(() => null);
    if (rows !== null) this.#keepTickers(rows);
  }

  /** @param {Plain[]} rows */
  #keepTickers(rows) {
    for (const row of rows) this.tickers.set(row.asset_id, row);
    this.emit('ticker');
  }
}
