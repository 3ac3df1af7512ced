/**
 * What a sub-account of a type may trade: what it may hold, and what it holds and may not hold any more, out of it
 * (SUB-07, SUB-08, POS-01, AMB-30). Clearing judges fills by the same rule; were this door stricter, a position would be
 * locked in when the operator turns `isolated_only` on.
 */
import type { AssetId } from '../../core/ids.ts';
import { SIDE, type Side } from '../../core/order-terms.ts';
import { type AccountType, mayHold } from '../../risk/account-rules.ts';
import type { RiskTerms } from '../../risk/risk-terms.ts';

export interface Trade {
  readonly asset: AssetId;
  readonly side: Side;
  readonly isSpot: boolean;
  /** It makes the optimistic position smaller and no more. */
  readonly reduces: boolean;
}

export function mayTrade(account: AccountType, { asset, side, isSpot, reduces }: Trade, risk: RiskTerms): boolean {
  return mayHold(account, asset, risk) || (isSpot ? side === SIDE.sell : reduces);
}
