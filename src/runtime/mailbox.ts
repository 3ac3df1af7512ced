/**
 * An actor's mailbox: its channels, one ring each, drained fairly. The doorbell belongs to the thread (doorbell.ts).
 *
 * Fair and bounded: a drain takes at most `recordsMax` records, each channel at most its share, and the next drain
 * begins with the next channel. Before every record `ready` of the actor decides whether that channel may be read; a
 * record that may not be read stays in its ring, and the edge's policy for a full ring eventually applies to the
 * producer.
 */
import type { Actor } from './actor.ts';
import type { Doorbell } from './doorbell.ts';
import type { RecordHandler, RecordWatcher, RingReader } from './spsc-ring.ts';

/** The receiving end of an edge. */
export interface Lane {
  readonly reader: RingReader;
  /** Notifies the producer when it is parked for lack of space. */
  readonly producerBell: Doorbell;
}

interface BoundLane extends Lane {
  readonly index: number;
  readonly take: RecordHandler;
  readonly expect: RecordWatcher | null;
}

export class Mailbox {
  readonly #actor: Actor;
  readonly #lanes: readonly BoundLane[];
  #first = 0;

  constructor(lanes: readonly Lane[], actor: Actor) {
    this.#actor = actor;
    this.#lanes = lanes.map((lane, index) => ({
      ...lane,
      index,
      take: takeFrom(lane, index, actor),
      expect: expectFrom(lane, actor),
    }));
  }

  /** Handles up to `recordsMax` records. @returns how many. */
  drain(recordsMax: number): number {
    const lanes = this.#lanes;
    if (lanes.length === 0) return 0;
    const share = Math.max(1, Math.ceil(recordsMax / lanes.length));
    let left = recordsMax;
    for (let turn = 0; turn < lanes.length && left > 0; turn++) {
      const lane = lanes[(this.#first + turn) % lanes.length];
      if (lane === undefined) continue;
      const handled = lane.reader.drain(lane.take, Math.min(share, left), lane.expect);
      if (handled > 0 && lane.reader.takeRoomWanted()) lane.producerBell.ring();
      left -= handled;
    }
    this.#first = (this.#first + 1) % lanes.length;
    return recordsMax - left;
  }

  /** Whether a record waits in a channel that may be read. */
  hasWork(): boolean {
    for (const lane of this.#lanes) if (lane.reader.hasRecords() && this.#actor.ready(lane.index)) return true;
    return false;
  }

  /** Whether a record waits in a channel that may not be read. */
  isHeldBack(): boolean {
    for (const lane of this.#lanes) if (lane.reader.hasRecords() && !this.#actor.ready(lane.index)) return true;
    return false;
  }

  isEmpty(): boolean {
    for (const lane of this.#lanes) if (lane.reader.hasRecords()) return false;
    return true;
  }

  /** Number of waiting records in all channels. */
  depth(): number {
    let depth = 0;
    for (const lane of this.#lanes) depth += lane.reader.depth();
    return depth;
  }
}

/** One handler per channel, created once: no allocation per record. */
function takeFrom(lane: Lane, index: number, actor: Actor): RecordHandler {
  const { views } = lane.reader;
  return (typeId, at, bytes) => {
    if (!actor.ready(index)) return false;
    actor.handle(index, typeId, views, at, bytes);
    return true;
  };
}

/** Null if the actor does not implement `expect`. */
function expectFrom(lane: Lane, actor: Actor): RecordWatcher | null {
  if (actor.expect === undefined) return null;
  const { views } = lane.reader;
  return (typeId, at, bytes) => actor.expect?.(typeId, views, at, bytes);
}
