/** Reads of positions and margin (wire.md 7.11 to 7.16): answers are of now; nothing changes. */

import type { ClosePreviewView, MarginViews, PositionView, SimulationView } from '../../codec/margin-replies.ts';
import type { SimulateRequest } from '../../codec/simulate-request.ts';
import type { AssetId, UserId } from '../../core/ids.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { reject } from '../../core/reject.ts';
import type { Amount18, TimestampNs } from '../../core/units.ts';
import type { Requirements } from '../orders/margin/margin-account.ts';
import type { OrderManager } from '../orders/order-manager.ts';

interface PositionQuery {
  /** Null for all markets. */
  readonly assetId: AssetId | null;
  /** Null for all. */
  readonly subAccounts: readonly number[] | null;
}

export class MarginQueries {
  readonly #orders: OrderManager;
  readonly #nowNs: () => TimestampNs;
  readonly #isMarket: (asset: AssetId) => boolean;

  constructor(orders: OrderManager, nowNs: () => TimestampNs, isMarket: (asset: AssetId) => boolean) {
    this.#orders = orders;
    this.#nowNs = nowNs;
    this.#isMarket = isMarket;
  }

  /** By sub-account, then by asset (PAG-04). MARKET_NOT_FOUND for an unknown market. */
  positions(user: UserId, query: PositionQuery): Outcome<readonly PositionView[]> {
    if (query.assetId !== null && !this.#isMarket(query.assetId)) {
      return rejected(reject('MARKET_NOT_FOUND', 'there is no such market'));
    }
    const nowNs = this.#nowNs();
    return accepted(this.#orders.margin.view(nowNs).positions(user, query, nowNs));
  }

  /** Null without a stored price. */
  markPrice(asset: AssetId): Amount18 | null {
    const nowNs = this.#nowNs();
    return this.#orders.margin.view(nowNs).markPrice(asset, nowNs);
  }

  /** Margin-type accounts by index; those that do not exist are left out (AMB-129). */
  figures(user: UserId, subAccounts: readonly number[] | null): MarginViews {
    const nowNs = this.#nowNs();
    return this.#orders.margin.view(nowNs).figures(user, subAccounts, nowNs);
  }

  /** The orders that would close every position of a sub-account (AMB-70). */
  closePreview(user: UserId, subAccount: number): ClosePreviewView {
    return this.#orders.margin.view(this.#nowNs()).closePreview(user, subAccount);
  }

  /** Exposure of the open orders of a margin-type account by side, in USD (operator-api.md 4.7). */
  requirements(user: UserId, subAccount: number): Requirements {
    return this.#orders.margin.requirements(user, subAccount, this.#nowNs());
  }

  /** The account after a hypothetical trade (AMB-71): INVALID_REQUEST, MARKET_NOT_FOUND. */
  simulate(user: UserId, request: SimulateRequest): Outcome<SimulationView> {
    return this.#orders.margin.simulate({ ...request, user }, this.#nowNs());
  }
}
