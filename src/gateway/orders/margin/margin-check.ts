/**
 * Whether an order of a margin-type account is accepted (service spec 2.8, ORD-26, TIF-08, TIF-09, MRG-12 to
 * MRG-26).
 *
 *   reduce-only   by its room, in the optimistic position (MON-09): what takes at once, by what others that are on their way leave
 *                 of it; what rests, by what older resting ones of the side leave. Adds no risk, needs no margin (MRG-22)
 *   adds risk     of a circuit-broken asset: never (AMB-109); beyond a protocol cap: never (src/risk/caps.ts); else the
 *                 capacity left must be above the minimum
 *   may cost      margin by fills that its terms allow: the surplus must cover those of all orders of the account (MON-07)
 *   adds none     always (AMB-49)
 *
 * A market order names no price: it is matched up to the collar, or what is known as the worst price of the asset
 * (AMB-39). One that only reduces, in an account that cannot cover that, is matched as far as it costs no margin.
 *
 * While an account is in liquidation nothing that adds risk is accepted, whatever its capacity: no spot order, no order that
 * waits for a trigger unless it is reduce-only, and no market maker is exempt (AMB-57).
 *
 * A market maker's post-only order needs no capacity (AMB-55). A spot buy needs it only in an account that borrows or may
 * (MRG-13), and trades whatever the prices are (CB-06).
 *
 * The caller has brought the asset assets up to now.
 */
import { mulDivCeil, powerOfTen, smaller } from '../../../core/arithmetic.ts';
import { ORDER_FLAG, ORDER_KIND, SIDE, TRIGGER } from '../../../core/order-terms.ts';
import { type Reject, reject } from '../../../core/reject.ts';
import type { Amount18 } from '../../../core/units.ts';
import type { Room } from '../../../order/order-codec.ts';
import { additionBreaksCap, hasCap } from '../../../risk/caps.ts';
import { marketPrice, takesAtOnce } from '../../../risk/exposure.ts';
import type { Exposure } from '../../../risk/exposure-queue.ts';
import { rawBound } from '../../../risk/price-bounds.ts';
import type { Accounts } from '../balances/accounts.ts';
import type { Released } from '../balances/spending.ts';
import { isReduceOnly, isSpot, type LiveOrder } from '../book/live-order.ts';
import { DEFAULT_ORDER_SETTINGS } from '../settings.ts';
import type { OrderExposure, OrderQueue } from './margin-account.ts';
import type { UserMarginAccounts } from './margin-accounts.ts';
import { orderExposureOf, setLoss } from './order-exposure.ts';

const LOTS_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const INSUFFICIENT_MARGIN: Reject = reject('INSUFFICIENT_MARGIN', 'the account has not enough capacity for the order');
const IN_LIQUIDATION: Reject = reject(
  'INSUFFICIENT_MARGIN',
  'the account is in liquidation, only reducing orders are taken',
);
const CAP_EXCEEDED: Reject = reject('PROTOCOL_CAP_EXCEEDED', 'the whole exchange takes no more risk of this asset');
const COLLATERAL_FULL: Reject = reject('PROTOCOL_CAP_EXCEEDED', 'all margin accounts take no more of this asset');
const WOULD_INCREASE: Reject = reject(
  'REDUCE_ONLY_WOULD_INCREASE',
  'the order would grow or flip the position',
  'reduce_only',
);

/** @param lots that the order could have had. */
function wouldIncrease(lots: number): Reject {
  return { ...WOULD_INCREASE, details: { max_quantity: lots } };
}
const NO_PRICE: Reject = reject('PRICING_UNAVAILABLE', 'the asset has no usable price, only reducing orders are taken');

/** A margin sale, of one that adds exposure. */
function opensShort(order: LiveOrder): boolean {
  return order.side === SIDE.sell && !isSpot(order);
}

export class MarginCheck {
  /** Capacity that an order must leave, exclusive (setting `preflight_minimum`). */
  minimum: Amount18 = DEFAULT_ORDER_SETTINGS.preflightMinimum;
  readonly #accounts: Accounts;
  readonly #margins: UserMarginAccounts;

  constructor(accounts: Accounts, margins: UserMarginAccounts) {
    this.#accounts = accounts;
    this.#margins = margins;
  }

  /** Gives a new order of a margin-type account its exposure, at the price of now if it names none. */
  place(order: LiveOrder): void {
    if (!this.#accounts.isMargin(order.user, order.subAccount)) return;
    const exposure = this.#margins.exposure(order);
    if (order.kind !== ORDER_KIND.limit) exposure.marketPrice = this.#marketPrice(order);
    order.exposure = exposure;
  }

  /**
   * As `exposureFault`, for a placed order that matches at once with all that `as` releases. A market order gets its price
   * bound.
   */
  admissionFault(order: LiveOrder, as: Released = order): Reject | null {
    const { exposure: own } = order;
    if (own === null) return null;
    if (order.triggerKind !== TRIGGER.none) this.#margins.retaken(order);
    if (order.kind === ORDER_KIND.limit) return this.exposureFault(order, { as });
    own.marketPrice = this.#marketPrice(order);
    own.bound = this.#boundOf(order);
    const fault = this.exposureFault(order, { as });
    if (fault !== INSUFFICIENT_MARGIN) return fault;
    for (const bound of this.#margins.reducingBounds(order)) {
      if (bound === 0) continue;
      own.bound = bound;
      if (this.exposureFault(order, { as }) === null) return null;
    }
    return fault;
  }

  /** Raw; 0: no price is known. */
  #boundOf({ side, market }: LiveOrder): number {
    const worst = this.#margins.assets.worstPrice(side, market);
    return worst === null ? 0 : rawBound(side, worst, market.definition);
  }

  /**
   * The room of a placed reduce-only order, its fills left out; null of every other order. Of one that rests the room to
   * take is the whole position: older orders give way to what it takes (reductions.ts).
   */
  roomOf(order: LiveOrder): Room | null {
    const { exposure: own } = order;
    if (own === null || own.queue === null || !isReduceOnly(order)) return null;
    const { queue, entry } = own;
    if (takesAtOnce(order)) return { roomToTake: queue.freeOffset + entry.netted, roomToRest: 0 };
    return { roomToTake: queue.offset, roomToRest: queue.roomOf(entry) };
  }

  /**
   * Why a reduce-only order may not be sent, or null: there is nothing that it could reduce, or it takes at once and is
   * larger.
   *
   * @param lots that it may still match; null: it is sized in quote, and its room is its base cap.
   */
  reduceOnlyFault(order: LiveOrder, { roomToTake, roomToRest }: Room, lots: number | null): Reject | null {
    const isPostOnly = (order.flags & ORDER_FLAG.postOnly) !== 0;
    if (roomToTake === 0 || (isPostOnly && roomToRest === 0)) return wouldIncrease(0);
    // mutant: reduce-only-taker-size
    return takesAtOnce(order) && lots !== null && lots > roomToTake ? wouldIncrease(roomToTake) : null;
  }

  /**
   * Whether nothing that is undecided may give a reduce-only order of the position room: fills, and orders that are
   * being matched.
   */
  isDecided({ exposure }: LiveOrder): boolean {
    if (exposure === null) return true;
    const { undecided, reduceOnly } = exposure.position;
    return undecided === 0 && (reduceOnly === null || reduceOnly.arriving.every((queue) => queue.isEmpty));
  }

  /**
   * Why the order may not have these terms, or null. Nothing changes.
   *
   * @param terms what is released of it, or would be, and its pending replaces.
   * @returns PRICING_UNAVAILABLE, INSUFFICIENT_MARGIN, PROTOCOL_CAP_EXCEEDED.
   */
  exposureFault(order: LiveOrder, terms: Parameters<typeof orderExposureOf>[2]): Reject | null {
    const { exposure: own } = order;
    if (own === null) return null;
    const { queue } = own;
    const fault = queue !== null && !isReduceOnly(order) ? this.#pressureFault(order, own, queue, terms) : null;
    if (fault !== null || this.#isExempt(order)) return fault;
    const { account } = own.position;
    if (isSpot(order) && !account.isLeveraged) return null;
    return account.lacksFor(own, this.minimum, () => setLoss(order, own, terms)) ? INSUFFICIENT_MARGIN : null;
  }

  #pressureFault(
    order: LiveOrder,
    own: OrderExposure,
    queue: OrderQueue,
    terms: Parameters<typeof orderExposureOf>[2],
  ): Reject | null {
    const exposure = orderExposureOf(order, own.marketPrice, terms);
    const { entry, position } = own;
    const counted = queue.countedWith(entry, exposure);
    const addsNotional = counted > queue.counted;
    const { isBroken } = this.#margins.assets.terms(order.market.definition.assetId).prices;
    // Where there never was a price, what a market order adds is worth nothing: its lots count.
    const addsLots = queue.outgrows(entry, exposure.lots);
    // mutant: liquidation-refuses-risk
    if ((addsNotional || addsLots) && this.#accounts.isInLiquidation(order)) return IN_LIQUIDATION;
    if (isBroken && !isSpot(order) && (addsNotional || addsLots)) return NO_PRICE;
    const needsMargin = addsNotional && !this.#isExempt(order) && (!isSpot(order) || position.account.isLeveraged);
    // mutant: least-capacity
    if (needsMargin && position.account.capacity([{ queue, counted }]) <= this.minimum) return INSUFFICIENT_MARGIN;
    if (!addsLots) return null;
    // mutant: utilization-at-entry
    if (opensShort(order) && this.#margins.assets.isLentOut(order.market.definition.assetId)) return CAP_EXCEEDED;
    if (!this.#exceedsCap(order, own, queue, exposure)) return null;
    return isSpot(order) ? COLLATERAL_FULL : CAP_EXCEEDED;
  }

  /**
   * Why an order without exposure of its own may not grow, or null: one that waits for its trigger, or a spot sell.
   *
   * @returns INSUFFICIENT_MARGIN.
   */
  unweighedFault(order: LiveOrder): Reject | null {
    if (!this.#accounts.isInLiquidation(order)) return null;
    return isReduceOnly(order) ? null : IN_LIQUIDATION;
  }

  /** Counts this order as it would be, and everything else that the account has open on its side. */
  #exceedsCap(order: LiveOrder, { position, entry }: OrderExposure, queue: OrderQueue, exposure: Exposure): boolean {
    const { side } = order;
    const { assetId, quantityDecimals } = order.market.definition;
    const { risk, prices } = this.#margins.assets.terms(assetId);
    if (!hasCap(risk)) return false;
    const own = queue.lotsWith(entry, this.#mostLots(order, exposure));
    const others = isSpot(order) ? 0n : position.account.countedLots(position, side) - queue.countedLots;
    const added = (others + own) * powerOfTen(18 - quantityDecimals);
    const addition = { side, isSpot: isSpot(order), added };
    return additionBreaksCap(risk, prices, this.#margins.measures(assetId), addition);
  }

  /**
   * Lots that the order may trade; of one that is sized in quote alone at the lowest price that it may be assumed to
   * match.
   */
  #mostLots({ kind, market, quantity }: LiveOrder, { lots, total }: Exposure): number {
    if (kind !== ORDER_KIND.marketQuote || quantity !== 0 || total === null) return lots;
    const lowest = this.#margins.assets.worstPrice(SIDE.sell, market);
    if (lowest === null) return lots;
    const most = mulDivCeil(total, powerOfTen(market.definition.quantityDecimals), lowest);
    // mutant: quote-order-cap
    return Math.max(lots, Number(smaller(most, LOTS_MAX)));
  }

  #marketPrice({ market }: LiveOrder): Amount18 {
    return marketPrice(this.#margins.assets.terms(market.definition.assetId));
  }

  #isExempt({ flags, user }: LiveOrder): boolean {
    return (flags & ORDER_FLAG.postOnly) !== 0 && this.#accounts.isMarketMaker(user);
  }
}
