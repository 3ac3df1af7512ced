/**
 * Orders of the reference book, and how many lots one gets. Everything is computed anew at each call.
 *
 *   dormant    waits for a price
 *   fired      the price came; waits for its release, or, as a child, for more of its parent's fills
 *   placing    on its way into the book, within one command
 *   resting    on the book
 *   filled     nothing left; a rollback may bring it back. cancelPending: it may not
 *   ended      its end was published
 */
import {
  ORDER_END,
  ORDER_FLAG,
  ORDER_KIND,
  type OrderEnd,
  type OrderKind,
  type RollbackReason,
  SIDE,
  type Side,
  TIF,
  type Tif,
  type TriggerKind,
} from '../../src/core/order-terms.ts';
import type { Terms } from './market-recorder.ts';
import type { ReferenceGroup } from './reference-protection.ts';
import type { ReferenceQuoteSet } from './reference-quotes.ts';

export interface ReferenceOrder {
  readonly user: string;
  readonly orderId: string;
  readonly subAccount: number;
  readonly sequence: number;
  priority: number;
  readonly side: Side;
  readonly kind: OrderKind;
  tif: Tif;
  readonly flags: number;
  price: number;
  /** The total; 0 where it is sized in quote without a cap. */
  quantity: bigint;
  readonly amount: bigint;
  budget: bigint;
  /** What was filled and spent when the budget was set: it bounds what comes after. */
  budgetFrom: { readonly filled: bigint; readonly spent: bigint };
  /** Lots and money of fills that were not rolled back, and of those that were confirmed. */
  filled: bigint;
  spent: bigint;
  confirmed: bigint;
  paid: bigint;
  /** Lots in force altogether: all of them, unless a trigger keeps them back. */
  activated: bigint;
  triggerKind: TriggerKind;
  triggerPrice: number;
  /** Of a child, until its parent is over. */
  parent: ReferenceOrder | null;
  /** The group that protects it, for ever; null for none. */
  group: ReferenceGroup | null;
  /** Sequence at which it became a member. */
  joinedAt: number;
  /** The quote set of which it is an entry. */
  set: ReferenceQuoteSet | null;
  /** Its set has gone on without it: it never rests again. */
  isOut: boolean;
  creationNs: bigint;
  timestampNs: bigint;
  /** Of the last replace or amend; null before. */
  revisionNs: bigint | null;
  expiryNs: bigint;
  /** Why it was at fault in a fill that was taken back while it stayed filled; 0 when it was not. */
  fault: RollbackReason;
  state: 'dormant' | 'fired' | 'placing' | 'resting' | 'filled' | 'cancelPending' | 'ended';
  end: OrderEnd | 0;
  /** The end that a pending cancel gives it when it is short. */
  cancelEnd: OrderEnd;
  /** What `triggered` said last, or null when that is void. */
  told: bigint | null;
  /** The sequence of that; 0 for what was restored. */
  publishedAt: number;
  /** It was published at least once: then clearing has it as fired. */
  wasTold: boolean;
  isAnswerPending: boolean;
  /** Released, but not placed yet. */
  granted: bigint | null;
  grantedBudget: bigint;
  grantedBound: number;
}

export interface ReferenceTrade {
  readonly tradeId: number;
  readonly price: number;
  readonly quantity: bigint;
  readonly maker: ReferenceOrder;
  readonly taker: ReferenceOrder;
  /** The orders for which it is not decided. */
  legs: ReferenceOrder[];
}

export function orderOf(
  terms: Terms,
  sequence: number,
  parent: ReferenceOrder | null,
  group: ReferenceGroup | null,
): ReferenceOrder {
  const waits = terms.triggerKind !== 0;
  return {
    user: terms.user,
    orderId: terms.orderId,
    subAccount: terms.subAccount,
    sequence,
    priority: sequence,
    side: terms.side,
    kind: terms.kind,
    tif: terms.tif,
    flags: terms.flags,
    price: terms.price,
    quantity: BigInt(terms.quantity),
    amount: BigInt(terms.amount),
    budget: BigInt(terms.budget),
    budgetFrom: { filled: 0n, spent: 0n },
    filled: 0n,
    spent: 0n,
    confirmed: 0n,
    paid: 0n,
    activated: waits ? 0n : BigInt(terms.quantity),
    triggerKind: terms.triggerKind,
    triggerPrice: terms.triggerPrice,
    parent,
    group,
    joinedAt: sequence,
    set: null,
    isOut: false,
    creationNs: terms.creationNs,
    timestampNs: terms.creationNs,
    revisionNs: null,
    expiryNs: terms.expiryNs,
    state: waits ? 'dormant' : 'placing',
    end: 0,
    cancelEnd: ORDER_END.userRequested,
    told: null,
    publishedAt: 0,
    wasTold: false,
    fault: 0,
    isAnswerPending: false,
    granted: null,
    grantedBudget: 0n,
    grantedBound: 0,
  };
}

/** It may rest: a limit order, good till cancelled or till a date. */
export function canRest({ kind, tif }: { kind: OrderKind; tif: Tif }): boolean {
  return kind === ORDER_KIND.limit && (tif === TIF.gtc || tif === TIF.gtd);
}

export function isPostOnly({ flags }: { flags: number }): boolean {
  return (flags & ORDER_FLAG.postOnly) !== 0;
}

export function isAlive({ state }: ReferenceOrder): boolean {
  return state === 'dormant' || state === 'fired' || state === 'placing' || state === 'resting';
}

/** Sized in quote and without a base cap: it has no quantity. */
export function isUnsized({ kind, quantity }: ReferenceOrder): boolean {
  return kind === ORDER_KIND.marketQuote && quantity === 0n;
}

/** In force and not filled. */
export function left({ activated, filled }: ReferenceOrder): bigint {
  return activated > filled ? activated - filled : 0n;
}

/** An order of which nothing is left to match activates no more than its fills. */
export function mayActivate(parent: ReferenceOrder, quantity: bigint): boolean {
  return parent.state === 'resting' || (parent.state !== 'ended' && quantity <= parent.filled);
}

/** What its parent's confirmed fills activate (AMB-29). */
export function enabled({ parent, quantity }: ReferenceOrder): bigint {
  return parent === null || parent.confirmed > quantity ? quantity : parent.confirmed;
}

export function isSameOwner(a: ReferenceOrder, b: ReferenceOrder): boolean {
  return a.user === b.user && a.subAccount === b.subAccount;
}

/** Why a walk through the makers ended: what was reached, or that the book was at its end. */
export type Reached = 'money' | 'quantity' | 'budget' | 'book';

export function least(values: readonly bigint[]): bigint {
  return [...values].sort((a, b) => (a < b ? -1 : 1))[0] as bigint;
}

export interface Size {
  readonly lots: bigint;
  readonly reached: Reached;
}

/** What a walk reads: lots wanted at most (null: any), and the money of one quote unit in price × lots. */
export interface Walk {
  readonly wanted: bigint | null;
  readonly unit: bigint;
}

/** How many lots the order gets from these makers, best first (AMB-05, AMB-37, AMB-39). */
export function sizeOf(order: ReferenceOrder, makers: readonly ReferenceOrder[], walk: Walk): Size {
  let lots = 0n;
  let money = 0n;
  for (const maker of makers) {
    const price = BigInt(maker.price);
    let offered = left(maker);
    while (offered > 0n) {
      const reached = reachedAt(order, price, walk, { lots, money });
      if (reached !== null) return { lots, reached };
      const allowed = allowedAt(order, price, walk, { lots, money });
      const taken = least([allowed, offered]);
      lots += taken;
      money += taken * price;
      offered -= taken;
    }
  }
  const atNoPrice = reachedAt(order, 0n, walk, { lots, money });
  return { lots, reached: atNoPrice === 'budget' || atNoPrice === null ? 'book' : atNoPrice };
}

interface Taken {
  readonly lots: bigint;
  readonly money: bigint;
}

/** Why the order takes nothing more at this price, or null. */
function reachedAt(order: ReferenceOrder, price: bigint, walk: Walk, taken: Taken): Reached | null {
  const target = order.amount === 0n ? null : order.amount * walk.unit - order.spent - taken.money;
  if (target === 0n) return 'money';
  if (taken.lots === walk.wanted) return 'quantity';
  if (target !== null && target < price) return 'money';
  return allowedAt(order, price, walk, taken) > 0n ? null : 'budget';
}

/** Lots that quantity, money and budget still allow at this price. */
export function allowedAt(order: ReferenceOrder, price: bigint, walk: Walk, taken: Taken): bigint {
  const { amount, budget, budgetFrom, spent, filled, side } = order;
  const limits: bigint[] = [];
  const perLot = price > 0n ? price : 1n;
  if (walk.wanted !== null) limits.push(walk.wanted - taken.lots);
  if (amount > 0n) limits.push((amount * walk.unit - spent - taken.money) / perLot);
  if (budget > 0n && side === SIDE.buy)
    limits.push((budget * walk.unit - (spent - budgetFrom.spent) - taken.money) / perLot);
  if (budget > 0n && side === SIDE.sell) limits.push(budget - (filled - budgetFrom.filled) - taken.lots);
  return least(limits);
}
