/**
 * Append-only facts that leave memory: trades, rolled back fills, finished orders, signed texts, deposits. Each is written
 * once, as fixed little-endian fields, into the tally of its kind (tally.ts). The state hash covers the tallies, so a
 * replay that differs in one forgotten trade is found.
 *
 *   fact   sequences, prices, quantities   f64      nanoseconds   u64      amounts   i128      then bytes, if any
 *
 * What follows from other facts is left out: a trade names its orders, or the accounts of one that has none, and
 * signatures stand for the text that they sign. Those of an order with co-signers, which are long, are there as their
 * SHA-256.
 */
import { SIGNATURE_BYTES } from '../codec/signatures.ts';
import type { FillRolledBackEffect } from './effects.ts';
import type { DepositRow, OrderRow, SignedTextRow, TradeRow } from './rows.ts';
import type { ClearingState } from './state.ts';
import type { Tally } from './tally.ts';

function endFact(state: ClearingState, tally: Tally): void {
  tally.endFact(state.sha256);
  state.dirty.tallies.add(tally);
}

export function tallyTrade(state: ClearingState, row: TradeRow): void {
  const fact = state.tallies.trades;
  fact.number(row.marketIndex);
  fact.number(row.tradeId);
  fact.number(row.price);
  fact.number(row.quantity);
  fact.number(row.takerSide);
  fact.nanoseconds(row.matchedNs);
  fact.number(row.maker.orderSequence);
  fact.amount(row.maker.fee);
  fact.number(row.taker.orderSequence);
  fact.amount(row.taker.fee);
  fact.number((row.isLiquidation ? 1 : 0) + (row.isAutoDeleverage ? 2 : 0));
  if (row.isAutoDeleverage) {
    for (const { user, subAccount } of [row.maker, row.taker]) {
      fact.text(user);
      fact.number(subAccount);
    }
  }
  endFact(state, fact);
  state.dirty.trades.push(row);
}

export function tallyRollback(state: ClearingState, fill: FillRolledBackEffect): void {
  const fact = state.tallies.rolled_back_fills;
  for (const value of [fill.marketIndex, fill.tradeId, fill.makerReason, fill.takerReason]) fact.number(value);
  endFact(state, fact);
}

/** @returns the record that waits for the next checkpoint. */
export function tallyFinishedOrder(state: ClearingState, row: OrderRow): OrderRow {
  const fact = state.tallies.finished_orders;
  // Written out: an order at a time, a loop over a list of its numbers costs more than the numbers.
  fact.number(row.marketIndex);
  fact.number(row.orderSequence);
  fact.number(row.prioritySequence);
  fact.number(row.price);
  fact.number(row.quantity);
  fact.number(row.filledQuantity);
  fact.number(row.end);
  fact.number(row.faultReason);
  fact.number(row.verdict);
  fact.number(row.flags);
  fact.number(row.budget);
  fact.number(row.triggerKind);
  fact.number(row.triggerPrice);
  fact.number(row.triggerState);
  fact.number(row.parentSequence);
  fact.number(row.enabledQuantity);
  fact.nanoseconds(row.timestampNs);
  fact.nanoseconds(row.admittedNs);
  fact.nanoseconds(row.lastUpdateNs);
  fact.amount(row.filledNotional);
  fact.amount(row.fees);
  endFact(state, fact);
  return state.dirty.finishedOrders.push(row);
}

export function tallySignedText(state: ClearingState, { marketIndex, orderSequence, signatures }: SignedTextRow): void {
  const fact = state.tallies.signed_texts;
  fact.number(marketIndex);
  fact.number(orderSequence);
  // mutant: long-signatures-tallied
  if (signatures.length <= SIGNATURE_BYTES) fact.raw(signatures);
  else fact.text(state.sha256(signatures));
  endFact(state, fact);
}

export function tallyDeposit(state: ClearingState, row: DepositRow): void {
  writeDeposit(state, state.tallies.deposits, row);
}

/** A deposit that was counted before, and is credited now. */
export function tallyUnclaimedCredit(state: ClearingState, row: DepositRow): void {
  writeDeposit(state, state.tallies.unclaimed_credits, row);
}

function writeDeposit(state: ClearingState, fact: Tally, row: DepositRow): void {
  for (const value of [row.logIndex, row.depositNonce]) fact.number(value);
  fact.nanoseconds(row.creditedNs);
  fact.amount(row.amount);
  for (const value of [row.chainId, row.tx, row.user, row.asset]) fact.text(value);
  endFact(state, fact);
  state.dirty.deposits.push(row);
}
