/**
 * The message of a create besides its record: the hash by which a market looks up the order's id, the room of a reduce-only
 * order, and its expiry as two 32-bit words.
 *
 *   NewOrder: request │ OrderRecord, 296 bytes │ signature │ canonical text, `text_bytes` of ASCII │ signatures │ room │ hash
 *                                                             └── a child names its parent there, at `parent_id_at`
 *
 * Room and hash are for the market alone: it passes the message on without them.
 */

import { type HashKey, hashId } from '../core/key-words.ts';
import { ORDER_LIFE_NS, RAW_MAX } from '../core/limits.ts';
import { ORDER_FLAG } from '../core/order-terms.ts';
import { highWord, isBefore, lowWord } from '../core/time-words.ts';
import type { Views } from '../core/views.ts';
import { NewOrder, OrderRecord } from '../schema/generated/messages.ts';

const HASH_BYTES = 4;
/** Two numbers of lots as two 32-bit words each, high before low. */
const ROOM_BYTES = 16;
const WORD = 2 ** 32;
const LIFE_HIGH: number = highWord(ORDER_LIFE_NS);
const LIFE_LOW: number = lowWord(ORDER_LIFE_NS);

/**
 * Bytes of a create message: the struct, its text, the signatures of an order with co-signers, and a 32-bit word with the hash of
 * its id. A reduce-only one has its room before the hash.
 *
 * @param signaturesBytes 0 where the master alone signed.
 * @param flags of the order, bits of ORDER_FLAG.
 */
export function createBytes(textBytes: number, signaturesBytes: number, flags = 0): number {
  return ((NewOrder.bytes + textBytes + signaturesBytes + 3) & ~3) + (hasRoom(flags) ? ROOM_BYTES : 0) + HASH_BYTES;
}

function hasRoom(flags: number): boolean {
  return (flags & ORDER_FLAG.reduceOnly) !== 0;
}

/**
 * Lots by which a reduce-only order may reduce its position, as the gateway counted them when it sent the command (MON-09):
 * `roomToTake` of what matches at once, `roomToRest` of what rests, own fills left out. RAW_MAX: no bound.
 */
export interface Room {
  roomToTake: number;
  roomToRest: number;
}

/** The bound of every order that is not reduce-only, and of the node's own orders: none. */
export const NO_BOUND: Readonly<Room> = { roomToTake: RAW_MAX, roomToRest: RAW_MAX };

/** Writes the room of a reduce-only create, whose flags are written; of every other one nothing. @param bytes from `createBytes`. */
export function writeRoom(v: Views, at: number, bytes: number, { roomToTake, roomToRest }: Room): void {
  if (!hasRoom(OrderRecord.flags(v, at + NewOrder.orderAt))) return;
  const word = hashWordOf(at, bytes) - (ROOM_BYTES >>> 2);
  v.u32[word] = Math.floor(roomToTake / WORD);
  v.u32[word + 1] = roomToTake % WORD;
  v.u32[word + 2] = Math.floor(roomToRest / WORD);
  v.u32[word + 3] = roomToRest % WORD;
}

/** Sets the room of a command from a create at `at`: without a bound where it is not reduce-only. */
export function fillRoom(to: Room, v: Views, at: number, bytes: number): void {
  if (!hasRoom(OrderRecord.flags(v, at + NewOrder.orderAt))) {
    to.roomToTake = RAW_MAX;
    to.roomToRest = RAW_MAX;
    return;
  }
  const word = hashWordOf(at, bytes) - (ROOM_BYTES >>> 2);
  to.roomToTake = (v.u32[word] as number) * WORD + (v.u32[word + 1] as number);
  to.roomToRest = (v.u32[word + 2] as number) * WORD + (v.u32[word + 3] as number);
}

/** Bytes of a create as its market passes it on: without room and hash. */
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
