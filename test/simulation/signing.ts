/** Plans as the requests that their owners sign; the script decides whether a signature is valid. */

import type {
  ActionRequest,
  SettlementAction,
  SignedClosePosition,
  SignedSettlement,
  SignedTransfer,
  SignedWithdrawal,
  SignedWithdrawalCancel,
} from '../../src/codec/action-types.ts';
import { writeSignedOrder } from '../../src/codec/generated/order-json.ts';
import {
  type AmendRequest,
  type CancelRequest,
  type CreateRequest,
  checkedAmend,
  checkedQuoteSet,
  type QuoteSetRequest,
  type ReplaceRequest,
} from '../../src/codec/order-actions.ts';
import { NO_BYTES, textBytes } from '../../src/codec/text-writer.ts';
import type { AssetId, OrderId, UserId } from '../../src/core/ids.ts';
import type { RawQuantity, TimestampNs } from '../../src/core/units.ts';
import { settlementText } from '../judges/signed-settlement.ts';
import { withdrawalText } from '../judges/signed-withdrawal.ts';
import { cancelRequest, createRequest, replaceRequest } from '../support/order-fixture.ts';
import type { Action, AmendPlan, ChangePlan, OrderPlan, QuotesPlan } from './actions.ts';
import { nameOf, settlerOf, tokenAt, vaultAt } from './vaults.ts';

const UNSIGNED = { signature: new Uint8Array(64), additionalSigners: [], text: new Uint8Array(1) };
/** The highest taker fee that an operator of the simulation sets. */
export const FEE_RATE_MAX = 3_000;

export function createOf(plan: OrderPlan, user: UserId, nowNs: bigint): CreateRequest {
  const { id, side, market, account, isSpot, reduceOnly, wish, livesNs = 1, group } = plan;
  const request = createRequest(
    {
      ...{ ...wish, user, id, side, postSignNs: nowNs, goodUntilNs: nowNs + BigInt(livesNs) },
      ...(group === undefined ? {} : { protectionGroup: group }),
    },
    {
      baseAsset: spelled(market),
      creationNs: nowNs as TimestampNs,
      account,
      isSpot,
      reduceOnly,
      maxTradingFeesRate: FEE_RATE_MAX,
    },
  );
  if (request.fault !== null) return request;
  return { ...request, text: textBytes(request.order, writeSignedOrder) };
}

/** The name by which a forged revision is known. */
export function forgedSet(setId: string, revisionNs: bigint): string {
  return `${setId} ${revisionNs}`;
}

export function quotesOf(plan: QuotesPlan, user: UserId, nowNs: bigint): QuoteSetRequest {
  const { set, market, account, isSpot, bids, asks, livesNs, group: protectionGroup } = plan;
  const revisionNs = nowNs as TimestampNs;
  return checkedQuoteSet({
    quotes: {
      signer: { id: user, text: user },
      setId: set,
      baseAsset: spelled(market),
      ...{ bookPriceDecimals: 2, bookQuantityDecimals: 4, revisionNs, bids: bids.flat(), asks: asks.flat() },
      ...{ account, isSpot, maxTradingFeesRate: FEE_RATE_MAX, protectionGroup, protocolVersion: 1 },
      goodUntilNs: livesNs === null ? null : ((nowNs + BigInt(livesNs)) as TimestampNs),
    },
    ...{ signature: new Uint8Array(64), additionalSigners: [], postSignNs: revisionNs, fault: null, text: NO_BYTES },
  });
}

export function replaceOf(
  { id, market, price, quantity, trigger, isComplete }: ChangePlan,
  user: UserId,
  nowNs: bigint,
): ReplaceRequest {
  const timestampNs = nowNs as TimestampNs;
  const condition = trigger as { readonly direction: 'PriceAbove' | 'PriceBelow'; readonly price: never } | null;
  const request = replaceRequest({
    user,
    orderId: id as OrderId,
    baseAsset: isComplete === true ? spelled(market) : null,
    timestampNs,
    newPriceLimit: price as never,
    newQuantity: quantity as never,
    newTrigger: condition === null ? null : { shape: 'bare', parentOrderId: null, condition },
  });
  return { ...request, asset: spelled(market), postSignNs: timestampNs };
}

/** @param revisionNs that the order is to have. */
export function amendOf(
  { id, market, quantity }: AmendPlan,
  user: UserId,
  { revisionNs, nowNs }: { readonly revisionNs: bigint | null; readonly nowNs: bigint },
): AmendRequest {
  const amend = {
    orderId: id as OrderId,
    asset: spelled(market),
    newQuantity: quantity as RawQuantity,
    bookQuantityDecimals: 4,
    expectedRevisionNs: revisionNs as TimestampNs | null,
    timestampNs: nowNs as TimestampNs,
  };
  return checkedAmend({
    amend,
    user: { id: user, text: user },
    ...{ signature: NO_BYTES, additionalSigners: [], postSignNs: amend.timestampNs, fault: null, text: NO_BYTES },
  });
}

export function cancelOf({ id, market }: { id: string; market: AssetId }, user: UserId, nowNs: bigint): CancelRequest {
  const request = cancelRequest(id, user);
  const cancel = { ...request.cancel, asset: spelled(market) };
  return { ...request, cancel, postSignNs: nowNs as TimestampNs };
}

export function transferOf(action: Extract<Action, { kind: 'transfer' }>, user: UserId): ActionRequest<SignedTransfer> {
  const { from, to, asset, amount, type, nonce } = action;
  const inner: SignedTransfer = {
    user: { id: user, text: user },
    sourceIndex: from,
    targetIndex: to,
    transferAsset: spelled(asset),
    transferAmount: amount,
    targetAccountType: targetTypeOf(type),
    nonce: BigInt(nonce),
  };
  return { ...UNSIGNED, inner };
}

function targetTypeOf(type: Extract<Action, { kind: 'transfer' }>['type']): SignedTransfer['targetAccountType'] {
  if (type === null) return null;
  return type === 'Isolated' ? { kind: type, asset: spelled('12' as AssetId) } : { kind: type };
}

export function closeOf(
  { account, asset, nonce }: Extract<Action, { kind: 'close' }>,
  user: UserId,
): ActionRequest<SignedClosePosition> {
  const inner = { user: { id: user, text: user }, account, asset: spelled(asset), nonce: BigInt(nonce) };
  return { ...UNSIGNED, inner };
}

export function withdrawalOf(
  { token, amount, nonce, target }: Extract<Action, { kind: 'withdraw' }>,
  user: UserId,
  requestId: string,
): ActionRequest<SignedWithdrawal> {
  const address = target.repeat(20).padEnd(64, '0');
  const asset = spelled(nameOf(tokenAt(token)));
  const inner = { user: { id: user, text: user }, asset, amount, nonce, target: { text: address, address }, requestId };
  return { ...UNSIGNED, text: Buffer.from(withdrawalText(inner)), inner };
}

export function withdrawalCancelOf(
  { token, nonce }: Extract<Action, { kind: 'cancelWithdrawal' }>,
  user: UserId,
): ActionRequest<SignedWithdrawalCancel> {
  const asset = spelled(nameOf(tokenAt(token)));
  return { ...UNSIGNED, inner: { user: { id: user, text: user }, asset, nonce, requestedNs: null } };
}

export function settlementOf(
  { account, out, into, amountOut, amountIn, nonce }: Extract<Action, { kind: 'settle' }>,
  user: UserId,
  requestId: string,
): SettlementAction {
  const { vault, token } = tokenAt(out);
  const { chainId } = vaultAt(vault);
  const settler = settlerOf(vault);
  const inner: SignedSettlement = {
    user: { id: user, text: user },
    subAccount: account,
    settler: { id: settler, text: settler },
    mode: account === 0 ? 'spot' : 'margin',
    assetIn: { text: tokenAt(into).token, address: tokenAt(into).token },
    amountIn,
    assetOut: { text: token, address: token },
    amountOut,
    chainId: { id: chainId, text: chainId },
    nonce,
    expiresNs: null,
    maker: null,
    vault: null,
    requestId,
  };
  return { ...UNSIGNED, text: Buffer.from(settlementText(inner, false)), inner, otherText: null, makerOrder: null };
}

function spelled(asset: AssetId): { readonly id: AssetId; readonly text: string } {
  return { id: asset, text: asset };
}
