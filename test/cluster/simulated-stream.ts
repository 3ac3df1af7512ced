/**
 * The journal stream in memory, as a list with a compare-and-set append, and everything that makes a stream awkward: answers that
 * are late or lost, appends refused without a reason, elections, gets answered by a server that is behind, a log out of step with
 * acknowledgements, times without room, and as a mode the loss of a suffix. One seeded generator; time is that of the simulation.
 */
import type { AppendAnswer, StreamMessage } from '../../src/cluster/events.ts';

const MS = 1_000_000;
const ANSWER_WITHIN_NS: number = 400 * MS;
const BATCH = 256;
/** Too little for the largest record. */
const ROOM_OF_A_FULL_ONE = 1_000_000;

/** A seeded generator (mulberry32). */
export class Chance {
  #seed: number;

  constructor(seed: number) {
    this.#seed = seed | 0;
  }

  /** From 0 up to 1. */
  next(): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#seed ^ (this.#seed >>> 15), 1 | this.#seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  is(share: number): boolean {
    return this.next() < share;
  }
}

/** What happens later, in the order of its time. */
export class Agenda {
  readonly #heap: { readonly atNs: number; readonly order: number; readonly run: () => void }[] = [];
  #order = 0;
  nowNs = 0;

  after(delayNs: number, run: () => void): void {
    const heap = this.#heap;
    this.#order += 1;
    heap.push({ atNs: this.nowNs + delayNs, order: this.#order, run });
    for (let at = heap.length - 1; at > 0; ) {
      const up = (at - 1) >> 1;
      if (!this.#isBefore(at, up)) break;
      this.#swap(at, up);
      at = up;
    }
  }

  /** Runs the next one. @returns false when there is none. */
  step(): boolean {
    const heap = this.#heap;
    const next = heap[0];
    const last = heap.pop();
    if (next === undefined || last === undefined) return false;
    if (heap.length > 0) {
      heap[0] = last;
      for (let at = 0; ; ) {
        let least = at;
        for (const child of [2 * at + 1, 2 * at + 2])
          if (child < heap.length && this.#isBefore(child, least)) least = child;
        if (least === at) break;
        this.#swap(at, least);
        at = least;
      }
    }
    this.nowNs = next.atNs;
    next.run();
    return true;
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    if (one === undefined || other === undefined) return false;
    return one.atNs < other.atNs || (one.atNs === other.atNs && one.order < other.order);
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    if (one === undefined || other === undefined) return;
    this.#heap[a] = other;
    this.#heap[b] = one;
  }
}

/** What a node hears. */
export interface StreamReader {
  heard(message: StreamMessage): void;
}

export class SimulatedStream {
  readonly records: StreamMessage[] = [];
  readonly #agenda: Agenda;
  readonly #chance: Chance;
  /** Of each node, whether it reaches the servers. */
  readonly #links = new Map<StreamReader, boolean>();
  #leaderlessUntilNs = 0;
  /** Whether the stream takes no record for want of room. */
  isFull = false;
  /** Share of messages that are lost, answers that are lost, appends that are refused for nothing. */
  faults = 0;

  constructor(agenda: Agenda, chance: Chance) {
    this.#agenda = agenda;
    this.#chance = chance;
  }

  get end(): number {
    return this.records.length;
  }

  connect(reader: StreamReader): void {
    this.#links.set(reader, true);
  }

  disconnect(reader: StreamReader): void {
    this.#links.delete(reader);
  }

  cut(reader: StreamReader, isCut: boolean): void {
    if (this.#links.has(reader)) this.#links.set(reader, !isCut);
  }

  /** The servers elect another leader of the stream. */
  elect(): void {
    this.#leaderlessUntilNs = this.#agenda.nowNs + this.#chance.between(4_000, 9_000) * MS;
  }

  /** As a lost suffix: what no server promises not to do. */
  lose(count: number): void {
    this.records.length = Math.max(0, this.records.length - count);
  }

  heal(): void {
    this.#leaderlessUntilNs = 0;
    this.isFull = false;
    this.faults = 0;
    for (const reader of this.#links.keys()) this.#links.set(reader, true);
  }

  /** @param expectedEnd the end that the stream must have; null for any. */
  append(
    reader: StreamReader,
    message: StreamMessage,
    expectedEnd: number | null,
    answered: (answer: AppendAnswer) => void,
  ): void {
    let isAnswered = false;
    const answer = (value: AppendAnswer, delayNs: number): void => {
      this.#agenda.after(delayNs, () => {
        if (isAnswered || (value.kind !== 'unknown' && this.#links.get(reader) !== true)) return;
        isAnswered = true;
        answered(value);
      });
    };
    answer({ kind: 'unknown' }, ANSWER_WITHIN_NS);
    if (!this.#reaches(reader)) return;
    this.#agenda.after(this.#delayNs(), () => {
      if (this.#isLeaderless) {
        if (this.#chance.is(0.5)) answer({ kind: 'unknown' }, this.#delayNs());
        return;
      }
      if (this.#chance.is(this.faults)) return;
      if (this.isFull) {
        answer({ kind: 'unknown' }, this.#delayNs());
        return;
      }
      const isRefused = this.#chance.is(this.faults / 2);
      if (isRefused || (expectedEnd !== null && expectedEnd !== this.end)) {
        if (!this.#chance.is(this.faults)) answer({ kind: 'refused', end: this.end }, this.#delayNs());
        return;
      }
      const stored = { ...message, sequence: this.end + 1 };
      this.records.push(stored);
      for (const other of this.#links.keys()) this.#tell(other, stored);
      if (!this.#chance.is(this.faults * 2)) answer({ kind: 'stored', sequence: stored.sequence }, this.#delayNs());
    });
  }

  get(reader: StreamReader, from: number, got: (messages: readonly StreamMessage[]) => void): void {
    if (!this.#reaches(reader)) {
      this.#agenda.after(ANSWER_WITHIN_NS, () => got([]));
      return;
    }
    this.#agenda.after(this.#delayNs(), () => {
      // Some server answers, and it may be behind.
      const behind = this.#chance.is(0.2 + this.faults) ? this.#chance.below(4) : 0;
      const messages = this.records.slice(Math.max(from - 1, 0), Math.max(this.end - behind, 0)).slice(0, BATCH);
      this.#agenda.after(this.#delayNs(), () => got(this.#links.get(reader) === true ? messages : []));
    });
  }

  /** Answered by the stream's leader. @param answered null for no answer. */
  info(reader: StreamReader, answered: (info: { first: number; end: number; room: number } | null) => void): void {
    const isLost = !this.#reaches(reader) || this.#chance.is(this.faults);
    this.#agenda.after(isLost ? ANSWER_WITHIN_NS : this.#delayNs(), () => {
      if (isLost || this.#isLeaderless) {
        answered(null);
        return;
      }
      const info = { first: 1, end: this.end, room: this.isFull ? ROOM_OF_A_FULL_ONE : 1 << 30 };
      this.#agenda.after(this.#delayNs(), () => answered(this.#links.get(reader) === true ? info : null));
    });
  }

  get #isLeaderless(): boolean {
    return this.#agenda.nowNs < this.#leaderlessUntilNs;
  }

  #reaches(reader: StreamReader): boolean {
    return this.#links.get(reader) === true && !this.#chance.is(this.faults);
  }

  #tell(reader: StreamReader, message: StreamMessage): void {
    if (this.#links.get(reader) !== true || this.#chance.is(this.faults)) return;
    this.#agenda.after(this.#delayNs(), () => {
      if (this.#links.get(reader) === true) reader.heard(message);
    });
  }

  #delayNs(): number {
    const slow = this.#chance.is(0.02) ? this.#chance.between(20, 300) : 0;
    return (this.#chance.between(0.1, 3) + slow) * MS;
  }
}
