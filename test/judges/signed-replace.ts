/**
 * A signed replace: the wrapper, its `request`, and the canonical text of `request` (note quantity decimals before price
 * decimals). `signer` of the wrapper is not signed (AMB-22). Two forms, told apart by `base_asset` in `request`:
 *
 *   partial    wire.md 7.5              null leaves a figure; the market is `asset_id` of the wrapper, not signed
 *   complete   wire-additions.md 3      every figure is given, a null trigger means none; the market is `base_asset`, signed
 *
 * signed-wrapper.ts explains faults and invalid shapes.
 */

import { type Draft, decodeText } from '../../src/codec/decode-text.ts';
import type { JsonCursor } from '../../src/codec/json-cursor.ts';
import { objectShape } from '../../src/codec/json-shape.ts';
import {
  NO_ASSET,
  NO_USER,
  readAsset,
  readUser,
  type SpelledAsset,
  type SpelledUser,
  STRING_DECODED_MAX,
} from '../../src/codec/signed-text.ts';
import type { TextWriter } from '../../src/codec/text-writer.ts';
import { type OrderId, parseOrderId } from '../../src/core/ids.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import type { Reject } from '../../src/core/reject.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../../src/core/units.ts';
import {
  NO_CONDITION,
  readCondition,
  readConditionPrice,
  readRawOrNull,
  type TriggerCondition,
  writeCondition,
  writeTrigger,
} from './order-details.ts';
import { changedIdFault, ID_RULES, invalidOrder, PROTOCOL_VERSION, RAW_BOUNDS, versionFault } from './order-faults.ts';
import { readWrapper, type SignedRequest, signedText, wrapperShape } from './signed-wrapper.ts';

/** The signable `request`. Null means "leave unchanged"; in the complete form only the trigger may be null: the order has none. */
export interface SignedReplace {
  readonly orderId: OrderId;
  /** Of the complete form; null in the partial form. */
  readonly baseAsset: SpelledAsset | null;
  readonly timestampNs: TimestampNs;
  readonly newPriceLimit: RawPrice | null;
  /** The new total, including the filled part (G4). */
  readonly newQuantity: RawQuantity | null;
  readonly newTrigger: NewTrigger | null;
  readonly bookQuantityDecimals: number;
  readonly bookPriceDecimals: number;
  readonly protocolVersion: number;
}

/** Verified in the received shape: the bare condition, or `{parent_order_id, condition}` (AMB-06, G3). */
export interface NewTrigger {
  readonly shape: 'bare' | 'wrapped';
  /** Null in the bare shape. */
  readonly parentOrderId: string | null;
  readonly condition: TriggerCondition;
}

export interface ReplaceRequest extends SignedRequest {
  readonly request: SignedReplace;
  readonly signer: SpelledUser;
  /** The market, of either form. */
  readonly asset: SpelledAsset;
}

const WRAPPER = wrapperShape(['request', 'signer', 'asset_id?']);
const REQUEST = objectShape('refuse', [
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
const GIVEN_FIGURE = `an integer from 1 to ${Number.MAX_SAFE_INTEGER}`;
const MISSING = 'a missing member';
const NEW_TRIGGER = objectShape('refuse', ['parent_order_id?', 'condition?', 'PriceAbove?', 'PriceBelow?']);

const NO_REQUEST: SignedReplace = {
  orderId: '' as OrderId,
  baseAsset: null,
  timestampNs: 0n as TimestampNs,
  newPriceLimit: null,
  newQuantity: null,
  newTrigger: null,
  bookQuantityDecimals: 0,
  bookPriceDecimals: 0,
  protocolVersion: 0,
};

/** Decodes the replace wrapper in bytes[start … end). */
export function decodeReplace(bytes: Uint8Array, start: number, end: number): Outcome<ReplaceRequest> {
  return decodeText(bytes, start, end, readReplace);
}

/** Reads a replace wrapper at the cursor. @returns null exactly when the cursor has failed. */
export function readReplace(cursor: JsonCursor): ReplaceRequest | null {
  let request = NO_REQUEST;
  let signer = NO_USER;
  let given: SpelledAsset | null = null;
  const members = readWrapper(cursor, WRAPPER, (name) => {
    if (name === 'request') request = readRequest(cursor);
    else if (name === 'signer') signer = readUser(cursor);
    else given = readAsset(cursor);
  });
  if (request.baseAsset === null && given === null) cursor.failInside(MISSING, 'asset_id');
  if (request.baseAsset !== null && given !== null) {
    cursor.failInside('a request with `base_asset` names its market itself', 'asset_id');
  }
  if (cursor.hasFailed) return null;
  const asset = request.baseAsset ?? given ?? NO_ASSET;
  const { signature, additionalSigners, postSignNs } = members;
  const fault = replaceFault(request);
  const text = signedText(request, fault, writeReplaceText);
  return { request, signer, asset, signature, additionalSigners, postSignNs, fault, text };
}

function readRequest(cursor: JsonCursor): SignedReplace {
  const request: Draft<SignedReplace> = { ...NO_REQUEST };
  let hasVersion = false;
  cursor.enterObject();
  for (let name = cursor.nextMember(REQUEST); name !== null; name = cursor.nextMember(REQUEST)) {
    if (name === 'order_id') request.orderId = cursor.readString(STRING_DECODED_MAX) as OrderId;
    else if (name === 'base_asset') request.baseAsset = readAsset(cursor);
    else if (name === 'timestamp_ns') request.timestampNs = cursor.readTime();
    else if (name === 'new_price_limit') request.newPriceLimit = readRawOrNull(cursor) as RawPrice | null;
    else if (name === 'new_quantity') request.newQuantity = readRawOrNull(cursor) as RawQuantity | null;
    else if (name === 'new_trigger') request.newTrigger = cursor.readNull() ? null : readNewTrigger(cursor);
    else if (name === 'book_quantity_decimals') request.bookQuantityDecimals = cursor.readInteger(-128, 127);
    else if (name === 'book_price_decimals') request.bookPriceDecimals = cursor.readInteger(-128, 127);
    else {
      hasVersion = true;
      request.protocolVersion = cursor.readInteger(0, Number.MAX_SAFE_INTEGER);
    }
  }
  const incomplete = incompleteTerm(request);
  if (incomplete !== null) cursor.failInside(incomplete.message, incomplete.field);
  if (!hasVersion && request.baseAsset === null) cursor.failInside(MISSING, 'protocol_version');
  else if (!hasVersion) request.protocolVersion = PROTOCOL_VERSION;
  return request;
}

/** The term that the complete form does not leave open, and this request does; null for none, and in the partial form. */
export function incompleteTerm(request: SignedReplace): { readonly field: string; readonly message: string } | null {
  const { baseAsset, newPriceLimit, newQuantity, newTrigger } = request;
  if (baseAsset === null) return null;
  if (newPriceLimit === null) return { field: 'new_price_limit', message: GIVEN_FIGURE };
  if (newQuantity === null) return { field: 'new_quantity', message: GIVEN_FIGURE };
  return newTrigger?.shape === 'wrapped' ? { field: 'new_trigger', message: 'expected the bare condition' } : null;
}

/** One shape covers both spellings; a mixture, two conditions or none are rejected. */
function readNewTrigger(cursor: JsonCursor): NewTrigger {
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

/** Validates the request itself, without its market. @returns INVALID_ORDER with the field, ORDER_NOT_FOUND, or null. */
export function replaceFault(request: SignedReplace): Reject | null {
  const parent = request.newTrigger?.parentOrderId ?? null;
  const idFault = changedIdFault(request.orderId);
  if (idFault !== null) return idFault;
  if (request.newPriceLimit === 0) return invalidOrder('new_price_limit', RAW_BOUNDS);
  if (request.newQuantity === 0) return invalidOrder('new_quantity', RAW_BOUNDS);
  if (request.newTrigger?.condition.price === 0) return invalidOrder('price', RAW_BOUNDS);
  if (parent !== null && parseOrderId(parent) === null) return invalidOrder('parent_order_id', ID_RULES);
  return versionFault(request.protocolVersion);
}

/** Canonical text of a `request` without fault. */
export function writeReplaceText(text: TextWriter, request: SignedReplace): void {
  text.ascii('{"order_id":"');
  text.signed(request.orderId);
  if (request.baseAsset !== null) {
    text.ascii('","base_asset":"');
    text.signed(request.baseAsset.text);
  }
  text.ascii('","timestamp_ns":');
  text.u64(request.timestampNs);
  text.ascii(',"new_price_limit":');
  text.integerOrNull(request.newPriceLimit);
  text.ascii(',"new_quantity":');
  text.integerOrNull(request.newQuantity);
  text.ascii(',"new_trigger":');
  writeNewTrigger(text, request.newTrigger);
  text.ascii(',"book_quantity_decimals":');
  text.integer(request.bookQuantityDecimals);
  text.ascii(',"book_price_decimals":');
  text.integer(request.bookPriceDecimals);
  text.ascii(',"protocol_version":');
  text.integer(request.protocolVersion);
  text.ascii('}');
}

function writeNewTrigger(text: TextWriter, trigger: NewTrigger | null): void {
  if (trigger === null) text.ascii('null');
  else if (trigger.shape === 'bare') writeCondition(text, trigger.condition);
  else writeTrigger(text, trigger);
}
