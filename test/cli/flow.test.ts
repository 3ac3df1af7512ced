// tier: quick
/** Flow files and synthetic flows: what is written is read back, what is made keeps the promises of the format. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { FlowBook } from '../../src/cli/flow-book.ts';
import {
  BOOK_LEVELS,
  type FlowBookRow,
  type FlowEvent,
  FlowFormatError,
  parseBook,
  parseFlow,
  writeBook,
  writeFlow,
} from '../../src/cli/flow-format.ts';
import { differenceOf, rowOf } from '../../src/cli/replay-flow.ts';
import { syntheticFlow } from '../../src/cli/synthetic-flow.ts';
import { propertyParameters } from '../support/property.ts';

const HEADER = 'seq,time_ns,action,id,side,price,quantity';
const event = (changes: Partial<FlowEvent>): FlowEvent => ({
  seq: 1,
  timeNs: 0n,
  action: 'add',
  id: 'o1',
  side: 'buy',
  price: 100,
  quantity: 10,
  ...changes,
});

const seeds = fc.record({ seed: fc.nat(), count: fc.integer({ min: 1, max: 400 }) });

suite('flow files', () => {
  test('what is written is read back, byte for byte', () => {
    fc.assert(
      fc.property(seeds, ({ seed, count }) => {
        const flow = syntheticFlow(seed, count);
        assert.deepEqual(parseFlow(writeFlow(flow.events)), flow.events);
        assert.deepEqual(parseBook(writeBook(flow.book)), flow.book);
        assert.equal(writeFlow(parseFlow(writeFlow(flow.events))), writeFlow(flow.events));
        // MCH-09
        assert.deepEqual(parseFlow(writeFlow(flow.events).replaceAll('\n', '\r\n')), flow.events);
      }),
      propertyParameters(10),
    );
  });

  test('anything else is refused with its line', () => {
    const wrong: readonly (readonly [string, RegExp])[] = [
      ['', /line 1: expected the header/],
      [`${HEADER}\r\r\n`, /line 1/],
      [`${HEADER}\n1,0,add,o1,buy,100,10`, /last line/],
      [`${HEADER}\n1,0,add,o1,buy,100\n`, /line 2: expected 7 fields, found 6/],
      [`${HEADER}\n2,0,add,o1,buy,100,10\n`, /line 2: expected seq 1/],
      [`${HEADER}\n1,5,add,o1,buy,100,10\n2,4,add,o2,buy,100,10\n`, /line 3: time goes back/],
      [`${HEADER}\n1,0,modify,o1,buy,100,10\n`, /unknown action "modify"/],
      [`${HEADER}\n1,0,add,o 1,buy,100,10\n`, /no order id/],
      [`${HEADER}\n1,0,add,o1,bid,100,10\n`, /unknown side/],
      [`${HEADER}\n1,0,add,o1,buy,0100,10\n`, /not a fitting integer/],
      [`${HEADER}\n1,0,add,o1,buy,1e2,10\n`, /not a fitting integer/],
      [`${HEADER}\n1,0,add,o1,buy,0,10\n`, /not a fitting integer/],
      [`${HEADER}\n1,0,add,o1,buy,100,9007199254740993\n`, /not a fitting integer/],
    ];
    for (const [text, reason] of wrong) {
      assert.throws(
        () => parseFlow(text),
        (error) => error instanceof FlowFormatError && reason.test(error.message),
        text,
      );
    }
  });

  test('a book whose levels are out of order is refused; unused levels carry any price', () => {
    const [row] = parseBook(writeBook([{ afterSeq: 1, asks: [{ price: 5, quantity: 1 }], bids: [] }]));
    assert.deepEqual(row, { afterSeq: 1, asks: [{ price: 5, quantity: 1 }], bids: [] });
    const header = writeBook([]).trim();
    const empty = Array.from({ length: BOOK_LEVELS - 2 }, () => '9999999999,0,-9999999999,0').join(',');
    assert.equal(parseBook(`${header}\n1,5,1,4,1,6,1,3,1,${empty}\n`)[0]?.asks.length, 2);
    assert.throws(() => parseBook(`${header}\n1,6,1,4,1,5,1,3,1,${empty}\n`), /line 2: levels are not in order/);
  });
});

suite('plain book', () => {
  test('a take fills the oldest order at the best price first, and what has filled is known', () => {
    const book = new FlowBook();
    book.apply(event({ id: 'a', side: 'sell', price: 101, quantity: 5 }));
    book.apply(event({ id: 'b', side: 'sell', price: 100, quantity: 5 }));
    book.apply(event({ id: 'c', side: 'sell', price: 100, quantity: 5 }));
    const traded = book.apply(event({ id: 't', action: 'take', side: 'buy', price: 101, quantity: 12 }));
    assert.deepEqual(traded, { quantity: 12n, notional: 1_202n });
    assert.equal(book.order('b'), undefined);
    assert.equal(book.order('c'), undefined);
    assert.equal(book.order('a')?.filled, 2);
    assert.deepEqual(book.row(4), { afterSeq: 4, asks: [{ price: 101, quantity: 3 }], bids: [] });
  });

  test('a reduced order keeps its turn', () => {
    const book = new FlowBook();
    book.apply(event({ id: 'a', side: 'sell', quantity: 5 }));
    book.apply(event({ id: 'b', side: 'sell', quantity: 5 }));
    book.apply(event({ id: 'a', side: 'sell', action: 'reduce', quantity: 2 }));
    book.apply(event({ id: 't', action: 'take', side: 'buy', quantity: 2 }));
    assert.equal(book.order('a'), undefined);
    assert.equal(book.order('b')?.remaining, 5);
  });

  test('an event that breaks a promise of the format is refused and changes nothing', () => {
    const book = new FlowBook();
    book.apply(event({ id: 'a', side: 'sell', quantity: 5 }));
    const before = book.row(0);
    const broken: readonly Partial<FlowEvent>[] = [
      { id: 'a', side: 'sell' },
      { id: 'b', side: 'buy', price: 100 },
      { id: 'x', action: 'cancel' },
      { id: 'a', action: 'trim', quantity: 5 },
      { id: 't', action: 'take', side: 'buy', quantity: 6 },
      { id: 't', action: 'take', side: 'buy', price: 99, quantity: 1 },
    ];
    for (const changes of broken) assert.throws(() => book.apply(event(changes)), FlowFormatError);
    assert.deepEqual(book.row(0), before);
  });
});

/** What the format promises of every flow, checked without the generator's own book row. */
function checkFlow(events: readonly FlowEvent[], rows: readonly FlowBookRow[]): void {
  const book = new FlowBook();
  const rowsAfter = new Map(rows.map((row) => [row.afterSeq, row]));
  for (const each of events) {
    if (each.action === 'take') {
      assert.equal(
        each.price,
        book.best(each.side === 'buy' ? 'sell' : 'buy'),
        `take ${each.seq} is at the best price`,
      );
    }
    book.apply(each);
    const [bid, ask] = [book.best('buy'), book.best('sell')];
    if (bid !== undefined && ask !== undefined) assert.ok(bid < ask, 'the book is never crossed');
    const row = rowsAfter.get(each.seq);
    if (row !== undefined) assert.equal(differenceOf(row, book.row(each.seq)), null);
  }
}

suite('synthetic flow', () => {
  test('it keeps the promises of the format, and its book is the book', () => {
    fc.assert(
      fc.property(seeds, ({ seed, count }) => {
        const flow = syntheticFlow(seed, count);
        assert.equal(flow.events.length, count);
        checkFlow(flow.events, flow.book);
      }),
      propertyParameters(10),
    );
  });

  test('the same seed gives the same flow, another seed another', () => {
    assert.equal(writeFlow(syntheticFlow(7, 300).events), writeFlow(syntheticFlow(7, 300).events));
    assert.notEqual(writeFlow(syntheticFlow(7, 300).events), writeFlow(syntheticFlow(8, 300).events));
  });

  test('every kind of event occurs in a thousand', () => {
    const actions = new Set(syntheticFlow(1, 1_000).events.map((each) => each.action));
    assert.deepEqual([...actions].sort(), ['add', 'cancel', 'reduce', 'seed', 'take', 'trim']);
  });
});

const RECORDED = process.env['RINGBOOK_RECORDED_FLOW'];
const SKIP =
  RECORDED === undefined ? 'RINGBOOK_RECORDED_FLOW names no folder with aapl-flow.csv and aapl-book.csv' : false;

suite('recorded flow', { skip: SKIP }, () => {
  test('a plain price-time book shows exactly the recorded levels', () => {
    const events = parseFlow(readFileSync(join(RECORDED ?? '', 'aapl-flow.csv'), 'utf8'));
    const rows = parseBook(readFileSync(join(RECORDED ?? '', 'aapl-book.csv'), 'utf8'));
    assert.equal(events.length, 971);
    assert.equal(rows.length, 999);
    checkFlow(events, rows);
  });
});

suite('comparison', () => {
  test('the difference names the levels, in human units', () => {
    const actual = rowOf({ asks: [{ price: '585.94', quantity: '200' }], bids: [], sequenceNumber: 3 }, 20);
    assert.deepEqual(actual.asks, [{ price: 5_859_400, quantity: 200 }]);
    assert.equal(differenceOf(actual, actual), null);
    const expected = { ...actual, bids: [{ price: 5_853_300, quantity: 18 }] };
    const text = differenceOf(expected, actual) ?? '';
    assert.match(text, /after event 20/);
    assert.match(text, /bid {2}1 +18 at 585\.33 +none/);
    assert.doesNotMatch(text, /ask/);
  });
});
