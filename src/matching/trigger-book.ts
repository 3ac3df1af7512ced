/**
 * The trigger book: orders that wait for a confirmed trade price (TRG-01 to TRG-03, AMB-28). Depth knows nothing of it.
 *
 *   above   released at or above their price: the lowest price is the first that a rising market reaches
 *   below   released at or below it: the highest is the first
 *
 * From one trade those leave first that the price went past first, the farthest behind it; then by admission.
 */
import { TRIGGER, type TriggerKind } from '../core/order-terms.ts';
import { LevelIndex } from './level-index.ts';
import { NONE } from './pools.ts';

export interface Trigger {
  /** The order's name: its place among those of one price. */
  readonly order: number;
  kind: TriggerKind;
  price: number;
}

/** One direction: levels by rank, the best is the next to be reached. */
class Direction<T extends Trigger> {
  /** rank = sign · price. */
  readonly #sign: number;
  readonly #index: LevelIndex = new LevelIndex(1);
  readonly #levels: Set<T>[] = [];

  constructor(sign: number) {
    this.#sign = sign;
  }

  /** How far the price has gone past the next trigger; negative while it has not. */
  behind(price: number): number {
    const best = this.#index.best;
    return best === NONE ? -1 : this.#index.rankOf(best) - this.#sign * price;
  }

  add(trigger: T): void {
    const level = this.#index.reach(this.#sign * trigger.price);
    const there = this.#index.has(level) ? this.#levels[level] : undefined;
    if (there !== undefined) {
      there.add(trigger);
      return;
    }
    this.#index.set(level);
    this.#levels[level] = new Set([trigger]);
  }

  remove(trigger: T): void {
    const level = this.#index.find(this.#sign * trigger.price);
    const there = this.#levels[level] as Set<T>;
    there.delete(trigger);
    if (there.size === 0) this.#clear(level);
  }

  /** Takes the next level out. */
  takeBest(): Iterable<T> {
    const level = this.#index.best;
    const there = this.#levels[level] as Set<T>;
    this.#clear(level);
    return there;
  }

  #clear(level: number): void {
    this.#index.clear(level);
    delete this.#levels[level];
    this.#index.releaseEmpty();
  }
}

export class TriggerBook<T extends Trigger> {
  readonly #above: Direction<T> = new Direction(-1);
  readonly #below: Direction<T> = new Direction(1);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(trigger: T): void {
    this.#count++;
    this.#directionOf(trigger.kind).add(trigger);
  }

  remove(trigger: T): void {
    this.#count--;
    this.#directionOf(trigger.kind).remove(trigger);
  }

  /** Takes out all whose condition holds at a confirmed trade price, in the order of their release. */
  fire(price: number): T[] {
    const fired: T[] = [];
    for (;;) {
      const above = this.#above.behind(price);
      const below = this.#below.behind(price);
      const most = Math.max(above, below);
      if (most < 0) break;
      const next = above === most ? [...this.#above.takeBest()] : [];
      if (below === most) for (const trigger of this.#below.takeBest()) next.push(trigger);
      next.sort((a, b) => a.order - b.order);
      for (const trigger of next) fired.push(trigger);
    }
    this.#count -= fired.length;
    return fired;
  }

  #directionOf(kind: TriggerKind): Direction<T> {
    return kind === TRIGGER.above ? this.#above : this.#below;
  }
}
