/** Generated from src/codec/shapes/order-shapes.ts and schemas/control.fbs by `npm run generate`. Do not edit. */
import type { Builder } from 'flatbuffers';
import { Create, Replace, Cancel, Amend, QuoteSet } from '../../codec/generated/control-tables.ts';
import type { CreateRequest, ReplaceRequest, CancelRequest, AmendRequest, QuoteSetRequest } from '../../codec/generated/order-json.ts';
import { SIDE_VALUE, DETAILS_TYPE, detailsTable, triggerOrNone, formOf, rawOrUnset, userVector, textOrNone, quotesVector, bytesOrNone, coSignersOrNone, tableOf } from '../table-writer.ts';

/** @returns its offset. */
export function createTable(builder: Builder, request: CreateRequest): number {
  const { order } = request;
  return tableOf(builder, Create.table, [
    [Create.signer, userVector(builder, order.signer)],
    [Create.orderId, builder.createString(order.orderId)],
    [Create.baseAsset, builder.createString(order.baseAsset.text)],
    [Create.bookPriceDecimals, order.bookPriceDecimals],
    [Create.bookQuantityDecimals, order.bookQuantityDecimals],
    [Create.detailsType, DETAILS_TYPE[order.details.kind]], [Create.details, detailsTable(builder, order.details)],
    [Create.side, SIDE_VALUE[order.side]],
    [Create.trigger, triggerOrNone(builder, order.trigger)],
    [Create.creationTimestampNs, order.creationNs],
    [Create.account, order.account],
    [Create.isSpot, order.isSpot],
    [Create.reduceOnly, order.reduceOnly],
    [Create.maxTradingFeesRate, order.maxTradingFeesRate],
    [Create.protocolVersion, order.protocolVersion],
    [Create.signature, bytesOrNone(builder, request.signature)],
    [Create.additionalSigners, coSignersOrNone(builder, request.additionalSigners)],
    [Create.postSignTimestamp, request.postSignNs],
    [Create.protectionGroup, textOrNone(builder, request.protectionGroup)],
  ]);
}

/** @returns its offset. */
export function replaceTable(builder: Builder, request: ReplaceRequest): number {
  return tableOf(builder, Replace.table, [
    [Replace.orderId, builder.createString(request.request.orderId)],
    [Replace.complete, request.request.baseAsset !== null],
    [Replace.timestampNs, request.request.timestampNs],
    [Replace.newPriceLimit, rawOrUnset(request.request.newPriceLimit)],
    [Replace.newQuantity, rawOrUnset(request.request.newQuantity)],
    [Replace.newTrigger, triggerOrNone(builder, request.request.newTrigger)], [Replace.newTriggerForm, formOf(request.request.newTrigger)],
    [Replace.bookQuantityDecimals, request.request.bookQuantityDecimals],
    [Replace.bookPriceDecimals, request.request.bookPriceDecimals],
    [Replace.protocolVersion, request.request.protocolVersion],
    [Replace.signer, userVector(builder, request.signer)],
    [Replace.assetId, builder.createString(request.asset.text)],
    [Replace.signature, bytesOrNone(builder, request.signature)],
    [Replace.additionalSigners, coSignersOrNone(builder, request.additionalSigners)],
    [Replace.postSignTimestamp, request.postSignNs],
  ]);
}

/** @returns its offset. */
export function cancelTable(builder: Builder, request: CancelRequest): number {
  const { cancel } = request;
  return tableOf(builder, Cancel.table, [
    [Cancel.orderId, builder.createString(cancel.orderId)],
    [Cancel.assetId, builder.createString(cancel.asset.text)],
    [Cancel.signer, userVector(builder, cancel.signer)],
    [Cancel.protocolVersion, cancel.protocolVersion],
    [Cancel.signature, bytesOrNone(builder, request.signature)],
    [Cancel.additionalSigners, coSignersOrNone(builder, request.additionalSigners)],
    [Cancel.postSignTimestamp, request.postSignNs],
  ]);
}

/** @returns its offset. */
export function amendTable(builder: Builder, request: AmendRequest): number {
  const { amend } = request;
  return tableOf(builder, Amend.table, [
    [Amend.orderId, builder.createString(amend.orderId)],
    [Amend.baseAsset, builder.createString(amend.asset.text)],
    [Amend.newQuantity, BigInt(amend.newQuantity)],
    [Amend.bookQuantityDecimals, amend.bookQuantityDecimals],
    [Amend.expectedAuthorizationRevision, amend.expectedRevisionNs ?? 0n],
    [Amend.timestampNs, amend.timestampNs],
    [Amend.userId, userVector(builder, request.user)],
  ]);
}

/** @returns its offset. */
export function quoteSetTable(builder: Builder, request: QuoteSetRequest): number {
  const { quotes } = request;
  return tableOf(builder, QuoteSet.table, [
    [QuoteSet.signer, userVector(builder, quotes.signer)],
    [QuoteSet.setId, builder.createString(quotes.setId)],
    [QuoteSet.baseAsset, builder.createString(quotes.baseAsset.text)],
    [QuoteSet.bookPriceDecimals, quotes.bookPriceDecimals],
    [QuoteSet.bookQuantityDecimals, quotes.bookQuantityDecimals],
    [QuoteSet.revision, quotes.revisionNs],
    [QuoteSet.bids, quotesVector(builder, quotes.bids)],
    [QuoteSet.asks, quotesVector(builder, quotes.asks)],
    [QuoteSet.account, quotes.account],
    [QuoteSet.isSpot, quotes.isSpot],
    [QuoteSet.maxTradingFeesRate, quotes.maxTradingFeesRate],
    [QuoteSet.protectionGroup, textOrNone(builder, quotes.protectionGroup)],
    [QuoteSet.goodUntilTimestampNs, quotes.goodUntilNs ?? 0n],
    [QuoteSet.protocolVersion, quotes.protocolVersion],
    [QuoteSet.signature, bytesOrNone(builder, request.signature)],
    [QuoteSet.additionalSigners, coSignersOrNone(builder, request.additionalSigners)],
    [QuoteSet.postSignTimestamp, request.postSignNs],
  ]);
}
