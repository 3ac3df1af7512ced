/** Positions and margin of users, read from the order manager at the time of asking. */

import type { ClosePreviewView, MarginViews, PositionView, SimulationView } from '../codec/margin-replies.ts';
import type { SimulateRequest } from '../codec/simulate-request.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { MarginReads, PositionQuery } from '../http/margin-backend.ts';
import type { Requirements } from './orders/margin-account.ts';
import type { OrderManager } from './orders/order-manager.ts';

export class MarginDesk implements MarginReads {
  private readonly orders: OrderManager;
  private readonly nowNs: () => TimestampNs;
  private readonly isMarket: (asset: AssetId) => boolean;

  constructor(orders: OrderManager, nowNs: () => TimestampNs, isMarket: (asset: AssetId) => boolean) {
    this.orders = orders;
    this.nowNs = nowNs;
    this.isMarket = isMarket;
  }

  positions(user: UserId, query: PositionQuery): Outcome<readonly PositionView[]> {
    if (query.assetId !== null && !this.isMarket(query.assetId)) {
      return rejected(reject('MARKET_NOT_FOUND', 'there is no such market'));
    }
    const nowNs = this.nowNs();
    return accepted(this.orders.margin.view(nowNs).positions(user, query, nowNs));
  }

  figures(user: UserId, subAccounts: readonly number[] | null): MarginViews {
    return this.orders.margin.view(this.nowNs()).figures(user, subAccounts);
  }

  closePreview(user: UserId, subAccount: number): ClosePreviewView {
    return this.orders.margin.view(this.nowNs()).closePreview(user, subAccount);
  }

  /** What the orders of a margin-type account press on its sides with, in USD (operator-api.md 4.7). */
  requirements(user: UserId, subAccount: number): Requirements {
    return this.orders.margin.requirements(user, subAccount, this.nowNs());
  }

  simulate(user: UserId, request: SimulateRequest): Outcome<SimulationView> {
    return this.orders.margin.simulate({ ...request, user }, this.nowNs());
  }
}
