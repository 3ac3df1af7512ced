/**
 * Whether this process leads, in memory that all its threads read (cluster.md 7): the state, the epoch, the last applied record,
 * the lease, and the leader's addresses. One thread writes: that of the stream, or on one machine the main thread.
 *
 * The lease (cluster.md 7.2) ends at a time of the monotonic clock. It is also over when the wall clock ran 100 ms or more further
 * than the monotonic one since the bytes were sent: a guest that was suspended. `state()` compares it at every call, so a
 * process that was stopped is `stalled` before it answers what it reads afterwards.
 *
 * The texts lie behind a sequence lock: odd while they change.
 */
import { assert } from '../core/assert.ts';

/** In the order of their numbers in shared memory. */
export const NODE_STATES = [
  'starting',
  'joining',
  'following',
  'campaigning',
  'restoring',
  'leading',
  'stalled',
  'handing-over',
  'ended',
] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** The node that leads, by the takeover record; null: no address is advertised. */
interface Leader {
  readonly node: string;
  readonly oms: string | null;
  readonly mds: string | null;
}

interface LeadershipView {
  readonly state: NodeState;
  readonly epoch: number;
  /** The last applied record. */
  readonly sequence: number;
  /** Null while none is known. */
  readonly leader: Leader | null;
}

/** Since the first sending of the last record that was stored. */
interface Lease {
  /** Monotonic milliseconds (`monotonicMs`). */
  readonly sentMs: number;
  /** `Date.now()` then. */
  readonly sentWallMs: number;
  /** Monotonic milliseconds. */
  readonly endsMs: number;
}

const WALL_AHEAD_MS_MAX = 100;
const TEXT_BYTES = 1_024;

// Int32 words, then doubles, then the text.
const STATE = 0;
const LOCK = 1;
const TEXT_LENGTH = 2;
const WORDS = 4;
const EPOCH = 0;
const SEQUENCE = 1;
const LEASE_ENDS = 2;
const LEASE_SENT = 3;
const LEASE_SENT_WALL = 4;
const DOUBLES = 5;
const BYTES = WORDS * 4 + DOUBLES * 8 + TEXT_BYTES;

/** One clock for all threads of the machine, in milliseconds. */
function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}

export class Leadership {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #doubles: Float64Array;
  readonly #text: Uint8Array;
  readonly #nowMs: () => number;
  readonly #wallMs: () => number;

  /** @param memory of another thread; left out, it is made: `starting`, epoch 0, a lease without end. */
  constructor(memory?: SharedArrayBuffer, nowMs: () => number = monotonicMs, wallMs: () => number = Date.now) {
    this.memory = memory ?? new SharedArrayBuffer(BYTES);
    this.#words = new Int32Array(this.memory, 0, WORDS);
    this.#doubles = new Float64Array(this.memory, WORDS * 4, DOUBLES);
    this.#text = new Uint8Array(this.memory, WORDS * 4 + DOUBLES * 8, TEXT_BYTES);
    this.#nowMs = nowMs;
    this.#wallMs = wallMs;
    if (memory === undefined) this.#doubles[LEASE_ENDS] = Number.POSITIVE_INFINITY;
  }

  // ---- the writer

  setState(state: NodeState): void {
    Atomics.store(this.#words, STATE, NODE_STATES.indexOf(state));
  }

  setSequence(sequence: number): void {
    this.#doubles[SEQUENCE] = sequence;
  }

  /** The leader of an epoch; null: none is known. @throws InvariantError for texts beyond 1 KiB. */
  setLeader(epoch: number, leader: Leader | null): void {
    // One line each: neither a name nor an address has a line end.
    const lines = leader === null ? [] : [leader.node, leader.oms ?? '', leader.mds ?? ''];
    const bytes = Buffer.from(lines.join('\n'), 'utf8');
    assert(bytes.length <= TEXT_BYTES, 'the addresses of a leader fit 1 KiB');
    Atomics.add(this.#words, LOCK, 1);
    this.#doubles[EPOCH] = epoch;
    this.#text.set(bytes);
    Atomics.store(this.#words, TEXT_LENGTH, bytes.length);
    Atomics.add(this.#words, LOCK, 1);
  }

  setLease({ sentMs, sentWallMs, endsMs }: Lease): void {
    Atomics.add(this.#words, LOCK, 1);
    this.#doubles[LEASE_SENT] = sentMs;
    this.#doubles[LEASE_SENT_WALL] = sentWallMs;
    this.#doubles[LEASE_ENDS] = endsMs;
    Atomics.add(this.#words, LOCK, 1);
  }

  // ---- readers

  /** `stalled` for a leader whose lease is over. Allocates nothing on one machine. */
  state(): NodeState {
    const state = NODE_STATES[Atomics.load(this.#words, STATE)] ?? 'ended';
    return state === 'leading' && this.leaseLeftMs() <= 0 ? 'stalled' : state;
  }

  /** Milliseconds; infinite on one machine, 0 or less when it is over. */
  leaseLeftMs(): number {
    for (;;) {
      const lock = Atomics.load(this.#words, LOCK);
      if ((lock & 1) !== 0) continue;
      const endsMs = this.#doubles[LEASE_ENDS] ?? 0;
      if (endsMs === Number.POSITIVE_INFINITY) return endsMs;
      const sentMs = this.#doubles[LEASE_SENT] ?? 0;
      const sentWallMs = this.#doubles[LEASE_SENT_WALL] ?? 0;
      const nowMs = this.#nowMs();
      const wallMs = this.#wallMs();
      if (Atomics.load(this.#words, LOCK) !== lock) continue;
      // mutant: suspended-guest
      return wallMs - sentWallMs - (nowMs - sentMs) >= WALL_AHEAD_MS_MAX ? 0 : endsMs - nowMs;
    }
  }

  /** What a lease lasts from its sending, in milliseconds; null on one machine, and before the first one. */
  leaseLengthMs(): number | null {
    for (;;) {
      const lock = Atomics.load(this.#words, LOCK);
      if ((lock & 1) !== 0) continue;
      const lengthMs = (this.#doubles[LEASE_ENDS] ?? 0) - (this.#doubles[LEASE_SENT] ?? 0);
      if (Atomics.load(this.#words, LOCK) !== lock) continue;
      return Number.isFinite(lengthMs) && lengthMs > 0 ? lengthMs : null;
    }
  }

  view(): LeadershipView {
    for (;;) {
      const lock = Atomics.load(this.#words, LOCK);
      if ((lock & 1) !== 0) continue;
      const text = Buffer.from(this.#text.slice(0, Atomics.load(this.#words, TEXT_LENGTH))).toString('utf8');
      const epoch = this.#doubles[EPOCH] ?? 0;
      if (Atomics.load(this.#words, LOCK) !== lock) continue;
      const [node = '', oms = '', mds = ''] = text.split('\n');
      const leader = text === '' ? null : { node, oms: oms === '' ? null : oms, mds: mds === '' ? null : mds };
      return { state: this.state(), epoch, sequence: this.#doubles[SEQUENCE] ?? 0, leader };
    }
  }
}
