/**
 * Pending requests: numbered when they are reserved, answered by the market. With durable acks the answer goes to the
 * sender only after clearing has flushed the market sequence that it rests on (AMB-16). A pending request holds all that
 * its answer needs, the sender's callback included, so an answer is one look-up.
 *
 *   reserve ──▶ pending ──market's answer──┬─▶ answered
 *                                          └─(durable)─▶ waits for the flush ──▶ answered
 *
 * Bounded: beyond `REQUESTS_MAX` a create or replace is refused; cancels have `CANCELS_RESERVED` more (AMB-111). A user has
 * a part of these, a market maker a larger one, so that no user fills the table while a market or the disk is slow.
 */
import type { ActionHops } from '../../../codec/hop-times.ts';
import type { QuoteOutcome } from '../../../codec/operation-replies.ts';
import type { SignedQuoteSet } from '../../../codec/order-actions.ts';
import { assert, must } from '../../../core/assert.ts';
import type { OrderId, UserId } from '../../../core/ids.ts';
import type { TriggerKind } from '../../../core/order-terms.ts';
import type { Reject } from '../../../core/reject.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../../../core/units.ts';
import type { Room } from '../../../order/order-codec.ts';
import type { LiveOrder, OrderTerms, PendingReplace } from '../book/live-order.ts';
import type { MarketSlot } from '../book/markets.ts';
import type { LiveQuoteSet, WaitingQuotes } from '../book/quote-sets.ts';
import type { Membership } from './disconnect-group.ts';

export const REQUESTS_MAX = 65_536;
const CANCELS_RESERVED = 8_192;
/** Requests of one user and of a market maker, at most, and how many more may be cancels. */
export const REQUESTS_PER_USER_MAX = 2_048;
export const REQUESTS_PER_MARKET_MAKER_MAX = 16_384;
export const CANCELS_PER_USER_RESERVED = 1_024;

/** The answer to one request; `refusal` null means `Received`. */
export interface ActionAnswer {
  readonly refusal: Reject | null;
  readonly processedAtNs: TimestampNs;
  /** Of a quote set that reached its market, beside a refusal of what it adds. */
  readonly quotes?: QuoteOutcome;
}

export type EntryAnswer = (answer: ActionAnswer) => void;

/** Where the answer to a request goes. */
export interface EntryReply {
  /** Called once. */
  readonly answer: EntryAnswer;
  /** Where the sender has the time of each hop recorded; null: nowhere. */
  readonly hops: ActionHops | null;
}

/** The reply of a request that has no sender, or was answered when it was sent. */
export const UNANSWERED: EntryReply = { answer: () => undefined, hops: null };

/** What was signed. */
interface SignedContent {
  readonly text: Uint8Array;
  readonly signature: Uint8Array;
}

export interface OrderRequest {
  readonly kind: 'create' | 'replace' | 'cancel' | 'amend';
  readonly user: UserId;
  readonly orderId: OrderId;
  readonly market: MarketSlot;
  /** Null when the order was unknown when the request was reserved. */
  readonly order: LiveOrder | null;
  readonly replace: PendingReplace | null;
  /** The signed content of a create until its market has accepted it; else null. */
  signed: SignedContent | null;
  /** The cancel-on-disconnect group that its order joins; null for none. */
  membership: Membership | null;
  readonly reply: EntryReply;
}

/** A quote set on its way to its market. */
export interface QuoteRequest {
  readonly kind: 'quotes';
  readonly user: UserId;
  readonly market: MarketSlot;
  readonly set: LiveQuoteSet;
  readonly terms: WaitingQuotes;
  /** Why what it adds was left out, or null (QTE-04). */
  readonly addFault: Reject | null;
  readonly reply: EntryReply;
}

/** What a sender waits for. */
export type SentRequest = OrderRequest | QuoteRequest;

/** Of a session alone. */
interface CancelAllRequest {
  readonly kind: 'cancelAll';
  readonly hops: ActionHops | null;
  /** Called when the market has cancelled; null for a request that was answered when it was sent. */
  readonly done: (() => void) | null;
}

/** The node's own: no sender waits for its answer. */
export interface ReduceRequest {
  readonly kind: 'reduce';
  readonly order: LiveOrder;
  /** The clearing of an account that it is part of; null for none (account-cancels.ts). */
  readonly clearing: { answered(): void } | null;
}

export type Request = SentRequest | CancelAllRequest | ReduceRequest;

/** What waits for the flush of `sequence`. */
interface Waiting {
  readonly sequence: number;
  readonly decided: () => void;
}

export class PendingRequests {
  readonly #pending = new Map<number, Request>();
  /** By market, in the order of its sequences. */
  readonly #waiting = new Map<MarketSlot, Waiting[]>();
  /** Unanswered, by user. */
  readonly #byUser = new Map<UserId, number>();
  #unanswered = 0;
  #waitingCount = 0;
  #lastId = 0;
  /** Called when every request up to an id is answered, in the order of their ids. */
  readonly #awaited: { readonly through: number; readonly answered: () => void }[] = [];

  /** Requests in the table. */
  get count(): number {
    return this.#pending.size + this.#waitingCount;
  }

  /** Unanswered requests of users. */
  get unanswered(): number {
    return this.#unanswered;
  }

  hasRoomFor(kind: Request['kind'], count = 1): boolean {
    const isCancel = kind !== 'create' && kind !== 'replace' && kind !== 'amend' && kind !== 'quotes';
    return this.count + count <= REQUESTS_MAX + (isCancel ? CANCELS_RESERVED : 0);
  }

  /** Whether the user may have so many more, whatever the others have. */
  isWithinShare(kind: SentRequest['kind'], user: UserId, isMarketMaker: boolean, count = 1): boolean {
    const most = isMarketMaker ? REQUESTS_PER_MARKET_MAKER_MAX : REQUESTS_PER_USER_MAX;
    return this.countOf(user) + count <= most + (kind === 'cancel' ? CANCELS_PER_USER_RESERVED : 0);
  }

  /** Requests of a user that are unanswered. */
  countOf(user: UserId): number {
    return this.#byUser.get(user) ?? 0;
  }

  /** Whether the request has no answer of its market. */
  isAtMarket(requestId: number): boolean {
    return this.#pending.has(requestId);
  }

  /** Whether this is an amend that its market has not answered; its change comes before the answer. */
  isAmend(requestId: number): boolean {
    return this.#pending.get(requestId)?.kind === 'amend';
  }

  /** What the next `add` returns. */
  get nextId(): number {
    return this.#lastId + 1;
  }

  add(request: Request): number {
    this.#lastId += 1;
    this.#pending.set(this.#lastId, request);
    if ('user' in request) this.#count(request.user, 1);
    return this.#lastId;
  }

  /** The order of a pending create or replace joins a cancel-on-disconnect group, where it is known and not over. */
  join(requestId: number, membership: Membership): void {
    const request = must(this.#pending.get(requestId), 'a pending request');
    assert(request.kind === 'create' || request.kind === 'replace', 'only creates and replaces join a group');
    const { order } = request;
    if (order === null || order.isClosed) return;
    request.membership = membership;
    order.memberships = [...order.memberships, membership];
    membership.bind(order);
  }

  /** The market has begun with a request; comes before its answer. */
  taken(requestId: number, takenNs: TimestampNs): void {
    const request = this.#pending.get(requestId);
    if (request !== undefined && 'reply' in request) request.reply.hops?.takenAt(takenNs);
  }

  /** The market has accepted a create. */
  accepted(requestId: number): { readonly order: LiveOrder; readonly signed: SignedContent } {
    const request = this.#pending.get(requestId);
    assert(request?.kind === 'create' && request.signed !== null, 'an accepted order has its pending create');
    const { order, signed } = request;
    request.signed = null;
    return { order: must(order ?? undefined, 'a create has its order'), signed };
  }

  /** The market has answered: the request is no longer pending. `answer` or `answerWhenDecided` comes next. */
  take(requestId: number): Request {
    const request = must(this.#pending.get(requestId), 'the market answers a request once');
    this.#pending.delete(requestId);
    if (this.#awaited.length > 0) this.#tellAwaited();
    return request;
  }

  /** @param answered called once, when the markets have answered all that was sent until now; at once if they have. */
  whenAnswered(answered: () => void): void {
    if (this.#pending.size === 0) answered();
    else this.#awaited.push({ through: this.#lastId, answered });
  }

  #tellAwaited(): void {
    const [oldest = Number.POSITIVE_INFINITY] = this.#pending.keys();
    for (let first = this.#awaited[0]; first !== undefined && first.through < oldest; first = this.#awaited[0]) {
      this.#awaited.shift();
      first.answered();
    }
  }

  answer(request: SentRequest, answer: ActionAnswer): void {
    this.#count(request.user, -1);
    request.reply.answer(answer);
  }

  #count(user: UserId, change: 1 | -1): void {
    const count = this.countOf(user) + change;
    assert(count >= 0, 'a request is answered once');
    if (count === 0) this.#byUser.delete(user);
    else this.#byUser.set(user, count);
    this.#unanswered += change;
  }

  /** Answers when the market of the request is decided up to `sequence`. */
  answerWhenDecided(request: SentRequest, sequence: number, answer: ActionAnswer): void {
    this.whenDecided(request.market, sequence, () => this.answer(request, answer));
  }

  /** @param decided called once, at once where the market is decided up to `sequence`; sequences of a market come in their order. */
  whenDecided(market: MarketSlot, sequence: number, decided: () => void): void {
    if (sequence <= market.decidedSequence) {
      decided();
      return;
    }
    const waiting = this.#waiting.get(market);
    if (waiting === undefined) this.#waiting.set(market, [{ sequence, decided }]);
    else waiting.push({ sequence, decided });
    this.#waitingCount += 1;
  }

  /** As `whenDecided`, of a user whose share it takes from until then. */
  whenDecidedFor(user: UserId, market: MarketSlot, sequence: number, decided: () => void): void {
    this.#count(user, 1);
    this.whenDecided(market, sequence, () => {
      this.#count(user, -1);
      decided();
    });
  }

  /** Answers of one market are in the order of its sequences. */
  marketDecided(market: MarketSlot): void {
    const waiting = this.#waiting.get(market) ?? [];
    const undecided = waiting.findIndex(({ sequence }) => sequence > market.decidedSequence);
    const count = undecided < 0 ? waiting.length : undecided;
    this.#waitingCount -= count;
    for (const { decided } of waiting.splice(0, count)) decided();
  }

  /** Acks have become optimistic: no answer waits any longer. */
  answerAll(): void {
    const all = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    this.#waitingCount = 0;
    for (const { decided } of all) decided();
  }
}

// Requests that passed every check before the signature: the hold and the market's message are made of them.

/** Checks that an injected order may pass by (operator-api.md 7.3). Spot orders meet no check of margin or reduce-only. */
export const SKIPPED_CHECKS = ['signature', 'multisig', 'margin', 'reduce_only', 'fees', 'inventory'] as const;
export type SkippedCheck = (typeof SKIPPED_CHECKS)[number];

/** Every check is made. */
export const NO_SKIPS: ReadonlySet<never> = new Set<never>();

/** Price, quantity and the amount of the terms by kind: the table in schemas/messages.fbs. */
export interface PreparedCreate {
  readonly kind: 'create';
  readonly market: MarketSlot;
  /** Its flags get their mark for a takeover when it is reserved. */
  terms: OrderTerms;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  /** 0 without a trigger. */
  readonly triggerPrice: RawPrice;
  readonly maxFeeRate: number;
  readonly text: Uint8Array;
  /** The master's, 64 bytes, or none. */
  readonly signature: Uint8Array;
  /**
   * All signatures as they travel with the order (codec/stored-signatures.ts); `signature` where the master alone
   * signed.
   */
  readonly signatures: Uint8Array;
  /** Checks that are left out, now and when the hold is taken; none but in an operator's test. */
  readonly skips: ReadonlySet<string>;
  /** The group that protects it; null for none (MMP-02). */
  readonly protectionGroup: string | null;
  /** The bound of a reduce-only order that takes effect at once, set when it is reserved (MON-09); else no bound. */
  room: Readonly<Room>;
}

/**
 * Null members stay as they are; in the complete form (wire-additions.md 3) a null trigger means that the order has
 * none.
 */
export interface PreparedReplace {
  readonly kind: 'replace';
  readonly market: MarketSlot;
  readonly user: UserId;
  readonly orderId: OrderId;
  readonly timestampNs: TimestampNs;
  readonly newPrice: RawPrice | null;
  readonly newQuantity: RawQuantity | null;
  /** The trigger as requested; once the replace is reserved, the one that the market is to set. */
  newTrigger: { readonly kind: TriggerKind; readonly price: RawPrice } | null;
  readonly isComplete: boolean;
  /** The bound of a reduce-only order that has been released, set when the replace is reserved (MON-09); else no bound. */
  room: Readonly<Room>;
}

/** Lowers the total (wire-additions.md 4). */
export interface PreparedAmend {
  readonly kind: 'amend';
  readonly market: MarketSlot;
  readonly user: UserId;
  readonly orderId: OrderId;
  readonly timestampNs: TimestampNs;
  /** Null: the order has no revision. */
  readonly expectedRevisionNs: TimestampNs | null;
  readonly newQuantity: RawQuantity;
}

export interface PreparedCancel {
  readonly kind: 'cancel';
  readonly market: MarketSlot;
  readonly user: UserId;
  readonly orderId: OrderId;
}

/** A set whose shape holds: what it takes away is applied whatever becomes of what it adds (QTE-04). */
export interface PreparedQuoteSet {
  readonly kind: 'quotes';
  readonly market: MarketSlot;
  readonly user: UserId;
  readonly quotes: SignedQuoteSet;
  readonly text: Uint8Array;
  /** As of a create. */
  readonly signature: Uint8Array;
  readonly signatures: Uint8Array;
  /** Why what it adds is refused already, or null. */
  readonly addFault: Reject | null;
}

/** What goes to the market of a reserved set. */
export interface ReservedQuoteSet {
  readonly requestId: number;
  readonly set: LiveQuoteSet;
  readonly boughtSeen: number;
  readonly soldSeen: number;
  /** Slot of its protection group; 0 for none. */
  readonly protectionGroup: number;
  /** What it adds is left out. */
  readonly onlyTakes: boolean;
}

export type PreparedRequest = PreparedCreate | PreparedReplace | PreparedCancel | PreparedAmend;
