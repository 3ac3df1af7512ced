/**
 * A replicated log by script: one stream in memory, which refuses what does not follow, and the end of it that a node of a
 * test has. When an append reaches the stream, and when its outcome is known, is the test's to say.
 */
import assert from 'node:assert/strict';
import type {
  BegunKind,
  BegunRecord,
  Campaign,
  LogEvent,
  OpenedJournal,
  RecordPlace,
  ReplicatedLog,
} from '../../src/clearing/replicated-log.ts';
import { must } from '../../src/core/assert.ts';
import type { Sequence } from '../../src/core/units.ts';

/** Holds one record for each sequence, for ever. */
export class ScriptedStream {
  readonly records: Uint8Array[] = [];

  /** @returns whether it was the next one, or is there already. */
  append(sequence: number, bytes: Uint8Array): boolean {
    const there = this.records[sequence - 1];
    if (there !== undefined) return Buffer.compare(there, bytes) === 0;
    if (sequence !== this.records.length + 1) return false;
    this.records.push(bytes);
    return true;
  }

  at(sequence: number): Uint8Array {
    return must(this.records[sequence - 1], `the stream has record ${sequence}`);
  }
}

interface OnItsWay {
  readonly kind: BegunKind;
  readonly sequence: Sequence;
  readonly bytes: Uint8Array;
}

export class ScriptedLog implements ReplicatedLog {
  waitsForStandby = false;
  aliveMs: number = Number.POSITIVE_INFINITY;
  /** Appends reach the stream and are answered at once. */
  isInstant = true;
  /** Begun and not answered. */
  onItsWay: OnItsWay | null = null;
  journal: OpenedJournal | null = null;
  readonly begun: BegunKind[] = [];
  readonly flushes: RecordPlace[] = [];
  isRestored = false;
  readonly #stream: ScriptedStream;
  readonly #events: LogEvent[] = [];
  #next = 1;

  constructor(stream: ScriptedStream) {
    this.#stream = stream;
  }

  /** What the stream has is the truth about the tail; one that it has not, and that follows its end, is appended again. */
  opened(journal: OpenedJournal): void {
    this.journal = journal;
    const { tail } = journal;
    this.#next = journal.applied.sequence + 1;
    if (tail === null) return;
    const isThere = this.#stream.append(tail.sequence, Uint8Array.from(tail.bytes));
    this.#events.push({ kind: isThere ? 'tailStored' : 'tailDropped' });
    if (isThere) this.#next += 1;
  }

  begin({ kind, sequence, bytes }: BegunRecord): void {
    assert.equal(this.onItsWay, null, 'one record is on its way at a time');
    this.begun.push(kind);
    this.onItsWay = { kind, sequence, bytes: Uint8Array.from(bytes) };
    if (this.isInstant) this.answer();
  }

  /** The append reaches the stream; nobody hears of it yet. @returns whether the stream took it. */
  reach(): boolean {
    const { sequence, bytes } = must(this.onItsWay, 'a record is on its way');
    return this.#stream.append(sequence, bytes);
  }

  /** The outcome is known. */
  answer(): void {
    const isStored = this.reach();
    const { kind, sequence } = must(this.onItsWay, 'a record is on its way');
    assert.ok(isStored || kind === 'takeover', 'a leader that is over ends');
    this.onItsWay = null;
    if (isStored) this.#next = sequence + 1;
    this.#events.push({ kind: isStored ? 'stored' : 'refused', sequence });
  }

  campaign(campaign: Campaign): void {
    this.#events.push({ kind: 'campaign', ...campaign });
  }

  handOver(to: string | null): void {
    this.#events.push({ kind: 'handOver', to });
  }

  /** A standby has flushed a record. */
  confirm(sequence: number): void {
    this.#events.push({ kind: 'confirmed', sequence: sequence as Sequence });
  }

  /** Gives so many records of the stream, as many as there are at most. @returns how many. */
  give(count: number = Number.POSITIVE_INFINITY): number {
    let given = 0;
    for (; given < count && this.#next <= this.#stream.records.length; given += 1, this.#next += 1) {
      const bytes = Uint8Array.from(this.#stream.at(this.#next));
      this.#events.push({ kind: 'record', sequence: this.#next as Sequence, bytes });
    }
    return given;
  }

  /** Gives any event, also one that no log may give. */
  force(event: LogEvent): void {
    this.#events.push(event);
  }

  flushed(place: RecordPlace): void {
    this.flushes.push(place);
  }

  restored(): void {
    this.isRestored = true;
  }

  poll(): LogEvent | null {
    return this.#events.shift() ?? null;
  }

  hasEvents(): boolean {
    return this.#events.length > 0;
  }
}
