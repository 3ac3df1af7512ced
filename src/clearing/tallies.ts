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
const I64_LIMIT = 1n << 63n;

/** One fact at a time, behind the digest that it continues. */
class FactWriter {
  private readonly bytes = new Uint8Array(FACT_BYTES_MAX);
  private readonly view = new DataView(this.bytes.buffer);
  private readonly pieces: (Uint8Array | undefined)[] = new Array(FACT_BYTES_MAX + 1).fill(undefined);
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
    // Most amounts fit the lower half: then the upper one is known without a shift, which would allocate.
    const isShort = value >= -I64_LIMIT && value < I64_LIMIT;
    this.view.setBigInt64(this.end + 8, isShort ? (value < 0n ? -1n : 0n) : value >> 64n, true);
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

  /** Valid until the next fact. Facts of a kind are as long as each other, so the same views serve again. */
  get written(): Uint8Array {
    let piece = this.pieces[this.end];
    if (piece === undefined) {
      piece = this.bytes.subarray(0, this.end);
      this.pieces[this.end] = piece;
    }
    return piece;
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
