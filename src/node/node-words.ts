/**
 * A few words that threads share: may clearing open the data directory, may the market-data
 * listener open, which port it has, whether depth diffs wait for
 * their time, how far recovery is, the epoch of the data directory, which shards a test hook has stalled, and how far
 * each market's public depth is numbered.
 */

import { SHARDS_MAX } from '../core/actor-names.ts';

const MAY_LISTEN = 0;
const MDS_PORT = 1;
const DEPTH_WAITS = 2;
/** What a recovering thread does, and how far it is. */
const RECOVERY_STEP = 3;
const RECOVERY_DONE = 4;
/** Of how many; 0 where it is not known. */
const RECOVERY_OF = 5;
/** Of the claim on the data directory. */
const EPOCH = 6;
/** Whether the data directory is sound, so that clearing may open it; 0 while nobody knows. */
const CHECK = 7;
const SOUND = 1;
const REFUSED = 2;
/** One word per shard from here on. */
const STALLED = 8;
const WORDS = STALLED + SHARDS_MAX;
/** A multiple of 8: depths lie behind the words. */
const WORDS_BYTES = (WORDS * Int32Array.BYTES_PER_ELEMENT + 7) & ~7;
/** Markets whose depth sequence other threads can see. */
const MARKETS_SEEN = 16_384;
const BYTES = WORDS_BYTES + MARKETS_SEEN * Float64Array.BYTES_PER_ELEMENT;

/** A thread that waits beats like one that sleeps (doorbell.ts). */
const BEAT_MS = 100;

export class NodeWords {
  readonly memory: SharedArrayBuffer;
  private readonly words: Int32Array;
  private readonly depths: Float64Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(BYTES)) {
    this.memory = memory;
    this.words = new Int32Array(memory, 0, WORDS);
    this.depths = new Float64Array(memory, WORDS_BYTES);
  }

  allowListening(): void {
    Atomics.store(this.words, MAY_LISTEN, 1);
  }

  mayListen(): boolean {
    return Atomics.load(this.words, MAY_LISTEN) === 1;
  }

  /** The shard stops reading commands, or goes on (operator-api.md 7.3 `stall_market`). */
  stallShard(shard: number, isStalled: boolean): void {
    Atomics.store(this.words, STALLED + shard, isStalled ? 1 : 0);
  }

  isStalled(shard: number): boolean {
    return Atomics.load(this.words, STALLED + shard) === 1;
  }

  setChecked(): void {
    this.#judge(SOUND);
  }

  /** The start is refused: who waits for the check ends. */
  setRefused(): void {
    this.#judge(REFUSED);
  }

  #judge(verdict: number): void {
    Atomics.store(this.words, CHECK, verdict);
    Atomics.notify(this.words, CHECK);
  }

  /** Blocks a thread without an event loop. @param beat called now and then. @throws Error when the start is refused. */
  waitUntilChecked(beat: () => void): void {
    while (Atomics.wait(this.words, CHECK, 0, BEAT_MS) === 'timed-out') beat();
    if (Atomics.load(this.words, CHECK) === REFUSED) throw new Error('the start is refused');
  }

  setMdsPort(port: number): void {
    Atomics.store(this.words, MDS_PORT, port);
  }

  /** 0 while the listener is not open. */
  mdsPort(): number {
    return Atomics.load(this.words, MDS_PORT);
  }

  setEpoch(epoch: number): void {
    Atomics.store(this.words, EPOCH, epoch);
  }

  epoch(): number {
    return Atomics.load(this.words, EPOCH);
  }

  /** Written by one thread; a step's figures are there before it, and one that has begun is never seen with less done. */
  setRecovery(step: number, done: number, of: number): void {
    if (step !== Atomics.load(this.words, RECOVERY_STEP)) Atomics.store(this.words, RECOVERY_STEP, 0);
    Atomics.store(this.words, RECOVERY_OF, of);
    Atomics.store(this.words, RECOVERY_DONE, done);
    Atomics.store(this.words, RECOVERY_STEP, step);
  }

  /** Step 0 before recovery begins, and while another step begins. */
  recovery(): { readonly step: number; readonly done: number; readonly of: number } {
    const step = Atomics.load(this.words, RECOVERY_STEP);
    const [done, of] = [Atomics.load(this.words, RECOVERY_DONE), Atomics.load(this.words, RECOVERY_OF)];
    const isSame = step === Atomics.load(this.words, RECOVERY_STEP);
    return isSame ? { step, done, of } : { step: 0, done: 0, of: 0 };
  }

  /** A book has changed since its last diff, which is spaced by time. */
  setDepthWaits(waits: boolean): void {
    Atomics.store(this.words, DEPTH_WAITS, waits ? 1 : 0);
  }

  depthWaits(): boolean {
    return Atomics.load(this.words, DEPTH_WAITS) === 1;
  }

  /** Of the last depth diff of a market; one writer, plain stores. */
  setDepthSequence(marketIndex: number, sequence: number): void {
    this.depths[marketIndex] = sequence;
  }

  /** 0 before the first image of the book. */
  depthSequence(marketIndex: number): number {
    return this.depths[marketIndex] ?? 0;
  }
}
