/**
 * Clearing's side of a replicated log (replicated-log.ts): a commit in two halves, and what a node does that follows.
 *
 *   following   records of the stream are flushed, applied, checkpointed; no input is taken, nothing leaves
 *   leading     sealed ─┬─▶ append   (log)      ┐ both done: applied ─▶ effects leave, perhaps once a standby has the record
 *                       └─▶ own flush (journal) ┘
 *   takeover    sealed ──▶ append ──▶ stored ──▶ own flush ──▶ applied ──▶ everything is sent, as at a start
 *   handed over behind the stored handover nothing is begun any more
 *
 * Between begun and stored the state stands still: nothing is applied, checkpointed or announced, so nothing has to be taken
 * back. Alive records go on meanwhile wherever a record may be begun.
 *
 * Not here: what the actor does with inputs, effects and tables (clearing-actor.ts).
 */
import { assert, must } from '../core/assert.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import type { ReplicatedJournal, SealedRecord } from './durability.ts';
import type { Effect } from './effects.ts';
import type { Batch, ClearingInput } from './inputs.ts';
import { BatchBuffer } from './journal-batch.ts';
import { applyRecord, checkRecord, type RecordToApply } from './records.ts';
import type { BegunKind, Campaign, HashedState, LogEvent, RecordPlace, ReplicatedLog } from './replicated-log.ts';
import type { ClearingState } from './state.ts';

/** A batch that has so many bytes takes no further input (cluster.md 5): with what may still be added its record is below 1,000,000. */
export const BATCH_CLOSES_AT_BYTES: number = 512 * 1_024;
/**
 * A larger command of the node is refused: behind a batch that is about to close, with a verdict for each order and the steps
 * that are due, its record is still below what a stream takes.
 */
export const COMMAND_BYTES_MAX: number = 256 * 1_024;
/** A larger record, of one machine, is in no stream. */
const STREAM_RECORD_BYTES_MAX = 1_000_000;
/** Records that one flush of a node that follows takes at most, and their bytes. */
const FOLLOWED_PER_FLUSH = 256;
const FOLLOWED_BYTES_PER_FLUSH = 4 << 20;
/** Events that one turn takes at most. */
const EVENTS_PER_TURN = 512;

const PASSED: Pick<HashedState, 'state' | 'why'> = { state: null, why: 'PASSED' };

export interface Replication {
  readonly log: ReplicatedLog;
  readonly journal: ReplicatedJournal;
  /** Where its messages come by a channel of the actor; absent: they come otherwise. */
  readonly inbox?: LogInbox;
  /** Called when the own last record was not in the stream, and was put into `dropped/`. */
  readonly dropped?: (sequence: Sequence) => void;
  /** Whether the log has ended: what is on its way stays unknown, and the next start finds out. Absent: it does not end. */
  readonly hasEnded?: () => boolean;
}

/** The end of the log to which clearing's channel from the replicator leads. */
export interface LogInbox {
  readonly channel: number;
  /** Whether another message may be taken: what was taken is bounded. */
  readonly hasRoom: () => boolean;
  readonly receive: (typeId: number, views: Views, at: number) => void;
}

/** What the actor does for it. */
export interface ReplicationHost {
  readonly state: () => ClearingState;
  /** The clock, no earlier than the last record. */
  readonly nowNs: () => TimestampNs;
  /** Time goes on from the last record. */
  readonly notBefore: (timeNs: TimestampNs) => void;
  readonly elapsedMs: () => number;
  /** An own flush is about to begin, and was done. */
  readonly flushing: () => void;
  readonly flushed: (sequence: Sequence) => void;
  /** Applies an own batch, and returns what follows from it. */
  readonly apply: (batch: Batch) => readonly Effect[];
  /** A record is applied. */
  readonly applied: (sequence: Sequence, timeNs: TimestampNs) => void;
  /** The same of a record whose outcomes were just recorded: it is flushed and stored. */
  readonly decided: (record: RecordPlace & { readonly epoch: number; readonly timeNs: TimestampNs }) => void;
  /** Effects leave. */
  readonly release: (effects: readonly Effect[], timeNs: TimestampNs) => void;
  /** This node leads: everything is to be sent. @param isEmpty whether the takeover is the journal's first record. */
  readonly takenOver: (isEmpty: boolean) => void;
  /** The hash of the state, or why it cannot be had now. */
  readonly stateHash: () => Pick<HashedState, 'state' | 'why'>;
  /** A long step is done. */
  readonly step: () => void;
}

/** A record on its way. */
interface Begun {
  readonly kind: BegunKind;
  readonly record: SealedRecord;
  readonly batch: Batch;
}

/** What was applied and may not be announced yet. */
interface Held {
  readonly sequence: Sequence;
  readonly effects: readonly Effect[];
  readonly timeNs: TimestampNs;
}

type Role = 'loading' | 'following' | 'leading' | 'over';

export class Replicating {
  readonly #log: ReplicatedLog;
  readonly #journal: ReplicatedJournal;
  readonly #host: ReplicationHost;
  readonly #dropped: (sequence: Sequence) => void;
  readonly #hasEnded: () => boolean;
  /** Of records that this node makes apart from those of the actor. */
  readonly #own = new BatchBuffer();
  #role: Role = 'loading';
  #applied = 0 as Sequence;
  #appliedNs = 0n as TimestampNs;
  #tail: (RecordToApply & { readonly sequence: Sequence; readonly hash: Uint8Array }) | null = null;
  #begun: Begun | null = null;
  #beganMs = Number.NEGATIVE_INFINITY;
  #held: Held | null = null;
  #confirmed = 0 as Sequence;
  #handOver: { readonly to: string | null } | null = null;

  constructor({ log, journal, dropped, hasEnded }: Replication, host: ReplicationHost) {
    this.#log = log;
    this.#journal = journal;
    this.#host = host;
    this.#dropped = dropped ?? (() => undefined);
    this.#hasEnded = hasEnded ?? (() => false);
  }

  get role(): Role {
    return this.#role;
  }

  /** Whether a record is on its way: state and tables stand still. */
  get isBegun(): boolean {
    return this.#begun !== null;
  }

  /** Whether effects wait for a standby: what was applied may not be announced. */
  get isHeld(): boolean {
    return this.#held !== null;
  }

  /** Whether a stop waits for what is on its way. */
  get isWaiting(): boolean {
    return (this.isBegun || this.isHeld) && !this.#hasEnded();
  }

  /** Whether the next batch may be begun now. */
  get mayBegin(): boolean {
    return this.#role === 'leading' && this.#begun === null && this.#held === null;
  }

  /** Whether inputs are to be taken: also while a record is on its way, into the next batch. */
  get takesInputs(): boolean {
    return this.#role === 'leading';
  }

  /** Whether a handover waits until nothing is pending. */
  get isHandingOver(): boolean {
    return this.#handOver !== null;
  }

  /** Whether a turn has something to do: called often. */
  hasWork(): boolean {
    return this.#role !== 'loading' && (this.#log.hasEvents() || this.aliveInMs() <= 0 || this.#mayRelease());
  }

  /** Milliseconds until an alive record is due; infinite where none can be begun. */
  aliveInMs(): number {
    if (this.#role !== 'leading' || this.#begun !== null) return Number.POSITIVE_INFINITY;
    return this.#beganMs + this.#log.aliveMs - this.#host.elapsedMs();
  }

  /** All but the tail is applied: the log begins. */
  open(applied: Sequence, timeNs: TimestampNs, tail: ReturnType<ReplicatedJournal['unknownTail']>): void {
    this.#applied = applied;
    this.#appliedNs = timeNs;
    this.#tail = tail;
    this.#role = 'following';
    const { hash, epoch } = this.#journal.placeAt(applied);
    const { handover } = this.#host.state().leadership;
    const last = applied === 0 ? null : this.#journal.bytesAt(applied);
    const lastBytes = last === null || last.length > STREAM_RECORD_BYTES_MAX ? null : last;
    this.#log.opened({ applied: { sequence: applied, hash }, epoch, tail, handover, timeNs }, lastBytes);
  }

  /** Takes what the log gives: as much as one turn may. */
  take(): void {
    this.#releaseHeld();
    const records: Uint8Array[] = [];
    let bytes = 0;
    for (let taken = 0; taken < EVENTS_PER_TURN; taken += 1) {
      const event = this.#log.poll();
      if (event === null) break;
      if (event.kind === 'record') {
        assert(this.#role === 'following' && this.#begun === null, 'a record is followed by a node that does not lead');
        assert(event.sequence === this.#applied + records.length + 1, 'records of the stream come one after the other');
        records.push(event.bytes);
        bytes += event.bytes.length;
        if (records.length < FOLLOWED_PER_FLUSH && bytes < FOLLOWED_BYTES_PER_FLUSH) continue;
        break;
      }
      this.#follow(records.splice(0));
      this.#on(event);
    }
    this.#follow(records);
  }

  /** The second half follows when the log has stored it. @param payload valid until the call returns. */
  begin(kind: 'batch' | 'alive' | 'handover', batch: Batch, payload: Uint8Array): void {
    assert(this.#role === 'leading', 'only a leader begins records');
    checkRecord(this.#host.state(), this.#epoch, batch);
    const record = this.#seal(kind, batch, payload, this.#epoch);
    this.#host.flushing();
    this.#journal.appendSealed(record, false);
    // mutant: stored-before-applied
    this.#host.flushed(record.sequence);
    this.#log.flushed({ sequence: record.sequence, hash: record.hash });
  }

  /** An alive record, if one is due. Effects that wait for a standby do not hold it back. */
  beginAlive(): void {
    if (this.aliveInMs() > 0) return;
    const { batch, payload } = this.#ownBatch([]);
    this.begin('alive', batch, payload);
  }

  /** Everything is sent. */
  restored(): void {
    this.#log.restored();
  }

  /** Nothing is pending: the leadership ends with this record. */
  beginHandover(): void {
    const { to } = must(this.#handOver, 'a handover was requested');
    const { batch, payload } = this.#ownBatch([{ kind: 'handover', to }]);
    this.begin('handover', batch, payload);
    this.#role = 'over';
  }

  get #epoch(): number {
    return this.#host.state().leadership.epoch;
  }

  #on(event: Exclude<LogEvent, { kind: 'record' }>): void {
    switch (event.kind) {
      case 'tailStored':
        this.#takeTail();
        return;
      case 'tailDropped':
        this.#dropTail();
        return;
      case 'campaign':
        this.#campaign(event);
        return;
      case 'stored':
        this.#stored(event.sequence);
        return;
      case 'refused':
        this.#refused(event.sequence);
        return;
      case 'confirmed':
        this.#confirmed = Math.max(this.#confirmed, event.sequence) as Sequence;
        this.#releaseHeld();
        return;
      case 'handOver':
        assert(this.#role === 'leading', 'only a leader hands over');
        this.#handOver = { to: event.to };
    }
  }

  #takeTail(): void {
    const tail = must(this.#tail, 'there is a tail');
    this.#tail = null;
    this.#journal.markStored();
    const { timeNs } = applyRecord(this.#host.state(), tail, []);
    this.#host.decided({ ...tail, timeNs });
    this.#follows(tail.sequence, timeNs);
  }

  #dropTail(): void {
    const { sequence } = must(this.#tail, 'there is a tail');
    this.#tail = null;
    this.#journal.dropTail();
    this.#dropped(sequence);
  }

  /** The records are on the disk, then applied one by one. */
  #follow(records: readonly Uint8Array[]): void {
    if (records.length === 0) return;
    assert(this.#tail === null, 'the fate of the tail is known before records follow');
    const followed = this.#journal.appendStored(records);
    this.#host.step();
    const { sequence, hash } = must(followed.at(-1), 'a record');
    this.#log.flushed({ sequence, hash });
    for (const record of followed) {
      // mutant: followed-record-is-applied
      applyRecord(this.#host.state(), record, []);
      this.#host.decided(record);
      this.#follows(record.sequence, record.timeNs);
      this.#hash(record);
      this.#host.step();
    }
  }

  /** Answers a question for the state behind a record, when that is applied. */
  #hash({ sequence, hash }: RecordPlace): void {
    const { hashAt = null } = this.#log;
    if (hashAt === null || sequence < hashAt) return;
    const hashed = sequence === hashAt ? this.#host.stateHash() : PASSED;
    this.#log.hashed?.({ sequence, record: Uint8Array.from(hash), ...hashed });
  }

  #follows(sequence: Sequence, timeNs: TimestampNs): void {
    assert(sequence === this.#applied + 1, 'each record is applied once');
    this.#applied = sequence;
    this.#appliedNs = timeNs;
    this.#host.applied(sequence, timeNs);
  }

  #campaign({ node, run, oms, mds }: Campaign): void {
    assert(this.#role === 'following' && this.#begun === null, 'only a node that follows campaigns, once at a time');
    assert(this.#tail === null, 'the fate of the tail is known before a campaign');
    this.#host.notBefore(this.#appliedNs);
    const { epoch: before, handover } = this.#host.state().leadership;
    const epoch = before + 1;
    const input = { kind: 'takeover', epoch, node, run, clean: handover !== null, oms, mds } as const;
    const { batch, payload } = this.#ownBatch([input]);
    this.#seal('takeover', batch, payload, epoch);
  }

  /** Sealed and on its way. */
  #seal(kind: BegunKind, batch: Batch, payload: Uint8Array, epoch: number): SealedRecord {
    assert(this.#begun === null, 'one record is on its way at a time');
    const record = this.#journal.seal(batch.timeNs, payload, epoch);
    assert(record.bytes.length <= STREAM_RECORD_BYTES_MAX, 'a stream takes the record');
    assert(record.sequence === this.#applied + 1, 'a record is begun when the one before is stored and applied');
    this.#begun = { kind, record, batch };
    this.#beganMs = this.#host.elapsedMs();
    this.#log.begin({ kind, sequence: record.sequence, epoch, bytes: record.bytes });
    return record;
  }

  #stored(sequence: Sequence): void {
    const { kind, record, batch } = must(this.#begun, 'a record is on its way');
    assert(sequence === record.sequence, `record ${record.sequence} is on its way, not ${sequence}`);
    this.#begun = null;
    if (kind === 'takeover') {
      // A takeover that is not in the stream must not be found in the journal: another node's may be in its place.
      this.#journal.appendSealed(record, true);
      this.#log.flushed({ sequence, hash: record.hash });
      this.#role = 'leading';
    }
    const isEmpty = this.#applied === 0;
    // mutant: applied-once
    this.#applied = sequence;
    this.#host.applied(sequence, batch.timeNs);
    const effects = this.#host.apply(batch);
    const { hash, epoch } = record;
    this.#host.decided({ sequence, hash, epoch, timeNs: batch.timeNs });
    this.#hash(record);
    if (kind === 'takeover') this.#host.takenOver(isEmpty);
    else this.#leave({ sequence, effects, timeNs: batch.timeNs }, kind);
  }

  /** Effects of a batch leave at once, or when a standby has its record. An alive record has none, and overtakes nothing. */
  #leave(held: Held, kind: BegunKind): void {
    if (kind === 'alive' && this.#held !== null) return;
    this.#held = held;
    // mutant: standby-before-effects
    if (kind !== 'batch') this.#confirmed = held.sequence;
    this.#releaseHeld();
  }

  #mayRelease(): boolean {
    if (this.#held === null) return false;
    return !this.#log.waitsForStandby || this.#confirmed >= this.#held.sequence;
  }

  #releaseHeld(): void {
    const held = this.#held;
    if (held === null || !this.#mayRelease()) return;
    this.#held = null;
    this.#host.release(held.effects, held.timeNs);
  }

  #refused(sequence: Sequence): void {
    const { kind, record } = must(this.#begun, 'a record is on its way');
    assert(kind === 'takeover' && sequence === record.sequence, 'only a takeover is refused');
    this.#begun = null;
  }

  #ownBatch(inputs: readonly ClearingInput[]): { readonly batch: Batch; readonly payload: Uint8Array } {
    const timeNs = this.#host.nowNs();
    this.#own.clear();
    for (const input of inputs) this.#own.addPlain(input, timeNs);
    const payload = this.#own.seal(timeNs, []);
    return { batch: { timeNs, inputs, verdicts: [] }, payload };
  }
}
