/** Bodies of batches for tests that do not care why one is refused: a broken shape or a fault of the whole. */

import type { CreateRequest, ReplaceRequest } from '../../src/codec/order-actions.ts';
import { decodeBatchCreate, decodeBatchReplace, type OrderBatch } from '../../src/codec/order-batches.ts';
import { accepted, type Outcome, rejected } from '../../src/core/outcome.ts';

export function createItems(bytes: Uint8Array, start: number, end: number): Outcome<readonly CreateRequest[]> {
  return itemsOf(decodeBatchCreate(bytes, start, end));
}

export function replaceItems(bytes: Uint8Array, start: number, end: number): Outcome<readonly ReplaceRequest[]> {
  return itemsOf(decodeBatchReplace(bytes, start, end));
}

function itemsOf<Request>(decoded: Outcome<OrderBatch<Request>>): Outcome<readonly Request[]> {
  if (!decoded.ok) return decoded;
  const { items, fault } = decoded.value;
  return fault === null ? accepted(items) : rejected(fault);
}
