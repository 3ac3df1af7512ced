/**
 * A market that sends any event that the rules allow, at once and in no particular order of price or time, around a
 * real order manager. It keeps its own plain account of what every order may still spend, so that holds can be compared
 * with it after every word.
 *
 * Not here: order of the two rings, requests on their way (plain-exchange.ts).
 */

import { notional18, quantity18, tradingFee18 } from '../../src/core/arithmetic.ts';
import { type AssetId, USD, type UserId } from '../../src/core/ids.ts';
import { ORDER_END, type OrderEnd, SIDE, type Side, TIF } from '../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../src/core/reject.ts';
import { ONE_18, type RawPrice, type RawQuantity } from '../../src/core/units.ts';
import type { ReleaseEvent } from '../../src/gateway/orders/book/order-events.ts';
import { moveOf, PlainBalances, pickOf } from './imitation-market.ts';
import { ALICE, BOB } from './names.ts';
import { BASE, MARKET, mustPass, NOW, OrderFixture, type OrderWish, replaceRequest } from './order-fixture.ts';

export const USERS: readonly UserId[] = [ALICE, BOB];
export const ASSETS: readonly AssetId[] = [USD, BASE];
const CALLER = { now: NOW, looksUp: false };
const QUOTE_UNIT = 10n ** 14n;

export interface LooseOrder {
  readonly sequence: number;
  readonly user: UserId;
  readonly id: string;
  readonly side: Side;
  readonly kind: 'limit' | 'base' | 'quote';
  readonly neverRests: boolean;
  readonly amount: number;
  readonly parent: LooseOrder | null;
  readonly hasTrigger: boolean;
  price: number;
  quantity: number;
  /** Quote of a buy, lots of a sell, where the order has no bound of its own. */
  bound: number;
  /** `told`: released by the gateway, not yet activated. */
  state: 'dormant' | 'told' | 'live';
  /** Lots that the gateway released; Infinity for all. */
  through: number;
  /** Lots that the market has published as in force; Infinity for all. */
  activated: number;
  /** Of a child that never rests: lots that found no match, and whether what was let through is done. */
  dropped: number;
  isIdle: boolean;
  filled: number;
  notional: bigint;
  confirmed: number;
  undecided: number;
  /** Nothing of it may be matched any more. */
  isOver: boolean;
  isCovered: boolean;
  isEnded: boolean;
}

interface LooseTrade {
  readonly id: number;
  readonly maker: LooseOrder;
  readonly taker: LooseOrder;
  readonly price: number;
  readonly quantity: number;
}

export class LooseMarket {
  readonly fixture: OrderFixture = new OrderFixture();
  readonly orders: LooseOrder[] = [];
  readonly balances: PlainBalances = new PlainBalances(BASE);
  /** The answers of the gateway about triggers. */
  readonly answers: ReleaseEvent[] = [];
  /** Looks between two words of one step. */
  look: () => void = () => undefined;
  #trades: LooseTrade[] = [];
  #ids = 0;
  /** A part of a child that never rests: only its own matches may come before any other event. */
  #entering: LooseOrder | null = null;

  constructor() {
    for (const user of USERS) {
      this.balances.set(user, USD, 100_000n * ONE_18);
      this.balances.set(user, BASE, 50n * ONE_18);
      for (const asset of ASSETS) this.fixture.setOwned(user, asset, this.ownedBy(user, asset));
    }
  }

  // ---- clients

  create(pick: number): void {
    this.#ids += 1;
    const user = USERS[pick % 2] ?? ALICE;
    const side: Side = (pick >> 1) % 2 === 0 ? SIDE.buy : SIDE.sell;
    const id = `o${this.#ids}`;
    const quantity = 10 + ((pick >> 4) % 200) * 50;
    const cap = (pick >> 9) % 2 === 0 ? { cap: 1 + ((pick >> 10) % 900) * 10_000 } : {};
    const kind = (['limit', 'limit', 'base', 'quote'] as const)[(pick >> 2) % 4] ?? 'limit';
    const parent = kind !== 'quote' && pick % 3 > 0 ? this.#parentFor(user, side, pick >> 3) : null;
    const trigger = parent !== null || pick % 5 === 0 ? { above: 200_000 } : {};
    const wish: OrderWish = {
      user,
      id,
      side,
      price: 190_000 + ((pick >> 6) % 5) * 5_000,
      quantity,
      tif: pick % 7 === 0 ? TIF.ioc : TIF.gtc,
      ...(parent === null ? {} : { parent: parent.id }),
      ...trigger,
      ...(kind === 'base' ? { market: { base: quantity, ...(side === SIDE.buy ? cap : {}) } } : {}),
      ...(kind === 'quote' ? { market: { quote: 1 + (pick % 900) * 10_000, ...(side === SIDE.sell ? cap : {}) } } : {}),
    };
    const reserved = this.fixture.reserve(wish);
    if (!reserved.ok) return;
    const { requestId, budget } = reserved.value;
    if (pick % 11 === 0) {
      this.fixture.answer(requestId, 0, REJECT_CODE.ALREADY_CANCELLED);
      return;
    }
    this.#speak();
    const sequence = this.fixture.admit(requestId);
    this.fixture.answer(requestId, sequence);
    this.orders.push(looseOrder(wish, { sequence, kind, parent, budget }));
  }

  #parentFor(user: UserId, side: Side, pick: number): LooseOrder | null {
    const fit = this.orders.filter(
      (order) =>
        order.user === user &&
        order.side !== side &&
        order.kind === 'limit' &&
        !order.neverRests &&
        !order.hasTrigger &&
        remaining(order) > 0,
    );
    const filling = fit.filter(({ filled }) => filled > 0);
    return (pick % 2 === 0 ? filling : fit)[pick % Math.max(1, pick % 2 === 0 ? filling.length : fit.length)] ?? null;
  }

  /** A replace that is on its way for a moment, then applied or refused. @param look looks in between. */
  replace(pick: number, look: (replaced: { order: LooseOrder; price: number; quantity: number }) => void): void {
    const order = this.#pick(
      pick,
      (one) => one.kind === 'limit' && !one.neverRests && !isPart(one) && remaining(one) > 0,
    );
    if (order === undefined) return;
    const { user, id } = order;
    const [price, quantity] = [190_000 + ((pick >> 6) % 5) * 5_000, order.filled + 10 + ((pick >> 4) % 200) * 50];
    const members = { newPriceLimit: price as RawPrice, newQuantity: quantity as RawQuantity };
    const request = replaceRequest({ user, orderId: id as never, ...members });
    const { manager } = this.fixture;
    const reserved = manager.requests.reserveReplace(
      mustPass(manager.requests.checkReplace(request, { user, ...CALLER })),
    );
    if (!reserved.ok) return;
    look({ order, price, quantity });
    const isRefused = pick % 5 === 0;
    if (!isRefused) {
      this.#speak();
      this.fixture.replaced(order.sequence, price, quantity);
      if (order.activated >= order.quantity) order.through = Math.max(order.through, quantity);
      if (order.activated >= order.quantity) order.activated = Math.max(order.activated, quantity);
      order.price = price;
      order.quantity = quantity;
    }
    this.fixture.answer(reserved.value, isRefused ? 0 : 1, isRefused ? REJECT_CODE.REQUEST_TOO_OLD : 0);
  }

  /** Cancels one order; or all of a user's. */
  cancel(pick: number): void {
    const isPending = (one: LooseOrder): boolean => !one.isEnded && remaining(one) <= 0 && one.undecided > 0;
    const prefersPending = pick % 2 === 0 && this.orders.some(isPending);
    const order = this.#pick(pick >> 1, (one) =>
      prefersPending ? isPending(one) : !one.isEnded && remaining(one) > 0,
    );
    if (order !== undefined) this.#cancelOne(order);
  }

  cancelAll(pick: number): void {
    const user = USERS[pick % 2] ?? ALICE;
    const [market] = mustPass(this.fixture.manager.requests.checkCancelAll({ user, assetId: null }));
    if (market === undefined) return;
    const requestId = mustPass(this.fixture.manager.requests.reserveCancelAll());
    for (const order of this.orders) if (order.user === user && !order.isEnded) this.#cancelOne(order);
    this.fixture.answer(requestId, 1);
  }

  #cancelOne(order: LooseOrder): void {
    if (order.isCovered) return;
    if (remaining(order) > 0 || order.state !== 'live' || isPart(order)) this.#end(order, ORDER_END.userRequested);
    else if (order.undecided > 0 && order.kind === 'limit') {
      order.isCovered = true;
      order.isOver = true;
      this.#speak();
      this.fixture.cover(order.sequence);
    }
  }

  // ---- the market

  match(pick: number): void {
    const hasTaker = this.orders.some((order) => order.neverRests && matchable(order) > 0);
    const taker = this.#pick(pick, (order) => matchable(order) > 0 && (order.neverRests || !hasTaker));
    if (taker === undefined) return;
    const maker = this.#pick(pick >> 3, (order) => {
      const [buy, sell] = order.side === SIDE.buy ? [order, taker] : [taker, order];
      const rests = order.kind === 'limit' && !order.neverRests && matchable(order) > 0;
      return (
        rests &&
        order.side !== taker.side &&
        order !== taker &&
        (sell.kind !== 'limit' || buy.kind !== 'limit' || buy.price >= sell.price)
      );
    });
    if (maker === undefined) return;
    const { price } = maker;
    const lots = Math.min(matchable(maker), matchable(taker), affordable(maker, price), affordable(taker, price));
    if (lots < 1) return;
    const quantity = pick % 2 === 0 ? lots : 1 + (pick % lots);
    this.#speak(taker);
    const id = this.fixture.match(maker.sequence, taker.sequence, price, quantity, taker.side);
    this.#trades.push({ id, maker, taker, price, quantity });
    for (const order of [maker, taker]) {
      order.filled += quantity;
      order.notional += notional18(price as RawPrice, quantity as RawQuantity, MARKET);
      order.undecided += 1;
      if (order.neverRests && order.quantity > 0 && order.filled >= order.quantity) order.isOver = true;
    }
  }

  /** What never rests ends by itself: out of book, or with its target or cap met. */
  endOne(pick: number): void {
    const order = this.#pick(pick, (one) => !one.isEnded && one.neverRests && one.state === 'live' && !one.isOver);
    if (order === undefined) return;
    const isMet = order.kind !== 'limit' && order.filled > 0 && pick % 2 === 0;
    this.#end(order, isMet ? ORDER_END.filled : ORDER_END.immediateOrCancel);
  }

  /** A condition fires, a child's parent has filled more, or what the gateway released is activated. */
  fire(pick: number): void {
    const order = this.#pick(pick, (one) => one.hasTrigger && !one.isEnded && !one.isCovered);
    if (order === undefined) return;
    if (order.state === 'told') {
      this.#activate(order);
      return;
    }
    const quantity = order.parent === null ? order.quantity : Math.min(order.quantity, order.parent.confirmed);
    const isMore = order.parent === null ? order.state === 'dormant' : quantity > order.through;
    if (!isMore && !(order.state === 'dormant' && pick % 2 === 0)) return;
    this.#speak();
    this.fixture.trigger(order.sequence, quantity);
    if (pick % 4 > 0) this.fixture.decide();
  }

  #activate(order: LooseOrder): void {
    this.#speak();
    order.state = 'live';
    order.activated = order.through;
    this.fixture.activate(order.sequence, order.parent === null ? order.quantity : order.through);
    if (order.neverRests && isPart(order)) this.#entering = order;
  }

  /** There is an event that is no match of `taker`. */
  #speak(taker: LooseOrder | null = null): void {
    if (this.#entering === null || this.#entering === taker) return;
    this.#entering.isIdle = true;
    this.#entering = null;
  }

  /** Records the answers of the gateway, before the next check. */
  hear(): void {
    const words = this.fixture.sink.releases.splice(0);
    this.answers.push(...words);
    for (const word of words) {
      const order = this.orders.find(({ sequence }) => sequence === word.order);
      if (order !== undefined && !order.isEnded) this.#released(order, word);
    }
  }

  #released(order: LooseOrder, word: ReleaseEvent): void {
    if (word.end !== 0) {
      this.#end(order, word.end);
      return;
    }
    if (order.isIdle) order.dropped = order.through - order.filled;
    order.isIdle = false;
    order.through = order.parent === null ? Number.POSITIVE_INFINITY : Math.max(order.through, word.quantity);
    if (word.budget > 0) order.bound = word.budget + spentSoFar(order);
    order.state = 'told';
  }

  #end(order: LooseOrder, end: OrderEnd, fault: 0 | 2 = 0): void {
    this.#speak();
    order.isEnded = true;
    order.isOver = true;
    this.fixture.end(order.sequence, end, fault);
  }

  // ---- clearing

  /** Decides one fill: confirmed if both can pay and the pick allows it, else rolled back with one side at fault. */
  decide(pick: number): void {
    const trade = this.#trades[pick % Math.max(1, this.#trades.length)];
    if (trade === undefined) return;
    this.#trades = this.#trades.filter((other) => other !== trade);
    const sides = [
      { order: trade.maker, rate: MARKET.makerFeeRate },
      { order: trade.taker, rate: MARKET.takerFeeRate },
    ];
    const undo = this.balances.mark();
    for (const { order, rate } of sides) {
      this.balances.move(order.user, moveOf(trade, order.side, rate, MARKET));
      order.undecided -= 1;
    }
    if (pick % 3 > 0 && [...this.balances.owned.values()].every((owned) => owned >= 0n)) {
      for (const { order } of sides) order.confirmed += trade.quantity;
      this.fixture.confirm(trade.id);
      for (const user of USERS)
        for (const asset of ASSETS) this.fixture.setOwned(user, asset, this.ownedBy(user, asset));
      return;
    }
    undo();
    const notional = notional18(trade.price as RawPrice, trade.quantity as RawQuantity, MARKET);
    const isMakerAtFault = pick % 2 === 0;
    for (const { order } of sides) {
      order.filled -= trade.quantity;
      order.notional -= notional;
      if ((order === trade.maker) === isMakerAtFault) order.isOver = true;
    }
    this.fixture.rollBack(trade.id, isMakerAtFault ? 2 : 10, isMakerAtFault ? 10 : 2);
    this.look();
    for (const { order } of sides) this.#afterRollback(order, (order === trade.maker) === isMakerAtFault);
  }

  #afterRollback(order: LooseOrder, isAtFault: boolean): void {
    if (order.isEnded) return;
    if (isAtFault) this.#end(order, ORDER_END.atFault, 2);
    else if (order.isCovered) this.#end(order, ORDER_END.userRequested);
    else if (order.neverRests && order.isOver) this.#end(order, ORDER_END.rolledBack);
  }

  /** Every fill is decided, every order over. */
  finish(): void {
    for (const order of this.orders) {
      const isFilled = order.quantity > 0 && order.filled >= order.quantity && order.kind !== 'quote';
      if (!order.isEnded && !order.isCovered && !isFilled) this.#end(order, ORDER_END.expired);
    }
    while (this.#trades.length > 0) this.decide(1);
    for (const order of this.orders) {
      if (!order.isEnded && order.confirmed < order.quantity) this.#end(order, ORDER_END.expired);
    }
  }

  // ---- plain accounts

  /** What fills that are undecided will take from a balance. */
  pendingOf(user: UserId, asset: AssetId): bigint {
    let pending = 0n;
    for (const trade of this.#trades) {
      for (const [order, rate] of [
        [trade.maker, MARKET.makerFeeRate],
        [trade.taker, MARKET.takerFeeRate],
      ] as const) {
        if (order.user !== user || (order.side === SIDE.buy) !== (asset === USD)) continue;
        const { base, quote } = moveOf(trade, order.side, rate, MARKET);
        pending -= order.side === SIDE.buy ? quote : base;
      }
    }
    return pending;
  }

  ownedBy(user: UserId, asset: AssetId): bigint {
    return this.balances.of(user, asset);
  }

  #pick(pick: number, fits: (order: LooseOrder) => boolean): LooseOrder | undefined {
    return pickOf(this.orders, pick, fits);
  }
}

interface Admission {
  readonly sequence: number;
  readonly kind: LooseOrder['kind'];
  readonly parent: LooseOrder | null;
  readonly budget: number;
}

function looseOrder(wish: OrderWish, { sequence, kind, parent, budget }: Admission): LooseOrder {
  const { user = ALICE, id = '', side = SIDE.buy, market, price = 0, quantity = 0, tif } = wish;
  const hasTrigger = wish.above !== undefined;
  const isQuote = market !== undefined && 'quote' in market;
  return {
    sequence,
    user,
    id,
    side,
    kind,
    neverRests: kind !== 'limit' || tif === TIF.ioc,
    amount: isQuote ? market.quote : kind === 'base' ? (market?.cap ?? 0) : 0,
    parent,
    hasTrigger,
    price,
    quantity: isQuote ? (market.cap ?? 0) : quantity,
    bound: budget,
    state: hasTrigger ? 'dormant' : 'live',
    through: hasTrigger ? 0 : Number.POSITIVE_INFINITY,
    activated: hasTrigger ? 0 : Number.POSITIVE_INFINITY,
    dropped: 0,
    isIdle: false,
    filled: 0,
    notional: 0n,
    confirmed: 0,
    undecided: 0,
    isOver: false,
    isCovered: false,
    isEnded: false,
  };
}

/** A child of which more may come. */
function isPart(order: LooseOrder): boolean {
  return order.parent !== null && order.through < order.quantity;
}

/** Lots that are still to be matched, released or not; of an order without a quantity, any. */
function remaining(order: LooseOrder): number {
  if (order.isOver || order.isEnded) return 0;
  return order.quantity === 0 ? Number.MAX_SAFE_INTEGER : order.quantity - order.filled;
}

/** Lots that are in force. */
function matchable(order: LooseOrder): number {
  if (order.isOver || order.isIdle || (order.neverRests && order.state !== 'live')) return 0;
  const most = order.quantity === 0 ? Number.MAX_SAFE_INTEGER : order.quantity;
  return Math.max(0, Math.min(most, order.activated) - order.dropped - order.filled);
}

/** Lots that the money of a market buy, or the bound of a market sell, allows at a price. */
function affordable(order: LooseOrder, price: number): number {
  if (order.kind === 'limit' || (order.side === SIDE.sell && order.bound === 0)) return Number.MAX_SAFE_INTEGER;
  if (order.side === SIDE.sell) return order.bound - order.filled;
  const left = BigInt(order.amount === 0 ? order.bound : order.amount) * QUOTE_UNIT - order.notional;
  return Number(left / notional18(price as RawPrice, 1 as RawQuantity, MARKET));
}

/** What is spent of a bound: lots of a sell, of a buy what it cost in whole quote units, begun ones included. */
function spentSoFar(order: LooseOrder): number {
  if (order.side === SIDE.sell) return order.filled;
  return Number((order.notional + QUOTE_UNIT - 1n) / QUOTE_UNIT);
}

/** What the order may still take from its balance, by its kind alone. */
export function plainNeed(order: LooseOrder, price: number = order.price, total: number = order.quantity): bigint {
  if (order.isOver || order.isIdle || order.through === 0) return 0n;
  const inForce = Math.min(total, order.through >= order.quantity ? Number.POSITIVE_INFINITY : order.through);
  const lots = Math.max(0, inForce - order.dropped - order.filled);
  if (order.side === SIDE.sell) {
    const left = total === 0 ? Math.max(0, order.bound - order.filled) : lots;
    return quantity18(left as RawQuantity, MARKET.quantityDecimals);
  }
  if (order.kind === 'base' && lots === 0) return 0n;
  const limit = order.kind === 'limit' ? notional18(price as RawPrice, lots as RawQuantity, MARKET) : null;
  const money = BigInt(order.amount === 0 ? order.bound : order.amount) * QUOTE_UNIT - order.notional;
  const notional = limit ?? (money > 0n ? money : 0n);
  return notional + tradingFee18(notional as never, MARKET.takerFeeRate);
}
