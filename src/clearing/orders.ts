/**
 * Live orders as clearing keeps them: the events of each market, applied in its sequence.
 *
 *   created ─▶ live ─▶ replaced, restored, cancel pending, filled in part (fills.ts) ─▶ ended, or filled ─▶ finished, out of memory
 *   createRefused ─▶ finished at once (AMB-16)
 *
 * A record is changed in place, by `changeOrder` alone, which keeps up what is derived from it: holds, exposure, triggers.
 *
 * The confirmation of its last lot ends an order as filled here; every other end comes from the market, and so does every
 * end of an order that is sized in quote. A market sends `ended` after every match of the order, so figures are final
 * there, with one exception: it may send `filled` after a replace to what was filled (AMB-19) before it has received a
 * rollback. Such an order stays live, and the market, once it has the rollback, restores it or ends it again (AMB-32 e).
 * Market orders have no way back: `filled` is their end, under the name that their confirmed fills deserve (AMB-32 c,
 * AMB-37).
 *
 * Not here: triggers (triggers.ts), what an order holds (holds.ts), parents (children.ts).
 */
import { assert, must } from '../core/assert.ts';
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
import { ORDER_OUTCOME } from '../core/outcomes.ts';
import { NONE } from '../core/pools.ts';
import { type Amount18, type RawQuantity, type Sequence, ZERO_18 } from '../core/units.ts';
import type { OrderRecordView } from '../schema/generated/messages.ts';
import { ensureUser } from './balances.ts';
import { enabledQuantityOf, linkChild, unlinkChild } from './children.ts';
import type { Effect } from './effects.ts';
import { addExposure, removeExposure, updateExposure } from './exposures.ts';
import { changeSpend, spendOf } from './holds.ts';
import type { CancelPending, Created, CreateRefused, Ended, FillVerdict, Replaced, Restored } from './inputs.ts';
import { isOutstanding, nodeOrderOver } from './liquidation/liquidation-rows.ts';
import { baseOf, type ClearingOrder, orderAt, orderOf, usdOf } from './live-orders.ts';
import { isFilled } from './order-ends.ts';
import { countMember } from './protections.ts';
import { enterSet, leaveSet, recordSetVerdict } from './quote-set-slots.ts';
import { type OrderRow, plainRow, type SignedTextRow } from './rows.ts';
import type { BalanceSlot, ClearingMarket, ClearingState } from './state.ts';
import { tallyFinishedOrder, tallySignedText } from './tallies.ts';
import { isFired, unwatchTrigger, watchTrigger } from './trigger-heaps.ts';

/** The live order of an event; it may have fired, and be dormant in its record. */
export function namedOrder(market: ClearingMarket, order: Sequence): ClearingOrder {
  return must(orderOf(market, order), 'an event of a market is about an order that is live in clearing');
}

/** The same, with its record in force. */
function orderInForce(state: ClearingState, market: ClearingMarket, sequence: Sequence): ClearingOrder {
  const order = namedOrder(market, sequence);
  if (isFired(order)) fireOrder(state, order);
  return order;
}

/** Its record is fired from here on. */
export function fireOrder(state: ClearingState, order: ClearingOrder): void {
  changeOrder(state, order, (row) => {
    row.triggerState = TRIGGER_STATE.fired;
  });
}

function spentBalance(state: ClearingState, order: ClearingOrder): BalanceSlot {
  return order.row.side === SIDE.buy ? usdOf(state, order) : baseOf(state, order);
}

function setSpend(state: ClearingState, order: ClearingOrder, before: Amount18, after: Amount18): void {
  if (before !== after) changeSpend(spentBalance(state, order), order.market, before, after);
}

/**
 * Puts an order among the live ones. Its user and sub-account exist, and its sequence is above that of every live order of
 * its market.
 *
 * @param admit what is different from the row in the record.
 */
export function addLiveOrder(
  state: ClearingState,
  market: ClearingMarket,
  row: OrderRow,
  admit?: (record: OrderRecordView) => void,
): ClearingOrder {
  assert(row.end === 0, 'a live order has not ended');
  const order = orderAt(market, market.orders.add(row, state.users));
  admit?.(order.row);
  setSpend(state, order, ZERO_18, spendOf(order.row, market.definition));
  addExposure(state, order);
  // mutant: checkpoint-inside-match
  if ((row.flags & ORDER_FLAG.entering) !== 0) market.entering = order.index;
  linkChild(market, order.index);
  enterSet(market, order.row);
  watchTrigger(order);
  countMember(state, order.row, 1);
  return order;
}

/**
 * Changes the record of a live order in place, and all that follows from it. The trigger of an order that waits for it is
 * moved by `applyReplaced` alone.
 */
export function changeOrder(state: ClearingState, order: ClearingOrder, change: (row: OrderRecordView) => void): void {
  const { row, market } = order;
  const spent = spendOf(row, market.definition);
  const group = row.protectionGroup;
  if (group !== 0) countMember(state, row, -1);
  change(row);
  if (group !== 0 || row.protectionGroup !== 0) countMember(state, row, 1);
  updateExposure(state, order);
  setSpend(state, order, spent, spendOf(row, market.definition));
  if (row.triggerState !== TRIGGER_STATE.dormant) unwatchTrigger(order);
  state.orders.markDirty(order.index);
}

/** Fills of the order have confirmed: its children are enabled as far as it is filled (AMB-29). */
export function enableChildren(state: ClearingState, parent: ClearingOrder): void {
  const { market } = parent;
  const { store } = market.orders;
  for (let index = store.firstChild(parent.index); index !== NONE; index = store.nextChild(index)) {
    const child = orderAt(market, index);
    const enabledQuantity = enabledQuantityOf(market, child.row, child.row.quantity);
    if (enabledQuantity === child.row.enabledQuantity) continue;
    changeOrder(state, child, (changed) => {
      changed.enabledQuantity = enabledQuantity;
    });
  }
}

/**
 * The next event of the market is about something else: what it let go of the child that was entering and did not match is
 * dropped, and held no more (AMB-29).
 */
export function dropUnmatched(state: ClearingState, market: ClearingMarket): void {
  const { entering } = market;
  market.entering = NONE;
  if (entering === NONE) return;
  changeOrder(state, orderAt(market, entering), (row) => {
    row.droppedQuantity = Math.max(0, row.activatedQuantity - row.filledQuantity);
    row.flags &= ~ORDER_FLAG.entering;
  });
}

/**
 * Takes an order off the live ones and counts it among the finished.
 *
 * @param end its last change, which gives it its end. @param isRecorded false where its end is part of another outcome.
 * @returns its last record, kept until the next checkpoint.
 */
export function finishOrder(
  state: ClearingState,
  order: ClearingOrder,
  end: (row: OrderRecordView) => void,
  isRecorded = true,
): OrderRow {
  const { index, row, market } = order;
  release(state, order);
  end(row);
  assert(row.end !== 0, 'a finished order has an end');
  if (isRecorded) state.outcomes?.order(market, ORDER_OUTCOME.ended, row);
  enableChildren(state, order);
  if (market.entering === index) market.entering = NONE;
  if ((row.flags & ORDER_FLAG.nodeMade) !== 0) nodeOrderOver(state, row);
  leaveSet(market, row);
  const finished = tallyFinishedOrder(state, row);
  market.orders.remove(index);
  return finished;
}

/** It holds nothing, counts nowhere and waits for nothing from here on. */
function release(state: ClearingState, order: ClearingOrder): void {
  const { row, market } = order;
  setSpend(state, order, spendOf(row, market.definition), ZERO_18);
  removeExposure(state, order);
  unwatchTrigger(order);
  countMember(state, row, -1);
}

/**
 * Takes an entry off the live orders that left its quote set and never traded: nothing of it is kept, neither its record nor
 * its id, which its set gives to no other (QTE-06).
 */
export function forgetEntry(state: ClearingState, order: ClearingOrder): void {
  const { index, row, market } = order;
  assert(row.quoteSet !== 0 && row.filledQuantity === 0, 'an entry is forgotten that never traded');
  release(state, order);
  leaveSet(market, row);
  if (row.orderSequence <= market.writtenSequence) state.dirty.forgottenEntries.push(row);
  market.orders.remove(index);
}

export function applyCreated(state: ClearingState, market: ClearingMarket, input: Created, effects: Effect[]): void {
  ensureUser(state, input.order.user, effects);
  const verdict = verdictOf(state, input);
  const order = addLiveOrder(state, market, freshRow(input), (row) => {
    row.verdict = verdict;
    row.enabledQuantity = enabledQuantityOf(market, row, row.quantity);
  });
  state.orders.markDirty(order.index);
  keepSignedText(state, market, input);
  state.outcomes?.order(market, ORDER_OUTCOME.accepted, order.row, input);
}

/**
 * The verdict on an order that was admitted now. A user's order may have been verified before; an order of the node is
 * the one that is outstanding, or is unknown.
 */
function verdictOf(state: ClearingState, { marketIndex, sequence, order }: Created): SignatureVerdict {
  // mutant: node-order-outstanding
  if ((order.flags & ORDER_FLAG.nodeMade) !== 0) return verdictNumber(isOutstanding(state, order));
  const verdicts = state.verdicts.get(marketIndex);
  const verdict = verdictNumber(verdicts?.get(sequence));
  verdicts?.delete(sequence);
  return verdict;
}

/** The record of an order that was admitted now: nothing has happened to it yet. */
function freshRow({ marketIndex, sequence, order }: Created | CreateRefused): OrderRow {
  assert(order.marketIndex === marketIndex && order.orderSequence === sequence, 'an order is named by its admission');
  assert(order.filledQuantity === 0 && order.filledNotional === 0n && order.end === 0, 'a new order has no fills');
  assert(order.verdict === SIGNATURE_VERDICT.unknown, 'a new order is not verified');
  return order;
}

/** What was signed is kept until a checkpoint has written it. */
function keepSignedText(state: ClearingState, market: ClearingMarket, input: Created | CreateRefused): void {
  const { marketIndex, sequence: orderSequence, text, signatures } = input;
  if (text === '') return;
  const row = { marketIndex, orderSequence, text, signatures };
  market.signedTexts.push(row);
  tallySignedText(state, row);
}

/** What was signed of an order, as long as no checkpoint has written it; else null. */
export function keptSignedText({ signedTexts }: ClearingMarket, orderSequence: Sequence): SignedTextRow | null {
  let [low, high] = [0, signedTexts.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((signedTexts[middle] as SignedTextRow).orderSequence < orderSequence) low = middle + 1;
    else high = middle;
  }
  const found = signedTexts[low];
  return found?.orderSequence === orderSequence ? found : null;
}

function verdictNumber(verdict: boolean | undefined): SignatureVerdict {
  if (verdict === undefined) return SIGNATURE_VERDICT.unknown;
  return verdict ? SIGNATURE_VERDICT.valid : SIGNATURE_VERDICT.invalid;
}

/** Keeps the result of a signature check; it may come before the order's `created` is applied. */
export function recordVerdict(state: ClearingState, verdict: FillVerdict): void {
  const { marketIndex, order, valid } = verdict;
  const market = state.markets[marketIndex];
  if (market !== undefined && recordSetVerdict(state, market, order, valid)) return;
  const index = market?.orders.find(order) ?? NONE;
  if (index === NONE) {
    const verdicts = state.verdicts.get(marketIndex);
    if (verdicts === undefined) state.verdicts.set(marketIndex, new Map([[order, valid]]));
    else verdicts.set(order, valid);
    return;
  }
  const row = state.orders.store.view(index);
  assert(row.verdict === SIGNATURE_VERDICT.unknown, 'a signature is judged once');
  row.verdict = verdictNumber(valid);
  state.orders.markDirty(index);
}

export function applyCreateRefused(
  state: ClearingState,
  market: ClearingMarket,
  input: CreateRefused,
  effects: Effect[],
): void {
  ensureUser(state, input.order.user, effects);
  const row = tallyFinishedOrder(state, { ...plainRow(freshRow(input)), end: ORDER_END.postOnlyWouldCross });
  keepSignedText(state, market, input);
  state.outcomes?.order(market, ORDER_OUTCOME.refused, row, input);
}

export function applyReplaced(state: ClearingState, market: ClearingMarket, input: Replaced): void {
  const order = orderInForce(state, market, input.order);
  const { row } = order;
  // What the node reduces keeps its time.
  const isCut = input.timestampNs === row.timestampNs;
  const hasNewTrigger = movesTrigger(row, input);
  if (hasNewTrigger) unwatchTrigger(order);
  // Its parent is over, and all that this enabled is in force: it is an order like any other from here on (AMB-29).
  const isWhole = row.activatedQuantity !== 0 && row.activatedQuantity === input.quantity;
  if (isWhole) unlinkChild(market, order.index);
  const total = (input.isCut ? row.quantity - input.quantity : input.quantity) as RawQuantity;
  const enabledQuantity = enabledQuantityOf(market, row, total);
  changeOrder(state, order, (changed) => {
    changed.price = input.price;
    changed.quantity = total;
    changed.enabledQuantity = enabledQuantity;
    changed.timestampNs = input.timestampNs;
    changed.prioritySequence = input.prioritySequence;
    changed.lastUpdateNs = input.timeNs;
    if (isWhole) becomeWhole(changed);
    if (!hasNewTrigger) return;
    changed.triggerKind = input.triggerKind;
    changed.triggerPrice = input.triggerPrice;
    changed.triggerState = TRIGGER_STATE.dormant;
  });
  if (hasNewTrigger) watchTrigger(order);
  state.outcomes?.order(market, isCut ? ORDER_OUTCOME.cut : ORDER_OUTCOME.replaced, row);
}

/** All of a child is released: an order like any other. */
export function becomeWhole(row: OrderRecordView): void {
  row.parentSequence = 0;
  row.activatedQuantity = 0;
}

/** A released order keeps the trigger that released it; one with a moved trigger waits for the new one. */
function movesTrigger(row: OrderRow, { triggerKind, triggerPrice }: Replaced): boolean {
  const isSame = triggerKind === row.triggerKind && triggerPrice === row.triggerPrice;
  return triggerKind !== TRIGGER.none && !isSame;
}

export function applyEnded(state: ClearingState, market: ClearingMarket, input: Ended): void {
  const order = orderInForce(state, market, input.order);
  const isLimit = order.row.kind === ORDER_KIND.limit;
  if (isLimit && input.end === ORDER_END.filled && !isFilled(order.row)) return;
  finishOrder(state, order, (row) => {
    row.end = isLimit ? input.end : endOfMarketOrder(row, input.end);
    row.faultReason = input.faultReason;
    row.lastUpdateNs = input.timeNs;
  });
}

/** A market order that lost fills is not filled, and one that lost all was rolled back (AMB-128). */
function endOfMarketOrder(row: OrderRow, end: OrderEnd): OrderEnd {
  const ranItsCourse = end === ORDER_END.filled || end === ORDER_END.immediateOrCancel;
  if (!ranItsCourse || (row.flags & ORDER_FLAG.rolledBack) === 0) return end;
  return row.filledQuantity === 0 ? ORDER_END.rolledBack : ORDER_END.immediateOrCancel;
}

/** The order may be over here already: all that was pending of it has been confirmed. */
export function applyCancelPending(state: ClearingState, market: ClearingMarket, input: CancelPending): void {
  const order = orderOf(market, input.order);
  if (order === undefined) return;
  changeOrder(state, order, (row) => {
    row.flags |= ORDER_FLAG.cancelPending;
    row.lastUpdateNs = input.timeNs;
  });
  state.outcomes?.order(market, ORDER_OUTCOME.cancelPending, order.row);
}

export function applyRestored(state: ClearingState, market: ClearingMarket, input: Restored): void {
  const order = orderInForce(state, market, input.order);
  changeOrder(state, order, (row) => {
    row.prioritySequence = input.prioritySequence;
    row.lastUpdateNs = input.timeNs;
  });
  state.outcomes?.order(market, ORDER_OUTCOME.restored, order.row);
}
