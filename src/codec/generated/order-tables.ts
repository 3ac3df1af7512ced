/** Generated from src/codec/shapes/order-shapes.ts and schemas/control.fbs by `npm run generate`. Do not edit. */
import type { OrderId } from '../../core/ids.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../../core/units.ts';
import type { Draft } from '../decode-text.ts';
import { reader, refuseMember, timeAt, timeOrNullAt, textAt, textOrNullAt, quoteEntriesAt, userAt, assetAt, flagAt, marketOfTermsAt, marketBesideAt, sideAt, rawAt, rawOrNullAt, detailsAt, triggerOrNullAt, newTriggerOrNullAt, signatureAt, coSignersAt } from '../flat-members.ts';
import { replaceTermsFault } from '../order-rules.ts';
import { Create, Replace, Cancel, Amend, QuoteSet } from './control-tables.ts';
import type { CreateRequest, ReplaceRequest, CancelRequest, AmendRequest, QuoteSetRequest } from './order-json.ts';
import { NO_SIGNERS } from '../signatures.ts';
import { NO_BYTES } from '../text-writer.ts';

/** After a fault of the frame its members are undefined. */
export function createAt(at: number): Draft<CreateRequest> {
  const order = {
    signer: userAt(at, Create.signer, 'signer'),
    orderId: textAt(at, Create.orderId, 'order_id') as OrderId,
    baseAsset: assetAt(at, Create.baseAsset, 'base_asset'),
    bookPriceDecimals: reader.signedByte(at, Create.bookPriceDecimals),
    bookQuantityDecimals: reader.signedByte(at, Create.bookQuantityDecimals),
    details: detailsAt(at, Create.detailsType, Create.details),
    side: sideAt(at, Create.side, 'side'),
    trigger: triggerOrNullAt(at, Create.trigger),
    creationNs: timeAt(at, Create.creationTimestampNs, 'creation_timestamp_ns'),
    account: reader.unsigned(at, Create.account),
    isSpot: flagAt(at, Create.isSpot, 'is_spot'),
    reduceOnly: flagAt(at, Create.reduceOnly, 'reduce_only'),
    maxTradingFeesRate: reader.unsigned(at, Create.maxTradingFeesRate),
    protocolVersion: reader.unsigned(at, Create.protocolVersion),
  };
  return {
    order,
    signature: signatureAt(at, Create.signature, 'signature'),
    additionalSigners: coSignersAt(at, Create.additionalSigners, 'additional_signers'),
    postSignNs: timeAt(at, Create.postSignTimestamp, 'post_sign_timestamp'),
    protectionGroup: textOrNullAt(at, Create.protectionGroup, 'protection_group'),
    fault: null,
    text: NO_BYTES,
  };
}

/** After a fault of the frame its members are undefined. */
export function replaceAt(at: number): Draft<ReplaceRequest> {
  const request = {
    orderId: textAt(at, Replace.orderId, 'order_id') as OrderId,
    baseAsset: marketOfTermsAt(at, Replace.complete, Replace.assetId, 'base_asset'),
    timestampNs: timeAt(at, Replace.timestampNs, 'timestamp_ns'),
    newPriceLimit: rawOrNullAt(at, Replace.newPriceLimit) as RawPrice | null,
    newQuantity: rawOrNullAt(at, Replace.newQuantity) as RawQuantity | null,
    newTrigger: newTriggerOrNullAt(at, Replace.newTrigger, Replace.newTriggerForm, 'new_trigger'),
    bookQuantityDecimals: reader.signedByte(at, Replace.bookQuantityDecimals),
    bookPriceDecimals: reader.signedByte(at, Replace.bookPriceDecimals),
    protocolVersion: reader.unsigned(at, Replace.protocolVersion),
  };
  refuseMember(replaceTermsFault(request));
  return {
    request,
    signer: userAt(at, Replace.signer, 'signer'),
    asset: marketBesideAt(at, Replace.complete, Replace.assetId, 'asset_id'),
    signature: signatureAt(at, Replace.signature, 'signature'),
    additionalSigners: coSignersAt(at, Replace.additionalSigners, 'additional_signers'),
    postSignNs: timeAt(at, Replace.postSignTimestamp, 'post_sign_timestamp'),
    fault: null,
    text: NO_BYTES,
  };
}

/** After a fault of the frame its members are undefined. */
export function cancelAt(at: number): Draft<CancelRequest> {
  const cancel = {
    orderId: textAt(at, Cancel.orderId, 'order_id') as OrderId,
    asset: assetAt(at, Cancel.assetId, 'asset_id'),
    signer: userAt(at, Cancel.signer, 'signer'),
    protocolVersion: reader.unsigned(at, Cancel.protocolVersion),
  };
  return {
    cancel,
    signature: signatureAt(at, Cancel.signature, 'signature'),
    additionalSigners: coSignersAt(at, Cancel.additionalSigners, 'additional_signers'),
    postSignNs: timeAt(at, Cancel.postSignTimestamp, 'post_sign_timestamp'),
    fault: null,
    text: NO_BYTES,
  };
}

/** After a fault of the frame its members are undefined. */
export function amendAt(at: number): Draft<AmendRequest> {
  const amend = {
    orderId: textAt(at, Amend.orderId, 'order_id') as OrderId,
    asset: assetAt(at, Amend.baseAsset, 'base_asset'),
    newQuantity: rawAt(at, Amend.newQuantity) as RawQuantity,
    bookQuantityDecimals: reader.signedByte(at, Amend.bookQuantityDecimals),
    expectedRevisionNs: timeOrNullAt(at, Amend.expectedAuthorizationRevision, 'expected_authorization_revision'),
    timestampNs: timeAt(at, Amend.timestampNs, 'timestamp_ns'),
  };
  return {
    amend,
    user: userAt(at, Amend.userId, 'user_id'),
    signature: NO_BYTES,
    additionalSigners: NO_SIGNERS,
    postSignNs: 0n as TimestampNs,
    fault: null,
    text: NO_BYTES,
  };
}

/** After a fault of the frame its members are undefined. */
export function quoteSetAt(at: number): Draft<QuoteSetRequest> {
  const quotes = {
    signer: userAt(at, QuoteSet.signer, 'signer'),
    setId: textAt(at, QuoteSet.setId, 'set_id'),
    baseAsset: assetAt(at, QuoteSet.baseAsset, 'base_asset'),
    bookPriceDecimals: reader.signedByte(at, QuoteSet.bookPriceDecimals),
    bookQuantityDecimals: reader.signedByte(at, QuoteSet.bookQuantityDecimals),
    revisionNs: timeAt(at, QuoteSet.revision, 'revision'),
    bids: quoteEntriesAt(at, QuoteSet.bids, 'bids'),
    asks: quoteEntriesAt(at, QuoteSet.asks, 'asks'),
    account: reader.unsigned(at, QuoteSet.account),
    isSpot: flagAt(at, QuoteSet.isSpot, 'is_spot'),
    maxTradingFeesRate: reader.unsigned(at, QuoteSet.maxTradingFeesRate),
    protectionGroup: textOrNullAt(at, QuoteSet.protectionGroup, 'protection_group'),
    goodUntilNs: timeOrNullAt(at, QuoteSet.goodUntilTimestampNs, 'good_until_timestamp_ns'),
    protocolVersion: reader.unsigned(at, QuoteSet.protocolVersion),
  };
  return {
    quotes,
    signature: signatureAt(at, QuoteSet.signature, 'signature'),
    additionalSigners: coSignersAt(at, QuoteSet.additionalSigners, 'additional_signers'),
    postSignNs: timeAt(at, QuoteSet.postSignTimestamp, 'post_sign_timestamp'),
    fault: null,
    text: NO_BYTES,
  };
}
