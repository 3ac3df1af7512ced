/**
 * Owns the workers of the node, from the main thread: spawns them, connects their doorbells, watches their heartbeats,
 * and reacts to a lost thread as the topology specifies.
 *
 *   thread dies or hangs ──▶ 'fail-stop'  the process ends (fail-stop.ts)
 *                        └─▶ 'restart'    a new worker takes over rings and doorbells; too many in a minute: fail-stop
 *
 * A hung thread that owns a listener cannot be ended alone, so it ends the process independent of its policy.
 */
import { MessageChannel, Worker } from 'node:worker_threads';
import { assert, must } from '../core/assert.ts';
import { FAIL_STOP_HALT_MS, WATCH_MS } from '../core/limits.ts';
import { diedOf, type Ending, hungOf } from './ending.ts';
import type { EventLoopRunner } from './event-loop-runner.ts';
import { allEnded, failStop, type RunningWorker } from './fail-stop.ts';
import { Starvation } from './hang-detection.ts';
import { ThreadBlock, type ThreadState, Watch } from './heartbeat.ts';
import type { LastWords, ThreadBirth } from './thread-boot.ts';
import type { BellLetter, ThreadContext } from './thread-context.ts';
import { threadTimes } from './thread-times.ts';
import { type Plan, type ThreadSpec, threadOf } from './topology.ts';

const RESTARTS_MAX = 5;
const RESTARTS_WITHIN_MS = 60_000;
const LOOK_MS = 5;
/** Time for modules to load on an overloaded machine. */
const LOADING_MS_MAX = 30_000;

interface SupervisorOptions {
  /** The main thread's context and runner. */
  readonly context: ThreadContext;
  readonly runner: EventLoopRunner;
  /** The compiled entry file of a thread; it calls bootThread. */
  readonly entryOf: (thread: string) => URL;
  /** Given to every actor of every worker, as a structured clone. */
  readonly settings: unknown;
  /** Called after every restart, for a log line and a counter. */
  readonly restarted: (thread: string, reason: string) => void;
  /** Called once before the process ends, with the reason, to record it for the next start. Must not throw. */
  readonly failing: (ending: Ending) => void;
  /** Ends the thread that writes the log. @returns false when it is blocked in the kernel. By default there is none. */
  readonly endLogs?: () => Promise<boolean>;
}

interface Child {
  readonly spec: ThreadSpec;
  readonly block: ThreadBlock;
  running: RunningWorker | null;
  reason: string;
  restartsAtMs: number[];
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #plan: Plan;
  readonly #children: readonly Child[];
  readonly #watch: Watch;
  /** Until the runner of the main thread runs, which calls every WATCH_MS from then on. */
  #timer: NodeJS.Timeout | null = null;
  readonly #alsoWatched: (() => void)[] = [];
  #stopping = false;
  #failing = false;

  constructor(options: SupervisorOptions) {
    const { plan } = options.context;
    this.#options = options;
    this.#plan = plan;
    this.#children = plan.threads.flatMap((spec, index) => {
      const block = new ThreadBlock(plan.threadBlocks, index);
      return spec.place === 'main' ? [] : [{ spec, block, running: null, reason: 'it ended', restartsAtMs: [] }];
    });
    this.#watch = new Watch(
      this.#children.map((child) => child.block),
      threadTimes(),
    );
  }

  /** Spawns every worker. From here on an uncaught error on the main thread ends the process as well. */
  start(): void {
    process.on('uncaughtException', (error) => this.fail(diedOf('main', error.stack ?? error.message)));
    process.on('unhandledRejection', (reason) => {
      const cause = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
      this.fail(diedOf('main', `unhandled rejection: ${cause}`));
    });
    const letters = makeLetters(this.#plan, () => true);
    this.#deliver(letters, this.#options.context.spec.name);
    for (const child of this.#children) this.#spawn(child, letters.get(child.spec.name) ?? [], false);
    this.#timer = setInterval(() => this.#look(), WATCH_MS);
    this.#options.runner.watchWith(() => {
      this.#endTimer();
      this.#look();
    });
  }

  /** Threads that are not of the topology. @param look - called every WATCH_MS; it calls `fail` when one of them is lost. */
  watchAlso(look: () => void): void {
    this.#alsoWatched.push(look);
  }

  /**
   * Resolves when the actors of every worker run their duty cycle; recovering ones do, and already exchange messages.
   */
  async whenPolling(): Promise<void> {
    const turns = ({ block }: Child): boolean => block.state() === 'running' || block.state() === 'recovering';
    await until(() => this.#children.every(turns), Number.POSITIVE_INFINITY);
  }

  state(thread: string): ThreadState {
    return must(
      this.#children.find((child) => child.spec.name === thread),
      `there is a worker named ${thread}`,
    ).block.state();
  }

  /**
   * Orderly end: thread after thread, in the order of the plan, handles all waiting records and ends; the main thread
   * last. A thread that misses the deadline ends the process as a fail-stop.
   */
  async stop(deadlineMs: number): Promise<void> {
    assert(!this.#stopping, 'a node is stopped once');
    this.#stopping = true;
    const deadline = afterLooks(deadlineMs, () => this.fail(diedOf(null, `no orderly stop within ${deadlineMs} ms`)));
    for (const child of this.#children) {
      child.block.setCommand('stop');
      this.#options.context.bells.of(child.spec.name).ring();
      await until(() => child.running === null || child.running.hasEnded(), Number.POSITIVE_INFINITY);
    }
    const { block } = this.#options.context;
    block.setCommand('stop');
    this.#options.runner.wakeUp();
    await until(() => block.state() === 'stopped', Number.POSITIVE_INFINITY);
    clearInterval(deadline);
    this.#endTimer();
  }

  /** Ends the process: exit code 70, or SIGKILL when a thread cannot be ended. */
  fail(ending: Ending): void {
    if (this.#failing) return;
    this.#failing = true;
    this.#options.failing(ending);
    const workers = this.#children.flatMap((child) => child.running ?? []);
    const { context, endLogs = () => Promise.resolve(true) } = this.#options;
    void failStop(ending, () => this.#halt(), workers, { memory: context.plan.logs, end: endLogs });
  }

  /**
   * Ends every worker, for a process that is about to end with an exit code of its own. Waits for a thread that is
   * still loading its modules: Node aborts the process when a thread is ended from outside meanwhile.
   *
   * @param areOthersLoading threads that are not of the topology.
   */
  async abandon(areOthersLoading: () => boolean): Promise<void> {
    this.#failing = true;
    const all = this.#children.flatMap(({ block, running }) => (running === null ? [] : [{ block, running }]));
    const haveLoaded = (): boolean =>
      all.every(({ block, running }) => block.state() !== 'starting' || running.hasEnded()) && !areOthersLoading();
    await until(haveLoaded, LOADING_MS_MAX);
    this.#halt();
    const workers = all.map(({ running }) => running);
    await allEnded(workers, FAIL_STOP_HALT_MS, new Starvation(threadTimes()));
  }

  #halt(): void {
    for (const { block, spec } of this.#children) {
      block.setCommand('halt');
      this.#options.context.bells.of(spec.name).ring();
    }
    this.#options.runner.halt();
  }

  #endTimer(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    for (const look of this.#alsoWatched) look();
    const lost = this.#watch.lost();
    const child = lost === null ? undefined : this.#children[lost.index];
    if (lost === null || child === undefined || this.#failing) return;
    const { spec, running } = child;
    child.reason = lost.hang.cause;
    if (spec.onDeath === 'restart' && !spec.ownsListener) void running?.worker.terminate();
    else this.fail(hungOf(spec.name, lost.hang));
  }

  #spawn(child: Child, letters: readonly BellLetter[], restarted: boolean): void {
    const { settings, entryOf } = this.#options;
    const { name, ownsListener, youngMebibytes } = child.spec;
    const birth: ThreadBirth = { plan: this.#plan, thread: name, restarted, letters, settings };
    child.reason = 'it ended';
    child.block.setState('starting');
    const worker = new Worker(entryOf(name), {
      name,
      workerData: birth,
      transferList: letters.map((letter) => letter.port),
      ...(youngMebibytes === undefined ? {} : { resourceLimits: { maxYoungGenerationSizeMb: youngMebibytes } }),
    });
    let ended = false;
    child.running = { worker, ownsListener, hasEnded: () => ended };
    worker.on('message', (words: LastWords) => {
      child.reason = words.error;
    });
    worker.on('error', (error) => {
      child.reason = error.stack ?? error.message;
    });
    worker.on('exit', () => {
      ended = true;
      this.#ended(child);
    });
  }

  #ended(child: Child): void {
    const mayEnd = child.block.state() === 'stopped' || child.spec.onDeath === 'restart';
    if (this.#failing || (this.#stopping && mayEnd)) return;
    const nowMs = performance.now();
    child.restartsAtMs = child.restartsAtMs.filter((atMs) => nowMs - atMs < RESTARTS_WITHIN_MS);
    if (child.spec.onDeath === 'fail-stop' || child.restartsAtMs.length >= RESTARTS_MAX) {
      this.fail(diedOf(child.spec.name, child.reason));
      return;
    }
    child.restartsAtMs.push(nowMs);
    this.#options.restarted(child.spec.name, child.reason);
    this.#restart(child);
  }

  #restart(child: Child): void {
    const { name } = child.spec;
    const letters = makeLetters(this.#plan, (from, to) => from === name || to === name);
    this.#deliver(letters, this.#options.context.spec.name);
    for (const other of this.#children) if (other !== child) this.#deliver(letters, other.spec.name);
    this.#spawn(child, letters.get(name) ?? [], true);
  }

  /** Sends letters to a running thread. */
  #deliver(letters: ReadonlyMap<string, readonly BellLetter[]>, thread: string): void {
    const { context, runner } = this.#options;
    const child = this.#children.find((candidate) => candidate.spec.name === thread);
    for (const letter of letters.get(thread) ?? []) {
      if (child !== undefined) {
        child.running?.worker.postMessage(letter, [letter.port]);
        child.block.announceLetter();
      } else if (letter.kind === 'ring') context.bells.connect(letter.thread, letter.port);
      else runner.listen(letter.port);
    }
  }
}

/** Resolves when the condition holds, or after `withinMs`. */
async function until(isSo: () => boolean, withinMs: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < withinMs && !isSo(); waitedMs += LOOK_MS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Calls after `ms` of checks, each counted as in HeartbeatGap: a starved process gets more time. */
function afterLooks(ms: number, call: () => void): NodeJS.Timeout {
  let [countedMs, lookedAtMs] = [0, performance.now()];
  const timer = setInterval(() => {
    const nowMs = performance.now();
    countedMs += Math.min(nowMs - lookedAtMs, WATCH_MS);
    lookedAtMs = nowMs;
    if (countedMs < ms) return;
    clearInterval(timer);
    call();
  }, WATCH_MS);
  return timer;
}

/**
 * Creates a channel from every thread to every neighbour that runs an event loop and satisfies `wanted`. The main thread rings
 * every thread (commands, the clock moved by hand), neighbour or not.
 */
function makeLetters(plan: Plan, wanted: (from: string, to: string) => boolean): Map<string, BellLetter[]> {
  const letters = new Map<string, BellLetter[]>(plan.threads.map((thread) => [thread.name, []]));
  for (const from of plan.threads) {
    for (const to of plan.threads) {
      if (to.waiting !== 'event-loop' || from === to || !wanted(from.name, to.name)) continue;
      if (from.place === 'worker' && !areNeighbours(plan, from.name, to.name)) continue;
      const { port1, port2 } = new MessageChannel();
      letters.get(from.name)?.push({ kind: 'ring', thread: to.name, port: port1 });
      letters.get(to.name)?.push({ kind: 'listen', thread: from.name, port: port2 });
    }
  }
  return letters;
}

/** Records travel in one direction and free-space notifications in the other: both ends of an edge ring each other. */
function areNeighbours({ actors, edges }: Plan, one: string, other: string): boolean {
  if (one === other) return false;
  return edges.some(({ from, to }) => {
    const ends = [threadOf(actors, from), threadOf(actors, to)];
    return ends.includes(one) && ends.includes(other);
  });
}
