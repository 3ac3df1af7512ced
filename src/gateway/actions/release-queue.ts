/**
 * Releases on their way to their market (AMB-28), and changes of protection groups (MMP-02). A full ring must not lose one, so
 * it waits here, and new creates of its shard wait behind it.
 *
 * Bounded by the live orders with a trigger: each has one release under way at most, and a later one of an order
 * takes the place of an earlier one, which the market would not follow any more. The same holds of protection groups, whose
 * number is bounded.
 */
import { writeClearingEvent } from '../../clearing/effect-codec.ts';
import { protectionKey } from '../../clearing/protections.ts';
import type { ProtectionRow } from '../../clearing/rows.ts';
import { must } from '../../core/assert.ts';
import type { Publication } from '../../runtime/publication.ts';
import { recordBytes } from '../../runtime/ring-layout.ts';
import { ReleaseOrder } from '../../schema/generated/messages.ts';
import { writeRelease } from '../command-codec.ts';
import type { ReleaseEvent } from '../orders/book/order-events.ts';

const RECORD_BYTES = recordBytes(ReleaseOrder.bytes);
/** More than a group as a plain value has. */
const PROTECTION_BYTES = recordBytes(1_024);

export class ReleaseQueue {
  readonly #shards: readonly Publication[];
  readonly #nowNs: () => bigint;
  /** Per shard, by market and order, oldest first. */
  readonly #waiting: readonly Map<string, ReleaseEvent | ProtectionRow>[];

  /** @param shards one per shard; market m lives on shard m mod shards. */
  constructor(shards: readonly Publication[], nowNs: () => bigint) {
    this.#shards = shards;
    this.#nowNs = nowNs;
    this.#waiting = shards.map(() => new Map());
  }

  add(command: ReleaseEvent): void {
    this.#add(`${command.marketIndex} ${command.order}`, command);
  }

  /** The group as it is from now on; orders that are sent later come behind it. */
  addProtection(row: ProtectionRow): void {
    this.#add(protectionKey(row), row);
  }

  #add(key: string, message: ReleaseEvent | ProtectionRow): void {
    const shard = message.marketIndex % this.#shards.length;
    const waiting = must(this.#waiting[shard], 'a queue for every shard');
    waiting.delete(key);
    waiting.set(key, message);
    this.send(shard);
  }

  /** Writes what the ring of this shard takes. @returns whether nothing waits any more. */
  send(shard: number): boolean {
    const waiting = must(this.#waiting[shard], 'a queue for every shard');
    if (waiting.size === 0) return true;
    const publication = must(this.#shards[shard], 'a publication for every shard');
    for (const [key, command] of waiting) {
      if (!publication.hasRoom('slot' in command ? PROTECTION_BYTES : RECORD_BYTES)) {
        publication.wantRoom();
        return false;
      }
      waiting.delete(key);
      if ('slot' in command) {
        writeClearingEvent({ kind: 'protectionChanged', row: command }, publication);
        continue;
      }
      const at = publication.claim(ReleaseOrder.typeId, ReleaseOrder.bytes);
      writeRelease(publication.views, at, command, this.#nowNs());
      publication.commit();
    }
    return true;
  }

  /** To be called every turn. */
  sendAll(): void {
    for (let shard = 0; shard < this.#shards.length; shard += 1) this.send(shard);
  }

  /** Releases that are not sent yet. */
  get size(): number {
    return this.#waiting.reduce((sum, waiting) => sum + waiting.size, 0);
  }
}
