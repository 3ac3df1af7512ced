/**
 * The checks of a signed request before its signature is verified (AMB-91): signer, the request's own
 * rules, market, kind, decimals, tick, minimum, times, fees, target, cap. Inventory comes after the signature, when the
 * hold is taken (order-requests.ts).
 *
 * Pure: a request, what is known, and the time give the terms of an order or a reject. Nothing changes.
 *
 * Not here: shapes (wire), sessions, rates, signatures, duplicates and staleness (the market).
 */
import type {
  AmendRequest,
  CancelRequest,
  CreateRequest,
  QuoteSetRequest,
  ReplaceRequest,
  SignedOrder,
  SignedQuoteSet,
  SignedReplace,
} from '../../../codec/order-actions.ts';
import type { OrderDetails, TriggerCondition } from '../../../codec/order-details.ts';
import { pricesFault } from '../../../codec/quote-entries.ts';
import { storedSignatures } from '../../../codec/stored-signatures.ts';
import { notional18 } from '../../../core/arithmetic.ts';
import { format18 } from '../../../core/decimal.ts';
import type { UserId } from '../../../core/ids.ts';
import { AMOUNT18_MAX, ORDER_LIFE_NS } from '../../../core/limits.ts';
import type { MarketDefinition } from '../../../core/market-definition.ts';
import {
  MARKET_STATUS,
  ORDER_FLAG,
  ORDER_KIND,
  type OrderKind,
  SIDE,
  type Side,
  TIF,
  type Tif,
  TRIGGER,
  TRIGGER_STATE,
  type TriggerKind,
} from '../../../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../../../core/outcome.ts';
import { type Reject, reject } from '../../../core/reject.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../../../core/units.ts';
import { NO_BOUND } from '../../../order/order-codec.ts';
import { isMarginType, mayTrade } from '../../../risk/account-types.ts';
import type { Accounts } from '../balances/accounts.ts';
import { filledOf, isReduceOnly, type LiveOrder, type OrderTerms } from '../book/live-order.ts';
import type { MarketSlot, Markets } from '../book/markets.ts';
import type { QuoteAdds } from '../book/quote-sets.ts';
import type { AssetRisks } from '../margin/asset-risks.ts';
import type { OrderSettings } from '../settings.ts';
import { NO_SKIPS, type PreparedCreate, type PreparedReplace } from './pending-requests.ts';
import type { ProtectionGroups } from './protection-groups.ts';

/** What the checks look at. */
export interface PreFlightView extends OpenOrderCounts {
  readonly markets: Markets;
  readonly accounts: Accounts;
  readonly assets: AssetRisks;
  readonly protections: ProtectionGroups;
  /** Whether the user owns anything. */
  isFunded(user: UserId): boolean;
  /** Lots by which orders of this side may reduce the optimistic position. */
  reducibleLots(user: UserId, subAccount: number, market: MarketDefinition, side: Side): number;
}

/** Figures of an order that only its market knows, or the price of an order without one. */
const NOT_KNOWN = 0;

function invalid(field: string, message: string): { readonly ok: false; readonly reject: Reject } {
  return rejected(faultOf(field, message));
}

const FINE: Outcome<null> = accepted(null);
const NO_SLOT: Outcome<number> = accepted(0);
/** The refusal of an order that would wait and hold nothing, for a user without funds (AMB-124). */
const NOTHING_OWNED: Reject = reject('INSUFFICIENT_INVENTORY', 'an order that waits needs a user who owns something');
const NO_MARGIN: Reject = reject('INSUFFICIENT_MARGIN', 'an order that waits needs a user who owns something');

/** @param caller.user the session's. */
export function checkCreate(
  view: PreFlightView,
  request: CreateRequest,
  { user, now }: { readonly user: UserId; readonly now: TimestampNs },
  skips: ReadonlySet<string> = NO_SKIPS,
): Outcome<PreparedCreate> {
  const { order } = request;
  if (order.signer.id !== user) return signerMismatch();
  if (request.fault !== null) return rejected(request.fault);
  const market = view.markets.find(order.baseAsset.id);
  if (market === undefined) return marketNotFound();
  if (market.definition.status !== MARKET_STATUS.active) return marketHalted();
  const decimals = checkDecimals(market, order);
  if (!decimals.ok) return decimals;
  const figures = figuresOf(order.details);
  const fault =
    figuresFault(figures, order.side, market.definition, closes(view, order, figures, market)) ??
    childFault(order, figures);
  if (fault !== null) return rejected(fault);

  const times = checkCreateTimes(view, request, figures, now);
  if (!times.ok) return times;
  const fees = checkFees(market, order, figures);
  if (!fees.ok && !skips.has('fees')) return fees;
  const target = checkTarget(view, order, figures, market);
  if (!target.ok) return target;
  const { marketIndex } = market.definition;
  const isParked = order.trigger !== null;
  const cap = checkOpenOrders(view, { user, subAccount: order.account, marketIndex, isParked });
  if (!cap.ok) return cap;
  const group = protectionSlot(view, { user, marketIndex, group: request.protectionGroup }, now);
  if (!group.ok) return group;
  if (isParked && !view.isFunded(user)) return rejected(order.isSpot ? NOTHING_OWNED : NO_MARGIN);
  return accepted(prepare(request, figures, market, skips));
}

/** The slot of the group that a create names, 0 for none (MMP-02). */
export function protectionSlot(
  { protections }: Pick<PreFlightView, 'protections'>,
  { group, ...of }: { readonly user: UserId; readonly marketIndex: number; readonly group: string | null },
  now: TimestampNs,
): Outcome<number> {
  return group === null ? NO_SLOT : protections.slotFor({ ...of, group }, now);
}

/** Where the order trades (SUB-07, SUB-08, AMB-27, AMB-30). */
function checkTarget(
  view: PreFlightView,
  order: SignedOrder,
  { quantity }: OrderFigures,
  { definition }: MarketSlot,
): Outcome<null> {
  if (order.reduceOnly && order.isSpot) return invalid('reduce_only', 'a spot order cannot be reduce-only');
  const account = view.accounts.find(order.signer.id, order.account);
  if (account === undefined) return invalid('target', 'there is no such sub-account');
  if (!isMarginType(account) && !order.isSpot) return invalid('target', 'a spot sub-account has no margin positions');
  const { assetId: asset } = definition;
  const { side, isSpot, reduceOnly } = order;
  const reducible = view.reducibleLots(order.signer.id, order.account, definition, side);
  const reduces = reducible > 0 && (reduceOnly || (quantity > 0 && quantity <= reducible));
  const isFit = mayTrade(account, { asset, side, isSpot, reduces }, view.assets.terms(asset).risk);
  return isFit ? FINE : invalid('target', 'the sub-account may not hold the asset of this market');
}

/** A child is activated lot by lot, which needs a quantity (AMB-29). The parent itself is looked up by the market. */
function childFault(order: SignedOrder, { kind }: OrderFigures): Reject | null {
  const isChild = order.trigger !== null && order.trigger.parentOrderId !== null;
  if (!isChild || kind !== ORDER_KIND.marketQuote) return null;
  return reject('INVALID_ORDER', 'an order with a parent is sized in base', 'details');
}

function prepare(
  request: CreateRequest,
  figures: OrderFigures,
  market: MarketSlot,
  skips: ReadonlySet<string>,
): PreparedCreate {
  const { order } = request;
  const { kind, tif, goodUntilNs, price, quantity, amount } = figures;
  const { trigger, creationNs } = order;
  const terms: OrderTerms = {
    user: order.signer.id,
    subAccount: order.account,
    orderId: order.orderId,
    side: order.side,
    kind,
    tif,
    flags: flagsOf(order, figures),
    amount,
    triggerKind: trigger === null ? TRIGGER.none : triggerKindOf(trigger.condition),
    parentId: (trigger?.parentOrderId ?? '') as OrderTerms['parentId'],
    creationNs,
    goodUntilNs,
  };
  return {
    kind: 'create',
    market,
    terms,
    price,
    quantity,
    triggerPrice: trigger?.condition.price ?? (0 as RawPrice),
    maxFeeRate: order.maxTradingFeesRate,
    text: request.text,
    signature: request.signature,
    signatures: storedSignatures(request),
    skips,
    protectionGroup: request.protectionGroup,
    room: NO_BOUND,
  };
}

/**
 * Whether it is a reduce-only order over the whole position, which no minimum binds (AMB-42). One that may rest is cut to
 * the position, so it closes what is left if it is larger, too (MON-09).
 */
function closes(view: PreFlightView, order: SignedOrder, figures: OrderFigures, market: MarketSlot): boolean {
  const { quantity, kind, tif } = figures;
  if (!order.reduceOnly || quantity === 0) return false;
  const reducible = view.reducibleLots(order.signer.id, order.account, market.definition, order.side);
  const isCut = kind === ORDER_KIND.limit && (tif === TIF.gtc || tif === TIF.gtd) && order.trigger === null;
  return isCut ? reducible > 0 && quantity >= reducible : quantity === reducible;
}

function flagsOf({ isSpot, reduceOnly }: SignedOrder, { postOnly }: OrderFigures): number {
  return (
    (isSpot ? ORDER_FLAG.isSpot : 0) | (reduceOnly ? ORDER_FLAG.reduceOnly : 0) | (postOnly ? ORDER_FLAG.postOnly : 0)
  );
}

function checkDecimals(
  market: MarketSlot,
  given: { readonly bookPriceDecimals: number; readonly bookQuantityDecimals: number },
): Outcome<null> {
  const { priceDecimals, quantityDecimals } = market.definition;
  if (given.bookPriceDecimals !== priceDecimals) {
    return invalid('book_price_decimals', `the market's price decimals are ${priceDecimals}`);
  }
  if (given.bookQuantityDecimals !== quantityDecimals) {
    return invalid('book_quantity_decimals', `the market's quantity decimals are ${quantityDecimals}`);
  }
  return FINE;
}

/** AMB-10, AMB-127. */
function checkCreateTimes(
  view: PreFlightView,
  request: CreateRequest,
  { tif, goodUntilNs }: OrderFigures,
  now: TimestampNs,
): Outcome<null> {
  const { creationNs } = request.order;
  if (creationNs + ORDER_LIFE_NS <= now) return rejected(reject('ORDER_EXPIRED', 'created 30 days ago or more'));
  if (creationNs > now + view.settings.clockSkewNs) {
    return invalid('creation_timestamp_ns', 'created in the future');
  }
  if (tif === TIF.gtd && goodUntilNs <= now) {
    return invalid('timestamp_ns', 'good until an instant that has passed');
  }
  return checkPostSign(view, request.postSignNs, now);
}

function checkPostSign(view: PreFlightView, postSignNs: TimestampNs, now: TimestampNs): Outcome<null> {
  const { postSignAgeMaxNs, clockSkewNs } = view.settings;
  if (postSignNs + postSignAgeMaxNs < now || postSignNs > now + clockSkewNs) {
    return rejected(reject('REQUEST_TOO_OLD', 'signed too long ago or in the future', 'post_sign_timestamp'));
  }
  return FINE;
}

/** The limit covers the highest rate of the order: the maker's for post-only, else the taker's (AMB-09). */
function checkFees(market: MarketSlot, order: SignedOrder, { postOnly }: OrderFigures): Outcome<null> {
  const { makerFeeRate, takerFeeRate } = market.definition;
  const rate = postOnly ? makerFeeRate : takerFeeRate;
  return order.maxTradingFeesRate < rate ? invalid('max_trading_fees_rate', `the market's rate is ${rate}`) : FINE;
}

/** @returns the market; the order itself may be unknown here. */
export function checkReplace(
  view: PreFlightView,
  request: ReplaceRequest,
  user: UserId,
  now: TimestampNs,
): Outcome<MarketSlot> {
  if (request.signer.id !== user) return signerMismatch();
  if (request.fault !== null) return rejected(request.fault);
  const market = view.markets.find(request.asset.id);
  if (market === undefined) return marketNotFound();
  if (market.definition.status !== MARKET_STATUS.active) return marketHalted();
  const { newPriceLimit, timestampNs } = request.request;
  const decimals = checkDecimals(market, request.request);
  if (!decimals.ok) return decimals;
  if (newPriceLimit !== null && newPriceLimit % market.definition.tickSize !== 0) {
    return invalid('new_price_limit', 'off the tick');
  }
  if (timestampNs > now + view.settings.clockSkewNs) return invalid('timestamp_ns', 'in the future');
  const signed = checkPostSign(view, request.postSignNs, now);
  return signed.ok ? accepted(market) : signed;
}

/**
 * The minimums bind a new total and a new price, unless the total completes the order: a maker may replace to the filled
 * quantity (AMB-19, AMB-42). A reduce-only order has no minimum notional here, as it may have become as small as its
 * position, and no minimum at all where it closes what there is left to close (MON-09).
 *
 * @param roomToRest lots that a reduce-only order may have at rest; else 0.
 */
export function checkNewFigures(
  market: MarketSlot,
  { newQuantity, newPriceLimit }: Pick<SignedReplace, 'newQuantity' | 'newPriceLimit'>,
  order: LiveOrder | undefined,
  roomToRest: number,
): Outcome<null> {
  if (order !== undefined && newQuantity !== null) {
    const left = newQuantity - filledOf(order);
    // mutant: replace-of-a-small-position
    if (left <= 0 || (isReduceOnly(order) && roomToRest > 0 && left >= roomToRest)) return FINE;
  }
  if (newQuantity !== null && newQuantity < market.definition.minimumQuantity) {
    return invalid('new_quantity', 'below the minimum');
  }
  const price = newPriceLimit ?? order?.price ?? NOT_KNOWN;
  const quantity = newQuantity ?? order?.quantity ?? NOT_KNOWN;
  if (price === NOT_KNOWN || quantity === NOT_KNOWN || (order !== undefined && isReduceOnly(order))) return FINE;
  const fault = belowNotional(price, quantity, market.definition);
  return fault === null ? FINE : invalid(newQuantity === null ? 'new_price_limit' : 'new_quantity', fault);
}

/**
 * A trigger is changed while the order waits for it, never after (AMB-20).
 *
 * @returns the trigger that the market is to set, null for none. In the complete form the order's own is none where it has
 *   fired: a fired trigger changes no more, and no release is sent before this thread has seen the trigger fire, so when the
 *   replace is sent this holds at the market.
 */
export function checkNewTrigger(
  { newTrigger: wished, isComplete }: Pick<PreparedReplace, 'newTrigger' | 'isComplete'>,
  order: LiveOrder,
): Outcome<PreparedReplace['newTrigger']> {
  if (isComplete) return completeTrigger(wished, order);
  const waits = order.triggerState !== TRIGGER_STATE.live;
  return wished === null || waits ? accepted(wished) : invalid('new_trigger', 'the order is not waiting for a trigger');
}

/** The table of wire-additions.md 3.3. */
function completeTrigger(
  wished: PreparedReplace['newTrigger'],
  { triggerKind, triggerPrice, triggerState }: LiveOrder,
): Outcome<PreparedReplace['newTrigger']> {
  if (triggerState === TRIGGER_STATE.dormant) {
    return wished === null ? invalid('new_trigger', 'a trigger is removed by a cancel and a create') : accepted(wished);
  }
  if (wished === null || (wished.kind === triggerKind && wished.price === triggerPrice)) return accepted(null);
  return invalid('new_trigger', 'the order is not waiting for a trigger');
}

/**
 * What holds of every quote set, also of one that only takes away (QTE-04): its signer, shape, market, decimals, order of
 * prices and times.
 */
export function checkQuoteSet(
  view: PreFlightView,
  request: QuoteSetRequest,
  user: UserId,
  now: TimestampNs,
): Outcome<MarketSlot> {
  const { quotes } = request;
  if (quotes.signer.id !== user) return signerMismatch();
  if (request.fault !== null) return rejected(request.fault);
  const market = view.markets.find(quotes.baseAsset.id);
  if (market === undefined) return marketNotFound();
  const decimals = checkDecimals(market, quotes);
  if (!decimals.ok) return decimals;
  const prices = pricesFault(quotes);
  if (prices !== null) return rejected(prices);
  const { postSignAgeMaxNs, clockSkewNs } = view.settings;
  if (quotes.revisionNs + postSignAgeMaxNs < now || quotes.revisionNs > now + clockSkewNs) {
    return rejected(reject('REQUEST_TOO_OLD', 'the revision is over 60 s old, or in the future', 'revision'));
  }
  const signed = checkPostSign(view, request.postSignNs, now);
  return signed.ok ? accepted(market) : signed;
}

/**
 * Why what a quote set adds is refused as a whole (QTE-04), or null: status, terms, target, and of each entry that adds the figures of
 * an order. What it needs of balances and margin comes after the signature.
 */
export function quoteAddsFault(
  view: PreFlightView,
  quotes: SignedQuoteSet,
  { bids, asks }: QuoteAdds,
  market: MarketSlot,
  now: TimestampNs,
): Reject | null {
  const { definition } = market;
  if (definition.status !== MARKET_STATUS.active) return reject('MARKET_HALTED', 'the market takes no new orders');
  const { makerFeeRate } = definition;
  if (quotes.maxTradingFeesRate < makerFeeRate)
    return faultOf('max_trading_fees_rate', `the market's rate is ${makerFeeRate}`);
  if (quotes.goodUntilNs !== null && quotes.goodUntilNs <= now)
    return faultOf('good_until_timestamp_ns', 'good until an instant that has passed');
  return (
    quoteTargetFault(view, quotes, { bids, asks }, market) ??
    quoteFiguresFault('bids', bids, definition) ??
    quoteFiguresFault('asks', asks, definition)
  );
}

function quoteTargetFault(
  view: PreFlightView,
  { signer, account: index, isSpot }: SignedQuoteSet,
  { bids, asks }: QuoteAdds,
  { definition }: MarketSlot,
): Reject | null {
  const account = view.accounts.find(signer.id, index);
  if (account === undefined) return faultOf('target', 'there is no such sub-account');
  if (!isMarginType(account) && !isSpot) return faultOf('target', 'a spot sub-account has no margin positions');
  const { assetId: asset } = definition;
  const { risk } = view.assets.terms(asset);
  for (const [side, adds] of [
    [SIDE.buy, bids],
    [SIDE.sell, asks],
  ] as const) {
    if (adds.length === 0 || mayTrade(account, { asset, side, isSpot, reduces: false }, risk)) continue;
    return faultOf('target', 'the sub-account may not hold the asset of this market');
  }
  return null;
}

function quoteFiguresFault(
  field: 'bids' | 'asks',
  adds: readonly number[],
  definition: MarketDefinition,
): Reject | null {
  for (let at = 0; at < adds.length; at += 3) {
    const price = adds[at] as RawPrice;
    const quantity = adds[at + 1] as RawQuantity;
    if (price % definition.tickSize !== 0) return faultOf(field, `${price} is off the tick`);
    if (quantity < definition.minimumQuantity) return faultOf(field, `the quantity at ${price} is below the minimum`);
    const notional = notional18(price, quantity, definition);
    if (notional > AMOUNT18_MAX) return faultOf(field, 'more money than there can be');
    if (notional < definition.minimumNotional) return faultOf(field, `at ${price} ${notionalText(definition)}`);
  }
  return null;
}

/** Cancels work whatever the market's status is (AMB-109). */
export function checkCancel(
  view: PreFlightView,
  request: CancelRequest,
  user: UserId,
  now: TimestampNs,
): Outcome<MarketSlot> {
  if (request.cancel.signer.id !== user) return signerMismatch();
  if (request.fault !== null) return rejected(request.fault);
  const market = view.markets.find(request.cancel.asset.id);
  if (market === undefined) return marketNotFound();
  const signed = checkPostSign(view, request.postSignNs, now);
  return signed.ok ? accepted(market) : signed;
}

/**
 * Amends work whatever the market's status is. Revision and timestamp are compared at the market (wire-additions.md
 * 4.3).
 */
export function checkAmend(
  view: PreFlightView,
  { amend, user: given, fault }: AmendRequest,
  user: UserId,
  now: TimestampNs,
): Outcome<MarketSlot> {
  if (given.id !== user) return signerMismatch('user_id');
  if (fault !== null) return rejected(fault);
  const market = view.markets.find(amend.asset.id);
  if (market === undefined) return marketNotFound();
  const { quantityDecimals } = market.definition;
  if (amend.bookQuantityDecimals !== quantityDecimals) {
    return invalid('book_quantity_decimals', `the market's quantity decimals are ${quantityDecimals}`);
  }
  const { postSignAgeMaxNs, clockSkewNs } = view.settings;
  const { timestampNs } = amend;
  if (timestampNs + postSignAgeMaxNs < now || timestampNs > now + clockSkewNs) {
    return rejected(reject('REQUEST_TOO_OLD', 'made too long ago or in the future', 'timestamp_ns'));
  }
  return accepted(market);
}

/** Checks the amend of an order that is known here; its market judges any other. */
export function checkAmended(
  market: MarketSlot,
  { amend }: AmendRequest,
  order: LiveOrder | undefined,
  roomToRest: number,
): Outcome<null> {
  if (order !== undefined && order.kind !== ORDER_KIND.limit)
    return invalid('order_id', 'a market order is not amended');
  return checkNewFigures(market, { newQuantity: amend.newQuantity, newPriceLimit: null }, order, roomToRest);
}

function signerMismatch(field = 'signer'): { readonly ok: false; readonly reject: Reject } {
  return rejected(reject('SIGNER_MISMATCH', 'the signer is not the user of the session', field));
}

function marketNotFound(): { readonly ok: false; readonly reject: Reject } {
  return rejected(reject('MARKET_NOT_FOUND', 'there is no such market'));
}

export function marketHalted(): { readonly ok: false; readonly reject: Reject } {
  return rejected(reject('MARKET_HALTED', 'the market takes no new orders'));
}

// How many live orders there may be (AMB-124): in a sub-account and market, of a user, and of all users. Parked triggers and
// children are live.
//
// The bound of the node is memory that all share, so the fuller it is the fewer orders a user may have for one more. The
// cost of an order to its user decides its part:
//
//   waits for its trigger, holds nothing                          up to a quarter of the bound
//   holds at least the minimum notional of its market, or margin  up to half
//   of a user with fewer than 1,000 live orders                   up to three quarters
//   of a user with fewer than 10                                  up to 15 of 16 parts
//   of a market maker, registered by the operator                 all of it
//
// A waiting order needs a user with a balance or a position: a free key parks nothing.

/** What the bounds look at. */
interface OpenOrderCounts {
  readonly settings: OrderSettings;
  isMarketMaker(user: UserId): boolean;
  openCount(user: UserId, subAccount: number, marketIndex: number): number;
  openCountOf(user: UserId): number;
  openCountOfAll(): number;
}

/** One more order. */
interface OneMore {
  readonly user: UserId;
  readonly subAccount: number;
  readonly marketIndex: number;
  /** It waits for a trigger. */
  readonly isParked: boolean;
  /** How many; one unless given. */
  readonly count?: number;
}

/** The bound of the node is divided into 16 parts. */
const PARTS = 16;
const PARKED_PARTS = 4;
const ANY_PARTS = 8;
const FEWER_PARTS = 12;
const FEW_PARTS = 15;
const FEWER_ORDERS = 1_000;
const FEW_ORDERS = 10;

/** @returns TOO_MANY_OPEN_ORDERS with the setting that bounds. */
export function checkOpenOrders(counts: OpenOrderCounts, order: OneMore): Outcome<null> {
  const { settings } = counts;
  const { user, subAccount, marketIndex } = order;
  const isMaker = counts.isMarketMaker(user);
  const inMarket = isMaker ? settings.openOrdersMarketMakerMax : settings.openOrdersMax;
  const more = (order.count ?? 1) - 1;
  if (counts.openCount(user, subAccount, marketIndex) + more >= inMarket) {
    return tooMany(`at most ${inMarket} open orders in a sub-account and market`);
  }
  const own = counts.openCountOf(user) + more;
  const ofUser = isMaker ? settings.openOrdersUserMarketMakerMax : settings.openOrdersUserMax;
  if (own >= ofUser) return tooMany(`at most ${ofUser} open orders of a user`);
  const parts = isMaker ? PARTS : partsFor(own, order.isParked);
  const ofNode = settings.openOrdersNodeMax;
  return (counts.openCountOfAll() + more) * PARTS < ofNode * parts
    ? FINE
    : tooMany(`the node has room for ${Math.floor((ofNode * parts) / PARTS)} of such open orders, of ${ofNode} in all`);
}

/** How far the node may be filled for one more order of a user with `own` orders. */
function partsFor(own: number, isParked: boolean): number {
  if (own < FEW_ORDERS) return FEW_PARTS;
  if (isParked) return PARKED_PARTS;
  return own < FEWER_ORDERS ? FEWER_PARTS : ANY_PARTS;
}

function tooMany(message: string): Outcome<null> {
  return rejected(reject('TOO_MANY_OPEN_ORDERS', message));
}

// The figures of a signed order as the book keeps them, and the rules about them that need the market (wire.md 4.3,
// 7.4, AMB-05, AMB-42): tick and minimum of a limit order, minimum and caps of a market order.
//
//   kind           price   quantity         amount
//   limit          limit   quantity         0
//   market, base   0       quantity         quote cap of a buy, or 0
//   market, quote  0       base cap, or 0   quote target
//
// Not here: decimals, times, fees (above); raw bounds (src/codec).

export interface OrderFigures {
  readonly kind: OrderKind;
  readonly tif: Tif;
  readonly postOnly: boolean;
  /** 0n unless GTD. */
  readonly goodUntilNs: TimestampNs;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly amount: number;
}

const NO_TIME = 0n as TimestampNs;
const NO_PRICE = 0 as RawPrice;

function figuresOf(details: OrderDetails): OrderFigures {
  if (details.kind === 'limit') {
    const { tif, postOnly, limitPrice, quantity } = details;
    const goodUntilNs = details.goodUntilNs ?? NO_TIME;
    return { kind: ORDER_KIND.limit, tif, postOnly, goodUntilNs, price: limitPrice, quantity, amount: 0 };
  }
  const tif = details.fillOrKill ? TIF.fok : TIF.ioc;
  const common = { tif, postOnly: false, goodUntilNs: NO_TIME, price: NO_PRICE };
  if (details.kind === 'market-base') {
    const { quantity, maxSellableAmount } = details;
    return { ...common, kind: ORDER_KIND.marketBase, quantity, amount: maxSellableAmount ?? 0 };
  }
  const quantity = details.maxSellableQuantity ?? (0 as RawQuantity);
  return { ...common, kind: ORDER_KIND.marketQuote, quantity, amount: details.amount };
}

/**
 * @param isClosing the order closes a whole position: no minimum binds it.
 * @returns INVALID_ORDER with the member at fault, or null.
 */
export function figuresFault(
  figures: OrderFigures,
  side: Side,
  definition: MarketDefinition,
  isClosing: boolean,
): Reject | null {
  const { kind, price, quantity, amount } = figures;
  switch (kind) {
    case ORDER_KIND.limit:
      if (price % definition.tickSize !== 0) return faultOf('limit_price', 'off the tick');
      if (notional18(price, quantity, definition) > AMOUNT18_MAX) {
        return faultOf('quantity', 'more money than there can be');
      }
      return isClosing ? null : (belowMinimum(quantity, definition) ?? notionalFault(price, quantity, definition));
    case ORDER_KIND.marketBase:
      if (amount !== 0 && side !== SIDE.buy) return faultOf('max_sellable_amount', 'a quote cap is for a buy');
      return isClosing ? null : belowMinimum(quantity, definition);
    case ORDER_KIND.marketQuote:
      return quantity !== 0 && side !== SIDE.sell ? faultOf('max_sellable_quantity', 'a base cap is for a sell') : null;
  }
}

function belowMinimum(quantity: number, definition: MarketDefinition): Reject | null {
  return quantity < definition.minimumQuantity ? faultOf('quantity', 'below the minimum') : null;
}

function notionalFault(price: RawPrice, quantity: RawQuantity, definition: MarketDefinition): Reject | null {
  const fault = belowNotional(price, quantity, definition);
  return fault === null ? null : faultOf('quantity', fault);
}

/**
 * What may rest is worth the minimum at its price (AMB-124); market orders never rest and may be of any size (ORD-14).
 *
 * @returns why it is not, or null.
 */
function belowNotional(price: RawPrice, quantity: RawQuantity, definition: MarketDefinition): string | null {
  return notional18(price, quantity, definition) < definition.minimumNotional ? notionalText(definition) : null;
}

function notionalText({ minimumNotional }: MarketDefinition): string {
  return `worth less than the market's minimum of ${format18(minimumNotional)} USD`;
}

function faultOf(field: string, message: string): Reject {
  return reject('INVALID_ORDER', message, field);
}

export function triggerKindOf(condition: TriggerCondition): TriggerKind {
  return condition.direction === 'PriceAbove' ? TRIGGER.above : TRIGGER.below;
}
