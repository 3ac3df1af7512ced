/**
 * Shared words: flags and figures that the threads of a node read of each other. They hold the verdict on the data
 * directory, its epoch, the progress of recovery, whether the market-data listener may open and on which port it did,
 * whether depth diffs are still to be published, which shards a test hook has stalled, and the last number of each
 * market's public depth.
 */

import { SHARDS_MAX } from '../core/actor-names.ts';

const MAY_LISTEN = 0;
const MDS_PORT = 1;
const DEPTH_WAITS = 2;
/** The step of recovery, and how much of it is done. */
const RECOVERY_STEP = 3;
const RECOVERY_DONE = 4;
/** How much the step has in all; 0 where that is not counted. */
const RECOVERY_OF = 5;
/** The epoch of the claim on the data directory. */
const EPOCH = 6;
/** Whether the data directory is sound, so that clearing may open it; 0 while it is being checked. */
const CHECK = 7;
/** Whether market data has read the history that it starts with. */
const MARKET_HISTORY = 8;
const SOUND = 1;
const REFUSED = 2;
/** One word per shard from here on. */
const STALLED = 9;
const WORDS = STALLED + SHARDS_MAX;
/** A multiple of 8: depths lie behind the words. */
const WORDS_BYTES = (WORDS * Int32Array.BYTES_PER_ELEMENT + 7) & ~7;
/** Markets with a shared depth sequence. */
const MARKETS_SEEN = 16_384;
/** The first record of the evidence and the last that was durable at the start; −1 for an empty log. */
const EVIDENCE_FIRST = MARKETS_SEEN;
const EVIDENCE_DURABLE = MARKETS_SEEN + 1;
const BYTES = WORDS_BYTES + (MARKETS_SEEN + 2) * Float64Array.BYTES_PER_ELEMENT;

/** A waiting thread gives a heartbeat as often as a parked one (doorbell.ts). */
const HEARTBEAT_MS = 100;

export class NodeWords {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #depths: Float64Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(BYTES)) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, WORDS);
    this.#depths = new Float64Array(memory, WORDS_BYTES);
  }

  allowListening(): void {
    Atomics.store(this.#words, MAY_LISTEN, 1);
  }

  mayListen(): boolean {
    return Atomics.load(this.#words, MAY_LISTEN) === 1;
  }

  /** The shard stops reading commands, or goes on (operator-api.md 7.3 `stall_market`). */
  stallShard(shard: number, isStalled: boolean): void {
    Atomics.store(this.#words, STALLED + shard, isStalled ? 1 : 0);
  }

  isStalled(shard: number): boolean {
    return Atomics.load(this.#words, STALLED + shard) === 1;
  }

  setChecked(): void {
    this.#judge(SOUND);
  }

  /** The start is refused: `waitUntilChecked` throws. */
  setRefused(): void {
    this.#judge(REFUSED);
  }

  #judge(verdict: number): void {
    Atomics.store(this.#words, CHECK, verdict);
    Atomics.notify(this.#words, CHECK);
  }

  /** Blocks a thread without an event loop. @param heartbeat called now and then. @throws Error when the start is refused. */
  waitUntilChecked(heartbeat: () => void): void {
    while (Atomics.wait(this.#words, CHECK, 0, HEARTBEAT_MS) === 'timed-out') heartbeat();
    if (Atomics.load(this.#words, CHECK) === REFUSED) throw new Error('the start is refused');
  }

  /** How far the evidence goes at this start; before the directory is judged sound. @param extent null for an empty log. */
  setEvidence(extent: { readonly first: number; readonly durable: number } | null): void {
    this.#depths[EVIDENCE_FIRST] = extent?.first ?? -1;
    this.#depths[EVIDENCE_DURABLE] = extent?.durable ?? -1;
  }

  /** Once the directory is judged. */
  evidence(): { readonly first: number; readonly durable: number } | null {
    const [first = -1, durable = -1] = this.#depths.subarray(EVIDENCE_FIRST, EVIDENCE_DURABLE + 1);
    return first < 0 ? null : { first, durable };
  }

  setMdsPort(port: number): void {
    Atomics.store(this.#words, MDS_PORT, port);
  }

  /** 0 while the listener is not open. */
  mdsPort(): number {
    return Atomics.load(this.#words, MDS_PORT);
  }

  setMarketHistory(): void {
    Atomics.store(this.#words, MARKET_HISTORY, 1);
  }

  hasMarketHistory(): boolean {
    return Atomics.load(this.#words, MARKET_HISTORY) === 1;
  }

  setEpoch(epoch: number): void {
    Atomics.store(this.#words, EPOCH, epoch);
  }

  epoch(): number {
    return Atomics.load(this.#words, EPOCH);
  }

  /** Written by one thread; a step's figures are there before it, and one that has begun is never seen with less done. */
  setRecovery(step: number, done: number, of: number): void {
    if (step !== Atomics.load(this.#words, RECOVERY_STEP)) Atomics.store(this.#words, RECOVERY_STEP, 0);
    Atomics.store(this.#words, RECOVERY_OF, of);
    Atomics.store(this.#words, RECOVERY_DONE, done);
    Atomics.store(this.#words, RECOVERY_STEP, step);
  }

  /** Step 0 before recovery begins, and while another step begins. */
  recovery(): { readonly step: number; readonly done: number; readonly of: number } {
    const step = Atomics.load(this.#words, RECOVERY_STEP);
    const [done, of] = [Atomics.load(this.#words, RECOVERY_DONE), Atomics.load(this.#words, RECOVERY_OF)];
    const isSame = step === Atomics.load(this.#words, RECOVERY_STEP);
    return isSame ? { step, done, of } : { step: 0, done: 0, of: 0 };
  }

  /** A book has changed since its last diff, which is spaced by time. */
  setDepthWaits(waits: boolean): void {
    Atomics.store(this.#words, DEPTH_WAITS, waits ? 1 : 0);
  }

  depthWaits(): boolean {
    return Atomics.load(this.#words, DEPTH_WAITS) === 1;
  }

  /** Sets the sequence of the last depth diff of a market; one writer, plain stores. */
  setDepthSequence(marketIndex: number, sequence: number): void {
    this.#depths[marketIndex] = sequence;
  }

  /** 0 before the first image of the book. */
  depthSequence(marketIndex: number): number {
    return this.#depths[marketIndex] ?? 0;
  }
}
