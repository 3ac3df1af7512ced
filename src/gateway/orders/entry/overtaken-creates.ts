/**
 * The creates of one `/control` connection that a cancel of all its user's orders has overtaken (UNS-01): frames that wait
 * to be read, and orders whose signatures are being verified. A cancel goes before them; what is in its scope goes to its
 * market all the same, where it is canceled with its admission, so that it matches nothing and its sender sees its end.
 *
 *   frame arrives ─▶ begin ─▶ read ─▶ join, once for each of its creates ─▶ sent: isTaken? ─▶ answered: end
 *                      └───────────────── sweep: everything that has begun and has not ended ─────────┘
 *
 * Bounded: a sweep is kept until all that had begun before it has ended, and at most SWEEPS_MAX are; then a cancel of all
 * orders is refused.
 */
import type { CancelScope } from '../../../codec/unsigned-cancels.ts';
import type { AssetId } from '../../../core/ids.ts';
import type { Side } from '../../../core/order-terms.ts';
import type { TimestampNs } from '../../../core/units.ts';

const SWEEPS_MAX = 64;

/** What of a create decides whether it is in a scope. No create is an entry of a quote set. */
interface ScopedCreate {
  readonly assetId: AssetId;
  readonly side: Side;
  readonly creationNs: TimestampNs;
  /** The name of its protection group; null: none. */
  readonly protectionGroup: string | null;
}

interface Sweep {
  readonly scope: CancelScope;
  /** The youngest frame that it has overtaken. */
  readonly through: number;
}

export class OvertakenCreates {
  /** Frames and creates that have begun, by the number of their frame, oldest first. */
  readonly #open = new Map<number, number>();
  readonly #sweeps: Sweep[] = [];
  #last = 0;

  /** Whether one more sweep may not be noted. */
  get isFull(): boolean {
    return this.#sweeps.length >= SWEEPS_MAX;
  }

  /** Sweeps that are kept. */
  get size(): number {
    return this.#sweeps.length;
  }

  /** A frame has arrived that may have creates. @returns its number, for `end`. */
  begin(): number {
    this.#last += 1;
    this.#open.set(this.#last, 1);
    return this.#last;
  }

  /** One more create of a frame that has not ended; each ends for itself. */
  join(frame: number): void {
    this.#open.set(frame, (this.#open.get(frame) ?? 0) + 1);
  }

  end(frame: number): void {
    const left = (this.#open.get(frame) ?? 1) - 1;
    if (left > 0) {
      this.#open.set(frame, left);
      return;
    }
    this.#open.delete(frame);
    const [oldest = Number.POSITIVE_INFINITY] = this.#open.keys();
    while ((this.#sweeps[0]?.through ?? oldest) < oldest) this.#sweeps.shift();
  }

  /** A cancel of all orders goes before everything that has begun. */
  sweep(scope: CancelScope): void {
    if (this.#open.size > 0) this.#sweeps.push({ scope, through: this.#last });
  }

  /** Whether a create of this frame was overtaken by a cancel that means it. */
  isTaken(frame: number, create: ScopedCreate): boolean {
    return this.#sweeps.some(({ scope, through }) => frame <= through && isMeant(create, scope));
  }
}

function isMeant({ assetId, side, creationNs, protectionGroup }: ScopedCreate, scope: CancelScope): boolean {
  if (scope.assetId !== null && scope.assetId !== assetId) return false;
  if (scope.side !== undefined && scope.side !== side) return false;
  if (scope.quoteSetId !== undefined) return false;
  if (scope.protectionGroup !== undefined && scope.protectionGroup !== protectionGroup) return false;
  return scope.beforeNs === null || creationNs < scope.beforeNs;
}
