/**
 * Cancels that a session asks for without a signature: of all orders, of one market's, of a list (CAN-05 to CAN-11).
 *
 * All or nothing: closed markets and full rings are an answer before the first message is written. Each shard's ring
 * must have room for all of its messages, the reserve for cancels included. What becomes of the orders is told on the
 * stream.
 */
import { must } from '../core/assert.ts';
import type { AssetId, OrderId, UserId } from '../core/ids.ts';
import type { HashKey } from '../core/key-words.ts';
import { ORDER_END, type OrderEnd } from '../core/order-terms.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { Outlet } from '../runtime/outlet.ts';
import { recordBytes } from '../runtime/ring-layout.ts';
import { CancelAllOrders, CancelOrder } from '../schema/generated/messages.ts';
import { writeCancel, writeCancelAll } from './door-commands.ts';
import { MARKET_BUSY, MARKET_CLOSED } from './door-refusals.ts';
import type { MarketSlot } from './orders/markets.ts';
import type { OrderManager } from './orders/order-manager.ts';
import type { PreparedCancel } from './orders/prepared.ts';

const CANCEL_BYTES: number = recordBytes(CancelOrder.bytes);

export interface BulkCancelParts {
  readonly orders: OrderManager;
  /** One per shard; market m lives on shard m mod shards. */
  readonly shards: readonly Outlet[];
  readonly nowNs: () => TimestampNs;
  readonly openMarkets: ReadonlySet<number>;
  readonly poke: () => void;
  /** Of the hashes of ids. */
  readonly idKey: HashKey;
}

export class BulkCancels {
  private readonly parts: BulkCancelParts;

  constructor(parts: BulkCancelParts) {
    this.parts = parts;
  }

  /** @returns null when everything was sent. */
  cancelAll(request: {
    readonly user: UserId;
    readonly assetId: AssetId | null;
    readonly beforeNs: TimestampNs | null;
    /** `userRequested` unless the node cancels of itself. */
    readonly end?: OrderEnd;
  }): Reject | null {
    const { orders, nowNs, poke } = this.parts;
    const { user, beforeNs, end = ORDER_END.userRequested } = request;
    const checked = orders.requests.checkCancelAll(request);
    if (!checked.ok) return checked.reject;
    const refusal = this.roomFor(checked.value, CancelAllOrders.bytes);
    if (refusal !== null) return refusal;

    // After this point every market is told.
    for (const market of checked.value) {
      const { marketIndex } = market.definition;
      const requestId = reserved(orders.requests.reserveCancelAll());
      const outlet = this.outletOf(marketIndex);
      const at = outlet.claim(CancelAllOrders.typeId, CancelAllOrders.bytes, true);
      const wish = { user, marketIndex, beforeNs: beforeNs ?? 0n, end };
      writeCancelAll(outlet.views, at, wish, { requestId, receivedNs: nowNs() });
      outlet.commit();
    }
    poke();
    return null;
  }

  /** @returns null when everything was sent. */
  cancelBatch(request: {
    readonly user: UserId;
    readonly assetId: AssetId | null;
    readonly orderIds: readonly OrderId[];
  }): Reject | null {
    const { orders, poke } = this.parts;
    const checked = orders.requests.ordersToCancel(request);
    if (!checked.ok) return checked.reject;
    const refusal = this.roomFor(
      checked.value.map(({ market }) => market),
      CancelOrder.bytes,
    );
    if (refusal !== null) return refusal;

    // After this point every order's market is told.
    for (const prepared of checked.value) this.cancel(prepared);
    poke();
    return null;
  }

  /** Room for one cancel; if there is none, the ring of the market rings when there is. */
  hasRoomIn({ definition: { marketIndex } }: MarketSlot): boolean {
    const { orders, openMarkets } = this.parts;
    const outlet = this.outletOf(marketIndex);
    if (openMarkets.has(marketIndex) && orders.requests.hasRoomForCancel() && outlet.hasRoom(CANCEL_BYTES, true))
      return true;
    outlet.wantRoom();
    return false;
  }

  /** Nobody waits for its answer. There is room for it. */
  cancel(prepared: PreparedCancel): void {
    const { orders, nowNs, idKey } = this.parts;
    const requestId = reserved(orders.requests.reserveCancel(prepared));
    const outlet = this.outletOf(prepared.market.definition.marketIndex);
    const at = outlet.claim(CancelOrder.typeId, CancelOrder.bytes, true);
    writeCancel(outlet.views, at, prepared, false, { requestId, receivedNs: nowNs(), key: idKey });
    outlet.commit();
  }

  /** Room for one record of `bytes` for each of these markets. @returns why not, or null. */
  private roomFor(markets: readonly MarketSlot[], bytes: number): Reject | null {
    const { openMarkets, shards } = this.parts;
    if (!markets.every(({ definition }) => openMarkets.has(definition.marketIndex))) return MARKET_CLOSED;
    const needed = shards.map(() => 0);
    for (const { definition } of markets) {
      const shard = definition.marketIndex % shards.length;
      needed[shard] = (needed[shard] as number) + recordBytes(bytes);
    }
    return shards.every((outlet, shard) => outlet.hasRoom(needed[shard] as number, true)) ? null : MARKET_BUSY;
  }

  private outletOf(marketIndex: number): Outlet {
    const { shards } = this.parts;
    return must(shards[marketIndex % shards.length], 'a shard for every market');
  }
}

/** The check of the same turn made sure that the request has its place. */
function reserved(outcome: Outcome<number>): number {
  return must(outcome.ok ? outcome.value : undefined, 'a checked cancel is taken');
}
