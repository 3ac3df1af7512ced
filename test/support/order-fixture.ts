/** A gateway without a wire: an order manager, signed requests as values, and everything that it published. */

import assert from 'node:assert/strict';
import type {
  CancelRequest,
  CreateRequest,
  ReplaceRequest,
  SignedOrder,
  SignedReplace,
} from '../../src/codec/order-actions.ts';
import type { OrderDetails } from '../../src/codec/order-details.ts';
import type { ProtectionTriggeredView } from '../../src/codec/order-events.ts';
import { orderFault, replaceFault } from '../../src/codec/order-rules.ts';
import type { OrderReply } from '../../src/codec/shapes/order-record-shapes.ts';
import type { AssetId, OrderId, UserId } from '../../src/core/ids.ts';
import { USD } from '../../src/core/ids.ts';
import { type HashKey, hashKeyOf } from '../../src/core/key-words.ts';
import type { MarketDefinition } from '../../src/core/market-definition.ts';
import {
  ORDER_FLAG,
  ORDER_KIND,
  SIDE,
  type Side,
  TIF,
  type Tif,
  TRIGGER,
  TRIGGER_STATE,
} from '../../src/core/order-terms.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import {
  type Amount18,
  ONE_18,
  type RawPrice,
  type RawQuantity,
  type Sequence,
  type TimestampNs,
} from '../../src/core/units.ts';
import { viewsOf } from '../../src/core/views.ts';
import type { RestoredView } from '../../src/gateway/orders/book/order-book-view.ts';
import type {
  BookEvent,
  ClearedAccount,
  OrderFault,
  OrderSink,
  ReduceCommand,
  ReleaseEvent,
  UserTradeEvent,
} from '../../src/gateway/orders/book/order-events.ts';
import type { LiveQuoteSet } from '../../src/gateway/orders/book/quote-sets.ts';
import type { ActionAnswer, EntryReply } from '../../src/gateway/orders/entry/pending-requests.ts';
import type { HistorySnapshot, OrderHistory } from '../../src/gateway/orders/history/order-history.ts';
import { OrderManager } from '../../src/gateway/orders/order-manager.ts';
import { OrderRecord, type OrderRecordFields } from '../../src/schema/generated/messages.ts';
import { EMPTY_ORDER } from './empty-order.ts';
import { ImitationMarket } from './imitation-market.ts';
import { ALICE, BOB } from './names.ts';

export const BASE = '12' as AssetId;
export const NOW = 1_770_000_000_000_000_001n as TimestampNs;

/** Price decimals 2, quantity decimals 4, tick 5, minimum 10, maker −100, taker 500. */
export const MARKET: MarketDefinition = {
  marketIndex: 3,
  assetId: BASE,
  priceDecimals: 2,
  quantityDecimals: 4,
  tickSize: 5 as RawPrice,
  minimumQuantity: 10 as RawQuantity,
  makerFeeRate: -100,
  takerFeeRate: 500,
  status: 0,
  selfTradePrevention: false,
  minimumNotional: (ONE_18 / 100n) as Amount18,
  priceCollar: null,
};

const EMPTY: HistorySnapshot = {
  marketSequence: () => 0,
  lastTradeId: () => 0,
  isFinished: () => false,
  orderFlags: () => null,
  findOrder: () => undefined,
  finishedOrders: () => ({ rows: [], total: 0 }),
  scanFinished: () => undefined,
  scanTrades: () => undefined,
  finishedBefore: (_, places) => places.map(() => 0),
  trades: () => ({ rows: [], total: 0 }),
  definition: () => MARKET,
};
export const NO_HISTORY: OrderHistory = { read: (reader) => reader(EMPTY) };

export class RecordingSink implements OrderSink {
  readonly events: { readonly user: UserId; readonly event: BookEvent }[] = [];
  readonly trades: { readonly user: UserId; readonly trade: UserTradeEvent }[] = [];
  readonly answers: { readonly orderId: string; readonly answer: ActionAnswer }[] = [];
  readonly releases: ReleaseEvent[] = [];
  readonly reductions: ReduceCommand[] = [];
  readonly faults: OrderFault[] = [];
  readonly cleared: ClearedAccount[] = [];
  /** The ring to the market takes no reduction. */
  isFull = false;

  orderEvent(user: UserId, event: BookEvent): void {
    this.events.push({ user, event });
  }
  readonly trips: { readonly user: UserId; readonly event: ProtectionTriggeredView }[] = [];
  protectionTriggered(user: UserId, event: ProtectionTriggeredView): void {
    this.trips.push({ user, event });
  }
  isOrderRead(): boolean {
    return true;
  }

  isTradeRead(): boolean {
    return true;
  }

  countFill(): void {}

  userTrade(user: UserId, trade: UserTradeEvent): void {
    this.trades.push({ user, trade });
  }
  /** Records the answer to a request about this order. */
  reply(orderId: string): EntryReply {
    return { answer: (answer) => this.answers.push({ orderId, answer }), hops: null };
  }
  release(word: ReleaseEvent): void {
    this.releases.push(word);
  }
  fault(fault: OrderFault): void {
    this.faults.push(fault);
  }
  /** Quote sets that the node has ended. */
  readonly endedSets: LiveQuoteSet[] = [];

  endQuoteSet(set: LiveQuoteSet, done: () => void): boolean {
    this.endedSets.push(set);
    done();
    return true;
  }

  accountCleared(account: ClearedAccount): void {
    this.cleared.push(account);
  }
  reduce(word: ReduceCommand): boolean {
    if (this.isFull) return false;
    this.reductions.push(word);
    return true;
  }
}

export interface OrderWish {
  readonly protectionGroup?: string;
  readonly user?: UserId;
  readonly id?: string;
  readonly side?: Side;
  readonly price?: number;
  readonly quantity?: number;
  readonly tif?: Tif;
  readonly postOnly?: boolean;
  readonly goodUntilNs?: bigint;
  readonly postSignNs?: bigint;
  /** Instead of a limit order. */
  readonly market?: MarketWish;
  /** Released at or above, at or below a price. */
  readonly above?: number;
  readonly below?: number;
  readonly parent?: string;
}

/** Sized in base with an optional quote cap, or in quote with an optional base cap. */
export type MarketWish =
  | { readonly base: number; readonly cap?: number; readonly fok?: boolean }
  | { readonly quote: number; readonly cap?: number; readonly fok?: boolean };

function marketDetails(wish: MarketWish): OrderDetails {
  const fillOrKill = wish.fok ?? false;
  const cap = wish.cap ?? null;
  return 'base' in wish
    ? { kind: 'market-base', quantity: wish.base as RawQuantity, maxSellableAmount: cap, fillOrKill }
    : { kind: 'market-quote', amount: wish.quote, maxSellableQuantity: cap as RawQuantity | null, fillOrKill };
}

function triggerOf({ above, below, parent }: OrderWish): SignedOrder['trigger'] {
  const price = above ?? below;
  if (price === undefined) return null;
  const direction = above === undefined ? 'PriceBelow' : 'PriceAbove';
  return { parentOrderId: parent ?? null, condition: { direction, price: price as RawPrice } };
}

/** A create as the wire hands it over; `change` overrides members of the signed order. */
export function createRequest(wish: OrderWish = {}, change: Partial<SignedOrder> = {}): CreateRequest {
  const user = wish.user ?? ALICE;
  const tif = wish.tif ?? TIF.gtc;
  const limit: OrderDetails = {
    kind: 'limit',
    limitPrice: (wish.price ?? 200_000) as RawPrice,
    quantity: (wish.quantity ?? 10_000) as RawQuantity,
    tif,
    postOnly: wish.postOnly ?? false,
    goodUntilNs: tif === TIF.gtd ? ((wish.goodUntilNs ?? NOW + 1n) as TimestampNs) : null,
  };
  const order: SignedOrder = {
    signer: { id: user, text: user },
    orderId: (wish.id ?? 'order-1') as OrderId,
    baseAsset: { id: BASE, text: BASE },
    bookPriceDecimals: 2,
    bookQuantityDecimals: 4,
    details: wish.market === undefined ? limit : marketDetails(wish.market),
    side: wish.side ?? SIDE.buy,
    trigger: triggerOf(wish),
    creationNs: NOW,
    account: 0,
    isSpot: true,
    reduceOnly: false,
    maxTradingFeesRate: 500,
    protocolVersion: 1,
    ...change,
  };
  const fault = orderFault(order);
  const postSignNs = (wish.postSignNs ?? NOW) as TimestampNs;
  const text = new TextEncoder().encode(order.orderId);
  const protectionGroup = wish.protectionGroup ?? null;
  return { order, signature: new Uint8Array(64), additionalSigners: [], postSignNs, protectionGroup, fault, text };
}

export function replaceRequest(change: Partial<SignedReplace> & { readonly user?: UserId } = {}): ReplaceRequest {
  const { user = ALICE, ...members } = change;
  const request: SignedReplace = {
    orderId: 'order-1' as OrderId,
    timestampNs: NOW,
    baseAsset: null,
    newPriceLimit: null,
    newQuantity: null,
    newTrigger: null,
    bookQuantityDecimals: 4,
    bookPriceDecimals: 2,
    protocolVersion: 1,
    ...members,
  };
  return {
    request,
    signer: { id: user, text: user },
    asset: { id: BASE, text: BASE },
    signature: new Uint8Array(64),
    additionalSigners: [],
    postSignNs: NOW,
    fault: replaceFault(request),
    text: new Uint8Array(),
  };
}

export function cancelRequest(id = 'order-1', user: UserId = ALICE): CancelRequest {
  return {
    cancel: {
      orderId: id as OrderId,
      asset: { id: BASE, text: BASE },
      signer: { id: user, text: user },
      protocolVersion: 1,
    },
    signature: new Uint8Array(64),
    additionalSigners: [],
    postSignNs: NOW,
    fault: null,
    text: new Uint8Array(),
  };
}

/** Of the hashes of ids. */
export const ID_KEY: HashKey = hashKeyOf(1n);

/** A restored order as clearing kept it; what is not given is 0, or as of a limit order of Alice in the test market. */
export type RestoredRow = Partial<OrderRecordFields & RestoredView>;

const RECORD = viewsOf(new ArrayBuffer(OrderRecord.bytes), 0, OrderRecord.bytes);
/** A limit sell of Alice in the test market, without fills. */
export const EMPTY_RECORD: OrderRecordFields = {
  ...EMPTY_ORDER,
  orderSequence: 40 as Sequence,
  prioritySequence: 40 as Sequence,
  price: 200_000 as RawPrice,
  quantity: 10_000 as RawQuantity,
  creationNs: NOW,
  timestampNs: NOW,
  admittedNs: NOW,
  lastUpdateNs: NOW,
  maxFeeRate: 500,
  marketIndex: MARKET.marketIndex,
  flags: ORDER_FLAG.isSpot,
  side: SIDE.sell,
  kind: ORDER_KIND.limit,
  tif: TIF.gtc,
  triggerKind: TRIGGER.none,
  triggerState: TRIGGER_STATE.live,
  user: ALICE,
  orderId: 'order-1' as OrderId,
};

/** Hands the order to the manager as a start does. */
export function restoreRow(manager: OrderManager, { inForce, parentId = '', ...row }: RestoredRow): void {
  const fields = { ...EMPTY_RECORD, ...row, parentIdBytes: parentId.length };
  OrderRecord.write(RECORD, 0, fields);
  const released = fields.triggerState === TRIGGER_STATE.live ? fields.quantity : 0;
  manager.restoreOrder(RECORD, 0, { inForce: inForce ?? released, parent: fields.parentSequence, parentId });
}

/** The reject's code, or `ok`. */
export function codeOf(outcome: Outcome<unknown>): string {
  return outcome.ok ? 'ok' : outcome.reject.code;
}

export function mustPass<T>(outcome: Outcome<T>): T {
  assert.ok(outcome.ok, `expected a value, got ${codeOf(outcome)}`);
  return outcome.value;
}

/** Market and clearing driven by hand, in market 3, with whole-unit balances for Alice and Bob. */
export class OrderFixture extends ImitationMarket {
  readonly sink: RecordingSink;

  constructor(history: OrderHistory = NO_HISTORY, sink: RecordingSink = new RecordingSink()) {
    super(new OrderManager({ sink, history, idKey: ID_KEY }), MARKET, { nowNs: () => NOW });
    this.sink = sink;
    this.manager.onMarketChanged(MARKET);
    for (const user of [ALICE, BOB]) {
      this.setOwned(user, USD, 10_000n * ONE_18);
      this.setOwned(user, BASE, 10n * ONE_18);
    }
  }

  setOwned(user: UserId, asset: AssetId, owned: bigint): void {
    this.manager.onBalanceChanged({ user, subAccount: 0, asset, owned: owned as Amount18, locked: 0n as Amount18 });
  }

  available(user: UserId, asset: AssetId): bigint {
    return this.manager.funds({ user, subAccount: 0, asset }).available;
  }

  /** Check and reserve. */
  reserve(wish: OrderWish = {}): Outcome<{ readonly requestId: number; readonly budget: number }> {
    const user = wish.user ?? ALICE;
    const checked = this.manager.requests.checkCreate(createRequest(wish), { user, now: NOW, looksUp: true });
    if (!checked.ok) return checked;
    const reply = this.sink.reply(checked.value.terms.orderId);
    const reserved = this.manager.requests.reserveCreate(checked.value, NOW, reply);
    if (!reserved.ok) return reserved;
    return { ok: true, value: { requestId: reserved.value.requestId, budget: reserved.value.order.budget } };
  }

  /** As `reserve`, for those who need no budget. @returns the request id. */
  request(wish: OrderWish = {}): Outcome<number> {
    const reserved = this.reserve(wish);
    return reserved.ok ? { ok: true, value: reserved.value.requestId } : reserved;
  }

  /** A create that the market admits and answers. @returns the order's sequence. */
  place(wish: OrderWish = {}): number {
    const requestId = mustPass(this.request(wish));
    const sequence = this.admit(requestId);
    this.answer(requestId, sequence);
    return sequence;
  }

  /** What `/orders` published to this user about an order: `Created`, `Removed Filled` and so on. */
  told(user: UserId, id = 'order-1'): readonly string[] {
    return this.sink.events
      .filter(({ user: to, event }) => to === user && event.orderId === id)
      .map(({ event }) => ('reason' in event ? `${event.kind} ${event.reason}` : event.kind));
  }

  /** The user's fills as `status reason fee`, in order. */
  fills(user: UserId): readonly string[] {
    return this.sink.trades
      .filter(({ user: to }) => to === user)
      .map(({ trade }) => `${trade.status} ${trade.rollbackReason} ${trade.fee}`);
  }

  record(user: UserId, id = 'order-1'): OrderReply | undefined {
    return this.manager.order({ user, marketIndex: 3, orderId: id as OrderId });
  }

  status(user: UserId, id = 'order-1'): string | undefined {
    return this.record(user, id)?.status;
  }

  held(user: UserId, asset: AssetId): bigint {
    return this.manager.funds({ user, subAccount: 0, asset }).held;
  }
}
