/**
 * The last frames of streams with sequence numbers, so that a reader that lost its socket can continue where it
 * stopped.
 *
 *                 ┌───────── kept ─────────┐
 *   …  41  42  43 │ 44  45  46  47  48  49 │ next: 50
 *                 └ since(44) … since(50)    since(43), since(51): null, the reader must read the state again
 *
 * A ring begins with the first such socket of (user, stream) and ends some time after the last one closed.
 *
 * Invariants
 *   (1) A number is used once per (user, stream), across rings and restarts: a new ring starts beyond every number used
 *       before, and never directly after it. So `since` cannot bridge events that no ring has recorded.
 *   (2) Frames of a ring are contiguous.
 *   (3) Rings, their frames and their bytes are bounded. At the limit the oldest frames are dropped, first those of rings
 *       without a listener; of too many rings without a listener the longest idle one is dropped.
 */
import { assert, must } from '../core/assert.ts';
import type { UserId } from '../core/ids.ts';
import {
  REPLAY_BYTES_MAX,
  REPLAY_FRAMES_MAX,
  REPLAY_IDLE_MS,
  REPLAY_RING_BYTES_MAX,
  REPLAYS_IDLE_MAX,
} from '../core/limits.ts';

export class ReplayRing {
  readonly user: UserId;
  readonly stream: string;
  /** Number of sockets that read with numbers. */
  listeners = 0;
  /** Real milliseconds at which the last listener left. */
  idleSinceMs = 0;
  #frames: Uint8Array[] = [];
  /** Index of the first kept frame; earlier ones are dropped and compacted periodically. */
  #start = 0;
  #next: number;
  #bytes = 0;

  constructor(user: UserId, stream: string, next: number) {
    this.user = user;
    this.stream = stream;
    this.#next = next;
  }

  /** The number of the next frame. */
  get next(): number {
    return this.#next;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#frames.length - this.#start;
  }

  append(frame: Uint8Array): void {
    this.#frames.push(frame);
    this.#next += 1;
    this.#bytes += frame.byteLength;
    while (this.#bytes > REPLAY_RING_BYTES_MAX || this.count > REPLAY_FRAMES_MAX) this.dropOldest();
  }

  dropOldest(): void {
    this.#bytes -= must(this.#frames[this.#start], 'there is a frame to drop').byteLength;
    this.#start += 1;
    if (this.#start * 2 > this.#frames.length) {
      this.#frames = this.#frames.slice(this.#start);
      this.#start = 0;
    }
  }

  /** All frames from number `from` on; null when they are no longer kept or were never assigned. */
  since(from: number): readonly Uint8Array[] | null {
    const missed = this.#next - from;
    return missed < 0 || missed > this.count ? null : this.#frames.slice(this.#frames.length - missed);
  }
}

export class ReplayRings {
  readonly #rings = new Map<UserId, Map<string, ReplayRing>>();
  #count = 0;
  /** Rings without a listener; longest idle first. */
  readonly #idle = new Set<ReplayRing>();
  #bytes = 0;
  #lastGiven = 0;

  constructor(after = 0) {
    this.startBehind(after);
  }

  /** @param sequence above all that were used before a restart. Call before the first ring. */
  startBehind(sequence: number): void {
    assert(Number.isSafeInteger(sequence) && this.#count === 0, 'sequence numbers are safe integers, given once');
    this.#lastGiven = sequence;
  }

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  of(user: UserId, stream: string): ReplayRing | undefined {
    return this.#rings.get(user)?.get(stream);
  }

  /** The ring of a stream, created if necessary; adds a listener. */
  open(user: UserId, stream: string): ReplayRing {
    const ring = this.of(user, stream) ?? this.#begin(user, stream);
    this.#idle.delete(ring);
    ring.listeners += 1;
    return ring;
  }

  /** Removes a listener. */
  leave(ring: ReplayRing, nowMs: number): void {
    ring.listeners -= 1;
    assert(ring.listeners >= 0, 'who leaves was there');
    if (ring.listeners > 0) return;
    ring.idleSinceMs = nowMs;
    this.#idle.add(ring);
    const [longestIdle] = this.#idle;
    if (this.#idle.size > REPLAYS_IDLE_MAX) this.#end(must(longestIdle, 'more than none'));
  }

  append(ring: ReplayRing, frame: Uint8Array): void {
    const before = ring.bytes;
    ring.append(frame);
    this.#bytes += ring.bytes - before;
    while (this.#bytes > REPLAY_BYTES_MAX) {
      const [longestIdle] = this.#idle;
      if (longestIdle !== undefined && longestIdle !== ring) this.#end(longestIdle);
      else {
        this.#bytes -= ring.bytes;
        ring.dropOldest();
        this.#bytes += ring.bytes;
      }
    }
  }

  /** Ends rings without a listener after their time. */
  expire(nowMs: number): void {
    for (const ring of this.#idle) {
      if (nowMs - ring.idleSinceMs < REPLAY_IDLE_MS) return;
      this.#end(ring);
    }
  }

  #begin(user: UserId, stream: string): ReplayRing {
    const ring = new ReplayRing(user, stream, this.#lastGiven + 2);
    const own = this.#rings.get(user) ?? new Map<string, ReplayRing>();
    own.set(stream, ring);
    this.#rings.set(user, own);
    this.#count += 1;
    return ring;
  }

  #end(ring: ReplayRing): void {
    const own = must(this.#rings.get(ring.user), 'a ring is in the table');
    own.delete(ring.stream);
    if (own.size === 0) this.#rings.delete(ring.user);
    this.#count -= 1;
    this.#idle.delete(ring);
    this.#bytes -= ring.bytes;
    this.#lastGiven = Math.max(this.#lastGiven, ring.next - 1);
  }
}
