/**
 * When a user last cancelled, for quote sets that their market does not know: a set in force has its high-water mark there, one
 * whose first revision is still being verified has none (QTE-09).
 *
 *   cancel of many orders ─▶ raise: user, market or all, set or all ─▶ a set that no market knows ─▶ markOf: no revision up to it is sent
 *
 * In memory alone, and no longer than a revision may be old: what was made before is refused for its age by then. Bounded: beyond
 * `MARKS_MAX` the oldest mark goes over to all users, who are refused what they made before that instant.
 */
import type { UserId } from '../../../core/ids.ts';
import type { TimestampNs } from '../../../core/units.ts';

const MARKS_MAX = 65_536;
const NO_MARK = 0n as TimestampNs;

/** Which sets a cancel is about. */
interface CancelledSets {
  readonly user: UserId;
  /** Null: of every market. */
  readonly marketIndex: number | null;
  /** Null: of every name. */
  readonly setId: string | null;
}

export class CancelMarks {
  readonly #max: number;
  /** The one that was raised longest ago first. */
  readonly #marks = new Map<string, { readonly markNs: TimestampNs; readonly raisedNs: TimestampNs }>();
  /** Of marks that found no place any more. */
  #floorNs = NO_MARK;

  constructor(max: number = MARKS_MAX) {
    this.#max = max;
  }

  get size(): number {
    return this.#marks.size;
  }

  /** @param keptNs how old a revision may be. */
  raise(sets: CancelledSets, markNs: TimestampNs, nowNs: TimestampNs, keptNs: bigint): void {
    const key = keyOf(sets);
    const before = this.#marks.get(key);
    this.#marks.delete(key);
    for (const [oldest, { raisedNs }] of this.#marks) {
      if (raisedNs + keptNs >= nowNs) break;
      this.#marks.delete(oldest);
    }
    if (this.#marks.size >= this.#max) this.#dropOldest();
    const mark = before !== undefined && before.markNs > markNs ? before.markNs : markNs;
    this.#marks.set(key, { markNs: mark, raisedNs: nowNs });
  }

  /** No revision up to it is sent of a set that its market does not know. */
  markOf(user: UserId, marketIndex: number, setId: string): TimestampNs {
    let most = this.#floorNs;
    if (this.#marks.size === 0) return most;
    for (const market of [null, marketIndex])
      for (const set of [null, setId]) {
        const mark = this.#marks.get(keyOf({ user, marketIndex: market, setId: set }))?.markNs ?? NO_MARK;
        if (mark > most) most = mark;
      }
    return most;
  }

  #dropOldest(): void {
    const [first] = this.#marks;
    if (first === undefined) return;
    const [key, { markNs }] = first;
    this.#marks.delete(key);
    if (markNs > this.#floorNs) this.#floorNs = markNs;
  }
}

function keyOf({ user, marketIndex, setId }: CancelledSets): string {
  return `${user} ${marketIndex ?? ''} ${setId ?? ''}`;
}
