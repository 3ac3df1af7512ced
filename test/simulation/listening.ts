/**
 * What users see on their streams alone: orders, fills, positions, spot balances. Like a client it starts from reads
 * and follows events; what it then holds must be what reads return (invariants.ts).
 *
 *   Created, Replaced, Amended, Triggered, Canceled, Removed ─▶ orders
 *   Pending, Confirmed, Rollbacked ─────────────────▶ fills ─▶ balances, positions
 *   transferred, depositLanded, withdrawalCompleted ▶ balances, what is locked included
 *
 * Each word is judged when it comes: nothing is published twice, late or out of order.
 */
import assert from 'node:assert/strict';
import { DEFAULT_SETTINGS } from '../../src/clearing/registry/settings.ts';
import type { SettlementRow, WithdrawalRow } from '../../src/clearing/rows.ts';
import type { AccountEventView } from '../../src/codec/account-events.ts';
import type { PositionView } from '../../src/codec/margin-replies.ts';
import type { ProtectionTriggeredView } from '../../src/codec/order-events.ts';
import { must } from '../../src/core/assert.ts';
import { type AssetId, USD, type UserId } from '../../src/core/ids.ts';
import type { BookEvent, UserTradeEvent } from '../../src/gateway/orders/book/order-events.ts';
import type { UserEventStreams } from '../../src/gateway/user-streams.ts';
import type { OrderPlan } from './actions.ts';
import { USERS } from './people.ts';
import { costOf, planOf, pooledOf, worthOf } from './vaults.ts';

/** Raw figures of a market with two price and four quantity decimals, in 18 decimals. */
export const LOT_18: bigint = 10n ** 14n;
export const CENT_LOT_18: bigint = 10n ** 12n;

/** An order that its owner has sent and that some word was about. */
export interface ReceivedOrder {
  readonly plan: OrderPlan;
  /** On which connection it was sent as which; nothing for REST. */
  readonly place: { readonly connection: number; readonly number: number } | null;
  price: number;
  quantity: number;
  isWaiting: boolean;
  /** `Canceled` or the reason of `Removed`. */
  end: string | null;
  /** An entry that left its quote set. */
  leftSet: boolean;
  wasCreated: boolean;
  confirmed: number;
  pending: number;
}

/** What one user believes. */
export class Listener {
  readonly user: UserId;
  /** By `keyOf`. */
  readonly orders: Map<string, ReceivedOrder> = new Map();
  /** Ids with an event since the last look. */
  readonly touched: Set<string> = new Set();
  /**
   * By `account asset`, 18 decimals; lots count as the asset that they are pooled into, which no event shows. USD is that of the spot balance and of all quote legs together: the streams do not
   * show in which order a position was folded and its last fills were confirmed.
   */
  readonly owned: Map<string, bigint> = new Map();
  /** Base legs of positions, likewise. */
  readonly bases: Map<string, bigint> = new Map();
  /** Accounts of which a position was folded or taken over since the last look. */
  readonly cleared: Set<number> = new Set();
  /** Confirmed sides, as `market tradeId isMaker`, since the last look. */
  readonly confirmed: Set<string> = new Set();
  /** Amends that were applied, since the last look. */
  amended = 0;
  /** Trips reported since the node began, by `market group`. */
  readonly trips: Map<string, { readonly lastNs: bigint; readonly count: number }> = new Map();
  /** Last number created, by connection and market. */
  readonly #lastCreated = new Map<string, number>();
  readonly #open = new Map<string, UserTradeEvent>();
  /** Withdrawals that the queue showed as executed, as `chain counter`. */
  readonly #paid = new Set<string>();

  constructor(user: UserId) {
    this.user = user;
  }

  get undecided(): number {
    return this.#open.size;
  }

  /** Before any event of it. */
  sent(plan: OrderPlan, place: ReceivedOrder['place']): void {
    const key = keyOf(plan.id, plan.market);
    if (this.orders.has(key)) return;
    const { price = 0, quantity = 0, market, above, below } = plan.wish;
    const base = market !== undefined && 'base' in market ? market.base : quantity;
    this.orders.set(key, {
      plan,
      place,
      price,
      quantity: market === undefined ? quantity : base,
      isWaiting: above !== undefined || below !== undefined,
      end: null,
      leftSet: false,
      wasCreated: false,
      confirmed: 0,
      pending: 0,
    });
  }

  orderEvent(event: BookEvent): void {
    const id = String(event.orderId);
    if (event.kind.endsWith('Failed') || event.kind === 'QuoteSetApplied' || event.kind === 'QuoteSetEnded') return;
    const key = keyOf(id, event.assetId);
    if (event.kind === 'Created' && (isOfNode(id) || event.isEntry === true)) this.sent(nodePlan(id, event.text), null);
    this.touched.add(key);
    const order = must(this.orders.get(key), `an event about an order that was sent: ${id}`);
    assert.equal(order.end, null, `nothing is told of ${id} after its end, but ${event.kind} is`);
    switch (event.kind) {
      case 'Created':
        this.#created(id, order);
        break;
      case 'Amended':
        assert.ok(event.newQuantity < order.quantity, `${id}: an amend lowers the total`);
        assert.equal(event.newPrice, order.price);
        assert.equal(event.remainingQuantity, Math.max(0, event.newQuantity - order.confirmed - order.pending));
        order.quantity = event.newQuantity;
        this.amended += 1;
        break;
      case 'Replaced':
        order.price = event.newPrice;
        order.quantity = event.newQuantity;
        break;
      case 'Triggered':
        assert.equal(order.isWaiting, true, `${id} is triggered once`);
        order.isWaiting = false;
        break;
      case 'Canceled':
        order.end = 'Canceled';
        order.leftSet = event.isEntry === true;
        break;
      case 'Removed':
        order.end = event.reason;
        assert.equal(event.filledQuantity, order.confirmed, `${id}: what was filled is what was confirmed`);
        assert.equal(order.pending, 0, `${id} is removed when nothing of it is pending`);
        break;
    }
  }

  #created(id: string, order: ReceivedOrder): void {
    assert.equal(order.wasCreated, false, `${id} is created once`);
    order.wasCreated = true;
    if (order.place === null) return;
    const key = `${order.place.connection} ${order.plan.market}`;
    const last = this.#lastCreated.get(key) ?? -1;
    assert.ok(order.place.number > last, `${id}: orders of one connection and market keep their order`);
    this.#lastCreated.set(key, order.place.number);
  }

  trade(trade: UserTradeEvent): void {
    const id = String(trade.orderId);
    if (trade.isAutoDeleverage) {
      this.#deleveraged(trade);
      return;
    }
    const key = keyOf(id, trade.assetId);
    this.touched.add(key);
    const side = `${trade.assetId} ${trade.tradeId} ${trade.isMaker}`;
    const order = must(this.orders.get(key), `a trade of an order that was sent: ${id}`);
    if (trade.status === 'Pending') {
      assert.equal(this.#open.has(side) || this.confirmed.has(side), false, `a side is pending once: ${side}`);
      this.#open.set(side, trade);
      order.pending += trade.quantity;
      return;
    }
    assert.ok(this.#open.delete(side), `pending comes before the outcome, which comes once: ${side}`);
    order.pending -= trade.quantity;
    if (trade.status !== 'Confirmed') return;
    this.confirmed.add(side);
    order.confirmed += trade.quantity;
    this.#book(order.plan, trade);
  }

  /** A position is closed against the backstop: no order, no fee, and never pending (AMB-59). */
  #deleveraged(trade: UserTradeEvent): void {
    const { assetId, tradeId, subAccount, isBuyer, isMaker, status, fee, orderId } = trade;
    const side = `${assetId} ${tradeId} ${isMaker}`;
    assert.ok(isOfNode(String(orderId)) && status === 'Confirmed' && fee === 0n && !isMaker && !trade.isLiquidation);
    assert.equal(this.confirmed.has(side), false, `a position is closed once: ${side}`);
    this.confirmed.add(side);
    const place = { account: subAccount, isSpot: false, market: assetId, side: isBuyer ? 0 : 1 } as const;
    this.#book({ id: String(orderId), ...place, reduceOnly: true, wish: {} }, trade);
  }

  #book({ account, isSpot, market, side }: OrderPlan, { price, quantity, fee }: UserTradeEvent): void {
    const base = BigInt(quantity) * LOT_18;
    const notional = BigInt(price) * BigInt(quantity) * CENT_LOT_18;
    const sign = side === 0 ? 1n : -1n;
    const cost = -sign * notional - must(fee, 'a trade names its fee');
    this.credit(account, USD, cost);
    if (isSpot) this.credit(account, market, sign * base);
    else add(this.bases, `${account} ${market}`, sign * base);
  }

  accountEvent(event: AccountEventView): void {
    if (event.kind === 'positionCleared') this.cleared.add(event.subAccount);
    else if (event.kind === 'depositLanded') this.credit(0, pooledOf(event.asset), event.amount);
    else if (event.kind === 'withdrawalCompleted') this.credit(0, event.asset, -BigInt(event.amount));
    else if (event.kind === 'transferred') {
      this.credit(event.sourceIndex, event.asset, -event.amount);
      this.credit(event.targetIndex, event.asset, event.amount);
    }
  }

  /** No event undoes `withdrawalCompleted`: the queue shows a payout that was taken back (decision 0035). */
  withdrawalChanged({ chainId, nonce, status, asset, amount }: WithdrawalRow): void {
    const place = `${chainId} ${nonce}`;
    if (status === 'executed') this.#paid.add(place);
    else if ((status === 'approved' || status === 'signing') && this.#paid.delete(place)) this.credit(0, asset, amount);
  }

  /** The user sees on the chain that a settlement was executed. */
  settled({ subAccount, assetOut, tokenOut, baseUnitsOut, assetIn, tokenIn, baseUnitsIn }: SettlementRow): void {
    this.credit(subAccount, assetOut, -costOf(planOf(tokenOut), baseUnitsOut));
    this.credit(subAccount, assetIn, worthOf(planOf(tokenIn), baseUnitsIn));
  }

  /** All that the account held is the backstop's now (BKS-02). */
  emptied(account: number): void {
    for (const sums of [this.owned, this.bases]) {
      for (const key of sums.keys()) if (key.startsWith(`${account} `)) sums.set(key, 0n);
    }
  }

  credit(account: number, asset: AssetId, amount: bigint): void {
    add(this.owned, `${account} ${asset}`, amount);
  }
}

/** An id of the node is one of its market: another market may give the same (AMB-08). */
export function keyOf(id: string, market: AssetId): string {
  return isOfNode(id) ? `${id} ${market}` : id;
}

/** Whether the node made the order: no client can send one with such an id. */
export function isOfNode(id: string): boolean {
  return id.startsWith('sys-');
}

/** An order of the node as its owner reads it in `Created`. */
function nodePlan(id: string, text: Uint8Array): OrderPlan {
  const order = JSON.parse(Buffer.from(text).toString('latin1')) as {
    readonly base_asset: AssetId;
    readonly side: 'Buy' | 'Sell';
    readonly details: { readonly Limit: { readonly limit_price: number; readonly quantity: number } };
    readonly target: { readonly account: number; readonly is_spot: boolean };
    readonly reduce_only: boolean;
  };
  const { limit_price: price, quantity } = order.details.Limit;
  return {
    id,
    market: order.base_asset,
    side: order.side === 'Buy' ? 0 : 1,
    account: order.target.account,
    isSpot: order.target.is_spot,
    reduceOnly: order.reduce_only,
    wish: { price, quantity },
  };
}

function add(sums: Map<string, bigint>, key: string, amount: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}

/** All users together, as the sink of the gateway. */
export class Listeners implements UserEventStreams {
  /** Before their first read they receive nothing. */
  isListening = false;
  readonly all: readonly Listener[] = USERS.map((user) => new Listener(user));
  readonly #byUser = new Map(this.all.map((listener) => [listener.user, listener]));
  /** The last position published, by user, account and asset. */
  readonly positionsTold: Map<string, PositionView> = new Map();

  of(user: UserId): Listener {
    return must(this.#byUser.get(user), `a user of the world: ${user}`);
  }

  orderEvent(user: UserId, event: BookEvent): void {
    if (this.#isReceived(user)) this.of(user).orderEvent(event);
  }

  /** A trip is reported once, and each of its market behind those before. */
  protectionTriggered(user: UserId, { group, assetId, timestampNs }: ProtectionTriggeredView): void {
    if (!this.#isReceived(user)) return;
    const { trips } = this.of(user);
    const key = `${assetId} ${group}`;
    const last = trips.get(key);
    assert.ok(last === undefined || last.lastNs <= timestampNs, `trips of ${key} come in their order`);
    trips.set(key, { lastNs: timestampNs, count: (last?.count ?? 0) + 1 });
  }

  isRead(): boolean {
    return true;
  }

  userTrade(user: UserId, trade: UserTradeEvent): void {
    if (this.#isReceived(user)) this.of(user).trade(trade);
  }

  accountEvent(user: UserId, event: AccountEventView): void {
    if (this.#isReceived(user)) this.of(user).accountEvent(event);
  }

  settlementChanged(row: SettlementRow): void {
    if (this.isListening && row.status === 'executed') this.of(row.user).settled(row);
  }

  withdrawalChanged(row: WithdrawalRow): void {
    if (this.isListening) this.of(row.user).withdrawalChanged(row);
  }

  /** The backstop has streams like any user, and no reader. */
  #isReceived(user: UserId): boolean {
    return this.isListening && user !== DEFAULT_SETTINGS.backstop_account;
  }

  positions(user: UserId, views: readonly PositionView[]): void {
    if (this.isListening)
      for (const view of views) this.positionsTold.set(`${user} ${view.subAccount} ${view.assetId}`, view);
  }

  listens(_user: UserId, stream: 'positions' | 'account-stats'): boolean {
    return stream === 'positions';
  }

  accountStats(): void {}
  atRisk(): void {}
  pendingSettlement(): void {}
  endSessions(): void {}
  flush(): void {}

  /** Figures are paced by real time, which a simulation has none of. */
  listenersOf(): Iterable<UserId> {
    return [];
  }
}
