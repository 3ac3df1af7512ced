/**
 * The margin-type sub-accounts of all users, created at the first event or order of one.
 *
 * Not here: which sub-accounts there are and of which type (accounts.ts), what one is worth (margin-account.ts).
 */
import { larger, quantity18 } from '../../../core/arithmetic.ts';
import type { AssetId, UserId } from '../../../core/ids.ts';
import type { MarketDefinition } from '../../../core/market-definition.ts';
import { ORDER_KIND, SIDE, type Side } from '../../../core/order-terms.ts';
import type { Amount18, RawQuantity } from '../../../core/units.ts';
import { breaksCap, hasCap, interestAfter, isOverUtilized, type Measures, moveInterest } from '../../../risk/caps.ts';
import { offsetLots } from '../../../risk/exposure.ts';
import { newExposureEntry } from '../../../risk/exposure-queue.ts';
import { freePrice, newLossEntry } from '../../../risk/worst-loss.ts';
import type { Holds, UpdateCount } from '../balances/holds.ts';
import { isReduceOnly, isSpot, type LiveOrder } from '../book/live-order.ts';
import type { OrderFault } from '../book/order-events.ts';
import type { AssetRisks } from './asset-risks.ts';
import {
  type AccountPosition,
  decidedBase,
  MarginAccount,
  type OrderExposure,
  type OthersMeasures,
  optimisticBase,
} from './margin-account.ts';
import { exposureQueueOf, lossesOf } from './order-exposure.ts';

/** Clearing's event of a position, flushed and absolute. */
export interface PositionUpdate {
  readonly user: UserId;
  readonly subAccount: number;
  readonly asset: AssetId;
  readonly base: Amount18;
  readonly quote: Amount18;
  /** What the open base cost, without fees; not negative. */
  readonly entry: Amount18;
}

interface MarginAccountsParts {
  readonly holds: Holds;
  readonly assets: AssetRisks;
  readonly updates: UpdateCount;
}

/** Places of pending orders lie behind every market sequence. */
const PENDING = 2 ** 52;

export class UserMarginAccounts {
  readonly assets: AssetRisks;
  /** Accounts with an order that has added exposure since this set was last tidied (reductions.ts). */
  readonly withOrders: Set<MarginAccount> = new Set();
  /** Positions with reduce-only orders that have changed since they were last checked (reductions.ts). */
  readonly reduceOnlyToCheck: Set<AccountPosition> = new Set();
  readonly #users = new Map<UserId, Map<number, MarginAccount>>();
  /**
   * Base of the fills undone for what others have, by user, then by asset and kind; no more users than have margin
   * accounts.
   */
  readonly #excused = new Map<UserId, Map<string, bigint>>();
  readonly #holds: Holds;
  readonly #updates: UpdateCount;
  #place = PENDING;

  constructor({ holds, assets, updates }: MarginAccountsParts) {
    this.assets = assets;
    this.#holds = holds;
    this.#updates = updates;
  }

  /** Only for accounts of a margin type. */
  account(user: UserId, index: number): MarginAccount {
    const own = this.#users.get(user) ?? new Map<number, MarginAccount>();
    this.#users.set(user, own);
    const known = own.get(index);
    if (known !== undefined) return known;
    const fresh = new MarginAccount(user, index, this.#holds.account(user, index), this.assets, this.reduceOnlyToCheck);
    own.set(index, fresh);
    return fresh;
  }

  find(user: UserId, index: number): MarginAccount | undefined {
    return this.#users.get(user)?.get(index);
  }

  /** Answers questions about an account that may not exist or be of no margin type; creates none. */
  peek(user: UserId, index: number): MarginAccount {
    return (
      this.find(user, index) ?? new MarginAccount(user, index, this.#holds.peek(user, index), this.assets, new Set())
    );
  }

  /**
   * Whether a price on which the margin of this fill depends has moved against the account since its match: of the asset
   * traded or of anything else in the account.
   */
  pricedSinceMatch({ user, subAccount, asset, side, matchedNs }: OrderFault): boolean {
    const isAgainstFill = this.assets.movedSince(asset, side === SIDE.buy ? 'fell' : 'rose', matchedNs);
    return isAgainstFill || this.peek(user, subAccount).hasLostSince(matchedNs);
  }

  /** What all users have in an asset, pending fills included (AMB-54, CAP-08). */
  measures(asset: AssetId): Measures {
    const { credits, borrows } = this.assets.legs(asset);
    return { credits, borrows, collateral: this.#holds.collateral(asset) };
  }

  /**
   * What other users have in the asset of an order that a cap, or what vaults may lend to shorts, binds; null of any
   * other.
   */
  #othersMeasures(order: LiveOrder): OthersMeasures | null {
    const { user } = order;
    const asset = order.market.definition.assetId;
    const isBound = hasCap(this.assets.terms(asset).risk) || (order.side === SIDE.sell && !isSpot(order));
    if (!isBound) return null;
    let { credits, borrows, collateral } = this.measures(asset);
    for (const account of this.of(user)) {
      const position = account.find(asset);
      const base = position === undefined ? 0n : optimisticBase(position);
      if (base > 0n) credits -= base;
      else borrows += base;
    }
    for (const { summed } of this.#holds.collateralOf(user, asset)) collateral -= summed;
    const { risk, prices } = this.assets.terms(asset);
    const { holdings } = this.assets.marks(asset);
    return { credits, borrows, collateral, holdings, risk, prices, excused: this.#excusedOf(order) };
  }

  /** An order has other terms from now on: they were checked with what others have now. */
  retaken(order: LiveOrder): void {
    const { exposure } = order;
    if (exposure === null) return;
    exposure.undone = exposure.position.account.undone;
    exposure.others = this.#othersMeasures(order);
  }

  /**
   * Whether a fill of an order, undone as beyond a cap or what vaults lend, was so because of others (MON-08): with what
   * they had when the order was taken, and the prices and limits of then, it would have fitted beside what the user has
   * now. Fills for which this was so before, since the order was taken, are taken as made: all together are excused no
   * further than they would have fitted.
   *
   * @param lots of the fill. If it is excused, it is kept.
   */
  excuseBreach(order: LiveOrder, lots: RawQuantity): boolean {
    const { exposure, side, market, user } = order;
    if (exposure === null) return false;
    const { others, position } = exposure;
    // Nothing bound it when it was taken: the limit is younger.
    if (others === null) return true;
    const { assetId: asset, quantityDecimals } = market.definition;
    const base = quantity18(lots, quantityDecimals);
    const own = this.#decidedMeasures(user, asset);
    const { credits, borrows, collateral } = others;
    const all = { credits: credits + own.credits, borrows: borrows + own.borrows };
    const held = decidedBase(position);
    const signed = (added: bigint): bigint => (side === SIDE.buy ? added : -added);
    const measuresWith = (added: bigint): Measures =>
      isSpot(order)
        ? { ...all, collateral: collateral + own.collateral + added }
        : { ...interestAfter(all, held, held + signed(added)), collateral: collateral + own.collateral };
    const excused = this.#excusedOf(order);
    // mutant: excused-fills-add-up
    const earlier = excused - others.excused;
    const [before, after] = [measuresWith(earlier), measuresWith(earlier + base)];
    if (breaksCap(others.risk, others.prices, { before, after, own: after })) return false;
    // After a start the holdings come later than the orders; and with more than there was at admission only others can be
    // the reason.
    const holdings = larger(others.holdings, this.assets.marks(asset).holdings);
    const growsShort = !isSpot(order) && side === SIDE.sell && held - earlier - base < 0n;
    // mutant: lent-at-admission
    if (growsShort && isOverUtilized(others.risk, after, holdings)) return false;
    const excuses = this.#excused.get(user) ?? new Map<string, bigint>();
    this.#excused.set(user, excuses);
    excuses.set(excuseKey(order), excused + base);
    return true;
  }

  #excusedOf(order: LiveOrder): bigint {
    return this.#excused.get(order.user)?.get(excuseKey(order)) ?? 0n;
  }

  /** What one user has in an asset by what clearing has decided. */
  #decidedMeasures(user: UserId, asset: AssetId): Measures {
    const sums = { credits: 0n, borrows: 0n };
    let collateral = 0n;
    for (const account of this.of(user)) {
      const position = account.find(asset);
      if (position !== undefined) moveInterest(sums, 0n, decidedBase(position));
    }
    for (const { owned, settling, settlingIn } of this.#holds.collateralOf(user, asset)) {
      collateral += owned - settling + settlingIn;
    }
    return { ...sums, collateral };
  }

  /** The accounts of one user, in no order. */
  of(user: UserId): Iterable<MarginAccount> {
    return this.#users.get(user)?.values() ?? [];
  }

  /** Lots by which orders of this side may reduce the optimistic position. */
  reducibleLots(user: UserId, index: number, { assetId, quantityDecimals }: MarketDefinition, side: Side): number {
    const position = this.find(user, index)?.find(assetId);
    return position === undefined ? 0 : offsetLots(side, optimisticBase(position), quantityDecimals);
  }

  /**
   * Bounds for an order that only reduces a position, or sells what is owned, in an account that cannot cover worse
   * prices: at the first it costs no margin, at the second no more than the equity that there is. Raw; 0: there is none.
   */
  reducingBounds(order: LiveOrder): readonly number[] {
    const { exposure, side, kind, quantity, market } = order;
    if (exposure === null) return [];
    const { position } = exposure;
    const { definition } = market;
    const held = offsetLots(side, optimisticBase(position), definition.quantityDecimals);
    const reduces = isReduceOnly(order) || (kind === ORDER_KIND.marketBase && quantity <= held);
    if (isSpot(order) ? side === SIDE.buy : held === 0 || !reduces) return [];
    const free = freePrice(side, this.assets.terms(definition.assetId), definition);
    if (isSpot(order)) return [free];
    const covered = position.account.coveredPrice(position, side, quantity === 0 ? held : Math.min(quantity, held));
    const tighter = side === SIDE.buy ? Math.min(free, covered) : Math.max(free, covered);
    return covered === 0 ? [free] : [free, tighter];
  }

  /** @returns the position as it is now. */
  setPosition(update: PositionUpdate): AccountPosition {
    const account = this.account(update.user, update.subAccount);
    const position = account.position(update.asset);
    this.#holds.funded.changed(update.user, isOpen(position), isOpen(update));
    account.setLegs(position, update, this.#updates.next());
    return position;
  }

  /**
   * The exposure of an order of a margin-type account; it adds nothing before it is set. A spot sell has no queue.
   */
  exposure(order: LiveOrder): OrderExposure {
    const { market } = order;
    const account = this.account(order.user, order.subAccount);
    const position = account.position(market.definition.assetId);
    account.enter(position, market);
    const queue = exposureQueueOf(position, order);
    if (queue !== null) this.withOrders.add(account);
    this.#place += 1;
    const entry = newExposureEntry(order.index, this.#place);
    const losses = lossesOf(position.losses, order);
    const { undone } = account;
    const others = this.#othersMeasures(order);
    return { position, queue, entry, losses, loss: newLossEntry(), marketPrice: 0n, undone, others, bound: 0 };
  }
}

function isOpen({ base, quote }: Pick<AccountPosition, 'base' | 'quote'>): boolean {
  return base !== 0n || quote !== 0n;
}

/** Fills that raise the same measure. */
function excuseKey(order: LiveOrder): string {
  return `${order.market.definition.assetId}/${isSpot(order) ? 'spot' : order.side}`;
}
