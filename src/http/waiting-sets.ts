/**
 * Quote sets of one `/control` connection that wait to be read, by market and name (QTE-09). The turn of one is used for the newest
 * of its name; the older ones are held until that has gone to its market, and then read: each is too old by then, and answered as
 * superseded without a verification. If the newest is refused instead, for its shape or its signature, they are read as ever, in
 * their order: nothing is left out on the word of what was not verified.
 *
 *   frame ─▶ add ─▶ its turn ─┬─ the newest of its name: read
 *                             ├─ a newer one waits: that is read now, this one held ─▶ settled ─▶ read
 *                             └─ a newer one is being verified: held ───────────────▶ settled ─▶ read
 *
 * What is held still counts as waiting. Bounded by the frames that a connection may have waiting.
 */
import { assert } from '../core/assert.ts';

export interface WaitingSet {
  /** The market and the name of the set. */
  readonly key: string;
  /** To be called once: reads the frame. @param settled called when it has gone to its market, or was refused. */
  readonly read: (settled: () => void) => void;
  /** In the order of arrival. */
  readonly place: number;
  /** Nothing is to be done for it any more. */
  isDone: boolean;
}

/** A newer set that was read before older ones. */
interface Reading {
  readonly place: number;
  readonly held: WaitingSet[];
}

export class WaitingSets {
  /** Those whose turn has not come, oldest first. */
  readonly #waiting = new Map<string, WaitingSet[]>();
  /** The newest that was read out of its turn and has not been settled. */
  readonly #reading = new Map<string, Reading>();
  #last = 0;

  add(key: string, read: WaitingSet['read']): WaitingSet {
    this.#last += 1;
    const set = { key, read, place: this.#last, isDone: false };
    const others = this.#waiting.get(key);
    if (others === undefined) this.#waiting.set(key, [set]);
    else others.push(set);
    return set;
  }

  /** Its turn has come. */
  takeTurn(set: WaitingSet): void {
    if (set.isDone) return;
    const { key } = set;
    const newest = this.#waiting.get(key)?.at(-1);
    assert(newest !== undefined, 'a set waits until its turn comes');
    this.#remove(set);
    const reading = this.#reading.get(key);
    // mutant: held-until-settled
    if (reading !== undefined && set.place < reading.place) reading.held.push(set);
    else if (newest === set) this.#read(set, () => undefined);
    else this.#readBefore(newest, set);
  }

  /** It is refused instead of being read. @returns false: it was read already. */
  drop(set: WaitingSet): boolean {
    if (set.isDone) return false;
    this.#remove(set);
    set.isDone = true;
    return true;
  }

  /** The connection has ended: nothing is read any more. */
  clear(): void {
    for (const sets of this.#waiting.values()) for (const set of sets) set.isDone = true;
    for (const { held } of this.#reading.values()) for (const set of held) set.isDone = true;
    this.#waiting.clear();
    this.#reading.clear();
  }

  #readBefore(newest: WaitingSet, older: WaitingSet): void {
    this.#remove(newest);
    const { key, place } = newest;
    const reading = { place, held: [older] };
    this.#reading.set(key, reading);
    let isSettled = false;
    this.#read(newest, () => {
      if (isSettled) return;
      isSettled = true;
      if (this.#reading.get(key) === reading) this.#reading.delete(key);
      for (const set of reading.held) if (!set.isDone) this.#read(set, () => undefined);
    });
  }

  #read(set: WaitingSet, settled: () => void): void {
    set.isDone = true;
    set.read(settled);
  }

  #remove(set: WaitingSet): void {
    const sets = this.#waiting.get(set.key) ?? [];
    const at = sets.indexOf(set);
    if (at >= 0) sets.splice(at, 1);
    if (sets.length === 0) this.#waiting.delete(set.key);
  }
}
