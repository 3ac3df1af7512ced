/**
 * The texts that users sign, byte for byte (wire.md 4.1, 4.2; SIG-03, SIG-04), each from the shape of its action:
 *
 *   request in the SDK's names ─▶ checked by the members of the shape ─▶ text (request-text.ts)
 *
 * test/support/wire-texts.ts, written from wire.md, and the writers that were written by hand (test/judges/canonical.ts) are
 * the second implementations. The wrappers around the signed objects are in signed-actions.ts.
 */

import { type SignedQuoteSet, writeSignedQuoteSet } from '../codec/generated/order-json.ts';
import { quoteSetFault } from '../codec/order-rules.ts';
import { pricesFault } from '../codec/quote-entries.ts';
import {
  ADD_SIGNER,
  CLOSE_POSITION,
  MAKER_ORDER,
  SETTLEMENT,
  TRANSFER,
  WITHDRAWAL,
  WITHDRAWAL_CANCEL,
} from '../codec/shapes/account-shapes.ts';
import { AMEND_BODY, CANCEL_TERMS, COMPLETE_REPLACE, ORDER, REPLACE_TERMS } from '../codec/shapes/order-shapes.ts';
import { alternativesOf, type Shape, U64 } from '../codec/shapes/shape-kit.ts';
import { keyBytesOf, SCHEMES, type SignerKey } from '../codec/signatures.ts';
import { textBytes } from '../codec/text-writer.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import { QUOTE_TEXT_BYTES_MAX, QUOTES_PER_SIDE_MAX } from '../core/limits.ts';
import type { TimestampNs } from '../core/units.ts';
import { invalidArgument } from './errors.ts';
import { fitFor, signedText } from './request-text.ts';

export type TimeInForce =
  | { readonly kind: 'GTC'; readonly postOnly?: boolean }
  | { readonly kind: 'GTD'; readonly postOnly?: boolean; readonly timestampNs: bigint }
  | { readonly kind: 'IOC' }
  | { readonly kind: 'FOK' };

export type SideWord = 'Buy' | 'Sell';

/** Account of an order. `isSpot` true moves balances, false a margin position. */
export interface OrderTarget {
  readonly account: number;
  readonly isSpot: boolean;
}

/** Releases an order when a confirmed trade reaches the price; a child also as its parent fills. Raw book price. */
export interface Trigger {
  readonly kind: 'PriceAbove' | 'PriceBelow';
  readonly price: number;
  /** A live limit order of the other side. */
  readonly parentOrderId?: string;
}

interface OrderCommon {
  readonly signer: UserId;
  readonly orderId: string;
  readonly assetId: AssetId;
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
  readonly side: SideWord;
  readonly trigger?: Trigger | null;
  readonly creationTimestampNs: bigint;
  readonly target: OrderTarget;
  readonly reduceOnly: boolean;
  /** 1e-6 of notional. */
  readonly maxTradingFeesRate: number;
}

/** A limit order with every signed member. Prices and quantities in raw book units, 1 … 2^53−1. */
export interface LimitOrder extends OrderCommon {
  readonly limitPrice: number;
  readonly quantity: number;
  readonly timeInForce: TimeInForce;
}

/**
 * Size of a market order: lots of the base, or USD as an integer of scale 10^-quantity decimals (G16). The cap is in
 * the other unit: USD of a base-sized buy, lots of a quote-sized sell.
 */
export interface MarketSize {
  readonly unit: 'base' | 'quote';
  readonly quantity: number;
  readonly cap: number | null;
}

/** A market order with every signed member. It never rests. */
export interface MarketOrder extends OrderCommon {
  readonly size: MarketSize;
  readonly fillOrKill: boolean;
}

export type Order = LimitOrder | MarketOrder;

/** Null leaves a member unchanged. `newQuantity` is the new total, including the filled part (G4). */
export interface ReplaceRequest {
  readonly orderId: string;
  readonly timestampNs: bigint;
  readonly newLimitPrice: number | null;
  readonly newQuantity: number | null;
  /** Only for an order that waits for its trigger. */
  readonly newTrigger?: Omit<Trigger, 'parentOrderId'> | null;
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
}

/** What shall rest of a quote set in one market, in raw book units (wire-additions.md 16). */
export interface QuotesToSign {
  readonly signer: UserId;
  readonly setId: string;
  readonly assetId: AssetId;
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
  /** Above that of the set before. */
  readonly revisionNs: bigint;
  /** Price and quantity of each entry, the best price first. Both sides empty: the set ends. */
  readonly bids: readonly (readonly [price: number, quantity: number])[];
  readonly asks: readonly (readonly [price: number, quantity: number])[];
  readonly target: OrderTarget;
  /** 1e-6 of notional. */
  readonly maxTradingFeesRate: number;
  readonly protectionGroup?: string | null;
  /** Null or left out: 30 days. */
  readonly goodUntilNs?: bigint | null;
}

export interface CancelRequest {
  readonly orderId: string;
  readonly assetId: AssetId;
  readonly signer: UserId;
}

/** The kind of the target account of a transfer if it is to be created; null if it exists (C10). */
export type TargetAccountType = null | 'Spot' | 'CrossMargin' | { readonly isolated: AssetId };

export interface TransferRequest {
  readonly user: UserId;
  readonly sourceIndex: number;
  readonly targetIndex: number;
  readonly assetId: AssetId;
  /** 18-decimal internal units, greater than zero. */
  readonly amount18: bigint;
  readonly targetAccountType: TargetAccountType;
  /** Strictly increasing per user. */
  readonly nonce: bigint;
}

export interface ClosePositionRequest {
  readonly user: UserId;
  readonly account: number;
  readonly assetId: AssetId;
  /** Strictly increasing per user, independent of the nonces of transfers. */
  readonly nonce: bigint;
}

export interface WithdrawalRequest {
  readonly user: UserId;
  /** 64 or 40 hex digits. */
  readonly token: string;
  /** 18 hex digits. */
  readonly chainId: string;
  /** 18-decimal internal units, greater than zero. */
  readonly amount18: bigint;
  /** Who is paid: 64 or 40 hex digits, not zero. */
  readonly target: string;
  /** Of the vault's counter; null: the smallest one that is free. */
  readonly nonce?: number | null;
  /**
   * As the node's setting `amount_text`; hex without it. `0x` is hex with its prefix, for a signer that does not know the
   * setting: a node with `decimal` refuses it, where it would read hex without a letter as another amount.
   */
  readonly amountText?: 'hex' | '0x' | 'decimal';
  /** 1 to 40 characters of an order id: a signed text is accepted once, and this tells it from an equal one. */
  readonly requestId?: string;
}

/** The cancel of a withdrawal. */
export interface WithdrawalCancelRequest extends Pick<WithdrawalRequest, 'user' | 'token' | 'chainId'> {
  readonly nonce: number;
  /** When the row was requested; left out: the live row of that nonce, whichever it is. */
  readonly requestedNs?: bigint;
}

/** A settlement of a sub-account with the vault of a chain: `out` leaves the account, `in` comes. */
export interface SettlementRequest {
  readonly user: UserId;
  readonly subAccount: number;
  /** Default `spot`; `margin` settles in a margin account. */
  readonly mode?: 'spot' | 'margin';
  /** 64 or 40 hex digits each. */
  readonly tokenIn: string;
  readonly tokenOut: string;
  /** 18-decimal internal units, greater than zero; the vault takes `in` rounded up, and pays `out` rounded down. */
  readonly amountIn18: bigint;
  readonly amountOut18: bigint;
  /** 18 hex digits. */
  readonly chainId: string;
  /** The registered settler; null: the user itself, or with a maker order the one that it names. */
  readonly settler?: UserId | null;
  /** Of this sub-account and chain; null: the next managed one. */
  readonly nonce?: number | null;
  /** The approval does not outlive it; needed with a maker order. */
  readonly expiresNs?: bigint | null;
  /** The market maker whose order is attached. */
  readonly maker?: UserId | null;
  /** 64 or 40 hex digits; left out: the vault of the chain. */
  readonly vault?: string;
  /** As of a withdrawal. */
  readonly requestId?: string;
  /** As the node's setting `amount_text`. */
  readonly amountText?: 'hex' | 'decimal';
}

export interface AddSignerRequest {
  readonly user: UserId;
  readonly signer: SignerKey;
  /** From 1. */
  readonly weight: number;
  /** How long the key may sign, from now on; null: for ever. */
  readonly sessionDurationNs: bigint | null;
  /** The `configNonce` of the account's configuration. */
  readonly ceNonce: number;
  /** A fresh nonce of the order service, as for a login: the second of the two texts of G9. */
  readonly omsNonce?: string;
}

/** The configuration of an account that a first deposit sets up; the arguments of the vault's `deposit` (wire.md 12.1). */
export interface DepositConfig {
  readonly masterWeight: number;
  readonly thresholds: { readonly low: number; readonly medium: number; readonly high: number };
  readonly signers: readonly {
    readonly signer: SignerKey;
    readonly weight: number;
    /** 0: for ever. */
    readonly expiresAtNs: bigint;
    /** Counted from the deposit; 0: without an end. */
    readonly maxSigningWindowNs: bigint;
  }[];
}

const protocolVersion = 1;
const WEIGHT_MAX = 0xffff_ffff;

export function orderText(order: Order): string {
  const details = 'size' in order ? marketDetails(order) : limitDetails(order);
  const trigger = order.trigger ?? null;
  const released = trigger === null ? null : { ...trigger, condition: conditionOf(trigger) };
  return signedText(ORDER, { ...order, details, trigger: released, protocolVersion });
}

function limitDetails({ limitPrice, quantity, timeInForce }: LimitOrder): object {
  return { Limit: { limitPrice, quantity, timeInForce: timeInForceOf(timeInForce) } };
}

function marketDetails({ size: { unit, quantity, cap }, fillOrKill }: MarketOrder): object {
  const sized =
    unit === 'base'
      ? { BaseAsset: { quantity, maxSellableAmount: cap } }
      : { QuoteAsset: { quantity, maxSellableQuantity: cap } };
  return { Market: { quantity: sized, fillOrKill } };
}

function conditionOf({ kind, price }: Trigger): object {
  return { [kind]: { price } };
}

function timeInForceOf(timeInForce: TimeInForce): object {
  const { kind } = timeInForce;
  if (kind === 'IOC' || kind === 'FOK') return { IOC: { fillOrKill: kind === 'FOK' } };
  return { [kind]: { ...timeInForce, postOnly: timeInForce.postOnly ?? false } };
}

/** @param baseAsset the market, for complete terms: both figures are given, and a null trigger means that the order has none. */
export function replaceText(request: ReplaceRequest, baseAsset: AssetId | null = null): string {
  const condition = request.newTrigger ?? null;
  const terms = { ...request, newTrigger: condition === null ? null : conditionOf(condition), protocolVersion };
  return baseAsset === null ? signedText(REPLACE_TERMS, terms) : signedText(COMPLETE_REPLACE, { ...terms, baseAsset });
}

/** Lowers the total of an order. Nothing is signed: a session is enough (wire-additions.md 4). */
export interface AmendRequest {
  readonly assetId: AssetId;
  readonly orderId: string;
  /** The new total, the filled part included; raw. */
  readonly newQuantity: number;
  readonly quantityDecimals: number;
  /** The revision of the order: the timestamp of its last replace or amend; null if it was not changed since its create. */
  readonly expectedRevisionNs: bigint | null;
  readonly timestampNs: bigint;
}

/** The body of an amend; nothing of it is signed. */
export function amendBody(user: UserId, request: AmendRequest): string {
  return `{"request":${signedText(AMEND_BODY, { ...request, source: 'User' })},"user_id":"${user}"}`;
}

/** @throws RingbookError INVALID_ARGUMENT for a set that the node would refuse for its figures or names. */
export function quoteSetText(request: QuotesToSign): string {
  const { signer, setId, assetId, bids, asks, target, revisionNs, goodUntilNs = null } = request;
  if (bids.length > QUOTES_PER_SIDE_MAX || asks.length > QUOTES_PER_SIDE_MAX) {
    throw invalidArgument(
      `a side has at most ${QUOTES_PER_SIDE_MAX} quotes`,
      bids.length > asks.length ? 'bids' : 'asks',
    );
  }
  for (const [price, quantity] of [...bids, ...asks]) {
    if (Number.isSafeInteger(price) && Number.isSafeInteger(quantity) && price > 0 && quantity > 0) continue;
    throw invalidArgument('raw figures of a quote lie in 1 … 2^53-1', 'bids');
  }
  const quotes: SignedQuoteSet = {
    signer: { id: signer, text: signer },
    setId,
    baseAsset: { id: assetId, text: assetId },
    bookPriceDecimals: request.priceDecimals,
    bookQuantityDecimals: request.quantityDecimals,
    revisionNs: u64(revisionNs, 'revisionNs') as TimestampNs,
    bids: bids.flat(),
    asks: asks.flat(),
    account: target.account,
    isSpot: target.isSpot,
    maxTradingFeesRate: request.maxTradingFeesRate,
    protectionGroup: request.protectionGroup ?? null,
    goodUntilNs: goodUntilNs === null ? null : (u64(goodUntilNs, 'goodUntilNs') as TimestampNs),
    protocolVersion,
  };
  const fault = quoteSetFault(quotes) ?? pricesFault(quotes);
  if (fault !== null) throw invalidArgument(fault.message, fault.field);
  return new TextDecoder().decode(textBytes(quotes, writeSignedQuoteSet, QUOTE_TEXT_BYTES_MAX));
}

function u64(value: bigint, member: string): bigint {
  return fitFor(U64)(value, member) as bigint;
}

export function cancelText(request: CancelRequest): string {
  return signedText(CANCEL_TERMS, { ...request, protocolVersion });
}

export function transferText(request: TransferRequest): string {
  const type = request.targetAccountType;
  return signedText(TRANSFER, {
    ...request,
    transferAmount: amountText(request.amount18, 'amount18', 10),
    targetAccountType: type === null || typeof type === 'string' ? type : { Isolated: { asset: type.isolated } },
  });
}

export function closePositionText(request: ClosePositionRequest): string {
  return signedText(CLOSE_POSITION, request);
}

export function withdrawalText(request: WithdrawalRequest): string {
  const form = request.amountText ?? 'hex';
  const amount = amountText(request.amount18, 'amount18', form === 'decimal' ? 10 : 16);
  return signedText(WITHDRAWAL, {
    ...request,
    asset: tokenText(request),
    amount: form === '0x' ? `0x${amount}` : amount,
    target: addressText(request.target),
  });
}

export function withdrawalCancelText(request: WithdrawalCancelRequest): string {
  return signedText(WITHDRAWAL_CANCEL, { ...request, asset: tokenText(request) });
}

export function settlementText(request: SettlementRequest): string {
  const base = (request.amountText ?? 'hex') === 'hex' ? 16 : 10;
  return signedText(SETTLEMENT, {
    ...request,
    // Without one a node settles in a margin account, the SDK in a spot account.
    mode: request.mode === undefined ? 'spot' : request.mode,
    assetIn: addressText(request.tokenIn),
    amountIn: amountText(request.amountIn18, 'amountIn18', base),
    assetOut: addressText(request.tokenOut),
    amountOut: amountText(request.amountOut18, 'amountOut18', base),
    chainId: chainText(request.chainId),
    vault: request.vault === undefined ? undefined : addressText(request.vault),
  });
}

/** What a market maker signs for a delegated settlement. */
export function makerOrderText(maker: UserId, settler: UserId, expiresNs: bigint): string {
  return signedText(MAKER_ORDER, { maker, settler, expiresNs });
}

/** The text of wire.md G9: with `omsNonce` the other one of the two. */
export function addSignerText(request: AddSignerRequest): string {
  const { signer, omsNonce } = request;
  if (signer.key.length !== keyBytesOf(signer.scheme)) {
    throw invalidArgument('a key is 32 bytes of Ed25519, or 33 bytes, compressed, of the other schemes');
  }
  if (omsNonce !== undefined && !/^[A-Za-z0-9_-]{43}$/.test(omsNonce)) {
    throw invalidArgument('a nonce has 43 characters of A-Z a-z 0-9 _ -');
  }
  return signedText(alternativesOf(ADD_SIGNER)[omsNonce === undefined ? 0 : 1] as Shape, request);
}

/** What the account's key signs for `masterConfigSignature` of the vault's `deposit`: a key in 32 bytes, its type, its prefix. */
export function depositConfigText({ masterWeight, thresholds, signers }: DepositConfig): string {
  const { low, medium, high } = thresholds;
  const rows = signers.map(({ signer, weight, expiresAtNs, maxSigningWindowNs }) => {
    const { key, keyType, keyPrefix } = vaultKey(signer);
    return (
      `{"key":[${key.join(',')}],"key_type":${keyType},"key_prefix":${keyPrefix},"weight":${u32(weight, 'a weight')},` +
      `"expires_at_ns":${fitFor(U64)(expiresAtNs, 'expiresAtNs')},` +
      `"max_signing_window_ns":${fitFor(U64)(maxSigningWindowNs, 'maxSigningWindowNs')}}`
    );
  });
  return (
    `{"master_weight":${u32(masterWeight, 'a weight')},"low_threshold":${u32(low, 'a threshold')},` +
    `"medium_threshold":${u32(medium, 'a threshold')},"high_threshold":${u32(high, 'a threshold')},` +
    `"signers":[${rows.join(',')}]}`
  );
}

/** A key as the vault takes it: the x of a compressed point, with its first byte as the prefix; Ed25519 has prefix 0. */
export function vaultKey({ scheme, key }: SignerKey): {
  readonly key: Uint8Array;
  readonly keyType: number;
  readonly keyPrefix: number;
} {
  const keyType = SCHEMES.indexOf(scheme);
  if (scheme === 'Ed25519') return { key, keyType, keyPrefix: 0 };
  return { key: key.subarray(1), keyType, keyPrefix: key[0] ?? 0 };
}

function u32(value: number, what: string): number {
  if (!Number.isInteger(value) || value < 0 || value > WEIGHT_MAX) {
    throw invalidArgument(`${what} is an integer from 0 to 2^32-1`);
  }
  return value;
}

/** 18-decimal units. */
function amountText(value: bigint, member: string, base: 10 | 16): string {
  if (typeof value !== 'bigint' || value <= 0n) throw invalidArgument(`${member} is a bigint above 0`, member);
  return value.toString(base);
}

function tokenText({ token, chainId }: Pick<WithdrawalRequest, 'token' | 'chainId'>): string {
  const chain = chainText(chainId);
  return `${addressText(token)}@${chain}`;
}

function chainText(chainId: string): string {
  if (!/^[0-9a-f]{18}$/.test(chainId)) throw invalidArgument('a chain id has 18 hex digits', 'chainId');
  return chainId;
}

/** 64 hex digits, an address of 20 bytes first. */
function addressText(address: string): string {
  const digits = address.replace(/^0x/i, '').toLowerCase();
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(digits)) throw invalidArgument('an address has 40 or 64 hex digits');
  return digits.padEnd(64, '0');
}

/** `limit price` is the member `limitPrice`. */
export function memberOf(what: string): string {
  return what.replaceAll(/ (\w)/g, (_whole, letter: string) => letter.toUpperCase());
}
