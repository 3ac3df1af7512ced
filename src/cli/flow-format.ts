/**
 * Recorded order flows and their books as csv, read and written strictly; writing and reading are inverse.
 *
 *   flow   seq,time_ns,action,id,side,price,quantity
 *   book   after_seq,ask_price_1,ask_quantity_1,bid_price_1,bid_quantity_1,ask_price_2,…   (ten levels a side)
 *
 *   seed, add     a limit order that rests          cancel        order `id` leaves
 *   reduce, trim  order `id` keeps only `quantity`  take          an immediate-or-cancel order that fills completely
 *
 * Prices are in 10^-4 of the quote unit, quantities whole. An unused level of a book has quantity 0.
 */

export const PRICE_DECIMALS = 4;
export const QUANTITY_DECIMALS = 0;
export const BOOK_LEVELS = 10;

const FLOW_ACTIONS = ['seed', 'add', 'cancel', 'reduce', 'trim', 'take'] as const;
type FlowAction = (typeof FLOW_ACTIONS)[number];
export type FlowSide = 'buy' | 'sell';

export interface FlowEvent {
  /** 1, 2, 3 … */
  readonly seq: number;
  /** Nanoseconds after midnight; never decreases. */
  readonly timeNs: bigint;
  readonly action: FlowAction;
  /** A valid order id; for `take` an id of its own. */
  readonly id: string;
  /** The order's own side; for `take` the aggressor's. */
  readonly side: FlowSide;
  readonly price: number;
  readonly quantity: number;
}

export interface FlowLevel {
  readonly price: number;
  readonly quantity: number;
}

/** The best levels of a book, at most ten a side, best first. */
export interface FlowBookRow {
  /** The event after which this was the book. */
  readonly afterSeq: number;
  readonly asks: readonly FlowLevel[];
  readonly bids: readonly FlowLevel[];
}

/** A file that violates the format, with the line number. */
export class FlowFormatError extends Error {
  override readonly name = 'FlowFormatError';
}

const FLOW_HEADER = 'seq,time_ns,action,id,side,price,quantity';
const BOOK_COLUMNS = ['ask_price', 'ask_quantity', 'bid_price', 'bid_quantity'];
const BOOK_HEADER = [
  'after_seq',
  ...Array.from({ length: BOOK_LEVELS }, (_, level) => BOOK_COLUMNS.map((column) => `${column}_${level + 1}`)).flat(),
].join(',');
const ID_FORM = /^[A-Za-z0-9+/=_\-.:]{1,64}$/;
const INTEGER_FORM = /^(?:0|-?[1-9][0-9]*)$/;
/** An unused level: no price, no quantity. */
const UNUSED: FlowLevel = { price: 0, quantity: 0 };

/** @throws FlowFormatError. */
export function parseFlow(text: string): readonly FlowEvent[] {
  const events: FlowEvent[] = [];
  for (const { fields, fail } of rows(text, FLOW_HEADER)) {
    const [seq = '', timeNs = '', action = '', id = '', side = '', price = '', quantity = ''] = fields;
    const event: FlowEvent = {
      seq: integer(seq, 1, fail),
      timeNs: BigInt(integer(timeNs, 0, fail)),
      action: FLOW_ACTIONS.find((known) => known === action) ?? fail(`unknown action "${action}"`),
      id: ID_FORM.test(id) ? id : fail(`"${id}" is no order id`),
      side: side === 'buy' || side === 'sell' ? side : fail(`unknown side "${side}"`),
      price: integer(price, 1, fail),
      quantity: integer(quantity, 1, fail),
    };
    if (event.seq !== events.length + 1) fail(`expected seq ${events.length + 1}`);
    if (event.timeNs < (events.at(-1)?.timeNs ?? 0n)) fail('time goes back');
    events.push(event);
  }
  return events;
}

export function writeFlow(events: readonly FlowEvent[]): string {
  const lines = events.map(({ seq, timeNs, action, id, side, price, quantity }) =>
    [seq, timeNs, action, id, side, price, quantity].join(','),
  );
  return `${[FLOW_HEADER, ...lines].join('\n')}\n`;
}

/** @throws FlowFormatError. */
export function parseBook(text: string): readonly FlowBookRow[] {
  const book: FlowBookRow[] = [];
  for (const { fields, fail } of rows(text, BOOK_HEADER)) {
    const [afterSeq = 0, ...figures] = fields.map((field) => integer(field, Number.MIN_SAFE_INTEGER, fail));
    const asks: FlowLevel[] = [];
    const bids: FlowLevel[] = [];
    for (let at = 0; at < figures.length; at += 4) {
      const [askPrice = 0, askQuantity = 0, bidPrice = 0, bidQuantity = 0] = figures.slice(at, at + 4);
      if (askQuantity > 0) asks.push({ price: askPrice, quantity: askQuantity });
      if (bidQuantity > 0) bids.push({ price: bidPrice, quantity: bidQuantity });
    }
    if (afterSeq < (book.at(-1)?.afterSeq ?? 0)) fail('after_seq goes back');
    if (!isOrdered(asks, 1) || !isOrdered(bids, -1)) fail('levels are not in order, best first');
    book.push({ afterSeq, asks, bids });
  }
  return book;
}

export function writeBook(book: readonly FlowBookRow[]): string {
  const lines = book.map((row) => {
    const figures = Array.from({ length: BOOK_LEVELS }, (_, index) => {
      const ask = row.asks[index] ?? UNUSED;
      const bid = row.bids[index] ?? UNUSED;
      return [ask.price, ask.quantity, bid.price, bid.quantity];
    });
    return [row.afterSeq, ...figures.flat()].join(',');
  });
  return `${[BOOK_HEADER, ...lines].join('\n')}\n`;
}

interface Row {
  readonly fields: readonly string[];
  fail(reason: string): never;
}

function* rows(text: string, header: string): Generator<Row> {
  // Spreadsheets end lines with both characters.
  const [first, ...lines] = text.split(/\r?\n/);
  if (first !== header) throw new FlowFormatError(`line 1: expected the header "${header.slice(0, 60)}"`);
  if (lines.pop() !== '') throw new FlowFormatError('the last line does not end');
  const columns = header.split(',').length;
  for (const [index, line] of lines.entries()) {
    const fail = (reason: string): never => {
      throw new FlowFormatError(`line ${index + 2}: ${reason}`);
    };
    const fields = line.split(',');
    if (fields.length !== columns) fail(`expected ${columns} fields, found ${fields.length}`);
    yield { fields, fail };
  }
}

function integer(text: string, min: number, fail: (reason: string) => never): number {
  const value = Number(text);
  if (!INTEGER_FORM.test(text) || !Number.isSafeInteger(value) || value < min)
    fail(`"${text}" is not a fitting integer`);
  return value;
}

function isOrdered(levels: readonly FlowLevel[], direction: 1 | -1): boolean {
  return levels.every((level, index) => {
    const before = levels[index - 1];
    return before === undefined || direction * (level.price - before.price) > 0;
  });
}
