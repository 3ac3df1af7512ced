/**
 * Reads members of requests from the tables of schemas/control.fbs, for the generated readers of order-tables.ts.
 *
 * The first fault of a frame is kept; reads after it give values that are not used. Faults have code and field of the JSON
 * reader's. What JSON can express and a table cannot: other spellings of a signer than 64 lower-case hex digits, and raw
 * figures of 0 where 0 stands for "none".
 */
import type { UserId } from '../core/ids.ts';
import { SIDE, type Side as SideCode, TIF, type Tif } from '../core/order-terms.ts';
import { type Reject, reject } from '../core/reject.ts';
import { isOfOtherUnit, OTHER_UNIT_TEXT, type RawPrice, type RawQuantity, type TimestampNs } from '../core/units.ts';
import type { FieldLayout } from './flat-layout.ts';
import { FlatReader } from './flat-reader.ts';
import {
  Condition,
  CoSigner,
  Details,
  Limit,
  MarketBase,
  MarketQuote,
  Quote,
  Side,
  TimeInForce,
  Trigger,
  TriggerForm,
} from './generated/control-tables.ts';
import {
  type NewTrigger,
  NO_CONDITION,
  NO_DETAILS,
  type OrderDetails,
  type Trigger as SignedTrigger,
  type TriggerCondition,
} from './order-details.ts';
import type { MemberFault } from './order-rules.ts';
import { NO_QUOTES, type QuoteEntries } from './quote-entries.ts';
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
} from './signatures.ts';
import { assetIn, NO_ASSET, NO_USER, type SpelledAsset, type SpelledUser, STRING_DECODED_MAX } from './signed-text.ts';
import { NO_BYTES } from './text-writer.ts';

const USER_BYTES = 32;
const USER_WORDS: number = USER_BYTES / 4;
const RECENT_USERS = 4_096;
const TIF_OF: Readonly<Record<number, Tif>> = {
  [TimeInForce.GTC]: TIF.gtc,
  [TimeInForce.GTD]: TIF.gtd,
  [TimeInForce.IOC]: TIF.ioc,
  [TimeInForce.FOK]: TIF.fok,
};

/** Frames do not overlap, so one reader serves the whole thread. */
export const reader: FlatReader = new FlatReader();

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
      // mutant: recent-user-words
      if (this.#words[index * USER_WORDS + word] !== reader.word(at, field, word)) return false;
    }
    return true;
  }
}

const users = new RecentUsers();
let fault: Reject | null = null;

/** Takes bytes[start … end) as the frame, in place of the one before. */
export function loadFrame(bytes: Uint8Array, start: number, end: number): void {
  reader.load(bytes, start, end);
  fault = null;
}

/** The first fault of the frame, or null. */
export function frameFault(): Reject | null {
  return fault;
}

/** Refuses the frame. Only the first fault counts. */
export function refuseFrame(reason: Reject): void {
  fault ??= reason;
}

/** Refuses the frame where there is a fault of a member. */
export function refuseMember(found: MemberFault | null): void {
  if (found !== null) invalid(found.field, found.message);
}

function invalid(field: string, message: string): void {
  fault ??= reject('INVALID_REQUEST', message, field);
}

/** Nanoseconds since 1970 that are no time of today in another unit (MCH-11). */
export function timeAt(at: number, field: FieldLayout, name: string): TimestampNs {
  const ns = reader.ulong(at, field);
  if (isOfOtherUnit(ns)) invalid(name, OTHER_UNIT_TEXT);
  return ns as TimestampNs;
}

/** As `timeAt`, and null where 0 was sent. */
export function timeOrNullAt(at: number, field: FieldLayout, name: string): TimestampNs | null {
  const ns = timeAt(at, field, name);
  return ns === 0n ? null : ns;
}

export function textAt(at: number, field: FieldLayout, name: string): string {
  const text = reader.text(at, field, STRING_DECODED_MAX);
  if (text !== null) return text;
  if (reader.referred(at, field) === 0) invalid(name, 'a missing member');
  else invalid(name, `expected UTF-8 of at most ${STRING_DECODED_MAX} characters`);
  return '';
}

/** Absent is null. */
export function textOrNullAt(at: number, field: FieldLayout, name: string): string | null {
  return reader.referred(at, field) === 0 ? null : textAt(at, field, name);
}

/** Absent is none. */
export function quoteEntriesAt(at: number, field: FieldLayout, name: string): QuoteEntries {
  const count = reader.count(at, field);
  if (count > field.most) {
    invalid(name, `at most ${field.most} entries`);
    return NO_QUOTES;
  }
  const entries = new Array<number>(2 * count);
  for (let index = 0; index < count; index += 1) {
    entries[2 * index] = reader.safeOfStruct(at, field, index, Quote.price, 0);
    entries[2 * index + 1] = reader.safeOfStruct(at, field, index, Quote.quantity, 0);
  }
  return entries;
}

export function userAt(at: number, field: FieldLayout, name: string): SpelledUser {
  if (reader.count(at, field) !== USER_BYTES) {
    invalid(name, reader.referred(at, field) === 0 ? 'a missing member' : `expected ${USER_BYTES} bytes`);
    return NO_USER;
  }
  return users.find(at, field);
}

export function assetAt(at: number, field: FieldLayout, name: string): SpelledAsset {
  const text = textAt(at, field, name);
  const asset = assetIn(text);
  if (asset !== null) return asset;
  invalid(name, 'expected an asset id');
  return NO_ASSET;
}

export function flagAt(at: number, field: FieldLayout, name: string): boolean {
  const value = reader.unsigned(at, field);
  if (value > 1) invalid(name, 'expected 0 or 1');
  return value === 1;
}

/** The market that complete terms name; null in a replace of other terms. */
export function marketOfTermsAt(at: number, flag: FieldLayout, field: FieldLayout, name: string): SpelledAsset | null {
  return flagAt(at, flag, 'complete') ? assetAt(at, field, name) : null;
}

/** The market of a replace without complete terms; NO_ASSET in one with them. */
export function marketBesideAt(at: number, flag: FieldLayout, field: FieldLayout, name: string): SpelledAsset {
  return reader.unsigned(at, flag) === 1 ? NO_ASSET : assetAt(at, field, name);
}

export function sideAt(at: number, field: FieldLayout, name: string): SideCode {
  const side = reader.unsigned(at, field);
  if (side !== Side.Buy && side !== Side.Sell) invalid(name, 'expected Buy or Sell');
  return side === Side.Sell ? SIDE.sell : SIDE.buy;
}

/** A raw figure of 1 … 2^53−1; 0 for any other, which the check of the order names (order-details.ts). */
export function rawAt(at: number, field: FieldLayout): number {
  return reader.safe(at, field, 0);
}

/** As `rawAt`, and null where 0 was sent. */
export function rawOrNullAt(at: number, field: FieldLayout): number | null {
  const raw = reader.safe(at, field, -1);
  return raw === 0 ? null : Math.max(0, raw);
}

export function detailsAt(at: number, type: FieldLayout, field: FieldLayout): OrderDetails {
  const details = reader.referred(at, field);
  switch (reader.unsigned(at, type)) {
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

/** Absent is null. */
export function triggerOrNullAt(at: number, field: FieldLayout): SignedTrigger | null {
  const trigger = reader.referred(at, field);
  return trigger === 0 ? null : { parentOrderId: parentAt(trigger), condition: conditionAt(trigger) };
}

/** As `triggerOrNullAt`. */
export function newTriggerOrNullAt(
  at: number,
  field: FieldLayout,
  formField: FieldLayout,
  name: string,
): NewTrigger | null {
  const trigger = reader.referred(at, field);
  const form = reader.unsigned(at, formField);
  if (form !== TriggerForm.Bare && form !== TriggerForm.Wrapped) invalid(name, 'expected Bare or Wrapped');
  if (trigger === 0) return null;
  const parentOrderId = parentAt(trigger);
  if (form === TriggerForm.Bare && parentOrderId !== null) invalid(name, 'a bare condition has no parent');
  return { shape: form === TriggerForm.Bare ? 'bare' : 'wrapped', parentOrderId, condition: conditionAt(trigger) };
}

// ---- signatures

/** None or a whole one. */
export function signatureAt(at: number, field: FieldLayout, name: string): Uint8Array {
  const length = reader.count(at, field);
  if (length === SIGNATURE_BYTES || length === 0) return reader.bytes(at, field);
  invalid(name, `expected ${SIGNATURE_BYTES} bytes or none`);
  return NO_BYTES;
}

export function coSignersAt(at: number, field: FieldLayout, name: string): readonly AdditionalSigner[] {
  const count = reader.count(at, field);
  if (count === 0) return NO_SIGNERS;
  if (count > ADDITIONAL_SIGNERS_MAX) {
    invalid(name, `at most ${ADDITIONAL_SIGNERS_MAX} additional signers`);
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
  if (bytes > CO_SIGNERS_BYTES_MAX) invalid(name, `at most ${CO_SIGNERS_BYTES_MAX} bytes of keys and signatures`);
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
