/**
 * Append-only facts that leave memory: trades, rolled back fills, finished orders, deposits. Each is written once, as
 * fixed little-endian fields, and chained: digest' = SHA-256(digest, fact). The state hash covers the chain, so a replay
 * that differs in one forgotten trade is found out.
 *
 *   fact   sequences, prices, quantities   f64      nanoseconds   u64      amounts   i128      then bytes, if any
 *
 * What follows from other facts is left out: a trade names its orders, and an order's signature stands for its text.
 */
import { assert } from '../core/assert.ts';
import { parseHex, toHex, writeHex } from '../core/hex.ts';
import type { FillRolledBack } from './effects.ts';
import type { DepositRow, OrderRow, TradeRow } from './rows.ts';
import type { ClearingState, Tally } from './state.ts';

const DIGEST_BYTES = 32;
/** The longest fact is a deposit with an address-form asset, some 400 bytes. */
const FACT_BYTES_MAX = 1_024;

/** One fact at a time, behind the digest that it continues. */
class FactWriter {
  private readonly bytes = new Uint8Array(FACT_BYTES_MAX);
  private readonly view = new DataView(this.bytes.buffer);
  private end = 0;

  begin({ digest }: Tally): void {
    assert(writeHex(this.bytes, 0, digest) === DIGEST_BYTES, 'a digest is 32 bytes of hex');
    this.end = DIGEST_BYTES;
  }

  number(value: number): void {
    this.view.setFloat64(this.end, value, true);
    this.end += 8;
  }

  nanoseconds(value: bigint): void {
    this.view.setBigUint64(this.end, value, true);
    this.end += 8;
  }

  amount(value: bigint): void {
    this.view.setBigInt64(this.end, value, true);
    this.view.setBigInt64(this.end + 8, value >> 64n, true);
    this.end += 16;
  }

  raw(value: Uint8Array): void {
    this.bytes.set(value, this.end);
    this.end += value.length;
  }

  /** ASCII, ended by a zero. */
  text(value: string): void {
    for (let at = 0; at < value.length; at += 1) this.bytes[this.end + at] = value.charCodeAt(at);
    this.bytes[this.end + value.length] = 0;
    this.end += value.length + 1;
  }

  /** Valid until the next fact. */
  get written(): Uint8Array {
    return this.bytes.subarray(0, this.end);
  }
}

const fact = new FactWriter();

function append(state: ClearingState, tally: Tally): void {
  tally.count += 1;
  tally.digest = state.sha256(fact.written);
  state.dirty.tallies.add(tally);
}

/** A digest in its normal form. @throws InvariantError unless `text` is 32 bytes of hex. */
export function parseDigest(text: string): string {
  const digest = parseHex(text, DIGEST_BYTES);
  assert(digest !== null, 'a stored digest is 32 bytes of hex');
  return toHex(digest);
}

export function tallyTrade(state: ClearingState, row: TradeRow): void {
  fact.begin(state.tallies.trades);
  for (const value of [row.marketIndex, row.tradeId, row.price, row.quantity, row.takerSide]) fact.number(value);
  fact.nanoseconds(row.matchedNs);
  for (const side of [row.maker, row.taker]) {
    fact.number(side.orderSequence);
    fact.amount(side.fee);
  }
  append(state, state.tallies.trades);
  state.dirty.trades.push(row);
}

export function tallyRollback(state: ClearingState, fill: FillRolledBack): void {
  fact.begin(state.tallies.rolled_back_fills);
  for (const value of [fill.marketIndex, fill.tradeId, fill.makerReason, fill.takerReason]) fact.number(value);
  append(state, state.tallies.rolled_back_fills);
}

export function tallyFinishedOrder(state: ClearingState, row: OrderRow): void {
  fact.begin(state.tallies.finished_orders);
  const { marketIndex, orderSequence, prioritySequence, price, quantity, filledQuantity } = row;
  for (const value of [marketIndex, orderSequence, prioritySequence, price, quantity, filledQuantity]) {
    fact.number(value);
  }
  for (const value of [row.end, row.faultReason, row.verdict, row.flags]) fact.number(value);
  const { budget, triggerKind, triggerPrice, triggerState, parentSequence, enabledQuantity } = row;
  for (const value of [budget, triggerKind, triggerPrice, triggerState, parentSequence, enabledQuantity]) {
    fact.number(value);
  }
  for (const value of [row.timestampNs, row.admittedNs, row.lastUpdateNs]) fact.nanoseconds(value);
  fact.amount(row.filledNotional);
  fact.amount(row.fees);
  fact.raw(row.signature);
  append(state, state.tallies.finished_orders);
  state.dirty.finishedOrders.push(row);
}

export function tallyDeposit(state: ClearingState, row: DepositRow): void {
  fact.begin(state.tallies.deposits);
  for (const value of [row.logIndex, row.depositNonce]) fact.number(value);
  fact.nanoseconds(row.creditedNs);
  fact.amount(row.amount);
  for (const value of [row.chainId, row.tx, row.user, row.asset]) fact.text(value);
  append(state, state.tallies.deposits);
  state.dirty.deposits.push(row);
}
