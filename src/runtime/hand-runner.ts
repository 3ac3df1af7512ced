/**
 * Runs all actors of a plan on one thread under control of the caller: tests and simulations run a whole node this way.
 * Rings, policies and wiring are those of the threaded node; only the order of polls is the caller's.
 */
import { assert, must } from '../core/assert.ts';
import type { ActorFactories } from './actor.ts';
import { type ActorHost, hostActors } from './actor-host.ts';
import { BellBoard } from './bell-board.ts';
import { SharedClock } from './clock.ts';
import type { Plan } from './topology.ts';

export class HandRunner {
  readonly clock: SharedClock;
  /** In the order of the plan. */
  readonly hosts: readonly ActorHost[];
  readonly #byName: ReadonlyMap<string, ActorHost>;

  constructor(plan: Plan, factories: ActorFactories, settings: unknown = null) {
    this.clock = new SharedClock(plan.clock);
    const poke = (): void => undefined;
    const context = { plan, clock: this.clock, bells: new BellBoard(plan), settings, restarted: false, poke };
    this.hosts = hostActors(context, factories, null);
    this.#byName = new Map(this.hosts.map((host) => [host.actor.name, host]));
  }

  start(): void {
    for (const host of this.hosts) host.start();
  }

  /** Polls one actor once. @returns the number of records handled, or 1 for a step of its own work. */
  step(actor: string, recordsMax?: number): number {
    return must(this.#byName.get(actor), `there is an actor named ${actor}`).turn(recordsMax);
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
      for (const host of this.hosts) handled += host.turn();
      if (handled === 0) return;
    }
    assert(false, `the actors come to rest within ${roundsMax} rounds`);
  }

  stop(): void {
    for (const host of this.hosts) host.actor.stop();
  }
}
