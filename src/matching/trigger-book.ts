/**
 * The trigger book: orders that wait for a confirmed trade price (TRG-01 to TRG-03, AMB-28). Not part of depth.
 *
 *   above   released at or above their price: a rising market reaches the lowest price first
 *   below   released at or below it: a falling market reaches the highest price first
 *
 * One trade releases first the triggers farthest behind the price, in the order in which the price passed them; then by
 * acceptance.
 *
 * A price detaches all levels that it reaches in one operation: the levels of a direction are stored in runs,
 *
 *      run             run             run                 price
 *   │ · · · · │     │ · · · · │     │ · · ┆ · · │            ┆      ranks, ascending: the best level is the last
 *                                         └──────── detached ─┘
 *
 * and only the run that contains the price is searched. Detached triggers are taken one by one (`ReachedTriggers`),
 * over any number of calls; until then a trigger can still be removed. A trigger refers to its level, and a level that
 * is no longer in the book was reached.
 */
import { assert } from '../core/assert.ts';
import { TRIGGER, type TriggerKind } from '../core/order-terms.ts';
import { TriggerLevel } from './trigger-level.ts';

const RUN_LEVELS_MAX = 128;

export interface BookedTrigger<T extends BookedTrigger<T>> {
  /** The order sequence, which sorts the triggers of one price. */
  readonly order: number;
  kind: TriggerKind;
  price: number;
  /** The level that contains it, waiting or reached but not taken; else null. */
  level: TriggerLevel<T> | null;
}

type Run<T extends BookedTrigger<T>> = TriggerLevel<T>[];

/** One direction: levels by rank, ascending, in runs that are never empty. */
class Direction<T extends BookedTrigger<T>> {
  /** rank = sign · price. */
  readonly #sign: number;
  #runs: Run<T>[] = [];

  constructor(sign: number) {
    this.#sign = sign;
  }

  /** Whether the level is in this direction; a detached level is not. */
  holds(level: TriggerLevel<T>): boolean {
    const rank = this.#sign * level.price;
    const run = this.#runs[this.#runOf(rank)];
    return run?.[this.#placeIn(run, rank)] === level;
  }

  add(trigger: T): void {
    const rank = this.#sign * trigger.price;
    const at = Math.min(this.#runOf(rank), Math.max(this.#runs.length - 1, 0));
    this.#runs[at] ??= [];
    const run = this.#runs[at];
    const place = this.#placeIn(run, rank);
    const there = run[place];
    const level = there?.price === trigger.price ? there : new TriggerLevel<T>(trigger.price);
    level.add(trigger);
    trigger.level = level;
    if (level === there) return;
    run.splice(place, 0, level);
    if (run.length > RUN_LEVELS_MAX) this.#runs.splice(at + 1, 0, run.splice(run.length >>> 1));
  }

  /** Removes a level without triggers. */
  drop(level: TriggerLevel<T>): void {
    const rank = this.#sign * level.price;
    const at = this.#runOf(rank);
    const run = this.#runs[at] as Run<T>;
    run.splice(this.#placeIn(run, rank), 1);
    if (run.length === 0) this.#runs.splice(at, 1);
  }

  /** Detaches the levels that a price reaches. @returns the runs, the best level last; none if it reaches nothing. */
  cut(price: number): Run<T>[] {
    const rank = this.#sign * price;
    const at = this.#runOf(rank);
    const run = this.#runs[at];
    if (run === undefined) return [];
    const place = this.#placeIn(run, rank);
    const reached = this.#runs.splice(at);
    if (place === 0) return reached;
    this.#runs.push(run.splice(0, place));
    return reached;
  }

  levels(): readonly TriggerLevel<T>[] {
    return this.#runs.flat();
  }

  /** The first run whose last level has at least this rank. */
  #runOf(rank: number): number {
    return firstFrom(this.#runs.length, (at) => this.#rankOf(this.#runs[at]?.at(-1)) >= rank);
  }

  /** The first level of a run with at least this rank. */
  #placeIn(run: Run<T>, rank: number): number {
    return firstFrom(run.length, (at) => this.#rankOf(run[at]) >= rank);
  }

  #rankOf(level: TriggerLevel<T> | undefined): number {
    return this.#sign * (level as TriggerLevel<T>).price;
  }
}

/** @returns the first of `length` positions for which `isBehind` holds, as it does for all later ones. */
function firstFrom(length: number, isBehind: (at: number) => boolean): number {
  let from = 0;
  let to = length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (isBehind(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** The triggers that one price has reached, in release order. */
export class ReachedTriggers<T extends BookedTrigger<T>> {
  readonly #price: number;
  readonly #above: Run<T>[];
  readonly #below: Run<T>[];

  constructor(price: number, above: Run<T>[], below: Run<T>[]) {
    this.#price = price;
    this.#above = above;
    this.#below = below;
  }

  get isEmpty(): boolean {
    return firstOf(this.#above) === null && firstOf(this.#below) === null;
  }

  /** Removes and returns the next one; null when none is left. */
  take(): T | null {
    const above = firstOf(this.#above);
    const below = firstOf(this.#below);
    const next = above === null || (below !== null && this.#goesFirst(below, above)) ? below : above;
    if (next === null) return null;
    next.level?.take();
    next.level = null;
    return next;
  }

  #goesFirst(below: T, above: T): boolean {
    const difference = below.price - this.#price - (this.#price - above.price);
    return difference === 0 ? below.order < above.order : difference > 0;
  }
}

/** The first trigger of the best level. Drops empty levels, each once. */
function firstOf<T extends BookedTrigger<T>>(runs: Run<T>[]): T | null {
  for (let run = runs.at(-1); run !== undefined; run = runs.at(-1)) {
    for (let level = run.at(-1); level !== undefined; level = run.at(-1)) {
      if (level.first !== null) return level.first;
      run.pop();
    }
    runs.pop();
  }
  return null;
}

export class TriggerBook<T extends BookedTrigger<T>> {
  readonly #above: Direction<T> = new Direction(-1);
  readonly #below: Direction<T> = new Direction(1);

  add(trigger: T): void {
    this.#directionOf(trigger.kind).add(trigger);
  }

  /** Removes a trigger that waits, or was reached and not taken. */
  remove(trigger: T): void {
    const { level } = trigger;
    assert(level !== null, 'a removed trigger was in the book');
    level.remove(trigger);
    trigger.level = null;
    const direction = this.#directionOf(trigger.kind);
    if (level.count === 0 && direction.holds(level)) direction.drop(level);
  }

  /** Whether no price has reached it. */
  isDormant({ level, kind }: T): boolean {
    return level !== null && this.#directionOf(kind).holds(level);
  }

  /** Detaches all triggers that a confirmed trade price fires. @returns null if there are none. */
  reach(price: number): ReachedTriggers<T> | null {
    const above = this.#above.cut(price);
    const below = this.#below.cut(price);
    return above.length + below.length === 0 ? null : new ReachedTriggers(price, above, below);
  }

  /** The number of waiting triggers. Checks every invariant. @throws InvariantError */
  check(): number {
    let count = 0;
    for (const [direction, sign] of [
      [this.#above, -1],
      [this.#below, 1],
    ] as const) {
      const levels = direction.levels();
      levels.forEach((level, at) => {
        const before = levels[at - 1];
        assert(before === undefined || sign * before.price < sign * level.price, 'triggers: levels lie by rank');
        assert(level.count > 0 && direction.holds(level), 'triggers: a level is found by its price and has triggers');
        count += level.count;
      });
    }
    return count;
  }

  #directionOf(kind: TriggerKind): Direction<T> {
    return kind === TRIGGER.above ? this.#above : this.#below;
  }
}
