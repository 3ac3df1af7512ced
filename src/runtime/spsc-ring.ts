/**
 * A ring for one producer thread and one consumer thread over a SharedArrayBuffer: variable-length records, written and
 * read in place, no allocation per record. Offsets and pictures are in ring-layout.ts.
 *
 *   producer   claim → write the payload → commit   (any number of times)   → publish
 *   consumer   drain: handle, handle, handle …                               → one store of the head
 *
 * Invariants
 *   (1) head ≤ tail ≤ head + capacity, as 32-bit differences.
 *   (2) Bytes between tail and head + capacity belong to the producer, those between head and tail to the consumer.
 *       A position advances by one Atomics.store after all accesses to the bytes; the other side does an Atomics.load first.
 *   (3) Claims that are not urgent leave `reservedBytes` free.
 *
 * Each side keeps a copy of the other's position and loads the shared one only when the copy indicates full or empty:
 * an Atomics call costs 7–9 ns on Node 20. A full ring returns RING_FULL; it never grows and never blocks.
 *
 * Notifications are in doorbell.ts, sets of rings in mailbox.ts.
 */
import { assert } from '../core/assert.ts';
import { type Views, viewsOf } from '../core/views.ts';
import {
  CAPACITY_BYTES_MAX,
  CAPACITY_BYTES_MIN,
  CAPACITY_WORD,
  DATA_OFFSET,
  HEAD_WORD,
  MAGIC_WORD,
  PADDING_TYPE,
  READ_WORD,
  RECORD_HEADER_BYTES,
  RESERVED_WORD,
  RESYNC_WANTED_WORD,
  RING_MAGIC,
  ROOM_WANTED_WORD,
  recordBytes,
  TAIL_WORD,
  typeAndCheck,
  WRITTEN_WORD,
} from './ring-layout.ts';

/** Result of `claim` when there is no space. */
export const RING_FULL = -1;

/** Fill level of a ring, readable from any thread; the numbers may be slightly old. */
export interface RingDepth {
  readonly records: number;
  readonly bytes: number;
  readonly capacityBytes: number;
  readonly reservedBytes: number;
}

/** Handles one record in place. `false` leaves the record unread and ends the drain. */
export type RecordHandler = (typeId: number, at: number, bytes: number) => boolean | undefined;

/** Receives the position of the next record; its payload is not validated. */
export type RecordWatcher = (typeId: number, at: number, bytes: number) => void;

interface RingSize {
  /** Size of the data, a power of two from 1 KiB to 1 GiB. */
  readonly capacityBytes: number;
  /** Bytes that only urgent claims may use; a multiple of 8, at most half of the capacity. */
  readonly reservedBytes: number;
}

/** The largest payload that always fits an empty ring, at any position. */
export function payloadBytesMax({ capacityBytes, reservedBytes }: RingSize): number {
  return (((capacityBytes - reservedBytes) >> 1) & ~7) - RECORD_HEADER_BYTES;
}

export function createRing({ capacityBytes, reservedBytes }: RingSize): SharedArrayBuffer {
  assert(Number.isInteger(Math.log2(capacityBytes)), 'a ring is a power of two of bytes');
  assert(capacityBytes >= CAPACITY_BYTES_MIN && capacityBytes <= CAPACITY_BYTES_MAX, 'ring capacity within bounds');
  assert(reservedBytes >= 0 && reservedBytes % 8 === 0, 'reserved bytes are a multiple of 8');
  assert(reservedBytes <= capacityBytes / 2, 'the reserve is at most half of the ring');
  const ring = new SharedArrayBuffer(DATA_OFFSET + capacityBytes);
  const words = new Int32Array(ring);
  words[MAGIC_WORD] = RING_MAGIC;
  words[CAPACITY_WORD] = capacityBytes;
  words[RESERVED_WORD] = reservedBytes;
  return ring;
}

/** @throws InvariantError when `ring` was not made by createRing. */
function ringSize(ring: SharedArrayBuffer): RingSize {
  const words = new Int32Array(ring);
  assert(words[MAGIC_WORD] === RING_MAGIC, 'shared memory is a ring of this version');
  const capacityBytes = words[CAPACITY_WORD] ?? 0;
  assert(ring.byteLength === DATA_OFFSET + capacityBytes, 'ring capacity matches its memory');
  return { capacityBytes, reservedBytes: words[RESERVED_WORD] ?? 0 };
}

/** Reads the fill level from outside, for metrics. */
export function ringDepth(ring: SharedArrayBuffer): RingDepth {
  const words = new Int32Array(ring);
  const head = Atomics.load(words, HEAD_WORD);
  const read = Atomics.load(words, READ_WORD);
  const bytes = (Atomics.load(words, TAIL_WORD) - head) | 0;
  const records = (Atomics.load(words, WRITTEN_WORD) - read) | 0;
  return { records: Math.max(0, records), bytes, ...ringSize(ring) };
}

/** The producer's end. One thread at a time; a new writer continues after the last published record. */
export class RingWriter {
  /** The data of the ring. Writable only within the payload that `claim` returned, until `commit`. */
  readonly views: Views;
  readonly payloadBytesMax: number;

  readonly #words: Int32Array;
  readonly #header: Int32Array;
  readonly #capacity: number;
  readonly #mask: number;
  readonly #open: number;
  #tail: number;
  #published: number;
  #headCopy: number;
  #written: number;
  /** Free bytes at the tail that need no further check; negative while the reserve is in use. */
  #spare = 0;
  #claimed = 0;

  constructor(ring: SharedArrayBuffer) {
    const size = ringSize(ring);
    this.views = viewsOf(ring, DATA_OFFSET, size.capacityBytes);
    this.payloadBytesMax = payloadBytesMax(size);
    this.#words = new Int32Array(ring);
    this.#header = this.views.i32;
    this.#capacity = size.capacityBytes;
    this.#mask = size.capacityBytes - 1;
    this.#open = size.capacityBytes - size.reservedBytes;
    this.#tail = Atomics.load(this.#words, TAIL_WORD);
    this.#published = this.#tail;
    this.#headCopy = Atomics.load(this.#words, HEAD_WORD);
    this.#written = Atomics.load(this.#words, WRITTEN_WORD);
    assert((this.#tail & 7) === 0, 'ring tail is aligned');
  }

  /**
   * Reserves space for one record. A claim that is not committed is discarded by the next one.
   *
   * @param typeId - 0 … 0xFFFE.
   * @param payloadBytes - 0 … payloadBytesMax.
   * @param urgent - may use the reserved bytes (cancels and control).
   * @returns the byte offset of the payload in `views`, a multiple of 8; or RING_FULL.
   */
  claim(typeId: number, payloadBytes: number, urgent = false): number {
    assert(payloadBytes >= 0 && payloadBytes <= this.payloadBytesMax, 'a record fits half of the open ring');
    assert(typeId >= 0 && typeId < PADDING_TYPE, 'record type is in range');
    const bytes = recordBytes(payloadBytes);
    // mutant: ring-space
    if (bytes > this.#spare && !this.#makeSpare(bytes, urgent)) return RING_FULL;
    const word = (this.#tail & this.#mask) >> 2;
    this.#header[word] = payloadBytes;
    this.#header[word + 1] = typeAndCheck(this.#tail, payloadBytes, typeId);
    this.#claimed = bytes;
    return (word << 2) + RECORD_HEADER_BYTES;
  }

  /** Completes the record of the last claim. It becomes visible with the next publish. */
  commit(): void {
    assert(this.#claimed !== 0, 'a commit follows a claim');
    this.#tail = (this.#tail + this.#claimed) | 0;
    this.#spare -= this.#claimed;
    this.#written = (this.#written + 1) | 0;
    this.#claimed = 0;
  }

  /** Makes every committed record visible. @returns whether there was one: then ring the doorbell. */
  publish(): boolean {
    if (this.#tail === this.#published) return false;
    this.#words[WRITTEN_WORD] = this.#written;
    Atomics.store(this.#words, TAIL_WORD, this.#tail);
    this.#published = this.#tail;
    return true;
  }

  /**
   * Whether records of `bytes` in total (sum of recordBytes) would all be accepted, in any order and with any wrap.
   *
   * @param urgent - with the reserved bytes.
   */
  hasRoom(bytes: number, urgent = false): boolean {
    const rest = this.#capacity - (this.#tail & this.#mask);
    const needed = bytes > rest ? bytes + rest : bytes;
    const limit = urgent ? this.#capacity : this.#open;
    return ((this.#tail - this.#headCopy) | 0) + needed <= limit || this.#used() + needed <= limit;
  }

  /** Bytes of committed records that the consumer has not released, including padding and records being handled. */
  unreadBytes(): number {
    return this.#used();
  }

  /** Requests a doorbell ring when the consumer has freed space. Check `hasRoom` again before parking. */
  wantRoom(): void {
    Atomics.store(this.#words, ROOM_WANTED_WORD, 1);
  }

  /** Whether the consumer restarted and requested a snapshot; clears the request. */
  takeResyncWanted(): boolean {
    return take(this.#words, RESYNC_WANTED_WORD);
  }

  /**
   * The slow part of a claim: loads the consumer's position and, when the record would cross the end, adds padding
   * before it. The padding becomes visible with the record; an uncommitted one is harmless, as the tail must move there
   * anyway.
   *
   * @returns whether `bytes` now fit at the tail.
   */
  #makeSpare(bytes: number, urgent: boolean): boolean {
    const index = this.#tail & this.#mask;
    const rest = this.#capacity - index;
    const padding = bytes > rest ? rest : 0;
    const limit = urgent ? this.#capacity : this.#open;
    const used = this.#used();
    if (used + padding + bytes > limit) return false;
    if (padding !== 0) {
      this.#header[index >> 2] = padding - RECORD_HEADER_BYTES;
      this.#header[(index >> 2) + 1] = typeAndCheck(this.#tail, padding - RECORD_HEADER_BYTES, PADDING_TYPE);
      this.#tail = (this.#tail + padding) | 0;
    }
    this.#spare = Math.min(this.#open - used - padding, this.#capacity - (this.#tail & this.#mask));
    return true;
  }

  /** Bytes in use, after loading the consumer's position. */
  #used(): number {
    this.#headCopy = Atomics.load(this.#words, HEAD_WORD);
    const used = (this.#tail - this.#headCopy) | 0;
    assert(used >= 0 && used <= this.#capacity, 'ring: invariant (1), seen by the producer');
    return used;
  }
}

/** The consumer's end. One thread at a time; a new reader continues with the first record that was not released. */
export class RingReader {
  /** The data of the ring. Readable only within the record that is being handled. */
  readonly views: Views;

  readonly #words: Int32Array;
  readonly #header: Int32Array;
  readonly #capacity: number;
  readonly #mask: number;
  #head: number;
  #tailCopy: number;
  #read: number;

  constructor(ring: SharedArrayBuffer) {
    const size = ringSize(ring);
    this.views = viewsOf(ring, DATA_OFFSET, size.capacityBytes);
    this.#words = new Int32Array(ring);
    this.#header = this.views.i32;
    this.#capacity = size.capacityBytes;
    this.#mask = size.capacityBytes - 1;
    this.#head = Atomics.load(this.#words, HEAD_WORD);
    this.#tailCopy = this.#head;
    this.#read = Atomics.load(this.#words, READ_WORD);
    assert((this.#head & 7) === 0, 'ring head is aligned');
  }

  /**
   * Handles up to `recordsMax` of the records seen at the last load of the producer's position (loads it again when all
   * of those are read), in order, and then releases their space. A handler that throws leaves its record unread, and no
   * room is released: its thread is expected to end.
   *
   * @param expect receives the record after the one that is handled next, if it was already seen.
   * @returns how many were handled.
   * @throws InvariantError on a header that this ring cannot have written.
   */
  drain(handle: RecordHandler, recordsMax: number, expect: RecordWatcher | null = null): number {
    if (this.#head === this.#tailCopy && !this.#look()) return 0;
    let count = 0;
    while (count < recordsMax) {
      if (this.#head === this.#tailCopy) break;
      const index = this.#head & this.#mask;
      const bytes = this.#header[index >> 2] ?? -1;
      const word = this.#header[(index >> 2) + 1] ?? 0;
      const typeId = word & 0xffff;
      assert(word === typeAndCheck(this.#head, bytes, typeId), 'ring: a record header is what the producer wrote');
      assert(bytes >= 0 && bytes < this.#capacity, 'ring: a payload is smaller than the ring');
      const taken = recordBytes(bytes);
      assert(index + taken <= this.#capacity, 'ring: a record ends within the data');
      assert(taken <= ((this.#tailCopy - this.#head) | 0), 'ring: a record ends before the tail');
      const next = (this.#head + taken) | 0;
      if (expect !== null && next !== this.#tailCopy) this.#tellOf(next, expect);
      if (typeId !== PADDING_TYPE) {
        if (handle(typeId, index + RECORD_HEADER_BYTES, bytes) === false) break;
        count++;
      }
      this.#head = next;
    }
    this.#read = (this.#read + count) | 0;
    this.#words[READ_WORD] = this.#read;
    Atomics.store(this.#words, HEAD_WORD, this.#head);
    return count;
  }

  /** Skips padding and invalid headers: they are processed when they are read. */
  #tellOf(position: number, expect: RecordWatcher): void {
    const index = position & this.#mask;
    const bytes = this.#header[index >> 2] ?? -1;
    const word = this.#header[(index >> 2) + 1] ?? 0;
    const typeId = word & 0xffff;
    if (typeId !== PADDING_TYPE && word === typeAndCheck(position, bytes, typeId))
      expect(typeId, index + RECORD_HEADER_BYTES, bytes);
  }

  /** Whether a record waits. */
  hasRecords(): boolean {
    return this.#head !== this.#tailCopy || this.#look();
  }

  /** Number of waiting records, as of the last load of the producer's position or slightly later. */
  depth(): number {
    return ((this.#words[WRITTEN_WORD] ?? 0) - this.#read) | 0;
  }

  /** Whether the producer requested space; clears the request, so that it is answered once. */
  takeRoomWanted(): boolean {
    return take(this.#words, ROOM_WANTED_WORD);
  }

  /**
   * Discards the waiting records and then requests a snapshot from the producer: the start of a restarted consumer.
   * Records that arrive in between precede the snapshot and are meaningless without it.
   */
  resync(): void {
    this.drain(() => true, Number.MAX_SAFE_INTEGER);
    Atomics.store(this.#words, RESYNC_WANTED_WORD, 1);
  }

  /** Loads the producer's position. @returns whether it is ahead. */
  #look(): boolean {
    this.#tailCopy = Atomics.load(this.#words, TAIL_WORD);
    const waiting = (this.#tailCopy - this.#head) | 0;
    assert(
      waiting >= 0 && waiting <= this.#capacity && (waiting & 7) === 0,
      'ring: invariant (1), seen by the consumer',
    );
    return waiting !== 0;
  }
}

/** Clears the flag. @returns whether it was set. The plain load costs less than the exchange. */
function take(words: Int32Array, index: number): boolean {
  return Atomics.load(words, index) === 1 && Atomics.exchange(words, index, 0) === 1;
}
