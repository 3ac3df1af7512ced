/**
 * Triggers that fired: the normal checks come when an order is released, and their outcome goes back to the market
 * (AMB-28, AMB-29).
 *
 *   market ──triggered(quantity)──▶ hold for it ──release──▶ market ──activated──▶ the order lives
 *                                    └──too little──▶ short ──clearing is past the trigger──▶ hold, or
 *                                                              release(marginInsufficient) ──▶ ended
 *
 * The trigger event of a market may arrive before the balances of the very fills that it follows from, such as the fill of
 * the parent of a child that sells. So an order that is short waits: events of clearing arrive in order, and once clearing
 * is past the trigger event, all that came before that event is in the balances. Nor is an order refused while another
 * one without a bound of its own holds the whole balance: that one ends as soon as the market has matched it. Until then
 * the orders behind it are not checked: so of thousands that fire at once and take all, each is checked a few times.
 * Bounded by the waiting orders.
 *
 * The capacity of an order in a margin-type account is checked in the same way. A reduce-only one is released with its
 * room, to which its market cuts it (MON-09); one without any waits while fills of its account in the market are
 * undecided, or another one of them is being matched, and then ends with `reduceOnly`.
 *
 * A trigger event with zero lots (a child whose parent has not filled) is not answered; another one follows with the lots.
 * At a restart the hold of an order that had fired is taken when its market opens, as if it had fired then.
 */
import { ORDER_END, ORDER_KIND, type OrderEnd } from '../../../core/order-terms.ts';
import { NO_BOUND, type Room } from '../../../order/order-codec.ts';
import { availableIn, type Balance } from '../balances/balance.ts';
import { holdFor, isOver, type Released, releaseBudgetOf, spendFor, spendingLeft } from '../balances/spending.ts';
import type { AssetRisks } from '../margin/asset-risks.ts';
import type { MarginAccount } from '../margin/margin-account.ts';
import type { MarginCheck } from '../margin/margin-check.ts';
import type { MarginSide } from '../margin/margin-side.ts';
import { enabledOf, filledOf, isChild, type LiveOrder, RELEASED_WHOLE } from './live-order.ts';
import type { LiveOrders } from './live-orders.ts';
import type { MarketSlot } from './markets.ts';
import type { OrderBookView } from './order-book-view.ts';
import type { OrderSink, TriggeredEvent } from './order-events.ts';

/** A trigger event of a market. */
interface TriggerNotice {
  /** Sequence of the event; 0 at a restart. */
  readonly sequence: number;
  readonly quantity: number;
}

/** The state in which an order was found short: with the same state it is checked again only for the final answer. */
interface Short extends TriggerNotice {
  /** In the order of their trigger events. */
  readonly number: number;
  readonly lastSequence: number;
  readonly available: bigint;
  readonly version: number;
}

/**
 * What an order is paid from: its margin-type account, or the one balance that it spends. Orders of one source compete for
 * it. An order that needs neither is never short; its market stands for its source.
 */
type FundingSource = MarginAccount | Balance | MarketSlot;

/** Waiting orders of a source, oldest first, by the balance that they spend; null for margin orders. */
type Waiting = Map<Balance | null, Line>;
/** By the index of the order. */
type Line = Map<number, Short>;

interface Takers {
  /** By index. */
  readonly orders: Set<number>;
  /** What the last of them left available: less than one could be given as its bound. */
  readonly left: bigint;
}

/** Where a check of a source stands in one of its lines. */
interface Walk {
  readonly balance: Balance | null;
  readonly rest: Iterator<[number, Short]>;
  head: [number, Short] | undefined;
}

export class Releases {
  readonly #book: OrderBookView;
  readonly #orders: LiveOrders;
  readonly #margin: MarginCheck;
  readonly #assets: AssetRisks;
  readonly #sink: OrderSink;
  /** Triggered orders without a command, as what is available does not cover them yet. */
  readonly #short = new Map<FundingSource, Waiting>();
  #shortCount = 0;
  #lastNumber = 0;
  /** Sources with orders that wait, of which an order has left memory: one that its market refused was perhaps what they waited for. */
  readonly #left = new Set<FundingSource>();
  /** Released with all there was: they end, and give back what they leave, as soon as the market has matched them. */
  readonly #takers = new Map<Balance, Takers>();

  constructor(
    book: OrderBookView,
    { orders, check, assets }: { readonly orders: LiveOrders } & Pick<MarginSide, 'check' | 'assets'>,
    sink: OrderSink,
  ) {
    this.#book = book;
    this.#orders = orders;
    this.#margin = check;
    this.#assets = assets;
    this.#sink = sink;
  }

  /** Orders that wait for cover. */
  get shortCount(): number {
    return this.#shortCount;
  }

  triggered(market: MarketSlot, event: TriggeredEvent): void {
    this.#answer(this.#book.triggered(market, event), event);
  }

  /** An event of an order has arrived: if it took the whole balance, others may be covered by what it leaves. */
  eventOn(market: MarketSlot, sequence: number): void {
    if (this.#takers.size === 0) return;
    const order = this.#orders.ofSequence(market.definition.marketIndex, sequence);
    const balance = order?.balance ?? null;
    if (order === undefined || balance === null) return;
    if (this.#takers.get(balance)?.orders.has(order.index) === true) this.#retry(sourceOf(order));
  }

  /** A market has refused something: an order that waited for the one that is gone waits no longer (MON-09). */
  refused(): void {
    if (this.#left.size === 0) return;
    // mutant: retry-after-a-refusal
    for (const source of this.#left) this.#retry(source);
    this.#left.clear();
  }

  /** Clearing has passed more of a market: what was short may be covered, or never will be. */
  retry(): void {
    for (const source of this.#short.keys()) this.#retry(source);
    this.#left.clear();
  }

  #retry(source: FundingSource): void {
    const waiting = this.#short.get(source);
    if (waiting === undefined) return;
    for (const [index, short] of this.#oldestFirst(waiting)) {
      const order = this.#orders.at(index);
      if (isOver(order)) this.#forget(order);
      else if (!isAsBefore(order, short) || !this.#mayBeCovered(order, short)) this.#answer(order, short);
    }
  }

  /** Orders of a source that may be covered, whatever the result of those before them. */
  *#oldestFirst(waiting: Waiting): Generator<readonly [number, Short]> {
    const walks = Array.from(waiting, ([balance, line]): Walk => {
      const rest = line.entries();
      return { balance, rest, head: rest.next().value };
    });
    for (;;) {
      let first: Walk | null = null;
      for (const walk of walks) {
        if (walk.head === undefined || this.#isTaken(walk.balance)) continue;
        if (first?.head === undefined || walk.head[1].number < first.head[1].number) first = walk;
      }
      if (first?.head === undefined) return;
      const next = first.head;
      first.head = first.rest.next().value;
      yield next;
    }
  }

  /** The market takes commands again: what had fired before the restart is released, in the order of admission. */
  marketOpened(market: MarketSlot): void {
    const fired = this.#book.restoredFired(market);
    for (const order of fired) this.#answer(order, { sequence: 0, quantity: enabledOf(order) });
  }

  /** The order leaves memory. */
  leaving(order: LiveOrder): void {
    if (this.#shortCount > 0) {
      this.#forget(order);
      const source = sourceOf(order);
      if (this.#short.has(source)) this.#left.add(source);
    }
    const { balance } = order;
    if (balance !== null) this.#takers.get(balance)?.orders.delete(order.index);
  }

  #answer(order: LiveOrder, notice: TriggerNotice): void {
    const isSizedInQuote = order.kind === ORDER_KIND.marketQuote;
    if (notice.quantity === 0 && !isSizedInQuote) return;
    const room = this.#margin.roomOf(order);
    // mutant: release-without-room
    if (room !== null && room.roomToTake === 0) {
      if (!this.#margin.isDecided(order)) this.#wait(order, notice);
      else this.#end(order, notice, ORDER_END.reduceOnly);
    } else if (this.#letThrough(order, notice.quantity)) this.#end(order, notice, 0, room ?? NO_BOUND);
    else if (this.#mayBeCovered(order, notice)) this.#wait(order, notice);
    else this.#end(order, notice, ORDER_END.marginInsufficient);
  }

  /** An order that waits already keeps its place. */
  #wait(order: LiveOrder, { sequence, quantity }: TriggerNotice): void {
    const { lastSequence, balance, exposure } = order;
    const available = balance === null ? 0n : availableIn(balance);
    const version = exposure === null ? 0 : exposure.position.account.version;
    const line = this.#lineOf(order);
    const known = line.get(order.index);
    if (known === undefined) {
      this.#shortCount += 1;
      this.#lastNumber += 1;
    }
    const number = known?.number ?? this.#lastNumber;
    line.set(order.index, { sequence, quantity, number, lastSequence, available, version });
  }

  #lineOf(order: LiveOrder): Line {
    const source = sourceOf(order);
    let waiting = this.#short.get(source);
    if (waiting === undefined) {
      waiting = new Map();
      this.#short.set(source, waiting);
    }
    let line = waiting.get(order.balance);
    if (line === undefined) {
      line = new Map();
      waiting.set(order.balance, line);
    }
    return line;
  }

  /** Idempotent. */
  #forget(order: LiveOrder): void {
    const source = sourceOf(order);
    const waiting = this.#short.get(source);
    const line = waiting?.get(order.balance);
    if (waiting === undefined || line?.delete(order.index) !== true) return;
    this.#shortCount -= 1;
    if (line.size === 0) waiting.delete(order.balance);
    if (waiting.size === 0) this.#short.delete(source);
  }

  /** The final answer to the trigger event. */
  #end(order: LiveOrder, notice: TriggerNotice, end: OrderEnd | 0, room: Readonly<Room> = NO_BOUND): void {
    this.#forget(order);
    this.#release(order, notice, end, room);
  }

  /** Takes the hold. @returns false, the order unchanged, when what is available does not cover it. */
  #letThrough(order: LiveOrder, quantity: number): boolean {
    const { balance } = order;
    const held = holdFor(order, order.spend);
    const available = balance === null ? 0n : availableIn(balance) + held;
    const lots = lotsAtRelease(order, quantity);
    const left = Math.min(lots.releasedQuantity, order.quantity) - lots.droppedQuantity - filledOf(order);
    const worstPrice = this.#assets.worstPrice(order.side, order.market);
    const budget = releaseBudgetOf(order, left, { available, worstPrice });
    if (budget === null) return false;
    const released = { budget, ...lots };
    const hold = holdFor(order, spendFor(order, released));
    // mutant: release-hold
    if (hold > held && hold > available) return false;
    if (this.#margin.admissionFault(order, released) !== null) return false;
    order.budget = budget;
    order.releasedQuantity = lots.releasedQuantity;
    order.droppedQuantity = lots.droppedQuantity;
    order.isIdle = lots.isIdle;
    this.#book.rehold(order);
    if (balance !== null && spendingLeft(order) > 0) this.#addTaker(order, balance);
    return true;
  }

  #addTaker(order: LiveOrder, balance: Balance): void {
    const orders = this.#takers.get(balance)?.orders ?? new Set();
    this.#takers.set(balance, { orders: orders.add(order.index), left: availableIn(balance) });
  }

  /** Whether another order has taken all there was, and has not ended. Those that have are forgotten here. */
  #hasTaker(balance: Balance, except: LiveOrder | null): boolean {
    const orders = this.#takers.get(balance)?.orders;
    if (orders === undefined) return false;
    for (const taker of orders) {
      if (this.#orders.at(taker).spend === 0n) orders.delete(taker);
      else if (taker !== except?.index) return true;
    }
    if (orders.size === 0) this.#takers.delete(balance);
    return false;
  }

  /** One order has taken all of it, and nothing was added since: the others are checked after its end. */
  #isTaken(balance: Balance | null): boolean {
    if (balance === null || !this.#hasTaker(balance, null)) return false;
    const { left = 0n } = this.#takers.get(balance) ?? {};
    return availableIn(balance) <= left;
  }

  /** Clearing is not past the trigger event, or an order that took the whole balance for a moment has not ended. */
  #mayBeCovered(order: LiveOrder, notice: TriggerNotice): boolean {
    if (order.market.decidedSequence < notice.sequence) return true;
    const { balance } = order;
    return balance !== null && this.#hasTaker(balance, order);
  }

  #release(order: LiveOrder, { sequence, quantity }: TriggerNotice, end: OrderEnd | 0, room: Readonly<Room>): void {
    const { marketIndex } = order.market.definition;
    const budget = end === 0 ? spendingLeft(order) : 0;
    const bound = end === 0 ? (order.exposure?.bound ?? 0) : 0;
    this.#sink.release({ marketIndex, order: order.sequence, triggered: sequence, quantity, budget, bound, room, end });
  }
}

function sourceOf({ exposure, balance, market }: LiveOrder): FundingSource {
  return exposure?.position.account ?? balance ?? market;
}

/** Whether the last event of the order, the available balance and the margin account are unchanged. */
function isAsBefore({ lastSequence, balance, exposure }: LiveOrder, short: Short): boolean {
  return (
    short.lastSequence === lastSequence &&
    short.version === (exposure === null ? 0 : exposure.position.account.version) &&
    short.available === (balance === null ? 0n : availableIn(balance))
  );
}

/** The released lots of a child never decrease: its parent's fills are final. Dropped lots stay dropped. */
function lotsAtRelease(order: LiveOrder, quantity: number): Omit<Released, 'budget'> {
  if (!isChild(order)) return { releasedQuantity: RELEASED_WHOLE, droppedQuantity: 0, isIdle: false };
  const droppedQuantity = order.isIdle ? order.releasedQuantity - filledOf(order) : order.droppedQuantity;
  return { releasedQuantity: Math.max(order.releasedQuantity, quantity), droppedQuantity, isIdle: false };
}
