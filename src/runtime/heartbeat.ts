/**
 * What threads say about themselves and to each other: one block of shared memory per thread.
 *
 *   byte 0    state · beat · ticks              written by the thread
 *   byte 128  command · letters · bell          written by others (the bell by both, see doorbell.ts)
 *
 *   starting ──▶ recovering ──▶ running ──▶ draining ──▶ stopped          a restart begins again with starting
 *           └─────────────────▶
 *
 * A running thread beats at least every 100 ms. One that has not beaten for HEARTBEAT_LOST_MS, as its watcher counts them,
 * is lost: the main thread watches the others (supervisor.ts) and every other thread watches the main one.
 *
 * A thread that recovers takes turns like a running one and reads what it is sent, but it is not watched, nor is one that
 * starts: the end of a recovery is one step that grows with what it finds (a whole checkpoint), and a node that ends itself
 * in it would do so at every start. One that hangs there is for whoever runs the node to see: it never becomes ready, and
 * what it says of its progress stands still. Draining is exempt too: it has the deadline of the stop.
 */
import { InvariantError } from '../core/assert.ts';
import { HEARTBEAT_LOST_MS, WATCH_MS } from '../core/limits.ts';
import { MonotonicMs } from './clock.ts';

export type ThreadState = 'starting' | 'recovering' | 'running' | 'draining' | 'stopped';
/** `stop`: handle everything that waits, then end. `halt`: end now, change nothing. */
export type ThreadCommand = 'run' | 'stop' | 'halt';

const STATES: readonly ThreadState[] = ['starting', 'recovering', 'running', 'draining', 'stopped'];
const COMMANDS: readonly ThreadCommand[] = ['run', 'stop', 'halt'];

const BLOCK_WORDS = 64;
const STATE_WORD = 0;
const BEAT_WORD = 1;
const TICKS_WORD = 2;
const COMMAND_WORD = 32;
const LETTERS_WORD = 33;
const BELL_WORD = 34;

/** Control blocks for `count` threads. */
export function createThreadBlocks(count: number): SharedArrayBuffer {
  return new SharedArrayBuffer(count * BLOCK_WORDS * 4);
}

/** The word of a thread's doorbell. */
export function bellIndex(thread: number): number {
  return thread * BLOCK_WORDS + BELL_WORD;
}

/** One thread's block, for the thread itself and for those who watch it. */
export class ThreadBlock {
  private readonly words: Int32Array;
  private readonly base: number;
  private readonly clock: MonotonicMs = new MonotonicMs();

  constructor(blocks: SharedArrayBuffer, thread: number) {
    this.words = new Int32Array(blocks);
    this.base = thread * BLOCK_WORDS;
  }

  state(): ThreadState {
    return nameOf(STATES, Atomics.load(this.words, this.base + STATE_WORD));
  }

  /** A change of state is also a beat. */
  setState(state: ThreadState): void {
    this.beat();
    Atomics.store(this.words, this.base + STATE_WORD, STATES.indexOf(state));
  }

  /** Says that the thread is alive. A plain store: being seen a little late is fine. */
  beat(): void {
    this.words[this.base + BEAT_WORD] = this.clock.now();
  }

  /** Differs from one beat to the next. */
  lastBeat(): number {
    return Atomics.load(this.words, this.base + BEAT_WORD);
  }

  /** Around the ticks of a thread's actors: the count is odd while they tick. */
  beginTicks(): void {
    Atomics.add(this.words, this.base + TICKS_WORD, 1);
  }

  endTicks(): void {
    Atomics.add(this.words, this.base + TICKS_WORD, 1);
  }

  /** Wraps. @returns what `hasTickedSince` compares with. */
  ticks(): number {
    return Atomics.load(this.words, this.base + TICKS_WORD);
  }

  /** Whether all actors of the thread have begun and ended a tick after `ticks` was read. */
  hasTickedSince(ticks: number): boolean {
    const whole = ticks % 2 === 0 ? 2 : 3;
    return ((this.ticks() - ticks) | 0) >= whole;
  }

  command(): ThreadCommand {
    return nameOf(COMMANDS, Atomics.load(this.words, this.base + COMMAND_WORD));
  }

  /** Ring the thread's bell afterwards. */
  setCommand(command: ThreadCommand): void {
    Atomics.store(this.words, this.base + COMMAND_WORD, COMMANDS.indexOf(command));
  }

  /** Counts letters (new doorbell ports) posted to a plain thread, which does not run its event loop. */
  announceLetter(): void {
    Atomics.add(this.words, this.base + LETTERS_WORD, 1);
  }

  letters(): number {
    return Atomics.load(this.words, this.base + LETTERS_WORD);
  }
}

/**
 * Judges whether other threads are alive. Silence is counted in looks of the watcher, each for the time since the one
 * before but for no more than it should have been: a watcher that itself gets few turns (a crowded machine) or none (a
 * suspended one) gives everybody as much more time.
 *
 *   looks    │100 ms│100 ms│   700 ms    │100 ms│        counted 400 ms of silence
 */
export class Watch {
  private readonly watched: readonly Watched[];
  private readonly clock: MonotonicMs = new MonotonicMs();
  private lookedAtMs: number;

  constructor(blocks: readonly ThreadBlock[]) {
    this.watched = blocks.map((block) => ({ block, beat: block.lastBeat(), silentMs: 0 }));
    this.lookedAtMs = this.clock.now();
  }

  /** Call every WATCH_MS. @returns the index, in the list given, of a thread that is lost; −1 when all are well. */
  lost(): number {
    const nowMs = this.clock.now();
    const sinceMs = Math.min((nowMs - this.lookedAtMs) | 0, WATCH_MS);
    this.lookedAtMs = nowMs;
    let lost = -1;
    for (const [index, watched] of this.watched.entries()) {
      const beat = watched.block.lastBeat();
      const isSilent = beat === watched.beat && watched.block.state() === 'running';
      watched.beat = beat;
      watched.silentMs = isSilent ? watched.silentMs + sinceMs : 0;
      if (watched.silentMs > HEARTBEAT_LOST_MS && lost < 0) lost = index;
    }
    return lost;
  }
}

interface Watched {
  readonly block: ThreadBlock;
  /** As it was at the last look. */
  beat: number;
  silentMs: number;
}

function nameOf<Name extends string>(names: readonly Name[], index: number): Name {
  const name = names[index];
  if (name === undefined) throw new InvariantError(`a control block holds ${index}`);
  return name;
}
