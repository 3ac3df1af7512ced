/**
 * Margin-type accounts as they are read: figures, positions, the preview that closes them (wire.md 7.11 to 7.15, AMB-69,
 * AMB-70, AMB-129, AMB-142). Flushed figures, except the capacity, which is the number that pre-flight uses.
 *
 * Where the documents name a member and not its meaning:
 *
 *   mark_price, unrealized_pnl   null once the stored price is two hours old and not returned any more (LIQ-10)
 *   margin                       what the base leg needs initially: its equity less its surplus, at the worse price
 *   leverage                     notional of the position / equity of the account, null when that is not above zero
 *   liquidation_price            the price, oracle and mark alike, at which the maintenance surplus is zero while all else
 *                                stays; null where there is none
 *
 * Not here: JSON (wire), trades that might be (simulation.ts).
 */

import type {
  CloseOrderView,
  ClosePreviewView,
  HeldPositionView,
  MarginWarningView,
  PositionView,
  ShownMargin,
  MarginFiguresView as SimulatedFigures,
} from '../../../codec/margin-replies.ts';
import { larger, powerOfTen } from '../../../core/arithmetic.ts';
import { type AssetId, compareAssetIds, USD, type UserId } from '../../../core/ids.ts';
import { RAW_MAX } from '../../../core/limits.ts';
import { SIDE } from '../../../core/order-terms.ts';
import type { Amount18, TimestampNs } from '../../../core/units.ts';
import {
  type AccountFigures,
  addPosition,
  addSpot,
  emptySums,
  figuresOf,
  leverageOf,
  type MarginSums,
} from '../../../risk/account.ts';
import { type AssetTerms, equityLeg, legAtMark, weighedLeg } from '../../../risk/asset-terms.ts';
import { addRisk, addRiskUsd, emptyRisk, maintenanceRequirement, zeroSurplusPrice } from '../../../risk/at-risk.ts';
import { entryPrice, isOpen, type Legs, magnitude, NO_LEGS, sideOf } from '../../../risk/position.ts';
import { isStale, STORED_PRICE_NS } from '../../../risk/prices.ts';
import type { Accounts } from '../balances/accounts.ts';
import type { Markets } from '../book/markets.ts';
import type { AssetRisks } from './asset-risks.ts';
import type { AccountPosition, MarginAccount } from './margin-account.ts';
import type { UserMarginAccounts } from './margin-accounts.ts';

/** An account as legs: what is summed, whether it is, was or might be. */
export interface AccountLegs {
  readonly spot: ReadonlyMap<AssetId, bigint>;
  readonly positions: ReadonlyMap<AssetId, Legs>;
}

/** The figures that are shown, including capacity and the equity that is not available. */
type MarginFigures = AccountFigures & SimulatedFigures;

export interface MarginSources {
  readonly accounts: Accounts;
  readonly margins: UserMarginAccounts;
  readonly markets: Markets;
  readonly assets: AssetRisks;
}

/** What clearing has booked. */
export function flushedLegs(account: MarginAccount): AccountLegs {
  const spot = new Map<AssetId, bigint>();
  for (let balance = account.spot.first; balance !== null; balance = balance.next) {
    spot.set(balance.asset, balance.owned);
  }
  const positions = new Map<AssetId, Legs>();
  for (const position of account.positions()) if (isOpen(position)) positions.set(position.asset, position);
  return { spot, positions };
}

function sumsOf({ spot, positions }: AccountLegs, assets: AssetRisks): MarginSums {
  const sums = emptySums();
  for (const [asset, amount] of spot) addSpot(sums, asset === USD ? null : assets.terms(asset), amount);
  for (const [asset, legs] of positions) addPosition(sums, assets.terms(asset), legs);
  return sums;
}

/** Figures of an account with these `legs` and `available` left. */
export function figuresWith(legs: AccountLegs, available: Amount18, assets: AssetRisks): MarginFigures {
  const figures = figuresOf(sumsOf(legs, assets));
  const positions = [...legs.positions].filter(([, { base }]) => base !== 0n);
  return {
    ...figures,
    available,
    utilized: (figures.bindingEquity - available) as Amount18,
    positions: positions
      .sort(([a], [b]) => compareAssetIds(a, b))
      .map(([asset, { base }]) => held(asset, base, assets)),
  };
}

function held(assetId: AssetId, base: Amount18, assets: AssetRisks): HeldPositionView {
  const terms = assets.terms(assetId);
  const notional = magnitude(legAtMark(terms, base)) as Amount18;
  const own = emptyRisk();
  addRisk(own, terms, base);
  return { assetId, base, notional, margin: requirement(terms, base), maintenance: maintenanceRequirement(own) };
}

/** How a sum takes a spot balance or a base leg, and spot USD or a quote leg. */
interface LegSum<Sums> {
  readonly leg: (sums: Sums, terms: AssetTerms, amount: bigint) => void;
  readonly usd: (sums: Sums, amount: bigint) => void;
}

/** @returns `sums`, with every leg of the account. */
export function addLegs<Sums>(
  sums: Sums,
  { leg, usd }: LegSum<Sums>,
  { spot, positions }: AccountLegs,
  assets: AssetRisks,
): Sums {
  for (const [asset, amount] of spot) {
    if (asset === USD) usd(sums, amount);
    else leg(sums, assets.terms(asset), amount);
  }
  for (const [asset, { base, quote }] of positions) {
    leg(sums, assets.terms(asset), base);
    usd(sums, quote);
  }
  return sums;
}

/** What the factors of maintenance take away from the account (G14). */
function maintenanceOf(legs: AccountLegs, assets: AssetRisks): Amount18 {
  return maintenanceRequirement(addLegs(emptyRisk(), { leg: addRisk, usd: addRiskUsd }, legs, assets));
}

/** The requirement of one base leg, at the worse price (AMB-48). */
function requirement(terms: AssetTerms, base: bigint): Amount18 {
  const atOracle = equityLeg(terms, base, 'oracle') - weighedLeg(terms, base, 'initialOracle');
  const atMark = equityLeg(terms, base, 'mark') - weighedLeg(terms, base, 'initialMark');
  return larger(atOracle, atMark) as Amount18;
}

/** The price of an asset at which the account is liquidated while all other prices stay; null where there is none. */
export function shownLiquidationPrice(legs: AccountLegs, asset: AssetId, assets: AssetRisks): Amount18 | null {
  const own = { base: legs.positions.get(asset)?.base ?? 0n, spot: legs.spot.get(asset) ?? 0n };
  return own.base === 0n ? null : zeroSurplusPrice(assets.terms(asset), own, sumsOf(legs, assets).maintenance);
}

export class MarginView {
  readonly #sources: MarginSources;

  constructor(sources: MarginSources) {
    this.#sources = sources;
  }

  /** The figures of the user's margin-type accounts, by index; accounts that do not exist are left out. */
  figures(
    user: UserId,
    subAccounts: readonly number[] | null,
    nowNs: TimestampNs,
  ): ReadonlyMap<number, MarginFigures & ShownMargin> {
    const { margins, assets } = this.#sources;
    const figures = new Map<number, MarginFigures & ShownMargin>();
    for (const [index] of this.#marginAccounts(user, subAccounts)) {
      const account = margins.peek(user, index);
      const legs = flushedLegs(account);
      const own = figuresWith(legs, account.capacity(), assets);
      const warnings = this.#warnings(index, legs, nowNs);
      const missing = new Set(warnings.filter(({ code }) => code === 'PRICE_MISSING').map(({ assetId }) => assetId));
      figures.set(index, {
        ...own,
        // A stored price that is not shown any more counts in no figure of a position.
        positions: own.positions.map((held) =>
          missing.has(held.assetId) ? { ...held, maintenance: 0n as Amount18 } : held,
        ),
        maintenanceRequirement: missing.size > 0 ? null : maintenanceOf(legs, assets),
        warnings,
      });
    }
    return figures;
  }

  /** Assets of the account whose price is not there or not usable, ascending. */
  #warnings(subAccount: number, { spot, positions }: AccountLegs, nowNs: TimestampNs): readonly MarginWarningView[] {
    const held = [...spot].flatMap(([asset, amount]) => (asset === USD || amount === 0n ? [] : [asset]));
    const open = [...positions].flatMap(([asset, { base }]) => (base === 0n ? [] : [asset]));
    return [...new Set([...held, ...open])].sort(compareAssetIds).flatMap((assetId): MarginWarningView[] => {
      if (!this.#hasPrice(assetId, nowNs)) return [{ subAccount, code: 'PRICE_MISSING', assetId }];
      const { isBroken } = this.#sources.assets.terms(assetId).prices;
      return isBroken ? [{ subAccount, code: 'PRICE_STALE', assetId }] : [];
    });
  }

  /** By sub-account, then by asset (PAG-04). @param query.assetId null for all. */
  positions(
    user: UserId,
    { assetId, subAccounts }: { readonly assetId: AssetId | null; readonly subAccounts: readonly number[] | null },
    nowNs: TimestampNs,
  ): readonly PositionView[] {
    const views: PositionView[] = [];
    for (const [index, name] of this.#marginAccounts(user, subAccounts)) {
      const account = this.#sources.margins.find(user, index);
      if (account !== undefined) views.push(...this.#positionsOf(account, name, assetId, nowNs));
    }
    return views;
  }

  #positionsOf(
    account: MarginAccount,
    name: string,
    only: AssetId | null,
    nowNs: TimestampNs,
  ): readonly PositionView[] {
    const legs = flushedLegs(account);
    const assets = [...legs.positions.keys()].filter((asset) => only === null || asset === only);
    return this.#views(account, name, { legs, assets }, nowNs);
  }

  /** Positions that a booking has changed, closed ones included; after a change of a balance, all of them. */
  changed(
    user: UserId,
    index: number,
    { assets, isWhole }: { readonly assets: ReadonlySet<AssetId>; readonly isWhole: boolean },
    nowNs: TimestampNs,
  ): readonly PositionView[] {
    const account = this.#sources.margins.find(user, index);
    const name = this.#sources.accounts.find(user, index)?.name;
    if (account === undefined || name === undefined) return [];
    const legs = flushedLegs(account);
    const all = new Set([...assets, ...(isWhole ? legs.positions.keys() : [])]);
    return this.#views(account, name, { legs, assets: [...all] }, nowNs);
  }

  #views(
    { index }: MarginAccount,
    name: string,
    { legs, assets }: { readonly legs: AccountLegs; readonly assets: readonly AssetId[] },
    nowNs: TimestampNs,
  ): readonly PositionView[] {
    if (assets.length === 0) return [];
    const equity = sumsOf(legs, this.#sources.assets).equityMark;
    const sorted = [...assets].sort(compareAssetIds);
    return sorted.map((asset) => this.#position(legs, asset, { name, subAccount: index, equity }, nowNs));
  }

  #position(
    account: AccountLegs,
    assetId: AssetId,
    { name, subAccount, equity }: { readonly name: string; readonly subAccount: number; readonly equity: bigint },
    nowNs: TimestampNs,
  ): PositionView {
    const { assets } = this.#sources;
    const legs = account.positions.get(assetId) ?? NO_LEGS;
    const terms = assets.terms(assetId);
    const isFlat = legs.base === 0n;
    const isPriced = isFlat || this.#hasPrice(assetId, nowNs);
    const notional = magnitude(legAtMark(terms, legs.base));
    return {
      assetId,
      name,
      subAccount,
      side: sideOf(legs),
      base: legs.base,
      quote: legs.quote,
      entryPrice: entryPrice(legs),
      markPrice: this.markPrice(assetId, nowNs),
      unrealizedPnl: isPriced ? ((legAtMark(terms, legs.base) + legs.quote) as Amount18) : null,
      margin: requirement(terms, legs.base),
      leverage: leverageOf(notional, equity),
      liquidationPrice: shownLiquidationPrice(account, assetId, assets),
    };
  }

  /** Null without a stored price of the last two hours (LIQ-10). */
  markPrice(asset: AssetId, nowNs: TimestampNs): Amount18 | null {
    return this.#hasPrice(asset, nowNs) ? this.#sources.assets.terms(asset).prices.mark : null;
  }

  /** A stored price is shown for two hours (LIQ-10). */
  #hasPrice(asset: AssetId, nowNs: TimestampNs): boolean {
    const { oracle, mark } = this.#sources.assets.marks(asset);
    return [oracle, mark].some((source) => source !== null && !isStale(source.timeNs, STORED_PRICE_NS, nowNs));
  }

  /** The user's margin-type accounts. */
  *indices(user: UserId): Iterable<number> {
    for (const [index] of this.#marginAccounts(user, null)) yield index;
  }

  /** Equal while nothing of the account has changed, prices included. */
  versionOf(user: UserId, index: number): number {
    return this.#sources.margins.peek(user, index).version;
  }

  /** One opposite order per open position, all of it; no effect (QRY-08, AMB-70). */
  closePreview(user: UserId, subAccount: number): ClosePreviewView {
    const orders: CloseOrderView[] = [];
    const errors = new Map<string, string>();
    const account = this.#sources.margins.find(user, subAccount);
    const open = [...(account?.positions() ?? [])].filter(({ base }) => base !== 0n);
    for (const position of open.sort((a, b) => compareAssetIds(a.asset, b.asset))) {
      const order = this.#closeOrder(position, subAccount);
      if (order === null) errors.set(position.asset, 'no usable price');
      else if (order.quantity > RAW_MAX) errors.set(position.asset, 'larger than an order may be');
      else orders.push(order);
    }
    return { orders, errors };
  }

  #closeOrder({ asset, base }: AccountPosition, subAccount: number): CloseOrderView | null {
    const { assets, markets } = this.#sources;
    const { prices } = assets.terms(asset);
    const definition = markets.find(asset)?.definition;
    if (prices.isBroken || definition === undefined) return null;
    const { priceDecimals, quantityDecimals } = definition;
    const quantity = magnitude(base) / powerOfTen(18 - quantityDecimals);
    const side = base < 0n ? SIDE.buy : SIDE.sell;
    return { assetId: asset, side, quantity, oraclePrice: prices.oracle, priceDecimals, quantityDecimals, subAccount };
  }

  *#marginAccounts(user: UserId, subAccounts: readonly number[] | null): Iterable<readonly [number, string]> {
    const { accounts } = this.#sources;
    for (const [index, { name }] of accounts.of(user)) {
      const isWanted = subAccounts === null || subAccounts.includes(index);
      if (isWanted && accounts.isMargin(user, index)) yield [index, name];
    }
  }
}
