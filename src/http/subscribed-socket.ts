/**
 * One client of the multiplexed market-data socket: its subscriptions, what is to be sent, and what a slow reader misses
 * (wire-additions.md 10.3, 10.5).
 *
 *   subscribed ─▶ snapshot due ── snapshot ─▶ live ── update, update, …
 *                      ▲                        │ depth: more than 1 MiB is queued, or a number was left out
 *                      └────────────────────────┘
 *
 * Invariants
 *   (1) `sequence` counts the frames sent of a subscription: what is dropped or replaced before it is sent has none.
 *   (2) No update is sent between the moment a snapshot is due and the snapshot.
 *   (3) Snapshots are made while at most HELD_BYTES are queued, so a reader never has more than one of them ahead.
 *   (4) Trades and klines are never dropped: a reader that falls too far behind is closed.
 */
import type { NumberOf, PackedFrames, PackedMessage } from '../codec/packed-frames.ts';
import type { NumberedFrame } from '../codec/subscription-frames.ts';
import type { SubscriptionOptions } from '../codec/subscription-requests.ts';
import type { AssetId } from '../core/ids.ts';
import type { FrameHolder } from './frame-allowance.ts';
import { WorkSource } from './reading-turns.ts';
import type { StreamSocket } from './uws-socket.ts';

/** Queued bytes above which `bbo`, `ticker` and `prices` keep their newest update only, and no snapshot is sent. */
const HELD_BYTES = 262_144;
/** Queued bytes above which depth updates are dropped. */
export const DROPPED_BYTES = 1_048_576;

/** One channel of one asset, for one socket. */
export class Subscription {
  readonly socket: SubscribedSocket;
  readonly assetId: AssetId;
  /** Null for prices of an asset without a market. */
  readonly marketIndex: number | null;
  readonly options: SubscriptionOptions;
  /** Frames sent. */
  sequence = 0;
  /** Depth: updates since the last snapshot, and the number of the state that was sent last. */
  updates = 0;
  depthSequence = 0;
  /** Waits for its snapshot. */
  isDue = true;
  /** The newest update of a channel that keeps one. */
  held: NumberedFrame | null = null;

  constructor(
    socket: SubscribedSocket,
    options: SubscriptionOptions,
    of: { readonly assetId: AssetId; readonly marketIndex: number | null },
  ) {
    this.socket = socket;
    this.options = options;
    this.assetId = of.assetId;
    this.marketIndex = of.marketIndex;
  }
}

export class SubscribedSocket implements FrameHolder {
  /** By name, width and asset. */
  readonly subscriptions: Map<string, Subscription> = new Map();
  /** Subscriptions that wait for their snapshot, in order. */
  readonly due: Set<Subscription> = new Set();
  /** Frames that wait to be read. */
  readonly reading: WorkSource = new WorkSource();
  heldBytes = 0;
  /** Its depth, bbo, trades and ticker are FlatBuffers (BMD-01). */
  readonly isBinary: boolean;
  /** Named by its frames, below what costs a unit. */
  unpaidAssets = 0;
  /** Whether it waits for a flush. */
  isTouched = false;
  /** Updates in the order of their sending: the frames, and at the same places their subscriptions. */
  readonly #frames: NumberedFrame[] = [];
  readonly #of: Subscription[] = [];
  readonly #held = new Set<Subscription>();
  readonly #packed: PackedFrames;
  #raw: StreamSocket<SubscribedSocket> | null = null;

  /** @param packed of all sockets of the listener. */
  constructor(packed: PackedFrames, isBinary = false) {
    this.#packed = packed;
    this.isBinary = isBinary;
  }

  opened(raw: StreamSocket<SubscribedSocket>): void {
    this.#raw = raw;
  }

  /** Bytes that its client has not received. */
  get backlogBytes(): number {
    return this.#raw?.backlogBytes ?? 0;
  }

  /** Whether its queue is short enough for a snapshot. */
  get hasRoom(): boolean {
    return this.#raw?.state === 'open' && this.backlogBytes <= HELD_BYTES;
  }

  /** Queues an update for the next flush. */
  add(subscription: Subscription, frame: NumberedFrame): void {
    this.#frames.push(frame);
    this.#of.push(subscription);
  }

  /** Queues an update that makes older ones obsolete; while its queue is long, the newest is kept. */
  replace(subscription: Subscription, frame: NumberedFrame): void {
    const hasRoom = this.backlogBytes <= HELD_BYTES;
    // mutant: newest-only
    subscription.held = hasRoom ? null : frame;
    if (!hasRoom) this.#held.add(subscription);
    else {
      this.#held.delete(subscription);
      this.add(subscription, frame);
    }
  }

  /** A snapshot is due: updates that are queued or kept are obsolete. */
  wantSnapshot(subscription: Subscription): void {
    subscription.isDue = true;
    this.due.add(subscription);
    this.forget(subscription);
  }

  /** Nothing more is sent of the subscription, except a snapshot that is due. */
  forget(subscription: Subscription): void {
    subscription.held = null;
    this.#held.delete(subscription);
    if (!this.#of.includes(subscription)) return;
    const kept = this.#frames.filter((_, index) => this.#of[index] !== subscription);
    const of = this.#of.filter((each) => each !== subscription);
    this.#clear();
    this.#frames.push(...kept);
    this.#of.push(...of);
  }

  /** Sends what is queued, in one write. */
  flush(): void {
    if (this.#held.size > 0 && this.backlogBytes <= HELD_BYTES) this.#release();
    const frames = this.#frames;
    const numberOf = this.#numberOf;
    if (this.isBinary && frames.length > 1) {
      const messages = this.#packed.of(frames);
      this.#raw?.sendEach(messages.length, (index) => (messages[index] as PackedMessage).of(numberOf));
    } else this.#raw?.sendEach(frames.length, (index) => (frames[index] as NumberedFrame).of(numberOf(index)));
    this.#clear();
  }

  /** The number of a queued update that is sent now. */
  readonly #numberOf: NumberOf = (index) => {
    const subscription = this.#of[index] as Subscription;
    // mutant: sequence-when-sent
    subscription.sequence += 1;
    return subscription.sequence;
  };

  /** Sends the frames of a snapshot. */
  sendSnapshot(subscription: Subscription, frames: readonly NumberedFrame[]): void {
    subscription.isDue = false;
    subscription.updates = 0;
    this.due.delete(subscription);
    this.#raw?.sendEach(frames.length, (index) => {
      subscription.sequence += 1;
      return (frames[index] as NumberedFrame).of(subscription.sequence);
    });
  }

  #release(): void {
    for (const subscription of this.#held) {
      if (subscription.held !== null) this.add(subscription, subscription.held);
      subscription.held = null;
    }
    this.#held.clear();
  }

  #clear(): void {
    this.#frames.length = 0;
    this.#of.length = 0;
  }
}
