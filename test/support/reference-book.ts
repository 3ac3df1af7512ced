/**
 * The judge of the market engine: the same rules over lists and bigint, searched from the front, nothing remembered that
 * can be worked out. Slow and plain on purpose; it shares the vocabulary of the engine and no code.
 *
 * It also keeps what clearing would keep, so that a restart can be played: see `durable`.
 */
import {
  isAtFault,
  isCancel,
  MARKET_STATUS,
  type MarketStatus,
  ORDER_END,
  ORDER_END_WORD,
  ORDER_FLAG,
  type OrderEnd,
  type RollbackReason,
  SIDE,
  type Side,
  TIF,
  type Tif,
} from '../../src/core/order-terms.ts';
import { compareLevels, type Terms, type Told } from './market-recorder.ts';

const LIFE_NS = 30n * 86_400n * 1_000_000_000n;
const RAW_MAX = 2n ** 53n - 1n;

export interface ReferenceOrder {
  readonly user: string;
  readonly orderId: string;
  readonly sequence: number;
  priority: number;
  readonly side: Side;
  readonly tif: Tif;
  readonly flags: number;
  price: number;
  quantity: bigint;
  filled: bigint;
  readonly creationNs: bigint;
  timestampNs: bigint;
  readonly expiryNs: bigint;
  state: 'resting' | 'filled' | 'covered' | 'ended';
  end: OrderEnd | 0;
}

interface ReferenceTrade {
  readonly tradeId: number;
  readonly maker: ReferenceOrder;
  readonly taker: ReferenceOrder;
  readonly quantity: bigint;
}

export interface Remembered {
  readonly user: string;
  readonly orderId: string;
  readonly creationNs: bigint;
  readonly wasCancelled: boolean;
}

export interface ReferenceLimits {
  readonly heldCancelNs: bigint;
  readonly heldCancelsPerUserMax: number;
  readonly rememberedIdsPerUserMax: number;
}

export interface ChangeTerms {
  readonly user: string;
  readonly orderId: string;
  readonly requestId: number;
  readonly receivedNs: bigint;
}

export class ReferenceBook {
  told: Told[] = [];
  status: MarketStatus = MARKET_STATUS.active;
  sequence = 0;
  lastTradeId = 0;
  /** Resting orders and those with undecided fills, in order of admission. */
  orders: ReferenceOrder[] = [];
  undecided: ReferenceTrade[] = [];
  remembered: Remembered[] = [];
  watermarks: Map<string, bigint> = new Map();
  holds: { user: string; orderId: string; untilNs: bigint }[] = [];
  readonly limits: ReferenceLimits;
  #levelsTold: Map<string, bigint> = new Map();
  #nowNs = 0n;

  constructor(limits: ReferenceLimits) {
    this.limits = limits;
  }

  take(): Told[] {
    const told = this.told;
    this.told = [];
    return told;
  }

  create(terms: Terms): void {
    this.passTo(terms.receivedNs);
    const refusal = this.#refusalOf(terms);
    if (refusal !== null) {
      this.told.push(['createRefused', 0, terms.requestId, refusal]);
      return;
    }
    this.#takeId(terms);
    const order: ReferenceOrder = {
      user: terms.user,
      orderId: terms.orderId,
      sequence: ++this.sequence,
      priority: this.sequence,
      side: terms.side,
      tif: terms.tif,
      flags: terms.flags,
      price: terms.price,
      quantity: BigInt(terms.quantity),
      filled: 0n,
      creationNs: terms.creationNs,
      timestampNs: terms.creationNs,
      expiryNs: terms.expiryNs,
      state: 'filled',
      end: 0,
    };
    if ((terms.flags & ORDER_FLAG.postOnly) !== 0 && this.#makersFor(order).length > 0) {
      this.#remember(order, true);
      this.told.push(['createRefused', order.sequence, terms.requestId, 'WOULD_CROSS']);
      return;
    }
    this.orders.push(order);
    this.told.push(['accepted', order.sequence, order.user, order.orderId]);
    this.#place(order);
    this.#tellLevels();
  }

  replace(terms: ChangeTerms & { timestampNs: bigint; price: number; quantity: number }): void {
    this.passTo(terms.receivedNs);
    const refuse = (code: string): void => {
      this.told.push(['replaceRefused', terms.requestId, code]);
    };
    const order = this.#live(terms);
    if (this.status !== MARKET_STATUS.active) refuse('MARKET_HALTED');
    else if (order === undefined || order.state !== 'resting') refuse(this.#whyNot(terms));
    else this.#replaceResting(order, terms, refuse);
    this.#tellLevels();
  }

  #replaceResting(
    order: ReferenceOrder,
    terms: ChangeTerms & { timestampNs: bigint; price: number; quantity: number },
    refuse: (code: string) => void,
  ): void {
    const price = terms.price === 0 ? order.price : terms.price;
    const quantity = terms.quantity === 0 ? order.quantity : BigInt(terms.quantity);
    const isSame = price === order.price && quantity === order.quantity;
    const left = quantity - order.filled;
    const before = order.quantity - order.filled;
    const moved = { ...order, price };
    const postOnly = (order.flags & ORDER_FLAG.postOnly) !== 0;
    const age = terms.timestampNs - order.timestampNs;
    if (age < 0n || (age === 0n && !isSame)) refuse('REQUEST_TOO_OLD');
    else if (age === 0n) this.told.push(['replaceUnchanged', terms.requestId, order.sequence]);
    else if (left > 0n && postOnly && this.#makersFor(moved).length > 0) {
      this.#end(order, ORDER_END.postOnlyWouldCross, { requestId: terms.requestId });
      refuse('WOULD_CROSS');
    } else if (left > 0n && this.#levelOf(order.side, price, order) + left > RAW_MAX) refuse('INVALID_ORDER');
    else this.#applyReplace(order, { ...terms, price }, quantity, left > before || price !== order.price);
  }

  cancel(terms: ChangeTerms & { hold: boolean }): void {
    this.passTo(terms.receivedNs);
    const { user, orderId, requestId } = terms;
    const order = this.#live(terms);
    const held = this.holds.find((hold) => hold.user === user && hold.orderId === orderId);
    const isKnown = order !== undefined || this.#rememberedOf(terms) !== undefined;
    if (order !== undefined && (order.state === 'resting' || order.state === 'filled')) {
      if (order.state === 'resting') this.#end(order, ORDER_END.userRequested, { requestId });
      else order.state = 'covered';
      this.told.push(['cancelAccepted', requestId, order.sequence]);
    } else if (isKnown || !terms.hold) this.told.push(['cancelRefused', requestId, this.#whyNot(terms)]);
    else if (held !== undefined) this.told.push(['cancelAccepted', requestId, 0]);
    else if (this.holds.filter((hold) => hold.user === user).length >= this.limits.heldCancelsPerUserMax)
      this.told.push(['cancelRefused', requestId, 'ORDER_NOT_FOUND']);
    else {
      this.#takeId(terms);
      this.holds.push({ user, orderId, untilNs: terms.receivedNs + this.limits.heldCancelNs });
      this.told.push(['cancelAccepted', requestId, 0]);
    }
    this.#tellLevels();
  }

  /** Everything that is over at `nowNs` goes; a tick is this and nothing else. */
  passTo(nowNs: bigint): void {
    this.#nowNs = nowNs;
    this.#expire(nowNs);
    this.#tellLevels();
    for (const { user, orderId } of this.holds.filter((hold) => hold.untilNs <= nowNs))
      this.told.push(['heldCancelExpired', user, orderId]);
    this.holds = this.holds.filter((hold) => hold.untilNs > nowNs);
  }

  rollback(tradeId: number, reasons: { maker: RollbackReason; taker: RollbackReason }, nowNs: bigint): void {
    this.passTo(nowNs);
    const trade = this.undecided.find((each) => each.tradeId === tradeId);
    if (trade === undefined) throw new Error(`no undecided trade ${tradeId}`);
    this.undecided = this.undecided.filter((each) => each !== trade);
    const sides = [
      { order: trade.maker, reason: reasons.maker },
      { order: trade.taker, reason: reasons.taker },
    ];
    if (isAtFault(reasons.taker) && !isAtFault(reasons.maker)) sides.reverse();
    for (const { order, reason } of sides) this.#reverse(order, trade.quantity, reason, nowNs);
    this.#tellLevels();
  }

  settled(tradeId: number): void {
    for (const trade of this.undecided.filter((each) => each.tradeId <= tradeId)) {
      this.undecided = this.undecided.filter((each) => each !== trade);
      this.#forgetIfDone(trade.maker);
      this.#forgetIfDone(trade.taker);
    }
  }

  /** What clearing would hand back after a crash: undecided fills never happened (AMB-110). */
  durable(): { orders: ReferenceOrder[]; remembered: Remembered[] } {
    const orders: ReferenceOrder[] = [];
    const remembered = [...this.remembered];
    for (const order of this.orders) {
      const pending = this.undecided
        .filter((trade) => trade.maker === order || trade.taker === order)
        .reduce((sum, trade) => sum + trade.quantity, 0n);
      const restored: ReferenceOrder = { ...order, filled: order.filled - pending, state: 'resting' };
      const waits = order.state === 'resting' || order.state === 'filled';
      const rests = order.tif === TIF.gtc || order.tif === TIF.gtd;
      if (waits && rests && restored.filled < restored.quantity) orders.push(restored);
      else {
        const wasCancelled = order.state === 'ended' && isCancel(order.end as OrderEnd);
        remembered.push({ user: order.user, orderId: order.orderId, creationNs: order.creationNs, wasCancelled });
      }
    }
    return { orders, remembered };
  }

  /** Rebuilds from `durable`: every order comes in again, by priority, and takes what it crosses. Levels: silence. */
  restart(nowNs: bigint, gap: number): void {
    const { orders, remembered } = this.durable();
    this.sequence += gap;
    this.lastTradeId += gap;
    this.undecided = [];
    this.holds = [];
    this.remembered = [];
    for (const id of remembered) this.#rememberId(id);
    this.orders = orders;
    for (const order of orders) order.state = 'filled';
    const misfits = orders.filter((order) => {
      const fits = this.#levelOf(order.side, order.price, order) + order.quantity - order.filled <= RAW_MAX;
      if (fits) order.state = 'resting';
      return !fits;
    });
    for (const order of misfits) this.#end(order, ORDER_END.rollbackRestoreWouldCross);
    this.#expire(nowNs);
    for (const order of this.orders) order.state = 'filled';
    for (const order of [...this.orders].sort((a, b) => a.priority - b.priority)) {
      this.#match(order);
      if (order.filled < order.quantity) order.state = 'resting';
    }
    this.#levelsTold = this.levels();
  }

  levels(): Map<string, bigint> {
    const levels = new Map<string, bigint>();
    for (const { side, price, quantity, filled, state } of this.orders)
      if (state === 'resting') {
        const key = `${side} ${price}`;
        levels.set(key, (levels.get(key) ?? 0n) + quantity - filled);
      }
    return levels;
  }

  #expire(nowNs: bigint): void {
    const due = this.orders.filter((order) => order.state === 'resting' && order.expiryNs <= nowNs);
    due.sort((a, b) => (a.expiryNs === b.expiryNs ? a.sequence - b.sequence : a.expiryNs < b.expiryNs ? -1 : 1));
    for (const order of due) this.#end(order, ORDER_END.expired);
  }

  #refusalOf(terms: Terms): string | null {
    if (this.status !== MARKET_STATUS.active) return 'MARKET_HALTED';
    if (this.#live(terms) !== undefined || this.#rememberedOf(terms) !== undefined) return 'DUPLICATE_ORDER';
    const held = this.holds.findIndex((hold) => hold.user === terms.user && hold.orderId === terms.orderId);
    if (held >= 0) {
      this.holds.splice(held, 1);
      return 'ALREADY_CANCELLED';
    }
    if (terms.expiryNs <= terms.receivedNs) return 'ORDER_EXPIRED';
    if (terms.creationNs <= (this.watermarks.get(terms.user) ?? -1n)) return 'REQUEST_TOO_OLD';
    const rests = terms.tif === TIF.gtc || terms.tif === TIF.gtd;
    const level = this.#levelOf(terms.side, terms.price, null);
    return rests && level + BigInt(terms.quantity) > RAW_MAX ? 'INVALID_ORDER' : null;
  }

  #whyNot(terms: { user: string; orderId: string }): string {
    const order = this.#live(terms);
    const ended = order?.state === 'ended' && isCancel(order.end as OrderEnd);
    const wasCancelled = this.#rememberedOf(terms)?.wasCancelled === true;
    return order?.state === 'covered' || ended || wasCancelled ? 'ALREADY_CANCELLED' : 'ORDER_NOT_FOUND';
  }

  #place(order: ReferenceOrder): void {
    const offered = this.#makersFor(order).reduce((sum, maker) => sum + maker.quantity - maker.filled, 0n);
    const isKilled = order.tif === TIF.fok && offered < order.quantity;
    if (!isKilled) this.#match(order);
    if (isKilled) this.#end(order, ORDER_END.fillOrKill);
    else if (order.filled === order.quantity) this.#forgetIfDone(order);
    else if (order.tif === TIF.ioc) this.#end(order, ORDER_END.immediateOrCancel);
    else order.state = 'resting';
  }

  #match(taker: ReferenceOrder): void {
    for (const maker of this.#makersFor(taker)) {
      const offered = maker.quantity - maker.filled;
      const wanted = taker.quantity - taker.filled;
      if (wanted === 0n) return;
      const isTakersLast = wanted <= offered;
      const quantity = isTakersLast ? wanted : offered;
      maker.filled += quantity;
      taker.filled += quantity;
      const tradeId = ++this.lastTradeId;
      this.undecided.push({ tradeId, maker, taker, quantity });
      const unit = taker.tif !== TIF.fok ? 0 : isTakersLast ? 2 : 1;
      const numbers = [++this.sequence, tradeId, maker.sequence, taker.sequence, maker.price];
      this.told.push(['matched', ...numbers, Number(quantity), taker.side, unit]);
      if (maker.filled === maker.quantity) maker.state = 'filled';
    }
  }

  /** Resting orders that the order would match, best first. */
  #makersFor({ side, price }: { side: Side; price: number }): ReferenceOrder[] {
    const sign = side === SIDE.buy ? 1 : -1;
    return this.orders
      .filter((maker) => maker.state === 'resting' && maker.side !== side && sign * (price - maker.price) >= 0)
      .sort((a, b) => sign * (a.price - b.price) || a.priority - b.priority);
  }

  #applyReplace(
    order: ReferenceOrder,
    terms: { timestampNs: bigint; price: number; requestId: number },
    quantity: bigint,
    losesPlace: boolean,
  ): void {
    const { timestampNs, price, requestId } = terms;
    const moves = price !== order.price;
    order.quantity = quantity;
    order.price = price;
    order.timestampNs = timestampNs;
    const sequence = ++this.sequence;
    if (losesPlace && quantity > order.filled) order.priority = sequence;
    const values = [sequence, order.sequence, order.priority, price, Number(quantity)];
    this.told.push(['replaced', ...values, timestampNs, requestId]);
    if (quantity <= order.filled) {
      order.state = 'filled';
      this.told.push(['ended', ++this.sequence, order.sequence, 'Filled', 0, 0, requestId]);
      this.#forgetIfDone(order);
    } else if (moves) {
      order.state = 'filled';
      this.#place(order);
    }
  }

  #reverse(order: ReferenceOrder, quantity: bigint, reason: RollbackReason, nowNs: bigint): void {
    const wasResting = order.state === 'resting';
    const level = this.#levelOf(order.side, order.price, null);
    order.filled -= quantity;
    const left = order.quantity - order.filled;
    const fault = isAtFault(reason);
    if (order.state === 'ended' || (left <= 0n && !fault)) {
      // Its end was told, or it wants no more.
    } else if (order.state === 'covered') {
      if (left > 0n) this.#end(order, ORDER_END.userRequested);
    } else if (fault) this.#end(order, ORDER_END.atFault, { faultReason: reason });
    else if (!wasResting && (order.tif === TIF.ioc || order.tif === TIF.fok)) this.#end(order, ORDER_END.rolledBack);
    else if (!wasResting && order.expiryNs <= nowNs) this.#end(order, ORDER_END.expired);
    else if ((!wasResting && this.#makersFor(order).length > 0) || level + (wasResting ? quantity : left) > RAW_MAX)
      this.#end(order, ORDER_END.rollbackRestoreWouldCross);
    else {
      const sequence = ++this.sequence;
      if (!wasResting) order.priority = sequence;
      order.state = 'resting';
      const live = wasResting ? quantity : left;
      this.told.push(['restored', sequence, order.sequence, order.priority, Number(live)]);
    }
    this.#forgetIfDone(order);
  }

  #end(
    order: ReferenceOrder,
    end: OrderEnd,
    { faultReason = 0, requestId = 0 }: { faultReason?: RollbackReason; requestId?: number } = {},
  ): void {
    order.state = 'ended';
    order.end = end;
    const left = order.quantity > order.filled ? Number(order.quantity - order.filled) : 0;
    const word = ORDER_END_WORD[end];
    this.told.push(['ended', ++this.sequence, order.sequence, word, faultReason, left, requestId]);
    this.#forgetIfDone(order);
  }

  #forgetIfDone(order: ReferenceOrder): void {
    const isPending = this.undecided.some(({ maker, taker }) => maker === order || taker === order);
    if (isPending || order.state === 'resting' || !this.orders.includes(order)) return;
    this.orders = this.orders.filter((each) => each !== order);
    this.#remember(order, order.state === 'ended' && isCancel(order.end as OrderEnd));
  }

  #remember({ user, orderId, creationNs }: ReferenceOrder, wasCancelled: boolean): void {
    this.#rememberId({ user, orderId, creationNs, wasCancelled });
  }

  #rememberId(id: Remembered): void {
    this.remembered.push(id);
    const own = this.remembered.filter((each) => each.user === id.user);
    const first = own[0];
    if (own.length <= this.limits.rememberedIdsPerUserMax || first === undefined) return;
    this.remembered = this.remembered.filter((each) => each !== first);
    const before = this.watermarks.get(id.user) ?? -1n;
    this.watermarks.set(id.user, before > first.creationNs ? before : first.creationNs);
  }

  #live({ user, orderId }: { user: string; orderId: string }): ReferenceOrder | undefined {
    return this.orders.find((order) => order.user === user && order.orderId === orderId);
  }

  /** An id counts for 30 days; until it is used again it keeps its place in the bounded memory. */
  #rememberedOf({ user, orderId }: { user: string; orderId: string }): Remembered | undefined {
    return this.remembered.find(
      (id) => id.user === user && id.orderId === orderId && id.creationNs + LIFE_NS > this.#nowNs,
    );
  }

  #takeId({ user, orderId }: { user: string; orderId: string }): void {
    this.remembered = this.remembered.filter((id) => id.user !== user || id.orderId !== orderId);
  }

  /** What rests at a price, without `except`. */
  #levelOf(side: Side, price: number, except: ReferenceOrder | null): bigint {
    return this.orders
      .filter((order) => order.state === 'resting' && order.side === side && order.price === price && order !== except)
      .reduce((sum, order) => sum + order.quantity - order.filled, 0n);
  }

  #tellLevels(): void {
    const now = this.levels();
    const changed: Told[] = [];
    for (const key of new Set([...now.keys(), ...this.#levelsTold.keys()])) {
      const quantity = now.get(key) ?? 0n;
      if (quantity === (this.#levelsTold.get(key) ?? 0n)) continue;
      const [side, price] = key.split(' ').map(Number) as [number, number];
      changed.push(['levelChanged', side, price, Number(quantity)]);
    }
    this.#levelsTold = now;
    if (changed.length > 0) this.told.push(...changed.sort(compareLevels), ['depthCommitted', this.sequence]);
  }
}
