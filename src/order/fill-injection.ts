/** A fill that a test hook injects into a market as if it had matched: the message from the gateway to the shard. */
import type { OrderId, UserId } from '../core/ids.ts';
import type { RetriedPublication } from '../runtime/retry-buffer.ts';
import { NodeHook } from '../schema/generated/messages.ts';
import { encodePlain } from '../schema/plain-values.ts';

/** An order identified by user and client id. */
export interface OrderToFill {
  readonly user: UserId;
  readonly orderId: OrderId;
}

/** The JSON text of a NodeHook to a market. */
export interface InjectedFill {
  readonly marketIndex: number;
  readonly maker: OrderToFill;
  readonly taker: OrderToFill;
  /** Raw. */
  readonly price: number;
  readonly quantity: number;
  /** The match time of the fill; null: now. */
  readonly matchedNs: bigint | null;
}

/** @returns false when the ring is full. */
export function writeInjectedFill(publication: RetriedPublication, fill: InjectedFill): boolean {
  const text = encodePlain(fill);
  const at = publication.claim(NodeHook.typeId, NodeHook.bytes + text.length, true);
  if (at < 0) return false;
  NodeHook.setRequestId(publication.views, at, 0);
  NodeHook.setTextBytes(publication.views, at, text.length);
  publication.views.u8.set(text, at + NodeHook.bytes);
  publication.commit();
  return true;
}
