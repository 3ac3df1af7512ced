/**
 * The margin-type sub-accounts of all users, created at the first event or order of one.
 *
 * Not here: which sub-accounts there are and of which type (accounts.ts), what one is worth (margin-account.ts).
 */
import { larger, quantity18 } from '../../core/arithmetic.ts';
import type { AssetId, UserId } from '../../core/ids.ts';
import type { MarketDefinition } from '../../core/market-definition.ts';
import { ORDER_KIND, SIDE, type Side } from '../../core/order-terms.ts';
import { type Amount18, ONE_18 } from '../../core/units.ts';
import { hasCap, type Measures, openInterest } from '../../risk/caps.ts';
import { offsetLots } from '../../risk/exposure.ts';
import { newExposureEntry } from '../../risk/exposure-queue.ts';
import { freePrice, newLossEntry } from '../../risk/worst-loss.ts';
import type { AssetRisks } from './asset-risks.ts';
import { type Holds, optimisticOf, type UpdateCount } from './holds.ts';
import { isReduceOnly, isSpot, type LiveOrder } from './live-order.ts';
import { MarginAccount, optimisticBase, type Position } from './margin-account.ts';
import type { OrderFault } from './order-events.ts';
import { lossesOf, type OrderExposure, type OthersMeasures, queueOf } from './order-exposure.ts';

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

export interface MarginAccountsParts {
  readonly holds: Holds;
  readonly assets: AssetRisks;
  readonly words: UpdateCount;
}

/** Places of pending orders lie behind every market sequence. */
const PENDING = 2 ** 52;

export class MarginAccounts {
  readonly assets: AssetRisks;
  /** Accounts of which an order has added exposure since this was last tidied (auto-reduce.ts). */
  readonly withOrders: Set<MarginAccount> = new Set();
  /** Positions with reduce-only orders of which something has moved since they were last checked (reduce-only-excess.ts). */
  readonly reduceOnlyToCheck: Set<Position> = new Set();
  readonly #users = new Map<UserId, Map<number, MarginAccount>>();
  readonly #holds: Holds;
  readonly #words: UpdateCount;
  #place = PENDING;

  constructor({ holds, assets, words }: MarginAccountsParts) {
    this.assets = assets;
    this.#holds = holds;
    this.#words = words;
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

  /** For a question about one that may not exist, or be of no margin type: none is made. */
  peek(user: UserId, index: number): MarginAccount {
    return (
      this.find(user, index) ?? new MarginAccount(user, index, this.#holds.peek(user, index), this.assets, new Set())
    );
  }

  /**
   * Whether a price on which the margin of this fill depends is younger than its match: of the asset traded or of anything
   * else in the account.
   */
  pricedSinceMatch({ user, subAccount, asset, matchedNs }: OrderFault): boolean {
    return this.assets.pricedSince(asset, matchedNs) || this.peek(user, subAccount).pricedSince(matchedNs);
  }

  /** What all users have in an asset, pending fills included (AMB-54, CAP-08). */
  measures(asset: AssetId): Measures {
    const { credits, borrows } = this.assets.legs(asset);
    return { credits, borrows, collateral: this.#holds.collateral(asset) };
  }

  /** What other users have in the asset of an order that a cap, or what vaults may lend to shorts, binds; null of any other. */
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
      const balance = account.spot.find(asset);
      if (balance !== undefined) collateral -= optimisticOf(balance);
    }
    return { credits, borrows, collateral, holdings: this.assets.marks(asset).holdings };
  }

  /** An order has other terms from now on: they were checked with what others have now. */
  retaken(order: LiveOrder): void {
    const { exposure } = order;
    if (exposure === null) return;
    exposure.undone = exposure.position.account.undone;
    exposure.others = this.#othersMeasures(order);
  }

  /** Whether others' measures are not what they were when the order was taken. */
  hasMeasureMoved(order: LiveOrder): boolean {
    const before = order.exposure?.others ?? null;
    if (before === null) return false;
    const now = this.#othersMeasures(order);
    if (now === null) return true;
    const hasOtherLegs = now.credits !== before.credits || now.borrows !== before.borrows;
    return hasOtherLegs || now.collateral !== before.collateral || now.holdings !== before.holdings;
  }

  /**
   * Whether a price may be why a cap of the asset was broken: only the cap of open interest is in USD, and this order is what may
   * pass it. Units that vaults lend, and caps in units, follow no price.
   */
  mayPriceBreakCap({ market, quantity }: LiveOrder): boolean {
    const { assetId, quantityDecimals } = market.definition;
    const { risk, prices } = this.assets.terms(assetId);
    const { maxOpenInterest } = risk;
    if (maxOpenInterest === null) return false;
    if (quantity === 0) return true;
    const interest = openInterest(this.assets.legs(assetId)) + quantity18(quantity, quantityDecimals);
    return interest * larger(prices.oracle, prices.mark) > maxOpenInterest * ONE_18;
  }

  /** Whether a price of the asset is younger than the admission of the order. */
  pricedSince({ asset, admittedNs }: OrderFault): boolean {
    return this.assets.pricedSince(asset, admittedNs);
  }

  /** Of one user, by no order. */
  of(user: UserId): Iterable<MarginAccount> {
    return this.#users.get(user)?.values() ?? [];
  }

  /** Lots by which orders of this side may reduce the optimistic position. */
  reducibleLots(user: UserId, index: number, { assetId, quantityDecimals }: MarketDefinition, side: Side): number {
    const position = this.find(user, index)?.find(assetId);
    return position === undefined ? 0 : offsetLots(side, optimisticBase(position), quantityDecimals);
  }

  /**
   * Bounds for an order that only reduces a position, or sells what is owned, in an account that cannot cover worse prices: at
   * the first it costs no margin, at the second no more than the equity that there is. Raw; 0: there is none.
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
  setPosition(word: PositionUpdate): Position {
    const account = this.account(word.user, word.subAccount);
    const position = account.position(word.asset);
    this.#holds.funded.changed(word.user, isOpen(position), isOpen(word));
    account.setLegs(position, word, this.#words.next());
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
    const queue = queueOf(position, order);
    if (queue !== null) this.withOrders.add(account);
    this.#place += 1;
    const entry = newExposureEntry(order.index, this.#place);
    const losses = lossesOf(position.losses, order);
    const { undone } = account;
    const others = this.#othersMeasures(order);
    return { position, queue, entry, losses, loss: newLossEntry(), marketPrice: 0n, undone, others, bound: 0 };
  }
}

function isOpen({ base, quote }: Pick<Position, 'base' | 'quote'>): boolean {
  return base !== 0n || quote !== 0n;
}
