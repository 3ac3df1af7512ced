/**
 * Plays random commands to the engine and the reference. What a command means is dealt out of a few random words; what
 * is likely is a matter of the theme, since some sequences are long: a child must be admitted, fired, activated in part
 * and outlive its parent before its end can be compared.
 */
import { RAW_MAX } from '../../src/core/limits.ts';
import {
  MARKET_STATUS,
  ORDER_END,
  ORDER_FLAG,
  ORDER_KIND,
  type OrderKind,
  ROLLBACK_REASON,
  type RollbackReason,
  type Side,
  TIF,
  type Tif,
  TRIGGER,
  type TriggerKind,
} from '../../src/core/order-terms.ts';
import { MarketPair } from './market-pair.ts';
import { LIFE_NS, PLAIN_TERMS, type Terms } from './market-recorder.ts';
import type { ReferenceReplace } from './reference-book.ts';
import type { ReferenceOrder } from './reference-order.ts';

const LIMITS = {
  priceDecimals: 1,
  parkedCancelNs: 5_000_000_000n,
  parkedCancelsPerUserMax: 2,
  rememberedIdsPerUserMax: 5,
  expiredPerPoll: 1,
};
const SECOND_NS = 1_000_000_000n;
const DAY_NS = 86_400n * SECOND_NS;
const REASONS: readonly RollbackReason[] = Object.values(ROLLBACK_REASON).filter((reason) => reason !== 0);

/** What is likely in a run. A share is one in so many. */
interface Theme {
  readonly users: readonly string[];
  /** Neighbouring prices from 1000 on. */
  readonly prices: number;
  readonly oddPriceShare: number;
  readonly hugeQuantityShare: number;
  readonly childShare: number;
  readonly triggerShare: number;
  /** Weights of the actions. */
  readonly actions: Readonly<Record<Action, number>>;
  /** Time passes by nanoseconds only. */
  readonly isCalm: boolean;
  /** Most orders are over at the next full second, all at once. */
  readonly isShort: boolean;
  /** Orders in a group of protection. */
  readonly memberShare: number;
}

type Action = keyof typeof MIXED;

const MIXED = {
  create: 38,
  replace: 13,
  amend: 3,
  cancel: 8,
  cancelAll: 2,
  rollback: 6,
  uncross: 3,
  settle: 8,
  poll: 7,
  release: 7,
  answer: 1,
  tick: 2,
  rules: 5,
  restart: 1,
  rest: 1,
  rebuild: 1,
  nibble: 0,
  reserve: 1,
  protect: 2,
};

const THEMES: readonly Theme[] = [
  {
    users: ['ada', 'bob', 'cyd'],
    prices: 9,
    oddPriceShare: 6,
    hugeQuantityShare: 32,
    childShare: 6,
    triggerShare: 5,
    actions: MIXED,
    isCalm: false,
    isShort: false,
    memberShare: 8,
  },
  {
    users: ['ada', 'bob'],
    prices: 3,
    oddPriceShare: 64,
    hugeQuantityShare: 200,
    childShare: 2,
    triggerShare: 8,
    actions: { ...MIXED, cancel: 5, cancelAll: 1, rollback: 8, settle: 14, answer: 12, rules: 2, nibble: 16 },
    isCalm: true,
    isShort: false,
    memberShare: 8,
  },
  {
    users: ['ada', 'bob'],
    prices: 2,
    oddPriceShare: 64,
    hugeQuantityShare: 2,
    childShare: 4,
    triggerShare: 6,
    actions: { ...MIXED, rollback: 12, settle: 10, answer: 6, restart: 4 },
    isCalm: true,
    isShort: false,
    memberShare: 8,
  },
  {
    users: ['ada', 'bob', 'cyd'],
    prices: 4,
    oddPriceShare: 64,
    hugeQuantityShare: 200,
    childShare: 4,
    triggerShare: 5,
    actions: { ...MIXED, create: 70, replace: 20, cancel: 4, cancelAll: 1, rollback: 10, answer: 8, tick: 0, rules: 1 },
    isCalm: false,
    isShort: true,
    memberShare: 3,
  },
  {
    users: ['ada', 'bob', 'cyd'],
    prices: 4,
    oddPriceShare: 64,
    hugeQuantityShare: 64,
    childShare: 12,
    triggerShare: 12,
    actions: { ...MIXED, create: 60, cancel: 4, cancelAll: 1, rollback: 8, settle: 6, rules: 2, protect: 8 },
    isCalm: true,
    isShort: false,
    memberShare: 2,
  },
];

/** Deals numbers out of the words of a command. */
export class Dealer {
  #rest: bigint;

  constructor(words: ArrayLike<number>) {
    this.#rest = Array.from(words).reduce((all, word) => (all << 32n) | BigInt(word), 0n);
  }

  below(count: number): number {
    const dealt = Number(this.#rest % BigInt(count));
    this.#rest /= BigInt(count);
    return dealt;
  }

  oneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  weighed<T extends string>(weights: Readonly<Record<T, number>>): T {
    const entries = Object.entries(weights) as [T, number][];
    let dealt = this.below(entries.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [choice, weight] of entries) {
      if (dealt < weight) return choice;
      dealt -= weight;
    }
    throw new Error('a dealt number lies below the sum');
  }
}

/** One random command after the other, to both books. */
export class MarketPlayer {
  readonly #pair: MarketPair;
  readonly #theme: Theme;
  readonly #actions: Readonly<Record<Action, (dealer: Dealer) => void>> = {
    create: (dealer) => this.#create(dealer),
    replace: (dealer) => this.#replace(dealer),
    amend: (dealer) => this.#amend(dealer),
    cancel: (dealer) => this.#cancel(dealer),
    cancelAll: (dealer) => this.#cancelAll(dealer),
    rollback: (dealer) => this.#rollback(dealer),
    uncross: (dealer) => this.#pair.uncross(dealer.pick([1, 1, 2, 3, Number.POSITIVE_INFINITY])),
    settle: (dealer) => this.#settle(dealer),
    poll: (dealer) => this.#pair.poll(dealer.pick([1, 2, 64])),
    release: (dealer) => this.#release(dealer),
    answer: () => this.#answer(),
    tick: () => this.#pair.tick(),
    rules: (dealer) => this.#setRules(dealer),
    restart: (dealer) => this.#restart(dealer),
    rest: (dealer) => this.#pair.comeToRest(dealer.pick([0, 0, ORDER_END.marginInsufficient])),
    rebuild: () => this.#pair.rebuildAtRest(),
    nibble: (dealer) => this.#nibble(dealer),
    protect: (dealer) => this.#protect(dealer),
    reserve: (dealer) => this.#pair.reserveTradeIds(dealer.pick([1, 2, 100])),
  };

  /** @param theme any number. */
  constructor(seen: Set<string>, theme: number) {
    this.#pair = new MarketPair(LIMITS, seen);
    this.#theme = THEMES[theme % THEMES.length] as Theme;
  }

  step(dealer: Dealer): void {
    this.#passTime(dealer);
    this.#actions[dealer.weighed(this.#theme.actions)](dealer);
  }

  #passTime(dealer: Dealer): void {
    const step = dealer.below(32);
    if (step < 26) this.#pair.nowNs += BigInt(step);
    else if (this.#theme.isCalm && !dealer.oneIn(32)) this.#pair.nowNs += 1n;
    else if (step < 30) this.#pair.nowNs += 1_500_000_000n;
    else if (step < 31) this.#pair.nowNs += DAY_NS / 2n;
    else if (dealer.oneIn(8)) this.#pair.nowNs += 20n * DAY_NS;
  }

  #create(dealer: Dealer): void {
    const isChild = dealer.oneIn(this.#theme.childShare);
    const terms = {
      ...PLAIN_TERMS,
      ...this.#name(dealer),
      ...this.#sizing(dealer, isChild),
      side: dealer.below(2) as Side,
      subAccount: dealer.oneIn(5) ? 1 : 0,
      ...(isChild || dealer.oneIn(this.#theme.triggerShare) ? this.#trigger(dealer) : {}),
    };
    const flags = terms.flags | (dealer.oneIn(12) ? ORDER_FLAG.nodeMade : 0);
    const creationNs = this.#pair.nowNs - dealer.pick([0n, 1n, 1_000n, 2n * SECOND_NS, DAY_NS]);
    const expiryNs = terms.tif === TIF.gtd ? this.#goodTill(dealer) : creationNs + LIFE_NS;
    const whole = { ...terms, ...this.#membership(terms.user, dealer), flags, creationNs, expiryNs };
    this.#pair.create(isChild ? this.#asChild(whole, dealer) : whole);
  }

  /** Mostly of a group that there is. */
  #membership(user: string, dealer: Dealer): { readonly protectionGroup?: number } {
    if (!dealer.oneIn(this.#theme.memberShare)) return {};
    const own = this.#pair.reference.groups.filter((group) => group.user === user);
    return { protectionGroup: own.length === 0 || dealer.oneIn(16) ? 1 : dealer.pick(own).slot };
  }

  /** Defines a group, changes its limits, resets it, or removes it. */
  #protect(dealer: Dealer): void {
    const user = dealer.pick(this.#theme.users);
    const slot = dealer.pick([1, 2]);
    const group = this.#pair.reference.groupOf(user, slot);
    const kind = dealer.below(6);
    if (group !== undefined && group.terms !== null && kind < 2)
      this.#pair.setProtection(user, slot, group.terms, true);
    else if (kind === 2 && dealer.oneIn(4)) this.#removeGroup(user, slot);
    else
      this.#pair.setProtection(user, slot, {
        windowNs: dealer.pick([10n, 100n, SECOND_NS, 60n * SECOND_NS]),
        frozenNs: dealer.pick([0n, 5n, 50n, SECOND_NS]),
        maxFills: dealer.pick([null, 1, 2, 3]),
        maxLots: dealer.pick([null, 1n, 5n, 12n]),
        maxMoney: dealer.pick([null, 3_000n, 20_000n]),
        minMoney: dealer.pick([0n, 2_000n, 5_000n]),
      });
  }

  /** The gateway removes no group that has orders. */
  #removeGroup(user: string, slot: number): void {
    const group = this.#pair.reference.groupOf(user, slot);
    const hasOrders = this.#pair.reference.orders.some((order) => order.group === group);
    if (group !== undefined && !hasOrders && group.freeze === null) this.#pair.setProtection(user, slot, null);
  }

  /** Takes a little from an order that has children. */
  #nibble(dealer: Dealer): void {
    const { orders } = this.#pair.reference;
    const parents = orders.filter(
      (order) => order.state === 'resting' && orders.some(({ parent }) => parent === order),
    );
    if (parents.length === 0) return;
    const { side, price } = dealer.pick(parents);
    const { nowNs } = this.#pair;
    const times = { creationNs: nowNs, expiryNs: nowNs + LIFE_NS };
    const size = { price, quantity: 1 + dealer.below(3), tif: TIF.ioc, side: (1 - side) as Side };
    this.#pair.create({ ...PLAIN_TERMS, ...this.#name(dealer), ...times, ...size });
  }

  /** Often a full second, so that orders expire at one instant. */
  #goodTill(dealer: Dealer): bigint {
    const { nowNs } = this.#pair;
    const nextSecond = (nowNs / SECOND_NS + 1n) * SECOND_NS;
    return this.#theme.isShort ? nextSecond : dealer.pick([nextSecond, nowNs + 3n, nowNs + DAY_NS, nowNs]);
  }

  /** Mostly one that its parent may have. */
  #asChild(terms: Terms, dealer: Dealer): Terms {
    const orders = this.#pair.reference.orders;
    const parents = orders.filter(
      ({ state, kind, triggerKind }) => state === 'resting' && kind === 0 && triggerKind === 0,
    );
    const parent = parents.length === 0 || dealer.oneIn(8) ? this.#anyOrder(dealer) : dealer.pick(parents);
    if (parent === undefined) return { ...terms, parentId: 'nobody' };
    const named = { ...terms, user: parent.user, parentId: parent.orderId };
    if (dealer.oneIn(8)) return named;
    return { ...named, side: (1 - parent.side) as Side, subAccount: parent.subAccount };
  }

  /** A child is not sized in quote: the gateway sees to it. */
  #sizing(dealer: Dealer, isChild: boolean): Partial<Terms> & { tif: Tif; flags: number } {
    const kind: OrderKind = dealer.pick([ORDER_KIND.limit, ORDER_KIND.limit, ORDER_KIND.marketBase]);
    if (!isChild && dealer.oneIn(5)) return this.#quoteSized(dealer);
    return kind === ORDER_KIND.limit ? this.#limit(dealer) : this.#baseSized(dealer);
  }

  #limit(dealer: Dealer): Partial<Terms> & { tif: Tif; flags: number } {
    const isShort = this.#theme.isShort && !dealer.oneIn(4);
    const tif: Tif = isShort ? TIF.gtd : dealer.pick([TIF.gtc, TIF.gtc, TIF.gtc, TIF.gtd, TIF.ioc, TIF.fok]);
    const flags = tif <= TIF.gtd && dealer.oneIn(6) ? ORDER_FLAG.postOnly : 0;
    return { tif, flags, price: this.#price(dealer), quantity: this.#quantity(dealer) };
  }

  #baseSized(dealer: Dealer): Partial<Terms> & { tif: Tif; flags: number } {
    const amount = dealer.oneIn(2) ? money(dealer) : 0;
    const budget = dealer.oneIn(2) ? money(dealer) : 0;
    const price = this.#bound(dealer);
    return { ...immediate(dealer, ORDER_KIND.marketBase), price, quantity: this.#quantity(dealer), amount, budget };
  }

  #quoteSized(dealer: Dealer): Partial<Terms> & { tif: Tif; flags: number } {
    const cap = dealer.oneIn(2) ? this.#quantity(dealer) : 0;
    const budget = dealer.oneIn(3) ? this.#quantity(dealer) : 0;
    const price = this.#bound(dealer);
    return { ...immediate(dealer, ORDER_KIND.marketQuote), price, quantity: cap, amount: money(dealer), budget };
  }

  /** Of a market order in a margin account (MON-07). */
  #bound(dealer: Dealer): number {
    return dealer.oneIn(3) ? this.#price(dealer) : 0;
  }

  #replace(dealer: Dealer): void {
    const order = dealer.oneIn(4) ? undefined : this.#growingOrAny(dealer);
    const terms = {
      ...this.#name(dealer, order),
      timestampNs: this.#pair.nowNs + dealer.pick([0n, 0n, 1n, 2n, -1n, -3n * SECOND_NS]),
      price: dealer.oneIn(2) ? 0 : this.#price(dealer),
      quantity: dealer.oneIn(2) ? 0 : this.#quantity(dealer),
      triggerKind: TRIGGER.none as TriggerKind,
      triggerPrice: 0,
      ...(dealer.oneIn(4) ? this.#trigger(dealer) : {}),
    };
    if (order !== undefined && dealer.oneIn(4)) this.#pair.replace({ ...terms, ...repetition(order, dealer) });
    else if (dealer.oneIn(3)) this.#pair.replace({ ...terms, ...this.#completed(terms, order, dealer) });
    else this.#pair.replace(terms);
  }

  /** Complete terms, mostly with the trigger of the order itself. */
  #completed(terms: ReferenceReplace, order: ReferenceOrder | undefined, dealer: Dealer): Partial<ReferenceReplace> {
    const price = terms.price === 0 ? (order?.price ?? 1_000) : terms.price;
    const own = order === undefined || dealer.oneIn(4) ? terms : order;
    const { triggerKind, triggerPrice } = own;
    const quantity = terms.quantity === 0 ? this.#quantity(dealer) : terms.quantity;
    return { price: price === 0 ? 1_000 : price, quantity, triggerKind, triggerPrice, isComplete: true };
  }

  /** Mostly for the revision that the order has, and for less than its total. */
  #amend(dealer: Dealer): void {
    const order = dealer.oneIn(8) ? undefined : this.#growingOrAny(dealer);
    const less = order === undefined ? 0 : Number(order.quantity) - 1 - dealer.below(3);
    const { nowNs } = this.#pair;
    this.#pair.amend({
      ...this.#name(dealer, order),
      timestampNs: nowNs + dealer.pick([0n, 1n, 2n, 2n, -1n]),
      quantity: less < 1 || dealer.oneIn(4) ? this.#quantity(dealer) : less,
      expectedNs: dealer.oneIn(6) ? dealer.pick([null, nowNs]) : (order?.revisionNs ?? null),
    });
  }

  #cancel(dealer: Dealer): void {
    const order = dealer.oneIn(2) ? this.#anyOrder(dealer) : undefined;
    const end = dealer.oneIn(4) ? ORDER_END.liquidation : ORDER_END.userRequested;
    this.#pair.cancel({ ...this.#name(dealer, order), mayPark: dealer.oneIn(2), end });
  }

  #cancelAll(dealer: Dealer): void {
    const { nowNs } = this.#pair;
    const user = dealer.pick([...this.#theme.users, 'nobody']);
    const before = dealer.pick([0n, nowNs, nowNs - 1_000n, nowNs - DAY_NS]);
    this.#pair.cancelAll(user, before, dealer.oneIn(4) ? ORDER_END.rateLimited : ORDER_END.userRequested);
  }

  /** Some in one go, now and then. */
  #rollback(dealer: Dealer): void {
    for (let more = dealer.pick([1, 1, 1, 2, 4]); more > 0; more--) this.#rollBackOne(dealer);
  }

  #rollBackOne(dealer: Dealer): void {
    const { undecided } = this.#pair.reference;
    if (undecided.length === 0) return;
    const growing = undecided.filter(({ taker, maker }) => isGrowing(taker) || isGrowing(maker));
    const trade = dealer.pick(growing.length > 0 && dealer.oneIn(2) ? growing : undecided);
    const blame = dealer.below(4);
    const own = dealer.pick(REASONS);
    const makerReason = blame === 1 || blame === 3 ? own : ROLLBACK_REASON.counterpartyAtFault;
    const takerReason = blame === 2 || blame === 3 ? own : ROLLBACK_REASON.counterpartyAtFault;
    this.#pair.rollback(trade, makerReason, takerReason);
  }

  #settle(dealer: Dealer): void {
    const trade = this.#pair.reference.undecided[dealer.below(6)];
    if (trade !== undefined) this.#pair.settle(trade.tradeId);
  }

  /** Mostly the right answer to the last event, sometimes one that was overtaken. */
  #release(dealer: Dealer): void {
    const awaited = this.#pair.reference.orders.filter(({ isAnswerPending }) => isAnswerPending);
    const order = awaited.length > 0 && !dealer.oneIn(8) ? dealer.pick(awaited) : this.#anyOrder(dealer);
    if (order === undefined) return;
    const lots = Number(order.told ?? order.quantity);
    const { marginInsufficient, reduceOnly } = ORDER_END;
    const end = dealer.pick([0, 0, 0, 0, 0, 0, marginInsufficient, reduceOnly] as const);
    const quantity = dealer.oneIn(8) ? lots + 1 : lots;
    const budget = dealer.oneIn(2) ? 0 : 1 + dealer.below(20_000);
    this.#pair.release(order.sequence, quantity, end, { late: dealer.oneIn(8), budget, bound: this.#bound(dealer) });
  }

  /** The gateway releases everything that is published now. */
  #answer(): void {
    this.#pair.poll();
    for (const order of this.#pair.reference.orders.filter(({ isAnswerPending }) => isAnswerPending))
      this.#pair.release(order.sequence, Number(order.told), 0);
    this.#pair.poll();
  }

  #setRules(dealer: Dealer): void {
    const { active, cancelOnly, halted } = MARKET_STATUS;
    const kind = dealer.below(4);
    if (kind === 0) this.#pair.setStatus(dealer.pick([active, active, active, cancelOnly, halted]));
    else if (kind < 3) this.#pair.setSelfTradePrevention(dealer.oneIn(2));
    else if (dealer.oneIn(2)) this.#pair.setCollar(1, RAW_MAX);
    else this.#pair.setCollar(999 + dealer.below(5), 1_001 + dealer.below(7));
  }

  #restart(dealer: Dealer): void {
    this.#pair.nowNs += dealer.pick([0n, SECOND_NS, DAY_NS]);
    this.#pair.restart();
  }

  #anyOrder(dealer: Dealer): ReferenceOrder | undefined {
    const { orders } = this.#pair.reference;
    return orders.length === 0 ? undefined : dealer.pick(orders);
  }

  /** Often a child that is in force in part. */
  #growingOrAny(dealer: Dealer): ReferenceOrder | undefined {
    const growing = this.#pair.reference.orders.filter(isGrowing);
    return growing.length > 0 && dealer.oneIn(2) ? dealer.pick(growing) : this.#anyOrder(dealer);
  }

  #name(dealer: Dealer, order?: ReferenceOrder): ReturnType<MarketPair['named']> {
    if (order !== undefined) return this.#pair.named(order.user, order.orderId);
    const number = dealer.below(18);
    return this.#pair.named(dealer.pick(this.#theme.users), `id-${'x'.repeat(number % 7)}${number}`);
  }

  /** Of a family's children mostly one that any price fires. */
  #trigger(dealer: Dealer): { triggerKind: TriggerKind; triggerPrice: number } {
    if (this.#theme.actions.nibble > 0 && !dealer.oneIn(4)) return { triggerKind: TRIGGER.above, triggerPrice: 1 };
    return { triggerKind: dealer.pick([TRIGGER.above, TRIGGER.below]), triggerPrice: this.#price(dealer) };
  }

  /** Mostly a few neighbouring prices, sometimes far apart, up to the last one. */
  #price(dealer: Dealer): number {
    if (!dealer.oneIn(this.#theme.oddPriceShare)) return 1_000 + dealer.below(this.#theme.prices);
    return dealer.pick([1, 31, 32, 970, 1_056, 5_000_000_000, RAW_MAX - 1, RAW_MAX]);
  }

  #quantity(dealer: Dealer): number {
    if (dealer.oneIn(this.#theme.hugeQuantityShare)) return dealer.pick([RAW_MAX, RAW_MAX - 3, RAW_MAX - 9]);
    return 1 + dealer.below(9);
  }
}

function isGrowing({ state, activated, quantity }: ReferenceOrder): boolean {
  return (state === 'resting' || state === 'fired') && activated > 0n && activated < quantity;
}

/** What makes a replace the same once more as the one (or the create) that the order saw last. */
function repetition({ timestampNs, triggerKind, triggerPrice }: ReferenceOrder, dealer: Dealer): object {
  const trigger = dealer.oneIn(2) ? { triggerKind, triggerPrice } : {};
  return { timestampNs, quantity: 0, price: 0, ...trigger };
}

function immediate(dealer: Dealer, kind: OrderKind): { kind: OrderKind; tif: Tif; flags: number } {
  return { kind, tif: dealer.pick([TIF.ioc, TIF.ioc, TIF.fok]), flags: 0 };
}

/** What some lots cost at the neighbouring prices, or nearly; one quote unit is ten of price × quantity. */
function money(dealer: Dealer): number {
  if (dealer.oneIn(16)) return dealer.pick([1, 99, RAW_MAX]);
  return 100 * (1 + dealer.below(12)) + dealer.below(8);
}
