/**
 * Order events of the `/orders` stream (wire.md 9.4): one tag per frame. Every order ends with exactly one of
 * `Canceled` and `Removed`. Quantities are raw book integers.
 */
import type { JsonObject, JsonValue } from '../codec/json-tree.ts';
import { ORDER_EVENT } from '../codec/shapes/stream-shapes.ts';
import { readObject } from './read-members.ts';
import { taggedReader } from './reply-reader.ts';

interface OrderEventCommon {
  readonly orderId: string;
  /**
   * When it happened, on the service's clock. `Replaced` and failures have no time of their own: theirs is when the service
   * published them.
   */
  readonly timestampNs: bigint;
}

interface OrderOfMarket extends OrderEventCommon {
  readonly assetId: string;
}

export type OrderEvent =
  | (OrderOfMarket & { readonly kind: 'Created'; readonly order: JsonObject })
  | (OrderOfMarket & { readonly kind: 'Canceled'; readonly reason: string | null })
  | (OrderOfMarket & {
      readonly kind: 'Removed';
      readonly reason: string;
      readonly filledQuantity: number;
      readonly confirmedQuantity: number;
    })
  | (OrderOfMarket & { readonly kind: 'Replaced'; readonly newPrice: number; readonly newQuantity: number })
  | (OrderOfMarket & {
      readonly kind: 'Amended';
      readonly newQuantity: number;
      readonly remainingQuantity: number;
      /** What the next amend is to expect. */
      readonly revisionNs: bigint;
    })
  | (OrderOfMarket & {
      readonly kind: 'Triggered';
      readonly triggerPrice: number;
      /** What this release activates; null from a service that does not send it. */
      readonly quantity: number | null;
    })
  | {
      readonly kind: 'ProtectionTriggered';
      /** It is about no single order. */
      readonly orderId?: undefined;
      readonly assetId: string;
      /** Whose orders were taken off the book; each gets its `Canceled`. */
      readonly group: string;
      readonly limit: string;
      /** null: until it is reset. */
      readonly frozenUntilNs: bigint | null;
      readonly timestampNs: bigint;
    }
  | (OrderEventCommon & {
      readonly kind: 'CreateFailed' | 'ReplaceFailed' | 'CancelFailed' | 'AmendFailed';
      readonly reason: string | null;
    });

const readTagged = taggedReader('order event', ORDER_EVENT);

/**
 * @param publishedNs of the frame.
 * @returns null for a tag unknown to this version: a newer service may have more.
 */
export function readOrderEvent(value: JsonValue, publishedNs: bigint): OrderEvent | null {
  const event = readTagged(value);
  if (event === null) return null;
  const ofOrder = event.kind === 'Created' ? createdOf(value as JsonObject) : {};
  return { timestampNs: publishedNs, ...event, ...ofOrder } as OrderEvent;
}

/** Of an order as it was signed. */
function createdOf(event: JsonObject): {
  readonly orderId: string;
  readonly assetId: string;
  readonly order: JsonObject;
} {
  return readObject(event.get('Created') ?? null, 'order event', (created) => {
    const order = created.object('user_order');
    const names = readObject(order, 'order event', (reader) => ({
      orderId: reader.string('order_id'),
      assetId: reader.string('base_asset'),
    }));
    return { ...names, order };
  });
}
