/**
 * Clearing's own look at an order before its first fill (GEN-05, FIL-09): the signature over the text, natively, and
 * the text against the order that clearing was told. Both must hold; neither the front door nor the market is trusted.
 */
import type { OrderRow } from '../clearing/rows.ts';
import { must } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import type { AssetId } from '../core/ids.ts';
import { ORDER_FLAG, TIF } from '../core/order-terms.ts';
import { verify } from '../crypto/ed25519.ts';
import { decodeCreate, type SignedOrder } from '../wire/signed-order.ts';

/** @param asset the market's asset. @returns the verdict that is journaled; never asked again. */
export function verifyOrder(row: OrderRow, asset: AssetId): boolean {
  const text = Buffer.from(row.text, 'latin1');
  const key = must(parseHex(row.user, 32), 'a user id is 32 bytes of hex');
  return verify(row.signature, text, key) && saysWhatWasSigned(row, asset, text);
}

/** The text is the canonical one of an order with exactly these terms. A replace has moved price and quantity on. */
function saysWhatWasSigned(row: OrderRow, asset: AssetId, text: Buffer): boolean {
  const wrapper = Buffer.concat([HEAD, text, TAIL]);
  const decoded = decodeCreate(wrapper, 0, wrapper.length);
  if (!decoded.ok || decoded.value.fault !== null || !text.equals(decoded.value.text)) return false;
  const { order } = decoded.value;
  const isReplaced = row.timestampNs !== row.creationNs;
  return isSameOrder(order, row, asset) && (isReplaced || isSameSize(order, row));
}

const HEAD = Buffer.from('{"order":');
const TAIL = Buffer.from(',"signature":[],"post_sign_timestamp":0}');

function isSameOrder(order: SignedOrder, row: OrderRow, asset: AssetId): boolean {
  const { details } = order;
  if (details.kind !== 'limit') return false;
  const postOnly = details.postOnly ? ORDER_FLAG.postOnly : 0;
  const flags = postOnly | (order.reduceOnly ? ORDER_FLAG.reduceOnly : 0) | (order.isSpot ? ORDER_FLAG.isSpot : 0);
  return (
    order.signer.id === row.user &&
    order.orderId === row.orderId &&
    order.baseAsset.id === asset &&
    order.side === row.side &&
    order.account === row.subAccount &&
    order.creationNs === row.creationNs &&
    order.maxTradingFeesRate === row.maxFeeRate &&
    details.tif === row.tif &&
    flags === row.flags &&
    (details.tif === TIF.gtd ? details.goodUntilNs : 0n) === row.goodUntilNs
  );
}

function isSameSize({ details }: SignedOrder, row: OrderRow): boolean {
  return details.kind === 'limit' && details.limitPrice === row.price && details.quantity === row.quantity;
}
