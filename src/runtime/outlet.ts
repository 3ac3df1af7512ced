/**
 * The sending end of an edge: a ring, the receiver's doorbell, and the edge's answer to a full ring.
 *
 *   'reject'           claim says RING_FULL before any state changed; the sender answers its client (503, retryable)
 *   'hold-back'        the sender asked `hasRoom` in `ready` and did not read; a claim that fails is a broken promise
 *   'never-full'       sized so that it cannot happen; a claim that fails is a broken promise
 *   'drop-and-resync'  claim says RING_FULL and the edge has a gap: every later claim is refused as well, so that nothing
 *                      is sent across the gap, until `beginResync` starts a snapshot
 */
import { assert } from '../core/assert.ts';
import type { Views } from '../core/views.ts';
import type { Doorbell } from './doorbell.ts';
import { RING_FULL, type RingWriter } from './spsc-ring.ts';

export type FullPolicy = 'reject' | 'hold-back' | 'drop-and-resync' | 'never-full';

export class Outlet {
  readonly views: Views;
  readonly policy: FullPolicy;
  private readonly writer: RingWriter;
  private readonly bell: Doorbell;
  private gap = false;
  private refusals = 0;

  constructor(writer: RingWriter, bell: Doorbell, policy: FullPolicy) {
    this.writer = writer;
    this.views = writer.views;
    this.bell = bell;
    this.policy = policy;
  }

  /**
   * As RingWriter.claim, with the edge's policy.
   *
   * @throws InvariantError when a 'hold-back' or 'never-full' edge is full.
   */
  claim(typeId: number, payloadBytes: number, urgent = false): number {
    const at = this.gap ? RING_FULL : this.writer.claim(typeId, payloadBytes, urgent);
    if (at === RING_FULL) this.refuse();
    return at;
  }

  /** Ends the claimed record. */
  commit(): void {
    this.writer.commit();
  }

  /** Makes what was committed visible and wakes the receiver if it sleeps. */
  flush(): void {
    if (this.writer.publish()) this.bell.ring();
  }

  /** Whether records of `bytes` together (sum of recordBytes) are certain to be accepted, urgent ones if so asked. */
  hasRoom(bytes: number, urgent = false): boolean {
    return this.writer.hasRoom(bytes, urgent);
  }

  /** What the receiver has yet to read, in bytes. */
  unreadBytes(): number {
    return this.writer.unreadBytes();
  }

  /** Asks to be woken when the receiver has freed room. */
  wantRoom(): void {
    this.writer.wantRoom();
  }

  /** Whether a snapshot is due: records were dropped, or the receiver began anew. */
  needsResync(): boolean {
    if (this.writer.takeResyncWanted()) this.gap = true;
    return this.gap;
  }

  /** From here on records are sent again; the first ones are the snapshot. If it does not fit, the gap is back. */
  beginResync(): void {
    assert(this.policy === 'drop-and-resync', 'only a drop-and-resync edge has gaps');
    this.gap = false;
  }

  /** Claims refused since the start: clients answered "busy", or records dropped. */
  refused(): number {
    return this.refusals;
  }

  private refuse(): void {
    assert(this.policy === 'reject' || this.policy === 'drop-and-resync', `a ${this.policy} edge had no room`);
    this.refusals++;
    if (this.policy === 'drop-and-resync') this.gap = true;
  }
}
