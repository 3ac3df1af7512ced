/**
 * Control blocks for supervision: one block of shared memory per thread.
 *
 *   byte 0    state · heartbeat · ticks · kernel id  written by the thread
 *   byte 128  command · letters · bell · end    written by others (the bell by both, see doorbell.ts)
 *
 *   starting ──▶ recovering ──▶ running ──▶ draining ──▶ stopped          a restart begins again with starting
 *           └─────────────────▶
 *
 * A running thread records a heartbeat at least every 100 ms, and during a burst for every request it answers. A thread
 * that has hung for HEARTBEAT_LOST_MS without a heartbeat is lost (hang-detection.ts: a thread without CPU time does not
 * hang): the main thread watches the others (supervisor.ts) and every other thread watches the main one.
 *
 * A recovering thread runs the same duty cycle and reads its channels, but is not watched, and neither is a starting
 * one: the end of a recovery is one step that grows with the data (a whole checkpoint), and a node that ended
 * itself in it would do so at every start. A hang there is visible to the operator: the node never becomes ready, and
 * its progress does not advance. Draining is exempt too: it has the deadline of the stop.
 */
import { InvariantError } from '../core/assert.ts';
import { WATCH_MS } from '../core/limits.ts';
import { MonotonicMs } from './clock.ts';
import { type Hang, HeartbeatGap, Starvation } from './hang-detection.ts';
import { ownThread, type ThreadTimesReader } from './thread-times.ts';

export type ThreadState = 'starting' | 'recovering' | 'running' | 'draining' | 'stopped';
/** `stop`: handle every waiting record, then end. `halt`: end now without further changes. */
type ThreadCommand = 'run' | 'stop' | 'halt';

const STATES: readonly ThreadState[] = ['starting', 'recovering', 'running', 'draining', 'stopped'];
const COMMANDS: readonly ThreadCommand[] = ['run', 'stop', 'halt'];

const BLOCK_WORDS = 64;
const STATE_WORD = 0;
const HEARTBEAT_WORD = 1;
const TICKS_WORD = 2;
const KERNEL_WORD = 3;
const COMMAND_WORD = 32;
const LETTERS_WORD = 33;
const BELL_WORD = 34;
const END_WORD = 35;

/** Control blocks for `count` threads. */
export function createThreadBlocks(count: number): SharedArrayBuffer {
  return new SharedArrayBuffer(count * BLOCK_WORDS * 4);
}

/** Index of a thread's doorbell word. */
export function bellIndex(thread: number): number {
  return thread * BLOCK_WORDS + BELL_WORD;
}

/** One thread's block, for the thread itself and its watchers. */
export class ThreadBlock implements Watchable {
  readonly #words: Int32Array;
  readonly #base: number;
  readonly #clock: MonotonicMs = new MonotonicMs();

  constructor(blocks: SharedArrayBuffer, thread: number) {
    this.#words = new Int32Array(blocks);
    this.#base = thread * BLOCK_WORDS;
  }

  state(): ThreadState {
    return nameOf(STATES, Atomics.load(this.#words, this.#base + STATE_WORD));
  }

  isWatched(): boolean {
    return this.state() === 'running';
  }

  /** Stores the kernel's id of the calling thread, which must own the block. */
  setKernelThread(): void {
    Atomics.store(this.#words, this.#base + KERNEL_WORD, ownThread());
  }

  kernelThread(): number {
    return Atomics.load(this.#words, this.#base + KERNEL_WORD);
  }

  /**
   * @returns whether the caller is the first to end the process because of this thread: only that one reports the
   * reason.
   */
  claimEnd(): boolean {
    return Atomics.compareExchange(this.#words, this.#base + END_WORD, 0, 1) === 0;
  }

  /** A change of state is also a heartbeat. */
  setState(state: ThreadState): void {
    this.heartbeat();
    Atomics.store(this.#words, this.#base + STATE_WORD, STATES.indexOf(state));
  }

  /** Records a heartbeat. A plain store suffices: watchers may see it a little later. */
  heartbeat(): void {
    this.#words[this.#base + HEARTBEAT_WORD] = this.#clock.now();
  }

  /** Changes with every heartbeat. */
  lastHeartbeat(): number {
    return Atomics.load(this.#words, this.#base + HEARTBEAT_WORD);
  }

  /** Called before and after the ticks of a thread's actors: the count is odd during the ticks. */
  beginTicks(): void {
    Atomics.add(this.#words, this.#base + TICKS_WORD, 1);
  }

  endTicks(): void {
    Atomics.add(this.#words, this.#base + TICKS_WORD, 1);
  }

  /** Wraps around. @returns the value for `hasTickedSince`. */
  ticks(): number {
    return Atomics.load(this.#words, this.#base + TICKS_WORD);
  }

  /** Whether all actors of the thread have begun and ended a tick after `ticks` was read. */
  hasTickedSince(ticks: number): boolean {
    const whole = ticks % 2 === 0 ? 2 : 3;
    return ((this.ticks() - ticks) | 0) >= whole;
  }

  command(): ThreadCommand {
    return nameOf(COMMANDS, Atomics.load(this.#words, this.#base + COMMAND_WORD));
  }

  /** Ring the thread's doorbell afterwards. */
  setCommand(command: ThreadCommand): void {
    Atomics.store(this.#words, this.#base + COMMAND_WORD, COMMANDS.indexOf(command));
  }

  /** Counts letters (new doorbell ports) sent to a plain thread, which does not run its event loop. */
  announceLetter(): void {
    Atomics.add(this.#words, this.#base + LETTERS_WORD, 1);
  }

  letters(): number {
    return Atomics.load(this.#words, this.#base + LETTERS_WORD);
  }
}

/** An object of a Watch: a thread of the node, of the verifier pool, or the history reader. */
export interface Watchable {
  /** Changes with every sign of progress. */
  lastHeartbeat(): number;
  /** The kernel's id of the thread, UNKNOWN_THREAD until it is set. */
  kernelThread(): number;
  /** Whether heartbeats are expected now. */
  isWatched(): boolean;
}

export interface Lost {
  /** Index in the list of watched threads. */
  readonly index: number;
  readonly hang: Hang;
}

/** Detects threads that hang, from their heartbeats and the kernel's accounting (hang-detection.ts). */
export class Watch {
  readonly #watched: readonly { readonly thread: Watchable; readonly gap: HeartbeatGap }[];
  #lookedAtMs: number;

  /** @param times - null where the kernel has no per-thread accounting. */
  constructor(threads: readonly Watchable[], times: ThreadTimesReader | null) {
    const starvation = new Starvation(times);
    this.#watched = threads.map((thread) => ({ thread, gap: new HeartbeatGap(starvation) }));
    this.#lookedAtMs = performance.now();
  }

  /** Call every WATCH_MS; more frequent calls are reduced to twice that rate. @returns null when no thread is lost. */
  lost(nowMs: number = performance.now()): Lost | null {
    const sinceMs = nowMs - this.#lookedAtMs;
    if (sinceMs < WATCH_MS / 2) return null;
    this.#lookedAtMs = nowMs;
    let lost: Lost | null = null;
    for (const [index, { thread, gap }] of this.#watched.entries()) {
      const look = { sinceMs, thread: thread.kernelThread() };
      const hang = gap.look(look, nowMs, () => thread.lastHeartbeat(), thread.isWatched());
      if (hang !== null && lost === null) lost = { index, hang };
    }
    return lost;
  }
}

function nameOf<Name extends string>(names: readonly Name[], index: number): Name {
  const name = names[index];
  if (name === undefined) throw new InvariantError(`a control block holds ${index}`);
  return name;
}
