/**
 * The runtime objects of one thread for its runner: its control block, its doorbell, the doorbells of others, the
 * clock.
 */
import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { must } from '../core/assert.ts';
import { WATCH_MS } from '../core/limits.ts';
import { BellBoard } from './bell-board.ts';
import { SharedClock } from './clock.ts';
import { Sleeper } from './doorbell.ts';
import { hungOf, killProcess } from './ending.ts';
import { bellIndex, ThreadBlock, Watch } from './heartbeat.ts';
import { ThreadMetrics } from './thread-metrics.ts';
import { threadTimes } from './thread-times.ts';
import { type Plan, type ThreadSpec, threadIndex } from './topology.ts';
import { openTrace, type TraceLog } from './trace-log.ts';

/** A port that notifies `thread`; sent to a worker when that thread was restarted. */
export interface BellLetter {
  readonly kind: 'ring' | 'listen';
  readonly thread: string;
  readonly port: MessagePort;
}

export class ThreadContext {
  readonly plan: Plan;
  readonly spec: ThreadSpec;
  readonly clock: SharedClock;
  readonly block: ThreadBlock;
  readonly sleeper: Sleeper;
  readonly bells: BellBoard;
  readonly metrics: ThreadMetrics;
  /** Null while the node is not traced. */
  readonly trace: TraceLog | null;
  readonly #main: ThreadBlock;
  readonly #mainWatch: Watch;
  #lettersTaken = 0;
  #watchedAtMs = 0;

  constructor(plan: Plan, thread: string) {
    const index = threadIndex(plan, thread);
    const main = plan.threads.findIndex((candidate) => candidate.place === 'main');
    this.plan = plan;
    this.spec = must(plan.threads[index], 'a thread of the plan');
    this.clock = new SharedClock(plan.clock);
    this.block = new ThreadBlock(plan.threadBlocks, index);
    this.sleeper = new Sleeper(new Int32Array(plan.threadBlocks), bellIndex(index));
    this.bells = new BellBoard(plan);
    this.metrics = new ThreadMetrics(must(plan.threadMetrics[index], 'metrics for every thread'));
    this.trace = openTrace(plan.trace, thread);
    this.#main = new ThreadBlock(plan.threadBlocks, main);
    this.#mainWatch = new Watch([this.#main], threadTimes());
    this.block.setKernelThread();
  }

  /** Whether WATCH_MS have passed since this last returned true; timers may be a millisecond early. */
  isWatchDue(nowMs: number): boolean {
    if (nowMs - this.#watchedAtMs < WATCH_MS - 1) return false;
    this.#watchedAtMs = nowMs;
    return true;
  }

  /**
   * Ends the process when the main thread hangs, because no other code can then. Call every WATCH_MS on other threads.
   */
  watchMain(): void {
    const lost = this.#mainWatch.lost();
    if (lost !== null && this.#main.claimEnd()) killProcess(hungOf('main', lost.hang), this.plan.logs);
  }

  /** Receives the letters of a plain thread, which does not run its event loop. */
  takeLetters(): void {
    if (parentPort === null) return;
    const announced = this.block.letters();
    while (this.#lettersTaken !== announced) {
      const received: { message: BellLetter } | undefined = receiveMessageOnPort(parentPort);
      if (received === undefined) return;
      this.bells.connect(received.message.thread, received.message.port);
      this.#lettersTaken = (this.#lettersTaken + 1) | 0;
    }
  }
}
