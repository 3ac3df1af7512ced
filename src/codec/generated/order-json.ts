/** Generated from src/codec/shapes/order-shapes.ts and schemas/control.fbs by `npm run generate`. Do not edit. */
import { unreachable } from '../../core/assert.ts';
import type { OrderId } from '../../core/ids.ts';
import { SIDE, type Side, SIDE_WORD } from '../../core/order-terms.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../../core/units.ts';
import type { Draft } from '../decode-text.ts';
import type { JsonCursor } from '../json-cursor.ts';
import { type ObjectShape, objectShape } from '../json-shape.ts';
import { type OrderDetails, type Trigger, type NewTrigger, NO_DETAILS, readDetails, readTrigger, readNewTrigger, readSide, writeDetails, writeTrigger, writeNewTrigger } from '../order-details.ts';
import type { SignedRequest } from '../order-actions.ts';
import { NO_VERSION, replaceTermsFault, replaceMarketFault } from '../order-rules.ts';
import { type QuoteEntries, NO_QUOTES, readQuoteEntries, writeQuoteEntries } from '../quote-entries.ts';
import { NO_SIGNERS, readOrderSignature, readAdditionalSigners } from '../signatures.ts';
import { STRING_DECODED_MAX, type SpelledUser, type SpelledAsset, NO_USER, NO_ASSET, readUser, readAsset, readWord } from '../signed-text.ts';
import { type TextWriter, NO_BYTES } from '../text-writer.ts';

/** The signed object of a create. Canonical bytes: compact JSON, members in this order, unset ones null. */
export interface SignedOrder {
  /** Ed25519 public key, 64 hex digits. */
  readonly signer: SpelledUser;
  /** 1 to 64 of A-Z a-z 0-9 + / = _ - . : and not sys-… */
  readonly orderId: OrderId;
  /** An asset: an index from 0 to 65535, or <address>@<chain id>. */
  readonly baseAsset: SpelledAsset;
  /** The market's own. */
  readonly bookPriceDecimals: number;
  /** The market's own. */
  readonly bookQuantityDecimals: number;
  /** A limit order, or a market order sized in base or in quote with an optional cap in the other. */
  readonly details: OrderDetails;
  readonly side: Side;
  /** Releases the order when its condition holds; with a parent also as the parent fills. */
  readonly trigger: Trigger | null;
  /** Nanoseconds since 1970; passes 2^53, never send it through a double. */
  readonly creationNs: TimestampNs;
  /** Sub-account index. */
  readonly account: number;
  /** True moves balances, false a margin position. */
  readonly isSpot: boolean;
  readonly reduceOnly: boolean;
  /** The most you pay, 1e-6 of notional; must cover the market’s rate. */
  readonly maxTradingFeesRate: number;
  /** Always 1. */
  readonly protocolVersion: number;
}

/** A signed order. `protection_group` is not signed. */
export interface CreateRequest extends SignedRequest {
  readonly order: SignedOrder;
  /** A protection group of yours in this market: 1 to 16 characters of an order id. */
  readonly protectionGroup: string | null;
}

/** The signed object of a replace; null leaves a member unchanged. Quantity decimals stand before price decimals. */
export interface SignedReplace {
  /** 1 to 64 of A-Z a-z 0-9 + / = _ - . : and not sys-… */
  readonly orderId: OrderId;
  /** An asset: an index from 0 to 65535, or <address>@<chain id>. */
  readonly baseAsset: SpelledAsset | null;
  /** A replace older than the last one applied is refused. */
  readonly timestampNs: TimestampNs;
  /** Raw book units: human × 10^decimals of the market. */
  readonly newPriceLimit: RawPrice | null;
  /** The new total, the filled part included. */
  readonly newQuantity: RawQuantity | null;
  /** Holds once a confirmed trade reaches the price. */
  readonly newTrigger: NewTrigger | null;
  readonly bookQuantityDecimals: number;
  readonly bookPriceDecimals: number;
  /** Always 1. */
  readonly protocolVersion: number;
}

/**
 * A signed change of an order. `signer` and `asset_id` are not signed; with `base_asset` in `request` there is no `asset_id`.
 */
export interface ReplaceRequest extends SignedRequest {
  readonly request: SignedReplace;
  /** Ed25519 public key, 64 hex digits. */
  readonly signer: SpelledUser;
  /** An asset: an index from 0 to 65535, or <address>@<chain id>. */
  readonly asset: SpelledAsset;
}

/** The signed object of a cancel. */
export interface SignedCancel {
  /** 1 to 64 of A-Z a-z 0-9 + / = _ - . : and not sys-… */
  readonly orderId: OrderId;
  /** An asset: an index from 0 to 65535, or <address>@<chain id>. */
  readonly asset: SpelledAsset;
  /** Ed25519 public key, 64 hex digits. */
  readonly signer: SpelledUser;
  /** Always 1. */
  readonly protocolVersion: number;
}

/** A signed cancel. */
export interface CancelRequest extends SignedRequest {
  readonly cancel: SignedCancel;
}

export interface AmendTerms {
  /** 1 to 64 of A-Z a-z 0-9 + / = _ - . : and not sys-… */
  readonly orderId: OrderId;
  /** An asset: an index from 0 to 65535, or <address>@<chain id>. */
  readonly asset: SpelledAsset;
  /** The new total, the filled part included; below the total in force. */
  readonly newQuantity: RawQuantity;
  /** The market's own. */
  readonly bookQuantityDecimals: number;
  /** `timestamp_ns` of the last replace or amend of the order; null: none since its create. */
  readonly expectedRevisionNs: TimestampNs | null;
  /** Above the revision, at most 60 s old; becomes the revision. */
  readonly timestampNs: TimestampNs;
}

/**
 * Lowers the total of an order; not signed. `target`, `oms_operator_pubkey` and `receive_timestamp_ns` are not used.
 */
export interface AmendRequest extends SignedRequest {
  readonly amend: AmendTerms;
  /** Ed25519 public key, 64 hex digits. */
  readonly user: SpelledUser;
}

/**
 * The signed object of a quote set: what shall rest in one market, in place of what the set has there. Both sides empty: the set ends.
 */
export interface SignedQuoteSet {
  /** Ed25519 public key, 64 hex digits. */
  readonly signer: SpelledUser;
  /** 1 to 40 of A-Z a-z 0-9 + / = _ - . and not sys-…; its entries are the orders <set_id>:<n>. */
  readonly setId: string;
  /** An asset: an index from 0 to 65535, or <address>@<chain id>. */
  readonly baseAsset: SpelledAsset;
  /** The market's own. */
  readonly bookPriceDecimals: number;
  /** The market's own. */
  readonly bookQuantityDecimals: number;
  /** Above that of the set before; at most 60 s old, 5 s ahead. */
  readonly revisionNs: TimestampNs;
  /** `[price, quantity]` each, raw; the best price first, no price twice. The quantity is what shall rest. */
  readonly bids: QuoteEntries;
  /** `[price, quantity]` each, raw; the best price first, no price twice. The quantity is what shall rest. */
  readonly asks: QuoteEntries;
  /** Sub-account index. */
  readonly account: number;
  /** True moves balances, false a margin position. */
  readonly isSpot: boolean;
  /** The most you pay, 1e-6 of notional; must cover the market’s rate. */
  readonly maxTradingFeesRate: number;
  /** A protection group of yours in this market: 1 to 16 characters of an order id. */
  readonly protectionGroup: string | null;
  /** Then the set ends; null: 30 days after its revision. */
  readonly goodUntilNs: TimestampNs | null;
  /** Always 1. */
  readonly protocolVersion: number;
}

/** A signed quote set. */
export interface QuoteSetRequest extends SignedRequest {
  readonly quotes: SignedQuoteSet;
}

export const CREATE: ObjectShape<'order' | 'signature' | 'additional_signers' | 'post_sign_timestamp' | 'protection_group'> = objectShape('skip', [
  'order',
  'signature',
  'additional_signers?',
  'post_sign_timestamp',
  'protection_group?',
]);

export const SIGNED_ORDER: ObjectShape<'signer' | 'order_id' | 'base_asset' | 'book_price_decimals' | 'book_quantity_decimals' | 'details' | 'side' | 'trigger' | 'creation_timestamp_ns' | 'target' | 'reduce_only' | 'max_trading_fees_rate' | 'protocol_version'> = objectShape('refuse', [
  'signer',
  'order_id',
  'base_asset',
  'book_price_decimals',
  'book_quantity_decimals',
  'details',
  'side',
  'trigger?',
  'creation_timestamp_ns',
  'target',
  'reduce_only',
  'max_trading_fees_rate',
  'protocol_version',
]);

export const REPLACE: ObjectShape<'request' | 'signer' | 'asset_id' | 'signature' | 'additional_signers' | 'post_sign_timestamp'> = objectShape('skip', [
  'request',
  'signer',
  'asset_id?',
  'signature',
  'additional_signers?',
  'post_sign_timestamp',
]);

export const SIGNED_REPLACE: ObjectShape<'order_id' | 'base_asset' | 'timestamp_ns' | 'new_price_limit' | 'new_quantity' | 'new_trigger' | 'book_quantity_decimals' | 'book_price_decimals' | 'protocol_version'> = objectShape('refuse', [
  'order_id',
  'base_asset?',
  'timestamp_ns',
  'new_price_limit?',
  'new_quantity?',
  'new_trigger?',
  'book_quantity_decimals',
  'book_price_decimals',
  'protocol_version?',
]);

export const CANCEL: ObjectShape<'cancel' | 'signature' | 'additional_signers' | 'post_sign_timestamp'> = objectShape('skip', [
  'cancel',
  'signature',
  'additional_signers?',
  'post_sign_timestamp',
]);

// mutant: unknown-signed-member
export const SIGNED_CANCEL: ObjectShape<'order_id' | 'asset_id' | 'signer' | 'protocol_version'> = objectShape('refuse', [
  'order_id',
  'asset_id',
  'signer',
  'protocol_version',
]);

export const AMEND: ObjectShape<'request' | 'user_id' | 'target' | 'oms_operator_pubkey' | 'receive_timestamp_ns'> = objectShape('refuse', [
  'request',
  'user_id',
  'target?',
  'oms_operator_pubkey?',
  'receive_timestamp_ns?',
]);

export const AMEND_TERMS: ObjectShape<'order_id' | 'base_asset' | 'new_quantity' | 'book_quantity_decimals' | 'expected_authorization_revision' | 'timestamp_ns' | 'source'> = objectShape('refuse', [
  'order_id',
  'base_asset',
  'new_quantity',
  'book_quantity_decimals',
  'expected_authorization_revision?',
  'timestamp_ns',
  'source?',
]);

export const QUOTE_SET: ObjectShape<'quotes' | 'signature' | 'additional_signers' | 'post_sign_timestamp'> = objectShape('skip', [
  'quotes',
  'signature',
  'additional_signers?',
  'post_sign_timestamp',
]);

export const SIGNED_QUOTE_SET: ObjectShape<'signer' | 'set_id' | 'base_asset' | 'book_price_decimals' | 'book_quantity_decimals' | 'revision' | 'bids' | 'asks' | 'target' | 'max_trading_fees_rate' | 'protection_group' | 'good_until_timestamp_ns' | 'protocol_version'> = objectShape('refuse', [
  'signer',
  'set_id',
  'base_asset',
  'book_price_decimals',
  'book_quantity_decimals',
  'revision',
  'bids',
  'asks',
  'target',
  'max_trading_fees_rate',
  'protection_group?',
  'good_until_timestamp_ns?',
  'protocol_version',
]);

const NO_SIGNED_ORDER: SignedOrder = {
  signer: NO_USER,
  orderId: '' as OrderId,
  baseAsset: NO_ASSET,
  bookPriceDecimals: 0,
  bookQuantityDecimals: 0,
  details: NO_DETAILS,
  side: SIDE.buy,
  trigger: null,
  creationNs: 0n as TimestampNs,
  account: 0,
  isSpot: false,
  reduceOnly: false,
  maxTradingFeesRate: 0,
  protocolVersion: NO_VERSION,
};

const NO_CREATE: CreateRequest = {
  order: NO_SIGNED_ORDER,
  signature: NO_BYTES,
  additionalSigners: NO_SIGNERS,
  postSignNs: 0n as TimestampNs,
  protectionGroup: null,
  fault: null,
  text: NO_BYTES,
};

const NO_SIGNED_REPLACE: SignedReplace = {
  orderId: '' as OrderId,
  baseAsset: null,
  timestampNs: 0n as TimestampNs,
  newPriceLimit: null,
  newQuantity: null,
  newTrigger: null,
  bookQuantityDecimals: 0,
  bookPriceDecimals: 0,
  protocolVersion: NO_VERSION,
};

const NO_REPLACE: ReplaceRequest = {
  request: NO_SIGNED_REPLACE,
  signer: NO_USER,
  asset: NO_ASSET,
  signature: NO_BYTES,
  additionalSigners: NO_SIGNERS,
  postSignNs: 0n as TimestampNs,
  fault: null,
  text: NO_BYTES,
};

const NO_SIGNED_CANCEL: SignedCancel = {
  orderId: '' as OrderId,
  asset: NO_ASSET,
  signer: NO_USER,
  protocolVersion: NO_VERSION,
};

const NO_CANCEL: CancelRequest = {
  cancel: NO_SIGNED_CANCEL,
  signature: NO_BYTES,
  additionalSigners: NO_SIGNERS,
  postSignNs: 0n as TimestampNs,
  fault: null,
  text: NO_BYTES,
};

const NO_AMEND_TERMS: AmendTerms = {
  orderId: '' as OrderId,
  asset: NO_ASSET,
  newQuantity: 0 as RawQuantity,
  bookQuantityDecimals: 0,
  expectedRevisionNs: null,
  timestampNs: 0n as TimestampNs,
};

const NO_AMEND: AmendRequest = {
  amend: NO_AMEND_TERMS,
  user: NO_USER,
  signature: NO_BYTES,
  additionalSigners: NO_SIGNERS,
  postSignNs: 0n as TimestampNs,
  fault: null,
  text: NO_BYTES,
};

const NO_SIGNED_QUOTE_SET: SignedQuoteSet = {
  signer: NO_USER,
  setId: '',
  baseAsset: NO_ASSET,
  bookPriceDecimals: 0,
  bookQuantityDecimals: 0,
  revisionNs: 0n as TimestampNs,
  bids: NO_QUOTES,
  asks: NO_QUOTES,
  account: 0,
  isSpot: false,
  maxTradingFeesRate: 0,
  protectionGroup: null,
  goodUntilNs: null,
  protocolVersion: NO_VERSION,
};

const NO_QUOTE_SET: QuoteSetRequest = {
  quotes: NO_SIGNED_QUOTE_SET,
  signature: NO_BYTES,
  additionalSigners: NO_SIGNERS,
  postSignNs: 0n as TimestampNs,
  fault: null,
  text: NO_BYTES,
};

export const TARGET: ObjectShape<'account' | 'is_spot'> = objectShape('refuse', [
  'account',
  'is_spot',
]);

function readTarget(cursor: JsonCursor, to: { account: number; isSpot: boolean }): void {
  cursor.enterObject();
  for (let name = cursor.nextMember(TARGET); name !== null; name = cursor.nextMember(TARGET)) {
    switch (name) {
      case 'account':
        to.account = cursor.readInteger(0, 65535);
        break;
      case 'is_spot':
        to.isSpot = cursor.readBoolean();
        break;
      default:
        unreachable(name);
    }
  }
}

/** After a failure of the cursor its members are undefined, as those of every object here. */
export function readSignedOrder(cursor: JsonCursor): SignedOrder {
  const order: Draft<SignedOrder> = { ...NO_SIGNED_ORDER };
  cursor.enterObject();
  for (let name = cursor.nextMember(SIGNED_ORDER); name !== null; name = cursor.nextMember(SIGNED_ORDER)) {
    switch (name) {
      case 'signer':
        order.signer = readUser(cursor);
        break;
      case 'order_id':
        order.orderId = cursor.readString(STRING_DECODED_MAX) as OrderId;
        break;
      case 'base_asset':
        order.baseAsset = readAsset(cursor);
        break;
      case 'book_price_decimals':
        order.bookPriceDecimals = cursor.readInteger(-128, 127);
        break;
      case 'book_quantity_decimals':
        order.bookQuantityDecimals = cursor.readInteger(-128, 127);
        break;
      case 'details':
        order.details = readDetails(cursor);
        break;
      case 'side':
        order.side = readSide(cursor);
        break;
      case 'trigger':
        order.trigger = cursor.readNull() ? null : readTrigger(cursor);
        break;
      case 'creation_timestamp_ns':
        order.creationNs = cursor.readTime();
        break;
      case 'target':
        readTarget(cursor, order);
        break;
      case 'reduce_only':
        order.reduceOnly = cursor.readBoolean();
        break;
      case 'max_trading_fees_rate':
        // mutant: bounds-of-a-member
        order.maxTradingFeesRate = cursor.readInteger(0, 4294967295);
        break;
      case 'protocol_version':
        order.protocolVersion = cursor.readInteger(0, Number.MAX_SAFE_INTEGER);
        break;
      default:
        unreachable(name);
    }
  }
  return order;
}

/** Without its fault and its text. */
export function readCreateMembers(cursor: JsonCursor): Draft<CreateRequest> {
  const request: Draft<CreateRequest> = { ...NO_CREATE };
  cursor.enterObject();
  for (let name = cursor.nextMember(CREATE); name !== null; name = cursor.nextMember(CREATE)) {
    switch (name) {
      case 'order':
        request.order = readSignedOrder(cursor);
        break;
      case 'signature':
        request.signature = readOrderSignature(cursor);
        break;
      case 'additional_signers':
        request.additionalSigners = readAdditionalSigners(cursor);
        break;
      case 'post_sign_timestamp':
        request.postSignNs = cursor.readTime();
        break;
      case 'protection_group':
        request.protectionGroup = cursor.readNull() ? null : cursor.readString(STRING_DECODED_MAX);
        break;
      default:
        unreachable(name);
    }
  }
  return request;
}

/** After a failure of the cursor its members are undefined, as those of every object here. */
export function readSignedReplace(cursor: JsonCursor): SignedReplace {
  const request: Draft<SignedReplace> = { ...NO_SIGNED_REPLACE };
  cursor.enterObject();
  for (let name = cursor.nextMember(SIGNED_REPLACE); name !== null; name = cursor.nextMember(SIGNED_REPLACE)) {
    switch (name) {
      case 'order_id':
        request.orderId = cursor.readString(STRING_DECODED_MAX) as OrderId;
        break;
      case 'base_asset':
        request.baseAsset = readAsset(cursor);
        break;
      case 'timestamp_ns':
        request.timestampNs = cursor.readTime();
        break;
      case 'new_price_limit':
        request.newPriceLimit = cursor.readNull() ? null : cursor.readRaw() as RawPrice;
        break;
      case 'new_quantity':
        request.newQuantity = cursor.readNull() ? null : cursor.readRaw() as RawQuantity;
        break;
      case 'new_trigger':
        request.newTrigger = cursor.readNull() ? null : readNewTrigger(cursor);
        break;
      case 'book_quantity_decimals':
        request.bookQuantityDecimals = cursor.readInteger(-128, 127);
        break;
      case 'book_price_decimals':
        request.bookPriceDecimals = cursor.readInteger(-128, 127);
        break;
      case 'protocol_version':
        request.protocolVersion = cursor.readInteger(0, Number.MAX_SAFE_INTEGER);
        break;
      default:
        unreachable(name);
    }
  }
  const fault = replaceTermsFault(request);
  if (fault !== null) cursor.failInside(fault.message, fault.field);
  return request;
}

/** Without its fault and its text. */
export function readReplaceMembers(cursor: JsonCursor): Draft<ReplaceRequest> {
  const request: Draft<ReplaceRequest> = { ...NO_REPLACE };
  cursor.enterObject();
  for (let name = cursor.nextMember(REPLACE); name !== null; name = cursor.nextMember(REPLACE)) {
    switch (name) {
      case 'request':
        request.request = readSignedReplace(cursor);
        break;
      case 'signer':
        request.signer = readUser(cursor);
        break;
      case 'asset_id':
        request.asset = readAsset(cursor);
        break;
      case 'signature':
        request.signature = readOrderSignature(cursor);
        break;
      case 'additional_signers':
        request.additionalSigners = readAdditionalSigners(cursor);
        break;
      case 'post_sign_timestamp':
        request.postSignNs = cursor.readTime();
        break;
      default:
        unreachable(name);
    }
  }
  const fault = replaceMarketFault(request);
  if (fault !== null) cursor.failInside(fault.message, fault.field);
  return request;
}

/** After a failure of the cursor its members are undefined, as those of every object here. */
export function readSignedCancel(cursor: JsonCursor): SignedCancel {
  const cancel: Draft<SignedCancel> = { ...NO_SIGNED_CANCEL };
  cursor.enterObject();
  for (let name = cursor.nextMember(SIGNED_CANCEL); name !== null; name = cursor.nextMember(SIGNED_CANCEL)) {
    switch (name) {
      case 'order_id':
        cancel.orderId = cursor.readString(STRING_DECODED_MAX) as OrderId;
        break;
      case 'asset_id':
        cancel.asset = readAsset(cursor);
        break;
      case 'signer':
        cancel.signer = readUser(cursor);
        break;
      case 'protocol_version':
        cancel.protocolVersion = cursor.readInteger(0, Number.MAX_SAFE_INTEGER);
        break;
      default:
        unreachable(name);
    }
  }
  return cancel;
}

/** Without its fault and its text. */
export function readCancelMembers(cursor: JsonCursor): Draft<CancelRequest> {
  const request: Draft<CancelRequest> = { ...NO_CANCEL };
  cursor.enterObject();
  for (let name = cursor.nextMember(CANCEL); name !== null; name = cursor.nextMember(CANCEL)) {
    switch (name) {
      case 'cancel':
        request.cancel = readSignedCancel(cursor);
        break;
      case 'signature':
        request.signature = readOrderSignature(cursor);
        break;
      case 'additional_signers':
        request.additionalSigners = readAdditionalSigners(cursor);
        break;
      case 'post_sign_timestamp':
        request.postSignNs = cursor.readTime();
        break;
      default:
        unreachable(name);
    }
  }
  return request;
}

/** After a failure of the cursor its members are undefined, as those of every object here. */
export function readAmendTerms(cursor: JsonCursor): AmendTerms {
  const amend: Draft<AmendTerms> = { ...NO_AMEND_TERMS };
  cursor.enterObject();
  for (let name = cursor.nextMember(AMEND_TERMS); name !== null; name = cursor.nextMember(AMEND_TERMS)) {
    switch (name) {
      case 'order_id':
        amend.orderId = cursor.readString(STRING_DECODED_MAX) as OrderId;
        break;
      case 'base_asset':
        amend.asset = readAsset(cursor);
        break;
      case 'new_quantity':
        amend.newQuantity = cursor.readRaw() as RawQuantity;
        break;
      case 'book_quantity_decimals':
        amend.bookQuantityDecimals = cursor.readInteger(-128, 127);
        break;
      case 'expected_authorization_revision':
        amend.expectedRevisionNs = cursor.readNull() ? null : cursor.readTime();
        break;
      case 'timestamp_ns':
        amend.timestampNs = cursor.readTime();
        break;
      case 'source':
        readWord(cursor, 'User');
        break;
      default:
        unreachable(name);
    }
  }
  return amend;
}

/** Without its fault and its text. */
export function readAmendMembers(cursor: JsonCursor): Draft<AmendRequest> {
  const request: Draft<AmendRequest> = { ...NO_AMEND };
  cursor.enterObject();
  for (let name = cursor.nextMember(AMEND); name !== null; name = cursor.nextMember(AMEND)) {
    switch (name) {
      case 'request':
        request.amend = readAmendTerms(cursor);
        break;
      case 'user_id':
        request.user = readUser(cursor);
        break;
      case 'target':
        readTarget(cursor, { account: 0, isSpot: false });
        break;
      case 'oms_operator_pubkey':
        cursor.readString(STRING_DECODED_MAX);
        break;
      case 'receive_timestamp_ns':
        if (!cursor.readNull()) cursor.readU64();
        break;
      default:
        unreachable(name);
    }
  }
  return request;
}

/** After a failure of the cursor its members are undefined, as those of every object here. */
export function readSignedQuoteSet(cursor: JsonCursor): SignedQuoteSet {
  const quotes: Draft<SignedQuoteSet> = { ...NO_SIGNED_QUOTE_SET };
  cursor.enterObject();
  for (let name = cursor.nextMember(SIGNED_QUOTE_SET); name !== null; name = cursor.nextMember(SIGNED_QUOTE_SET)) {
    switch (name) {
      case 'signer':
        quotes.signer = readUser(cursor);
        break;
      case 'set_id':
        quotes.setId = cursor.readString(STRING_DECODED_MAX);
        break;
      case 'base_asset':
        quotes.baseAsset = readAsset(cursor);
        break;
      case 'book_price_decimals':
        quotes.bookPriceDecimals = cursor.readInteger(-128, 127);
        break;
      case 'book_quantity_decimals':
        quotes.bookQuantityDecimals = cursor.readInteger(-128, 127);
        break;
      case 'revision':
        quotes.revisionNs = cursor.readTime();
        break;
      case 'bids':
        quotes.bids = readQuoteEntries(cursor);
        break;
      case 'asks':
        quotes.asks = readQuoteEntries(cursor);
        break;
      case 'target':
        readTarget(cursor, quotes);
        break;
      case 'max_trading_fees_rate':
        quotes.maxTradingFeesRate = cursor.readInteger(0, 4294967295);
        break;
      case 'protection_group':
        quotes.protectionGroup = cursor.readNull() ? null : cursor.readString(STRING_DECODED_MAX);
        break;
      case 'good_until_timestamp_ns':
        quotes.goodUntilNs = cursor.readNull() ? null : cursor.readTime();
        break;
      case 'protocol_version':
        quotes.protocolVersion = cursor.readInteger(0, Number.MAX_SAFE_INTEGER);
        break;
      default:
        unreachable(name);
    }
  }
  return quotes;
}

/** Without its fault and its text. */
export function readQuoteSetMembers(cursor: JsonCursor): Draft<QuoteSetRequest> {
  const request: Draft<QuoteSetRequest> = { ...NO_QUOTE_SET };
  cursor.enterObject();
  for (let name = cursor.nextMember(QUOTE_SET); name !== null; name = cursor.nextMember(QUOTE_SET)) {
    switch (name) {
      case 'quotes':
        request.quotes = readSignedQuoteSet(cursor);
        break;
      case 'signature':
        request.signature = readOrderSignature(cursor);
        break;
      case 'additional_signers':
        request.additionalSigners = readAdditionalSigners(cursor);
        break;
      case 'post_sign_timestamp':
        request.postSignNs = cursor.readTime();
        break;
      default:
        unreachable(name);
    }
  }
  return request;
}

/** Its canonical text; the object has no fault. */
export function writeSignedOrder(text: TextWriter, order: SignedOrder): void {
  text.ascii('{"signer":"');
  text.signed(order.signer.text);
  text.ascii('","order_id":"');
  text.signed(order.orderId);
  text.ascii('","base_asset":"');
  text.signed(order.baseAsset.text);
  text.ascii('","book_price_decimals":');
  text.integer(order.bookPriceDecimals);
  text.ascii(',"book_quantity_decimals":');
  text.integer(order.bookQuantityDecimals);
  text.ascii(',"details":');
  writeDetails(text, order.details);
  text.ascii(',"side":"');
  text.ascii(SIDE_WORD[order.side]);
  text.ascii('","trigger":');
  // mutant: null-of-an-unset-member
  if (order.trigger === null) {
    text.ascii('null');
  } else {
    writeTrigger(text, order.trigger);
  }
  text.ascii(',"creation_timestamp_ns":');
  text.u64(order.creationNs);
  text.ascii(',"target":{"account":');
  text.integer(order.account);
  text.ascii(',"is_spot":');
  text.flag(order.isSpot);
  // mutant: order-of-signed-members
  text.ascii('},"reduce_only":');
  text.flag(order.reduceOnly);
  text.ascii(',"max_trading_fees_rate":');
  text.integer(order.maxTradingFeesRate);
  text.ascii(',"protocol_version":');
  text.integer(order.protocolVersion);
  text.ascii('}');
}

/** Its canonical text; the object has no fault. */
export function writeSignedReplace(text: TextWriter, request: SignedReplace): void {
  text.ascii('{"order_id":"');
  text.signed(request.orderId);
  text.ascii('"');
  if (request.baseAsset !== null) {
    text.ascii(',"base_asset":"');
    text.signed(request.baseAsset.text);
    text.ascii('"');
  }
  text.ascii(',"timestamp_ns":');
  text.u64(request.timestampNs);
  text.ascii(',"new_price_limit":');
  if (request.newPriceLimit === null) {
    text.ascii('null');
  } else {
    text.integer(request.newPriceLimit);
  }
  text.ascii(',"new_quantity":');
  if (request.newQuantity === null) {
    text.ascii('null');
  } else {
    text.integer(request.newQuantity);
  }
  text.ascii(',"new_trigger":');
  if (request.newTrigger === null) {
    text.ascii('null');
  } else {
    writeNewTrigger(text, request.newTrigger);
  }
  text.ascii(',"book_quantity_decimals":');
  text.integer(request.bookQuantityDecimals);
  text.ascii(',"book_price_decimals":');
  text.integer(request.bookPriceDecimals);
  text.ascii(',"protocol_version":');
  text.integer(request.protocolVersion);
  text.ascii('}');
}

/** Its canonical text; the object has no fault. */
export function writeSignedCancel(text: TextWriter, cancel: SignedCancel): void {
  text.ascii('{"order_id":"');
  text.signed(cancel.orderId);
  text.ascii('","asset_id":"');
  text.signed(cancel.asset.text);
  text.ascii('","signer":"');
  text.signed(cancel.signer.text);
  text.ascii('","protocol_version":');
  text.integer(cancel.protocolVersion);
  text.ascii('}');
}

/** Its canonical text; the object has no fault. */
export function writeSignedQuoteSet(text: TextWriter, quotes: SignedQuoteSet): void {
  text.ascii('{"signer":"');
  text.signed(quotes.signer.text);
  text.ascii('","set_id":"');
  text.signed(quotes.setId);
  text.ascii('","base_asset":"');
  text.signed(quotes.baseAsset.text);
  text.ascii('","book_price_decimals":');
  text.integer(quotes.bookPriceDecimals);
  text.ascii(',"book_quantity_decimals":');
  text.integer(quotes.bookQuantityDecimals);
  text.ascii(',"revision":');
  text.u64(quotes.revisionNs);
  text.ascii(',"bids":');
  writeQuoteEntries(text, quotes.bids);
  text.ascii(',"asks":');
  writeQuoteEntries(text, quotes.asks);
  text.ascii(',"target":{"account":');
  text.integer(quotes.account);
  text.ascii(',"is_spot":');
  text.flag(quotes.isSpot);
  text.ascii('},"max_trading_fees_rate":');
  text.integer(quotes.maxTradingFeesRate);
  text.ascii(',"protection_group":');
  if (quotes.protectionGroup === null) {
    text.ascii('null');
  } else {
    text.ascii('"');
    text.signed(quotes.protectionGroup);
    text.ascii('"');
  }
  text.ascii(',"good_until_timestamp_ns":');
  if (quotes.goodUntilNs === null) {
    text.ascii('null');
  } else {
    text.u64(quotes.goodUntilNs);
  }
  text.ascii(',"protocol_version":');
  text.integer(quotes.protocolVersion);
  text.ascii('}');
}
