/**
 * What the clearing actor needs of a replicated log, whose contract is cluster.md: the seam between clearing, which makes,
 * flushes and applies records, and the protocol, which decides who may append and when a record is stored.
 *
 *   clearing                                          log
 *   opened ────what the own journal holds───────────▶
 *          ◀───── tailStored | tailDropped ──────────  the fate of the own last record
 *          ◀───── record, record, … ─────────────────  following: flushed, applied, checkpointed
 *   flushed ───sequence and hash of each────────────▶
 *          ◀───── campaign ──────────────────────────
 *   begin (takeover) ───────────────────────────────▶
 *          ◀───── stored | refused ──────────────────  stored: flushed, applied, all sent to gateway and markets
 *   restored ───────────────────────────────────────▶
 *   begin (batch | alive) ──┬───────────────────────▶  the own flush runs beside it
 *          ◀───── stored ───┘                          both done: applied, effects leave
 *          ◀───── confirmed ─────────────────────────  where a standby must have flushed before effects leave
 *          ◀───── handOver ──────────────────────────
 *   begin (handover) ───────────────────────────────▶
 *
 * Rules
 *   (1) No call blocks, waits or throws for a log that does not answer: a log without an answer has no event.
 *   (2) One record at most is begun and not stored. `begin` follows `stored` of the record before.
 *   (3) After `begin` of a record of the kinds batch, alive and handover the only answer is `stored`: where other bytes are
 *       at its sequence, the log ends the process (75). A takeover may be `refused`.
 *   (4) `stored` is given once for each begun record, with its sequence; own records never come as `record`, those of an
 *       earlier attempt or run do.
 *   (5) The log has compared the chain, sequence and epoch of a `record` with the one that it gave before; clearing verifies
 *       them again as it appends it to its own journal.
 *
 * Not here: the protocol (src/cluster), and how its messages travel between threads.
 */
import type { Sequence, TimestampNs } from '../core/units.ts';

/**
 * Why a record is begun. A takeover record is flushed when it is stored, all others are flushed while they are appended.
 * Only a batch has inputs of users; an alive record has none.
 */
export type BegunKind = 'takeover' | 'batch' | 'alive' | 'handover';

export interface BegunRecord {
  readonly kind: BegunKind;
  readonly sequence: Sequence;
  readonly epoch: number;
  /** The whole journal record, 1,000,000 bytes at most. Valid until `begin` returns. */
  readonly bytes: Uint8Array;
}

/** What a record is named by: bytes that differ have another hash. */
export interface RecordPlace {
  /** 0 for none. */
  readonly sequence: Sequence;
  /** 32 bytes; zeros for none. */
  readonly hash: Uint8Array;
}

/** This node's own last record, if the journal does not show whether the stream has it. It is not applied yet. */
interface UnknownTail extends RecordPlace {
  readonly epoch: number;
  readonly bytes: Uint8Array;
}

/** What the own journal holds at a start. */
export interface OpenedJournal {
  /** The last record that is known to be stored, and applied. */
  readonly applied: RecordPlace;
  /** The epoch of that record; 0 if there is none, and for records of a single machine. */
  readonly epoch: number;
  /** The record behind it; null where there is none. */
  readonly tail: UnknownTail | null;
  /** Whether `applied` is a handover, and to which node; `to` is null when any node may take over. */
  readonly handover: { readonly to: string | null } | null;
  /** Time of the last record; 0n without one. */
  readonly timeNs: TimestampNs;
}

/** Members of a takeover record that the protocol gives; epoch and `clean` follow from the records before it. */
export interface Campaign {
  readonly node: string;
  /** Random for each process: tells an own record from one of an earlier run. */
  readonly run: string;
  /** Addresses for clients; null for none. */
  readonly oms: string | null;
  readonly mds: string | null;
}

export type LogEvent =
  /** The stream has the bytes of the tail: it is applied. */
  | { readonly kind: 'tailStored' }
  /** The stream has other bytes there, or the tail is not to be kept: it goes into `dropped/`. */
  | { readonly kind: 'tailDropped' }
  /** The next record of the stream, of another leader or of an earlier run. The bytes are the receiver's. */
  | { readonly kind: 'record'; readonly sequence: Sequence; readonly bytes: Uint8Array }
  /** A takeover record is to be made behind everything that was given, and begun. */
  | ({ readonly kind: 'campaign' } & Campaign)
  /** The stream has the begun record, with its own bytes. */
  | { readonly kind: 'stored'; readonly sequence: Sequence }
  /** The begun takeover is not in the stream and never will be: as if it had not been made. Records follow. */
  | { readonly kind: 'refused'; readonly sequence: Sequence }
  /** A standby has flushed this record. Only where `waitsForStandby`. */
  | { readonly kind: 'confirmed'; readonly sequence: Sequence }
  /** The leadership is handed over: what is pending is drained, then the handover record is begun. `to` null: any node. */
  | { readonly kind: 'handOver'; readonly to: string | null };

/** What a node has at one record, for comparisons between nodes. */
export interface HashedState {
  readonly sequence: Sequence;
  /** Of the record: 32 bytes. */
  readonly record: Uint8Array;
  /** 64 hex digits; null for none. */
  readonly state: string | null;
  /** Why there is no hash of the state; null where there is one. */
  readonly why: NoHash | null;
}

/** The record was passed already, orders are being fired, or a leader has so many that it would stand still for its lease. */
type NoHash = 'PASSED' | 'FIRING' | 'TOO_MANY_ORDERS';

export interface ReplicatedLog {
  /** The record behind whose application the state is to be hashed, once; null for none. Absent: it is never asked for. */
  readonly hashAt?: Sequence | null;
  /** Answers `hashAt`, which is null then. */
  hashed?(state: HashedState): void;
  /** Whether effects of a batch wait for `confirmed` beside `stored`. May change at any time: read at each record. */
  readonly waitsForStandby: boolean;
  /** After so many milliseconds without a begun record an alive record is begun: a third of the lease. */
  readonly aliveMs: number;
  /**
   * Once, before any other call.
   *
   * @param lastBytes the record at `applied`, valid until the call returns; null without one, and where it is too large for a stream.
   */
  opened(journal: OpenedJournal, lastBytes: Uint8Array | null): void;
  /** The bytes start on their way. */
  begin(record: BegunRecord): void;
  /** In the own journal and on the disk: of a followed record, and of an own one. */
  flushed(place: RecordPlace): void;
  /** All that lives was sent to gateway and markets, after an own takeover. */
  restored(): void;
  /** The next event, null for none now. Each is given once. */
  poll(): LogEvent | null;
  /** Whether `poll` would give one: called often. */
  hasEvents(): boolean;
}
