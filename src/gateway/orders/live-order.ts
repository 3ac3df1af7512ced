/**
 * One order as the front door keeps it in memory, and what follows from its figures alone.
 *
 * The market is the authority on what rests; clearing on what is filled. Both are heard over their own rings, in either
 * order, so what remains is derived: quantity in force − pending − confirmed, nothing after an end.
 *
 * Invariants
 *   (1) order.spend = spendOf(order) (spending.ts), and order.balance holds that with the fee in force (holds.ts); in its
 *       queue an order has exposureOf(order) (order-exposure.ts).
 *   (2) An order whose trigger has not released it has let nothing through: it holds nothing (AMB-28).
 *
 * Not here: the orders of all users (live-orders.ts), what changes an order (order-book-view.ts), what it holds
 * (spending.ts), which words it ends with (order-life.ts).
 */
import type { OrderId, UserId } from '../../core/ids.ts';
import {
  ORDER_FLAG,
  type OrderEnd,
  type OrderKind,
  type RollbackReason,
  type Side,
  TIF,
  type Tif,
  TRIGGER,
  TRIGGER_STATE,
  type TriggerKind,
  type TriggerState,
} from '../../core/order-terms.ts';
import { type Amount18, type RawPrice, type RawQuantity, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import type { Balance } from './holds.ts';
import type { Tie } from './lifeline.ts';
import type { MarketSlot } from './markets.ts';
import type { OrderExposure } from './order-exposure.ts';

/** What never changes about an order. */
export interface OrderTerms {
  readonly user: UserId;
  readonly subAccount: number;
  readonly orderId: OrderId;
  readonly side: Side;
  readonly kind: OrderKind;
  readonly tif: Tif;
  /** Bits of ORDER_FLAG. */
  readonly flags: number;
  /** Quote integer of scale 10^-quantity decimals: the cap of a base-sized buy or the target; 0 for none (AMB-05). */
  readonly amount: number;
  /** As signed; a replace may turn it while the order waits. */
  readonly triggerKind: TriggerKind;
  /** Of a child, else ''. */
  readonly parentId: OrderId | '';
  readonly creationNs: TimestampNs;
  /** 0n unless GTD. */
  readonly goodUntilNs: TimestampNs;
}

/** Fills in one state of decision. */
export interface Filled {
  quantity: number;
  notional: bigint;
  fees: bigint;
}

/** Terms that a replace on its way asks for. */
export interface ReplaceOnItsWay {
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
}

export interface LiveOrder {
  readonly terms: OrderTerms;
  readonly market: MarketSlot;
  /** Where the hold of a spot order lies: USD for a buy, the base asset for a sell. A margin order holds nothing. */
  readonly balance: Balance | null;
  /** Where an order of a margin-type account counts; null in a spot account, and for a spot sell. */
  exposure: OrderExposure | null;
  /** Market sequence of its admission; 0 before. */
  sequence: number;
  /** Market sequence of the last word on it: when clearing has passed it, the tables have the order as it is here. */
  lastSequence: number;
  /** In force; 0 for a market order. */
  price: RawPrice;
  /** In force; 0 for one that is sized in quote and has no base cap. */
  quantity: RawQuantity;
  /** What a market order without quantity or amount on its spending side may spend: quote, or lots; 0 for none (AMB-39). */
  bound: number;
  /** In force while it waits; what was released keeps the one that released it. */
  triggerKind: TriggerKind;
  triggerPrice: RawPrice;
  triggerState: TriggerState;
  /** Lots that may match, as far as this door has let them: none while it waits, of a child what was activated. */
  letThrough: number;
  /** Lots that the market has said to be in force, of an order with a trigger; of a child they may come in parts. */
  activated: number;
  /** Lots of a child that never rests that were let through and found no match: they are gone (AMB-29). */
  dropped: number;
  /** Such a child has matched what it could of what was let through, and waits for more. */
  isIdle: boolean;
  /** Of a child; null where the parent is over and has left memory. */
  parent: LiveOrder | null;
  /** Lots of such a child that are activated. */
  enabledWithoutParent: number;
  timestampNs: TimestampNs;
  lastUpdateNs: TimestampNs;
  readonly confirmed: Filled;
  readonly pending: Filled;
  pendingFills: number;
  /** At least one fill was rolled back. */
  wasRolledBack: boolean;
  /** It never rests and its quantity was matched: a rollback does not bring it back (AMB-32 c). */
  isSpent: boolean;
  /** A cancel came while all of it was pending: nothing of it comes back (AMB-23). */
  isCovered: boolean;
  /** Why the market took it off; 0 while it may rest. `filled` only for a market order whose target or cap was met. */
  end: OrderEnd | 0;
  /** Its own fault in a rollback, or 0: nothing of it lives any more. */
  faultReason: RollbackReason;
  /** Its one terminal event has been told, or its refusal: nothing of it needs a hold. */
  isTold: boolean;
  /** It is finished, and the tail knows. */
  isInTail: boolean;
  /** Requests about it that the market has not answered. */
  requests: number;
  replaces: readonly ReplaceOnItsWay[];
  /** To connections over which it was created or replaced: it is cancelled with the end of any of them. */
  ties: readonly Tie[];
  /** What it may still spend of its balance, a buy's fee apart. */
  spend: Amount18;
  /** Its word in the list that pages are made of (page-list.ts), or NOT_LISTED. */
  pageWord: number;
}

/** Let through as a whole, whatever its quantity becomes. */
export const LET_THROUGH_WHOLE: number = Number.MAX_SAFE_INTEGER;
/** The page word of an order that no page shows. */
export const NOT_LISTED = -1;
const NO_REPLACES: readonly ReplaceOnItsWay[] = [];
const NO_TIES: readonly Tie[] = [];

export type NewLiveOrder = Pick<
  LiveOrder,
  'terms' | 'market' | 'balance' | 'price' | 'quantity' | 'bound' | 'triggerPrice'
>;

/** Members one by one, and no list until there is a replace: this is on the way of every create. */
export function newLiveOrder(order: NewLiveOrder, now: TimestampNs): LiveOrder {
  const { terms } = order;
  const waits = terms.triggerKind !== TRIGGER.none;
  return {
    terms,
    market: order.market,
    balance: order.balance,
    exposure: null,
    price: order.price,
    quantity: order.quantity,
    bound: order.bound,
    triggerKind: terms.triggerKind,
    triggerPrice: order.triggerPrice,
    triggerState: waits ? TRIGGER_STATE.dormant : TRIGGER_STATE.live,
    letThrough: waits ? 0 : LET_THROUGH_WHOLE,
    activated: 0,
    dropped: 0,
    isIdle: false,
    parent: null,
    enabledWithoutParent: 0,
    sequence: 0,
    lastSequence: 0,
    timestampNs: terms.creationNs,
    lastUpdateNs: now,
    confirmed: { quantity: 0, notional: 0n, fees: 0n },
    pending: { quantity: 0, notional: 0n, fees: 0n },
    pendingFills: 0,
    wasRolledBack: false,
    isSpent: false,
    isCovered: false,
    end: 0,
    faultReason: 0,
    isTold: false,
    isInTail: false,
    requests: 0,
    replaces: NO_REPLACES,
    ties: NO_TIES,
    spend: ZERO_18,
    pageWord: NOT_LISTED,
  };
}

/** The optimistic filled quantity: pending and confirmed (ORD-23). */
export function filledOf(order: LiveOrder): number {
  return order.pending.quantity + order.confirmed.quantity;
}

export function isSpot({ flags }: Pick<OrderTerms, 'flags'>): boolean {
  return (flags & ORDER_FLAG.isSpot) !== 0;
}

export function isReduceOnly({ flags }: Pick<OrderTerms, 'flags'>): boolean {
  return (flags & ORDER_FLAG.reduceOnly) !== 0;
}

export function isChild(order: Pick<LiveOrder, 'terms'>): boolean {
  return order.terms.parentId !== '';
}

/** Whether a child is in force whole: it is an order like any other from then on, and a replace may ask for more. */
export function isOfAge({ activated, quantity }: LiveOrder): boolean {
  return activated > 0 && activated >= quantity;
}

/** Lots of a child that its parent's confirmed fills have activated; of every other order its quantity (AMB-29). */
export function enabledOf(order: LiveOrder): number {
  if (!isChild(order) || isOfAge(order)) return order.quantity;
  return Math.min(order.quantity, order.parent?.confirmed.quantity ?? order.enabledWithoutParent);
}

export function neverRests({ terms }: Pick<LiveOrder, 'terms'>): boolean {
  return terms.tif === TIF.ioc || terms.tif === TIF.fok;
}

/** All of it was let through, and with it what a replace adds; a child of which more is to come is not (AMB-29). */
export function isWhole(order: Pick<LiveOrder, 'letThrough' | 'quantity'>): boolean {
  return order.letThrough > 0 && order.letThrough >= order.quantity;
}

/** Whether `filled` lots are all of a quantity; an order without one is never full. */
export function isFull(quantity: number, filled: number): boolean {
  return quantity > 0 && filled >= quantity;
}

/** Nothing of it lives and nothing about it is undecided. */
export function isFinished(order: LiveOrder): boolean {
  return (
    order.isTold && order.pendingFills === 0 && (order.end !== 0 || isFull(order.quantity, order.confirmed.quantity))
  );
}

/** A replace that tied the order was answered: one that was refused ties nothing, and each connection ties it once. */
export function settleTie(order: LiveOrder, tie: Tie, isReplaced: boolean): void {
  const others = order.ties.filter((other) => other !== tie);
  if (isReplaced && others.every(({ lifeline }) => lifeline !== tie.lifeline)) return;
  order.ties = others;
  tie.loosen();
}
