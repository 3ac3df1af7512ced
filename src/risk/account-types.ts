/** What a sub-account of a type may hold and trade (service spec 2.3, SUB-07, SUB-08, POS-01, TRF-12, TRF-13, AMB-30). */
import { type AssetId, isToken, USD } from '../core/ids.ts';
import { SIDE, type Side } from '../core/order-terms.ts';
import type { RiskTerms } from './risk-terms.ts';

export interface AccountType {
  readonly kind: 'spot' | 'cross_margin' | 'isolated_margin';
  /** The asset of an isolated account; null for every other. */
  readonly asset: AssetId | null;
}

/** Whether the account borrows and is checked for margin (SUB-02 to SUB-04). */
export function isMarginType({ kind }: Pick<AccountType, 'kind'>): boolean {
  return kind !== 'spot';
}

/**
 * A Spot account holds anything, cross-margin what is not isolated-only, an isolated account its asset and USD. A token
 * on its chain counts nothing as collateral and could not be taken out of a margin account again (AMB-66).
 */
export function mayHold(account: AccountType, asset: AssetId, risk: RiskTerms): boolean {
  if (account.kind === 'spot' || asset === USD) return true;
  if (isToken(asset)) return false;
  return account.kind === 'isolated_margin' ? account.asset === asset : !risk.isIsolatedOnly;
}

interface Trade {
  readonly asset: AssetId;
  readonly side: Side;
  readonly isSpot: boolean;
  /** It makes the position smaller and no more. */
  readonly reduces: boolean;
}

/**
 * What the account may hold, and what it holds and may not hold any more, out of it. The gateway applies it to orders and
 * clearing to fills: a stricter gateway would lock a position in when the operator turns `isolated_only` on.
 */
export function mayTrade(account: AccountType, { asset, side, isSpot, reduces }: Trade, risk: RiskTerms): boolean {
  return mayHold(account, asset, risk) || (isSpot ? side === SIDE.sell : reduces);
}
