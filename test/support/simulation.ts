/**
 * Runs a whole node on one thread with a schedule drawn from a seed: which actor is next, how much it reads, when time
 * advances. After every step the caller's invariants are checked. The same seed on the same plan gives the same
 * schedule, so a failure is reproduced by its seed.
 *
 * Every interleaving it draws can occur on threads. Races inside a ring are tested with real threads
 * (test/runtime/spsc-ring-threads.test.ts).
 */
import { assert, must } from '../../src/core/assert.ts';
import type { ActorFactories } from '../../src/runtime/actor.ts';
import { type ActorHost, hostActors } from '../../src/runtime/actor-host.ts';
import { BellBoard } from '../../src/runtime/bell-board.ts';
import { SharedClock } from '../../src/runtime/clock.ts';
import type { Plan } from '../../src/runtime/topology.ts';

// Runs all actors of a plan on one thread under control of the caller: tests and simulations run a whole node this way.
// Rings, policies and wiring are those of the threaded node; only the order of polls is the caller's.

export class HandRunner {
  readonly clock: SharedClock;
  /** In the order of the plan. */
  readonly hosts: readonly ActorHost[];
  readonly #byName: ReadonlyMap<string, ActorHost>;

  constructor(plan: Plan, factories: ActorFactories, settings: unknown = null) {
    this.clock = new SharedClock(plan.clock);
    const wakeUp = (): void => undefined;
    const context = { plan, clock: this.clock, bells: new BellBoard(plan), settings, restarted: false, wakeUp };
    this.hosts = hostActors(context, factories, null);
    this.#byName = new Map(this.hosts.map((host) => [host.actor.name, host]));
  }

  start(): void {
    for (const host of this.hosts) host.start();
  }

  /** Polls one actor once. @returns the number of records handled, or 1 for a step of its own work. */
  step(actor: string, recordsMax?: number): number {
    return must(this.#byName.get(actor), `there is an actor named ${actor}`).poll(recordsMax);
  }

  /** Passes the time of the clock to every actor. */
  tick(): void {
    const nowNs = this.clock.nowNs();
    for (const host of this.hosts) host.tick(nowNs);
  }

  /**
   * Polls the actors in order until a whole round does nothing. Blocked records stay in their rings.
   *
   * @throws InvariantError after `roundsMax` rounds: two actors exchange records endlessly.
   */
  settle(roundsMax = 100_000): void {
    for (let round = 0; round < roundsMax; round++) {
      let handled = 0;
      for (const host of this.hosts) handled += host.poll();
      if (handled === 0) return;
    }
    assert(false, `the actors come to rest within ${roundsMax} rounds`);
  }

  stop(): void {
    for (const host of this.hosts) host.actor.stop();
  }
}

interface SimulationOptions {
  readonly seed: number;
  /** Maximum number of records per step; each step draws from 1 to this. */
  readonly batchRecordsMax: number;
  /** On average one step in this many advances the clock instead. */
  readonly stepsPerTick: number;
  /** A tick advances the clock by 1 to this many nanoseconds. */
  readonly tickNsMax: number;
  /** Checked after every step; throws when the node's state is wrong. */
  readonly invariant: (step: number) => void;
}

/**
 * A small generator of 32-bit numbers (mulberry32): good distribution, one word of state, the same on every machine.
 */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** @returns 0 … 2^32−1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** @returns 0 … bound−1. */
  below(bound: number): number {
    return this.next() % bound;
  }
}

export class Simulation {
  /** Replacing it makes later draws independent of the earlier ones. */
  random: SeededRandom;
  /** Names of actors that are not polled: they imitate slow readers and threads without a core. */
  readonly stalled: Set<string> = new Set();
  readonly #runner: HandRunner;
  readonly #options: SimulationOptions;
  #steps = 0;
  #scheduleHash = 0;

  constructor(runner: HandRunner, options: SimulationOptions) {
    assert(runner.clock.mode === 'manual', 'a simulation has a manual clock');
    assert(options.batchRecordsMax > 0 && options.stepsPerTick > 1 && options.tickNsMax > 0, 'bounds are positive');
    this.#runner = runner;
    this.#options = options;
    this.random = new SeededRandom(options.seed);
  }

  /** Draws one step. @returns false when no actor had work and time advanced instead. */
  step(): boolean {
    const ready = this.#runner.hosts.filter((host) => host.hasWork() && !this.stalled.has(host.actor.name));
    const timeMoves = ready.length === 0 || this.random.below(this.#options.stepsPerTick) === 0;
    if (timeMoves) this.#moveTime();
    else this.#turnOneOf(ready);
    this.#steps++;
    this.#options.invariant(this.#steps);
    return !timeMoves;
  }

  run(steps: number): void {
    for (let step = 0; step < steps; step++) this.step();
  }

  /** A hash of every draw so far: equal for equal schedules. */
  schedule(): number {
    return this.#scheduleHash;
  }

  #moveTime(): void {
    const deltaNs = 1 + this.random.below(this.#options.tickNsMax);
    this.#note(-1, deltaNs);
    this.#runner.clock.advance(BigInt(deltaNs));
    this.#runner.tick();
  }

  #turnOneOf(ready: readonly ActorHost[]): void {
    const chosen = ready[this.random.below(ready.length)];
    assert(chosen !== undefined, 'a ready actor was chosen');
    const handled = chosen.poll(1 + this.random.below(this.#options.batchRecordsMax));
    this.#note(this.#runner.hosts.indexOf(chosen), handled);
  }

  #note(who: number, what: number): void {
    this.#scheduleHash = Math.imul(Math.imul(this.#scheduleHash ^ who, 0x9e3779b1) ^ what, 0x85ebca6b) | 0;
  }
}
