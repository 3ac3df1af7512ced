/**
 * The ledger as a child would keep it: balances in a map, one copy of all of it before every decision, whole numbers
 * of 10^-18 throughout. Slow, short, and written from the requirements alone: the judge of src/clearing.
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

const FEE_ACCOUNT = 'ca987f7a6cd863424641d4500dc7deba9782533ee071c5f00bc300bc85452437' as UserId;
const USD = '0' as AssetId;
const ETH = '2' as AssetId;
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
  filled: number;
  spent: bigint;
  /** Whether a fill of it was rolled back. */
  lost: boolean;
  /** Of an order whose parent is over. */
  enabled: number;
}

interface PlainFill {
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
  orders: Map<Sequence, PlainOrder> = new Map();
  fees: { maker: number; taker: number } = { maker: 0, taker: 0 };

  private key(user: UserId, subAccount: number, asset: AssetId): string {
    return `${user.slice(0, 2)}/${subAccount}/${asset}`;
  }

  owned(user: UserId, subAccount: number, asset: AssetId): bigint {
    return this.balances.get(this.key(user, subAccount, asset)) ?? 0n;
  }

  credit(user: UserId, subAccount: number, asset: AssetId, amount: bigint): void {
    this.balances.set(this.key(user, subAccount, asset), this.owned(user, subAccount, asset) + amount);
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
      if (order.waits) continue;
      const notional = this.moneyLeft(order);
      held +=
        order.side === SIDE.sell
          ? this.lotsLeft(order) * QUANTITY_UNIT
          : notional + ceilMillionth(notional * BigInt(this.fees.taker));
    }
    return held;
  }

  /** Lots that may trade: of a child, what its parent has bought or sold. */
  enabled(order: PlainOrder): number {
    const parent = order.parent === 0 ? undefined : this.orders.get(order.parent);
    return parent === undefined ? order.enabled : Math.min(order.quantity, parent.filled);
  }

  private lotsLeft(order: PlainOrder): bigint {
    const bound = order.kind === ORDER_KIND.marketQuote && order.quantity === 0 ? order.budget : this.enabled(order);
    return BigInt(Math.max(0, bound - order.filled));
  }

  private moneyLeft(order: PlainOrder): bigint {
    if (order.kind === ORDER_KIND.limit) return BigInt(order.price) * this.lotsLeft(order) * NOTIONAL_UNIT;
    if (order.kind === ORDER_KIND.marketBase && this.lotsLeft(order) === 0n) return 0n;
    const left = BigInt(order.amount || order.budget) * QUANTITY_UNIT - order.spent;
    return left < 0n ? 0n : left;
  }

  transfer(user: UserId, from: number, to: number, asset: AssetId, amount: bigint): boolean {
    if (amount === 0n || this.owned(user, from, asset) - this.held(user, from, asset) < amount) return false;
    this.credit(user, from, asset, -amount);
    this.credit(user, to, asset, amount);
    return true;
  }

  create(name: Sequence, order: Omit<PlainOrder, 'filled' | 'spent' | 'lost' | 'enabled'>): void {
    this.orders.set(name, { ...order, filled: 0, spent: 0n, lost: false, enabled: order.quantity });
  }

  replace(name: Sequence, price: number, quantity: number): void {
    const order = this.orders.get(name) as PlainOrder;
    order.price = price;
    order.quantity = quantity;
    order.enabled = quantity;
  }

  /** So many lots of it are in the main book. A child of which all are is an order like any other. */
  release(name: Sequence, quantity: number): void {
    const order = this.orders.get(name) as PlainOrder;
    order.waits = false;
    if (quantity !== order.quantity) return;
    order.parent = 0;
    order.enabled = quantity;
  }

  /** The market says that the order is over. @returns how it ends, or null when it does not. */
  end(name: Sequence, said: OrderEnd): OrderEnd | null {
    const order = this.orders.get(name) as PlainOrder;
    if (order.kind === ORDER_KIND.limit) {
      if (said === ORDER_END.filled && order.filled < order.quantity) return null;
      this.remove(name);
      return said;
    }
    this.remove(name);
    if (!order.lost || said === ORDER_END.userRequested) return said;
    return order.filled === 0 ? ORDER_END.rolledBack : ORDER_END.immediateOrCancel;
  }

  /** What its fills have enabled of its children stays. */
  private remove(name: Sequence): void {
    for (const child of this.orders.values()) if (child.parent === name) child.enabled = this.enabled(child);
    this.orders.delete(name);
  }

  /** Decides a unit of fills. @returns 'confirmed' or the two reasons, for each. */
  decide(fills: readonly PlainFill[], taker: Sequence, price: number): readonly unknown[] {
    const before = { balances: new Map(this.balances), orders: structuredClone(this.orders) };
    for (const failed of fills) {
      const maker = this.orders.get(failed.maker) as PlainOrder;
      const own = [
        this.reason(maker, this.orders.get(taker) as PlainOrder, failed.quantity, price, this.fees.maker),
        this.reason(this.orders.get(taker) as PlainOrder, maker, failed.quantity, price, this.fees.taker),
      ] as const;
      if (own[0] === R.none && own[1] === R.none) {
        this.book(maker, this.orders.get(taker) as PlainOrder, failed.quantity, price);
        continue;
      }
      this.balances = before.balances;
      this.orders = before.orders;
      for (const name of [taker, ...fills.map((fill) => fill.maker)]) (this.orders.get(name) as PlainOrder).lost = true;
      return fills.map((fill) => [
        (fill === failed && own[0]) || R.counterpartyAtFault,
        own[1] || R.counterpartyAtFault,
      ]);
    }
    for (const [name, order] of [...this.orders]) {
      const countsLots = order.kind !== ORDER_KIND.marketQuote;
      if (countsLots && order.filled >= order.quantity && order.filled > 0) this.drop(name, fills, taker);
    }
    return fills.map(() => 'confirmed');
  }

  /** Filled orders are gone; one that a replace made small waits for its market's word. */
  private drop(name: Sequence, fills: readonly PlainFill[], taker: Sequence): void {
    if (name === taker || fills.some((fill) => fill.maker === name)) this.remove(name);
  }

  private reason(order: PlainOrder, other: PlainOrder, quantity: number, price: number, rate: number): number {
    const notional = BigInt(price) * BigInt(quantity) * NOTIONAL_UNIT;
    const isWorse = order.side === SIDE.buy ? price > order.price : price < order.price;
    const beyond = order.kind === ORDER_KIND.limit && isWorse;
    if (order.forged) return R.invalidSignature;
    if (order.side === other.side || order.waits || beyond || rate > order.maxFeeRate) return R.invalidOrder;
    if (order.quantity > 0 && order.filled + quantity > this.enabled(order)) return R.overfill;
    if (order.amount > 0 && order.spent + notional > BigInt(order.amount) * QUANTITY_UNIT) return R.overfill;
    const needs =
      order.side === SIDE.buy ? notional + ceilMillionth(notional * BigInt(rate)) : BigInt(quantity) * QUANTITY_UNIT;
    const has = this.owned(order.user, order.subAccount, order.side === SIDE.buy ? USD : ETH);
    return has < needs ? R.insufficientInventory : R.none;
  }

  private book(maker: PlainOrder, taker: PlainOrder, quantity: number, price: number): void {
    const notional = BigInt(price) * BigInt(quantity) * NOTIONAL_UNIT;
    for (const [order, rate] of [
      [maker, this.fees.maker],
      [taker, this.fees.taker],
    ] as const) {
      const sign = order.side === SIDE.buy ? 1n : -1n;
      const fee = ceilMillionth(notional * BigInt(rate));
      this.credit(order.user, order.subAccount, ETH, sign * BigInt(quantity) * QUANTITY_UNIT);
      this.credit(order.user, order.subAccount, USD, -sign * notional - fee);
      this.credit(FEE_ACCOUNT, 0, USD, fee);
      order.filled += quantity;
      order.spent += notional;
    }
  }
}
