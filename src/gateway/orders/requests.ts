/**
 * Requests on their way: given a number when they are reserved, answered by the market, and, with durable acks, told
 * only when clearing has flushed the market sequence that answered them (AMB-16).
 *
 *   reserve ──▶ on its way ──market's answer──┬─▶ told
 *                                             └─(durable)─▶ waits for the flush ──▶ told
 *
 * Bounded: beyond `REQUESTS_MAX` a create or replace is refused; cancels have `CANCELS_RESERVED` more (AMB-111). Of these a
 * user has a part, a market maker a larger one, so that no user takes the room of all while a market or the disk is slow.
 */
import { assert, must } from '../../core/assert.ts';
import type { OrderId, UserId } from '../../core/ids.ts';
import type { Tie } from './lifeline.ts';
import type { LiveOrder, ReplaceOnItsWay } from './live-order.ts';
import type { MarketSlot } from './markets.ts';
import type { OrderSink, RequestResult } from './order-events.ts';

export const REQUESTS_MAX = 65_536;
export const CANCELS_RESERVED = 8_192;
/** Of one user, of a market maker, and how many more of those may be cancels. */
export const REQUESTS_PER_USER_MAX = 2_048;
export const REQUESTS_PER_MARKET_MAKER_MAX = 16_384;
export const CANCELS_PER_USER_RESERVED = 1_024;

export interface OrderRequest {
  readonly kind: 'create' | 'replace' | 'cancel';
  readonly user: UserId;
  readonly orderId: OrderId;
  readonly market: MarketSlot;
  /** Null when the order was unknown when the request was reserved. */
  readonly order: LiveOrder | null;
  readonly replace: ReplaceOnItsWay | null;
  /** What it ties its order to; null for nothing. */
  tie: Tie | null;
}

/** Was answered when it was dispatched: the market's answer only takes it off this table. */
export interface CancelAllRequest {
  readonly kind: 'cancelAll';
}

/** The node's own: its market's answer is told to nobody. */
export interface ReduceRequest {
  readonly kind: 'reduce';
  readonly order: LiveOrder;
}

export type Request = OrderRequest | CancelAllRequest | ReduceRequest;

/** Whose share of the table it is. */
export interface Share {
  readonly user: UserId;
  readonly isMarketMaker: boolean;
}

export interface WaitingAck {
  readonly user: UserId;
  readonly requestId: number;
  readonly sequence: number;
  readonly result: RequestResult;
}

export class Requests {
  readonly #sink: OrderSink;
  readonly #onTheWay = new Map<number, Request>();
  readonly #waiting = new Map<MarketSlot, WaitingAck[]>();
  /** Without an answer told, by user. */
  readonly #byUser = new Map<UserId, number>();
  #waitingCount = 0;
  #lastId = 0;

  constructor(sink: OrderSink) {
    this.#sink = sink;
  }

  /** Requests without an answer told. */
  get count(): number {
    return this.#onTheWay.size + this.#waitingCount;
  }

  hasRoomFor(kind: Request['kind'], count = 1): boolean {
    const isCancel = kind !== 'create' && kind !== 'replace';
    return this.count + count <= REQUESTS_MAX + (isCancel ? CANCELS_RESERVED : 0);
  }

  /** Whether the user may have so many more, whatever the others have. */
  isWithinShare(kind: OrderRequest['kind'], { user, isMarketMaker }: Share, count = 1): boolean {
    const most = isMarketMaker ? REQUESTS_PER_MARKET_MAKER_MAX : REQUESTS_PER_USER_MAX;
    return this.countOf(user) + count <= most + (kind === 'cancel' ? CANCELS_PER_USER_RESERVED : 0);
  }

  /** Requests of a user without an answer told. */
  countOf(user: UserId): number {
    return this.#byUser.get(user) ?? 0;
  }

  /** What the next `add` returns. */
  get nextId(): number {
    return this.#lastId + 1;
  }

  add(request: Request): number {
    this.#lastId += 1;
    this.#onTheWay.set(this.#lastId, request);
    if ('user' in request) this.#byUser.set(request.user, this.countOf(request.user) + 1);
    return this.#lastId;
  }

  /** Ties the order of a create or replace on its way, where it is known and not over. */
  tie(requestId: number, tie: Tie): void {
    const request = must(this.#onTheWay.get(requestId), 'a request on its way');
    assert(request.kind === 'create' || request.kind === 'replace', 'creates and replaces tie their order');
    const { order } = request;
    if (order === null || order.isTold) return;
    request.tie = tie;
    order.ties = [...order.ties, tie];
    tie.bind(order);
  }

  /** The market has answered: the request is no longer on its way; `told` or `tellWhenDecided` comes next. */
  take(requestId: number): Request {
    const request = must(this.#onTheWay.get(requestId), 'the market answers a request once');
    this.#onTheWay.delete(requestId);
    return request;
  }

  /** The answer to one of the user's requests is told. */
  told(user: UserId): void {
    const left = this.countOf(user) - 1;
    assert(left >= 0, 'an answer is told once');
    if (left === 0) this.#byUser.delete(user);
    else this.#byUser.set(user, left);
  }

  #tell({ requestId, user, result }: WaitingAck): void {
    this.told(user);
    this.#sink.ack(requestId, result);
  }

  /** Tells the answer when `market` is decided up to `sequence`. */
  tellWhenDecided(market: MarketSlot, ack: WaitingAck): void {
    if (ack.sequence <= market.decidedSequence) {
      this.#tell(ack);
      return;
    }
    const waiting = this.#waiting.get(market);
    if (waiting === undefined) this.#waiting.set(market, [ack]);
    else waiting.push(ack);
    this.#waitingCount += 1;
  }

  /** Answers of one market come in the order of its sequences. */
  marketDecided(market: MarketSlot): void {
    const waiting = this.#waiting.get(market) ?? [];
    const undecided = waiting.findIndex((ack) => ack.sequence > market.decidedSequence);
    const count = undecided < 0 ? waiting.length : undecided;
    for (const ack of waiting.splice(0, count)) this.#tell(ack);
    this.#waitingCount -= count;
  }

  /** Acks have become optimistic: nothing waits any longer. */
  tellAll(): void {
    for (const waiting of this.#waiting.values()) {
      for (const ack of waiting) this.#tell(ack);
    }
    this.#waiting.clear();
    this.#waitingCount = 0;
  }
}
