/** Public market data: REST replies and stream payloads (wire.md 8, 9.6, 9.7). */
import type { DepthLevel, Kline, OpenInterestRow, PublicTrade, Ticker } from '../reply-types.ts';
import { pageOf } from './order-reply-shapes.ts';
import {
  ASSET_ID,
  COUNT,
  choice,
  DECIMAL,
  described,
  FLAG,
  inside,
  listOf,
  NANOSECONDS,
  named,
  nullable,
  open,
  optional,
  type Shape,
  TEXT,
  unread,
  words,
} from './shape-kit.ts';
import { Type } from './type-builder.ts';

const LEVEL: Shape = listOf(Type.Number(), { minItems: 2, maxItems: 2 });
const LEVELS = described(listOf(LEVEL), '[price, quantity], human units, best first');

export const DEPTH: Shape = named(
  'Depth',
  'The book: best first, asks ascending, bids descending',
  Type.Object({ asks: LEVELS, bids: LEVELS, sequence_number: COUNT }),
);
export const DEPTH_DIFF: Shape = named(
  'DepthDiff',
  'Changed levels; quantity 0 removes one. Apply it when `sequence_number` is the last plus one',
  Type.Object({ asks: LEVELS, bids: LEVELS, sequence_number: COUNT }),
);

export const KLINE: Shape<unknown, Kline> = named(
  'Kline',
  'One bucket of trading, a second unless an interval was given; volume in quote',
  open({
    open: DECIMAL,
    high: DECIMAL,
    low: DECIMAL,
    close: DECIMAL,
    volume: DECIMAL,
    open_timestamp_ns: NANOSECONDS,
    close_timestamp_ns: NANOSECONDS,
  }),
);
export const KLINE_PAGE: Shape = pageOf('KlinePage', 'items', null, KLINE, {
  interval_s: optional(described(COUNT, 'the width served, in seconds; only with an `interval`')),
  truncated_before_ns: optional(
    described(
      nullable(NANOSECONDS),
      'rows that open before it are missing; null when nothing older was traded; only with an `interval`',
    ),
  ),
});
export const KLINES: Shape = listOf(KLINE);

function publicTrade(title: string, description: string, ...statuses: readonly string[]): Shape<unknown, PublicTrade> {
  return named(
    title,
    description,
    open({
      asset_id: ASSET_ID,
      trade_id: COUNT,
      price: DECIMAL,
      quantity: DECIMAL,
      timestamp_ns: NANOSECONDS,
      buyer_is_maker: FLAG,
      status: unread(words(...statuses)),
    }),
  );
}

export const PUBLIC_TRADE: Shape<unknown, PublicTrade> = publicTrade('PublicTrade', 'A confirmed trade', 'Confirmed');
export const PUBLIC_TRADES: Shape = listOf(PUBLIC_TRADE);
export const TRADE_EVENT: Shape = named(
  'TradeEvent',
  'A public trade as it is matched, and what became of it',
  choice({
    Pending: publicTrade('PendingTrade', 'A match, not yet durable', 'Pending'),
    Confirmed: PUBLIC_TRADE,
    Rollbacked: publicTrade('RollbackedTrade', 'A match undone', 'Rollbacked'),
  }),
);

export const BEST_LEVEL: Shape<unknown, DepthLevel> = open({ price: DECIMAL, size: inside('quantity', DECIMAL) });

export const TICKER: Shape<unknown, Ticker> = named(
  'Ticker',
  'The last 24 hours, rolling; figures are null while nothing was traded in them',
  open({
    asset_id: ASSET_ID,
    last_price: nullable(DECIMAL),
    open: nullable(DECIMAL),
    high: nullable(DECIMAL),
    low: nullable(DECIMAL),
    volume: described(DECIMAL, 'quote'),
    price_change: nullable(DECIMAL),
    price_change_percent: nullable(DECIMAL),
    timestamp_ns: NANOSECONDS,
    volume_24h: unread(described(DECIMAL, 'equals `volume`')),
    high_24h: unread(nullable(DECIMAL)),
    low_24h: unread(nullable(DECIMAL)),
    price_change_24h: unread(nullable(DECIMAL)),
    price_change_pct_24h: unread(nullable(DECIMAL)),
    mark_price: described(nullable(DECIMAL), 'the last trade, or the oracle price when that is older than a minute'),
    index_price: described(nullable(DECIMAL), 'the oracle price; null when older than two hours'),
    best_bid: nullable(BEST_LEVEL),
    best_ask: nullable(BEST_LEVEL),
    open_interest: described(
      nullable(open({ long: DECIMAL, short: DECIMAL, timestamp_ns: NANOSECONDS })),
      'null for a market that never had a position',
    ),
  }),
);
export const TICKERS: Shape = listOf(TICKER);

export const OPEN_INTEREST: Shape<unknown, OpenInterestRow> = named(
  'OpenInterest',
  'Credits and borrows of the asset over all margin positions, asset units; null for a market that never had one',
  open({
    asset_id: ASSET_ID,
    long: nullable(DECIMAL),
    short: nullable(DECIMAL),
    timestamp_ns: nullable(NANOSECONDS),
  }),
);
export const OPEN_INTERESTS: Shape = listOf(OPEN_INTEREST);

export const WELCOME: Shape = named(
  'Welcome',
  'First frame of every market-data stream',
  Type.Object({
    type: words('subscriptions'),
    channels: listOf(Type.Object({ name: TEXT })),
    errors: listOf(TEXT),
  }),
);

const REQUEST_ID = described(Type.String({ minLength: 1, maxLength: 64 }), 'repeated in the answer');
const CHANNEL_NAME = words('depth', 'bbo', 'trades', 'klines', 'ticker', 'prices');
const CHANNEL_ITEM = Type.Object({
  name: CHANNEL_NAME,
  asset_ids: listOf(TEXT, { minItems: 1, maxItems: 100 }),
  interval: optional(described(TEXT, 'klines only, and required there')),
  numbers: optional(described(words('number', 'string'), 'depth only: the form of prices and quantities')),
  checksum_every: optional(
    described(
      Type.Integer({ minimum: 0, maximum: 1_000 }),
      'depth only: a checksum on every n-th update; 0: snapshots',
    ),
  ),
});
export const SUBSCRIPTION_REQUEST: Shape = named(
  'SubscriptionRequest',
  'Subscribing again replaces the options and sends a new snapshot',
  Type.Object({
    type: words('subscribe', 'unsubscribe'),
    id: optional(REQUEST_ID),
    channels: listOf(CHANNEL_ITEM, { minItems: 1, maxItems: 20 }),
  }),
);
export const SUBSCRIPTION_PING: Shape = named(
  'SubscriptionPing',
  'Answered by a pong with its id',
  Type.Object({ type: words('ping'), id: optional(REQUEST_ID) }),
);
export const SUBSCRIPTION_PONG: Shape = named(
  'SubscriptionPong',
  'The answer to a ping',
  Type.Object({ type: words('pong'), id: optional(TEXT) }),
);
export const SUBSCRIPTIONS: Shape = named(
  'Subscriptions',
  'All subscriptions in force, and what the frame could not do',
  Type.Object({
    type: words('subscriptions'),
    channels: listOf(CHANNEL_ITEM),
    errors: listOf(
      Type.Object({
        name: CHANNEL_NAME,
        asset_id: TEXT,
        code: words('MARKET_NOT_FOUND', 'RATE_LIMITED', 'TOO_MANY_SUBSCRIPTIONS', 'NOT_SUBSCRIBED'),
        message: TEXT,
      }),
    ),
    id: optional(nullable(TEXT)),
  }),
);
export const SUBSCRIPTION_ERROR: Shape = named(
  'SubscriptionError',
  'A frame that could not be taken; the socket stays open',
  Type.Object({
    type: words('error'),
    id: nullable(TEXT),
    error: Type.Object({ code: TEXT, message: TEXT, retryable: FLAG, details: optional(Type.Unknown() as Shape) }),
  }),
);

/** A snapshot or an update of a channel. */
function channelFrame(title: string, channel: string, data: Shape): Shape {
  return named(
    title,
    `A snapshot or an update of ${channel}; \`sequence\` counts the frames of the subscription`,
    Type.Object({
      type: words('snapshot', 'update'),
      channel: words(channel),
      asset_id: ASSET_ID,
      ...(channel === 'klines' ? { interval_s: COUNT } : {}),
      sequence: COUNT,
      timestamp_ns: NANOSECONDS,
      data,
    }),
  );
}

const NUMBER_OR_TEXT: Shape = Type.Union([Type.Number(), Type.String()]);
const BOOK_LEVELS = listOf(listOf(NUMBER_OR_TEXT, { minItems: 2, maxItems: 2 }));
export const DEPTH_FRAME: Shape = channelFrame(
  'DepthFrame',
  'depth',
  Type.Object({
    asks: BOOK_LEVELS,
    bids: BOOK_LEVELS,
    sequence_number: COUNT,
    more: optional(described(FLAG, 'snapshots only: another part follows')),
    checksum: described(nullable(COUNT), 'CRC-32C of the best ten levels of each side'),
  }),
);
export const BBO_FRAME: Shape = channelFrame(
  'BboFrame',
  'bbo',
  Type.Object({ bid: nullable(BEST_LEVEL), ask: nullable(BEST_LEVEL), sequence_number: COUNT }),
);
export const TRADES_FRAME: Shape = channelFrame('TradesFrame', 'trades', Type.Object({ trades: PUBLIC_TRADES }));
export const KLINES_FRAME: Shape = channelFrame('KlinesFrame', 'klines', Type.Object({ items: KLINES }));
export const TICKER_FRAME: Shape = channelFrame('TickerFrame', 'ticker', TICKER);
export const PRICES_FRAME: Shape = channelFrame(
  'PricesFrame',
  'prices',
  Type.Object({
    mark_price: nullable(DECIMAL),
    mark_source: nullable(words('trade', 'oracle')),
    mark_timestamp_ns: nullable(NANOSECONDS),
    oracle_price: nullable(DECIMAL),
    oracle_timestamp_ns: nullable(NANOSECONDS),
  }),
);
