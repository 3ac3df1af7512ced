/** The streams of market data (wire.md 9.3, 9.6, 9.7). */

import {
  BBO_FRAME,
  DEPTH_DIFF,
  DEPTH_FRAME,
  KLINES,
  KLINES_FRAME,
  PRICES_FRAME,
  PUBLIC_TRADE,
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
import { TEXT } from '../../codec/shapes/shape-kit.ts';
import type { MdsChannel } from '../../codec/stream-frames.ts';
import type { MessageDoc, QueryDoc, StreamDoc } from './route-doc.ts';

export const KLINE_EXAMPLE: string =
  '{"open":"3150","high":"3152.5","low":"3149","close":"3151","volume":"41230.77","open_timestamp_ns":1770000000000000000,"close_timestamp_ns":1770000001000000000}';
export const TRADE_EXAMPLE: string =
  '{"asset_id":"1","trade_id":88017,"price":"61000","quantity":"0.02","timestamp_ns":1770000004000000000,"buyer_is_maker":false,"status":"Confirmed"}';
export const TICKER_EXAMPLE: string =
  '{"asset_id":"1","last_price":"61000","open":"60000","high":"61500","low":"59800.5","volume":"9120334.1","price_change":"1000","price_change_percent":"1.667","timestamp_ns":1770000004000000000,"volume_24h":"9120334.1","high_24h":"61500","low_24h":"59800.5","price_change_24h":"1000","price_change_pct_24h":"1.667","mark_price":"61000","index_price":"60990","best_bid":{"price":"60999","size":"1"},"best_ask":{"price":"61001","size":"2.5"},"open_interest":{"long":"410.5","short":"410.5","timestamp_ns":1770000004000000000}}';

export const INTERVAL_QUERY: QueryDoc = {
  name: 'interval',
  shape: TEXT,
  summary: [
    'a bare number is a count of minutes, seconds take S: 1S, 5S, 15S, 30S, 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h,',
    '12h, 1D, 3D, 1W, 1M (30 days)',
  ].join(' '),
};
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

/** A stream: what documents say of it, and what it is; null: the socket of many subscriptions. */
interface MdsStream extends StreamDoc {
  readonly stream: MdsChannel | null;
}

export const MDS_STREAMS: readonly MdsStream[] = [
  {
    ...STREAM,
    path: '/marketdepth/diff/{asset_id}',
    stream: 'marketdepth',
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
    stream: 'klines',
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
    stream: 'trades',
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
    stream: 'trade_events',
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
    stream: 'trades',
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
    stream: 'ticker',
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
    stream: 'tickers',
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
    stream: null,
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
