/**
 * One market and clearing as an order manager sees them: events with their sequences and trade ids, in the manager's own
 * terms, and what users own in plain sums. What happens next is chosen elsewhere: by hand (order-fixture.ts, margin-fixture.ts),
 * or at random (plain-exchange.ts, loose-market.ts, plain-pressure.ts).
 */
import { notional18, quantity18, tradingFee18 } from '../../src/core/arithmetic.ts';
import { type AssetId, USD, type UserId } from '../../src/core/ids.ts';
import type { MarketDefinition } from '../../src/core/market-definition.ts';
import {
  type OrderEnd,
  type RollbackReason,
  SIDE,
  type Side,
  TRIGGER,
  type TriggerKind,
} from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../../src/core/units.ts';
import type { OrderManager } from '../../src/gateway/orders/order-manager.ts';

/** Delivers an event: at once, or through a queue. */
type Deliver = (event: () => void) => void;

interface Options {
  readonly nowNs: () => TimestampNs;
  /** Events of the market, and of clearing: at once, in the order in which they happen. */
  readonly fromMarket?: Deliver;
  readonly fromClearing?: Deliver;
  /** In place of the rates of the definition. */
  readonly feeRates?: Pick<MarketDefinition, 'makerFeeRate' | 'takerFeeRate'>;
}

const AT_ONCE: Deliver = (event) => event();

/** The methods of the market return the sequence of their event, `match` the trade id. */
export class ImitationMarket {
  readonly manager: OrderManager;
  readonly definition: MarketDefinition;
  /** Of the last event. */
  sequence = 0;
  tradeId = 0;
  readonly #options: Required<Options>;

  constructor(manager: OrderManager, definition: MarketDefinition, options: Options) {
    this.manager = manager;
    this.definition = definition;
    this.#options = { fromMarket: AT_ONCE, fromClearing: AT_ONCE, feeRates: definition, ...options };
  }

  /** Numbers an event. */
  get nextSequence(): number {
    this.sequence += 1;
    return this.sequence;
  }

  // ---- the market

  admit(requestId: number, refusal = 0, sequence: number = this.nextSequence): number {
    const event = { ...this.#at(sequence), requestId, rejectCode: refusal };
    return this.#send(event, () => this.manager.onAccepted(event));
  }

  /** @param sequence of the order that the request led to; 0 for none. */
  answer(requestId: number, sequence = 0, rejectCode = 0): void {
    const event = { ...this.#at(sequence), requestId, rejectCode };
    this.#send(event, () => this.manager.onAck(event));
  }

  match(makerOrder: number, takerOrder: number, price: number, quantity: number, takerSide: Side = SIDE.sell): number {
    this.tradeId += 1;
    const { makerFeeRate, takerFeeRate } = this.#options.feeRates;
    const traded = { price: price as RawPrice, quantity: quantity as RawQuantity, makerFeeRate, takerFeeRate };
    const sides = { tradeId: this.tradeId, makerOrder, takerOrder, takerSide };
    const event = { ...this.#at(this.nextSequence), ...sides, ...traded };
    this.#send(event, () => this.manager.onMatched(event));
    return this.tradeId;
  }

  /** A replace is applied. @param trigger while the order waits. */
  replaced(
    order: number,
    price: number,
    quantity: number,
    trigger: { readonly kind: TriggerKind; readonly price: number } = { kind: TRIGGER.none, price: 0 },
    requestId = 0,
  ): number {
    const terms = { price: price as RawPrice, quantity: quantity as RawQuantity, timestampNs: this.#options.nowNs() };
    const triggered = { triggerKind: trigger.kind, triggerPrice: trigger.price as RawPrice };
    const event = { ...this.#about(order), ...terms, ...triggered, requestId };
    return this.#send(event, () => this.manager.onReplaced(event));
  }

  end(order: number, end: OrderEnd, faultReason: RollbackReason = 0): number {
    const event = { ...this.#about(order), end, faultReason };
    return this.#send(event, () => this.manager.onEnded(event));
  }

  /** The cancel of an order with pending fills is pending. */
  cover(order: number): number {
    const event = this.#about(order);
    return this.#send(event, () => this.manager.onCancelPending(event));
  }

  restore(order: number): number {
    const event = this.#about(order);
    return this.#send(event, () => this.manager.onRestored(event));
  }

  trigger(order: number, quantity: number, triggerPrice = 200_000): number {
    const event = { ...this.#about(order), quantity, triggerPrice: triggerPrice as RawPrice };
    return this.#send(event, () => this.manager.onTriggered(event));
  }

  activate(order: number, quantity: number): number {
    const event = { ...this.#about(order), quantity };
    return this.#send(event, () => this.manager.onActivated(event));
  }

  // ---- clearing

  /** Clearing has passed the events of the market up to a sequence. */
  decide(sequence: number = this.sequence): void {
    const { marketIndex } = this.definition;
    this.#options.fromClearing(() => this.manager.onMarketDecided({ marketIndex, sequence }));
  }

  confirm(tradeId: number, { maker, taker }: { maker: bigint; taker: bigint } = { maker: 0n, taker: 0n }): void {
    const fees = { makerFee: maker as Amount18, takerFee: taker as Amount18 };
    const event = { ...this.#at(0), tradeId, ...fees };
    this.#options.fromClearing(() => this.manager.onFillConfirmed(event));
  }

  rollBack(tradeId: number, makerReason: RollbackReason, takerReason: RollbackReason): void {
    const event = { ...this.#at(0), tradeId, makerReason, takerReason };
    this.#options.fromClearing(() => this.manager.onFillRolledBack(event));
  }

  #at(sequence: number) {
    return { marketIndex: this.definition.marketIndex, sequence, timeNs: this.#options.nowNs() };
  }

  #about(order: number) {
    return { ...this.#at(this.nextSequence), order };
  }

  #send({ sequence }: { readonly sequence: number }, event: () => void): number {
    this.#options.fromMarket(event);
    return sequence;
  }
}

// ---- money

/** What one side of a fill moves; a fee leaves in USD. */
interface Move {
  readonly base: bigint;
  readonly quote: bigint;
  readonly notional: Amount18;
  readonly fee: Amount18;
}

export function moveOf(
  { price, quantity }: { readonly price: number; readonly quantity: number },
  side: Side,
  feeRate: number,
  market: MarketDefinition,
): Move {
  const notional = notional18(price as RawPrice, quantity as RawQuantity, market);
  const base = quantity18(quantity as RawQuantity, market.quantityDecimals);
  const fee = tradingFee18(notional, feeRate);
  return side === SIDE.buy
    ? { base, quote: -notional - fee, notional, fee }
    : { base: -base, quote: notional - fee, notional, fee };
}

/** What users own of USD and of one asset. */
export class PlainBalances {
  readonly owned: Map<string, bigint> = new Map();
  readonly #asset: AssetId;

  constructor(asset: AssetId) {
    this.#asset = asset;
  }

  of(user: UserId, asset: AssetId): bigint {
    return this.owned.get(`${user}/${asset}`) ?? 0n;
  }

  set(user: UserId, asset: AssetId, amount: bigint): void {
    this.owned.set(`${user}/${asset}`, amount);
  }

  move(user: UserId, { base, quote }: Pick<Move, 'base' | 'quote'>): void {
    this.set(user, USD, this.of(user, USD) + quote);
    this.set(user, this.#asset, this.of(user, this.#asset) + base);
  }

  /** @returns takes everything back to how it is now. */
  mark(): () => void {
    const before = new Map(this.owned);
    return () => {
      for (const [key, amount] of before) this.owned.set(key, amount);
    };
  }
}

/** The one at a place of a random number among those that fit. */
export function pickOf<Item>(items: readonly Item[], pick: number, fits: (item: Item) => boolean): Item | undefined {
  const fitting = items.filter(fits);
  return fitting[pick % Math.max(1, fitting.length)];
}
