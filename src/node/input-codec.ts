/**
 * Ring records into clearing's inputs. The record's bytes are what the journal keeps, so the same function serves the
 * live road and the replay.
 */
import type { ClearingInput, FillUnit, NodeInput } from '../clearing/inputs.ts';
import { InvariantError } from '../core/assert.ts';
import type { OrderEnd, RollbackReason } from '../core/order-terms.ts';
import type { RawPrice, RawQuantity, Sequence, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import {
  Matched,
  NodeCommand,
  OrderAdmitted,
  OrderEnded,
  OrderReplaced,
  OrderRestored,
} from '../messages/generated/messages.ts';
import { decodePlain } from '../messages/plain-values.ts';
import { readNewOrder } from './order-codec.ts';

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
        marketIndex: OrderEnded.marketIndex(v, at),
        sequence: OrderEnded.sequence(v, at) as Sequence,
        timeNs: OrderEnded.timeNs(v, at) as TimestampNs,
        order: OrderEnded.order(v, at) as Sequence,
        end: OrderEnded.end(v, at) as OrderEnd,
        faultReason: OrderEnded.faultReason(v, at) as RollbackReason,
      };
    case OrderReplaced.typeId:
      return readReplaced(v, at);
    case OrderRestored.typeId:
      return {
        kind: 'restored',
        marketIndex: OrderRestored.marketIndex(v, at),
        sequence: OrderRestored.sequence(v, at) as Sequence,
        timeNs: OrderRestored.timeNs(v, at) as TimestampNs,
        order: OrderRestored.order(v, at) as Sequence,
        prioritySequence: OrderRestored.prioritySequence(v, at) as Sequence,
      };
    case NodeCommand.typeId: {
      const start = at + NodeCommand.bytes;
      return decodePlain<NodeInput>(v.u8.subarray(start, start + NodeCommand.textBytes(v, at)));
    }
    default:
      throw new InvariantError(`clearing received a message of type ${typeId}`);
  }
}

function readAdmitted(v: Views, at: number): ClearingInput {
  return {
    kind: OrderAdmitted.refusal(v, at) === 0 ? 'created' : 'createRefused',
    marketIndex: OrderAdmitted.marketIndex(v, at),
    sequence: OrderAdmitted.sequence(v, at) as Sequence,
    timeNs: OrderAdmitted.timeNs(v, at) as TimestampNs,
    order: readNewOrder(v, at + OrderAdmitted.bytes),
  };
}

function readMatched(v: Views, at: number): ClearingInput {
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
    marketIndex: OrderReplaced.marketIndex(v, at),
    sequence: OrderReplaced.sequence(v, at) as Sequence,
    timeNs: OrderReplaced.timeNs(v, at) as TimestampNs,
    order: OrderReplaced.order(v, at) as Sequence,
    prioritySequence: OrderReplaced.prioritySequence(v, at) as Sequence,
    price: OrderReplaced.price(v, at) as RawPrice,
    quantity: OrderReplaced.quantity(v, at) as RawQuantity,
    timestampNs: OrderReplaced.timestampNs(v, at) as TimestampNs,
  };
}
