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
export interface Channel {
  readonly reader: RingReader;
  /** Notifies the producer when it is parked for lack of space. */
  readonly producerBell: Doorbell;
}

interface BoundChannel extends Channel {
  readonly index: number;
  readonly take: RecordHandler;
  readonly expect: RecordWatcher | null;
}

export class Mailbox {
  readonly #actor: Actor;
  readonly #channels: readonly BoundChannel[];
  #first = 0;

  constructor(channels: readonly Channel[], actor: Actor) {
    this.#actor = actor;
    this.#channels = channels.map((channel, index) => ({
      ...channel,
      index,
      take: takeFrom(channel, index, actor),
      expect: expectFrom(channel, actor),
    }));
  }

  /** Handles up to `recordsMax` records. @returns how many. */
  drain(recordsMax: number): number {
    const channels = this.#channels;
    if (channels.length === 0) return 0;
    const share = Math.max(1, Math.ceil(recordsMax / channels.length));
    let left = recordsMax;
    for (let turn = 0; turn < channels.length && left > 0; turn++) {
      const channel = channels[(this.#first + turn) % channels.length];
      if (channel === undefined) continue;
      const handled = channel.reader.drain(channel.take, Math.min(share, left), channel.expect);
      if (handled > 0 && channel.reader.takeRoomWanted()) channel.producerBell.ring();
      left -= handled;
    }
    this.#first = (this.#first + 1) % channels.length;
    return recordsMax - left;
  }

  /** Whether a record waits in a channel that may be read. */
  hasWork(): boolean {
    for (const channel of this.#channels)
      if (channel.reader.hasRecords() && this.#actor.ready(channel.index)) return true;
    return false;
  }

  /** Whether a record waits in a channel that may not be read. */
  isHeldBack(): boolean {
    for (const channel of this.#channels)
      if (channel.reader.hasRecords() && !this.#actor.ready(channel.index)) return true;
    return false;
  }

  isEmpty(): boolean {
    for (const channel of this.#channels) if (channel.reader.hasRecords()) return false;
    return true;
  }

  /** Number of waiting records in all channels. */
  depth(): number {
    let depth = 0;
    for (const channel of this.#channels) depth += channel.reader.depth();
    return depth;
  }
}

/** One handler per channel, created once: no allocation per record. */
function takeFrom(channel: Channel, index: number, actor: Actor): RecordHandler {
  const { views } = channel.reader;
  return (typeId, at, bytes) => {
    if (!actor.ready(index)) return false;
    actor.handle(index, typeId, views, at, bytes);
    return true;
  };
}

/** Null if the actor does not implement `expect`. */
function expectFrom(channel: Channel, actor: Actor): RecordWatcher | null {
  if (actor.expect === undefined) return null;
  const { views } = channel.reader;
  return (typeId, at, bytes) => actor.expect?.(typeId, views, at, bytes);
}
