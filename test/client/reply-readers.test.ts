// tier: quick
/**
 * Readers of replies that are built from shapes, against those that were written by hand before (test/judges/reply-readers.ts):
 * taken or refused, and every value.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { TSchema } from '@sinclair/typebox';
import fc from 'fast-check';
import { readAccountEvent } from '../../src/client/account.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { readFigures } from '../../src/client/margin.ts';
import { readOrderEvent } from '../../src/client/order-events.ts';
import { readArray } from '../../src/client/read-members.ts';
import * as replies from '../../src/client/replies.ts';
import { replyReader } from '../../src/client/reply-reader.ts';
import { readSubAccountNames, readUserOrder } from '../../src/client/user-reads.ts';
import type { JsonValue } from '../../src/codec/json-tree.ts';
import { writeJson } from '../../src/codec/json-writer.ts';
import * as account from '../../src/codec/shapes/account-shapes.ts';
import * as market from '../../src/codec/shapes/market-data-shapes.ts';
import { ORDER_RECORD, USER_ORDER_RECORD } from '../../src/codec/shapes/order-record-shapes.ts';
import * as order from '../../src/codec/shapes/order-reply-shapes.ts';
import { MARKET, SYMBOL_MAP } from '../../src/codec/shapes/registry-shapes.ts';
import { ACCOUNT_EVENT, ORDER_EVENT } from '../../src/codec/shapes/stream-shapes.ts';
import * as judge from '../judges/reply-readers.ts';
import { propertyParameters } from '../support/property.ts';
import { damaged, fitting } from '../support/shape-arbitrary.ts';

type Read = (value: JsonValue) => unknown;

interface Row {
  readonly what: string;
  readonly shape: TSchema;
  readonly read: Read;
  readonly judge: Read;
  /** Members that only the reader from the shape looks at: a damage there may be refused by it alone. */
  readonly stricter?: boolean;
  /** Members that may be null and that the reader by hand wanted to be there: without them it alone refuses. */
  readonly laxer?: boolean;
}

function listOf(read: Read): Read {
  return (value) => readArray(value, 'a list', read);
}

const ROWS: readonly Row[] = [
  {
    what: 'an operation response',
    shape: order.OPERATION_RESPONSE,
    read: replies.readOperationResponse,
    judge: judge.readOperationResponse,
    laxer: true,
  },
  {
    what: 'a batch reply',
    shape: order.BATCH_RESPONSE,
    read: replies.readBatchResults,
    judge: judge.readBatchResults,
  },
  {
    what: 'a dead-man timer',
    shape: order.CANCEL_ALL_AFTER_RESPONSE,
    read: replies.readFiresAt,
    judge: judge.readFiresAt,
    laxer: true,
  },
  { what: 'a market', shape: MARKET, read: replies.readMarket, judge: judge.readMarket },
  { what: 'an order record', shape: ORDER_RECORD, read: replies.readOrderRecord, judge: judge.readOrderRecord },
  { what: 'an order of market data', shape: USER_ORDER_RECORD, read: readUserOrder, judge: judge.readUserOrder },
  { what: 'a user trade', shape: order.USER_TRADE, read: replies.readUserTrade, judge: judge.readUserTrade },
  { what: 'a public trade', shape: market.PUBLIC_TRADE, read: replies.readPublicTrade, judge: judge.readPublicTrade },
  { what: 'a kline', shape: market.KLINE, read: replies.readKline, judge: judge.readKline },
  { what: 'a ticker', shape: market.TICKER, read: replies.readTicker, judge: judge.readTicker },
  {
    what: 'open interest',
    shape: market.OPEN_INTEREST,
    read: replies.readOpenInterest,
    judge: judge.readOpenInterest,
    stricter: true,
  },
  { what: 'an inventory', shape: account.INVENTORY, read: replies.readInventory, judge: judge.readInventory },
  { what: 'figures of margin', shape: account.MARGIN, read: readFigures, judge: judge.readFigures },
  {
    what: 'positions',
    shape: account.POSITIONS,
    read: listOf(replyReader('position', account.USER_POSITION)),
    judge: listOf(judge.readPosition),
  },
  {
    what: 'a simulated trade',
    shape: account.SIMULATION,
    read: replyReader('simulation', account.SIMULATION),
    judge: judge.readSimulation,
  },
  {
    what: 'what is at risk',
    shape: account.AT_RISK,
    read: replyReader('at risk', account.AT_RISK),
    judge: judge.readAtRisk,
  },
  {
    what: 'names of sub-accounts',
    shape: account.ACCOUNT_NAMES,
    read: readSubAccountNames,
    judge: judge.readSubAccountNames,
  },
  {
    what: 'what positions cost',
    shape: account.POSITION_BASIS,
    read: replyReader('position basis', account.POSITION_BASIS),
    judge: listOf(judge.readPositionBasis),
  },
  {
    what: 'approvals of settlements',
    shape: account.SETTLEMENT_APPROVALS,
    read: (value) =>
      replyReader('approvals', account.SETTLEMENT_APPROVALS)(value).map(({ inner, expiry }) => ({ ...inner, expiry })),
    judge: listOf(judge.readApproval),
  },
  {
    what: 'an order event',
    shape: ORDER_EVENT,
    read: (value) => readOrderEvent(value, 7n),
    judge: (value) => judge.readOrderEvent(value, 7n),
  },
  {
    what: 'an event of an account',
    shape: ACCOUNT_EVENT,
    read: readAccountEvent,
    judge: judge.readAccountEvent,
    stricter: true,
  },
  {
    what: 'names of assets',
    shape: SYMBOL_MAP,
    read: replyReader('symbol map', SYMBOL_MAP),
    judge: (value) =>
      new Map([...(value as ReadonlyMap<string, JsonValue>)].map(([asset, row]) => [asset, judge.readAssetName(row)])),
    stricter: true,
  },
];

interface Result {
  readonly value?: unknown;
  readonly code?: string;
}

function resultOf(read: Read, value: JsonValue): Result {
  try {
    return { value: read(value) };
  } catch (error) {
    assert.ok(error instanceof RingbookError, String(error));
    return { code: error.code };
  }
}

suite('replies by their shapes and by hand', () => {
  for (const { what, shape, read, judge: byHand, stricter = false, laxer = false } of ROWS) {
    test(`${what} is read into the same value`, () => {
      fc.assert(
        fc.property(fitting(shape), (value) => {
          assert.deepEqual(resultOf(read, value), resultOf(byHand, value), writeJson(value));
        }),
        propertyParameters(200),
      );
    });

    test(`${what} that is damaged is taken or refused alike`, () => {
      fc.assert(
        fc.property(fitting(shape).chain(damaged), (value) => {
          const made = resultOf(read, value);
          if (stricter && made.code === 'INVALID_RESPONSE') return;
          const judged = resultOf(byHand, value);
          if (laxer && judged.code === 'INVALID_RESPONSE') return;
          assert.deepEqual(made, judged, writeJson(value));
        }),
        propertyParameters(200),
      );
    });
  }
});
