/**
 * The order that an entry of a quote set stands for, as a create of it would be signed: `user_order` of its `Created`
 * (wire-additions.md 16.3). No signature is over it.
 */
import { writeSignedOrder } from '../../../codec/generated/order-json.ts';
import { PROTOCOL_VERSION } from '../../../codec/order-rules.ts';
import { textBytes } from '../../../codec/text-writer.ts';
import { TIF } from '../../../core/order-terms.ts';
import { isSpot, type LiveOrder } from './live-order.ts';

export function entryText(order: LiveOrder): Uint8Array {
  const { user, market, goodUntilNs } = order;
  const { assetId, priceDecimals, quantityDecimals } = market.definition;
  const isGtd = order.tif === TIF.gtd;
  return textBytes(
    {
      signer: { id: user, text: user },
      orderId: order.orderId,
      baseAsset: { id: assetId, text: assetId },
      bookPriceDecimals: priceDecimals,
      bookQuantityDecimals: quantityDecimals,
      details: {
        kind: 'limit',
        limitPrice: order.price,
        quantity: order.quantity,
        tif: isGtd ? TIF.gtd : TIF.gtc,
        postOnly: true,
        goodUntilNs: isGtd ? goodUntilNs : null,
      },
      side: order.side,
      trigger: null,
      creationNs: order.creationNs,
      account: order.subAccount,
      isSpot: isSpot(order),
      reduceOnly: false,
      maxTradingFeesRate: order.maxFeeRate,
      protocolVersion: PROTOCOL_VERSION,
    },
    writeSignedOrder,
  );
}
