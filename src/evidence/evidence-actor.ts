/**
 * The thread of the evidence: what clearing decided becomes rows and leaves, durable a tenth of a second later (EXP-00, EVD-03, EVD-05).
 *
 *   RecordOutcomes ─▶ rows, chained by user ─▶ hashes, the record's leaf ─▶ row log, flushed ─▶ EvidenceDurable
 *                                                                            └─▶ now and then: a step into the files
 *
 * After a start clearing sends again what follows the checkpoint of its tables. A record that is there is compared and skipped: other rows
 * for it would mean that a replay decides something else, or that the log is of another journal.
 *
 * Not here: what rows say (row-bytes.ts), the files (row-log/), when clearing waits (clearing/outcome-codec.ts).
 */
import { assert, InvariantError, must } from '../core/assert.ts';
import type { Sequence } from '../core/units.ts';
import { type Views, viewsOf } from '../core/views.ts';
import type { Actor } from '../runtime/actor.ts';
import type { Publication } from '../runtime/publication.ts';
import { EvidenceDurable, EvidenceWanted, RecordOutcomes } from '../schema/generated/messages.ts';
import { type OutcomeBytes, RecordMaker } from './record-maker.ts';
import type { LoggedRow } from './row-log/logged-record.ts';
import type { RowLog } from './row-log/row-log.ts';
import type { StoredRecord } from './row-log/stored-records.ts';
import type { Salts } from './tree/record-leaf.ts';

/** What was appended is durable after this time at most. */
const FLUSH_MS = 100;
/** Or when so many bytes wait. */
const FLUSH_BYTES = 4 << 20;
/** With so many bytes in the tail no more is taken: they go into the files first. */
const TAIL_BYTES_MAX = 64 << 20;
const HASH_BYTES = 32;

interface EvidenceFigures {
  readonly durable: number;
  readonly rows: number;
  /** Bytes of rows, not compressed. */
  readonly bytes: number;
  readonly leaves: number;
}

interface EvidenceOptions {
  readonly openLog: () => RowLog;
  readonly salts: Salts;
  readonly clearing: Publication;
  readonly elapsedMs: () => number;
  /** Called between the steps of long work. */
  readonly heartbeat: () => void;
  /** Called with each flush. */
  readonly figures?: (figures: EvidenceFigures) => void;
  readonly flushedNs?: (nanoseconds: number) => void;
  /** Called when the first record of a new log is durable. */
  readonly begun?: (first: number) => void;
}

/** A record of which not all parts are there. */
interface Gathered {
  readonly sequence: number;
  views: Views;
  bytes: number;
  parts: number;
}

export class EvidenceActor implements Actor {
  readonly name = 'evidence';
  readonly #options: EvidenceOptions;
  readonly #maker: RecordMaker;
  #log: RowLog | null = null;
  #gathered: Gathered | null = null;
  /** Records that are there and come again. */
  #stored: Iterator<StoredRecord> | null = null;
  #unflushedSinceMs = Number.POSITIVE_INFINITY;
  #unflushedBytes = 0;
  #isWanted = false;
  #isNew = false;
  #rows = 0;
  #bytes = 0;
  #nowNs = 0n;

  constructor(options: EvidenceOptions) {
    this.#options = options;
    this.#maker = new RecordMaker(options.salts);
  }

  start(): void {
    const log = this.#options.openLog();
    this.#log = log;
    this.#isNew = log.extent === null;
    this.#publish();
  }

  /** While the tail is long, what waits stays in its ring. */
  ready(): boolean {
    return this.#logOpen.tailBytes < TAIL_BYTES_MAX;
  }

  handle(_channel: number, typeId: number, views: Views, at: number): void {
    switch (typeId) {
      case RecordOutcomes.typeId:
        this.#gather(views, at);
        return;
      case EvidenceWanted.typeId:
        this.#isWanted = true;
        return;
      default:
        throw new InvariantError(`the evidence received a message of type ${typeId}`);
    }
  }

  endBatch(): void {
    if (this.#isFlushDue()) this.#flush();
    const log = this.#logOpen;
    if (log.hasWork) log.step(this.#nowNs);
  }

  hasMore(): boolean {
    return this.#logOpen.hasWork;
  }

  isQuiet(): boolean {
    return this.#unflushedSinceMs === Number.POSITIVE_INFINITY && !this.#isWanted;
  }

  tick(nowNs: bigint): void {
    this.#nowNs = nowNs;
  }

  nextTickMs(): number {
    return this.#unflushedSinceMs + FLUSH_MS - this.#options.elapsedMs();
  }

  /** A stopped node has whole files. */
  stop(): void {
    const log = this.#logOpen;
    log.settleAll(() => this.#options.heartbeat());
    void log.close();
  }

  halt(): void {
    void this.#log?.close();
  }

  get #logOpen(): RowLog {
    return must(this.#log, 'the log is open');
  }

  #gather(views: Views, at: number): void {
    const [sequence, part] = [RecordOutcomes.sequence(views, at), RecordOutcomes.part(views, at)];
    const [parts, bytes] = [RecordOutcomes.parts(views, at), RecordOutcomes.outcomeBytes(views, at)];
    const from = at + RecordOutcomes.bytes;
    if (parts === 1) {
      this.#take(views, at, { views, from, bytes });
      return;
    }
    const gathered = part === 0 ? newGathered(sequence, parts * bytes) : must(this.#gathered, 'a first part');
    assert(gathered.sequence === sequence && gathered.parts === part, 'parts of a record come one after the other');
    gathered.views.u8.set(views.u8.subarray(from, from + bytes), gathered.bytes);
    gathered.bytes += bytes;
    gathered.parts += 1;
    this.#gathered = gathered;
    if (gathered.parts < parts) return;
    this.#gathered = null;
    this.#take(views, at, { views: gathered.views, from: 0, bytes: gathered.bytes });
  }

  /** @param head where the message is. */
  #take(head: Views, at: number, outcomes: OutcomeBytes): void {
    const log = this.#logOpen;
    const hashAt = at + RecordOutcomes.recordHashAt;
    const record = {
      sequence: RecordOutcomes.sequence(head, at),
      timeNs: RecordOutcomes.timeNs(head, at),
      epoch: RecordOutcomes.epoch(head, at),
      hash: head.u8.slice(hashAt, hashAt + HASH_BYTES),
    };
    const { sequence } = record;
    const { last } = log;
    if (last !== null && sequence <= last) {
      this.#stored ??= log.storedFrom(sequence);
      this.#maker.compare(record, outcomes, this.#stored.next().value);
      return;
    }
    assert(last === null || sequence === last + 1, `the evidence ends with record ${last}, and ${sequence} comes`);
    this.#stored = null;
    const made = this.#maker.make(record, outcomes, log);
    log.append(made);
    this.#note(made.rows);
  }

  #note(rows: readonly LoggedRow[]): void {
    this.#rows += rows.length;
    let bytes = 0;
    for (const row of rows) bytes += row.bytes.length + 1;
    this.#bytes += bytes;
    this.#unflushedBytes += bytes;
    if (this.#unflushedSinceMs === Number.POSITIVE_INFINITY) this.#unflushedSinceMs = this.#options.elapsedMs();
  }

  #isFlushDue(): boolean {
    if (this.#isWanted) return true;
    if (this.#unflushedBytes >= FLUSH_BYTES) return true;
    return this.#options.elapsedMs() - this.#unflushedSinceMs >= FLUSH_MS;
  }

  #flush(): void {
    const { elapsedMs, flushedNs } = this.#options;
    const startedMs = elapsedMs();
    this.#logOpen.flush();
    flushedNs?.((elapsedMs() - startedMs) * 1e6);
    this.#unflushedSinceMs = Number.POSITIVE_INFINITY;
    this.#unflushedBytes = 0;
    this.#isWanted = false;
    this.#publish();
  }

  #publish(): void {
    const log = this.#logOpen;
    const { extent } = log;
    if (extent === null) return;
    if (this.#isNew && extent.durable >= extent.first) {
      this.#isNew = false;
      this.#options.begun?.(extent.first);
    }
    this.#options.figures?.({
      durable: extent.durable,
      rows: this.#rows,
      bytes: this.#bytes,
      leaves: log.edge.size,
    });
    const { clearing } = this.#options;
    // What does not fit is said by the next one.
    if (!clearing.hasRoom(EvidenceDurable.bytes + HASH_BYTES)) return;
    const at = clearing.claim(EvidenceDurable.typeId, EvidenceDurable.bytes);
    EvidenceDurable.setSequence(clearing.views, at, extent.durable as Sequence);
    clearing.commit();
    clearing.flush();
  }
}

function newGathered(sequence: number, bytes: number): Gathered {
  const capacity = (bytes + 7) & ~7;
  return { sequence, views: viewsOf(new ArrayBuffer(capacity), 0, capacity), bytes: 0, parts: 0 };
}
