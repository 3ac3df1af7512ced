/**
 * The messages of a flow: signed frames, made before timing starts, and which message a reply belongs to.
 *
 * An order id begins with the order's number in eight digits, so that a reply is matched without parsing it; its end
 * differs from run to run, because an id is used once per market and user.
 */
import type { LimitOrder, SideWord } from '../client/canonical.ts';
import type { SigningKey } from '../client/keys.ts';
import { signCancel, signCreate, signReplace } from '../client/signed-actions.ts';
import type { NowNs } from '../client/time.ts';
import { must } from '../core/assert.ts';
import type { AssetId } from '../core/ids.ts';
import { BATCH_ORDERS, type Flow, type LoadMarket } from './plan.ts';

/** The two users: the first sells, the second buys and has the resting orders. */
type UserNumber = 0 | 1;
export const BUYER: UserNumber = 1;

interface Message {
  readonly user: UserNumber;
  readonly frame: string;
  /** Replies that it gets. */
  readonly actions: number;
}

/** Numbers of messages by the number of an order; −1 for none. */
export interface MessagesOf {
  readonly create: Int32Array;
  readonly replace: Int32Array;
  readonly cancel: Int32Array;
}

export interface SignedFlow {
  readonly messages: readonly Message[];
  readonly messagesOf: MessagesOf;
  /**
   * The order that has begun to rest at a raw price, among those up to `newest`; null in flows where a price has several.
   */
  restsAt(rawPrice: number, newest: number): number | null;
  /** Quantity that the buyer has bought when every message was received, in raw units. */
  readonly bought: number;
}

/** Creates that rest before they are replaced, and as many again before they are cancelled: at most, and as a share. */
const RESTING_MAX = 50;
const RESTING_SHARE = 8;
/** More than the orders that rest at once, so that each has a price of its own. */
const PRICES = 9_973;
const NONE = -1;

/** Signs the orders of one run. */
class OrderSigner {
  readonly #market: LoadMarket;
  readonly #isSpot: boolean;
  readonly #keys: readonly [SigningKey, SigningKey];
  readonly #nowNs: NowNs;
  /** Six characters. */
  readonly #tag: string;

  constructor(market: LoadMarket, isSpot: boolean, keys: readonly [SigningKey, SigningKey], nowNs: NowNs) {
    this.#market = market;
    this.#isSpot = isSpot;
    this.#keys = keys;
    this.#nowNs = nowNs;
    this.#tag = (nowNs() / 1_000_000n).toString(36).slice(-6);
  }

  create(user: UserNumber, number: number, side: SideWord, limitPrice: number): string {
    const { assetId, priceDecimals, quantityDecimals, quantity, account, feeLimit } = this.#market;
    const key = this.#keys[user];
    const order: LimitOrder = {
      signer: key.userId,
      orderId: this.#orderId(number),
      assetId: assetId as AssetId,
      priceDecimals,
      quantityDecimals,
      side,
      limitPrice,
      quantity,
      timeInForce: { kind: 'GTC' },
      creationTimestampNs: this.#nowNs(),
      target: { account, isSpot: this.#isSpot },
      reduceOnly: false,
      maxTradingFeesRate: feeLimit,
    };
    return signCreate(key, order, this.#nowNs()).body;
  }

  replace(number: number, newLimitPrice: number): string {
    const { assetId, priceDecimals, quantityDecimals } = this.#market;
    const change = {
      assetId: assetId as AssetId,
      orderId: this.#orderId(number),
      newLimitPrice,
      newQuantity: null,
      newTrigger: null,
      priceDecimals,
      quantityDecimals,
      timestampNs: this.#nowNs(),
    };
    return signReplace(this.#keys[BUYER], change, this.#nowNs()).body;
  }

  cancel(number: number): string {
    const request = { assetId: this.#market.assetId as AssetId, orderId: this.#orderId(number) };
    return signCancel(this.#keys[BUYER], request, this.#nowNs()).body;
  }

  #orderId(number: number): string {
    return `L${String(number).padStart(8, '0')}-${this.#tag}`;
  }
}

function noMessages(orders: number): MessagesOf {
  const none = (): Int32Array => new Int32Array(orders).fill(NONE);
  return { create: none(), replace: none(), cancel: none() };
}

function crossing(signer: OrderSigner, count: number, { price, quantity }: LoadMarket): SignedFlow {
  const messagesOf = noMessages(count);
  const messages = Array.from({ length: count }, (_, number): Message => {
    const user: UserNumber = number % 2 === 0 ? 0 : BUYER;
    messagesOf.create[number] = number;
    const body = signer.create(user, number, user === BUYER ? 'Buy' : 'Sell', price);
    return { user, frame: `{"CreateOrderRequest":${body}}`, actions: 1 };
  });
  return { messages, messagesOf, restsAt: () => null, bought: Math.floor(count / 2) * quantity };
}

function crossingBatches(signer: OrderSigner, count: number, { price, quantity }: LoadMarket): SignedFlow {
  const messagesOf = noMessages(count * BATCH_ORDERS);
  const messages = Array.from({ length: count }, (_, batch): Message => {
    const user: UserNumber = batch % 2 === 0 ? 0 : BUYER;
    const orders = Array.from({ length: BATCH_ORDERS }, (_none, item) => {
      const number = batch * BATCH_ORDERS + item;
      messagesOf.create[number] = batch;
      return signer.create(user, number, user === BUYER ? 'Buy' : 'Sell', price);
    });
    return { user, frame: `{"BatchCreateRequest":{"orders":[${orders.join(',')}]}}`, actions: BATCH_ORDERS };
  });
  const bought = Math.floor(count / 2) * BATCH_ORDERS * quantity;
  return { messages, messagesOf, restsAt: () => null, bought };
}

/** @param actions the cycle of message kinds; a create comes first. */
function restingOrders(
  signer: OrderSigner,
  count: number,
  market: LoadMarket,
  actions: readonly ('create' | 'replace' | 'cancel')[],
): SignedFlow {
  const messagesOf = noMessages(count);
  const pick: Record<'replace' | 'cancel', number> = { replace: 0, cancel: 0 };
  const resting = Math.min(RESTING_MAX, Math.floor(count / (RESTING_SHARE * actions.length)));
  const begins = { replace: resting * actions.length, cancel: (actions.length - 1) * resting * actions.length };
  const priceOf = (steps: number): number => market.price - steps * market.tick;
  let created = 0;
  const create = (message: number): Message => {
    const number = created;
    created += 1;
    messagesOf.create[number] = message;
    const body = signer.create(BUYER, number, 'Buy', priceOf(1 + (number % PRICES)));
    return { user: BUYER, frame: `{"CreateOrderRequest":${body}}`, actions: 1 };
  };
  const messages = Array.from({ length: count }, (_, message): Message => {
    const action = must(actions[message % actions.length], 'the cycle has actions');
    if (action === 'create' || message < begins[action]) return create(message);
    const number = pick[action];
    pick[action] += 1;
    messagesOf[action][number] = message;
    if (action === 'cancel') {
      return { user: BUYER, frame: `{"CancelOrderRequest":${signer.cancel(number)}}`, actions: 1 };
    }
    const body = signer.replace(number, priceOf(1 + PRICES + (number % PRICES)));
    return { user: BUYER, frame: `{"ReplaceOrderRequest":${body}}`, actions: 1 };
  });
  // An order is cancelled long before PRICES later ones were created, so a price has the newest of its orders.
  const restsAt = (rawPrice: number, newest: number): number | null => {
    const steps = (market.price - rawPrice) / market.tick;
    if (!Number.isInteger(steps) || steps < 1 || steps > PRICES) return null;
    const number = newest - ((newest - (steps - 1)) % PRICES);
    return number >= 0 && number <= newest ? number : null;
  };
  return { messages, messagesOf, restsAt, bought: 0 };
}

/** @param count messages. */
export function signFlow(
  flow: Flow,
  count: number,
  market: LoadMarket,
  keys: readonly [SigningKey, SigningKey],
  nowNs: NowNs,
): SignedFlow {
  const signer = new OrderSigner(market, flow !== 'margin', keys, nowNs);
  switch (flow) {
    case 'creates':
    case 'margin':
      return crossing(signer, count, market);
    case 'batches':
      return crossingBatches(signer, count, market);
    case 'mix':
      return restingOrders(signer, count, market, ['create', 'cancel']);
    case 'replaces':
      return restingOrders(signer, count, market, ['create', 'replace', 'cancel']);
  }
}
