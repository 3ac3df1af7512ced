/**
 * Frozen judge: the SDK's writers of signed texts, as they were written by hand before the texts came from the shapes.
 * test/client/signed-texts.test.ts compares both.
 */

import type {
  AddSignerRequest,
  AmendRequest,
  CancelRequest,
  ClosePositionRequest,
  LimitOrder,
  MarketOrder,
  Order,
  ReplaceRequest,
  SettlementRequest,
  SideWord,
  TargetAccountType,
  TimeInForce,
  TransferRequest,
  Trigger,
  WithdrawalCancelRequest,
  WithdrawalRequest,
} from '../../src/client/canonical.ts';
import { invalidArgument } from '../../src/client/errors.ts';
import { keyBytesOf, signerKeyText } from '../../src/codec/signatures.ts';
import { type AssetId, parseAssetId, parseOrderId, type UserId } from '../../src/core/ids.ts';

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
function memberOf(what: string): string {
  return what.replaceAll(/ (\w)/g, (_whole, letter: string) => letter.toUpperCase());
}
