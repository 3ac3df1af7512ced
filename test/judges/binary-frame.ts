/**
 * A frame received on `/control` under the subprotocol `ringbook.fbs.v1`: a `Frame` of schemas/control.fbs.
 *
 *   bytes ─▶ FlatReader: sound? ─▶ fields into the values that the JSON frame of the same request gives ─▶ BinaryFrame
 *
 * The result is that of decodeControlFrame: the same request, faults with the same code and field, and the same text, by
 * the one canonical writer. So nothing behind it depends on the form. What JSON can express and this form cannot: other
 * spellings of a signer than 64 lower-case hex digits, and raw figures of 0 where 0 stands for "none".
 *
 * A frame that is not sound is `malformed` with its request id, if the frame itself can be read. A sound one with an
 * invalid field is malformed with the orders that it names, as far as their ids can be repeated.
 */

import type { ActionPreview, PreviewKind } from '../../src/codec/action-preview.ts';
import {
  type BinaryFrame,
  type ControlAction,
  type ControlBody,
  type Correlation,
  LONG_ACTION,
  type MalformedBody,
} from '../../src/codec/control-frame.ts';
import type { FieldLayout } from '../../src/codec/flat-layout.ts';
import { FlatReader } from '../../src/codec/flat-reader.ts';
import {
  Amend,
  BatchCreate,
  BatchReplace,
  Body,
  Cancel,
  Condition,
  CoSigner,
  Create,
  Details,
  Frame,
  Limit,
  MarketBase,
  MarketQuote,
  Replace,
  Side,
  TimeInForce,
  Trigger,
  TriggerForm,
} from '../../src/codec/generated/control-tables.ts';
import { groupFault } from '../../src/codec/order-rules.ts';
import {
  ADDITIONAL_SIGNERS_MAX,
  type AdditionalSigner,
  ASSERTION_BYTES_MAX,
  CO_SIGNERS_BYTES_MAX,
  coSignerBytes,
  keyBytesOf,
  lengthFault,
  NO_SIGNERS,
  SCHEMES,
  SIGNATURE_BYTES,
} from '../../src/codec/signatures.ts';
import {
  assetIn,
  NO_ASSET,
  NO_USER,
  type SpelledAsset,
  type SpelledUser,
  STRING_DECODED_MAX,
} from '../../src/codec/signed-text.ts';
import type { OrderId, UserId } from '../../src/core/ids.ts';
import { ACTION_BYTES_MAX } from '../../src/core/limits.ts';
import { SIDE, TIF, type Tif } from '../../src/core/order-terms.ts';
import { type Reject, reject } from '../../src/core/reject.ts';
import {
  isOfOtherUnit,
  OTHER_UNIT_TEXT,
  type RawPrice,
  type RawQuantity,
  type TimestampNs,
} from '../../src/core/units.ts';
import { type AmendRequest, amendRequest } from './amend-request.ts';
import { type Batch, distinctOrders, wholeBatch } from './order-batches.ts';
import { NO_CONDITION, NO_DETAILS, type OrderDetails, type TriggerCondition } from './order-details.ts';
import { type CancelRequest, cancelFault, type SignedCancel, writeCancelText } from './signed-cancel.ts';
import { type CreateRequest, orderFault, type SignedOrder, writeOrder } from './signed-order.ts';
import {
  incompleteTerm,
  type NewTrigger,
  type ReplaceRequest,
  replaceFault,
  type SignedReplace,
  writeReplaceText,
} from './signed-replace.ts';
import { type SigningMembers, signedText } from './signed-wrapper.ts';

const UNSOUND: Reject = reject('INVALID_REQUEST', 'the frame is no FlatBuffers message of schemas/control.fbs');
const NO_REQUEST: Reject = reject('INVALID_REQUEST', 'the body is no request', 'body');
const USER_BYTES = 32;
const USER_WORDS: number = USER_BYTES / 4;
const RECENT_USERS = 4_096;
const TIF_OF: Readonly<Record<number, Tif>> = {
  [TimeInForce.GTC]: TIF.gtc,
  [TimeInForce.GTD]: TIF.gtd,
  [TimeInForce.IOC]: TIF.ioc,
  [TimeInForce.FOK]: TIF.fok,
};

const KIND_OF: Readonly<Record<number, PreviewKind>> = {
  [Body.Create]: 'create',
  [Body.Replace]: 'replace',
  [Body.Cancel]: 'cancel',
  [Body.Amend]: 'amend',
  [Body.BatchCreate]: 'batch-create',
  [Body.BatchReplace]: 'batch-replace',
};

/** The fields that create, replace and cancel have in common. */
interface ActionFields {
  readonly signature: FieldLayout;
  readonly additionalSigners: FieldLayout;
  readonly postSignTimestamp: FieldLayout;
}

/** Frames do not overlap, so one reader serves the whole thread. */
const reader = new FlatReader();

/**
 * Ids of recent signers as text, so that a user's next action gets the same string, whose hash is known. One place for
 * each value of the key's first bytes: of two users of one place each change costs a conversion.
 */
class RecentUsers {
  readonly #words = new Uint32Array(RECENT_USERS * USER_WORDS);
  readonly #users = new Array<SpelledUser>(RECENT_USERS).fill(NO_USER);

  /** The user of a vector of 32 bytes. */
  find(at: number, field: FieldLayout): SpelledUser {
    const index = reader.word(at, field, 0) % RECENT_USERS;
    const known = this.#users[index] as SpelledUser;
    if (known !== NO_USER && this.#isAt(index, at, field)) return known;
    const id = reader.hex(at, field) as UserId;
    const user = { id, text: id };
    this.#users[index] = user;
    for (let word = 0; word < USER_WORDS; word += 1) {
      this.#words[index * USER_WORDS + word] = reader.word(at, field, word);
    }
    return user;
  }

  #isAt(index: number, at: number, field: FieldLayout): boolean {
    for (let word = 0; word < USER_WORDS; word += 1) {
      if (this.#words[index * USER_WORDS + word] !== reader.word(at, field, word)) return false;
    }
    return true;
  }
}

const users = new RecentUsers();
/** The first fault of the frame being read; reads after it give values that are not used. */
let fault: Reject | null = null;

/** Decodes the frame in bytes[start … end), of at most BODY_BYTES_MAX bytes. Never throws; an unreadable frame is `malformed`. */
export function decodeBinaryFrame(bytes: Uint8Array, start: number, end: number): BinaryFrame {
  reader.load(bytes, start, end);
  fault = null;
  const frame = reader.root(Frame.table);
  if (frame === 0) {
    const requestId = reader.shallowUlong(Frame.requestId);
    return { kind: 'malformed', version: 'binary', requestId, reject: UNSOUND, correlations: [], isAllFound: false };
  }
  const requestId = reader.ulong(frame, Frame.requestId);
  const type = reader.unsigned(frame, Frame.bodyType);
  const at = reader.referred(frame, Frame.body);
  const isBatch = type === Body.BatchCreate || type === Body.BatchReplace;
  if (end - start > ACTION_BYTES_MAX && !isBatch) fail(LONG_ACTION);
  const body = bodyAt(type, at);
  if (fault === null && body !== null) return { version: 'binary', requestId, ...body };
  return { kind: 'malformed', version: 'binary', requestId, reject: fault ?? NO_REQUEST, ...namedOrders(type, at) };
}

/** As `previewFrame`, of a binary frame: sound, and nothing read but the orders that it names. */
export function previewBinaryFrame(bytes: Uint8Array): ActionPreview | null {
  reader.load(bytes, 0, bytes.length);
  const frame = reader.root(Frame.table);
  if (frame === 0) return null;
  const type = reader.unsigned(frame, Frame.bodyType);
  const kind = KIND_OF[type];
  const { correlations: orders, isAllFound } = namedOrders(type, reader.referred(frame, Frame.body));
  if (kind === undefined || !isAllFound || orders.length === 0) return null;
  return { kind, version: 'binary', requestId: reader.ulong(frame, Frame.requestId), orders };
}

/** @returns null for a body that is no request. */
function bodyAt(type: number, at: number): ControlBody | null {
  switch (type) {
    case Body.Create:
      return { kind: 'create', request: createAt(at) };
    case Body.Replace:
      return { kind: 'replace', request: replaceAt(at) };
    case Body.Cancel:
      return { kind: 'cancel', request: cancelAt(at) };
    case Body.Amend:
      return { kind: 'amend', request: amendAt(at) };
    case Body.BatchCreate:
      return {
        kind: 'batch-create',
        batch: batchAt(at, 'orders', BatchCreate.orders, createAt),
      };
    case Body.BatchReplace:
      return {
        kind: 'batch-replace',
        batch: distinctOrders(batchAt(at, 'requests', BatchReplace.requests, replaceAt)),
      };
    default:
      return null;
  }
}

function batchAt<Request>(at: number, list: string, field: FieldLayout, read: (at: number) => Request): Batch<Request> {
  const count = reader.count(at, field);
  const items: Request[] = [];
  for (let index = 0; index < Math.min(count, field.most); index += 1) items.push(read(reader.item(at, field, index)));
  return wholeBatch(list, items, count);
}

function fail(reason: Reject): void {
  fault ??= reason;
}

function invalid(field: string, message: string): void {
  fault ??= reject('INVALID_REQUEST', message, field);
}

/** Nanoseconds since 1970 that are no time of today in another unit (MCH-11). */
function timeAt(at: number, field: FieldLayout, name: string): TimestampNs {
  const ns = reader.ulong(at, field);
  if (isOfOtherUnit(ns)) invalid(name, OTHER_UNIT_TEXT);
  return ns as TimestampNs;
}

// ---- actions

function createAt(at: number): CreateRequest & { readonly protectionGroup: string | null } {
  const signer = userAt(at, Create.signer);
  const orderId = textAt(at, Create.orderId, 'order_id') as OrderId;
  const baseAsset = assetAt(at, Create.baseAsset, 'base_asset');
  const details = detailsAt(at);
  const side = reader.unsigned(at, Create.side);
  if (side !== Side.Buy && side !== Side.Sell) invalid('side', 'expected Buy or Sell');
  const trigger = reader.referred(at, Create.trigger);
  const order: SignedOrder = {
    signer,
    orderId,
    baseAsset,
    bookPriceDecimals: reader.signedByte(at, Create.bookPriceDecimals),
    bookQuantityDecimals: reader.signedByte(at, Create.bookQuantityDecimals),
    details,
    side: side === Side.Sell ? SIDE.sell : SIDE.buy,
    trigger: trigger === 0 ? null : { parentOrderId: parentAt(trigger), condition: conditionAt(trigger) },
    creationNs: timeAt(at, Create.creationTimestampNs, 'creation_timestamp_ns'),
    account: reader.unsigned(at, Create.account),
    isSpot: flagAt(at, Create.isSpot, 'is_spot'),
    reduceOnly: flagAt(at, Create.reduceOnly, 'reduce_only'),
    maxTradingFeesRate: reader.unsigned(at, Create.maxTradingFeesRate),
    protocolVersion: reader.unsigned(at, Create.protocolVersion),
  };
  const members = signingMembersAt(at, Create);
  const { signature, additionalSigners, postSignNs } = members;
  const protectionGroup =
    reader.referred(at, Create.protectionGroup) === 0 ? null : textAt(at, Create.protectionGroup, 'protection_group');
  const own = fault ?? orderFault(order) ?? groupFault(protectionGroup);
  const text = signedText(order, own, writeOrder);
  return { order, signature, additionalSigners, postSignNs, protectionGroup, fault: own, text };
}

function replaceAt(at: number): ReplaceRequest {
  const orderId = textAt(at, Replace.orderId, 'order_id') as OrderId;
  const isComplete = flagAt(at, Replace.complete, 'complete');
  const baseAsset = isComplete ? assetAt(at, Replace.assetId, 'base_asset') : null;
  const request: SignedReplace = {
    orderId,
    baseAsset,
    timestampNs: timeAt(at, Replace.timestampNs, 'timestamp_ns'),
    newPriceLimit: rawOrNullAt(at, Replace.newPriceLimit) as RawPrice | null,
    newQuantity: rawOrNullAt(at, Replace.newQuantity) as RawQuantity | null,
    newTrigger: newTriggerAt(at),
    bookQuantityDecimals: reader.signedByte(at, Replace.bookQuantityDecimals),
    bookPriceDecimals: reader.signedByte(at, Replace.bookPriceDecimals),
    protocolVersion: reader.unsigned(at, Replace.protocolVersion),
  };
  const incomplete = incompleteTerm(request);
  if (incomplete !== null) invalid(incomplete.field, incomplete.message);
  const signer = userAt(at, Replace.signer);
  const asset = baseAsset ?? assetAt(at, Replace.assetId, 'asset_id');
  const members = signingMembersAt(at, Replace);
  const { signature, additionalSigners, postSignNs } = members;
  const own = fault ?? replaceFault(request);
  const text = signedText(request, own, writeReplaceText);
  return { request, signer, asset, signature, additionalSigners, postSignNs, fault: own, text };
}

function cancelAt(at: number): CancelRequest {
  const orderId = textAt(at, Cancel.orderId, 'order_id') as OrderId;
  const asset = assetAt(at, Cancel.assetId, 'asset_id');
  const signer = userAt(at, Cancel.signer);
  const protocolVersion = reader.unsigned(at, Cancel.protocolVersion);
  const cancel: SignedCancel = { orderId, asset, signer, protocolVersion };
  const members = signingMembersAt(at, Cancel);
  const { signature, additionalSigners, postSignNs } = members;
  const own = fault ?? cancelFault(cancel);
  return {
    cancel,
    signature,
    additionalSigners,
    postSignNs,
    fault: own,
    text: signedText(cancel, own, writeCancelText),
  };
}

function amendAt(at: number): AmendRequest {
  const orderId = textAt(at, Amend.orderId, 'order_id') as OrderId;
  const asset = assetAt(at, Amend.baseAsset, 'base_asset');
  const expectedNs = timeAt(at, Amend.expectedAuthorizationRevision, 'expected_authorization_revision');
  const amend = {
    orderId,
    asset,
    newQuantity: rawAt(at, Amend.newQuantity) as RawQuantity,
    bookQuantityDecimals: reader.signedByte(at, Amend.bookQuantityDecimals),
    expectedRevisionNs: expectedNs === 0n ? null : expectedNs,
    timestampNs: timeAt(at, Amend.timestampNs, 'timestamp_ns'),
  };
  return amendRequest(amend, userAt(at, Amend.userId, 'user_id'), fault);
}

// ---- members

function textAt(at: number, field: FieldLayout, name: string): string {
  const text = reader.text(at, field, STRING_DECODED_MAX);
  if (text !== null) return text;
  if (reader.referred(at, field) === 0) invalid(name, 'a missing member');
  else invalid(name, `expected UTF-8 of at most ${STRING_DECODED_MAX} characters`);
  return '';
}

function userAt(at: number, field: FieldLayout, name = 'signer'): SpelledUser {
  if (reader.count(at, field) !== USER_BYTES) {
    invalid(name, reader.referred(at, field) === 0 ? 'a missing member' : `expected ${USER_BYTES} bytes`);
    return NO_USER;
  }
  return users.find(at, field);
}

function assetAt(at: number, field: FieldLayout, name: string): SpelledAsset {
  const text = textAt(at, field, name);
  const asset = assetIn(text);
  if (asset !== null) return asset;
  invalid(name, 'expected an asset id');
  return NO_ASSET;
}

function flagAt(at: number, field: FieldLayout, name: string): boolean {
  const value = reader.unsigned(at, field);
  if (value > 1) invalid(name, 'expected 0 or 1');
  return value === 1;
}

/** A raw figure of 1 … 2^53−1; 0 for any other, which the check of the order names (order-details.ts). */
function rawAt(at: number, field: FieldLayout): number {
  return reader.safe(at, field, 0);
}

/** As `rawAt`, and null where 0 was sent. */
function rawOrNullAt(at: number, field: FieldLayout): number | null {
  const raw = reader.safe(at, field, -1);
  return raw === 0 ? null : Math.max(0, raw);
}

function detailsAt(at: number): OrderDetails {
  const details = reader.referred(at, Create.details);
  switch (reader.unsigned(at, Create.detailsType)) {
    case Details.Limit:
      return limitAt(details);
    case Details.MarketBase:
      return {
        kind: 'market-base',
        quantity: rawAt(details, MarketBase.quantity) as RawQuantity,
        maxSellableAmount: rawOrNullAt(details, MarketBase.maxSellableAmount),
        fillOrKill: flagAt(details, MarketBase.fillOrKill, 'fill_or_kill'),
      };
    case Details.MarketQuote:
      return {
        kind: 'market-quote',
        amount: rawAt(details, MarketQuote.quantity),
        maxSellableQuantity: rawOrNullAt(details, MarketQuote.maxSellableQuantity) as RawQuantity | null,
        fillOrKill: flagAt(details, MarketQuote.fillOrKill, 'fill_or_kill'),
      };
    default:
      invalid('details', 'a missing member');
      return NO_DETAILS;
  }
}

function limitAt(at: number): OrderDetails {
  const tif = TIF_OF[reader.unsigned(at, Limit.timeInForce)];
  if (tif === undefined) invalid('time_in_force', 'expected one of GTC, GTD, IOC, FOK');
  const postOnly = flagAt(at, Limit.postOnly, 'post_only');
  const timestampNs = timeAt(at, Limit.timestampNs, 'timestamp_ns');
  // JSON has no place for them there: what is not signed must not be sent either.
  if (postOnly && tif !== TIF.gtc && tif !== TIF.gtd) invalid('post_only', 'only GTC and GTD may be post-only');
  if (timestampNs !== 0n && tif !== TIF.gtd) invalid('timestamp_ns', 'only GTD has a time');
  return {
    kind: 'limit',
    limitPrice: rawAt(at, Limit.limitPrice) as RawPrice,
    quantity: rawAt(at, Limit.quantity) as RawQuantity,
    tif: tif ?? TIF.gtc,
    postOnly,
    goodUntilNs: tif === TIF.gtd ? timestampNs : null,
  };
}

function parentAt(trigger: number): string | null {
  return reader.referred(trigger, Trigger.parentOrderId) === 0
    ? null
    : textAt(trigger, Trigger.parentOrderId, 'parent_order_id');
}

function conditionAt(trigger: number): TriggerCondition {
  const condition = reader.unsigned(trigger, Trigger.condition);
  const price = rawAt(trigger, Trigger.price) as RawPrice;
  if (condition === Condition.PriceAbove) return { direction: 'PriceAbove', price };
  if (condition === Condition.PriceBelow) return { direction: 'PriceBelow', price };
  invalid('condition', 'expected one of PriceAbove, PriceBelow');
  return NO_CONDITION;
}

function newTriggerAt(at: number): NewTrigger | null {
  const trigger = reader.referred(at, Replace.newTrigger);
  const form = reader.unsigned(at, Replace.newTriggerForm);
  if (form !== TriggerForm.Bare && form !== TriggerForm.Wrapped) invalid('new_trigger', 'expected Bare or Wrapped');
  if (trigger === 0) return null;
  const parentOrderId = parentAt(trigger);
  if (form === TriggerForm.Bare && parentOrderId !== null) invalid('new_trigger', 'a bare condition has no parent');
  return { shape: form === TriggerForm.Bare ? 'bare' : 'wrapped', parentOrderId, condition: conditionAt(trigger) };
}

// ---- signatures

function signingMembersAt(at: number, fields: ActionFields): SigningMembers {
  const length = reader.count(at, fields.signature);
  const isWhole = length === SIGNATURE_BYTES || length === 0;
  if (!isWhole) invalid('signature', `expected ${SIGNATURE_BYTES} bytes or none`);
  return {
    signature: isWhole ? reader.bytes(at, fields.signature) : new Uint8Array(),
    additionalSigners: coSignersAt(at, fields.additionalSigners),
    postSignNs: timeAt(at, fields.postSignTimestamp, 'post_sign_timestamp'),
  };
}

function coSignersAt(at: number, field: FieldLayout): readonly AdditionalSigner[] {
  const count = reader.count(at, field);
  if (count === 0) return NO_SIGNERS;
  if (count > ADDITIONAL_SIGNERS_MAX) {
    invalid('additional_signers', `at most ${ADDITIONAL_SIGNERS_MAX} additional signers`);
    return NO_SIGNERS;
  }
  const signers: AdditionalSigner[] = [];
  let bytes = 0;
  for (let index = 0; index < count; index += 1) {
    const signer = coSignerAt(reader.item(at, field, index));
    if (signer === null) return NO_SIGNERS;
    signers.push(signer);
    bytes += coSignerBytes(signer);
  }
  if (bytes > CO_SIGNERS_BYTES_MAX)
    invalid('additional_signers', `at most ${CO_SIGNERS_BYTES_MAX} bytes of keys and signatures`);
  return signers;
}

/** @returns null after a fault. */
function coSignerAt(at: number): AdditionalSigner | null {
  const scheme = SCHEMES[reader.unsigned(at, CoSigner.scheme)];
  if (scheme === undefined) {
    invalid('signer', `expected one of ${SCHEMES.join(', ')}`);
    return null;
  }
  const keyBytes = keyBytesOf(scheme);
  if (reader.count(at, CoSigner.key) !== keyBytes) {
    invalid(scheme, `expected a key of ${keyBytes} bytes`);
    return null;
  }
  const length = reader.count(at, CoSigner.signature);
  const badLength = length > ASSERTION_BYTES_MAX ? `at most ${ASSERTION_BYTES_MAX} bytes` : lengthFault(scheme, length);
  if (badLength !== null) {
    invalid(length > ASSERTION_BYTES_MAX ? 'signature' : 'additional_signers', badLength);
    return null;
  }
  return { scheme, key: reader.bytes(at, CoSigner.key), signature: reader.bytes(at, CoSigner.signature) };
}

// ---- correlation of malformed frames

/** The orders that a sound frame names, as decodeControlFrame gives those of a malformed one. */
function namedOrders(type: number, at: number): Pick<MalformedBody, 'correlations' | 'isAllFound'> {
  switch (type) {
    case Body.Create:
      return found('create', [at], Create.orderId, Create.baseAsset);
    case Body.Replace:
      return found('replace', [at], Replace.orderId, Replace.assetId);
    case Body.Cancel:
      return found('cancel', [at], Cancel.orderId, Cancel.assetId);
    case Body.Amend:
      return found('amend', [at], Amend.orderId, Amend.baseAsset);
    case Body.BatchCreate:
      return found('create', itemsAt(at, BatchCreate.orders), Create.orderId, Create.baseAsset);
    case Body.BatchReplace:
      return found('replace', itemsAt(at, BatchReplace.requests), Replace.orderId, Replace.assetId);
    default:
      return { correlations: [], isAllFound: false };
  }
}

/** A list that no batch may have is not correlated item by item. */
function itemsAt(at: number, field: FieldLayout): readonly number[] {
  const count = reader.count(at, field);
  return count > field.most ? [] : Array.from({ length: count }, (_, index) => reader.item(at, field, index));
}

function found(
  action: ControlAction,
  items: readonly number[],
  id: FieldLayout,
  asset: FieldLayout,
): Pick<MalformedBody, 'correlations' | 'isAllFound'> {
  const correlations: Correlation[] = [];
  for (const at of items) {
    const orderId = reader.text(at, id, STRING_DECODED_MAX);
    const assetText = reader.text(at, asset, STRING_DECODED_MAX);
    if (orderId !== null && assetText !== null) correlations.push({ action, orderId, assetText });
  }
  return { correlations, isAllFound: correlations.length > 0 && correlations.length === items.length };
}
