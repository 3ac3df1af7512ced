/**
 * Ring records into clearing's inputs. The record's bytes are what the journal keeps, so the same function serves the
 * live road and the replay.
 */

import { InvariantError } from '../core/assert.ts';
import type { OrderEnd, RollbackReason, TriggerKind } from '../core/order-terms.ts';
import type { RawPrice, RawQuantity, Sequence, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import { readNewOrder } from '../order/order-codec.ts';
import {
  Matched,
  NewOrder,
  NodeCommand,
  OrderActivated,
  OrderAdmitted,
  OrderCovered,
  OrderEnded,
  OrderRecord,
  OrderReplaced,
  OrderRestored,
  OrderTriggered,
} from '../schema/generated/messages.ts';
import { decodePlain } from '../schema/plain-values.ts';
import type { ClearingInput, FillUnit, NodeInput } from './inputs.ts';

/** Every message of a market has these, each at its own place. */
interface MarketMessage {
  marketIndex(v: Views, at: number): number;
  sequence(v: Views, at: number): number;
  timeNs(v: Views, at: number): bigint;
}

/** Most are about one order that the market knows by name. */
interface OrderMessage extends MarketMessage {
  order(v: Views, at: number): number;
}

/** @throws InvariantError for a type that no producer of clearing writes. */
export function readInput(typeId: number, v: Views, at: number): ClearingInput {
  switch (typeId) {
    case OrderAdmitted.typeId:
      return readAdmitted(v, at);
    case Matched.typeId:
      return readMatched(v, at);
    case OrderEnded.typeId:
      return {
        kind: 'ended',
        ...readOrderNews(OrderEnded, v, at),
        end: OrderEnded.end(v, at) as OrderEnd,
        faultReason: OrderEnded.faultReason(v, at) as RollbackReason,
      };
    case OrderReplaced.typeId:
      return readReplaced(v, at);
    case OrderRestored.typeId:
      return {
        kind: 'restored',
        ...readOrderNews(OrderRestored, v, at),
        prioritySequence: OrderRestored.prioritySequence(v, at) as Sequence,
      };
    case OrderTriggered.typeId:
      return {
        kind: 'triggered',
        ...readOrderNews(OrderTriggered, v, at),
        quantity: OrderTriggered.quantity(v, at),
      };
    case OrderActivated.typeId:
      return {
        kind: 'activated',
        ...readOrderNews(OrderActivated, v, at),
        prioritySequence: OrderActivated.prioritySequence(v, at) as Sequence,
        quantity: OrderActivated.quantity(v, at),
      };
    case OrderCovered.typeId:
      return { kind: 'covered', ...readOrderNews(OrderCovered, v, at) };
    case NodeCommand.typeId: {
      const start = at + NodeCommand.bytes;
      return decodePlain<NodeInput>(v.u8.subarray(start, start + NodeCommand.textBytes(v, at)));
    }
    default:
      throw new InvariantError(`clearing received a message of type ${typeId}`);
  }
}

function readPlace(
  message: MarketMessage,
  v: Views,
  at: number,
): { readonly marketIndex: number; readonly sequence: Sequence; readonly timeNs: TimestampNs } {
  return {
    marketIndex: message.marketIndex(v, at),
    sequence: message.sequence(v, at) as Sequence,
    timeNs: message.timeNs(v, at) as TimestampNs,
  };
}

function readOrderNews(
  message: OrderMessage,
  v: Views,
  at: number,
): ReturnType<typeof readPlace> & { readonly order: Sequence } {
  return { ...readPlace(message, v, at), order: message.order(v, at) as Sequence };
}

function readAdmitted(v: Views, at: number): ClearingInput {
  const order = readNewOrder(v, at + OrderAdmitted.bytes);
  const place = readPlace(OrderAdmitted, v, at);
  if (OrderAdmitted.refusal(v, at) !== 0) return { kind: 'createRefused', ...place, order };
  const parent = OrderRecord.parentSequence(v, at + OrderAdmitted.bytes + NewOrder.orderAt);
  return { kind: 'created', ...place, order, parent };
}

function readMatched(v: Views, at: number): ClearingInput {
  // Written out: of all inputs this is the one that comes by the ten thousand.
  return {
    kind: 'matched',
    marketIndex: Matched.marketIndex(v, at),
    sequence: Matched.sequence(v, at) as Sequence,
    timeNs: Matched.timeNs(v, at) as TimestampNs,
    tradeId: Matched.tradeId(v, at) as Sequence,
    makerOrder: Matched.makerOrder(v, at) as Sequence,
    takerOrder: Matched.takerOrder(v, at) as Sequence,
    price: Matched.price(v, at) as RawPrice,
    quantity: Matched.quantity(v, at) as RawQuantity,
    makerFeeRate: Matched.makerFeeRate(v, at),
    takerFeeRate: Matched.takerFeeRate(v, at),
    unit: Matched.unit(v, at) as FillUnit,
  };
}

function readReplaced(v: Views, at: number): ClearingInput {
  return {
    kind: 'replaced',
    ...readOrderNews(OrderReplaced, v, at),
    prioritySequence: OrderReplaced.prioritySequence(v, at) as Sequence,
    price: OrderReplaced.price(v, at) as RawPrice,
    quantity: OrderReplaced.quantity(v, at) as RawQuantity,
    timestampNs: OrderReplaced.timestampNs(v, at) as TimestampNs,
    triggerKind: OrderReplaced.triggerKind(v, at) as TriggerKind,
    triggerPrice: OrderReplaced.triggerPrice(v, at) as RawPrice,
  };
}
