/** The market-data service: its routes and streams, all public (wire.md 8, 9.3, 9.6, 9.7). */

import { ACCOUNT_NAMES, POSITION_BASIS } from '../../codec/shapes/account-shapes.ts';
import {
  BBO_FRAME,
  DEPTH,
  DEPTH_DIFF,
  DEPTH_FRAME,
  KLINE_PAGE,
  KLINES,
  KLINES_FRAME,
  OPEN_INTEREST,
  OPEN_INTERESTS,
  PRICES_FRAME,
  PUBLIC_TRADE,
  PUBLIC_TRADES,
  SUBSCRIPTION_ERROR,
  SUBSCRIPTION_PING,
  SUBSCRIPTION_PONG,
  SUBSCRIPTION_REQUEST,
  SUBSCRIPTIONS,
  TICKER,
  TICKER_FRAME,
  TICKERS,
  TRADE_EVENT,
  TRADES_FRAME,
  WELCOME,
} from '../../codec/shapes/market-data-shapes.ts';
import { USER_ORDER_PAGE, USER_TRADE_PAGE } from '../../codec/shapes/order-reply-shapes.ts';
import { NANOSECONDS, TEXT } from '../../codec/shapes/shape-kit.ts';
import { PAGE_LIMIT_MAX } from '../../core/limits.ts';
import { KLINE_LIMIT_DEFAULT, KLINE_LIMIT_MAX } from '../../market-data/klines.ts';
import type { MessageDoc, QueryDoc, RouteDoc, StreamDoc } from './api-table.ts';
import { DOCUMENT_ROUTES } from './document-table.ts';
import { OMS_OPEN_ROUTES } from './oms-open-routes-table.ts';
import { pageExample, RECORD_EXAMPLE, USER_TRADE_EXAMPLE } from './oms-order-routes-table.ts';
import { limitQuery, ONE_ACCOUNT_QUERY, PAGE_QUERY, USER_PAGE_QUERIES } from './query-docs.ts';

const DEPTH_EXAMPLE = '{"asks":[[3150.25,2.5]],"bids":[[3149.75,1]],"sequence_number":9001}';
const KLINE_EXAMPLE =
  '{"open":"3150","high":"3152.5","low":"3149","close":"3151","volume":"41230.77","open_timestamp_ns":1770000000000000000,"close_timestamp_ns":1770000001000000000}';
const TRADE_EXAMPLE =
  '{"asset_id":"1","trade_id":88017,"price":"61000","quantity":"0.02","timestamp_ns":1770000004000000000,"buyer_is_maker":false,"status":"Confirmed"}';
const TICKER_EXAMPLE =
  '{"asset_id":"1","last_price":"61000","open":"60000","high":"61500","low":"59800.5","volume":"9120334.1","price_change":"1000","price_change_percent":"1.667","timestamp_ns":1770000004000000000,"volume_24h":"9120334.1","high_24h":"61500","low_24h":"59800.5","price_change_24h":"1000","price_change_pct_24h":"1.667","mark_price":"61000","index_price":"60990","best_bid":{"price":"60999","size":"1"},"best_ask":{"price":"61001","size":"2.5"},"open_interest":{"long":"410.5","short":"410.5","timestamp_ns":1770000004000000000}}';
const BASIS_EXAMPLE =
  '[{"sub_account":1,"asset_id":"1","domain":"margin","side":"long","quantity":"2.5","cost":"7875.6","entry_price":"3150.24","avg_acquisition_price":null,"mark_price":"3151","unrealized_pnl":"1.9"}]';
const INTEREST_EXAMPLE = '{"asset_id":"1","long":"410.5","short":"410.5","timestamp_ns":1770000004000000000}';

const READ = { method: 'GET', area: 'Market data', auth: 'public', cost: 'publicRead' } as const;
const INTERVAL_QUERY: QueryDoc = {
  name: 'interval',
  shape: TEXT,
  summary: [
    'a bare number is a count of minutes, seconds take S: 1S, 5S, 15S, 30S, 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h,',
    '12h, 1D, 3D, 1W, 1M (30 days)',
  ].join(' '),
};
const TRADES_LIMIT = limitQuery(100, PAGE_LIMIT_MAX);

export const LOGIN_AREA = 'Session';
const OWN = { method: 'GET', area: 'Own history', auth: 'session' } as const;
const [NONCE_ROUTE, AUTH_ROUTE] = OMS_OPEN_ROUTES;
const AT_THIS_LISTENER =
  ' Each listener has a nonce of its own; tokens of either are valid on both. Below `/market-data` the order listener has this login too.';

/** Your orders and trades, of all markets or of one. */
function userPages(isOneMarket: boolean): readonly RouteDoc[] {
  const market = isOneMarket ? '/{asset_id}' : '';
  const where = isOneMarket ? ' in one market' : '';
  const common = {
    ...OWN,
    cost: 'historyPage',
    ...(isOneMarket ? { errors: ['MARKET_NOT_FOUND'] as const } : {}),
  } as const;
  const path = isOneMarket ? { path: { asset_id: '1' } } : {};
  const order = RECORD_EXAMPLE.replace(/\}$/, ',"account_index":1,"is_spot":true,"authorization_revision":null}');
  return [
    {
      ...common,
      path: `/orders/user/{user_id}${market}`,
      summary: `Your orders${where}`,
      description: 'Newest first. Filters are judged before the page and its total; times are those of the creation.',
      query: USER_PAGE_QUERIES.orders,
      reply: USER_ORDER_PAGE,
      example: { ...path, query: 'limit=100', reply: pageExample('orders', 'total_orders', order) },
    },
    {
      ...common,
      path: `/trades/user/{user_id}${market}`,
      summary: `Your confirmed trades${where}`,
      description: 'Newest first. Filters are judged before the page and its total; times are those of the match.',
      query: USER_PAGE_QUERIES.trades,
      reply: USER_TRADE_PAGE,
      example: { ...path, query: 'limit=40', reply: pageExample('trades', 'total_trades', USER_TRADE_EXAMPLE) },
    },
  ];
}

/** What positions cost, of all markets or of one. */
function basisRoute(isOneMarket: boolean): RouteDoc {
  return {
    ...OWN,
    path: `/positions/user/{user_id}/basis${isOneMarket ? '/{asset_id}' : ''}`,
    cost: 'action',
    summary: `What your positions${isOneMarket ? ' in one market' : ''} cost`,
    description: [
      'Average cost of your confirmed trades, without fees, transfers, deposits and withdrawals: an estimate, not inventory. A',
      'trade counts as spot or margin like its order; when the record of its order is gone (30 days), like its account.',
    ].join(' '),
    query: [ONE_ACCOUNT_QUERY],
    reply: POSITION_BASIS,
    errors: [...(isOneMarket ? (['MARKET_NOT_FOUND'] as const) : []), 'SERVICE_UNAVAILABLE'],
    example: { ...(isOneMarket ? { path: { asset_id: '1' } } : {}), reply: BASIS_EXAMPLE },
  };
}

/** Logins and reads of users, which the gateway answers (wire-additions.md 8). */
const USER_ROUTES: readonly RouteDoc[] = [
  ...[NONCE_ROUTE, AUTH_ROUTE].flatMap((route) =>
    route === undefined ? [] : [{ ...route, description: `${route.description}${AT_THIS_LISTENER}` } as const],
  ),
  ...[false, true].flatMap(userPages),
  ...[false, true].map(basisRoute),
  {
    ...OWN,
    path: '/sub-accounts/user/{user_id}',
    cost: 'action',
    summary: 'Names that you gave to sub-accounts',
    reply: ACCOUNT_NAMES,
    example: { reply: '{"names":[{"account_index":2,"name":"Hedge book"}]}' },
  },
];

export const MDS_ROUTES: readonly RouteDoc[] = [
  {
    ...READ,
    path: '/marketdepth/{asset_id}',
    summary: 'The order book',
    description: 'Apply the diffs of `/marketdepth/diff/{asset_id}` with a larger `sequence_number`.',
    reply: DEPTH,
    errors: ['MARKET_NOT_FOUND', 'SERVICE_UNAVAILABLE'],
    example: { path: { asset_id: '1' }, reply: DEPTH_EXAMPLE },
  },
  {
    ...READ,
    path: '/klines/{asset_id}',
    summary: 'Candles',
    description: [
      'Page 0 is the newest window; rows ascend inside a page. Without an interval the rows are seconds. Below a minute',
      'rows are kept for seven days, below an hour for 60 days, below a day for two years, wider ones for good. Of an',
      'interval wider than a second the row that is still forming is included.',
    ].join(' '),
    query: [
      PAGE_QUERY,
      limitQuery(KLINE_LIMIT_DEFAULT, KLINE_LIMIT_MAX),
      {
        name: 'end_timestamp_ns',
        shape: NANOSECONDS,
        summary: 'the newest close time, inclusive; of an interval wider than a second, open time; by default now',
      },
      INTERVAL_QUERY,
    ],
    reply: KLINE_PAGE,
    errors: ['MARKET_NOT_FOUND'],
    example: {
      path: { asset_id: '1' },
      query: 'limit=60',
      reply: `{"items":[${KLINE_EXAMPLE}],"page":0,"limit":60,"total_pages":1,"cursor_size":1,"has_next_page":false,"next_page":null}`,
    },
  },
  {
    ...READ,
    path: '/trades',
    summary: 'Confirmed trades of all markets, newest first',
    query: [PAGE_QUERY, TRADES_LIMIT],
    reply: PUBLIC_TRADES,
    example: { query: 'limit=10', reply: `[${TRADE_EXAMPLE}]` },
  },
  {
    ...READ,
    path: '/trades/{asset_id}',
    summary: 'Confirmed trades of one market, newest first',
    query: [PAGE_QUERY, TRADES_LIMIT],
    reply: PUBLIC_TRADES,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, reply: `[${TRADE_EXAMPLE}]` },
  },
  {
    ...READ,
    path: '/ticker/{asset_id}',
    summary: 'The last 24 hours of one market',
    reply: TICKER,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, reply: TICKER_EXAMPLE },
  },
  {
    ...READ,
    path: '/tickers',
    summary: 'The last 24 hours of every market',
    reply: TICKERS,
    example: { reply: `[${TICKER_EXAMPLE}]` },
  },
  {
    ...READ,
    path: '/openinterest',
    summary: 'Open interest of every market',
    description: 'The open-interest cap counts the larger of the two sides, not their sum.',
    reply: OPEN_INTERESTS,
    example: { reply: `[${INTEREST_EXAMPLE}]` },
  },
  {
    ...READ,
    path: '/openinterest/{asset_id}',
    summary: 'Open interest of one market',
    reply: OPEN_INTEREST,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, reply: INTEREST_EXAMPLE },
  },
  ...USER_ROUTES,
  ...DOCUMENT_ROUTES,
];

const TRADE_WORDS: Readonly<Record<string, string>> = {
  Pending: 'Matched, not yet durable',
  Confirmed: 'On disk',
  Rollbacked: 'Undone',
};

const OF_MARKET = { asset_id: '1' };
const STREAM = { area: 'Market data', auth: 'public', channel: null } as const;

function welcome(channel: string): MessageDoc {
  return {
    name: 'Welcome',
    summary: 'The first frame',
    shape: WELCOME,
    example: `{"type":"subscriptions","channels":[{"name":"${channel}"}],"errors":[]}`,
  };
}

/** An update of the multiplexed socket. @param interval its member, for klines. */
function frameExample(channel: string, data: string, interval = ''): string {
  return `{"type":"update","channel":"${channel}","asset_id":"1",${interval}"sequence":2,"timestamp_ns":1770000030010000000,"data":${data}}`;
}

export const MDS_STREAMS: readonly StreamDoc[] = [
  {
    ...STREAM,
    path: '/marketdepth/diff/{asset_id}',
    pathExample: OF_MARKET,
    summary: 'Changes of the order book',
    resync: 'the snapshot of /marketdepth/{asset_id}; a gap in sequence_number invalidates the book',
    sends: [
      welcome('marketdepth'),
      {
        name: 'DepthDiff',
        summary: 'Changed levels; quantity 0 removes a level',
        shape: DEPTH_DIFF,
        example: '{"asks":[[3150.25,0]],"bids":[],"sequence_number":9002}',
      },
    ],
  },
  {
    ...STREAM,
    path: '/klines/diff/{asset_id}',
    pathExample: OF_MARKET,
    query: [INTERVAL_QUERY],
    summary: 'Candles as they change',
    resync: '/klines/{asset_id}',
    sends: [
      welcome('klines'),
      { name: 'Klines', summary: 'Always an array', shape: KLINES, example: `[${KLINE_EXAMPLE}]` },
    ],
  },
  {
    ...STREAM,
    path: '/trades',
    summary: 'Confirmed trades of all markets',
    resync: '/trades',
    sends: [
      welcome('trades'),
      { name: 'PublicTrade', summary: 'A confirmed trade', shape: PUBLIC_TRADE, example: TRADE_EXAMPLE },
    ],
  },
  {
    ...STREAM,
    path: '/trades/events',
    summary: 'Trades of all markets as they are matched, confirmed or rolled back',
    resync: '/trades: confirmed trades; pending and rolled-back ones are available on this stream only',
    sends: [
      welcome('trade_events'),
      ...['Pending', 'Confirmed', 'Rollbacked'].map((tag) => ({
        name: tag,
        summary: TRADE_WORDS[tag] ?? '',
        shape: TRADE_EVENT,
        example: `{"${tag}":${TRADE_EXAMPLE.replace('"Confirmed"', `"${tag}"`)}}`,
      })),
    ],
  },
  {
    ...STREAM,
    path: '/trades/{asset_id}',
    pathExample: OF_MARKET,
    summary: 'Confirmed trades of one market',
    resync: '/trades/{asset_id}',
    sends: [
      welcome('trades'),
      { name: 'PublicTrade', summary: 'A confirmed trade', shape: PUBLIC_TRADE, example: TRADE_EXAMPLE },
    ],
  },
  {
    ...STREAM,
    path: '/ticker/ws/{asset_id}',
    pathExample: OF_MARKET,
    summary: 'The ticker of one market, at most once a second',
    resync: '/ticker/{asset_id}',
    sends: [
      welcome('ticker'),
      { name: 'Ticker', summary: 'The last 24 hours', shape: TICKER, example: TICKER_EXAMPLE },
    ],
  },
  {
    ...STREAM,
    path: '/tickers/ws',
    summary: 'Tickers that changed, at most once a second',
    resync: '/tickers',
    sends: [
      welcome('tickers'),
      { name: 'Tickers', summary: 'Those that changed', shape: TICKERS, example: `[${TICKER_EXAMPLE}]` },
    ],
  },
  {
    ...STREAM,
    path: '/ws',
    summary: 'Many markets and channels on one socket',
    description: [
      'Each subscription begins with a snapshot and goes on with updates; subscribing again resynchronizes it. Up to 500',
      'subscriptions a socket, 200 new ones a frame, 10 frames a second. A book is checked with the CRC-32C of its best ten',
      'levels. A reader that is slow misses old values of bbo, ticker and prices, then depth updates, and gets a new',
      'snapshot; one that is too slow even so is closed with 1013 `resync_required`.',
    ].join(' '),
    resync: 'nothing: connect and subscribe again',
    receives: [
      {
        name: 'SubscriptionRequest',
        summary: 'Begins or ends subscriptions',
        shape: SUBSCRIPTION_REQUEST,
        example:
          '{"type":"subscribe","id":"s-1","channels":[{"name":"depth","asset_ids":["1"],"checksum_every":1},{"name":"klines","asset_ids":["1"],"interval":"1m"}]}',
      },
      { name: 'SubscriptionPing', summary: 'A ping', shape: SUBSCRIPTION_PING, example: '{"type":"ping","id":"p-1"}' },
    ],
    sends: [
      {
        name: 'Subscriptions',
        summary: 'The first frame, and the answer to a request',
        shape: SUBSCRIPTIONS,
        example:
          '{"type":"subscriptions","channels":[{"name":"depth","asset_ids":["1"],"numbers":"number","checksum_every":1}],"errors":[],"id":"s-1"}',
      },
      {
        name: 'DepthFrame',
        summary: 'The book',
        shape: DEPTH_FRAME,
        example: frameExample(
          'depth',
          '{"asks":[[3150.25,1.5]],"bids":[],"sequence_number":9002,"checksum":3332010872}',
        ),
      },
      {
        name: 'BboFrame',
        summary: 'The best bid and offer',
        shape: BBO_FRAME,
        example: frameExample(
          'bbo',
          '{"bid":{"price":"3149.75","size":"1"},"ask":{"price":"3150.25","size":"1.5"},"sequence_number":9002}',
        ),
      },
      {
        name: 'TradesFrame',
        summary: 'Confirmed trades',
        shape: TRADES_FRAME,
        example: frameExample('trades', `{"trades":[${TRADE_EXAMPLE}]}`),
      },
      {
        name: 'KlinesFrame',
        summary: 'Candles of an interval as they form',
        shape: KLINES_FRAME,
        example: frameExample('klines', `{"items":[${KLINE_EXAMPLE}]}`, '"interval_s":60,'),
      },
      {
        name: 'TickerFrame',
        summary: 'The last 24 hours',
        shape: TICKER_FRAME,
        example: frameExample('ticker', TICKER_EXAMPLE),
      },
      {
        name: 'PricesFrame',
        summary: 'The mark and the oracle price',
        shape: PRICES_FRAME,
        example: frameExample(
          'prices',
          '{"mark_price":"3151","mark_source":"trade","mark_timestamp_ns":1770000004000000000,"oracle_price":"3149.9","oracle_timestamp_ns":1770000029000000000}',
        ),
      },
      { name: 'SubscriptionPong', summary: 'A pong', shape: SUBSCRIPTION_PONG, example: '{"type":"pong","id":"p-1"}' },
      {
        name: 'SubscriptionError',
        summary: 'A frame that could not be taken',
        shape: SUBSCRIPTION_ERROR,
        example:
          '{"type":"error","id":null,"error":{"code":"INVALID_REQUEST","message":"expected subscribe, unsubscribe or ping","retryable":false,"details":{"field":"type"}}}',
      },
    ],
  },
];
