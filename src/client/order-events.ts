/**
 * Order events of the `/orders` stream (wire.md 9.4): one tag per frame. Every order ends with exactly one of
 * `Canceled` and `Removed`. Quantities are raw book integers.
 */
import { isJsonObject, type JsonObject, type JsonValue, MemberReader } from '../codec/json-tree.ts';
import { invalidResponse, malformed } from './errors.ts';

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
  | (OrderEventCommon & {
      readonly kind: 'CreateFailed' | 'ReplaceFailed' | 'CancelFailed' | 'AmendFailed';
      readonly reason: string | null;
    });

const SAFE_MAX = Number.MAX_SAFE_INTEGER;

/**
 * @param publishedNs of the frame.
 * @returns null for a tag unknown to this version: a newer service may have more.
 */
export function readOrderEvent(value: JsonValue, publishedNs: bigint): OrderEvent | null {
  if (!isJsonObject(value) || value.size !== 1) throw invalidResponse('order event', 'expected one tag');
  const [[tag, content] = ['', null]] = value;
  if (!isJsonObject(content)) throw invalidResponse('order event', 'a tag holds an object');
  const reader = new MemberReader(content);
  const event = readTagged(tag, reader, publishedNs);
  const fault = reader.finish('skip');
  if (fault !== null) throw malformed('order event', fault);
  return event;
}

function readTagged(tag: string, reader: MemberReader, publishedNs: bigint): OrderEvent | null {
  switch (tag) {
    case 'Created':
      return { ...readCreated(reader.object('user_order')), timestampNs: reader.u64('book_timestamp_ns') };
    case 'Canceled':
      return { kind: tag, ...identity(reader), timestampNs: reader.u64('timestamp_ns'), reason: reasonOf(reader) };
    case 'Removed':
      return {
        kind: tag,
        ...identity(reader),
        timestampNs: reader.u64('timestamp_ns'),
        reason: reader.string('reason'),
        filledQuantity: countOrZero(reader, 'filled_quantity'),
        confirmedQuantity: countOrZero(reader, 'confirmed_quantity'),
      };
    case 'Replaced':
      return {
        kind: tag,
        ...identity(reader),
        timestampNs: publishedNs,
        newPrice: reader.integer('new_price', 0, SAFE_MAX),
        newQuantity: reader.integer('new_quantity', 0, SAFE_MAX),
      };
    case 'Amended':
      return {
        kind: tag,
        ...identity(reader),
        newQuantity: reader.integer('new_quantity', 0, SAFE_MAX),
        remainingQuantity: reader.integer('remaining_quantity', 0, SAFE_MAX),
        revisionNs: reader.u64('authorization_revision'),
        timestampNs: reader.u64('timestamp_ns'),
      };
    case 'Triggered':
      return {
        kind: tag,
        ...identity(reader),
        timestampNs: reader.u64('timestamp_ns'),
        triggerPrice: reader.integer('trigger_price', 0, SAFE_MAX),
        quantity: reader.has('quantity') ? reader.integer('quantity', 0, SAFE_MAX) : null,
      };
    case 'CreateFailed':
    case 'ReplaceFailed':
    case 'CancelFailed':
    case 'AmendFailed':
      return { kind: tag, orderId: reader.string('order_id'), timestampNs: publishedNs, reason: reasonOf(reader) };
    default:
      return null;
  }
}

function readCreated(order: JsonObject): Omit<OrderEvent & { readonly kind: 'Created' }, 'timestampNs'> {
  const reader = new MemberReader(order);
  const event = {
    kind: 'Created' as const,
    orderId: reader.string('order_id'),
    assetId: reader.string('base_asset'),
    order,
  };
  const fault = reader.finish('skip');
  if (fault !== null) throw malformed('order event', fault);
  return event;
}

function identity(reader: MemberReader): { readonly orderId: string; readonly assetId: string } {
  return { orderId: reader.string('order_id'), assetId: reader.string('asset_id') };
}

function reasonOf(reader: MemberReader): string | null {
  return reader.has('reason') ? reader.string('reason') : null;
}

function countOrZero(reader: MemberReader, name: string): number {
  return reader.has(name) ? reader.integer(name, 0, SAFE_MAX) : 0;
}
