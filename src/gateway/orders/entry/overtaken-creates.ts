/**
 * The creates and quote sets of one `/control` connection that a cancel of all its user's orders has overtaken (UNS-01):
 * frames that wait to be read, and orders whose signatures are being verified. A cancel goes before them; a create in its
 * scope goes to its market all the same, where it is canceled with its admission, so that it matches nothing and its sender
 * sees its end. A quote set is too old then, whatever its revision (QTE-09).
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

/** What of a create or a quote set decides whether it is in a scope. */
interface ScopedCreate {
  readonly assetId: AssetId;
  /** Null: a quote set, which may have entries on both. */
  readonly side: Side | null;
  readonly creationNs: TimestampNs;
  /** The name of its protection group; null: none. */
  readonly protectionGroup: string | null;
  /** Null: a create. No create is an entry of a quote set. */
  readonly quoteSetId: string | null;
}

interface Sweep {
  readonly scope: CancelScope;
  /** The youngest frame that it has overtaken. */
  readonly through: number;
  /** Frames and creates before it that have not ended. */
  left: number;
}

export class OvertakenCreates {
  /** Oldest first: what is left of one is left of every later one, too. */
  readonly #sweeps: Sweep[] = [];
  /** Frames and creates that have begun and have not ended. */
  #open = 0;
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
    this.#open += 1;
    return this.#last;
  }

  /** One more create of a frame that has not ended; each ends for itself. */
  join(frame: number): void {
    this.#open += 1;
    for (const sweep of this.#sweeps) if (frame <= sweep.through) sweep.left += 1;
  }

  /** Once for each `begin` and `join` of the frame. */
  end(frame: number): void {
    this.#open -= 1;
    for (const sweep of this.#sweeps) if (frame <= sweep.through) sweep.left -= 1;
    while (this.#sweeps[0]?.left === 0) this.#sweeps.shift();
  }

  /** A cancel of all orders goes before everything that has begun. */
  sweep(scope: CancelScope): void {
    if (this.#open > 0) this.#sweeps.push({ scope, through: this.#last, left: this.#open });
  }

  /** Whether a create of this frame was overtaken by a cancel that means it. */
  isTaken(frame: number, create: ScopedCreate): boolean {
    return this.#sweeps.some(({ scope, through }) => frame <= through && isMeant(create, scope));
  }
}

function isMeant(create: ScopedCreate, scope: CancelScope): boolean {
  const { assetId, side, creationNs, protectionGroup, quoteSetId } = create;
  if (scope.assetId !== null && scope.assetId !== assetId) return false;
  if (scope.side !== undefined && side !== null && scope.side !== side) return false;
  if (scope.quoteSetId !== undefined && scope.quoteSetId !== quoteSetId) return false;
  if (scope.protectionGroup !== undefined && scope.protectionGroup !== protectionGroup) return false;
  return scope.beforeNs === null || creationNs < scope.beforeNs;
}
