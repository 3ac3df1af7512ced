/**
 * Walks every sequence of commands of the small scope up to a depth, with the engine and the reference side by side: every
 * event is compared and every invariant checked after the last command of each. What a random test meets by chance is
 * here met for certain.
 *
 *   nothing ── step ──▶ states of one command ── step ──▶ of two ── … ──▶ of `depth`
 *                            │ each new state, once
 *                            └─▶ ends: all confirmed, released and rebuilt; all rolled back, in three ways; all expired
 *
 * A state is left by every step once, however many sequences lead to it. That loses no sequence:
 *   (1) Whether two states are one is judged by everything that decides what the reference will do (small-scope-state.ts),
 *       and the engine was just found to have told the same on both. What the engine alone has, the places of its
 *       records, is not judged: the random runs are there for that.
 *   (2) States are met by the shortest sequences first, so what is cut off has as many commands before it as were left.
 *   (3) A command about something that does not exist is left out.
 *   (4) Users are interchangeable, as each command is there for both.
 *
 * A state is played once: each step from it is played to a fork of the pair that stands there. A step that leaves the
 * state as it was leaves the pair good for the next one; so a sequence may have more commands than it counts.
 */

import { createHash } from 'node:crypto';
import type { RollbackReason } from '../../src/core/order-terms.ts';
import { MarketPair } from './market-pair.ts';
import { LIFE_NS } from './market-recorder.ts';
import { isAlive, type ReferenceOrder } from './reference-order.ts';
import type { ReferenceState } from './reference-state.ts';
import { BLAMES, beginningOf, type Scope, type Step, stepsOf } from './small-scope.ts';

// What of the reference's state decides everything that can still happen, as a text; and a set of such texts.
// Two states with one text differ in names and distances alone: of sequences and trade ids only the order counts, users
// are called by their first appearance, and steps never look at the size of a timestamp. All columns of an order stand
// in a table that the compiler holds complete. Not in it: ids of finished orders (steps never use one again), levels
// (they follow from the orders), the clock and the rules (one walk has one of each).

type Columns = {
  readonly [Name in keyof ReferenceOrder]: ((value: ReferenceOrder[Name]) => string | number | bigint) | null;
};

/** Numbers of entries beyond this one are alike: no id of the walk is larger. */
const NUMBERS_TOLD = 3;

const asItIs = <T extends string | number | bigint>(value: T): T => value;

/** Null: given as a rank below, or never looked at. */
const COLUMNS: Columns = {
  user: null,
  orderId: null,
  sequence: null,
  priority: null,
  parent: null,
  group: null,
  joinedAt: null,
  set: null,
  isOut: Number,
  creationNs: null,
  timestampNs: null,
  revisionNs: null,
  publishedAt: null,
  subAccount: asItIs,
  side: asItIs,
  kind: asItIs,
  tif: asItIs,
  flags: asItIs,
  price: asItIs,
  quantity: asItIs,
  amount: asItIs,
  budget: asItIs,
  budgetFrom: ({ filled, spent }) => `${filled},${spent}`,
  filled: asItIs,
  spent: asItIs,
  confirmed: asItIs,
  paid: asItIs,
  activated: asItIs,
  triggerKind: asItIs,
  triggerPrice: asItIs,
  expiryNs: asItIs,
  fault: asItIs,
  state: asItIs,
  end: asItIs,
  cancelEnd: asItIs,
  told: (lots) => lots ?? '-',
  wasTold: Number,
  isAnswerPending: Number,
  granted: (lots) => lots ?? '-',
  grantedBudget: asItIs,
  grantedBound: asItIs,
};

const TOLD_COLUMNS = Object.entries(COLUMNS).filter(([, column]) => column !== null) as [
  keyof ReferenceOrder,
  (value: unknown) => string | number | bigint,
][];

function stateOf(state: ReferenceState): string {
  const { orders, undecided, tellQueue, placeQueue, faults, isUncrossing, leaving } = state;
  const users = [...new Set(orders.map(({ user }) => user))];
  const placeOf = (order: ReferenceOrder): number => orders.indexOf(order);
  let text = '';
  for (const order of orders) {
    for (const [name, column] of TOLD_COLUMNS) text += `${column(order[name])} `;
    text += `${users.indexOf(order.user)} ${order.parent === null ? '-' : placeOf(order.parent)}\n`;
  }
  for (const { maker, taker, quantity, price, legs } of undecided)
    text += `${placeOf(maker)} ${placeOf(taker)} ${quantity} ${price} ${legs.length}\n`;
  const guilty = [...faults]
    .filter(([user]) => users.includes(user))
    .map(([user, why]) => `${users.indexOf(user)} ${why}`);
  text += `${isUncrossing} ${guilty.sort().join(',')} ${leaving === null ? '?' : leaving.map(placeOf).join(' ')}\n`;
  for (const set of state.sets) {
    const { user, name, terms, termsNs, isOver, lastNumber, traded, appliedTrade, markNs } = set;
    const own = orders.filter((order) => order.set === set).map(placeOf);
    const old = undecided.filter(({ tradeId }) => tradeId <= appliedTrade).length;
    // Revisions are given in the order of the walk, one nanosecond apart, and time passes in longer steps.
    text += `${user} ${name} ${Object.values(terms).join(' ')} ${termsNs === null} ${isOver} ${own.join(' ')}:${old} `;
    text += `${markNs >= state.nowNs} ${Math.min(lastNumber, NUMBERS_TOLD)} ${traded[0] > 0} ${traded[1] > 0}\n`;
  }
  for (const group of state.groups) {
    const { user, terms, fills, freeze } = group;
    const members = orders.filter((order) => order.group === group);
    const isLate = freeze === null ? '-' : `${freeze.untilNs === 0n ? 0n : freeze.untilNs - state.nowNs}`;
    text += `group ${users.indexOf(user)} ${Object.values(terms ?? {}).join(' ')} ${isLate} `;
    text += `${members.map((order) => `${placeOf(order)}${state.isOver(order) ? '!' : ''}`).join(' ')}:`;
    for (const { tradeId, ns, lots, money, minMoney } of fills)
      text += ` ${undecided.findIndex((trade) => trade.tradeId === tradeId)} ${state.nowNs - ns} ${lots} ${money >= minMoney}`;
    text += '\n';
  }
  const byPriority = [...orders].sort((a, b) => a.priority - b.priority);
  return text + [byPriority, tellQueue, placeQueue].map((queue) => queue.map(placeOf).join(' ')).join('\n');
}

const WORDS = 4;
const FIRST_PLACES: number = 1 << 16;

/** Texts by 128 bits of their SHA-256: of a hundred million texts two are taken for one once in 10^22 walks. */
class StateSet {
  #words: Int32Array<ArrayBuffer> = new Int32Array(FIRST_PLACES * WORDS);
  #count = 0;

  get size(): number {
    return this.#count;
  }

  /** @returns whether it is new. */
  add(text: string): boolean {
    const digest = createHash('sha256').update(text).digest();
    const key = Int32Array.from({ length: WORDS }, (_, word) => digest.readInt32LE(word * 4));
    // A place of four zeros is free: no text of a walk hashes to it.
    if (!this.#put(key)) return false;
    this.#count++;
    if (this.#count * 2 * WORDS > this.#words.length) this.#grow();
    return true;
  }

  #put(key: Int32Array): boolean {
    const places = this.#words.length / WORDS;
    for (let place = (key[0] as number) & (places - 1); ; place = (place + 1) & (places - 1)) {
      const there = this.#words.subarray(place * WORDS, (place + 1) * WORDS);
      if (there.every((word) => word === 0)) {
        there.set(key);
        return true;
      }
      if (there.every((word, at) => word === key[at])) return false;
    }
  }

  #grow(): void {
    const old = this.#words;
    this.#words = new Int32Array(old.length * 2);
    for (let at = 0; at < old.length; at += WORDS) {
      const key = old.subarray(at, at + WORDS);
      if (key.some((word) => word !== 0)) this.#put(key);
    }
  }
}

const LIMITS = {
  priceDecimals: 0,
  parkedCancelNs: 5n,
  parkedCancelsPerUserMax: 2,
  rememberedIdsPerUserMax: 1_000,
  expiredPerPoll: 1,
};

/** Which of the steps, by number, one after the other. */
export type Road = readonly number[];

export interface Counts {
  /** Each ended by a command that was compared. */
  sequences: number;
}

export class SmallScopeWalk {
  readonly counts: Counts = { sequences: 0 };
  /** The kinds of events of all of them. */
  readonly seen: Set<string> = new Set();
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
   * Plays every step after this sequence. @returns the sequences to states that were not seen before.
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
    const pair = new MarketPair(LIMITS, this.seen).forkable();
    pair.setSelfTradePrevention(this.#scope.isPrevented);
    pair.setCollar(...this.#scope.collar);
    for (const step of beginningOf(this.#scope)) step.play(pair);
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
  pair.cancel({ ...pair.named(newest.user, newest.orderId), mayPark: false });
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
