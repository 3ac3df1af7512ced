/**
 * Live orders as clearing knows them: the market's word on each, applied in its sequence.
 *
 *   created ─▶ live ─▶ replaced, restored, covered, filled in part (fills.ts) ─▶ ended, or filled ─▶ finished, out of memory
 *   createRefused ─▶ finished at once (AMB-16)
 *
 * An order whose last lot is confirmed ends as filled here; every other end is the market's word, and so is every end of
 * an order that is sized in quote. A market sends `ended` after every match of the order, so figures are final there,
 * with one exception: it may say `filled` after a replace to what was filled (AMB-19) when it has not heard of a rollback
 * yet. Such an order stays live, and the market, once it hears, restores it or ends it again (AMB-32 e). Market orders
 * have no way back: `filled` is their end, under the name that their confirmed fills deserve (AMB-32 c, AMB-37).
 *
 * Not here: triggers (triggers.ts), what an order holds (holds.ts), parents (children.ts).
 */
import { assert, must } from '../core/assert.ts';
import { USD } from '../core/ids.ts';
import {
  ORDER_END,
  ORDER_FLAG,
  ORDER_KIND,
  type OrderEnd,
  SIDE,
  SIGNATURE_VERDICT,
  type SignatureVerdict,
  TRIGGER,
  TRIGGER_STATE,
} from '../core/order-terms.ts';
import { type Amount18, type Sequence, ZERO_18 } from '../core/units.ts';
import { isMarginType } from '../risk/account-types.ts';
import { balanceSlot, ensureUser, SPOT_ACCOUNT } from './balances.ts';
import { childrenOf, enabledQuantityOf, linkChild, unlinkOrder } from './children.ts';
import type { Effect } from './effects.ts';
import { addExposure, removeExposure, updateExposure } from './exposures.ts';
import { changeSpend, spendOf } from './holds.ts';
import type { Covered, Created, CreateRefused, Ended, Replaced, Restored, Verdict } from './inputs.ts';
import type { LoadedHolds } from './loaded-holds.ts';
import { isFilled, isLeftByRestart } from './order-ends.ts';
import { changedRow, newOrderRow, type OrderChanges } from './order-rows.ts';
import { LiveOrderSlot } from './order-slot.ts';
import { positionSlot } from './positions.ts';
import type { LoadedRow, OrderRow, StoredOrders } from './rows.ts';
import type { BalanceSlot, ClearingState, MarketSlot, OrderSlot, OrderTies, UserSlot } from './state.ts';
import { tallyFinishedOrder } from './tallies.ts';
import { isFired, unwatchTrigger, watchTrigger } from './trigger-heaps.ts';

function spentBalance(slot: OrderSlot): BalanceSlot {
  return slot.look().side === SIDE.buy ? slot.usd : slot.base;
}

function setSpend(slot: OrderSlot, spend: Amount18): void {
  updateExposure(slot);
  changeSpend(spentBalance(slot), slot.market, slot.spend, spend);
  slot.spend = spend;
}

/** The order that its market names, whether or not its row knows yet that it has fired. */
export function namedOrder(market: MarketSlot, order: Sequence): OrderSlot {
  return must(market.orders.get(order), 'the market speaks of an order that is live in clearing');
}

/** The order that its market names, with its row in force. */
function liveOrder(state: ClearingState, market: MarketSlot, order: Sequence): OrderSlot {
  const slot = namedOrder(market, order);
  if (isFired(slot)) fireOrder(state, market, slot);
  return slot;
}

/** Its row says that it has fired. */
export function fireOrder(state: ClearingState, market: MarketSlot, slot: OrderSlot): void {
  changeOrder(state, market, slot, changedRow(slot.row, { triggerState: TRIGGER_STATE.fired }));
}

/** What an order is tied to. Its user and sub-account exist. */
function tiesOf(state: ClearingState, market: MarketSlot, owner: UserSlot, row: OrderRow): OrderTies {
  const { subAccount, flags } = row;
  const account = must(owner.subAccounts.get(subAccount), 'the sub-account of an order exists');
  const { assetId } = market.definition;
  const base = balanceSlot(state, owner, subAccount, assetId);
  const usd = balanceSlot(state, owner, subAccount, USD);
  // A margin order of a Spot account is refused with its first fill, like any other order that breaks its terms.
  const isLeveraged = isMarginType(account.row) && (flags & ORDER_FLAG.isSpot) === 0;
  return { account, position: isLeveraged ? positionSlot(state, account, assetId) : null, base, usd };
}

/** The same by its row alone. */
export function tiesOfRow(state: ClearingState, market: MarketSlot, row: OrderRow): OrderTies {
  return tiesOf(state, market, must(state.users.get(row.user), 'the user of an order is known'), row);
}

/** Puts an order among the live ones. Its user and sub-account exist. */
export function addLiveOrder(state: ClearingState, market: MarketSlot, row: OrderRow): OrderSlot {
  assert(row.end === 0, 'a live order has not ended');
  assert(!market.orders.has(row.orderSequence), 'an order is created once');
  const slot = new LiveOrderSlot(market, tiesOfRow(state, market, row));
  slot.row = row;
  setSpend(slot, spendOf(row, market.definition));
  market.orders.set(row.orderSequence, slot);
  linkOrder(market, slot, row);
  return slot;
}

/** Whoever finds the order by something else than its name finds it from now on. */
function linkOrder(market: MarketSlot, slot: OrderSlot, row: OrderRow): void {
  addExposure(slot, row);
  // mutant: checkpoint-inside-match
  if ((row.flags & ORDER_FLAG.entering) !== 0) market.entering = slot;
  linkChild(market, slot, row);
  watchTrigger(market, slot, row);
}

/** An order as a start finds it in its table. */
export type FoundOrder = Extract<LoadedRow, { table: 'storedOrder' }>;

/**
 * Puts an order that a start finds among the live ones, behind those of lower sequences. Most are left where they lie:
 * nobody looks for them but by their name.
 *
 * @param isReached whether the journal behind the tables may change it (replay-reach.ts).
 * @returns whether replay and restart leave it as it is.
 */
export function addStoredOrder(market: MarketSlot, holds: LoadedHolds, found: FoundOrder, isReached: boolean): boolean {
  const { row, stored, place } = found;
  assert(row.end === 0, 'a live order has not ended');
  const { parentSequence, triggerState, flags, subAccount } = row;
  const ordinal = stored.userOf(row);
  holds.add(market, ordinal, row);
  const isSettled = !isReached && isLeftByRestart(row, market.orders.isSettled(parentSequence));
  market.orders.shelve(row, stored, place, isSettled);
  const isOfSpot = subAccount === SPOT_ACCOUNT;
  const isFoundByName =
    parentSequence === 0 &&
    triggerState !== TRIGGER_STATE.dormant &&
    (flags & ORDER_FLAG.entering) === 0 &&
    (isOfSpot || !mayPress(holds.userOf(ordinal, row), subAccount));
  if (isFoundByName) return isSettled;
  const ties = isOfSpot ? null : tiesOf(holds.state, market, holds.userOf(ordinal, row), row);
  const slot = new LiveOrderSlot(market, ties);
  slot.store(stored, place);
  slot.spend = spendOf(row, market.definition);
  market.orders.link(slot);
  linkOrder(market, slot, row);
  return isSettled;
}

function mayPress(owner: UserSlot, subAccount: number): boolean {
  return isMarginType(must(owner.subAccounts.get(subAccount), 'the sub-account of an order exists').row);
}

/** The slot of an order that was on its shelf: what it holds is held already. */
export function unshelved(state: ClearingState, market: MarketSlot, stored: StoredOrders, place: number): OrderSlot {
  const row = stored.take(place);
  const slot = new LiveOrderSlot(market, tiesOfRow(state, market, row));
  slot.row = row;
  slot.spend = spendOf(row, market.definition);
  return slot;
}

/** Replaces the row of a live order and the hold that follows from it. */
export function changeOrder(state: ClearingState, market: MarketSlot, slot: OrderSlot, row: OrderRow): void {
  slot.row = row;
  if (slot.waits !== null && row.triggerState !== TRIGGER_STATE.dormant) unwatchTrigger(slot);
  setSpend(slot, spendOf(row, market.definition));
  state.dirty.orders.add(slot);
}

/** Fills of the order have confirmed: its children are enabled as far as it is filled (AMB-29). */
export function enableChildren(state: ClearingState, market: MarketSlot, parent: OrderSlot): void {
  if (market.children.size === 0) return;
  for (const child of childrenOf(market, parent.row.orderSequence)) {
    const enabledQuantity = enabledQuantityOf(market, child.row, child.row.quantity);
    if (enabledQuantity !== child.row.enabledQuantity) {
      changeOrder(state, market, child, changedRow(child.row, { enabledQuantity }));
    }
  }
}

/**
 * The market speaks of something else: what it let go of the child that was entering and did not match is dropped, and
 * held no more (AMB-29).
 */
export function dropUnmatched(state: ClearingState, market: MarketSlot, slot: OrderSlot): void {
  market.entering = null;
  const { row } = slot;
  if (market.orders.get(row.orderSequence) !== slot) return;
  const droppedQuantity = Math.max(0, row.activatedQuantity - row.filledQuantity);
  changeOrder(state, market, slot, changedRow(row, { droppedQuantity, flags: row.flags & ~ORDER_FLAG.entering }));
}

/** Takes an order off the live ones and counts it among the finished. @param row its last row, with its end. */
export function finishOrder(state: ClearingState, market: MarketSlot, slot: OrderSlot, row: OrderRow): void {
  assert(row.end !== 0, 'a finished order has an end');
  slot.row = row;
  setSpend(slot, ZERO_18);
  enableChildren(state, market, slot);
  market.orders.delete(row.orderSequence);
  removeExposure(slot);
  unwatchTrigger(slot);
  unlinkOrder(market, slot);
  state.dirty.orders.delete(slot);
  tallyFinishedOrder(state, row);
}

export function applyCreated(state: ClearingState, market: MarketSlot, input: Created, effects: Effect[]): void {
  const { user } = ensureUser(state, input.order.user, effects).row;
  const verdicts = state.verdicts.get(input.marketIndex);
  const verdict = verdicts?.get(input.sequence);
  verdicts?.delete(input.sequence);
  const row = newOrderRow(input, user, verdictNumber(verdict));
  const enabledQuantity = enabledQuantityOf(market, row, row.quantity);
  const isWhole = enabledQuantity === row.quantity;
  const slot = addLiveOrder(state, market, isWhole ? row : changedRow(row, { enabledQuantity }));
  state.dirty.orders.add(slot);
}

function verdictNumber(verdict: boolean | undefined): SignatureVerdict {
  if (verdict === undefined) return SIGNATURE_VERDICT.unknown;
  return verdict ? SIGNATURE_VERDICT.valid : SIGNATURE_VERDICT.invalid;
}

/** Remembers the answer of a signature check; it may come before the order's `created` is applied. */
export function learnVerdict(state: ClearingState, verdict: Verdict): void {
  const { marketIndex, order, valid } = verdict;
  const slot = state.markets[marketIndex]?.orders.get(order);
  if (slot === undefined) {
    const verdicts = state.verdicts.get(marketIndex);
    if (verdicts === undefined) state.verdicts.set(marketIndex, new Map([[order, valid]]));
    else verdicts.set(order, valid);
    return;
  }
  assert(slot.row.verdict === SIGNATURE_VERDICT.unknown, 'a signature is judged once');
  slot.row = changedRow(slot.row, { verdict: verdictNumber(valid) });
  state.dirty.orders.add(slot);
}

export function applyCreateRefused(state: ClearingState, input: CreateRefused, effects: Effect[]): void {
  const { user } = ensureUser(state, input.order.user, effects).row;
  tallyFinishedOrder(state, changedRow(newOrderRow(input, user), { end: ORDER_END.postOnlyWouldCross }));
}

export function applyReplaced(state: ClearingState, market: MarketSlot, input: Replaced): void {
  const slot = liveOrder(state, market, input.order);
  const { activatedQuantity, parentSequence } = slot.row;
  // Its parent is over, and all that this enabled is in force: it is an order like any other from here on (AMB-29).
  const isWhole = activatedQuantity !== 0 && activatedQuantity === input.quantity;
  if (isWhole) unlinkOrder(market, slot);
  const changes: OrderChanges = {
    price: input.price,
    quantity: input.quantity,
    parentSequence: isWhole ? 0 : parentSequence,
    activatedQuantity: isWhole ? 0 : activatedQuantity,
    enabledQuantity: enabledQuantityOf(market, slot.row, input.quantity),
    timestampNs: input.timestampNs,
    prioritySequence: input.prioritySequence,
    lastUpdateNs: input.timeNs,
  };
  changeOrder(state, market, slot, changedRow(slot.row, { ...changes, ...triggerAfter(slot.row, input) }));
  watchTrigger(market, slot, slot.row);
}

/** A released order keeps the trigger that released it; one whose trigger moved waits for the new one. */
function triggerAfter(row: OrderRow, { triggerKind, triggerPrice }: Replaced): OrderChanges {
  const isSame = triggerKind === row.triggerKind && triggerPrice === row.triggerPrice;
  if (triggerKind === TRIGGER.none || isSame) return {};
  return { triggerKind, triggerPrice, triggerState: TRIGGER_STATE.dormant };
}

export function applyEnded(state: ClearingState, market: MarketSlot, input: Ended): void {
  const slot = liveOrder(state, market, input.order);
  const isLimit = slot.row.kind === ORDER_KIND.limit;
  if (isLimit && input.end === ORDER_END.filled && !isFilled(slot.row)) return;
  const { faultReason, timeNs } = input;
  const end = isLimit ? input.end : endOfMarketOrder(slot.row, input.end);
  finishOrder(state, market, slot, changedRow(slot.row, { end, faultReason, lastUpdateNs: timeNs }));
}

/** A market order that lost fills is not filled, and one that lost all was rolled back (AMB-128). */
function endOfMarketOrder(row: OrderRow, end: OrderEnd): OrderEnd {
  const ranItsCourse = end === ORDER_END.filled || end === ORDER_END.immediateOrCancel;
  if (!ranItsCourse || (row.flags & ORDER_FLAG.rolledBack) === 0) return end;
  return row.filledQuantity === 0 ? ORDER_END.rolledBack : ORDER_END.immediateOrCancel;
}

/** The order may be over here already: all that was pending of it has been confirmed. */
export function applyCovered(state: ClearingState, market: MarketSlot, input: Covered): void {
  const slot = market.orders.get(input.order);
  if (slot === undefined) return;
  const flags = slot.row.flags | ORDER_FLAG.covered;
  changeOrder(state, market, slot, changedRow(slot.row, { flags, lastUpdateNs: input.timeNs }));
}

export function applyRestored(state: ClearingState, market: MarketSlot, input: Restored): void {
  const slot = liveOrder(state, market, input.order);
  const { prioritySequence, timeNs } = input;
  changeOrder(state, market, slot, changedRow(slot.row, { prioritySequence, lastUpdateNs: timeNs }));
}
