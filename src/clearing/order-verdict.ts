/**
 * Clearing's own look at an order before its first fill (GEN-05, FIL-09): the signature over the text, natively, and
 * the text against the record of the order. Both must hold; gateway and market are not trusted.
 */

import type { OrderDetails } from '../codec/order-details.ts';
import type { Signatures } from '../codec/signatures.ts';
import { decodeCreate, type SignedOrder } from '../codec/signed-order.ts';
import { signaturesOf } from '../codec/stored-signatures.ts';
import { must } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import type { AssetId } from '../core/ids.ts';
import { ORDER_FLAG, ORDER_KIND, TIF, TRIGGER } from '../core/order-terms.ts';
import { verify } from '../crypto/ed25519.ts';
import type { OrderRow, SignedText } from './rows.ts';

/** @param asset the market's asset. @returns the verdict that is journaled; the check is made once per order. */
export function verifyOrder(row: OrderRow, signed: SignedText, asset: AssetId): boolean {
  const text = Buffer.from(signed.text, 'latin1');
  const signatures = signaturesOf(signed.signatures);
  return isSigned(row, signatures, text) && saysWhatWasSigned(row, asset, text);
}

function isSigned(row: OrderRow, { signature, additionalSigners }: Signatures, text: Buffer): boolean {
  const key = must(parseHex(row.user, 32), 'a user id is 32 bytes of hex');
  return additionalSigners.length === 0 && verify(signature, text, key);
}

/** The text is the canonical one of an order with exactly these terms. A replace has moved some of them on. */
function saysWhatWasSigned(row: OrderRow, asset: AssetId, text: Buffer): boolean {
  const wrapper = Buffer.concat([HEAD, text, TAIL]);
  const decoded = decodeCreate(wrapper, 0, wrapper.length);
  if (!decoded.ok || decoded.value.fault !== null || !text.equals(decoded.value.text)) return false;
  const { order } = decoded.value;
  const isReplaced = row.timestampNs !== row.creationNs;
  return (
    isSameOrder(order, row, { asset, text }) && (isReplaced || (isSameSize(order, row) && isSameTrigger(order, row)))
  );
}

const HEAD = Buffer.from('{"order":');
const TAIL = Buffer.from(',"signature":[],"post_sign_timestamp":0}');

/** Flags that the node sets on its own. */
const OWN_FLAGS = ORDER_FLAG.cancelPending | ORDER_FLAG.rolledBack | ORDER_FLAG.entering;

/** What no replace can change. */
function isSameOrder(
  order: SignedOrder,
  row: OrderRow,
  { asset, text }: { readonly asset: AssetId; readonly text: Buffer },
): boolean {
  return (
    order.signer.id === row.user &&
    order.orderId === row.orderId &&
    order.baseAsset.id === asset &&
    order.side === row.side &&
    order.account === row.subAccount &&
    order.creationNs === row.creationNs &&
    order.maxTradingFeesRate === row.maxFeeRate &&
    flagsOf(order) === (row.flags & ~OWN_FLAGS) &&
    (order.trigger?.parentOrderId ?? '') === parentIdIn(text, row) &&
    isSameKind(order.details, row)
  );
}

/** The id of its parent as the record refers to it. */
function parentIdIn(text: Buffer, { parentIdAt, parentIdBytes }: OrderRow): string {
  return text.toString('latin1', parentIdAt, parentIdAt + parentIdBytes);
}

function flagsOf({ details, reduceOnly, isSpot }: SignedOrder): number {
  const postOnly = details.kind === 'limit' && details.postOnly ? ORDER_FLAG.postOnly : 0;
  return postOnly | (reduceOnly ? ORDER_FLAG.reduceOnly : 0) | (isSpot ? ORDER_FLAG.isSpot : 0);
}

/** Kind and time in force, and the figures of a market order, which never change. */
function isSameKind(details: OrderDetails, row: OrderRow): boolean {
  if (details.kind === 'limit') {
    const goodUntilNs = details.tif === TIF.gtd ? details.goodUntilNs : 0n;
    return row.kind === ORDER_KIND.limit && details.tif === row.tif && goodUntilNs === row.goodUntilNs;
  }
  const tif = details.fillOrKill ? TIF.fok : TIF.ioc;
  if (tif !== row.tif || row.goodUntilNs !== 0n) return false;
  if (details.kind === 'market-base') {
    return row.kind === ORDER_KIND.marketBase && (details.maxSellableAmount ?? 0) === row.amount;
  }
  return (
    row.kind === ORDER_KIND.marketQuote &&
    details.amount === row.amount &&
    (details.maxSellableQuantity ?? 0) === row.quantity
  );
}

/**
 * What the node reduces keeps its time and is smaller than it was signed: a child by what its parent cannot activate any
 * more (AMB-29), a limit order that rests by auto-reduce (AR-01, AMB-61).
 */
function isSameSize({ details }: SignedOrder, row: OrderRow): boolean {
  if (details.kind === 'market-quote') return true;
  const isResting = row.tif === TIF.gtc || row.tif === TIF.gtd;
  const mayBeSmaller = row.parentIdBytes !== 0 || (details.kind === 'limit' && isResting);
  const isSigned = mayBeSmaller ? row.quantity <= details.quantity : row.quantity === details.quantity;
  return isSigned && (details.kind !== 'limit' || details.limitPrice === row.price);
}

function isSameTrigger({ trigger }: SignedOrder, row: OrderRow): boolean {
  if (trigger === null) return row.triggerKind === TRIGGER.none;
  const kind = trigger.condition.direction === 'PriceAbove' ? TRIGGER.above : TRIGGER.below;
  return row.triggerKind === kind && row.triggerPrice === trigger.condition.price;
}
