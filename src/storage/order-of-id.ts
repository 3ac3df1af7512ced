/**
 * What the id of a finished order leads to (table 34): the order that had it last, and where its record lies. A user may
 * use an id again once it is forgotten, or earlier where it was never taken: the later order takes the entry over.
 */
import { InvariantError } from '../core/assert.ts';
import type { Sequence } from '../core/units.ts';
import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import { decodeFrame, encodeFrame } from './frames.ts';
import type { BlockPlace } from './order-blocks.ts';

export interface OrderOfId {
  readonly orderSequence: Sequence;
  readonly block: BlockPlace;
}

export function encodeOrderOfId(to: ByteWriter, key: Uint8Array, { orderSequence, block }: OrderOfId): Uint8Array {
  return encodeFrame(to, key, () => {
    to.safe(orderSequence);
    to.safe(block);
  });
}

export function readOrderOfId(from: ByteReader): OrderOfId {
  return { orderSequence: from.safe() as Sequence, block: from.safe() as BlockPlace };
}

/** @throws InvariantError unless what is written under a key is a later order than what is there: each ends once. */
export function checkOrderOfId(key: Uint8Array, before: Uint8Array, after: Uint8Array): void {
  const { orderSequence } = decodeFrame(key, after, readOrderOfId);
  // mutant: finished-order-once
  if (decodeFrame(key, before, readOrderOfId).orderSequence < orderSequence) return;
  throw new InvariantError(`storage: finished order ${orderSequence} is written once, after those that had its id`);
}
