/**
 * When the actors of a thread tick: soon after a poll, rarely while nothing happens.
 *
 *   polled since the last tick      the next one is due `tickMs` after the last
 *   not polled                      … after the shortest `nextTickMs` of the actors, at most IDLE_TICK_MS_MAX
 *
 * So a node without work is woken up for little more than heartbeats, and an actor that was polled still ticks within
 * `tickMs`. A thread that is polled after a pause ticks behind the poll: the first order does not wait for it.
 */
import type { ActorHost } from './actor-host.ts';
import type { ThreadContext } from './thread-context.ts';

/** Longest time between two ticks: how late work is that no actor announces, for example a gauge. */
export const IDLE_TICK_MS_MAX = 250;

export class ActorTicks {
  readonly #context: ThreadContext;
  readonly #hosts: readonly ActorHost[];
  readonly #tickMs: number;
  #tickedAtMs = Number.NEGATIVE_INFINITY;
  #dueAtMs = Number.NEGATIVE_INFINITY;
  #isPolled = true;

  constructor(context: ThreadContext, hosts: readonly ActorHost[]) {
    this.#context = context;
    this.#hosts = hosts;
    this.#tickMs = context.plan.tickMs;
  }

  /** Call after every poll that did not follow from a time alone. @returns whether the next tick is due earlier now. */
  polled(): boolean {
    if (this.#isPolled) return false;
    this.#isPolled = true;
    // mutant: tick-after-poll
    const dueAtMs = this.#tickedAtMs + this.#tickMs;
    if (dueAtMs >= this.#dueAtMs) return false;
    this.#dueAtMs = dueAtMs;
    return true;
  }

  /** @param nowMs of `performance.now()`, as for the other methods. */
  isDue(nowMs: number): boolean {
    return nowMs >= this.#dueAtMs;
  }

  /** Milliseconds until the next tick is due; at least 0. */
  leftMs(nowMs: number): number {
    return Math.max(this.#dueAtMs - nowMs, 0);
  }

  /** Ticks every actor, and determines when the next tick is due. */
  tick(nowMs: number): void {
    const { block, clock, metrics } = this.#context;
    block.beginTicks();
    const nowNs = clock.nowNs();
    for (const host of this.#hosts) host.tick(nowNs);
    block.endTicks();
    metrics.look(nowMs);
    let afterMs = this.#isPolled ? this.#tickMs : IDLE_TICK_MS_MAX;
    if (!this.#isPolled) for (const host of this.#hosts) afterMs = Math.min(afterMs, host.nextTickMs(nowNs));
    this.#isPolled = false;
    this.#tickedAtMs = nowMs;
    this.#dueAtMs = nowMs + Math.max(afterMs, this.#tickMs);
  }
}
