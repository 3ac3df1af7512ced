/**
 * Auto-deleveraging (service spec 3.6.9, ADL-01 to ADL-09, AMB-59): a position of the backstop is closed against profitable
 * positions on its other side, in the order of their score, without the book and without a fee.
 *
 *   step: market, counterparties ──tradeIdsWanted──▶ market ──tradeIdsReserved──▶ all of it found anew ──▶ trades
 *
 * Nothing but the market is remembered between the two: whether the sub-account still needs it, against whom and how much
 * is decided by the state when the ids are here. Ids are used then or never, so that the ids of confirmed trades rise.
 * One answer serves one sub-account, with at most ADL_TRADES_MAX trades. Of a market with more positions than a step
 * looks at, the counterparties that were searched for the step are remembered too (counterparty-search.ts): they alone
 * are ranked anew.
 *
 * A counterparty is judged by its confirmed state; its orders stay, and clearing judges their fills. Closing at a price
 * leaves its equity at that price as it was.
 *
 * Not here: when the backstop deleverages (backstop.ts), the figures (src/risk/liquidation.ts).
 */

import { add18, larger, notional18, quantity18, subtract18 } from '../../core/arithmetic.ts';
import type { OrderId } from '../../core/ids.ts';
import { LEDGER_ENTRY } from '../../core/ledger-entries.ts';
import { AMOUNT18_MAX } from '../../core/limits.ts';
import { SIDE, type Side } from '../../core/order-terms.ts';
import { type Amount18, type RawQuantity, type Sequence, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import { adlPrice, hasBuffer, lotsToBuffer, wholeLots } from '../../risk/liquidation.ts';
import { afterFill } from '../../risk/position.ts';
import { marginSumsOf } from '../account-margin.ts';
import type { Effect } from '../effects.ts';
import type { FoundCounterparties, TradeIdsReservedInput } from '../inputs.ts';
import { setLegs } from '../positions.ts';
import { maxAdlOf } from '../registry/registry-assets.ts';
import { assetTermsOf } from '../risks.ts';
import type { AdlUsageRow, AssetQuantity, BackstopRow, TradeRow, TradeSide } from '../rows.ts';
import type { ClearingMarket, ClearingState, PositionSlot, SubAccountSlot } from '../state.ts';
import { tallyTrade } from '../tallies.ts';
import { accountOfRow, liveRows } from './backstop-capital.ts';
import { holdingsOf, isPriced, isUpdated, largestFirst } from './backstop-holdings.ts';
import { ADL_SCAN_MAX, type ClosingTarget, type Counterparty, fits, positionsOf, ranked } from './counterparties.ts';
import { setBackstopRow } from './liquidation-rows.ts';

const MINUTE_NS = 60_000_000_000n;
const DAY_MINUTES = 1_440;

// ---- the cap of a market

/** Minutes that reach into the last 24 hours: the cap holds in any such span, and the oldest minute counts in whole. */
function minutesInForce(row: AdlUsageRow | undefined, nowNs: TimestampNs): AdlUsageRow['minutes'] {
  const from = Number(nowNs / MINUTE_NS) - DAY_MINUTES;
  return row?.minutes.filter(({ minute }) => minute >= from) ?? [];
}

/** Lots that `max_adl` of the market's asset still allows (ADL-06), floored; the most an order can hold without a cap. */
function lotsWithinCap(state: ClearingState, { definition }: ClearingMarket, nowNs: TimestampNs): RawQuantity {
  const asset = state.assets.get(definition.assetId);
  const cap = asset === undefined ? null : maxAdlOf(asset);
  if (cap === null) return wholeLots(AMOUNT18_MAX as Amount18, definition);
  const minutes = minutesInForce(state.adlUsage.get(definition.marketIndex), nowNs);
  const used = minutes.reduce((sum, { quantity }) => sum + quantity, 0n);
  // mutant: adl-cap
  return wholeLots(larger(cap - used, 0n) as Amount18, definition);
}

function addUsage(state: ClearingState, { definition }: ClearingMarket, quantity: Amount18, nowNs: TimestampNs): void {
  const { marketIndex } = definition;
  const minute = Number(nowNs / MINUTE_NS);
  const minutes = minutesInForce(state.adlUsage.get(marketIndex), nowNs).filter((entry) => entry.minute !== minute);
  const before = state.adlUsage.get(marketIndex)?.minutes.find((entry) => entry.minute === minute)?.quantity ?? ZERO_18;
  const row = { marketIndex, minutes: [...minutes, { minute, quantity: add18(before, quantity) }] };
  state.adlUsage.set(marketIndex, row);
  state.dirty.adlUsage.add(marketIndex);
}

// ---- what is to be closed

/** One market in which a sub-account of the backstop is deleveraged now. */
interface Deleveraging extends ClosingTarget {
  readonly kind: 'found';
  readonly side: Side;
  /** Bounded by the position and by the cap; above 0. */
  readonly lotsMax: RawQuantity;
  /** Not empty. */
  readonly counterparties: readonly Counterparty[];
}

/** A market with more positions than a step looks at, in which no counterparties were searched for yet. */
interface Unsearched extends ClosingTarget {
  readonly kind: 'unsearched';
}

/**
 * The market in which a sub-account is to be deleveraged: the one with its largest exposure in which the cap leaves a lot
 * and a counterparty has a profit (ADL-04, ADL-06).
 *
 * @param found what was searched in markets with more positions than a step looks at.
 * @returns null where there is none: the book and the capital are left.
 */
function deleveragingOf(
  state: ClearingState,
  account: SubAccountSlot,
  nowNs: TimestampNs,
  found: readonly FoundCounterparties[],
): Deleveraging | Unsearched | null {
  const holdings = holdingsOf(account).filter(({ isSpot }) => !isSpot);
  for (const { market, risk, amount } of largestFirst(state, holdings, nowNs)) {
    const terms = assetTermsOf(risk, nowNs);
    const position = account.positions.get(risk.asset);
    if (position === undefined || terms.prices.isBroken) continue;
    const side = amount < 0n ? SIDE.buy : SIDE.sell;
    const target = { market, position, terms, price: adlPrice(side, terms.prices, market.definition) };
    const own = wholeLots(amount, market.definition);
    const lotsMax = Math.min(own, lotsWithinCap(state, market, nowNs)) as RawQuantity;
    if (lotsMax === 0 || !fits(position, target)) continue;
    const counterparties = counterpartiesIn(state, target, found, nowNs);
    if (counterparties === null) return { kind: 'unsearched', ...target };
    if (counterparties.length > 0) return { kind: 'found', ...target, side, lotsMax, counterparties };
  }
  return null;
}

/** All of a market, or those that were found in one with too many; null where they are yet to be searched. */
function counterpartiesIn(
  state: ClearingState,
  target: ClosingTarget,
  found: readonly FoundCounterparties[],
  nowNs: TimestampNs,
): readonly Counterparty[] | null {
  const { open } = target.position.risk;
  if (open.size <= ADL_SCAN_MAX) return ranked(state, target, open, nowNs);
  const known = found.find(({ marketIndex }) => marketIndex === target.market.definition.marketIndex);
  if (known === undefined) return null;
  return ranked(state, target, positionsOf(state, target, known.accounts), nowNs);
}

/**
 * The market in which counterparties of an account are to be searched before it can be deleveraged; null if there is
 * none.
 */
export function unsearchedOf(
  state: ClearingState,
  account: SubAccountSlot,
  nowNs: TimestampNs,
  found: readonly FoundCounterparties[],
): ClosingTarget | null {
  if (![...account.positions.values()].some(({ risk }) => risk.open.size > ADL_SCAN_MAX)) return null;
  const next = deleveragingOf(state, account, nowNs, found);
  return next?.kind === 'unsearched' ? next : null;
}

/** Lots that restore the buffer of the account, or all that may be closed (ADL-05). */
function lotsNeeded(
  account: SubAccountSlot,
  { position, terms, price, market }: Deleveraging,
  lotsMax: RawQuantity,
  nowNs: TimestampNs,
): RawQuantity {
  const closing = { legs: position.legs, terms, price };
  return lotsToBuffer(marginSumsOf(account, nowNs), closing, market.definition, lotsMax);
}

/** What was requested for a row: trade ids of a market, for counterparties that were found there or, with none, for all. */
type AdlRequest = Pick<BackstopRow, 'adlMarket' | 'counterparties'>;

export const NO_REQUEST: AdlRequest = { adlMarket: null, counterparties: [] };

/**
 * Requests the ids of the trades that a sub-account needs.
 *
 * @returns what the row remembers of it; 'none' where no market can deleverage it, and 'unsearched' where counterparties are yet to
 *   be searched.
 */
export function requestDeleveraging(
  state: ClearingState,
  account: SubAccountSlot,
  { found, nowNs }: { readonly found: readonly FoundCounterparties[]; readonly nowNs: TimestampNs },
  effects: Effect[],
): AdlRequest | 'none' | 'unsearched' {
  const next = deleveragingOf(state, account, nowNs, found);
  if (next === null) return 'none';
  if (next.kind === 'unsearched') return next.kind;
  const { marketIndex } = next.market.definition;
  let left = lotsNeeded(account, next, next.lotsMax, nowNs) as number;
  let count = 0;
  for (const { slot } of next.counterparties) {
    if (left <= 0) break;
    left -= wholeLots(slot.legs.base, next.market.definition);
    count += 1;
  }
  effects.push({ kind: 'tradeIdsWanted', marketIndex, count: Math.max(count, 1) });
  const known = found.find((one) => one.marketIndex === marketIndex);
  return { adlMarket: marketIndex, counterparties: known?.accounts ?? [] };
}

// ---- trades

/** What the sub-account of a row needs in a market now; null when nothing. */
function neededIn(
  state: ClearingState,
  { definition }: ClearingMarket,
  { account, counterparties }: { readonly account: SubAccountSlot } & Pick<BackstopRow, 'counterparties'>,
  nowNs: TimestampNs,
): Deleveraging | null {
  const holdings = holdingsOf(account);
  if (!isUpdated(state, holdings, nowNs) || !isPriced(holdings, nowNs) || hasBuffer(marginSumsOf(account, nowNs)))
    return null;
  const { marketIndex } = definition;
  const found = counterparties.length === 0 ? [] : [{ marketIndex, accounts: counterparties }];
  const next = deleveragingOf(state, account, nowNs, found);
  return next?.kind === 'found' && next.market.definition === definition ? next : null;
}

/** The market gave away trade ids: they are for the oldest sub-account that requested some of it, if it still needs them. */
export function applyTradeIdsReserved(
  state: ClearingState,
  market: ClearingMarket,
  input: TradeIdsReservedInput,
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  market.decidedTradeId = market.lastTradeId;
  const requested = liveRows(state).find(({ adlMarket }) => adlMarket === market.definition.marketIndex);
  if (requested === undefined) return;
  const row = { ...requested, ...NO_REQUEST };
  setBackstopRow(state, row);
  const account = accountOfRow(state, row);
  if (account === undefined) return;
  const found = neededIn(state, market, { account, counterparties: requested.counterparties }, nowNs);
  if (found !== null) deleverage(state, { row, account, found }, { input, nowNs }, effects);
}

function deleverage(
  state: ClearingState,
  {
    row,
    account,
    found,
  }: { readonly row: BackstopRow; readonly account: SubAccountSlot; readonly found: Deleveraging },
  { input, nowNs }: { readonly input: TradeIdsReservedInput; readonly nowNs: TimestampNs },
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

/**
 * One trade, at the time at which its id was given away: both legs at the price, no fee, no order. @returns the base
 * that was closed.
 */
function trade(
  state: ClearingState,
  { market, position, side, price }: Deleveraging,
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
  const base = quantity18(lots, definition.quantityDecimals);
  const notional = notional18(price, lots, definition);
  const bought = side === SIDE.buy ? base : subtract18(ZERO_18, base);
  state.outcomes?.causeOfTrade(LEDGER_ENTRY.autoDeleverage, market, tradeId);
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
  const parties = { maker: slot, taker: position };
  state.outcomes?.deleveraged(market, { tradeId, price, quantity: lots, timeNs, takerSide: side, ...parties });
  tallyTrade(state, row);
  effects.push({ kind: 'deleveraged', trade: row, timeNs });
  return base;
}

function sideOf({ user, subAccount }: PositionSlot, tradeId: Sequence): TradeSide {
  return { user, subAccount, orderId: `sys-adl-${tradeId}` as OrderId, orderSequence: 0 as Sequence, fee: ZERO_18 };
}
