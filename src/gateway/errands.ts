/**
 * Signed requests as errands: checked up to the signature, and what is to be done once that has verified.
 *
 *   request ─check (src/gateway/orders)─▶ Errand: the record it becomes, and the hold and request id it takes when there is room
 *
 * Not here: signatures, rooms in rings (action-road.ts, batch-road.ts).
 */

import type { CancelRequest } from '../codec/signed-cancel.ts';
import type { CreateRequest } from '../codec/signed-order.ts';
import type { ReplaceRequest } from '../codec/signed-replace.ts';
import type { UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import type { Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import type { ActionOrigin } from '../http/oms-backend.ts';
import type { SkippedCheck } from '../operator/operator-inject-hooks.ts';
import { createBytes } from '../order/order-codec.ts';
import { CancelOrder, NewOrder, ReplaceOrder } from '../schema/generated/messages.ts';
import { type Stamp, writeCancel, writeCreate, writeReplace } from './door-commands.ts';
import { CONNECTION_ENDED } from './door-refusals.ts';
import { Tie } from './orders/lifeline.ts';
import type { MarketSlot } from './orders/markets.ts';
import type { OrderManager } from './orders/order-manager.ts';
import { NO_SKIPS } from './orders/prepared.ts';
import type { Reply } from './orders/requests.ts';

/** A checked action: the record it becomes, and what is taken for it once that has room. */
export interface Errand {
  readonly market: MarketSlot;
  readonly typeId: number;
  readonly bytes: number;
  /** May use the ring's reserve. */
  readonly isUrgent: boolean;
  /** Check again what may have changed, then take; answered through `reply`. Refused: nothing was taken. */
  reserve(reply: Reply): Outcome<Reserved>;
}

export interface Reserved {
  readonly requestId: number;
  write(v: Views, at: number, stamp: Stamp): void;
}

export class Errands {
  private readonly orders: OrderManager;
  private readonly nowNs: () => TimestampNs;
  private readonly refusalOf: (user: UserId) => Reject | null;

  /** @param refusalOf why a user's new orders are refused whatever they are, or null (AMB-124). */
  constructor(orders: OrderManager, nowNs: () => TimestampNs, refusalOf: (user: UserId) => Reject | null) {
    this.orders = orders;
    this.nowNs = nowNs;
    this.refusalOf = refusalOf;
  }

  create(request: CreateRequest, origin: ActionOrigin, skips: ReadonlySet<SkippedCheck> = NO_SKIPS): Outcome<Errand> {
    const { orders } = this;
    const refusal = this.refusalOf(origin.user);
    if (refusal !== null) return rejected(refusal);
    const checked = orders.requests.checkCreate(request, { ...this.caller(origin), skips });
    if (!checked.ok) return checked;
    const prepared = checked.value;
    const tie = origin.tie ?? tieOf(origin);
    return accepted({
      market: prepared.market,
      typeId: NewOrder.typeId,
      bytes: createBytes(prepared.text.length),
      isUrgent: false,
      reserve: (reply) => {
        if (tie?.lifeline?.isCut === true) return rejected(CONNECTION_ENDED);
        const lateRefusal = this.refusalOf(origin.user);
        if (lateRefusal !== null) return rejected(lateRefusal);
        const reserved = orders.requests.reserveCreate(prepared, this.nowNs(), reply);
        if (!reserved.ok) return reserved;
        const { requestId, budget } = reserved.value;
        if (tie !== null) orders.requests.tie(requestId, tie);
        return accepted({ requestId, write: (v, at, stamp) => writeCreate(v, at, prepared, budget, stamp) });
      },
    });
  }

  replace(request: ReplaceRequest, origin: ActionOrigin): Outcome<Errand> {
    const { orders } = this;
    const checked = orders.requests.checkReplace(request, this.caller(origin));
    if (!checked.ok) return checked;
    const prepared = checked.value;
    return accepted({
      market: prepared.market,
      typeId: ReplaceOrder.typeId,
      bytes: ReplaceOrder.bytes,
      isUrgent: false,
      reserve: (reply) => {
        const tie = tieOf(origin);
        if (tie?.lifeline?.isCut === true) return rejected(CONNECTION_ENDED);
        const reserved = orders.requests.reserveReplace(prepared, reply);
        if (reserved.ok && tie !== null) orders.requests.tie(reserved.value, tie);
        return written(reserved, (v, at, stamp) => writeReplace(v, at, prepared, stamp));
      },
    });
  }

  cancel(request: CancelRequest, origin: ActionOrigin): Outcome<Errand> {
    const { orders } = this;
    const checked = orders.requests.checkCancel(request, this.caller(origin));
    if (!checked.ok) return checked;
    const prepared = checked.value;
    return accepted({
      market: prepared.market,
      typeId: CancelOrder.typeId,
      bytes: CancelOrder.bytes,
      isUrgent: true,
      reserve: (reply) =>
        written(orders.requests.reserveCancel(prepared, reply), (v, at, stamp) =>
          writeCancel(v, at, prepared, origin.isControl, stamp),
        ),
    });
  }

  private caller(origin: ActionOrigin): { user: ActionOrigin['user']; now: TimestampNs; looksUp: boolean } {
    return { user: origin.user, now: this.nowNs(), looksUp: !origin.isControl };
  }
}

/** The order goes with its connection, if that was asked for. */
function tieOf({ lifeline = null }: ActionOrigin): Tie | null {
  return lifeline === null ? null : new Tie(lifeline);
}

/** A reserved request with its writer. */
function written(reserved: Outcome<number>, write: Reserved['write']): Outcome<Reserved> {
  return reserved.ok ? accepted({ requestId: reserved.value, write }) : reserved;
}
