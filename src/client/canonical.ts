/**
 * The texts that users sign, byte for byte (wire.md 4.1, 4.2; SIG-03, SIG-04): compact JSON, members in declaration
 * order, integers in base 10, unset optionals `null`. No member can contain a space, CR or LF, so nothing is stripped.
 *
 * Deliberately not shared with the node: a signature check compares two independent implementations.
 *
 * The wrappers around the signed objects are in signed-actions.ts.
 */
import { keyBytesOf, SCHEMES, type SignerKey, signerKeyText } from '../codec/signatures.ts';
import { type AssetId, parseAssetId, parseOrderId, type UserId } from '../core/ids.ts';
import { invalidArgument } from './errors.ts';

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

const PROTOCOL_VERSION = 1;
const WEIGHT_MAX = 0xffff_ffff;

export function orderText(order: Order): string {
  checkCount(order.target.account, 'account');
  checkCount(order.maxTradingFeesRate, 'max trading fees rate');
  return (
    `{"signer":"${order.signer}","order_id":"${orderIdText(order.orderId)}","base_asset":"${assetText(order.assetId)}",` +
    `"book_price_decimals":${decimalsText(order.priceDecimals)},` +
    `"book_quantity_decimals":${decimalsText(order.quantityDecimals)},` +
    `"details":${'size' in order ? marketText(order) : limitText(order)},"side":"${sideText(order.side)}",` +
    `"trigger":${triggerText(order.trigger ?? null)},` +
    `"creation_timestamp_ns":${u64Text(order.creationTimestampNs, 'creationTimestampNs')},` +
    `"target":{"account":${order.target.account},"is_spot":${order.target.isSpot}},"reduce_only":${order.reduceOnly},` +
    `"max_trading_fees_rate":${order.maxTradingFeesRate},"protocol_version":${PROTOCOL_VERSION}}`
  );
}

function limitText({ limitPrice, quantity, timeInForce }: LimitOrder): string {
  checkRaw(limitPrice, 'limit price');
  checkRaw(quantity, 'quantity');
  return `{"Limit":{"limit_price":${limitPrice},"quantity":${quantity},"time_in_force":${timeInForceText(timeInForce)}}}`;
}

function marketText({ size, fillOrKill }: MarketOrder): string {
  const { unit, quantity, cap } = size;
  checkRaw(quantity, 'quantity');
  if (cap !== null) checkRaw(cap, unit === 'base' ? 'max amount' : 'max quantity');
  const sized =
    unit === 'base'
      ? `"BaseAsset":{"quantity":${quantity},"max_sellable_amount":${cap}}`
      : `"QuoteAsset":{"quantity":${quantity},"max_sellable_quantity":${cap}}`;
  return `{"Market":{"quantity":{${sized}},"fill_or_kill":${fillOrKill}}}`;
}

function triggerText(trigger: Trigger | null): string {
  if (trigger === null) return 'null';
  const parent = trigger.parentOrderId === undefined ? 'null' : `"${orderIdText(trigger.parentOrderId)}"`;
  return `{"parent_order_id":${parent},"condition":${conditionText(trigger)}}`;
}

function conditionOrNull(condition: Trigger | null): string {
  return condition === null ? 'null' : conditionText(condition);
}

function conditionText({ kind, price }: Trigger): string {
  checkRaw(price, 'trigger');
  return `{"${kind}":{"price":${price}}}`;
}

/**
 * Quantity decimals precede price decimals here, the reverse of a create.
 *
 * @param baseAsset the market, for complete terms: both figures are given, and a null trigger means that the order has none.
 */
export function replaceText(request: ReplaceRequest, baseAsset: AssetId | null = null): string {
  const isComplete = baseAsset !== null;
  if (isComplete || request.newLimitPrice !== null) checkRaw(request.newLimitPrice ?? 0, 'new limit price');
  if (isComplete || request.newQuantity !== null) checkRaw(request.newQuantity ?? 0, 'new quantity');
  const market = isComplete ? `"base_asset":"${assetText(baseAsset)}",` : '';
  return (
    `{"order_id":"${orderIdText(request.orderId)}",${market}"timestamp_ns":${u64Text(request.timestampNs, 'timestampNs')},` +
    `"new_price_limit":${request.newLimitPrice},"new_quantity":${request.newQuantity},` +
    `"new_trigger":${conditionOrNull(request.newTrigger ?? null)},` +
    `"book_quantity_decimals":${decimalsText(request.quantityDecimals)},` +
    `"book_price_decimals":${decimalsText(request.priceDecimals)},"protocol_version":${PROTOCOL_VERSION}}`
  );
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
  const { expectedRevisionNs: expected } = request;
  checkRaw(request.newQuantity, 'new quantity');
  return (
    `{"request":{"order_id":"${orderIdText(request.orderId)}","base_asset":"${assetText(request.assetId)}",` +
    `"new_quantity":${request.newQuantity},"book_quantity_decimals":${decimalsText(request.quantityDecimals)},` +
    `"expected_authorization_revision":${expected === null ? null : u64Text(expected, 'expectedRevisionNs')},` +
    `"timestamp_ns":${u64Text(request.timestampNs, 'timestampNs')},"source":"User"},"user_id":"${user}"}`
  );
}

export function cancelText(request: CancelRequest): string {
  return (
    `{"order_id":"${orderIdText(request.orderId)}","asset_id":"${assetText(request.assetId)}",` +
    `"signer":"${request.signer}","protocol_version":${PROTOCOL_VERSION}}`
  );
}

export function transferText(request: TransferRequest): string {
  checkCount(request.sourceIndex, 'source index');
  checkCount(request.targetIndex, 'target index');
  checkAmount(request.amount18, 'amount18');
  return (
    `{"user":"${request.user}","source_index":${request.sourceIndex},"target_index":${request.targetIndex},` +
    `"transfer_asset":"${assetText(request.assetId)}","transfer_amount":"${request.amount18}",` +
    `"target_account_type":${accountTypeText(request.targetAccountType)},"nonce":${u64Text(request.nonce, 'nonce')}}`
  );
}

export function closePositionText(request: ClosePositionRequest): string {
  checkCount(request.account, 'account');
  return (
    `{"user":"${request.user}","account":${request.account},"asset_identifier":"${assetText(request.assetId)}",` +
    `"nonce":${u64Text(request.nonce, 'nonce')}}`
  );
}

export function withdrawalText(request: WithdrawalRequest): string {
  checkAmount(request.amount18, 'amount18');
  const nonce = request.nonce ?? null;
  if (nonce !== null) checkCount(nonce, 'nonce');
  const form = request.amountText ?? 'hex';
  const amount = `${form === '0x' ? '0x' : ''}${request.amount18.toString(form === 'decimal' ? 10 : 16)}`;
  return (
    `{"tplus_user":"${request.user}","asset":"${tokenText(request)}","amount":"${amount}","nonce":${nonce},` +
    `"target":"${addressText(request.target)}"${requestIdMember(request.requestId)}}`
  );
}

export function withdrawalCancelText(request: WithdrawalCancelRequest): string {
  const { user, nonce, requestedNs } = request;
  checkCount(nonce, 'nonce');
  const named = requestedNs === undefined ? '' : `,"requested_at_ns":${u64Text(requestedNs, 'requestedNs')}`;
  return `{"tplus_user":"${user}","asset_address":"${tokenText(request)}","nonce":${nonce}${named}}`;
}

/** The last member of a text that has one. */
function requestIdMember(requestId: string | undefined): string {
  if (requestId === undefined) return '';
  if (!/^[A-Za-z0-9+/=_\-.:]{1,40}$/.test(requestId)) {
    throw invalidArgument('a request id has 1 to 40 characters of an order id', 'requestId');
  }
  return `,"request_id":"${requestId}"`;
}

/** The view of wire.md 4.2: what is unset signs as null, but the nonce and the vault, which are left out. */
export function settlementText(request: SettlementRequest): string {
  const {
    amountIn18,
    amountOut18,
    nonce = null,
    vault,
    mode = 'spot',
    settler = null,
    maker = null,
    expiresNs = null,
  } = request;
  checkAmount(amountIn18, 'amountIn18');
  checkAmount(amountOut18, 'amountOut18');
  if (!/^[0-9a-f]{18}$/.test(request.chainId)) throw invalidArgument('a chain id has 18 hex digits', 'chainId');
  checkCount(request.subAccount, 'sub account');
  if (nonce !== null) checkCount(nonce, 'nonce');
  const base = (request.amountText ?? 'hex') === 'hex' ? 16 : 10;
  return (
    `{"tplus_user":"${request.user}","sub_account_index":${request.subAccount},"settler":${JSON.stringify(settler)},` +
    `"mode":"${mode}","asset_in":"${addressText(request.tokenIn)}","amount_in":"${amountIn18.toString(base)}",` +
    `"asset_out":"${addressText(request.tokenOut)}","amount_out":"${amountOut18.toString(base)}",` +
    `"chain_id":"${request.chainId}"${nonce === null ? '' : `,"nonce":${nonce}`},` +
    `"expires_at":${expiresNs === null ? 'null' : u64Text(expiresNs, 'expiresNs')},"mm_pubkey":${JSON.stringify(maker)}` +
    `${vault === undefined ? '' : `,"vault":"${addressText(vault)}"`}${requestIdMember(request.requestId)}}`
  );
}

/** What a market maker signs for a delegated settlement. */
export function makerOrderText(maker: UserId, settler: UserId, expiresNs: bigint): string {
  return `{"mm_pubkey":"${maker}","settler":"${settler}","expires_at":${u64Text(expiresNs, 'expiresNs')}}`;
}

/** The text of wire.md G9: with `omsNonce` the other one of the two. */
export function addSignerText(request: AddSignerRequest): string {
  const { user, signer, weight, sessionDurationNs, ceNonce, omsNonce } = request;
  checkCount(ceNonce, 'config nonce');
  if (!Number.isInteger(weight) || weight < 1 || weight > WEIGHT_MAX) {
    throw invalidArgument('a weight is an integer from 1 to 2^32-1', 'weight');
  }
  if (signer.key.length !== keyBytesOf(signer.scheme)) {
    throw invalidArgument('a key is 32 bytes of Ed25519, or 33 bytes, compressed, of the other schemes');
  }
  const key = `"signer":${signerKeyText(signer)}`;
  const terms = `"weight":${weight},"session_duration_ns":${sessionDurationNs === null ? null : u64Text(sessionDurationNs, 'sessionDurationNs')}`;
  return omsNonce === undefined
    ? `{"user":"${user}",${key},${terms},"ce_nonce":${ceNonce}}`
    : `{"user":"${user}","oms_nonce":"${nonceText(omsNonce)}","ce_nonce":${ceNonce},${key},${terms}}`;
}

/** What the account's key signs for `masterConfigSignature` of the vault's `deposit`: a key in 32 bytes, its type, its prefix. */
export function depositConfigText({ masterWeight, thresholds, signers }: DepositConfig): string {
  const { low, medium, high } = thresholds;
  const rows = signers.map(({ signer, weight, expiresAtNs, maxSigningWindowNs }) => {
    const { key, keyType, keyPrefix } = vaultKey(signer);
    return (
      `{"key":[${key.join(',')}],"key_type":${keyType},"key_prefix":${keyPrefix},"weight":${u32Text(weight, 'a weight')},` +
      `"expires_at_ns":${u64Text(expiresAtNs, 'expiresAtNs')},` +
      `"max_signing_window_ns":${u64Text(maxSigningWindowNs, 'maxSigningWindowNs')}}`
    );
  });
  return (
    `{"master_weight":${u32Text(masterWeight, 'a weight')},"low_threshold":${u32Text(low, 'a threshold')},` +
    `"medium_threshold":${u32Text(medium, 'a threshold')},"high_threshold":${u32Text(high, 'a threshold')},` +
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

function u32Text(value: number, what: string): string {
  if (!Number.isInteger(value) || value < 0 || value > WEIGHT_MAX) {
    throw invalidArgument(`${what} is an integer from 0 to 2^32-1`);
  }
  return String(value);
}

function nonceText(nonce: string): string {
  if (!/^[A-Za-z0-9_-]{43}$/.test(nonce)) throw invalidArgument('a nonce has 43 characters of A-Z a-z 0-9 _ -');
  return nonce;
}

function tokenText({ token, chainId }: Pick<WithdrawalRequest, 'token' | 'chainId'>): string {
  if (!/^[0-9a-f]{18}$/.test(chainId)) throw invalidArgument('a chain id has 18 hex digits', 'chainId');
  return `${addressText(token)}@${chainId}`;
}

/** 64 hex digits, an address of 20 bytes first. */
function addressText(address: string): string {
  const digits = address.replace(/^0x/i, '').toLowerCase();
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(digits)) throw invalidArgument('an address has 40 or 64 hex digits');
  return digits.padEnd(64, '0');
}

function timeInForceText(timeInForce: TimeInForce): string {
  switch (timeInForce.kind) {
    case 'GTC':
      return `{"GTC":{"post_only":${timeInForce.postOnly ?? false}}}`;
    case 'GTD':
      return `{"GTD":{"post_only":${timeInForce.postOnly ?? false},"timestamp_ns":${u64Text(timeInForce.timestampNs, 'timeInForce')}}}`;
    case 'IOC':
      return '{"IOC":{"fill_or_kill":false}}';
    case 'FOK':
      return '{"IOC":{"fill_or_kill":true}}';
    default:
      throw invalidArgument('a time in force is an object whose kind is GTC, GTD, IOC or FOK', 'timeInForce');
  }
}

/** Programs in plain JavaScript have no compiler that checks it. */
function sideText(side: SideWord): SideWord {
  if (side !== 'Buy' && side !== 'Sell') throw invalidArgument('a side is "Buy" or "Sell"', 'side');
  return side;
}

function accountTypeText(type: TargetAccountType): string {
  if (type === null) return 'null';
  return typeof type === 'string' ? `"${type}"` : `{"Isolated":{"asset":"${assetText(type.isolated)}"}}`;
}

function orderIdText(orderId: string): string {
  if (typeof orderId !== 'string' || parseOrderId(orderId) === null) {
    const form = 'an order id is 1 to 64 of A-Z a-z 0-9 + / = _ - . : and does not start with "sys-"';
    throw invalidArgument(form, 'orderId');
  }
  return orderId;
}

function assetText(assetId: string): string {
  if (typeof assetId !== 'string' || parseAssetId(assetId) === null)
    throw invalidArgument('an asset is an index or <address>@<chain id>', 'assetId');
  return assetId;
}

/** @param member the caller's, as in `invalidArgument`. */
function u64Text(value: bigint, member: string): string {
  if (typeof value !== 'bigint' || value < 0n || value >= 1n << 64n) {
    throw invalidArgument(`${member} is a bigint from 0 to 2^64-1`, member);
  }
  return value.toString();
}

function decimalsText(decimals: number): string {
  if (!Number.isInteger(decimals) || decimals < -128 || decimals > 127) {
    throw invalidArgument('book decimals are signed 8-bit integers');
  }
  return String(decimals);
}

function checkRaw(value: number, what: string): void {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw invalidArgument(`${what} ${value} is outside 1 … 2^53-1 raw units`, memberOf(what));
  }
}

/** Of 18 decimals. */
function checkAmount(value: bigint, member: string): void {
  if (typeof value !== 'bigint' || value <= 0n) throw invalidArgument(`${member} is a bigint above 0`, member);
}

function checkCount(value: number, what: string): void {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw invalidArgument(`${what} is an integer from 0`, memberOf(what));
  }
}

/** `limit price` is the member `limitPrice`. */
export function memberOf(what: string): string {
  return what.replaceAll(/ (\w)/g, (_whole, letter: string) => letter.toUpperCase());
}
