/**
 * The last frames of streams whose readers asked for sequence numbers, so that a reader who lost its socket goes on
 * where it was.
 *
 *                 ┌───────── kept ─────────┐
 *   …  41  42  43 │ 44  45  46  47  48  49 │ next: 50
 *                 └ since(44) … since(50)    since(43), since(51): null, the reader must read the state again
 *
 * A ring begins with the first such socket of (user, stream) and ends some time after the last one left.
 *
 * Invariants
 *   (1) A number is given once per (user, stream), however often rings come and go, restarts included: a new ring starts
 *       beyond everything that was given before, and never right behind it. So `since` cannot bridge what no ring saw.
 *   (2) Frames of a ring are contiguous.
 *   (3) Rings, their frames and their bytes are bounded. Where room ends, the oldest frames go, first those of rings
 *       nobody listens to; where too many rings have no listener, the one that has had none for longest goes.
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
  /** Sockets that listen with numbers. */
  listeners = 0;
  /** Real milliseconds at which the last listener left. */
  idleSinceMs = 0;
  #frames: Uint8Array[] = [];
  /** Where the kept frames begin; what lies before is forgotten and cut off now and then. */
  #start = 0;
  #next: number;
  #bytes = 0;

  constructor(user: UserId, stream: string, next: number) {
    this.user = user;
    this.stream = stream;
    this.#next = next;
  }

  /** The number that the next frame gets. */
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

  /** Everything from number `from` on; null when it is not kept any more or was never given. */
  since(from: number): readonly Uint8Array[] | null {
    const missed = this.#next - from;
    return missed < 0 || missed > this.count ? null : this.#frames.slice(this.#frames.length - missed);
  }
}

export class ReplayRings {
  readonly #rings = new Map<string, ReplayRing>();
  /** Nobody listens; longest idle first. */
  readonly #idle = new Set<ReplayRing>();
  #bytes = 0;
  #lastGiven: number;

  /** @param after numbers start beyond this one: more than anything given before a restart. */
  constructor(after: number) {
    assert(Number.isSafeInteger(after), 'sequence numbers are safe integers');
    this.#lastGiven = after;
  }

  get count(): number {
    return this.#rings.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  of(user: UserId, stream: string): ReplayRing | undefined {
    return this.#rings.get(keyOf(user, stream));
  }

  /** The ring of a stream, begun when there is none; one listener more. */
  open(user: UserId, stream: string): ReplayRing {
    const ring = this.of(user, stream) ?? new ReplayRing(user, stream, this.#lastGiven + 2);
    this.#rings.set(keyOf(user, stream), ring);
    this.#idle.delete(ring);
    ring.listeners += 1;
    return ring;
  }

  /** A listener left. */
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

  /** Ends rings that nobody came back to. */
  expire(nowMs: number): void {
    for (const ring of this.#idle) {
      if (nowMs - ring.idleSinceMs < REPLAY_IDLE_MS) return;
      this.#end(ring);
    }
  }

  #end(ring: ReplayRing): void {
    this.#rings.delete(keyOf(ring.user, ring.stream));
    this.#idle.delete(ring);
    this.#bytes -= ring.bytes;
    this.#lastGiven = Math.max(this.#lastGiven, ring.next - 1);
  }
}

function keyOf(user: UserId, stream: string): string {
  return `${user}/${stream}`;
}
