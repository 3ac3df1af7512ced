/**
 * Walks every sequence of commands of the small scope up to a depth, with the engine and the reference side by side: every
 * event is compared and every invariant checked after the last command of each. What a random test meets by chance is
 * here met for certain.
 *
 *   nothing ── step ──▶ states of one command ── step ──▶ of two ── … ──▶ of `depth`
 *                            │ each new state, once
 *                            └─▶ ends: all confirmed, released and rebuilt; all rolled back, in three ways; all expired
 *
 * A state is left by every step once, however many roads lead to it. That loses no sequence:
 *   (1) Whether two states are one is judged by everything that decides what the reference will do (small-scope-state.ts),
 *       and the engine was just found to have told the same on both roads. What the engine alone knows, the places of its
 *       records, is not judged: the random runs are there for that.
 *   (2) States are met by the shortest roads first, so what is cut off has as many commands before it as were left.
 *   (3) A command about something that does not exist is left out.
 *   (4) Users are interchangeable, as each command is there for both.
 *
 * A state is played once: each step from it is played to a fork of the pair that stands there. A step that leaves the
 * state as it was leaves the pair good for the next one; so a road may have more commands than it counts.
 */
import type { RollbackReason } from '../../src/core/order-terms.ts';
import { MarketPair } from './market-pair.ts';
import { LIFE_NS } from './market-recorder.ts';
import { isAlive } from './reference-order.ts';
import { BLAMES, type Scope, type Step, stepsOf } from './small-scope.ts';
import { StateSet, stateOf } from './small-scope-state.ts';

const LIMITS = {
  priceDecimals: 0,
  heldCancelNs: 5n,
  heldCancelsPerUserMax: 2,
  rememberedIdsPerUserMax: 1_000,
  expiredPerTurn: 1,
};

/** Which of the steps, by number, one after the other. */
export type Road = readonly number[];

export interface Counts {
  /** Each ended by a command that was compared. */
  sequences: number;
}

export class SmallScopeWalk {
  readonly counts: Counts = { sequences: 0 };
  readonly #scope: Scope;
  readonly #steps: readonly Step[];
  readonly #known: StateSet = new StateSet();

  constructor(scope: Scope) {
    this.#scope = scope;
    this.#steps = stepsOf(scope);
  }

  /** Every sequence up to the depth, the short ones first. */
  walk(): Counts {
    let roads: readonly Road[] = [[]];
    for (let length = 1; length <= this.#scope.depth; length++)
      roads = roads.flatMap((road) => this.extend(road, true));
    return this.counts;
  }

  /**
   * Plays every step after this road. @returns the roads to states that nobody saw before.
   *
   * @param hasEnds whether each of them is played to its ends as well.
   */
  extend(road: Road, hasEnds: boolean): Road[] {
    const base = this.#stand(road);
    const here = stateOf(base.reference);
    const longer: Road[] = [];
    const played: string[] = [];
    let pair: MarketPair | null = null;
    for (const [at, step] of this.#steps.entries()) {
      pair ??= base.fork();
      try {
        if (!step.play(pair)) continue;
        played.push(step.name);
        this.counts.sequences++;
        const state = stateOf(pair.reference);
        if (state === here) continue;
        const isNew = road.length + 1 < this.#scope.depth && this.#known.add(state);
        if (isNew) longer.push([...road, at]);
        if (isNew && hasEnds) this.#playToItsEnds(pair, base, step);
        else if (tookBack(pair, base) && stateOf(pair.reference) === here) continue;
      } catch (error) {
        throw new Error(this.#describe(road, [...played, step.name]), { cause: error });
      }
      played.length = 0;
      pair = null;
    }
    return longer;
  }

  /** A pair that has come this way. */
  #stand(road: Road): MarketPair {
    const pair = new MarketPair(LIMITS, new Set()).forkable();
    pair.setSelfTradePrevention(this.#scope.isPrevented);
    pair.setCollar(...this.#scope.collar);
    for (const at of road) this.#steps[at]?.play(pair);
    return pair;
  }

  #playToItsEnds(pair: MarketPair, base: MarketPair, last: Step): void {
    const isPending = pair.reference.undecided.length > 0;
    pair.rebuildAtRest();
    if (isPending) for (const [maker, taker] of BLAMES) rollAllBack(afterStep(base, last), maker, taker);
    const late = afterStep(base, last);
    late.nowNs += LIFE_NS;
    late.tick();
    rollAllBack(late, ...(BLAMES[0] as (typeof BLAMES)[number]));
  }

  #describe(road: Road, played: readonly string[]): string {
    const names = road.map((at) => this.#steps[at]?.name);
    const { isPrevented, collar } = this.#scope;
    const rules = `self-trade prevention ${isPrevented ? 'on' : 'off'}, collar ${collar.join(' to ')}`;
    return ['engine and reference differ', rules, ...names, ...played].join('\n  ');
  }
}

/** Cancels what the last step created, if that is all it did. @returns whether it did so. */
function tookBack(pair: MarketPair, base: MarketPair): boolean {
  const { orders, undecided } = pair.reference;
  const newest = orders.at(-1);
  const isCreate = orders.length === base.reference.orders.length + 1;
  if (newest === undefined || !isCreate || !isAlive(newest)) return false;
  if (undecided.length !== base.reference.undecided.length) return false;
  pair.cancel({ ...pair.named(newest.user, newest.orderId), hold: false });
  return true;
}

function afterStep(base: MarketPair, step: Step): MarketPair {
  const pair = base.fork();
  step.play(pair);
  return pair;
}

function rollAllBack(pair: MarketPair, maker: RollbackReason, taker: RollbackReason): void {
  for (let trade = pair.reference.undecided[0]; trade !== undefined; trade = pair.reference.undecided[0])
    pair.rollback(trade, maker, taker);
  pair.uncross();
}
