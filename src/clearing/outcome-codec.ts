/**
 * What clearing decided, on its way to the thread of the evidence (EVD-05): one message a record, in parts where it is long, after
 * the record is flushed and, in a cluster, stored. The thread answers with the last record that is durable there.
 *
 *   clearing ══ RecordOutcomes, EvidenceWanted ══▶ evidence
 *   clearing ◀══════════ EvidenceDurable ═════════ evidence
 *
 * Nothing of a confirmation waits for it. What the ring does not take stays in a retry buffer; where that, or what is not durable,
 * is too much or too old, clearing takes no input until it is less.
 */
import { InvariantError } from '../core/assert.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import { type RetriedPublication, RetryBuffer } from '../runtime/retry-buffer.ts';
import { EvidenceDurable, EvidenceWanted, RecordOutcomes } from '../schema/generated/messages.ts';
import { OutcomeRecorder } from './outcomes.ts';

/** Clearing takes less input when the evidence is so far behind (EVD-05). */
const BEHIND_MS_MAX = 10_000;
const BEHIND_BYTES_MAX: number = 1 << 30;
/** Outcomes that wait in memory for room in the ring. */
const WAITING_BYTES_MAX: number = 1 << 28;
/** A quarter of the smallest ring. */
const PART_BYTES: number = 1 << 20;
/** How old what is not durable is, to this part of a second. */
const MARK_MS = 50;

export interface OutcomeLink {
  readonly publication: RetriedPublication;
  /** The channel from the thread. */
  readonly channel: number;
  /** How far the log goes at the start; null where it is empty. */
  readonly extent: { readonly first: Sequence; readonly durable: Sequence } | null;
}

/** A record that was decided. */
export interface DecidedRecord {
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly epoch: number;
  readonly hash: Uint8Array;
}

/** What was sent from a moment on, until the next mark. */
interface Mark {
  readonly sequence: Sequence;
  readonly ms: number;
  /** All that was sent before. */
  readonly bytesBefore: number;
}

export class OutcomeFeed {
  readonly recorder: OutcomeRecorder = new OutcomeRecorder();
  readonly channel: number;
  readonly extent: OutcomeLink['extent'];
  readonly #to: RetryBuffer;
  readonly #elapsedMs: () => number;
  readonly #marks: Mark[] = [];
  #sentBytes = 0;
  #sent: Sequence;
  #durable: Sequence;
  #wanted = 0;

  constructor({ publication, channel, extent }: OutcomeLink, elapsedMs: () => number) {
    this.#to = new RetryBuffer(publication);
    this.channel = channel;
    this.extent = extent;
    this.#elapsedMs = elapsedMs;
    this.#durable = extent?.durable ?? (0 as Sequence);
    this.#sent = this.#durable;
  }

  /** The last record that is durable in the evidence. */
  get durable(): Sequence {
    return this.#durable;
  }

  /** What the recorder has recorded of a record that was applied. */
  send({ sequence, timeNs, epoch, hash }: DecidedRecord): void {
    const { bytes } = this.recorder;
    const parts = Math.max(1, Math.ceil(bytes.length / PART_BYTES));
    this.#mark(sequence);
    for (let part = 0; part < parts; part += 1) {
      const piece = bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
      const at = this.#to.claim(RecordOutcomes.typeId, RecordOutcomes.bytes + piece.length);
      const { views } = this.#to;
      RecordOutcomes.setSequence(views, at, sequence);
      RecordOutcomes.setTimeNs(views, at, timeNs);
      RecordOutcomes.setEpoch(views, at, epoch);
      RecordOutcomes.setPart(views, at, part);
      RecordOutcomes.setParts(views, at, parts);
      RecordOutcomes.setOutcomeBytes(views, at, piece.length);
      views.u8.set(hash, at + RecordOutcomes.recordHashAt);
      views.u8.set(piece, at + RecordOutcomes.bytes);
      this.#to.commit();
    }
    this.#sentBytes += bytes.length;
    this.#sent = sequence;
  }

  /** What the thread sends. */
  received(typeId: number, views: Views, at: number): void {
    if (typeId !== EvidenceDurable.typeId) throw new InvariantError(`the evidence sends a message of type ${typeId}`);
    const sequence = EvidenceDurable.sequence(views, at);
    if (sequence > this.#durable) this.#durable = sequence;
    while (this.#marks.length > 0 && (this.#marks[1]?.sequence ?? this.#sent + 1) <= this.#durable + 1)
      this.#marks.shift();
  }

  /** Has the thread make durable at once what was sent so far. Again only when more was sent. */
  wantDurable(): void {
    if (this.#wanted === this.#sent) return;
    this.#wanted = this.#sent;
    const at = this.#to.claim(EvidenceWanted.typeId, EvidenceWanted.bytes);
    EvidenceWanted.setSequence(this.#to.views, at, this.#sent);
    this.#to.commit();
    this.#to.flush();
  }

  isDurable(sequence: Sequence): boolean {
    return this.#durable >= sequence;
  }

  /** Whether all that was sent is durable. */
  get isAtRest(): boolean {
    return this.#to.isEmpty && this.#durable >= this.#sent;
  }

  /** @returns whether the ring has taken everything. */
  flush(): boolean {
    return this.#to.flush();
  }

  /** How far the thread is behind. */
  behind(): { readonly records: number; readonly ms: number; readonly bytes: number } {
    const [oldest] = this.#marks;
    if (oldest === undefined) return { records: 0, ms: 0, bytes: 0 };
    return {
      records: this.#sent - this.#durable,
      ms: this.#elapsedMs() - oldest.ms,
      bytes: this.#sentBytes - oldest.bytesBefore,
    };
  }

  /** Whether clearing is to take no input. */
  isTooFarBehind(): boolean {
    if (this.#to.waitingBytes > WAITING_BYTES_MAX) return true;
    const { ms, bytes } = this.behind();
    // mutant: evidence-behind
    return ms > BEHIND_MS_MAX || bytes > BEHIND_BYTES_MAX;
  }

  #mark(sequence: Sequence): void {
    const ms = this.#elapsedMs();
    const last = this.#marks.at(-1);
    if (last !== undefined && ms - last.ms < MARK_MS) return;
    this.#marks.push({ sequence, ms, bytesBefore: this.#sentBytes });
  }
}
