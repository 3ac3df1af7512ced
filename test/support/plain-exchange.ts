/**
 * A market and a clearing engine in plain arrays, around a real order manager, for properties: what each of them says
 * lies in its own queue, and the front door hears the two in any interleaving.
 *
 * The market keeps the rules that the front door relies on (who ends an order, when, AMB-19, AMB-23, AMB-32), not price
 * priority: a new order matches whoever crosses. After a rollback a crossed book is uncrossed, best prices first. Clearing decides fills in market sequence and confirms only what is funded.
 */
import assert from 'node:assert/strict';
import { notional18, quantity18, tradingFee18 } from '../../src/core/arithmetic.ts';
import { type AssetId, USD, type UserId } from '../../src/core/ids.ts';
import {
  ORDER_END,
  type OrderEnd,
  type RollbackReason,
  SIDE,
  type Side,
  TIF,
  type Tif,
  TRIGGER,
} from '../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../src/core/reject.ts';
import { type Amount18, ONE_18, type RawPrice, type RawQuantity } from '../../src/core/units.ts';
import type { HistorySnapshot, OrderHistory } from '../../src/gateway/orders/order-history.ts';
import { OrderManager } from '../../src/gateway/orders/order-manager.ts';
import {
  ALICE,
  BASE,
  BOB,
  cancelRequest,
  codeOf,
  createRequest,
  MARKET,
  mustPass,
  NOW,
  RecordingSink,
  replaceRequest,
} from './order-desk.ts';
import { tablesOf } from './plain-tables.ts';

export const USERS: readonly UserId[] = [ALICE, BOB];
const CALLER_LOOKS_UP = false;

export interface PlainOrder {
  readonly sequence: number;
  readonly user: UserId;
  readonly id: string;
  readonly side: Side;
  readonly tif: Tif;
  readonly postOnly: boolean;
  /** The smaller one came first. */
  priority: number;
  price: number;
  quantity: number;
  /** What the market counts as filled. */
  filled: number;
  undecided: number;
  end: OrderEnd | 0;
  isCovered: boolean;
  lastSequence: number;
  /** Clearing's figures. */
  confirmed: number;
  notional: bigint;
  fees: bigint;
}

export interface PlainTrade {
  readonly id: number;
  readonly sequence: number;
  readonly maker: PlainOrder;
  readonly taker: PlainOrder;
  readonly price: number;
  readonly quantity: number;
}

interface Wish {
  readonly kind: 'create' | 'replace' | 'cancel' | 'cancelAll';
  readonly requestId: number;
  readonly user: UserId;
  readonly id: string;
  readonly side: Side;
  readonly tif: Tif;
  readonly postOnly: boolean;
  readonly price: number;
  readonly quantity: number;
}

/** A market sequence that clearing has yet to pass; a fill among them is decided. */
interface Undecided {
  readonly sequence: number;
  readonly trade: PlainTrade | null;
}

interface Verdict {
  readonly trade: PlainTrade;
  /** Null: confirmed. */
  readonly reasons: { readonly maker: RollbackReason; readonly taker: RollbackReason } | null;
}

const AT = { marketIndex: 3, timeNs: NOW };

export class PlainExchange {
  readonly sink: RecordingSink = new RecordingSink();
  readonly history: OrderHistory = { read: (reader) => reader(this.#tables) };
  readonly manager: OrderManager = new OrderManager({
    sink: this.sink,
    history: this.history,
  });
  readonly orders: PlainOrder[] = [];
  readonly confirmedTrades: PlainTrade[] = [];
  readonly owned: Map<string, bigint> = new Map();
  /** What the front door has yet to hear. */
  readonly fromMarket: (() => void)[] = [];
  readonly fromClearing: (() => void)[] = [];
  readonly toMarket: Wish[] = [];
  readonly verdicts: Verdict[] = [];
  readonly undecided: Undecided[] = [];
  /** The sub-account in which a user trades. */
  readonly accountOf: (user: UserId) => number;
  readonly #trades: PlainTrade[] = [];
  readonly #ids = new Set<string>();
  #wishes = 0;
  #sequence = 0;
  #decided = 0;
  #journal = 0;
  #checkpoint = 0;
  #tables: HistorySnapshot = tablesOf([], [], 0, 0);

  constructor(accountOf: (user: UserId) => number = () => 0) {
    this.accountOf = accountOf;
    this.manager.restoreMarket(MARKET, 0);
    for (const user of USERS) {
      this.#setOwned(user, USD, 10_000n * ONE_18);
      this.#setOwned(user, BASE, 5n * ONE_18);
      for (const asset of [USD, BASE]) this.#tellBalance(user, asset);
    }
    this.hearAll();
  }

  // ---- clients. `pick` chooses; any safe integer will do.

  create(pick: number): void {
    this.#wishes += 1;
    const user = USERS[pick % 2] ?? ALICE;
    const wish = {
      user,
      id:
        pick % 13 === 0 && this.orders.length > 0
          ? (this.orders[pick % this.orders.length]?.id ?? '')
          : `o${this.#wishes}`,
      side: (pick >> 1) % 2 === 0 ? SIDE.buy : SIDE.sell,
      price: 190_000 + ((pick >> 2) % 5) * 5_000,
      quantity: 10 + ((pick >> 4) % 200) * 100,
      tif: (pick >> 5) % 3 === 0 ? TIF.ioc : TIF.gtc,
      postOnly: (pick >> 5) % 3 === 1,
    };
    const checked = this.manager.requests.checkCreate(createRequest(wish, { account: this.accountOf(user) }), {
      user,
      now: NOW,
      looksUp: CALLER_LOOKS_UP,
    });
    const reserved = this.manager.requests.reserveCreate(mustPass(checked), NOW);
    if (!reserved.ok) {
      assert.ok(['INSUFFICIENT_INVENTORY', 'DUPLICATE_ORDER'].includes(codeOf(reserved)));
      return;
    }
    const spent = wish.side === SIDE.buy ? USD : BASE;
    assert.ok(
      this.manager.funds({ user, subAccount: this.accountOf(user), asset: spent }).available >= 0n,
      'let through only what is available',
    );
    this.toMarket.push({ ...wish, kind: 'create', requestId: reserved.value.requestId });
  }

  change(pick: number): void {
    const order = this.orders[pick % Math.max(1, this.orders.length)];
    if (order === undefined) return;
    const { user, id, side, tif } = order;
    const caller = { user, now: NOW, looksUp: CALLER_LOOKS_UP };
    const wish = { user, id, side, tif, postOnly: false };
    if (pick % 3 === 0) {
      const requestId = mustPass(
        this.manager.requests.reserveCancel(
          mustPass(this.manager.requests.checkCancel(cancelRequest(id, user), caller)),
        ),
      );
      this.toMarket.push({ ...wish, kind: 'cancel', requestId, price: 0, quantity: 0 });
      return;
    }
    const price = (190_000 + ((pick >> 2) % 5) * 5_000) as RawPrice;
    const quantity = (10 + ((pick >> 4) % 200) * 100) as RawQuantity;
    const request = replaceRequest({ user, orderId: id as never, newPriceLimit: price, newQuantity: quantity });
    const reserved = this.manager.requests.reserveReplace(
      mustPass(this.manager.requests.checkReplace(request, caller)),
    );
    if (reserved.ok) this.toMarket.push({ ...wish, kind: 'replace', requestId: reserved.value, price, quantity });
  }

  cancelAll(pick: number): void {
    const user = USERS[pick % 2] ?? ALICE;
    const nothing = { user, id: '', side: SIDE.buy, tif: TIF.gtc, postOnly: false, price: 0, quantity: 0 };
    // There is one market.
    if (mustPass(this.manager.requests.checkCancelAll({ user, assetId: null })).length === 0) return;
    const requestId = mustPass(this.manager.requests.reserveCancelAll());
    this.toMarket.push({ ...nothing, kind: 'cancelAll', requestId });
  }

  // ---- the market

  market(pick: number): void {
    const verdict = pick % 2 === 0 ? this.verdicts.shift() : undefined;
    if (verdict !== undefined) {
      this.#applyVerdict(verdict);
      return;
    }
    const wish = this.toMarket.shift();
    if (wish?.kind === 'create') this.#marketCreate(wish, pick);
    else if (wish?.kind === 'cancelAll') this.#marketCancelAll(wish);
    else if (wish !== undefined) this.#marketChange(wish);
  }

  #next(trade: PlainTrade | null = null): number {
    this.#sequence += 1;
    this.undecided.push({ sequence: this.#sequence, trade });
    return this.#sequence;
  }

  #say(word: () => void): void {
    this.fromMarket.push(word);
  }

  #ack({ requestId }: Wish, sequence: number, rejectCode = 0): void {
    this.#say(() => this.manager.requests.onAck({ ...AT, requestId, sequence, rejectCode }));
  }

  #marketCreate(wish: Wish, pick: number): void {
    const { requestId, user, id, side, tif, price, quantity } = wish;
    const key = `${user}/${id}`;
    if (this.#ids.has(key) || pick % 11 === 0) {
      this.#ack(wish, 0, this.#ids.has(key) ? REJECT_CODE.DUPLICATE_ORDER : REJECT_CODE.ALREADY_CANCELLED);
      return;
    }
    this.#ids.add(key);
    const sequence = this.#next();
    const figures = { filled: 0, undecided: 0, confirmed: 0, notional: 0n, fees: 0n };
    const order: PlainOrder = {
      ...figures,
      sequence,
      user,
      id,
      side,
      tif,
      postOnly: wish.postOnly,
      priority: sequence,
      price,
      quantity,
      end: 0,
      isCovered: false,
      lastSequence: sequence,
    };
    this.orders.push(order);
    const refusal = wish.postOnly && this.#crossing(order).length > 0 ? REJECT_CODE.WOULD_CROSS : 0;
    if (refusal !== 0) order.end = ORDER_END.postOnlyWouldCross;
    const admit = () => this.#say(() => this.manager.onAdmitted({ ...AT, requestId, sequence, refusal }));
    const answer = () => this.#ack(wish, sequence, refusal);
    admit();
    answer();
    if (refusal === 0) this.#match(order, pick);
  }

  #crossing(taker: PlainOrder): PlainOrder[] {
    return this.orders.filter((maker) => {
      const [buy, sell] = taker.side === SIDE.buy ? [taker, maker] : [maker, taker];
      return maker !== taker && maker.side !== taker.side && rests(maker) && buy.price >= sell.price;
    });
  }

  #match(taker: PlainOrder, pick: number): void {
    const makers = this.#crossing(taker).slice(0, 1 + (pick % 3));
    for (const maker of makers) {
      const quantity = Math.min(maker.quantity - maker.filled, taker.quantity - taker.filled);
      if (quantity > 0) this.#trade(maker, taker, quantity);
    }
    if (taker.tif === TIF.ioc && taker.filled < taker.quantity) this.#end(taker, ORDER_END.immediateOrCancel);
  }

  #trade(maker: PlainOrder, taker: PlainOrder, quantity: number): void {
    const { price } = maker;
    const id = this.#trades.length + 1;
    const trade: PlainTrade = { id, sequence: this.#sequence + 1, maker, taker, price, quantity };
    const sequence = this.#next(trade);
    this.#trades.push(trade);
    for (const order of [maker, taker]) {
      order.filled += quantity;
      order.undecided += 1;
      order.lastSequence = sequence;
    }
    const match = {
      ...AT,
      sequence,
      tradeId: id,
      makerOrder: maker.sequence,
      takerOrder: taker.sequence,
      price: price as RawPrice,
      quantity: quantity as RawQuantity,
      takerSide: taker.side,
      makerFeeRate: MARKET.makerFeeRate,
      takerFeeRate: MARKET.takerFeeRate,
    };
    this.#say(() => this.manager.onMatched(match));
  }

  #end(order: PlainOrder, end: OrderEnd, faultReason: RollbackReason = 0): void {
    const sequence = this.#next();
    order.end = end;
    order.lastSequence = sequence;
    this.#say(() => this.manager.onEnded({ ...AT, sequence, order: order.sequence, end, faultReason }));
  }

  #marketChange(wish: Wish): void {
    const order = this.orders.find(({ user, id }) => user === wish.user && id === wish.id);
    const isLive = order !== undefined && order.end === 0 && (rests(order) || order.undecided > 0);
    if (!isLive || order.isCovered) this.#ack(wish, 0, REJECT_CODE.ORDER_NOT_FOUND);
    else if (wish.kind === 'cancel') {
      this.#cancelOne(order);
      this.#ack(wish, this.#sequence);
    } else if (!rests(order)) this.#ack(wish, 0, REJECT_CODE.ORDER_NOT_FOUND);
    else this.#replace(order, wish);
  }

  #marketCancelAll(wish: Wish): void {
    for (const order of this.orders) {
      const isLive = order.end === 0 && !order.isCovered && (rests(order) || order.undecided > 0);
      if (order.user === wish.user && isLive) this.#cancelOne(order);
    }
    this.#ack(wish, 0);
  }

  /** What rests ends; what is wholly pending never comes back (AMB-23). */
  #cancelOne(order: PlainOrder): void {
    if (rests(order)) {
      this.#end(order, ORDER_END.userRequested);
      return;
    }
    // Clearing may have confirmed all of it before: then it is over already, and this changes nothing.
    const sequence = this.#next();
    order.isCovered = true;
    this.#say(() => this.manager.onCovered({ ...AT, sequence, order: order.sequence }));
  }

  #replace(order: PlainOrder, wish: Wish): void {
    const sequence = this.#next();
    order.priority = sequence;
    order.price = wish.price;
    order.quantity = wish.quantity;
    order.lastSequence = sequence;
    const trigger = { triggerKind: TRIGGER.none, triggerPrice: 0 as RawPrice };
    const values = {
      price: wish.price as RawPrice,
      quantity: wish.quantity as RawQuantity,
      timestampNs: NOW,
      ...trigger,
    };
    this.#say(() => this.manager.onReplaced({ ...AT, ...values, sequence, order: order.sequence }));
    if (order.quantity <= order.filled) {
      const after = this.#next();
      order.lastSequence = after;
      const word = { ...AT, sequence: after, order: order.sequence, end: ORDER_END.filled, faultReason: 0 } as const;
      this.#say(() => this.manager.onEnded(word));
    } else this.#match(order, wish.requestId);
    this.#ack(wish, sequence);
  }

  #applyVerdict({ trade, reasons }: Verdict): void {
    const sides = [
      { order: trade.maker, reason: reasons?.maker ?? 0 },
      { order: trade.taker, reason: reasons?.taker ?? 0 },
    ] as const;
    for (const { order, reason } of sides) {
      order.undecided -= 1;
      if (reasons === null) continue;
      order.filled -= trade.quantity;
      if (order.end !== 0) continue;
      if (reason < 8)
        this.#end(order, order.isCovered ? ORDER_END.userRequested : ORDER_END.atFault, order.isCovered ? 0 : reason);
      else if (order.filled < order.quantity) this.#bringBack(order);
    }
    this.#uncross(
      new Map(sides.filter(({ reason }) => reason > 0 && reason < 8).map((side) => [side.order.user, side.reason])),
    );
  }

  /** Crossing orders of users at fault go; then of the two best that cross the younger takes at the older one's price. */
  #uncross(faults: ReadonlyMap<UserId, RollbackReason>): void {
    const guilty = this.orders.filter((order) => faults.has(order.user) && rests(order));
    for (const order of guilty.filter((each) => this.#crossing(each).length > 0))
      this.#end(order, ORDER_END.atFault, faults.get(order.user));
    for (;;) {
      const best = (side: Side, sign: number): PlainOrder | undefined =>
        this.orders
          .filter((order) => order.side === side && rests(order))
          .sort((a, b) => sign * (a.price - b.price) || a.priority - b.priority)[0];
      const [bid, ask] = [best(SIDE.buy, -1), best(SIDE.sell, 1)];
      if (bid === undefined || ask === undefined || bid.price < ask.price) return;
      const [older, younger] = bid.priority < ask.priority ? [bid, ask] : [ask, bid];
      if (younger.postOnly) this.#end(younger, ORDER_END.postOnlyWouldCross);
      else this.#trade(older, younger, Math.min(bid.quantity - bid.filled, ask.quantity - ask.filled));
    }
  }

  #bringBack(order: PlainOrder): void {
    if (order.isCovered) this.#end(order, ORDER_END.userRequested);
    else if (order.tif === TIF.ioc) this.#end(order, ORDER_END.rolledBack);
    else {
      const sequence = this.#next();
      order.lastSequence = sequence;
      this.#say(() => this.manager.onRestored({ ...AT, sequence, order: order.sequence }));
    }
  }

  // ---- clearing: one batch of up to three market words

  clearing(pick: number): void {
    const batch = this.undecided.splice(0, 1 + (pick % 3));
    const last = batch.at(-1);
    if (last === undefined) return;
    for (const { trade } of batch) if (trade !== null) this.#decide(trade, pick);
    this.#decided = last.sequence;
    this.#journal += 1;
    const [sequence, journal, checkpoint] = [this.#decided, this.#journal, this.#checkpoint];
    this.fromClearing.push(() => this.manager.onMarketDecided({ marketIndex: 3, sequence }));
    this.fromClearing.push(() => this.manager.onJournalFlushed({ sequence: journal, checkpoint }));
  }

  #decide(trade: PlainTrade, pick: number): void {
    const { definition: market, maker, taker } = { definition: MARKET, ...trade };
    const notional = notional18(trade.price as RawPrice, trade.quantity as RawQuantity, market);
    const base = quantity18(trade.quantity as RawQuantity, market.quantityDecimals);
    const makerFee = tradingFee18(notional, market.makerFeeRate);
    const takerFee = tradingFee18(notional, market.takerFeeRate);
    const before = new Map(this.owned);
    for (const [order, fee] of [
      [maker, makerFee],
      [taker, takerFee],
    ] as const) {
      const sign = order.side === SIDE.buy ? 1n : -1n;
      this.#add(order.user, USD, -sign * notional - fee);
      this.#add(order.user, BASE, sign * base);
    }
    const broke = (order: PlainOrder) => this.#ownedBy(order.user, order.side === SIDE.buy ? USD : BASE) < 0n;
    const bad = { maker: broke(maker) || pick % 7 === 0, taker: broke(taker) || pick % 5 === 0 };
    if (bad.maker || bad.taker) {
      for (const [key, owned] of before) this.owned.set(key, owned);
      const reasons = { maker: bad.maker ? 2 : 10, taker: bad.taker ? 2 : 10 } as const;
      const word = { ...AT, tradeId: trade.id, makerReason: reasons.maker, takerReason: reasons.taker };
      this.fromClearing.push(() => this.manager.onFillRolledBack(word));
      this.verdicts.push({ trade, reasons });
      return;
    }
    for (const [order, fee] of [
      [maker, makerFee],
      [taker, takerFee],
    ] as const) {
      order.confirmed += trade.quantity;
      order.notional += notional;
      order.fees += fee;
    }
    this.confirmedTrades.push(trade);
    const word = { ...AT, tradeId: trade.id, makerFee, takerFee, isLiquidation: false, isAutoDeleverage: false };
    this.fromClearing.push(() => this.manager.onFillConfirmed(word));
    for (const user of new Set([maker.user, taker.user]))
      for (const asset of [USD, BASE]) this.#tellBalance(user, asset);
    this.verdicts.push({ trade, reasons: null });
  }

  /** The tables become what clearing knows now; it is announced with a later flush. */
  checkpoint(): void {
    const finished = this.orders
      .filter((order) => order.lastSequence <= this.#decided)
      .filter((order) => order.end !== 0 || order.confirmed >= order.quantity)
      .map((order) => ({ ...order }));
    this.#tables = tablesOf(finished, [...this.confirmedTrades], this.#decided, this.#decidedTradeId());
    this.#checkpoint = this.#journal;
  }

  #decidedTradeId(): number {
    return this.#trades.findLast((trade) => trade.sequence <= this.#decided)?.id ?? 0;
  }

  // ---- the front door listens

  hearMarket(count: number): void {
    for (const word of this.fromMarket.splice(0, count)) word();
  }

  hearClearing(count: number): void {
    for (const word of this.fromClearing.splice(0, count)) word();
  }

  hearAll(): void {
    this.hearClearing(this.fromClearing.length);
    this.hearMarket(this.fromMarket.length);
  }

  /** Runs everybody until nobody has anything left to say. */
  settle(): void {
    while (this.toMarket.length + this.verdicts.length + this.undecided.length > 0) {
      this.market(this.verdicts.length > 0 ? 2 : 1);
      this.clearing(1);
    }
    this.hearAll();
  }

  // ---- balances

  #ownedBy(user: UserId, asset: AssetId): bigint {
    return this.owned.get(`${user}/${asset}`) ?? 0n;
  }

  #setOwned(user: UserId, asset: AssetId, amount: bigint): void {
    this.owned.set(`${user}/${asset}`, amount);
  }

  #add(user: UserId, asset: AssetId, amount: bigint): void {
    this.#setOwned(user, asset, this.#ownedBy(user, asset) + amount);
  }

  #tellBalance(user: UserId, asset: AssetId): void {
    const owned = this.#ownedBy(user, asset) as Amount18;
    const row = { user, subAccount: this.accountOf(user), asset, owned, locked: 0n as Amount18 };
    this.fromClearing.push(() => this.manager.onBalanceChanged(row));
  }
}

/** In the book: not ended, something left, and of a kind that rests. */
export function rests(order: PlainOrder): boolean {
  return order.end === 0 && order.tif !== TIF.ioc && !order.isCovered && order.filled < order.quantity;
}
