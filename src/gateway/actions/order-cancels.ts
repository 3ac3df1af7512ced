/**
 * Cancels that a session alone authorizes, or the node makes (CAN-05 to CAN-11, QTE-09, AMB-61): of all orders, of a list, of a quote
 * set, of one order, and reductions. They reduce risk, so they may use the capacity of a ring that is reserved for cancels.
 *
 *   cancels ─▶ capacity of the rings of all markets concerned ─▶ one message for each ─▶ markets
 *
 * Invariant: a cancel of many orders is all or nothing: each shard's ring takes all of its messages, or none is written.
 */
import type { ActionHops } from '../../codec/hop-times.ts';
import { must } from '../../core/assert.ts';
import type { AssetId, OrderId, UserId } from '../../core/ids.ts';
import type { HashKey } from '../../core/key-words.ts';
import { ORDER_END, type OrderEnd, type Side } from '../../core/order-terms.ts';
import type { Outcome } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { TimestampNs } from '../../core/units.ts';
import type { Publication } from '../../runtime/publication.ts';
import { recordBytes } from '../../runtime/ring-layout.ts';
import { CancelAllOrders, CancelOrder, EndQuoteSet, ReplaceOrder } from '../../schema/generated/messages.ts';
import {
  type CancelLimits,
  NO_LIMITS,
  writeCancel,
  writeCancelAll,
  writeEndQuoteSet,
  writeNodeCancel,
  writeReduction,
} from '../command-codec.ts';
import type { MarketSlot } from '../orders/book/markets.ts';
import type { ReduceCommand } from '../orders/book/order-events.ts';
import type { LiveQuoteSet } from '../orders/book/quote-sets.ts';
import type { OrderRequests } from '../orders/entry/order-requests.ts';
import { type EntryReply, type PreparedCancel, UNANSWERED } from '../orders/entry/pending-requests.ts';

/** A cancel of many orders, of one market or of all. */
interface MassCancel {
  readonly user: UserId;
  readonly assetId: AssetId | null;
}

interface MassCancelRequest extends MassCancel {
  readonly beforeNs: TimestampNs | null;
  /** `userRequested` unless the node cancels of itself. */
  readonly end?: OrderEnd;
  /** Those of one side; of both unless given. */
  readonly side?: Side;
  /** Members of this protection group alone, or entries of this quote set; of any unless given. */
  readonly protectionGroup?: string;
  readonly quoteSetId?: string;
}

interface OrderCancelParts {
  readonly requests: OrderRequests;
  /** One per shard; market m lives on shard m mod shards. */
  readonly shards: readonly Publication[];
  /** The key of the hashes of ids. */
  readonly idKey: HashKey;
  readonly nowNs: () => TimestampNs;
  /** Markets that have been restored and take orders. */
  readonly openMarkets: ReadonlySet<number>;
  /** Requests a flush at the end of this turn of the event loop. */
  readonly wakeUp: () => void;
}

export const MARKET_BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'the market is busy, try again');
export const MARKET_CLOSED: Reject = reject('SERVICE_UNAVAILABLE', 'the market is starting, try again');
const CANCEL_BYTES: number = recordBytes(CancelOrder.bytes);

export class OrderCancels {
  readonly #parts: OrderCancelParts;

  constructor(parts: OrderCancelParts) {
    this.#parts = parts;
  }

  // ---- of many orders

  /**
   * Every order of the user, or those of one market; `beforeNs` 1 or more: only those that are strictly older (AMB-18).
   *
   * @param hops as of an ActionOrigin.
   * @param stored called once when all of it is stored, and what had ended these orders before; null: at once it is answered.
   * @returns null when all of it is sent; MARKET_NOT_FOUND, SERVICE_UNAVAILABLE before anything changed.
   */
  cancelAll(
    request: MassCancelRequest,
    hops: ActionHops | null = null,
    stored: (() => void) | null = null,
  ): Reject | null {
    const { requests, nowNs, wakeUp } = this.#parts;
    const { user, end = ORDER_END.userRequested, side = null } = request;
    const found = requests.checkCancelAll(request);
    if (!found.ok) return found.reject;
    if (request.quoteSetId !== undefined) return this.#cancelSet(request, found.value, hops, stored);
    const slots = requests.slotsOf(user, found.value, request.protectionGroup);
    const markets = [...slots.keys()];
    const refusal =
      this.#cancelRefusal(markets, CancelAllOrders.bytes) ?? (stored === null ? null : requests.waitRefusal(request));
    if (refusal !== null) return refusal;
    const done = stored === null ? null : this.#doneOf(markets.length, request, stored);
    const beforeNs = this.#noteCancel(request);

    // After this point every market gets its message.
    for (const market of markets) {
      const { marketIndex } = market.definition;
      const requestId = passed(requests.reserveCancelAll(hops, done));
      const publication = this.#publicationOf(marketIndex);
      const at = publication.claim(CancelAllOrders.typeId, CancelAllOrders.bytes, true);
      const protectionGroup = slots.get(market) ?? 0;
      const terms = { user, marketIndex, beforeNs, end, side, protectionGroup };
      writeCancelAll(publication.views, at, terms, { requestId, receivedNs: nowNs() });
      publication.commit();
    }
    hops?.sent(markets.length);
    wakeUp();
    return null;
  }

  /** The entries of a quote set: the whole set ends, or within further bounds its entries; its mark rises either way. */
  #cancelSet(
    request: MassCancelRequest,
    among: readonly MarketSlot[],
    hops: ActionHops | null,
    stored: (() => void) | null,
  ): Reject | null {
    const { requests } = this.#parts;
    const { user, side = null, quoteSetId = '', end = ORDER_END.userRequested } = request;
    const slots = requests.slotsOf(user, among, request.protectionGroup);
    const sets = requests.knownSets(user, [...slots.keys()], quoteSetId);
    const refusal =
      this.#cancelRefusal(
        sets.map(({ market }) => market),
        EndQuoteSet.bytes,
      ) ?? (stored === null ? null : requests.waitRefusal(request));
    if (refusal !== null) return refusal;
    const done = stored === null ? null : this.#doneOf(sets.length, request, stored);
    const beforeNs = this.#noteCancel(request);
    for (const set of sets) {
      const bounds = { beforeNs, side, protectionGroup: slots.get(set.market) ?? 0 };
      this.endQuoteSet(set, end, done, bounds);
    }
    hops?.sent(0);
    return null;
  }

  /**
   * Sets that no market knows are not put in force behind the cancel either.
   *
   * @returns `beforeNs` for the markets, 0n for none. No order is younger than the clocks may differ, so what is later is not given on: it
   *   would keep a set from coming back for ever.
   */
  #noteCancel(request: MassCancelRequest): bigint {
    const { requests, nowNs } = this.#parts;
    const now = nowNs();
    const latest = now + requests.settings.clockSkewNs + 1n;
    const { beforeNs } = request;
    const before = beforeNs !== null && beforeNs > latest ? latest : (beforeNs ?? 0n);
    requests.noteCancel(request, (before === 0n ? now : before - 1n) as TimestampNs, now);
    return before;
  }

  /** The user's unfinished orders with these ids, in every market or in one. Returns as `cancelAll`. */
  cancelBatch(
    request: {
      readonly user: UserId;
      readonly assetId: AssetId | null;
      readonly orderIds: readonly OrderId[];
    },
    hops: ActionHops | null = null,
    stored: (() => void) | null = null,
  ): Reject | null {
    const { requests, wakeUp } = this.#parts;
    const checked = requests.ordersToCancel(request);
    if (!checked.ok) return checked.reject;
    const markets = checked.value.map(({ market }) => market);
    const refusal =
      this.#cancelRefusal(markets, CancelOrder.bytes) ?? (stored === null ? null : requests.waitRefusal(request));
    if (refusal !== null) return refusal;

    // After this point every order's market gets its message.
    const done = stored === null ? null : this.#doneOf(checked.value.length, request, stored);
    const reply = { answer: done ?? UNANSWERED.answer, hops };
    for (const prepared of checked.value) this.sendCancel(prepared, reply);
    hops?.sent(checked.value.length);
    wakeUp();
    return null;
  }

  /** @returns what is called at each of so many answers of markets; behind the last one, or at once, what they did is waited for. */
  #doneOf(answers: number, request: MassCancel, stored: () => void): () => void {
    const { requests } = this.#parts;
    let left = answers;
    if (left === 0) requests.whenStored(request, stored);
    return () => {
      left -= 1;
      if (left === 0) requests.whenStored(request, stored);
    };
  }

  // ---- of one

  /** Whether one cancel can be sent; if not, the ring wakes this thread as soon as it can. */
  hasRoomForCancel({ definition: { marketIndex } }: MarketSlot): boolean {
    const { requests, openMarkets } = this.#parts;
    const publication = this.#publicationOf(marketIndex);
    const isOpen = openMarkets.has(marketIndex);
    if (isOpen && requests.hasRoomForCancel() && publication.hasRoom(CANCEL_BYTES, true)) return true;
    publication.wantRoom();
    return false;
  }

  /** Without a sender that waits for its answer; `hasRoomForCancel` has returned true. */
  sendCancel(prepared: PreparedCancel, reply: EntryReply = UNANSWERED): void {
    const { requests, nowNs, idKey: key } = this.#parts;
    const requestId = passed(requests.reserveCancel(prepared, reply));
    const publication = this.#publicationOf(prepared.market.definition.marketIndex);
    const at = publication.claim(CancelOrder.typeId, CancelOrder.bytes, true);
    writeCancel(publication.views, at, prepared, false, { requestId, receivedNs: nowNs(), key });
    publication.commit();
  }

  /**
   * A reduction or a cancel that the node itself makes (AMB-61), reserved by the caller. It reduces risk, so it may use
   * the capacity reserved for cancels.
   *
   * @returns false: the ring is full, nothing was sent.
   */
  reduce(command: ReduceCommand): boolean {
    const { openMarkets, nowNs, idKey: key } = this.#parts;
    if (!openMarkets.has(command.marketIndex)) return false;
    const publication = this.#publicationOf(command.marketIndex);
    const message = command.total === 0 ? CancelOrder : ReplaceOrder;
    const at = publication.claim(message.typeId, message.bytes, true);
    if (at < 0) return false;
    const writeCommand = command.total === 0 ? writeNodeCancel : writeReduction;
    writeCommand(publication.views, at, command, { receivedNs: nowNs(), key });
    publication.commit();
    return true;
  }

  /**
   * Ends a set that its market may have, and raises its mark (QTE-09): also one of which nothing rests any more. With bounds only entries
   * within them are cancelled, and the mark is raised all the same.
   *
   * @param done called when the market has ended it.
   * @returns false: the ring is full, or its market is not open.
   */
  endQuoteSet(
    { user, market, setId, isKnown }: LiveQuoteSet,
    end: OrderEnd,
    done: (() => void) | null = null,
    bounds: CancelLimits = NO_LIMITS,
  ): boolean {
    const { requests, openMarkets, nowNs, wakeUp } = this.#parts;
    const { marketIndex } = market.definition;
    if (!isKnown) {
      done?.();
      return true;
    }
    const publication = this.#publicationOf(marketIndex);
    if (!openMarkets.has(marketIndex) || !requests.hasRoomForCancel()) return false;
    const at = publication.claim(EndQuoteSet.typeId, EndQuoteSet.bytes, true);
    if (at < 0) return false;
    const requestId = passed(requests.reserveCancelAll(null, done));
    const ended = { user, marketIndex, setId, subAccount: null, end, ...bounds };
    writeEndQuoteSet(publication.views, at, ended, { requestId, receivedNs: nowNs() });
    publication.commit();
    wakeUp();
    return true;
  }

  /** Why one record of `bytes` for each of these markets cannot be sent, or null. */
  #cancelRefusal(markets: readonly MarketSlot[], bytes: number): Reject | null {
    const { openMarkets, shards } = this.#parts;
    if (!markets.every(({ definition }) => openMarkets.has(definition.marketIndex))) return MARKET_CLOSED;
    const needed = shards.map(() => 0);
    for (const { definition } of markets) {
      const shard = definition.marketIndex % shards.length;
      needed[shard] = (needed[shard] as number) + recordBytes(bytes);
    }
    return shards.every((publication, shard) => publication.hasRoom(needed[shard] as number, true))
      ? null
      : MARKET_BUSY;
  }

  #publicationOf(marketIndex: number): Publication {
    const { shards } = this.#parts;
    return must(shards[marketIndex % shards.length], 'a shard for every market');
  }
}

/** The check of the same turn made sure that the request has its place. */
function passed(outcome: Outcome<number>): number {
  return must(outcome.ok ? outcome.value : undefined, 'a checked cancel is taken');
}
