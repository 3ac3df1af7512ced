/**
 * The message of a create besides its record: the hash by which a market looks up the order's id, and its expiry as two
 * 32-bit words.
 *
 *   NewOrder: request │ OrderRecord, 288 bytes │ signature │ canonical text, `text_bytes` of ASCII │ signatures │ hash
 *                                                             └── a child names its parent there, at `parent_id_at`
 */

import { type HashKey, hashId } from '../core/key-words.ts';
import { ORDER_LIFE_NS } from '../core/limits.ts';
import { highWord, isBefore, lowWord } from '../core/time-words.ts';
import type { Views } from '../core/views.ts';
import { NewOrder, OrderRecord } from '../schema/generated/messages.ts';

const HASH_BYTES = 4;
const LIFE_HIGH: number = highWord(ORDER_LIFE_NS);
const LIFE_LOW: number = lowWord(ORDER_LIFE_NS);

/**
 * Bytes of a create message: the struct, its text, the signatures of an order with co-signers, and a 32-bit word with the hash of
 * its id.
 *
 * @param signaturesBytes 0 where the master alone signed.
 */
export function createBytes(textBytes: number, signaturesBytes: number): number {
  return ((NewOrder.bytes + textBytes + signaturesBytes + 3) & ~3) + HASH_BYTES;
}

/** Bytes of a create as its market passes it on: without the hash. */
export function passedCreateBytes(v: Views, at: number): number {
  return NewOrder.bytes + NewOrder.textBytes(v, at) + NewOrder.signaturesBytes(v, at);
}

/** Writes that hash. @param bytes of the create, from `createBytes`. */
export function writeCreateHash(v: Views, at: number, bytes: number, key: HashKey): void {
  const record = at + NewOrder.orderAt;
  const userWord = (record + OrderRecord.userAt) >>> 2;
  const idWord = (record + OrderRecord.orderIdAt) >>> 2;
  v.i32[hashWordOf(at, bytes)] = hashId(key, v.i32, userWord, idWord, OrderRecord.orderIdBytes(v, record));
}

/** The hash that the gateway wrote behind a create. */
export function createHash(v: Views, at: number, bytes: number): number {
  return v.i32[hashWordOf(at, bytes)] as number;
}

function hashWordOf(at: number, bytes: number): number {
  return (at + bytes - HASH_BYTES) >>> 2;
}

/** Sets the expiry of a command, as two 32-bit words, from the order's record at `at`. */
export function fillExpiry(to: { expiryHigh: number; expiryLow: number }, v: Views, at: number): void {
  to.expiryLow = (OrderRecord.creationNsLow(v, at) + LIFE_LOW) >>> 0;
  const carry = to.expiryLow < LIFE_LOW ? 1 : 0;
  to.expiryHigh = (OrderRecord.creationNsHigh(v, at) + LIFE_HIGH + carry) >>> 0;
  const high = OrderRecord.goodUntilNsHigh(v, at);
  const low = OrderRecord.goodUntilNsLow(v, at);
  if ((high === 0 && low === 0) || !isBefore(high, low, to.expiryHigh, to.expiryLow)) return;
  to.expiryHigh = high;
  to.expiryLow = low;
}
