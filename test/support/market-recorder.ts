/** Records what a market says as plain tuples, and builds its byte commands from words. For tests of matching. */
import type { Side } from '../../src/core/order-terms.ts';
import { ORDER_END_WORD, SIDE } from '../../src/core/order-terms.ts';
import { type RejectCode, rejectName } from '../../src/core/reject.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import type { MarketEvents, NewOrderCommand, OrderKey } from '../../src/matching/commands.ts';

/** Name, then values; bigint where the contract has bigint. */
export type Told = readonly [name: string, ...values: (string | number | bigint)[]];

export function codeWord(code: RejectCode): string {
  return rejectName(code) ?? String(code);
}

/** A command's key: the user is the ASCII text filled up to 32 bytes. Both are written at odd offsets on purpose. */
export function keyOf(user: string, orderId: string): OrderKey {
  const bytes = new Uint8Array(3 + 32 + 2 + orderId.length);
  bytes.set(new TextEncoder().encode(user.padEnd(32, '.')), 3);
  bytes.set(new TextEncoder().encode(orderId), 37);
  return { bytes, userAt: 3, orderIdAt: 37, orderIdBytes: orderId.length };
}

function text(bytes: Uint8Array, at: number, length: number): string {
  return new TextDecoder().decode(bytes.slice(at, at + length));
}

function userOf(bytes: Uint8Array, at: number): string {
  return text(bytes, at, 32).replace(/\.+$/, '');
}

/** Level changes of one commit have no order among themselves: best side and price first, for comparison. */
export function compareLevels(a: Told, b: Told): number {
  return Number(a[1]) - Number(b[1]) || Number(a[2]) - Number(b[2]);
}

export class MarketRecorder implements MarketEvents {
  told: Told[] = [];
  #levels: Told[] = [];

  /** What was told since the last time. */
  take(): Told[] {
    const told = this.told;
    this.told = [];
    return told;
  }

  accepted(sequence: number, command: NewOrderCommand): void {
    const { bytes, orderIdAt, orderIdBytes } = command;
    this.told.push(['accepted', sequence, userOf(bytes, command.userAt), text(bytes, orderIdAt, orderIdBytes)]);
  }
  createRefused(sequence: number, command: NewOrderCommand, code: RejectCode): void {
    this.told.push(['createRefused', sequence, command.requestId, codeWord(code)]);
  }
  matched(...values: Parameters<MarketEvents['matched']>): void {
    this.told.push(['matched', ...values]);
  }
  ended(...[sequence, order, end, fault, remaining, requestId]: Parameters<MarketEvents['ended']>): void {
    this.told.push(['ended', sequence, order, ORDER_END_WORD[end], fault, remaining, requestId]);
  }
  replaced(...values: Parameters<MarketEvents['replaced']>): void {
    this.told.push(['replaced', ...values]);
  }
  replaceUnchanged(requestId: number, order: number): void {
    this.told.push(['replaceUnchanged', requestId, order]);
  }
  replaceRefused(command: { readonly requestId: number }, code: RejectCode): void {
    this.told.push(['replaceRefused', command.requestId, codeWord(code)]);
  }
  cancelAccepted(requestId: number, order: number): void {
    this.told.push(['cancelAccepted', requestId, order]);
  }
  cancelRefused(command: { readonly requestId: number }, code: RejectCode): void {
    this.told.push(['cancelRefused', command.requestId, codeWord(code)]);
  }
  heldCancelExpired(...[user, userAt, id, idAt, idBytes]: Parameters<MarketEvents['heldCancelExpired']>): void {
    this.told.push(['heldCancelExpired', userOf(user, userAt), text(id, idAt, idBytes)]);
  }
  restored(...values: Parameters<MarketEvents['restored']>): void {
    this.told.push(['restored', ...values]);
  }
  levelChanged(side: Side, price: number, quantity: number): void {
    this.#levels.push(['levelChanged', side, price, quantity]);
  }
  depthCommitted(sequence: number): void {
    this.told.push(...this.#levels.sort(compareLevels), ['depthCommitted', sequence]);
    this.#levels = [];
  }
}

/** A day in November 2025, and the life of an order. */
export const START_NS = 1_764_000_000_000_000_000n as TimestampNs;

/** Terms of a create in words; what is left out is a GTC buy of 1. */
export interface Terms {
  readonly user: string;
  readonly orderId: string;
  readonly requestId: number;
  readonly receivedNs: TimestampNs;
  readonly creationNs: TimestampNs;
  readonly expiryNs: TimestampNs;
  readonly side: Side;
  readonly tif: NewOrderCommand['tif'];
  readonly flags: number;
  readonly price: number;
  readonly quantity: number;
}

export function newOrder(terms: Terms): NewOrderCommand {
  const { user, orderId, ...rest } = terms;
  return { ...rest, ...keyOf(user, orderId) };
}

export const BUY: Side = SIDE.buy;
export const SELL: Side = SIDE.sell;
