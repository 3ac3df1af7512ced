/**
 * The sending end of an edge: a ring, the receiver's doorbell, and the edge's policy for a full ring.
 *
 *   'reject'           claim returns RING_FULL before any state changed; the sender answers its client (503, retryable)
 *   'never-full'       sized so that it cannot be full, or the sender checks `hasRoom` in `ready`; a failing claim is a broken invariant
 *   'drop-and-resync'  claim returns RING_FULL and the edge has a gap: every later claim fails as well, so that no record is
 *                      sent across the gap, until `beginResync` starts a snapshot
 */
import { assert } from '../core/assert.ts';
import type { Views } from '../core/views.ts';
import type { Doorbell } from './doorbell.ts';
import { RING_FULL, type RingWriter } from './spsc-ring.ts';

export type FullPolicy = 'reject' | 'drop-and-resync' | 'never-full';

export class Publication {
  readonly views: Views;
  readonly policy: FullPolicy;
  readonly #writer: RingWriter;
  readonly #bell: Doorbell;
  #gap = false;
  #refusals = 0;

  constructor(writer: RingWriter, bell: Doorbell, policy: FullPolicy) {
    this.#writer = writer;
    this.views = writer.views;
    this.#bell = bell;
    this.policy = policy;
  }

  /**
   * As RingWriter.claim, with the edge's policy.
   *
   * @throws InvariantError when a 'never-full' edge is full.
   */
  claim(typeId: number, payloadBytes: number, urgent = false): number {
    const at = this.#gap ? RING_FULL : this.#writer.claim(typeId, payloadBytes, urgent);
    if (at === RING_FULL) this.#refuse();
    return at;
  }

  /** Completes the claimed record. */
  commit(): void {
    this.#writer.commit();
  }

  /** Publishes the committed records and notifies the receiver if it is parked. */
  flush(): void {
    if (this.#writer.publish()) this.#bell.ring();
  }

  /**
   * Whether records of `bytes` in total (sum of recordBytes) would all be accepted; with `urgent` including the
   * reserve.
   */
  hasRoom(bytes: number, urgent = false): boolean {
    return this.#writer.hasRoom(bytes, urgent);
  }

  /** Bytes that the receiver has not read yet. */
  unreadBytes(): number {
    return this.#writer.unreadBytes();
  }

  /** Requests a notification when the receiver has freed space. */
  wantRoom(): void {
    this.#writer.wantRoom();
  }

  /** Whether a snapshot is due: records were dropped, or the receiver restarted. */
  needsResync(): boolean {
    if (this.#writer.takeResyncWanted()) this.#gap = true;
    return this.#gap;
  }

  /** Ends the gap: the next records must be the snapshot. If it does not fit, the edge has a gap again. */
  beginResync(): void {
    assert(this.policy === 'drop-and-resync', 'only a drop-and-resync edge has gaps');
    this.#gap = false;
  }

  /** Number of claims rejected since the start: clients answered "busy", or records dropped. */
  refused(): number {
    return this.#refusals;
  }

  #refuse(): void {
    assert(this.policy === 'reject' || this.policy === 'drop-and-resync', `a ${this.policy} edge had no room`);
    this.#refusals++;
    if (this.policy === 'drop-and-resync') this.#gap = true;
  }
}
