/**
 * A simulated trade (SIM-01 to SIM-04, AMB-71, wire.md 7.16): the account after pending transfers and a fill of all of the
 * trade as taker at its price, and the verdict of pre-flight on the order. The same functions as pre-flight and reads;
 * nothing changes.
 *
 *   before     the account with the pending transfers
 *   after      and with the trade; open orders net against the position that the trade leaves
 *   accepted   the order's requirement fits before the trade, or it adds none; and its fills are covered (MON-07)
 */
import type { SimulationView } from '../../../codec/margin-replies.ts';
import type { SimulateRequest } from '../../../codec/simulate-request.ts';
import { mulDivCeil, mulDivFloor, powerOfTen, tradingFee18 } from '../../../core/arithmetic.ts';
import { type AssetId, USD, type UserId } from '../../../core/ids.ts';
import { ORDER_FLAG, SIDE } from '../../../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../../../core/outcome.ts';
import { type Reject, reject } from '../../../core/reject.ts';
import { type Amount18, ONE_18 } from '../../../core/units.ts';
import {
  addInitial,
  addInitialUsd,
  addStored,
  addStoredUsd,
  emptyInitial,
  emptyStoredEquity,
  initialSurplus,
} from '../../../risk/account.ts';
import { isMarginType, mayTrade } from '../../../risk/account-types.ts';
import { additionBreaksCap } from '../../../risk/caps.ts';
import { capacityOf, marketPrice, offsetLots, requirementOf } from '../../../risk/exposure.ts';
import { afterFill, isOpen, type Legs, NO_LEGS, usdDelta } from '../../../risk/position.ts';
import { rawBound } from '../../../risk/price-bounds.ts';
import { newLossEntry } from '../../../risk/worst-loss.ts';
import type { AccountBalances } from '../balances/accounts.ts';
import { availableIn, optimisticOf } from '../balances/balance.ts';
import type { MarketSlot } from '../book/markets.ts';
import {
  type AccountMeans,
  type AccountPosition,
  type MarginAccount,
  newPosition,
  type OrderQueue,
  optimisticBase,
  optimisticQuote,
  type WhatIf,
} from './margin-account.ts';
import {
  type AccountLegs,
  addLegs,
  figuresWith,
  flushedLegs,
  type MarginSources,
  shownLiquidationPrice,
} from './margin-view.ts';
import { lossesOf } from './order-exposure.ts';

/** Notional of a simulated trade (SIM-03). */
export const SIMULATED_NOTIONAL_MAX: Amount18 = (50_000_000n * ONE_18) as Amount18;

/** A trade of a user, as requested. */
export type Trial = SimulateRequest & { readonly user: UserId };

/** The trade in figures. */
interface Fill {
  readonly base: bigint;
  readonly notional: Amount18;
  readonly fee: Amount18;
}

/** @returns INVALID_REQUEST, MARKET_NOT_FOUND; PRICING_UNAVAILABLE for a trade without a price where there never was one. */
export function simulate(sources: MarginSources, preflightMinimum: Amount18, trial: Trial): Outcome<SimulationView> {
  const { accounts, margins, markets, assets } = sources;
  const market = markets.find(trial.asset);
  if (market === undefined) return rejected(reject('MARKET_NOT_FOUND', 'there is no such market'));
  const type = accounts.find(trial.user, trial.subAccount);
  if (type === undefined) return invalid('sub_account', 'there is no such sub-account');
  const price = trial.price ?? marketPrice(assets.terms(trial.asset));
  if (price === 0n) return rejected(reject('PRICING_UNAVAILABLE', 'there is no price to try the trade at'));
  const notional = (
    trial.side === SIDE.buy ? mulDivCeil(trial.size, price, ONE_18) : mulDivFloor(trial.size, price, ONE_18)
  ) as Amount18;
  if (notional > SIMULATED_NOTIONAL_MAX) return invalid('trade', 'a simulated notional is at most 50,000,000 USD');
  if (!trial.transfers.every(({ asset }) => assets.knows(asset)))
    return invalid('pending_transfers', 'there is no such asset');
  const account = margins.peek(trial.user, trial.subAccount);
  if (!coversTransfers(account, trial))
    return invalid('pending_transfers', 'a transfer takes out more than is available');

  const fill = { base: trial.size, notional, fee: tradingFee18(notional, market.definition.takerFeeRate) };
  const model = new Model(sources, { account, market }, trial, fill);
  const before = model.capacity(false);
  const available = model.capacity(true);
  const after = model.legs(flushedLegs(account), true);
  return accepted({
    figures: figuresWith(after, available, assets),
    impact: (available - before) as Amount18,
    isAccepted: model.isAllowed(type) && model.isAdmitted(preflightMinimum),
    liquidationPrice: shownLiquidationPrice(after, trial.asset, assets),
  });
}

function invalid(field: string, message: string): { readonly ok: false; readonly reject: Reject } {
  return rejected(reject('INVALID_REQUEST', message, field));
}

function shareOf(account: MarginAccount, asset: AssetId): bigint {
  const balance = account.spot.find(asset);
  return balance === undefined ? 0n : availableIn(balance);
}

/** One after the other, as they were given: none takes out more than is left then (SIM-02). */
function coversTransfers(account: MarginAccount, { transfers }: Trial): boolean {
  const left = new Map<AssetId, bigint>();
  for (const { asset, amount } of transfers) {
    const after = (left.get(asset) ?? shareOf(account, asset)) + amount;
    if (amount < 0n && after < 0n) return false;
    left.set(asset, after);
  }
  return true;
}

/** Where the trade would take place. */
interface Place {
  readonly account: MarginAccount;
  readonly market: MarketSlot;
}

/** The account with transfers, with or without the trade. */
class Model {
  readonly #sources: MarginSources;
  readonly #account: MarginAccount;
  readonly #trial: Trial;
  readonly #fill: Fill;
  readonly #market: MarketSlot;
  /** Where there is none the account has no leg and no order in the asset. */
  readonly #position: AccountPosition | undefined;

  constructor(sources: MarginSources, { account, market }: Place, trial: Trial, fill: Fill) {
    this.#sources = sources;
    this.#account = account;
    this.#market = market;
    this.#position = account.find(trial.asset);
    this.#trial = trial;
    this.#fill = fill;
  }

  /** `legs` with the transfers, and with the trade. */
  legs({ spot, positions }: AccountLegs, withTrade: boolean): AccountLegs {
    const { transfers, asset, side, isSpot } = this.#trial;
    const { base, notional, fee } = this.#fill;
    const [moved, open] = [new Map(spot), new Map(positions)];
    const add = (of: AssetId, amount: bigint): void => void moved.set(of, (moved.get(of) ?? 0n) + amount);
    for (const transfer of transfers) add(transfer.asset, transfer.amount);
    if (!withTrade) return { spot: moved, positions: open };
    const delta = side === SIDE.buy ? base : -base;
    if (isSpot) {
      add(asset, delta);
      // mutant: simulated-fee
      add(USD, usdDelta(delta, notional, fee));
      return { spot: moved, positions: open };
    }
    const legs = afterFill(open.get(asset) ?? NO_LEGS, delta, notional, fee);
    if (isOpen(legs)) open.set(asset, legs);
    else open.delete(asset);
    return { spot: moved, positions: open };
  }

  /** The capacity of the optimistic account. */
  capacity(withTrade: boolean): Amount18 {
    const { buys, sells } = this.#account.requirements(withTrade ? this.#queuesAfter() : []);
    return capacityOf(this.#surplus(withTrade), buys, sells);
  }

  #surplus(withTrade: boolean): Amount18 {
    const { assets } = this.#sources;
    const legs = this.legs(optimisticLegs(this.#account), withTrade);
    return initialSurplus(addLegs(emptyInitial(), { leg: addInitial, usd: addInitialUsd }, legs, assets));
  }

  /** The orders of the traded market net against the position that the trade leaves. */
  #queuesAfter(): readonly WhatIf[] {
    const { side, isSpot } = this.#trial;
    if (isSpot || this.#position === undefined) return [];
    const { buys, sells } = this.#position;
    const { quantityDecimals } = this.#market.definition;
    const base = optimisticBase(this.#position) + (side === SIDE.buy ? this.#fill.base : -this.#fill.base);
    const [short, long] = [offsetLots(SIDE.buy, base, quantityDecimals), offsetLots(SIDE.sell, base, quantityDecimals)];
    return [
      { queue: buys, counted: buys.countedAt(short) },
      { queue: sells, counted: sells.countedAt(long) },
    ];
  }

  /** Whether an account of this type may trade the asset so at all. */
  isAllowed(type: AccountBalances): boolean {
    const { asset, isSpot } = this.#trial;
    const { risk } = this.#sources.assets.terms(asset);
    const reduces = this.#reducible() >= this.#fill.base;
    return (isSpot || isMarginType(type)) && mayTrade(type, { ...this.#trial, reduces }, risk);
  }

  /** The verdict of pre-flight on the order (margin-check.ts). */
  isAdmitted(minimum: Amount18): boolean {
    const { user, subAccount, asset, isSpot } = this.#trial;
    const { assets, accounts } = this.#sources;
    if (isSpot && !this.#isCovered()) return false;
    if (!accounts.isMargin(user, subAccount)) return true;
    const counted = this.#counted();
    if (counted > 0n) {
      if (!isSpot && assets.terms(asset).prices.isBroken) return false;
      if (this.#exceedsCap()) return false;
    }
    if (isSpot && !this.#account.isLeveraged) return true;
    return (counted === 0n || this.#hasCapacity(counted, minimum)) && this.#coversFills(minimum);
  }

  #hasCapacity(counted: bigint, minimum: Amount18): boolean {
    const { side } = this.#trial;
    const { buys, sells } = this.#account.requirements();
    const more = this.#requirementOf(counted);
    const [allBuys, allSells] = side === SIDE.buy ? [buys + more, sells] : [buys, sells + more];
    return capacityOf(this.#surplus(false), allBuys as Amount18, allSells as Amount18) > minimum;
  }

  /** Whatever is filled of the trade and of the open orders (src/risk/worst-loss.ts). */
  #coversFills(minimum: Amount18): boolean {
    const { side, asset, isSpot } = this.#trial;
    const { base, notional } = this.#fill;
    const { definition } = this.#market;
    const known = this.#position ?? newPosition(this.#account, asset);
    const position = known.market === null ? { ...known, market: this.#market } : known;
    const flags = isSpot ? ORDER_FLAG.isSpot : 0;
    const losses = lossesOf(position.losses, { side, flags });
    const lots = mulDivCeil(base, 1n, powerOfTen(18 - definition.quantityDecimals));
    const price = rawBound(side === SIDE.buy ? SIDE.sell : SIDE.buy, mulDivFloor(notional, ONE_18, base), definition);
    const loss = newLossEntry();
    const legs = this.legs(optimisticLegs(this.#account), false);
    const { assets } = this.#sources;
    const means: AccountMeans = {
      initial: addLegs(emptyInitial(), { leg: addInitial, usd: addInitialUsd }, legs, assets),
      equity: () => addLegs(emptyStoredEquity(), { leg: addStored, usd: addStoredUsd }, legs, assets),
    };
    const change = (): void => losses.set(loss, Number(lots), price);
    return !this.#account.lacksFor({ position, losses, loss }, minimum, change, means);
  }

  /** Counts the transfers, and everything that the account has open on the side (src/risk/caps.ts). */
  #exceedsCap(): boolean {
    const { margins, assets } = this.#sources;
    const { asset, side, isSpot, transfers } = this.#trial;
    const { risk, prices } = assets.terms(asset);
    const lot = powerOfTen(18 - this.#market.definition.quantityDecimals);
    let added = this.#fill.base;
    if (isSpot) {
      added += (this.#queue()?.countedLots ?? 0n) * lot;
      for (const transfer of transfers) if (transfer.asset === asset) added += transfer.amount;
    } else {
      const open = this.#position === undefined ? 0n : this.#account.countedLots(this.#position, side) * lot;
      added += open - this.#offset();
      if (side === SIDE.sell && added > 0n && assets.isLentOut(asset)) return true;
    }
    return additionBreaksCap(risk, prices, margins.measures(asset), { side, isSpot, added });
  }

  /** What this notional adds to the requirement of the orders in its queue; the sum is rounded once. */
  #requirementOf(counted: bigint): bigint {
    const { asset, side } = this.#trial;
    const { takerFeeRate } = this.#market.definition;
    const terms = this.#sources.assets.terms(asset);
    const before = this.#queue()?.counted ?? 0n;
    const of = (notional: bigint): bigint => requirementOf(side, notional, terms, takerFeeRate);
    return of(before + counted) - of(before);
  }

  #queue(): OrderQueue | undefined {
    const { side, isSpot } = this.#trial;
    if (isSpot) return this.#position?.spotBuys;
    return side === SIDE.buy ? this.#position?.buys : this.#position?.sells;
  }

  /** By how much the side of the trade may reduce the optimistic position. */
  #reducible(): bigint {
    if (this.#position === undefined) return 0n;
    const base = optimisticBase(this.#position);
    const opposite = this.#trial.side === SIDE.buy ? -base : base;
    return opposite > 0n ? opposite : 0n;
  }

  #isCovered(): boolean {
    const { asset, side, transfers } = this.#trial;
    const from = side === SIDE.buy ? USD : asset;
    const need = side === SIDE.buy ? this.#fill.notional + this.#fill.fee : this.#fill.base;
    let available = shareOf(this.#account, from);
    for (const transfer of transfers) if (transfer.asset === from) available += transfer.amount;
    return need <= available;
  }

  /** Base of the position that no order has used yet, in whole lots. */
  #offset(): bigint {
    const lot = powerOfTen(18 - this.#market.definition.quantityDecimals);
    // A queue that never had an order knows no offset: all of it is free.
    const isFresh = this.#position === undefined || this.#position.market === null;
    return (isFresh ? this.#reducible() / lot : BigInt(this.#queue()?.freeOffset ?? 0)) * lot;
  }

  /** Notional that increases risk: what the unused offset does not cover. A spot sell adds none. */
  #counted(): bigint {
    const { side, isSpot } = this.#trial;
    const { base, notional } = this.#fill;
    if (isSpot) return side === SIDE.buy ? notional : 0n;
    const offset = this.#offset();
    return offset >= base ? 0n : mulDivCeil(notional, base - offset, base);
  }
}

function optimisticLegs(account: MarginAccount): AccountLegs {
  const spot = new Map<AssetId, bigint>();
  for (let balance = account.spot.first; balance !== null; balance = balance.next) {
    spot.set(balance.asset, optimisticOf(balance));
  }
  const positions = new Map<AssetId, Legs>();
  for (const position of account.positions()) {
    const [base, quote] = [optimisticBase(position) as Amount18, optimisticQuote(position) as Amount18];
    if (base !== 0n || quote !== 0n) positions.set(position.asset, { base, quote, entry: position.entry });
  }
  return { spot, positions };
}
