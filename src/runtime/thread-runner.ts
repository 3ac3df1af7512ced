/**
 * Runs the actors of a worker thread without an event loop: poll, tick, spin briefly, park.
 *
 * The loop owns the thread until a stop, so promises, timers and sockets do not run here; an actor that needs them
 * belongs on an `event-loop` thread. Every pass checks the command; a parked thread resumes at its doorbell or when its
 * next tick is due (actor-ticks.ts), and records heartbeats meanwhile.
 *
 * The thread also watches the main thread. When the main thread is lost the process cannot end in an orderly way, so it
 * is killed: a hung gateway must not look like a slow one.
 */
import { type ActorHost, pollingState } from './actor-host.ts';
import { ActorTicks } from './actor-ticks.ts';
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
  readonly #ticks: ActorTicks;
  readonly #spinTurns: number;
  readonly #meanwhile = (): void => this.#superviseAt(performance.now());
  #idlePolls = 0;

  constructor(context: ThreadContext, hosts: readonly ActorHost[]) {
    this.#context = context;
    this.#hosts = hosts;
    this.#ticks = new ActorTicks(context, hosts);
    this.#spinTurns = context.spec.spinTurns;
  }

  run(): void {
    this.#lookAtTime();
    while (this.#goesOn()) {
      let handled = 0;
      for (const host of this.#hosts) handled += host.poll();
      if (handled > 0) {
        this.#idlePolls = 0;
        this.#ticks.polled();
        this.#lookAtTime();
      } else if (this.#idle()) this.#lookAtTime();
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

  /** After an empty poll: spins or parks. @returns whether to look at the time before the next poll. */
  #idle(): boolean {
    if (this.#idlePolls++ < this.#spinTurns) return this.#idlePolls % SPINS_PER_LOOK === 0;
    this.#idlePolls = 0;
    const { sleeper } = this.#context;
    sleeper.prepare();
    if (this.#hasWork()) {
      sleeper.wake();
      return true;
    }
    if (!sleeper.park(this.#ticks.leftMs(performance.now()), this.#meanwhile)) return true;
    // The first record after a pause is handled before a tick.
    if (this.#hasWork()) return false;
    // Without a record: the clock was moved, or a command was given.
    this.#ticks.polled();
    return true;
  }

  #hasWork(): boolean {
    return this.#hosts.some((host) => host.hasWork());
  }

  #lookAtTime(): void {
    const nowMs = performance.now();
    if (this.#ticks.isDue(nowMs)) this.#ticks.tick(nowMs);
    this.#superviseAt(nowMs);
  }

  /** Records a heartbeat; every WATCH_MS it watches the main thread. */
  #superviseAt(nowMs: number): void {
    const { block } = this.#context;
    if (block.state() === 'recovering') block.setState(pollingState(this.#hosts));
    block.heartbeat();
    if (!this.#context.isWatchDue(nowMs)) return;
    this.#context.takeLetters();
    this.#context.watchMain();
  }
}
