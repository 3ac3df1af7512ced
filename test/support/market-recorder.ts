/** Records the events of a market as plain tuples, and builds its commands from plain values. For tests of matching. */

import { hashId, hashKeyOf } from '../../src/core/key-words.ts';
import {
  ORDER_END_WORD,
  ORDER_KIND,
  type OrderEnd,
  type OrderKind,
  SIDE,
  type Side,
  TIF,
  type Tif,
  TRIGGER,
  type TriggerKind,
} from '../../src/core/order-terms.ts';
import { type RejectCode, rejectName } from '../../src/core/reject.ts';
import { fromWords, highWord, lowWord } from '../../src/core/time-words.ts';
import { SECOND_NS, type TimestampNs } from '../../src/core/units.ts';
import type {
  CancelCommand,
  HashedKey,
  MarketEvents,
  NewOrderCommand,
  QuoteChanges,
  QuoteSetCommand,
  ReplaceCommand,
} from '../../src/matching/commands.ts';
import { MarketEngine, type MarketEngineOptions } from '../../src/matching/market-engine.ts';
import { PublishedLevels } from '../../src/matching/published-levels.ts';
import type { MarketQuoteSet } from '../../src/matching/quote-set.ts';
import { NO_BOUND, type Room } from '../../src/order/order-codec.ts';

/** Name, then values; times as one bigint. */
export type Told = readonly [name: string, ...values: (string | number | bigint)[]];

export function codeWord(code: RejectCode | 0): string {
  return code === 0 ? '' : (rejectName(code) ?? String(code));
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();
const USER_AT = 3;
const USER_WORDS = 8;
const ORDER_ID_AT = USER_AT + USER_WORDS + 2;
/** What surrounds the key, the rest of the id's last word included: it may not be read. */
const GARBAGE = 0xa5;

/** By QUOTE_CHANGE. */
const QUOTE_WORD: readonly string[] = [
  '',
  'quoteCreated',
  'quoteResized',
  'quoteLeft',
  'quoteRefused',
  'quoteOut',
  'quoteKept',
];

/** A command's key, not hashed: the user is the ASCII text filled up to 32 bytes. Both lie among garbage on purpose. */
export function keyOf(user: string, orderId: string): HashedKey {
  const words = new Int32Array(ORDER_ID_AT + Math.ceil(orderId.length / 4) + 2);
  const bytes = new Uint8Array(words.buffer).fill(GARBAGE);
  bytes.set(ENCODER.encode(user.padEnd(32, '.')), USER_AT * 4);
  bytes.set(ENCODER.encode(orderId), ORDER_ID_AT * 4);
  return { words, userAt: USER_AT, orderIdAt: ORDER_ID_AT, orderIdBytes: orderId.length, idHash: 0 };
}

/** An id filled up with zeros, as a parent is named. */
export function zeroFilled(orderId: string): Int32Array {
  const words = new Int32Array(16);
  new Uint8Array(words.buffer).set(ENCODER.encode(orderId));
  return words;
}

/** The user and the time of every command. */
export function received(
  requestId: number,
  ns: bigint,
): { requestId: number; receivedHigh: number; receivedLow: number } {
  return { requestId, receivedHigh: highWord(ns), receivedLow: lowWord(ns) };
}

function text(words: Int32Array, at: number, length: number): string {
  return DECODER.decode(new Uint8Array(words.buffer, words.byteOffset + at * 4, length).slice());
}

function userOf(words: Int32Array, at: number): string {
  return text(words, at, USER_WORDS * 4).replace(/\.+$/, '');
}

/** Level changes of one commit have no order among themselves: best side and price first, for comparison. */
export function compareLevels(a: Told, b: Told): number {
  return Number(a[1]) - Number(b[1]) || Number(a[2]) - Number(b[2]);
}

export class MarketRecorder implements MarketEvents {
  told: Told[] = [];
  readonly toldLevels: PublishedLevels = new PublishedLevels();
  #levels: Told[] = [];

  /** The events since the last call. */
  take(): Told[] {
    const told = this.told;
    this.told = [];
    return told;
  }

  accepted(sequence: number, command: NewOrderCommand, parent: number): void {
    const { words, userAt, orderIdAt, orderIdBytes } = command;
    this.told.push(['accepted', sequence, userOf(words, userAt), text(words, orderIdAt, orderIdBytes), parent]);
  }
  createRefused(sequence: number, command: NewOrderCommand, code: RejectCode): void {
    this.told.push(['createRefused', sequence, command.requestId, codeWord(code)]);
  }
  matched(...values: Parameters<MarketEvents['matched']>): void {
    this.told.push(['matched', ...values]);
  }
  ended(...[sequence, order, end, fault, remaining, requestId]: Parameters<MarketEvents['ended']>): void {
    this.told.push(['ended', sequence, order, ORDER_END_WORD[end], fault, remaining, requestId]);
  }
  cancelPending(sequence: number, order: number): void {
    this.told.push(['cancelPending', sequence, order]);
  }
  replaced(
    ...[sequence, order, priority, price, total, high, low, request, kind, trigger]: Parameters<
      MarketEvents['replaced']
    >
  ): void {
    this.told.push(['replaced', sequence, order, priority, price, total, fromWords(high, low), request, kind, trigger]);
  }
  quoteSetApplied(command: QuoteSetCommand, set: MarketQuoteSet, changes: QuoteChanges): void {
    const { first, sequences, kept, addCode, termsChanged } = changes;
    const name = text(command.words, command.nameAt, command.nameBytes);
    const terms = termsChanged ? 1 : 0;
    this.told.push(['quotesApplied', first, sequences, set.slot, name, kept, codeWord(addCode), terms, set.lastNumber]);
    const listed: Told[] = [];
    for (let at = 0; at < changes.count; at += 1) {
      const kind = QUOTE_WORD[changes.kinds[at] as number] as string;
      const columns = [
        changes.sides,
        changes.prices,
        changes.orders,
        changes.priorities,
        changes.rests,
        changes.numbers,
      ];
      listed.push([kind, ...columns.map((column) => column[at] as number)]);
    }
    this.told.push(...listed.sort(compareLevels));
  }
  quoteSetRefused(requestId: number, code: RejectCode): void {
    this.told.push(['quotesRefused', requestId, codeWord(code)]);
  }
  quoteSetEnded(sequence: number, set: MarketQuoteSet, end: OrderEnd | 0): void {
    const markNs = fromWords(set.markHigh, set.markLow);
    this.told.push(['quotesEnded', sequence, set.slot, end === 0 ? '' : ORDER_END_WORD[end], markNs]);
  }
  quoteSetsEnded(requestId: number, code: RejectCode | 0): void {
    this.told.push(['quoteSetsEnded', requestId, codeWord(code)]);
  }
  replaceUnchanged(requestId: number, order: number): void {
    this.told.push(['replaceUnchanged', requestId, order]);
  }
  replaceRefused(command: { readonly requestId: number }, code: RejectCode): void {
    this.told.push(['replaceRefused', command.requestId, codeWord(code)]);
  }
  cancelAccepted(requestId: number, order: number): void {
    this.told.push(['cancelAccepted', requestId, order]);
  }
  cancelRefused(command: { readonly requestId: number }, code: RejectCode): void {
    this.told.push(['cancelRefused', command.requestId, codeWord(code)]);
  }
  allCancelled(requestId: number): void {
    this.told.push(['allCancelled', requestId]);
  }
  parkedCancelExpired(...[user, userAt, id, idAt, idBytes]: Parameters<MarketEvents['parkedCancelExpired']>): void {
    this.told.push(['parkedCancelExpired', userOf(user, userAt), text(id, idAt, idBytes)]);
  }
  restored(...values: Parameters<MarketEvents['restored']>): void {
    this.told.push(['restored', ...values]);
  }
  triggered(...values: Parameters<MarketEvents['triggered']>): void {
    this.told.push(['triggered', ...values]);
  }
  activated(...values: Parameters<MarketEvents['activated']>): void {
    this.told.push(['activated', ...values]);
  }
  protectionTriggered(
    ...[sequence, user, slot, limit, untilNs]: Parameters<MarketEvents['protectionTriggered']>
  ): void {
    this.told.push(['protectionTriggered', sequence, userOf(user, 0), slot, limit, untilNs]);
  }
  protectionEnded(...[sequence, user, slot, trip]: Parameters<MarketEvents['protectionEnded']>): void {
    this.told.push(['protectionEnded', sequence, userOf(user, 0), slot, trip]);
  }
  tradeIdsReserved(...values: Parameters<MarketEvents['tradeIdsReserved']>): void {
    this.told.push(['tradeIdsReserved', ...values]);
  }
  levelChanged(side: Side, price: number, quantity: number): void {
    this.toldLevels.note(side, price, quantity);
    this.#levels.push(['levelChanged', side, price, quantity]);
  }
  depthCommitted(sequence: number): void {
    this.told.push(...this.#levels.sort(compareLevels), ['depthCommitted', sequence]);
    this.#levels = [];
  }
}

/** A day in November 2025. */
export const START_NS = 1_764_000_000_000_000_000n as TimestampNs;
/** The life of an order (ORD-20). */
export const LIFE_NS: bigint = 30n * 86_400n * SECOND_NS;

/** Terms of a create in words. */
export interface Terms {
  readonly user: string;
  readonly orderId: string;
  readonly requestId: number;
  readonly receivedNs: bigint;
  readonly creationNs: bigint;
  readonly expiryNs: bigint;
  readonly subAccount: number;
  readonly side: Side;
  readonly kind: OrderKind;
  readonly tif: Tif;
  readonly flags: number;
  readonly price: number;
  readonly quantity: number;
  readonly amount: number;
  readonly budget: number;
  readonly triggerKind: TriggerKind;
  readonly triggerPrice: number;
  /** '' for none. */
  readonly parentId: string;
  /** Of a reduce-only order; without bound unless given. */
  readonly room?: Room;
  /** Slot of its group; none unless given. */
  readonly protectionGroup?: number;
}

/** What a create has by default: a good-till-cancelled limit order of sub-account 0. */
export const PLAIN_TERMS = {
  subAccount: 0,
  kind: ORDER_KIND.limit as OrderKind,
  tif: TIF.gtc as Tif,
  flags: 0,
  price: 0,
  quantity: 0,
  amount: 0,
  budget: 0,
  triggerKind: TRIGGER.none as TriggerKind,
  triggerPrice: 0,
  protectionGroup: 0,
  parentId: '',
} as const;

/** Written out: a rest object costs more than the create that it describes. */
export function newOrder(terms: Terms): NewOrderCommand {
  const key = keyOf(terms.user, terms.orderId);
  return {
    words: key.words,
    userAt: key.userAt,
    orderIdAt: key.orderIdAt,
    orderIdBytes: key.orderIdBytes,
    idHash: 0,
    roomToTake: (terms.room ?? NO_BOUND).roomToTake,
    roomToRest: (terms.room ?? NO_BOUND).roomToRest,
    requestId: terms.requestId,
    receivedHigh: highWord(terms.receivedNs),
    receivedLow: lowWord(terms.receivedNs),
    creationHigh: highWord(terms.creationNs),
    creationLow: lowWord(terms.creationNs),
    expiryHigh: highWord(terms.expiryNs),
    expiryLow: lowWord(terms.expiryNs),
    subAccount: terms.subAccount,
    side: terms.side,
    kind: terms.kind,
    tif: terms.tif,
    flags: terms.flags,
    price: terms.price,
    quantity: terms.quantity,
    amount: terms.amount,
    budget: terms.budget,
    triggerKind: terms.triggerKind,
    triggerPrice: terms.triggerPrice,
    protectionGroup: terms.protectionGroup ?? 0,
    parentIdBytes: terms.parentId.length,
    parentWords: zeroFilled(terms.parentId),
  };
}

export const BUY: Side = SIDE.buy;
export const SELL: Side = SIDE.sell;

// An engine that hashes for its caller: it does here what the gateway does, with its own key.

export class HashingEngine extends MarketEngine {
  readonly #key: ReturnType<typeof hashKeyOf>;

  constructor(options: MarketEngineOptions) {
    super(options);
    this.#key = hashKeyOf(options.hashSeed ?? 0n);
  }

  override create(command: NewOrderCommand): void {
    this.#hash(command);
    super.create(command);
  }

  override replace(command: ReplaceCommand): void {
    this.#hash(command);
    super.replace(command);
  }

  override cancel(command: CancelCommand): void {
    this.#hash(command);
    super.cancel(command);
  }

  /** And announces the command, as a shard does. */
  #hash(command: HashedKey): void {
    const { words, userAt, orderIdAt, orderIdBytes } = command;
    command.idHash = hashId(this.#key, words, userAt, orderIdAt, orderIdBytes);
    this.expect(command.idHash);
  }
}
