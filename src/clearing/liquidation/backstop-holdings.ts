/**
 * What is in a sub-account of the backstop, as its loop sees it: positions and spot assets with a market, largest exposure
 * first, and whether prices allow to judge the account at all.
 *
 *   updated   each asset had an oracle price since the node started, apart from a credit that counts nothing; or an hour has passed (AMB-110, MON-11)
 *   priced    no asset is circuit-broken, apart from a credit of less than 1 USD (AMB-45)
 */

import { compareAssetIds } from '../../core/ids.ts';
import { MARKET_STATUS } from '../../core/order-terms.ts';
import { type Amount18, ONE_18, type TimestampNs } from '../../core/units.ts';
import { type AssetTerms, legAtMark } from '../../risk/asset-terms.ts';
import { wholeLots } from '../../risk/liquidation.ts';
import { magnitude } from '../../risk/position.ts';
import { isKnown } from '../account-margin.ts';
import { assetTermsOf } from '../risks.ts';
import type { BalanceSlot, ClearingMarket, ClearingState, PositionSlot, RiskSlot, SubAccountSlot } from '../state.ts';

/** USD: a broken credit that is worth less is left as it is. */
const DUST_BELOW: Amount18 = ONE_18;

/** A base leg or a spot balance beside USD. */
export interface Holding {
  readonly slot: PositionSlot | BalanceSlot;
  readonly risk: RiskSlot;
  readonly isSpot: boolean;
  /** Signed, not 0. */
  readonly amount: Amount18;
}

/** Everything but USD, in the numeric order of assets; a position comes before a balance of its asset. */
export function holdingsOf({ balances, positions }: SubAccountSlot): readonly Holding[] {
  const found: Holding[] = [];
  for (const slot of positions.values()) {
    if (slot.legs.base !== 0n) found.push({ slot, risk: slot.risk, isSpot: false, amount: slot.legs.base });
  }
  for (const slot of balances.values()) {
    const { collateral, owned } = slot;
    if (collateral !== null && owned !== 0n) found.push({ slot, risk: collateral, isSpot: true, amount: owned });
  }
  return found.sort((a, b) => compareAssetIds(a.risk.asset, b.risk.asset) || Number(a.isSpot) - Number(b.isSpot));
}

export function isUpdated(state: ClearingState, holdings: readonly Holding[], nowNs: TimestampNs): boolean {
  return holdings.every(({ risk, amount }) => isKnown(state, risk, amount, nowNs));
}

/** A credit of a broken asset that is worth next to nothing. */
function isDust(terms: AssetTerms, amount: bigint): boolean {
  return amount > 0n && terms.prices.isBroken && legAtMark(terms, amount) < DUST_BELOW;
}

export function isPriced(holdings: readonly Holding[], nowNs: TimestampNs): boolean {
  return holdings.every(({ risk, amount }) => {
    const terms = assetTermsOf(risk, nowNs);
    return !terms.prices.isBroken || isDust(terms, amount);
  });
}

/**
 * Whether a spot balance stays unsold for good: no market, less than a lot, or dust of a broken asset. It goes to account
 * 0 with the rest.
 */
function isUnsellable(state: ClearingState, { risk, amount }: Holding, nowNs: TimestampNs): boolean {
  const market = state.marketOfAsset.get(risk.asset);
  if (market === undefined || wholeLots(amount, market.definition) === 0) return true;
  return isDust(assetTermsOf(risk, nowNs), amount);
}

/** Whether nothing is left that could be closed or sold. */
export function isUnwound(state: ClearingState, holdings: readonly Holding[], nowNs: TimestampNs): boolean {
  return holdings.every((holding) => holding.isSpot && isUnsellable(state, holding, nowNs));
}

/** A holding with its market, which takes trades: none is halted (decision on market status). */
interface Tradable extends Holding {
  readonly market: ClearingMarket;
}

/** Holdings that can be traded, by |amount| × mark, largest first; ties by market index, a position before a balance. */
export function largestFirst(
  state: ClearingState,
  holdings: readonly Holding[],
  nowNs: TimestampNs,
): readonly Tradable[] {
  const found: (Tradable & { readonly exposure: bigint })[] = [];
  for (const holding of holdings) {
    const market = state.marketOfAsset.get(holding.risk.asset);
    if (market === undefined || market.definition.status === MARKET_STATUS.halted) continue;
    const exposure = magnitude(legAtMark(assetTermsOf(holding.risk, nowNs), holding.amount));
    found.push({ ...holding, market, exposure });
  }
  return found.sort((a, b) => {
    if (a.exposure !== b.exposure) return a.exposure > b.exposure ? -1 : 1;
    return a.market.definition.marketIndex - b.market.definition.marketIndex || Number(a.isSpot) - Number(b.isSpot);
  });
}
