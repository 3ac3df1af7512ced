/**
 * The words and nested unions of signed orders: `side`, `details`, `time_in_force`, `trigger`, `new_trigger` (wire.md 4.3,
 * AMB-04 to AMB-06). Inside the node they have another form than on the wire, so they are read and written by hand.
 *
 * Every shape of the contract is read and written back; the order manager decides which of them are supported.
 *
 * A raw figure (RawPrice, RawQuantity) outside 1 … 2^53−1 is read as 0: the brand holds once `rawFault` has returned
 * null. The quote-scaled integers `QuoteAsset.quantity` and `max_sellable_amount` have the same limits.
 */
import { must } from '../core/assert.ts';
import { SIDE, type Side, TIF, type Tif } from '../core/order-terms.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../core/units.ts';
import type { JsonCursor } from './json-cursor.ts';
import { choiceShape, objectShape } from './json-shape.ts';
import { STRING_DECODED_MAX } from './signed-text.ts';
import type { TextWriter } from './text-writer.ts';

export interface LimitDetails {
  readonly kind: 'limit';
  readonly limitPrice: RawPrice;
  readonly quantity: RawQuantity;
  readonly tif: Tif;
  readonly postOnly: boolean;
  /** Set for GTD, else null. */
  readonly goodUntilNs: TimestampNs | null;
}

interface MarketBaseDetails {
  readonly kind: 'market-base';
  readonly quantity: RawQuantity;
  /** Quote integer of scale 10^-book_quantity_decimals, or null for no cap. */
  readonly maxSellableAmount: number | null;
  readonly fillOrKill: boolean;
}

interface MarketQuoteDetails {
  readonly kind: 'market-quote';
  /** Quote integer of scale 10^-book_quantity_decimals. */
  readonly amount: number;
  readonly maxSellableQuantity: RawQuantity | null;
  readonly fillOrKill: boolean;
}

export type OrderDetails = LimitDetails | MarketBaseDetails | MarketQuoteDetails;

export interface TriggerCondition {
  readonly direction: 'PriceAbove' | 'PriceBelow';
  readonly price: RawPrice;
}

export interface Trigger {
  readonly parentOrderId: string | null;
  readonly condition: TriggerCondition;
}

/** Verified in the received shape: the bare condition, or `{parent_order_id, condition}` (AMB-06, G3). */
export interface NewTrigger {
  readonly shape: 'bare' | 'wrapped';
  /** Null in the bare shape. */
  readonly parentOrderId: string | null;
  readonly condition: TriggerCondition;
}

const DETAILS = choiceShape(['Limit', 'Market']);
const LIMIT = objectShape('refuse', ['limit_price', 'quantity', 'time_in_force']);
const TIME_IN_FORCE = choiceShape(['GTC', 'GTD', 'IOC']);
const GTC = objectShape('refuse', ['post_only']);
const GTD = objectShape('refuse', ['post_only', 'timestamp_ns']);
const IOC = objectShape('refuse', ['fill_or_kill']);
const MARKET = objectShape('refuse', ['quantity', 'fill_or_kill']);
const MARKET_QUANTITY = choiceShape(['BaseAsset', 'QuoteAsset']);
const BASE_ASSET = objectShape('refuse', ['quantity', 'max_sellable_amount?']);
const QUOTE_ASSET = objectShape('refuse', ['quantity', 'max_sellable_quantity?']);
const TRIGGER = objectShape('refuse', ['parent_order_id?', 'condition']);
const CONDITION = choiceShape(['PriceAbove', 'PriceBelow']);
const CONDITION_PRICE = objectShape('refuse', ['price']);
const NEW_TRIGGER = objectShape('refuse', ['parent_order_id?', 'condition?', 'PriceAbove?', 'PriceBelow?']);

type TimeInForce = Pick<LimitDetails, 'tif' | 'postOnly' | 'goodUntilNs'>;

/** The value before details are read. */
export const NO_DETAILS: OrderDetails = {
  kind: 'market-quote',
  amount: 0,
  maxSellableQuantity: null,
  fillOrKill: false,
};
/** The value before a condition is read. */
export const NO_CONDITION: TriggerCondition = { direction: 'PriceAbove', price: 0 as RawPrice };

// ---- reading; after a failure of the cursor the values are undefined

export function readDetails(cursor: JsonCursor): OrderDetails {
  let details = NO_DETAILS;
  cursor.enterObject();
  for (let name = cursor.nextMember(DETAILS); name !== null; name = cursor.nextMember(DETAILS)) {
    details = name === 'Limit' ? readLimit(cursor) : readMarket(cursor);
  }
  return details;
}

function readLimit(cursor: JsonCursor): LimitDetails {
  let limitPrice = 0;
  let quantity = 0;
  let time: TimeInForce = { tif: TIF.gtc, postOnly: false, goodUntilNs: null };
  cursor.enterObject();
  for (let name = cursor.nextMember(LIMIT); name !== null; name = cursor.nextMember(LIMIT)) {
    if (name === 'limit_price') limitPrice = cursor.readRaw();
    else if (name === 'quantity') quantity = cursor.readRaw();
    else time = readTimeInForce(cursor);
  }
  return {
    kind: 'limit',
    limitPrice: limitPrice as RawPrice,
    quantity: quantity as RawQuantity,
    tif: time.tif,
    postOnly: time.postOnly,
    goodUntilNs: time.goodUntilNs,
  };
}

function readTimeInForce(cursor: JsonCursor): TimeInForce {
  let tif: Tif = TIF.gtc;
  let postOnly = false;
  let goodUntilNs: TimestampNs | null = null;
  cursor.enterObject();
  for (let name = cursor.nextMember(TIME_IN_FORCE); name !== null; name = cursor.nextMember(TIME_IN_FORCE)) {
    cursor.enterObject();
    if (name === 'GTC') {
      while (cursor.nextMember(GTC) !== null) postOnly = cursor.readBoolean();
    } else if (name === 'IOC') {
      // mutant: fill-or-kill
      while (cursor.nextMember(IOC) !== null) tif = cursor.readBoolean() ? TIF.fok : TIF.ioc;
    } else {
      tif = TIF.gtd;
      for (let member = cursor.nextMember(GTD); member !== null; member = cursor.nextMember(GTD)) {
        // mutant: good-till-date
        if (member === 'post_only') postOnly = cursor.readBoolean();
        else goodUntilNs = cursor.readTime();
      }
    }
  }
  return { tif, postOnly, goodUntilNs };
}

function readMarket(cursor: JsonCursor): OrderDetails {
  let size = NO_DETAILS;
  let fillOrKill = false;
  cursor.enterObject();
  for (let name = cursor.nextMember(MARKET); name !== null; name = cursor.nextMember(MARKET)) {
    if (name === 'quantity') size = readMarketQuantity(cursor);
    else fillOrKill = cursor.readBoolean();
  }
  return { ...size, fillOrKill } as OrderDetails;
}

function readMarketQuantity(cursor: JsonCursor): OrderDetails {
  let size = NO_DETAILS;
  cursor.enterObject();
  for (let name = cursor.nextMember(MARKET_QUANTITY); name !== null; name = cursor.nextMember(MARKET_QUANTITY)) {
    const shape = name === 'BaseAsset' ? BASE_ASSET : QUOTE_ASSET;
    let quantity = 0;
    let cap: number | null = null;
    cursor.enterObject();
    for (let member = cursor.nextMember<string>(shape); member !== null; member = cursor.nextMember<string>(shape)) {
      if (member === 'quantity') quantity = cursor.readRaw();
      else cap = readRawOrNull(cursor);
    }
    size =
      name === 'BaseAsset'
        ? { kind: 'market-base', quantity: quantity as RawQuantity, maxSellableAmount: cap, fillOrKill: false }
        : { kind: 'market-quote', amount: quantity, maxSellableQuantity: cap as RawQuantity | null, fillOrKill: false };
  }
  return size;
}

/** A raw figure or null. */
function readRawOrNull(cursor: JsonCursor): number | null {
  return cursor.readNull() ? null : cursor.readRaw();
}

/** `{"parent_order_id":…,"condition":…}`. */
export function readTrigger(cursor: JsonCursor): Trigger {
  let parentOrderId: string | null = null;
  let condition = NO_CONDITION;
  cursor.enterObject();
  for (let name = cursor.nextMember(TRIGGER); name !== null; name = cursor.nextMember(TRIGGER)) {
    if (name === 'parent_order_id') parentOrderId = cursor.readNull() ? null : cursor.readString(STRING_DECODED_MAX);
    else condition = readCondition(cursor);
  }
  return { parentOrderId, condition };
}

/** `{"PriceAbove":{"price":…}}`. */
function readCondition(cursor: JsonCursor): TriggerCondition {
  let condition = NO_CONDITION;
  cursor.enterObject();
  for (let name = cursor.nextMember(CONDITION); name !== null; name = cursor.nextMember(CONDITION)) {
    condition = { direction: name, price: readConditionPrice(cursor) };
  }
  return condition;
}

/** `{"price":…}`. */
function readConditionPrice(cursor: JsonCursor): RawPrice {
  let price = 0;
  cursor.enterObject();
  while (cursor.nextMember(CONDITION_PRICE) !== null) price = cursor.readRaw();
  return price as RawPrice;
}

/** One shape covers both spellings; a mixture, two conditions or none are rejected. */
export function readNewTrigger(cursor: JsonCursor): NewTrigger {
  const conditions: TriggerCondition[] = [];
  let isBare = false;
  let isWrapped = false;
  let parentOrderId: string | null = null;
  cursor.enterObject();
  for (let name = cursor.nextMember(NEW_TRIGGER); name !== null; name = cursor.nextMember(NEW_TRIGGER)) {
    if (name === 'PriceAbove' || name === 'PriceBelow') {
      isBare = true;
      conditions.push({ direction: name, price: readConditionPrice(cursor) });
    } else {
      isWrapped = true;
      if (name === 'condition') conditions.push(readCondition(cursor));
      else parentOrderId = cursor.readNull() ? null : cursor.readString(STRING_DECODED_MAX);
    }
  }
  const [condition = NO_CONDITION] = conditions;
  if (conditions.length !== 1 || (isBare && isWrapped)) cursor.fail('expected one condition', 'new_trigger');
  return { shape: isWrapped ? 'wrapped' : 'bare', parentOrderId, condition };
}

export function readSide(cursor: JsonCursor): Side {
  const word = cursor.readString(STRING_DECODED_MAX);
  if (word !== 'Buy' && word !== 'Sell') cursor.fail('expected Buy or Sell');
  return word === 'Sell' ? SIDE.sell : SIDE.buy;
}

// ---- the limits of raw figures

/** The member of `details` with a figure outside 1 … 2^53−1, or null. */
export function rawFault(details: OrderDetails): string | null {
  switch (details.kind) {
    case 'limit':
      return details.limitPrice === 0 ? 'limit_price' : details.quantity === 0 ? 'quantity' : null;
    case 'market-base':
      return details.quantity === 0 ? 'quantity' : details.maxSellableAmount === 0 ? 'max_sellable_amount' : null;
    case 'market-quote':
      return details.amount === 0 ? 'quantity' : details.maxSellableQuantity === 0 ? 'max_sellable_quantity' : null;
  }
}

// ---- canonical text

export function writeDetails(text: TextWriter, details: OrderDetails): void {
  switch (details.kind) {
    case 'limit':
      text.ascii('{"Limit":{"limit_price":');
      text.integer(details.limitPrice);
      text.ascii(',"quantity":');
      text.integer(details.quantity);
      text.ascii(',"time_in_force":');
      writeTimeInForce(text, details);
      text.ascii('}}');
      break;
    case 'market-base':
      text.ascii('{"Market":{"quantity":{"BaseAsset":{"quantity":');
      text.integer(details.quantity);
      text.ascii(',"max_sellable_amount":');
      text.integerOrNull(details.maxSellableAmount);
      writeFillOrKill(text, details.fillOrKill);
      break;
    case 'market-quote':
      text.ascii('{"Market":{"quantity":{"QuoteAsset":{"quantity":');
      text.integer(details.amount);
      text.ascii(',"max_sellable_quantity":');
      text.integerOrNull(details.maxSellableQuantity);
      writeFillOrKill(text, details.fillOrKill);
      break;
  }
}

/** The end of a market order's details. */
function writeFillOrKill(text: TextWriter, fillOrKill: boolean): void {
  text.ascii('}},"fill_or_kill":');
  text.flag(fillOrKill);
  text.ascii('}}');
}

function writeTimeInForce(text: TextWriter, { tif, postOnly, goodUntilNs }: LimitDetails): void {
  if (tif === TIF.ioc || tif === TIF.fok) {
    text.ascii('{"IOC":{"fill_or_kill":');
    text.flag(tif === TIF.fok);
    text.ascii('}}');
    return;
  }
  text.ascii(tif === TIF.gtd ? '{"GTD":{"post_only":' : '{"GTC":{"post_only":');
  text.flag(postOnly);
  if (tif === TIF.gtd) {
    text.ascii(',"timestamp_ns":');
    text.u64(must(goodUntilNs ?? undefined, 'an order good till a date has it'));
  }
  text.ascii('}}');
}

export function writeTrigger(text: TextWriter, trigger: Trigger): void {
  text.ascii('{"parent_order_id":');
  text.signedOrNull(trigger.parentOrderId);
  text.ascii(',"condition":');
  writeCondition(text, trigger.condition);
  text.ascii('}');
}

function writeCondition(text: TextWriter, condition: TriggerCondition): void {
  text.ascii('{"');
  text.ascii(condition.direction);
  text.ascii('":{"price":');
  text.integer(condition.price);
  text.ascii('}}');
}

export function writeNewTrigger(text: TextWriter, trigger: NewTrigger): void {
  if (trigger.shape === 'bare') writeCondition(text, trigger.condition);
  else writeTrigger(text, trigger);
}
