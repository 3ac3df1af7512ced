/**
 * Auto-deleveraging (service spec 3.6.9, ADL-01 to ADL-09, AMB-59): a position of the backstop is closed against profitable
 * positions on its other side, in the order of their score, without the book and without a fee.
 *
 *   step: market, counterparties ──tradeIdsWanted──▶ market ──tradeIdsReserved──▶ all of it found anew ──▶ trades
 *
 * Nothing but the market is remembered between the two: whether the sub-account still needs it, against whom and how much is decided
 * by the state when the ids are here. Ids are used then or never, so that the ids of confirmed trades rise. One answer serves
 * one sub-account, with at most ADL_TRADES_MAX trades.
 *
 * A counterparty is judged by its confirmed state; its orders stay, and clearing judges their fills. Closing at a price leaves its
 * equity at that price as it was.
 *
 * Not here: when the backstop deleverages (backstop.ts), the figures (src/risk/liquidation.ts).
 */
import { add18, larger, notional18, quantity18, subtract18 } from '../../core/arithmetic.ts';
import type { OrderId } from '../../core/ids.ts';
import { AMOUNT18_MAX } from '../../core/limits.ts';
import { SIDE, type Side } from '../../core/order-terms.ts';
import {
  type Amount18,
  type RawPrice,
  type RawQuantity,
  type Sequence,
  type TimestampNs,
  ZERO_18,
} from '../../core/units.ts';
import { type AssetTerms, equityLeg, legAtMark } from '../../risk/asset-terms.ts';
import {
  type AdlStanding,
  adlPrice,
  type Closing,
  compareAdl,
  hasBuffer,
  lotsToBuffer,
  positionProfit,
  wholeLots,
} from '../../risk/liquidation.ts';
import { afterFill, magnitude } from '../../risk/position.ts';
import { marginSumsOf } from '../account-margin.ts';
import type { Effect } from '../effects.ts';
import type { TradeIdsReserved } from '../inputs.ts';
import { setLegs } from '../positions.ts';
import { maxAdlOf } from '../registry/registry-assets.ts';
import { termsOf } from '../risks.ts';
import type { AdlUsageRow, AssetQuantity, BackstopRow, TradeRow, TradeSide } from '../rows.ts';
import type { ClearingState, MarketSlot, PositionSlot, SubAccountSlot } from '../state.ts';
import { tallyTrade } from '../tallies.ts';
import { accountOfRow, liveRows } from './backstop-capital.ts';
import { holdingsOf, isPriced, isUpdated, largestFirst } from './backstop-holdings.ts';
import { isBackstop, setBackstopRow } from './liquidation-rows.ts';

/** Trades of one answer at most: the rest follows with the next one. */
export const ADL_TRADES_MAX = 256;

const MINUTE_NS = 60_000_000_000n;
const DAY_MINUTES = 1_440;

// ---- the cap of a market

/** Minutes that reach into the last 24 hours: the cap holds in any such span, and the oldest minute counts in whole. */
function minutesInForce(row: AdlUsageRow | undefined, nowNs: TimestampNs): AdlUsageRow['minutes'] {
  const from = Number(nowNs / MINUTE_NS) - DAY_MINUTES;
  return row?.minutes.filter(({ minute }) => minute >= from) ?? [];
}

/** Lots that `max_adl` of the market's asset still allows (ADL-06), floored; the most an order can hold without a cap. */
function lotsWithinCap(state: ClearingState, { definition }: MarketSlot, nowNs: TimestampNs): RawQuantity {
  const asset = state.assets.get(definition.assetId);
  const cap = asset === undefined ? null : maxAdlOf(asset);
  if (cap === null) return wholeLots(AMOUNT18_MAX as Amount18, definition);
  const minutes = minutesInForce(state.adlUsage.get(definition.marketIndex), nowNs);
  const used = minutes.reduce((sum, { quantity }) => sum + quantity, 0n);
  // mutant: adl-cap
  return wholeLots(larger(cap - used, 0n) as Amount18, definition);
}

function addUsage(state: ClearingState, { definition }: MarketSlot, quantity: Amount18, nowNs: TimestampNs): void {
  const { marketIndex } = definition;
  const minute = Number(nowNs / MINUTE_NS);
  const minutes = minutesInForce(state.adlUsage.get(marketIndex), nowNs).filter((entry) => entry.minute !== minute);
  const before = state.adlUsage.get(marketIndex)?.minutes.find((entry) => entry.minute === minute)?.quantity ?? ZERO_18;
  const row = { marketIndex, minutes: [...minutes, { minute, quantity: add18(before, quantity) }] };
  state.adlUsage.set(marketIndex, row);
  state.dirty.adlUsage.add(marketIndex);
}

// ---- counterparties

interface Counterparty {
  readonly slot: PositionSlot;
  readonly standing: AdlStanding;
  readonly roughScore: number;
}

/**
 * Equity at the mark, and Σ |base leg| × mark (AMB-48): all that a score needs of an account.
 *
 * @param value of the base leg of `position` at the mark.
 */
function worthOf(
  position: PositionSlot,
  value: bigint,
  nowNs: TimestampNs,
): { readonly equity: bigint; readonly notional: bigint } {
  let equity = value;
  let notional = magnitude(value);
  for (const { collateral, owned } of position.account.balances.values()) {
    equity += collateral === null ? owned : equityLeg(termsOf(collateral, nowNs), owned, 'mark');
  }
  for (const other of position.account.positions.values()) {
    const { risk, legs } = other;
    equity += legs.quote;
    if (other === position || legs.base === 0n) continue;
    const terms = termsOf(risk, nowNs);
    equity += equityLeg(terms, legs.base, 'mark');
    notional += magnitude(legAtMark(terms, legs.base));
  }
  return { equity, notional };
}

/** The score as a double: wrong by far less than ROUGH_ERROR, and beyond all others where there is no equity or no cost. */
function roughScoreOf({ profit, entry, notional, equity }: AdlStanding): number {
  if (equity <= 0n || entry === 0n) return Number.POSITIVE_INFINITY;
  return (Number(notional) / Number(equity)) * (Number(profit) / Number(entry));
}

/** Scores that differ by more are not compared exactly. */
const ROUGH_ERROR = 1e-9;

/** Whether the quote leg can take what the whole position is closed for. */
function fits({ legs }: PositionSlot, price: RawPrice, market: MarketSlot): boolean {
  const notional = notional18(price, wholeLots(legs.base, market.definition), market.definition);
  return magnitude(legs.quote) + notional <= AMOUNT18_MAX;
}

/**
 * The first counterparties of a position of the backstop by their score (ADL-01 to ADL-03): all positions of the asset are looked
 * at, and at most ADL_TRADES_MAX are kept.
 */
function counterpartiesOf(
  state: ClearingState,
  position: PositionSlot,
  { market, price, terms }: { readonly market: MarketSlot; readonly price: RawPrice; readonly terms: AssetTerms },
  nowNs: TimestampNs,
): readonly Counterparty[] {
  const first: Counterparty[] = [];
  const isShort = position.legs.base < 0n;
  for (const slot of position.risk.open) {
    const { legs, user, subAccount } = slot;
    // mutant: adl-opposite-side
    if (legs.base < 0n === isShort || isBackstop(state, user)) continue;
    const profit = positionProfit(terms, legs);
    // mutant: adl-profitable
    if (profit <= 0n) continue;
    const value = legs.base < 0n ? profit - legs.entry : profit + legs.entry;
    const standing = { profit, entry: legs.entry, ...worthOf(slot, value, nowNs), user, subAccount };
    const roughScore = roughScoreOf(standing);
    const last = first[ADL_TRADES_MAX - 1];
    if (last !== undefined && roughScore < last.roughScore * (1 - ROUGH_ERROR)) continue;
    if (fits(slot, price, market)) insert(first, { slot, standing, roughScore });
  }
  return first;
}

/** Keeps the list in order and within its bound. */
function insert(first: Counterparty[], one: Counterparty): void {
  let [from, to] = [0, first.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compareAdl((first[middle] as Counterparty).standing, one.standing) < 0) from = middle + 1;
    else to = middle;
  }
  if (from === ADL_TRADES_MAX) return;
  first.splice(from, 0, one);
  if (first.length > ADL_TRADES_MAX) first.pop();
}

// ---- what is to be closed

/** One market in which a sub-account of the backstop is deleveraged now. */
interface Deleveraging {
  readonly market: MarketSlot;
  readonly position: PositionSlot;
  readonly side: Side;
  readonly closing: Closing;
  /** Bounded by the position and by the cap; above 0. */
  readonly lotsMax: RawQuantity;
  /** Not empty. */
  readonly counterparties: readonly Counterparty[];
}

/**
 * The market in which a sub-account is to be deleveraged: the one with its largest exposure in which the cap leaves a lot and
 * a counterparty has a profit (ADL-04, ADL-06).
 *
 * @returns null where there is none: the book and the capital are left.
 */
function deleveragingOf(state: ClearingState, account: SubAccountSlot, nowNs: TimestampNs): Deleveraging | null {
  const holdings = holdingsOf(account).filter(({ isSpot }) => !isSpot);
  for (const { market, risk, amount } of largestFirst(state, holdings, nowNs)) {
    const terms = termsOf(risk, nowNs);
    const position = account.positions.get(risk.asset);
    if (position === undefined || terms.prices.isBroken) continue;
    const side = amount < 0n ? SIDE.buy : SIDE.sell;
    const price = adlPrice(side, terms.prices, market.definition);
    const own = wholeLots(amount, market.definition);
    const lotsMax = Math.min(own, lotsWithinCap(state, market, nowNs)) as RawQuantity;
    if (lotsMax === 0 || !fits(position, price, market)) continue;
    const counterparties = counterpartiesOf(state, position, { market, price, terms }, nowNs);
    if (counterparties.length === 0) continue;
    return { market, position, side, closing: { legs: position.legs, terms, price }, lotsMax, counterparties };
  }
  return null;
}

/** Lots that restore the buffer of the account, or all that may be closed (ADL-05). */
function lotsNeeded(
  account: SubAccountSlot,
  { closing, market, position }: Deleveraging,
  lotsMax: RawQuantity,
  nowNs: TimestampNs,
): RawQuantity {
  const now = { ...closing, legs: position.legs };
  return lotsToBuffer(marginSumsOf(account, nowNs), now, market.definition, lotsMax);
}

/**
 * Requests the ids of the trades that a sub-account needs.
 *
 * @returns the market that is to give them away; null where none can deleverage it.
 */
export function requestDeleveraging(
  state: ClearingState,
  account: SubAccountSlot,
  nowNs: TimestampNs,
  effects: Effect[],
): number | null {
  const found = deleveragingOf(state, account, nowNs);
  if (found === null) return null;
  const { marketIndex } = found.market.definition;
  let left = lotsNeeded(account, found, found.lotsMax, nowNs) as number;
  let count = 0;
  for (const { slot } of found.counterparties) {
    if (left <= 0) break;
    left -= wholeLots(slot.legs.base, found.market.definition);
    count += 1;
  }
  effects.push({ kind: 'tradeIdsWanted', marketIndex, count: Math.max(count, 1) });
  return marketIndex;
}

// ---- trades

/** What the sub-account of a row needs in a market now; null when nothing. */
function neededIn(
  state: ClearingState,
  market: MarketSlot,
  account: SubAccountSlot,
  nowNs: TimestampNs,
): Deleveraging | null {
  const holdings = holdingsOf(account);
  if (!isUpdated(holdings, nowNs) || !isPriced(holdings, nowNs) || hasBuffer(marginSumsOf(account, nowNs))) return null;
  const found = deleveragingOf(state, account, nowNs);
  return found?.market === market ? found : null;
}

/** The market gave away trade ids: they are for the oldest sub-account that requested some of it, if it still needs them. */
export function applyTradeIdsReserved(
  state: ClearingState,
  market: MarketSlot,
  input: TradeIdsReserved,
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  market.decidedTradeId = market.lastTradeId;
  const requested = liveRows(state).find(({ adlMarket }) => adlMarket === market.definition.marketIndex);
  if (requested === undefined) return;
  const row = { ...requested, adlMarket: null };
  setBackstopRow(state, row);
  const account = accountOfRow(state, row);
  const found = account === undefined ? null : neededIn(state, market, account, nowNs);
  if (account !== undefined && found !== null) deleverage(state, { row, account, found }, { input, nowNs }, effects);
}

function deleverage(
  state: ClearingState,
  {
    row,
    account,
    found,
  }: { readonly row: BackstopRow; readonly account: SubAccountSlot; readonly found: Deleveraging },
  { input, nowNs }: { readonly input: TradeIdsReserved; readonly nowNs: TimestampNs },
  effects: Effect[],
): void {
  const { market, position, counterparties } = found;
  let lotsMax = found.lotsMax as number;
  let used = 0;
  let closed = ZERO_18;
  for (const { slot } of counterparties) {
    if (used === input.count) break;
    const needed = lotsNeeded(account, found, lotsMax as RawQuantity, nowNs);
    const lots = Math.min(needed, wholeLots(slot.legs.base, market.definition)) as RawQuantity;
    if (lots === 0) break;
    const tradeId = (input.firstTradeId + used) as Sequence;
    closed = add18(closed, trade(state, found, { slot, lots, tradeId, timeNs: input.timeNs }, effects));
    lotsMax -= lots;
    used += 1;
  }
  if (closed === 0n) return;
  addUsage(state, market, closed, nowNs);
  setBackstopRow(state, { ...row, adlClosed: increased(row.adlClosed, position.asset, closed) });
}

function increased(
  list: readonly AssetQuantity[],
  asset: PositionSlot['asset'],
  by: Amount18,
): readonly AssetQuantity[] {
  const known = list.find((entry) => entry.asset === asset);
  if (known === undefined) return [...list, { asset, quantity: by }];
  return list.map((entry) => (entry === known ? { asset, quantity: add18(entry.quantity, by) } : entry));
}

/** One trade, at the time at which its id was given away: both legs at the price, no fee, no order. @returns the base that was closed. */
function trade(
  state: ClearingState,
  { market, position, side, closing }: Deleveraging,
  of: {
    readonly slot: PositionSlot;
    readonly lots: RawQuantity;
    readonly tradeId: Sequence;
    readonly timeNs: TimestampNs;
  },
  effects: Effect[],
): Amount18 {
  const { definition } = market;
  const { slot, lots, tradeId, timeNs } = of;
  const { price } = closing;
  const base = quantity18(lots, definition.quantityDecimals);
  const notional = notional18(price, lots, definition);
  const bought = side === SIDE.buy ? base : subtract18(ZERO_18, base);
  setLegs(state, position, afterFill(position.legs, bought, notional, ZERO_18));
  // mutant: adl-both-sides
  setLegs(state, slot, afterFill(slot.legs, -bought, notional, ZERO_18));
  const row: TradeRow = {
    marketIndex: definition.marketIndex,
    tradeId,
    price,
    quantity: lots,
    matchedNs: timeNs,
    takerSide: side,
    isLiquidation: false,
    isAutoDeleverage: true,
    maker: sideOf(slot, tradeId),
    taker: sideOf(position, tradeId),
  };
  tallyTrade(state, row);
  effects.push({ kind: 'deleveraged', trade: row, timeNs });
  return base;
}

function sideOf({ user, subAccount }: PositionSlot, tradeId: Sequence): TradeSide {
  return { user, subAccount, orderId: `sys-adl-${tradeId}` as OrderId, orderSequence: 0 as Sequence, fee: ZERO_18 };
}
