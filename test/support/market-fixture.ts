/**
 * A market engine with short names for its commands, for tests with a long sequence of steps. Time stands still until
 * `wait`.
 */

import {
  MARKET_STATUS,
  type MarketStatus,
  ORDER_END,
  ORDER_FLAG,
  ORDER_KIND,
  type OrderEnd,
  type RollbackReason,
  type Side,
  TIF,
  type Tif,
  TRIGGER,
  type TriggerKind,
} from '../../src/core/order-terms.ts';
import { highWord, lowWord } from '../../src/core/time-words.ts';
import { SECOND_NS, type TimestampNs } from '../../src/core/units.ts';
import type { MarketEngine, MarketEngineOptions } from '../../src/matching/market-engine.ts';
import type { ProtectionTerms } from '../../src/matching/protection.ts';
import { NO_BOUND, type Room } from '../../src/order/order-codec.ts';
import {
  BUY,
  HashingEngine,
  keyOf,
  LIFE_NS,
  MarketRecorder,
  newOrder,
  PLAIN_TERMS,
  received,
  SELL,
  START_NS,
  type Terms,
  type Told,
} from './market-recorder.ts';

import { type EndWords, endOfSets, type QuoteWords, quoteSet } from './quote-fixture.ts';

const PUMP_BUDGET = 64;
/** Where `tradeAt` trades by default. */
export const LAST_PRICE = 100;

export interface OrderWords {
  readonly user?: string;
  readonly subAccount?: number;
  readonly tif?: Tif;
  readonly postOnly?: boolean;
  readonly nodeMade?: boolean;
  /** Life from creation; 30 days if left out. */
  readonly lifeNs?: bigint;
  readonly creationNs?: bigint;
  /** The price of its release condition; above or below as named. */
  readonly above?: number;
  readonly below?: number;
  readonly parent?: string;
  /** It is reduce-only, with this room. */
  readonly reduceOnly?: Room;
  /** Slot of its group of protection. */
  readonly group?: number;
}

/** How a market order is sized; fill-or-kill by `tif`. */
export interface MarketWords extends OrderWords {
  /** Base lots: the quantity, or of an order with a target its cap. */
  readonly lots?: number;
  /** Raw quote: the target of an order without lots, or what a buy of lots may cost. */
  readonly quote?: number;
  readonly budget?: number;
}

export class MarketFixture {
  readonly recorder: MarketRecorder = new MarketRecorder();
  readonly engine: MarketEngine;
  nowNs: bigint = START_NS;
  /** The sequence of the last `triggered` of each order. */
  readonly #publishedAt = new Map<number, number>();
  #requestId = 0;
  #status: MarketStatus = MARKET_STATUS.active;
  #isPrevented = false;

  constructor(options: Partial<MarketEngineOptions> = {}) {
    this.engine = new HashingEngine({ events: this.recorder, priceDecimals: 0, ...options });
  }

  buy(orderId: string, quantity: number, price: number, words: OrderWords = {}): Told[] {
    return this.#create(BUY, orderId, { quantity, price }, words);
  }

  sell(orderId: string, quantity: number, price: number, words: OrderWords = {}): Told[] {
    return this.#create(SELL, orderId, { quantity, price }, words);
  }

  /** `lots` alone or with `quote`: sized in base, with a cap. */
  marketBuy(orderId: string, { lots = 0, quote = 0, budget = 0, ...words }: MarketWords): Told[] {
    const kind = lots > 0 ? ORDER_KIND.marketBase : ORDER_KIND.marketQuote;
    return this.#create(BUY, orderId, { kind, quantity: lots, amount: quote, budget }, { tif: TIF.ioc, ...words });
  }

  /** `quote` alone or with `lots`: sized in quote, with a base cap. */
  marketSell(orderId: string, { lots = 0, quote = 0, budget = 0, ...words }: MarketWords): Told[] {
    const kind = quote > 0 ? ORDER_KIND.marketQuote : ORDER_KIND.marketBase;
    return this.#create(SELL, orderId, { kind, quantity: lots, amount: quote, budget }, { tif: TIF.ioc, ...words });
  }

  cancel(
    orderId: string,
    { user = 'ada', mayPark = false, end = 1 }: { user?: string; mayPark?: boolean; end?: OrderEnd } = {},
  ): Told[] {
    this.engine.cancel({ ...keyOf(user, orderId), ...this.#received(), mayPark, end });
    return this.#drain();
  }

  cancelAll({
    user = 'ada',
    beforeNs = 0n,
    end = ORDER_END.userRequested,
    sideOnly = 0,
  }: {
    user?: string;
    beforeNs?: bigint;
    end?: OrderEnd;
    sideOnly?: number;
  } = {}): Told[] {
    const { words, userAt } = keyOf(user, 'any');
    const before = { beforeHigh: highWord(beforeNs), beforeLow: lowWord(beforeNs) };
    this.engine.cancelAll({ words, userAt, end, sideOnly, protectionGroup: 0, ...before, ...this.#received() });
    return this.#drain();
  }

  /** A quote set; its revision is now unless it is given. */
  quotes(bids: QuoteWords['bids'], asks: QuoteWords['asks'], words: Partial<QuoteWords> = {}): Told[] {
    const requestId = ++this.#requestId;
    const times = { revisionNs: this.nowNs, receivedNs: this.nowNs };
    this.engine.applyQuoteSet(quoteSet({ ...times, requestId, bids, asks, ...words }));
    return this.#drain();
  }

  endQuotes(name = '', end: OrderEnd = ORDER_END.userRequested, words: EndWords = {}): Told[] {
    this.engine.endQuoteSets(endOfSets('ada', name, { receivedNs: this.nowNs, end, ...words }));
    return this.#drain();
  }

  /** @param terms what is left out stays. `timestampNs`: now, if left out. */
  replace(
    orderId: string,
    terms: {
      price?: number;
      quantity?: number;
      above?: number;
      below?: number;
      timestampNs?: bigint;
      user?: string;
      isNodeMade?: boolean;
      isComplete?: boolean;
      /** An amend, and the revision that it expects; null for none. */
      amends?: bigint | null;
      room?: Room;
    },
  ): Told[] {
    const { price = 0, quantity = 0, user = 'ada', timestampNs = this.nowNs } = terms;
    const { isNodeMade = false, isComplete = false, amends } = terms;
    this.engine.replace({
      ...keyOf(user, orderId),
      ...this.#received(),
      ...triggerOf(terms),
      ...(terms.room ?? NO_BOUND),
      timestampHigh: highWord(timestampNs),
      timestampLow: lowWord(timestampNs),
      price,
      quantity,
      isNodeMade,
      isComplete,
      isAmend: amends !== undefined,
      expectsRevision: (amends ?? null) !== null,
      expectedHigh: highWord(amends ?? 0n),
      expectedLow: lowWord(amends ?? 0n),
    });
    return this.#drain();
  }

  /** Clearing rejects a trade that was published as `matched`. */
  rollback(matched: Told | undefined, makerReason: RollbackReason, takerReason: RollbackReason): Told[] {
    this.rollBackMore(matched, makerReason, takerReason);
    this.engine.uncross(Number.POSITIVE_INFINITY);
    return this.#drain();
  }

  /** And more of the same go follow: the book is not uncrossed yet. */
  rollBackMore(matched: Told | undefined, makerReason: RollbackReason, takerReason: RollbackReason): void {
    const [, , tradeId, makerOrder, takerOrder, , quantity] = (matched ?? []) as number[];
    const trade = { tradeId, makerOrder, takerOrder, quantity } as Record<'tradeId' | 'makerOrder', number> &
      Record<'takerOrder' | 'quantity', number>;
    this.engine.rollback({ ...trade, makerReason, takerReason, receivedNs: this.#now });
  }

  /** Clearing has confirmed whatever was not rolled back. */
  settleAll(): Told[] {
    this.engine.settled(this.engine.lastTradeId);
    return this.#drain();
  }

  /** The gateway answers one `triggered`. */
  release(
    order: number,
    quantity: number,
    end: OrderEnd | 0 = 0,
    words: { triggered?: number; budget?: number; bound?: number; room?: Room } = {},
  ): Told[] {
    const triggered = words.triggered ?? this.#publishedAt.get(order) ?? 0;
    const { budget = 0, bound = 0, room = NO_BOUND } = words;
    this.engine.release({ receivedNs: this.#now, order, triggered, quantity, budget, bound, ...room, end });
    return this.#drain();
  }

  poll(budget: number = PUMP_BUDGET): Told[] {
    this.engine.poll(this.nowNs, budget);
    return this.#drain();
  }

  /**
   * Confirms everything, and lets the gateway answer `end` (go on, if left out) to all that fires, until there is
   * nothing left.
   */
  runTriggers(end: OrderEnd | 0 = 0): Told[] {
    const all = this.settleAll();
    for (let busy = true; busy; ) {
      const told = this.poll();
      for (const [, , order, , quantity] of only(told, 'triggered') as [string, number, number, number, number][])
        told.push(...this.release(order, quantity, end));
      all.push(...told);
      busy = told.length > 0;
    }
    return all;
  }

  /** Lets time pass and ticks. */
  wait(ns: bigint): Told[] {
    this.nowNs += ns;
    this.engine.tick(this.nowNs);
    return this.#drain();
  }

  setMarket(status: MarketStatus): void {
    this.#status = status;
    this.engine.setMarket({ status, selfTradePrevention: this.#isPrevented });
  }

  preventSelfTrades(isPrevented = true): void {
    this.#isPrevented = isPrevented;
    this.setMarket(this.#status);
  }

  /** [price, quantity] from the best on. */
  levels(side: Side): [number, number][] {
    const levels: [number, number][] = [];
    this.engine.forEachLevel(side, (price, quantity) => levels.push([price, quantity]));
    return levels;
  }

  /** Defines slot 1 of a user, or gives it other limits: none, and a window of a second, if left out; reset by hand. */
  protect(user: string, terms: Partial<ProtectionTerms>, resetTrip = 0): void {
    const none = { windowNs: SECOND_NS, frozenNs: 0n, maxFills: null, maxLots: null, maxMoney: null, minMoney: 0n };
    this.engine.setProtection({ ...keyOf(user, 'any'), slot: 1, terms: { ...none, ...terms }, resetTrip });
  }

  /** Removes slot 1 of a user. */
  unprotect(user: string): void {
    this.engine.setProtection({ ...keyOf(user, 'any'), slot: 1, terms: null, resetTrip: 0 });
  }

  get #now(): TimestampNs {
    return this.nowNs as TimestampNs;
  }

  #received(): ReturnType<typeof received> {
    return received(++this.#requestId, this.nowNs);
  }

  #create(side: Side, orderId: string, terms: Partial<Terms>, words: OrderWords): Told[] {
    const { user = 'ada', tif = TIF.gtc, lifeNs = LIFE_NS, creationNs = this.nowNs, subAccount = 0 } = words;
    this.engine.create(
      newOrder({
        ...PLAIN_TERMS,
        user,
        orderId,
        requestId: ++this.#requestId,
        receivedNs: this.nowNs,
        creationNs,
        expiryNs: creationNs + lifeNs,
        subAccount,
        side,
        tif,
        flags:
          (words.postOnly ? ORDER_FLAG.postOnly : 0) |
          (words.nodeMade ? ORDER_FLAG.nodeMade : 0) |
          (words.reduceOnly === undefined ? 0 : ORDER_FLAG.reduceOnly),
        room: words.reduceOnly ?? NO_BOUND,
        parentId: words.parent ?? '',
        protectionGroup: words.group ?? 0,
        ...triggerOf(words),
        ...terms,
      }),
    );
    return this.#drain();
  }

  #drain(): Told[] {
    this.engine.checkInvariants();
    this.engine.checkBatch(this.recorder.toldLevels);
    const told = this.recorder.take();
    for (const [name, sequence, order] of told)
      if (name === 'triggered') this.#publishedAt.set(order as number, sequence as number);
    return told;
  }
}

function triggerOf({ above = 0, below = 0 }: { above?: number; below?: number }): {
  triggerKind: TriggerKind;
  triggerPrice: number;
} {
  if (above > 0) return { triggerKind: TRIGGER.above, triggerPrice: above };
  return { triggerKind: below > 0 ? TRIGGER.below : TRIGGER.none, triggerPrice: below };
}

/** Two strangers trade one lot; there must be space for it between the sides of the book. */
export function tradeAt(fixture: MarketFixture, price: number = LAST_PRICE): Told[] {
  const name = `trade-${fixture.engine.sequence}`;
  const told = fixture.sell(`${name}-s`, 1, price, { user: 'eve' });
  return [...told, ...fixture.buy(`${name}-b`, 1, price, { user: 'fay' })];
}

/** The events of these names, in order. */
export function only(told: readonly Told[], ...names: readonly string[]): Told[] {
  return told.filter(([name]) => names.includes(name));
}

/** The names of the emitted events, levels aside. */
export function names(told: readonly Told[]): string[] {
  return told.map(([name]) => name).filter((name) => name !== 'levelChanged' && name !== 'depthCommitted');
}

/** `ended` events as [order, end, remaining]. */
export function ends(told: readonly Told[]): unknown[] {
  return only(told, 'ended').map(([, , order, end, , remaining]) => [order, end, remaining]);
}

/** `matched` events as [maker, taker, price, quantity]. */
export function fills(told: readonly Told[]): unknown[] {
  return only(told, 'matched').map(([, , , maker, taker, price, quantity]) => [maker, taker, price, quantity]);
}

/** `triggered` and `activated` events as [name, order, quantity]. */
export function releases(told: readonly Told[]): unknown[] {
  return only(told, 'triggered', 'activated').map(([name, , order, , quantity]) => [name, order, quantity]);
}
