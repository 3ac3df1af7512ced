/**
 * The ledger as a child would keep it: balances and positions in maps, one copy of all of it before every decision, whole
 * numbers of 10^-18 throughout. Slow, short, and written from the requirements alone: the judge of src/clearing.
 */

import type { AssetId, UserId } from '../../src/core/ids.ts';
import {
  ORDER_END,
  ORDER_KIND,
  type OrderEnd,
  type OrderKind,
  ROLLBACK_REASON,
  SIDE,
  type Side,
  type Tif,
} from '../../src/core/order-terms.ts';
import type { Sequence } from '../../src/core/units.ts';
import { ETH, USD } from './names.ts';
import { initial, lastWorth, type PlainAsset, type PlainLeg, type PlainOpenOrder, pressure } from './plain-margin.ts';
import { measuresAbove, PlainRisk } from './plain-risk.ts';

const FEE_ACCOUNT = 'ca987f7a6cd863424641d4500dc7deba9782533ee071c5f00bc300bc85452437' as UserId;
const R = ROLLBACK_REASON;

export interface PlainOrder {
  user: UserId;
  subAccount: number;
  side: Side;
  kind: OrderKind;
  tif: Tif;
  price: number;
  quantity: number;
  amount: number;
  budget: number;
  /** Whether it waits for its trigger, or for the word that it may go. */
  waits: boolean;
  parent: Sequence | 0;
  maxFeeRate: number;
  forged: boolean;
  isSpot: boolean;
  reduceOnly: boolean;
  filled: number;
  spent: bigint;
  /** Whether a fill of it was rolled back. */
  lost: boolean;
  /** Of an order with an ended parent. */
  enabled: number;
}

type Kind = 'spot' | 'cross' | 'isolated';

/** Asset leg and USD leg. */
export interface PlainPosition {
  base: bigint;
  quote: bigint;
}

interface Book {
  readonly balances: Map<string, bigint>;
  readonly positions: Map<string, PlainPosition>;
}

export interface PlainFill {
  readonly maker: Sequence;
  readonly quantity: number;
}

/** Cents × 1e-4 ETH: 12 more zeros make 18 decimals. */
const NOTIONAL_UNIT = 10n ** 12n;
const QUANTITY_UNIT = 10n ** 14n;

/** The least integer not below numerator / 1e6. */
function ceilMillionth(numerator: bigint): bigint {
  let quotient = numerator / 1_000_000n;
  if (quotient * 1_000_000n < numerator) quotient += 1n;
  return quotient;
}

export class PlainClearing {
  balances: Map<string, bigint> = new Map();
  /** By `user/account`: there is one asset beside USD. */
  positions: Map<string, PlainPosition> = new Map();
  orders: Map<Sequence, PlainOrder> = new Map();
  readonly risk: PlainRisk = new PlainRisk();
  /** Types of the accounts beyond 0 and 1, by `user/account`. */
  readonly kinds: Map<string, Kind> = new Map();
  now: bigint = 0n;
  fees: { maker: number; taker: number } = { maker: 0, taker: 0 };

  kindOf(user: UserId, subAccount: number): Kind | null {
    if (subAccount < 2) return subAccount === 0 ? 'spot' : 'cross';
    return this.kinds.get(`${user.slice(0, 2)}/${subAccount}`) ?? null;
  }

  position(user: UserId, subAccount: number): PlainPosition {
    return this.positions.get(`${user.slice(0, 2)}/${subAccount}`) ?? { base: 0n, quote: 0n };
  }

  openPositions(): Readonly<Record<string, readonly bigint[]>> {
    const open = [...this.positions].filter(([, { base, quote }]) => base !== 0n || quote !== 0n);
    return Object.fromEntries(open.map(([key, { base, quote }]) => [key, [base, quote]]));
  }

  #key(user: UserId, subAccount: number, asset: AssetId): string {
    return `${user.slice(0, 2)}/${subAccount}/${asset}`;
  }

  owned(user: UserId, subAccount: number, asset: AssetId): bigint {
    return this.balances.get(this.#key(user, subAccount, asset)) ?? 0n;
  }

  credit(user: UserId, subAccount: number, asset: AssetId, amount: bigint): void {
    this.balances.set(this.#key(user, subAccount, asset), this.owned(user, subAccount, asset) + amount);
  }

  nonEmpty(): Readonly<Record<string, bigint>> {
    return Object.fromEntries([...this.balances].filter(([, amount]) => amount !== 0n));
  }

  faucet(user: UserId, subAccount: number, asset: AssetId, amount: bigint): boolean {
    if (this.owned(user, subAccount, asset) + amount < 0n) return false;
    this.credit(user, subAccount, asset, amount);
    return true;
  }

  held(user: UserId, subAccount: number, asset: AssetId): bigint {
    let held = 0n;
    for (const order of this.orders.values()) {
      const spends = order.side === SIDE.buy ? USD : ETH;
      if (order.user !== user || order.subAccount !== subAccount || spends !== asset) continue;
      if (order.waits || !order.isSpot) continue;
      const notional = this.#moneyLeft(order);
      held +=
        order.side === SIDE.sell
          ? this.#lotsLeft(order) * QUANTITY_UNIT
          : notional + ceilMillionth(notional * BigInt(this.fees.taker));
    }
    return held;
  }

  /** Lots that may trade: of a child, what its parent has bought or sold. */
  enabled(order: PlainOrder): number {
    const parent = order.parent === 0 ? undefined : this.orders.get(order.parent);
    if (parent === undefined) return order.enabled;
    return Math.min(order.quantity, this.#confirmed?.get(order.parent as Sequence) ?? parent.filled);
  }

  /** While a unit is decided: what was filled before it, which is all that is confirmed. */
  #confirmed: Map<Sequence, number> | null = null;

  #lotsLeft(order: PlainOrder): bigint {
    const bound = order.kind === ORDER_KIND.marketQuote && order.quantity === 0 ? order.budget : this.enabled(order);
    return BigInt(Math.max(0, bound - order.filled));
  }

  #moneyLeft(order: PlainOrder): bigint {
    if (order.kind === ORDER_KIND.limit) return BigInt(order.price) * this.#lotsLeft(order) * NOTIONAL_UNIT;
    if (order.kind === ORDER_KIND.marketBase && this.#lotsLeft(order) === 0n) return 0n;
    const left = BigInt(order.amount || order.budget) * QUANTITY_UNIT - order.spent;
    return left < 0n ? 0n : left;
  }

  transfer(move: {
    user: UserId;
    from: number;
    to: number;
    type: Kind | null;
    asset: AssetId;
    amount: bigint;
  }): boolean {
    const { user, from, to, type, asset, amount } = move;
    const { row } = this.risk;
    const target = this.kindOf(user, to) ?? type;
    if (amount === 0n || from === to || this.kindOf(user, from) === null || target === null) return false;
    if ((type === null) === (this.kindOf(user, to) === null)) return false;
    if (asset === ETH && from === 0 && row.cf === 0) return false;
    if (asset === ETH && target === 'cross' && row.isolatedOnly) return false;
    if (this.owned(user, from, asset) - this.held(user, from, asset) < amount) return false;
    const left = this.owned(user, from, asset) - amount;
    const there = this.owned(user, to, asset) + amount;
    if (from !== 0 && this.kindOf(user, from) !== 'spot') {
      if (left !== 0n && this.#isBelowMinimum(asset, left)) return false;
      const after = { balances: new Map(this.balances), positions: this.positions };
      after.balances.set(this.#key(user, from, asset), left);
      if (this.#isBound(user, from) && this.#capacity(after, user, from) < 0n) return false;
    }
    const enters = target !== 'spot' && this.kindOf(user, from) === 'spot';
    if (target !== 'spot' && this.#isBelowMinimum(asset, there)) return false;
    if (enters && asset === ETH && row.collateralCap !== null && this.#collateral(this) + amount > row.collateralCap) {
      return false;
    }
    if (type !== null) this.kinds.set(`${user.slice(0, 2)}/${to}`, type);
    this.credit(user, from, asset, -amount);
    this.credit(user, to, asset, amount);
    return true;
  }

  /** The minimum is in USD, of the asset's row; that of USD itself stays 0 here. */
  #isBelowMinimum(asset: AssetId, amount: bigint): boolean {
    return asset === ETH && amount * this.#assetOf(this).mark < this.risk.row.minimum * 10n ** 18n;
  }

  #isBound(user: UserId, subAccount: number): boolean {
    const { base, quote } = this.position(user, subAccount);
    return base < 0n || quote < 0n || this.#pressing(user, subAccount, 'margin').length > 0;
  }

  /** Reduce-only orders press on nothing (MON-09). @param kind spot or margin. */
  #pressing(user: UserId, subAccount: number, kind: string): readonly PlainOrder[] {
    const own = [...this.orders.values()].filter((of) => of.user === user && of.subAccount === subAccount);
    return own.filter(
      ({ waits, reduceOnly, isSpot }) => !waits && !reduceOnly && kind === (isSpot ? 'spot' : 'margin'),
    );
  }

  /** Initial surplus of the account at the worse price, less the heavier side of its open orders. */
  #capacity(book: Book, user: UserId, subAccount: number): bigint {
    const legs = this.#legs(book, user, subAccount, this.#assetOf(book));
    const sides = [true, false].map((buys) => this.#pressureOf(user, subAccount, buys));
    const [surplus = 0n] = [initial(legs, 'oracle'), initial(legs, 'mark')].sort((a, b) => (a < b ? -1 : 1));
    const [, heavier = 0n] = sides.sort((a, b) => (a < b ? -1 : 1));
    return surplus - heavier;
  }

  #pressureOf(user: UserId, subAccount: number, buys: boolean): bigint {
    const open = (kind: string): readonly PlainOpenOrder[] =>
      this.#pressing(user, subAccount, kind).map((order) => ({
        buys: order.side === SIDE.buy,
        lots: Number(this.#lotsLeft(order)),
        price: BigInt(order.price) * 10n ** 16n,
      }));
    const { base } = this.position(user, subAccount);
    const book = { lot: QUANTITY_UNIT, takerRate: this.fees.taker };
    const of = (kind: string, reducible: bigint): bigint =>
      pressure(this.#assetOf(this), buys, open(kind), { ...book, base: reducible });
    const leveraged = of('margin', base);
    return buys ? leveraged + of('spot', 0n) : leveraged;
  }

  /** ETH now, with the legs of a book. */
  #assetOf(book: Book): PlainAsset {
    return this.risk.asset(
      this.now,
      [...book.positions.values()].map(({ base }) => base),
    );
  }

  #legs(book: Book, user: UserId, subAccount: number, asset: PlainAsset): readonly PlainLeg[] {
    const of = (id: AssetId): bigint => book.balances.get(this.#key(user, subAccount, id)) ?? 0n;
    const { base, quote } = book.positions.get(`${user.slice(0, 2)}/${subAccount}`) ?? { base: 0n, quote: 0n };
    return [
      { asset: null, raw: of(USD) },
      { asset: null, raw: quote },
      { asset, raw: of(ETH) },
      { asset, raw: base },
    ];
  }

  /** ETH in all margin accounts. */
  #collateral(book: Book): bigint {
    let sum = 0n;
    for (const [key, amount] of book.balances) {
      const [user = '', index = ''] = key.split('/');
      const isMargin = index !== '0' && this.kindOf(user as UserId, Number(index)) !== 'spot';
      if (key.endsWith(`/${ETH}`) && isMargin) sum += amount;
    }
    return sum;
  }

  closePosition(user: UserId, subAccount: number): boolean {
    const { base, quote } = this.position(user, subAccount);
    if (base !== 0n || quote === 0n) return false;
    if (this.owned(user, subAccount, USD) - this.held(user, subAccount, USD) + quote < 0n && quote < 0n) return false;
    this.credit(user, subAccount, USD, quote);
    this.positions.delete(`${user.slice(0, 2)}/${subAccount}`);
    return true;
  }

  create(name: Sequence, order: Omit<PlainOrder, 'filled' | 'spent' | 'lost' | 'enabled'>): void {
    this.orders.set(name, { ...order, filled: 0, spent: 0n, lost: false, enabled: order.quantity });
  }

  replace(name: Sequence, price: number, quantity: number): void {
    const order = this.orders.get(name) as PlainOrder;
    const isBound = order.parent !== 0 && !this.orders.has(order.parent) && order.enabled < order.quantity;
    order.price = price;
    order.quantity = quantity;
    order.enabled = isBound ? Math.min(quantity, order.enabled) : quantity;
  }

  /** So many lots of it are in the main book. A child of which all are is an order like any other. */
  release(name: Sequence, quantity: number): void {
    const order = this.orders.get(name) as PlainOrder;
    order.waits = false;
    if (quantity !== order.quantity) return;
    order.parent = 0;
    order.enabled = quantity;
  }

  /** The market ends the order. @returns how it ends, or null when it does not. */
  end(name: Sequence, said: OrderEnd): OrderEnd | null {
    const order = this.orders.get(name) as PlainOrder;
    if (order.kind === ORDER_KIND.limit) {
      if (said === ORDER_END.filled && order.filled < order.quantity) return null;
      this.#remove(name);
      return said;
    }
    this.#remove(name);
    if (!order.lost || said === ORDER_END.userRequested) return said;
    return order.filled === 0 ? ORDER_END.rolledBack : ORDER_END.immediateOrCancel;
  }

  /** What its fills have enabled of its children stays. */
  #remove(name: Sequence): void {
    for (const child of this.orders.values()) if (child.parent === name) child.enabled = this.enabled(child);
    this.orders.delete(name);
  }

  #copy(): Book {
    return { balances: new Map(this.balances), positions: new Map(this.positions) };
  }

  /** Decides a unit of fills. @returns 'confirmed' or the two reasons, for each. */
  decide(fills: readonly PlainFill[], taker: Sequence, price: number): readonly unknown[] {
    this.#confirmed = new Map([...this.orders].map(([name, { filled }]) => [name, filled]));
    const told = this.#decideUnit(fills, taker, price);
    this.#confirmed = null;
    for (const [name, order] of told[0] === 'confirmed' ? [...this.orders] : []) {
      const countsLots = order.kind !== ORDER_KIND.marketQuote;
      if (countsLots && order.filled >= order.quantity && order.filled > 0) this.#drop(name, fills, taker);
    }
    return told;
  }

  #decideUnit(fills: readonly PlainFill[], taker: Sequence, price: number): readonly unknown[] {
    const start = { ...this.#copy(), orders: structuredClone(this.orders) };
    for (const failed of fills) {
      const own = this.#try(failed, taker, price, start);
      if (own.every((reason) => reason === R.none)) continue;
      Object.assign(this, start);
      for (const name of [taker, ...fills.map((fill) => fill.maker)]) (this.orders.get(name) as PlainOrder).lost = true;
      return fills.map((fill) => [
        (fill === failed && own[0]) || R.counterpartyAtFault,
        own[1] || R.counterpartyAtFault,
      ]);
    }
    for (const { quantity } of fills) {
      const notional = BigInt(price) * BigInt(quantity) * 10n ** 12n;
      this.risk.filled(BigInt(price) * 10n ** 16n, { taker, notional, now: this.now });
    }
    return fills.map(() => 'confirmed');
  }

  /** Books one fill and returns what is wrong with it, maker first. */
  #try(fill: PlainFill, taker: Sequence, price: number, start: Book): readonly [number, number] {
    const sides = [this.orders.get(fill.maker) as PlainOrder, this.orders.get(taker) as PlainOrder] as const;
    const rates = [this.fees.maker, this.fees.taker] as const;
    const before = this.#copy();
    const judged = ([0, 1] as const).map((at) =>
      this.#reason(sides[at], sides[1 - at] as PlainOrder, fill.quantity, price, rates[at]),
    );
    const alone = ([0, 1] as const).map((at) => {
      this.#book(sides[at], fill.quantity, price, rates[at]);
      const own = this.#copy();
      Object.assign(this, { balances: new Map(before.balances), positions: new Map(before.positions) });
      return own;
    });
    const reduces = sides.map((order) => this.#isReducing(order, fill.quantity));
    for (const at of [0, 1] as const) {
      this.#book(sides[at], fill.quantity, price, rates[at]);
      sides[at].filled += fill.quantity;
      sides[at].spent += BigInt(price) * BigInt(fill.quantity) * NOTIONAL_UNIT;
    }
    const reasons = ([0, 1] as const).map((at) => {
      if (judged[at] !== R.none) return judged[at] as number;
      return this.#reasonAfter(sides[at], reduces[at] === true, { start, before, own: alone[at] as Book });
    });
    return [reasons[0] as number, reasons[1] as number];
  }

  #isReducing(order: PlainOrder, quantity: number): boolean {
    const { base } = this.position(order.user, order.subAccount);
    const lots = BigInt(quantity) * QUANTITY_UNIT;
    if (order.isSpot || this.kindOf(order.user, order.subAccount) === 'spot') return false;
    return order.side === SIDE.buy ? base <= -lots : base >= lots;
  }

  #reasonAfter(order: PlainOrder, isReducing: boolean, books: { start: Book; before: Book; own: Book }): number {
    if (this.kindOf(order.user, order.subAccount) === 'spot') return R.none;
    const now = this.#assetOf(this);
    if (!order.isSpot && !isReducing && now.broken) return R.pricingFailure;
    if (!isReducing && this.#raisesAbove(books)) return R.protocolCapBreach;
    const { base } = this.position(order.user, order.subAccount);
    const opensShort = !order.isSpot && !isReducing && order.side === SIDE.sell && base < 0n;
    if (opensShort && this.#isLentOut()) return R.protocolCapBreach;
    const after = this.#legs(this, order.user, order.subAccount, now);
    const was = this.#legs(books.start, order.user, order.subAccount, this.#assetOf(books.start));
    if (after.every(({ raw }) => raw >= 0n)) return R.none;
    const prices = ['oracle', 'mark'] as const;
    const hasMargin = prices.every((at) => initial(after, at) >= 0n || initial(after, at) > initial(was, at));
    const isSolvent = prices.every((at) => lastWorth(after, at) >= 0n || lastWorth(after, at) >= lastWorth(was, at));
    return isSolvent && (isReducing || hasMargin) ? R.none : R.insufficientMargin;
  }

  /** Whether shorts owe more than longs have, by more than a part of all ETH that there is (MON-10). */
  #isLentOut(): boolean {
    const { credits, borrows } = this.#assetOf(this);
    let held = credits - borrows;
    for (const [key, amount] of this.balances) if (key.endsWith(`/${ETH}`)) held += amount;
    const lent = borrows - credits;
    return lent > 0n && lent * 10n ** 18n > this.risk.row.utilization * held;
  }

  /** Whether a measure is above its cap, above where it was, and this side alone would have raised it. */
  #raisesAbove({ before, own }: { before: Book; own: Book }): boolean {
    const of = (book: Book): Readonly<Record<'oi' | 'net' | 'spot', bigint>> => {
      const { credits, borrows } = this.#assetOf(book);
      const net = credits - borrows;
      const [, larger = 0n] = [credits, borrows].sort((a, b) => (a < b ? -1 : 1));
      return {
        oi: larger,
        net: net < 0n ? -net : net,
        spot: this.#collateral(book),
      };
    };
    const above = measuresAbove(this.risk.row, this.#assetOf(this), this.#collateral(this));
    return above.some((name) => of(this)[name] > of(before)[name] && of(own)[name] > of(before)[name]);
  }

  /** Filled orders are gone; one that a replace made small waits for its market's word. */
  #drop(name: Sequence, fills: readonly PlainFill[], taker: Sequence): void {
    if (name === taker || fills.some((fill) => fill.maker === name)) this.#remove(name);
  }

  #reason(order: PlainOrder, other: PlainOrder, quantity: number, price: number, rate: number): number {
    const notional = BigInt(price) * BigInt(quantity) * NOTIONAL_UNIT;
    const isWorse = order.side === SIDE.buy ? price > order.price : price < order.price;
    const beyond = order.kind === ORDER_KIND.limit && isWorse;
    if (order.forged) return R.invalidSignature;
    if (order.side === other.side || order.waits || beyond || rate > order.maxFeeRate) return R.invalidOrder;
    if (!this.#mayTrade(order, quantity)) return R.invalidOrder;
    if (order.quantity > 0 && order.filled + quantity > this.enabled(order)) return R.overfill;
    if (order.amount > 0 && order.spent + notional > BigInt(order.amount) * QUANTITY_UNIT) return R.overfill;
    if (!order.isSpot) return order.reduceOnly && !this.#isReducing(order, quantity) ? R.reduceOnlyViolation : R.none;
    const needs =
      order.side === SIDE.buy ? notional + ceilMillionth(notional * BigInt(rate)) : BigInt(quantity) * QUANTITY_UNIT;
    const has = this.owned(order.user, order.subAccount, order.side === SIDE.buy ? USD : ETH);
    return has < needs ? R.insufficientInventory : R.none;
  }

  /** Margin orders need a margin account, and isolated-only assets stay out of cross-margin unless they leave it. */
  #mayTrade(order: PlainOrder, quantity: number): boolean {
    const kind = this.kindOf(order.user, order.subAccount);
    if (order.isSpot ? order.reduceOnly : kind === 'spot') return false;
    if (kind !== 'cross' || !this.risk.row.isolatedOnly) return true;
    return order.isSpot ? order.side === SIDE.sell : this.#isReducing(order, quantity);
  }

  /** One side of a fill: balances, or the two legs. */
  #book(order: PlainOrder, quantity: number, price: number, rate: number): void {
    const notional = BigInt(price) * BigInt(quantity) * NOTIONAL_UNIT;
    const sign = order.side === SIDE.buy ? 1n : -1n;
    const fee = ceilMillionth(notional * BigInt(rate));
    const [base, usd] = [sign * BigInt(quantity) * QUANTITY_UNIT, -sign * notional - fee];
    this.credit(FEE_ACCOUNT, 0, USD, fee);
    if (order.isSpot || this.kindOf(order.user, order.subAccount) === 'spot') {
      this.credit(order.user, order.subAccount, ETH, base);
      this.credit(order.user, order.subAccount, USD, usd);
      return;
    }
    const was = this.position(order.user, order.subAccount);
    const key = `${order.user.slice(0, 2)}/${order.subAccount}`;
    this.positions.set(key, { base: was.base + base, quote: was.quote + usd });
  }
}
