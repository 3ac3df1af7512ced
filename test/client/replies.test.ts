// tier: quick
/** The SDK reads whatever the shapes of the service's replies admit: what is documented is what clients can read. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { TSchema } from '@sinclair/typebox';
import fc from 'fast-check';
import { readFigures } from '../../src/client/margin.ts';
import { readOrderEvent } from '../../src/client/order-events.ts';
import {
  readBatchResults,
  readDepth,
  readInventory,
  readKline,
  readMarket,
  readOpenInterest,
  readOperationResponse,
  readOrderRecord,
  readPage,
  readPublicTrade,
  readTicker,
  readUserTrade,
} from '../../src/client/replies.ts';
import { readPositionBasis, readSubAccountNames, readUserOrder } from '../../src/client/user-reads.ts';
import type { JsonValue } from '../../src/codec/json-tree.ts';
import { writeJson } from '../../src/codec/json-writer.ts';
import { ACCOUNT_NAMES, INVENTORY, MARGIN, POSITION_BASIS } from '../../src/codec/shapes/account-shapes.ts';
import {
  DEPTH,
  DEPTH_DIFF,
  KLINE,
  KLINE_PAGE,
  OPEN_INTEREST,
  PUBLIC_TRADE,
  TICKER,
} from '../../src/codec/shapes/market-data-shapes.ts';
import { ORDER_RECORD } from '../../src/codec/shapes/order-record-shapes.ts';
import {
  BATCH_RESPONSE,
  OPERATION_RESPONSE,
  ORDER_PAGE,
  USER_ORDER_PAGE,
  USER_TRADE,
  USER_TRADE_PAGE,
} from '../../src/codec/shapes/order-reply-shapes.ts';
import { MARKET } from '../../src/codec/shapes/registry-shapes.ts';
import { ORDER_EVENT } from '../../src/codec/shapes/stream-shapes.ts';
import { propertyParameters } from '../support/property.ts';
import { fitting } from '../support/shape-arbitrary.ts';

const READERS: readonly (readonly [string, TSchema, (value: JsonValue) => unknown])[] = [
  ['an operation response', OPERATION_RESPONSE, readOperationResponse],
  ['a batch response', BATCH_RESPONSE, readBatchResults],
  ['a market', MARKET, readMarket],
  ['an order record', ORDER_RECORD, readOrderRecord],
  ['a page of orders', ORDER_PAGE, (value) => readPage(value, 'orders', readOrderRecord)],
  ['a user trade', USER_TRADE, readUserTrade],
  ['a page of trades', USER_TRADE_PAGE, (value) => readPage(value, 'trades', readUserTrade)],
  ['a public trade', PUBLIC_TRADE, readPublicTrade],
  ['a book', DEPTH, readDepth],
  ['a change of a book', DEPTH_DIFF, readDepth],
  ['a kline', KLINE, readKline],
  ['a page of klines', KLINE_PAGE, (value) => readPage(value, 'items', readKline)],
  ['a ticker', TICKER, readTicker],
  ['open interest', OPEN_INTEREST, readOpenInterest],
  ['an inventory', INVENTORY, readInventory],
  ['a page of orders with filters', USER_ORDER_PAGE, (value) => readPage(value, 'orders', readUserOrder)],
  ['a page of trades with filters', USER_TRADE_PAGE, (value) => readPage(value, 'trades', readUserTrade)],
  ['names of sub-accounts', ACCOUNT_NAMES, readSubAccountNames],
  ['what positions cost', POSITION_BASIS, readPositionBasis],
  ['figures of margin', MARGIN, readFigures],
  ['an order event', ORDER_EVENT, (value) => readOrderEvent(value, 1n)],
];

suite('replies as they are documented', () => {
  for (const [what, shape, read] of READERS) {
    test(`${what} that fits its shape is read by the SDK`, () => {
      fc.assert(
        fc.property(fitting(shape), (value) => {
          assert.doesNotThrow(() => read(value), writeJson(value));
        }),
        propertyParameters(60),
      );
    });
  }
});
