/**
 * Runs the actors of a worker thread without an event loop: poll, tick, spin briefly, park.
 *
 * The loop owns the thread until a stop, so promises, timers and sockets do not run here; an actor that needs them
 * belongs on an `event-loop` thread. Every pass checks the command; a parked thread resumes within 100 ms.
 *
 * The thread also watches the main thread. When the main thread is lost the process cannot end in an orderly way, so it
 * is killed: a hung gateway must not look like a slow one.
 */
import { WATCH_MS } from '../core/limits.ts';
import { type ActorHost, pollingState } from './actor-host.ts';
import type { ThreadContext } from './thread-context.ts';

/** Empty polls between two reads of the time while spinning. */
const SPINS_PER_LOOK = 64;

/** Returns after a stop or a halt. Rethrows an actor's error: the thread ends with it. */
export function runThread(context: ThreadContext, hosts: readonly ActorHost[]): void {
  for (const host of hosts) host.start();
  context.block.setState(pollingState(hosts));
  new ThreadLoop(context, hosts).run();
  if (context.block.command() === 'stop') for (const { actor } of hosts) actor.stop();
  else for (const { actor } of hosts) actor.halt?.();
  context.block.setState('stopped');
}

class ThreadLoop {
  readonly #context: ThreadContext;
  readonly #hosts: readonly ActorHost[];
  readonly #spinTurns: number;
  readonly #tickMs: number;
  #tickedAtMs = 0;
  #watchedAtMs = 0;
  #idlePolls = 0;

  constructor(context: ThreadContext, hosts: readonly ActorHost[]) {
    this.#context = context;
    this.#hosts = hosts;
    this.#spinTurns = context.spec.spinTurns;
    this.#tickMs = context.plan.tickMs;
  }

  run(): void {
    this.#lookAtTime();
    while (this.#goesOn()) {
      let handled = 0;
      for (const host of this.#hosts) handled += host.poll();
      if (handled > 0) this.#idlePolls = 0;
      else this.#idle();
      if (handled > 0 || this.#idlePolls % SPINS_PER_LOOK === 0) this.#lookAtTime();
    }
  }

  /** A stop is complete when every actor is idle; blocked records have until the deadline of the stop. */
  #goesOn(): boolean {
    const { block } = this.#context;
    const command = block.command();
    if (command !== 'stop') return command === 'run';
    if (block.state() !== 'draining') block.setState('draining');
    return this.#hosts.some((host) => !host.isIdle());
  }

  #idle(): void {
    if (this.#idlePolls++ < this.#spinTurns) return;
    this.#idlePolls = 0;
    const { sleeper } = this.#context;
    sleeper.prepare();
    if (this.#hosts.some((host) => host.hasWork())) sleeper.wake();
    else sleeper.park(this.#tickMs);
  }

  #lookAtTime(): void {
    const nowMs = performance.now();
    const { block, clock } = this.#context;
    if (block.state() === 'recovering') block.setState(pollingState(this.#hosts));
    block.heartbeat();
    if (nowMs - this.#tickedAtMs >= this.#tickMs) {
      this.#tickedAtMs = nowMs;
      block.beginTicks();
      const nowNs = clock.nowNs();
      for (const host of this.#hosts) host.tick(nowNs);
      block.endTicks();
    }
    if (nowMs - this.#watchedAtMs < WATCH_MS) return;
    this.#watchedAtMs = nowMs;
    this.#context.takeLetters();
    this.#context.watchMain();
  }
}
