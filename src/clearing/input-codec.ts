/**
 * Ring messages as inputs of the clearing engine. The bytes of a message are what the journal keeps, so the same function
 * serves live operation and replay.
 */

import { InvariantError } from '../core/assert.ts';
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
import type { ClearingInput, NodeInput } from './inputs.ts';

/** @throws InvariantError for a type that no producer of clearing writes. */
export function readInput(typeId: number, v: Views, at: number): ClearingInput {
  switch (typeId) {
    case OrderAdmitted.typeId:
      return readAdmitted(v, at);
    case Matched.typeId:
      return Matched.read(v, at);
    case OrderEnded.typeId:
      return OrderEnded.read(v, at);
    case OrderReplaced.typeId:
      return OrderReplaced.read(v, at);
    case OrderRestored.typeId:
      return OrderRestored.read(v, at);
    case OrderTriggered.typeId:
      return OrderTriggered.read(v, at);
    case OrderActivated.typeId:
      return OrderActivated.read(v, at);
    case OrderCovered.typeId:
      return OrderCovered.read(v, at);
    case NodeCommand.typeId: {
      const start = at + NodeCommand.bytes;
      return decodePlain<NodeInput>(v.u8.subarray(start, start + NodeCommand.textBytes(v, at)));
    }
    default:
      throw new InvariantError(`clearing received a message of type ${typeId}`);
  }
}

function readAdmitted(v: Views, at: number): ClearingInput {
  const { marketIndex, sequence, timeNs, refusal } = OrderAdmitted.read(v, at);
  const order = readNewOrder(v, at + OrderAdmitted.bytes);
  if (refusal !== 0) return { kind: 'createRefused', marketIndex, sequence, timeNs, order };
  const parent = OrderRecord.parentSequence(v, at + OrderAdmitted.bytes + NewOrder.orderAt);
  return { kind: 'created', marketIndex, sequence, timeNs, order, parent };
}
