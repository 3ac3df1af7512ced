/**
 * Quote sets as clearing keeps them: each market's, by user and slot (QTE-07).
 *
 *   applied ─▶ the revision in force: its text, and which entries rest how much ─▶ fills, counted by side and price
 *                                                                              ─▶ the next revision, or the end: the text is dropped
 *
 * Inputs of a market are applied in its sequence and each fill is decided when it is applied, so whatever was matched under a revision is decided
 * before the next one is applied. Of the market it is believed what rests, not what was signed: at its first fill the text is read and verified,
 * and each fill has to be covered by it, by side and price, whichever order it names.
 *
 * What the market did to the entries is one input: a crash leaves all of a revision or nothing of it.
 */
import { assert, must } from '../core/assert.ts';
import type { OrderId } from '../core/ids.ts';
import {
  ORDER_END,
  ORDER_FLAG,
  ORDER_KIND,
  QUOTE_CHANGE,
  ROLLBACK_REASON,
  SIGNATURE_VERDICT,
  TIF,
  TRIGGER,
  TRIGGER_STATE,
} from '../core/order-terms.ts';
import { QUOTE_SET_OUTCOME } from '../core/outcomes.ts';
import { NONE } from '../core/pools.ts';
import { type RawPrice, type RawQuantity, type Sequence, type TimestampNs, ZERO_18 } from '../core/units.ts';
import type { OrderRecordView } from '../schema/generated/messages.ts';
import { ensureUser } from './balances.ts';
import type { Effect } from './effects.ts';
import type { QuoteSetAppliedInput, QuoteSetEndedInput } from './inputs.ts';
import { type ClearingOrder, orderOf } from './live-orders.ts';
import { addLiveOrder, changeOrder, finishOrder, forgetEntry } from './orders.ts';
import { NO_SIGNED } from './outcomes.ts';
import { changeSet, quoteSetKey } from './quote-set-slots.ts';
import type { OrderRow, QuoteSetRow } from './rows.ts';
import type { ClearingMarket, ClearingState } from './state.ts';

const NO_BYTES = new Uint8Array();
/** Of a set that is over. */
const OVER = { isOver: true, sequence: 0 as Sequence, text: '', signatures: NO_BYTES, fills: [] } as const;

export function applyQuoteSet(
  state: ClearingState,
  market: ClearingMarket,
  input: QuoteSetAppliedInput,
  effects: Effect[],
): void {
  const { user, slot: number, setId, revisionNs, subAccount, flags, isOver } = input;
  ensureUser(state, user, effects);
  const key = quoteSetKey(user, number);
  const known = market.quoteSets.get(key);
  const before = known?.row;
  if (before !== undefined) {
    // mutant: revision-above-durable-mark
    assert(revisionNs > before.markNs, 'a revision is above the mark of its set');
    assert(before.setId === setId || before.isOver, 'a name takes the place of a set that is over');
  }
  const verdicts = state.verdicts.get(market.definition.marketIndex);
  const verdict = verdicts?.get(input.sequence);
  verdicts?.delete(input.sequence);
  const row: QuoteSetRow = {
    marketIndex: market.definition.marketIndex,
    user,
    slot: number,
    setId,
    sequence: input.sequence,
    appliedNs: input.timeNs,
    revisionNs,
    markNs: revisionNs,
    goodUntilNs: input.goodUntilNs,
    maxFeeRate: input.maxFeeRate,
    subAccount,
    flags,
    protectionGroup: input.protectionGroup,
    isOver,
    lastNumber: input.lastNumber,
    markFloorNs: input.markFloorNs,
    numberFloor: input.numberFloor,
    verdict:
      verdict === undefined ? SIGNATURE_VERDICT.unknown : verdict ? SIGNATURE_VERDICT.valid : SIGNATURE_VERDICT.invalid,
    text: isOver ? '' : input.text,
    signatures: isOver ? NO_BYTES : input.signatures,
    fills: [],
  };
  const slot = known ?? { row, signed: null, entries: new Set<Sequence>() };
  if (known === undefined) market.quoteSets.set(key, slot);
  // mutant: lots-of-a-revision
  slot.signed = null;
  if (before !== undefined && before.sequence !== 0) market.revisions.delete(before.sequence);
  if (!isOver) market.revisions.set(input.sequence, key);

  changeSet(state, slot, isOver ? { ...row, sequence: 0 as Sequence } : row);
  for (const change of input.changes) applyChange(state, market, input, change);
  if (input.termsChanged) for (const sequence of slot.entries) changeTerms(state, market, sequence, input);
  const { timeNs, changes } = input;
  state.outcomes?.quoteSet(market, QUOTE_SET_OUTCOME.applied, row, { timeNs, end: 0, changes, signed: input });
}

type Change = QuoteSetAppliedInput['changes'][number];

function applyChange(state: ClearingState, market: ClearingMarket, input: QuoteSetAppliedInput, change: Change): void {
  const { change: kind, order: sequence, rests, prioritySequence } = change;
  if (kind === QUOTE_CHANGE.refused) return;
  if (kind === QUOTE_CHANGE.created) {
    const { index } = addLiveOrder(state, market, entryRow(market, input, change));
    state.orders.markDirty(index);
    return;
  }
  const order = orderOf(market, sequence as Sequence);
  if (kind === QUOTE_CHANGE.out) {
    if (order !== undefined) leaveForEver(state, order, input);
    return;
  }
  const live = must(order, 'a set changes entries that are live in clearing');
  assert(live.row.user === input.user && live.row.quoteSet === input.slot, 'a set changes its own entries');
  if (kind === QUOTE_CHANGE.left) {
    // mutant: traded-entry-kept
    if (live.row.filledQuantity === 0 && market.orders.store.firstChild(live.index) === NONE) {
      forgetEntry(state, live);
      return;
    }
    const end = (row: OrderRecordView): void => {
      row.end = ORDER_END.userRequested;
      row.lastUpdateNs = input.timeNs;
    };
    // The outcome of the set has it.
    finishOrder(state, live, end, false);
    return;
  }
  changeOrder(state, live, (row) => {
    // mutant: rests-beside-confirmed
    row.quantity = (row.filledQuantity + rests) as RawQuantity;
    row.enabledQuantity = row.quantity;
    // mutant: entry-keeps-its-place
    row.prioritySequence = prioritySequence as Sequence;
    row.lastUpdateNs = input.timeNs;
  });
}

/** What of it was rolled back does not come back: its market ends it with the rollback, a restart ends it before. */
function leaveForEver(state: ClearingState, order: ClearingOrder, { timeNs }: { readonly timeNs: TimestampNs }): void {
  changeOrder(state, order, (row) => {
    row.flags |= ORDER_FLAG.cancelPending;
    row.lastUpdateNs = timeNs;
  });
}

function changeTerms(
  state: ClearingState,
  market: ClearingMarket,
  sequence: Sequence,
  input: QuoteSetAppliedInput,
): void {
  const order = must(orderOf(market, sequence), 'entries of a set live');
  if ((order.row.flags & ORDER_FLAG.cancelPending) !== 0) return;
  changeOrder(state, order, (row) => {
    row.creationNs = input.revisionNs;
    row.timestampNs = input.revisionNs;
    row.goodUntilNs = input.goodUntilNs;
    row.maxFeeRate = input.maxFeeRate;
    row.protectionGroup = input.protectionGroup;
    row.tif = tifOf(input);
  });
}

function tifOf({ goodUntilNs }: QuoteSetAppliedInput): (typeof TIF)['gtc'] | (typeof TIF)['gtd'] {
  return goodUntilNs === 0n ? TIF.gtc : TIF.gtd;
}

/** The record of an entry that was inserted now. */
function entryRow(
  market: ClearingMarket,
  input: QuoteSetAppliedInput,
  { order, price, rests, number, side }: Change,
): OrderRow {
  return {
    orderSequence: order as Sequence,
    prioritySequence: order as Sequence,
    parentSequence: 0,
    price: price as RawPrice,
    quantity: rests as RawQuantity,
    amount: 0,
    budget: 0,
    triggerPrice: 0 as RawPrice,
    enabledQuantity: rests,
    activatedQuantity: 0,
    droppedQuantity: 0,
    filledQuantity: 0,
    filledNotional: ZERO_18,
    fees: ZERO_18,
    creationNs: input.revisionNs,
    timestampNs: input.revisionNs,
    goodUntilNs: input.goodUntilNs,
    admittedNs: input.timeNs,
    lastUpdateNs: input.timeNs,
    maxFeeRate: input.maxFeeRate,
    marketIndex: market.definition.marketIndex,
    subAccount: input.subAccount,
    parentIdAt: 0,
    flags: input.flags,
    side,
    kind: ORDER_KIND.limit,
    tif: tifOf(input),
    triggerKind: TRIGGER.none,
    triggerState: TRIGGER_STATE.live,
    end: 0,
    faultReason: ROLLBACK_REASON.none,
    verdict: SIGNATURE_VERDICT.unknown,
    parentIdBytes: 0,
    user: input.user,
    orderId: `${input.setId}:${number}` as OrderId,
    quoteSet: input.slot,
    protectionGroup: input.protectionGroup,
  };
}

/** What was signed of a set that is over is needed no more: all of its fills are decided. */
export function applyQuoteSetEnded(state: ClearingState, market: ClearingMarket, input: QuoteSetEndedInput): void {
  const slot = must(market.quoteSets.get(quoteSetKey(input.user, input.slot)), 'a set that ends is known');
  const isOver = slot.row.isOver || input.end !== 0;
  const marked = { ...slot.row, markNs: input.markNs, isOver };
  assert(input.markNs >= slot.row.markNs, 'a mark only rises');
  const event = input.end === 0 ? QUOTE_SET_OUTCOME.marked : QUOTE_SET_OUTCOME.ended;
  const { timeNs, end } = input;
  state.outcomes?.quoteSet(market, event, marked, { timeNs, end, changes: [], signed: NO_SIGNED });
  if (!isOver || slot.row.sequence === 0) {
    changeSet(state, slot, marked);
    return;
  }
  // Those that the market has not ended are filled there, by fills whose rollback has not reached it.
  for (const sequence of slot.entries)
    leaveForEver(state, must(orderOf(market, sequence), 'entries of a set live'), input);
  market.revisions.delete(slot.row.sequence);
  slot.signed = null;
  changeSet(state, slot, { ...marked, ...OVER });
}

/** Sets that go with a leader, behind the ends of their entries: their marks are raised, and nothing of them is needed any more (QTE-09). */
export function endSets(state: ClearingState, nowNs: TimestampNs, isEnded: (row: QuoteSetRow) => boolean): void {
  for (const market of state.markets) {
    for (const slot of market.quoteSets.values()) {
      const { row } = slot;
      if (!isEnded(row)) continue;
      assert(slot.entries.size === 0, 'entries end before their set');
      if (row.sequence !== 0) market.revisions.delete(row.sequence);
      slot.signed = null;
      const markNs = row.markNs > nowNs ? row.markNs : nowNs;
      changeSet(state, slot, { ...row, ...OVER, markNs });
    }
  }
}

/** The numbers of ids jump at an unclean restart, as sequences do: what was given and not flushed is not given again. */
export function jumpNumbers(state: ClearingState, market: ClearingMarket, gap: number): void {
  for (const slot of market.quoteSets.values())
    changeSet(state, slot, { ...slot.row, lastNumber: slot.row.lastNumber + gap });
}
