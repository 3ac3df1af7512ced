/**
 * Signed actions ready to send: the wrapper text of wire.md 7.4 to 7.6, 7.17, 7.18 and G9 around the signed text.
 *
 * REST bodies and `/control` frames contain the same wrapper; it is written once and sent unchanged.
 */

import type { Signatures } from '../codec/signatures.ts';
import type { BookDecimals } from '../core/arithmetic.ts';
import { parseScaled } from '../core/decimal.ts';
import { type AssetId, parseAssetId, type UserId } from '../core/ids.ts';
import { additionalSignersText, type CoSignatures, type Signers, signText } from './action-signers.ts';
import {
  type AddSignerRequest,
  type AmendRequest,
  addSignerText,
  amendBody,
  type CancelRequest,
  type ClosePositionRequest,
  cancelText,
  closePositionText,
  type LimitOrder,
  type MarketOrder,
  type MarketSize,
  makerOrderText,
  memberOf,
  type Order,
  type OrderTarget,
  orderText,
  type QuotesToSign,
  quoteSetText,
  type ReplaceRequest,
  replaceText,
  type SettlementRequest,
  type SideWord,
  settlementText,
  type TimeInForce,
  type TransferRequest,
  type Trigger,
  transferText,
  type WithdrawalCancelRequest,
  type WithdrawalRequest,
  withdrawalCancelText,
  withdrawalText,
} from './canonical.ts';
import { invalidArgument } from './errors.ts';
import { type FeeRates, feeLimitOf } from './fee-limit.ts';
import type { HttpMethod } from './http-transport.ts';
import type { SigningKey } from './keys.ts';

export type OrderAction = 'Create' | 'Replace' | 'Cancel' | 'Amend';

/** One order action, signed but for an amend. `assetId` and `orderId` identify its reply on `/control` (wire.md 10.2). */
export interface SignedAction {
  readonly action: OrderAction;
  readonly assetId: AssetId;
  readonly orderId: string;
  /** The wrapper as compact JSON. */
  readonly body: string;
}

/** A signed quote set. `assetId` and `setId` identify its reply on `/control`. */
export interface SignedQuotes {
  readonly assetId: AssetId;
  readonly setId: string;
  /** The wrapper as compact JSON. */
  readonly body: string;
}

/** What shall rest of a quote set, in human units: it replaces what the set has in its market. */
export interface QuoteSetTicket {
  /** The market: the id of its asset, e.g. `"2"`. */
  readonly assetId: string;
  readonly setId: string;
  /** Price and quantity of each entry, e.g. `["3000.25", "1.5"]`, the best price first. */
  readonly bids: readonly (readonly [price: string, quantity: string])[];
  readonly asks: readonly (readonly [price: string, quantity: string])[];
  /** Default account 1, spot. */
  readonly target?: OrderTarget;
  /** In 1e-6. Default: twice the market's rate of a taker. */
  readonly maxTradingFeesRate?: number;
  readonly protectionGroup?: string;
  /** Default: 30 days. */
  readonly goodUntilNs?: bigint;
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
  /** In 1e-6. Default: the market's rate of a taker; twice that of an order that may rest or waits (fee-limit.ts). */
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
  /** Of the market; without them an order has the usual limit of wire.md 4.3, 5 %. */
  readonly rates?: FeeRates;
  readonly nowNs: bigint;
}

/** Standard base64 of 16 random bytes. */
export function randomOrderId(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))));
}

/** What tells a withdrawal or a settlement from an equal one: each signed text is accepted once. */
export function randomRequestId(): string {
  return randomOrderId();
}

/**
 * A complete order from a ticket and the market's decimals.
 *
 * @throws RingbookError INVALID_ARGUMENT when price or quantity is not a positive multiple of one raw unit below 2^53.
 */
export function limitOrder(ticket: OrderTicket, context: OrderContext): LimitOrder {
  checkMembers(ticket, LIMIT_MEMBERS);
  const { priceDecimals, quantityDecimals } = context.decimals;
  const { timeInForce = { kind: 'GTC' } } = ticket;
  return {
    ...common(ticket, context, timeInForce.kind === 'GTC' || timeInForce.kind === 'GTD'),
    limitPrice: rawOf(ticket.price, priceDecimals, 'price'),
    quantity: rawOf(ticket.quantity, quantityDecimals, 'quantity'),
    timeInForce,
  };
}

/**
 * A complete market order. Quote amounts have the scale of quantities (G16).
 *
 * @throws RingbookError INVALID_ARGUMENT as `limitOrder`.
 */
export function marketOrder(ticket: MarketTicket, context: OrderContext): MarketOrder {
  checkMembers(ticket, ticket.amount === undefined ? BASE_MEMBERS : MONEY_MEMBERS);
  const raw = (text: string, what: string): number => rawOf(text, context.decimals.quantityDecimals, what);
  const capOf = (text: string | undefined, what: string): number | null =>
    text === undefined ? null : raw(text, what);
  const size: MarketSize =
    ticket.amount === undefined
      ? { unit: 'base', quantity: raw(ticket.quantity, 'quantity'), cap: capOf(ticket.maxAmount, 'max amount') }
      : { unit: 'quote', quantity: raw(ticket.amount, 'amount'), cap: capOf(ticket.maxQuantity, 'max quantity') };
  return { ...common(ticket, context, false), size, fillOrKill: ticket.fillOrKill ?? false };
}

/** Where no rates of the market are given. */
const USUAL_FEE_LIMIT = 50_000;
const COMMON_MEMBERS = ['assetId', 'side', 'trigger', 'orderId', 'target', 'maxTradingFeesRate', 'reduceOnly'];
const LIMIT_MEMBERS: readonly string[] = [...COMMON_MEMBERS, 'price', 'quantity', 'timeInForce'];
const QUOTE_MEMBERS: readonly string[] = [
  ...['assetId', 'setId', 'bids', 'asks', 'target', 'maxTradingFeesRate', 'protectionGroup', 'goodUntilNs'],
];
const BASE_MEMBERS: readonly string[] = [...COMMON_MEMBERS, 'fillOrKill', 'quantity', 'maxAmount'];
const MONEY_MEMBERS: readonly string[] = [...COMMON_MEMBERS, 'fillOrKill', 'amount', 'maxQuantity'];

/**
 * No member of a ticket is left unread: one with another name, such as a `postOnly` beside the price, would be an order that
 * its caller does not mean. The compiler finds it in a literal only.
 *
 * @throws RingbookError INVALID_ARGUMENT with the member.
 */
export function checkMembers(ticket: object, known: readonly string[]): void {
  const unknown = Object.entries(ticket).find(([name, value]) => value !== undefined && !known.includes(name));
  if (unknown === undefined) return;
  throw invalidArgument(`${unknown[0]} is no member of this ticket, which has ${known.join(', ')}`, unknown[0]);
}

function common(ticket: AnyTicket, context: OrderContext, mayRest: boolean): Omit<MarketOrder, 'size' | 'fillOrKill'> {
  const { priceDecimals, quantityDecimals } = context.decimals;
  const { rates } = context;
  const usual = rates === undefined ? USUAL_FEE_LIMIT : feeLimitOf(rates, mayRest || ticket.trigger !== undefined);
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
    maxTradingFeesRate: ticket.maxTradingFeesRate ?? usual,
  };
}

/** A condition in raw book units. @throws RingbookError INVALID_ARGUMENT. */
export function triggerOf({ when, price, parentOrderId }: TriggerTicket, priceDecimals: number): Trigger {
  if (when !== 'above' && when !== 'below') throw invalidArgument('`when` is "above" or "below"', 'trigger');
  const kind = when === 'above' ? 'PriceAbove' : 'PriceBelow';
  const condition: Trigger = { kind, price: rawOf(price, priceDecimals, 'trigger') };
  return parentOrderId === undefined ? condition : { ...condition, parentOrderId };
}

/** An asset id in its normal form. @throws RingbookError INVALID_ARGUMENT. */
export function assetOf(text: string): AssetId {
  const asset = typeof text === 'string' ? parseAssetId(text) : null;
  if (asset === null) {
    throw invalidArgument(
      `${JSON.stringify(text)} is no asset: an index or <address>@<chain id>, as a text`,
      'assetId',
    );
  }
  return asset;
}

/** A human decimal as a raw book integer, exactly. @throws RingbookError INVALID_ARGUMENT. */
export function rawOf(text: string, decimals: number, what: string): number {
  const raw = parseScaled(text, decimals);
  if (raw === null) {
    throw invalidArgument(
      `${what} ${JSON.stringify(text)} is not a decimal with at most ${decimals} decimals`,
      memberOf(what),
    );
  }
  if (raw < 1n || raw > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw invalidArgument(`${what} ${text} is outside 1 … 2^53-1 raw units`, memberOf(what));
  }
  return Number(raw);
}

/** An action before it is signed: what its signers sign, and what the wrapper around it needs. */
export interface UnsignedAction {
  readonly kind: ActionKind;
  readonly user: UserId;
  /** The canonical text. */
  readonly text: string;
  /** The market of a replace whose text does not name it. */
  readonly assetId?: AssetId;
}

export type ActionKind =
  | 'create'
  | 'replace'
  | 'cancel'
  | 'quotes'
  | 'transfer'
  | 'close-position'
  | 'withdrawal'
  | 'withdrawal-cancel'
  | 'settlement'
  | 'add-signer';

/** The route of an action and the member that holds its signed text (wire.md 4.2). */
interface Wrapper {
  readonly member: 'order' | 'request' | 'cancel' | 'quotes' | 'inner';
  readonly method: HttpMethod;
  readonly path: string;
}

export const WRAPPERS: Readonly<Record<ActionKind, Wrapper>> = {
  create: { member: 'order', method: 'POST', path: '/orders/create' },
  replace: { member: 'request', method: 'PATCH', path: '/orders/replace' },
  cancel: { member: 'cancel', method: 'DELETE', path: '/orders/cancel' },
  quotes: { member: 'quotes', method: 'PUT', path: '/orders/quotes' },
  transfer: { member: 'inner', method: 'POST', path: '/account/transfer/sub-account' },
  'close-position': { member: 'inner', method: 'POST', path: '/account/transfer/close-position' },
  withdrawal: { member: 'inner', method: 'POST', path: '/withdrawal/init' },
  'withdrawal-cancel': { member: 'inner', method: 'POST', path: '/withdrawal/cancel' },
  settlement: { member: 'inner', method: 'POST', path: '/settlement/init' },
  'add-signer': { member: 'inner', method: 'POST', path: '/multisig/add-signer' },
};

/**
 * The body of a signed action: the wrapper around its text.
 *
 * @param postSignNs of an order action: the unsigned `post_sign_timestamp`, at most 60 s old when it arrives (AMB-10).
 */
export function bodyOf(action: UnsignedAction, signatures: Signatures, postSignNs: bigint): string {
  const { member } = WRAPPERS[action.kind];
  const signature = `"signature":[${signatures.signature.join(',')}]`;
  const others = `"additional_signers":${additionalSignersText(signatures.additionalSigners)}`;
  if (member === 'inner') return `{"inner":${action.text},${signature},${others}}`;
  const market = action.assetId === undefined ? '' : `"asset_id":"${action.assetId}",`;
  const outer = action.kind === 'replace' ? `"signer":"${action.user}",${market}` : '';
  const beside = signatures.additionalSigners.length === 0 ? '' : `,${others}`;
  return `{"${member}":${action.text},${outer}${signature}${beside},"post_sign_timestamp":${postSignNs}}`;
}

/** The body of an action, signed by everything that is here. @param also signatures beside those of the signers. */
export function signAction(
  signers: Signers,
  action: UnsignedAction,
  postSignNs: bigint,
  also: CoSignatures = {},
): string {
  if (action.user !== signers.userId) throw invalidArgument('an action is signed by its signer');
  return bodyOf(action, signText(signers, action.text, also), postSignNs);
}

export function unsignedCreate(order: Order): UnsignedAction {
  return { kind: 'create', user: order.signer, text: orderText(order) };
}

/** `assetId` is the market of the order; like the outer signer it is covered by the signature of complete terms only. */
export function unsignedReplace(user: UserId, { assetId, isComplete, ...request }: MarketReplace): UnsignedAction {
  if (isComplete === true) return { kind: 'replace', user, text: replaceText(request, assetId) };
  return { kind: 'replace', user, text: replaceText(request), assetId };
}

export function unsignedCancel(user: UserId, request: Omit<CancelRequest, 'signer'>): UnsignedAction {
  return { kind: 'cancel', user, text: cancelText({ ...request, signer: user }) };
}

export function unsignedQuotes(request: QuotesToSign): UnsignedAction {
  return { kind: 'quotes', user: request.signer, text: quoteSetText(request) };
}

/** A complete set from a ticket and the market's decimals. @throws RingbookError INVALID_ARGUMENT as `limitOrder`. */
export function quoteSet(ticket: QuoteSetTicket, { signer, decimals, rates, nowNs }: OrderContext): QuotesToSign {
  checkMembers(ticket, QUOTE_MEMBERS);
  const { priceDecimals, quantityDecimals } = decimals;
  const raw = ([price, quantity]: readonly [string, string]): readonly [number, number] => [
    rawOf(price, priceDecimals, 'price'),
    rawOf(quantity, quantityDecimals, 'quantity'),
  ];
  return {
    signer,
    setId: ticket.setId,
    assetId: assetOf(ticket.assetId),
    priceDecimals,
    quantityDecimals,
    revisionNs: nowNs,
    bids: ticket.bids.map(raw),
    asks: ticket.asks.map(raw),
    target: ticket.target ?? { account: 1, isSpot: true },
    maxTradingFeesRate: ticket.maxTradingFeesRate ?? (rates === undefined ? USUAL_FEE_LIMIT : feeLimitOf(rates, true)),
    protectionGroup: ticket.protectionGroup ?? null,
    goodUntilNs: ticket.goodUntilNs ?? null,
  };
}

/** @param postSignNs as bodyOf's. */
export function signQuotes(
  signers: Signers,
  request: QuotesToSign,
  postSignNs: bigint,
  also?: CoSignatures,
): SignedQuotes {
  const body = signAction(signers, unsignedQuotes(request), postSignNs, also);
  return { assetId: request.assetId, setId: request.setId, body };
}

export function unsignedTransfer(user: UserId, request: Omit<TransferRequest, 'user'>): UnsignedAction {
  return { kind: 'transfer', user, text: transferText({ ...request, user }) };
}

export function unsignedClosePosition(user: UserId, request: Omit<ClosePositionRequest, 'user'>): UnsignedAction {
  return { kind: 'close-position', user, text: closePositionText({ ...request, user }) };
}

export function unsignedWithdrawal(user: UserId, request: Omit<WithdrawalRequest, 'user'>): UnsignedAction {
  return { kind: 'withdrawal', user, text: withdrawalText({ ...request, user }) };
}

export function unsignedWithdrawalCancel(user: UserId, request: Omit<WithdrawalCancelRequest, 'user'>): UnsignedAction {
  return { kind: 'withdrawal-cancel', user, text: withdrawalCancelText({ ...request, user }) };
}

export function unsignedSettlement(user: UserId, request: Omit<SettlementRequest, 'user'>): UnsignedAction {
  return { kind: 'settlement', user, text: settlementText({ ...request, user }) };
}

/** A market maker's order: who attaches it to a settlement first settles through this settler, once, before it expires. */
export interface MakerOrder {
  readonly maker: UserId;
  readonly settler: UserId;
  readonly expiresNs: bigint;
  readonly signature: Uint8Array;
}

export function signMakerOrder(key: SigningKey, settler: UserId, expiresNs: bigint): MakerOrder {
  const text = makerOrderText(key.userId, settler, expiresNs);
  return { maker: key.userId, settler, expiresNs, signature: key.sign(new TextEncoder().encode(text)) };
}

/** The body of a settlement with the order of a market maker. */
export function withMakerOrder(body: string, { maker, settler, expiresNs, signature }: MakerOrder): string {
  const inner = makerOrderText(maker, settler, expiresNs);
  return `${body.slice(0, -1)},"maker_order":{"inner":${inner},"signature":[${signature.join(',')}]}}`;
}

export function unsignedAddSigner(user: UserId, request: Omit<AddSignerRequest, 'user'>): UnsignedAction {
  return { kind: 'add-signer', user, text: addSignerText({ ...request, user }) };
}

/** A replace with its market. Complete terms name it in the text, and every figure (wire-additions.md 3). */
export type MarketReplace = ReplaceRequest & { readonly assetId: AssetId; readonly isComplete?: boolean };

export function amendAction(user: UserId, request: AmendRequest): SignedAction {
  const { assetId, orderId } = request;
  return { action: 'Amend', assetId, orderId, body: amendBody(user, request) };
}

/** @param postSignNs as bodyOf's. */
export function signCreate(signers: Signers, order: Order, postSignNs: bigint, also?: CoSignatures): SignedAction {
  const body = signAction(signers, unsignedCreate(order), postSignNs, also);
  return { action: 'Create', assetId: order.assetId, orderId: order.orderId, body };
}

/** The same create as a member of a protection group, which is not signed (MMP-02). */
export function inProtectionGroup(create: SignedAction, group: string): SignedAction {
  return { ...create, body: `${create.body.slice(0, -1)},"protection_group":${JSON.stringify(group)}}` };
}

export function signReplace(
  signers: Signers,
  request: MarketReplace,
  postSignNs: bigint,
  also?: CoSignatures,
): SignedAction {
  const body = signAction(signers, unsignedReplace(signers.userId, request), postSignNs, also);
  return { action: 'Replace', assetId: request.assetId, orderId: request.orderId, body };
}

export function signCancel(
  signers: Signers,
  request: Omit<CancelRequest, 'signer'>,
  postSignNs: bigint,
  also?: CoSignatures,
): SignedAction {
  const body = signAction(signers, unsignedCancel(signers.userId, request), postSignNs, also);
  return { action: 'Cancel', assetId: request.assetId, orderId: request.orderId, body };
}

/** @returns the body of `POST /account/transfer/sub-account`. */
export function signTransfer(key: SigningKey, request: Omit<TransferRequest, 'user'>): string {
  return signAction(key, unsignedTransfer(key.userId, request), 0n);
}

/** A JSON array of 64 integers. */
export function signatureOf(key: SigningKey, text: string): string {
  return `[${key.sign(new TextEncoder().encode(text)).join(',')}]`;
}
