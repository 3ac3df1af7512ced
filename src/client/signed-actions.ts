/**
 * Signed actions ready to send: the wrapper text of wire.md 7.4 to 7.6 and 7.17 around the signed text.
 *
 * REST bodies and `/control` frames contain the same wrapper; it is written once and sent unchanged.
 */
import { randomBytes } from 'node:crypto';
import type { BookDecimals } from '../core/arithmetic.ts';
import { parseScaled } from '../core/decimal.ts';
import { type AssetId, parseAssetId, type UserId } from '../core/ids.ts';
import {
  type CancelRequest,
  type ClosePositionRequest,
  cancelText,
  closePositionText,
  type LimitOrder,
  type MarketOrder,
  type MarketSize,
  type Order,
  type OrderTarget,
  orderText,
  type ReplaceRequest,
  replaceText,
  type SideWord,
  type TimeInForce,
  type TransferRequest,
  type Trigger,
  transferText,
  type WithdrawalRequest,
  withdrawalCancelText,
  withdrawalText,
} from './canonical.ts';
import { invalidArgument } from './errors.ts';
import type { SigningKey } from './keys.ts';

export type OrderAction = 'Create' | 'Replace' | 'Cancel';

/** One signed order action. `assetId` and `orderId` identify its reply on `/control` (wire.md 10.2). */
export interface SignedAction {
  readonly action: OrderAction;
  readonly assetId: AssetId;
  readonly orderId: string;
  /** The wrapper as compact JSON. */
  readonly body: string;
}

/** A release condition in human units: at or above, or at or below, a confirmed trade price. */
export interface TriggerTicket {
  readonly when: 'above' | 'below';
  readonly price: string;
  /** The order whose fills activate this one. */
  readonly parentOrderId?: string;
}

/**
 * The members that a caller chooses for any order; the rest has the defaults of wire.md 4.3. Amounts in human units.
 */
interface AnyTicket {
  /** The market: the id of its asset, e.g. `"2"`. */
  readonly assetId: string;
  readonly side: SideWord;
  readonly trigger?: TriggerTicket;
  /** Default: standard base64 of 16 random bytes. */
  readonly orderId?: string;
  /** Default account 1, spot. */
  readonly target?: OrderTarget;
  /** Default 50000 (5 %), in 1e-6. */
  readonly maxTradingFeesRate?: number;
  /** Only to reduce a margin position, never to increase or flip it. */
  readonly reduceOnly?: boolean;
}

export interface OrderTicket extends AnyTicket {
  /** Human decimal, e.g. `"3000.25"`; it must be exact. */
  readonly price: string;
  readonly quantity: string;
  /** Default GTC, not post-only. */
  readonly timeInForce?: TimeInForce;
}

/** Sized by `quantity` with an optional cap in USD (buys), or by `amount` in USD with an optional cap in base (sells). */
export type MarketTicket = AnyTicket & {
  /** Default false: an unmatched remainder ends. */
  readonly fillOrKill?: boolean;
} & (
    | { readonly quantity: string; readonly maxAmount?: string; readonly amount?: never }
    | { readonly amount: string; readonly maxQuantity?: string; readonly quantity?: never }
  );

interface OrderContext {
  readonly signer: UserId;
  readonly decimals: BookDecimals;
  readonly nowNs: bigint;
}

export function randomOrderId(): string {
  return randomBytes(16).toString('base64');
}

/**
 * A complete order from a ticket and the market's decimals.
 *
 * @throws RingbookError INVALID_ARGUMENT when price or quantity is not a positive multiple of one raw unit below 2^53.
 */
export function limitOrder(ticket: OrderTicket, context: OrderContext): LimitOrder {
  const { priceDecimals, quantityDecimals } = context.decimals;
  return {
    ...common(ticket, context),
    limitPrice: rawOf(ticket.price, priceDecimals, 'price'),
    quantity: rawOf(ticket.quantity, quantityDecimals, 'quantity'),
    timeInForce: ticket.timeInForce ?? { kind: 'GTC' },
  };
}

/**
 * A complete market order. Quote amounts have the scale of quantities (G16).
 *
 * @throws RingbookError INVALID_ARGUMENT as `limitOrder`.
 */
export function marketOrder(ticket: MarketTicket, context: OrderContext): MarketOrder {
  const raw = (text: string, what: string): number => rawOf(text, context.decimals.quantityDecimals, what);
  const capOf = (text: string | undefined): number | null => (text === undefined ? null : raw(text, 'cap'));
  const size: MarketSize =
    ticket.amount === undefined
      ? { unit: 'base', quantity: raw(ticket.quantity, 'quantity'), cap: capOf(ticket.maxAmount) }
      : { unit: 'quote', quantity: raw(ticket.amount, 'amount'), cap: capOf(ticket.maxQuantity) };
  return { ...common(ticket, context), size, fillOrKill: ticket.fillOrKill ?? false };
}

function common(ticket: AnyTicket, context: OrderContext): Omit<MarketOrder, 'size' | 'fillOrKill'> {
  const { priceDecimals, quantityDecimals } = context.decimals;
  return {
    signer: context.signer,
    orderId: ticket.orderId ?? randomOrderId(),
    assetId: assetOf(ticket.assetId),
    priceDecimals,
    quantityDecimals,
    side: ticket.side,
    trigger: ticket.trigger === undefined ? null : triggerOf(ticket.trigger, priceDecimals),
    creationTimestampNs: context.nowNs,
    target: ticket.target ?? { account: 1, isSpot: true },
    reduceOnly: ticket.reduceOnly ?? false,
    maxTradingFeesRate: ticket.maxTradingFeesRate ?? 50_000,
  };
}

/** A condition in raw book units. @throws RingbookError INVALID_ARGUMENT. */
export function triggerOf({ when, price, parentOrderId }: TriggerTicket, priceDecimals: number): Trigger {
  const kind = when === 'above' ? 'PriceAbove' : 'PriceBelow';
  const condition: Trigger = { kind, price: rawOf(price, priceDecimals, 'trigger price') };
  return parentOrderId === undefined ? condition : { ...condition, parentOrderId };
}

/** An asset id in its normal form. @throws RingbookError INVALID_ARGUMENT. */
export function assetOf(text: string): AssetId {
  const asset = parseAssetId(text);
  if (asset === null) throw invalidArgument(`${JSON.stringify(text)} is no asset: an index or <address>@<chain id>`);
  return asset;
}

/** A human decimal as a raw book integer, exactly. @throws RingbookError INVALID_ARGUMENT. */
export function rawOf(text: string, decimals: number, what: string): number {
  const raw = parseScaled(text, decimals);
  if (raw === null) {
    throw invalidArgument(`${what} ${JSON.stringify(text)} is not a decimal with at most ${decimals} decimals`);
  }
  if (raw < 1n || raw > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw invalidArgument(`${what} ${text} is outside 1 … 2^53-1 raw units`);
  }
  return Number(raw);
}

/** @param postSignNs the unsigned `post_sign_timestamp`: at most 60 s old when it arrives (AMB-10). */
export function signCreate(key: SigningKey, order: Order, postSignNs: bigint): SignedAction {
  if (order.signer !== key.userId) throw invalidArgument('an order is signed by its signer');
  const text = orderText(order);
  const body = `{"order":${text},"signature":${signatureOf(key, text)},"post_sign_timestamp":${postSignNs}}`;
  return { action: 'Create', assetId: order.assetId, orderId: order.orderId, body };
}

/** `assetId` is the market of the order; like the outer signer it is not covered by the signature. */
export function signReplace(
  key: SigningKey,
  assetId: AssetId,
  request: ReplaceRequest,
  postSignNs: bigint,
): SignedAction {
  const text = replaceText(request);
  const body =
    `{"request":${text},"signer":"${key.userId}","asset_id":"${assetId}",` +
    `"signature":${signatureOf(key, text)},"post_sign_timestamp":${postSignNs}}`;
  return { action: 'Replace', assetId, orderId: request.orderId, body };
}

export function signCancel(key: SigningKey, request: Omit<CancelRequest, 'signer'>, postSignNs: bigint): SignedAction {
  const text = cancelText({ ...request, signer: key.userId });
  const body = `{"cancel":${text},"signature":${signatureOf(key, text)},"post_sign_timestamp":${postSignNs}}`;
  return { action: 'Cancel', assetId: request.assetId, orderId: request.orderId, body };
}

/** @returns the body of `POST /account/transfer/sub-account`. */
export function signTransfer(key: SigningKey, request: Omit<TransferRequest, 'user'>): string {
  const text = transferText({ ...request, user: key.userId });
  return `{"inner":${text},"signature":${signatureOf(key, text)},"additional_signers":[]}`;
}

/** @returns the body of `POST /account/transfer/close-position`. */
export function signClosePosition(key: SigningKey, request: Omit<ClosePositionRequest, 'user'>): string {
  const text = closePositionText({ ...request, user: key.userId });
  return `{"inner":${text},"signature":${signatureOf(key, text)},"additional_signers":[]}`;
}

/** @returns the body of `POST /withdrawal/init`. */
export function signWithdrawal(key: SigningKey, request: Omit<WithdrawalRequest, 'user'>): string {
  const text = withdrawalText({ ...request, user: key.userId });
  return `{"inner":${text},"signature":${signatureOf(key, text)},"additional_signers":[]}`;
}

/** @returns the body of `POST /withdrawal/cancel`. */
export function signWithdrawalCancel(
  key: SigningKey,
  request: Pick<WithdrawalRequest, 'token' | 'chainId'> & { readonly nonce: number },
): string {
  const text = withdrawalCancelText({ ...request, user: key.userId });
  return `{"inner":${text},"signature":${signatureOf(key, text)},"additional_signers":[]}`;
}

/** A JSON array of 64 integers. */
export function signatureOf(key: SigningKey, text: string): string {
  return `[${key.sign(Buffer.from(text, 'utf8')).join(',')}]`;
}
