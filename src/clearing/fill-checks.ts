/**
 * The checks of a fill (FIL-17), in order: stale match, which is no party's fault; then for each party by itself its first
 * failure of
 *
 *   signature     verified once, before the order's first fill (FIL-09); of the node's, the outstanding one of its account
 *   order terms   side, price, life, account, fee rate, and whether it is released at all (FIL-10)
 *   overfill      lots enabled, and the target or cap of a market order, in exact money (FIL-11, AMB-05)
 *   debt          none of a negative account 0, of the user's own orders (AMB-85): insufficient inventory of any order
 *   inventory     what it owns, of a spot order (SUB-02)
 *   liquidation   below maintenance before, neither growth nor flip of the position (LIQ-11 to LIQ-13); of no other order
 *   reduce-only   neither growth nor flip of the position, of a margin order (FIL-13, TIF-10)
 *   size          what the fill would leave fits what rows can hold: else overfill, or margin of a margin order
 *   pricing       a broken asset takes no leveraged trade that raises the risk (FIL-07, AMB-44)
 *   caps          of the asset, unless the trade only reduces (FIL-08, CAP-07); of one that opens or grows a short, what vaults lend
 *                 (MON-10)
 *   margin        of a margin account, on what the fill would leave (FIL-06, AMB-51): initial margin unless the trade only
 *                 reduces, and solvency in any case (MRG-14, docs/decisions/0014) but where the node closes what the
 *                 account has: then the fill does not raise the risk (LIQ-12, docs/decisions/0029)
 *
 * Both may fail. The last four look at the state after the fill, both parties of it applied.
 */
import { add18 } from '../core/arithmetic.ts';
import { assert } from '../core/assert.ts';
import { STALE_MATCH_NS } from '../core/limits.ts';
import {
  ORDER_FLAG,
  ORDER_KIND,
  orderExpiryNs,
  ROLLBACK_REASON,
  type RollbackReason,
  SIDE,
  SIGNATURE_VERDICT,
  type SignatureVerdict,
  TRIGGER_STATE,
} from '../core/order-terms.ts';
import type { TimestampNs } from '../core/units.ts';
import { coversDebts, initialMarginHolds, isCovered, solvencyHolds } from '../risk/account.ts';
import { isMarginType, mayTrade } from '../risk/account-types.ts';
import { breaksCap, hasCap, isOverUtilized, type Measures } from '../risk/caps.ts';
import { liquidationPrice } from '../risk/liquidation.ts';
import { reduces } from '../risk/position.ts';
import { isUsable, ORACLE_STALE_NS } from '../risk/prices.ts';
import { quote18 } from '../risk/reservation.ts';
import {
  CONFIRMED,
  initialOf,
  initialOfDebts,
  maintenanceOf,
  storedEquityOf,
  storedEquityOfDebts,
} from './account-margin.ts';
import { owesForced } from './balances.ts';
import { baseDelta, type Fill, type FillingOrder, type FillPlan, type Party } from './fill-plan.ts';
import { coversLots, setOf } from './quote-set-slots.ts';
import { riskHoldingsOf } from './risks.ts';
import type { OrderRow } from './rows.ts';
import type { PositionSlot, QuoteSetSlot } from './state.ts';

/** Liquidations are the node's. */
const TARGET_FLAGS = ORDER_FLAG.isSpot | ORDER_FLAG.postOnly | ORDER_FLAG.reduceOnly;
const NODE_FLAGS = ORDER_FLAG.nodeMade | ORDER_FLAG.liquidation;

/** What went wrong with a fill, by party; `none` for a party that is in order. */
export interface Fault {
  readonly maker: RollbackReason;
  readonly taker: RollbackReason;
}

/** A fill as it is judged: what the plan was before it. */
interface Case {
  readonly fill: Fill;
  readonly plan: FillPlan;
  readonly before: Measures;
  readonly nowNs: TimestampNs;
}

/** What is known of a party before the fill is in the plan. */
interface Standing {
  readonly party: Party;
  readonly reason: RollbackReason;
  /** Only makes a position smaller: initial margin, prices and caps do not bind it (MRG-14). */
  readonly isReducing: boolean;
  /** Opens a short or grows one (MON-10). */
  readonly growsShort: boolean;
  /** The measures after the change of this party alone; computed only where there is a cap. */
  readonly own: Measures;
}

/**
 * Adds a fill to the plan and judges it.
 *
 * @returns the two parties' own failures, or null when the plan can be booked. After a failure the plan is void.
 */
export function judge(fill: Fill, plan: FillPlan, nowNs: TimestampNs): Fault | null {
  if (nowNs - fill.input.timeNs > STALE_MATCH_NS) {
    return { maker: ROLLBACK_REASON.staleMatch, taker: ROLLBACK_REASON.staleMatch };
  }
  const of: Case = { fill, plan, before: plan.measures, nowNs };
  const makerStands = standingOf(of, fill.maker);
  const takerStands = standingOf(of, fill.taker);
  plan.add(fill);
  const maker = reasonAfter(of, makerStands);
  const taker = reasonAfter(of, takerStands);
  return maker === ROLLBACK_REASON.none && taker === ROLLBACK_REASON.none ? null : { maker, taker };
}

function standingOf(of: Case, party: Party): Standing {
  const { fill, plan } = of;
  const { position } = party.slot;
  const delta = baseDelta(fill, party);
  const base = position === null ? 0n : plan.legs(position).base;
  const isReducing = position !== null && reduces(base, delta);
  const growsShort = position !== null && delta < 0n && base + delta < 0n;
  const reason = judgeOrder(of, party, isReducing);
  return {
    party,
    reason,
    isReducing,
    growsShort,
    own: hasCap(plan.risk.risk) ? plan.measuresAfter(fill, party) : plan.measures,
  };
}

function judgeOrder(of: Case, party: Party, isReducing: boolean): RollbackReason {
  const { fill, plan } = of;
  const { row, position, account } = party.slot;
  const set = row.quoteSet === 0 ? null : setOf(party.slot.market, row);
  const verdict = set === null ? row.verdict : verdictOfSet(set);
  assert(verdict !== SIGNATURE_VERDICT.unknown, 'a signature is judged before the first fill is decided');
  // mutant: quote-set-verdict
  if (verdict === SIGNATURE_VERDICT.invalid) return ROLLBACK_REASON.invalidSignature;
  if (!termsAllow(fill, party, plan, isReducing)) return ROLLBACK_REASON.invalidOrder;
  if (set !== null && !setAllows(set, fill, party)) return ROLLBACK_REASON.invalidOrder;
  if (overfills(fill, party.slot)) return ROLLBACK_REASON.overfill;
  if (set !== null && !coversLots(set, row, plan.addQuoted(row, fill.input.quantity))) return ROLLBACK_REASON.overfill;
  // mutant: node-order-of-debtor
  const isOwn = (row.flags & ORDER_FLAG.nodeMade) === 0;
  // mutant: fill-of-debtor
  if (isOwn && owesForced(plan.state, account.row.user)) return ROLLBACK_REASON.insufficientInventory;
  if (position === null) {
    return inventoryCovers(fill, party, plan) ? ROLLBACK_REASON.none : ROLLBACK_REASON.insufficientInventory;
  }
  if ((row.flags & ORDER_FLAG.liquidation) !== 0 && !isLiquidated(of, party, position))
    return ROLLBACK_REASON.invalidOrder;
  const isViolated = (row.flags & ORDER_FLAG.reduceOnly) !== 0 && !isReducing;
  return isViolated ? ROLLBACK_REASON.reduceOnlyViolation : ROLLBACK_REASON.none;
}

/** Of a set that is over no text is left that could cover a fill. */
function verdictOfSet({ row }: QuoteSetSlot): SignatureVerdict {
  return row.sequence === 0 ? SIGNATURE_VERDICT.invalid : row.verdict;
}

/** Whether the revision in force covers an entry but for its lots: target, fee limit, life (QTE-07). */
function setAllows({ row }: QuoteSetSlot, { input }: Fill, { slot, feeRate }: Party): boolean {
  const { subAccount, flags } = slot.row;
  const isTarget = subAccount === row.subAccount && (flags & TARGET_FLAGS) === (row.flags & TARGET_FLAGS);
  return isTarget && feeRate <= row.maxFeeRate && input.timeNs <= orderExpiryNs(row.revisionNs, row.goodUntilNs);
}

/** Whether the account is below maintenance, and the fill does not add to its position (LIQ-11, LIQ-12). */
function isLiquidated({ fill, plan, nowNs }: Case, party: Party, position: PositionSlot): boolean {
  const { base } = plan.legs(position);
  // mutant: liquidation-below-maintenance
  if (maintenanceOf(party.slot.account, nowNs, plan).maintenance >= 0n) return false;
  return base !== 0n && base > 0n !== baseDelta(fill, party) > 0n;
}

/** Side, limit price, life, account, trigger and highest fee rate of one order against the fill (FIL-10, AMB-09). */
function termsAllow(fill: Fill, party: Party, plan: FillPlan, isReducing: boolean): boolean {
  const order = party.slot.row;
  const { price, timeNs } = fill.input;
  if (fill.maker.slot.row.side === fill.taker.slot.row.side) return false;
  if (order.triggerState !== TRIGGER_STATE.live) return false;
  if ((order.flags & NODE_FLAGS) === ORDER_FLAG.liquidation) return false;
  if (order.kind === ORDER_KIND.limit && isBeyondLimit(order, price)) return false;
  if (timeNs > orderExpiryNs(order.creationNs, order.goodUntilNs)) return false;
  return accountAllows(fill, party, plan, isReducing) && party.feeRate <= order.maxFeeRate;
}

function isBeyondLimit(order: OrderRow, price: number): boolean {
  // mutant: limit-price
  return order.side === SIDE.buy ? price > order.price : price < order.price;
}

/**
 * A margin order needs a margin account; a reduce-only one is a margin order. What an account may not hold it may still
 * get rid of (SUB-07, SUB-08, AMB-27, AMB-30).
 */
function accountAllows(fill: Fill, { slot }: Party, { risk }: FillPlan, isReducing: boolean): boolean {
  const { flags, side } = slot.row;
  const isSpot = (flags & ORDER_FLAG.isSpot) !== 0;
  if (isSpot ? (flags & ORDER_FLAG.reduceOnly) !== 0 : slot.position === null) return false;
  const trade = { asset: fill.market.assetId, side, isSpot, reduces: isReducing };
  return mayTrade(slot.account.row, trade, risk.risk);
}

/** More lots than are enabled, or more money than a market order's target or cap. */
function overfills(fill: Fill, slot: FillingOrder): boolean {
  const { quantity, amount, enabledQuantity } = slot.row;
  // mutant: filled-beyond-quantity
  if (quantity !== 0 && slot.filledQuantity + fill.input.quantity > enabledQuantity) return true;
  return amount !== 0 && slot.filledNotional + fill.notional > quote18(amount, fill.market);
}

/** The buyer pays notional and fee in USD, the seller pays base; a seller's fee never exceeds the proceeds. */
function inventoryCovers(fill: Fill, { slot, fee }: Party, plan: FillPlan): boolean {
  if (slot.row.side === SIDE.buy) return plan.owned(slot.usd) >= add18(fill.notional, fee);
  // mutant: seller-delivers
  return plan.owned(slot.base) >= fill.base;
}

/** What a party in order so far fails of what the fill would leave. */
function reasonAfter(of: Case, standing: Standing): RollbackReason {
  const { plan, fill } = of;
  const { party, reason } = standing;
  const { account, position } = party.slot;
  if (reason !== ROLLBACK_REASON.none) return reason;
  if (!plan.fits(party.slot) || (party === fill.taker && !plan.feesFit())) {
    return position === null ? ROLLBACK_REASON.overfill : ROLLBACK_REASON.insufficientMargin;
  }
  return isMarginType(account.row) ? marginReason(of, standing) : ROLLBACK_REASON.none;
}

/**
 * The check of a margin account. A trade that only reduces is held to no price, cap and initial margin, but to solvency.
 * One of the node closes what an account below its margin has, or what the backstop took over of one: it must not fail
 * for the shortfall.
 */
function marginReason(of: Case, standing: Standing): RollbackReason {
  const { plan, nowNs } = of;
  const { party, isReducing, growsShort } = standing;
  const { account, position, row } = party.slot;
  // mutant: node-closes-insolvent
  if ((row.flags & ORDER_FLAG.nodeMade) !== 0) return nodeReason(of, party);
  if (!isReducing) {
    if (position !== null && plan.terms(plan.risk, nowNs).prices.isBroken) return ROLLBACK_REASON.pricingFailure;
    if (breaksCaps(of, standing)) return ROLLBACK_REASON.protocolCapBreach;
    // mutant: utilization-at-clearing
    if (growsShort && isLentOut(of)) return ROLLBACK_REASON.protocolCapBreach;
    // An account without legs owes nothing: what the fill takes was there, so no balance is negative and every term is an
    // asset.
    if (account.positions.size === 0) return ROLLBACK_REASON.none;
    // Most accounts have the USD for all that they owe: then nothing else of theirs is read.
    if (isCovered(initialOfDebts(account, nowNs, plan))) return ROLLBACK_REASON.none;
    const after = initialOf(account, nowNs, plan);
    if (isCovered(after)) return ROLLBACK_REASON.none;
    const isAllowed = initialMarginHolds(after, () => initialOf(account, nowNs, CONFIRMED));
    if (!isAllowed) return ROLLBACK_REASON.insufficientMargin;
  }
  if (coversDebts(storedEquityOfDebts(account, nowNs, plan))) return ROLLBACK_REASON.none;
  const after = storedEquityOf(account, nowNs, plan);
  // mutant: reduction-solvency
  return solvencyHolds(after, () => storedEquityOf(account, nowNs, CONFIRMED))
    ? ROLLBACK_REASON.none
    : ROLLBACK_REASON.insufficientMargin;
}

/**
 * The check of an order of the node: the fill does not raise the risk (LIQ-12). It leaves no less maintenance surplus, or
 * its price is no worse than that of an order priced by the oracle alone. Two traders set a mark where they like in an
 * empty book: without this bound the node would sell to them there, for the account and the backstop to pay.
 */
function nodeReason({ fill, plan, nowNs }: Case, { slot }: Party): RollbackReason {
  const { account, row } = slot;
  const after = maintenanceOf(account, nowNs, plan).maintenance;
  // mutant: node-fill-risk
  if (after >= maintenanceOf(account, nowNs).maintenance) return ROLLBACK_REASON.none;
  const { oracle, risk } = plan.risk;
  if (!isUsable(oracle, ORACLE_STALE_NS, nowNs)) return ROLLBACK_REASON.invalidOrder;
  const bound = liquidationPrice(row.side, oracle.price, risk, fill.market);
  const isWorse = row.side === SIDE.buy ? fill.input.price > bound : fill.input.price < bound;
  return isWorse ? ROLLBACK_REASON.invalidOrder : ROLLBACK_REASON.none;
}

/** Whether shorts would have borrowed more of the asset than its vaults may lend (MON-10). */
function isLentOut({ plan, fill }: Case): boolean {
  return isOverUtilized(plan.risk.risk, plan.measures, riskHoldingsOf(plan.state, fill.market.assetId));
}

function breaksCaps({ plan, before, nowNs }: Case, { own }: Standing): boolean {
  const { risk } = plan.risk;
  if (!hasCap(risk)) return false;
  const change = { before, after: plan.measures, own };
  return breaksCap(risk, plan.terms(plan.risk, nowNs).prices, change);
}
