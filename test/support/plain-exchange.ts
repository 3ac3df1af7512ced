/**
 * A market and a clearing engine in plain arrays, around a real order manager, for properties: the events of each are
 * in a queue of its own, and the gateway receives the two in any interleaving.
 *
 * The market keeps the rules that the gateway relies on (who ends an order, when, AMB-19, AMB-23, AMB-32), not price
 * priority: a new order matches any order that crosses. After a rollback a crossed book is uncrossed, best prices
 * first. Clearing decides fills in market sequence and confirms only what is funded.
 */

import assert from 'node:assert/strict';
import type { TradeRow } from '../../src/clearing/rows.ts';
import { type AssetId, USD, type UserId } from '../../src/core/ids.ts';
import {
  ORDER_END,
  ORDER_KIND,
  type OrderEnd,
  type RollbackReason,
  SIDE,
  type Side,
  TIF,
  type Tif,
  TRIGGER,
  TRIGGER_STATE,
} from '../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../src/core/reject.ts';
import { type Amount18, ONE_18, type RawPrice, type RawQuantity, type Sequence } from '../../src/core/units.ts';
import type {
  HistoryQuery,
  HistorySnapshot,
  HistoryTrade,
  HistoryWindow,
  OrderHistory,
  PastOrder,
} from '../../src/gateway/orders/history/order-history.ts';
import { OrderManager } from '../../src/gateway/orders/order-manager.ts';
import { EMPTY_ORDER } from './empty-order.ts';
import { ImitationMarket, moveOf, PlainBalances } from './imitation-market.ts';
import { ALICE, BOB } from './names.ts';
import {
  BASE,
  cancelRequest,
  codeOf,
  createRequest,
  ID_KEY,
  MARKET,
  mustPass,
  NOW,
  RecordingSink,
  replaceRequest,
} from './order-fixture.ts';

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

interface PlainTrade {
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

export class PlainExchange {
  readonly sink: RecordingSink = new RecordingSink();
  readonly history: OrderHistory = { read: (reader) => reader(this.#tables) };
  readonly manager: OrderManager = new OrderManager({
    sink: this.sink,
    history: this.history,
    idKey: ID_KEY,
  });
  readonly orders: PlainOrder[] = [];
  readonly confirmedTrades: PlainTrade[] = [];
  readonly balances: PlainBalances = new PlainBalances(BASE);
  readonly owned: Map<string, bigint> = this.balances.owned;
  /** What the gateway has yet to receive. */
  readonly fromMarket: (() => void)[] = [];
  readonly fromClearing: (() => void)[] = [];
  readonly toMarket: Wish[] = [];
  readonly verdicts: Verdict[] = [];
  readonly undecided: Undecided[] = [];
  /** The sub-account in which a user trades. */
  readonly accountOf: (user: UserId) => number;
  readonly #market: ImitationMarket = new ImitationMarket(this.manager, MARKET, {
    nowNs: () => NOW,
    fromMarket: (event) => this.fromMarket.push(event),
    fromClearing: (event) => this.fromClearing.push(event),
  });
  readonly #trades: PlainTrade[] = [];
  readonly #ids = new Set<string>();
  #wishes = 0;
  #decided = 0;
  #journal = 0;
  #checkpoint = 0;
  #tables: HistorySnapshot = tablesOf([], [], 0, 0);

  constructor(accountOf: (user: UserId) => number = () => 0) {
    this.accountOf = accountOf;
    this.manager.restoreMarket(MARKET, 0);
    for (const user of USERS) {
      this.balances.set(user, USD, 10_000n * ONE_18);
      this.balances.set(user, BASE, 5n * ONE_18);
      for (const asset of [USD, BASE]) this.#publishBalance(user, asset);
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

  /** Clearing has to pass this sequence. */
  #noted(sequence: number, trade: PlainTrade | null = null): number {
    this.undecided.push({ sequence, trade });
    return sequence;
  }

  #ack({ requestId }: Wish, sequence: number, rejectCode = 0): void {
    this.#market.answer(requestId, sequence, rejectCode);
  }

  #marketCreate(wish: Wish, pick: number): void {
    const { requestId, user, id, side, tif, price, quantity } = wish;
    const key = `${user}/${id}`;
    if (this.#ids.has(key) || pick % 11 === 0) {
      this.#ack(wish, 0, this.#ids.has(key) ? REJECT_CODE.DUPLICATE_ORDER : REJECT_CODE.ALREADY_CANCELLED);
      return;
    }
    this.#ids.add(key);
    const sequence = this.#noted(this.#market.nextSequence);
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
    const admit = () => this.#market.admit(requestId, refusal, sequence);
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
    const id = this.#market.match(maker.sequence, taker.sequence, price, quantity, taker.side);
    const { sequence } = this.#market;
    const trade: PlainTrade = { id, sequence, maker, taker, price, quantity };
    this.#noted(sequence, trade);
    this.#trades.push(trade);
    for (const order of [maker, taker]) {
      order.filled += quantity;
      order.undecided += 1;
      order.lastSequence = sequence;
    }
  }

  #end(order: PlainOrder, end: OrderEnd, faultReason: RollbackReason = 0): void {
    order.end = end;
    order.lastSequence = this.#noted(this.#market.end(order.sequence, end, faultReason));
  }

  #marketChange(wish: Wish): void {
    const order = this.orders.find(({ user, id }) => user === wish.user && id === wish.id);
    const isLive = order !== undefined && order.end === 0 && (rests(order) || order.undecided > 0);
    if (!isLive || order.isCovered) this.#ack(wish, 0, REJECT_CODE.ORDER_NOT_FOUND);
    else if (wish.kind === 'cancel') {
      this.#cancelOne(order);
      this.#ack(wish, this.#market.sequence);
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
    order.isCovered = true;
    this.#noted(this.#market.cover(order.sequence));
  }

  #replace(order: PlainOrder, wish: Wish): void {
    const sequence = this.#noted(this.#market.replaced(order.sequence, wish.price, wish.quantity));
    order.priority = sequence;
    order.price = wish.price;
    order.quantity = wish.quantity;
    order.lastSequence = sequence;
    if (order.quantity <= order.filled) {
      order.lastSequence = this.#noted(this.#market.end(order.sequence, ORDER_END.filled));
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
    else order.lastSequence = this.#noted(this.#market.restore(order.sequence));
  }

  // ---- clearing: one batch of up to three market words

  clearing(pick: number): void {
    const batch = this.undecided.splice(0, 1 + (pick % 3));
    const last = batch.at(-1);
    if (last === undefined) return;
    for (const { trade } of batch) if (trade !== null) this.#decide(trade, pick);
    this.#decided = last.sequence;
    this.#journal += 1;
    const [journal, checkpoint] = [this.#journal, this.#checkpoint];
    this.#market.decide(this.#decided);
    this.fromClearing.push(() => this.manager.onJournalFlushed({ sequence: journal, checkpoint }));
  }

  #decide(trade: PlainTrade, pick: number): void {
    const { maker, taker } = trade;
    const undo = this.balances.mark();
    const sides = [
      { order: maker, rate: MARKET.makerFeeRate },
      { order: taker, rate: MARKET.takerFeeRate },
    ].map(({ order, rate }) => ({ order, move: moveOf(trade, order.side, rate, MARKET) }));
    for (const { order, move } of sides) this.balances.move(order.user, move);
    const broke = (order: PlainOrder) => this.balances.of(order.user, order.side === SIDE.buy ? USD : BASE) < 0n;
    const bad = { maker: broke(maker) || pick % 7 === 0, taker: broke(taker) || pick % 5 === 0 };
    if (bad.maker || bad.taker) {
      undo();
      const reasons = { maker: bad.maker ? 2 : 10, taker: bad.taker ? 2 : 10 } as const;
      this.#market.rollBack(trade.id, reasons.maker, reasons.taker);
      this.verdicts.push({ trade, reasons });
      return;
    }
    for (const { order, move } of sides) {
      order.confirmed += trade.quantity;
      order.notional += move.notional;
      order.fees += move.fee;
    }
    this.confirmedTrades.push(trade);
    const [makerFee = 0n, takerFee = 0n] = sides.map(({ move }) => move.fee);
    this.#market.confirm(trade.id, { maker: makerFee, taker: takerFee });
    for (const user of new Set([maker.user, taker.user]))
      for (const asset of [USD, BASE]) this.#publishBalance(user, asset);
    this.verdicts.push({ trade, reasons: null });
  }

  /** The tables become what clearing has now; it is announced with a later flush. */
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

  // ---- the gateway receives

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

  /** Runs all actors until there is no event left. */
  settle(): void {
    while (this.toMarket.length + this.verdicts.length + this.undecided.length > 0) {
      this.market(this.verdicts.length > 0 ? 2 : 1);
      this.clearing(1);
    }
    this.hearAll();
  }

  // ---- balances

  #publishBalance(user: UserId, asset: AssetId): void {
    const owned = this.balances.of(user, asset) as Amount18;
    const row = { user, subAccount: this.accountOf(user), asset, owned, locked: 0n as Amount18 };
    this.fromClearing.push(() => this.manager.onBalanceChanged(row));
  }
}

/** In the book: not ended, something left, and of a kind that rests. */
export function rests(order: PlainOrder): boolean {
  return order.end === 0 && order.tif !== TIF.ioc && !order.isCovered && order.filled < order.quantity;
}

// The tables of a plain exchange at one checkpoint, read the way storage reads its own.

function tablesOf(
  finished: readonly PlainOrder[],
  trades: readonly PlainTrade[],
  sequence: number,
  lastTradeId: number,
): HistorySnapshot {
  const ordersOf = ({ user, subAccounts }: HistoryQuery) =>
    finished
      .filter((order) => order.user === user && (subAccounts === null || subAccounts.includes(0)))
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .map(rowOf);
  const tradesOf = ({ user }: HistoryQuery): readonly HistoryTrade[] =>
    [...trades]
      .reverse()
      .flatMap((trade) => [
        ...(trade.taker.user === user ? [{ row: tradeRow(trade), isMaker: false }] : []),
        ...(trade.maker.user === user ? [{ row: tradeRow(trade), isMaker: true }] : []),
      ]);
  return {
    marketSequence: () => sequence,
    lastTradeId: () => lastTradeId,
    isFinished: (user, _, id, sequence) => {
      return finished.some((row) => row.user === user && row.id === id && row.sequence >= sequence);
    },
    orderFlags: () => null,
    findOrder: (user, _, id) => finished.filter((row) => row.user === user && row.id === id).map(rowOf)[0],
    finishedOrders: (query, offset, limit) => windowOf(ordersOf(query), offset, limit),
    scanTrades: (query, { fromNs, toNs }, look) => {
      const isWithin = (ns: bigint): boolean => (fromNs === null || ns >= fromNs) && (toNs === null || ns <= toNs);
      tradesOf(query)
        .filter(({ row }) => isWithin(row.matchedNs))
        .every(look);
    },
    scanFinished: (query, look) => {
      ordersOf(query).every((row) => look(row, () => row));
    },
    finishedBefore: (query, places) =>
      places.map(({ name }) => ordersOf(query).filter(({ orderId }) => orderId > name).length),
    trades: (query, offset, limit) => windowOf(tradesOf(query), offset, limit),
    definition: () => MARKET,
  };
}

function windowOf<Row>(rows: readonly Row[], offset: number, limit: number): HistoryWindow<Row> {
  return { rows: rows.slice(offset, offset + limit), total: rows.length };
}

function rowOf(order: PlainOrder): PastOrder {
  return {
    ...EMPTY_ORDER,
    marketIndex: 3,
    orderSequence: order.sequence as Sequence,
    prioritySequence: order.sequence as Sequence,
    user: order.user,
    orderId: order.id as never,
    side: order.side,
    kind: ORDER_KIND.limit,
    tif: order.tif,
    flags: 4,
    price: order.price as RawPrice,
    quantity: order.quantity as RawQuantity,
    triggerKind: TRIGGER.none,
    triggerState: TRIGGER_STATE.live,
    parentId: '',
    enabledQuantity: order.quantity,
    maxFeeRate: 500,
    creationNs: NOW,
    timestampNs: NOW,
    admittedNs: NOW,
    lastUpdateNs: NOW,
    filledQuantity: order.confirmed,
    filledNotional: order.notional as Amount18,
    fees: order.fees as Amount18,
    end: order.end === 0 ? ORDER_END.filled : order.end,
  };
}

function tradeRow({ id, maker, taker, price, quantity }: PlainTrade): TradeRow {
  const side = (order: PlainOrder) => ({
    user: order.user,
    subAccount: 0,
    orderId: order.id as never,
    orderSequence: order.sequence as Sequence,
    fee: 0n as Amount18,
  });
  return {
    marketIndex: 3,
    tradeId: id as Sequence,
    price: price as RawPrice,
    quantity: quantity as RawQuantity,
    matchedNs: NOW,
    takerSide: taker.side,
    isLiquidation: false,
    isAutoDeleverage: false,
    maker: side(maker),
    taker: side(taker),
  };
}
