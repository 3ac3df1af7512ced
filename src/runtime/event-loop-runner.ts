/**
 * Runs actors between the events of an event loop: on the main thread and on workers that have sockets.
 *
 *   port message ─▶ poll ──▶ more work ──▶ setImmediate(poll)      sockets are served in between
 *                      └───▶ none ──────▶ set the flag, check once more, return to the loop
 *
 * There is no busy polling: a parked loop is woken by a message on a doorbell port. A timer for the next tick
 * (actor-ticks.ts) records heartbeats, ticks the actors and watches other threads; it also keeps the loop alive.
 */
import type { MessagePort } from 'node:worker_threads';
import { assert } from '../core/assert.ts';
import { type ActorHost, pollingState } from './actor-host.ts';
import { ActorTicks } from './actor-ticks.ts';
import { PARK_MS_MAX } from './doorbell.ts';
import type { ThreadContext } from './thread-context.ts';

export class EventLoopRunner {
  readonly #context: ThreadContext;
  readonly #ended: () => void;
  readonly #ports = new Set<MessagePort>();
  #hosts: readonly ActorHost[] = [];
  #ticks: ActorTicks | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** When the timer is due, of `performance.now()`. */
  #timerDueMs = 0;
  #turnIsDue = false;
  #running = false;
  #idlePolls = 0;
  #watch: () => void;

  /** @param ended - called once, after a stop or a halt is complete. */
  constructor(context: ThreadContext, ended: () => void) {
    this.#context = context;
    this.#ended = ended;
    this.#watch = () => context.spec.place === 'worker' && context.watchMain();
  }

  /** For the main thread. @param watch - called every WATCH_MS while the runner runs. */
  watchWith(watch: () => void): void {
    this.#watch = watch;
  }

  start(hosts: readonly ActorHost[]): void {
    assert(!this.#running, 'a runner starts once');
    this.#hosts = hosts;
    for (const host of hosts) host.start();
    this.#running = true;
    this.#ticks = new ActorTicks(this.#context, hosts);
    this.#context.block.setState(pollingState(hosts));
    this.#setTimer(0);
    this.wakeUp();
  }

  /** Listens to the doorbell of one producer thread. */
  listen(port: MessagePort): void {
    this.#ports.add(port);
    port.on('message', () => this.#poll());
    port.on('close', () => this.#ports.delete(port));
  }

  /** Schedules a poll in this pass of the loop, after the events that are due now. */
  wakeUp(): void {
    if (this.#turnIsDue || !this.#running) return;
    this.#turnIsDue = true;
    setImmediate(this.#turn);
  }

  /** One function for all passes of the loop. */
  readonly #turn = (): void => {
    this.#turnIsDue = false;
    this.#poll();
  };

  /** Ends at once, in this call: see Actor.halt. No effect after the end. */
  halt(): void {
    if (this.#running) this.#end('halt');
  }

  #poll(): void {
    if (!this.#running) return;
    this.#context.sleeper.wake();
    let handled = 0;
    for (const host of this.#hosts) {
      const taken = host.poll();
      if (taken === 0) host.actor.endBatch();
      handled += taken;
    }
    if (this.#obey()) return;
    // Timers may be delayed by the events of a burst, so handled records count as a heartbeat too.
    if (handled > 0) this.#context.block.heartbeat();
    this.#tickSooner();
    if (handled > 0) this.#idlePolls = 0;
    if (handled > 0 || this.#idlePolls++ < this.#context.spec.spinTurns) this.wakeUp();
    else this.#sleep();
  }

  #sleep(): void {
    this.#idlePolls = 0;
    this.#context.sleeper.prepare();
    if (!this.#hosts.some((host) => host.hasWork())) return;
    this.#context.sleeper.wake();
    this.wakeUp();
  }

  /** After a poll: the next tick may be due before the timer. */
  #tickSooner(): void {
    const ticks = this.#ticks;
    if (ticks?.polled() === true) this.#setTimer(ticks.leftMs(performance.now()));
  }

  #setTimer(ms: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const waitMs = Math.min(ms, PARK_MS_MAX);
    this.#timerDueMs = performance.now() + waitMs;
    this.#timer = setTimeout(() => this.#look(), waitMs);
  }

  /**
   * Heartbeat, command, tick, watch. Also finds a record with a lost doorbell: after a restart neighbours ring the
   * port of the thread's predecessor until they have received the new port.
   */
  #look(): void {
    const ticks = this.#ticks;
    if (!this.#running || ticks === null) return;
    const { block } = this.#context;
    if (block.state() === 'recovering') block.setState(pollingState(this.#hosts));
    block.heartbeat();
    if (this.#obey()) return;
    const nowMs = performance.now();
    this.#context.metrics.timerLate(nowMs - this.#timerDueMs);
    // The timer's milliseconds are whole ones.
    if (ticks.isDue(nowMs + 1)) ticks.tick(nowMs);
    if (this.#hosts.some((host) => host.hasWork())) this.wakeUp();
    this.#setTimer(ticks.leftMs(performance.now()));
    if (this.#context.isWatchDue(nowMs)) this.#watch();
  }

  /** A stop is complete when every actor is idle. @returns whether the runner has ended. */
  #obey(): boolean {
    const { block } = this.#context;
    const command = block.command();
    if (command === 'run') return false;
    if (command === 'stop' && block.state() !== 'draining') block.setState('draining');
    if (command === 'stop' && this.#hosts.some((host) => !host.isIdle())) return false;
    this.#end(command);
    return true;
  }

  #end(command: 'stop' | 'halt'): void {
    this.#running = false;
    for (const { actor } of this.#hosts) {
      if (command === 'stop') actor.stop();
      else actor.halt?.();
    }
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const port of this.#ports) port.close();
    this.#context.bells.close();
    this.#context.block.setState('stopped');
    this.#ended();
  }
}
