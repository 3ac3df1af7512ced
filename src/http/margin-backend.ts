/** What the routes of positions and margin ask of the node (wire.md 7.11 to 7.16). Answers are of now; nothing changes. */

import type { ClosePreviewView, MarginViews, PositionView, SimulationView } from '../codec/margin-replies.ts';
import type { SimulateRequest } from '../codec/simulate-request.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';

export interface PositionQuery {
  /** Null for all markets. */
  readonly assetId: AssetId | null;
  /** Null for all. */
  readonly subAccounts: readonly number[] | null;
}

export interface MarginReads {
  /** By sub-account, then by asset (PAG-04). MARKET_NOT_FOUND for an unknown market. */
  positions(user: UserId, query: PositionQuery): Outcome<readonly PositionView[]>;
  /** Margin-type accounts by index; those that do not exist are left out (AMB-129). */
  figures(user: UserId, subAccounts: readonly number[] | null): MarginViews;
  /** The orders that would close every position of a sub-account (AMB-70). */
  closePreview(user: UserId, subAccount: number): ClosePreviewView;
  /** A trade tried on (AMB-71): INVALID_REQUEST, MARKET_NOT_FOUND. */
  simulate(user: UserId, request: SimulateRequest): Outcome<SimulationView>;
}
