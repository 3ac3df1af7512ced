/** A market engine with short words for its commands, for tests that tell a story. Time stands still until `wait`. */
import {
  type MarketStatus,
  ORDER_FLAG,
  type RollbackReason,
  type Side,
  TIF,
  type Tif,
} from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { MarketEngine, type MarketEngineOptions } from '../../src/matching/market-engine.ts';
import { BUY, keyOf, MarketRecorder, newOrder, SELL, START_NS, type Told } from './market-recorder.ts';

export const LIFE_NS: bigint = 2_592_000_000_000_000n;

export interface OrderWords {
  readonly user?: string;
  readonly tif?: Tif;
  readonly postOnly?: boolean;
  /** Life from creation; 30 days if left out. */
  readonly lifeNs?: bigint;
  readonly creationNs?: bigint;
}

export class MarketDesk {
  readonly recorder: MarketRecorder = new MarketRecorder();
  readonly engine: MarketEngine;
  nowNs: bigint = START_NS;
  #requestId = 0;

  constructor(options: Partial<MarketEngineOptions> = {}) {
    this.engine = new MarketEngine({ events: this.recorder, ...options });
  }

  buy(orderId: string, quantity: number, price: number, words: OrderWords = {}): Told[] {
    return this.#create(BUY, orderId, { quantity, price }, words);
  }

  sell(orderId: string, quantity: number, price: number, words: OrderWords = {}): Told[] {
    return this.#create(SELL, orderId, { quantity, price }, words);
  }

  cancel(orderId: string, { user = 'ada', hold = false }: { user?: string; hold?: boolean } = {}): Told[] {
    const requestId = ++this.#requestId;
    this.engine.cancel({ ...keyOf(user, orderId), requestId, receivedNs: this.#now, hold });
    return this.#heard();
  }

  /** @param terms price or quantity 0: unchanged. `timestampNs`: now, if left out. */
  replace(orderId: string, terms: { price?: number; quantity?: number; timestampNs?: bigint; user?: string }): Told[] {
    const { price = 0, quantity = 0, user = 'ada' } = terms;
    const timestampNs = (terms.timestampNs ?? this.nowNs) as TimestampNs;
    const requestId = ++this.#requestId;
    const key = keyOf(user, orderId);
    this.engine.replace({ ...key, requestId, receivedNs: this.#now, timestampNs, price, quantity });
    return this.#heard();
  }

  /** Clearing refuses a trade that was told as `matched`. */
  rollback(matched: Told | undefined, makerReason: RollbackReason, takerReason: RollbackReason): Told[] {
    const [, , tradeId, makerOrder, takerOrder, , quantity] = (matched ?? []) as number[];
    const trade = { tradeId, makerOrder, takerOrder, quantity } as Record<'tradeId' | 'makerOrder', number> &
      Record<'takerOrder' | 'quantity', number>;
    this.engine.rollback({ ...trade, makerReason, takerReason, receivedNs: this.#now });
    return this.#heard();
  }

  settleAll(): void {
    this.engine.settled(this.engine.lastTradeId);
  }

  /** Lets time pass and ticks. */
  wait(ns: bigint): Told[] {
    this.nowNs += ns;
    this.engine.tick(this.nowNs);
    return this.#heard();
  }

  setMarket(status: MarketStatus): void {
    this.engine.setMarket(status);
  }

  /** [price, quantity] from the best on. */
  levels(side: Side): [number, number][] {
    const levels: [number, number][] = [];
    this.engine.forEachLevel(side, (price, quantity) => levels.push([price, quantity]));
    return levels;
  }

  get #now(): TimestampNs {
    return this.nowNs as TimestampNs;
  }

  #create(side: Side, orderId: string, terms: { quantity: number; price: number }, words: OrderWords): Told[] {
    const { user = 'ada', tif = TIF.gtc, postOnly = false, lifeNs = LIFE_NS } = words;
    const creationNs = words.creationNs ?? this.nowNs;
    this.engine.create(
      newOrder({
        user,
        orderId,
        requestId: ++this.#requestId,
        receivedNs: this.#now,
        creationNs: creationNs as TimestampNs,
        expiryNs: (creationNs + lifeNs) as TimestampNs,
        side,
        tif,
        flags: postOnly ? ORDER_FLAG.postOnly : 0,
        ...terms,
      }),
    );
    return this.#heard();
  }

  #heard(): Told[] {
    this.engine.checkInvariants();
    return this.recorder.take();
  }
}

/** The events of these names, in order. */
export function only(told: readonly Told[], ...names: readonly string[]): Told[] {
  return told.filter(([name]) => names.includes(name));
}

/** `ended` events as [order, end, remaining]. */
export function ends(told: readonly Told[]): unknown[] {
  return only(told, 'ended').map(([, , order, end, , remaining]) => [order, end, remaining]);
}

/** `matched` events as [maker, taker, price, quantity]. */
export function fills(told: readonly Told[]): unknown[] {
  return only(told, 'matched').map(([, , , maker, taker, price, quantity]) => [maker, taker, price, quantity]);
}
