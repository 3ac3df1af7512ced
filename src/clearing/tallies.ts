/**
 * Append-only facts that leave memory: trades, rolled back fills, finished orders, deposits. Each is written once as a
 * line of text, in one fixed form, and chained: digest' = SHA-256(digest, line). The state hash covers the chain, so a
 * replay that differs in one forgotten trade is found out.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { toHex } from '../core/hex.ts';
import type { DepositRow, OrderRow, TradeRow, TradeSide } from './rows.ts';
import type { ClearingState, Tally } from './state.ts';

const encoder = new TextEncoder();

function append(state: ClearingState, tally: Tally, line: string): void {
  tally.count += 1;
  tally.digest = toHex(sha256(encoder.encode(`${tally.digest}|${line}`)));
  state.dirty.tallies.add(tally);
}

/** One order in one line: every field, the signature standing for the text that it signs. */
export function orderLine(row: OrderRow): string {
  return (
    `${row.marketIndex}|${row.orderSequence}|${row.prioritySequence}|${row.user}|${row.subAccount}|${row.orderId}|` +
    `${row.side}|${row.tif}|${row.flags}|${row.price}|${row.quantity}|${row.maxFeeRate}|${row.creationNs}|` +
    `${row.timestampNs}|${row.goodUntilNs}|${row.expiryNs}|${row.admittedNs}|${row.lastUpdateNs}|` +
    `${row.filledQuantity}|${row.filledNotional}|${row.fees}|${row.end}|${row.faultReason}|${row.verdict}|` +
    toHex(row.signature)
  );
}

/** The orders' own facts are in their rows; a trade names them by sequence. */
function sideLine(side: TradeSide): string {
  return `${side.orderSequence}|${side.fee}`;
}

export function tallyTrade(state: ClearingState, row: TradeRow): void {
  const line =
    `${row.marketIndex}|${row.tradeId}|${row.price}|${row.quantity}|${row.matchedNs}|${row.takerSide}|` +
    `${sideLine(row.maker)}|${sideLine(row.taker)}`;
  append(state, state.tallies.trades, line);
  state.dirty.trades.push(row);
}

export function tallyRollback(state: ClearingState, line: string): void {
  append(state, state.tallies.rolled_back_fills, line);
}

export function tallyFinishedOrder(state: ClearingState, row: OrderRow): void {
  append(state, state.tallies.finished_orders, orderLine(row));
  state.dirty.finishedOrders.push(row);
}

export function tallyDeposit(state: ClearingState, row: DepositRow): void {
  const line =
    `${row.chainId}|${row.tx}|${row.logIndex}|${row.user}|${row.asset}|${row.amount}|${row.depositNonce}|` +
    `${row.creditedNs}`;
  append(state, state.tallies.deposits, line);
  state.dirty.deposits.push(row);
}
