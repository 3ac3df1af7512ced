/**
 * Whether an order of a margin-type account may be let through (service spec 2.8, ORD-26, TIF-08, TIF-09, MRG-12 to
 * MRG-26).
 *
 *   reduce-only   fill or kill, immediate or cancel, sized in base: with others of them on their way it must fit into the
 *                 optimistic position; of what rests
 *                 or is sized in quote the part that exceeds the position adds risk (TIF-09, TIF-10, MRG-22, AMB-27)
 *   adds risk     of a circuit-broken asset: never (AMB-109); beyond a protocol cap: never (cap-check.ts); else the
 *                 capacity left must be above the minimum
 *   adds none     always (AMB-49)
 *
 * A market maker's post-only order is not asked for capacity (AMB-55). A spot buy is asked only in an account that
 * borrows or may (MRG-13), and trades whatever the prices are (CB-06).
 *
 * The caller has brought the asset desk up to now.
 */
import { mulDivCeil, powerOfTen, smaller } from '../../core/arithmetic.ts';
import { ORDER_FLAG, ORDER_KIND, SIDE } from '../../core/order-terms.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { Amount18 } from '../../core/units.ts';
import { isJudgedOnArrival, marketPrice } from '../../risk/pressure.ts';
import type { Accounts } from './accounts.ts';
import { exceedsCap, exceedsCollateralCap } from './cap-check.ts';
import { exposureOf, type Seat } from './exposure.ts';
import { isReduceOnly, isSpot, type LiveOrder } from './live-order.ts';
import type { MarginAccounts } from './margin-accounts.ts';
import type { MarketBounds } from './market-bounds.ts';
import type { Exposure } from './pressure-lane.ts';
import { DEFAULT_SETTINGS } from './settings.ts';

const LOTS_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const INSUFFICIENT_MARGIN: Reject = reject('INSUFFICIENT_MARGIN', 'the account has not enough capacity for the order');
const CAP_EXCEEDED: Reject = reject('PROTOCOL_CAP_EXCEEDED', 'the whole exchange takes no more risk of this asset');
const COLLATERAL_FULL: Reject = reject('PROTOCOL_CAP_EXCEEDED', 'all margin accounts take no more of this asset');
const WOULD_INCREASE: Reject = reject(
  'REDUCE_ONLY_WOULD_INCREASE',
  'the order would grow or flip the position',
  'reduce_only',
);
const NO_PRICE: Reject = reject('PRICING_UNAVAILABLE', 'the asset has no usable price, only reducing orders are taken');

export class MarginCheck {
  /** Capacity that an order must leave, exclusive (setting `preflight_minimum`). */
  minimum: Amount18 = DEFAULT_SETTINGS.preflightMinimum;
  readonly #accounts: Accounts;
  readonly #margins: MarginAccounts;
  readonly #bounds: MarketBounds;

  constructor(accounts: Accounts, margins: MarginAccounts, bounds: MarketBounds) {
    this.#accounts = accounts;
    this.#margins = margins;
    this.#bounds = bounds;
  }

  /** Puts a new order of a margin-type account in its place, at the price of now if it names none. */
  seat(order: LiveOrder): void {
    const { terms } = order;
    if (!this.#accounts.isMargin(terms.user, terms.subAccount)) return;
    order.seat = this.#margins.seat(order);
    if (order.seat !== null && terms.kind !== ORDER_KIND.limit) order.seat.marketPrice = this.#marketPrice(order);
  }

  /**
   * Of a seated order that is judged on arrival: whether it and those before it that have not ended fit the position.
   *
   * @param lots that it may then still match.
   */
  reduceOnlyFault(order: LiveOrder, lots: number): Reject | null {
    const { seat, terms } = order;
    if (seat === null || !isReduceOnly(terms) || !isJudgedOnArrival(terms)) return null;
    // mutant: reduce-only-taker-size
    return seat.lane.outgrows(seat.entry, lots) ? WOULD_INCREASE : null;
  }

  /**
   * Why the order may not have this exposure, or null. Nothing changes.
   *
   * @returns PRICING_UNAVAILABLE, INSUFFICIENT_MARGIN, PROTOCOL_CAP_EXCEEDED.
   */
  exposureFault(order: LiveOrder, exposure: Exposure): Reject | null {
    const { seat, terms, market } = order;
    if (seat === null || (isReduceOnly(terms) && isJudgedOnArrival(terms))) return null;
    const { lane, entry, position } = seat;
    const counted = lane.countedWith(entry, exposure);
    const weighsMore = counted > lane.counted;
    const { isBroken } = this.#margins.desk.terms(market.definition.assetId).prices;
    // Where there never was a price, what a market order adds is worth nothing: its lots tell.
    const addsLots = lane.outgrows(entry, exposure.lots);
    if (isBroken && !isSpot(terms) && (weighsMore || addsLots)) return NO_PRICE;
    const needsMargin = weighsMore && !this.#isExempt(order) && (!isSpot(terms) || position.account.isLeveraged);
    // mutant: least-capacity
    if (needsMargin && position.account.capacity([{ lane, counted }]) <= this.minimum) return INSUFFICIENT_MARGIN;
    if (!addsLots || !this.#exceedsCap(order, seat, exposure)) return null;
    return isSpot(terms) ? COLLATERAL_FULL : CAP_EXCEEDED;
  }

  /**
   * As `exposureFault`, for what a trigger lets through. A market order is priced now.
   *
   * @param released the order as it would be.
   */
  releaseFault(order: LiveOrder, released: LiveOrder): Reject | null {
    const { seat, terms } = order;
    if (seat === null) return null;
    if (terms.kind !== ORDER_KIND.limit) seat.marketPrice = this.#marketPrice(order);
    return this.exposureFault(order, exposureOf(released, seat.marketPrice));
  }

  /** With this order as it would be, and all else that the account has open on its side. */
  #exceedsCap(order: LiveOrder, { position, lane, entry }: Seat, exposure: Exposure): boolean {
    const { terms, market } = order;
    const { assetId, quantityDecimals } = market.definition;
    const { desk } = this.#margins;
    const assetTerms = desk.terms(assetId);
    const { maxOpenInterest, maxSpotInterest, maxCollateral } = assetTerms.risk;
    const unit = powerOfTen(18 - quantityDecimals);
    const hasCap = isSpot(terms) ? maxCollateral !== null : maxOpenInterest !== null || maxSpotInterest !== null;
    if (!hasCap) return false;
    const own = lane.lotsWith(entry, this.#mostLots(order, exposure));
    if (isSpot(terms)) return exceedsCollateralCap(this.#margins.collateral(assetId), own * unit, assetTerms.risk);
    const others = position.account.countedLots(position, terms.side) - lane.countedLots;
    const added = (others + own) * unit;
    return exceedsCap(desk.legs(assetId), terms.side, added, assetTerms);
  }

  /** Lots that the order may trade; of one that is sized in quote alone at the lowest price that it may be taken to meet. */
  #mostLots({ terms, market, quantity }: LiveOrder, { lots, total }: Exposure): number {
    if (terms.kind !== ORDER_KIND.marketQuote || quantity !== 0 || total === null) return lots;
    const lowest = this.#bounds.worstPrice(SIDE.sell, market);
    if (lowest === null) return lots;
    const most = mulDivCeil(total, powerOfTen(market.definition.quantityDecimals), lowest);
    // mutant: quote-order-cap
    return Math.max(lots, Number(smaller(most, LOTS_MAX)));
  }

  #marketPrice({ market }: LiveOrder): Amount18 {
    return marketPrice(this.#margins.desk.terms(market.definition.assetId));
  }

  #isExempt({ terms }: LiveOrder): boolean {
    return (terms.flags & ORDER_FLAG.postOnly) !== 0 && this.#accounts.isMarketMaker(terms.user);
  }
}
