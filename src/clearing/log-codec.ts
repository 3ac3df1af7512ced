/**
 * The seam to a replicated log over two rings: clearing's thread has one end, the replicator's the other, and each message is
 * plain JSON with the bytes of a record behind it.
 *
 *   clearing ─▶ ClearingEnd ══ opened, begin, flushed, restored ══▶ ReplicatorEnd ─▶ protocol
 *   clearing ◀─ ClearingEnd ◀═══════ events of the log ════════════ ReplicatorEnd ◀─ protocol
 *
 * Neither end waits: what a full ring does not take stays in a retry buffer. It is bounded: clearing has one record on its way,
 * and one report for each flush; the replicator gives records of the stream only while `hasRoom`.
 */
import { assert, InvariantError, unreachable } from '../core/assert.ts';
import type { Sequence } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import { type RetriedPublication, RetryBuffer } from '../runtime/retry-buffer.ts';
import { LogMessage } from '../schema/generated/messages.ts';
import { decodePlain, encodePlain } from '../schema/plain-values.ts';
import type {
  BegunKind,
  BegunRecord,
  HashedState,
  LogEvent,
  OpenedJournal,
  RecordPlace,
  ReplicatedLog,
} from './replicated-log.ts';
import type { LogInbox } from './replication.ts';

/** Records of the stream that clearing has taken and not followed yet: with so many bytes no more are taken. */
const TAKEN_BYTES_MAX = 8 << 20;

/** Each has the bytes of one record behind it, or none. */
type ToLog =
  | { readonly kind: 'opened'; readonly journal: OpenedJournal; readonly hasTail: boolean; readonly tailBytes: number }
  | { readonly kind: 'begin'; readonly record: BegunKind; readonly sequence: Sequence; readonly epoch: number }
  | ({ readonly kind: 'flushed' } & RecordPlace)
  | ({ readonly kind: 'hashed' } & HashedState)
  | { readonly kind: 'restored' };

type FromLog =
  | LogEvent
  /** The state behind this record is to be hashed. */
  | { readonly kind: 'hashAt'; readonly sequence: Sequence }
  /** Whether effects wait for a standby from now on. */
  | { readonly kind: 'waits'; readonly forStandby: boolean };

/** What the protocol receives of clearing. The bytes are its own. */
interface ClearingListener {
  opened(journal: OpenedJournal, lastBytes: Uint8Array | null): void;
  begin(record: BegunRecord): void;
  flushed(place: RecordPlace): void;
  hashed(state: HashedState): void;
  restored(): void;
}

const NO_BYTES = new Uint8Array();

function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}

function write(to: RetryBuffer, message: ToLog | FromLog, record: Uint8Array = NO_BYTES): void {
  const text = encodePlain(message);
  const recordAt = padded(LogMessage.bytes + text.length);
  const at = to.claim(LogMessage.typeId, recordAt + record.length);
  const { views } = to;
  LogMessage.setTextBytes(views, at, text.length);
  LogMessage.setRecordBytes(views, at, record.length);
  views.u8.set(text, at + LogMessage.bytes);
  views.u8.set(record, at + recordAt);
  to.commit();
  // The other thread works on it while this one flushes.
  to.flush();
}

function read(typeId: number, v: Views, at: number): { readonly message: unknown; readonly record: Uint8Array } {
  if (typeId !== LogMessage.typeId)
    throw new InvariantError(`the seam of the log received a message of type ${typeId}`);
  const textBytes = LogMessage.textBytes(v, at);
  const start = at + LogMessage.bytes;
  const recordAt = at + padded(LogMessage.bytes + textBytes);
  return {
    message: decodePlain(v.u8.subarray(start, start + textBytes)),
    record: Uint8Array.from(v.u8.subarray(recordAt, recordAt + LogMessage.recordBytes(v, at))),
  };
}

/** Clearing's end. */
export class ClearingEnd implements ReplicatedLog, Omit<LogInbox, 'channel'> {
  readonly aliveMs: number;
  waitsForStandby: boolean;
  hashAt: Sequence | null = null;
  readonly #to: RetryBuffer;
  readonly #events: LogEvent[] = [];
  #taken = 0;
  #takenBytes = 0;

  constructor(
    to: RetriedPublication,
    { aliveMs, waitsForStandby }: Pick<ReplicatedLog, 'aliveMs' | 'waitsForStandby'>,
  ) {
    this.#to = new RetryBuffer(to);
    this.aliveMs = aliveMs;
    this.waitsForStandby = waitsForStandby;
  }

  opened(journal: OpenedJournal, lastBytes: Uint8Array | null): void {
    const { tail } = journal;
    const tailBytes = tail?.bytes ?? NO_BYTES;
    const bare =
      tail === null ? null : { sequence: tail.sequence, hash: tail.hash, epoch: tail.epoch, bytes: NO_BYTES };
    const message = { kind: 'opened', journal: { ...journal, tail: bare }, hasTail: tail !== null } as const;
    const both = Buffer.concat([tailBytes, lastBytes ?? NO_BYTES]);
    write(this.#to, { ...message, tailBytes: tailBytes.length }, both);
  }

  begin({ kind: record, sequence, epoch, bytes }: BegunRecord): void {
    write(this.#to, { kind: 'begin', record, sequence, epoch }, bytes);
  }

  flushed({ sequence, hash }: RecordPlace): void {
    write(this.#to, { kind: 'flushed', sequence, hash });
  }

  hashed(state: HashedState): void {
    this.hashAt = null;
    write(this.#to, { kind: 'hashed', ...state });
  }

  restored(): void {
    write(this.#to, { kind: 'restored' });
  }

  readonly hasRoom = (): boolean => this.#takenBytes < TAKEN_BYTES_MAX;

  readonly receive = (typeId: number, views: Views, at: number): void => {
    const { message, record } = read(typeId, views, at);
    const event = message as FromLog;
    if (event.kind === 'waits') {
      this.waitsForStandby = event.forStandby;
      return;
    }
    if (event.kind === 'hashAt') {
      this.hashAt = event.sequence;
      return;
    }
    this.#events.push(event.kind === 'record' ? { ...event, bytes: record } : event);
    this.#takenBytes += record.length;
  };

  poll(): LogEvent | null {
    if (!this.#to.isEmpty) this.#to.flush();
    const event = this.#events[this.#taken];
    if (event === undefined) return null;
    this.#taken += 1;
    if (event.kind === 'record') this.#takenBytes -= event.bytes.length;
    // Taken one by one, forgotten all at once: an array that is shifted moves all that is left.
    if (this.#taken === this.#events.length) {
      this.#events.length = 0;
      this.#taken = 0;
    }
    return event;
  }

  hasEvents(): boolean {
    return this.#taken < this.#events.length;
  }
}

/** The replicator's end. */
export class ReplicatorEnd {
  readonly #to: RetryBuffer;
  readonly #listener: ClearingListener;

  constructor(to: RetriedPublication, listener: ClearingListener) {
    this.#to = new RetryBuffer(to);
    this.#listener = listener;
  }

  /** Whether further records of the stream may be given; all else is given at any time. */
  get hasRoom(): boolean {
    return this.#to.isEmpty;
  }

  /** Messages that wait for room leave: to be called each turn. @returns whether none is left. */
  flush(): boolean {
    return this.#to.flush();
  }

  give(event: LogEvent): void {
    if (event.kind === 'record') write(this.#to, { ...event, bytes: NO_BYTES }, event.bytes);
    else write(this.#to, event);
  }

  /** Whether effects wait for a standby, from what is given next on. */
  wait(forStandby: boolean): void {
    write(this.#to, { kind: 'waits', forStandby });
  }

  /** Asks once for the state behind a record; the next request takes the place of one that is not answered. */
  askHash(sequence: Sequence): void {
    write(this.#to, { kind: 'hashAt', sequence });
  }

  receive(typeId: number, views: Views, at: number): void {
    const { message, record } = read(typeId, views, at);
    this.#on(message as ToLog, record);
  }

  #on(message: ToLog, record: Uint8Array): void {
    switch (message.kind) {
      case 'opened': {
        const { journal, hasTail, tailBytes } = message;
        assert(hasTail === (journal.tail !== null), 'a tail comes with its bytes');
        const tail = journal.tail === null ? null : { ...journal.tail, bytes: record.subarray(0, tailBytes) };
        this.#listener.opened({ ...journal, tail }, record.length === tailBytes ? null : record.subarray(tailBytes));
        return;
      }
      case 'begin': {
        const { record: kind, sequence, epoch } = message;
        this.#listener.begin({ kind, sequence, epoch, bytes: record });
        return;
      }
      case 'flushed':
        this.#listener.flushed({ sequence: message.sequence, hash: message.hash });
        return;
      case 'hashed':
        this.#listener.hashed({
          sequence: message.sequence,
          record: message.record,
          state: message.state,
          why: message.why,
        });
        return;
      case 'restored':
        this.#listener.restored();
        return;
      default:
        unreachable(message);
    }
  }
}
